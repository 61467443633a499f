"""Every code of L-ERR, and every status that is passing, as an extractor over real gRPC brings them about."""

import asyncio
import hashlib
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import grpc
import pytest
from loom.artifact.v1 import artifact_pb2
from loom.extractor.v1 import extractor_pb2 as pb

from artifact.locators import LineSpan
from artifact.model import Artifact, ArtifactWarning, Block, BlockType
from knowledge_svc.domain.failures import CODE_BY_REASON
from knowledge_svc.domain.model import ExtractOptions, FailureClass, JobErrorCode, JobState
from knowledge_svc.extraction.routing import RoutedExtractor
from services.errors import FailedPrecondition, InvalidArgument, ResourceExhausted, Unauthenticated
from tests.extractor_double import Double, messages, remote, served
from tests.house_fixtures import SCOPE, Clock, open_house
from tests.ingest_fixtures import PARTLY, READ, ended, prices, queue, working

BYTES = b"the bytes"
Code, Class = JobErrorCode, FailureClass


def answer(*blocks: Block, **changes) -> Artifact:
    shown = blocks or (Block("b1", BlockType.PARAGRAPH, "the quokka sleeps", LineSpan(1, 1)),)
    whole = Artifact("markdown", "test/1", hashlib.sha256(BYTES).hexdigest(), len(BYTES), shown, READ, title="Zoo")
    return replace(whole, **changes)


@pytest.fixture
def house(tmp_path):
    with open_house(tmp_path, clock=Clock()) as opened:
        yield opened


@asynccontextmanager
async def ingesting(house, double: Double, *, attempts: int = 3, max_artifact_bytes: int = 1 << 20, timeout_s: float = 20):
    """Workers that send files to the double."""
    async with served(double):
        extractor = RoutedExtractor({"*": [remote(double.address, max_artifact_bytes=max_artifact_bytes, timeout_s=timeout_s)]})
        try:
            async with working(house, extractor, attempts=attempts) as feed:
                yield feed
        finally:
            await extractor.close()


REASONS = (
    ("UNSUPPORTED_TYPE", Code.UNSUPPORTED_FORMAT),
    ("TYPE_MISMATCH", Code.FORMAT_MISMATCH),
    ("MALFORMED", Code.CORRUPT),
    ("PARSER_CRASHED", Code.CORRUPT),
    ("ZIP_INVALID", Code.CORRUPT),
    ("ZIP_PATH", Code.CORRUPT),
    ("XML_DTD_FORBIDDEN", Code.CORRUPT),
    ("CSV_AMBIGUOUS", Code.CORRUPT),
    ("PARSE_TIMEOUT", Code.TIMEOUT),
    ("MEMORY_LIMIT", Code.RESOURCE_LIMIT),
    ("OUTPUT_LIMIT", Code.RESOURCE_LIMIT),
    ("DECOMPRESSION_LIMIT", Code.RESOURCE_LIMIT),
    ("ZIP_BOMB", Code.RESOURCE_LIMIT),
    ("ZIP_TOO_MANY_ENTRIES", Code.RESOURCE_LIMIT),
    ("TOO_MANY_ROWS", Code.RESOURCE_LIMIT),
    ("TOO_MANY_COLUMNS", Code.RESOURCE_LIMIT),
    ("ENCODING", Code.ENCODING),
    ("INVALID_OPTION", Code.INVALID_OPTION),
    ("EMPTY_DOCUMENT", Code.NO_TEXT),
    ("NO_TEXT", Code.NO_TEXT),
    ("DOCUMENT_TOO_LARGE", Code.TOO_LARGE),
    ("CHECKSUM_MISMATCH", Code.REFUSED),
    ("INVALID_REQUEST", Code.REFUSED),
    ("SOMETHING_NEW", Code.REFUSED),
)


async def failed_with(house, double: Double, **asked):
    """The end of one ingest that is to fail at its first attempt; the earlier revision goes on serving."""
    house.write("file:///zoo.md", "the earlier text")
    async with ingesting(house, double, **asked.pop("limits", {})) as feed:
        job = await ended(house, queue(house, feed, **asked))
    assert (job.state, job.attempts) == (JobState.FAILED, 1), job.failure
    assert house.find("earlier") == ["file:///zoo.md"]
    return job.failure


