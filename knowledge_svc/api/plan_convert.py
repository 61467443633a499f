"""Reads plans of the contract, noting every fault and refusing what is declared and not built yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Final, TypeVar

from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper
from loom.knowledge.v1 import datasets_pb2 as pb

from knowledge_svc.api.plan_values import read_value
from knowledge_svc.domain.plan import (
    Aggregate,
    AggregateFunction,
    All,
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
    Predicate,
    Scalar,
    SelectColumn,
    TimePart,
)
from knowledge_svc.domain.plan_faults import PlanFaults
from services.errors import Unimplemented

_T = TypeVar("_T")
_K = TypeVar("_K", Operator, TimePart, AggregateFunction, JoinKind)

OPERATORS: Final[dict[int, Operator]] = {pb.Operator.Value(f"OPERATOR_{kind.name}"): kind for kind in Operator}
TIME_PARTS: Final[dict[int, TimePart]] = {pb.TimePart.Value(f"TIME_PART_{kind.name}"): kind for kind in TimePart}
FUNCTIONS: Final[dict[int, AggregateFunction]] = {
    pb.AggregateFunction.Value(f"AGGREGATE_FUNCTION_{kind.name}"): kind for kind in AggregateFunction
}
JOIN_KINDS: Final[dict[int, JoinKind]] = {pb.JoinKind.Value(f"JOIN_KIND_{kind.name}"): kind for kind in JoinKind}
_UTC: Final = ("", "UTC", "Etc/UTC")
_MAX_LISTED: Final = 2000
"""Entries read of a list; the domain's own bounds are lower and name the right number."""


def read_plan(message: pb.Plan, field: str = "plan") -> Plan:
    """Reads the plan that stands at a field of a request.

    Raises:
        InvalidPlan: with every fault of its form; names and types are checked later, against the datasets.
        Unimplemented: it uses a part of the contract that is not built yet; the metadata names the field.
    """
    reader = _Reader()
    plan = Plan(
        datasets=tuple(PlanDataset(one.source_uri, one.dataset_id, one.alias) for one in message.datasets[:_MAX_LISTED]),
        joins=_kept(reader.join(one, f"{field}.joins[{i}]") for i, one in _listed(message.joins)),
        where=reader.predicates(message.where, f"{field}.where"),
        group_by=tuple(reader.group_by(one, f"{field}.group_by[{i}]") for i, one in _listed(message.group_by)),
        aggregates=_kept(reader.aggregate(one, f"{field}.aggregates[{i}]") for i, one in _listed(message.aggregates)),
        having=reader.predicates(message.having, f"{field}.having"),
        select=_kept(reader.select(one, f"{field}.select[{i}]") for i, one in _listed(message.select)),
        distinct=message.distinct,
        order_by=_kept(reader.order_by(one, f"{field}.order_by[{i}]") for i, one in _listed(message.order_by)),
        limit=message.limit if message.HasField("limit") else None,
    )
    reader.faults.raise_if_any()
    refuse_unbuilt(reader.unbuilt)
    return plan


def refuse_unbuilt(fields: Sequence[str]) -> None:
    """Refuses a call that sets fields which are declared and not built yet.

    Raises:
        Unimplemented: there is at least one; the metadata names them.
    """
    if fields:
        raise Unimplemented(
            f"declared and not built yet: {', '.join(fields)}; leave them unset", metadata={"fields": ", ".join(fields)}
        )


