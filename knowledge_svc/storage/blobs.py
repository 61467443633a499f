"""Blobs as files named by their SHA-256."""

from __future__ import annotations

import re
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from knowledge_svc.domain.errors import BlobGone
from knowledge_svc.domain.ports import Partial
from knowledge_svc.storage.disk import full_disk_named, sync_folder
from knowledge_svc.storage.spool import SpoolFile

SPOOL_NAME: Final = "spool"
PARTIAL_NAME: Final = "partial"
_SHA256: Final = re.compile(r"[0-9a-f]{64}")


class FileBlobStore:
    """Keeps `ab/abcdef…` below a folder. Bytes are spooled beside it and appear under their hash whole and synced, or not at all.

    Opening it sweeps the spool, which only a dead process can have left: the record's lock keeps the folder to one process. Named
    spool files lie apart and stay until they are whole, or old.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._spool = folder / SPOOL_NAME
        self._partial = folder / PARTIAL_NAME
        self._open: dict[str, SpoolFile] = {}
        self._names_lock = threading.Lock()
        with full_disk_named():
            self._spool.mkdir(parents=True, exist_ok=True)
            self._partial.mkdir(exist_ok=True)
            for left_over in self._spool.iterdir():
                left_over.unlink()

    @contextmanager
    def new_file(self) -> Iterator[SpoolFile]:
        """Opens a spool file that vanishes unless it is kept."""
        spool = SpoolFile.new(self._spool / uuid.uuid4().hex, keep=self.keep)
        try:
            yield spool
        finally:
            spool.discard()

    @contextmanager
    def named_file(self, name: str, *, offset: int) -> Iterator[SpoolFile]:
        """Opens the spool file of a name to go on after `offset` bytes; what it has beyond goes, what is written stays.

        Whoever had it open before writes no more.

        Raises:
            BlobTooShort: it has fewer bytes than `offset`.
        """
        spool = self._opened(name, offset)
        try:
            yield spool
        finally:
            spool.close()
            with self._names_lock:
                if self._open.get(name) is spool:
                    del self._open[name]

    def partial(self, name: str) -> Partial | None:
        """Returns how far the spool file of a name is, None where there is none."""
        try:
            found = self._partial_path(name).stat()
        except FileNotFoundError:
            return None
        return Partial(found.st_size, datetime.fromtimestamp(found.st_mtime, UTC))

    def sweep_partials(self, *, older_than_s: float) -> int:
        """Removes named spool files that nothing was written to for `older_than_s` seconds; returns how many."""
        before = time.time() - older_than_s
        with self._names_lock:
            old = [path for path in self._partial.iterdir() if path.name not in self._open and path.stat().st_mtime < before]
            for path in old:
                path.unlink()
        return len(old)

    def _opened(self, name: str, offset: int) -> SpoolFile:
        with self._names_lock:
            if earlier := self._open.get(name):
                earlier.take_over()
            spool = SpoolFile.after(self._partial_path(name), offset, keep=self.keep)
            self._open[name] = spool
            return spool

    def _partial_path(self, name: str) -> Path:
        if not _SHA256.fullmatch(name):
            raise ValueError(f"the name {name!r} is not 64 hexadecimal digits in lower case")
        return self._partial / name

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


def _gone(sha256: str) -> BlobGone:
    return BlobGone(f"the bytes {sha256} are not stored any more", metadata={"sha256": sha256})