@pytest.mark.parametrize(("reason", "code"), REASONS)
async def test_l_err_18_each_of_the_extractors_reasons_is_a_code(house, reason, code):
    failure = await failed_with(house, Double([InvalidArgument("no", reason=reason)]))
    assert (failure.code, failure.failure_class, failure.reason) == (code, Class.CONTENT, reason)


async def test_l_err_04_a_password_that_is_missing_is_corrupt(house):
    failure = await failed_with(house, Double([FailedPrecondition("locked", reason="PASSWORD_REQUIRED")]))
    assert (failure.code, failure.failure_class, failure.reason) == (Code.CORRUPT, Class.CONTENT, "PASSWORD_REQUIRED")


def test_every_reason_of_the_extractors_contract_has_a_row():
    own = {"FORMAT_UNAVAILABLE", "INCOMPLETE_EXTRACTION", "TOO_MANY_CHUNKS"}
    passing = {"UPLOAD_STALLED", "OVERLOADED", "LOCATOR_NOT_FOUND", "INTERNAL", "UNIMPLEMENTED", "UNSPECIFIED"}
    contract = {name.removeprefix("ERROR_REASON_") for name in pb.ErrorReason.DESCRIPTOR.values_by_name}
    rows = {reason for reason, _ in REASONS} | {"PASSWORD_REQUIRED"}
    assert contract - passing == rows - {"SOMETHING_NEW"}
    assert set(CODE_BY_REASON) == rows - {"SOMETHING_NEW", "CHECKSUM_MISMATCH", "INVALID_REQUEST"} | own


@pytest.mark.parametrize(
    "code",
    [
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.OUT_OF_RANGE,
        grpc.StatusCode.NOT_FOUND,
        grpc.StatusCode.ALREADY_EXISTS,
    ],
)
async def test_l_err_16_a_refusal_that_names_no_reason_is_refused(house, code):
    failure = await failed_with(house, Double([code]))
    assert (failure.code, failure.failure_class) == (Code.REFUSED, Class.CONTENT)


@pytest.mark.parametrize("error", [grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED, Unauthenticated("who?")])
async def test_l_ext_07_a_credential_that_is_not_taken_is_the_services_own_fault(house, error):
    failure = await failed_with(house, Double([error]))
    assert (failure.code, failure.failure_class, failure.reason) == (Code.REFUSED, Class.SYSTEM, "EXTRACTOR_ACCESS_DENIED")


@pytest.mark.parametrize(
    "error",
    [
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.ABORTED,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.DATA_LOSS,
        grpc.StatusCode.UNIMPLEMENTED,
        ResourceExhausted("busy", reason="OVERLOADED", retry_after_s=0.2),
    ],
)
async def test_l_ing_13_a_passing_status_is_tried_again(house, error):
    double = Double([error, answer()])
    async with ingesting(house, double) as feed:
        job = queue(house, feed)
        while (now := house.queue.job(SCOPE, job.ingestion_id)).failure is None:
            await asyncio.sleep(0.01)
        assert (now.state, now.failure.failure_class, now.failure.reason) == (JobState.PENDING, Class.RETRYING, "EXTRACTOR_DOWN")
        done = await ended(house, job, skip=timedelta(seconds=10))
    assert (done.state, done.attempts, done.failure, len(double.files)) == (JobState.READY, 2, None, 2)


async def test_l_err_14_failing_as_often_as_is_tried_ends_the_job(house):
    double = Double([grpc.StatusCode.INTERNAL])
    async with ingesting(house, double, attempts=3) as feed:
        job = await ended(house, queue(house, feed), skip=timedelta(seconds=10))
    assert (job.state, job.attempts, len(double.files)) == (JobState.FAILED, 3, 3)
    assert (job.failure.code, job.failure.failure_class) == (Code.RETRIES_EXHAUSTED, Class.SYSTEM)


async def test_an_extraction_that_takes_longer_than_a_call_may_is_tried_again(house):
    async def asleep(_context):
        await asyncio.sleep(20)

    double = Double([asleep, answer()])
    async with ingesting(house, double, timeout_s=1) as feed:
        job = await ended(house, queue(house, feed), skip=timedelta(seconds=10))
    assert (job.state, job.attempts) == (JobState.READY, 2)


