"""Joins: what each kind keeps, what a join may not repeat, what is refused, and what is traced."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from artifact.model import Column, ColumnType
from knowledge_svc.domain.datasets import DatasetQueries
from knowledge_svc.domain.errors import FanOut, InvalidPlan
from knowledge_svc.domain.plan import (
    Aggregate,
    AggregateFunction,
    ColumnRef,
    Comparison,
    GroupBy,
    Join,
    JoinKey,
    JoinKind,
    Operator,
    OrderBy,
    Plan,
    PlanDataset,
    SelectColumn,
)
from knowledge_svc.domain.stop import Stop
from knowledge_svc.domain.tracing import RowTracer, TraceCursor
from tests.dataset_fixtures import SCOPE, URI, Tables, double, make_dataset, number, text

Source = tuple[list[Column], list[list[str | None]]]
SOURCES: dict[str, Source] = {
    "orders": (
        [text("customer"), number("amount", 6, 2)],
        [["ada", "10.00"], ["ben", "5.50"], ["ada", "1.25"], [None, "7.00"], ["eve", "2.00"]],
    ),
    "customers": (
        [text("name"), text("town"), number("limit", 9)],
        [["ada", "Aachen", "100"], ["ben", None, "50"], [None, "Nowhere", "1"], ["zoe", "Zell", "9"]],
    ),
    "visits": ([text("who"), number("hours", 4, 1)], [["ada", "1.5"], ["ada", "2.0"], ["ben", "0.5"]]),
}
ORDERS, CUSTOMERS, VISITS = (PlanDataset(URI, name, name[0]) for name in SOURCES)
SUM_AMOUNT = Aggregate(AggregateFunction.SUM, ColumnRef("amount", "o"), "amount")


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    made = Tables(tmp_path)
    for name, (columns, rows) in SOURCES.items():
        made.publish(make_dataset(columns, [_typed(row, columns) for row in rows], dataset_id=name))
    return made


def _typed(row: list[str | None], columns: list[Column]) -> list[Any]:
    numbers = [column.type is ColumnType.NUMBER for column in columns]
    return [Decimal(value) if value is not None and is_number else value for value, is_number in zip(row, numbers, strict=True)]


def join(kind: JoinKind = JoinKind.INNER, *, alias: str = "c", right: str = "name", **more: Any) -> Join:
    return Join(alias, (JoinKey(ColumnRef("customer", "o"), ColumnRef(right, alias)),), kind, **more)


def ask(tables: Tables, *datasets: PlanDataset, **parts: Any) -> Any:
    return tables.queries.query(SCOPE, Plan(datasets, **parts), stop=Stop(30.0))


def chosen(*names: str) -> tuple[SelectColumn, ...]:
    return tuple(SelectColumn(ColumnRef(column, alias), name) for name in names for alias, column in [name.split(".")])


@pytest.mark.parametrize(
    ("kind", "rows", "row_ids"),
    [
        (JoinKind.INNER, [("ada", "Aachen"), ("ben", None), ("ada", "Aachen")], [((0,), (0,)), ((1,), (1,)), ((2,), (0,))]),
        (
            JoinKind.LEFT,
            [("ada", "Aachen"), ("ben", None), ("ada", "Aachen"), (None, None), ("eve", None)],
            [((0,), (0,)), ((1,), (1,)), ((2,), (0,)), ((3,), ()), ((4,), ())],
        ),
    ],
)
def test_l_qry_04_a_join_pairs_rows_of_equal_keys_and_null_equals_nothing(
    tables: Tables, kind: JoinKind, rows: list[Any], row_ids: list[Any]
) -> None:
    table, receipt = ask(tables, ORDERS, CUSTOMERS, joins=(join(kind),), select=chosen("o.customer", "c.town"))
    assert list(table.rows) == rows
    assert list(table.row_ids) == row_ids
    assert [(step.name, step.rows_in, step.rows_out) for step in receipt.steps] == [("read", 9, 9), ("join", 9, len(rows))]


@pytest.mark.parametrize(("kind", "amounts"), [(JoinKind.SEMI, ["10.00", "5.50", "1.25"]), (JoinKind.ANTI, ["7.00", "2.00"])])
def test_a_look_up_keeps_rows_by_whether_they_have_a_partner(tables: Tables, kind: JoinKind, amounts: list[str]) -> None:
    table, _ = ask(tables, ORDERS, VISITS, joins=(join(kind, alias="v", right="who"),), select=chosen("o.amount"))
    assert [row[0] for row in table.rows] == [Decimal(amount) for amount in amounts]
    assert all(ids[1] == () for ids in table.row_ids)


def test_figures_over_a_join_by_unique_keys_are_exact(tables: Tables) -> None:
    table, receipt = ask(
        tables,
        ORDERS,
        CUSTOMERS,
        joins=(join(),),
        where=(Comparison(ColumnRef("amount", "o"), Operator.GT, (Decimal(5),)),),
        group_by=(GroupBy(ColumnRef("town", "c"), name="town"),),
        aggregates=(SUM_AMOUNT, Aggregate(AggregateFunction.COUNT)),
    )
    assert list(table.rows) == [("Aachen", Decimal("10.00"), 1), (None, Decimal("5.50"), 1)]
    assert [(step.name, step.rows_in, step.rows_out) for step in receipt.steps] == [
        ("read", 9, 9),
        ("join", 9, 3),
        ("where", 3, 2),
        ("aggregate amount", 2, 2),
        ("group", 2, 2),
    ]


def test_a_join_that_repeats_rows_under_a_sum_is_refused_with_the_counts(tables: Tables) -> None:
    with pytest.raises(FanOut) as caught:
        ask(tables, ORDERS, VISITS, joins=(join(alias="v", right="who"),), aggregates=(SUM_AMOUNT,))
    # ada's two orders meet two visits each, ben's order one: three orders stand as five rows
    assert caught.value.metadata["rows"] == '3 rows of "o" stand as 5'
    assert [one.field for one in caught.value.violations] == ["plan.joins[0]"]


@pytest.mark.parametrize(
    "parts",
    [
        {"joins": (join(alias="v", right="who", allow_fan_out=True),), "aggregates": (SUM_AMOUNT,)},
        {"joins": (join(alias="v", right="who"),), "aggregates": (Aggregate(AggregateFunction.MAX, ColumnRef("amount", "o")),)},
        {"joins": (join(alias="v", right="who"),), "aggregates": (Aggregate(AggregateFunction.COUNT),)},
        {"joins": (join(JoinKind.SEMI, alias="v", right="who"),), "aggregates": (SUM_AMOUNT,)},
    ],
    ids=["allowed", "a greatest value", "a count of joined rows", "a look-up"],
)
def test_a_join_that_repeats_nothing_that_matters_is_run(tables: Tables, parts: dict[str, Any]) -> None:
    table, _ = ask(tables, ORDERS, VISITS, **parts)
    assert len(table.rows) == 1


def test_a_sum_over_the_joined_dataset_is_refused_where_its_rows_are_repeated(tables: Tables) -> None:
    limit = Aggregate(AggregateFunction.SUM, ColumnRef("limit", "c"))
    with pytest.raises(FanOut) as caught:
        ask(tables, ORDERS, CUSTOMERS, joins=(join(),), aggregates=(limit,))
    assert caught.value.metadata["rows"] == '2 rows of "c" stand as 3'


def test_only_the_join_that_repeats_has_to_be_allowed(tables: Tables) -> None:
    by_name = Join("v", (JoinKey(ColumnRef("name", "c"), ColumnRef("who", "v")),))
    with pytest.raises(FanOut) as caught:
        ask(tables, ORDERS, CUSTOMERS, VISITS, joins=(join(), by_name), aggregates=(SUM_AMOUNT,))
    assert caught.value.metadata["field"] == "plan.joins[1]"
    allowed = Join("v", by_name.keys, allow_fan_out=True)
    table, _ = ask(tables, ORDERS, CUSTOMERS, VISITS, joins=(join(), allowed), aggregates=(SUM_AMOUNT,))
    assert table.rows == ((Decimal("28.00"),),)  # 2 x 10.00 + 2 x 1.25 + 5.50


def faults(tables: Tables, *datasets: PlanDataset, **parts: Any) -> dict[str, str]:
    with pytest.raises(InvalidPlan) as caught:
        ask(tables, *datasets, **{"select": chosen("o.customer"), **parts})
    return {one.field: one.description for one in caught.value.violations}


def keyed(left: str, right: str, *, alias: str = "c") -> Join:
    return Join(alias, (JoinKey(ColumnRef(left, "o"), ColumnRef(right, alias)),))


@pytest.mark.parametrize(
    ("joins", "field"),
    [
        ((), "plan.joins"),
        ((Join("c", ()),), "plan.joins[0].keys"),
        ((Join("x", ()),), "plan.joins[0].alias"),
        ((keyed("customer", "name", alias="o"),), "plan.joins[0].alias"),
        ((join(), join()), "plan.joins[1].alias"),
        ((keyed("nobody", "name"),), "plan.joins[0].keys[0].left"),
        ((keyed("customer", "nobody"),), "plan.joins[0].keys[0].right"),
        ((keyed("amount", "name"),), "plan.joins[0].keys[0]"),
        ((Join("c", (JoinKey(ColumnRef("town", "c"), ColumnRef("name", "c")),)),), "plan.joins[0].keys[0].left.alias"),
        ((Join("c", (JoinKey(ColumnRef("customer", "o"), ColumnRef("customer", "o")),)),), "plan.joins[0].keys[0].right.alias"),
    ],
)
def test_l_qry_14_joins_that_do_not_hold_are_told_at_their_fields(tables: Tables, joins: tuple[Join, ...], field: str) -> None:
    assert field in faults(tables, ORDERS, CUSTOMERS, joins=joins)


def test_columns_of_a_dataset_that_is_only_looked_up_cannot_be_read(tables: Tables) -> None:
    looked_up = (join(JoinKind.SEMI),)
    assert "plan.select[0].expression.column.alias" in faults(tables, ORDERS, CUSTOMERS, joins=looked_up, select=chosen("c.town"))
    later = (*looked_up, Join("v", (JoinKey(ColumnRef("name", "c"), ColumnRef("who", "v")),)))
    assert "plan.joins[1].keys[0].left.alias" in faults(tables, ORDERS, CUSTOMERS, VISITS, joins=later)


@pytest.mark.parametrize(
    ("left", "right"), [(number("x", 38, 0), number("x", 38, 38)), (number("x", 9, 2), double("x"))], ids=["76 digits", "doubles"]
)
def test_numbers_that_cannot_be_compared_exactly_are_not_joined(tables: Tables, left: Column, right: Column) -> None:
    tables.publish(make_dataset([left], [], dataset_id="left"))
    tables.publish(make_dataset([right], [], dataset_id="right"))
    asked = (PlanDataset(URI, "left", "a"), PlanDataset(URI, "right", "b"))
    joins = (Join("b", (JoinKey(ColumnRef("x", "a"), ColumnRef("x", "b")),)),)
    assert "plan.joins[0].keys[0]" in faults(tables, *asked, joins=joins, select=chosen("a.x"))


def test_numbers_of_different_scales_are_equal_by_value(tables: Tables) -> None:
    tables.publish(make_dataset([number("x", 4, 2)], [[Decimal("5.00")], [Decimal("5.10")]], dataset_id="left"))
    tables.publish(make_dataset([number("x", 9)], [[Decimal(5)]], dataset_id="right"))
    asked = (PlanDataset(URI, "left", "a"), PlanDataset(URI, "right", "b"))
    joins = (Join("b", (JoinKey(ColumnRef("x", "a"), ColumnRef("x", "b")),)),)
    table, _ = ask(tables, *asked, joins=joins, select=chosen("a.x", "b.x"))
    assert list(table.rows) == [(Decimal("5.00"), Decimal(5))]


def test_rows_behind_a_figure_are_traced_dataset_by_dataset_and_page_by_page(tables: Tables) -> None:
    plan = Plan(
        (ORDERS, CUSTOMERS),
        joins=(join(),),
        group_by=(GroupBy(ColumnRef("town", "c"), name="town"),),
        aggregates=(SUM_AMOUNT,),
        order_by=(OrderBy("town"),),
    )
    _, receipt = tables.queries.query(SCOPE, plan, stop=Stop(30.0))
    tracer = RowTracer(tables.queries, tables.engine)

    def page(start: TraceCursor, limit: int) -> Any:
        return tracer.trace(SCOPE, receipt, result_row=0, start=start, limit=limit, stop=Stop(30.0))

    whole = page(TraceCursor(), 10)
    assert [(one.alias, one.row.row_id) for one in whole.rows] == [("o", 0), ("o", 2), ("c", 0)]
    assert whole.next is None
    pages, start = [], TraceCursor()
    while start is not None:
        found = page(start, 1)
        pages += [(one.alias, one.row.row_id) for one in found.rows]
        start = found.next
    assert pages == [("o", 0), ("o", 2), ("c", 0)]


def test_a_selected_row_is_traced_to_the_row_of_each_dataset(tables: Tables) -> None:
    plan = Plan((ORDERS, CUSTOMERS), joins=(join(JoinKind.LEFT),), select=chosen("o.customer", "c.town"))
    _, receipt = tables.queries.query(SCOPE, plan, stop=Stop(30.0))
    tracer = RowTracer(tables.queries, tables.engine)
    traced = [
        [
            (one.alias, one.row.row_id)
            for one in tracer.trace(SCOPE, receipt, result_row=row, start=TraceCursor(), limit=9, stop=Stop(30.0)).rows
        ]
        for row in (1, 4)
    ]
    assert traced == [[("o", 1), ("c", 1)], [("o", 4)]]


def test_a_receipt_over_a_join_verifies(tables: Tables) -> None:
    queries: DatasetQueries = tables.queries
    _, receipt = ask(tables, ORDERS, CUSTOMERS, joins=(join(),), select=chosen("o.customer", "c.town"))
    assert queries.verify(SCOPE, receipt, stop=Stop(30.0)) == ()
    assert [one.alias for one in receipt.snapshots] == ["o", "c"]
