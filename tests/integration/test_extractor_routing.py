"""Which extractor a file goes to, when it is asked what it reads, and what is told of formats."""

import asyncio
import hashlib
import socket
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import grpc
import pytest
from grpc_health.v1 import health_pb2

from artifact.locators import LineSpan
from artifact.model import Artifact, Block, BlockType
from knowledge_svc.config import read_config
from knowledge_svc.domain.errors import ExtractionRefused, ExtractorDown
from knowledge_svc.domain.model import ExtractOptions, Upload
from knowledge_svc.extraction.channel import SERVICE
from knowledge_svc.extraction.routing import RoutedExtractor
from knowledge_svc.storage.blobs import FileBlobStore
from services.settings import Address, SettingsFault
from tests.extractor_double import Double, remote, served
from tests.house_fixtures import SCOPE, START
from tests.ingest_fixtures import READ

BYTES = b"the bytes"
SHA = hashlib.sha256(BYTES).hexdigest()
PLAIN = ExtractOptions()


def artifact(name: str) -> Artifact:
    return Artifact(name, "test/1", SHA, 9, (Block("b", BlockType.PARAGRAPH, name, LineSpan(1, 1)),), READ)


def reader(*formats: str, **more) -> Double:
    return Double([artifact(formats[0])], formats=formats, **more)


def upload(name: str = "markdown") -> Upload:
    return Upload("up", SCOPE, SHA, 9, "file", "", name, "ada", START, START)


