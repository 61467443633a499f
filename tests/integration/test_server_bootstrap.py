import asyncio
import shutil
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from grpc_status import rpc_status
from loom.knowledge.v1 import ingest_pb2, ingest_pb2_grpc, search_pb2, search_pb2_grpc

from services.errors import FieldViolation, InvalidArgument
from services.interceptor import current_request_id
from services.server import CannotListen, LoomServer, ServerConfig, Service, check_exposure
from services.settings import Address

SEARCH = "loom.knowledge.v1.SearchService"
INGEST = "loom.knowledge.v1.IngestService"
CONFIG = ServerConfig(
    listen=Address("127.0.0.1", 0),
    tls_cert=None,
    tls_key=None,
    tls_client_ca=None,
    insecure=False,
    tokens=None,
    drain_s=0.0,
    grace_s=1.0,
    max_calls=16,
    log_format="json",
    log_level="error",
)


class Searches(search_pb2_grpc.SearchServiceServicer):
    async def Search(self, request, context):
        if request.query == "defect":
            raise RuntimeError("the secret of the house")
        if request.query == "fault":
            raise InvalidArgument("query is off", violations=[FieldViolation("query", "takes words")])
        return search_pb2.SearchResponse(reranked_by=current_request_id())


class Ingests(ingest_pb2_grpc.IngestServiceServicer):
    async def WatchIngestion(self, request, context):
        yield ingest_pb2.WatchIngestionResponse(ingestion=ingest_pb2.Ingestion(ingestion_id="1"))
        raise InvalidArgument("enough")


@pytest.fixture
async def server():
    made = LoomServer(
        CONFIG,
        (
            Service(SEARCH, lambda s: search_pb2_grpc.add_SearchServiceServicer_to_server(Searches(), s)),
            Service(INGEST, lambda s: ingest_pb2_grpc.add_IngestServiceServicer_to_server(Ingests(), s)),
        ),
        domain="loom.knowledge.v1",
        minimum={},
    )
    made.address = await made.start()
    await made.serving()
    yield made
    await made.stop()


@pytest.fixture
async def channel(server):
    async with grpc.aio.insecure_channel(str(server.address)) as opened:
        yield opened


def info_of(error) -> error_details_pb2.ErrorInfo:
    info = error_details_pb2.ErrorInfo()
    (packed,) = [d for d in rpc_status.from_call(Failed(error)).details if d.Is(info.DESCRIPTOR)]
    packed.Unpack(info)
    return info


class Failed:
    """A failed call as the synchronous reader of statuses takes it."""

    def __init__(self, error) -> None:
        self.code, self.details = error.code, error.details
        self.trailing_metadata = lambda: list(error.trailing_metadata())


async def search(channel, query, **kwargs):
    return await search_pb2_grpc.SearchServiceStub(channel).Search(search_pb2.SearchRequest(query=query), **kwargs)


async def test_a_sane_request_id_is_kept_and_returned(channel):
    call = search_pb2_grpc.SearchServiceStub(channel).Search(
        search_pb2.SearchRequest(query="x"), metadata=(("x-request-id", "abc-1"),)
    )
    assert (await call).reranked_by == "abc-1"
    assert ("x-request-id", "abc-1") in list(await call.trailing_metadata())


async def test_a_request_id_with_odd_characters_is_replaced(channel):
    answer = await search(channel, "x", metadata=(("x-request-id", "a b; drop"),))
    assert len(answer.reranked_by) == 32


async def test_a_defect_tells_a_request_id_and_nothing_else(channel):
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await search(channel, "defect", metadata=(("x-request-id", "req-9"),))
    assert caught.value.code() is grpc.StatusCode.INTERNAL
    assert "secret" not in caught.value.details()
    assert "req-9" in caught.value.details()
    assert info_of(caught.value).reason == "INTERNAL"


async def test_a_fault_carries_reason_domain_and_fields(channel):
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await search(channel, "fault")
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    info = info_of(caught.value)
    assert (info.reason, info.domain) == ("INVALID_REQUEST", "loom.knowledge.v1")


async def test_a_method_that_is_not_built_says_so(channel):
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await ingest_pb2_grpc.IngestServiceStub(channel).ListFormats(ingest_pb2.ListFormatsRequest())
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
    assert info_of(caught.value).reason == "UNIMPLEMENTED"
    assert "ListFormats is declared and not built yet" in caught.value.details()


