"""A format for the service's own tests: a script says what its reader does, from sleeping to attacking the machine.

A child takes it only with `--mock-format`, which no setting of the service passes.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn, TypeAlias

from artifact.locators import LineSpan, Locator
from artifact.model import Artifact, Block, BlockType, Coverage
from extractor_svc import extract as real
from extractor_svc.context import DEFAULT_OPTIONS, Options, Progress, ignore_progress
from extractor_svc.errors import Malformed, ParseTimeout
from extractor_svc.limits import DEFAULT_LIMITS, Limits

SUFFIX: Final = ".mock"

_TEMPORARY: Final = Path(tempfile.gettempdir())

Script: TypeAlias = Mapping[str, Any]  # Any: whatever the test's JSON holds


class MockFormat:
    """Reads scripts, and every other file as the service does; counts what it has read."""

    def __init__(self) -> None:
        self._served = 0

    def extract(
        self,
        content: bytes,
        *,
        filename: str = "",
        content_type: str = "",
        options: Options = DEFAULT_OPTIONS,
        limits: Limits = DEFAULT_LIMITS,
        progress: Progress = ignore_progress,
    ) -> Artifact:
        """Does what the script says and yields a paragraph a text that came of it."""
        self._served += 1
        if not filename.endswith(SUFFIX):
            return real.extract(
                content, filename=filename, content_type=content_type, options=options, limits=limits, progress=progress
            )
        script = json.loads(content)
        if script["do"] == "crash_unless_fresh":
            return _artifact(content, ["fresh"] if self._served == 1 else _crash(script))
        return _artifact(content, ACTIONS[script["do"]](script, progress))

    def resolve(
        self,
        content: bytes,
        locator: Locator,
        *,
        filename: str = "",
        content_type: str = "",
        options: Options = DEFAULT_OPTIONS,
        limits: Limits = DEFAULT_LIMITS,
    ) -> str:
        """Does what the script says and returns the texts that came of it."""
        if not filename.endswith(SUFFIX):
            return real.resolve(content, locator, filename=filename, content_type=content_type, options=options, limits=limits)
        script = json.loads(content)
        return "\n".join(ACTIONS[script["do"]](script, ignore_progress))


def _artifact(content: bytes, texts: Sequence[str]) -> Artifact:
    blocks = [Block(f"b{number}", BlockType.PARAGRAPH, text, LineSpan(1, 1)) for number, text in enumerate(texts, 1)]
    return Artifact("mock", "mock/1", hashlib.sha256(content).hexdigest(), len(content), tuple(blocks), Coverage("line", 1, 1))


def _say(script: Script, _progress: Progress) -> Sequence[str]:
    return [str(script["text"])]


def _sleep(script: Script, _progress: Progress) -> Sequence[str]:
    time.sleep(script["seconds"])
    return [f"slept, pid {os.getpid()}"]


def _drip(_script: Script, progress: Progress) -> NoReturn:
    """Makes progress forever, whatever it is told."""
    done = 0
    while True:
        done += 1
        with contextlib.suppress(ParseTimeout):
            progress("line", done, 0)
        time.sleep(0.05)


def _flood_of_progress(_script: Script, progress: Progress) -> NoReturn:
    while True:
        with contextlib.suppress(ParseTimeout):
            progress("line", 1, 1)


def _endless(_script: Script, progress: Progress) -> NoReturn:
    """Makes progress until it is told that the time is up."""
    done = 0
    while True:
        done += 1
        progress("line", done, 0)
        time.sleep(0.05)


def _pages(_script: Script, progress: Progress) -> Sequence[str]:
    """Reads pages until the time is up and keeps those it has."""
    read: list[str] = []
    with contextlib.suppress(ParseTimeout):
        while True:
            time.sleep(0.05)
            read.append(f"page {len(read) + 1}")
            progress("page", len(read), 1000)
    return read


def _spin(_script: Script, _progress: Progress) -> NoReturn:
    while True:
        pass


def _allocate(_script: Script, _progress: Progress) -> NoReturn:
    held = []
    while True:
        held.append(bytearray(16 * 1024 * 1024))


_kept: Final[list[bytearray]] = []


def _keep(script: Script, _progress: Progress) -> Sequence[str]:
    """Leaks memory."""
    _kept.append(bytearray(os.urandom(1024) * (int(script["megabytes"]) * 1024)))
    return [f"kept, pid {os.getpid()}"]


def _abort_out_of_memory(_script: Script, _progress: Progress) -> NoReturn:
    """Dies as a C++ library does when an allocation fails."""
    print("terminate called after throwing an instance of 'std::bad_alloc'", file=sys.stderr, flush=True)
    os.abort()


def _flood(script: Script, _progress: Progress) -> Sequence[str]:
    """An artifact of any size from little memory: one text many times over."""
    return [("x" * 1_000_000)] * int(script["megabytes"])


def _one_huge_block(script: Script, _progress: Progress) -> Sequence[str]:
    return ["x" * int(script["bytes"])]


def _print(script: Script, _progress: Progress) -> Sequence[str]:
    """Writes to both standard streams, as parsers do."""
    for _ in range(int(script["lines"])):
        print("a line on stdout" * 10)
        print("a line on stderr" * 10, file=sys.stderr)
    return ["printed"]


def _crash(_script: Script, _progress: Progress = ignore_progress) -> NoReturn:
    ctypes.string_at(0)
    raise AssertionError("a null pointer was read")


def _exit(script: Script, _progress: Progress) -> NoReturn:
    os._exit(int(script["status"]))


def _raise(_script: Script, _progress: Progress) -> NoReturn:
    raise KeyError("a secret of the document")


def _refuse(_script: Script, _progress: Progress) -> NoReturn:
    raise Malformed("page 3 is damaged; save the file again", metadata={"page": "3"})


def _garbage(_script: Script, _progress: Progress) -> NoReturn:
    """Writes bytes that are no frame to every descriptor that takes them, as a taken-over parser could."""
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, b"\xff" * 64)
        except OSError:
            continue
    time.sleep(60)
    raise AssertionError("nobody ended this process")


def _attempts(_script: Script, _progress: Progress) -> Sequence[str]:
    """Tries what a child may not do; each text is the attempt's name and how it ended."""
    return [f"{name}: {_outcome(attempt)}" for name, attempt in ATTEMPTS.items()]


