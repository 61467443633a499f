"""Files that come in whole, in pieces, slowly, wrongly or never, over real gRPC."""

import asyncio
import hashlib
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta

import grpc
import pytest
from loom.knowledge.v1 import ingest_pb2 as pb
from loom.knowledge.v1 import ingest_pb2_grpc

from clients import AsyncKnowledgeClient
from knowledge_svc.api.ingest import IngestServicer
from knowledge_svc.api.requests import Scopes
from knowledge_svc.api.uploads import UploadLimits
from knowledge_svc.domain.errors import DiskFull
from knowledge_svc.domain.ingestion import Ingestions
from knowledge_svc.jobs.board import JobBoard
from services.auth import Guard, TokenTable
from services.deadlines import Runner
from services.interceptor import CallInterceptor
from services.status import error_from_rpc
from tests.house_fixtures import START, Clock, House, open_house

ID = "b5bb9d80-14a0-4f9f-8a3c-1d2e3f405162"
DAY = timedelta(days=1)


@pytest.fixture
def house(tmp_path):
    with open_house(tmp_path, clock=Clock()) as opened:
        yield opened


@dataclass
class Door:
    """A caller of the upload calls."""

    stub: ingest_pb2_grpc.IngestServiceStub
    token: str = "ada"

    @property
    def _metadata(self):
        return (("authorization", f"Bearer {self.token}"),)

    def open(self):
        return self.stub.UploadFile(metadata=self._metadata)

    async def send(self, content: bytes, *, size: int | None = None, **header) -> pb.UploadFileResponse:
        call = self.open()
        await call.write(pb.UploadFileRequest(header=head(content, **header)))
        for start in range(header.get("offset", 0), len(content), 1000):
            await call.write(pb.UploadFileRequest(data=content[start : start + 1000]))
        await call.done_writing()
        return await call

    async def break_after(self, content: bytes, count: int, **header) -> None:
        """Sends some bytes, waits until they are kept, and goes away."""
        call = self.open()
        await call.write(pb.UploadFileRequest(header=head(content, **header)))
        start = header.get("offset", 0)
        await call.write(pb.UploadFileRequest(data=content[start : start + count]))
        for _ in range(500):
            if await self.kept() == start + count:
                break
            await asyncio.sleep(0.01)
        call.cancel()

    async def standing(self, upload_id: str = ID) -> pb.GetUploadResponse:
        return await self.stub.GetUpload(pb.GetUploadRequest(upload_id=upload_id), metadata=self._metadata)

    async def kept(self) -> int:
        try:
            return (await self.standing()).received_bytes
        except grpc.aio.AioRpcError:
            return -1


def head(content: bytes, **fields) -> pb.UploadHeader:
    sha256 = hashlib.sha256(content).hexdigest()
    return pb.UploadHeader(**({"filename": "zoo.md", "sha256": sha256, "size_bytes": len(content)} | fields))


async def refusal(awaitable):
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await awaitable
    return error_from_rpc(caught.value)


@asynccontextmanager
async def receiving(house: House, *, stall_s: float = 20, max_bytes: int = 1_000_000):
    """The upload calls over a house, for the callers ada and ben of one organisation."""
    ids = iter(f"id-{n}" for n in range(1000))
    ingestions = Ingestions(
        house.queue,
        upload_ttl=DAY,
        clock=house.clock,
        new_id=lambda: next(ids),
        on_queued=lambda: None,
        on_cancel=lambda _id: None,
    )
    write, read = (Runner(name, workers=2, queue=16) for name in ("write", "read"))
    servicer = IngestServicer(
        ingestions,
        house.blobs,
        JobBoard(),
        _Nothing(),
        limits=UploadLimits(max_bytes, stall_s, DAY),
        scopes=Scopes("local"),
        write=write,
        read=read,
    )
    lines = [f"{hashlib.sha256(name.encode()).hexdigest()} {name} dev writer" for name in ("ada", "ben")]
    guard = Guard(TokenTable.parse("\n".join(lines)))
    server = grpc.aio.server(interceptors=[CallInterceptor(domain="loom.knowledge.v1", guard=guard)])
    ingest_pb2_grpc.add_IngestServiceServicer_to_server(servicer, server)
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    try:
        async with grpc.aio.insecure_channel(address) as channel:
            yield Door(ingest_pb2_grpc.IngestServiceStub(channel)), address
    finally:
        await server.stop(None)
        write.close()
        read.close()


