"""Runs due jobs, several at once: extract, cut and embed, publish."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, ParamSpec, TypeVar

import structlog

from knowledge_svc.domain.chunking import ChunkSettings
from knowledge_svc.domain.failures import exhausted, failure_of, waiting
from knowledge_svc.domain.ingest_pass import Cut, RevisionDatasets, cut, draft_of, live_version
from knowledge_svc.domain.ingestion import RetryPolicy
from knowledge_svc.domain.model import Job, JobStage
from knowledge_svc.domain.ports import BlobStore, Embedder, Extractor, JobQueue, Store
from knowledge_svc.domain.publishing import Publisher
from knowledge_svc.jobs.board import JobBoard, Standing
from services.errors import Cancelled, Internal, LoomError, Unavailable

P = ParamSpec("P")
T = TypeVar("T")

IDLE: Final = timedelta(seconds=30)
"""Longest sleep of an idle worker; a queued job wakes it at once."""
RENEWAL: Final = timedelta(seconds=5)
"""How often a running job's standing goes to the record, with its lease."""
STUMBLE: Final = timedelta(seconds=5)
"""Wait of a worker whose queue cannot be read or written."""

_PASS_TOO_LONG: Final = Unavailable("the pass ran longer than allowed")
_log = structlog.get_logger("loom.jobs")


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """How jobs are run. `lease` must outlast the time between two renewals by far."""

    workers: int = 2
    max_pass: timedelta = timedelta(seconds=900)
    lease: timedelta = timedelta(seconds=60)
    max_chunks: int = 50_000
    chunks: ChunkSettings = field(default_factory=ChunkSettings)
    retry: RetryPolicy = field(default_factory=RetryPolicy)


@dataclass(frozen=True, slots=True)
class Workshop:
    """Everything a pass works with."""

    store: Store
    queue: JobQueue
    blobs: BlobStore
    publisher: Publisher
    embedder: Embedder
    extractor: Extractor
    datasets: RevisionDatasets
    clock: Callable[[], datetime]
    new_id: Callable[[], str]


