from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import pytest

from artifact.model import Column, ColumnType
from knowledge_svc.domain.plan import (
    Aggregate,
    AggregateFunction,
    AnyOf,
    ColumnRef,
    Comparison,
    GroupBy,
    Not,
    Operator,
    OrderBy,
    Predicate,
    SelectColumn,
    TimePart,
)
from tests.dataset_fixtures import Tables, double, make_dataset, number, text

COUNT = Aggregate(AggregateFunction.COUNT)


def kept(tables: Tables, *predicates: Predicate) -> list[Any]:
    """Row ids that the predicates keep."""
    table, _ = tables.ask(where=predicates, select=(SelectColumn(ColumnRef("x")),))
    return [ids for ((ids,),) in table.row_ids]


def compared(operator: Operator, *values: Any, ignore_case: bool = False) -> Comparison:
    return Comparison(ColumnRef("x"), operator, values, ignore_case)


def test_comparisons_with_null_are_false_but_is_null(tables: Tables) -> None:
    tables.publish(make_dataset([text("x")], [["a"], [None], ["b"]]))
    assert kept(tables, compared(Operator.NE, "a")) == [2]
    assert kept(tables, compared(Operator.NOT_IN, "a", "z")) == [2]
    assert kept(tables, compared(Operator.IS_NULL)) == [1]
    assert kept(tables, compared(Operator.NOT_NULL)) == [0, 2]
    assert kept(tables, Not(compared(Operator.EQ, "a"))) == [1, 2]
    assert kept(tables, AnyOf((compared(Operator.EQ, "a"), compared(Operator.IS_NULL)))) == [0, 1]


@pytest.mark.parametrize(
    ("operator", "literal", "rows"),
    [
        (Operator.EQ, "1.005", []),
        (Operator.NE, "1.005", [0, 1]),
        (Operator.LT, "1.005", [0]),
        (Operator.LE, "1.005", [0]),
        (Operator.GT, "1.005", [1]),
        (Operator.GE, "1.005", [1]),
        (Operator.LT, "1.00", []),
        (Operator.LE, "1", [0]),
        (Operator.GE, "1.010000000000000000000000000000000000000000001", []),
        (Operator.GT, "-1e80", [0, 1]),
        (Operator.GT, "1e80", []),
        (Operator.LT, "1e80", [0, 1]),
        (Operator.NE, "1e80", [0, 1]),
    ],
)
def test_a_number_with_more_digits_than_the_column_is_compared_exactly(
    tables: Tables, operator: Operator, literal: str, rows: list[int]
) -> None:
    tables.publish(make_dataset([number("x", 38, 2)], [[Decimal("1.00")], [Decimal("1.01")], [None]]))
    assert kept(tables, compared(operator, Decimal(literal))) == rows


def test_a_column_of_38_digits_is_compared_with_its_greatest_numbers(tables: Tables) -> None:
    most = Decimal(10**38 - 1)
    tables.publish(make_dataset([number("x", 38)], [[most], [most.copy_negate()], [Decimal(0)]]))
    assert kept(tables, compared(Operator.EQ, most)) == [0]
    assert kept(tables, compared(Operator.BETWEEN, most.copy_negate(), Decimal(0))) == [1, 2]
    assert kept(tables, compared(Operator.BETWEEN, Decimal("-1e50"), Decimal("-0.5"))) == [1]
    assert kept(tables, compared(Operator.IN, Decimal("0.5"), Decimal("1e50"), most)) == [0]
    assert kept(tables, compared(Operator.BETWEEN, Decimal(1), Decimal("-1e50"))) == []


def test_a_double_that_is_not_a_number_is_greater_than_every_number(tables: Tables) -> None:
    tables.publish(make_dataset([double("x")], [[math.nan], [1.5], [math.inf], [None], [-math.nan]]))
    assert kept(tables, compared(Operator.GT, 1e300)) == [0, 2, 4]
    assert kept(tables, compared(Operator.LT, 1e300)) == [1]
    assert [(str(x), n) for x, n in tables.rows(group_by=(GroupBy(ColumnRef("x")),), aggregates=(COUNT,))] == [
        ("1.5", 1),
        ("inf", 1),
        ("nan", 2),
        ("None", 1),
    ]
    ((total,),) = tables.rows(aggregates=(Aggregate(AggregateFunction.SUM, ColumnRef("x")),))
    assert math.isnan(total)