class _Nothing:
    """An extractor that nothing asks."""


async def test_l_upl_02_an_upload_tells_what_was_stored(house):
    async with receiving(house) as (ada, _):
        stored = await ada.send(b"abc")
    # sha256 of "abc", from FIPS 180-4
    assert stored.sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert (stored.size_bytes, stored.format) == (3, "markdown")
    assert abs(stored.expires_at.ToDatetime() - (START + DAY).replace(tzinfo=None)) < timedelta(seconds=1)
    assert house.blobs.read(stored.sha256) == b"abc"


@pytest.mark.parametrize(
    ("filename", "content_type", "named"),
    [
        ("a.XLSX", "", "xlsx"),
        ("page", "text/html; charset=utf-8", "html"),
        ("a.md", "application/pdf", "markdown"),
        ("a.log", "text/plain", ""),
    ],
)
async def test_l_upl_02_the_format_is_named_by_the_name_then_by_the_media_type(house, filename, content_type, named):
    async with receiving(house) as (ada, _):
        assert (await ada.send(b"abc", filename=filename, content_type=content_type)).format == named


@pytest.mark.parametrize(("name", "instead"), [("a.doc", ".docx"), ("A.XLS", ".xlsx"), ("b.ppt", ".pptx")])
async def test_l_upl_06_legacy_names_are_refused_before_anything_is_stored(house, tmp_path, name, instead):
    async with receiving(house) as (ada, _):
        error = await refusal(ada.send(b"abc", filename=name))
    assert (error.code_reason, error.metadata["save_as"]) == ("UNSUPPORTED_FILE", instead)
    assert stored_files(tmp_path) == []


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ({"sha256": "0" * 64}, "CHECKSUM_MISMATCH"),
        ({"size_bytes": 4}, "CHECKSUM_MISMATCH"),
        ({"size_bytes": 2_000_000}, "UPLOAD_TOO_LARGE"),
        ({"sha256": "ABC"}, "INVALID_REQUEST"),
        ({"filename": ""}, "INVALID_REQUEST"),
        ({"filename": "a\x00.md"}, "INVALID_REQUEST"),
        ({"resume_upload_id": "short"}, "INVALID_REQUEST"),
        ({"resume_upload_id": "../../../etc/passwd"}, "INVALID_REQUEST"),
        ({"resume_upload_id": ID, "sha256": ""}, "INVALID_REQUEST"),
        ({"offset": 1}, "INVALID_REQUEST"),
        ({"resume_upload_id": ID, "offset": 1}, "INVALID_REQUEST"),
    ],
)
async def test_what_does_not_hold_is_refused_and_leaves_nothing(house, tmp_path, header, reason):
    async with receiving(house) as (ada, _):
        assert (await refusal(ada.send(b"abc", **header))).code_reason == reason
    assert [path for path in stored_files(tmp_path) if path.stat().st_size] == []


async def test_l_upl_04_more_bytes_than_allowed_are_refused_as_they_come(house, tmp_path):
    async with receiving(house, max_bytes=5000) as (ada, _):
        call = ada.open()
        await call.write(pb.UploadFileRequest(header=pb.UploadHeader(filename="a.md")))
        for _ in range(6):
            await call.write(pb.UploadFileRequest(data=b"x" * 1000))
        assert (await refusal(call)).code_reason == "UPLOAD_TOO_LARGE"
    assert stored_files(tmp_path) == []


async def test_no_bytes_at_all_are_refused(house):
    async with receiving(house) as (ada, _):
        assert (await refusal(ada.send(b""))).code_reason == "EMPTY_DOCUMENT"


async def test_a_broken_upload_without_a_name_leaves_nothing(house, tmp_path):
    async with receiving(house) as (ada, _):
        call = ada.open()
        await call.write(pb.UploadFileRequest(header=head(b"x" * 5000)))
        await call.write(pb.UploadFileRequest(data=b"x" * 1000))
        await asyncio.sleep(0.1)
        call.cancel()
        for _ in range(200):
            if not stored_files(tmp_path):
                break
            await asyncio.sleep(0.02)
    assert stored_files(tmp_path) == []


