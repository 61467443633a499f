from __future__ import annotations

import datetime as dt
import math
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from artifact.locators import RowSpan
from artifact.model import Column, ColumnType
from knowledge_svc.domain.checked_plan import CheckedPlan
from knowledge_svc.domain.errors import InvalidPlan
from knowledge_svc.domain.model import DatasetSnapshot, SchemaState
from knowledge_svc.domain.plan import (
    Aggregate,
    AggregateFunction,
    All,
    AnyOf,
    ColumnRef,
    Comparison,
    GroupBy,
    Not,
    Operator,
    OrderBy,
    Plan,
    PlanDataset,
    Predicate,
    SelectColumn,
    TimePart,
)
from knowledge_svc.domain.plan_check import check_plan
from tests.dataset_fixtures import NOW, SCOPE, URI, double, number, text

COLUMNS = (
    text("name"),
    number("Amount", 9, 2),
    double("ratio"),
    Column("paid", ColumnType.BOOL),
    Column("day", ColumnType.DATE),
    Column("at", ColumnType.DATETIME),
    Column("clock", ColumnType.TIME),
    Column("length", ColumnType.DURATION),
    Column("extra", ColumnType.STRING, stored=False),
)
SNAPSHOT = DatasetSnapshot(
    snapshot_id="0" * 32,
    scope=SCOPE,
    source_uri=URI,
    dataset_id="t1",
    name="Orders",
    ordinal=0,
    revision=1,
    columns=COLUMNS,
    schema_state=SchemaState.INFERRED,
    clarifications=(),
    row_count=10,
    rejected_count=0,
    rejected_rows=(),
    complete=True,
    locator=RowSpan(1, 10),
    file_sha256="0" * 64,
    published_at=NOW,
)
NAME = SelectColumn(ColumnRef("name"))
COUNT = Aggregate(AggregateFunction.COUNT)


def check(**parts: Any) -> CheckedPlan:
    parts = {"datasets": (PlanDataset(URI, "t1"),), **parts}
    return check_plan(Plan(**parts), [SNAPSHOT])


def faults(**parts: Any) -> dict[str, str]:
    with pytest.raises(InvalidPlan) as caught:
        check(**parts)
    return {one.field: one.description for one in caught.value.violations}


def where(*predicates: Predicate) -> dict[str, str]:
    return faults(select=(NAME,), where=predicates)


def compared(column: str, operator: Operator, *values: Any, **more: Any) -> Comparison:
    return Comparison(ColumnRef(column), operator, values, **more)


def test_every_fault_is_told_at_once_each_at_its_field() -> None:
    found = faults(
        where=(
            compared("name", Operator.EQ, "x"),
            Not(All((compared("amount", Operator.EQ, 1), compared("name", Operator.LT, 5)))),
        ),
        group_by=(GroupBy(ColumnRef("nmae")),),
        aggregates=(Aggregate(AggregateFunction.SUM, ColumnRef("name")), Aggregate(AggregateFunction.AVG)),
        order_by=(OrderBy("sum_nam"),),
        limit=0,
    )
    assert found == {
        "plan.where[1].not.all.predicates[0].comparison.column": 'no column "amount"; close: "Amount"',
        "plan.where[1].not.all.predicates[1].comparison.values[0]": "a string column is compared with text (string_value)",
        "plan.group_by[0].column": 'no column "nmae"; close: "name"',
        "plan.aggregates[0].column": "sum takes columns of number, duration; this one is of type string",
        "plan.aggregates[1].column": "avg is over a column; name it",
        "plan.order_by[0].name": 'no column of the result "sum_nam"; close: "sum_name"',
        "plan.limit": "a limit is at least 1; leave it out for every row",
    }


def test_an_unknown_column_is_told_with_those_that_are() -> None:
    found = where(compared("zzz", Operator.IS_NULL))
    assert found["plan.where[0].comparison.column"] == (
        'no column "zzz"; there are: "name", "Amount", "ratio", "paid", "day", "at", "clock", "length"'
    )


def test_a_column_that_is_not_stored_is_told_apart_from_one_that_is_not_there() -> None:
    assert "not stored" in where(compared("extra", Operator.IS_NULL))["plan.where[0].comparison.column"]


DAY, AT = dt.date(2031, 5, 27), dt.datetime.fromisoformat("2031-05-27T07:32:00")


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("name", Decimal(1)),
        ("name", True),
        ("Amount", "1"),
        ("Amount", 1.5),
        ("Amount", True),
        ("Amount", Decimal("NaN")),
        ("ratio", math.inf),
        ("ratio", math.nan),
        ("ratio", Decimal("1e400")),
        ("ratio", True),
        ("paid", 1),
        ("day", AT),
        ("day", "2031-05-27"),
        ("at", DAY),
        ("clock", AT),
        ("length", 5),
        ("length", Decimal(5)),
    ],
)
def test_a_value_of_another_type_is_refused(column: str, value: Any) -> None:
    assert list(where(compared(column, Operator.EQ, value))) == ["plan.where[0].comparison.values[0]"]


