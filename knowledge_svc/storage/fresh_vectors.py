"""Vectors of another model, made beside those that serve and put in their place all at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from knowledge_svc.domain.model import Vectors
from knowledge_svc.domain.ports import EmbeddingInput
from knowledge_svc.storage.record import Record

TABLE: Final = "fresh_vectors"
_KNOWN: Final = "SELECT DISTINCT model, len(vector::FLOAT[]) AS dimension FROM fresh_vectors"
_EXISTS: Final = "SELECT 1 FROM duckdb_tables() WHERE table_name = 'fresh_vectors'"
_DROP: Final = "DROP TABLE IF EXISTS fresh_vectors"
_CREATE: Final = "CREATE TABLE fresh_vectors (model VARCHAR, input_hash VARCHAR, vector FLOAT[{dimension}])"
_COUNTS: Final = """
    SELECT (SELECT count(*) FROM fresh_vectors) AS done, (SELECT count(DISTINCT input_hash) FROM chunks) AS total
"""
_MISSING: Final = """
    SELECT input_hash, any_value(context) AS context, any_value(content) AS content FROM chunks
    WHERE input_hash NOT IN (SELECT input_hash FROM fresh_vectors) GROUP BY input_hash ORDER BY input_hash LIMIT $limit
"""
_STALE: Final = "DELETE FROM fresh_vectors WHERE input_hash NOT IN (SELECT input_hash FROM chunks)"
_SWITCH: Final = (
    """
    CREATE TABLE chunks_now AS
        SELECT c.* REPLACE (f.model AS embedding_model, f.vector AS vector)
        FROM chunks c JOIN fresh_vectors f USING (input_hash) ORDER BY c.chunk_id
    """,
    "DROP TABLE chunks",
    "ALTER TABLE chunks_now RENAME TO chunks",
    _DROP,
)
_SET_MODEL: Final = "UPDATE meta SET embedding_model = $model, dimension = $dimension"


class RecordFreshVectors:
    """The `FreshVectors` port on the record. The table of fresh vectors is there only while they are being made."""

    def __init__(self, record: Record) -> None:
        self._record = record

    def begin(self, model: str, *, dimension: int) -> None:
        """Goes on with what was made for this model, or begins anew where there is nothing or another model's."""
        if self._record.rows(_EXISTS):
            known = {(row["model"], row["dimension"]) for row in self._record.rows(_KNOWN)}
            if known == {(model, dimension)}:
                return
        self._record.redefine((_DROP, _CREATE.replace("{dimension}", str(int(dimension)))))

    def counts(self) -> tuple[int, int]:
        """Returns how many inputs have a fresh vector, and how many there are."""
        (row,) = self._record.rows(_COUNTS)
        return int(row["done"]), int(row["total"])

    def missing(self, limit: int) -> list[EmbeddingInput]:
        """Returns inputs that have none yet."""
        rows = self._record.rows(_MISSING, {"limit": limit})
        return [EmbeddingInput(row["input_hash"], row["context"], row["content"]) for row in rows]

    def keep(self, inputs: Sequence[EmbeddingInput], vectors: Vectors, *, model: str) -> None:
        """Writes fresh vectors down."""
        rows = [
            {"model": model, "input_hash": item.input_hash, "vector": np.asarray(vector, dtype=np.float32)}
            for item, vector in zip(inputs, vectors, strict=True)
        ]
        with self._record.writing() as change:
            change.insert(TABLE, rows)

    def switch(self, model: str, *, dimension: int) -> None:
        """Puts the fresh vectors in the place of those that serve, as one change."""
        self._record.redefine((_STALE, *_SWITCH), (_SET_MODEL, {"model": model, "dimension": dimension}))
