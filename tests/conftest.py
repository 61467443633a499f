"""Fixtures every test may use: both services as processes of their own on free loopback ports."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT / ".." / "shared"
READY_S = 60


@dataclass
class Server:
    """A server process and the address it said it listens on."""

    process: subprocess.Popen[str]
    address: str

    def stop(self) -> int:
        """Ends it as an operator would; returns the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self._reap(30)

    def kill(self) -> None:
        """Ends it at whatever instruction it stands."""
        self.process.kill()
        self._reap(10)

    def _reap(self, timeout: float) -> int:
        try:
            return self.process.wait(timeout)
        finally:
            if self.process.stdout is not None and not self.process.stdout.closed:
                self.process.stdout.close()


def start_server(module: str, *arguments: str, log: Path, environ: dict[str, str] | None = None) -> Server:
    """Starts `python -m module` and waits until it listens."""
    with log.open("ab") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=ROOT,
            env={**os.environ, **(environ or {})},
            start_new_session=True,
        )
    watchdog = threading.Timer(READY_S, process.kill)
    watchdog.start()
    try:
        line = process.stdout.readline()
    finally:
        watchdog.cancel()
    if " listening on " not in line:
        process.wait(10)
        process.stdout.close()
        raise AssertionError(f"{module} did not start: {line!r}\n{log.read_text('utf-8', 'replace')[-4000:]}")
    return Server(process, line.split()[-1])


@dataclass(frozen=True)
class RunningLoom:
    """Both services, up: their addresses and the data folder."""

    knowledge: str
    extractor: str
    data_dir: Path


@pytest.fixture(scope="session")
def running_loom(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLoom]:
    """Both services for the whole run; tests keep apart by namespace."""
    folder = tmp_path_factory.mktemp("loom")
    extractor = start_server("extractor_svc", "--listen", "127.0.0.1:0", log=folder / "extractor.log")
    try:
        knowledge = start_knowledge(folder / "data", extractor.address, log=folder / "knowledge.log")
        try:
            yield RunningLoom(knowledge.address, extractor.address, folder / "data")
        finally:
            assert knowledge.stop() == 0
    finally:
        assert extractor.stop() == 0


def start_knowledge(data_dir: Path, extractor: str, *more: str, log: Path, environ: dict[str, str] | None = None) -> Server:
    """Starts a knowledge service on a data folder."""
    return start_server(
        "knowledge_svc",
        *("--listen", "127.0.0.1:0", "--data-dir", str(data_dir), "--extractor", extractor, "--drain", "0s", *more),
        log=log,
        environ=environ,
    )


@pytest.fixture
def namespace(request: pytest.FixtureRequest) -> str:
    """A namespace of the test's own."""
    return f"t-{abs(hash(request.node.nodeid)):x}"[:40]


@pytest.fixture
def shared() -> Callable[[str], Path]:
    """Names a file of the shared folder; the test is skipped, saying so, where it is not there."""

    def named(path: str) -> Path:
        found = SHARED / path
        if not found.exists():
            pytest.skip(f"the shared folder has no {path} here")
        return found

    return named