async def test_an_extractor_killed_in_the_middle_of_its_answer_is_asked_again(house):
    async def cut(context):
        await context.write(messages(answer())[1])
        await context.abort(grpc.StatusCode.UNAVAILABLE, "Socket closed")

    async with ingesting(house, Double([cut, answer()])) as feed:
        job = await ended(house, queue(house, feed), skip=timedelta(seconds=10))
    assert (job.state, job.attempts, job.revision) == (JobState.READY, 2, 1)


async def test_l_err_01_a_format_no_extractor_declares_is_unavailable(house):
    failure = await failed_with(house, Double([answer()], formats=("pdf",)))
    assert (failure.code, failure.failure_class) == (Code.FORMAT_UNAVAILABLE, Class.SYSTEM)


async def test_l_err_02_an_option_that_names_no_format_is_unsupported(house):
    failure = await failed_with(house, Double([answer()]), options=ExtractOptions(format="papyrus"))
    assert (failure.code, failure.failure_class) == (Code.UNSUPPORTED_FORMAT, Class.CONTENT)


async def test_l_err_06_an_artifact_over_the_bound_is_a_resource_limit(house):
    large = answer(Block("b1", BlockType.PARAGRAPH, "x" * 5000, LineSpan(1, 1)))
    failure = await failed_with(house, Double([large]), limits={"max_artifact_bytes": 4096})
    assert (failure.code, failure.reason) == (Code.RESOURCE_LIMIT, "OUTPUT_LIMIT")


async def test_l_err_09_losses_need_leave(house):
    failure = await failed_with(house, Double([answer(coverage=PARTLY)]))
    assert (failure.code, failure.failure_class) == (Code.INCOMPLETE_EXTRACTION, Class.CONTENT)


async def test_l_err_10_a_file_with_nothing_to_index_has_no_text(house):
    blank = answer(Block("b1", BlockType.PARAGRAPH, "  ", LineSpan(1, 1)))
    assert (await failed_with(house, Double([blank]))).code is Code.NO_TEXT


async def test_l_err_11_a_file_over_the_extractors_bound_is_never_sent(house):
    double = Double([answer()], max_bytes=8)
    assert (await failed_with(house, double)).code is Code.TOO_LARGE
    assert double.files == []


async def test_l_err_11_more_chunks_than_allowed_are_too_large(house):
    many = answer(*(Block(f"b{n}", BlockType.PARAGRAPH, "x", LineSpan(n, n), section_path=(str(n),)) for n in range(1, 102)))
    assert (await failed_with(house, Double([many]))).code is Code.TOO_LARGE


async def test_l_err_12_another_revision_than_expected_is_a_conflict(house):
    failure = await failed_with(house, Double([answer()]), expected_revision=7)
    assert (failure.code, failure.failure_class) == (Code.REVISION_CONFLICT, Class.CONFLICT)


async def test_l_err_13_bytes_that_are_gone_are_said_to_be(house, monkeypatch):
    monkeypatch.setattr(house.blobs, "exists", lambda _sha256: False)
    failure = await failed_with(house, Double([answer()]))
    assert (failure.code, failure.failure_class) == (Code.ORIGINAL_GONE, Class.SYSTEM)


async def test_l_err_13_bytes_that_go_while_they_are_sent_are_said_to_be(house):
    double = Double([answer()])
    house.write("file:///zoo.md", "the earlier text")
    async with served(double):
        extractor = RoutedExtractor({"*": [remote(double.address)]})
        async with working(house, extractor) as feed:
            house.blobs.exists = lambda _sha256: True
            house.blobs.put(BYTES)
            job = queue(house, feed)
            sha256 = hashlib.sha256(BYTES).hexdigest()
            (house.blobs._folder / sha256[:2] / sha256).unlink()
            job = await ended(house, job)
        await extractor.close()
    assert (job.state, job.failure.code) == (JobState.FAILED, Code.ORIGINAL_GONE)


async def test_a_store_that_fails_while_the_file_is_sent_is_a_passing_failure(house, monkeypatch):
    chunks, failures = house.blobs.chunks, iter([OSError(5, "Input/output error")])

    def failing(sha256, *, size_bytes):
        if (failure := next(failures, None)) is not None:
            raise failure
        return chunks(sha256, size_bytes=size_bytes)

    monkeypatch.setattr(house.blobs, "chunks", failing)
    async with ingesting(house, Double([answer()])) as feed:
        job = await ended(house, queue(house, feed), skip=timedelta(seconds=10))
    assert (job.state, job.attempts) == (JobState.READY, 2)


