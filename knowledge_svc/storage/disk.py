"""What the file system says: full disks and durable names."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import duckdb

from knowledge_svc.domain.errors import DiskFull

_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FULL_TEXTS: Final = tuple(os.strerror(number) for number in _FULL)


@contextmanager
def full_disk_named() -> Iterator[None]:
    """Turns the errors of a full disk, quota or file size limit into DiskFull; others pass as they are."""
    try:
        yield
    except (OSError, duckdb.Error) as error:
        if is_full(error):
            raise DiskFull("the disk is full; free space and repeat the call") from error
        raise


def is_full(error: BaseException) -> bool:
    """Whether the error says that the disk takes no more."""
    if isinstance(error, OSError):
        return error.errno in _FULL
    return isinstance(error, duckdb.Error) and any(text in str(error) for text in _FULL_TEXTS)


def sync_file(path: Path) -> None:
    """Makes a file's bytes durable."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Makes new names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
