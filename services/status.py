"""Errors to gRPC statuses and back; the one place that knows gRPC's codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, Protocol, cast

import grpc
import structlog
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2

from services import errors

_log = structlog.get_logger("loom.status")

DETAILS_KEY: Final = "grpc-status-details-bin"
PUSHBACK_KEY: Final = "grpc-retry-pushback-ms"
MIN_PUSHBACK_MS: Final = 100
MAX_TEXT_BYTES: Final = 500
"""Bytes of a message or a value. A message beyond ASCII takes three times as many in the headers of an answer."""
MAX_METADATA_BYTES: Final = 1500
MAX_STATUS_BYTES: Final = 4200
"""Bytes of a whole status; base64 makes them 5,600 of the 8 KiB that the headers of an answer may have."""

CODES: Final[tuple[tuple[type[errors.LoomError], grpc.StatusCode], ...]] = (
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
)
"""Each kind of error and its code, in the order of `services.errors`."""

_KIND_OF_CODE: Final = {code: kind for kind, code in CODES}
_BARE: Final = {
    grpc.StatusCode.UNAVAILABLE: "the called service cannot be reached",
    grpc.StatusCode.DEADLINE_EXCEEDED: "the called service did not answer in time",
    grpc.StatusCode.CANCELLED: "the call was given up",
}
_FIELD_BYTES: Final = 8
"""Bytes around a field of a repeated one, at most."""
_REST_BYTES: Final = 150
"""Bytes around the violations, and of the line that counts those left out."""


def code_of(error: errors.LoomError) -> grpc.StatusCode:
    """The gRPC code of an error's kind."""
    return next((code for kind, code in CODES if isinstance(error, kind)), grpc.StatusCode.INTERNAL)


def status_of(error: errors.LoomError, *, domain: str) -> status_pb2.Status:
    """The status of an error: one ErrorInfo, a wait as RetryInfo, field violations as BadRequest; cut to fit the headers."""
    info = error_details_pb2.ErrorInfo(reason=error.code_reason, domain=domain, metadata=_told(error.metadata))
    status = status_pb2.Status(code=code_of(error).value[0], message=message_of(error), details=[_packed(info)])
    if error.retry_after_s is not None:
        wait = Duration()
        wait.FromMilliseconds(_pushback_ms(error.retry_after_s))
        status.details.append(_packed(error_details_pb2.RetryInfo(retry_delay=wait)))
    if error.violations:
        faults = _faults(error.violations, room=MAX_STATUS_BYTES - status.ByteSize())
        status.details.append(_packed(error_details_pb2.BadRequest(field_violations=faults)))
    return status


def message_of(error: errors.LoomError) -> str:
    """An error's message, cut where it would not fit the headers of an answer."""
    return _short(error.message)


def trailers_of(error: errors.LoomError, *, domain: str) -> tuple[tuple[str, str | bytes], ...]:
    """The trailing metadata that carry an error's status."""
    carried: tuple[tuple[str, str | bytes], ...] = ((DETAILS_KEY, status_of(error, domain=domain).SerializeToString()),)
    if error.retry_after_s is None:
        return carried
    return (*carried, (PUSHBACK_KEY, str(_pushback_ms(error.retry_after_s))))


class FailedCall(Protocol):
    """What a failed call tells, made by an asyncio client or by another."""

    def code(self) -> grpc.StatusCode:
        """Its code."""

    def details(self) -> str | None:
        """Its message."""

    def trailing_metadata(self) -> Any:  # Any: pairs, which the stubs of grpc give several types
        """Its trailers, None where there are none."""


def error_from_rpc(failure: grpc.RpcError | FailedCall) -> errors.LoomError:
    """Reads a failed call back into the kind of error that was raised.

    A failure without ErrorInfo comes from the transport, or from something that is no service of ours: its text, which may name
    addresses, goes to the log and not into the error.
    """
    failed = cast("FailedCall", failure)
    code = failed.code()
    kind = _KIND_OF_CODE.get(code, errors.Internal)
    details = _details_of(failed)
    if "ErrorInfo" not in details:
        _log.warning("outgoing_call_failed", code=code.name, details=failed.details())
        return kind(_BARE.get(code, f"the called service answered {code.name} without a reason"))
    info, wait = details["ErrorInfo"], details.get("RetryInfo")
    faults = details["BadRequest"].field_violations if "BadRequest" in details else ()
    return kind(
        failed.details() or code.name.lower(),
        reason=info.reason or None,
        metadata=dict(info.metadata),
        violations=[errors.FieldViolation(fault.field, fault.description) for fault in faults],
        retry_after_s=wait.retry_delay.ToTimedelta().total_seconds() if wait else None,
    )


def _details_of(failed: FailedCall) -> dict[str, Any]:  # Any: each detail has a type of its own
    """The details of a failed call by the name of their message; those that cannot be read are left out."""
    packed = next((value for key, value in failed.trailing_metadata() or () if key == DETAILS_KEY), b"")
    found: dict[str, Any] = {}  # Any: as above
    with suppress(DecodeError):
        for detail in status_pb2.Status.FromString(packed).details:
            for message in (error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest(), error_details_pb2.RetryInfo()):
                if detail.Unpack(message):
                    found[message.DESCRIPTOR.name] = message
    return found


def _told(metadata: Mapping[str, str]) -> dict[str, str]:
    """As much of the metadata as fits the headers of an answer, from the first on."""
    told: dict[str, str] = {}
    room = MAX_METADATA_BYTES
    for key, value in metadata.items():
        told[key] = _short(value)
        room -= len(key.encode()) + len(told[key].encode()) + _FIELD_BYTES
        if room < 0:
            del told[key]
            break
    return told


def _faults(violations: Sequence[errors.FieldViolation], *, room: int) -> list[error_details_pb2.BadRequest.FieldViolation]:
    """As many violations as fit the headers of an answer; the last one counts those left out."""
    faults: list[error_details_pb2.BadRequest.FieldViolation] = []
    room -= _REST_BYTES
    for number, fault in enumerate(violations):
        told = error_details_pb2.BadRequest.FieldViolation(field=_short(fault.field), description=_short(fault.description))
        room -= told.ByteSize() + _FIELD_BYTES
        if room < 0:
            rest = f"and {len(violations) - number} more faults; mend these first"
            return [*faults, error_details_pb2.BadRequest.FieldViolation(description=rest)]
        faults.append(told)
    return faults


def _short(text: str) -> str:
    """The text as UTF-8 can carry it, cut to its limit."""
    raw = text.encode("utf-8", "replace")
    if len(raw) <= MAX_TEXT_BYTES:
        return raw.decode()
    return raw[: MAX_TEXT_BYTES - len("…".encode())].decode("utf-8", "ignore") + "…"


def _pushback_ms(seconds: float) -> int:
    return max(MIN_PUSHBACK_MS, round(seconds * 1000))


def _packed(
    message: error_details_pb2.ErrorInfo | error_details_pb2.BadRequest | error_details_pb2.RetryInfo,
) -> AnyMessage:
    packed = AnyMessage()
    packed.Pack(message)
    return packed
