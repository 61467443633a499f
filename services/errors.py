"""The kinds of error a caller can meet; every domain error subclasses one of them and names its reason.

LoomError
├── InvalidArgument       the request, or the document in it, is at fault
├── NotFound              what was named is not there
├── AlreadyExists         what was to be made is there, and differs
├── FailedPrecondition    the state, not the request, is at fault
├── Aborted               lost a race; repeating the call at once can succeed
├── Unauthenticated       no identity, or none that is known
├── PermissionDenied      the identity may not do this
├── ResourceExhausted     busy or over a quota
├── Unavailable           something this needs cannot be reached
├── DeadlineExceeded      took longer than allowed
├── Cancelled             the caller went away
├── Unimplemented         declared in the contract, not built yet
├── DataLoss              stored data is missing or damaged
└── Internal              a defect
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """One field of a request that is at fault: its path, such as `plan.where[0].column`, and what would be valid."""

    field: str
    description: str


class LoomError(Exception):
    """An error with a public message, a reason in capitals, and metadata that repeats every value in the message."""

    reason: ClassVar[str] = "INTERNAL"

    def __init__(
        self,
        message: str,
        *,
        reason: str | None = None,
        metadata: Mapping[str, str] | None = None,
        violations: Sequence[FieldViolation] = (),
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code_reason = reason or self.reason
        self.metadata = dict(metadata or {})
        self.violations = tuple(violations)
        self.retry_after_s = retry_after_s


class InvalidArgument(LoomError):
    """The request, or the document in it, is at fault; the same call will fail again."""

    reason = "INVALID_REQUEST"


class NotFound(LoomError):
    """What was named is not there, or not for this caller."""

    reason = "NOT_FOUND"


class AlreadyExists(LoomError):
    """What was to be made is there already and differs."""

    reason = "ALREADY_EXISTS"


class FailedPrecondition(LoomError):
    """The state, not the request, is at fault; something else has to change first."""

    reason = "PRECONDITION_FAILED"


class Aborted(LoomError):
    """Lost a race; reading again and repeating can succeed at once."""

    reason = "REVISION_CONFLICT"


class Unauthenticated(LoomError):
    """No identity was given, or none that is known."""

    reason = "UNAUTHENTICATED"


class PermissionDenied(LoomError):
    """The identity may not do this."""

    reason = "PERMISSION_DENIED"


class ResourceExhausted(LoomError):
    """Busy or over a quota; `retry_after_s` says when to come back, None that waiting does not help."""

    reason = "OVERLOADED"


class Unavailable(LoomError):
    """Something this needs cannot be reached now."""

    reason = "BACKEND_UNAVAILABLE"


class DeadlineExceeded(LoomError):
    """Took longer than the caller or the server allows."""

    reason = "DEADLINE_EXCEEDED"


class Cancelled(LoomError):
    """The caller went away."""

    reason = "CANCELLED"


class Unimplemented(LoomError):
    """Declared in the contract, not built yet."""

    reason = "UNIMPLEMENTED"


class DataLoss(LoomError):
    """Stored data is missing or damaged."""

    reason = "DATA_LOSS"


class Internal(LoomError):
    """A defect; its details stand in the log only."""

    reason = "INTERNAL"
