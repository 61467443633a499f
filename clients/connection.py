"""Makes calls over one channel, blocking or under asyncio: metadata, request ids, timeouts and errors are handled here alone."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, TypeVar
from uuid import uuid4

import grpc
from google.protobuf.message import Message

from clients.calls import Call, Exchange, Pages, Stream, Upload
from clients.endpoint import CHANNEL_OPTIONS, Endpoint, require_private_line
from clients.errors import REQUEST_ID_KEY, Peer, from_rpc_error
from clients.feeds import AsyncFeed, Feed
from clients.stubs import Methods, Stubs

R = TypeVar("R")
Metadata: TypeAlias = tuple[tuple[str, str], ...]

MEANWHILE_S: Final = 0.1
"""Between two looks at how far an upload is."""


@dataclass(frozen=True, slots=True)
class Line:
    """What both kinds of connection know: the server, the caller's token and namespace, and how long calls may take.

    `timeout_s` None leaves each call its own default; an empty namespace is the server's default.
    """

    endpoint: Endpoint
    peer: Peer
    stubs: Stubs
    token: str = field(default="", repr=False)
    namespace: str = ""
    timeout_s: float | None = None

    def __post_init__(self) -> None:
        require_private_line(self.endpoint, token=self.token)

    @contextmanager
    def attempt(self) -> Iterator[Metadata]:
        """Gives one call its metadata, with a request id of its own, and turns its failure into a LoomError."""
        request_id = uuid4().hex
        identity = (("authorization", f"Bearer {self.token}"),) if self.token else ()
        try:
            yield (*identity, (REQUEST_ID_KEY, request_id))
        except grpc.RpcError as error:
            raise from_rpc_error(error, self.peer, request_id=request_id) from error

    def timeout_of(self, call: Call[Any] | Pages[Any]) -> float:  # Any: the result's type does not matter here
        """Seconds the call may take."""
        return call.timeout_s if self.timeout_s is None else self.timeout_s

    def addressed(self, request: Message) -> Message:
        """The request, in the connection's namespace where it names none."""
        names = request.DESCRIPTOR.fields_by_name
        fields: Any = request  # Any: which field there is depends on the request
        if self.namespace and "namespace" in names:
            fields.namespace = fields.namespace or self.namespace
        elif self.namespace and "namespaces" in names and not fields.namespaces:
            fields.namespaces.append(self.namespace)
        return request


