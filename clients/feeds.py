"""Hands request messages to gRPC, which would swallow a file's failure while they are made."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import grpc
from google.protobuf.message import Message


class _Failing:
    """Keeps a failure to read the file. The stream is then cut short, and the header's hash makes the server refuse it."""

    def __init__(self, requests: Iterator[Message]) -> None:
        self._requests = requests
        self._failure: OSError | None = None

    @contextmanager
    def checked(self) -> Iterator[None]:
        """Raises the file's failure in place of the server's refusal of a cut stream."""
        try:
            yield
        except grpc.RpcError:
            if self._failure is not None:
                raise self._failure from None
            raise
        if self._failure is not None:
            raise self._failure

    def _pull(self) -> Message | None:
        try:
            return next(self._requests, None)
        except OSError as failure:
            self._failure = failure
            return None


class Feed(_Failing):
    """An iterator for a blocking call; gRPC reads it in a thread of its own."""

    def __iter__(self) -> Feed:
        return self

    def __next__(self) -> Message:
        request = self._pull()
        if request is None:
            raise StopIteration
        return request


class AsyncFeed(_Failing):
    """An asynchronous iterator; the source, which may read a file, runs in a worker thread."""

    def __aiter__(self) -> AsyncFeed:
        return self

    async def __anext__(self) -> Message:
        request = await asyncio.to_thread(self._pull)
        if request is None:
            raise StopAsyncIteration
        return request
