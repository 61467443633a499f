"""DuckDB over one file: a connection that writes, a cursor for each thread that reads, and the write-ahead log beside it."""

from __future__ import annotations

import logging
import re
import shutil
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import duckdb

from knowledge_svc.storage.disk import is_full, sync_file, sync_folder
from knowledge_svc.storage.sql import Connection

FOLD_BYTES: Final = 64 << 20
"""Length at which the log is folded into the file; DuckDB's own threshold is off, since a checkpoint that meets a full disk
ends its database for reads too."""
_CONFIG: Final[dict[str, str | bool | int | float | list[str]]] = {
    "wal_autocheckpoint": "1TB",
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
_KEEP_LOG_AT_CLOSE: Final = "PRAGMA disable_checkpoint_on_shutdown"
_CHECKPOINT: Final = "CHECKPOINT"
_DAMAGE: Final = "replaying WAL file"
_DAMAGED_AT: Final = re.compile(r"byte position (\d+)")
_RETRY_S: Final = 0.001
_log: Final = logging.getLogger(__name__)


class Database:
    """One DuckDB file. Whoever uses `writer`, folds the log or reopens holds the record's write lock."""

    def __init__(self, path: Path) -> None:
        """Opens or makes the file.

        A log that is damaged in its middle is copied aside, and read up to the damage; what is lost then, the witness tells.
        """
        self._path = path
        self._log_path = path.with_name(f"{path.name}.wal")
        self._local = threading.local()
        self._guard = threading.Lock()
        self._cursors: weakref.WeakSet[Connection] = weakref.WeakSet()
        self.generation = 0
        self._connect()

    @property
    def writer(self) -> Connection:
        """The connection that writes."""
        return self._writer

    def reader(self) -> Connection:
        """Returns the calling thread's cursor."""
        if getattr(self._local, "generation", None) != self.generation:
            self._local.cursor, self._local.generation = self._cursor()
        cursor: Connection = self._local.cursor
        return cursor

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Opens a cursor of its own on which every query of the block sees the same commit."""
        cursor, _ = self._cursor()
        cursor.begin()
        try:
            yield cursor
        finally:
            _close(cursor)

    def fold_log(self) -> None:
        """Moves the log into the file, where the disk has room for it and no reader is in the way; a later call does the rest."""
        log_bytes, free_bytes = self.log_bytes(), shutil.disk_usage(self._path.parent).free
        if free_bytes < 2 * log_bytes + FOLD_BYTES:
            _log.warning("checkpoint_skipped", extra={"log_bytes": log_bytes, "free_bytes": free_bytes})
            return
        try:
            self._writer.execute(_CHECKPOINT).fetchall()
        except duckdb.TransactionException as error:
            _log.info("checkpoint_postponed", extra={"error": str(error)})
        except duckdb.FatalException as error:
            _log.error("checkpoint_failed", extra={"error": str(error)})
            self.reopen()

    def log_bytes(self) -> int:
        """Returns the length of the log, 0 where there is none."""
        return self._log_path.stat().st_size if self._log_path.exists() else 0

    def reopen(self) -> None:
        """Starts DuckDB anew on the file after an error that ended it."""
        self.close()
        self._connect()
        _log.warning("database_reopened", extra={"generation": self.generation})

    def close(self) -> None:
        """Closes every connection, interrupting what still runs; the log stays as it is."""
        with self._guard:
            for connection in [*self._cursors, self._writer, self._root]:
                _close(connection)
            self._cursors.clear()

    def _connect(self) -> None:
        try:
            root = duckdb.connect(self._path, config=_CONFIG)
        except duckdb.Error as error:
            if _DAMAGE not in str(error) or is_full(error):
                raise
            self._cut_log(str(error))
            root = duckdb.connect(self._path, config=_CONFIG)
        root.execute(_KEEP_LOG_AT_CLOSE).fetchall()
        with self._guard:
            self._root = root
            self._writer = root.cursor()
            self.generation += 1

    def _cursor(self) -> tuple[Connection, int]:
        with self._guard:
            cursor = self._root.cursor()
            self._cursors.add(cursor)
            return cursor, self.generation

    def _cut_log(self, error: str) -> None:
        """Keeps a copy of a damaged log and cuts it before the damage."""
        place = _DAMAGED_AT.search(error)
        sound_bytes = int(place[1]) if place else 0
        copy = self._log_path.with_name(f"{self._log_path.name}.damaged-{time.time_ns()}")
        shutil.copyfile(self._log_path, copy)
        sync_file(copy)
        sync_folder(copy.parent)
        with self._log_path.open("r+b") as log:
            log.truncate(sound_bytes)
        sync_file(self._log_path)
        _log.error("log_damaged", extra={"sound_bytes": sound_bytes, "copy": copy.name, "error": error})


def _close(connection: Connection) -> None:
    """Closes a connection, interrupting what another thread runs on it."""
    while True:
        try:
            connection.close()
            return
        except duckdb.ResourceInUseException:
            connection.interrupt()
            time.sleep(_RETRY_S)