@pytest.mark.parametrize(
    ("column", "value", "read"),
    [
        ("Amount", 3, Decimal(3)),
        ("Amount", Decimal("3.5"), Decimal("3.5")),
        ("ratio", Decimal("0.1"), 0.1),
        ("ratio", 2, 2.0),
        ("day", DAY, DAY),
        ("at", AT, AT),
        ("paid", False, False),
        ("clock", dt.time(7), dt.time(7)),
        ("length", dt.timedelta(1), dt.timedelta(1)),
    ],
)
def test_a_value_takes_the_columns_type(column: str, value: Any, read: Any) -> None:
    (predicate,) = check(select=(NAME,), where=(compared(column, Operator.EQ, value),)).where
    (found,) = predicate.values  # type: ignore[union-attr]  # it is a comparison
    assert (type(found), found) == (type(read), read)


TEXT_ONLY = {Operator.CONTAINS, Operator.STARTS_WITH, Operator.ENDS_WITH}
ORDER = {Operator.LT, Operator.LE, Operator.GT, Operator.GE, Operator.BETWEEN}


@pytest.mark.parametrize("operator", list(Operator))
@pytest.mark.parametrize("column", [one.name for one in COLUMNS if one.stored])
def test_operators_fit_types(column: str, operator: Operator) -> None:
    fits = operator not in (TEXT_ONLY if column not in ("name", "paid") else TEXT_ONLY | ORDER if column == "paid" else set())
    value = {
        "name": "x",
        "Amount": 1,
        "ratio": 1,
        "paid": True,
        "day": DAY,
        "at": AT,
        "clock": dt.time(1),
        "length": dt.timedelta(1),
    }
    count = {Operator.IS_NULL: 0, Operator.NOT_NULL: 0, Operator.BETWEEN: 2}.get(operator, 1)
    predicate = compared(column, operator, *[value[column]] * count)
    if fits:
        assert check(select=(NAME,), where=(predicate,))
    else:
        assert "is not compared by" in where(predicate)["plan.where[0].comparison.operator"]


@pytest.mark.parametrize(
    ("operator", "count", "told"),
    [
        (Operator.EQ, 0, "eq takes 1 values, not 0"),
        (Operator.EQ, 2, "eq takes 1 values, not 2"),
        (Operator.IS_NULL, 1, "is_null takes 0 values, not 1"),
        (Operator.BETWEEN, 1, "between takes 2 values, not 1"),
        (Operator.IN, 0, "in takes 1 to 1000 values, not 0"),
        (Operator.IN, 1001, "in takes 1 to 1000 values, not 1001"),
    ],
)
def test_operators_take_so_many_values(operator: Operator, count: int, told: str) -> None:
    assert where(compared("name", operator, *["x"] * count)) == {"plan.where[0].comparison.values": told}


def test_case_is_of_text_alone() -> None:
    assert list(where(compared("Amount", Operator.EQ, 1, ignore_case=True))) == ["plan.where[0].comparison.ignore_case"]


def nested(depth: int) -> Predicate:
    predicate: Predicate = compared("name", Operator.IS_NULL)
    for _ in range(depth - 1):
        predicate = Not(predicate)
    return predicate


def test_predicates_nest_32_deep() -> None:
    assert check(select=(NAME,), where=(nested(32),))
    assert list(where(nested(33)).values()) == ["predicates nest at most 32 deep"]


def test_a_plan_holds_256_predicates_wherever_they_stand() -> None:
    leaf = compared("name", Operator.IS_NULL)
    assert check(select=(NAME,), where=(AnyOf((leaf,) * 255),))
    assert list(where(AnyOf((leaf,) * 256))) == ["plan.where[0].any.predicates[255]"]
    condition = Aggregate(AggregateFunction.COUNT_IF, name="c", condition=AnyOf((leaf,) * 200))
    assert list(faults(aggregates=(condition,), where=(AnyOf((leaf,) * 100),))) == [
        "plan.aggregates[0].condition.any.predicates[154]"
    ]


def test_a_plan_holds_10000_values() -> None:
    many = compared("name", Operator.IN, *["x"] * 1000)
    assert check(select=(NAME,), where=(many,) * 10)
    assert "at most 10000 values" in next(iter(where(*(many,) * 11).values()))


def test_a_list_of_predicates_is_not_empty() -> None:
    assert list(where(AnyOf(()))) == ["plan.where[0].any.predicates"]


