"""What every `JobQueue` does: uploads, and ingestions in turn, once each, and to an end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from threading import Thread

import pytest

from artifact.locators import LineSpan
from artifact.model import ArtifactWarning
from knowledge_svc.domain.errors import (
    DocumentNotFound,
    IdempotencyConflict,
    IngestionNotFound,
    RevisionConflict,
    TooLateToCancel,
    UploadNotFound,
)
from knowledge_svc.domain.model import (
    ExtractOptions,
    FailureClass,
    Job,
    JobErrorCode,
    JobFailure,
    JobStage,
    JobState,
    Scope,
)
from knowledge_svc.domain.ports import JobQueue, Store
from knowledge_svc.storage.jobs import RecordJobQueue
from knowledge_svc.storage.store import RecordStore
from services.errors import Cancelled
from tests.storage_fixtures import (
    NOW,
    SCOPE,
    make_dataset,
    make_document,
    make_draft,
    make_job,
    make_job_end,
    make_key,
    make_upload,
    open_record,
)

OTHER = Scope("dev", "other")
LEASE = NOW + timedelta(minutes=1)
LATER = NOW + timedelta(hours=1)
DOWN = JobFailure(JobErrorCode.RETRIES_EXHAUSTED, FailureClass.RETRYING, "the extractor cannot be reached", "EXTRACTOR_DOWN")
CORRUPT = JobFailure(JobErrorCode.CORRUPT, FailureClass.CONTENT, "the file is damaged", "MALFORMED")


@dataclass(frozen=True)
class Backend:
    """A queue, and the store beside it that ends jobs by publishing."""

    queue: JobQueue
    store: Store


@contextmanager
def _record_backend(folder: Path) -> Iterator[Backend]:
    with open_record(folder) as record:
        yield Backend(RecordJobQueue(record), RecordStore(record))


BACKENDS: dict[str, Callable[[Path], AbstractContextManager[Backend]]] = {"record": _record_backend}
"""Every implementation of the port, and how it is opened on a folder."""

Reopen = Callable[[], AbstractContextManager[Backend]]


@pytest.fixture(params=sorted(BACKENDS))
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Reopen:
    opener = BACKENDS[request.param]
    return lambda: opener(tmp_path)


@pytest.fixture
def backend(reopen: Reopen) -> Iterator[Backend]:
    with reopen() as opened:
        opened.queue.add_upload(make_upload())
        opened.queue.add_upload(make_upload("up-other", scope=OTHER))
        yield opened


@pytest.fixture
def queue(backend: Backend) -> JobQueue:
    return backend.queue


def add(queue: JobQueue, ingestion_id: str, *, source_uri: str = "doc:a", scope: Scope = SCOPE) -> Job:
    upload = make_upload() if scope == SCOPE else make_upload("up-other", scope=scope)
    return queue.add_job(make_job(ingestion_id, source_uri=source_uri, scope=scope, upload=upload), request=None)


def claimed(queue: JobQueue, *, now: datetime = NOW) -> Job:
    job = queue.claim(now=now, lease_until=now + timedelta(minutes=1))
    assert job is not None
    return job


def publish(backend: Backend, job: Job, *, state: JobState = JobState.READY) -> None:
    draft = make_draft(
        make_document(job.source_uri), job_end=make_job_end(job.ingestion_id, state=state), datasets=[make_dataset()]
    )
    backend.store.publish(backend.store.stage(draft))


# ---- uploads


def test_an_upload_reads_back(queue: JobQueue) -> None:
    upload = make_upload("up2", expires_at=LATER)
    queue.add_upload(upload)
    assert queue.upload(SCOPE, "up2") == upload


def test_an_upload_kept_again_is_the_same_and_one_of_other_bytes_or_someone_else_is_refused(queue: JobQueue) -> None:
    upload = make_upload("up2")
    assert queue.add_upload(upload) == upload
    assert queue.add_upload(replace(upload, expires_at=LATER)) == upload
    for other in (replace(upload, sha256="cd" * 32), replace(upload, owner="eve")):
        with pytest.raises(IdempotencyConflict):
            queue.add_upload(other)


def test_an_upload_is_found_only_in_its_own_namespace(queue: JobQueue) -> None:
    for scope, upload_id in ((OTHER, "up1"), (SCOPE, "up9"), (Scope("nobody", "none"), "up1")):
        with pytest.raises(UploadNotFound):
            queue.upload(scope, upload_id)


# ---- queueing


def test_a_job_reads_back_whole_with_its_place(queue: JobQueue) -> None:
    job = replace(make_job(), expected_revision=0, allow_partial=True, source="crawler", metadata='{"k":1}', tags=("ü", "b"))
    queued = queue.add_job(job, request=None)
    assert queued == replace(job, seq=queued.seq)
    assert queued.seq > 0
    assert queue.job(SCOPE, "job1") == queued


def test_jobs_take_ascending_places(queue: JobQueue) -> None:
    assert add(queue, "first").seq < add(queue, "second").seq


def test_a_job_is_found_only_in_its_own_namespace(queue: JobQueue) -> None:
    add(queue, "job1")
    for scope, ingestion_id in ((OTHER, "job1"), (SCOPE, "job2")):
        with pytest.raises(IngestionNotFound):
            queue.job(scope, ingestion_id)
        with pytest.raises(IngestionNotFound):
            queue.cancel(scope, ingestion_id, now=NOW)


def test_the_same_request_queues_one_job(queue: JobQueue) -> None:
    key = make_key(method="StartIngestion")
    first = queue.add_job(make_job("job1"), request=key)
    claimed(queue)
    again = queue.add_job(make_job("job2"), request=key)
    assert (again.ingestion_id, again.seq, again.state) == ("job1", first.seq, JobState.PROCESSING)
    assert queue.counts()[JobState.PENDING] == 0


def test_a_request_id_with_another_body_queues_nothing(queue: JobQueue) -> None:
    queue.add_job(make_job("job1"), request=make_key(body="one"))
    with pytest.raises(IdempotencyConflict):
        queue.add_job(make_job("job2"), request=make_key(body="two"))
    assert queue.counts()[JobState.PENDING] == 1


def test_jobs_are_listed_newest_first_and_paged(queue: JobQueue) -> None:
    jobs = [add(queue, f"job{number}", source_uri=f"doc:{number % 2}") for number in range(4)]
    add(queue, "elsewhere", scope=OTHER)

    def listed(*states: JobState, source_uri: str = "", before: int | None = None, limit: int = 9) -> list[str]:
        page = queue.jobs(SCOPE, states=states, source_uri=source_uri, before_seq=before, limit=limit)
        return [job.ingestion_id for job in page]

    assert listed() == ["job3", "job2", "job1", "job0"]
    assert listed(limit=2) == ["job3", "job2"]
    assert listed(before=jobs[2].seq) == ["job1", "job0"]
    assert listed(source_uri="doc:1") == ["job3", "job1"]
    claimed(queue)
    assert listed(JobState.PROCESSING) == ["job0"]
    assert listed(JobState.PROCESSING, JobState.PENDING, source_uri="doc:0") == ["job2", "job0"]
    assert listed(JobState.READY) == []


def test_every_state_is_counted(queue: JobQueue) -> None:
    add(queue, "job1")
    add(queue, "job2", source_uri="doc:b")
    claimed(queue)
    expected = dict.fromkeys(JobState, 0) | {JobState.PENDING: 1, JobState.PROCESSING: 1}
    assert queue.counts() == expected


# ---- claiming


def test_nothing_due_claims_nothing(queue: JobQueue) -> None:
    assert queue.claim(now=NOW, lease_until=LEASE) is None
    assert queue.next_due(now=NOW) is None


def test_a_claimed_job_is_processing_with_its_attempt_counted(queue: JobQueue) -> None:
    add(queue, "job1")
    job = queue.claim(now=NOW, lease_until=LEASE)
    assert job is not None
    assert (job.state, job.stage, job.attempts, job.lease_until) == (JobState.PROCESSING, JobStage.PARSE, 1, LEASE)
    assert job.options == ExtractOptions(encoding="cp1252", password="secret")
    assert queue.job(SCOPE, "job1") == job
    assert queue.claim(now=NOW, lease_until=LEASE) is None


def test_jobs_of_one_source_run_one_at_a_time_in_the_order_asked(backend: Backend) -> None:
    queue = backend.queue
    add(queue, "first")
    add(queue, "second")
    first = claimed(queue)
    assert first.ingestion_id == "first"
    assert queue.claim(now=NOW, lease_until=LEASE) is None
    publish(backend, first)
    assert claimed(queue).ingestion_id == "second"


def test_a_job_that_waits_holds_back_later_ones_of_its_source_only(queue: JobQueue) -> None:
    add(queue, "first")
    add(queue, "second")
    add(queue, "elsewhere", source_uri="doc:b")
    queue.retry(claimed(queue), failure=DOWN, next_attempt_at=LATER, now=NOW)
    assert claimed(queue).ingestion_id == "elsewhere"
    assert queue.claim(now=NOW, lease_until=LEASE) is None
    assert claimed(queue, now=LATER).ingestion_id == "first"


def test_the_same_source_uri_in_another_namespace_is_another_source(queue: JobQueue) -> None:
    add(queue, "here")
    add(queue, "there", scope=OTHER)
    assert {claimed(queue).ingestion_id, claimed(queue).ingestion_id} == {"here", "there"}


def test_namespaces_take_turns(queue: JobQueue) -> None:
    for number in range(3):
        add(queue, f"a{number}", source_uri=f"doc:{number}")
    for number in range(2):
        add(queue, f"b{number}", source_uri=f"doc:{number}", scope=OTHER)
    assert [claimed(queue).ingestion_id for _ in range(5)] == ["a0", "b0", "a1", "b1", "a2"]


def test_turns_survive_a_reopen(reopen: Reopen) -> None:
    with reopen() as opened:
        opened.queue.add_upload(make_upload())
        opened.queue.add_upload(make_upload("up-other", scope=OTHER))
        add(opened.queue, "a0", source_uri="doc:0")
        add(opened.queue, "a1", source_uri="doc:1")
        add(opened.queue, "b0", scope=OTHER)
        assert claimed(opened.queue).ingestion_id == "a0"
    with reopen() as opened:
        assert claimed(opened.queue).ingestion_id == "b0"


def test_racing_workers_never_claim_one_job_twice(queue: JobQueue) -> None:
    for number in range(12):
        add(queue, f"job{number}", source_uri=f"doc:{number}")
    taken: list[str] = []

    def work() -> None:
        while job := queue.claim(now=NOW, lease_until=LEASE):
            taken.append(job.ingestion_id)

    workers = [Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(taken) == sorted(f"job{number}" for number in range(12))


def test_the_next_due_time_is_now_for_a_job_that_can_run(queue: JobQueue) -> None:
    add(queue, "job1")
    assert queue.next_due(now=LATER) == LATER


def test_the_next_due_time_passes_over_jobs_that_wait_for_their_source(queue: JobQueue) -> None:
    add(queue, "first")
    add(queue, "second")
    job = claimed(queue)
    assert queue.next_due(now=NOW) is None
    queue.retry(job, failure=DOWN, next_attempt_at=LATER, now=NOW)
    assert queue.next_due(now=NOW) == LATER


# ---- running


def test_progress_shows_and_renews_the_lease(queue: JobQueue) -> None:
    add(queue, "job1")
    job = claimed(queue)
    queue.progress(job, stage=JobStage.EMBED, unit="chunk", done=3, total=9, lease_until=LATER)
    seen = queue.job(SCOPE, "job1")
    assert (seen.stage, seen.unit, seen.units_done, seen.units_total) == (JobStage.EMBED, "chunk", 3, 9)
    assert (seen.state, seen.lease_until) == (JobState.PROCESSING, LATER)


def test_a_retried_job_waits_and_counts_its_next_attempt(queue: JobQueue) -> None:
    add(queue, "job1")
    queue.retry(claimed(queue), failure=DOWN, next_attempt_at=LATER, now=NOW)
    waiting = queue.job(SCOPE, "job1")
    assert (waiting.state, waiting.failure, waiting.next_attempt_at) == (JobState.PENDING, DOWN, LATER)
    assert (waiting.stage, waiting.lease_until, waiting.ended_at) == (None, None, None)
    assert waiting.options.password == "secret"
    assert queue.claim(now=LATER - timedelta(microseconds=1), lease_until=LATER) is None
    again = claimed(queue, now=LATER)
    assert (again.attempts, again.units_done, again.units_total) == (2, 0, 0)


def test_a_failed_job_ends_without_its_password(queue: JobQueue) -> None:
    add(queue, "job1")
    queue.fail(claimed(queue), failure=CORRUPT, now=LATER)
    ended = queue.job(SCOPE, "job1")
    assert (ended.state, ended.failure, ended.ended_at, ended.updated_at) == (JobState.FAILED, CORRUPT, LATER, LATER)
    assert (ended.stage, ended.lease_until) == (None, None)
    assert ended.options == ExtractOptions(encoding="cp1252", password="")


def test_word_from_an_attempt_that_is_over_changes_nothing(queue: JobQueue) -> None:
    add(queue, "job1")
    stale = claimed(queue)
    queue.retry(stale, failure=DOWN, next_attempt_at=NOW, now=NOW)
    current = claimed(queue)
    queue.progress(stale, stage=JobStage.PUBLISH, unit="page", done=9, total=9, lease_until=LATER)
    queue.retry(stale, failure=DOWN, next_attempt_at=LATER, now=LATER)
    queue.fail(stale, failure=CORRUPT, now=LATER)
    queue.end_cancelled(stale, now=LATER)
    assert queue.job(SCOPE, "job1") == current


# ---- ending with a publication


@pytest.mark.parametrize("state", [JobState.READY, JobState.PARTIAL])
def test_a_publication_ends_its_job_in_the_same_change(backend: Backend, state: JobState) -> None:
    add(backend.queue, "job1")
    job = claimed(backend.queue)
    end = replace(
        make_job_end(state=state), warnings=(ArtifactWarning("REPAIRED", "it was cut", LineSpan(1, 2)), ArtifactWarning("X", "y"))
    )
    backend.store.publish(backend.store.stage(make_draft(make_document(job.source_uri), job_end=end)))
    ended = backend.queue.job(SCOPE, "job1")
    assert (ended.state, ended.ended_at, ended.coverage, ended.warnings) == (state, end.ended_at, end.coverage, end.warnings)
    assert (ended.revision, ended.chunks, ended.datasets, ended.format) == (1, 2, 1, "csv")
    assert (ended.stage, ended.lease_until, ended.failure, ended.options.password) == (None, None, None, "")


def test_a_job_that_failed_before_shows_no_failure_once_it_published(backend: Backend) -> None:
    add(backend.queue, "job1")
    backend.queue.retry(claimed(backend.queue), failure=DOWN, next_attempt_at=NOW, now=NOW)
    publish(backend, claimed(backend.queue))
    ended = backend.queue.job(SCOPE, "job1")
    assert (ended.state, ended.failure, ended.attempts) == (JobState.READY, None, 2)


def test_an_overtaken_publication_leaves_its_job_processing(backend: Backend) -> None:
    add(backend.queue, "job1")
    job = claimed(backend.queue)
    backend.store.publish(backend.store.stage(make_draft(make_document(content="written meanwhile"))))
    with pytest.raises(RevisionConflict):
        publish(backend, job)
    assert backend.queue.job(SCOPE, "job1") == job
    assert backend.store.document(SCOPE, "doc:a").content == "written meanwhile"


def test_a_failed_job_leaves_the_earlier_revision_serving(backend: Backend) -> None:
    backend.store.publish(backend.store.stage(make_draft()))
    before = backend.store.live_chunk_ids(SCOPE)[0].tolist()
    add(backend.queue, "job1")
    backend.queue.fail(claimed(backend.queue), failure=CORRUPT, now=NOW)
    assert backend.store.document(SCOPE, "doc:a").revision == 1
    assert backend.store.live_chunk_ids(SCOPE)[0].tolist() == before


# ---- cancelling


def test_a_pending_job_is_cancelled_at_once(queue: JobQueue) -> None:
    add(queue, "job1")
    job = queue.cancel(SCOPE, "job1", now=LATER)
    assert (job.state, job.ended_at, job.failure, job.options.password) == (JobState.CANCELLED, LATER, None, "")
    assert queue.job(SCOPE, "job1") == job
    assert queue.claim(now=LATER, lease_until=LATER) is None


def test_a_running_job_is_marked_and_ended_by_its_worker(queue: JobQueue) -> None:
    add(queue, "job1")
    job = claimed(queue)
    marked = queue.cancel(SCOPE, "job1", now=LATER)
    assert (marked.state, marked.cancel_requested, marked.ended_at) == (JobState.PROCESSING, True, None)
    queue.end_cancelled(job, now=LATER)
    ended = queue.job(SCOPE, "job1")
    assert (ended.state, ended.ended_at, ended.options.password) == (JobState.CANCELLED, LATER, "")


def test_a_job_that_was_asked_to_stop_does_not_publish(backend: Backend) -> None:
    add(backend.queue, "job1")
    job = claimed(backend.queue)
    marked = backend.queue.cancel(SCOPE, "job1", now=NOW)
    with pytest.raises(Cancelled):
        publish(backend, job)
    with pytest.raises(DocumentNotFound):
        backend.store.document(SCOPE, "doc:a")
    assert backend.queue.job(SCOPE, "job1") == marked


def test_a_late_publication_of_an_ended_job_writes_nothing(backend: Backend) -> None:
    add(backend.queue, "job1")
    job = claimed(backend.queue)
    backend.queue.fail(job, failure=CORRUPT, now=NOW)
    with pytest.raises(Cancelled):
        publish(backend, job)
    with pytest.raises(DocumentNotFound):
        backend.store.document(SCOPE, "doc:a")


def test_a_failing_job_that_was_asked_to_stop_ends_as_cancelled(queue: JobQueue) -> None:
    add(queue, "fails")
    add(queue, "waits", source_uri="doc:b")
    fails, waits = claimed(queue), claimed(queue)
    for ingestion_id in ("fails", "waits"):
        queue.cancel(SCOPE, ingestion_id, now=NOW)
    queue.fail(fails, failure=CORRUPT, now=LATER)
    queue.retry(waits, failure=DOWN, next_attempt_at=LATER, now=LATER)
    for ingestion_id in ("fails", "waits"):
        assert (queue.job(SCOPE, ingestion_id).state, queue.job(SCOPE, ingestion_id).failure) == (JobState.CANCELLED, None)


def test_an_ended_job_cannot_be_cancelled(backend: Backend) -> None:
    for ingestion_id, uri in (("ready", "doc:a"), ("failed", "doc:b"), ("cancelled", "doc:c")):
        add(backend.queue, ingestion_id, source_uri=uri)
    publish(backend, claimed(backend.queue))
    backend.queue.fail(claimed(backend.queue), failure=CORRUPT, now=NOW)
    backend.queue.cancel(SCOPE, "cancelled", now=NOW)
    for ingestion_id in ("ready", "failed", "cancelled"):
        with pytest.raises(TooLateToCancel):
            backend.queue.cancel(SCOPE, ingestion_id, now=NOW)


# ---- after a crash


def test_what_a_dead_process_worked_on_is_put_back(reopen: Reopen) -> None:
    with reopen() as opened:
        opened.queue.add_upload(make_upload())
        for number in range(3):
            add(opened.queue, f"job{number}", source_uri=f"doc:{number}")
        first, stopping = claimed(opened.queue), claimed(opened.queue)
        opened.queue.cancel(SCOPE, stopping.ingestion_id, now=NOW)
    with reopen() as opened:
        assert opened.queue.requeue_processing(now=LATER) == 1
        waiting = opened.queue.job(SCOPE, first.ingestion_id)
        assert (waiting.state, waiting.attempts, waiting.next_attempt_at, waiting.lease_until) == (JobState.PENDING, 1, LATER, None)
        assert opened.queue.job(SCOPE, stopping.ingestion_id).state is JobState.CANCELLED
        assert claimed(opened.queue, now=LATER).attempts == 2
        assert opened.queue.requeue_processing(now=LATER) == 1


def test_putting_back_nothing_is_fine(queue: JobQueue) -> None:
    assert queue.requeue_processing(now=NOW) == 0


# ---- housekeeping


def test_ended_jobs_go_after_thirty_days_with_their_request_keys(backend: Backend) -> None:
    key = make_key()
    backend.queue.add_job(make_job("old"), request=key)
    add(backend.queue, "open", source_uri="doc:b")
    backend.queue.fail(claimed(backend.queue), failure=CORRUPT, now=NOW)
    backend.queue.prune(now=NOW + timedelta(days=30))
    assert backend.queue.job(SCOPE, "old").state is JobState.FAILED
    backend.queue.prune(now=NOW + timedelta(days=30, microseconds=1))
    with pytest.raises(IngestionNotFound):
        backend.queue.job(SCOPE, "old")
    assert backend.queue.job(SCOPE, "open").state is JobState.PENDING
    assert backend.queue.add_job(make_job("new"), request=key).ingestion_id == "new"


def test_uploads_go_a_week_after_they_expire_unless_a_job_names_them(backend: Backend) -> None:
    backend.queue.add_upload(make_upload("unused", expires_at=LATER))
    backend.queue.add_upload(make_upload("used", expires_at=LATER))
    backend.queue.add_job(make_job(upload=make_upload("used", expires_at=LATER)), request=None)
    backend.queue.prune(now=LATER + timedelta(days=7))
    assert backend.queue.upload(SCOPE, "unused").expires_at == LATER
    backend.queue.prune(now=LATER + timedelta(days=7, microseconds=1))
    with pytest.raises(UploadNotFound):
        backend.queue.upload(SCOPE, "unused")
    assert backend.queue.job(SCOPE, "job1").upload.upload_id == "used"
