"""Starts a grpc.aio server, says when it is ready, and stops it without dropping calls."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import grpc
import structlog
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from services.admission import Admission
from services.auth import Guard, Role, TokenFault, TokenTable
from services.errors import FailedPrecondition
from services.interceptor import CallInterceptor
from services.metrics import CallMetrics, Gauge
from services.metrics_port import MetricsPort
from services.settings import Address, Setting, address, choice, duration, optional_address, optional_path, switch, whole
from services.tls import TlsFault, server_credentials

_log = structlog.get_logger("loom.server")

Hook: TypeAlias = Callable[[], Awaitable[None]]
STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
OPTIONS: Final = (
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
    ("grpc.so_reuseport", 0),
)


class CannotListen(FailedPrecondition):
    """The address cannot be listened on, or must not be without credentials."""

    reason = "CANNOT_LISTEN"


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """Where and how a server listens."""

    listen: Address
    tls_cert: Path | None
    tls_key: Path | None
    tls_client_ca: Path | None
    insecure: bool
    tokens: Path | None
    drain_s: float
    grace_s: float
    max_calls: int
    log_format: str
    log_level: str
    max_calls_each: int = 256
    metrics: Address | None = None


def server_settings(prefix: str, *, listen: str) -> tuple[Setting[object], ...]:
    """The settings every server has; `prefix` begins their environment variables, as in `LOOM_EXTRACTOR`."""

    def setting(
        name: str, env: str, read: Callable[[str], object], default: str, about: str, metavar: str = "VALUE"
    ) -> Setting[object]:
        return Setting(name, f"{prefix}_{env}", read, default, about, "server", metavar, switch=read is switch)

    return (
        setting("listen", "LISTEN", address, listen, "address to listen on; port 0 takes a free one", "HOST:PORT"),
        setting("tls_cert", "TLS_CERT", optional_path, "", "certificate chain, PEM", "FILE"),
        setting("tls_key", "TLS_KEY", optional_path, "", "private key of the certificate, PEM", "FILE"),
        setting("tls_client_ca", "TLS_CLIENT_CA", optional_path, "", "demand client certificates of this CA", "FILE"),
        setting("insecure", "INSECURE", switch, "off", "listen beyond loopback without TLS"),
        setting("tokens", "TOKENS", optional_path, "", "lines of: sha256-of-token identity organisation role", "FILE"),
        setting("drain_s", "DRAIN", duration(0, 60), "1s", "wait after going NOT_SERVING, before stopping", "TIME"),
        setting("grace_s", "GRACE", duration(0, 600), "20s", "time running calls have to end", "TIME"),
        setting("max_calls", "MAX_CALLS", whole(1, 100_000), "256", "calls served at once", "N"),
        setting("max_calls_each", "MAX_CALLS_EACH", whole(1, 100_000), "256", "calls served at once for one identity", "N"),
        setting("metrics", "METRICS", optional_address, "", "serve metrics as Prometheus reads them; empty: nowhere", "HOST:PORT"),
        setting("log_format", "LOG_FORMAT", choice("auto", "json", "text"), "auto", "how logs are written: auto, json or text"),
        setting("log_level", "LOG_LEVEL", choice("debug", "info", "warning", "error"), "info", "least level that is logged"),
    )


@dataclass(frozen=True, slots=True)
class Service:
    """A servicer and the full name of its service."""

    name: str
    register: Callable[[grpc.aio.Server], None]


class LoomServer:
    """One server with health, reflection and the call interceptor."""

    def __init__(
        self,
        config: ServerConfig,
        services: Sequence[Service],
        *,
        domain: str,
        minimum: dict[str, Role],
        gauges: Sequence[Gauge] = (),
    ) -> None:
        self._config = config
        self._services = tuple(services)
        self._served = False
        self._health: Any = health.aio.HealthServicer()  # type: ignore[attr-defined]  # its types know the sync one only
        calls = CallMetrics()
        self._metrics = MetricsPort(config.metrics, (*calls.all, *gauges)) if config.metrics else None
        interceptor = CallInterceptor(
            domain=domain,
            guard=Guard(_table(config), minimum),
            admission=Admission(total=config.max_calls, each=config.max_calls_each),
            metrics=calls,
        )
        self._server = grpc.aio.server(interceptors=(interceptor,), options=OPTIONS)

    async def start(self) -> Address:
        """Listens, not yet serving; returns the address with its real port.

        Raises:
            CannotListen: the address is taken, or needs credentials that are not set or do not hold.
        """
        check_exposure(self._config)
        for service in self._services:
            service.register(self._server)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        names = [service.name for service in self._services]
        reflection.enable_server_reflection((*names, health.SERVICE_NAME, reflection.SERVICE_NAME), self._server)
        await self._say(health_pb2.HealthCheckResponse.NOT_SERVING)
        port = self._bind()
        if self._metrics is not None:
            await self._metrics.start()
        await self._server.start()
        return Address(self._config.listen.host, port)

    async def serving(self) -> None:
        """Says that calls are answered from now on."""
        self._served = True
        await self._say(health_pb2.HealthCheckResponse.SERVING)

    async def stop(self, *, at_once: asyncio.Event | None = None) -> None:
        """Goes NOT_SERVING, waits for balancers to notice, then lets running calls end within the grace.

        Both waits end where `at_once` is set meanwhile. A server that never served has no balancer to wait for.
        """
        hurry = at_once or asyncio.Event()
        await self._say(health_pb2.HealthCheckResponse.NOT_SERVING)
        if self._served:
            await _either(hurry.wait(), asyncio.sleep(self._config.drain_s))
        await _either(hurry.wait(), self._server.stop(self._config.grace_s))
        await self._server.stop(None)
        if self._metrics is not None:
            await self._metrics.stop()

    def _bind(self) -> int:
        listen = str(self._config.listen)
        credentials = _credentials(self._config)
        try:
            if credentials is None:
                return self._server.add_insecure_port(listen)
            return self._server.add_secure_port(listen, credentials)
        except RuntimeError as error:
            raise CannotListen(
                f"cannot listen on {listen}; another process may hold the port, or this machine has no such address",
                metadata={"listen": listen},
            ) from error

    async def _say(self, status: health_pb2.HealthCheckResponse.ServingStatus) -> None:
        for name in ("", *(service.name for service in self._services)):
            await self._health.set(name, status)


async def serve_until_stopped(
    server: LoomServer,
    *,
    name: str,
    on_start: Sequence[Hook] = (),
    on_stop: Sequence[Hook] = (),
) -> None:
    """Serves until SIGTERM or SIGINT: listens, runs `on_start` in order, prints that it is ready.

    At the end, whatever ended it, the server is stopped first and then every hook of `on_stop` runs in order. A signal while
    `on_start` runs gives it up; a second signal ends the drain and the grace.
    """
    stop, at_once = asyncio.Event(), asyncio.Event()
    async with AsyncExitStack() as ending:
        ending.enter_context(_signals(stop, at_once))
        for hook in reversed(on_stop):
            ending.push_async_callback(hook)
        bound = await server.start()
        ending.push_async_callback(server.stop, at_once=at_once)
        if await _either(stop.wait(), _each(on_start)):
            return
        await server.serving()
        print(f"{name} listening on {bound}", flush=True)
        _log.info("serving", address=str(bound))
        await stop.wait()
        _log.info("draining")
    _log.info("stopped")


@contextmanager
def _signals(stop: asyncio.Event, at_once: asyncio.Event) -> Iterator[None]:
    """Sets `stop` on the first signal to end and `at_once` on the next."""
    loop = asyncio.get_running_loop()

    def asked() -> None:
        (at_once if stop.is_set() else stop).set()

    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, asked)
    try:
        yield
    finally:
        for number in STOP_SIGNALS:
            loop.remove_signal_handler(number)


async def _each(hooks: Sequence[Hook]) -> None:
    for hook in hooks:
        await hook()


async def _either(event: Awaitable[object], work: Awaitable[object]) -> bool:
    """Waits for one of both and gives the other up; whether the event came first. What the work raises comes through."""
    tasks = (asyncio.ensure_future(event), asyncio.ensure_future(work))
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    if tasks[1].cancelled():
        return True
    tasks[1].result()
    return False


def check_exposure(config: ServerConfig) -> None:
    """Refuses an address beyond loopback without credentials.

    Raises:
        CannotListen: with the settings that are missing.
    """
    if (config.tls_cert is None) != (config.tls_key is None):
        raise CannotListen("a certificate and its key go together; set both --tls-cert and --tls-key")
    if config.tls_client_ca is not None and config.tls_cert is None:
        raise CannotListen("client certificates need TLS; set --tls-cert and --tls-key beside --tls-client-ca")
    if config.metrics is not None and not (config.metrics.loopback or config.insecure):
        listen = str(config.metrics)
        raise CannotListen(
            f"{listen} is not loopback and metrics have no TLS: set --insecure out loud", metadata={"listen": listen}
        )
    if config.listen.loopback:
        return
    missing = []
    if config.tls_cert is None and not config.insecure:
        missing.append("--tls-cert and --tls-key, or --insecure said out loud")
    if config.tokens is None:
        missing.append("--tokens")
    if missing:
        needed = ", and ".join(missing)
        raise CannotListen(f"{config.listen} is not loopback: set {needed}", metadata={"listen": str(config.listen)})


def _table(config: ServerConfig) -> TokenTable | None:
    if config.tokens is None:
        return None
    try:
        return TokenTable.parse(config.tokens.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, TokenFault) as error:
        raise CannotListen(f"the tokens in {config.tokens} do not hold: {error}") from error


def _credentials(config: ServerConfig) -> grpc.ServerCredentials | None:
    """The server's TLS credentials, None where it speaks plain text."""
    if config.tls_cert is None or config.tls_key is None:
        return None
    try:
        return server_credentials(config.tls_cert, config.tls_key, client_ca=config.tls_client_ca)
    except TlsFault as error:
        raise CannotListen(f"the TLS files do not hold: {error}; set a PEM certificate and its own key, unencrypted") from error