def test_a_decimal_literal_meets_the_double_nearest_to_it(tables: Tables) -> None:
    tables.publish(make_dataset([double("x")], [[0.1], [0.1 + 2**-56]]))
    assert kept(tables, compared(Operator.EQ, Decimal("0.1"))) == [0]


def test_text_is_compared_by_code_points_unless_case_is_ignored(tables: Tables) -> None:
    tables.publish(make_dataset([text("x")], [["Zebra"], ["apple"], ["ÉCLAIR"], ["100%"], ["ΟΔΟΣ"]]))
    assert kept(tables, compared(Operator.LT, "a")) == [0, 3]
    assert kept(tables, compared(Operator.CONTAINS, "%")) == [3]
    assert kept(tables, compared(Operator.STARTS_WITH, "éc", ignore_case=True)) == [2]
    assert kept(tables, compared(Operator.STARTS_WITH, "éc")) == []
    assert kept(tables, compared(Operator.EQ, "οδος", ignore_case=True)) == [4]
    assert kept(tables, compared(Operator.ENDS_WITH, "LE", ignore_case=True)) == [1]


def test_a_text_literal_stays_a_value(tables: Tables) -> None:
    hostile = "'; DROP TABLE x; --"
    tables.publish(make_dataset([text("x")], [[hostile], ["$1"], ["\x00"]]))
    assert kept(tables, compared(Operator.EQ, hostile)) == [0]
    assert kept(tables, compared(Operator.IN, "$1", "\x00")) == [1, 2]


@pytest.mark.parametrize(
    ("part", "cut"),
    [
        (TimePart.SECOND, "2031-01-01T07:32:09"),
        (TimePart.MINUTE, "2031-01-01T07:32:00"),
        (TimePart.HOUR, "2031-01-01T07:00:00"),
        (TimePart.DAY, "2031-01-01"),
        (TimePart.WEEK, "2030-12-30"),
        (TimePart.MONTH, "2031-01-01"),
        (TimePart.QUARTER, "2031-01-01"),
        (TimePart.YEAR, "2031-01-01"),
    ],
)
def test_a_datetime_is_cut_to_a_part_of_time(tables: Tables, part: TimePart, cut: str) -> None:
    column = Column("x", ColumnType.DATETIME)
    tables.publish(make_dataset([column], [[dt.datetime.fromisoformat("2031-01-01T07:32:09.987654")], [None]]))
    table, _ = tables.ask(group_by=(GroupBy(ColumnRef("x"), part),), aggregates=(COUNT,))
    assert [(value.isoformat() if isinstance(value, dt.date) else value, n) for value, n in table.rows] == [(cut, 1), (None, 1)]
    assert table.columns[0].name == f"x_{part}"
    assert table.columns[0].type is (ColumnType.DATETIME if "T" in cut else ColumnType.DATE)


def test_groups_stand_by_their_keys_nulls_last(tables: Tables) -> None:
    tables.publish(
        make_dataset([text("a"), number("b", 3)], [["y", Decimal(1)], [None, Decimal(2)], ["x", None], ["x", Decimal(3)]])
    )
    assert tables.rows(group_by=(GroupBy(ColumnRef("a")), GroupBy(ColumnRef("b"))), aggregates=(COUNT,)) == [
        ("x", 3, 1),
        ("x", None, 1),
        ("y", 1, 1),
        (None, 2, 1),
    ]


def test_groups_that_tie_stand_by_their_first_row(tables: Tables) -> None:
    tables.publish(make_dataset([text("a")], [["z"], ["a"], ["m"], ["a"], ["z"]]))
    asked = tables.rows(
        group_by=(GroupBy(ColumnRef("a")),), aggregates=(COUNT,), order_by=(OrderBy("count", descending=True),), limit=2
    )
    assert asked == [("z", 2), ("a", 2)]


