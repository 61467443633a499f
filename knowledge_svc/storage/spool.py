"""Files that are still being written, hashed as they grow: some vanish with the call that writes them, named ones go on later."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

from knowledge_svc.domain.errors import BlobTooShort, EmptyDocument, UploadTakenOver
from knowledge_svc.storage.disk import full_disk_named

_READ_BYTES: Final = 1024 * 1024

Keep = Callable[[Path, str], None]
"""Moves a synced spool file under its hash."""


class SpoolFile:
    """A file being written. One thread writes; `take_over` may come from another."""

    def __init__(self, path: Path, file: BinaryIO, *, keep: Keep) -> None:
        self._path = path
        self._file = file
        self._keep = keep
        self._hash = hashlib.sha256()
        self._size_bytes = 0
        self._taken_over = False
        self._writing = threading.Lock()

    @classmethod
    def new(cls, path: Path, *, keep: Keep) -> SpoolFile:
        """Makes a file that is not there yet."""
        with full_disk_named():
            return cls(path, path.open("xb"), keep=keep)

    @classmethod
    def after(cls, path: Path, offset: int, *, keep: Keep) -> SpoolFile:
        """Opens a file to go on after some of its bytes, which are read once for the hash; what it has beyond goes.

        Raises:
            BlobTooShort: it has fewer bytes.
        """
        with full_disk_named():
            file = path.open("r+b" if path.exists() else "w+b", buffering=0)
        spool = cls(path, file, keep=keep)
        try:
            spool._read_up_to(offset)
        except BaseException:
            file.close()
            raise
        return spool

    def write(self, data: bytes) -> None:
        """Appends bytes.

        Raises:
            DiskFull: the disk takes no more.
            UploadTakenOver: another stream goes on with the file.
        """
        with self._writing, full_disk_named():
            self._check_own()
            view = memoryview(data)
            while view:
                view = view[self._file.write(view) :]
        self._hash.update(data)
        self._size_bytes += len(data)

    @property
    def size_bytes(self) -> int:
        """Bytes written so far."""
        return self._size_bytes

    @property
    def sha256(self) -> str:
        """Hash of the bytes written so far."""
        return self._hash.hexdigest()

    def keep(self) -> str:
        """Syncs the file, moves it under its hash, and returns the hash.

        Raises:
            EmptyDocument: nothing was written.
            DiskFull: the disk takes no more.
            UploadTakenOver: another stream goes on with the file.
        """
        if not self._size_bytes:
            raise EmptyDocument("the file is empty; upload one that holds bytes")
        with self._writing, full_disk_named():
            self._check_own()
            self._file.flush()
            os.fsync(self._file.fileno())
            self._keep(self._path, self.sha256)
        return self.sha256

    def take_over(self) -> None:
        """Has nothing more written here, since someone else goes on with the file; a write that runs is waited for."""
        with self._writing:
            self._taken_over = True

    def close(self) -> None:
        """Closes the file and leaves it where it is."""
        with suppress(OSError):  # bytes that could not be flushed are missing, as the file's size says
            self._file.close()

    def discard(self) -> None:
        """Closes the file and removes it, unless it was kept or someone else goes on with it."""
        self.close()
        if not self._taken_over:
            self._path.unlink(missing_ok=True)

    def _check_own(self) -> None:
        if self._taken_over:
            raise UploadTakenOver("another stream goes on with this upload")

    def _read_up_to(self, offset: int) -> None:
        left = offset
        while left and (piece := self._file.read(min(left, _READ_BYTES))):
            self._hash.update(piece)
            left -= len(piece)
        if left:
            kept = offset - left
            raise BlobTooShort(f"{kept} bytes are kept, fewer than {offset}", metadata={"kept": str(kept), "offset": str(offset)})
        self._size_bytes = offset
        self._file.seek(offset)
        self._file.truncate(offset)
