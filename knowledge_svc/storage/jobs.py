"""Uploads and the queue of ingestions in the record."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from knowledge_svc.domain.errors import IdempotencyConflict, IngestionNotFound, TooLateToCancel, UploadNotFound
from knowledge_svc.domain.model import Job, JobFailure, JobStage, JobState, RequestKey, Scope, Upload
from knowledge_svc.storage import canonical
from knowledge_svc.storage.change import Change
from knowledge_svc.storage.codec import job_of, job_row, upload_of, upload_row
from knowledge_svc.storage.job_end import end_unpublished
from knowledge_svc.storage.record import Record
from knowledge_svc.storage.requests import FIND_REQUEST, keep_request, key_parameters, same_body

JOB_KEPT: Final = timedelta(days=30)
"""How long an ended job is kept after its last change (L-JOB-06)."""
UPLOAD_KEPT: Final = timedelta(days=7)
"""How long an upload is kept after it expires (L-UPL-03)."""

_UPLOAD: Final = "SELECT * FROM uploads WHERE namespace_id = $namespace AND upload_id = $id"
_JOB: Final = """
    SELECT j.*, u.sha256 AS upload_sha256, u.size_bytes AS upload_size_bytes, u.filename AS upload_filename,
        u.content_type AS upload_content_type, u.format AS upload_format, u.owner AS upload_owner,
        u.created_at AS upload_created_at, u.expires_at AS upload_expires_at
    FROM ingestions j JOIN uploads u USING (upload_id) WHERE j.namespace_id = $namespace AND j.ingestion_id = $id
"""
_PAGE: Final = """
    SELECT j.*, u.sha256 AS upload_sha256, u.size_bytes AS upload_size_bytes, u.filename AS upload_filename,
        u.content_type AS upload_content_type, u.format AS upload_format, u.owner AS upload_owner,
        u.created_at AS upload_created_at, u.expires_at AS upload_expires_at
    FROM ingestions j JOIN uploads u USING (upload_id)
    WHERE j.namespace_id = $namespace AND ($uri = '' OR j.source_uri = $uri)
        AND (len($states::VARCHAR[]) = 0 OR list_contains($states::VARCHAR[], j.state))
        AND ($before::BIGINT IS NULL OR j.seq < $before::BIGINT)
    ORDER BY j.seq DESC LIMIT $limit
"""
_DUE: Final = """
    SELECT head.ingestion_id, n.namespace_id FROM (
        SELECT namespace_id, min(seq) AS seq, arg_min(ingestion_id, seq) AS ingestion_id, arg_min(state, seq) AS state,
            arg_min(next_attempt_at, seq) AS due, arg_min(lease_until, seq) AS lease
        FROM ingestions WHERE ended_at IS NULL GROUP BY namespace_id, source_uri
    ) head JOIN namespaces n USING (namespace_id)
    WHERE (head.state = 'pending' AND head.due <= $now) OR (head.state = 'processing' AND head.lease < $now)
    ORDER BY n.last_served, head.seq LIMIT 1
"""
_NEXT_DUE: Final = """
    SELECT min(due) AS due FROM (
        SELECT arg_min(state, seq) AS state, arg_min(next_attempt_at, seq) AS due
        FROM ingestions WHERE ended_at IS NULL GROUP BY namespace_id, source_uri
    ) WHERE state = 'pending'
"""
_CLAIM: Final = """
    UPDATE ingestions SET state = 'processing', stage = 'parse', unit = '', units_done = 0, units_total = 0,
        attempts = $attempts, lease_until = $lease, updated_at = $now
    WHERE ingestion_id = $id
"""
_SERVED: Final = "UPDATE namespaces SET last_served = $change WHERE namespace_id = $namespace"
_PROGRESS: Final = """
    UPDATE ingestions SET stage = $stage, unit = $unit, units_done = $done, units_total = $total, lease_until = $lease,
        updated_at = $now
    WHERE ingestion_id = $id
"""
_WAIT: Final = """
    UPDATE ingestions SET state = 'pending', next_attempt_at = $next, updated_at = $now, failure = $failure, stage = NULL,
        lease_until = NULL
    WHERE ingestion_id = $id
"""
_REQUEST_CANCEL: Final = "UPDATE ingestions SET cancel_requested = true, updated_at = $now WHERE ingestion_id = $id"
_ATTEMPT: Final = """
    SELECT cancel_requested FROM ingestions WHERE ingestion_id = $id AND state = 'processing' AND attempts = $attempts
"""
_PROCESSING: Final = "SELECT ingestion_id, cancel_requested FROM ingestions WHERE state = 'processing'"
_COUNTS: Final = "SELECT state, count(*) AS jobs FROM ingestions GROUP BY state"
_OLDEST_OPEN: Final = "SELECT min(queued_at) AS queued_at FROM ingestions WHERE ended_at IS NULL"
_DROP_JOBS: Final = "DELETE FROM ingestions WHERE ended_at IS NOT NULL AND updated_at < $before"
_DROP_REQUESTS: Final = """
    DELETE FROM requests WHERE ingestion_id <> '' AND ingestion_id NOT IN (SELECT ingestion_id FROM ingestions)