def _outcome(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except OSError as error:
        return type(error).__name__
    return "allowed"


def _connect(family: socket.AddressFamily, address: str | tuple[str, int]) -> None:
    with socket.socket(family, socket.SOCK_STREAM) as open_socket:
        open_socket.settimeout(1)
        open_socket.connect(address)


def _fork() -> None:
    if (pid := os.fork()) == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def _replace_itself() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    program = sys.executable.encode()
    libc.execv(program, (ctypes.c_char_p * 3)(program, b"--version", None))
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


ATTEMPTS: Final[dict[str, Callable[[], object]]] = {
    "open a TCP socket": lambda: _connect(socket.AF_INET, ("127.0.0.1", 9)),
    "open a UDP socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close(),
    "open a Unix socket": lambda: _connect(socket.AF_UNIX, "\0loom"),
    "run a program": lambda: subprocess.run([sys.executable, "--version"], check=False),
    "replace itself": _replace_itself,
    "fork": _fork,
    "write a file": lambda: (_TEMPORARY / "loom-escape").write_text("x", "utf-8"),
    "write a file where it runs": lambda: Path("loom-escape").write_text("x", "utf-8"),
    "make a folder": lambda: (_TEMPORARY / "loom-escape").mkdir(),
    "remove a file": lambda: Path(__file__).unlink(),
    "read the password file": lambda: Path("/etc/passwd").read_bytes(),
    "list the temporary folder": lambda: list(_TEMPORARY.iterdir()),
    "read its own environment": lambda: Path("/proc/self/environ").read_bytes(),
    "read the parent's memory map": lambda: Path(f"/proc/{os.getppid()}/maps").read_bytes(),
    "stop the parent": lambda: os.kill(os.getppid(), signal.SIGSTOP),
}

ACTIONS: Final[dict[str, Callable[[Script, Progress], Sequence[str]]]] = {
    "say": _say,
    "sleep": _sleep,
    "drip": _drip,
    "flood_of_progress": _flood_of_progress,
    "endless": _endless,
    "pages": _pages,
    "keep": _keep,
    "spin": _spin,
    "allocate": _allocate,
    "abort_out_of_memory": _abort_out_of_memory,
    "flood": _flood,
    "one_huge_block": _one_huge_block,
    "print": _print,
    "crash": _crash,
    "exit": _exit,
    "raise": _raise,
    "refuse": _refuse,
    "garbage": _garbage,
    "attempts": _attempts,
}
