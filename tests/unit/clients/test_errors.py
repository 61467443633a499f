from __future__ import annotations

import socket
import time

import grpc
import pytest
from loom.knowledge.v1 import documents_pb2, search_pb2

from clients import AsyncKnowledgeClient, KnowledgeClient, LoomError, errors
from tests.unit.clients.fakes import Fake, refuse

CODES = {
    grpc.StatusCode.INVALID_ARGUMENT: errors.InvalidArgument,
    grpc.StatusCode.NOT_FOUND: errors.NotFound,
    grpc.StatusCode.ALREADY_EXISTS: errors.AlreadyExists,
    grpc.StatusCode.FAILED_PRECONDITION: errors.FailedPrecondition,
    grpc.StatusCode.ABORTED: errors.Aborted,
    grpc.StatusCode.UNAUTHENTICATED: errors.Unauthenticated,
    grpc.StatusCode.PERMISSION_DENIED: errors.PermissionDenied,
    grpc.StatusCode.RESOURCE_EXHAUSTED: errors.ResourceExhausted,
    grpc.StatusCode.UNAVAILABLE: errors.Unavailable,
    grpc.StatusCode.DEADLINE_EXCEEDED: errors.DeadlineExceeded,
    grpc.StatusCode.CANCELLED: errors.Cancelled,
    grpc.StatusCode.UNIMPLEMENTED: errors.Unimplemented,
    grpc.StatusCode.DATA_LOSS: errors.DataLoss,
    grpc.StatusCode.INTERNAL: errors.Internal,
}


@pytest.mark.parametrize("code", list(CODES), ids=lambda code: code.name)
def test_each_code_has_its_own_error(code: grpc.StatusCode, fake: Fake, client: KnowledgeClient) -> None:
    fake.on("GetDocument", refuse(code, "SOME_REASON", "what happened"))
    with pytest.raises(LoomError) as caught:
        client.get("file:///a")
    assert type(caught.value) is CODES[code]
    assert caught.value.code is code
    assert caught.value.reason == "SOME_REASON"
    assert caught.value.message == "what happened"


def test_an_error_carries_all_that_the_status_says(fake: Fake, client: KnowledgeClient) -> None:
    answer = refuse(
        grpc.StatusCode.INVALID_ARGUMENT,
        "INVALID_PLAN",
        "the plan names an unknown column amnt",
        metadata={"column": "amnt"},
        violations={"plan.where[0].column": "one of amount, region"},
        retry_s=1.5,
        request_id="r-17",
    )
    fake.on("Search", answer)
    with pytest.raises(errors.InvalidArgument) as caught:
        client.search("x")
    error = caught.value
    assert error.metadata == {"column": "amnt"}
    assert error.violations == (errors.FieldViolation("plan.where[0].column", "one of amount, region"),)
    assert error.retry_after_s == 1.5
    assert error.request_id == "r-17"
    assert str(error) == "the plan names an unknown column amnt; plan.where[0].column: one of amount, region [INVALID_PLAN]"


def test_an_error_without_a_request_id_names_the_one_that_was_sent(fake: Fake, client: KnowledgeClient) -> None:
    fake.on("Search", refuse(grpc.StatusCode.INTERNAL, "INTERNAL", "a defect"))
    with pytest.raises(errors.Internal) as caught:
        client.search("x")
    assert caught.value.request_id == fake.calls("Search")[0].metadata["x-request-id"]


def test_a_status_without_details_still_has_its_kind(fake: Fake, client: KnowledgeClient) -> None:
    fake.on("Search", lambda _request, context: context.abort(grpc.StatusCode.NOT_FOUND, "gone"))
    with pytest.raises(errors.NotFound) as caught:
        client.search("x")
    assert (caught.value.message, caught.value.reason) == ("gone", "NOT_FOUND")


def closed_address() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def test_a_server_that_is_not_there_is_named_with_what_to_start() -> None:
    address = closed_address()
    with KnowledgeClient(address) as client, pytest.raises(errors.Unreachable) as caught:
        client.search("x")
    assert f"cannot reach the knowledge service at {address}" in str(caught.value)
    assert "loom serve" in str(caught.value)
    assert "refused" in str(caught.value)


