"""What an ingestion is: how it is asked for, and when it is tried again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from knowledge_svc.domain.errors import EmptyDocument, UploadNotFound
from knowledge_svc.domain.file_names import named_format
from knowledge_svc.domain.model import Author, ExtractOptions, Job, JobState, RequestKey, Scope, Upload
from knowledge_svc.domain.ports import JobQueue

MAX_DELAY: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """An ingest as a caller asks for it."""

    upload_id: str
    source_uri: str
    title: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    metadata: str = "{}"
    options: ExtractOptions = field(default_factory=ExtractOptions)
    expected_revision: int | None = None
    allow_partial: bool = False
    source: str | None = None


@dataclass(frozen=True, slots=True)
class FileToKeep:
    """What a caller says of a file it sends; `upload_id` is the name it gave the upload, empty where it gave none."""

    scope: Scope
    filename: str
    content_type: str
    owner: str
    upload_id: str = ""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a job is tried, and the first delay; each later one is twice the one before, at most an hour."""

    max_attempts: int = 20
    first_delay: timedelta = timedelta(seconds=1)

    def delay(self, failures: int) -> timedelta:
        """The wait after that many passing failures, at least one."""
        doubled: int = 1 << min(failures - 1, 32)
        return min(MAX_DELAY, self.first_delay * doubled)


class Ingestions:
    """The use cases of uploads and jobs. Every method blocks; what it returns is durable."""

    def __init__(
        self,
        queue: JobQueue,
        *,
        upload_ttl: timedelta,
        clock: Callable[[], datetime],
        new_id: Callable[[], str],
        on_queued: Callable[[], None],
        on_cancel: Callable[[str], None],
    ) -> None:
        self._queue = queue
        self._upload_ttl = upload_ttl
        self._clock = clock
        self._new_id = new_id
        self._on_queued = on_queued
        self._on_cancel = on_cancel

    def register(self, file: FileToKeep, *, sha256: str, size_bytes: int) -> Upload:
        """Records an upload whose bytes are stored.

        Raises:
            EmptyDocument: it has no bytes.
            UnsupportedFile: its name is of a refused format.
            IdempotencyConflict: the name it was given is of an upload of other bytes.
        """
        if size_bytes == 0:
            raise EmptyDocument("the file is empty; upload one that has bytes")
        now = self._clock()
        upload = Upload(
            upload_id=file.upload_id or self._new_id(),
            scope=file.scope,
            sha256=sha256,
            size_bytes=size_bytes,
            filename=file.filename,
            content_type=file.content_type,
            format=named_format(file.filename, file.content_type),
            owner=file.owner,
            created_at=now,
            expires_at=now + self._upload_ttl,
        )
        return self._queue.add_upload(upload)

    def whole_upload(self, scope: Scope, upload_id: str, *, owner: str) -> Upload:
        """Returns an upload that is complete.

        Raises:
            UploadNotFound: there is no such upload of this caller, or it expired.
        """
        upload = self._queue.upload(scope, upload_id)
        if upload.owner != owner or upload.expires_at <= self._clock():
            raise UploadNotFound(
                f"no upload {upload_id!r} of this caller, or it expired; upload the file again", metadata={"upload_id": upload_id}
            )
        return upload

    def start(self, scope: Scope, asked: IngestRequest, *, author: Author, request: RequestKey | None = None) -> Job:
        """Queues a job.

        Raises:
            UploadNotFound: there is no such upload of this caller, or it expired.
            IdempotencyConflict: the request id was used with another body.
        """
        now = self._clock()
        upload = self.whole_upload(scope, asked.upload_id, owner=author.actor)
        job = Job(
            ingestion_id=self._new_id(),
            scope=scope,
            seq=0,
            upload=upload,
            source_uri=asked.source_uri,
            title=asked.title,
            description=asked.description,
            tags=asked.tags,
            metadata=asked.metadata,
            options=asked.options,
            expected_revision=asked.expected_revision,
            allow_partial=asked.allow_partial,
            author=author,
            source=asked.source,
            state=JobState.PENDING,
            queued_at=now,
            updated_at=now,
            next_attempt_at=now,
        )
        queued = self._queue.add_job(job, request=request)
        self._on_queued()
        return queued

    def get(self, scope: Scope, ingestion_id: str) -> Job:
        """Returns a job.

        Raises:
            IngestionNotFound: there is none.
        """
        return self._queue.job(scope, ingestion_id)

    def page(self, scope: Scope, *, states: Sequence[JobState], source_uri: str, before_seq: int | None, limit: int) -> list[Job]:
        """Returns jobs newest first."""
        return self._queue.jobs(scope, states=states, source_uri=source_uri, before_seq=before_seq, limit=limit)

    def cancel(self, scope: Scope, ingestion_id: str) -> Job:
        """Ends a pending job; asks a running one to end before it publishes.

        Raises:
            IngestionNotFound: there is none.
            TooLateToCancel: it ended.
        """
        job = self._queue.cancel(scope, ingestion_id, now=self._clock())
        self._on_cancel(ingestion_id)
        return job