async def test_a_broken_upload_goes_on_where_it_broke(house, tmp_path):
    content = bytes(range(256)) * 20
    async with receiving(house) as (ada, _):
        await ada.break_after(content, 1000, resume_upload_id=ID)
        standing = await ada.standing()
        assert (standing.received_bytes, standing.complete) == (1000, False)
        await ada.break_after(content, 2000, resume_upload_id=ID, offset=1000)
        stored = await ada.send(content, resume_upload_id=ID, offset=3000)
        assert (stored.upload_id, stored.size_bytes) == (ID, 5120)
        whole = await ada.standing()
        assert (whole.received_bytes, whole.complete) == (5120, True)
    assert house.blobs.read(hashlib.sha256(content).hexdigest()) == content


async def test_a_named_upload_goes_on_after_the_service_started_again(house, tmp_path):
    content = b"y" * 4000
    async with receiving(house) as (ada, _):
        await ada.break_after(content, 1500, resume_upload_id=ID)
    house.blobs = type(house.blobs)(house.blobs._folder)
    async with receiving(house) as (ada, _):
        assert await ada.kept() == 1500
        assert (await ada.send(content, resume_upload_id=ID, offset=1500)).size_bytes == 4000


async def test_a_named_upload_may_begin_anew_and_what_was_kept_goes(house):
    async with receiving(house) as (ada, _):
        await ada.break_after(b"z" * 3000, 2500, resume_upload_id=ID)
        assert (await ada.send(b"other", resume_upload_id=ID)).size_bytes == 5


async def test_a_complete_upload_answers_again_without_its_bytes(house):
    async with receiving(house) as (ada, _):
        first = await ada.send(b"abc", resume_upload_id=ID)
        assert await ada.send(b"abc", resume_upload_id=ID, offset=3) == first


async def test_a_name_used_for_other_bytes_is_a_conflict(house):
    async with receiving(house) as (ada, _):
        await ada.send(b"abc", resume_upload_id=ID)
        assert (await refusal(ada.send(b"other", resume_upload_id=ID))).code_reason == "IDEMPOTENCY_CONFLICT"


async def test_bytes_of_two_files_never_become_one(house, tmp_path):
    async with receiving(house) as (ada, _):
        await ada.break_after(b"a" * 3000, 1000, resume_upload_id=ID)
        error = await refusal(ada.send(b"b" * 3000, resume_upload_id=ID, offset=1000))
        assert error.code_reason == "CHECKSUM_MISMATCH"
        assert await ada.kept() == -1
    assert stored_files(tmp_path) == []


async def test_a_second_stream_takes_the_upload_over_from_one_that_hangs(house):
    content = b"q" * 3000
    async with receiving(house) as (ada, _):
        hanging = ada.open()
        await hanging.write(pb.UploadFileRequest(header=head(content, resume_upload_id=ID)))
        await hanging.write(pb.UploadFileRequest(data=content[:1000]))
        while await ada.kept() != 1000:
            await asyncio.sleep(0.01)
        resumed = ada.open()
        await resumed.write(pb.UploadFileRequest(header=head(content, resume_upload_id=ID, offset=1000)))
        await resumed.write(pb.UploadFileRequest(data=content[1000:2000]))
        while await ada.kept() != 2000:
            await asyncio.sleep(0.01)
        await hanging.write(pb.UploadFileRequest(data=b"late bytes"))
        assert (await refusal(hanging)).code_reason == "PRECONDITION_FAILED"
        await resumed.write(pb.UploadFileRequest(data=content[2000:]))
        await resumed.done_writing()
        assert (await resumed).size_bytes == 3000


async def test_l_upl_08_an_upload_is_its_uploaders_alone(house):
    content = b"secret" * 500
    async with receiving(house) as (ada, _):
        ben = Door(ada.stub, "ben")
        await ada.break_after(content, 1000, resume_upload_id=ID)
        assert (await refusal(ben.standing())).code_reason == "UPLOAD_NOT_FOUND"
        await ada.send(content, resume_upload_id=ID, offset=1000)
        assert (await refusal(ben.standing())).code_reason == "UPLOAD_NOT_FOUND"
        asked = pb.StartIngestionRequest(upload_id=ID, source_uri="doc:1")
        call = ben.stub.StartIngestion(asked, metadata=(("authorization", "Bearer ben"),))
        assert (await refusal(call)).code_reason == "UPLOAD_NOT_FOUND"
        assert (await ada.stub.StartIngestion(asked, metadata=(("authorization", "Bearer ada"),))).ingestion.ingestion_id


