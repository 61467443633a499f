"""Evaluates plans over rows in plain Python, slowly and by the contract's words, to compare the engine against."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from artifact.model import Column, ColumnType
from knowledge_svc.domain.plan import (
    Aggregate,
    AggregateFunction,
    All,
    AnyOf,
    ColumnRef,
    Comparison,
    GroupBy,
    JoinKind,
    Not,
    Operator,
    OrderBy,
    Plan,
    Predicate,
    TimePart,
)

Row = Mapping[str, Any]
"""Values by the column's name, after the alias and a point where the plan has several datasets."""
Table = tuple[Sequence[Column], Sequence[Mapping[str, Any]]]
Ids = tuple[int | None, ...]
"""Of each dataset of the plan the row that stands in a joined row, None where it gave none."""
OVERFLOW = object()
"""Stands for a figure that does not fit in 38 digits."""


@dataclass(frozen=True)
class Expected:
    """What a plan should answer: values, for select plans the row ids, whether any figure overflows, and repeated rows."""

    rows: list[tuple[Any, ...]]
    row_ids: list[Ids]
    some_overflow: bool
    fans_out: bool = False

    @property
    def overflows(self) -> bool:
        return any(value is OVERFLOW for row in self.rows for value in row)


def evaluate(plan: Plan, tables: Sequence[Table]) -> Expected:
    types = {
        name: column
        for one, (columns, _) in zip(plan.datasets, tables, strict=True)
        for column in columns
        for name in _named(one.alias, {column.name: None})
    }
    named = [[_named(one.alias, row) for row in rows] for one, (_, rows) in zip(plan.datasets, tables, strict=True)]
    joined = [(ids, {**dict.fromkeys(types), **row}) for ids, row in _joined(plan, named)]
    kept = [(ids, row) for ids, row in joined if all(holds(one, row.get) for one in plan.where)]
    if _fans_out(plan, kept):
        return Expected([], [], False, fans_out=True)
    if plan.select and not plan.distinct:
        return _selected(plan, kept)
    made = _distinct(plan, kept) if plan.select else _grouped(plan, kept, types)
    names = _names(plan)
    some_overflow = any(value is OVERFLOW for _, row in made for value in row)
    made = [(first, row) for first, row in made if all(holds(one, dict(zip(names, row, strict=True)).get) for one in plan.having)]
    if some_overflow and plan.order_by:
        return Expected([row for _, row in made], [], True)  # figures that cannot be told cannot be compared
    made = _sorted(made, plan.order_by, lambda item, order: item[1][names.index(order.name)])
    if not plan.order_by and not plan.distinct:
        for place in reversed(range(len(plan.group_by))):
            made.sort(key=lambda item: _place(item[1][place], descending=False, nulls_first=False))
    return Expected([row for _, row in made[: plan.limit]], [], some_overflow)


