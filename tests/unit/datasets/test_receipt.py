from __future__ import annotations

import datetime as dt
import hashlib
from decimal import Decimal
from typing import Any

import pytest

from artifact.model import ColumnType
from knowledge_svc.domain.checked_plan import ResultColumn, ResultTable
from knowledge_svc.domain.plan import (
    Aggregate,
    AggregateFunction,
    AnyOf,
    ColumnRef,
    Comparison,
    GroupBy,
    Join,
    JoinKey,
    JoinKind,
    Not,
    Operator,
    OrderBy,
    Plan,
    PlanDataset,
    TimePart,
)
from knowledge_svc.domain.receipt import canonical_plan, plan_sha256, result_sha256, scalar_text

PLAN = Plan(
    datasets=(PlanDataset("file:///größe.csv", "t1", "o"),),
    joins=(Join("p", (JoinKey(ColumnRef("a", "o"), ColumnRef("b")),), JoinKind.LEFT, allow_fan_out=True),),
    where=(
        AnyOf((Not(Comparison(ColumnRef("a", "o"), Operator.IS_NULL)), Comparison(ColumnRef("b"), Operator.EQ, ("x",), True))),
        Comparison(ColumnRef("n"), Operator.BETWEEN, (Decimal("1.50"), 2)),
    ),
    group_by=(GroupBy(ColumnRef("day"), TimePart.MONTH),),
    aggregates=(Aggregate(AggregateFunction.COUNT),),
    order_by=(OrderBy("count", descending=True),),
    limit=3,
)


def test_the_canonical_plan_is_one_line_with_everything_in_it() -> None:
    assert canonical_plan(PLAN) == (
        '{"aggregates":[{"as":"","column":null,"condition":null,"fraction":null,"function":"count","order_by":[]}],'
        '"datasets":[{"alias":"o","dataset_id":"t1","source_uri":"file:///größe.csv"}],'
        '"distinct":false,'
        '"group_by":[{"as":"","column":{"alias":"","column":"day"},"time_part":"month"}],'
        '"having":[],'
        '"joins":[{"alias":"p","allow_fan_out":true,"keys":[{"left":{"alias":"o","column":"a"},"right":{"alias":"","column":"b"}}],'
        '"kind":"left"}],"limit":3,'
        '"order_by":[{"alias":"","descending":true,"name":"count","nulls_first":false}],'
        '"select":[],'
        '"where":[{"any":[{"not":{"column":{"alias":"o","column":"a"},"ignore_case":false,"operator":"is_null","values":[]}},'
        '{"column":{"alias":"","column":"b"},"ignore_case":true,"operator":"eq","values":[{"str":"x"}]}]},'
        '{"column":{"alias":"","column":"n"},"ignore_case":false,"operator":"between",'
        '"values":[{"decimal":"1.50"},{"int":"2"}]}]}'
    )
    assert plan_sha256(PLAN) == hashlib.sha256(canonical_plan(PLAN).encode()).hexdigest()


def test_the_hash_of_a_result_is_over_its_names_types_and_values() -> None:
    table = ResultTable(
        (ResultColumn("näme", ColumnType.STRING), ResultColumn("n", ColumnType.NUMBER, 9, 2)),
        (("a\n", Decimal("1.50")), (None, Decimal("-0.05"))),
    )
    lines = '[["näme","string",0,0],["n","number",9,2]]\n["a\\n","1.50"]\n[null,"-0.05"]\n'
    assert result_sha256(table) == hashlib.sha256(lines.encode()).hexdigest()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("é", "é"),
        (True, "true"),
        (7, "7"),
        (Decimal("1E+5"), "100000"),
        (Decimal("-0.10"), "-0.10"),
        (0.1, "0.1"),
        (dt.date(31, 5, 7), "0031-05-07"),
        (dt.datetime.fromisoformat("2031-05-27T07:32:00.000001"), "2031-05-27T07:32:00.000001"),
        (dt.time(7, 32), "07:32:00"),
        (dt.timedelta(hours=1, minutes=30), "5400"),
        (dt.timedelta(microseconds=-250_000), "-0.25"),
        (dt.timedelta(microseconds=-1), "-0.000001"),
        (dt.timedelta(0), "0"),
    ],
)
def test_values_have_one_text(value: Any, text: str) -> None:
    assert scalar_text(value) == text
