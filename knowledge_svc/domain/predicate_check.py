"""Checks predicates: names, operators against types, values against types, and size."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Final, TypeAlias

from artifact.model import ColumnType
from knowledge_svc.domain.checked_plan import (
    CheckedAll,
    CheckedAny,
    CheckedColumn,
    CheckedComparison,
    CheckedNot,
    CheckedPredicate,
    Target,
)
from knowledge_svc.domain.plan import All, AnyOf, ColumnRef, Comparison, Not, Operator, Predicate, Scalar
from knowledge_svc.domain.plan_faults import PlanFaults, unknown_name

MAX_DEPTH: Final = 32
MAX_NODES: Final = 256
MAX_IN_VALUES: Final = 1000
MAX_VALUES: Final = 10_000
"""Values of a whole plan."""

Resolve: TypeAlias = Callable[[ColumnRef, str], Target | None]
"""Finds what a reference names, or notes the fault at the field and answers None."""

_EQUALITY: Final = frozenset({Operator.EQ, Operator.NE, Operator.IN, Operator.NOT_IN, Operator.IS_NULL, Operator.NOT_NULL})
_ORDER: Final = frozenset({Operator.LT, Operator.LE, Operator.GT, Operator.GE, Operator.BETWEEN})
_TEXT: Final = frozenset({Operator.CONTAINS, Operator.STARTS_WITH, Operator.ENDS_WITH})
OPERATORS: Final[dict[ColumnType, frozenset[Operator]]] = {
    ColumnType.STRING: _EQUALITY | _ORDER | _TEXT,
    ColumnType.NUMBER: _EQUALITY | _ORDER,
    ColumnType.BOOL: _EQUALITY,
    ColumnType.DATE: _EQUALITY | _ORDER,
    ColumnType.DATETIME: _EQUALITY | _ORDER,
    ColumnType.TIME: _EQUALITY | _ORDER,
    ColumnType.DURATION: _EQUALITY | _ORDER,
}
"""The operators that a column of each type can be compared with."""

_VALUE_KINDS: Final[dict[ColumnType, tuple[str, str]]] = {
    ColumnType.STRING: ("string_value", "text"),
    ColumnType.BOOL: ("bool_value", "true or false"),
    ColumnType.DATE: ("date_value", "a date"),
    ColumnType.DATETIME: ("datetime_value", "a datetime without an offset"),
    ColumnType.TIME: ("time_value", "a time of day"),
    ColumnType.DURATION: ("duration_value", "a duration"),
}
_PYTHON_TYPES: Final[dict[ColumnType, type[Scalar]]] = {
    ColumnType.STRING: str,
    ColumnType.BOOL: bool,
    ColumnType.DATE: dt.date,
    ColumnType.DATETIME: dt.datetime,
    ColumnType.TIME: dt.time,
    ColumnType.DURATION: dt.timedelta,
}


class PredicateCheck:
    """Checks the predicates of one plan and counts their nodes and values over all of them."""

    def __init__(self, faults: PlanFaults) -> None:
        self._faults = faults
        self._nodes = 0
        self._values = 0

    def check_all(self, predicates: Sequence[Predicate], field: str, *, resolve: Resolve) -> tuple[CheckedPredicate, ...]:
        """Checks a list; what is at fault is noted and left out."""
        checked = (self.check(predicate, f"{field}[{i}]", resolve=resolve) for i, predicate in enumerate(predicates))
        return tuple(predicate for predicate in checked if predicate is not None)

    def check(self, predicate: Predicate, field: str, *, resolve: Resolve, depth: int = 1) -> CheckedPredicate | None:
        """Checks one tree; None where a fault in it was noted."""
        self._nodes += 1
        if self._nodes == MAX_NODES + 1:
            self._faults.add(field, f"at most {MAX_NODES} predicates stand in a plan, lists and negations included")
        if depth > MAX_DEPTH:
            self._faults.add(field, f"predicates nest at most {MAX_DEPTH} deep")
            return None
        match predicate:
            case Comparison():
                return self._comparison(predicate, f"{field}.comparison", resolve)
            case Not(inner):
                checked = self.check(inner, f"{field}.not", resolve=resolve, depth=depth + 1)
                return None if checked is None else CheckedNot(checked)
            case All(predicates):
                return CheckedAll(self._list(predicates, f"{field}.all", resolve=resolve, depth=depth))
            case AnyOf(predicates):
                return CheckedAny(self._list(predicates, f"{field}.any", resolve=resolve, depth=depth))

    def _list(self, predicates: Sequence[Predicate], field: str, *, resolve: Resolve, depth: int) -> tuple[CheckedPredicate, ...]:
        if not predicates:
            self._faults.add(f"{field}.predicates", "a list holds at least one predicate")
        checked = (
            self.check(predicate, f"{field}.predicates[{i}]", resolve=resolve, depth=depth + 1)
            for i, predicate in enumerate(predicates)
        )
        return tuple(predicate for predicate in checked if predicate is not None)

    def _comparison(self, comparison: Comparison, field: str, resolve: Resolve) -> CheckedComparison | None:
        target = resolve(comparison.column, f"{field}.column")
        self._count_values(comparison, field)
        if target is None:
            return None
        kind = target.column.type
        allowed = OPERATORS[kind]
        if comparison.operator not in allowed:
            names = ", ".join(operator for operator in Operator if operator in allowed)
            self._faults.add(f"{field}.operator", f"a {kind} column is not compared by {comparison.operator}; it is by {names}")
            return None
        if comparison.ignore_case and kind is not ColumnType.STRING:
            self._faults.add(f"{field}.ignore_case", f"only text has case; the column is of type {kind}")
        values = [self._value(value, target, f"{field}.values[{i}]") for i, value in enumerate(comparison.values)]
        kept = tuple(value for value in values if value is not None)
        return CheckedComparison(target, comparison.operator, kept, comparison.ignore_case) if len(kept) == len(values) else None

    def _count_values(self, comparison: Comparison, field: str) -> None:
        least, most = _arity(comparison.operator)
        count = len(comparison.values)
        if not least <= count <= most:
            wanted = str(least) if least == most else f"{least} to {most}"
            self._faults.add(f"{field}.values", f"{comparison.operator} takes {wanted} values, not {count}")
        before = self._values
        self._values += count
        if before <= MAX_VALUES < self._values:
            self._faults.add(f"{field}.values", f"at most {MAX_VALUES} values stand in a plan")

    def _value(self, value: Scalar, target: Target, field: str) -> Scalar | None:
        column = target.column
        if column.type is ColumnType.NUMBER:
            return self._exact(value, field) if column.precision else self._double(value, field)
        if type(value) is not _PYTHON_TYPES[column.type]:
            name, noun = _VALUE_KINDS[column.type]
            self._faults.add(field, f"a {column.type} column is compared with {noun} ({name})")
            return None
        return value

    def _exact(self, value: Scalar, field: str) -> Scalar | None:
        if type(value) is int:
            return Decimal(value)
        if type(value) is Decimal and value.is_finite():
            return value
        self._faults.add(field, "the column holds exact decimals; compare it with a number (number_value or integer_value)")
        return None

    def _double(self, value: Scalar, field: str) -> Scalar | None:
        if isinstance(value, int | Decimal | float) and type(value) is not bool and math.isfinite(number := _to_float(value)):
            return number
        self._faults.add(field, "the column holds doubles; compare it with a finite number (double_value or number_value)")
        return None


def snapshot_resolver(columns: dict[str, tuple[CheckedColumn, ...]], faults: PlanFaults) -> Resolve:
    """Finds columns of datasets by alias and name; the alias may be left out where there is one dataset."""

    def resolve(ref: ColumnRef, field: str) -> CheckedColumn | None:
        if not ref.alias and len(columns) > 1:
            faults.add(f"{field}.alias", f"name the dataset; the plan has several: {', '.join(columns)}")
            return None
        found = columns.get(ref.alias) if ref.alias else next(iter(columns.values()), None)
        if found is None:
            faults.add(f"{field}.alias", unknown_name("dataset of the plan has the alias", ref.alias, filter(None, columns)))
            return None
        return _named(ref.column, found, field=field, faults=faults)

    return resolve


def _named(name: str, columns: tuple[CheckedColumn, ...], *, field: str, faults: PlanFaults) -> CheckedColumn | None:
    for checked in columns:
        if checked.column.name == name:
            if checked.column.stored:
                return checked
            faults.add(field, "the column is listed and not stored: the dataset has more columns than are held")
            return None
    faults.add(field, unknown_name("column", name, (checked.column.name for checked in columns if checked.column.stored)))
    return None


def _arity(operator: Operator) -> tuple[int, int]:
    match operator:
        case Operator.IS_NULL | Operator.NOT_NULL:
            return 0, 0
        case Operator.IN | Operator.NOT_IN:
            return 1, MAX_IN_VALUES
        case Operator.BETWEEN:
            return 2, 2
        case _:
            return 1, 1


def _to_float(value: int | Decimal | float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf
