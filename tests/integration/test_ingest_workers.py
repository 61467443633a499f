import asyncio
import threading
import time
from dataclasses import replace
from datetime import timedelta

import pytest

from artifact.locators import LineSpan
from artifact.model import Artifact, ArtifactWarning, Block, BlockType
from knowledge_svc.domain.errors import BlobGone, DiskFull, ExtractionRefused, ExtractorDown, InvalidArtifact, TooLateToCancel
from knowledge_svc.domain.ingestion import IngestRequest, RetryPolicy
from knowledge_svc.domain.model import FailureClass, JobErrorCode, JobState
from knowledge_svc.domain.search import SearchMode
from tests.house_fixtures import ADA, SCOPE, Clock, open_house
from tests.ingest_fixtures import PARTLY, READ, ScriptedExtractor, artifact, ended, prices, queue, working


@pytest.fixture
def house(tmp_path):
    with open_house(tmp_path, clock=Clock()) as opened:
        yield opened


async def test_l_job_01_a_file_becomes_a_document_that_is_found(house):
    async with working(house, ScriptedExtractor(artifact(datasets=(prices(),)))) as feed:
        job = await ended(house, queue(house, feed, tags=("zoo",), metadata='{"a": 1}'))
    assert (job.state, job.revision, job.chunks, job.datasets, job.attempts) == (JobState.READY, 1, 1, 1, 1)
    assert house.find("quokka", top_k=1) == ["file:///zoo.md"]
    document = house.documents.get(SCOPE, "file:///zoo.md")
    assert (document.format, document.parser, document.title, document.tags) == ("markdown", "test/1", "Zoo", ("zoo",))
    assert document.original is not None
    assert house.blobs.exists(document.artifact_sha256)
    (dataset,) = house.store.datasets(SCOPE, "file:///zoo.md")
    assert (dataset.dataset_id, dataset.row_count, dataset.revision) == ("s", 2, 1)


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("UNSUPPORTED_TYPE", JobErrorCode.UNSUPPORTED_FORMAT),
        ("TYPE_MISMATCH", JobErrorCode.FORMAT_MISMATCH),
        ("MALFORMED", JobErrorCode.CORRUPT),
        ("PASSWORD_REQUIRED", JobErrorCode.CORRUPT),
        ("PARSER_CRASHED", JobErrorCode.CORRUPT),
        ("PARSE_TIMEOUT", JobErrorCode.TIMEOUT),
        ("MEMORY_LIMIT", JobErrorCode.RESOURCE_LIMIT),
        ("OUTPUT_LIMIT", JobErrorCode.RESOURCE_LIMIT),
        ("ENCODING", JobErrorCode.ENCODING),
        ("INVALID_OPTION", JobErrorCode.INVALID_OPTION),
        ("NO_TEXT", JobErrorCode.NO_TEXT),
        ("DOCUMENT_TOO_LARGE", JobErrorCode.TOO_LARGE),
        ("SOMETHING_NEW", JobErrorCode.REFUSED),
    ],
)
async def test_l_ing_14_a_refusal_fails_at_once_with_its_code(house, reason, code):
    house.write("file:///zoo.md", "the earlier text")
    async with working(house, ScriptedExtractor(ExtractionRefused("no", reason=reason))) as feed:
        job = await ended(house, queue(house, feed))
    assert (job.state, job.attempts) == (JobState.FAILED, 1)
    assert (job.failure.code, job.failure.failure_class, job.failure.reason) == (code, FailureClass.CONTENT, reason)
    assert house.find("earlier") == ["file:///zoo.md"]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InvalidArtifact("blocks[0].locator is missing"), JobErrorCode.INVALID_ARTIFACT),
        (BlobGone("gone"), JobErrorCode.ORIGINAL_GONE),
        (ZeroDivisionError("a defect"), JobErrorCode.INTERNAL),
    ],
)
async def test_a_failure_of_ours_ends_the_job_and_not_the_worker(house, error, code):
    async with working(house, ScriptedExtractor(error, artifact())) as feed:
        failed = await ended(house, queue(house, feed, source_uri="a"))
        after = await ended(house, queue(house, feed, source_uri="b"))
    assert (failed.state, failed.failure.code, failed.failure.failure_class) == (JobState.FAILED, code, FailureClass.SYSTEM)
    assert "defect" not in failed.failure.message or code is JobErrorCode.INTERNAL
    assert after.state is JobState.READY


