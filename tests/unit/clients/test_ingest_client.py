from __future__ import annotations

import hashlib
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest
from loom.artifact.v1 import artifact_pb2
from loom.knowledge.v1 import ingest_pb2

from clients import AsyncKnowledgeClient, KnowledgeClient, errors
from clients.knowledge import file_uri
from clients.requests.ingest import IngestOptions
from clients.results.ingest import Progress
from tests.unit.clients.fakes import Fake, refuse

READY = ingest_pb2.Ingestion(
    ingestion_id="i1",
    state=ingest_pb2.INGESTION_STATE_READY,
    revision=1,
    chunks=4,
    datasets=2,
    searchable=True,
    format="xlsx",
    coverage=artifact_pb2.Coverage(unit="sheet", total=2, extracted=2, complete=True),
    warnings=[artifact_pb2.Warning(code="REPAIRED", message="the file was repaired")],
)


def job(state: str, stage: str = "", done: int = 0, total: int = 0) -> ingest_pb2.Ingestion:
    return ingest_pb2.Ingestion(
        ingestion_id="i1",
        state=f"INGESTION_STATE_{state}",
        stage=f"INGESTION_STAGE_{stage or 'UNSPECIFIED'}",
        units_done=done,
        units_total=total,
        unit="page",
    )


def keep(requests: Iterator[ingest_pb2.UploadFileRequest], _context: object) -> ingest_pb2.UploadFileResponse:
    """Stores nothing, and answers with the size and hash of what came."""
    header = next(requests).header
    digest, size_bytes = hashlib.sha256(), 0
    for request in requests:
        digest.update(request.data)
        size_bytes += len(request.data)
    whole = header.sha256 == digest.hexdigest() and header.size_bytes == size_bytes
    return ingest_pb2.UploadFileResponse(upload_id="u1" if whole else "broken", sha256=digest.hexdigest(), size_bytes=size_bytes)


def watched(*jobs: ingest_pb2.Ingestion) -> list[ingest_pb2.WatchIngestionResponse]:
    return [ingest_pb2.WatchIngestionResponse(ingestion=item) for item in jobs]


@pytest.fixture
def ready(fake: Fake) -> Fake:
    fake.on("UploadFile", keep)
    fake.on("StartIngestion", ingest_pb2.StartIngestionResponse(ingestion=job("PENDING")))
    fake.on("WatchIngestion", lambda *_: iter(watched(job("PENDING"), job("PROCESSING", "PARSE", 1, 3), READY)))
    return fake


def test_an_upload_carries_the_size_and_hash_of_its_bytes(fake: Fake, client: KnowledgeClient) -> None:
    headers: list[ingest_pb2.UploadHeader] = []

    def look(requests: Iterator[ingest_pb2.UploadFileRequest], context: object) -> ingest_pb2.UploadFileResponse:
        first = next(requests)
        headers.append(first.header)
        return keep(iter([first, *requests]), context)

    fake.on("UploadFile", look)
    stored = client.upload(b"hello", "a.md")
    assert stored.upload_id == "u1"
    # sha256sum of the five letters
    assert headers[0].sha256 == "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    assert (headers[0].filename, headers[0].size_bytes, headers[0].content_type) == ("a.md", 5, "text/markdown")


def test_a_file_travels_in_chunks_of_256_kib(fake: Fake, client: KnowledgeClient, tmp_path: Path) -> None:
    sizes: list[int] = []

    def measure(requests: Iterator[ingest_pb2.UploadFileRequest], _context: object) -> ingest_pb2.UploadFileResponse:
        sizes.extend(len(request.data) for request in requests)
        return ingest_pb2.UploadFileResponse()

    fake.on("UploadFile", measure)
    path = tmp_path / "a.csv"
    path.write_bytes(b"x" * (600 * 1024))
    reported: list[Progress] = []
    client.upload(path, on_progress=reported.append)
    assert sizes == [0, 256 * 1024, 256 * 1024, 88 * 1024]
    assert reported[-1].done == 614400
    assert [progress.done for progress in reported] == sorted(progress.done for progress in reported)
    assert {(progress.stage, progress.unit, progress.total) for progress in reported} == {("upload", "byte", 614400)}


