"""What becomes of the rows of a query: files, data frames, and bars on a terminal."""

from __future__ import annotations

import csv
import json
import sys
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pytest
from loom.knowledge.v1 import datasets_pb2
from pyarrow import parquet
from rich.console import Console

from clients import arrow
from clients.cli.output import UsageFault
from clients.cli.plot import bars
from clients.cli.query_files import as_csv, as_json, check_file
from clients.query_text import ShortQuery, build_plan
from clients.results.datasets import ArrowResult, QueryResult, ResultColumn
from clients.typed_text import QuerySyntax
from tests.unit.clients.test_query_text import dataset

DIGITS = "12345678901234567890.123456789"


def result(*rows: tuple[object, ...], **columns: str) -> QueryResult:
    made = tuple(ResultColumn(name, kind, 38 if kind == "number" else 0, 2) for name, kind in columns.items())
    return QueryResult(made, rows, (), datasets_pb2.Receipt(), "")  # type: ignore[arg-type]  # values of every kind


MIXED = result(
    ("north, east", Decimal(DIGITS), True, date(2031, 5, 1), datetime.fromisoformat("2031-05-01T10:30:00")),
    ("say \"so\"", None, False, None, None),
    region="string", amount="number", paid="bool", day="date", at="datetime",
)  # fmt: skip


def test_csv_keeps_every_digit_and_reads_back() -> None:
    assert list(csv.reader(as_csv(MIXED).splitlines())) == [
        ["region", "amount", "paid", "day", "at"],
        ["north, east", DIGITS, "true", "2031-05-01", "2031-05-01T10:30:00"],
        ['say "so"', "", "false", "", ""],
    ]


def test_json_keeps_every_digit() -> None:
    first, second = json.loads(as_json(MIXED))
    assert (first["amount"], first["paid"], first["day"], second["amount"]) == (DIGITS, True, "2031-05-01", None)


def test_a_file_that_is_there_is_replaced_only_by_force(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("mine")
    with pytest.raises(UsageFault, match="--force"):
        check_file(tmp_path / "a.csv", force=False)
    check_file(tmp_path / "a.csv", force=True)
    check_file(tmp_path / "new.PARQUET", force=False)
    with pytest.raises(UsageFault, match=r"\.csv, \.json or \.parquet"):
        check_file(tmp_path / "a.xlsx", force=True)


def drawn(found: QueryResult) -> list[str]:
    console = Console(width=100, color_system=None)
    with console.capture() as captured:
        console.print(bars(found))
    return captured.get().splitlines()


def test_bars_are_as_long_as_their_figures() -> None:
    lines = drawn(result(("north", Decimal(40)), ("south", Decimal(10)), (None, None), region="string", total="number"))
    assert [line.count("█") for line in lines[1:]] == [40, 10, 0]
    assert [line.split()[:2] for line in lines] == [["region", "total"], ["north", "40"], ["south", "10"], ["–", "–"]]


def test_bars_of_figures_below_zero_end_where_the_others_begin() -> None:
    up, down = drawn(result(("up", Decimal(30)), ("down", Decimal(-10)), name="string", change="number"))[1:]
    assert (up.count("█"), down.count("█")) == (30, 10)
    assert down.rindex("█") + 1 == up.index("█")


@pytest.mark.parametrize("columns", [{"total": "number"}, {"a": "string", "b": "string"}])
def test_what_has_no_group_or_no_figure_is_not_drawn(columns: dict[str, str]) -> None:
    with pytest.raises(UsageFault, match="--group-by"):
        bars(result(**columns))


def arrow_result() -> ArrowResult:
    table = pa.table({"region": ["north", None], "amount": pa.array([Decimal("1.10"), None], pa.decimal128(9, 2))})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema.with_metadata({"loom.receipt": "{}"})) as writer:
        writer.write_table(table.replace_schema_metadata({"loom.receipt": "{}"}))
    return ArrowResult(sink.getvalue().to_pybytes(), datasets_pb2.Receipt())


def test_a_result_is_written_as_parquet_with_its_receipt(tmp_path: Path) -> None:
    arrow_result().to_parquet(tmp_path / "rows.parquet")
    table = parquet.read_table(tmp_path / "rows.parquet")
    assert table.to_pydict() == {"region": ["north", None], "amount": [Decimal("1.10"), None]}
    assert table.schema.metadata[b"loom.receipt"] == b"{}"
    assert arrow_result().to_arrow().equals(table)


@pytest.mark.parametrize(("name", "method"), [("pandas", "to_pandas"), ("polars", "to_polars")])
def test_a_library_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, name: str, method: str) -> None:
    monkeypatch.setattr(arrow, "find_spec", lambda _: None)
    with pytest.raises(ModuleNotFoundError, match=f"pip install {name}"):
        getattr(arrow_result(), method)()


def test_a_result_is_a_pandas_frame() -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    assert list(arrow_result().to_pandas()["amount"]) == [Decimal("1.10"), None]


def test_a_result_is_handed_to_polars_as_arrow(monkeypatch: pytest.MonkeyPatch) -> None:
    polars = ModuleType("polars")
    polars.from_arrow = lambda table: ("frame of", table)  # type: ignore[attr-defined]  # stands for the library
    monkeypatch.setitem(sys.modules, "polars", polars)
    monkeypatch.setattr(arrow, "find_spec", lambda _: polars)
    assert arrow_result().to_polars() == ("frame of", arrow_result().to_arrow())


def test_medians_percentiles_and_deviations_read() -> None:
    plan = build_plan(dataset(), ShortQuery(median=["amount"], percentile=["amount:0.95 as high"], stddev=["amount"]))
    figures = plan.to_proto().aggregates
    names = [datasets_pb2.AggregateFunction.Name(figure.function).removeprefix("AGGREGATE_FUNCTION_") for figure in figures]
    assert names == ["MEDIAN", "PERCENTILE", "STDDEV"]
    assert (figures[1].fraction, getattr(figures[1], "as")) == (0.95, "high")


@pytest.mark.parametrize("text", ["amount", "amount:", "amount:2", "amount:much"])
def test_a_percentile_without_its_share_says_how_to_write_it(text: str) -> None:
    with pytest.raises(QuerySyntax, match=r"amount:0\.95"):
        build_plan(dataset(), ShortQuery(percentile=[text]))
