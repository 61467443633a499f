"""A plan over a million rows beside the same SQL run on DuckDB directly."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from artifact.locators import RowSpan, to_json
from artifact.model import ROW_ID, ROW_LOCATOR, Column, ColumnType, Dataset
from bench.house import SCOPE
from bench.timing import Line, in_turn
from knowledge_svc.datasets.engine import DuckDbEngine, EngineLimits
from knowledge_svc.datasets.snapshots import SnapshotFiles
from knowledge_svc.domain.datasets import DatasetQueries
from knowledge_svc.domain.model import DatasetSnapshot
from knowledge_svc.domain.plan import (
    Aggregate,
    AggregateFunction,
    ColumnRef,
    Comparison,
    GroupBy,
    Operator,
    OrderBy,
    Plan,
    PlanDataset,
)
from knowledge_svc.domain.stop import Stop

ROWS = 1_000_000
ROUNDS = 15
SQL = """
SELECT c0, sum(c1), count(*) FROM read_parquet(?) WHERE c1 >= 10.00::DECIMAL(12,2) GROUP BY c0 ORDER BY c0
"""
PLAN = Plan(
    (PlanDataset("doc:a", "orders"),),
    where=(Comparison(ColumnRef("amount"), Operator.GE, (Decimal("10.00"),)),),
    group_by=(GroupBy(ColumnRef("region")),),
    aggregates=(Aggregate(AggregateFunction.SUM, ColumnRef("amount")), Aggregate(AggregateFunction.COUNT)),
    order_by=(OrderBy("region"),),
)


class OneSource:
    """A store that knows one source's snapshots."""

    def __init__(self, snapshot: DatasetSnapshot) -> None:
        self._snapshot = snapshot

    def datasets(self, scope: object, source_uri: str) -> list[DatasetSnapshot]:
        """Returns the snapshot."""
        return [self._snapshot]

    def dataset_page(self, scope: object, uri_prefixes: object, *, after: object, limit: int) -> list[DatasetSnapshot]:
        """Returns the snapshot."""
        return [self._snapshot]


def run() -> list[Line]:
    """Measures p50 of a filtered, grouped, exact sum."""
    with tempfile.TemporaryDirectory() as folder:
        files = SnapshotFiles(Path(folder))
        snapshot = files.write(
            dataset(ROWS), scope=SCOPE, source_uri="doc:a", revision=1, ordinal=0, published_at=datetime.now(UTC)
        )
        engine = DuckDbEngine(files, EngineLimits(timeout_s=60))
        queries = DatasetQueries(OneSource(snapshot), engine, files, now=lambda: datetime.now(UTC))
        connection = duckdb.connect()
        connection.execute("SET threads = 2")
        path = str(files.verified(snapshot))
        try:
            times = in_turn(
                {
                    "loom": lambda _: queries.query(SCOPE, PLAN, stop=Stop(60)),
                    "sql": lambda _: connection.execute(SQL, [path]).fetchall(),
                },
                rounds=ROUNDS,
                warm=2,
            )
        finally:
            engine.close()
            connection.close()
    loom, sql = times["loom"].p50_ms, times["sql"].p50_ms
    return [
        Line(
            "plan: where, group, sum over 1M rows, p50", f"{loom:.1f} ms", f"same SQL on DuckDB: {sql:.1f} ms", loom / sql, "≤ 1.1"
        )
    ]


def dataset(rows: int) -> Dataset:
    """Orders with a region, an exact amount and nothing else."""
    chance = np.random.default_rng(5)
    cents = chance.integers(0, 1_000_000, rows)
    table = pa.table(
        {
            ROW_ID: pa.array(np.arange(rows), pa.int64()),
            ROW_LOCATOR: pa.array([to_json(RowSpan(1, 1))] * rows),
            "region": pa.array(np.array(["north", "south", "east", "west"])[chance.integers(0, 4, rows)]),
            "amount": pa.array([Decimal(int(cent)).scaleb(-2) for cent in cents], pa.decimal128(12, 2)),
        }
    )
    columns = (Column("region", ColumnType.STRING), replace(Column("amount", ColumnType.NUMBER), precision=12, scale=2))
    return Dataset("orders", "Orders", columns, table, RowSpan(1, rows))
