"""What a call can raise; every error is made from the google.rpc.Status that the server sent.

LoomError
├── InvalidArgument       the request, or the document in it, is at fault
├── NotFound              what was named is not there
├── AlreadyExists         what was to be made is there, and differs
├── FailedPrecondition    the state, not the request, is at fault
├── Aborted               lost a race; reading again and repeating can succeed at once
├── Unauthenticated       no token, or none that is known
├── PermissionDenied      the token's role does not reach
├── ResourceExhausted     busy or over a quota; `retry_after_s` says when to come back
├── Unavailable           something the server needs cannot be reached
│   └── Unreachable       the server itself cannot be reached
├── DeadlineExceeded      took longer than allowed
├── Cancelled             the call was cancelled
├── Unimplemented         declared in the contract, not built yet
├── DataLoss              stored data is missing or damaged
└── Internal              a defect of the server

TimeoutError
└── IngestTimeout         the wait ended, the job did not
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar, cast

import grpc
from google.protobuf import any_pb2
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

M = TypeVar("M", bound=Message)

REQUEST_ID_KEY: Final = "x-request-id"
"""Metadata key under which a call's id travels, both ways."""


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """One field of a request that is at fault: its path, such as `plan.where[0].column`, and what would be valid."""

    field: str
    description: str


@dataclass(frozen=True, slots=True)
class Fault:
    """What a server said of a failed call, besides its message.

    `reason` is a name of the contract's ErrorReason without its prefix; `metadata` repeats every value of the message;
    `retry_after_s` is None where waiting does not help; `request_id` finds the call in the server's log.
    """

    reason: str
    metadata: Mapping[str, str]
    violations: tuple[FieldViolation, ...]
    retry_after_s: float | None
    request_id: str


