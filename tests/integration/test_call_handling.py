"""What every call meets on its way in and out, over a small service with one method of each kind and several that misbehave."""

import asyncio
import contextvars
import hashlib
import subprocess
import sys
import textwrap
from contextlib import asynccontextmanager
from dataclasses import replace

import grpc
import pytest
import structlog
from google.protobuf.wrappers_pb2 import StringValue
from google.rpc import error_details_pb2, status_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc

from services.auth import Role, current_identity
from services.deadlines import current_scope
from services.errors import FieldViolation, Internal, InvalidArgument, LoomError
from services.interceptor import current_request_id
from services.server import LoomServer, ServerConfig, Service
from services.settings import Address

NAME = "loom.test.v1.Tried"
CONFIG = ServerConfig(Address("127.0.0.1", 0), None, None, None, False, None, 0.0, 0.5, 16, "json", "error")
KINDS = ("Ask", "Collect", "Tell", "Converse")
BAD_WIRE = b"\x0a\xff"
"""Field 1, of a length that never comes."""


class Tried:
    """Handlers; `seen` is what they report to the test."""

    def __init__(self):
        self.seen = []
        self.gate = asyncio.Event()

    async def Ask(self, request, context):
        return StringValue(value=request.value.upper())

    async def Collect(self, requests, context):
        values = [request.value async for request in requests]
        self.seen.append(values)
        return StringValue(value=" ".join(values))

    async def Tell(self, request, context):
        for word in request.value.split():
            yield StringValue(value=word)

    async def Converse(self, requests, context):
        async for request in requests:
            yield StringValue(value=request.value.upper())

    async def WhoAmI(self, request, context):
        return StringValue(value=current_identity().name)

    async def Trailer(self, request, context):
        context.set_trailing_metadata((("x-own", "1"),))
        return StringValue(value=current_request_id())

    async def Deep(self, request, context):
        raise NotImplementedError("an abstract method somewhere below")

    async def Refuse(self, request, context):
        raise Internal("the plan for the safe is behind the picture")

    async def Nameless(self, request, context):
        raise LoomError("the plan for the safe is behind the picture")

    async def WrongType(self, request, context):
        return "the plan for the safe is behind the picture"

    async def Inner(self, request, context):
        waited = asyncio.get_running_loop().create_future()
        waited.cancel()
        await waited

    async def Long(self, request, context):
        fault = FieldViolation("query", "漢" * 3000)
        raise InvalidArgument("字" * 3000, metadata={f"key{n}": "字" * 3000 for n in range(40)}, violations=[fault] * 40)

    async def Wait(self, request, context):
        current_scope().on_stop(lambda: self.seen.append("stopped"))
        self.seen.append("waiting")
        await self.gate.wait()
        return StringValue()

    async def Unstoppable(self, request, context):
        current_scope().on_stop(lambda: 1 // 0)
        raise InvalidArgument("no")

    async def Endless(self, request, context):
        mark = contextvars.ContextVar("mark", default="lost")
        mark.set("kept")
        try:
            while True:
                yield StringValue(value="x" * 100_000)
                await asyncio.sleep(0)
        finally:
            self.seen.append(mark.get())

    async def Upload(self, requests, context):
        async for _ in requests:
            raise InvalidArgument("enough")


def handlers_of(tried):
    coders = {"request_deserializer": StringValue.FromString, "response_serializer": StringValue.SerializeToString}
    kinds = {
        "Collect": grpc.stream_unary_rpc_method_handler,
        "Upload": grpc.stream_unary_rpc_method_handler,
        "Tell": grpc.unary_stream_rpc_method_handler,
        "Endless": grpc.unary_stream_rpc_method_handler,
        "Converse": grpc.stream_stream_rpc_method_handler,
    }
    names = [name for name in vars(Tried) if name[0].isupper()]
    return {name: kinds.get(name, grpc.unary_unary_rpc_method_handler)(getattr(tried, name), **coders) for name in names}


@asynccontextmanager
async def serving(config=CONFIG, minimum=None):
    tried = Tried()
    generic = grpc.method_handlers_generic_handler(NAME, handlers_of(tried))
    service = Service(NAME, lambda server: server.add_generic_rpc_handlers((generic,)))
    server = LoomServer(config, (service,), domain="loom.test.v1", minimum=minimum or {})
    tried.address = await server.start()
    await server.serving()
    try:
        async with grpc.aio.insecure_channel(str(tried.address)) as channel:
            yield tried, channel
    finally:
        await server.stop()


@pytest.fixture
async def tried_and_channel():
    async with serving() as both:
        yield both


@pytest.fixture
def tried(tried_and_channel):
    return tried_and_channel[0]


@pytest.fixture
def channel(tried_and_channel):
    return tried_and_channel[1]


def bytes_of(*values):
    return [StringValue(value=value).SerializeToString() for value in values]


def call_of(channel, method, *raws, **kwargs):
    """Starts a call of whatever kind the method is."""
    path = f"/{NAME}/{method}"
    if method in ("Collect", "Upload"):
        return channel.stream_unary(path)(iter(raws), **kwargs)
    if method in ("Tell", "Endless"):
        return channel.unary_stream(path)(raws[0], **kwargs)
    if method == "Converse":
        return channel.stream_stream(path)(iter(raws), **kwargs)
    return channel.unary_unary(path)(raws[0] if raws else b"", **kwargs)


async def answers_of(call):
    if hasattr(call, "__aiter__"):
        return [StringValue.FromString(raw).value async for raw in call]
    return [StringValue.FromString(await call).value]


async def failure_of(call) -> grpc.aio.AioRpcError:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await answers_of(call)
    return caught.value


def details_of(failure) -> dict[str, object]:
    """The details of a status by their message's name, read without the product's code."""
    packed = dict(iter(failure.trailing_metadata()))["grpc-status-details-bin"]
    status = status_pb2.Status.FromString(packed)
    assert (status.code, status.message) == (failure.code().value[0], failure.details())
    found = {}
    for detail in status.details:
        message = getattr(error_details_pb2, detail.TypeName().rpartition(".")[2])()
        detail.Unpack(message)
        found[detail.TypeName().rpartition(".")[2]] = message
    return found


async def until(condition):
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0.005)


