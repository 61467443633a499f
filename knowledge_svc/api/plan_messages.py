"""Writes plans as messages of the contract; `read_plan` reads them back to equal plans."""

from __future__ import annotations

from typing import Any, Final, TypeVar

from loom.knowledge.v1 import datasets_pb2 as pb

from knowledge_svc.api.plan_convert import FUNCTIONS, JOIN_KINDS, OPERATORS, TIME_PARTS
from knowledge_svc.api.plan_values import write_value
from knowledge_svc.domain.plan import (
    Aggregate,
    All,
    AnyOf,
    ColumnRef,
    Comparison,
    GroupBy,
    Join,
    Not,
    OrderBy,
    Plan,
    Predicate,
    SelectColumn,
)

_N = TypeVar("_N", pb.GroupBy, pb.Aggregate, pb.SelectColumn)

# Any: numbers of enums, which the generated types take apart by name
_OPERATOR_NUMBERS: Final[dict[object, Any]] = {kind: number for number, kind in OPERATORS.items()}
_JOIN_NUMBERS: Final[dict[object, Any]] = {kind: number for number, kind in JOIN_KINDS.items()}
_PART_NUMBERS: Final[dict[object, Any]] = {kind: number for number, kind in TIME_PARTS.items()}
_FUNCTION_NUMBERS: Final[dict[object, Any]] = {kind: number for number, kind in FUNCTIONS.items()}


def plan_message(plan: Plan) -> pb.Plan:
    """A plan."""
    return pb.Plan(
        datasets=[pb.PlanDataset(source_uri=one.source_uri, dataset_id=one.dataset_id, alias=one.alias) for one in plan.datasets],
        joins=map(_join, plan.joins),
        where=map(_predicate, plan.where),
        group_by=map(_group_by, plan.group_by),
        aggregates=map(_aggregate, plan.aggregates),
        having=map(_predicate, plan.having),
        select=map(_select, plan.select),
        distinct=plan.distinct,
        order_by=map(_order_by, plan.order_by),
        limit=plan.limit,
    )


def _join(join: Join) -> pb.Join:
    keys = [pb.JoinKey(left=_ref(key.left), right=_ref(key.right)) for key in join.keys]
    return pb.Join(kind=_JOIN_NUMBERS[join.kind], keys=keys, allow_fan_out=join.allow_fan_out, alias=join.alias)


def _predicate(predicate: Predicate) -> pb.Predicate:
    match predicate:
        case Comparison():
            return pb.Predicate(comparison=_comparison(predicate))
        case Not(inner):
            message = pb.Predicate()
            getattr(message, "not").CopyFrom(_predicate(inner))
            return message
        case All(predicates):
            return pb.Predicate(all=pb.PredicateList(predicates=map(_predicate, predicates)))
        case AnyOf(predicates):
            return pb.Predicate(any=pb.PredicateList(predicates=map(_predicate, predicates)))


def _comparison(comparison: Comparison) -> pb.Comparison:
    return pb.Comparison(
        column=_ref(comparison.column),
        operator=_OPERATOR_NUMBERS[comparison.operator],
        values=map(write_value, comparison.values),
        ignore_case=comparison.ignore_case,
    )


def _ref(ref: ColumnRef) -> pb.ColumnRef:
    return pb.ColumnRef(alias=ref.alias, column=ref.column)


def _group_by(key: GroupBy) -> pb.GroupBy:
    message = _named(pb.GroupBy(column=_ref(key.column)), key.name)
    if key.time_part is not None:
        message.time_part = _PART_NUMBERS[key.time_part]
    return message


def _aggregate(aggregate: Aggregate) -> pb.Aggregate:
    message = _named(pb.Aggregate(function=_FUNCTION_NUMBERS[aggregate.function]), aggregate.name)
    if aggregate.column is not None:
        message.column.CopyFrom(_ref(aggregate.column))
    if aggregate.condition is not None:
        message.condition.CopyFrom(_predicate(aggregate.condition))
    if aggregate.fraction is not None:
        message.fraction = float(aggregate.fraction)
    message.order_by.extend(map(_order_by, aggregate.order_by))
    return message


def _select(column: SelectColumn) -> pb.SelectColumn:
    return _named(pb.SelectColumn(expression=pb.Expression(column=_ref(column.column))), column.name)


def _named(message: _N, name: str) -> _N:
    """Sets the field `as`, which is a keyword of Python and no argument can be called by."""
    setattr(message, "as", name)
    return message


def _order_by(order: OrderBy) -> pb.OrderBy:
    message = pb.OrderBy(name=order.name, alias=order.alias, descending=order.descending)
    if order.nulls_first:
        message.nulls = pb.NULLS_ORDER_FIRST
    return message
