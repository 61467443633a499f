"""Random plans over random tables: the engine answers what the plain evaluator does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from artifact.model import Column, ColumnType
from knowledge_svc.domain.errors import FanOut, NumberOverflow
from knowledge_svc.domain.plan import Aggregate, AggregateFunction, ColumnRef, Plan, PlanDataset
from knowledge_svc.domain.stop import Stop
from tests.dataset_fixtures import SCOPE, URI, Tables, make_dataset
from tests.plan_oracle import OVERFLOW, Expected, evaluate
from tests.plan_strategies import Table, cases, join_cases


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tables]:
    tables = Tables(tmp_path_factory.mktemp("snapshots"))
    yield tables
    tables.engine.close()


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(case=cases())
def test_the_engine_answers_what_the_plain_evaluator_does(shared: Tables, case: tuple[list[Table], Plan]) -> None:
    compare(shared, *case)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(case=join_cases())
def test_joins_answer_what_looking_at_every_pair_does(shared: Tables, case: tuple[list[Table], Plan]) -> None:
    compare(shared, *case)


def compare(shared: Tables, tables: list[Table], plan: Plan) -> None:
    expected = evaluate(plan, tables)
    for place, (columns, rows) in enumerate(tables):
        values = [[row[column.name] for column in columns] for row in rows]
        shared.publish(make_dataset(columns, values, dataset_id=f"t{place + 1}"))
    try:
        table, receipt = shared.queries.query(SCOPE, plan, stop=Stop(30.0))
    except NumberOverflow:
        assert expected.some_overflow
        return
    except FanOut:
        assert expected.fans_out
        return
    assert not expected.overflows
    assert not expected.fans_out
    assert [tuple(map(typed, row)) for row in table.rows] == [tuple(map(typed, row)) for row in expected.rows]
    given = [tuple(ids[0] if ids else None for ids in row) for row in table.row_ids]
    assert given == ([] if plan.distinct else expected.row_ids)
    assert receipt.result_rows == len(expected.rows)
    check_steps(receipt.steps, rows=sum(len(rows) for _, rows in tables), answered=len(expected.rows))


def check_steps(steps: Sequence[Any], *, rows: int, answered: int) -> None:
    flow = [step for step in steps if not step.name.startswith("aggregate ")]
    assert flow[0].name == "read"
    assert flow[0].rows_in == rows
    assert flow[-1].rows_out == answered or flow[-1].name in ("read", "join", "where")
    assert all(before.rows_out == after.rows_in for before, after in pairwise(flow))


def typed(value: Any) -> tuple[type, Any]:
    assert value is not OVERFLOW
    return float if isinstance(value, float) else type(value), value


def test_the_evaluator_refuses_nothing_it_can_tell() -> None:
    one = Column("x", ColumnType.NUMBER, precision=38)
    plan = Plan((PlanDataset(URI, "t1"),), aggregates=(Aggregate(AggregateFunction.SUM, ColumnRef("x")),))
    assert evaluate(plan, [([one], [{"x": Decimal(10**38 - 1)}])]) == Expected([(Decimal(10**38 - 1),)], [], False)
    assert evaluate(plan, [([one], [{"x": Decimal(10**38 - 1)}, {"x": Decimal(1)}])]).overflows