async def test_l_ing_13_a_passing_failure_waits_and_is_tried_again(house):
    extractor = ScriptedExtractor(ExtractorDown("unreachable"), ExtractorDown("unreachable"), artifact())
    async with working(house, extractor) as feed:
        job = await ended(house, queue(house, feed), skip=timedelta(seconds=10))
    assert (job.state, job.attempts, extractor.calls) == (JobState.READY, 3, 3)


async def test_l_err_14_tried_often_enough_a_job_ends(house):
    async with working(house, ScriptedExtractor(ExtractorDown("unreachable")), attempts=2) as feed:
        job = await ended(house, queue(house, feed), skip=timedelta(seconds=10))
    assert (job.state, job.attempts, job.failure.code) == (JobState.FAILED, 2, JobErrorCode.RETRIES_EXHAUSTED)


async def test_a_waiting_job_says_why_and_until_when(house):
    async with working(house, ScriptedExtractor(ExtractorDown("unreachable"))) as feed:
        job = queue(house, feed)
        while (now := house.queue.job(SCOPE, job.ingestion_id)).failure is None:
            await asyncio.sleep(0.01)
    assert (now.state, now.failure.failure_class) == (JobState.PENDING, FailureClass.RETRYING)
    assert timedelta(0) < now.next_attempt_at - now.updated_at <= timedelta(seconds=1)


def test_l_ing_13_the_delay_doubles_up_to_an_hour():
    policy = RetryPolicy(20, timedelta(seconds=1))
    assert [policy.delay(n).total_seconds() for n in (1, 2, 3, 12, 13, 99)] == [1, 2, 4, 2048, 3600, 3600]


async def test_l_ing_13_attempts_that_end_with_the_service_do_not_lengthen_the_wait(house):
    async with working(house, ScriptedExtractor(artifact())) as feed:
        pass
    job = queue(house, feed)
    for _ in range(8):
        assert house.queue.claim(now=house.clock(), lease_until=house.clock()) is not None
        house.queue.requeue_processing(now=house.clock())
    waits = []
    extractor = ScriptedExtractor(ExtractorDown("unreachable"))
    async with working(house, extractor, attempts=20):
        for failures in (1, 2):
            while (now := house.queue.job(SCOPE, job.ingestion_id)).state is not JobState.PENDING or now.attempts < 8 + failures:
                await asyncio.sleep(0.01)
            waits.append((now.failure.times, now.next_attempt_at - now.updated_at))
            house.clock.now += timedelta(seconds=10)
    assert [times for times, _ in waits] == [1, 2]
    assert waits[0][1] <= timedelta(seconds=1) < waits[1][1] <= timedelta(seconds=2)


async def test_l_err_09_an_incomplete_extraction_needs_leave_to_publish(house):
    async with working(house, ScriptedExtractor(artifact(coverage=PARTLY))) as feed:
        refused = await ended(house, queue(house, feed, source_uri="a"))
        allowed = await ended(house, queue(house, feed, source_uri="b", allow_partial=True))
    assert (refused.state, refused.failure.code) == (JobState.FAILED, JobErrorCode.INCOMPLETE_EXTRACTION)
    assert "ocr" in refused.failure.message
    assert (allowed.state, allowed.coverage) == (JobState.PARTIAL, PARTLY)


async def test_l_err_10_and_11_nothing_or_too_much_to_index(house):
    many = Artifact(
        "markdown", "test/1", "0" * 64, 9,
        tuple(Block(f"b{n}", BlockType.PARAGRAPH, "x", LineSpan(n, n), section_path=(str(n),)) for n in range(1, 102)),
        READ,
    )  # fmt: skip
    async with working(house, ScriptedExtractor(artifact(""), many)) as feed:
        empty = await ended(house, queue(house, feed, source_uri="a"))
        huge = await ended(house, queue(house, feed, source_uri="b"))
    assert (empty.failure.code, huge.failure.code) == (JobErrorCode.NO_TEXT, JobErrorCode.TOO_LARGE)


