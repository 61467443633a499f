"""Runs both services on this machine as children, for `loom serve` and the demo."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, Self

START_TIMEOUT_S: Final = 120.0
STOP_TIMEOUT_S: Final = 45.0
_POLL_S: Final = 0.05
_LISTENING: Final = re.compile(r"\blistening on (\S+)")


class ServingFault(Exception):
    """A service did not start, or ended by itself; the message says which, and how."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where the services keep data, listen and log. Port 0 takes a free one; without a log folder they log to stderr."""

    data_dir: Path
    knowledge: str = "127.0.0.1:7777"
    extractor: str = "127.0.0.1:7778"
    log_dir: Path | None = None


class Child:
    """One service as a child process; its address is known once it says that it listens."""

    def __init__(self, name: str, arguments: Sequence[str], *, log: Path | None, env: Mapping[str, str] | None = None) -> None:
        self.name = name
        self.address = ""
        self._log = log
        self._listens = threading.Event()
        self._process = _spawn([sys.executable, *arguments], log=log, env=env)
        self._reader = threading.Thread(target=self._read, name=f"{name}-output", daemon=True)
        self._reader.start()

    @property
    def exit_code(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        return self._process.poll()

    def wait_until_listening(self, timeout_s: float, stopping: Callable[[], bool]) -> None:
        """Waits until the service says that it listens, or until it is to stop.

        Raises:
            ServingFault: it ended, or said nothing in time.
        """
        end = time.monotonic() + timeout_s
        while not self._listens.wait(_POLL_S) and not stopping():
            if self.exit_code is not None:
                raise ServingFault(f"the {self.name} did not start: it {self.ending()}{self._last_words()}")
            if time.monotonic() > end:
                raise ServingFault(f"the {self.name} does not say that it listens after {timeout_s:g} s{self._last_words()}")

    def ending(self) -> str:
        """How the process ended, as a phrase."""
        code = self.exit_code
        return f"was ended by signal {-code}" if code is not None and code < 0 else f"ended with exit code {code}"

    def stop(self, timeout_s: float) -> None:
        """Asks the service to end, and ends it after `timeout_s`."""
        if self.exit_code is None:
            self._process.terminate()
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(timeout=5)

    def _read(self) -> None:
        output = self._process.stdout
        if output is None:
            return
        with output:
            for line in output:
                match = _LISTENING.search(line)
                if match and not self._listens.is_set():
                    self.address = match[1]
                    self._listens.set()

    def _last_words(self) -> str:
        """The end of the log, where there is one."""
        if self._log is None or not self._log.is_file():
            return ""
        lines = self._log.read_text("utf-8", errors="replace").splitlines()[-5:]
        return "".join(f"\n  {line[:300]}" for line in lines) + f"\n  (all of it: {self._log})"


class LocalServices:
    """The extractor and a knowledge service that sends its files there."""

    def __init__(self, places: Places, *, stopping: Callable[[], bool] = lambda: False) -> None:
        self._places = places
        self._stopping = stopping
        self._children: list[Child] = []

    @property
    def extractor_address(self) -> str:
        """Where the extractor listens."""
        return self._children[0].address

    @property
    def knowledge_address(self) -> str:
        """Where the knowledge service listens."""
        return self._children[1].address

    def start(self) -> None:
        """Starts both and waits until they listen; stops what started where one does not.

        Raises:
            ServingFault: one did not start.
        """
        places = self._places
        if places.log_dir is not None:
            places.log_dir.mkdir(parents=True, exist_ok=True)
        try:
            self._launch("extractor", ["-m", "extractor_svc", "--listen", places.extractor])
            where = ["--data-dir", str(places.data_dir), "--listen", places.knowledge, "--extractor", self.extractor_address]
            if not self._stopping():
                self._launch("knowledge service", ["-m", "knowledge_svc", *where])
        except BaseException:
            self.stop()
            raise

    def ended(self) -> Child | None:
        """A service that ended by itself; None while both run."""
        return next((child for child in self._children if child.exit_code is not None), None)

    def stop(self) -> None:
        """Stops both, the knowledge service first, so that its jobs can finish with the extractor."""
        for child in reversed(self._children):
            child.stop(STOP_TIMEOUT_S)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _launch(self, name: str, arguments: Sequence[str]) -> None:
        log_dir = self._places.log_dir
        child = Child(name, arguments, log=log_dir / f"{name.replace(' ', '-')}.log" if log_dir else None)
        self._children.append(child)
        child.wait_until_listening(START_TIMEOUT_S, self._stopping)


def _spawn(command: Sequence[str], *, log: Path | None, env: Mapping[str, str] | None) -> subprocess.Popen[str]:
    errors: IO[bytes] | None = log.open("wb") if log else None
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=dict(env) if env is not None else None,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
    finally:
        if errors is not None:
            errors.close()