def without(part: str) -> list[pb.ExtractResponse]:
    return [message for message in messages(answer()) if message.WhichOneof("part") != part]


def changed(part: str, change) -> list[pb.ExtractResponse]:
    """The messages of a sound artifact with one of them changed."""
    found = messages(answer(datasets=(prices(),), warnings=(ArtifactWarning("REPAIRED", "mended"),)))
    for message in found:
        if message.WhichOneof("part") == part:
            change(getattr(message, part))
    return found


BROKEN = (
    ("coverage", without("coverage")),
    ("head", without("head")),
    ("head.sha256", changed("head", lambda head: setattr(head, "sha256", "1" * 64))),
    ("head.sha256", changed("head", lambda head: setattr(head, "sha256", "nothing of the kind"))),
    ("head.size_bytes", changed("head", lambda head: setattr(head, "size_bytes", 8))),
    ("head.format", changed("head", lambda head: setattr(head, "format", "papyrus"))),
    ("head.parser", changed("head", lambda head: setattr(head, "parser", ""))),
    ("head.parser", changed("head", lambda head: setattr(head, "parser", "p" * 257))),
    ("blocks[0].id", changed("blocks", lambda part: setattr(part.blocks[0], "id", ""))),
    ("blocks[0].type", changed("blocks", lambda part: setattr(part.blocks[0], "type", 99))),
    ("blocks[0].locator", changed("blocks", lambda part: part.blocks[0].ClearField("locator"))),
    ("blocks[0].locator", changed("blocks", lambda part: setattr(part.blocks[0].locator.lines, "first", 0))),
    ("blocks[0].level", changed("blocks", lambda part: setattr(part.blocks[0], "level", 3))),
    ("blocks[0].dataset_id", changed("blocks", lambda part: setattr(part.blocks[0], "dataset_id", "ghost"))),
    ("blocks[0].defines[1]", changed("blocks", lambda part: part.blocks[0].defines.extend(["a", "k" * 8193]))),
    ("blocks[0].section_path", changed("blocks", lambda part: part.blocks[0].section_path.extend("h" * 65))),
    ("datasets[0].columns[0].name", changed("dataset", lambda dataset: setattr(dataset.columns[0], "name", ""))),
    ("datasets[0].rows", changed("dataset", lambda dataset: setattr(dataset, "row_count", 3))),
    ("datasets[0].rows", changed("rows", lambda rows: setattr(rows, "arrow_ipc", b"not arrow"))),
    ("warnings[0].code", changed("warnings", lambda part: setattr(part.warnings[0], "code", "lower case"))),
    ("coverage.extracted", changed("coverage", lambda coverage: setattr(coverage, "extracted", 9))),
    ("coverage.unit", changed("coverage", lambda coverage: setattr(coverage, "unit", ""))),
    ("progress.done", changed("progress", lambda progress: setattr(progress, "done", -1))),
    ("part", [pb.ExtractResponse()]),
    ("head", [messages(answer())[1]] * 2),
    ("coverage", [*messages(answer()), messages(answer())[-1]]),
    (
        "message",
        [pb.ExtractResponse(blocks=pb.BlockPart(blocks=[artifact_pb2.Block(id="b", text="x" * 5_000_000)]))],
    ),
)


@pytest.mark.parametrize(("field", "sent"), BROKEN, ids=[f"{number}-{field}" for number, (field, _) in enumerate(BROKEN)])
async def test_l_err_15_an_artifact_that_breaks_the_contract_is_refused_by_its_field(house, field, sent):
    failure = await failed_with(house, Double([sent]))
    assert (failure.code, failure.failure_class) == (Code.INVALID_ARTIFACT, Class.SYSTEM), failure
    assert f" {field}" in failure.message


async def test_l_err_17_a_defect_tells_nothing_of_itself(house, monkeypatch):
    def broken(*_args, **_kwargs):
        raise ZeroDivisionError("the secret of the house")

    monkeypatch.setattr(house.store, "vectors_by_input", broken)
    async with ingesting(house, Double([answer()])) as feed:
        job = await ended(house, queue(house, feed))
    assert (job.failure.code, job.failure.failure_class, job.attempts) == (Code.INTERNAL, Class.SYSTEM, 1)
    assert "secret" not in job.failure.message