@dataclass
class Timer:
    """Seconds that a test moves."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def blobs(tmp_path):
    store = FileBlobStore(tmp_path)
    store.put(BYTES)
    return store


@asynccontextmanager
async def routing(routes: dict[str, list[Double]], *, timer: Timer | None = None):
    """A routed extractor over doubles; a double that is served by nobody is down."""
    remotes = {id(double): remote(double.address, monotonic=timer or Timer()) for listed in routes.values() for double in listed}
    routed = RoutedExtractor({name: [remotes[id(double)] for double in listed] for name, listed in routes.items()})
    try:
        yield routed
    finally:
        await routed.close()


async def read(routed: RoutedExtractor, blobs, name: str = "markdown", options: ExtractOptions = PLAIN) -> str:
    found, _ = await routed.extract(blobs, upload(name), options, progress=lambda *_: None)
    return found.format


async def test_each_format_goes_where_it_is_routed_and_the_rest_where_any_goes(blobs):
    pdf, rest = reader("pdf"), reader("markdown", "html")
    async with served(pdf, rest), routing({"pdf": [pdf], "*": [rest]}) as routed:
        assert await read(routed, blobs, "pdf") == "pdf"
        assert await read(routed, blobs, "markdown") == "markdown"
    assert (len(pdf.files), len(rest.files)) == (1, 1)


async def test_what_the_caller_says_routes_before_what_the_name_says(blobs):
    pdf, rest = reader("pdf"), reader("markdown")
    async with served(pdf, rest), routing({"pdf": [pdf], "*": [rest]}) as routed:
        assert await read(routed, blobs, "markdown", ExtractOptions(format="pdf")) == "pdf"


async def test_a_file_of_no_named_format_goes_where_any_goes(blobs):
    pdf, rest = reader("pdf"), reader("markdown")
    async with served(pdf, rest), routing({"pdf": [pdf], "*": [rest]}) as routed:
        assert await read(routed, blobs, "") == "markdown"


async def test_a_format_without_a_route_is_unavailable(blobs):
    pdf = reader("pdf", "markdown")
    async with served(pdf), routing({"pdf": [pdf]}) as routed:
        for name in ("markdown", ""):
            with pytest.raises(ExtractionRefused) as caught:
                await read(routed, blobs, name)
            assert caught.value.code_reason == "FORMAT_UNAVAILABLE"


async def test_extractors_of_a_route_take_turns(blobs):
    first, second = reader("markdown"), reader("markdown")
    async with served(first, second), routing({"*": [first, second]}) as routed:
        for _ in range(6):
            await read(routed, blobs)
    assert (len(first.files), len(second.files)) == (3, 3)


@pytest.mark.parametrize("status", [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.INTERNAL])
async def test_an_extractor_that_is_down_or_busy_is_passed_over(blobs, status):
    failing, sound = Double([status]), reader("markdown")
    async with served(failing, sound), routing({"*": [failing, sound]}) as routed:
        for _ in range(4):
            assert await read(routed, blobs) == "markdown"


async def test_an_extractor_that_cannot_be_asked_is_passed_over(blobs):
    gone, sound = reader("markdown", capabilities=grpc.StatusCode.UNAVAILABLE), reader("markdown")
    async with served(gone, sound), routing({"*": [gone, sound]}) as routed:
        for _ in range(2):
            assert await read(routed, blobs) == "markdown"
    assert gone.files == []


async def test_a_refusal_is_not_asked_of_another(blobs):
    refusing, other = Double([ExtractionRefused("no", reason="MALFORMED")]), reader("markdown")
    async with served(refusing, other), routing({"*": [refusing, other]}) as routed:
        with pytest.raises(ExtractionRefused):
            await read(routed, blobs)
    assert other.files == []


async def test_all_down_is_down_and_nothing_is_refused(blobs):
    first, second = Double([grpc.StatusCode.UNAVAILABLE]), Double([grpc.StatusCode.UNAVAILABLE])
    async with served(first, second), routing({"*": [first, second]}) as routed:
        with pytest.raises(ExtractorDown):
            await read(routed, blobs)
    assert (len(first.files), len(second.files)) == (1, 1)


async def test_the_larger_bound_of_two_extractors_counts(blobs):
    small, large = reader("markdown", max_bytes=8), reader("markdown", max_bytes=9)
    async with served(small, large), routing({"*": [small, large]}) as routed:
        assert await read(routed, blobs) == "markdown"
        with pytest.raises(ExtractionRefused) as caught:
            await routed.extract(blobs, replace(upload(), size_bytes=10), PLAIN, progress=lambda *_: None)
    assert (caught.value.code_reason, small.files) == ("DOCUMENT_TOO_LARGE", [])


async def test_l_ext_02_what_an_extractor_reads_is_asked_once_a_minute(blobs):
    double, timer = reader("markdown"), Timer()
    async with served(double), routing({"*": [double]}, timer=timer) as routed:
        for _ in range(3):
            await read(routed, blobs)
            await routed.formats()
        assert double.asked == 1
        timer.now += 61
        await routed.formats()
    assert double.asked == 2


async def test_l_ext_03_a_failure_to_ask_is_kept_for_a_minute_or_until_a_later_read_works(blobs):
    double, timer = reader("markdown", capabilities=grpc.StatusCode.INTERNAL), Timer()
    async with served(double), routing({"*": [double]}, timer=timer) as routed:
        for _ in range(3):
            assert available(await routed.formats())["markdown"] is None
        assert double.asked == 1
        double.capabilities = None
        assert available(await routed.formats())["markdown"] is None
        assert await read(routed, blobs) == "markdown"
        assert available(await routed.formats())["markdown"] is True


async def test_l_ext_04_a_file_sent_while_nobody_can_be_asked_waits(blobs):
    double = reader("markdown", capabilities=grpc.StatusCode.UNAVAILABLE)
    async with served(double), routing({"*": [double]}) as routed:
        with pytest.raises(ExtractorDown, match="cannot be asked what it reads: the called service cannot be reached"):
            await read(routed, blobs)


async def test_an_extractor_that_starts_a_moment_late_is_waited_for(blobs):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    double = reader("markdown", port=port)
    extractor = remote(f"127.0.0.1:{port}")
    try:
        asking = asyncio.create_task(extractor.capabilities())
        await asyncio.sleep(0.1)
        async with served(double):
            assert [item.id for item in (await asking).formats] == ["markdown"]
    finally:
        await extractor.close()


async def test_l_fmt_08_09_formats_tell_whether_a_file_of_each_can_be_read(blobs):
    pdf, gone, rest = reader("pdf"), reader("xlsx", capabilities=grpc.StatusCode.UNAVAILABLE), reader("markdown", "epub")
    async with served(pdf, gone, rest), routing({"pdf": [pdf], "xlsx": [gone], "*": [rest]}) as routed:
        standings = await routed.formats()
    told = available(standings)
    assert (told["pdf"], told["markdown"], told["xlsx"], told["docx"], told["epub"]) == (True, True, None, False, True)
    named = {standing.format.id: standing.format for standing in standings}
    assert (named["epub"].extensions, named["epub"].media_types) == ((".epub",), ("x/epub",))
    assert named["docx"].extensions == (".docx", ".docm")
    assert list(named) == sorted(named)


def available(standings) -> dict[str, bool | None]:
    return {standing.format.id: standing.available for standing in standings}


async def test_replicas_behind_one_name_share_the_calls_and_one_that_does_not_serve_gets_none(blobs, monkeypatch):
    monkeypatch.setattr("knowledge_svc.extraction.channel.TARGET", "ipv4:{}")
    doubles = [reader("markdown") for _ in range(3)]
    async with served(*doubles) as healths:
        await healths[2].set(SERVICE, health_pb2.HealthCheckResponse.NOT_SERVING)
        async with routing({"*": [reader("markdown", address=",".join(double.address for double in doubles))]}) as routed:
            await until_read(routed, blobs)
            for _ in range(12):
                await read(routed, blobs)
    assert doubles[2].files == []
    assert all(len(double.files) >= 4 for double in doubles[:2])


async def until_read(routed: RoutedExtractor, blobs) -> None:
    """Reads once both connections are up."""
    for _ in range(20):
        await read(routed, blobs)
        await asyncio.sleep(0.05)


def config(routes: str, *, url: str = ""):
    return read_config([], {"LOOM_DOCUMENT_EXTRACTORS_JSON": routes, "LOOM_DOCUMENT_EXTRACTOR_URL": url})


def test_routes_are_read_from_the_settings():
    read = config('{"pdf": ["a:1", "grpc://b:2"], "xlsx": "c:3"}', url="d:4")
    assert read.routes == {
        "*": (Address("d", 4),),
        "pdf": (Address("a", 1), Address("b", 2)),
        "xlsx": (Address("c", 3),),
    }
    assert config('{"*": "e:5"}', url="d:4").routes == {"*": (Address("e", 5),)}
    assert config("").routes == {}


@pytest.mark.parametrize(
    "text", ["[]", "{", '{"pdf": []}', '{"pdf": 7}', '{"pdf": ["a:1", 7]}', '{"": "a:1"}', '{"pdf": "no port"}']
)
def test_routes_that_do_not_hold_are_refused(text):
    with pytest.raises(SettingsFault, match="EXTRACTORS_JSON"):
        config(text)