def test_a_large_file_never_stands_in_memory(fake: Fake, client: KnowledgeClient, tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    with path.open("wb") as file:
        file.truncate(64 * 1024 * 1024)
    fake.on("UploadFile", keep)
    client.upload(b"warm", "a.md")
    tracemalloc.start()
    try:
        assert client.upload(path).size_bytes == 64 * 1024 * 1024
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 16 * 1024 * 1024


def test_bytes_without_a_name_are_refused(client: KnowledgeClient) -> None:
    with pytest.raises(ValueError, match="need a filename"):
        client.upload(b"x")


def test_a_file_that_is_not_there_is_said_as_such(fake: Fake, client: KnowledgeClient) -> None:
    with pytest.raises(FileNotFoundError):
        client.upload(Path("/nonexistent/a.md"))
    assert fake.asked == []


class Vanishing(type(Path())):  # type: ignore[misc]  # the platform's own kind of path
    """A file that is whole when it is measured, and cannot be read when it is sent."""

    opened = 0

    def open(self, *args: object, **kwargs: object) -> object:
        self.opened += 1
        if self.opened > 1:
            raise PermissionError(f"cannot read {self.name}")
        return super().open(*args, **kwargs)


def test_a_file_that_goes_away_is_said_and_not_the_servers_refusal(fake: Fake, client: KnowledgeClient, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"hello")
    fake.on("UploadFile", keep)
    with pytest.raises(PermissionError, match=r"cannot read a\.md"):
        client.upload(Vanishing(tmp_path / "a.md"))


def test_what_a_progress_callback_raises_reaches_the_caller(fake: Fake, client: KnowledgeClient) -> None:
    fake.on("UploadFile", keep)

    def fail(_progress: Progress) -> None:
        raise RuntimeError("the bar broke")

    with pytest.raises(RuntimeError, match="the bar broke"):
        client.upload(b"hello", "a.md", on_progress=fail)


def test_a_refused_upload_says_why(fake: Fake, client: KnowledgeClient) -> None:
    fake.on("UploadFile", refuse(grpc.StatusCode.INVALID_ARGUMENT, "UNSUPPORTED_FILE", "save a.doc as .docx"))
    with pytest.raises(errors.InvalidArgument, match="UNSUPPORTED_FILE"):
        client.upload(b"x" * 3_000_000, "a.doc")


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clients.resuming.FIRST_PAUSE_S", 0.001)
    monkeypatch.setattr("clients.resuming.LONGEST_PAUSE_S", 0.001)


def breaking(kept: bytearray, *, after: int, times: int) -> Callable[..., object]:
    """Keeps some bytes and goes away, some times; then keeps the rest."""
    left = [times]

    def answer(requests: Iterator[ingest_pb2.UploadFileRequest], context: grpc.ServicerContext) -> object:
        header = next(requests).header
        assert header.resume_upload_id
        assert header.offset <= len(kept)
        del kept[header.offset :]  # gRPC itself repeats an attempt that it still holds
        came = 0
        for request in requests:
            kept.extend(request.data)
            came += len(request.data)
            if left[0] and came >= after:
                left[0] -= 1
                context.abort(grpc.StatusCode.UNAVAILABLE, "gone")
        assert hashlib.sha256(kept).hexdigest() == header.sha256
        return ingest_pb2.UploadFileResponse(upload_id=header.resume_upload_id, size_bytes=len(kept))

    return answer


def test_a_broken_upload_goes_on_from_what_the_server_keeps(fake: Fake, client: KnowledgeClient, hasty: None) -> None:
    kept = bytearray()
    fake.on("UploadFile", breaking(kept, after=256 * 1024, times=2))
    fake.on("GetUpload", lambda *_: ingest_pb2.GetUploadResponse(received_bytes=len(kept)))
    content = bytes(range(256)) * 8 * 1024
    assert client.upload(content, "a.csv").size_bytes == len(content)
    assert bytes(kept) == content
    assert len({asked.request.upload_id for asked in fake.calls("GetUpload")}) == 1


async def test_a_broken_upload_goes_on_under_asyncio_too(fake: Fake, hasty: None) -> None:
    kept = bytearray()
    fake.on("UploadFile", breaking(kept, after=256 * 1024, times=2))
    fake.on("GetUpload", lambda *_: ingest_pb2.GetUploadResponse(received_bytes=len(kept)))
    content = bytes(range(256)) * 8 * 1024
    async with AsyncKnowledgeClient(fake.address) as client:
        assert (await client.upload(content, "a.csv")).size_bytes == len(content)


def test_an_upload_the_server_forgot_begins_anew(fake: Fake, client: KnowledgeClient, hasty: None) -> None:
    offsets: list[int] = []

    def turn(requests: Iterator[ingest_pb2.UploadFileRequest], context: grpc.ServicerContext) -> object:
        first = next(requests)
        offsets.append(first.header.offset)
        next(requests)
        if len(offsets) == 1:
            next(requests)
            context.abort(grpc.StatusCode.UNAVAILABLE, "gone")
        return ingest_pb2.UploadFileResponse(upload_id="u1")

    fake.on("UploadFile", turn)
    fake.on("GetUpload", refuse(grpc.StatusCode.NOT_FOUND, "UPLOAD_NOT_FOUND", "no upload"))
    assert client.upload(b"x" * 600_000, "a.csv").upload_id == "u1"
    assert offsets == [0, 0]


def test_an_upload_that_never_comes_further_is_given_up(fake: Fake, client: KnowledgeClient, hasty: None) -> None:
    fake.on("UploadFile", breaking(bytearray(), after=1, times=100))
    fake.on("GetUpload", lambda *_: ingest_pb2.GetUploadResponse(received_bytes=0))
    with pytest.raises(errors.Unavailable):
        client.upload(b"x" * 600_000, "a.csv")
    assert len(fake.calls("GetUpload")) == 8


def test_a_server_that_was_never_reached_is_said_at_once(hasty: None) -> None:
    with KnowledgeClient("127.0.0.1:1") as client, pytest.raises(errors.Unreachable):
        client.upload(b"x" * 600_000, "a.csv")


def test_ingesting_a_file_uploads_starts_and_waits(ready: Fake, client: KnowledgeClient, tmp_path: Path) -> None:
    path = tmp_path / "orders.xlsx"
    path.write_bytes(b"PK")
    reported: list[Progress] = []
    ingestion = client.ingest_file(
        path, title="Orders", tags=["q"], options=IngestOptions(format="xlsx"), on_progress=reported.append
    )
    asked = ready.request("StartIngestion")
    assert (asked.upload_id, asked.source_uri, asked.title) == ("u1", f"file://{tmp_path}/orders.xlsx", "Orders")
    assert (asked.options.format, list(asked.tags), bool(asked.request_id)) == ("xlsx", ["q"], True)
    assert not asked.HasField("expected_revision")
    assert (ingestion.state, ingestion.ended, ingestion.published, ingestion.searchable) == ("ready", True, True, True)
    assert (ingestion.revision, ingestion.chunks, ingestion.datasets, ingestion.format) == (1, 4, 2, "xlsx")
    assert [(warning.code, warning.locator) for warning in ingestion.warnings] == [("REPAIRED", None)]
    assert ingestion.coverage is not None
    assert ingestion.coverage.complete
    assert [progress.stage for progress in reported] == ["upload", "pending", "parse", "ready"]
    assert reported[2] == Progress("parse", "page", 1, 3)


def test_a_file_has_one_uri_however_its_path_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    assert file_uri("../a b.md") == file_uri(tmp_path / "a b.md") == f"file://{tmp_path}/a b.md"


def test_a_failed_job_is_returned_with_its_code(ready: Fake, client: KnowledgeClient) -> None:
    failed = job("FAILED")
    failed.error_code = ingest_pb2.INGESTION_ERROR_CODE_CORRUPT
    failed.failure_class = ingest_pb2.FAILURE_CLASS_CONTENT
    failed.error_reason = "MALFORMED"
    failed.error_message = "the file is damaged"
    ready.on("WatchIngestion", lambda *_: iter(watched(failed)))
    ended = client.wait_for_ingest("i1")
    assert (ended.state, ended.ended, ended.published) == ("failed", True, False)
    assert (ended.error_code, ended.error_reason, ended.failure_class) == ("corrupt", "MALFORMED", "content")


def test_the_wait_ends_with_a_timeout_and_the_job_goes_on(fake: Fake, client: KnowledgeClient) -> None:
    def linger(_request: object, context: grpc.ServicerContext) -> Iterator[ingest_pb2.WatchIngestionResponse]:
        yield from watched(job("PROCESSING", "EMBED", 1, 9))
        while context.is_active():
            time.sleep(0.02)

    fake.on("WatchIngestion", linger)
    started = time.monotonic()
    with pytest.raises(TimeoutError, match=r"ingestion i1 still runs after 0.5 s") as caught:
        client.wait_for_ingest("i1", timeout_s=0.5)
    assert 0.4 < time.monotonic() - started < 3
    assert isinstance(caught.value, errors.IngestTimeout)
    assert caught.value.ingestion_id == "i1"
    assert fake.calls("CancelIngestion") == []


def test_the_wait_goes_on_after_the_server_went_away_and_came_back(fake: Fake, client: KnowledgeClient) -> None:
    turns = iter(
        [
            refuse(grpc.StatusCode.UNAVAILABLE, "BACKEND_UNAVAILABLE", "going down"),
            lambda *_: iter(watched(job("PROCESSING", "PARSE"))),  # ends without an end
            lambda *_: iter(watched(READY)),
        ]
    )
    lock = threading.Lock()

    def turn(request: object, context: grpc.ServicerContext) -> object:
        with lock:
            answer = next(turns)
        return answer(request, context)

    fake.on("WatchIngestion", turn)
    assert client.wait_for_ingest("i1", timeout_s=30).state == "ready"


def test_an_unknown_job_is_not_waited_for(fake: Fake, client: KnowledgeClient) -> None:
    fake.on("WatchIngestion", refuse(grpc.StatusCode.NOT_FOUND, "INGESTION_NOT_FOUND", "no ingestion i9"))
    with pytest.raises(errors.NotFound):
        client.wait_for_ingest("i9")


def test_leaving_a_watch_early_ends_the_call(fake: Fake, client: KnowledgeClient) -> None:
    ended = threading.Event()

    def linger(_request: object, context: grpc.ServicerContext) -> Iterator[ingest_pb2.WatchIngestionResponse]:
        context.add_callback(ended.set)
        yield from watched(job("PENDING"))
        ended.wait(10)

    fake.on("WatchIngestion", linger)
    watch = client.watch("i1")
    assert next(watch).state == "pending"
    watch.close()  # type: ignore[attr-defined]  # an iterator in the signature, a generator in fact
    assert ended.wait(5)


def test_jobs_are_listed_by_state(fake: Fake, client: KnowledgeClient) -> None:
    fake.on("ListIngestions", ingest_pb2.ListIngestionsResponse(ingestions=[job("FAILED")]))
    assert [item.state for item in client.list_ingestions(states=["failed", "cancelled"])] == ["failed"]
    assert list(fake.request("ListIngestions").states) == [5, 6]


def test_a_password_is_never_printed() -> None:
    assert "hunter2" not in repr(IngestOptions(password="hunter2"))
    assert "***" in repr(IngestOptions(password="hunter2"))


async def test_the_asyncio_client_uploads_starts_and_waits(ready: Fake, tmp_path: Path) -> None:
    path = tmp_path / "orders.xlsx"
    path.write_bytes(b"P" * 700_000)
    reported: list[Progress] = []
    async with AsyncKnowledgeClient(ready.address) as client:
        ingestion = await client.ingest_file(path, on_progress=reported.append)
    assert ingestion.state == "ready"
    assert ready.request("StartIngestion").upload_id == "u1"
    assert [progress.stage for progress in reported][-3:] == ["pending", "parse", "ready"]
    assert max(progress.done for progress in reported if progress.stage == "upload") == 700000


async def test_a_file_that_goes_away_is_said_under_asyncio_too(fake: Fake, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"hello")
    refusal = refuse(grpc.StatusCode.INVALID_ARGUMENT, "CHECKSUM_MISMATCH", "cut short")
    fake.on("UploadFile", lambda requests, context: refusal([*requests], context))
    async with AsyncKnowledgeClient(fake.address) as client:
        with pytest.raises(PermissionError):
            await client.upload(Vanishing(tmp_path / "a.md"))


async def test_what_a_progress_callback_raises_reaches_the_caller_under_asyncio_too(fake: Fake) -> None:
    fake.on("UploadFile", keep)

    def fail(_progress: Progress) -> None:
        raise RuntimeError("the bar broke")

    async with AsyncKnowledgeClient(fake.address) as client:
        with pytest.raises(RuntimeError, match="the bar broke"):
            await client.upload(b"hello", "a.md", on_progress=fail)


async def test_the_asyncio_wait_ends_with_a_timeout(fake: Fake) -> None:
    fake.on("WatchIngestion", lambda *_: iter(watched(job("PENDING"))))
    async with AsyncKnowledgeClient(fake.address) as client:
        with pytest.raises(TimeoutError, match="still runs"):
            await client.wait_for_ingest("i1", timeout_s=0.5)