async def test_a_stream_that_fails_keeps_what_it_sent(channel):
    got = []
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        watch = ingest_pb2_grpc.IngestServiceStub(channel).WatchIngestion(ingest_pb2.WatchIngestionRequest())
        while True:
            got.append((await watch.read()).ingestion.ingestion_id)
    assert got == ["1"]
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_a_server_that_listens_does_not_serve_before_it_says_so():
    made = LoomServer(CONFIG, (), domain="d", minimum={})
    async with grpc.aio.insecure_channel(str(await made.start())) as channel:
        answer = await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())
    assert answer.status == health_pb2.HealthCheckResponse.NOT_SERVING
    await made.stop()


async def test_health_tells_each_service(server, channel):
    stub = health_pb2_grpc.HealthStub(channel)
    for name in ("", SEARCH, INGEST):
        answer = await stub.Check(health_pb2.HealthCheckRequest(service=name))
        assert answer.status == health_pb2.HealthCheckResponse.SERVING


async def test_reflection_lists_the_services(channel):
    ask = reflection_pb2.ServerReflectionRequest(list_services="")
    stub = reflection_pb2_grpc.ServerReflectionStub(channel)
    async for answer in stub.ServerReflectionInfo(iter([ask])):
        names = {service.name for service in answer.list_services_response.service}
        assert {SEARCH, INGEST, "grpc.health.v1.Health"} <= names
        break


@pytest.mark.parametrize(
    ("change", "missing"),
    [
        ({}, "--tls-cert and --tls-key, or --insecure said out loud, and --tokens"),
        ({"insecure": True}, "set --tokens"),
        ({"tokens": Path("t")}, "--tls-cert and --tls-key"),
    ],
)
def test_an_address_beyond_loopback_needs_credentials(change, missing):
    with pytest.raises(CannotListen, match=missing):
        check_exposure(replace(CONFIG, listen=Address("0.0.0.0", 0), **change))  # an address that is refused


def test_a_certificate_without_its_key_is_refused():
    with pytest.raises(CannotListen, match="go together"):
        check_exposure(replace(CONFIG, tls_cert=Path("c")))


async def test_a_port_in_use_is_refused_with_what_to_do(server):
    taken = LoomServer(replace(CONFIG, listen=server.address), (), domain="d", minimum={})
    with pytest.raises(CannotListen, match="another process may hold the port"):
        await taken.start()


def test_a_client_ca_without_tls_is_refused_rather_than_ignored():
    with pytest.raises(CannotListen, match="client certificates need TLS"):
        check_exposure(replace(CONFIG, tls_client_ca=Path("ca")))


def openssl(*words: str) -> None:
    subprocess.run(["openssl", *words], check=True, capture_output=True, timeout=30)


def self_signed(folder: Path, name: str) -> tuple[Path, Path]:
    """A certificate for localhost and its key."""
    cert, key = folder / f"{name}.pem", folder / f"{name}.key"
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    names = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
    openssl("req", "-x509", *curve, *names, "-keyout", str(key), "-out", str(cert))
    return cert, key


needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")


async def status_over_tls(port: int, credentials: grpc.ChannelCredentials) -> int:
    async with grpc.aio.secure_channel(f"localhost:{port}", credentials) as channel:
        return (await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=5)).status


@needs_openssl
async def test_a_server_speaks_tls(tmp_path):
    cert, key = self_signed(tmp_path, "server")
    made = LoomServer(replace(CONFIG, tls_cert=cert, tls_key=key), (), domain="d", minimum={})
    address = await made.start()
    await made.serving()
    try:
        credentials = grpc.ssl_channel_credentials(cert.read_bytes())
        assert await status_over_tls(address.port, credentials) == health_pb2.HealthCheckResponse.SERVING
    finally:
        await made.stop()


@needs_openssl
async def test_a_server_with_a_client_ca_turns_strangers_away(tmp_path):
    cert, key = self_signed(tmp_path, "server")
    client_cert, client_key = self_signed(tmp_path, "client")
    config = replace(CONFIG, tls_cert=cert, tls_key=key, tls_client_ca=client_cert)
    made = LoomServer(config, (), domain="d", minimum={})
    address = await made.start()
    await made.serving()
    try:
        known = grpc.ssl_channel_credentials(cert.read_bytes(), client_key.read_bytes(), client_cert.read_bytes())
        assert await status_over_tls(address.port, known) == health_pb2.HealthCheckResponse.SERVING
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await status_over_tls(address.port, grpc.ssl_channel_credentials(cert.read_bytes()))
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    finally:
        await made.stop()


