"""Builds plans: typed questions over the rows of a dataset.

    plan = (
        Plan.over("file:///orders.xlsx", "orders")
        .where("amount", ">=", Decimal("10"))
        .group_by("ordered_on", "month")
        .sum("amount")
        .order_by("-sum_amount")
        .limit(5)
    )
    client.query(plan)

A plan is a value: every method returns a new one. Names of the result are the columns' own, with "_month" and so on for a part of
time, and function and column joined by "_" for an aggregate, unless `name` gives another. Numbers are given as int or Decimal; the
server refuses a float against a column of exact decimals.

A plan over several datasets gives each an alias and names columns by alias and name:

    plan = (
        Plan.over("file:///orders.xlsx", "orders", alias="o")
        .join("file:///customers.csv", "customers", alias="c", on={("o", "customer"): "name"})
        .group_by(("c", "town"))
        .sum(("o", "amount"))
    )
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self, TypeAlias

from loom.knowledge.v1 import datasets_pb2

from clients.enums import contract_name
from clients.values import PyValue, to_value

OPERATORS: Final[dict[str, datasets_pb2.Operator]] = {
    "=": datasets_pb2.OPERATOR_EQ,
    "==": datasets_pb2.OPERATOR_EQ,
    "!=": datasets_pb2.OPERATOR_NE,
    "<>": datasets_pb2.OPERATOR_NE,
    "<": datasets_pb2.OPERATOR_LT,
    "<=": datasets_pb2.OPERATOR_LE,
    ">": datasets_pb2.OPERATOR_GT,
    ">=": datasets_pb2.OPERATOR_GE,
    "in": datasets_pb2.OPERATOR_IN,
    "not in": datasets_pb2.OPERATOR_NOT_IN,
    "is null": datasets_pb2.OPERATOR_IS_NULL,
    "is not null": datasets_pb2.OPERATOR_NOT_NULL,
    "contains": datasets_pb2.OPERATOR_CONTAINS,
    "starts with": datasets_pb2.OPERATOR_STARTS_WITH,
    "ends with": datasets_pb2.OPERATOR_ENDS_WITH,
    "between": datasets_pb2.OPERATOR_BETWEEN,
}
"""How operators are written, and the contract's own."""


Column: TypeAlias = str | tuple[str, str]
"""A column's name, or in a plan over several datasets the dataset's alias and the name."""


@dataclass(frozen=True, slots=True)
class Condition:
    """What rows are kept by; `&`, `|` and `~` combine conditions."""

    predicate: datasets_pb2.Predicate

    def __and__(self, other: Condition) -> Condition:
        both = datasets_pb2.PredicateList(predicates=[self.predicate, other.predicate])
        return Condition(datasets_pb2.Predicate(all=both))

    def __or__(self, other: Condition) -> Condition:
        either = datasets_pb2.PredicateList(predicates=[self.predicate, other.predicate])
        return Condition(datasets_pb2.Predicate(any=either))

    def __invert__(self) -> Condition:
        negated = datasets_pb2.Predicate()
        getattr(negated, "not").CopyFrom(self.predicate)  # the field's name is a keyword
        return Condition(negated)


def compare(column: Column, operator: str, *values: PyValue | Sequence[PyValue], ignore_case: bool = False) -> Condition:
    """A comparison of a column with values; `in` takes a list, `between` two, `is null` none, the others one.

    Raises:
        ValueError: there is no such operator.
    """
    if operator not in OPERATORS:
        raise ValueError(f"{operator!r} is no operator; there are {', '.join(OPERATORS)}")
    comparison = datasets_pb2.Comparison(
        column=_ref(column),
        operator=OPERATORS[operator],
        values=[to_value(value) for value in _flat(values)],
        ignore_case=ignore_case,
    )
    return Condition(datasets_pb2.Predicate(comparison=comparison))


