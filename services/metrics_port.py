"""Answers `GET /metrics` over plain HTTP on a port of its own, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Final

import structlog

from services.errors import FailedPrecondition, LoomError
from services.metrics import CONTENT_TYPE, Metric, exposition
from services.settings import Address

PATH: Final = "/metrics"
MAX_HEAD_BYTES: Final = 8192
PATIENCE_S: Final = 5.0
"""How long a caller may take over its request, and over taking the answer."""

_log = structlog.get_logger("loom.metrics")


class CannotServeMetrics(FailedPrecondition):
    """The address of the metrics cannot be listened on."""

    reason = "CANNOT_LISTEN"


class MetricsPort:
    """A listener for scrapers. Metrics are read in a thread, since some ask the store."""

    def __init__(self, address: Address, metrics: Sequence[Metric]) -> None:
        self._address = address
        self._metrics = tuple(metrics)
        self._server: asyncio.Server | None = None

    async def start(self) -> Address:
        """Listens; returns the address with its real port.

        Raises:
            CannotServeMetrics: the address is taken.
        """
        try:
            self._server = await asyncio.start_server(self._answer, self._address.host, self._address.port, limit=MAX_HEAD_BYTES)
        except OSError as error:
            listen = str(self._address)
            raise CannotServeMetrics(f"cannot serve metrics on {listen}; name another port", metadata={"listen": listen}) from error
        bound = Address(self._address.host, self._server.sockets[0].getsockname()[1])
        _log.info("metrics_served", address=str(bound))
        return bound

    async def stop(self) -> None:
        """Listens no more."""
        if self._server is not None:
            self._server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(await self._reply(head))
                await writer.drain()
        except (TimeoutError, ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            _log.debug("scrape_given_up", error=type(error).__name__)
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _reply(self, head: bytes) -> bytes:
        method, target = (*head.split(b"\r\n", 1)[0].split(b" "), b"", b"")[:2]
        if target.partition(b"?")[0] != PATH.encode():
            return _response(HTTPStatus.NOT_FOUND, f"the metrics stand at {PATH}\n")
        if method not in (b"GET", b"HEAD"):
            return _response(HTTPStatus.METHOD_NOT_ALLOWED, "metrics are read with GET\n")
        try:
            text = await asyncio.to_thread(exposition, self._metrics)
        except (LoomError, OSError) as error:
            _log.warning("metrics_unreadable", error=str(error))
            return _response(HTTPStatus.SERVICE_UNAVAILABLE, "the metrics cannot be read now\n")
        return _response(HTTPStatus.OK, text, body=method == b"GET")


def _response(status: HTTPStatus, text: str, *, body: bool = True) -> bytes:
    content = text.encode()
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\n"
        f"Content-Type: {CONTENT_TYPE}\r\nContent-Length: {len(content)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + (content if body else b"")
