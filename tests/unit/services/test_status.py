import grpc
import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from services import errors
from services.status import code_of, error_from_rpc, message_of, status_of, trailers_of

KINDS = [
    (errors.InvalidArgument, grpc.StatusCode.INVALID_ARGUMENT),
    (errors.NotFound, grpc.StatusCode.NOT_FOUND),
    (errors.AlreadyExists, grpc.StatusCode.ALREADY_EXISTS),
    (errors.FailedPrecondition, grpc.StatusCode.FAILED_PRECONDITION),
    (errors.Aborted, grpc.StatusCode.ABORTED),
    (errors.Unauthenticated, grpc.StatusCode.UNAUTHENTICATED),
    (errors.PermissionDenied, grpc.StatusCode.PERMISSION_DENIED),
    (errors.ResourceExhausted, grpc.StatusCode.RESOURCE_EXHAUSTED),
    (errors.Unavailable, grpc.StatusCode.UNAVAILABLE),
    (errors.DeadlineExceeded, grpc.StatusCode.DEADLINE_EXCEEDED),
    (errors.Cancelled, grpc.StatusCode.CANCELLED),
    (errors.Unimplemented, grpc.StatusCode.UNIMPLEMENTED),
    (errors.DataLoss, grpc.StatusCode.DATA_LOSS),
    (errors.Internal, grpc.StatusCode.INTERNAL),
]


def returned(error: errors.LoomError) -> grpc.aio.AioRpcError:
    trailers = grpc.aio.Metadata(*trailers_of(error, domain="loom.test.v1"))
    return grpc.aio.AioRpcError(code_of(error), grpc.aio.Metadata(), trailers, details=message_of(error))


class DocumentNotFound(errors.NotFound):
    reason = "DOCUMENT_NOT_FOUND"


@pytest.mark.parametrize(("kind", "code"), KINDS)
def test_every_kind_has_its_code_and_comes_back_as_itself(kind, code):
    assert code_of(kind("no")) is code
    assert type(error_from_rpc(returned(kind("no")))) is kind


def test_the_table_names_every_kind_of_error():
    assert {kind for kind, _ in KINDS} == set(errors.LoomError.__subclasses__())


def test_a_domain_error_carries_one_error_info():
    status = status_of(DocumentNotFound("none here", metadata={"source_uri": "a"}), domain="loom.test.v1")
    (info,) = status.details
    assert info.type_url == "type.googleapis.com/google.rpc.ErrorInfo"
    back = error_from_rpc(returned(DocumentNotFound("none here", metadata={"source_uri": "a"})))
    assert (back.code_reason, back.message, back.metadata) == ("DOCUMENT_NOT_FOUND", "none here", {"source_uri": "a"})


def test_violations_and_the_wait_travel_along():
    violation = errors.FieldViolation("top_k", "takes 1 to 100")
    back = error_from_rpc(returned(errors.ResourceExhausted("busy", violations=[violation], retry_after_s=2.5)))
    assert back.violations == (violation,)
    assert back.retry_after_s == 2.5


def test_a_pushback_is_at_least_100_ms():
    trailers = dict(trailers_of(errors.ResourceExhausted("busy", retry_after_s=0.001), domain="d"))
    assert trailers["grpc-retry-pushback-ms"] == "100"


def test_an_error_without_a_wait_has_no_pushback():
    assert "grpc-retry-pushback-ms" not in dict(trailers_of(errors.NotFound("no"), domain="d"))


def failed(code, details, *trailers) -> grpc.aio.AioRpcError:
    return grpc.aio.AioRpcError(code, grpc.aio.Metadata(), grpc.aio.Metadata(*trailers), details=details)


@pytest.mark.parametrize(
    ("code", "kind", "reason", "message"),
    [
        (grpc.StatusCode.UNAVAILABLE, errors.Unavailable, "BACKEND_UNAVAILABLE", "the called service cannot be reached"),
        (
            grpc.StatusCode.DEADLINE_EXCEEDED,
            errors.DeadlineExceeded,
            "DEADLINE_EXCEEDED",
            "the called service did not answer in time",
        ),
        (grpc.StatusCode.UNKNOWN, errors.Internal, "INTERNAL", "the called service answered UNKNOWN without a reason"),
    ],
)
def test_a_failure_without_a_reason_becomes_its_kind_and_names_no_address(code, kind, reason, message):
    with structlog.testing.capture_logs() as events:
        back = error_from_rpc(failed(code, "connect to 10.0.0.7:50052 failed"))
    assert (type(back), back.code_reason, back.message) == (kind, reason, message)
    assert [event["details"] for event in events] == ["connect to 10.0.0.7:50052 failed"]


def test_a_failure_of_a_blocking_client_is_read_too():
    class Failure(grpc.RpcError):
        def code(self):
            return grpc.StatusCode.NOT_FOUND

        def details(self):
            return "none here"

        def trailing_metadata(self):
            return trailers_of(DocumentNotFound("none here"), domain="loom.test.v1")

    back = error_from_rpc(Failure())
    assert (type(back), back.code_reason, back.message) == (errors.NotFound, "DOCUMENT_NOT_FOUND", "none here")


@pytest.mark.parametrize("packed", [b"\xff\xff", b"\x1a\x03\x12\x01\xff", b""])
def test_details_that_cannot_be_read_leave_the_kind(packed):
    assert type(error_from_rpc(failed(grpc.StatusCode.NOT_FOUND, "no", ("grpc-status-details-bin", packed)))) is errors.NotFound


def test_text_that_utf_8_cannot_carry_is_made_to_fit():
    status = status_of(errors.NotFound("a\udc80b", metadata={"name": "\udc80"}), domain="d")
    assert status.message == "a?b"


@given(
    st.text(),
    st.dictionaries(st.text(max_size=900), st.text(max_size=900), max_size=9),
    st.lists(st.text(max_size=900), max_size=9),
)
def test_no_error_outgrows_the_headers_of_an_answer(message, metadata, fields):
    violations = [errors.FieldViolation(field, field) for field in fields]
    error = errors.InvalidArgument(message, metadata=metadata, violations=violations, retry_after_s=1)
    assert status_of(error, domain="loom.knowledge.v1").ByteSize() <= 4200
    assert len(message_of(error).encode()) <= 500


def test_a_long_error_fits_the_headers_of_an_answer():
    violations = [errors.FieldViolation(f"plan.where[{n}]", "takes a column of the dataset, such as amount") for n in range(300)]
    error = errors.InvalidArgument("x" * 5000, metadata={"source_uri": "y" * 5000}, violations=violations)
    status = status_of(error, domain="d")
    assert len(status.SerializeToString()) <= 4200
    back = error_from_rpc(returned(error))
    assert back.violations[:2] == tuple(violations[:2])
    told = len(back.violations) - 1
    assert back.violations[-1].description == f"and {300 - told} more faults; mend these first"