class Plan:
    """A plan over datasets; either aggregates, perhaps grouped, or a selection of rows."""

    def __init__(self, message: datasets_pb2.Plan) -> None:
        self._message = datasets_pb2.Plan()
        self._message.CopyFrom(message)

    @classmethod
    def over(cls, source_uri: str, dataset_id: str, *, alias: str = "") -> Self:
        """Begins a plan over a dataset; one that others are joined to needs an alias."""
        dataset = datasets_pb2.PlanDataset(source_uri=source_uri, dataset_id=dataset_id, alias=alias)
        return cls(datasets_pb2.Plan(datasets=[dataset]))

    def join(
        self,
        source_uri: str,
        dataset_id: str,
        *,
        alias: str,
        on: Mapping[tuple[str, str], str],
        kind: str = "inner",
        allow_fan_out: bool = False,
    ) -> Self:
        """Joins a dataset to those before it where columns are equal: `on` maps (alias, column) of an earlier one to its own.

        `kind` is "inner", "left", "semi" (earlier rows that have a partner) or "anti" (those that have none). A join that
        repeats rows under a figure is refused unless `allow_fan_out` is set.
        """
        join = datasets_pb2.Join(
            kind=contract_name(datasets_pb2.JoinKind, kind),
            keys=[datasets_pb2.JoinKey(left=_ref(left), right=_ref((alias, right))) for left, right in on.items()],
            allow_fan_out=allow_fan_out,
            alias=alias,
        )
        dataset = datasets_pb2.PlanDataset(source_uri=source_uri, dataset_id=dataset_id, alias=alias)

        def change(plan: datasets_pb2.Plan) -> None:
            plan.datasets.append(dataset)
            plan.joins.append(join)

        return self._with(change)

    def where(self, column: Column, operator: str, *values: PyValue | Sequence[PyValue], ignore_case: bool = False) -> Self:
        """Keeps the rows whose column compares so; conditions of several calls all hold."""
        return self.matching(compare(column, operator, *values, ignore_case=ignore_case))

    def matching(self, condition: Condition) -> Self:
        """Keeps the rows that meet the condition."""
        return self._with(lambda plan: plan.where.append(condition.predicate))

    def group_by(self, column: Column, part: str = "", *, name: str = "") -> Self:
        """Groups by a column, or by a part of its time: "second", "minute", "hour", "day", "week", "month", "quarter", "year"."""
        key = datasets_pb2.GroupBy(
            column=_ref(column),
            time_part=contract_name(datasets_pb2.TimePart, part),
            **{"as": name},
        )
        return self._with(lambda plan: plan.group_by.append(key))

    def count(self, column: Column = "", *, name: str = "") -> Self:
        """Counts rows, or the values of a column that are not null."""
        return self._figure("count", column, name)

    def count_distinct(self, column: Column, *, name: str = "") -> Self:
        """Counts different values that are not null."""
        return self._figure("count_distinct", column, name)

    def count_if(self, condition: Condition, *, name: str = "") -> Self:
        """Counts the rows that meet a condition."""
        return self._figure("count_if", "", name, condition=condition)

    def sum(self, column: Column, *, name: str = "") -> Self:
        """Adds up, exactly; null over no values."""
        return self._figure("sum", column, name)

    def avg(self, column: Column, *, name: str = "") -> Self:
        """Averages, exactly to nine places; null over no values."""
        return self._figure("avg", column, name)

    def min(self, column: Column, *, name: str = "") -> Self:
        """Takes the least value."""
        return self._figure("min", column, name)

    def max(self, column: Column, *, name: str = "") -> Self:
        """Takes the greatest value."""
        return self._figure("max", column, name)

    def median(self, column: Column, *, name: str = "") -> Self:
        """Takes the middle value, or exactly half the sum of the two in the middle."""
        return self._figure("median", column, name)

    def percentile(self, column: Column, fraction: float, *, name: str = "") -> Self:
        """Takes the least value that at least the fraction (0 to 1) of the values do not exceed."""
        return self._figure("percentile", column, name, fraction=fraction)

    def stddev(self, column: Column, *, name: str = "") -> Self:
        """Takes the standard deviation of a sample, a double; null over fewer than two values."""
        return self._figure("stddev", column, name)

    def first(self, column: Column, *, by: Sequence[str] = (), name: str = "") -> Self:
        """Takes the value of the first row by columns, "-" before one meaning descending; by default as in the source."""
        return self._figure("first", column, name, by=by)

    def last(self, column: Column, *, by: Sequence[str] = (), name: str = "") -> Self:
        """Takes the value of the last row, in an order as `first`'s."""
        return self._figure("last", column, name, by=by)

    def having(self, result: str, operator: str, *values: PyValue | Sequence[PyValue]) -> Self:
        """Keeps the groups whose name of the result compares so."""
        return self.having_matching(compare(result, operator, *values))

    def having_matching(self, condition: Condition) -> Self:
        """Keeps the groups that meet a condition over names of the result."""
        return self._with(lambda plan: plan.having.append(condition.predicate))

    def select(self, *columns: Column, **named: Column) -> Self:
        """Returns rows: columns under their own names, then `name="column"` under others."""
        chosen = [_selected(column, "") for column in columns] + [_selected(column, name) for name, column in named.items()]
        return self._with(lambda plan: plan.select.extend(chosen))

    def distinct(self) -> Self:
        """Returns each different row once."""
        return self._with(lambda plan: setattr(plan, "distinct", True))

    def order_by(self, *names: str, nulls_first: bool = False) -> Self:
        """Orders by names of the result, or by columns in a select plan; "-" before a name means descending."""
        nulls = datasets_pb2.NULLS_ORDER_FIRST if nulls_first else datasets_pb2.NULLS_ORDER_LAST
        return self._with(lambda plan: plan.order_by.extend(_orders(names, nulls)))

    def limit(self, rows: int) -> Self:
        """Returns at most so many rows."""
        return self._with(lambda plan: setattr(plan, "limit", rows))

    def to_proto(self) -> datasets_pb2.Plan:
        """The plan as the contract carries it."""
        message = datasets_pb2.Plan()
        message.CopyFrom(self._message)
        return message

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self._message == other._message

    def __hash__(self) -> int:
        return hash(self._message.SerializeToString(deterministic=True))

    def __repr__(self) -> str:
        return f"Plan({self._message!r})"

    def _figure(
        self,
        function: str,
        column: Column,
        name: str,
        *,
        condition: Condition | None = None,
        fraction: float = 0.0,
        by: Sequence[str] = (),
    ) -> Self:
        one = datasets_pb2.Aggregate(
            function=contract_name(datasets_pb2.AggregateFunction, function),
            column=_ref(column) if column else None,
            condition=condition.predicate if condition else None,
            fraction=fraction,
            order_by=_orders(by, datasets_pb2.NULLS_ORDER_LAST),
        )
        setattr(one, "as", name)
        return self._with(lambda plan: plan.aggregates.append(one))

    def _with(self, change: Callable[[datasets_pb2.Plan], None]) -> Self:
        changed = self.to_proto()
        change(changed)
        return type(self)(changed)


def _orders(names: Sequence[str], nulls: datasets_pb2.NullsOrder) -> list[datasets_pb2.OrderBy]:
    return [datasets_pb2.OrderBy(name=name.removeprefix("-"), descending=name.startswith("-"), nulls=nulls) for name in names]


def _ref(column: Column) -> datasets_pb2.ColumnRef:
    alias, name = ("", column) if isinstance(column, str) else column
    return datasets_pb2.ColumnRef(alias=alias, column=name)


def _selected(column: Column, name: str) -> datasets_pb2.SelectColumn:
    expression = datasets_pb2.Expression(column=_ref(column))
    return datasets_pb2.SelectColumn(expression=expression, **{"as": name})


def _flat(values: Sequence[PyValue | Sequence[PyValue]]) -> list[PyValue]:
    flat: list[PyValue] = []
    for value in values:
        if isinstance(value, Sequence) and not isinstance(value, str):
            flat.extend(value)
        else:
            flat.append(value)
    return flat