@needs_openssl
async def test_tls_files_that_do_not_hold_are_named_before_listening(tmp_path):
    cert, key = self_signed(tmp_path, "server")
    _, other = self_signed(tmp_path, "other")
    locked, junk = tmp_path / "locked.key", tmp_path / "junk"
    openssl("ec", "-in", str(key), "-aes128", "-passout", "pass:word", "-out", str(locked))
    junk.write_text("no pem")
    for files, why in (
        ((cert, other), "KEY_VALUES_MISMATCH"),
        ((cert, locked), "the key is encrypted"),
        ((cert, junk), "PEM"),
        ((cert, tmp_path / "none"), "No such file"),
    ):
        made = LoomServer(replace(CONFIG, tls_cert=files[0], tls_key=files[1]), (), domain="d", minimum={})
        with pytest.raises(CannotListen, match=why):
            await made.start()


PROGRAM = """
    import asyncio, sys
    from services.errors import LoomError
    from services.logs import configure_logs
    from services.server import LoomServer, ServerConfig, serve_until_stopped
    from services.settings import Address

    configure_logs(log_format="json", level="error", service="test")
    drain_s, start = float(sys.argv[1]), sys.argv[2]
    config = ServerConfig(Address("127.0.0.1", 0), None, None, None, False, None, drain_s, 30.0, 4, "json", "error")

    async def begin():
        print("starting", flush=True)
        if start == "fails":
            raise OSError("no such model")
        if start == "hangs":
            await asyncio.sleep(60)

    async def end(word):
        print(word, flush=True)
        if word == "first":
            raise ValueError("cannot close")

    async def main():
        server = LoomServer(config, (), domain="d", minimum={})
        hooks = (lambda: end("first"), lambda: end("second"))
        await serve_until_stopped(server, name="loom-test", on_start=(begin,), on_stop=hooks[start != "ends badly":])

    asyncio.run(main())
"""


@pytest.fixture
def program():
    """Starts the program; what is left of it at the end is killed."""
    children = []

    def started(*, drain_s: float = 0.0, start: str = "works") -> subprocess.Popen:
        command = [sys.executable, "-c", textwrap.dedent(PROGRAM), str(drain_s), start]
        children.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        assert children[-1].stdout.readline() == "starting\n"
        return children[-1]

    yield started
    for child in children:
        child.kill()
        child.communicate()


async def test_sigterm_drains_then_closes(program):
    child = program(drain_s=0.5)
    ready = child.stdout.readline()
    assert ready.startswith("loom-test listening on 127.0.0.1:")
    async with grpc.aio.insecure_channel(ready.split()[-1]) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        assert (await stub.Check(health_pb2.HealthCheckRequest())).status == health_pb2.HealthCheckResponse.SERVING
        child.send_signal(signal.SIGTERM)
        await asyncio.sleep(0.2)
        assert (await stub.Check(health_pb2.HealthCheckRequest())).status == health_pb2.HealthCheckResponse.NOT_SERVING
    assert child.wait(10) == 0
    assert child.stdout.read() == "second\n"


async def test_a_second_signal_ends_the_drain_and_the_calls(program):
    child = program(drain_s=60.0)
    target = child.stdout.readline().split()[-1]
    async with grpc.aio.insecure_channel(target) as channel:
        watch = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest())
        await watch.read()
        child.send_signal(signal.SIGINT)
        assert (await watch.read()).status == health_pb2.HealthCheckResponse.NOT_SERVING
        child.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(child.wait, 5) == 0
    assert child.stdout.read() == "second\n"


def test_a_signal_while_it_starts_ends_it_without_its_being_ready(program):
    child = program(start="hangs", drain_s=60.0)
    child.send_signal(signal.SIGTERM)
    assert child.wait(5) == 0
    assert child.stdout.read() == "second\n"


def test_a_start_that_fails_closes_what_was_opened(program):
    child = program(start="fails", drain_s=60.0)
    out, err = child.communicate(timeout=5)
    assert (child.returncode, out) == (1, "second\n")
    assert "no such model" in err


def test_a_hook_that_fails_does_not_keep_the_next_from_running(program):
    child = program(start="ends badly")
    child.stdout.readline()
    child.send_signal(signal.SIGTERM)
    out, err = child.communicate(timeout=5)
    assert (child.returncode, out) == (1, "first\nsecond\n")
    assert "cannot close" in err
