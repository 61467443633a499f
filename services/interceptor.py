"""Wraps every call: request id, identity, deadline, errors to statuses, one log event."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import re
import time
import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final, TypeAlias

import grpc
import structlog

from services.auth import OPEN_SERVICES, Guard, enter_identity
from services.deadlines import CallScope, enter_scope
from services.errors import DeadlineExceeded, Internal, LoomError, Unimplemented
from services.status import code_of, message_of, trailers_of

LINGER_S: Final = 1.0
REQUEST_ID_KEY: Final = "x-request-id"
_SANE_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_log = structlog.get_logger("loom.calls")
_request_id: contextvars.ContextVar[str] = contextvars.ContextVar("loom_request_id", default="")

RpcHandler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"  # Any: requests and responses of every method
RpcContext: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"  # Any: requests and responses of every method
"""The context of a call, as servicers take it."""
Handler: TypeAlias = Callable[[Any, RpcContext], Any]  # Any: as above


def current_request_id() -> str:
    """The id of the call being served, empty outside of one."""
    return _request_id.get()


class CallInterceptor(grpc.aio.ServerInterceptor):  # type: ignore[type-arg]  # generic in the stubs only
    """The one interceptor of a server. `domain` is that of its ErrorInfo."""

    def __init__(self, *, domain: str, guard: Guard) -> None:
        self._domain = domain
        self._guard = guard

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[RpcHandler]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> RpcHandler:
        """Returns the method's handler, wrapped."""
        handler = await continuation(handler_call_details)
        if handler is None:
            return handler
        return self._wrapped(handler, handler_call_details.method)

    def _wrapped(self, handler: RpcHandler, method: str) -> RpcHandler:
        """A handler of the same shape around the inner one."""
        codecs: Any = {  # Any: the stubs of grpc know the sync signatures only
            "request_deserializer": handler.request_deserializer,
            "response_serializer": handler.response_serializer,
        }
        inner: Any = handler  # Any: as above
        match handler.request_streaming, handler.response_streaming:
            case False, False:
                return grpc.unary_unary_rpc_method_handler(self._answering(inner.unary_unary, method), **codecs)
            case False, True:
                return grpc.unary_stream_rpc_method_handler(self._streaming(inner.unary_stream, method), **codecs)
            case True, False:
                return grpc.stream_unary_rpc_method_handler(self._answering(inner.stream_unary, method), **codecs)
            case _:
                return grpc.stream_stream_rpc_method_handler(self._streaming(inner.stream_stream, method), **codecs)

    def _answering(self, inner: Handler, method: str) -> Handler:
        async def call(request: Any, context: RpcContext) -> Any:  # Any: whatever the method takes and gives
            return await self._serve(method, context, lambda: _heard_out(request, _awaited(inner(request, context))))

        return call

    def _streaming(self, inner: Handler, method: str) -> Handler:
        async def call(request: Any, context: RpcContext) -> None:  # Any: whatever the method takes
            await self._serve(method, context, lambda: _heard_out(request, _written(inner(request, context), context)))

        return call

    async def _serve(self, method: str, context: RpcContext, work: Callable[[], Awaitable[Any]]) -> Any:
        """Runs one call; what it raises becomes a status."""
        began = time.monotonic()
        left = context.time_remaining()
        scope = CallScope(None if left is None else began + left)
        request_id = _id_of(context)
        _request_id.set(request_id)
        enter_scope(scope)
        code = grpc.StatusCode.OK
        try:
            enter_identity(self._guard.admit(method, tuple(context.invocation_metadata() or ())))
            context.set_trailing_metadata(((REQUEST_ID_KEY, request_id),))
            return await work()
        except asyncio.CancelledError:
            code = grpc.StatusCode.CANCELLED
            scope.stop()
            raise
        except LoomError as error:
            code = code_of(error)
            await self._abort(context, error, request_id)
        except NotImplementedError:
            code = grpc.StatusCode.UNIMPLEMENTED
            await self._abort(context, _unbuilt(method), request_id)
        except grpc.aio.AbortError:
            code = grpc.StatusCode.UNKNOWN
            raise
        except Exception:
            code = grpc.StatusCode.INTERNAL
            _log.exception("call_defect", method=method)
            await self._abort(context, _defect(request_id), request_id)
        finally:
            took = round((time.monotonic() - began) * 1000, 1)
            tell = _log.debug if method.startswith(OPEN_SERVICES) else _log.info
            tell("call", method=method, peer=context.peer(), code=code.name, milliseconds=took, deadline_left_s=_rounded(scope))

    async def _abort(self, context: RpcContext, error: LoomError, request_id: str) -> None:
        trailers = (*trailers_of(error, domain=self._domain), (REQUEST_ID_KEY, request_id))
        await context.abort(code_of(error), message_of(error), trailing_metadata=trailers)


async def _heard_out(request: Any, work: Awaitable[Any]) -> Any:  # Any: one request, or a stream of them
    """Lets a caller who is refused in the middle of a stream end what it is sending, for a second at most.

    An asyncio client whose write fails reports an internal error in place of the refusal.
    """
    try:
        return await work
    except LoomError as error:
        if hasattr(request, "__aiter__") and not isinstance(error, DeadlineExceeded):
            with suppress(TimeoutError):
                async with asyncio.timeout(LINGER_S):
                    async for _ in request:
                        pass
        raise


async def _awaited(answer: Any) -> Any:  # Any: a response, or the promise of one
    return await answer if inspect.isawaitable(answer) else answer


async def _written(answer: Any, context: RpcContext) -> None:  # Any: a stream of any response
    """Sends a stream's responses; a handler that writes them itself is only awaited."""
    if inspect.isawaitable(answer):
        await answer
        return
    async for response in answer:
        await context.write(response)


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


def _rounded(scope: CallScope) -> float | None:
    left = scope.remaining_s()
    return None if left is None else round(left, 3)
