from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from artifact.locators import RowSpan
from artifact.model import ROW_ID, ROW_LOCATOR, Dataset
from knowledge_svc.datasets.compile import Statement
from knowledge_svc.datasets.engine import EngineLimits, Session, locked_connection
from knowledge_svc.domain.errors import QueryMemory, QueryTimeout, ResultTooLarge
from knowledge_svc.domain.plan import Aggregate, AggregateFunction, ColumnRef, GroupBy, Plan, PlanDataset, SelectColumn
from knowledge_svc.domain.stop import Stop
from services.errors import Cancelled, Internal
from tests.dataset_fixtures import SCOPE, SMALL, URI, Tables, double, make_dataset, number, text

COUNT = Aggregate(AggregateFunction.COUNT)
ROWS = 1_000_000


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    (tmp_path / "snapshots").mkdir()
    (tmp_path / "outside.csv").write_text("a\n1\n")
    with locked_connection(tmp_path / "snapshots", SMALL) as connection:
        yield connection


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM read_blob('/proc/self/environ')",
        "SELECT * FROM glob('/etc/*')",
        "SELECT * FROM read_csv('{outside}/outside.csv')",
        "SELECT * FROM read_csv('{outside}/snapshots/../outside.csv')",
        "SELECT * FROM read_parquet('https://example.org/a.parquet')",
        "ATTACH '{outside}/other.db'",
        "COPY (SELECT 1) TO '{outside}/written.csv'",
        "EXPORT DATABASE '{outside}/exported'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET allowed_directories = ['/']",
        "SET lock_configuration = false",
        "SET memory_limit = '64GB'",
        "SET threads = 64",
        "SET temp_directory = '/tmp'",
        "RESET memory_limit",
        "PRAGMA enable_profiling",
        "CREATE PERSISTENT SECRET s (TYPE http)",
        "SELECT * FROM statement",  # no Python variable is a table
    ],
)
def test_a_locked_connection_reaches_nothing_outside(locked: duckdb.DuckDBPyConnection, tmp_path: Path, statement: str) -> None:
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(duckdb.Error):
        locked.execute(statement.format(outside=tmp_path)).fetchall()
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    "statement",
    [
        "COPY (SELECT 1) TO '{inside}/written.csv'",
        "ATTACH '{inside}/other.db'",
        "SELECT 1; SELECT 2",
        "CREATE TABLE t (x INT)",
        "SET threads = 64",
        "INSTALL httpfs",
        "PRAGMA database_list",
        "EXPLAIN SELECT 1",
        "",
    ],
)
def test_only_one_select_runs(locked: duckdb.DuckDBPyConnection, tmp_path: Path, statement: str) -> None:
    with pytest.raises(Internal):
        Session(locked, Stop(10.0)).answer(Statement(statement.format(inside=tmp_path / "snapshots"), ()))
    assert list((tmp_path / "snapshots").iterdir()) == []


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tables]:
    tables = Tables(tmp_path_factory.mktemp("snapshots"), EngineLimits(memory_bytes=1 << 30, threads=1, max_running=1))
    random = np.random.default_rng(1)
    columns = [number("id", 18), *(double(f"d{i}") for i in range(6))]
    ids = pa.array(np.arange(ROWS))
    values = [ids.cast(pa.decimal128(19, 0)).cast(pa.decimal128(18, 0)), *(pa.array(random.normal(size=ROWS)) for _ in range(6))]
    places = pa.array(['{"rows":{"first":1,"last":1}}']).take(pa.array(np.zeros(ROWS, dtype=np.int64)))
    rows = pa.Table.from_arrays([ids, places, *values], names=[ROW_ID, ROW_LOCATOR, *(column.name for column in columns)])
    tables.publish(Dataset("t1", "Large", tuple(columns), rows, RowSpan(1, ROWS)))
    tables.rows(aggregates=(COUNT,))  # the file is hashed now
    yield tables
    tables.engine.close()


SLOW: dict[str, Any] = {
    "group_by": (GroupBy(ColumnRef("id")),),
    "aggregates": tuple(Aggregate(AggregateFunction.SUM, ColumnRef(f"d{i}")) for i in range(6)),
    "limit": 1,
}


