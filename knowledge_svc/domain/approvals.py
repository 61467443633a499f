"""Answers to what a dataset's schema left open: approved as it is, or with columns read as other types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Protocol

from artifact.model import ColumnType, Dataset
from knowledge_svc.domain.errors import DatasetNotFound, DatasetReplaced
from knowledge_svc.domain.ingest_pass import SnapshotWriter
from knowledge_svc.domain.model import DatasetSnapshot, SchemaState, Scope
from knowledge_svc.domain.plan_faults import unknown_name
from knowledge_svc.domain.ports import Store
from services.errors import FieldViolation, InvalidArgument

UNANSWERABLE: Final = "past_capacity"
"""The one clarification that stays after an approval: columns that are not held."""


class Retyper(Protocol):
    """Reads columns of datasets as other types."""

    def retype(self, dataset: Dataset, types: Mapping[str, ColumnType]) -> Dataset:
        """Returns the dataset with columns read as other types; rows that do not fit are rejected."""

    def convertible(self, kind: ColumnType) -> tuple[ColumnType, ...]:
        """The types that a column of this type can be read as."""


class StoredDatasets(Protocol):
    """Datasets as they were extracted."""

    def dataset(self, artifact_sha256: str, dataset_id: str) -> Dataset:
        """Returns a dataset of a stored artifact.

        Raises:
            BlobGone: the artifact is not stored any more.
            DatasetNotFound: it has no such dataset.
        """


@dataclass(frozen=True, slots=True)
class Approved:
    """The snapshot that serves now, and whether its rows were read anew."""

    snapshot: DatasetSnapshot
    retyped: bool


class DatasetApprovals:
    """Approves schemas. The snapshot that was reviewed has to serve still when the answer is written down."""

    def __init__(
        self, store: Store, stored: StoredDatasets, retyper: Retyper, snapshots: SnapshotWriter, *, clock: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._stored = stored
        self._retyper = retyper
        self._snapshots = snapshots
        self._clock = clock

    def approve(
        self, scope: Scope, source_uri: str, dataset_id: str, *, snapshot_id: str, types: Mapping[str, ColumnType]
    ) -> Approved:
        """Settles the schema of a live dataset; new types make a new snapshot of the stored extraction.

        Raises:
            DatasetNotFound: no such dataset is live.
            DatasetReplaced: another snapshot serves than the one that was reviewed.
            InvalidArgument: a column is unknown, is not held, or cannot be read as the type.
            BlobGone: the extraction is not stored any more.
        """
        reviewed = self._reviewed(scope, source_uri, dataset_id, snapshot_id)
        self._check_types(reviewed, types)
        now = self._clock()
        if all(types.get(column.name, column.type) is column.type for column in reviewed.columns):
            snapshot = approved(reviewed)
            self._store.replace_dataset(snapshot_id, snapshot, at=now)
            return Approved(snapshot, retyped=False)
        snapshot = approved(self._retyped(reviewed, types, now))
        self._store.replace_dataset(snapshot_id, snapshot, at=now)
        return Approved(snapshot, retyped=True)

    def _reviewed(self, scope: Scope, source_uri: str, dataset_id: str, snapshot_id: str) -> DatasetSnapshot:
        live = next((one for one in self._store.datasets(scope, source_uri) if one.dataset_id == dataset_id), None)
        if live is None:
            raise DatasetNotFound(
                f"no live dataset {dataset_id} stands at {source_uri}",
                metadata={"source_uri": source_uri, "dataset_id": dataset_id},
            )
        if live.snapshot_id != snapshot_id:
            raise replaced(live, snapshot_id)
        return live

    def _check_types(self, reviewed: DatasetSnapshot, types: Mapping[str, ColumnType]) -> None:
        held = {column.name: column.type for column in reviewed.columns if column.stored}
        violations = []
        for name, wanted in types.items():
            field = f'columns["{name}"]'
            if name not in held:
                violations.append(FieldViolation(field, unknown_name("column", name, held)))
            elif wanted not in self._retyper.convertible(held[name]):
                names = ", ".join(self._retyper.convertible(held[name]))
                violations.append(FieldViolation(field, f"a {held[name]} column is not read as {wanted}; it is as {names}"))
        if violations:
            first = violations[0]
            raise InvalidArgument(f"{first.field}: {first.description}", violations=violations)

    def _retyped(self, reviewed: DatasetSnapshot, types: Mapping[str, ColumnType], now: datetime) -> DatasetSnapshot:
        document = self._store.document(reviewed.scope, reviewed.source_uri)
        dataset = self._stored.dataset(document.artifact_sha256, reviewed.dataset_id)
        wanted = {column.name: column.type for column in reviewed.columns if column.stored} | dict(types)
        return self._snapshots.write(
            self._retyper.retype(dataset, different(dataset, wanted)),
            scope=reviewed.scope,
            source_uri=reviewed.source_uri,
            revision=reviewed.revision,
            ordinal=reviewed.ordinal,
            published_at=now,
        )


@dataclass(frozen=True, slots=True)
class Carried:
    """A dataset of a new revision, read as an approval of the revision before says."""

    dataset: Dataset
    is_approved: bool


def carry_over(datasets: Sequence[Dataset], live: Sequence[DatasetSnapshot], retyper: Retyper) -> tuple[Carried, ...]:
    """Keeps approvals of datasets whose columns have the same names in the same order (L-APPR-06); others are inferred anew."""
    approvals = {one.dataset_id: one for one in live if one.schema_state is SchemaState.APPROVED}
    return tuple(_carried(dataset, approvals.get(dataset.id), retyper) for dataset in datasets)


def _carried(dataset: Dataset, approval: DatasetSnapshot | None, retyper: Retyper) -> Carried:
    if approval is None or [one.name for one in approval.columns] != [one.name for one in dataset.columns]:
        return Carried(dataset, is_approved=False)
    types = different(dataset, {column.name: column.type for column in approval.columns if column.stored})
    if any(types[column.name] not in retyper.convertible(column.type) for column in dataset.columns if column.name in types):
        return Carried(dataset, is_approved=False)
    return Carried(retyper.retype(dataset, types) if types else dataset, is_approved=True)


class DatasetWriter:
    """Writes the datasets of new revisions, under the approvals of those that serve."""

    def __init__(self, store: Store, retyper: Retyper, snapshots: SnapshotWriter) -> None:
        self._store = store
        self._retyper = retyper
        self._snapshots = snapshots

    def write(
        self, datasets: Sequence[Dataset], *, scope: Scope, source_uri: str, revision: int, published_at: datetime
    ) -> tuple[DatasetSnapshot, ...]:
        """Writes the datasets of a revision, in their order."""
        written = []
        for ordinal, carried in enumerate(carry_over(datasets, self._store.datasets(scope, source_uri), self._retyper)):
            snapshot = self._snapshots.write(
                carried.dataset,
                scope=scope,
                source_uri=source_uri,
                revision=revision,
                ordinal=ordinal,
                published_at=published_at,
            )
            written.append(approved(snapshot) if carried.is_approved else snapshot)
        return tuple(written)


def approved(snapshot: DatasetSnapshot) -> DatasetSnapshot:
    """The snapshot with its schema settled; only columns that are not held stay told."""
    left = tuple(one for one in snapshot.clarifications if one.code == UNANSWERABLE)
    return replace(snapshot, schema_state=SchemaState.APPROVED, clarifications=left)


def different(dataset: Dataset, wanted: Mapping[str, ColumnType]) -> dict[str, ColumnType]:
    """The types that are not those of the dataset's held columns."""
    return {one.name: wanted[one.name] for one in dataset.columns if one.stored and wanted.get(one.name, one.type) is not one.type}


def replaced(live: DatasetSnapshot, snapshot_id: str) -> DatasetReplaced:
    """What is raised where another snapshot serves than the one a caller names."""
    return DatasetReplaced(
        f"snapshot {snapshot_id} of dataset {live.dataset_id} serves no more; review {live.snapshot_id}",
        metadata={"source_uri": live.source_uri, "dataset_id": live.dataset_id, "snapshot_id": live.snapshot_id},
    )
