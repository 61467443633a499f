"""Uploads, jobs and formats as the knowledge service answers them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from loom.knowledge.v1 import ingest_pb2

from clients.enums import name_of
from clients.results.artifacts import ArtifactWarning, Coverage, read_coverage, read_warnings
from clients.values import from_timestamp

PUBLISHED: Final = frozenset({"ready", "partial"})
ENDED: Final = PUBLISHED | {"failed", "cancelled"}


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A stored file, waiting for its ingest until `expires_at`; `format` is what its name and type say, empty where none."""

    upload_id: str
    sha256: str
    size_bytes: int
    format: str
    content_type: str
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class UploadStanding:
    """How much the server keeps of an upload, and until when."""

    upload_id: str
    received_bytes: int
    complete: bool
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class Ingestion:
    """A job.

    `state` is "pending", "processing", "ready", "partial", "failed" or "cancelled"; `stage` is "parse", "embed" or "publish" while
    it is processed; `error_code` is a name such as "corrupt", empty where nothing failed, and `error_reason` the extractor's finer
    one; `units_total` is 0 while unknown.
    """

    ingestion_id: str
    namespace: str
    source_uri: str
    state: str
    stage: str
    units_done: int
    units_total: int
    unit: str
    coverage: Coverage | None
    warnings: tuple[ArtifactWarning, ...]
    chunks: int
    datasets: int
    revision: int
    searchable: bool
    error_code: str
    failure_class: str
    error_message: str
    error_reason: str
    attempts: int
    queued_at: datetime | None
    updated_at: datetime | None
    ended_at: datetime | None
    next_attempt_at: datetime | None
    cancel_requested: bool
    filename: str
    format: str

    @property
    def ended(self) -> bool:
        """Whether the job is over, well or not."""
        return self.state in ENDED

    @property
    def published(self) -> bool:
        """Whether the job ended with a document that serves."""
        return self.state in PUBLISHED


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an ingest is: "upload", "pending", "parse", "embed" or "publish", units done of `total`, 0 while unknown."""

    stage: str
    unit: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class IngestFormat:
    """A format; `available` is None while no extractor can be asked."""

    id: str
    extensions: tuple[str, ...]
    media_types: tuple[str, ...]
    available: bool | None


@dataclass(frozen=True, slots=True)
class Formats:
    """What the service ingests, how large a file may be, and for how long an upload waits."""

    formats: tuple[IngestFormat, ...]
    max_upload_bytes: int
    refused_extensions: tuple[str, ...]
    upload_ttl_s: float


def read_upload(message: ingest_pb2.UploadFileResponse) -> UploadedFile:
    """Reads what was stored."""
    return UploadedFile(
        upload_id=message.upload_id,
        sha256=message.sha256,
        size_bytes=message.size_bytes,
        format=message.format,
        content_type=message.content_type,
        expires_at=from_timestamp(message.expires_at),
    )


def read_standing(message: ingest_pb2.GetUploadResponse) -> UploadStanding:
    """Reads how much is kept."""
    return UploadStanding(message.upload_id, message.received_bytes, message.complete, from_timestamp(message.expires_at))


def read_ingestion(message: ingest_pb2.Ingestion) -> Ingestion:
    """Reads one job."""
    return Ingestion(
        ingestion_id=message.ingestion_id,
        namespace=message.namespace,
        source_uri=message.source_uri,
        state=name_of(ingest_pb2.IngestionState, message.state),
        stage=name_of(ingest_pb2.IngestionStage, message.stage),
        units_done=message.units_done,
        units_total=message.units_total,
        unit=message.unit,
        coverage=read_coverage(message.coverage) if message.HasField("coverage") else None,
        warnings=read_warnings(message.warnings),
        chunks=message.chunks,
        datasets=message.datasets,
        revision=message.revision,
        searchable=message.searchable,
        error_code=name_of(ingest_pb2.IngestionErrorCode, message.error_code),
        failure_class=name_of(ingest_pb2.FailureClass, message.failure_class),
        error_message=message.error_message,
        error_reason=message.error_reason,
        attempts=message.attempts,
        queued_at=from_timestamp(message.queued_at),
        updated_at=from_timestamp(message.updated_at),
        ended_at=from_timestamp(message.ended_at),
        next_attempt_at=from_timestamp(message.next_attempt_at),
        cancel_requested=message.cancel_requested,
        filename=message.filename,
        format=message.format,
    )


def progress_of(ingestion: Ingestion) -> Progress:
    """How far a job is."""
    stage = ingestion.stage if ingestion.state == "processing" and ingestion.stage else ingestion.state
    return Progress(stage, ingestion.unit, ingestion.units_done, ingestion.units_total)


def read_formats(message: ingest_pb2.ListFormatsResponse) -> Formats:
    """Reads what is ingested."""
    return Formats(
        formats=tuple(map(read_format, message.formats)),
        max_upload_bytes=message.max_upload_bytes,
        refused_extensions=tuple(message.refused_extensions),
        upload_ttl_s=message.upload_ttl.ToTimedelta().total_seconds(),
    )


def read_format(message: ingest_pb2.IngestFormat) -> IngestFormat:
    """Reads one format."""
    return IngestFormat(
        id=message.id,
        extensions=tuple(message.extensions),
        media_types=tuple(message.media_types),
        available=message.available if message.HasField("available") else None,
    )
