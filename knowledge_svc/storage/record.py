"""The record: one DuckDB file with one writer, many readers, and a witness of what was acknowledged."""

from __future__ import annotations

import logging
import shutil
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Final

import duckdb

from knowledge_svc.domain.errors import RecordBehindIndex
from knowledge_svc.domain.model import Scope
from knowledge_svc.storage.change import Change, Counters
from knowledge_svc.storage.disk import full_disk_named
from knowledge_svc.storage.folder import FolderLock
from knowledge_svc.storage.schema import migrate
from knowledge_svc.storage.sql import Connection, Parameters, Row, fetch, run
from knowledge_svc.storage.witness import Acknowledged, DamagedWitness, Witness

FILE_NAME: Final = "record.duckdb"
WITNESS_NAME: Final = "WITNESS"
NO_NAMESPACE: Final = 0
"""The id that no namespace has."""
_CHECKPOINT_BYTES: Final = 64 << 20
"""Write-ahead log at which it is folded into the file; DuckDB's own threshold is off, since a checkpoint that meets a full
disk shuts its database for reads too."""
_CONFIG: Final[dict[str, str | bool | int | float | list[str]]] = {
    "wal_autocheckpoint": "1TB",
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
_DATABASE_ID: Final = "SELECT database_id FROM meta"
_NEW_DATABASE_ID: Final = "UPDATE meta SET database_id = uuid()::VARCHAR"
_NAMESPACES: Final = "SELECT namespace_id, org, namespace FROM namespaces"
_SWEEP_STAGED: Final = "DELETE FROM chunks WHERE staged_seq NOT IN (SELECT staged_seq FROM revisions)"
_log: Final = logging.getLogger(__name__)


class Record:
    """An open data folder. Writes run one at a time in `writing`; reads run on a cursor of the calling thread."""

    def __init__(self, folder: Path, lock: FolderLock, *, clock: Callable[[], datetime]) -> None:
        self.clock: Final = clock
        self._folder = folder
        self._lock = lock
        self._write_lock = threading.Lock()
        self._local = threading.local()
        self._readers: weakref.WeakSet[Connection] = weakref.WeakSet()
        self._readers_lock = threading.Lock()
        self._witness = Witness(folder / WITNESS_NAME)
        self._witnessed = 0
        self._behind: RecordBehindIndex | None = None
        self._closed = False

    @classmethod
    def open(cls, folder: Path, *, dimension: int, clock: Callable[[], datetime]) -> Record:
        """Opens or makes the record of a data folder; a new one holds vectors of `dimension`, an older one keeps its own.

        A record behind its witness opens for reads only.

        Raises:
            DataFolderInUse: another process has it open.
            RecordTooNew: a newer version of this program wrote it.
        """
        folder.mkdir(parents=True, exist_ok=True)
        lock = FolderLock(folder)
        record = cls(folder, lock, clock=clock)
        try:
            with full_disk_named():
                record._start(dimension)
        except BaseException:
            lock.release()
            raise
        return record

    @property
    def database_id(self) -> str:
        """The id made with the database."""
        return self._database_id

    @property
    def behind(self) -> bool:
        """Whether acknowledged writes are missing, so that every write is refused."""
        return self._behind is not None

    @contextmanager
    def writing(self) -> Iterator[Change]:
        """Runs the block as one transaction, committed, synced and witnessed when the block ends; undone where it raises.

        A block that wrote nothing commits nothing.

        Raises:
            RecordBehindIndex: the record lost acknowledged writes.
            DiskFull: the disk is full; nothing was written.
        """
        with self._write_lock, full_disk_named():
            self._refuse_if_behind()
            self._catch_up_witness()
            change = Change(self._writer, self._counters, namespaces=self._namespaces)
            self._writer.begin()
            try:
                yield change
                if change.wrote:
                    change.keep_counters()
                    self._writer.commit()
            finally:
                self._undo_open_transaction()
            if change.wrote:
                self._acknowledge(change)

    def rows(self, statement: str, parameters: Parameters | None = None) -> list[Row]:
        """Runs a query over the last commit."""
        return fetch(self.reader(), statement, parameters)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Opens a cursor of its own on which every query of the block sees the same commit."""
        cursor = self._cursor()
        cursor.begin()
        try:
            yield cursor
        finally:
            cursor.close()

    def reader(self) -> Connection:
        """Returns the calling thread's cursor."""
        cursor: Connection | None = getattr(self._local, "cursor", None)
        if cursor is None:
            cursor = self._local.cursor = self._cursor()
        return cursor

    def namespace_id(self, scope: Scope) -> int:
        """Returns the id of a scope, NO_NAMESPACE where nothing was ever written in it."""
        return self._namespaces.get(scope, NO_NAMESPACE)

    def scope(self, namespace_id: int) -> Scope:
        """Returns the scope of an id."""
        return self._scopes[namespace_id]

    def checkpoint(self) -> None:
        """Folds the write-ahead log into the file, unless the disk has too little room for it."""
        with self._write_lock:
            self._fold_log()

    def close(self) -> None:
        """Folds the log, closes every cursor and gives the folder up."""
        with self._write_lock:
            if self._closed:
                return
            self._closed = True
            self._fold_log()
            with self._readers_lock:
                for cursor in list(self._readers):
                    cursor.close()
            self._writer.close()
            self._root.close()
            self._witness.close()
            self._lock.release()

    def _start(self, dimension: int) -> None:
        self._root = duckdb.connect(self._folder / FILE_NAME, config=_CONFIG)
        self._writer = self._root.cursor()
        migrate(self._writer, dimension)
        self._database_id = str(fetch(self._writer, _DATABASE_ID)[0]["database_id"])
        self._counters = Counters.of(self._writer)
        self._namespaces = {Scope(r["org"], r["namespace"]): int(r["namespace_id"]) for r in fetch(self._writer, _NAMESPACES)}
        self._scopes = {number: scope for scope, number in self._namespaces.items()}
        self._compare_with_witness()
        if self._behind is None:
            run(self._writer, _SWEEP_STAGED)

    def _compare_with_witness(self) -> None:
        try:
            acknowledged = self._witness.read()
        except DamagedWitness:
            self._go_read_only("unreadable")
            return
        if acknowledged is None:
            self._take_a_new_id()
        elif acknowledged.database_id != self._database_id or acknowledged.change_seq > self._counters.change_seq:
            self._go_read_only(str(acknowledged.change_seq))
            return
        self._committed = self._witnessed = self._counters.change_seq
        self._witness.start(Acknowledged(self._database_id, self._committed))

    def _take_a_new_id(self) -> None:
        """Gives a record without a witness a new id, since indexes of its folder may hold what it never acknowledged."""
        run(self._writer, _NEW_DATABASE_ID)
        self._database_id = str(fetch(self._writer, _DATABASE_ID)[0]["database_id"])

    def _go_read_only(self, acknowledged: str) -> None:
        found = self._counters.change_seq
        _log.error("record_behind_witness", extra={"record_change": found, "acknowledged_change": acknowledged})
        self._behind = RecordBehindIndex(
            f"the record ends at change {found}, its witness at {acknowledged}; restore the newest copy of the data folder",
            metadata={"record_change": str(found), "acknowledged_change": acknowledged},
        )

    def _refuse_if_behind(self) -> None:
        if self._behind is not None:
            raise RecordBehindIndex(self._behind.message, metadata=self._behind.metadata)

    def _acknowledge(self, change: Change) -> None:
        self._committed = change.seq
        self._namespaces.update(change.new_namespaces)
        self._scopes.update({number: scope for scope, number in change.new_namespaces.items()})
        try:
            self._catch_up_witness()
        except OSError as error:
            # The change is durable and visible; the next one is refused until the witness can be written.
            _log.error("witness_not_written", extra={"change": change.seq, "error": str(error)})
        if self._log_bytes() > _CHECKPOINT_BYTES:
            self._fold_log()

    def _catch_up_witness(self) -> None:
        if self._witnessed < self._committed:
            self._witness.write(Acknowledged(self._database_id, self._committed))
            self._witnessed = self._committed

    def _undo_open_transaction(self) -> None:
        with suppress(duckdb.TransactionException):  # after a commit, or one that failed, none is open
            self._writer.rollback()

    def _cursor(self) -> Connection:
        with self._readers_lock:
            cursor = self._root.cursor()
            self._readers.add(cursor)
            return cursor

    def _log_bytes(self) -> int:
        path = self._folder / f"{FILE_NAME}.wal"
        return path.stat().st_size if path.exists() else 0

    def _fold_log(self) -> None:
        log_bytes = self._log_bytes()
        free_bytes = shutil.disk_usage(self._folder).free
        if free_bytes < 2 * log_bytes + _CHECKPOINT_BYTES:
            _log.warning("checkpoint_skipped", extra={"log_bytes": log_bytes, "free_bytes": free_bytes})
            return
        try:
            self._writer.execute("CHECKPOINT").fetchall()
        except duckdb.TransactionException as error:  # a reader is in the way; a later one folds more
            _log.info("checkpoint_postponed", extra={"error": str(error)})
