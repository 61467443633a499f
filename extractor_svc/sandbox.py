"""What a child gives up before it reads a document, layer by layer, and how far each layer holds here."""

from __future__ import annotations

import ctypes
import errno
import math
import os
import resource
import signal
import struct
import sys
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from extractor_svc import landlock, seccomp

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_NO_NEW_PRIVS: Final = 38
_CLONE_NEWUSER: Final = 0x10000000
_CLONE_NEWNET: Final = 0x40000000
_CAPABILITY_VERSION_3: Final = 0x20080522

_OPEN_FILES: Final = 64
_PROCESSES: Final = 4096  # counted over all of a user's threads; new processes are refused by the call filter
_SYSTEM_PATHS: Final = (
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/dev/urandom",
    "/proc/cpuinfo",
    "/sys/devices/system/cpu",
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/share/fonts",
    "/usr/share/zoneinfo",
)


class SandboxMode(StrEnum):
    """How much must hold: `required` refuses to start without every layer, `auto` takes what there is, `off` keeps only limits."""

    REQUIRED = "required"
    AUTO = "auto"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Protection:
    """One layer, whether it is on, and what it does or why it is off."""

    name: str
    on: bool
    detail: str


def isolate(mode: SandboxMode, *, parent_pid: int) -> Protection:
    """Ties the process to its parent's life and takes the network away; to be called before any thread starts.

    Raises:
        ProcessLookupError: the parent is gone already.
    """
    network = _layer("no_network", mode, _leave_network)
    if sys.platform == "linux":
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent_pid:
        raise ProcessLookupError("the parent process is gone")
    return network


def confine(mode: SandboxMode, network: Protection, *, memory_bytes: int) -> tuple[Protection, ...]:
    """Limits what the process may use and do, for good; `memory_bytes` come on top of what it holds now.

    Everything the process needs to have loaded or opened must be by now.
    """
    limits = _limit_resources(memory_bytes)
    privileges = _layer("no_privileges", mode, _drop_capabilities)
    files = _layer("landlock", mode, _restrict_files)
    calls = _layer("seccomp", mode, _filter_calls)
    if calls.on and not network.on:
        network = Protection(network.name, on=True, detail=f"new sockets are refused by seccomp ({network.detail})")
    return limits, network, privileges, files, calls


def limit_cpu(seconds: float) -> None:
    """Bounds the processor time from here on; past it the kernel sends SIGXCPU."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    allowed = math.ceil(used.ru_utime + used.ru_stime + seconds) + 1
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (allowed if hard == resource.RLIM_INFINITY else min(allowed, hard), hard))


def _layer(name: str, mode: SandboxMode, apply: Callable[[], str]) -> Protection:
    """Applies a layer and says what came of it; a layer that cannot be had is off, never an error."""
    if mode is SandboxMode.OFF:
        return Protection(name, on=False, detail="switched off by the configuration")
    if sys.platform != "linux":
        return Protection(name, on=False, detail=f"not available on {sys.platform}")
    try:
        return Protection(name, on=True, detail=apply())
    except OSError as error:
        return Protection(name, on=False, detail=f"not available: {error.strerror}")


def _leave_network() -> str:
    try:
        _unshare(_CLONE_NEWNET)
    except PermissionError:
        _unshare(_CLONE_NEWUSER | _CLONE_NEWNET)
        return "own network and user namespace without an interface"
    return "own network namespace without an interface"


def _limit_resources(memory_bytes: int) -> Protection:
    wanted = {
        resource.RLIMIT_AS: _address_space_bytes() + memory_bytes,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NOFILE: _OPEN_FILES,
        resource.RLIMIT_NPROC: _PROCESSES,
    }
    try:
        for limit, value in wanted.items():
            hard = resource.getrlimit(limit)[1]
            lowest = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(limit, (lowest, lowest))
    except (OSError, ValueError) as error:
        return Protection("rlimits", on=False, detail=f"not available: {error}")
    mib = memory_bytes // (1024 * 1024)
    return Protection("rlimits", on=True, detail=f"{mib} MiB of memory, {_OPEN_FILES} open files, no file written, no core")


def _drop_capabilities() -> str:
    _check_alone()
    header = struct.pack("<Ii", _CAPABILITY_VERSION_3, 0)
    nothing = bytes(24)
    _checked(_libc().capset(header, nothing))
    return "no capabilities and no new privileges"


def _restrict_files() -> str:
    _check_alone()
    known = landlock.restrict(readable_paths())
    return f"version {known}: reads its own code and system libraries, writes nothing"


def _filter_calls() -> str:
    seccomp.install()
    return "no sockets, no new processes, no writing of files, nothing done to other processes"


def readable_paths() -> tuple[Path, ...]:
    """Folders the process goes on reading: Python's own, those its code was loaded from, system libraries, fonts, time zones."""
    python = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    code = {str(Path(file).parent) for module in list(sys.modules.values()) if (file := getattr(module, "__file__", None))}
    return tuple(Path(path) for path in sorted(python | code | set(_SYSTEM_PATHS)) if path)


def _check_alone() -> None:
    """Refuses a layer that would hold in this thread alone while others run."""
    threads = len(list(Path("/proc/self/task").iterdir()))
    if threads > 1:
        raise OSError(errno.EBUSY, f"{threads} threads run already")


def _address_space_bytes() -> int:
    if sys.platform != "linux":
        return 0
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    return pages * resource.getpagesize()


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _prctl(option: int, value: int) -> None:
    _checked(_libc().prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0)))


def _unshare(flags: int) -> None:
    _checked(_libc().unshare(flags))
