"""Turns the functions of `clients.requests` into methods of a blocking client and of an asyncio one."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from clients.calls import Call, Pages, Stream
from clients.connection import AsyncConnection, BlockingConnection

P = ParamSpec("P")
R = TypeVar("R")


class Blocking(Protocol):
    """A client that waits."""

    @property
    def connection(self) -> BlockingConnection:
        """Where its calls go."""


class Asynchronous(Protocol):
    """A client under asyncio."""

    @property
    def connection(self) -> AsyncConnection:
        """Where its calls go."""


def calls(build: Callable[P, Call[R]]) -> Callable[Concatenate[Blocking, P], R]:
    """A method that makes the call and returns its answer."""

    @wraps(build)
    def method(self: Blocking, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.connection.run(build(*args, **kwargs))

    return _signed(method, build)


def pages(build: Callable[P, Pages[R]]) -> Callable[Concatenate[Blocking, P], Iterator[R]]:
    """A method that yields the items of a listing."""

    @wraps(build)
    def method(self: Blocking, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[R]:
        return self.connection.pages(build(*args, **kwargs))

    return _signed(method, build)


def streams(build: Callable[P, Stream[R]]) -> Callable[Concatenate[Blocking, P], Iterator[R]]:
    """A method that yields what the server streams."""

    @wraps(build)
    def method(self: Blocking, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[R]:
        return self.connection.stream(build(*args, **kwargs))

    return _signed(method, build)


def async_calls(build: Callable[P, Call[R]]) -> Callable[Concatenate[Asynchronous, P], Awaitable[R]]:
    """As `calls`, to be awaited."""

    @wraps(build)
    async def method(self: Asynchronous, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self.connection.run(build(*args, **kwargs))

    return _signed(method, build)


def async_pages(build: Callable[P, Pages[R]]) -> Callable[Concatenate[Asynchronous, P], AsyncIterator[R]]:
    """As `pages`, for `async for`."""

    @wraps(build)
    def method(self: Asynchronous, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[R]:
        return self.connection.pages(build(*args, **kwargs))

    return _signed(method, build)


def async_streams(build: Callable[P, Stream[R]]) -> Callable[Concatenate[Asynchronous, P], AsyncIterator[R]]:
    """As `streams`, for `async for`."""

    @wraps(build)
    def method(self: Asynchronous, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[R]:
        return self.connection.stream(build(*args, **kwargs))

    return _signed(method, build)


M = TypeVar("M", bound=Callable[..., object])


def _signed(method: M, build: Callable[..., object]) -> M:
    """Gives the method the builder's signature after `self`, as help and editors show it."""
    signature = inspect.signature(build)
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    vars(method)["__signature__"] = signature.replace(parameters=[own, *signature.parameters.values()])
    return method
