"""The record: one database with one writer, many readers, and a witness of what was acknowledged."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Final, TypeVar

import duckdb
import pyarrow as pa

from knowledge_svc.domain.errors import RecordBehindIndex
from knowledge_svc.domain.model import Scope
from knowledge_svc.storage.change import Change, Counters
from knowledge_svc.storage.database import FOLD_BYTES, Database
from knowledge_svc.storage.disk import full_disk_named
from knowledge_svc.storage.folder import FolderLock
from knowledge_svc.storage.schema import migrate
from knowledge_svc.storage.sql import Connection, Parameters, Row, fetch, fetch_table, run, table_schemas
from knowledge_svc.storage.witness import Acknowledged, DamagedWitness, Witness

T = TypeVar("T")

FILE_NAME: Final = "record.duckdb"
WITNESS_NAME: Final = "WITNESS"
NO_NAMESPACE: Final = 0
"""The id that no namespace has."""
_DATABASE_ID: Final = "SELECT database_id FROM meta"
_NEW_DATABASE_ID: Final = "UPDATE meta SET database_id = uuid()::VARCHAR"
_NAMESPACES: Final = "SELECT namespace_id, org, namespace FROM namespaces"
_SWEEP_STAGED: Final = "DELETE FROM chunks WHERE staged_seq NOT IN (SELECT staged_seq FROM revisions)"
_ENDED: Final = (duckdb.FatalException, duckdb.InterruptException, duckdb.ConnectionException)
"""What a query meets when DuckDB ended, or is started anew under it."""
_log: Final = logging.getLogger(__name__)


class Record:
    """An open data folder. Writes run one at a time in `writing`; reads run on a cursor of the calling thread."""

    def __init__(self, database: Database, witness: Witness, *, lock: FolderLock, clock: Callable[[], datetime]) -> None:
        """Takes an open database that is migrated; `open` is the way in."""
        self.clock: Final = clock
        self._database = database
        self._witness = witness
        self._lock = lock
        self._write_lock = threading.Lock()
        self._behind: RecordBehindIndex | None = None
        self._closed = False
        self._load()
        self._compare_with_witness()
        if self._behind is None:
            run(database.writer, _SWEEP_STAGED)

    @classmethod
    def open(cls, folder: Path, *, dimension: int, clock: Callable[[], datetime]) -> Record:
        """Opens or makes the record of a data folder; a new one holds vectors of `dimension`, an older one keeps its own.

        A record behind its witness opens for reads only. Who accepts the loss removes the file `WITNESS` before the next start.

        Raises:
            DataFolderInUse: another process has it open.
            RecordTooNew: a newer version of this program wrote it.
            DiskFull: there is no room to start.
        """
        with full_disk_named(), ExitStack() as undo:
            folder.mkdir(parents=True, exist_ok=True)
            lock = FolderLock(folder)
            undo.callback(lock.release)
            database = Database(folder / FILE_NAME)
            undo.callback(database.close)
            migrate(database.writer, dimension)
            record = cls(database, Witness(folder / WITNESS_NAME), lock=lock, clock=clock)
            undo.pop_all()
        return record

    @property
    def database_id(self) -> str:
        """The id made with the database, or given to it when it lost its witness."""
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
            change = Change(self._database.writer, self._counters, schemas=self._schemas, namespaces=self._namespaces)
            self._database.writer.begin()
            try:
                yield change
                if change.wrote:
                    change.keep_counters()
            except BaseException:
                self._undo()
                raise
            if change.wrote:
                self._commit(change)
                self._acknowledge(change)
            else:
                self._undo()

    def redefine(self, statements: Sequence[str], *updates: tuple[str, Parameters]) -> None:
        """Changes tables, then rows, as one transaction, and folds the log; for maintenance, while nothing else runs."""
        with self.writing() as change:
            for statement in statements:
                change.define(statement)
            for update, parameters in updates:
                change.run(update, parameters)
        with self._write_lock:
            self._schemas = table_schemas(self._database.writer)
            self._database.fold_log()

    def rows(self, statement: str, parameters: Parameters | None = None) -> list[Row]:
        """Runs a query over the last commit."""
        return self._read(fetch, statement, parameters=parameters)

    def table(self, statement: str, parameters: Parameters | None = None) -> pa.Table:
        """Runs a query over the last commit and returns an Arrow table."""
        return self._read(fetch_table, statement, parameters=parameters)

    def reading(self) -> AbstractContextManager[Connection]:
        """Opens a cursor of its own on which every query of the block sees the same commit."""
        return self._database.reading()

    def namespace_id(self, scope: Scope) -> int:
        """Returns the id of a scope, NO_NAMESPACE where nothing was ever written in it."""
        return self._namespaces.get(scope, NO_NAMESPACE)

    def scope(self, namespace_id: int) -> Scope:
        """Returns the scope of an id."""
        return self._scopes[namespace_id]

    def checkpoint(self) -> None:
        """Folds the write-ahead log into the file, unless the disk has too little room for it."""
        with self._write_lock:
            self._refuse_if_behind()
            self._database.fold_log()

    def close(self) -> None:
        """Folds the log, closes every cursor and gives the folder up; a record that is behind is left as it was found."""
        with self._write_lock:
            if self._closed:
                return
            self._closed = True
            if self._behind is None:
                self._database.fold_log()
            self._database.close()
            self._witness.close()
            self._lock.release()

    def _load(self) -> None:
        writer = self._database.writer
        self._schemas = table_schemas(writer)
        self._counters = Counters.of(writer)
        self._committed = self._witnessed = self._counters.change_seq
        self._database_id = str(fetch(writer, _DATABASE_ID)[0]["database_id"])
        self._scopes = {int(row["namespace_id"]): Scope(row["org"], row["namespace"]) for row in fetch(writer, _NAMESPACES)}
        self._namespaces = {scope: number for number, scope in self._scopes.items()}

    def _compare_with_witness(self) -> None:
        try:
            acknowledged = self._witness.read()
        except DamagedWitness:
            self._go_read_only("unreadable")
            return
        if acknowledged is None:
            self._take_a_new_id()
        elif acknowledged.database_id != self._database_id or acknowledged.change_seq > self._committed:
            self._go_read_only(str(acknowledged.change_seq))
            return
        self._witness.start(Acknowledged(self._database_id, self._committed))

    def _take_a_new_id(self) -> None:
        """Gives a record without a witness a new id, since indexes of its folder may hold what it never acknowledged."""
        run(self._database.writer, _NEW_DATABASE_ID)
        self._database_id = str(fetch(self._database.writer, _DATABASE_ID)[0]["database_id"])

    def _go_read_only(self, acknowledged: str) -> None:
        _log.error("record_behind_witness", extra={"record_change": self._committed, "acknowledged_change": acknowledged})
        self._behind = RecordBehindIndex(
            f"the record ends at change {self._committed}, its witness at {acknowledged}; restore the newest copy of it",
            metadata={"record_change": str(self._committed), "acknowledged_change": acknowledged},
        )

    def _refuse_if_behind(self) -> None:
        if self._behind is not None:
            raise RecordBehindIndex(self._behind.message, metadata=self._behind.metadata)

    def _commit(self, change: Change) -> None:
        """Commits; after an error, what the file then holds decides whether the change took place."""
        try:
            self._database.writer.commit()
        except duckdb.Error:
            self._undo()
            if Counters.of(self._database.writer).change_seq != change.seq:
                raise
            _log.warning("commit_held_after_error", extra={"change": change.seq})

    def _undo(self) -> None:
        """Leaves no transaction open."""
        try:
            with suppress(duckdb.TransactionException):  # a commit that failed leaves none to roll back
                self._database.writer.rollback()
        except duckdb.FatalException:
            self._database.reopen()

    def _read(
        self, query: Callable[[Connection, str, Parameters | None], T], statement: str, *, parameters: Parameters | None
    ) -> T:
        generation = self._database.generation
        try:
            return query(self._database.reader(), statement, parameters)
        except _ENDED as error:
            self._revive(generation, error)
            return query(self._database.reader(), statement, parameters)

    def _revive(self, generation: int, error: duckdb.Error) -> None:
        """Sees that DuckDB was started anew since the generation in which a query ended.

        Raises:
            Error: the query's own, where DuckDB had no reason to start anew.
        """
        with self._write_lock:
            if self._database.generation != generation:
                return
            if not isinstance(error, duckdb.FatalException):
                raise error
            self._database.reopen()

    def _acknowledge(self, change: Change) -> None:
        self._committed = change.seq
        self._namespaces.update(change.new_namespaces)
        self._scopes.update({number: scope for scope, number in change.new_namespaces.items()})
        try:
            self._catch_up_witness()
        except OSError as error:
            # The change is durable and visible; the next one is refused until the witness can be written.
            _log.error("witness_not_written", extra={"change": change.seq, "error": str(error)})
        if self._database.log_bytes() > FOLD_BYTES:
            self._database.fold_log()

    def _catch_up_witness(self) -> None:
        if self._witnessed < self._committed:
            self._witness.write(Acknowledged(self._database_id, self._committed))
            self._witnessed = self._committed
