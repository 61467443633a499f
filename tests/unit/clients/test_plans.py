from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from google.protobuf import text_format
from loom.knowledge.v1 import datasets_pb2

from clients.plans import Plan, compare


def plan_of(text: str) -> datasets_pb2.Plan:
    """A plan from protobuf's text form, over dataset orders of file:///o.xlsx."""
    head = 'datasets { source_uri: "file:///o.xlsx" dataset_id: "orders" } '
    return text_format.Parse(head + text, datasets_pb2.Plan())


def orders() -> Plan:
    return Plan.over("file:///o.xlsx", "orders")


def test_a_plan_says_what_it_was_built_of() -> None:
    built = (
        orders()
        .where("amount", ">=", Decimal("10"))
        .group_by("region")
        .group_by("ordered_on", "month", name="month")
        .sum("amount")
        .count(name="orders")
        .having("sum_amount", ">", 100)
        .order_by("-sum_amount", "region")
        .limit(5)
    )
    assert built.to_proto() == plan_of(
        """
        where { comparison { column { column: "amount" } operator: OPERATOR_GE values { number_value: "10" } } }
        group_by { column { column: "region" } }
        group_by { column { column: "ordered_on" } time_part: TIME_PART_MONTH as: "month" }
        aggregates { function: AGGREGATE_FUNCTION_SUM column { column: "amount" } }
        aggregates { function: AGGREGATE_FUNCTION_COUNT as: "orders" }
        having { comparison { column { column: "sum_amount" } operator: OPERATOR_GT values { number_value: "100" } } }
        order_by { name: "sum_amount" descending: true nulls: NULLS_ORDER_LAST }
        order_by { name: "region" nulls: NULLS_ORDER_LAST }
        limit: 5
        """
    )


def test_a_plan_is_a_value() -> None:
    base = orders().where("region", "=", "north")
    longer = base.sum("amount")
    assert base != longer
    assert base == orders().where("region", "=", "north")
    assert len({base, longer, orders().where("region", "=", "north")}) == 2
    longer.to_proto().limit = 7
    assert not longer.to_proto().HasField("limit")


def test_rows_are_selected_under_their_own_names_and_under_others() -> None:
    assert orders().select("region", "amount", due="due_on").distinct().to_proto() == plan_of(
        """
        select { expression { column { column: "region" } } }
        select { expression { column { column: "amount" } } }
        select { expression { column { column: "due_on" } } as: "due" }
        distinct: true
        """
    )


@pytest.mark.parametrize(
    ("operator", "values", "expected"),
    [
        ("in", (["north", "south"],), 'operator: OPERATOR_IN values { string_value: "north" } values { string_value: "south" }'),
        ("between", (1, Decimal("2.5")), 'operator: OPERATOR_BETWEEN values { number_value: "1" } values { number_value: "2.5" }'),
        ("is null", (), "operator: OPERATOR_IS_NULL"),
        ("=", (date(2031, 5, 27),), 'operator: OPERATOR_EQ values { date_value: "2031-05-27" }'),
        ("=", (True,), "operator: OPERATOR_EQ values { bool_value: true }"),
    ],
)
def test_operators_take_their_values(operator: str, values: tuple[str, ...], expected: str) -> None:
    comparison = f'comparison {{ column {{ column: "c" }} {expected} }}'
    assert compare("c", operator, *values).predicate == text_format.Parse(comparison, datasets_pb2.Predicate())


def test_conditions_combine() -> None:
    condition = (compare("a", "=", 1) | ~compare("b", "is null")) & compare("c", "contains", "x", ignore_case=True)
    assert condition.predicate == text_format.Parse(
        """
        all {
          predicates { any {
            predicates { comparison { column { column: "a" } operator: OPERATOR_EQ values { number_value: "1" } } }
            predicates { not { comparison { column { column: "b" } operator: OPERATOR_IS_NULL } } }
          } }
          predicates { comparison {
            column { column: "c" } operator: OPERATOR_CONTAINS values { string_value: "x" } ignore_case: true
          } }
        }
        """,
        datasets_pb2.Predicate(),
    )


def test_rows_are_counted_by_condition() -> None:
    assert orders().count_if(compare("paid", "=", False), name="open").to_proto() == plan_of(
        """
        aggregates {
          function: AGGREGATE_FUNCTION_COUNT_IF as: "open"
          condition { comparison { column { column: "paid" } operator: OPERATOR_EQ values { bool_value: false } } }
        }
        """
    )


def test_an_unknown_operator_or_part_is_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="'like' is no operator; there are =, ==, !="):
        orders().where("region", "like", "n%")
    with pytest.raises(ValueError, match="'fortnight' is not one of second, minute"):
        orders().group_by("ordered_on", "fortnight")


def test_a_joined_dataset_is_named_by_its_alias() -> None:
    built = (
        Plan.over("file:///o.xlsx", "orders", alias="o")
        .join("file:///c.csv", "customers", alias="c", on={("o", "customer"): "name"}, kind="left", allow_fan_out=True)
        .where(("o", "amount"), ">", 1)
        .group_by(("c", "town"))
        .sum(("o", "amount"), name="amount")
    )
    wanted = text_format.Parse(
        """
        datasets { source_uri: "file:///o.xlsx" dataset_id: "orders" alias: "o" }
        datasets { source_uri: "file:///c.csv" dataset_id: "customers" alias: "c" }
        joins {
          kind: JOIN_KIND_LEFT alias: "c" allow_fan_out: true
          keys { left { alias: "o" column: "customer" } right { alias: "c" column: "name" } }
        }
        where { comparison { column { alias: "o" column: "amount" } operator: OPERATOR_GT values { number_value: "1" } } }
        group_by { column { alias: "c" column: "town" } }
        aggregates { function: AGGREGATE_FUNCTION_SUM column { alias: "o" column: "amount" } as: "amount" }
        """,
        datasets_pb2.Plan(),
    )
    assert built.to_proto() == wanted


def test_an_unknown_kind_of_join_is_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="inner, left, semi, anti"):
        orders().join("file:///c.csv", "c", alias="c", on={("o", "x"): "x"}, kind="outer")


def test_figures_by_rank_and_order_carry_what_they_are_made_by() -> None:
    built = orders().median("a").percentile("a", 0.95, name="p95").stddev("a").first("a", by=["-day", "b"]).last("a")
    assert built.to_proto() == plan_of(
        """
        aggregates { function: AGGREGATE_FUNCTION_MEDIAN column { column: "a" } }
        aggregates { function: AGGREGATE_FUNCTION_PERCENTILE column { column: "a" } fraction: 0.95 as: "p95" }
        aggregates { function: AGGREGATE_FUNCTION_STDDEV column { column: "a" } }
        aggregates {
          function: AGGREGATE_FUNCTION_FIRST column { column: "a" }
          order_by { name: "day" descending: true nulls: NULLS_ORDER_LAST }
          order_by { name: "b" nulls: NULLS_ORDER_LAST }
        }
        aggregates { function: AGGREGATE_FUNCTION_LAST column { column: "a" } }
        """
    )
