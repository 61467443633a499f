"""A view of the file system in which a few folders can be read and nothing else can be done."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_VERSION_ONLY: Final = 1
_PATH_BENEATH: Final = 1
_READ_FILE: Final = 1 << 2
_READ_FOLDER: Final = 1 << 3
_FILE_RIGHTS: Final = {1: 13, 2: 14, 3: 15, 5: 16}  # how many file-system rights each version knows
_NETWORK_RIGHTS: Final = 0b11  # bind and connect over TCP, from version 4
_SCOPES: Final = 0b11  # abstract sockets and signals, from version 6


def version() -> int:
    """The version of Landlock this kernel has.

    Raises:
        OSError: it has none.
    """
    return _syscall(_CREATE_RULESET, None, 0, _VERSION_ONLY)


def restrict(readable: Iterable[Path]) -> int:
    """Leaves this thread, and those it starts, only reading below `readable`; returns the version that holds it.

    New privileges must have been given up before. Paths that do not exist are passed over.

    Raises:
        OSError: the kernel does not have it.
    """
    known = version()
    attributes = _ruleset(known)
    ruleset = _syscall(_CREATE_RULESET, attributes, len(attributes), 0)
    try:
        for path in readable:
            if path.exists():
                _allow_reading(ruleset, path)
        _syscall(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)
    return known


def _ruleset(known: int) -> bytes:
    rights = max(count for least, count in _FILE_RIGHTS.items() if least <= known)
    attributes = struct.pack("<Q", (1 << rights) - 1)
    if known >= 4:
        attributes += struct.pack("<Q", _NETWORK_RIGHTS)
    if known >= 6:
        attributes += struct.pack("<Q", _SCOPES)
    return attributes


def _allow_reading(ruleset: int, path: Path) -> None:
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rights = _READ_FILE | _READ_FOLDER if path.is_dir() else _READ_FILE
        _syscall(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("<Qi", rights, place), 0)
    finally:
        os.close(place)


def _syscall(number: int, *arguments: int | bytes | None) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    passed = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    result = int(libc.syscall(ctypes.c_long(number), *passed))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
