"""Why an attempt at an ingest failed: for good, with the code of L-ERR, or for a passing reason."""

from __future__ import annotations

from typing import Final

from knowledge_svc.domain.errors import ExtractionRefused, ExtractorAccessDenied, InvalidArtifact, RevisionConflict
from knowledge_svc.domain.model import FailureClass, Job, JobErrorCode, JobFailure
from services.errors import LoomError, NotFound, ResourceExhausted, Unavailable

CODE_BY_REASON: Final[dict[str, JobErrorCode]] = {
    "FORMAT_UNAVAILABLE": JobErrorCode.FORMAT_UNAVAILABLE,
    "UNSUPPORTED_TYPE": JobErrorCode.UNSUPPORTED_FORMAT,
    "TYPE_MISMATCH": JobErrorCode.FORMAT_MISMATCH,
    "EMPTY_DOCUMENT": JobErrorCode.NO_TEXT,
    "NO_TEXT": JobErrorCode.NO_TEXT,
    "MALFORMED": JobErrorCode.CORRUPT,
    "PASSWORD_REQUIRED": JobErrorCode.CORRUPT,
    "PARSER_CRASHED": JobErrorCode.CORRUPT,
    "ZIP_INVALID": JobErrorCode.CORRUPT,
    "ZIP_PATH": JobErrorCode.CORRUPT,
    "XML_DTD_FORBIDDEN": JobErrorCode.CORRUPT,
    "CSV_AMBIGUOUS": JobErrorCode.CORRUPT,
    "PARSE_TIMEOUT": JobErrorCode.TIMEOUT,
    "MEMORY_LIMIT": JobErrorCode.RESOURCE_LIMIT,
    "OUTPUT_LIMIT": JobErrorCode.RESOURCE_LIMIT,
    "DECOMPRESSION_LIMIT": JobErrorCode.RESOURCE_LIMIT,
    "ZIP_BOMB": JobErrorCode.RESOURCE_LIMIT,
    "ZIP_TOO_MANY_ENTRIES": JobErrorCode.RESOURCE_LIMIT,
    "TOO_MANY_ROWS": JobErrorCode.RESOURCE_LIMIT,
    "TOO_MANY_COLUMNS": JobErrorCode.RESOURCE_LIMIT,
    "DOCUMENT_TOO_LARGE": JobErrorCode.TOO_LARGE,
    "ENCODING": JobErrorCode.ENCODING,
    "INVALID_OPTION": JobErrorCode.INVALID_OPTION,
    "INCOMPLETE_EXTRACTION": JobErrorCode.INCOMPLETE_EXTRACTION,
    "TOO_MANY_CHUNKS": JobErrorCode.TOO_LARGE,
}
"""The job's code for each reason of a refusal; a reason that is not here is `refused`."""


def failure_of(error: LoomError) -> JobFailure | None:
    """Why an attempt that met this error fails for good, None where trying again can help."""
    if isinstance(error, (Unavailable, ResourceExhausted)):
        return None
    reason = error.code_reason
    if isinstance(error, RevisionConflict):
        return JobFailure(JobErrorCode.REVISION_CONFLICT, FailureClass.CONFLICT, error.message, reason)
    if isinstance(error, InvalidArtifact):
        return JobFailure(JobErrorCode.INVALID_ARTIFACT, FailureClass.SYSTEM, error.message, reason)
    if isinstance(error, NotFound):
        return JobFailure(JobErrorCode.ORIGINAL_GONE, FailureClass.SYSTEM, error.message, reason)
    if isinstance(error, ExtractorAccessDenied):
        return JobFailure(JobErrorCode.REFUSED, FailureClass.SYSTEM, error.message, reason)
    if isinstance(error, ExtractionRefused):
        code = CODE_BY_REASON.get(reason, JobErrorCode.REFUSED)
        kind = FailureClass.SYSTEM if code is JobErrorCode.FORMAT_UNAVAILABLE else FailureClass.CONTENT
        return JobFailure(code, kind, error.message, reason)
    return JobFailure(JobErrorCode.INTERNAL, FailureClass.SYSTEM, "the ingest met a defect; the log has its details", reason)


def waiting(job: Job, error: LoomError) -> JobFailure:
    """The passing failure of a job that is to be tried again, and how many there were of it so far."""
    before = job.failure.times if job.failure is not None else 0
    return JobFailure(JobErrorCode.RETRIES_EXHAUSTED, FailureClass.RETRYING, error.message, error.code_reason, times=before + 1)


def exhausted(job: Job, error: LoomError) -> JobFailure:
    """The end of a job that was tried as often as is allowed."""
    message = f"gave up after {job.attempts} attempts: {error.message}"
    return JobFailure(JobErrorCode.RETRIES_EXHAUSTED, FailureClass.SYSTEM, message, error.code_reason)