@pytest.mark.parametrize(
    ("parts", "field"),
    [
        ({}, "plan"),
        ({"select": (NAME,), "aggregates": (COUNT,)}, "plan.select"),
        ({"select": (NAME,), "group_by": (GroupBy(ColumnRef("name"), name="n"),)}, "plan.select"),
        ({"select": (NAME,), "having": (compared("name", Operator.IS_NULL),)}, "plan.having"),
        ({"aggregates": (COUNT,), "distinct": True}, "plan.distinct"),
        ({"select": (NAME,), "limit": -1}, "plan.limit"),
        ({"select": (NAME,), "order_by": (OrderBy("name"),) * 17}, "plan.order_by"),
        ({"select": (NAME, NAME)}, "plan.select[1].as"),
        ({"select": (replace(NAME, name="x\ny"),)}, "plan.select[0].as"),
        ({"select": (NAME,), "distinct": True, "order_by": (OrderBy("Amount"),)}, "plan.order_by[0].name"),
        ({"aggregates": (COUNT,), "order_by": (OrderBy("name"),)}, "plan.order_by[0].name"),
        ({"aggregates": (Aggregate(AggregateFunction.MIN, ColumnRef("paid")),)}, "plan.aggregates[0].column"),
        ({"aggregates": (Aggregate(AggregateFunction.SUM, ColumnRef("day")),)}, "plan.aggregates[0].column"),
        ({"aggregates": (Aggregate(AggregateFunction.COUNT_IF),)}, "plan.aggregates[0].condition"),
        ({"group_by": (GroupBy(ColumnRef("day"), TimePart.HOUR),)}, "plan.group_by[0].time_part"),
        ({"group_by": (GroupBy(ColumnRef("name"), TimePart.DAY),)}, "plan.group_by[0].time_part"),
        ({"aggregates": (COUNT,), "having": (compared("name", Operator.IS_NULL),)}, "plan.having[0].comparison.column"),
        ({"select": (NAME,), "datasets": ()}, "plan.datasets"),
        ({"select": (NAME,), "datasets": (PlanDataset("", "t1"),)}, "plan.datasets[0].source_uri"),
        ({"select": (NAME,), "datasets": (PlanDataset(URI, "t1", "1st"),)}, "plan.datasets[0].alias"),
        ({"select": (SelectColumn(ColumnRef("name", "o")),)}, "plan.select[0].expression.column.alias"),
    ],
)
def test_a_plan_has_one_shape(parts: dict[str, Any], field: str) -> None:
    assert list(faults(**parts)) == [field]


def test_faults_of_one_column_do_not_bring_more_where_its_name_is_used() -> None:
    found = faults(
        aggregates=(Aggregate(AggregateFunction.SUM, ColumnRef("gone"), "s"),),
        order_by=(OrderBy("s"),),
        having=(compared("s", Operator.GT, 1),),
    )
    assert list(found) == ["plan.aggregates[0].column"]


def test_a_column_is_reached_with_or_without_the_alias() -> None:
    datasets = (PlanDataset(URI, "t1", "o"),)
    both = (SelectColumn(ColumnRef("name", "o")), SelectColumn(ColumnRef("Amount")))
    assert [column.name for column in check(datasets=datasets, select=both).columns] == ["name", "Amount"]
    found = faults(datasets=datasets, select=(SelectColumn(ColumnRef("name", "p")),))
    assert found["plan.select[0].expression.column.alias"].startswith('no dataset of the plan has the alias "p"')


def test_each_dataset_has_an_alias_of_its_own() -> None:
    assert list(faults(datasets=(PlanDataset(URI, "t1", "a"), PlanDataset(URI, "t1", "a")))) == ["plan.datasets[1].alias"]


@pytest.mark.parametrize(
    ("aggregate", "field"),
    [
        (Aggregate(AggregateFunction.PERCENTILE, ColumnRef("Amount")), "fraction"),
        (Aggregate(AggregateFunction.PERCENTILE, ColumnRef("Amount"), fraction=Decimal("1.5")), "fraction"),
        (Aggregate(AggregateFunction.PERCENTILE, ColumnRef("Amount"), fraction=Decimal("NaN")), "fraction"),
        (Aggregate(AggregateFunction.SUM, ColumnRef("Amount"), fraction=Decimal("0.5")), "fraction"),
        (Aggregate(AggregateFunction.SUM, ColumnRef("Amount"), order_by=(OrderBy("Amount"),)), "order_by"),
        (Aggregate(AggregateFunction.FIRST, ColumnRef("Amount"), order_by=(OrderBy("nothing"),)), "order_by[0].name"),
        (Aggregate(AggregateFunction.MEDIAN, ColumnRef("name")), "column"),
        (Aggregate(AggregateFunction.FIRST), "column"),
    ],
)
def test_parts_of_an_aggregate_that_do_not_hold_are_told_at_their_fields(aggregate: Aggregate, field: str) -> None:
    assert f"plan.aggregates[0].{field}" in faults(aggregates=(aggregate,))


def test_more_faults_than_a_status_carries_are_counted() -> None:
    found = where(*[compared(f"no such column {i}", Operator.IS_NULL) for i in range(200)])
    assert len(found) < 200
    assert found["plan"].endswith("more faults are not listed; repair these first")
