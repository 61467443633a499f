"""Datasets and the questions asked of them: found, checked, run over every row, and receipted."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from knowledge_svc.domain.checked_plan import CheckedPlan, ResultTable, Step
from knowledge_svc.domain.errors import DatasetNotFound, DatasetReplaced, NeedsClarification
from knowledge_svc.domain.model import DatasetSnapshot, SchemaState, Scope
from knowledge_svc.domain.plan import Plan, Scalar
from knowledge_svc.domain.plan_check import MAX_DATASETS, check_datasets, check_plan
from knowledge_svc.domain.plan_faults import shown
from knowledge_svc.domain.receipt import Receipt, differences, incomplete_sentences, plan_sha256, result_sha256, snapshots_read
from knowledge_svc.domain.stop import Stop

MAX_SAMPLED_DATASETS: Final = 20
_NAMES_SHOWN: Final = 10


class DatasetStore(Protocol):
    """What datasets need of the record."""

    def datasets(self, scope: Scope, source_uri: str) -> list[DatasetSnapshot]:
        """Returns the live snapshots of a source in file order; empty where it has none."""

    def dataset_page(
        self, scope: Scope, uri_prefixes: Sequence[str], *, after: tuple[str, str], limit: int
    ) -> list[DatasetSnapshot]:
        """Returns live snapshots after (source_uri, dataset_id), in that order."""


class SnapshotReader(Protocol):
    """Reads snapshots' files."""

    def sample(self, snapshot: DatasetSnapshot, rows: int) -> list[tuple[Scalar | None, ...]]:
        """Returns the first rows, one value a stored column.

        Raises:
            SnapshotDamaged: the file is missing or its bytes changed.
        """