class LoomError(Exception):
    """A call was refused or failed; subclasses name the kind by gRPC code."""

    code: grpc.StatusCode = grpc.StatusCode.UNKNOWN

    def __init__(self, message: str, fault: Fault | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.fault = fault or Fault(self.code.name, {}, (), None, "")

    @property
    def reason(self) -> str:
        """Why, as a name of the contract's ErrorReason without its prefix; the gRPC code's name where the server gave none."""
        return self.fault.reason

    @property
    def metadata(self) -> Mapping[str, str]:
        """Every value that the message names."""
        return self.fault.metadata

    @property
    def violations(self) -> tuple[FieldViolation, ...]:
        """The fields at fault."""
        return self.fault.violations

    @property
    def retry_after_s(self) -> float | None:
        """Seconds after which the same call may succeed; None where waiting does not help."""
        return self.fault.retry_after_s

    @property
    def request_id(self) -> str:
        """The id under which the server logged the call."""
        return self.fault.request_id

    def __str__(self) -> str:
        fields = "".join(f"; {item.field}: {item.description}" for item in self.violations if item.description not in self.message)
        return f"{self.message}{fields} [{self.reason}]"


class InvalidArgument(LoomError):
    """The request, or the document in it, is at fault; the same call will fail again."""

    code = grpc.StatusCode.INVALID_ARGUMENT


class NotFound(LoomError):
    """What was named is not there, or not for this caller."""

    code = grpc.StatusCode.NOT_FOUND


class AlreadyExists(LoomError):
    """What was to be made is there already and differs."""

    code = grpc.StatusCode.ALREADY_EXISTS


class FailedPrecondition(LoomError):
    """The state, not the request, is at fault; something else has to change first."""

    code = grpc.StatusCode.FAILED_PRECONDITION


class Aborted(LoomError):
    """Lost a race; reading again and repeating can succeed at once."""

    code = grpc.StatusCode.ABORTED


class Unauthenticated(LoomError):
    """No token was given, or none that is known."""

    code = grpc.StatusCode.UNAUTHENTICATED


class PermissionDenied(LoomError):
    """The token's role does not reach."""

    code = grpc.StatusCode.PERMISSION_DENIED


class ResourceExhausted(LoomError):
    """Busy or over a quota; `retry_after_s` says when to come back."""

    code = grpc.StatusCode.RESOURCE_EXHAUSTED


class Unavailable(LoomError):
    """Something the server needs cannot be reached now."""

    code = grpc.StatusCode.UNAVAILABLE


class Unreachable(Unavailable):
    """The server itself cannot be reached; the message names its address and what to start."""


class DeadlineExceeded(LoomError):
    """Took longer than the caller or the server allows."""

    code = grpc.StatusCode.DEADLINE_EXCEEDED


class Cancelled(LoomError):
    """The call was cancelled."""

    code = grpc.StatusCode.CANCELLED


class Unimplemented(LoomError):
    """Declared in the contract, not built yet."""

    code = grpc.StatusCode.UNIMPLEMENTED


class DataLoss(LoomError):
    """Stored data is missing or damaged."""

    code = grpc.StatusCode.DATA_LOSS


class Internal(LoomError):
    """A defect of the server; its details stand in the server's log under `request_id`."""

    code = grpc.StatusCode.INTERNAL


class IngestTimeout(TimeoutError):
    """The wait for an ingest ended before the job; the job goes on and can be waited for again."""

    def __init__(self, ingestion_id: str, timeout_s: float) -> None:
        super().__init__(f"ingestion {ingestion_id} still runs after {timeout_s:g} s; wait for it again, or cancel it")
        self.ingestion_id = ingestion_id
        self.timeout_s = timeout_s


_KINDS: Final = (
    InvalidArgument,
    NotFound,
    AlreadyExists,
    FailedPrecondition,
    Aborted,
    Unauthenticated,
    PermissionDenied,
    ResourceExhausted,
    Unavailable,
    DeadlineExceeded,
    Cancelled,
    Unimplemented,
    DataLoss,
    Internal,
)
_KIND_OF: Final = {kind.code: kind for kind in _KINDS}


@dataclass(frozen=True, slots=True)
class Peer:
    """The server a call goes to, as its errors name it: `what` it is, its `address`, and what to do when it does not answer."""

    what: str
    address: str
    remedy: str


def from_rpc_error(error: grpc.RpcError, peer: Peer, *, request_id: str) -> LoomError:
    """Makes the error to raise for a failed call; `request_id` is the id that was sent with it."""
    code = error.code()
    status = _status(error)
    details = tuple(status.details) if status is not None else ()
    fault = _fault(details, code=code, request_id=request_id)
    said = status.message if status is not None else (error.details() or "")
    if _unpack(details, error_details_pb2.ErrorInfo) is None:
        if code is grpc.StatusCode.UNAVAILABLE:
            cause = _cause(said)
            return Unreachable(f"cannot reach the {peer.what} at {peer.address} ({cause}); {_remedy(cause, peer)}", fault)
        if code is grpc.StatusCode.UNIMPLEMENTED:
            return Unimplemented(f"the server at {peer.address} does not know this method; is it the {peer.what}?", fault)
    kind = _KIND_OF.get(code, LoomError)
    return kind(said or code.name.lower().replace("_", " "), fault)


def _status(error: grpc.RpcError) -> status_pb2.Status | None:
    try:
        status: status_pb2.Status | None = rpc_status.from_call(cast("grpc.Call", error))  # a raised RpcError is its call too
        return status
    except ValueError:  # the details contradict the code: a proxy rewrote it, so the code and text alone stand
        return None


def _fault(details: Sequence[any_pb2.Any], *, code: grpc.StatusCode, request_id: str) -> Fault:
    info = _unpack(details, error_details_pb2.ErrorInfo)
    bad = _unpack(details, error_details_pb2.BadRequest)
    retry = _unpack(details, error_details_pb2.RetryInfo)
    request = _unpack(details, error_details_pb2.RequestInfo)
    metadata = dict(info.metadata) if info else {}
    return Fault(
        reason=info.reason if info else code.name,
        metadata=metadata,
        violations=tuple(FieldViolation(item.field, item.description) for item in bad.field_violations) if bad else (),
        retry_after_s=retry.retry_delay.ToTimedelta().total_seconds() if retry else None,
        request_id=(request.request_id if request else "") or metadata.get("request_id", "") or request_id,
    )


def _unpack(details: Sequence[any_pb2.Any], kind: type[M]) -> M | None:
    for detail in details:
        message = kind()
        if detail.Unpack(message):
            return message
    return None


def _remedy(cause: str, peer: Peer) -> str:
    if "handshake" in cause.lower():
        return "check the certificate authority that was given, and the host's name in the certificate"
    if "socket closed" in cause.lower():
        return "it went away, or it speaks TLS: write https:// before the address then"
    return peer.remedy


def _cause(details: str) -> str:
    """The end of gRPC's account of a broken connection, where the cause stands, cut to a line."""
    cause = " ".join(details.rsplit("last error: ", 1)[-1].removeprefix("UNKNOWN: ").removeprefix("UNAVAILABLE: ").split())
    return cause[:159] + "…" if len(cause) > 160 else cause or "no answer"