def test_a_query_that_runs_too_long_is_stopped_within_a_second(large: Tables) -> None:
    began = time.monotonic()
    with pytest.raises(QueryTimeout):
        large.ask(timeout_s=0.2, **SLOW)
    assert time.monotonic() - began < 1.2
    assert large.rows(aggregates=(COUNT,)) == [(ROWS,)]


def test_a_cancelled_query_frees_its_place_within_a_second(large: Tables) -> None:
    stop, ended = Stop(60.0), []

    def ask() -> None:
        try:
            large.queries.query(SCOPE, Plan((PlanDataset(URI, "t1"),), **SLOW), stop=stop)
        except Cancelled as error:
            ended.append((error, time.monotonic()))

    asking = threading.Thread(target=ask)
    asking.start()
    time.sleep(0.2)
    cancelled = time.monotonic()
    stop.cancel()
    asking.join(10.0)
    assert ended
    assert ended[0][1] - cancelled < 1.0
    assert large.rows(aggregates=(COUNT,)) == [(ROWS,)]


def test_a_query_waits_for_its_turn_no_longer_than_it_may(large: Tables) -> None:
    stop = Stop(60.0)

    def occupy() -> None:
        with pytest.raises(Cancelled):
            large.queries.query(SCOPE, Plan((PlanDataset(URI, "t1"),), **SLOW), stop=stop)

    occupying = threading.Thread(target=occupy)
    occupying.start()
    time.sleep(0.1)
    began = time.monotonic()
    with pytest.raises(QueryTimeout):
        large.ask(timeout_s=0.1, aggregates=(COUNT,))
    assert time.monotonic() - began < 1.0
    stop.cancel()
    occupying.join(10.0)


def test_a_query_past_its_memory_is_refused_and_the_next_one_runs(large: Tables) -> None:
    small = Tables(large.files.directory, EngineLimits(memory_bytes=48 << 20, threads=1, max_running=1))
    small.store.live = large.store.live
    with pytest.raises(QueryMemory):
        small.ask(**SLOW)
    assert small.rows(aggregates=(COUNT,)) == [(ROWS,)]
    small.engine.close()


def test_a_result_past_its_rows_is_refused_unless_limited(tmp_path: Path) -> None:
    tables = Tables(tmp_path, EngineLimits(memory_bytes=256 << 20, threads=1, max_running=1, max_result_rows=3))
    tables.publish(make_dataset([text("x")], [["a"], ["b"], ["c"], ["d"]]))
    select = (SelectColumn(ColumnRef("x")),)
    with pytest.raises(ResultTooLarge, match="more than 3 rows"):
        tables.ask(select=select)
    with pytest.raises(ResultTooLarge):
        tables.ask(select=select, limit=4)
    assert len(tables.rows(select=select, limit=3)) == 3
    with pytest.raises(ResultTooLarge):
        tables.ask(group_by=(GroupBy(ColumnRef("x")),))
    assert tables.rows(aggregates=(COUNT,)) == [(4,)]
    tables.engine.close()


def test_queries_run_side_by_side(tmp_path: Path) -> None:
    tables = Tables(tmp_path, EngineLimits(memory_bytes=256 << 20, threads=1, max_running=2))
    tables.publish(make_dataset([text("x")], [["a"], ["b"]]))
    answers: list[Any] = []
    threads = [threading.Thread(target=lambda: answers.append(tables.rows(aggregates=(COUNT,)))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30.0)
    assert answers == [[(2,)]] * 8
    tables.engine.close()


def test_a_connection_that_broke_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = Tables(tmp_path)
    tables.publish(make_dataset([text("x")], [["a"]]))

    def broken(*_: Any) -> Any:
        raise duckdb.FatalException("database has been invalidated")

    with monkeypatch.context() as patched:
        patched.setattr(Session, "answer", broken)
        with pytest.raises(duckdb.FatalException):
            tables.ask(aggregates=(COUNT,))
    assert tables.rows(aggregates=(COUNT,)) == [(1,)]
    tables.engine.close()