class BlockingConnection:
    """Makes calls and waits for their answers. Safe to use from several threads."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self._channel = _open_blocking(line.endpoint)
        self._methods = Methods(line.stubs, self._channel)

    def run(self, call: Call[R]) -> R:
        """Makes one call."""
        with self.line.attempt() as metadata:
            send = self._methods[call.method]
            answer = send(self.line.addressed(call.request), timeout=self.line.timeout_of(call), metadata=metadata)
        return call.read(answer)

    def pages(self, call: Pages[R]) -> Iterator[R]:
        """Yields the items of a listing, asking for the next page when the one before is used up."""
        request = self.line.addressed(call.request)
        while True:
            page = self.run(Call(call.method, request, lambda answer: answer, self.line.timeout_of(call)))
            yield from call.read(page)
            if not page.next_page_token:
                return
            request = next_page(request, page.next_page_token)

    def stream(self, call: Stream[R]) -> Iterator[R]:
        """Yields what the server streams; closing the iterator ends the call."""
        with self.line.attempt() as metadata:
            send = self._methods[call.method]
            answers = send(self.line.addressed(call.request), timeout=call.timeout_s, metadata=metadata)
            try:
                yield from map(call.read, answers)
            finally:
                answers.cancel()

    def upload(self, call: Upload[R], *, meanwhile: Callable[[], None] = lambda: None) -> R:
        """Streams requests and reads the one answer; `meanwhile` is called ten times a second, and once at the end."""
        feed, ended = Feed(call.requests), threading.Event()
        with self.line.attempt() as metadata, feed.checked():
            pending = self._methods[call.method].future(feed, timeout=call.timeout_s, metadata=metadata)
            pending.add_done_callback(lambda _: ended.set())
            try:
                while not ended.wait(MEANWHILE_S):
                    meanwhile()
                answer = pending.result()
            finally:
                pending.cancel()
        meanwhile()
        return call.read(answer)

    def exchange(self, call: Exchange[R]) -> Iterator[R]:
        """Streams requests and yields what the server streams back."""
        feed = Feed(call.requests)
        with self.line.attempt() as metadata, feed.checked():
            answers = self._methods[call.method](feed, timeout=call.timeout_s, metadata=metadata)
            try:
                yield from map(call.read, answers)
            finally:
                answers.cancel()

    def close(self) -> None:
        """Ends the connection; calls under way are cancelled."""
        self._channel.close()


class AsyncConnection:
    """Makes calls under asyncio. The channel is opened by the first call, in the loop that makes it."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self._credentials = line.endpoint.credentials()
        self._channel: grpc.aio.Channel | None = None
        self._methods: Methods | None = None

    async def run(self, call: Call[R]) -> R:
        """Makes one call."""
        with self.line.attempt() as metadata:
            send = self._method(call.method)
            answer = await send(self.line.addressed(call.request), timeout=self.line.timeout_of(call), metadata=metadata)
        return call.read(answer)

    async def pages(self, call: Pages[R]) -> AsyncIterator[R]:
        """Yields the items of a listing, asking for the next page when the one before is used up."""
        request = self.line.addressed(call.request)
        while True:
            page = await self.run(Call(call.method, request, lambda answer: answer, self.line.timeout_of(call)))
            for item in call.read(page):
                yield item
            if not page.next_page_token:
                return
            request = next_page(request, page.next_page_token)

    async def stream(self, call: Stream[R]) -> AsyncIterator[R]:
        """Yields what the server streams; closing the iterator ends the call."""
        with self.line.attempt() as metadata:
            send = self._method(call.method)
            answers = send(self.line.addressed(call.request), timeout=call.timeout_s, metadata=metadata)
            try:
                async for answer in answers:
                    yield call.read(answer)
            finally:
                answers.cancel()

    async def upload(self, call: Upload[R], *, meanwhile: Callable[[], None] = lambda: None) -> R:
        """Streams requests and reads the one answer; `meanwhile` is called ten times a second, and once at the end."""
        feed = AsyncFeed(call.requests)
        with self.line.attempt() as metadata, feed.checked():
            pending = asyncio.ensure_future(self._method(call.method)(feed, timeout=call.timeout_s, metadata=metadata))
            try:
                while not (await asyncio.wait([pending], timeout=MEANWHILE_S))[0]:
                    meanwhile()
                answer = await pending
            finally:
                pending.cancel()
        meanwhile()
        return call.read(answer)

    async def exchange(self, call: Exchange[R]) -> AsyncIterator[R]:
        """Streams requests and yields what the server streams back."""
        feed = AsyncFeed(call.requests)
        with self.line.attempt() as metadata, feed.checked():
            answers = self._method(call.method)(feed, timeout=call.timeout_s, metadata=metadata)
            try:
                async for answer in answers:
                    yield call.read(answer)
            finally:
                answers.cancel()

    async def close(self) -> None:
        """Ends the connection; calls under way are cancelled."""
        if self._channel is not None:
            await self._channel.close(None)
            self._channel = self._methods = None

    def _method(self, name: str) -> Any:  # Any: the generated code is untyped
        if self._methods is None:
            self._channel = self._open()
            self._methods = Methods(self.line.stubs, self._channel)
        return self._methods[name]

    def _open(self) -> grpc.aio.Channel:
        if self._credentials:
            return grpc.aio.secure_channel(self.line.endpoint.target, self._credentials, options=CHANNEL_OPTIONS)
        return grpc.aio.insecure_channel(self.line.endpoint.target, options=CHANNEL_OPTIONS)


def next_page(request: Message, token: str) -> Message:
    """A copy of a listing's request that asks for the page the token names."""
    following: Any = type(request)()  # Any: every listing's request has page_token, and no common type
    following.CopyFrom(request)
    following.page_token = token
    copy: Message = following
    return copy


def _open_blocking(endpoint: Endpoint) -> grpc.Channel:
    credentials = endpoint.credentials()
    if credentials:
        return grpc.secure_channel(endpoint.target, credentials, options=CHANNEL_OPTIONS)
    return grpc.insecure_channel(endpoint.target, options=CHANNEL_OPTIONS)