class _Reader:
    def __init__(self) -> None:
        self.faults = PlanFaults()
        self.unbuilt: list[str] = []

    def join(self, message: pb.Join, field: str) -> Join | None:
        kind: JoinKind | None = JoinKind.INNER
        if message.kind != pb.JOIN_KIND_UNSPECIFIED:
            kind = self._enum(JOIN_KINDS, message.kind, f"{field}.kind", kinds=pb.JoinKind)
        keys = _kept(self._join_key(one, f"{field}.keys[{i}]") for i, one in _listed(message.keys))
        return None if kind is None else Join(message.alias, keys, kind, message.allow_fan_out)

    def _join_key(self, message: pb.JoinKey, field: str) -> JoinKey | None:
        for name in ("left", "right"):
            if not getattr(message, name).column:
                self.faults.add(f"{field}.{name}", "name a column")
        if not (message.left.column and message.right.column):
            return None
        return JoinKey(ColumnRef(message.left.column, message.left.alias), ColumnRef(message.right.column, message.right.alias))

    def predicates(self, messages: Iterable[pb.Predicate], field: str) -> tuple[Predicate, ...]:
        return _kept(self.predicate(one, f"{field}[{i}]") for i, one in enumerate(messages))

    def predicate(self, message: pb.Predicate, field: str) -> Predicate | None:
        kind = message.WhichOneof("kind")
        match kind:
            case "comparison":
                return self._comparison(message.comparison, f"{field}.comparison")
            case "all":
                return All(self.predicates(message.all.predicates, f"{field}.all.predicates"))
            case "any":
                return AnyOf(self.predicates(message.any.predicates, f"{field}.any.predicates"))
            case "not":
                inner = self.predicate(getattr(message, "not"), f"{field}.not")
                return None if inner is None else Not(inner)
        self.faults.add(field, "set one of comparison, all, any and not")
        return None

    def _comparison(self, message: pb.Comparison, field: str) -> Comparison | None:
        operator = self._enum(OPERATORS, message.operator, f"{field}.operator", kinds=pb.Operator)
        column = self._ref(message, field)
        values: tuple[Scalar, ...] = _kept(
            read_value(one, f"{field}.values[{i}]", self.faults) for i, one in enumerate(message.values)
        )
        if operator is None or column is None:
            return None
        return Comparison(column, operator, values, message.ignore_case)

    def group_by(self, message: pb.GroupBy, field: str) -> GroupBy:
        part = None
        if message.time_part != pb.TIME_PART_UNSPECIFIED:
            part = self._enum(TIME_PARTS, message.time_part, f"{field}.time_part", kinds=pb.TimePart)
        if message.time_zone not in _UTC:
            self.unbuilt.append(f"{field}.time_zone")
        column = self._ref(message, field) or ColumnRef("")
        return GroupBy(column, part, getattr(message, "as"))

    def aggregate(self, message: pb.Aggregate, field: str) -> Aggregate | None:
        function = self._enum(FUNCTIONS, message.function, f"{field}.function", kinds=pb.AggregateFunction)
        of_percentile = message.function == pb.AGGREGATE_FUNCTION_PERCENTILE
        fraction = Decimal(repr(message.fraction)) if of_percentile or message.fraction else None
        order_by = _kept(self.order_by(one, f"{field}.order_by[{i}]") for i, one in _listed(message.order_by))
        column = self._ref(message, field) if message.HasField("column") else None
        condition = self.predicate(message.condition, f"{field}.condition") if message.HasField("condition") else None
        return None if function is None else Aggregate(function, column, getattr(message, "as"), condition, fraction, order_by)

    def select(self, message: pb.SelectColumn, field: str) -> SelectColumn | None:
        kind = message.expression.WhichOneof("kind")
        match kind:
            case "column":
                column = self._ref(message.expression, f"{field}.expression")
                return None if column is None else SelectColumn(column, getattr(message, "as"))
            case None:
                self.faults.add(f"{field}.expression", "name a column")
            case _:
                self.unbuilt.append(f"{field}.expression.{kind}")
        return None

    def order_by(self, message: pb.OrderBy, field: str) -> OrderBy | None:
        if message.nulls not in pb.NullsOrder.values():
            self.faults.add(f"{field}.nulls", f"takes {_names(pb.NullsOrder)}")
        if not message.name:
            self.faults.add(f"{field}.name", "name a column of the result, or one of a dataset in a select plan")
            return None
        return OrderBy(message.name, message.alias, message.descending, message.nulls == pb.NULLS_ORDER_FIRST)

    def _ref(self, message: pb.Comparison | pb.GroupBy | pb.Aggregate | pb.Expression, field: str) -> ColumnRef | None:
        if message.HasField("column") and message.column.column:
            return ColumnRef(message.column.column, message.column.alias)
        self.faults.add(f"{field}.column", "name a column")
        return None

    def _enum(self, known: Mapping[int, _K], number: int, field: str, *, kinds: EnumTypeWrapper) -> _K | None:
        if number not in known:
            self.faults.add(field, f"takes {_names(kinds)}")
        return known.get(number)


def _kept(values: Iterable[_T | None]) -> tuple[_T, ...]:
    """Leaves out what did not hold, which was noted."""
    return tuple(value for value in values if value is not None)


def _listed(messages: Sequence[_T]) -> Iterable[tuple[int, _T]]:
    return enumerate(messages[:_MAX_LISTED])


def _names(kinds: EnumTypeWrapper) -> str:
    return ", ".join(name for name, number in kinds.items() if number)
