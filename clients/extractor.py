"""The clients of the extractor: one that waits, one for asyncio; both have the same methods."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Self

from loom.artifact.v1 import artifact_pb2

from clients import files
from clients.assembly import Assembly
from clients.binding import async_calls, calls
from clients.connection import AsyncConnection, BlockingConnection, Line
from clients.endpoint import EXTRACTOR_ADDRESS, extractor_peer, parse_endpoint
from clients.requests import extract as extract_requests
from clients.requests.extract import ExtractOptions
from clients.requests.health import health
from clients.results.artifacts import Artifact
from clients.results.ingest import Progress
from clients.stubs import EXTRACTOR


def _line(address: str, *, token: str, ca_file: str | Path | None, timeout_s: float | None) -> Line:
    endpoint = parse_endpoint(address, ca_file=ca_file)
    return Line(endpoint, extractor_peer(endpoint), EXTRACTOR, token=token, timeout_s=timeout_s)


class ExtractorClient:
    """Talks to an extractor and waits for its answers. Safe to use from several threads.

    `address` is `host:port`, or `https://host:port` for TLS; `ca_file` names a certificate authority. `timeout_s` replaces every
    call's own default. Methods raise `clients.LoomError`.
    """

    def __init__(
        self,
        address: str = EXTRACTOR_ADDRESS,
        *,
        token: str = "",
        ca_file: str | Path | None = None,
        timeout_s: float | None = None,
    ) -> None:
        self.connection = BlockingConnection(_line(address, token=token, ca_file=ca_file, timeout_s=timeout_s))

    capabilities = calls(extract_requests.capabilities)
    health = calls(health)

    def extract(
        self,
        data: bytes | str | Path,
        filename: str = "",
        *,
        content_type: str = "",
        options: ExtractOptions | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Artifact:
        """Reads one file. A str is a path; bytes need a filename. Progress is "receive", "queue", "parse" and "send"."""
        file = files.measure(data, filename, content_type=content_type)
        assembly = Assembly(on_progress)
        for part in self.connection.exchange(extract_requests.extract(file, options)):
            assembly.take(part)
        return assembly.finish()

    def resolve(
        self,
        data: bytes | str | Path,
        locator: artifact_pb2.Locator,
        *,
        filename: str = "",
        options: ExtractOptions | None = None,
    ) -> str:
        """Returns the text of a file at a place, such as a hit's or a block's locator."""
        file = files.measure(data, filename)
        return self.connection.upload(extract_requests.resolve(file, locator, options))

    def close(self) -> None:
        """Ends the connection."""
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncExtractorClient:
    """Talks to an extractor under asyncio; arguments and methods are those of `ExtractorClient`."""

    def __init__(
        self,
        address: str = EXTRACTOR_ADDRESS,
        *,
        token: str = "",
        ca_file: str | Path | None = None,
        timeout_s: float | None = None,
    ) -> None:
        self.connection = AsyncConnection(_line(address, token=token, ca_file=ca_file, timeout_s=timeout_s))

    capabilities = async_calls(extract_requests.capabilities)
    health = async_calls(health)

    async def extract(
        self,
        data: bytes | str | Path,
        filename: str = "",
        *,
        content_type: str = "",
        options: ExtractOptions | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Artifact:
        """As `ExtractorClient.extract`; the file is read in a worker thread."""
        file = await asyncio.to_thread(files.measure, data, filename, content_type=content_type)
        assembly = Assembly(on_progress)
        async for part in self.connection.exchange(extract_requests.extract(file, options)):
            assembly.take(part)
        return assembly.finish()

    async def resolve(
        self,
        data: bytes | str | Path,
        locator: artifact_pb2.Locator,
        *,
        filename: str = "",
        options: ExtractOptions | None = None,
    ) -> str:
        """As `ExtractorClient.resolve`."""
        file = await asyncio.to_thread(files.measure, data, filename)
        return await self.connection.upload(extract_requests.resolve(file, locator, options))

    async def close(self) -> None:
        """Ends the connection."""
        await self.connection.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
