"""What can go wrong in the knowledge service, each with the reason its contract names."""

from __future__ import annotations

from services.errors import (
    Aborted,
    AlreadyExists,
    DataLoss,
    DeadlineExceeded,
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    ResourceExhausted,
    Unavailable,
)


class DocumentNotFound(NotFound):
    """No live document stands at the source_uri."""

    reason = "DOCUMENT_NOT_FOUND"


class SectionNotFound(NotFound):
    """No section of the document has the path."""

    reason = "SECTION_NOT_FOUND"


class IngestionNotFound(NotFound):
    """No job of the namespace has the id."""

    reason = "INGESTION_NOT_FOUND"


class UploadNotFound(NotFound):
    """No upload of this caller has the id, or it expired."""

    reason = "UPLOAD_NOT_FOUND"


class DatasetNotFound(NotFound):
    """No live dataset has the id at the source_uri."""

    reason = "DATASET_NOT_FOUND"


class BlobGone(NotFound):
    """The bytes of an original are no longer stored."""

    reason = "BLOB_GONE"


class IdempotencyConflict(AlreadyExists):
    """The request_id was used before with another body."""

    reason = "IDEMPOTENCY_CONFLICT"


class RevisionConflict(Aborted):
    """The document moved on since the revision the write was made over."""

    reason = "REVISION_CONFLICT"


class ChecksumMismatch(InvalidArgument):
    """Uploaded bytes are not those that were announced."""

    reason = "CHECKSUM_MISMATCH"


class UploadTooLarge(InvalidArgument):
    """An uploaded file is larger than allowed."""

    reason = "UPLOAD_TOO_LARGE"


class UploadStalled(DeadlineExceeded):
    """The next bytes of an upload did not come in time."""

    reason = "UPLOAD_STALLED"


class UploadTakenOver(FailedPrecondition):
    """Another stream goes on with the same upload."""

    reason = "PRECONDITION_FAILED"


class BlobTooShort(InvalidArgument):
    """A kept file has fewer bytes than are to be gone on after."""

    reason = "INVALID_REQUEST"


class UnsupportedFile(InvalidArgument):
    """A file's name says a format that is refused."""

    reason = "UNSUPPORTED_FILE"


class EmptyDocument(InvalidArgument):
    """An upload holds no bytes."""

    reason = "EMPTY_DOCUMENT"


class InvalidPlan(InvalidArgument):
    """A plan does not hold; its violations name each field and what would be valid."""

    reason = "INVALID_PLAN"


class FanOut(InvalidPlan):
    """A join repeats rows under a figure, which would count them more than once."""

    reason = "FAN_OUT"


class NeedsClarification(FailedPrecondition):
    """A dataset's schema waits for an answer."""

    reason = "NEEDS_CLARIFICATION"


class DatasetReplaced(FailedPrecondition):
    """A dataset was replaced while the plan ran."""

    reason = "PRECONDITION_FAILED"


class QueryMemory(ResourceExhausted):
    """A plan needs more memory than allowed."""

    reason = "QUERY_MEMORY"


class QueryTimeout(DeadlineExceeded):
    """A plan ran longer than allowed."""

    reason = "QUERY_TIMEOUT"


class ResultTooLarge(InvalidArgument):
    """A plan's result has more rows than allowed."""

    reason = "RESULT_TOO_LARGE"


class NumberOverflow(InvalidArgument):
    """A figure does not fit in 38 digits."""

    reason = "NUMBER_OVERFLOW"


class SnapshotDamaged(DataLoss):
    """A snapshot's file is missing or its bytes changed."""

    reason = "SNAPSHOT_DAMAGED"


class ExtractorDown(Unavailable):
    """No extractor can be reached."""

    reason = "EXTRACTOR_DOWN"


class EmbedderDown(Unavailable):
    """The endpoint that makes vectors cannot be reached, or fails."""

    reason = "EMBEDDER_DOWN"


class ExtractorNotConfigured(FailedPrecondition):
    """No extractor is configured."""

    reason = "EXTRACTOR_NOT_CONFIGURED"


class DiskFull(ResourceExhausted):
    """The disk is full; waiting does not help, reads go on."""

    reason = "DISK_FULL"


class RecordBehindIndex(DataLoss):
    """The record lost acknowledged writes; the service is read-only until it is restored."""

    reason = "RECORD_BEHIND_INDEX"


class IndexModelMismatch(FailedPrecondition):
    """The stored vectors are of another embedding model."""

    reason = "INDEX_MODEL_MISMATCH"


class TooLateToCancel(FailedPrecondition):
    """The job is past its publish check, or ended."""

    reason = "TOO_LATE_TO_CANCEL"


class UnknownReranker(InvalidArgument):
    """No reranker of this name is configured."""

    reason = "UNKNOWN_RERANKER"


class ExtractionRefused(InvalidArgument):
    """The extractor refused a file; `code_reason` is its own reason."""

    reason = "MALFORMED"


class ExtractorAccessDenied(FailedPrecondition):
    """The extractor does not take the credential that this service presents."""

    reason = "EXTRACTOR_ACCESS_DENIED"


class InvalidArtifact(DataLoss):
    """What the extractor sent breaks the contract; the message names the field."""

    reason = "INVALID_ARTIFACT"


class ReceiptMismatch(FailedPrecondition):
    """A receipt's plan no longer gives the receipt's result."""

    reason = "RECEIPT_MISMATCH"
