"""Bytes on their way: a document as it comes in and the parts of its artifact before they go out, on disk without a name."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from types import TracebackType
from typing import Final, Self

_IN_MEMORY_BYTES: Final = 1024 * 1024
_AT_ONCE_BYTES: Final = 64 * 1024
"""Bytes up to which a write takes less time than handing it to a thread."""
_COST_OF_A_PART: Final = 512  # so that a flood of empty parts is a flood too


class DocumentSpool:
    """A document's bytes in a file that has no name, so that nothing is left of it however the process ends."""

    def __init__(self, folder: Path) -> None:
        self._descriptor = _nameless_file(folder)
        self._hash = hashlib.sha256()
        self.size_bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        os.close(self._descriptor)

    @property
    def sha256(self) -> str:
        """Hash of what was written so far, in lower-case hex."""
        return self._hash.hexdigest()

    async def write(self, data: bytes) -> None:
        """Appends bytes."""
        self.size_bytes += len(data)
        if len(data) <= _AT_ONCE_BYTES:
            self._write(data)
        else:
            await asyncio.to_thread(self._write, data)

    def open_to_read(self) -> int:
        """A new descriptor of the bytes, to be closed by the caller; it cannot write where the platform can say so."""
        try:
            return os.open(f"/proc/self/fd/{self._descriptor}", os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return os.dup(self._descriptor)

    def _write(self, data: bytes) -> None:
        self._hash.update(data)
        _write_all(self._descriptor, data)


class PartSpool:
    """Packed parts in order, in memory while they are small and in a file without a name past that."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lengths: list[int] = []
        self._held: list[bytes] = []
        self._descriptor: int | None = None
        self.size_bytes = 0
        """What the parts take, with a little for each."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.clear()

    async def append(self, packed: bytes) -> None:
        """Adds one part."""
        self._lengths.append(len(packed))
        self._held.append(packed)
        self.size_bytes += len(packed) + _COST_OF_A_PART
        if self.size_bytes > _IN_MEMORY_BYTES:
            held, self._held = self._held, []
            await asyncio.to_thread(self._spill, held)

    def clear(self) -> None:
        """Forgets the parts so far."""
        self._lengths.clear()
        self._held.clear()
        self.size_bytes = 0
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    async def read(self) -> AsyncIterator[bytes]:
        """Yields the parts from the first."""
        if self._descriptor is None:
            for packed in self._held:
                yield packed
            return
        offset = 0
        for length in self._lengths:
            yield await asyncio.to_thread(os.pread, self._descriptor, length, offset)
            offset += length

    def _spill(self, held: list[bytes]) -> None:
        if self._descriptor is None:
            self._descriptor = _nameless_file(self._folder)
        for packed in held:
            _write_all(self._descriptor, packed)


def _nameless_file(folder: Path) -> int:
    """A file that never has a name, or loses it at once where the file system can make none without."""
    if hasattr(os, "O_TMPFILE"):
        with contextlib.suppress(OSError):
            return os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    descriptor, name = tempfile.mkstemp(dir=folder)
    Path(name).unlink()
    return descriptor


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
