"""One child process as its parent sees it: started, asked, listened to, killed, reaped."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import signal
import socket
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, Self

from extractor_svc.frames import (
    DOCUMENT_MARK,
    HEADER,
    FrameFault,
    Kind,
    Request,
    frame_of,
    read_header,
    ready_of,
)
from extractor_svc.limits import Limits
from extractor_svc.sandbox import Protection, SandboxMode

_ENVIRONMENT: Final = {
    "LC_ALL": "C.UTF-8",
    "ARROW_DEFAULT_MEMORY_POOL": "system",  # other pools reserve address space that the limit counts
    "JE_ARROW_MALLOC_CONF": "background_thread:false",  # Landlock would not hold in that thread
    "MALLOC_ARENA_MAX": "2",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
_STDERR_KEPT: Final = 8192
_SIGNS_OF_NO_MEMORY: Final = (b"bad_alloc", b"MemoryError", b"out of memory", b"malloc failed", b"Cannot allocate memory")
_FATAL: Final = b"Fatal Python error"
_REAP_WITHIN_S: Final = 2.0


class Cause(StrEnum):
    """Why a child is no more."""

    CRASH = "crash"
    MEMORY = "memory"
    TIMEOUT = "timeout"
    OUTPUT = "output"
    CANCELLED = "cancelled"
    WORN = "worn"


class ChildGone(Exception):
    """The child closed its end or does not speak as it should."""


@dataclass(frozen=True, slots=True)
class ChildSettings:
    """How children are started. `extra_arguments` are for the service's own tests."""

    limits: Limits
    sandbox: SandboxMode = SandboxMode.AUTO
    start_timeout_s: float = 30.0
    extra_arguments: tuple[str, ...] = ()


class Child:
    """A started child; `documents` counts what it was asked."""

    def __init__(self, process: asyncio.subprocess.Process, channel: socket.socket) -> None:
        self._process = process
        self._channel = channel
        self._stderr = bytearray()
        self._drain = asyncio.create_task(self._drain_stderr())
        self.pid = process.pid
        self.documents = 0
        self.protections: tuple[Protection, ...] = ()
        self.first_rss_bytes = 0

    @classmethod
    async def start(cls, settings: ChildSettings) -> Self:
        """Starts a child and waits until it is ready to read.

        Raises:
            ChildGone: it ended, was not ready in time, or lacks a protection that is required.
        """
        ours, theirs = socket.socketpair()
        with contextlib.ExitStack() as opened, theirs:
            opened.callback(ours.close)
            process = await _execute(settings, theirs.fileno())
            opened.pop_all()
        ours.settimeout(0.0)
        child = cls(process, ours)
        ready = False
        try:
            async with asyncio.timeout(settings.start_timeout_s):
                await child._await_ready()
            child._check_protections(settings.sandbox)
            ready = True
        except (TimeoutError, FrameFault, ChildGone) as error:
            await child._put_down()
            said = child._stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]  # no document was read yet
            raise ChildGone(f"a reader did not start: {said or error}") from error
        finally:
            if not ready:
                await child._put_down()
        return child

    async def ask(self, request: Request, document: int) -> None:
        """Hands over a document's descriptor and what to do with it."""
        self.documents += 1
        try:
            socket.send_fds(self._channel, [DOCUMENT_MARK], [document])
            await asyncio.get_running_loop().sock_sendall(self._channel, frame_of(request))
        except OSError as error:
            raise ChildGone("the child takes no request") from error

    async def next_frame(self) -> tuple[Kind, bytes]:
        """The next thing the child says.

        Raises:
            ChildGone: it closed its end.
            FrameFault: what it said is no frame.
        """
        await asyncio.sleep(0)  # a child that never stops talking must not hold the loop
        kind, length = read_header(await self._exactly(HEADER.size))
        return kind, await self._exactly(length)

    def kill(self) -> None:
        """Kills the child and all it may have started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    async def close(self) -> None:
        """Waits until the process is gone and lets go of its descriptors; it ends by itself when its socket closes."""
        self._channel.close()
        try:
            async with asyncio.timeout(_REAP_WITHIN_S):
                await self._process.wait()
        except TimeoutError:
            self.kill()
            await self._process.wait()
        await self._drain

    async def cause_of_death(self) -> Cause:
        """Why a child that closed its end did so; it is killed where it still runs."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_REAP_WITHIN_S):
                await self._process.wait()
                await self._drain
        returncode = self._process.returncode
        if returncode == -signal.SIGXCPU:
            return Cause.TIMEOUT
        if returncode == -signal.SIGKILL or any(sign in self._stderr for sign in _SIGNS_OF_NO_MEMORY):
            return Cause.MEMORY
        return Cause.CRASH

    @property
    def running(self) -> bool:
        """Whether the process has not been seen to end."""
        return self._process.returncode is None

    @property
    def returncode(self) -> int | None:
        """How the process ended; negative for a signal, None while it runs."""
        return self._process.returncode

    @property
    def last_words(self) -> str:
        """Python's report of a fatal error (files and lines, no contents), empty where there was none."""
        start = self._stderr.find(_FATAL)
        return self._stderr[start:].decode("utf-8", "replace").strip() if start >= 0 else ""

    def rss_bytes(self) -> int:
        """Memory the child holds now; 0 where the platform does not say."""
        try:
            pages = int(Path(f"/proc/{self.pid}/statm").read_text("ascii").split()[1])
        except OSError:
            return 0
        return pages * resource.getpagesize()

    async def _put_down(self) -> None:
        self.kill()
        await self.close()

    async def _await_ready(self) -> None:
        kind, payload = await self.next_frame()
        if kind is not Kind.READY:
            raise FrameFault(f"a frame of kind {kind.name} before the child is ready")
        self.protections = ready_of(payload).protections
        self.first_rss_bytes = self.rss_bytes()

    def _check_protections(self, mode: SandboxMode) -> None:
        off = [f"{layer.name} ({layer.detail})" for layer in self.protections if not layer.on]
        if off and mode is SandboxMode.REQUIRED:
            raise ChildGone(f"the sandbox is required and protections are off: {', '.join(off)}")

    async def _exactly(self, size: int) -> bytes:
        received = bytearray(size)
        view = memoryview(received)
        loop = asyncio.get_running_loop()
        while view:
            try:
                count = await loop.sock_recv_into(self._channel, view)
            except OSError as error:
                raise ChildGone("the child's socket failed") from error
            if count == 0:
                raise ChildGone("the child closed its end")
            view = view[count:]
        return bytes(received)

    async def _drain_stderr(self) -> None:
        """Reads what parsers print so that they never wait for it, keeping the last of it."""
        stream = self._process.stderr
        while stream is not None and (piece := await stream.read(4096)):
            self._stderr += piece
            del self._stderr[:-_STDERR_KEPT]


async def _execute(settings: ChildSettings, descriptor: int) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *_command(settings, descriptor),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        pass_fds=(descriptor,),
        start_new_session=True,
        cwd="/",
        env=_ENVIRONMENT,
    )


def _command(settings: ChildSettings, descriptor: int) -> Sequence[str]:
    return (
        sys.executable,
        *("-I", "-B", "-X", "utf8", "-X", "faulthandler", "-m", "extractor_svc.worker"),
        *("--channel", str(descriptor)),
        *("--parent", str(os.getpid())),
        *("--limits", json.dumps(asdict(settings.limits))),
        *("--sandbox", settings.sandbox.value),
        *settings.extra_arguments,
    )