@pytest.mark.parametrize(
    ("method", "answers"),
    [("Ask", ["ONE TWO"]), ("Collect", ["one two three"]), ("Tell", ["one", "two"]), ("Converse", ["ONE TWO", "THREE"])],
)
async def test_each_kind_of_call_is_answered_and_returns_its_request_id(channel, method, answers):
    call = call_of(channel, method, *bytes_of("one two", "three"), metadata=(("x-request-id", "id.1_a-B"),))
    assert await answers_of(call) == answers
    assert dict(iter(await call.trailing_metadata()))["x-request-id"] == "id.1_a-B"


@pytest.mark.parametrize("method", KINDS)
async def test_bytes_that_are_no_request_are_the_callers_fault(channel, method):
    failure = await failure_of(call_of(channel, method, BAD_WIRE))
    assert failure.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert details_of(failure)["ErrorInfo"].reason == "INVALID_REQUEST"


@pytest.mark.parametrize("kind", ["unary_unary", "stream_stream"])
async def test_a_method_that_is_not_served_is_told_with_its_reason(channel, kind):
    argument = b"" if kind == "unary_unary" else iter([b"a", b"b"])
    failure = await failure_of(getattr(channel, kind)(f"/{NAME}/Missing")(argument))
    assert failure.code() is grpc.StatusCode.UNIMPLEMENTED
    info = details_of(failure)["ErrorInfo"]
    assert (info.reason, info.metadata["method"]) == ("UNIMPLEMENTED", f"/{NAME}/Missing")