async def test_l_ing_03_an_expected_revision_guards_the_publish(house):
    house.write("file:///zoo.md", "one")
    async with working(house, ScriptedExtractor(artifact())) as feed:
        new_only = await ended(house, queue(house, feed, expected_revision=0))
        over_one = await ended(house, queue(house, feed, expected_revision=1))
    assert (new_only.state, new_only.failure.code) == (JobState.FAILED, JobErrorCode.REVISION_CONFLICT)
    assert (over_one.state, over_one.revision) == (JobState.READY, 2)


async def test_l_ing_16_an_ingest_overtaken_by_a_text_write_fails(house):
    async def overtaken():
        await asyncio.to_thread(house.write, "file:///zoo.md", "written meanwhile")
        return artifact()

    async with working(house, ScriptedExtractor(overtaken)) as feed:
        job = await ended(house, queue(house, feed))
    assert (job.state, job.failure.code, job.failure.failure_class) == (
        JobState.FAILED, JobErrorCode.REVISION_CONFLICT, FailureClass.CONFLICT,
    )  # fmt: skip
    assert house.documents.get(SCOPE, "file:///zoo.md").content == "written meanwhile"


async def test_l_ing_10_jobs_of_a_source_run_in_the_order_asked(house):
    async with working(house, ScriptedExtractor(artifact("first"), artifact("second"), artifact("third")), workers=3) as feed:
        jobs = [queue(house, feed) for _ in range(3)]
        ends = [await ended(house, job) for job in jobs]
    assert [end.revision for end in ends] == [1, 2, 3]
    assert house.documents.get(SCOPE, "file:///zoo.md").content == "third"


async def test_l_job_08_cancel_stops_a_waiting_and_a_running_job(house):
    started = asyncio.Event()

    async def endless():
        started.set()
        await asyncio.sleep(60)

    async with working(house, ScriptedExtractor(endless)) as feed:
        running = queue(house, feed, source_uri="a")
        waiting = queue(house, feed, source_uri="b")
        await started.wait()
        assert feed.cancel(SCOPE, waiting.ingestion_id).state is JobState.CANCELLED
        feed.cancel(SCOPE, running.ingestion_id)
        assert (await ended(house, running)).state is JobState.CANCELLED
    assert house.find("quokka", top_k=1) == []


async def test_l_ing_12_a_pass_that_runs_too_long_is_cut_and_tried_again(house):
    async def endless():
        await asyncio.sleep(60)

    extractor = ScriptedExtractor(endless, artifact())
    async with working(house, extractor, max_pass=2) as feed:
        job = await ended(house, queue(house, feed), skip=timedelta(seconds=10))
    assert (job.state, job.attempts) == (JobState.READY, 2)


async def test_a_stopped_process_leaves_its_job_to_the_next(house):
    started = asyncio.Event()

    async def endless():
        started.set()
        await asyncio.sleep(60)

    async with working(house, ScriptedExtractor(endless)) as feed:
        job = queue(house, feed)
        await started.wait()
    assert house.queue.job(SCOPE, job.ingestion_id).state is JobState.PROCESSING
    async with working(house, ScriptedExtractor(artifact())):
        assert (await ended(house, job)).state is JobState.READY
    assert house.queue.job(SCOPE, job.ingestion_id).revision == 1


async def test_several_jobs_run_at_once(house):
    both = asyncio.Barrier(2)

    async def together():
        await asyncio.wait_for(both.wait(), 30)
        return artifact()

    async with working(house, ScriptedExtractor(together), workers=2) as feed:
        jobs = [queue(house, feed, source_uri=uri) for uri in ("a", "b")]
        assert [(await ended(house, job)).state for job in jobs] == [JobState.READY, JobState.READY]


async def test_a_queue_that_stumbles_does_not_end_the_worker(house, monkeypatch):
    monkeypatch.setattr("knowledge_svc.jobs.workers.STUMBLE", timedelta(seconds=0.01))
    claim, failures = house.queue.claim, iter([OSError("the disk is away"), DiskFull("full")])

    def stumbling(**times):
        if (failure := next(failures, None)) is not None:
            raise failure
        return claim(**times)

    monkeypatch.setattr(house.queue, "claim", stumbling)
    async with working(house, ScriptedExtractor(artifact())) as feed:
        assert (await ended(house, queue(house, feed))).state is JobState.READY