def test_rows_stand_by_row_id_and_are_ordered_by_columns_that_are_not_selected(tables: Tables) -> None:
    tables.publish(
        make_dataset([text("a"), number("b", 3)], [["x", Decimal(2)], ["y", None], ["z", Decimal(1)], ["w", Decimal(2)]])
    )
    selected = (SelectColumn(ColumnRef("a"), "name"),)
    assert tables.rows(select=selected) == [("x",), ("y",), ("z",), ("w",)]
    assert tables.rows(select=selected, order_by=(OrderBy("b"),)) == [("z",), ("x",), ("w",), ("y",)]
    first = (OrderBy("b", descending=True, nulls_first=True),)
    assert tables.rows(select=selected, order_by=first, limit=2) == [("y",), ("x",)]


def test_a_distinct_selection_keeps_the_first_of_equal_rows(tables: Tables) -> None:
    tables.publish(make_dataset([text("a")], [["b"], [None], ["a"], ["b"], [None]]))
    table, receipt = tables.ask(select=(SelectColumn(ColumnRef("a")),), distinct=True)
    assert table.rows == (("b",), (None,), ("a",))
    assert table.row_ids == ()
    assert [(step.name, step.rows_in, step.rows_out) for step in receipt.steps] == [("read", 5, 5), ("group", 5, 3)]


def test_having_is_over_names_of_the_result(tables: Tables) -> None:
    tables.publish(
        make_dataset([text("a"), number("b", 4, 1)], [["x", Decimal(1)], ["x", Decimal(2)], ["y", Decimal(9)], ["z", None]])
    )
    having = (Comparison(ColumnRef("avg_b"), Operator.GT, (Decimal("1.49999999999"),)),)
    aggregates = (Aggregate(AggregateFunction.AVG, ColumnRef("b")),)
    table, receipt = tables.ask(group_by=(GroupBy(ColumnRef("a")),), aggregates=aggregates, having=having, limit=1)
    assert table.rows == (("x", Decimal("1.5")),)
    assert [(step.name, step.rows_in, step.rows_out) for step in receipt.steps] == [
        ("read", 4, 4),
        ("aggregate avg_b", 4, 3),
        ("group", 4, 3),
        ("having", 3, 2),
        ("limit", 2, 1),
    ]


def test_steps_count_rows_before_the_limit(tables: Tables) -> None:
    tables.publish(make_dataset([text("x")], [["a"], ["b"], ["a"], [None]]))
    _, receipt = tables.ask(where=(compared(Operator.NOT_NULL),), select=(SelectColumn(ColumnRef("x")),), limit=1)
    assert [(step.name, step.rows_in, step.rows_out) for step in receipt.steps] == [
        ("read", 4, 4),
        ("where", 4, 3),
        ("limit", 3, 1),
    ]
    _, receipt = tables.ask(where=(compared(Operator.EQ, "q"),), group_by=(GroupBy(ColumnRef("x")),))
    assert [(step.name, step.rows_in, step.rows_out) for step in receipt.steps] == [
        ("read", 4, 4),
        ("where", 4, 0),
        ("group", 0, 0),
    ]


def test_names_of_the_result_cannot_take_the_place_of_the_statements_own(tables: Tables) -> None:
    tables.publish(make_dataset([text("a"), number("b", 3)], [["x", Decimal(2)], ["y", Decimal(1)]]))
    table, _ = tables.ask(
        group_by=(GroupBy(ColumnRef("a"), name="a0"),),
        aggregates=(Aggregate(AggregateFunction.SUM, ColumnRef("b"), "k0"), Aggregate(AggregateFunction.COUNT, name="n")),
        order_by=(OrderBy("k0"),),
    )
    assert table.rows == (("y", 1, 1), ("x", 2, 1))
    swapped = (SelectColumn(ColumnRef("a"), "c1"), SelectColumn(ColumnRef("b"), 'c0"'))
    assert tables.rows(select=swapped, order_by=(OrderBy("c1", descending=True),)) == [("y", 1), ("x", 2)]


def test_no_text_of_the_caller_but_quoted_names_stands_in_the_statement(tables: Tables) -> None:
    tables.publish(make_dataset([text('secret"name')], [["secret value"]]))
    _, receipt = tables.ask(
        where=(Comparison(ColumnRef('secret"name'), Operator.EQ, ("secret value",)),),
        select=(SelectColumn(ColumnRef('secret"name')),),
    )
    assert 'AS "secret""name"' in receipt.statement
    assert "secret value" not in receipt.statement
    assert receipt.parameters[0] == "secret value"