async def test_a_servicers_own_trailers_go_out_beside_the_request_id(channel):
    call = call_of(channel, "Trailer", metadata=(("x-request-id", "r1"),))
    assert await answers_of(call) == ["r1"]
    trailers = dict(iter(await call.trailing_metadata()))
    assert (trailers["x-own"], trailers["x-request-id"]) == ("1", "r1")


@pytest.mark.parametrize("sent", ["", "a b", "x" * 65, "a/b", "{id}"])
async def test_a_request_id_that_is_not_sane_is_replaced(channel, sent):
    (answered,) = await answers_of(call_of(channel, "Trailer", metadata=(("x-request-id", sent),)))
    assert answered != sent
    assert len(answered) == 32


@pytest.mark.parametrize("method", ["Deep", "Refuse", "Nameless", "WrongType", "Inner"])
async def test_a_defect_of_whatever_kind_tells_its_request_id_only(channel, method):
    with structlog.testing.capture_logs() as events:
        failure = await failure_of(call_of(channel, method, metadata=(("x-request-id", "r9"),)))
    assert failure.code() is grpc.StatusCode.INTERNAL
    assert failure.details() == "the service met a defect; its log has the details under request id r9"
    assert dict(details_of(failure)["ErrorInfo"].metadata) == {"request_id": "r9"}
    (defect,) = [event for event in events if event["event"] == "call_defect"]
    assert defect["exc_info"]


async def test_a_stop_hook_that_fails_takes_nothing_from_what_the_caller_is_told(channel):
    with structlog.testing.capture_logs() as events:
        failure = await failure_of(call_of(channel, "Unstoppable"))
    assert (failure.code(), failure.details()) == (grpc.StatusCode.INVALID_ARGUMENT, "no")
    assert [event["event"] for event in events] == ["stop_defect", "call"]


async def test_one_event_tells_of_a_call(channel):
    with structlog.testing.capture_logs() as events:
        await answers_of(call_of(channel, "Ask", *bytes_of("secret words"), timeout=5))
    (event,) = events
    assert (event["event"], event["method"], event["code"]) == ("call", f"/{NAME}/Ask", "OK")
    assert event["peer"].startswith("ipv4:127.0.0.1:")
    assert 0 <= event["milliseconds"] < 5000
    assert 4 < event["deadline_left_s"] < 5.5
    assert "secret" not in str(event)


async def test_a_cancelled_call_is_stopped_and_logged_as_such(tried, channel):
    with structlog.testing.capture_logs() as events:
        call = call_of(channel, "Wait")
        await until(lambda: tried.seen)
        call.cancel()
        await until(lambda: events)
    assert tried.seen == ["waiting", "stopped"]
    assert [event["code"] for event in events] == ["CANCELLED"]


async def test_a_call_past_its_deadline_is_stopped_and_logged_as_such(tried, channel):
    with structlog.testing.capture_logs() as events:
        failure = await failure_of(call_of(channel, "Wait", timeout=0.1))
        await until(lambda: events)
    assert failure.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert tried.seen == ["waiting", "stopped"]
    assert [event["code"] for event in events] == ["DEADLINE_EXCEEDED"]


async def test_the_generator_of_a_cancelled_stream_is_closed_in_its_own_context(tried, channel):
    with structlog.testing.capture_logs() as events:
        call = call_of(channel, "Endless", b"")
        await call.read()
        call.cancel()
        await until(lambda: events)
    assert tried.seen == ["kept"]


VANISHES = """
    import os, sys, grpc
    channel = grpc.insecure_channel(sys.argv[1])
    def requests():
        yield bytes([10, 1, 97])
        yield bytes([10, 1, 98])
        os._exit(0)
    channel.stream_unary(sys.argv[2])(requests())
"""


