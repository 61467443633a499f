"""One write transaction of the record: its number, the ids it hands out, and what it writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from knowledge_svc.domain.model import Scope
from knowledge_svc.storage.sql import Connection, Parameters, Row, fetch, insert, insert_one, run

_COUNTERS: Final = "SELECT change_seq, chunk_id, namespace_id, job_seq FROM counters"
_KEEP_COUNTERS: Final = """
    UPDATE counters SET change_seq = $change_seq, chunk_id = $chunk_id, namespace_id = $namespace_id, job_seq = $job_seq
"""


@dataclass(slots=True)
class Counters:
    """The last number given of each kind; numbers only grow, so that none is given twice even after a failed change."""

    change_seq: int
    chunk_id: int
    namespace_id: int
    job_seq: int

    @classmethod
    def of(cls, connection: Connection) -> Counters:
        """Reads the counters as the last commit left them."""
        (row,) = fetch(connection, _COUNTERS)
        return cls(**row)


class Change:
    """What runs between begin and commit; `seq` is the number under which the change becomes visible."""

    def __init__(
        self, connection: Connection, counters: Counters, *, schemas: Mapping[str, pa.Schema], namespaces: Mapping[Scope, int]
    ) -> None:
        self._connection = connection
        self._counters = counters
        self._schemas = schemas
        self._namespaces = namespaces
        self.seq: Final = counters.change_seq + 1
        self.new_namespaces: dict[Scope, int] = {}
        self.wrote = False

    def rows(self, statement: str, parameters: Parameters | None = None) -> list[Row]:
        """Runs a query inside the transaction."""
        return fetch(self._connection, statement, parameters)

    def run(self, statement: str, parameters: Parameters | None = None) -> int:
        """Runs an UPDATE or DELETE and returns how many rows it changed."""
        self._mark()
        return run(self._connection, statement, parameters)

    def define(self, statement: str) -> None:
        """Runs a statement that makes, changes or drops a table."""
        self._mark()
        fetch(self._connection, statement)

    def insert(self, table: str, rows: Sequence[Row]) -> None:
        """Inserts rows that name every column of the table."""
        self._mark()
        if rows:
            insert(self._connection, table, rows, schema=self._schemas[table])

    def insert_one(self, table: str, row: Row) -> None:
        """Inserts a row; columns it does not name are null."""
        self._mark()
        insert_one(self._connection, table, row)

    def namespace_id(self, scope: Scope) -> int:
        """Returns the id of a scope, giving it one on its first write."""
        known = self._namespaces.get(scope) or self.new_namespaces.get(scope)
        if known is not None:
            return known
        self._counters.namespace_id += 1
        given = self._counters.namespace_id
        self.insert_one("namespaces", {"namespace_id": given, "org": scope.org, "namespace": scope.namespace, "last_served": 0})
        self.new_namespaces[scope] = given
        return given

    def chunk_ids(self, count: int) -> tuple[int, ...]:
        """Gives ids that no chunk ever had, ascending."""
        first = self._counters.chunk_id + 1
        self._counters.chunk_id += count
        return tuple(range(first, first + count))

    def job_seq(self) -> int:
        """Gives the next place in the order of jobs."""
        self._counters.job_seq += 1
        return self._counters.job_seq

    def keep_counters(self) -> None:
        """Writes the counters as the transaction's last statement."""
        counters = self._counters
        parameters = {
            "change_seq": counters.change_seq,
            "chunk_id": counters.chunk_id,
            "namespace_id": counters.namespace_id,
            "job_seq": counters.job_seq,
        }
        run(self._connection, _KEEP_COUNTERS, parameters)

    def _mark(self) -> None:
        self.wrote = True
        self._counters.change_seq = self.seq
