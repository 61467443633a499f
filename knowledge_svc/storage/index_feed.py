"""What the indexes are made of: chunks in ascending id, and which of them serve."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from knowledge_svc.domain.model import IndexRows, Scope, section_key
from knowledge_svc.storage.record import Record
from knowledge_svc.storage.sql import Connection, fetch, fetch_table
from knowledge_svc.storage.vectors import vectors_of

BATCH: Final = 10_000
"""Chunks a batch; 15 MB of vectors at 384 numbers each."""

_CHANGE: Final = "SELECT change_seq FROM counters"
_MODEL: Final = "SELECT embedding_model FROM meta"
_SCOPES: Final = "SELECT DISTINCT namespace_id FROM revisions ORDER BY namespace_id"
_LIVE_COUNTS: Final = """
    SELECT namespace_id, sum(chunk_count) AS chunks FROM revisions WHERE superseded_at IS NULL GROUP BY namespace_id
"""
_LIVE_IDS: Final = """
    SELECT c.chunk_id FROM chunks c JOIN revisions r USING (staged_seq)
    WHERE r.namespace_id = $namespace AND r.superseded_at IS NULL ORDER BY c.chunk_id
"""
_IDS: Final = """
    SELECT c.chunk_id FROM chunks c JOIN revisions r USING (staged_seq)
    WHERE r.namespace_id = $namespace AND c.chunk_id > $after ORDER BY c.chunk_id
"""
_ROWS: Final = """
    SELECT c.chunk_id, c.content, c.context, c.keys, c.block_type, r.source_uri, r.tags, coalesce(r.format, '') AS format,
        epoch_us(r.ingested_at) AS ingested_at_us, r.superseded_at IS NULL AS live, r.doc_id, c.section_path
    FROM chunks c JOIN revisions r USING (staged_seq)
    WHERE r.namespace_id = $namespace AND c.chunk_id BETWEEN $first AND $last ORDER BY c.chunk_id
"""
_ROWS_AND_VECTORS: Final = """
    SELECT c.chunk_id, c.content, c.context, c.keys, c.block_type, r.source_uri, r.tags, coalesce(r.format, '') AS format,
        epoch_us(r.ingested_at) AS ingested_at_us, r.superseded_at IS NULL AS live, r.doc_id, c.section_path, c.vector
    FROM chunks c JOIN revisions r USING (staged_seq)
    WHERE r.namespace_id = $namespace AND c.chunk_id BETWEEN $first AND $last ORDER BY c.chunk_id
"""


class IndexFeed:
    """The part of the `Store` port that indexes are built from."""

    def __init__(self, record: Record) -> None:
        self._record = record

    def scopes(self) -> list[Scope]:
        """Returns every scope that ever held a document."""
        return [self._record.scope(row["namespace_id"]) for row in self._record.rows(_SCOPES)]

    def database_id(self) -> str:
        """Returns the id made with the database; indexes of another one are not read."""
        return self._record.database_id

    def embedding_model(self) -> str:
        """Returns the model that made the record's vectors, empty while there are none."""
        return str(self._record.rows(_MODEL)[0]["embedding_model"])

    def live_counts(self) -> dict[Scope, int]:
        """Returns how many chunks serve in each scope that has any."""
        return {self._record.scope(row["namespace_id"]): int(row["chunks"]) for row in self._record.rows(_LIVE_COUNTS)}

    def live_chunk_ids(self, scope: Scope) -> tuple[npt.NDArray[np.int64], int]:
        """Returns the ids that serve, ascending, and the change number they are as of."""
        with self._record.reading() as cursor:
            change_seq = _change_seq(cursor)
            found = fetch_table(cursor, _LIVE_IDS, {"namespace": self._record.namespace_id(scope)})
            return _integers(found, "chunk_id"), change_seq

    def index_rows(self, scope: Scope, *, after_chunk_id: int, vectors: bool) -> Iterator[IndexRows]:
        """Yields the published or retired chunks with a greater id in batches, ascending; staged ones are left out.

        All batches are of one moment.
        """
        with self._record.reading() as cursor:
            change_seq = _change_seq(cursor)
            namespace_id = self._record.namespace_id(scope)
            ids = _integers(fetch_table(cursor, _IDS, {"namespace": namespace_id, "after": after_chunk_id}), "chunk_id")
            for start, end in pairwise([*range(0, len(ids), BATCH), len(ids)]):
                parameters = {"namespace": namespace_id, "first": int(ids[start]), "last": int(ids[end - 1])}
                found = fetch_table(cursor, _ROWS_AND_VECTORS if vectors else _ROWS, parameters)
                yield _index_rows(found, change_seq=change_seq)


def _index_rows(found: pa.Table, *, change_seq: int) -> IndexRows:
    return IndexRows(
        chunk_ids=_integers(found, "chunk_id"),
        source_uris=tuple(found.column("source_uri").to_pylist()),
        tags=_lists(found, "tags"),
        formats=tuple(found.column("format").to_pylist()),
        block_types=tuple(found.column("block_type").to_pylist()),
        ingested_at_us=_integers(found, "ingested_at_us"),
        sections=tuple(map(section_key, found.column("doc_id").to_pylist(), _lists(found, "section_path"))),
        contents=tuple(found.column("content").to_pylist()),
        contexts=tuple(found.column("context").to_pylist()),
        keys=_lists(found, "keys"),
        live=found.column("live").to_numpy().astype(np.bool_),
        vectors=vectors_of(found.column("vector")) if "vector" in found.column_names else None,
        change_seq=change_seq,
    )


def _change_seq(cursor: Connection) -> int:
    return int(fetch(cursor, _CHANGE)[0]["change_seq"])


def _integers(table: pa.Table, column: str) -> npt.NDArray[np.int64]:
    return np.ascontiguousarray(table.column(column).to_numpy(), dtype=np.int64)


def _lists(table: pa.Table, column: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(values) for values in table.column(column).to_pylist())