async def test_a_caller_that_dies_in_its_stream_is_not_taken_for_one_that_ended_it(tried):
    with structlog.testing.capture_logs() as events:
        arguments = (textwrap.dedent(VANISHES), str(tried.address), f"/{NAME}/Collect")
        await asyncio.to_thread(subprocess.run, [sys.executable, "-c", *arguments], check=True, timeout=30)
        await until(lambda: events)
    assert tried.seen == []
    assert [event["code"] for event in events] == ["CANCELLED"]


READS = """
    import os, sys, grpc
    next(grpc.insecure_channel(sys.argv[1]).unary_stream(sys.argv[2])(b""))
    os._exit(0)
"""


async def test_a_caller_that_dies_while_it_is_sent_a_stream_is_no_defect(tried):
    with structlog.testing.capture_logs() as events:
        for _ in range(3):
            arguments = (textwrap.dedent(READS), str(tried.address), f"/{NAME}/Endless")
            await asyncio.to_thread(subprocess.run, [sys.executable, "-c", *arguments], check=True, timeout=30)
        await until(lambda: len(events) == 3)
    assert {event["code"] for event in events} == {"CANCELLED"}
    assert tried.seen == ["kept"] * 3


async def test_an_error_of_any_length_reaches_the_caller(channel):
    failure = await failure_of(call_of(channel, "Long"))
    assert failure.code() is grpc.StatusCode.INVALID_ARGUMENT
    details = details_of(failure)
    assert details["ErrorInfo"].reason == "INVALID_REQUEST"
    assert details["BadRequest"].field_violations[0].field == "query"


async def endless_upload():
    while True:
        yield bytes_of("x" * 100_000)[0]


async def test_a_caller_refused_in_the_middle_of_its_stream_learns_why(channel):
    async def upload():
        for _ in range(50):
            yield bytes_of("x" * 100_000)[0]

    failure = await failure_of(channel.stream_unary(f"/{NAME}/Upload")(upload()))
    assert failure.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_tokens_decide_who_calls(tmp_path):
    table = tmp_path / "tokens"
    lines = [
        f"{hashlib.sha256(name.encode()).hexdigest()} {name} acme {role}" for name, role in (("ada", "writer"), ("ben", "viewer"))
    ]
    table.write_text("\n".join(lines))
    async with serving(replace(CONFIG, tokens=table), {f"/{NAME}/WhoAmI": Role.WRITER}) as (_, channel):

        async def who(*metadata):
            return await answers_of(call_of(channel, "WhoAmI", metadata=metadata))

        assert await who(("authorization", "Bearer ada")) == ["ada"]
        for metadata, code, reason in (
            ((), grpc.StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED"),
            ((("authorization", "Bearer eve"),), grpc.StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED"),
            ((("authorization", "Bearer ben"),), grpc.StatusCode.PERMISSION_DENIED, "PERMISSION_DENIED"),
        ):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await who(*metadata)
            assert (caught.value.code(), details_of(caught.value)["ErrorInfo"].reason) == (code, reason)
        health = await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(service=NAME))
        assert health.status == health_pb2.HealthCheckResponse.SERVING
        refused = await failure_of(channel.stream_unary(f"/{NAME}/Collect")(endless_upload(), timeout=10))
        assert refused.code() is grpc.StatusCode.UNAUTHENTICATED


async def test_a_full_server_says_when_to_come_back_and_still_tells_its_health():
    async with serving(replace(CONFIG, max_calls=1)) as (tried, channel):
        first = call_of(channel, "Wait")
        await until(lambda: tried.seen)
        failure = await failure_of(call_of(channel, "Ask"))
        assert failure.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert details_of(failure)["ErrorInfo"].reason == "OVERLOADED"
        assert 100 <= int(dict(iter(failure.trailing_metadata()))["grpc-retry-pushback-ms"]) <= 300
        await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())
        tried.gate.set()
        await first
        assert await answers_of(call_of(channel, "Ask", *bytes_of("a"))) == ["A"]