"""
_DROP_UPLOADS: Final = """
    DELETE FROM uploads WHERE expires_at < $before AND upload_id NOT IN (SELECT upload_id FROM ingestions)
"""
_log: Final = logging.getLogger(__name__)


class RecordJobQueue:
    """The `JobQueue` port on the record. Word from an attempt that is over, such as a late progress, changes nothing."""

    def __init__(self, record: Record) -> None:
        self._record = record

    def add_upload(self, upload: Upload) -> Upload:
        """Keeps an upload whose blob is stored; one of the same id, bytes and owner that is kept already comes back instead.

        Raises:
            IdempotencyConflict: the id is of an upload of other bytes, or of someone else.
        """
        with self._record.writing() as change:
            namespace = change.namespace_id(upload.scope)
            for row in change.rows(_UPLOAD, {"namespace": namespace, "id": upload.upload_id}):
                return _same_upload(upload_of(row, upload.scope), upload)
            change.insert_one("uploads", upload_row(upload, namespace_id=namespace))
        return upload

    def upload(self, scope: Scope, upload_id: str) -> Upload:
        """Returns an upload.

        Raises:
            UploadNotFound: there is none.
        """
        rows = self._record.rows(_UPLOAD, {"namespace": self._record.namespace_id(scope), "id": upload_id})
        if not rows:
            message = f"no upload {upload_id} is kept in namespace {scope.namespace}; upload the file again"
            raise UploadNotFound(message, metadata={"upload_id": upload_id, "namespace": scope.namespace})
        return upload_of(rows[0], scope)

    def add_job(self, job: Job, *, request: RequestKey | None) -> Job:
        """Queues a job and returns it with its `seq`; under a known request key the earlier job comes back instead.

        Raises:
            IdempotencyConflict: the request id was used with another body.
        """
        with self._record.writing() as change:
            if request and (row := same_body(change.rows(FIND_REQUEST, key_parameters(request)), request)):
                return _read(change, job.scope, row["ingestion_id"])
            queued = replace(job, seq=change.job_seq())
            change.insert_one("ingestions", job_row(queued, namespace_id=change.namespace_id(job.scope)))
            if request:
                keep_request(change, request, at=job.queued_at, ingestion_id=job.ingestion_id)
        return queued

    def job(self, scope: Scope, ingestion_id: str) -> Job:
        """Returns a job.

        Raises:
            IngestionNotFound: there is none.
        """
        rows = self._record.rows(_JOB, {"namespace": self._record.namespace_id(scope), "id": ingestion_id})
        if not rows:
            raise _not_found(scope, ingestion_id)
        return job_of(rows[0], scope)

    def jobs(self, scope: Scope, *, states: Sequence[JobState], source_uri: str, before_seq: int | None, limit: int) -> list[Job]:
        """Returns jobs newest first, those below `before_seq`; no states and an empty source_uri select all."""
        parameters = {
            "namespace": self._record.namespace_id(scope),
            "states": [state.value for state in states],
            "uri": source_uri,
            "before": before_seq,
            "limit": limit,
        }
        return [job_of(row, scope) for row in self._record.rows(_PAGE, parameters)]

    def claim(self, *, now: datetime, lease_until: datetime) -> Job | None:
        """Takes the next due job: namespaces in turn, one job of a source at a time, in the order asked.

        The job is processing, its attempts counted, when this returns. None where nothing is due.
        """
        with self._record.writing() as change:
            rows = change.rows(_DUE, {"now": now})
            if not rows:
                return None
            namespace_id = rows[0]["namespace_id"]
            job = _read(change, self._record.scope(namespace_id), rows[0]["ingestion_id"])
            attempts = job.attempts + 1
            change.run(_CLAIM, {"attempts": attempts, "lease": lease_until, "now": now, "id": job.ingestion_id})
            change.run(_SERVED, {"change": change.seq, "namespace": namespace_id})
        return replace(
            job,
            state=JobState.PROCESSING,
            stage=JobStage.PARSE,
            unit="",
            units_done=0,
            units_total=0,
            attempts=attempts,
            lease_until=lease_until,
            updated_at=now,
        )

    def next_due(self, *, now: datetime) -> datetime | None:
        """Returns when the next waiting job is due, `now` where one is already, None where none waits.

        A job that waits for an earlier one of its source does not count: the end of that one lets it go.
        """
        (row,) = self._record.rows(_NEXT_DUE)
        return None if row["due"] is None else max(now, row["due"].astimezone(UTC))

    def progress(self, job: Job, *, stage: JobStage, unit: str, done: int, total: int, lease_until: datetime) -> None:
        """Records where a processing job stands and renews its lease."""
        with self._record.writing() as change:
            if not _is_current(change, job):
                return
            parameters = {"stage": stage.value, "unit": unit, "done": done, "total": total, "lease": lease_until}
            change.run(_PROGRESS, {**parameters, "now": self._record.clock(), "id": job.ingestion_id})

    def retry(self, job: Job, *, failure: JobFailure, next_attempt_at: datetime, now: datetime) -> None:
        """Puts a processing job back to wait; one that was asked to stop ends as cancelled."""
        with self._record.writing() as change:
            if not _is_current(change, job):
                return
            if _asked_to_stop(change, job):
                end_unpublished(change, job.ingestion_id, state=JobState.CANCELLED, at=now)
                return
            parameters = {"next": next_attempt_at, "now": now, "failure": canonical.failure_text(failure), "id": job.ingestion_id}
            change.run(_WAIT, parameters)

    def fail(self, job: Job, *, failure: JobFailure, now: datetime) -> None:
        """Ends a processing job that publishes nothing; one that was asked to stop ends as cancelled."""
        with self._record.writing() as change:
            if not _is_current(change, job):
                return
            stopped = _asked_to_stop(change, job)
            state = JobState.CANCELLED if stopped else JobState.FAILED
            end_unpublished(change, job.ingestion_id, state=state, at=now, failure=None if stopped else failure)

    def cancel(self, scope: Scope, ingestion_id: str, *, now: datetime) -> Job:
        """Ends a pending job as cancelled; marks a processing one, which its worker then ends.

        Raises:
            IngestionNotFound: there is none.
            TooLateToCancel: the job ended.
        """
        with self._record.writing() as change:
            job = _read(change, scope, ingestion_id)
            if job.state.ended:
                message = f"ingestion {ingestion_id} ended as {job.state.value}; there is nothing to cancel"
                raise TooLateToCancel(message, metadata={"ingestion_id": ingestion_id, "state": job.state.value})
            if job.state is JobState.PENDING:
                end_unpublished(change, ingestion_id, state=JobState.CANCELLED, at=now)
            else:
                change.run(_REQUEST_CANCEL, {"now": now, "id": ingestion_id})
            return _read(change, scope, ingestion_id)

    def end_cancelled(self, job: Job, *, now: datetime) -> None:
        """Ends a processing job as cancelled."""
        with self._record.writing() as change:
            if _is_current(change, job):
                end_unpublished(change, job.ingestion_id, state=JobState.CANCELLED, at=now)

    def requeue_processing(self, *, now: datetime) -> int:
        """Puts back every job that a dead process was working on; returns how many. Called once at the start.

        One that was asked to stop ends as cancelled and is not counted.
        """
        returned = 0
        with self._record.writing() as change:
            for row in change.rows(_PROCESSING):
                if row["cancel_requested"]:
                    end_unpublished(change, row["ingestion_id"], state=JobState.CANCELLED, at=now)
                else:
                    returned += change.run(_WAIT, {"next": now, "now": now, "failure": None, "id": row["ingestion_id"]})
        return returned

    def counts(self) -> dict[JobState, int]:
        """Returns how many jobs stand in each state, every state named."""
        found = {row["state"]: row["jobs"] for row in self._record.rows(_COUNTS)}
        return {state: found.get(state.value, 0) for state in JobState}

    def oldest_open(self) -> datetime | None:
        """Returns when the oldest job that has not ended was queued, None where all have."""
        (row,) = self._record.rows(_OLDEST_OPEN)
        return None if row["queued_at"] is None else row["queued_at"].astimezone(UTC)

    def prune(self, *, now: datetime) -> None:
        """Forgets jobs that ended 30 days ago with their request keys, and uploads that expired 7 days ago and serve no job."""
        with self._record.writing() as change:
            change.run(_DROP_JOBS, {"before": now - JOB_KEPT})
            change.run(_DROP_REQUESTS)
            change.run(_DROP_UPLOADS, {"before": now - UPLOAD_KEPT})


def _same_upload(kept: Upload, upload: Upload) -> Upload:
    if (kept.owner, kept.sha256) != (upload.owner, upload.sha256):
        message = f"upload_id {upload.upload_id} was used before for other bytes; take a new one"
        raise IdempotencyConflict(message, metadata={"upload_id": upload.upload_id})
    return kept


def _read(change: Change, scope: Scope, ingestion_id: str) -> Job:
    rows = change.rows(_JOB, {"namespace": change.namespace_id(scope), "id": ingestion_id})
    if not rows:
        raise _not_found(scope, ingestion_id)
    return job_of(rows[0], scope)


def _is_current(change: Change, job: Job) -> bool:
    """Whether the job is still processing in the attempt that speaks."""
    current = bool(change.rows(_ATTEMPT, {"id": job.ingestion_id, "attempts": job.attempts}))
    if not current:
        _log.warning("job_attempt_over", extra={"ingestion_id": job.ingestion_id, "attempt": job.attempts})
    return current


def _asked_to_stop(change: Change, job: Job) -> bool:
    rows = change.rows(_ATTEMPT, {"id": job.ingestion_id, "attempts": job.attempts})
    return bool(rows[0]["cancel_requested"])


def _not_found(scope: Scope, ingestion_id: str) -> IngestionNotFound:
    message = f"no ingestion {ingestion_id} is kept in namespace {scope.namespace}"
    return IngestionNotFound(message, metadata={"ingestion_id": ingestion_id, "namespace": scope.namespace})
