"""Wraps every call: request id, identity, deadline, errors to statuses, one log event."""

from __future__ import annotations

import asyncio
import contextvars
import re
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import Any, Final

import grpc
import structlog

from services.admission import Admission
from services.auth import OPEN_SERVICES, Guard, enter_identity
from services.deadlines import CallScope, cancelled_from_outside, enter_scope
from services.errors import Internal, LoomError, Unimplemented
from services.handlers import HearOut, RpcHandler, Work, unknown, wrapped
from services.handlers import RpcContext as RpcContext
from services.metrics import CallMetrics
from services.status import code_of, message_of, trailers_of

REQUEST_ID_KEY: Final = "x-request-id"
_SANE_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_log = structlog.get_logger("loom.calls")
_request_id: contextvars.ContextVar[str] = contextvars.ContextVar("loom_request_id", default="")


def current_request_id() -> str:
    """The id of the call being served, empty outside of one."""
    return _request_id.get()


class CallInterceptor(grpc.aio.ServerInterceptor):  # type: ignore[type-arg]  # generic in the stubs only
    """The one interceptor of a server. `domain` is that of its ErrorInfo; without `admission` every call is let in."""

    def __init__(
        self, *, domain: str, guard: Guard, admission: Admission | None = None, metrics: CallMetrics | None = None
    ) -> None:
        self._domain = domain
        self._guard = guard
        self._metrics = metrics or CallMetrics()
        self._admission = admission

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[RpcHandler]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> RpcHandler:
        """Returns the method's handler, wrapped; for a method that is not served, one that says so."""
        handler = await continuation(handler_call_details)
        method = handler_call_details.method
        counted_as = method if handler is not None else "unknown"

        async def around(context: RpcContext, work: Work, hear_out: HearOut) -> Any:  # Any: a response of any method
            return await self._serve(_Call(method, context, counted_as), work, hear_out)

        return unknown(method, around) if handler is None else wrapped(handler, around)

    async def _serve(self, call: _Call, work: Work, hear_out: HearOut) -> Any:  # Any: a response of any method
        """Runs one call; what it raises becomes a status."""
        code, reason = grpc.StatusCode.OK, ""
        try:
            answer = await self._let_in(call, work)
            call.context.set_trailing_metadata((*call.context.trailing_metadata(), (REQUEST_ID_KEY, call.request_id)))
            return answer
        except grpc.aio.AbortError:
            code = call.context.code()
            raise
        except (asyncio.CancelledError, Exception) as error:
            call.stop()
            if isinstance(error, asyncio.CancelledError) and cancelled_from_outside():
                code = call.ended_code()
                raise
            told = call.told(error)
            code, reason = code_of(told), told.code_reason
            if code is not grpc.StatusCode.DEADLINE_EXCEEDED:
                await hear_out()
            await self._abort(call, told)
        finally:
            call.log(code)
            if not call.open:
                self._metrics.ended(call.counted_as, code=code.name, reason=reason, seconds=call.took_s())

    async def _let_in(self, call: _Call, work: Work) -> Any:  # Any: a response of any method
        if call.open:
            return await work()
        identity = self._guard.admit(call.method, tuple(call.context.invocation_metadata() or ()))
        enter_identity(identity)
        if self._admission is None:
            return await work()
        with self._admission.place(identity):
            return await work()

    async def _abort(self, call: _Call, error: LoomError) -> None:
        trailers = (*trailers_of(error, domain=self._domain), (REQUEST_ID_KEY, call.request_id))
        await call.context.abort(code_of(error), message_of(error), trailing_metadata=trailers)


class _Call:
    """One call from its first moment to its last; made in the context that serves it, which from then knows its id and deadline."""

    def __init__(self, method: str, context: RpcContext, counted_as: str) -> None:
        self.method = method
        self.counted_as = counted_as
        self.context = context
        self.open = method.startswith(OPEN_SERVICES)
        self.request_id = _id_of(context)
        self._began = time.monotonic()
        left = context.time_remaining()
        self.scope = CallScope(None if left is None else self._began + left)
        _request_id.set(self.request_id)
        enter_scope(self.scope)

    def stop(self) -> None:
        """Stops the call's work. A hook that fails is a defect of its own and takes nothing from what the caller is told."""
        try:
            self.scope.stop()
        except Exception:
            _log.exception("stop_defect", method=self.method)

    def told(self, error: BaseException) -> LoomError:
        """What the caller is told of an error: of a defect its request id only, the log has the rest."""
        if isinstance(error, NotImplementedError) and self.context.code() is grpc.StatusCode.UNIMPLEMENTED:
            return _unbuilt(self.method)
        if isinstance(error, LoomError) and type(error) is not LoomError and not isinstance(error, Internal):
            return error
        _log.exception("call_defect", method=self.method)
        return _defect(self.request_id)

    def ended_code(self) -> grpc.StatusCode:
        """How a call that was cut short ended: by its deadline or by its caller."""
        return grpc.StatusCode.DEADLINE_EXCEEDED if self.scope.remaining_s() == 0 else grpc.StatusCode.CANCELLED

    def took_s(self) -> float:
        """Seconds since the call began."""
        return time.monotonic() - self._began

    def log(self, code: grpc.StatusCode) -> None:
        """Writes the one event of the call."""
        took = round(self.took_s() * 1000, 1)
        left = self.scope.remaining_s()
        tell = _log.debug if self.open else _log.info
        tell(
            "call",
            method=self.method,
            peer=self.context.peer(),
            code=code.name,
            milliseconds=took,
            deadline_left_s=None if left is None else round(left, 3),
        )


def _id_of(context: RpcContext) -> str:
    """The caller's request id where it is sane, else a new one."""
    for key, value in context.invocation_metadata() or ():
        if key == REQUEST_ID_KEY and isinstance(value, str) and _SANE_ID.fullmatch(value):
            return value
    return uuid.uuid4().hex


def _unbuilt(method: str) -> Unimplemented:
    return Unimplemented(f"{method.rpartition('/')[2]} is declared and not built yet", metadata={"method": method})


def _defect(request_id: str) -> Internal:
    return Internal(
        f"the service met a defect; its log has the details under request id {request_id}", metadata={"request_id": request_id}
    )
