"""Domain values as rows of the record, and back."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from artifact.locators import from_json, to_json
from knowledge_svc.domain.chunking import sha256_of
from knowledge_svc.domain.model import (
    Author,
    Chunk,
    DatasetSnapshot,
    Document,
    ExtractOptions,
    Job,
    JobStage,
    JobState,
    Original,
    RevisionDraft,
    SchemaState,
    Scope,
    Section,
    SourceClass,
    StoredChunk,
    Upload,
)
from knowledge_svc.storage import canonical
from knowledge_svc.storage.sql import Row


def document_row(document: Document, *, namespace_id: int, staged_seq: int, change_seq: int) -> Row:
    """Makes the row of `revisions` that publishes a version."""
    original = document.original
    return {
        "staged_seq": staged_seq,
        "namespace_id": namespace_id,
        "source_uri": document.source_uri,
        "doc_id": document.doc_id,
        "revision": document.revision,
        "title": document.title,
        "description": document.description,
        "tags": document.tags,
        "metadata": document.metadata,
        "content": document.content,
        "content_hash": document.content_hash,
        "actor": document.author.actor,
        "user_id": document.author.user_id,
        "source_class": document.source_class.value,
        "ingested_at": document.ingested_at,
        "updated_at": document.updated_at,
        "chunk_count": document.chunk_count,
        "format": document.format,
        "parser": document.parser,
        "coverage": canonical.coverage_text(document.coverage),
        "ingestion_id": document.ingestion_id,
        "original_sha256": original.sha256 if original else None,
        "original_filename": original.filename if original else None,
        "original_content_type": original.content_type if original else None,
        "artifact_sha256": document.artifact_sha256,
        "source": document.source,
        "change_seq": change_seq,
        "superseded_at": document.superseded_at,
    }


def document_of(row: Row, scope: Scope) -> Document:
    """Reads a row of `revisions`."""
    return Document(
        scope=scope,
        source_uri=row["source_uri"],
        doc_id=row["doc_id"],
        revision=row["revision"],
        title=row["title"],
        description=row["description"],
        tags=tuple(row["tags"]),
        metadata=row["metadata"],
        content=row["content"],
        content_hash=row["content_hash"],
        author=Author(row["actor"], row["user_id"]),
        source_class=SourceClass(row["source_class"]),
        ingested_at=_utc(row["ingested_at"]),
        updated_at=_utc(row["updated_at"]),
        chunk_count=row["chunk_count"],
        format=row["format"],
        parser=row["parser"],
        coverage=canonical.coverage_of(row["coverage"]),
        ingestion_id=row["ingestion_id"],
        original=_original_of(row),
        artifact_sha256=row["artifact_sha256"],
        source=row["source"],
        superseded_at=_utc_or_none(row["superseded_at"]),
    )


def chunk_rows(draft: RevisionDraft, chunk_ids: tuple[int, ...], *, staged_seq: int) -> list[Row]:
    """Makes the rows of `chunks` that stage a draft."""
    return [
        _chunk_row(chunk, chunk_id, staged_seq=staged_seq) | {"embedding_model": draft.embedding_model, "vector": vector}
        for chunk_id, chunk, vector in zip(chunk_ids, draft.chunks, draft.vectors, strict=True)
    ]


def hash_key(sha256: str) -> int:
    """Returns the first 64 bits of a hash, by which a scan finds it many times faster than by its text."""
    return int.from_bytes(bytes.fromhex(sha256[:16]), "big", signed=True)


def stored_chunk_of(row: Row, scope: Scope) -> StoredChunk:
    """Reads a row of `chunks` joined with its revision."""
    chunk = Chunk(
        index=row["chunk_index"],
        content=row["content"],
        context=row["context"],
        section_path=tuple(row["section_path"]),
        locator=from_json(row["locator"]),
        content_hash=row["content_hash"],
        block_type=row["block_type"],
        block_ids=tuple(row["block_ids"]),
        keys=tuple(row["keys"]),
        noise=row["noise"],
    )
    return StoredChunk(
        chunk_id=row["chunk_id"],
        scope=scope,
        source_uri=row["source_uri"],
        doc_id=row["doc_id"],
        revision=row["revision"],
        title=row["title"],
        format=row["format"],
        ingested_at=_utc(row["ingested_at"]),
        tags=tuple(row["tags"]),
        chunk=chunk,
    )


def section_rows(sections: tuple[Section, ...], *, staged_seq: int) -> list[Row]:
    """Makes the rows of `sections` of a version."""
    return [
        {
            "staged_seq": staged_seq,
            "ordinal": ordinal,
            "path": section.path,
            "chunk_indexes": section.chunk_indexes,
            "characters": section.characters,
            "noise": section.noise,
        }
        for ordinal, section in enumerate(sections)
    ]


def section_of(row: Row) -> Section:
    """Reads a row of `sections`."""
    return Section(tuple(row["path"]), tuple(row["chunk_indexes"]), row["characters"], noise=row["noise"])


def dataset_row(dataset: DatasetSnapshot, *, namespace_id: int, staged_seq: int, change_seq: int) -> Row:
    """Makes the row of `datasets` that publishes a snapshot."""
    return {
        "snapshot_id": dataset.snapshot_id,
        "staged_seq": staged_seq,
        "namespace_id": namespace_id,
        "source_uri": dataset.source_uri,
        "dataset_id": dataset.dataset_id,
        "name": dataset.name,
        "ordinal": dataset.ordinal,
        "revision": dataset.revision,
        "columns": canonical.columns_text(dataset.columns),
        "schema_state": dataset.schema_state.value,
        "clarifications": canonical.clarifications_text(dataset.clarifications),
        "row_count": dataset.row_count,
        "rejected_count": dataset.rejected_count,
        "rejected_rows": canonical.rejected_rows_text(dataset.rejected_rows),
        "complete": dataset.complete,
        "locator": to_json(dataset.locator),
        "file_sha256": dataset.file_sha256,
        "published_at": dataset.published_at,
        "change_seq": change_seq,
        "superseded_at": None,
    }


def dataset_of(row: Row, scope: Scope) -> DatasetSnapshot:
    """Reads a row of `datasets`."""
    return DatasetSnapshot(
        snapshot_id=row["snapshot_id"],
        scope=scope,
        source_uri=row["source_uri"],
        dataset_id=row["dataset_id"],
        name=row["name"],
        ordinal=row["ordinal"],
        revision=row["revision"],
        columns=canonical.columns_of(row["columns"]),
        schema_state=SchemaState(row["schema_state"]),
        clarifications=canonical.clarifications_of(row["clarifications"]),
        row_count=row["row_count"],
        rejected_count=row["rejected_count"],
        rejected_rows=canonical.rejected_rows_of(row["rejected_rows"]),
        complete=row["complete"],
        locator=from_json(row["locator"]),
        file_sha256=row["file_sha256"],
        published_at=_utc(row["published_at"]),
    )


def upload_row(upload: Upload, *, namespace_id: int) -> Row:
    """Makes the row of `uploads`."""
    return {
        "upload_id": upload.upload_id,
        "namespace_id": namespace_id,
        "sha256": upload.sha256,
        "size_bytes": upload.size_bytes,
        "filename": upload.filename,
        "content_type": upload.content_type,
        "format": upload.format,
        "owner": upload.owner,
        "created_at": upload.created_at,
        "expires_at": upload.expires_at,
    }


def upload_of(row: Row, scope: Scope, *, prefix: str = "") -> Upload:
    """Reads a row of `uploads`, or the columns of one in a wider row where they stand under a prefix."""
    return Upload(
        upload_id=row["upload_id"],
        scope=scope,
        sha256=row[f"{prefix}sha256"],
        size_bytes=row[f"{prefix}size_bytes"],
        filename=row[f"{prefix}filename"],
        content_type=row[f"{prefix}content_type"],
        format=row[f"{prefix}format"],
        owner=row[f"{prefix}owner"],
        created_at=_utc(row[f"{prefix}created_at"]),
        expires_at=_utc(row[f"{prefix}expires_at"]),
    )


def job_row(job: Job, *, namespace_id: int) -> Row:
    """Makes the row of `ingestions`; the password has a column of its own, which is emptied when the job ends."""
    options = job.options
    return {
        "ingestion_id": job.ingestion_id,
        "namespace_id": namespace_id,
        "seq": job.seq,
        "upload_id": job.upload.upload_id,
        "source_uri": job.source_uri,
        "title": job.title,
        "description": job.description,
        "tags": canonical.dumps(job.tags),
        "metadata": job.metadata,
        "options": canonical.dumps({"format": options.format, "encoding": options.encoding, "sql_dialect": options.sql_dialect}),
        "password": options.password,
        "expected_revision": job.expected_revision,
        "allow_partial": job.allow_partial,
        "actor": job.author.actor,
        "user_id": job.author.user_id,
        "source": job.source,
        "state": job.state.value,
        "queued_at": job.queued_at,
        "updated_at": job.updated_at,
        "next_attempt_at": job.next_attempt_at,
        "stage": job.stage.value if job.stage else None,
        "unit": job.unit,
        "units_done": job.units_done,
        "units_total": job.units_total,
        "attempts": job.attempts,
        "lease_until": job.lease_until,
        "ended_at": job.ended_at,
        "cancel_requested": job.cancel_requested,
        "failure": canonical.failure_text(job.failure),
        "coverage": canonical.coverage_text(job.coverage),
        "warnings": canonical.warnings_text(job.warnings),
        "chunks": job.chunks,
        "revision": job.revision,
        "datasets": job.datasets,
        "format": job.format,
    }


def job_of(row: Row, scope: Scope) -> Job:
    """Reads a row of `ingestions` joined with its upload, whose columns stand under `upload_`."""
    return Job(
        ingestion_id=row["ingestion_id"],
        scope=scope,
        seq=row["seq"],
        upload=upload_of(row, scope, prefix="upload_"),
        source_uri=row["source_uri"],
        title=row["title"],
        description=row["description"],
        tags=tuple(json.loads(row["tags"])),
        metadata=row["metadata"],
        options=ExtractOptions(**json.loads(row["options"]), password=row["password"]),
        expected_revision=row["expected_revision"],
        allow_partial=row["allow_partial"],
        author=Author(row["actor"], row["user_id"]),
        source=row["source"],
        state=JobState(row["state"]),
        queued_at=_utc(row["queued_at"]),
        updated_at=_utc(row["updated_at"]),
        next_attempt_at=_utc(row["next_attempt_at"]),
        stage=JobStage(row["stage"]) if row["stage"] else None,
        unit=row["unit"],
        units_done=row["units_done"],
        units_total=row["units_total"],
        attempts=row["attempts"],
        lease_until=_utc_or_none(row["lease_until"]),
        ended_at=_utc_or_none(row["ended_at"]),
        cancel_requested=row["cancel_requested"],
        failure=canonical.failure_of(row["failure"]),
        coverage=canonical.coverage_of(row["coverage"]),
        warnings=canonical.warnings_of(row["warnings"]),
        chunks=row["chunks"],
        revision=row["revision"],
        datasets=row["datasets"],
        format=row["format"],
    )


def _chunk_row(chunk: Chunk, chunk_id: int, *, staged_seq: int) -> Row:
    input_hash = sha256_of(chunk.embedding_input)
    return {
        "chunk_id": chunk_id,
        "staged_seq": staged_seq,
        "chunk_index": chunk.index,
        "content": chunk.content,
        "context": chunk.context,
        "section_path": chunk.section_path,
        "locator": to_json(chunk.locator),
        "content_hash": chunk.content_hash,
        "block_type": chunk.block_type,
        "block_ids": chunk.block_ids,
        "keys": chunk.keys,
        "noise": chunk.noise,
        "content_key": hash_key(chunk.content_hash),
        "input_key": hash_key(input_hash),
        "input_hash": input_hash,
    }


def _original_of(row: Row) -> Original | None:
    if row["original_sha256"] is None:
        return None
    return Original(row["original_sha256"], row["original_filename"], row["original_content_type"])


def _utc(value: datetime) -> datetime:
    return value.astimezone(UTC)


def _utc_or_none(value: datetime | None) -> datetime | None:
    return None if value is None else value.astimezone(UTC)
