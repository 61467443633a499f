"""The extractor over gRPC: what callers get for sound files, for hostile ones, and for streams that break the protocol."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest
import pytest_asyncio
from loom.artifact.v1 import artifact_pb2
from loom.extractor.v1 import extractor_pb2 as pb
from loom.extractor.v1 import extractor_pb2_grpc

from artifact.codec import (
    ArtifactAssembler,
    BlocksPart,
    CoveragePart,
    DatasetPart,
    HeadPart,
    Part,
    RowsPart,
    WarningsPart,
    locator_message,
)
from artifact.model import Artifact
from extractor_svc.app import ExtractorApp
from extractor_svc.child import ChildSettings
from extractor_svc.config import ExtractorConfig
from extractor_svc.limits import MIB, Limits
from extractor_svc.pool import PoolSettings
from extractor_svc.upload import UploadLimits
from services.errors import LoomError
from services.server import ServerConfig
from services.settings import Address
from services.status import error_from_rpc

pytestmark = pytest.mark.asyncio(loop_scope="module")
MARKDOWN = b"# Stock\n\nPens and ink.\n\n| item | price |\n| --- | --- |\n| pen | 1.50 |\n| ink | 20.00 |\n"
CHUNK = 256 * 1024


def config(spool: Path, **pool: object) -> ExtractorConfig:
    limits = Limits(timeout_s=20, progress_timeout_s=5, memory_bytes=512 * MIB, max_bytes=2 * MIB)
    child = ChildSettings(limits, extra_arguments=("--mock-format",))
    chosen: dict[str, Any] = {"child": child, "workers": 2, "spares": 1, "queue_size": 8}
    server = ServerConfig(Address("127.0.0.1", 0), None, None, None, False, None, 0.0, 1.0, 64, "json", "error")
    return ExtractorConfig(server, PoolSettings(**(chosen | pool)), UploadLimits(2 * MIB, 0.5, 2.0), 8, spool)


class Caller:
    """A client that speaks the contract through the generated stub."""

    def __init__(self, channel: grpc.aio.Channel, app: ExtractorApp) -> None:
        self.stub: Any = extractor_pb2_grpc.ExtractorServiceStub(channel)  # type: ignore[no-untyped-call]  # generated
        self.app = app

    async def extract(self, content: bytes, filename: str, **header: object) -> tuple[Artifact, list[pb.Progress]]:
        """The artifact of a file, read as the knowledge service reads it, and the progress on the way."""
        return await self.read(self.stub.Extract(requests(content, filename, **header), timeout=30))

    async def read(self, call: Any) -> tuple[Artifact, list[pb.Progress]]:
        assembler, progress = ArtifactAssembler(), []
        try:
            async for response in call:
                if response.HasField("progress"):
                    progress.append(response.progress)
                else:
                    assembler.add(part_of(response))
        except grpc.aio.AioRpcError as failure:
            raise error_from_rpc(failure) from failure
        return assembler.finish(), progress

    async def refusal(self, content: bytes, filename: str, **header: object) -> LoomError:
        with pytest.raises(LoomError) as caught:
            await self.extract(content, filename, **header)
        return caught.value

    async def refused(self, *sent: pb.ExtractRequest) -> LoomError:
        with pytest.raises(LoomError) as caught:
            await self.read(self.stub.Extract(iter(sent), timeout=30))
        return caught.value

    async def resolve(self, content: bytes, filename: str, locator: artifact_pb2.Locator) -> str:
        def sent() -> Iterator[pb.ResolveRequest]:
            yield pb.ResolveRequest(header=pb.ResolveHeader(file=pb.FileHeader(filename=filename), locator=locator))
            yield pb.ResolveRequest(data=content)

        try:
            return str((await self.stub.Resolve(sent(), timeout=30)).text)
        except grpc.aio.AioRpcError as failure:
            raise error_from_rpc(failure) from failure

    async def is_well(self) -> None:
        artifact, _ = await self.extract(b"# Well\n", "well.md")
        assert artifact.blocks[0].text == "Well"


def header_of(filename: str, **header: object) -> pb.ExtractRequest:
    return pb.ExtractRequest(header=pb.FileHeader(filename=filename, **header))  # type: ignore[arg-type]  # a field each


def requests(content: bytes, filename: str, **header: object) -> Iterator[pb.ExtractRequest]:
    yield header_of(filename, **header)
    for start in range(0, len(content), CHUNK):
        yield pb.ExtractRequest(data=content[start : start + CHUNK])


def script(**action: object) -> bytes:
    return json.dumps(action).encode()


def part_of(response: pb.ExtractResponse) -> Part:
    match response.WhichOneof("part"):
        case "head":
            return HeadPart(response.head)
        case "blocks":
            return BlocksPart(tuple(response.blocks.blocks))
        case "dataset":
            return DatasetPart(response.dataset)
        case "rows":
            return RowsPart(response.rows.dataset_id, response.rows.arrow_ipc)
        case "warnings":
            return WarningsPart(tuple(response.warnings.warnings))
        case "coverage":
            return CoveragePart(response.coverage)
    raise AssertionError("a response without a part")


@contextlib.asynccontextmanager
async def serving(settings: ExtractorConfig) -> AsyncIterator[Caller]:
    app = ExtractorApp(settings)
    address = await app.server.start()
    try:
        await app.pool.start()
        await app.server.serving()
        async with grpc.aio.insecure_channel(str(address)) as channel:
            yield Caller(channel, app)
    finally:
        await app.server.stop()
        await app.pool.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def caller(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Caller]:
    folder = tmp_path_factory.mktemp("spool")
    async with serving(config(folder)) as made:
        yield made


async def test_a_file_comes_back_as_an_artifact_with_its_progress(caller: Caller) -> None:
    artifact, progress = await caller.extract(MARKDOWN, "stock.md", sha256=hashlib.sha256(MARKDOWN).hexdigest())
    assert (artifact.format, artifact.sha256, artifact.size_bytes) == (
        "markdown",
        hashlib.sha256(MARKDOWN).hexdigest(),
        len(MARKDOWN),
    )
    assert [block.text for block in artifact.blocks[:2]] == ["Stock", "Pens and ink."]
    assert artifact.parser
    stages = [step.stage for step in progress]
    assert stages[0] == "receive"
    assert stages[-1] == "send"
    assert progress[0].done == len(MARKDOWN)
    assert "queue" in stages


async def test_every_block_of_a_file_reads_back(caller: Caller) -> None:
    artifact, _ = await caller.extract(MARKDOWN, "stock.md")
    for block in artifact.blocks[:2]:
        assert (await caller.resolve(MARKDOWN, "stock.md", locator_message(block.locator))).split() == block.text.split()


async def test_a_place_outside_the_file_is_not_found(caller: Caller) -> None:
    place = artifact_pb2.Locator(lines=artifact_pb2.LineSpan(first=900, last=901))
    with pytest.raises(LoomError) as caught:
        await caller.resolve(MARKDOWN, "stock.md", place)
    assert caught.value.code_reason == "LOCATOR_NOT_FOUND"


async def test_a_locator_without_a_kind_is_a_faulty_request(caller: Caller) -> None:
    with pytest.raises(LoomError) as caught:
        await caller.resolve(MARKDOWN, "stock.md", artifact_pb2.Locator())
    assert caught.value.code_reason == "INVALID_REQUEST"
    assert [fault.field for fault in caught.value.violations] == ["header.locator"]


async def test_capabilities_say_what_is_read_and_what_protects(caller: Caller) -> None:
    answer = await caller.stub.GetCapabilities(pb.GetCapabilitiesRequest(), timeout=5)
    assert "markdown" in {entry.id for entry in answer.formats}
    assert ".md" in next(entry for entry in answer.formats if entry.id == "markdown").extensions
    assert (answer.max_bytes, answer.timeout.seconds, answer.workers) == (2 * MIB, 20, 2)
    assert [layer.name for layer in answer.protections] == ["rlimits", "no_network", "no_privileges", "landlock", "seccomp"]
    assert ".doc" in answer.refused_extensions
    assert answer.version


async def test_four_files_at_once(caller: Caller) -> None:
    texts = [f"# Page {number}\n".encode() for number in range(4)]
    read = await asyncio.gather(*(caller.extract(text, "page.md") for text in texts))
    assert [artifact.blocks[0].text for artifact, _ in read] == ["Page 0", "Page 1", "Page 2", "Page 3"]


async def test_an_artifact_of_many_megabytes_streams_through(caller: Caller) -> None:
    artifact, _ = await caller.extract(script(do="flood", megabytes=20), "x.mock")
    assert [len(block.text) for block in artifact.blocks] == [1_000_000] * 20


async def test_a_block_of_many_megabytes_streams_through(caller: Caller) -> None:
    artifact, _ = await caller.extract(script(do="one_huge_block", bytes=9_000_000), "x.mock")
    assert [block.text for block in artifact.blocks] == ["x" * 9_000_000]


async def test_faults_of_the_document_are_typed(caller: Caller) -> None:
    assert (await caller.refusal(b"", "empty.md")).code_reason == "EMPTY_DOCUMENT"
    assert (await caller.refusal(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "old.doc")).code_reason == "UNSUPPORTED_TYPE"
    assert (await caller.refusal(b"\x89PNG\r\n\x1a\n" + bytes(90), "stock.pdf")).code_reason == "TYPE_MISMATCH"
    assert (await caller.refusal(b"# Stock\n", "stock.md", sha256="0" * 64)).code_reason == "CHECKSUM_MISMATCH"
    refusal = await caller.refusal(bytes(2 * MIB + 1), "large.md")
    assert (refusal.code_reason, refusal.metadata) == ("DOCUMENT_TOO_LARGE", {"max_bytes": "2097152"})
    await caller.is_well()


async def test_a_file_of_exactly_the_largest_size_is_taken(caller: Caller) -> None:
    artifact, _ = await caller.extract(b"a" * (2 * MIB), "large.md")
    assert artifact.size_bytes == 2 * MIB


async def test_streams_that_break_the_protocol_are_refused(caller: Caller) -> None:
    header, data = header_of("stock.md"), pb.ExtractRequest(data=b"# Stock\n")
    for sent in ([], [data], [header, header], [header, data, header], [header, pb.ExtractRequest()]):
        assert (await caller.refused(*sent)).code_reason == "INVALID_REQUEST"
    oversized = pb.ExtractRequest(data=bytes(MIB + 1))
    assert (await caller.refused(header, oversized)).code_reason == "INVALID_REQUEST"
    refusal = await caller.refused(header_of("x" * 2000, sha256="ABC"), data)
    assert [fault.field for fault in refusal.violations] == ["header.sha256", "header.filename"]
    await caller.is_well()


async def test_an_upload_that_stalls_or_drips_is_ended(caller: Caller) -> None:
    async def stalling() -> AsyncIterator[pb.ExtractRequest]:
        yield header_of("stock.md")
        await asyncio.sleep(30)

    async def dripping() -> AsyncIterator[pb.ExtractRequest]:
        yield header_of("stock.md")
        while True:
            yield pb.ExtractRequest(data=b".")
            await asyncio.sleep(0.1)

    for sent, least_s in ((stalling, 0.5), (dripping, 2.0)):
        began = time.monotonic()
        with pytest.raises(LoomError) as caught:
            await caller.read(caller.stub.Extract(sent(), timeout=30))
        assert caught.value.code_reason == "UPLOAD_STALLED"
        assert least_s <= time.monotonic() - began <= least_s + 1
    await caller.is_well()


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ({"do": "allocate"}, "MEMORY_LIMIT"),
        ({"do": "crash"}, "PARSER_CRASHED"),
        ({"do": "flood", "megabytes": 60}, "OUTPUT_LIMIT"),
        ({"do": "refuse"}, "MALFORMED"),
    ],
)
async def test_what_a_document_does_to_its_reader_is_typed_and_the_service_lives(
    tmp_path: Path, action: dict[str, object], reason: str
) -> None:
    async with serving(config(tmp_path, workers=1, spares=0, max_output_bytes=40 * MIB)) as caller:
        refusal = await caller.refusal(script(**action), "x.mock")
        assert (type(refusal).__name__, refusal.code_reason) == ("InvalidArgument", reason)
        await caller.is_well()


async def test_a_refusal_reaches_a_caller_that_is_still_sending(caller: Caller) -> None:
    for _ in range(5):
        assert (await caller.refusal(bytes(16 * MIB), "large.md")).code_reason == "DOCUMENT_TOO_LARGE"


async def test_a_document_that_hangs_is_a_timeout_and_the_service_lives(tmp_path: Path) -> None:
    settings = config(tmp_path, workers=1, spares=0)
    limits = replace(settings.pool.child.limits, progress_timeout_s=0.5)
    hasty = replace(settings, pool=replace(settings.pool, child=replace(settings.pool.child, limits=limits)))
    async with serving(hasty) as caller:
        assert (await caller.refusal(script(do="sleep", seconds=60), "x.mock")).code_reason == "PARSE_TIMEOUT"
        await caller.is_well()


async def test_a_full_queue_says_when_to_come_back(tmp_path: Path) -> None:
    async with serving(config(tmp_path, workers=1, spares=0, queue_size=0)) as caller:
        busy = asyncio.create_task(caller.extract(script(do="sleep", seconds=1), "x.mock"))
        await asyncio.sleep(0.3)
        call = caller.stub.Extract(requests(b"# Stock\n", "stock.md"), timeout=5)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call.read()
        assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        refusal = error_from_rpc(caught.value)
        assert refusal.code_reason == "OVERLOADED"
        assert refusal.retry_after_s is not None
        trailers: Any = caught.value.trailing_metadata()
        (pushback,) = [value for key, value in trailers if key == "grpc-retry-pushback-ms"]
        assert int(pushback) >= 100
        await busy


async def test_a_caller_that_leaves_ends_its_reader(caller: Caller) -> None:
    before = caller.app.pool.stats.ended["cancelled"]
    call = caller.stub.Extract(requests(script(do="drip"), "x.mock"), timeout=30)
    await call.read()
    await eventually(lambda: caller.app.pool.stats.busy == 1)
    call.cancel()
    await eventually(lambda: caller.app.pool.stats.busy == 0)
    assert caller.app.pool.stats.ended["cancelled"] == before + 1
    await caller.is_well()


async def test_a_deadline_ends_its_reader(caller: Caller) -> None:
    before = caller.app.pool.stats.ended["cancelled"]
    call = caller.stub.Extract(requests(script(do="drip"), "x.mock"), timeout=0.6)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        async for _ in call:
            pass
    assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    await eventually(lambda: caller.app.pool.stats.busy == 0)
    assert caller.app.pool.stats.ended["cancelled"] == before + 1


async def test_progress_of_a_long_document_is_heard_while_it_is_read(caller: Caller) -> None:
    call = caller.stub.Extract(requests(script(do="drip"), "x.mock"), timeout=30)
    async for response in call:
        if response.progress.stage == "parse" and response.progress.done > 3:
            break
    assert response.progress.unit == "line"
    call.cancel()
    await eventually(lambda: caller.app.pool.stats.busy == 0)


async def test_nothing_of_a_file_has_a_name_on_disk(tmp_path: Path) -> None:
    async with serving(config(tmp_path, workers=1, spares=0)) as caller:
        reading = asyncio.create_task(caller.extract(script(do="sleep", seconds=0.5), "x.mock"))
        await eventually(lambda: caller.app.pool.stats.busy == 1)
        assert list(tmp_path.iterdir()) == []
        await reading
        await caller.extract(script(do="flood", megabytes=3), "x.mock")
        assert list(tmp_path.iterdir()) == []


async def eventually(holds: Any, *, within_s: float = 1.0) -> None:
    ends_at = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < ends_at, "it did not come about in time"
        await asyncio.sleep(0.01)
