"""Errors to gRPC statuses and back; the one place that knows gRPC's codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.rpc import error_details_pb2, status_pb2

from services import errors

DETAILS_KEY: Final = "grpc-status-details-bin"
PUSHBACK_KEY: Final = "grpc-retry-pushback-ms"
MIN_PUSHBACK_MS: Final = 100
MAX_TEXT: Final = 500
"""Characters of a message or a value in an answer's headers, which hold 8 KiB in all."""
MAX_VIOLATION_BYTES: Final = 3000

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


def code_of(error: errors.LoomError) -> grpc.StatusCode:
    """The gRPC code of an error's kind."""
    return next((code for kind, code in CODES if isinstance(error, kind)), grpc.StatusCode.INTERNAL)


def status_of(error: errors.LoomError, *, domain: str) -> status_pb2.Status:
    """The status of an error: one ErrorInfo, field violations as BadRequest, a wait as RetryInfo."""
    metadata = {key: _short(value) for key, value in error.metadata.items()}
    details = [_packed(error_details_pb2.ErrorInfo(reason=error.code_reason, domain=domain, metadata=metadata))]
    if error.violations:
        details.append(_packed(error_details_pb2.BadRequest(field_violations=_faults(error.violations))))
    if error.retry_after_s is not None:
        wait = Duration()
        wait.FromMilliseconds(_pushback_ms(error.retry_after_s))
        details.append(_packed(error_details_pb2.RetryInfo(retry_delay=wait)))
    return status_pb2.Status(code=code_of(error).value[0], message=message_of(error), details=details)


def message_of(error: errors.LoomError) -> str:
    """An error's message, cut where it would not fit the headers of an answer."""
    return _short(error.message)


def trailers_of(error: errors.LoomError, *, domain: str) -> tuple[tuple[str, str | bytes], ...]:
    """The trailing metadata that carry an error's status."""
    carried: tuple[tuple[str, str | bytes], ...] = ((DETAILS_KEY, status_of(error, domain=domain).SerializeToString()),)
    if error.retry_after_s is None:
        return carried
    return (*carried, (PUSHBACK_KEY, str(_pushback_ms(error.retry_after_s))))


def error_from_rpc(failure: grpc.aio.AioRpcError) -> errors.LoomError:
    """Reads a failed call back into the kind of error that was raised."""
    status = status_pb2.Status()
    trailers: Any = failure.trailing_metadata() or ()  # Any: pairs, whatever the stubs say
    for key, value in trailers:
        if key == DETAILS_KEY and isinstance(value, bytes):
            status.ParseFromString(value)
    info, violations, retry_after_s = error_details_pb2.ErrorInfo(), [], None
    for detail in status.details:
        faults, retry = error_details_pb2.BadRequest(), error_details_pb2.RetryInfo()
        detail.Unpack(info)
        if detail.Unpack(faults):
            violations = [errors.FieldViolation(fault.field, fault.description) for fault in faults.field_violations]
        if detail.Unpack(retry):
            retry_after_s = retry.retry_delay.ToTimedelta().total_seconds()
    kind = _KIND_OF_CODE.get(failure.code(), errors.Internal)
    return kind(
        failure.details() or failure.code().name.lower(),
        reason=info.reason or None,
        metadata=dict(info.metadata),
        violations=violations,
        retry_after_s=retry_after_s,
    )


def _faults(violations: Sequence[errors.FieldViolation]) -> list[error_details_pb2.BadRequest.FieldViolation]:
    """As many violations as fit the headers of an answer; the last one counts those left out."""
    faults: list[error_details_pb2.BadRequest.FieldViolation] = []
    room = MAX_VIOLATION_BYTES
    for number, fault in enumerate(violations):
        told = error_details_pb2.BadRequest.FieldViolation(field=_short(fault.field), description=_short(fault.description))
        room -= told.ByteSize()
        if room < 0:
            rest = f"and {len(violations) - number} more faults; mend these first"
            return [*faults, error_details_pb2.BadRequest.FieldViolation(description=rest)]
        faults.append(told)
    return faults


def _short(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"


def _pushback_ms(seconds: float) -> int:
    return max(MIN_PUSHBACK_MS, round(seconds * 1000))


def _packed(
    message: error_details_pb2.ErrorInfo | error_details_pb2.BadRequest | error_details_pb2.RetryInfo,
) -> AnyMessage:
    packed = AnyMessage()
    packed.Pack(message)
    return packed
