"""Reads of the snapshots that serve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from knowledge_svc.domain.model import DatasetSnapshot, Scope
from knowledge_svc.storage.codec import dataset_of
from knowledge_svc.storage.record import Record

_OF_SOURCE: Final = """
    SELECT * FROM datasets WHERE namespace_id = $namespace AND source_uri = $uri AND superseded_at IS NULL ORDER BY ordinal
"""
_PAGE: Final = """
    SELECT * FROM datasets
    WHERE namespace_id = $namespace AND superseded_at IS NULL
        AND (source_uri > $uri OR (source_uri = $uri AND dataset_id > $dataset))
        AND (len($prefixes::VARCHAR[]) = 0 OR list_bool_or([starts_with(source_uri, p) FOR p IN $prefixes::VARCHAR[]]))
    ORDER BY source_uri, dataset_id LIMIT $limit
"""
_IDS: Final = "SELECT snapshot_id FROM datasets"


class DatasetReads:
    """The part of the `Store` port that serves datasets."""

    def __init__(self, record: Record) -> None:
        self._record = record

    def datasets(self, scope: Scope, source_uri: str) -> list[DatasetSnapshot]:
        """Returns the live snapshots of a source in file order; empty where it has none."""
        rows = self._record.rows(_OF_SOURCE, {"namespace": self._record.namespace_id(scope), "uri": source_uri})
        return [dataset_of(row, scope) for row in rows]

    def dataset_page(
        self, scope: Scope, uri_prefixes: Sequence[str], *, after: tuple[str, str], limit: int
    ) -> list[DatasetSnapshot]:
        """Returns live snapshots after (source_uri, dataset_id), in that order."""
        parameters = {
            "namespace": self._record.namespace_id(scope),
            "uri": after[0],
            "dataset": after[1],
            "prefixes": list(uri_prefixes),
            "limit": limit,
        }
        return [dataset_of(row, scope) for row in self._record.rows(_PAGE, parameters)]

    def snapshot_ids(self) -> frozenset[str]:
        """Returns the id of every snapshot the record names, retired ones too."""
        return frozenset(row["snapshot_id"] for row in self._record.rows(_IDS))
