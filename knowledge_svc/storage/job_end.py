"""How a job ends in the record; the password it held goes with its end."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from knowledge_svc.domain.model import JobEnd, JobFailure, JobState
from knowledge_svc.storage import canonical
from knowledge_svc.storage.change import Change
from services.errors import Cancelled

_STATE: Final = "SELECT state, cancel_requested FROM ingestions WHERE ingestion_id = $id"
_END_PUBLISHED: Final = """
    UPDATE ingestions SET state = $state, ended_at = $at, updated_at = $at, coverage = $coverage, warnings = $warnings,
        chunks = $chunks, revision = $revision, datasets = $datasets, format = $format, failure = NULL, stage = NULL,
        lease_until = NULL, password = ''
    WHERE ingestion_id = $id
"""
_END_UNPUBLISHED: Final = """
    UPDATE ingestions SET state = $state, ended_at = $at, updated_at = $at, failure = $failure, stage = NULL, lease_until = NULL,
        password = ''
    WHERE ingestion_id = $id
"""


def end_published(change: Change, end: JobEnd, *, revision: int) -> None:
    """Ends a processing job with the revision it publishes.

    Raises:
        Cancelled: the job was asked to stop, or is not processing any more.
    """
    rows = change.rows(_STATE, {"id": end.ingestion_id})
    if not rows or rows[0]["state"] != JobState.PROCESSING or rows[0]["cancel_requested"]:
        message = f"ingestion {end.ingestion_id} was stopped before it published"
        raise Cancelled(message, metadata={"ingestion_id": end.ingestion_id})
    parameters = {
        "id": end.ingestion_id,
        "state": end.state.value,
        "at": end.ended_at,
        "coverage": canonical.coverage_text(end.coverage),
        "warnings": canonical.warnings_text(end.warnings),
        "chunks": end.chunks,
        "revision": revision,
        "datasets": end.datasets,
        "format": end.format,
    }
    change.run(_END_PUBLISHED, parameters)


def end_unpublished(change: Change, ingestion_id: str, *, state: JobState, at: datetime, failure: JobFailure | None = None) -> None:
    """Ends a job as failed or cancelled."""
    parameters = {"id": ingestion_id, "state": state.value, "at": at, "failure": canonical.failure_text(failure)}
    change.run(_END_UNPUBLISHED, parameters)
