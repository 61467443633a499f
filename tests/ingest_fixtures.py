"""Workers over an opened house, files queued for them, and an extractor that answers as it is told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import timedelta

import pyarrow as pa

from artifact.codec import dump
from artifact.locators import LineSpan, SheetPlace, to_json
from artifact.model import ROW_ID, ROW_LOCATOR, Artifact, Block, BlockType, Column, ColumnType, Coverage, Dataset, FailedUnit
from knowledge_svc.datasets.retyping import DatasetRetyper
from knowledge_svc.domain.approvals import DatasetWriter
from knowledge_svc.domain.ingestion import FileToKeep, Ingestions, IngestRequest, RetryPolicy
from knowledge_svc.domain.model import Job, JobState
from knowledge_svc.jobs.board import JobBoard
from knowledge_svc.jobs.workers import IngestWorkers, WorkerSettings, Workshop
from tests.house_fixtures import ADA, SCOPE, House

READ = Coverage("line", 1, 1, words_emitted=3)
PARTLY = Coverage("page", 2, 1, failed=(FailedUnit("2", "image_only_page"),), lost=("ocr",))


def artifact(text: str = "the quokka sleeps", *, coverage: Coverage = READ, datasets: tuple[Dataset, ...] = ()) -> Artifact:
    blocks = (Block("b1", BlockType.PARAGRAPH, text, LineSpan(1, 1), section_path=("Animals",)),) if text else ()
    return Artifact("markdown", "test/1", "0" * 64, 9, blocks, coverage, title="Zoo", datasets=datasets)


def prices() -> Dataset:
    places = [to_json(SheetPlace("S", row, row, 1, 1)) for row in (2, 3)]
    rows = pa.table({ROW_ID: pa.array([0, 1], pa.int64()), ROW_LOCATOR: places, "item": ["nut", "bolt"]})
    return Dataset("s", "S", (Column("item", ColumnType.STRING),), rows, SheetPlace("S", 1, 3, 1, 1))


class ScriptedExtractor:
    """Answers each call with the next of its answers; the last one repeats. An answer may be an error, or wait."""

    def __init__(self, *answers: Artifact | Exception | Callable) -> None:
        self.answers = list(answers)
        self.calls = 0

    async def extract(self, blobs, upload, options, *, progress):
        self.calls += 1
        progress("line", 1, 1)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if callable(answer):
            answer = await answer()
        if isinstance(answer, Exception):
            raise answer
        return answer, dump(answer)


@asynccontextmanager
async def working(house: House, extractor, *, workers: int = 1, attempts: int = 3, max_pass: float = 30):
    """Runs workers over a house; yields the use cases that feed them."""
    board = JobBoard()
    board.attach(asyncio.get_running_loop())
    shop = Workshop(
        store=house.store,
        queue=house.queue,
        blobs=house.blobs,
        publisher=house.publisher,
        embedder=house.embedder,
        extractor=extractor,
        datasets=DatasetWriter(house.store, DatasetRetyper(), house.snapshots),
        clock=house.clock,
        new_id=lambda: "doc",
    )
    settings = WorkerSettings(
        workers=workers,
        max_pass=timedelta(seconds=max_pass),
        max_chunks=100,
        retry=RetryPolicy(attempts, timedelta(seconds=1)),
    )
    with ThreadPoolExecutor(4) as executor:
        crew = IngestWorkers(shop, settings=settings, board=board, executor=executor)
        ids = iter(f"id-{n}" for n in range(10_000))
        feed = Ingestions(
            house.queue,
            upload_ttl=timedelta(days=1),
            clock=house.clock,
            new_id=lambda: next(ids),
            on_queued=crew.queued,
            on_cancel=crew.cancelled,
        )
        await crew.start()
        try:
            yield feed
        finally:
            await crew.stop()


def queue(house: House, feed: Ingestions, *, source_uri: str = "file:///zoo.md", **asked) -> Job:
    sha256 = house.blobs.put(b"the bytes")
    upload = feed.register(FileToKeep(SCOPE, "zoo.md", "", ADA.actor), sha256=sha256, size_bytes=9)
    return feed.start(SCOPE, IngestRequest(upload.upload_id, source_uri, **asked), author=ADA)


async def ended(house: House, job: Job, *, skip: timedelta = timedelta()) -> Job:
    """Waits for the job's end; moves the clock on where the job waits for another attempt."""
    for _ in range(6000):
        now = house.queue.job(SCOPE, job.ingestion_id)
        if now.state.ended:
            return now
        if skip and now.state is JobState.PENDING and now.attempts:
            house.clock.now += skip
        await asyncio.sleep(0.01)
    raise AssertionError(f"the job did not end: {now}")