@pytest.mark.parametrize(
    ("details", "remedy"),
    [
        ("failed to connect to all addresses; last error: UNKNOWN: ipv4:10.0.0.1:1: Connection refused", "start it"),
        ("failed to connect to all addresses; last error: UNAVAILABLE: ipv4:10.0.0.1:1: Socket closed", "write https://"),
        ("failed to connect to all addresses; last error: UNKNOWN: ipv4:10.0.0.1:1: Tls handshake failed", "certificate authority"),
    ],
)
def test_a_broken_connection_says_what_to_do(details: str, remedy: str) -> None:
    nothing = grpc.aio.Metadata()
    failure = grpc.aio.AioRpcError(grpc.StatusCode.UNAVAILABLE, nothing, nothing, details, None)
    error = errors.from_rpc_error(failure, errors.Peer("extractor", "10.0.0.1:1", "start it"), request_id="r")
    assert isinstance(error, errors.Unreachable)
    assert error.message.startswith("cannot reach the extractor at 10.0.0.1:1 (ipv4:10.0.0.1:1: ")
    assert remedy in error.message
    assert error.request_id == "r"


async def test_a_server_that_is_not_there_is_named_under_asyncio_too() -> None:
    async with AsyncKnowledgeClient(closed_address()) as client:
        with pytest.raises(errors.Unreachable, match="loom serve"):
            await client.search("x")


def test_a_dependency_that_is_down_is_not_taken_for_a_server_that_is(fake: Fake, client: KnowledgeClient) -> None:
    fake.on("StartIngestion", refuse(grpc.StatusCode.UNAVAILABLE, "EXTRACTOR_DOWN", "no extractor answers", retry_s=5))
    with pytest.raises(errors.Unavailable) as caught:
        client.ingest("u1", source_uri="file:///a")
    assert type(caught.value) is errors.Unavailable
    assert caught.value.retry_after_s == 5


def test_a_server_of_another_kind_is_suspected(fake: Fake, client: KnowledgeClient) -> None:
    with pytest.raises(errors.Unimplemented, match="is it the knowledge service"):
        client.search("x")


def test_unavailable_is_tried_three_times_with_the_same_body(fake: Fake, client: KnowledgeClient) -> None:
    fake.on("UpsertDocument", refuse(grpc.StatusCode.UNAVAILABLE, "BACKEND_UNAVAILABLE", "the store is away"))
    with pytest.raises(errors.Unavailable):
        client.upsert("file:///a", "text")
    bodies = {asked.request.SerializeToString(deterministic=True) for asked in fake.calls("UpsertDocument")}
    assert len(fake.calls("UpsertDocument")) == 3
    assert len(bodies) == 1
    assert fake.request("UpsertDocument").request_id


@pytest.mark.parametrize("code", [grpc.StatusCode.ABORTED, grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.INTERNAL])
def test_other_codes_are_not_tried_again(code: grpc.StatusCode, fake: Fake, client: KnowledgeClient) -> None:
    fake.on("UpsertDocument", refuse(code, "X", "no"))
    with pytest.raises(LoomError):
        client.upsert("file:///a", "text")
    assert len(fake.calls("UpsertDocument")) == 1


def test_a_call_that_takes_too_long_ends_at_the_clients_timeout(fake: Fake) -> None:
    def slow(_request: object, context: grpc.ServicerContext) -> search_pb2.SearchResponse:
        while context.is_active():
            time.sleep(0.02)
        return search_pb2.SearchResponse()

    fake.on("Search", slow)
    with KnowledgeClient(fake.address, timeout_s=0.2) as client, pytest.raises(errors.DeadlineExceeded):
        client.search("x")


def test_errors_in_the_middle_of_a_listing_are_translated(fake: Fake, client: KnowledgeClient) -> None:
    first = documents_pb2.ListDocumentsResponse(documents=[documents_pb2.Document(source_uri="file:///a")], next_page_token="2")
    second = refuse(grpc.StatusCode.INVALID_ARGUMENT, "INVALID_PAGE_TOKEN", "the page token is damaged")
    fake.on("ListDocuments", lambda request, context: second(request, context) if request.page_token else first)
    listed = client.list()
    assert next(listed).source_uri == "file:///a"
    with pytest.raises(errors.InvalidArgument, match="INVALID_PAGE_TOKEN"):
        next(listed)
