"""Turns values of the domain into messages of the contract."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from google.protobuf import json_format
from google.protobuf.timestamp_pb2 import Timestamp
from loom.knowledge.v1 import documents_pb2, ingest_pb2, search_pb2

from artifact.encode import coverage_message, locator_message, warning_message
from artifact.locators import describe
from knowledge_svc.api.requests import STATES
from knowledge_svc.domain.chunking import BREADCRUMB
from knowledge_svc.domain.fusion import LegShare
from knowledge_svc.domain.model import Document, FailureClass, Job, JobErrorCode, JobStage, JobState, Section, SourceClass
from knowledge_svc.domain.search import KEYS, LEXICAL, VECTOR, Hit

_STATE_NUMBERS: Final[dict[JobState, Any]] = {state: number for number, state in STATES.items()}
_STAGE_NUMBERS: Final = {
    JobStage.PARSE: ingest_pb2.INGESTION_STAGE_PARSE,
    JobStage.EMBED: ingest_pb2.INGESTION_STAGE_EMBED,
    JobStage.PUBLISH: ingest_pb2.INGESTION_STAGE_PUBLISH,
}
_SOURCE_CLASSES: Final = {
    SourceClass.AUTHORED: documents_pb2.SOURCE_CLASS_AUTHORED,
    SourceClass.INGESTED: documents_pb2.SOURCE_CLASS_INGESTED,
    SourceClass.IMPORTED: documents_pb2.SOURCE_CLASS_IMPORTED,
}
LEGS: Final = {
    VECTOR: search_pb2.SEARCH_LEG_VECTOR,
    LEXICAL: search_pb2.SEARCH_LEG_LEXICAL,
    KEYS: search_pb2.SEARCH_LEG_KEYS,
}


def timestamp(moment: datetime) -> Timestamp:
    """A moment as the contract writes it."""
    message = Timestamp()
    message.FromDatetime(moment)
    return message


def document_message(document: Document) -> documents_pb2.Document:
    """A document; its content is whatever the value holds."""
    message = documents_pb2.Document(
        namespace=document.scope.namespace,
        source_uri=document.source_uri,
        doc_id=document.doc_id,
        revision=document.revision,
        title=document.title,
        description=document.description,
        tags=document.tags,
        content=document.content,
        content_hash=document.content_hash,
        format=document.format,
        parser=document.parser,
        ingestion_id=document.ingestion_id,
        ingested_at=timestamp(document.ingested_at),
        updated_at=timestamp(document.updated_at),
        actor=document.author.actor,
        user_id=document.author.user_id,
        source_class=_SOURCE_CLASSES[document.source_class],
        source=document.source,
        chunk_count=document.chunk_count,
    )
    json_format.Parse(document.metadata, message.metadata)
    if document.coverage is not None:
        message.coverage.CopyFrom(coverage_message(document.coverage))
    if document.original is not None:
        message.original_filename = document.original.filename
        message.content_type = document.original.content_type
        message.blob_sha256 = document.original.sha256
    if document.superseded_at is not None:
        message.superseded_at.CopyFrom(timestamp(document.superseded_at))
    return message


def section_message(section: Section) -> documents_pb2.Section:
    """A section of an outline."""
    return documents_pb2.Section(
        path=section.path,
        title=section.path[-1] if section.path else "",
        depth=len(section.path),
        chunk_indexes=section.chunk_indexes,
        characters=section.characters,
        noise=section.noise,
    )


def hit_message(hit: Hit, *, explain: bool) -> search_pb2.Hit:
    """A hit; its legs are told only where the caller asked."""
    row, chunk = hit.row, hit.row.chunk
    return search_pb2.Hit(
        source_uri=row.source_uri,
        chunk_index=chunk.index,
        content=chunk.content,
        section=BREADCRUMB.join(chunk.section_path),
        section_path=chunk.section_path,
        similarity=hit.similarity,
        lexical_score=hit.lexical_score,
        score=hit.score,
        namespace=row.scope.namespace,
        revision=row.revision,
        format=row.format or "",
        block_type=chunk.block_type,
        locator=locator_message(chunk.locator),
        place=describe(chunk.locator),
        siblings_folded=hit.siblings_folded,
        keys_matched=hit.keys_matched,
        noise=chunk.noise,
        title=row.title,
        doc_id=row.doc_id,
        legs=_leg_messages(hit.legs) if explain else (),
        citation=f"{row.source_uri}#{chunk.index}",
    )


def job_message(job: Job) -> ingest_pb2.Ingestion:
    """A job; nothing of its options is told."""
    message = ingest_pb2.Ingestion(
        ingestion_id=job.ingestion_id,
        namespace=job.scope.namespace,
        source_uri=job.source_uri,
        state=_STATE_NUMBERS[job.state],
        units_done=job.units_done,
        units_total=job.units_total,
        unit=job.unit,
        warnings=[warning_message(warning) for warning in job.warnings],
        chunks=job.chunks,
        revision=job.revision,
        searchable=job.state in (JobState.READY, JobState.PARTIAL),
        attempts=job.attempts,
        queued_at=timestamp(job.queued_at),
        updated_at=timestamp(job.updated_at),
        cancel_requested=job.cancel_requested,
        filename=job.upload.filename,
        format=job.format or job.upload.format,
        datasets=job.datasets,
    )
    if job.stage is not None and job.state is JobState.PROCESSING:
        message.stage = _STAGE_NUMBERS[job.stage]
    if job.coverage is not None:
        message.coverage.CopyFrom(coverage_message(job.coverage))
    if job.ended_at is not None:
        message.ended_at.CopyFrom(timestamp(job.ended_at))
    if job.state is JobState.PENDING:
        message.next_attempt_at.CopyFrom(timestamp(job.next_attempt_at))
    _add_failure(message, job)
    return message


def _add_failure(message: ingest_pb2.Ingestion, job: Job) -> None:
    if job.failure is None:
        return
    message.failure_class = _failure_number(job.failure.failure_class)
    message.error_message = job.failure.message
    message.error_reason = job.failure.reason
    if job.state is JobState.FAILED:
        message.error_code = _error_number(job.failure.code)


def _failure_number(kind: FailureClass) -> Any:  # Any: enum numbers, which the generated types take apart by name
    return ingest_pb2.FailureClass.Value(f"FAILURE_CLASS_{kind.name}")


def _error_number(code: JobErrorCode) -> Any:  # Any: as above
    return ingest_pb2.IngestionErrorCode.Value(f"INGESTION_ERROR_CODE_{code.name}")


def _leg_messages(legs: Iterable[LegShare]) -> list[search_pb2.LegScore]:
    return [search_pb2.LegScore(leg=LEGS[leg.leg], rank=leg.rank, score=leg.score, contribution=leg.contribution) for leg in legs]
