"""Predicates as conditions of a statement, exact for every literal whatever the column's digits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, TypeAlias

from knowledge_svc.datasets.held import Held, from_units, unscaled
from knowledge_svc.domain.checked_plan import (
    CheckedAll,
    CheckedAny,
    CheckedComparison,
    CheckedNot,
    CheckedPredicate,
    Target,
)
from knowledge_svc.domain.plan import Operator, Scalar


@dataclass(frozen=True, slots=True)
class Operand:
    """An expression of a statement and how its value is held."""

    sql: str
    held: Held


Locate: TypeAlias = Callable[[Target], Operand]
"""Finds the expression of a column or of a name of the result."""

_SYMBOLS: Final[dict[Operator, str]] = {
    Operator.EQ: "=",
    Operator.NE: "<>",
    Operator.LT: "<",
    Operator.LE: "<=",
    Operator.GT: ">",
    Operator.GE: ">=",
}
_TEXT_FUNCTIONS: Final[dict[Operator, str]] = {
    Operator.CONTAINS: "contains",
    Operator.STARTS_WITH: "starts_with",
    Operator.ENDS_WITH: "ends_with",
}
_TRUE: Final = "TRUE"
_FALSE: Final = "FALSE"


class Parameters:
    """The values of one statement, in the order of their numbers."""

    def __init__(self) -> None:
        self._values: list[Scalar] = []

    def bind(self, value: Scalar, sql_type: str) -> str:
        """Adds a value and returns the expression that stands for it."""
        self._values.append(value)
        return f"CAST(${len(self._values)} AS {sql_type})"

    @property
    def values(self) -> tuple[Scalar, ...]:
        """The values so far."""
        return tuple(self._values)


def conjunction(predicates: Sequence[CheckedPredicate], parameters: Parameters, *, locate: Locate) -> str:
    """A condition that holds where all predicates do; empty for none."""
    return " AND ".join(condition(predicate, parameters, locate=locate) for predicate in predicates)


def condition(predicate: CheckedPredicate, parameters: Parameters, *, locate: Locate) -> str:
    """A condition that is true or false for every row, never null: a comparison with null is false."""
    match predicate:
        case CheckedComparison():
            return _comparison(predicate, locate(predicate.target), parameters)
        case CheckedNot(inner):
            return f"(NOT {condition(inner, parameters, locate=locate)})"
        case CheckedAll(predicates):
            return f"({' AND '.join(condition(one, parameters, locate=locate) for one in predicates)})"
        case CheckedAny(predicates):
            return f"({' OR '.join(condition(one, parameters, locate=locate) for one in predicates)})"


def _comparison(comparison: CheckedComparison, operand: Operand, parameters: Parameters) -> str:
    match comparison.operator:
        case Operator.IS_NULL:
            return f"({operand.sql} IS NULL)"
        case Operator.NOT_NULL:
            return f"({operand.sql} IS NOT NULL)"
    if operand.held.exact:
        numbers = [value for value in comparison.values if isinstance(value, Decimal)]
        test = _exact_test(comparison.operator, numbers, operand=operand, parameters=parameters)
    elif comparison.ignore_case:
        test = _test(comparison.operator, comparison.values, operand=operand, bind=_folding(parameters), sql=_fold(operand.sql))
    else:
        test = _test(comparison.operator, comparison.values, operand=operand, bind=parameters.bind, sql=operand.sql)
    if test in (_TRUE, _FALSE):
        return f"({operand.sql} IS NOT NULL)" if test == _TRUE else _FALSE
    return f"({operand.sql} IS NOT NULL AND {test})"


def _fold(sql: str) -> str:
    return f"lower(upper({sql}))"


def _folding(parameters: Parameters) -> Callable[[Scalar, str], str]:
    return lambda value, sql_type: _fold(parameters.bind(value, sql_type))


def _test(operator: Operator, values: Sequence[Scalar], *, operand: Operand, bind: Callable[[Scalar, str], str], sql: str) -> str:
    bound = [bind(value, operand.held.sql_type) for value in values]
    match operator:
        case Operator.IN | Operator.NOT_IN:
            return f"{sql} {'IN' if operator is Operator.IN else 'NOT IN'} ({', '.join(bound)})"
        case Operator.BETWEEN:
            return f"{sql} BETWEEN {bound[0]} AND {bound[1]}"
        case Operator.CONTAINS | Operator.STARTS_WITH | Operator.ENDS_WITH:
            return f"{_TEXT_FUNCTIONS[operator]}({sql}, {bound[0]})"
        case _:
            return f"{sql} {_SYMBOLS[operator]} {bound[0]}"


def _exact_test(operator: Operator, numbers: Sequence[Decimal], *, operand: Operand, parameters: Parameters) -> str:
    match operator:
        case Operator.EQ | Operator.IN:
            return _membership(numbers, operand, parameters=parameters, symbol="IN", empty=_FALSE)
        case Operator.NE | Operator.NOT_IN:
            return _membership(numbers, operand, parameters=parameters, symbol="NOT IN", empty=_TRUE)
        case Operator.BETWEEN:
            bounds = [_moved(Operator.GE, numbers[0], operand.held), _moved(Operator.LE, numbers[1], operand.held)]
            return _bounds(bounds, operand, parameters)
        case _:
            return _bounds([_moved(operator, numbers[0], operand.held)], operand, parameters)


def _membership(numbers: Sequence[Decimal], operand: Operand, *, parameters: Parameters, symbol: str, empty: str) -> str:
    """Keeps the numbers the column can hold; it equals none of the others."""
    held = operand.held
    places = [unscaled(number, held.scale) for number in numbers]
    units = [unit for unit, exact in places if exact and abs(unit) < 10**held.precision]
    if not units:
        return empty
    if len(units) == 1:
        return f"{operand.sql} {'=' if symbol == 'IN' else '<>'} {_bind_units(units[0], held, parameters)}"
    return f"{operand.sql} {symbol} ({', '.join(_bind_units(unit, held, parameters) for unit in units)})"


def _moved(operator: Operator, number: Decimal, held: Held) -> tuple[Operator, int] | bool:
    """Moves a bound down to the column's last decimal; True or False where it holds for every number of the column or none.

    With n between the decimals d and d', x < n and x <= n both say x <= d, and x > n and x >= n both say x > d.
    """
    unit, exact = unscaled(number, held.scale)
    below = operator in (Operator.LT, Operator.LE)
    if abs(unit) >= 10**held.precision:
        return below == (unit > 0)
    return (operator if exact else (Operator.LE if below else Operator.GT)), unit


def _bounds(bounds: Sequence[tuple[Operator, int] | bool], operand: Operand, parameters: Parameters) -> str:
    if any(bound is False for bound in bounds):
        return _FALSE
    tests = [
        f"{operand.sql} {_SYMBOLS[bound[0]]} {_bind_units(bound[1], operand.held, parameters)}"
        for bound in bounds
        if not isinstance(bound, bool)
    ]
    return " AND ".join(tests) or _TRUE


def _bind_units(unit: int, held: Held, parameters: Parameters) -> str:
    return parameters.bind(from_units(unit, 0 if held.scaled else held.scale), held.sql_type)