async def test_a_job_that_makes_no_progress_keeps_its_lease(house, monkeypatch):
    monkeypatch.setattr("knowledge_svc.jobs.workers.RENEWAL", timedelta(seconds=0.02))
    leases: set = set()

    async def slow():
        for _ in range(20):
            leases.add(house.queue.job(SCOPE, job.ingestion_id).lease_until)
            await asyncio.sleep(0.02)
        return artifact()

    async with working(house, ScriptedExtractor(slow)) as feed:
        job = queue(house, feed)
        assert (await ended(house, job)).state is JobState.READY
    assert len(leases) > 2


async def test_l_ing_08_a_file_ingested_again_embeds_only_what_changed(house):
    def sections(*texts):
        blocks = tuple(
            Block(f"b{n}", BlockType.PARAGRAPH, text, LineSpan(n, n), section_path=(str(n),)) for n, text in enumerate(texts, 1)
        )
        return Artifact("markdown", "test/1", "0" * 64, 9, blocks, READ, title="Zoo")

    async with working(house, ScriptedExtractor(sections("one", "two", "three"), sections("one", "TWO", "three"))) as feed:
        await ended(house, queue(house, feed))
        house.embedder.embedded.clear()
        again = await ended(house, queue(house, feed))
    assert (again.state, again.revision, again.chunks) == (JobState.READY, 2, 3)
    assert house.embedder.embedded == ["Zoo\n2\n\nTWO"]
    assert house.find("three", top_k=1) == ["file:///zoo.md"]


async def test_a_file_with_more_warnings_than_are_told_says_how_many(house):
    many = replace(artifact(), warnings=tuple(ArtifactWarning("ODD", str(n)) for n in range(250)))
    async with working(house, ScriptedExtractor(many)) as feed:
        job = await ended(house, queue(house, feed))
    assert (len(job.warnings), job.warnings[-1].code) == (201, "MORE_WARNINGS")
    assert job.warnings[-1].message.startswith("50 more")


async def test_a_title_that_a_file_gives_itself_is_one_line_of_bounded_length(house):
    async with working(house, ScriptedExtractor(replace(artifact(), title="Zoo\n" + "x" * 5000))) as feed:
        await ended(house, queue(house, feed))
    title = house.documents.get(SCOPE, "file:///zoo.md").title
    assert (title[:5], len(title)) == ("Zoo x", 1000)


@pytest.mark.parametrize("stage", ["parse", "embed", "publish"])
async def test_l_job_08_a_job_can_be_cancelled_at_each_stage_before_it_publishes(house, monkeypatch, stage):
    house.write("file:///zoo.md", "the earlier text")
    reached, go_on = threading.Event(), threading.Event()

    def wait_here():
        reached.set()
        assert go_on.wait(20)

    async def parse():
        if stage == "parse":
            await asyncio.to_thread(wait_here)
        return artifact("many words\n" * 40)

    embed, stage_draft = house.embedder.embed, house.store.stage

    def slow_embed(texts):
        if stage == "embed":
            wait_here()
        return embed(texts)

    def slow_stage(draft):
        if stage == "publish":
            wait_here()
        return stage_draft(draft)

    monkeypatch.setattr(house.embedder, "embed", slow_embed)
    monkeypatch.setattr(house.store, "stage", slow_stage)
    async with working(house, ScriptedExtractor(parse)) as feed:
        job = queue(house, feed)
        await asyncio.to_thread(reached.wait, 20)
        told = await asyncio.to_thread(feed.cancel, SCOPE, job.ingestion_id)
        assert (told.state, told.cancel_requested) == (JobState.PROCESSING, True)
        go_on.set()
        done = await ended(house, job)
    assert (done.state, done.failure) == (JobState.CANCELLED, None)
    assert house.documents.get(SCOPE, "file:///zoo.md").content == "the earlier text"
    assert house.find("words", top_k=5, mode=SearchMode.LEXICAL) == []


async def test_l_job_08_past_its_publish_check_a_job_finishes(house, monkeypatch):
    serve = house.indexes.serve
    reached, go_on = threading.Event(), threading.Event()

    def slow(publication):
        reached.set()
        assert go_on.wait(20)
        serve(publication)

    monkeypatch.setattr(house.indexes, "serve", slow)
    async with working(house, ScriptedExtractor(artifact())) as feed:
        job = queue(house, feed)
        await asyncio.to_thread(reached.wait, 20)
        with pytest.raises(TooLateToCancel):
            await asyncio.to_thread(feed.cancel, SCOPE, job.ingestion_id)
        go_on.set()
        assert (await ended(house, job)).state is JobState.READY


async def test_embedding_for_a_cancelled_job_ends_with_it(house, monkeypatch):
    batches, embed = [], house.embedder.embed
    first = threading.Event()

    def slow(texts):
        batches.append(len(texts))
        first.set()
        time.sleep(0.05)
        return embed(texts)

    blocks = tuple(Block(f"b{n}", BlockType.PARAGRAPH, f"x{n}", LineSpan(n, n), section_path=(str(n),)) for n in range(1, 100))
    monkeypatch.setattr(house.embedder, "embed", slow)
    async with working(house, ScriptedExtractor(Artifact("markdown", "test/1", "0" * 64, 9, blocks, READ))) as feed:
        job = queue(house, feed)
        await asyncio.to_thread(first.wait, 20)
        await asyncio.to_thread(feed.cancel, SCOPE, job.ingestion_id)
        assert (await ended(house, job)).state is JobState.CANCELLED
        await asyncio.sleep(0.3)
    assert len(batches) < 4


async def test_l_job_09_a_stalled_workers_job_is_taken_up_and_published_once(house, monkeypatch):
    """The first worker hangs without renewing its lease; another publishes; the first one, come back, changes nothing."""
    monkeypatch.setattr("knowledge_svc.jobs.workers.RENEWAL", timedelta(hours=1))
    hanging, come_back = asyncio.Event(), asyncio.Event()

    async def stall():
        hanging.set()
        await come_back.wait()
        return artifact("from the stalled worker")

    extractor = ScriptedExtractor(stall, artifact("from the second worker"))
    async with working(house, extractor, workers=2) as feed:
        job = queue(house, feed)
        await hanging.wait()
        house.clock.now += timedelta(minutes=2)
        feed.start(SCOPE, IngestRequest(house.queue.job(SCOPE, job.ingestion_id).upload.upload_id, "wake"), author=ADA)
        done = await ended(house, job)
        assert (done.state, done.attempts, done.revision) == (JobState.READY, 2, 1)
        come_back.set()
        await asyncio.sleep(0.3)
    document = house.documents.get(SCOPE, "file:///zoo.md")
    assert (document.revision, document.content) == (1, "from the second worker")
    assert house.queue.job(SCOPE, job.ingestion_id) == done


async def test_l_job_10_a_job_that_ends_the_service_each_time_is_given_up(house):
    async with working(house, ScriptedExtractor(artifact()), attempts=2) as feed:
        pass
    job = queue(house, feed)
    for _ in range(2):
        assert house.queue.claim(now=house.clock(), lease_until=house.clock()) is not None
        house.queue.requeue_processing(now=house.clock())
    async with working(house, ScriptedExtractor(artifact()), attempts=2):
        done = await ended(house, job)
    assert (done.state, done.attempts, done.failure.code) == (JobState.FAILED, 3, JobErrorCode.RETRIES_EXHAUSTED)


async def test_a_full_disk_at_the_publish_waits_and_is_tried_again(house, monkeypatch):
    stage_draft, failures = house.store.stage, iter([DiskFull("full")])

    def full(draft):
        if (failure := next(failures, None)) is not None:
            raise failure
        return stage_draft(draft)

    monkeypatch.setattr(house.store, "stage", full)
    async with working(house, ScriptedExtractor(artifact())) as feed:
        job = await ended(house, queue(house, feed), skip=timedelta(seconds=10))
    assert (job.state, job.attempts, job.revision) == (JobState.READY, 2, 1)


async def test_an_attempt_that_something_else_gave_up_is_not_taken_for_a_cancelled_job(house):
    async def given_up():
        raise asyncio.CancelledError

    async with working(house, ScriptedExtractor(given_up, artifact())) as feed:
        job = await ended(house, queue(house, feed), skip=timedelta(seconds=10))
    assert (job.state, job.attempts) == (JobState.READY, 2)
