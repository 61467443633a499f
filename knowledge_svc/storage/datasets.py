"""Reads of the snapshots that serve."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from knowledge_svc.domain.errors import DatasetReplaced
from knowledge_svc.domain.model import DatasetSnapshot, Scope
from knowledge_svc.storage import canonical
from knowledge_svc.storage.codec import dataset_of, dataset_row
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
_SERVING: Final = "SELECT * FROM datasets WHERE snapshot_id = $snapshot AND superseded_at IS NULL"
_SETTLE: Final = """
    UPDATE datasets SET schema_state = $state, clarifications = $clarifications, change_seq = $change WHERE snapshot_id = $snapshot
"""
_RETIRE: Final = "UPDATE datasets SET superseded_at = $at, change_seq = $change WHERE snapshot_id = $snapshot"
_IDS: Final = "SELECT snapshot_id FROM datasets"


class DatasetRows:
    """The part of the `Store` port that is about datasets."""

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

    def replace_dataset(self, snapshot_id: str, snapshot: DatasetSnapshot, *, at: datetime) -> None:
        """Has a snapshot serve in place of the live one with the id, in one transaction; one of the same id is settled anew.

        Raises:
            DatasetReplaced: the snapshot with the id serves no more; nothing was written.
        """
        with self._record.writing() as change:
            found = change.rows(_SERVING, {"snapshot": snapshot_id})
            if not found:
                raise DatasetReplaced(
                    f"snapshot {snapshot_id} of dataset {snapshot.dataset_id} serves no more; review the one that does",
                    metadata={"source_uri": snapshot.source_uri, "dataset_id": snapshot.dataset_id, "snapshot_id": snapshot_id},
                )
            if snapshot.snapshot_id == snapshot_id:
                change.run(_SETTLE, _settled(snapshot) | {"change": change.seq})
                return
            change.run(_RETIRE, {"snapshot": snapshot_id, "at": at, "change": change.seq})
            numbers = {"namespace_id": found[0]["namespace_id"], "staged_seq": found[0]["staged_seq"], "change_seq": change.seq}
            change.insert("datasets", [dataset_row(snapshot, **numbers)])

    def snapshot_ids(self) -> frozenset[str]:
        """Returns the id of every snapshot the record names, retired ones too."""
        return frozenset(row["snapshot_id"] for row in self._record.rows(_IDS))


def _settled(snapshot: DatasetSnapshot) -> dict[str, object]:
    return {
        "snapshot": snapshot.snapshot_id,
        "state": snapshot.schema_state.value,
        "clarifications": canonical.clarifications_text(snapshot.clarifications),
    }
