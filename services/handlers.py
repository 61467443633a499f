"""Puts one function around a method's handler, whichever of the four kinds of call it serves."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, suppress
from typing import Any, Final, TypeAlias

import grpc
from google.protobuf.message import DecodeError

from services.errors import Cancelled, InvalidArgument, Unimplemented

RpcHandler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"  # Any: requests and responses of every method
RpcContext: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"  # Any: requests and responses of every method
"""The context of a call, as servicers take it."""
Work: TypeAlias = Callable[[], Awaitable[Any]]  # Any: a response, or None where responses are streamed
HearOut: TypeAlias = Callable[[], Awaitable[None]]
Around: TypeAlias = Callable[[RpcContext, Work, HearOut], Awaitable[Any]]  # Any: as Work's
"""Runs the work of a call. Before it refuses the call it awaits the hearing-out."""
_Method: TypeAlias = Callable[[Any, RpcContext], Any]  # Any: a servicer's method of whatever kind
_Codec: TypeAlias = Callable[[Any], Any] | None  # Any: bytes to a message or back

LINGER_S: Final = 1.0
"""How long a caller that is refused in the middle of its stream may go on sending."""
SETTLE_S: Final = 0.005
"""How long after the end of a stream a caller that vanished becomes known; within 1.2 ms when tried."""


def wrapped(handler: RpcHandler, around: Around) -> RpcHandler:
    """A handler of the same kind that runs `around` around the method.

    Requests are read here and not by grpc, so that one that is no message of its type is refused like any other fault.
    """
    method: Any = (  # Any: the stubs of grpc know the sync signatures only
        handler.unary_unary or handler.unary_stream or handler.stream_unary or handler.stream_stream
    )
    read: _Codec = handler.request_deserializer
    match handler.request_streaming, handler.response_streaming:
        case False, False:
            return _made(grpc.unary_unary_rpc_method_handler, _answering(method, read, handler.response_serializer, around))
        case True, False:
            return _made(grpc.stream_unary_rpc_method_handler, _collecting(method, read, handler.response_serializer, around))
        case False, True:
            return _made(grpc.unary_stream_rpc_method_handler, _telling(method, read, around), handler.response_serializer)
        case _:
            return _made(grpc.stream_stream_rpc_method_handler, _conversing(method, read, around), handler.response_serializer)


def unknown(method: str, around: Around) -> RpcHandler:
    """A handler for a method that is not served, of whatever kind the caller takes it to be."""

    async def absent() -> None:
        raise Unimplemented(f"there is no method {method} here; list the services by reflection", metadata={"method": method})

    async def call(requests: AsyncIterator[bytes], context: RpcContext) -> None:
        await around(context, absent, lambda: _heard_out(requests))

    return _made(grpc.stream_stream_rpc_method_handler, call)


def _answering(method: _Method, read: _Codec, write: _Codec, around: Around) -> _Method:
    async def call(raw: bytes, context: RpcContext) -> Any:  # Any: bytes, or a response that is not serialised
        async def work() -> Any:  # Any: as above
            return _coded(write, await _awaited(method(_read(read, raw), context)))

        return await around(context, work, _nothing)

    return call


def _collecting(method: _Method, read: _Codec, write: _Codec, around: Around) -> _Method:
    async def call(raws: AsyncIterator[bytes], context: RpcContext) -> Any:  # Any: as in _answering
        async def work() -> Any:  # Any: as in _answering
            return _coded(write, await _awaited(method(_each_read(read, raws), context)))

        return await around(context, work, lambda: _heard_out(raws))

    return call


def _telling(method: _Method, read: _Codec, around: Around) -> _Method:
    async def call(raw: bytes, context: RpcContext) -> None:
        async def work() -> None:
            await _written(method(_read(read, raw), context), context)

        await around(context, work, _nothing)

    return call


def _conversing(method: _Method, read: _Codec, around: Around) -> _Method:
    async def call(raws: AsyncIterator[bytes], context: RpcContext) -> None:
        async def work() -> None:
            await _written(method(_each_read(read, raws), context), context)

        await around(context, work, lambda: _heard_out(raws))

    return call


def _made(kind: Callable[..., RpcHandler], call: _Method, response_serializer: _Codec = None) -> RpcHandler:
    return kind(call, request_deserializer=None, response_serializer=response_serializer)


def _coded(codec: _Codec, value: Any) -> Any:  # Any: bytes or a message
    return value if codec is None else codec(value)


def _read(deserializer: _Codec, raw: bytes) -> Any:  # Any: a request of any method
    try:
        return _coded(deserializer, raw)
    except DecodeError as error:
        raise InvalidArgument("the request is not a message of its type; make it from the published protos") from error


async def _each_read(deserializer: _Codec, raws: AsyncIterator[bytes]) -> AsyncIterator[Any]:  # Any: requests of any method
    """The requests of a stream. Ends only where the caller ended it.

    The stream of a caller that died ends like a whole one, and only then is the call cancelled; so the end waits for that.
    """
    async for raw in raws:
        yield _read(deserializer, raw)
    await asyncio.sleep(SETTLE_S)


async def _heard_out(raws: AsyncIterator[bytes]) -> None:
    """Lets a caller end what it is sending.

    An asyncio client whose write fails reports an internal error in place of the refusal.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGER_S):
            async for _ in raws:
                pass


async def _nothing() -> None:
    """There is nothing more to hear of a single request."""


async def _awaited(answer: Any) -> Any:  # Any: a response, or the promise of one
    return await answer if inspect.isawaitable(answer) else answer


async def _written(answer: Any, context: RpcContext) -> None:  # Any: a stream of any response
    """Sends a stream's responses and closes it, come what may; a handler that writes them itself is only awaited."""
    if inspect.isawaitable(answer):
        await answer
        return
    async with aclosing(answer) as responses:
        async for response in responses:
            await _sent(response, context)


async def _sent(response: Any, context: RpcContext) -> None:  # Any: a response of any method
    try:
        await context.write(response)
    except grpc.aio.InternalError as error:
        raise Cancelled("the caller went away") from error