def _named(alias: str, row: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{alias}.{name}" if alias else name: value for name, value in row.items()}


def _of(ref: ColumnRef) -> str:
    return f"{ref.alias}.{ref.column}" if ref.alias else ref.column


def _joined(plan: Plan, tables: Sequence[Sequence[Row]]) -> list[tuple[Ids, Row]]:
    """Every pair looked at, one join after the other."""
    places = {one.alias: place for place, one in enumerate(plan.datasets)}
    rows: list[tuple[Ids, Row]] = [((i, *[None] * (len(tables) - 1)), row) for i, row in enumerate(tables[0])]
    for join in plan.joins:
        place, made = places[join.alias], []
        for ids, row in rows:
            partners = [
                (i, other)
                for i, other in enumerate(tables[place])
                if all(
                    row.get(_of(key.left)) is not None and row[_of(key.left)] == other[f"{join.alias}.{key.right.column}"]
                    for key in join.keys
                )
            ]
            match join.kind:
                case JoinKind.SEMI:
                    made += [(ids, row)] * bool(partners)
                case JoinKind.ANTI:
                    made += [(ids, row)] * (not partners)
                case _:
                    made += [((*ids[:place], i, *ids[place + 1 :]), {**row, **other}) for i, other in partners]
                    if join.kind is JoinKind.LEFT and not partners:
                        made.append((ids, row))
        rows = made
    return rows


def _fans_out(plan: Plan, kept: Sequence[tuple[Ids, Row]]) -> bool:
    """Whether a row stands twice under a figure over its columns, where no join may do that."""
    harmless = (AggregateFunction.MIN, AggregateFunction.MAX, AggregateFunction.COUNT_DISTINCT)
    aliases = [one.alias for one in plan.datasets]
    under = {aliases.index(one.column.alias) for one in plan.aggregates if one.column and one.function not in harmless}
    if not any(not join.allow_fan_out for join in plan.joins):
        return False
    given = {place: [ids[place] for ids, _ in kept if ids[place] is not None] for place in under}
    return any(len(ids) > len(set(ids)) for ids in given.values())


def _order_of(ids: Ids) -> tuple[tuple[bool, int], ...]:
    """Rows a dataset gave nothing to stand last."""
    return tuple((one is None, one or 0) for one in ids)


def holds(predicate: Predicate, value_of: Callable[[str], Any]) -> bool:
    match predicate:
        case All(predicates):
            return all(holds(one, value_of) for one in predicates)
        case AnyOf(predicates):
            return any(holds(one, value_of) for one in predicates)
        case Not(inner):
            return not holds(inner, value_of)
        case Comparison():
            return _compares(predicate, value_of(_of(predicate.column)))


def _compares(comparison: Comparison, value: Any) -> bool:
    if comparison.operator is Operator.IS_NULL:
        return value is None
    if value is None:
        return False
    given: list[Any] = list(comparison.values)
    if isinstance(value, float):
        given = [float(one) for one in given]
    if comparison.ignore_case:
        value, given = _fold(value), [_fold(one) for one in given]
    match comparison.operator:
        case Operator.NOT_NULL:
            return True
        case Operator.EQ:
            return bool(value == given[0])
        case Operator.NE:
            return bool(value != given[0])
        case Operator.LT:
            return bool(value < given[0])
        case Operator.LE:
            return bool(value <= given[0])
        case Operator.GT:
            return bool(value > given[0])
        case Operator.GE:
            return bool(value >= given[0])
        case Operator.IN:
            return value in given
        case Operator.NOT_IN:
            return value not in given
        case Operator.CONTAINS:
            return given[0] in value
        case Operator.STARTS_WITH:
            return bool(value.startswith(given[0]))
        case Operator.ENDS_WITH:
            return bool(value.endswith(given[0]))
        case Operator.BETWEEN:
            return bool(given[0] <= value <= given[1])
    raise AssertionError(comparison.operator)


def _fold(text: str) -> str:
    upper = "".join(one.upper() if len(one.upper()) == 1 else one for one in text)
    return "".join(one.lower() if len(one.lower()) == 1 else one for one in upper)


def _names(plan: Plan) -> list[str]:
    return [
        *(one.name or (f"{one.column.column}_{one.time_part}" if one.time_part else one.column.column) for one in plan.group_by),
        *(one.name or (f"{one.function}_{one.column.column}" if one.column else str(one.function)) for one in plan.aggregates),
        *(one.name or one.column.column for one in plan.select),
    ]


def _selected(plan: Plan, kept: list[tuple[Ids, Row]]) -> Expected:
    names = _names(plan)

    def value(item: tuple[Ids, Row], order: OrderBy) -> Any:
        named = not order.alias and order.name in names
        return item[1][_of(plan.select[names.index(order.name)].column if named else ColumnRef(order.name, order.alias))]

    ordered = _sorted(kept, plan.order_by, value)[: plan.limit]
    rows = [tuple(row[_of(one.column)] for one in plan.select) for _, row in ordered]
    return Expected(rows, [ids for ids, _ in ordered], False)


def _distinct(plan: Plan, kept: list[tuple[Ids, Row]]) -> list[tuple[Ids, tuple[Any, ...]]]:
    firsts: dict[tuple[Any, ...], Ids] = {}
    for ids, row in sorted(kept, key=lambda item: _order_of(item[0])):
        firsts.setdefault(tuple(row[_of(one.column)] for one in plan.select), ids)
    return [(first, values) for values, first in firsts.items()]


def _grouped(plan: Plan, kept: list[tuple[Ids, Row]], types: Mapping[str, Column]) -> list[tuple[Ids, tuple[Any, ...]]]:
    groups: dict[tuple[Any, ...], list[tuple[Ids, Row]]] = {}
    for item in kept:
        groups.setdefault(tuple(_key(one, item[1]) for one in plan.group_by), []).append(item)
    if not plan.group_by and not groups:
        groups[()] = []
    return [
        (
            min((ids for ids, _ in members), key=_order_of, default=()),
            (*key, *(_aggregate(one, [row for _, row in members], types) for one in plan.aggregates)),
        )
        for key, members in groups.items()
    ]


def _key(key: GroupBy, row: Row) -> Any:
    value = row[_of(key.column)]
    return value if value is None or key.time_part is None else cut(value, key.time_part)


def cut(value: dt.date, part: TimePart) -> dt.date:
    if part.of_day:
        assert isinstance(value, dt.datetime)
        text = value.isoformat()
        return dt.datetime.fromisoformat({TimePart.HOUR: text[:13], TimePart.MINUTE: text[:16], TimePart.SECOND: text[:19]}[part])
    day = value.date() if isinstance(value, dt.datetime) else value
    match part:
        case TimePart.WEEK:
            return day - dt.timedelta(days=day.weekday())
        case TimePart.MONTH:
            return day.replace(day=1)
        case TimePart.QUARTER:
            return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
        case TimePart.YEAR:
            return day.replace(month=1, day=1)
    return day


def _aggregate(one: Aggregate, rows: list[Row], types: Mapping[str, Column]) -> Any:
    if one.function is AggregateFunction.COUNT_IF:
        assert one.condition is not None
        return sum(holds(one.condition, row.get) for row in rows)
    if one.column is None:
        return len(rows)
    if one.function in (AggregateFunction.FIRST, AggregateFunction.LAST):
        ordered = _sorted(list(enumerate(rows)), one.order_by, lambda item, order: item[1][_of(ColumnRef(order.name, order.alias))])
        return ordered[0 if one.function is AggregateFunction.FIRST else -1][1][_of(one.column)] if ordered else None
    column = types[_of(one.column)]
    values = [value for row in rows if (value := row[_of(one.column)]) is not None]
    match one.function:
        case AggregateFunction.COUNT:
            return len(values)
        case AggregateFunction.COUNT_DISTINCT:
            return len(set(values))
    if not values:
        return None
    match one.function:
        case AggregateFunction.MIN:
            return min(values)
        case AggregateFunction.MAX:
            return max(values)
        case AggregateFunction.SUM:
            return _total(values, column)
        case AggregateFunction.PERCENTILE:
            assert one.fraction is not None
            return sorted(values)[max(1, math.ceil(Fraction(one.fraction) * len(values))) - 1]
        case AggregateFunction.MEDIAN:
            return _median(sorted(values), column)
        case AggregateFunction.STDDEV:
            return _deviation(values)
    return _average(values, column)


def _total(values: list[Any], column: Column) -> Any:
    if column.type is ColumnType.DURATION:
        return sum(values, dt.timedelta())
    if not column.precision:
        return math.fsum(values)
    return _fitted(round(sum(map(Fraction, values)) * 10**column.scale), column.scale)


def _median(values: list[Any], column: Column) -> Any:
    low, high = values[(len(values) - 1) // 2], values[len(values) // 2]
    if column.type is ColumnType.DURATION:
        return dt.timedelta(microseconds=round(Fraction((low + high) // dt.timedelta(microseconds=1), 2)))
    if not column.precision:
        return (low + high) / 2
    return _fitted(round((Fraction(low) + Fraction(high)) / 2 * 10 ** (column.scale + 1)), column.scale + 1)


def _deviation(values: list[Any]) -> Any:
    if len(values) < 2:
        return None
    exact = [Fraction(value) for value in values]
    mean = sum(exact) / len(exact)
    return Approximate(math.sqrt(sum((one - mean) ** 2 for one in exact) / (len(exact) - 1)))


class Approximate(float):
    """A double that may differ in its last digits."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, float) and math.isclose(self, other, rel_tol=1e-12, abs_tol=1e-300)

    __hash__ = float.__hash__


def _average(values: list[Any], column: Column) -> Any:
    if column.type is ColumnType.DURATION:
        microseconds = sum(values, dt.timedelta()) // dt.timedelta(microseconds=1)
        return dt.timedelta(microseconds=round(Fraction(microseconds, len(values))))
    if not column.precision:
        return math.fsum(values) / len(values)
    if _total(values, column) is OVERFLOW:
        return OVERFLOW
    return _fitted(round(sum(map(Fraction, values)) / len(values) * 10**9), 9)


def _fitted(units: int, scale: int) -> Any:
    return OVERFLOW if abs(units) >= 10**38 else Decimal(f"{units}E-{scale}")


def _sorted(items: list[Any], order_by: Sequence[OrderBy], value: Callable[[Any, OrderBy], Any]) -> list[Any]:
    ordered = sorted(items, key=lambda item: _order_of(item[0]) if isinstance(item[0], tuple) else item[0])
    for order in reversed(order_by):
        ordered.sort(key=lambda item: _place(value(item, order), descending=order.descending, nulls_first=order.nulls_first))
    return ordered


class _Reversed:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: _Reversed) -> bool:
        return bool(other.value < self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Reversed) and bool(other.value == self.value)


def _place(value: Any, *, descending: bool, nulls_first: bool) -> tuple[int, Any]:
    if value is None:
        return (0, 0) if nulls_first else (2, 0)
    return 1, _Reversed(value) if descending else value