@dataclass(frozen=True, slots=True)
class QueryRun:
    """What an engine answered, and what it ran to get there."""

    table: ResultTable
    statement: str
    parameters: tuple[Scalar, ...]
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """What would run: the statement, its parameters, and the engine's own plan as text."""

    statement: str
    parameters: tuple[Scalar, ...]
    engine_plan: str


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A row of a snapshot: its id, its place in the source as `artifact.locators.to_json` writes it, its stored columns."""

    row_id: int
    locator: str
    values: tuple[Scalar | None, ...]


class QueryEngine(Protocol):
    """Runs checked plans over every row of their snapshots, exactly or not at all."""

    @property
    def version(self) -> str:
        """Name and version, as receipts cite it."""

    def run(self, checked: CheckedPlan, *, stop: Stop) -> QueryRun:
        """Runs a plan.

        Raises:
            SnapshotDamaged: a snapshot's file is missing or changed.
            FanOut: a join repeats rows under a figure.
            ResultTooLarge, NumberOverflow, QueryMemory, QueryTimeout, Cancelled: there is no whole answer.
        """

    def explain(self, checked: CheckedPlan, *, stop: Stop) -> Explanation:
        """Shows what a plan would run; raises as `run`."""

    def rows(self, checked: CheckedPlan, *, dataset: int, after: int, limit: int, stop: Stop) -> list[SourceRow]:
        """Returns a dataset's first rows with an id greater than `after` behind what the plan's `where` keeps; raises as `run`.

        `dataset` is one of the plan's visible ones; each of its rows is told once.
        """


@dataclass(frozen=True, slots=True)
class SampledDataset:
    """A snapshot and its first rows, one value a stored column."""

    snapshot: DatasetSnapshot
    rows: tuple[tuple[Scalar | None, ...], ...] = ()


class DatasetQueries:
    """Gets, lists and queries the datasets of a namespace."""

    def __init__(self, store: DatasetStore, engine: QueryEngine, files: SnapshotReader, *, now: Callable[[], dt.datetime]) -> None:
        self._store = store
        self._engine = engine
        self._files = files
        self._now = now

    def get(self, scope: Scope, source_uri: str, *, dataset_id: str = "", sample_rows: int = 0) -> list[SampledDataset]:
        """Returns a source's live datasets in file order, or the one asked for; of many only the first 20 are sampled.

        Raises:
            DatasetNotFound: the source has no live dataset, or none with the id.
            SnapshotDamaged: a sampled file is missing or changed.
        """
        found = self._live(scope, source_uri, dataset_id) if dataset_id else None
        snapshots = [found] if found else self._store.datasets(scope, source_uri)
        if not snapshots:
            raise DatasetNotFound(
                f"no live dataset stands at {source_uri}; ingest a file with tables there", metadata={"source_uri": source_uri}
            )
        return [
            SampledDataset(snapshot, tuple(self._files.sample(snapshot, sample_rows)))
            if sample_rows and place < MAX_SAMPLED_DATASETS
            else SampledDataset(snapshot)
            for place, snapshot in enumerate(snapshots)
        ]

    def list(
        self, scope: Scope, uri_prefixes: Sequence[str] = (), *, after: tuple[str, str] = ("", ""), limit: int
    ) -> list[DatasetSnapshot]:
        """Returns live datasets after (source_uri, dataset_id), in that order."""
        return self._store.dataset_page(scope, uri_prefixes, after=after, limit=limit)

    def check(self, scope: Scope, plan: Plan) -> CheckedPlan:
        """Loads the live snapshots of a plan and checks it against them.

        Raises:
            InvalidPlan, DatasetNotFound, NeedsClarification: the plan cannot run.
        """
        check_datasets(plan)
        snapshots = [self._live(scope, one.source_uri, one.dataset_id) for one in plan.datasets]
        for snapshot in snapshots:
            _refuse_unclear(snapshot)
        return check_plan(plan, snapshots)

    def query(self, scope: Scope, plan: Plan, *, stop: Stop) -> tuple[ResultTable, Receipt]:
        """Runs a plan over every row of its live snapshots.

        Raises:
            InvalidPlan, DatasetNotFound, NeedsClarification: the plan cannot run.
            DatasetReplaced: another snapshot serves now; asking again reads that one.
            SnapshotDamaged: a snapshot's file is missing or changed.
            FanOut: a join repeats rows under a figure.
            ResultTooLarge, NumberOverflow, QueryMemory, QueryTimeout, Cancelled: there is no whole answer.
        """
        checked = self.check(scope, plan)
        executed_at = self._now()
        run = self._engine.run(checked, stop=stop)
        self._refuse_replaced(scope, checked.snapshots)
        return run.table, self._receipt(checked, run, executed_at)

    def explain(self, scope: Scope, plan: Plan, *, stop: Stop) -> tuple[CheckedPlan, Explanation]:
        """Checks a plan and shows what would run; raises as `query`."""
        checked = self.check(scope, plan)
        return checked, self._engine.explain(checked, stop=stop)

    def verify(self, scope: Scope, receipt: Receipt, *, stop: Stop) -> tuple[str, ...]:
        """Runs a receipt's plan again and says in which parts the receipt differs; nothing where it agrees.

        Where a snapshot of the receipt serves no more, that is the difference: its rows cannot be read again.

        Raises:
            SnapshotDamaged: a snapshot's file is missing or changed.
            and as `query`.
        """
        gone = self._replaced(scope, receipt)
        if gone:
            return gone
        _, found = self.query(scope, receipt.plan, stop=stop)
        return differences(receipt, found)

    def _replaced(self, scope: Scope, receipt: Receipt) -> tuple[str, ...]:
        live = {
            snapshot.snapshot_id
            for one in receipt.plan.datasets[:MAX_DATASETS]
            for snapshot in self._store.datasets(scope, one.source_uri)
        }
        return tuple(
            f"snapshot {shown(read.snapshot_id)} of dataset {shown(read.dataset_id)} serves no more"
            for read in receipt.snapshots[:MAX_DATASETS]
            if read.snapshot_id not in live
        )

    def _receipt(self, checked: CheckedPlan, run: QueryRun, executed_at: dt.datetime) -> Receipt:
        return Receipt(
            plan=checked.plan,
            plan_sha256=plan_sha256(checked.plan),
            snapshots=snapshots_read(checked.plan, checked.snapshots),
            statement=run.statement,
            parameters=run.parameters,
            engine=self._engine.version,
            result_sha256=result_sha256(run.table),
            result_rows=len(run.table.rows),
            incomplete=incomplete_sentences(checked.snapshots),
            executed_at=executed_at,
            steps=run.steps,
        )

    def _live(self, scope: Scope, source_uri: str, dataset_id: str) -> DatasetSnapshot:
        snapshots = self._store.datasets(scope, source_uri)
        for snapshot in snapshots:
            if snapshot.dataset_id == dataset_id:
                return snapshot
        there = ", ".join(snapshot.dataset_id for snapshot in snapshots[:_NAMES_SHOWN]) or "none"
        raise DatasetNotFound(
            f"no live dataset {dataset_id} stands at {source_uri}; there are: {there}",
            metadata={"source_uri": source_uri, "dataset_id": dataset_id, "dataset_ids": there},
        )

    def _refuse_replaced(self, scope: Scope, snapshots: Sequence[DatasetSnapshot]) -> None:
        for snapshot in snapshots:
            live = {one.snapshot_id for one in self._store.datasets(scope, snapshot.source_uri)}
            if snapshot.snapshot_id not in live:
                raise DatasetReplaced(
                    f"dataset {snapshot.dataset_id} of {snapshot.source_uri} was replaced while the query ran; run it again",
                    metadata={
                        "source_uri": snapshot.source_uri,
                        "dataset_id": snapshot.dataset_id,
                        "snapshot_id": snapshot.snapshot_id,
                    },
                )


def _refuse_unclear(snapshot: DatasetSnapshot) -> None:
    if snapshot.schema_state is not SchemaState.NEEDS_CLARIFICATION:
        return
    asked = [f"{one.code} (column {shown(one.column)})" for one in snapshot.clarifications[:_NAMES_SHOWN]]
    rest = len(snapshot.clarifications) - len(asked)
    if rest > 0:
        asked.append(f"{rest} more")
    text = "; ".join(asked)
    raise NeedsClarification(
        f"dataset {snapshot.dataset_id} of {snapshot.source_uri} waits for answers; approve its schema first: {text}",
        metadata={
            "source_uri": snapshot.source_uri,
            "dataset_id": snapshot.dataset_id,
            "snapshot_id": snapshot.snapshot_id,
            "clarifications": text,
        },
    )
