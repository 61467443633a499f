"""Blobs as files named by their SHA-256."""

from __future__ import annotations

import hashlib
import os
import re
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from knowledge_svc.domain.errors import BlobGone, EmptyDocument
from knowledge_svc.storage.disk import full_disk_named, sync_folder

SPOOL_NAME: Final = "spool"
_SHA256: Final = re.compile(r"[0-9a-f]{64}")


class FileBlobStore:
    """Keeps `ab/abcdef…` below a folder. Bytes are spooled beside it and appear under their hash whole and synced, or not at all.

    Opening it sweeps the spool, which only a dead process can have left: the record's lock keeps the folder to one process.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._spool = folder / SPOOL_NAME
        self._names_lock = threading.Lock()
        with full_disk_named():
            self._spool.mkdir(parents=True, exist_ok=True)
            for left_over in self._spool.iterdir():
                left_over.unlink()

    @contextmanager
    def new_file(self) -> Iterator[SpoolFile]:
        """Opens a spool file that vanishes unless it is kept."""
        spool = SpoolFile(self, self._spool / uuid.uuid4().hex)
        try:
            yield spool
        finally:
            spool.discard()

    def put(self, content: bytes) -> str:
        """Keeps bytes and returns their SHA-256.

        Raises:
            EmptyDocument: there are none.
        """
        with self.new_file() as spool:
            spool.write(content)
            return spool.keep()

    def read(self, sha256: str) -> bytes:
        """Returns the bytes.

        Raises:
            BlobGone: they are not stored.
        """
        try:
            return self._path(sha256).read_bytes()
        except FileNotFoundError as error:
            raise _gone(sha256) from error

    def chunks(self, sha256: str, *, size_bytes: int) -> Iterator[bytes]:
        """Yields the bytes in pieces of at most `size_bytes`.

        Raises:
            BlobGone: they are not stored; raised before the first piece.
        """
        try:
            file = self._path(sha256).open("rb")
        except FileNotFoundError as error:
            raise _gone(sha256) from error
        with file:
            while piece := file.read(size_bytes):
                yield piece

    def exists(self, sha256: str) -> bool:
        """Tells whether the bytes are stored."""
        return _SHA256.fullmatch(sha256) is not None and self._path(sha256).exists()

    def sweep(self, *, named: frozenset[str], older_than_s: float) -> int:
        """Removes blobs that no one names and that were not put for `older_than_s` seconds; returns how many."""
        before = time.time() - older_than_s
        removed = 0
        for path in list(self._folder.glob("[0-9a-f][0-9a-f]/*")):
            if path.name not in named:
                removed += self._remove_if_older(path, before)
        return removed

    def _remove_if_older(self, path: Path, before: float) -> bool:
        with self._names_lock:
            if path.stat().st_mtime >= before:
                return False
            path.unlink()
            return True

    def keep(self, spooled: Path, sha256: str) -> None:
        """Moves a synced spool file under its hash; one that is there already counts as put now."""
        path = self._path(sha256)
        with self._names_lock:
            if not path.parent.exists():
                path.parent.mkdir()
                sync_folder(self._folder)
            spooled.rename(path)
            sync_folder(path.parent)

    def _path(self, sha256: str) -> Path:
        if not _SHA256.fullmatch(sha256):
            raise _gone(sha256)
        return self._folder / sha256[:2] / sha256


class SpoolFile:
    """A file being written, hashed as it grows."""

    def __init__(self, store: FileBlobStore, path: Path) -> None:
        self._store = store
        self._path = path
        self._hash = hashlib.sha256()
        self._size_bytes = 0
        with full_disk_named():
            self._file = path.open("xb")

    def write(self, data: bytes) -> None:
        """Appends bytes.

        Raises:
            DiskFull: the disk takes no more.
        """
        with full_disk_named():
            self._file.write(data)
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
        """
        if not self._size_bytes:
            raise EmptyDocument("the file is empty; upload one that holds bytes")
        with full_disk_named():
            self._file.flush()
            os.fsync(self._file.fileno())
            self._store.keep(self._path, self.sha256)
        return self.sha256

    def discard(self) -> None:
        """Closes the file and removes it where it was not kept."""
        with suppress(OSError):  # bytes that could not be flushed go with the file
            self._file.close()
        self._path.unlink(missing_ok=True)


def _gone(sha256: str) -> BlobGone:
    return BlobGone(f"the bytes {sha256} are not stored any more", metadata={"sha256": sha256})