class IngestWorkers:
    """The workers of one process. `start` and `stop` are called on the event loop; blocking work runs on the executor."""

    def __init__(self, shop: Workshop, *, settings: WorkerSettings, board: JobBoard, executor: Executor) -> None:
        self._shop = shop
        self._settings = settings
        self.board = board
        self._executor = executor
        self._wake = asyncio.Event()
        self._loops: list[asyncio.Task[None]] = []
        self._passes: dict[str, asyncio.Task[None]] = {}
        self._publishing: set[str] = set()
        self._cut: set[str] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def start(self) -> None:
        """Puts back what a dead process left, then takes jobs."""
        self._loop = asyncio.get_running_loop()
        returned = await self._blocking(self._shop.queue.requeue_processing, now=self._shop.clock())
        if returned:
            _log.warning("jobs_requeued", jobs=returned)
        self._loops = [asyncio.create_task(self._take_jobs(), name=f"ingest-{n}") for n in range(self._settings.workers)]

    async def stop(self) -> None:
        """Stops taking jobs; a pass that is not publishing is cut and its job put back by the next start."""
        for task in self._loops:
            task.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)

    def queued(self) -> None:
        """Says from any thread that a job waits."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._wake.set)

    def cancelled(self, ingestion_id: str) -> None:
        """Says from any thread that a job is asked to end."""
        self.board.moved(ingestion_id)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._cut_pass, ingestion_id)

    def _cut_pass(self, ingestion_id: str) -> None:
        task = self._passes.get(ingestion_id)
        if task is not None and ingestion_id not in self._publishing:
            self._cut.add(ingestion_id)
            task.cancel()

    async def _take_jobs(self) -> None:
        """Takes jobs for good; a queue that cannot be read or written is tried again a little later."""
        while True:
            try:
                await self._take_job()
            except Exception:
                _log.exception("worker_stumbled")
                await asyncio.sleep(STUMBLE.total_seconds())

    async def _take_job(self) -> None:
        now = self._shop.clock()
        job = await self._blocking(self._shop.queue.claim, now=now, lease_until=now + self._settings.lease)
        if job is None:
            await self._rest()
        else:
            await self._run(job)
            self._wake.set()

    async def _rest(self) -> None:
        """Sleeps until a job is queued or the next one is due."""
        self._wake.clear()
        now = self._shop.clock()
        due = await self._blocking(self._shop.queue.next_due, now=now)
        wait = min(IDLE, max(due - now, timedelta(milliseconds=10))) if due else IDLE
        with suppress(TimeoutError):
            async with asyncio.timeout(wait.total_seconds()):
                await self._wake.wait()

    async def _run(self, job: Job) -> None:
        """One pass over a job, and what becomes of the job after it."""
        _log.info("job_started", ingestion_id=job.ingestion_id, attempt=job.attempts)
        if job.attempts > self._settings.retry.max_attempts:
            await self._failed(job, Unavailable("the service ended in the middle of every attempt"))
            return
        task = asyncio.create_task(self._pass(job))
        self._passes[job.ingestion_id] = task
        try:
            async with asyncio.timeout(self._settings.max_pass.total_seconds()) as limit:
                await task
            _log.info("job_published", ingestion_id=job.ingestion_id)
        except TimeoutError as error:
            await self._failed(job, _PASS_TOO_LONG if limit.expired() else _store_failed(error))
        except asyncio.CancelledError:
            await self._interrupted(job, task)
        except LoomError as error:
            await self._failed(job, error)
        except OSError as error:
            _log.exception("job_store_failed", ingestion_id=job.ingestion_id)
            await self._failed(job, _store_failed(error))
        except Exception:
            _log.exception("job_defect", ingestion_id=job.ingestion_id)
            await self._failed(job, Internal("the ingest met a defect; the log has its details"))
        finally:
            self._passes.pop(job.ingestion_id, None)
            self._publishing.discard(job.ingestion_id)
            self._cut.discard(job.ingestion_id)
            self.board.clear(job.ingestion_id)

    async def _interrupted(self, job: Job, task: asyncio.Task[None]) -> None:
        """Tells a cancelled job from a stopping process, and from a call that something else gave up."""
        current = asyncio.current_task()
        if current is not None and current.cancelling():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            raise asyncio.CancelledError
        if job.ingestion_id not in self._cut:
            await self._failed(job, Unavailable("the attempt was cut short"))
            return
        await self._blocking(self._shop.queue.end_cancelled, job, now=self._shop.clock())
        _log.info("job_cancelled", ingestion_id=job.ingestion_id)

    async def _failed(self, job: Job, error: LoomError) -> None:
        now = self._shop.clock()
        failure = failure_of(error)
        if failure is None and job.attempts < self._settings.retry.max_attempts:
            passing = waiting(job, error)
            due = now + self._settings.retry.delay(passing.times)
            await self._blocking(self._shop.queue.retry, job, failure=passing, next_attempt_at=due, now=now)
            _log.warning("job_waits", ingestion_id=job.ingestion_id, reason=error.code_reason, attempts=job.attempts)
            return
        ended = failure or exhausted(job, error)
        await self._blocking(self._shop.queue.fail, job, failure=ended, now=now)
        _log.warning("job_failed", ingestion_id=job.ingestion_id, code=ended.code.value, reason=ended.reason)

    async def _pass(self, job: Job) -> None:
        """Extract, cut, embed, publish."""
        report = _Reporter(self, job)
        beating = asyncio.create_task(report.keep_lease())
        try:
            await self._work(job, report)
        finally:
            report.end()
            beating.cancel()
            await asyncio.gather(beating, return_exceptions=True)

    async def _work(self, job: Job, report: _Reporter) -> None:
        shop = self._shop
        live = await self._blocking(live_version, shop.store, job)
        await report.stage(JobStage.PARSE)
        artifact, stored = await shop.extractor.extract(shop.blobs, job.upload, job.options, progress=report.units)
        artifact_sha256 = await self._blocking(shop.blobs.put, stored)
        parts: Cut = await self._blocking(cut, artifact, job, settings=self._settings.chunks, max_chunks=self._settings.max_chunks)
        await report.stage(JobStage.EMBED, unit="chunk", total=len(parts.chunks))
        draft = await self._blocking(
            draft_of,
            artifact,
            artifact_sha256,
            job,
            parts,
            live=live,
            store=shop.store,
            embedder=shop.embedder,
            datasets=shop.datasets,
            now=shop.clock(),
            new_id=shop.new_id,
            progress=lambda done: report.units("chunk", done, len(parts.chunks)),
        )
        await report.stage(JobStage.PUBLISH)
        self._publishing.add(job.ingestion_id)
        await self._blocking(shop.publisher.publish, draft)

    async def _blocking(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, lambda: work(*args, **kwargs))

    async def record(self, job: Job, standing: Standing) -> None:
        """Writes down where a running job stands, and renews its lease."""
        until = self._shop.clock() + self._settings.lease
        await self._blocking(
            self._shop.queue.progress,
            job,
            stage=standing.stage,
            unit=standing.unit,
            done=standing.done,
            total=standing.total,
            lease_until=until,
        )


def _store_failed(error: OSError) -> Unavailable:
    return Unavailable(f"a file of the service could not be read or written: {error.strerror or type(error).__name__}")


class _Reporter:
    """Posts a job's standing to the board at once and to the record now and then. `units` is safe from any thread."""

    def __init__(self, workers: IngestWorkers, job: Job) -> None:
        self._workers = workers
        self._job = job
        self._standing = Standing(JobStage.PARSE, "", 0, 0)
        self._over = False

    async def stage(self, stage: JobStage, *, unit: str = "", total: int = 0) -> None:
        """Enters a stage; the record has it when this returns."""
        self._post(Standing(stage, unit, 0, total))
        await self._workers.record(self._job, self._standing)

    def units(self, unit: str, done: int, total: int) -> None:
        """Says how far the stage is.

        Raises:
            Cancelled: the pass is over, so the thread that still works for it is to end.
        """
        if self._over:
            raise Cancelled("the pass is over")
        self._post(Standing(self._standing.stage, unit, done, total))

    async def keep_lease(self) -> None:
        """Writes the standing down for as long as the job runs, so that nobody takes it for abandoned."""
        while True:
            await asyncio.sleep(RENEWAL.total_seconds())
            try:
                await self._workers.record(self._job, self._standing)
            except (LoomError, OSError) as error:
                _log.warning("lease_not_renewed", ingestion_id=self._job.ingestion_id, error=str(error))

    def end(self) -> None:
        """Says that the pass is over, whatever still runs for it."""
        self._over = True

    def _post(self, standing: Standing) -> None:
        self._standing = standing
        self._workers.board.post(self._job.ingestion_id, standing)