async def test_l_upl_03_an_expired_upload_is_not_found(house):
    async with receiving(house) as (ada, _):
        await ada.send(b"abc", resume_upload_id=ID)
        house.clock.now += DAY + timedelta(seconds=1)
        assert (await refusal(ada.standing())).code_reason == "UPLOAD_NOT_FOUND"
        asked = pb.StartIngestionRequest(upload_id=ID, source_uri="doc:1")
        call = ada.stub.StartIngestion(asked, metadata=(("authorization", "Bearer ada"),))
        assert (await refusal(call)).code_reason == "UPLOAD_NOT_FOUND"


async def test_an_upload_that_drips_is_stalled_though_bytes_keep_coming(house):
    async with receiving(house, stall_s=0.3) as (ada, _):
        call = ada.open()
        await call.write(pb.UploadFileRequest(header=head(b"x" * 5000, resume_upload_id=ID)))

        async def drip():
            with pytest.raises((grpc.aio.AioRpcError, asyncio.InvalidStateError)):
                for _ in range(200):
                    await call.write(pb.UploadFileRequest(data=b"x"))
                    await asyncio.sleep(0.05)

        dripping = asyncio.create_task(drip())
        error = await refusal(call)
        await dripping
        assert error.code_reason == "UPLOAD_STALLED"
        assert await ada.kept() > 0


async def test_an_upload_that_falls_silent_is_stalled(house):
    async with receiving(house, stall_s=0.2) as (ada, _):
        call = ada.open()
        await call.write(pb.UploadFileRequest(header=head(b"x" * 5000)))
        assert (await refusal(call)).code_reason == "UPLOAD_STALLED"


async def test_a_full_disk_is_said_and_what_was_kept_makes_room(house, tmp_path, monkeypatch):
    def full(_self, _data):
        raise DiskFull("the disk is full; free space and repeat the call")

    async with receiving(house) as (ada, _):
        monkeypatch.setattr("knowledge_svc.storage.spool.SpoolFile.write", full)
        error = await refusal(ada.send(b"abc", resume_upload_id=ID))
    assert (error.code_reason, error.retry_after_s) == ("DISK_FULL", None)
    assert stored_files(tmp_path) == []


async def test_the_client_goes_on_by_itself_where_its_stream_broke(house, monkeypatch):
    """The connection is cut in the middle of the file, twice; the client sends what is missing and no more."""
    content = bytes(range(251)) * 4000
    async with receiving(house, max_bytes=10_000_000) as (_, address):
        proxy = Cutting(address, after_bytes=(300_000, 400_000))
        await proxy.start()
        async with AsyncKnowledgeClient(proxy.address, token="ada") as client:
            stored = await client.upload(content, "large.csv")
        await proxy.close()
    assert stored.size_bytes == len(content)
    assert house.blobs.read(stored.sha256) == content
    assert proxy.cuts == 2


class Cutting:
    """Passes bytes on to a server, and cuts the first connections after some of them."""

    def __init__(self, upstream: str, after_bytes: tuple[int, ...]) -> None:
        self._host, _, self._port = upstream.rpartition(":")
        self._limits = list(after_bytes)
        self._connections: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.address = ""
        self.cuts = 0

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.address = f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections.add(asyncio.create_task(self._pass(reader, writer)))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream_reader, upstream = await asyncio.open_connection(self._host, self._port)
        back = asyncio.create_task(self._copy(upstream_reader, writer, None))
        limit = self._limits.pop(0) if self._limits else None
        try:
            if await self._copy(reader, upstream, limit):
                self.cuts += 1
        finally:
            back.cancel()
            for end in (writer, upstream):
                end.transport.abort()
            await asyncio.gather(back, return_exceptions=True)

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limit: int | None) -> bool:
        passed = 0
        with suppress(ConnectionError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
                passed += len(data)
                if limit is not None and passed >= limit:
                    return True
        return False


def stored_files(folder):
    return [path for path in (folder / "blobs").rglob("*") if path.is_file()]
