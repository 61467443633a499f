"""Files that are whole or not there: written aside, synced, renamed, and checked by size and CRC-32 when read."""

from __future__ import annotations

import errno
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from knowledge_svc.domain.errors import DiskFull

TEMPORARY: Final = ".tmp"
_PIECE: Final = 1 << 20


class DamagedFile(Exception):
    """A file is missing, torn, or not the one that was written."""


@dataclass(frozen=True, slots=True)
class FileStamp:
    """What a file was when it was written."""

    name: str
    size: int
    crc32: int


class StampedWriter:
    """Writes to a file and keeps its size and CRC-32."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size = 0
        self.crc32 = 0

    def write(self, data: bytes) -> int:
        """Appends bytes and returns how many."""
        self._file.write(data)
        self.size += len(data)
        self.crc32 = zlib.crc32(data, self.crc32)
        return len(data)


def write_file(path: Path, fill: Callable[[StampedWriter], object]) -> FileStamp:
    """Writes a file under a temporary name, syncs it and renames it; the folder is synced too.

    Raises:
        DiskFull: the file stands as it was before.
    """
    temporary = path.with_name(path.name + TEMPORARY)
    with _disk_faults():
        with temporary.open("wb") as file:
            writer = StampedWriter(file)
            fill(writer)
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(path)
        sync_folder(path.parent)
    return FileStamp(path.name, writer.size, writer.crc32)


def sync_folder(folder: Path) -> None:
    """Makes the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def check_file(path: Path, stamp: FileStamp) -> None:
    """Reads a file through.

    Raises:
        DamagedFile: it is not what was written.
    """
    crc32 = 0
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size != stamp.size:
                raise DamagedFile(f"{path.name} has another size")
            while piece := file.read(_PIECE):
                crc32 = zlib.crc32(piece, crc32)
    except OSError as error:
        raise DamagedFile(f"{path.name} cannot be read") from error
    if crc32 != stamp.crc32:
        raise DamagedFile(f"{path.name} has another checksum")


@contextmanager
def _disk_faults() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull("the disk is full; free space for the indexes") from error
        raise
