from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from loom.knowledge.v1 import datasets_pb2 as pb

from knowledge_svc.api.plan_convert import read_plan
from knowledge_svc.api.plan_messages import plan_message
from knowledge_svc.api.plan_values import read_value, write_value
from knowledge_svc.domain.errors import InvalidPlan
from knowledge_svc.domain.plan_faults import PlanFaults
from tests.plan_strategies import cases


@settings(max_examples=100, deadline=None)
@given(case=cases())
def test_a_plan_reads_back_from_its_message(case: Any) -> None:
    *_, plan = case
    assert read_plan(plan_message(plan)) == plan
    assert read_plan(pb.Plan.FromString(plan_message(plan).SerializeToString())) == plan


@pytest.mark.parametrize(
    ("message", "value"),
    [
        (pb.Value(string_value=""), ""),
        (pb.Value(number_value="-12345.670"), Decimal("-12345.670")),
        (pb.Value(number_value="0" * 100), Decimal(0)),
        (pb.Value(integer_value=-3), -3),
        (pb.Value(double_value=0.1), 0.1),
        (pb.Value(bool_value=False), False),
        (pb.Value(date_value="0001-01-01"), dt.date(1, 1, 1)),
        (pb.Value(datetime_value="2031-05-27T07:32:00.5"), dt.datetime.fromisoformat("2031-05-27T07:32:00.500000")),
        (pb.Value(time_value="07:32"), dt.time(7, 32)),
        (pb.Value(duration_value="5400"), dt.timedelta(hours=1, minutes=30)),
        (pb.Value(duration_value="-0.000001"), dt.timedelta(microseconds=-1)),
        (pb.Value(duration_value="86399999999999.999999"), dt.timedelta(days=999999999, seconds=86399, microseconds=999999)),
    ],
)
def test_a_value_is_read_as_it_is_written(message: pb.Value, value: Any) -> None:
    faults = PlanFaults()
    read = read_value(message, "v", faults)
    assert (type(read), read) == (type(value), value)
    assert read_value(write_value(value), "v", faults) == value
    faults.raise_if_any()


@pytest.mark.parametrize(
    "message",
    [
        pb.Value(),
        *(
            pb.Value(number_value=one)
            for one in ("", "1e5", "+1", ".5", "1.", " 1", "١", "NaN", "Infinity", "1_0", "0x1", "9" * 101)
        ),
        *(pb.Value(date_value=one) for one in ("", "2031-02-30", "2031-5-27", "20310527", "0000-01-01", "2031-W22-2")),
        *(pb.Value(datetime_value=one) for one in ("2031-05-27", "2031-05-27T07:32:00Z", "2031-05-27T07:32:00+02:00")),
        *(pb.Value(datetime_value=one) for one in ("2031-05-27 07:32:00", "2031-05-27T24:00:00", "2031-05-27T07:32:00.1234567")),
        *(pb.Value(time_value=one) for one in ("7:32", "24:00", "07:32:60", "07:32:00Z")),
        *(pb.Value(duration_value=one) for one in ("", "PT1H", "1.1234567", "-", "1e3", "86400000000000")),
    ],
)
def test_a_value_of_another_form_is_refused(message: pb.Value) -> None:
    faults = PlanFaults()
    assert read_value(message, "v", faults) is None
    with pytest.raises(InvalidPlan):
        faults.raise_if_any()


def test_unset_alternatives_and_unknown_numbers_are_all_told() -> None:
    message = pb.Plan(
        where=[
            pb.Predicate(**{"not": pb.Predicate()}),
            pb.Predicate(all=pb.PredicateList(predicates=[pb.Predicate(comparison=pb.Comparison())])),
            pb.Predicate(comparison=pb.Comparison(column=pb.ColumnRef(column="a"), operator=pb.OPERATOR_EQ, values=[pb.Value()])),
        ],
        group_by=[pb.GroupBy()],
        aggregates=[pb.Aggregate(function=pb.AGGREGATE_FUNCTION_FIRST, column=pb.ColumnRef(column="a"), order_by=[pb.OrderBy()])],
        select=[pb.SelectColumn()],
        order_by=[pb.OrderBy()],
    )
    message.group_by[0].time_part = 99  # type: ignore[assignment]  # no such number
    message.order_by[0].nulls = 99  # type: ignore[assignment]  # as above
    with pytest.raises(InvalidPlan) as caught:
        read_plan(message)
    assert [one.field for one in caught.value.violations] == [
        "plan.where[0].not",
        "plan.where[1].all.predicates[0].comparison.operator",
        "plan.where[1].all.predicates[0].comparison.column",
        "plan.where[2].comparison.values[0]",
        "plan.group_by[0].time_part",
        "plan.group_by[0].column",
        "plan.aggregates[0].order_by[0].name",
        "plan.select[0].expression",
        "plan.order_by[0].nulls",
        "plan.order_by[0].name",
    ]
