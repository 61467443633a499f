"""Small typed tables, and a set of datasets that answers plans over them, for the tests of any room."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from artifact.locators import RowSpan, to_json
from artifact.model import ROW_ID, ROW_LOCATOR, Column, ColumnType, Dataset
from artifact.rows import arrow_type
from knowledge_svc.datasets.engine import DuckDbEngine, EngineLimits
from knowledge_svc.datasets.snapshots import SnapshotFiles
from knowledge_svc.domain.checked_plan import ResultTable
from knowledge_svc.domain.datasets import DatasetQueries
from knowledge_svc.domain.model import DatasetSnapshot, Scope
from knowledge_svc.domain.plan import Plan, PlanDataset
from knowledge_svc.domain.receipt import Receipt
from knowledge_svc.domain.stop import Stop

SCOPE: Final = Scope("dev", "local")
NOW: Final = dt.datetime(2031, 5, 27, 7, 32, tzinfo=dt.UTC)
URI: Final = "file:///orders.xlsx"
SMALL: Final = EngineLimits(memory_bytes=256 << 20, threads=1, max_running=1)


def text(name: str) -> Column:
    return Column(name, ColumnType.STRING)


def number(name: str, precision: int, scale: int = 0) -> Column:
    return Column(name, ColumnType.NUMBER, precision=precision, scale=scale)


def double(name: str) -> Column:
    return Column(name, ColumnType.NUMBER)


def make_dataset(columns: Sequence[Column], rows: Sequence[Sequence[Any]], *, dataset_id: str = "t1", **more: Any) -> Dataset:
    """A dataset whose row i stands at row i + 1 of its source."""
    ids = pa.array(range(len(rows)), pa.int64())
    places = pa.array([to_json(RowSpan(i + 1, i + 1)) for i in range(len(rows))], pa.string())
    stored = [column for column in columns if column.stored]
    arrays = [pa.array([row[i] for row in rows], arrow_type(column)) for i, column in enumerate(stored)]
    table = pa.Table.from_arrays([ids, places, *arrays], names=[ROW_ID, ROW_LOCATOR, *(column.name for column in stored)])
    return Dataset(dataset_id, "Orders", tuple(columns), table, RowSpan(1, max(1, len(rows))), **more)


@dataclass
class FakeStore:
    """Live snapshots in memory."""

    live: list[DatasetSnapshot] = field(default_factory=list)

    def datasets(self, scope: Scope, source_uri: str) -> list[DatasetSnapshot]:
        found = [one for one in self.live if one.scope == scope and one.source_uri == source_uri]
        return sorted(found, key=lambda one: one.ordinal)

    def replace_dataset(self, snapshot_id: str, snapshot: DatasetSnapshot, *, at: dt.datetime) -> None:
        self.live = [snapshot if one.snapshot_id == snapshot_id else one for one in self.live]

    def dataset_page(
        self, scope: Scope, uri_prefixes: Sequence[str], *, after: tuple[str, str], limit: int
    ) -> list[DatasetSnapshot]:
        found = [one for one in self.live if one.scope == scope and (one.source_uri, one.dataset_id) > after]
        if uri_prefixes:
            found = [one for one in found if one.source_uri.startswith(tuple(uri_prefixes))]
        return sorted(found, key=lambda one: (one.source_uri, one.dataset_id))[:limit]


class Tables:
    """Datasets on a folder, and the queries over them."""

    def __init__(self, folder: Path, limits: EngineLimits = SMALL) -> None:
        self.files = SnapshotFiles(folder)
        self.engine = DuckDbEngine(self.files, limits)
        self.store = FakeStore()
        self.queries = DatasetQueries(self.store, self.engine, self.files, now=lambda: NOW)

    def publish(self, dataset: Dataset, *, source_uri: str = URI, revision: int = 1, **changed: Any) -> DatasetSnapshot:
        """Makes a dataset the live one of its source and id."""
        earlier = self.store.datasets(SCOPE, source_uri)
        self.store.live = [one for one in self.store.live if one not in earlier or one.dataset_id != dataset.id]
        written = self.files.write(
            dataset,
            scope=SCOPE,
            source_uri=source_uri,
            revision=revision,
            ordinal=len(self.store.datasets(SCOPE, source_uri)),
            published_at=NOW,
        )
        self.store.live.append(replace(written, **changed))
        return self.store.live[-1]

    def ask(self, *, timeout_s: float = 30.0, dataset_id: str = "t1", alias: str = "", **parts: Any) -> tuple[ResultTable, Receipt]:
        """Asks one dataset of the default source."""
        plan = Plan((PlanDataset(URI, dataset_id, alias),), **parts)
        return self.queries.query(SCOPE, plan, stop=Stop(timeout_s))

    def rows(self, **parts: Any) -> list[tuple[Any, ...]]:
        """Asks, and returns the rows alone."""
        return list(self.ask(**parts)[0].rows)
