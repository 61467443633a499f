"""Exact sums and averages, which the engine's own arithmetic would overflow or round to doubles."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

from artifact.model import ColumnType
from knowledge_svc.datasets.held import COUNT, LONG_DURATION, Held, held_column, scaled_figure
from knowledge_svc.domain.checked_plan import AVERAGE_SCALE, FIGURE_DIGITS, CheckedAggregate
from knowledge_svc.domain.plan import AggregateFunction

Made: TypeAlias = tuple[str, str]
"""A column's name and the expression that makes it."""

OVERFLOW_MARK: Final = "figure of more than 38 digits"
"""The engine's error where a figure does not fit; no other error of a statement says this."""
_HALF: Final = 10**19
_LIMIT: Final = 10**FIGURE_DIGITS


@dataclass(frozen=True, slots=True)
class Figure:
    """An aggregate: columns made per group, then stages of columns, each made of the columns before its stage.

    The figure is the column of its own name, made last.
    """

    grouped: tuple[Made, ...]
    stages: tuple[tuple[Made, ...], ...]
    held: Held


@dataclass(frozen=True, slots=True)
class Over:
    """What a figure is made over: column, condition and order of its rows as expressions, and how many rows there are at most."""

    column_sql: str
    condition_sql: str
    order_sql: str
    rows: int


def figure(aggregate: CheckedAggregate, name: str, over: Over) -> Figure:
    """The figure called `name`.

    Sums of doubles are taken in an order of their own (by size) with compensation, so they do not depend on the order rows
    are read in; they are doubles, carry a double's error, and are infinite beyond a double's range.
    """
    column_sql = over.column_sql
    match aggregate.function:
        case AggregateFunction.COUNT:
            return _plain(name, f"count({column_sql or '*'})", COUNT)
        case AggregateFunction.COUNT_DISTINCT:
            return _plain(name, f"count(DISTINCT {column_sql})", COUNT)
        case AggregateFunction.COUNT_IF:
            return _plain(name, f"count(*) FILTER (WHERE {over.condition_sql})", COUNT)
    if aggregate.column is None:
        raise ValueError(f"{aggregate.function} has no column")
    held = held_column(aggregate.column.column)
    match aggregate.function:
        case AggregateFunction.MIN | AggregateFunction.MAX:
            return _plain(name, f"{aggregate.function}({column_sql})", held)
        case AggregateFunction.FIRST | AggregateFunction.LAST:
            return _plain(name, f"{aggregate.function}({column_sql} ORDER BY {over.order_sql})", held)
        case AggregateFunction.PERCENTILE:
            return _percentile(name, column_sql, fraction=Fraction(aggregate.fraction or 0), held=held)
        case AggregateFunction.MEDIAN:
            return _median(name, column_sql, held)
        case AggregateFunction.STDDEV:
            return _deviation(name, column_sql, held)
    if held.type is ColumnType.DURATION:
        return _duration(aggregate.function, name, column_sql)
    if not held.exact:
        return _double(aggregate.function, name, column_sql)
    total = _total(name, column_sql, held=held, rows=over.rows)
    return total if aggregate.function is AggregateFunction.SUM else _average(name, total, column_sql=column_sql, held=held)


def _plain(name: str, sql: str, held: Held) -> Figure:
    return Figure(((name, sql),), (), held)


def _double(function: AggregateFunction, name: str, column_sql: str) -> Figure:
    total = f"list_aggregate(list({column_sql} ORDER BY abs({column_sql}), {column_sql}), 'fsum')"
    sql = total if function is AggregateFunction.SUM else f"{total} / count({column_sql})"
    return _plain(name, sql, Held(ColumnType.NUMBER, "DOUBLE"))


def _duration(function: AggregateFunction, name: str, column_sql: str) -> Figure:
    if function is AggregateFunction.SUM:
        return _plain(name, f"sum({column_sql})", LONG_DURATION)
    grouped = ((f"{name}_sum", f"sum({column_sql})"), (f"{name}_n", f"CAST(count({column_sql}) AS HUGEINT)"))
    by = ((f"{name}_by", f"{name}_n"),)
    return Figure(grouped, (by, *_divided(name, f"{name}_sum", factor=1)), LONG_DURATION)


def _sorted(name: str, column_sql: str) -> Made:
    return f"{name}_sorted", f"list({column_sql} ORDER BY {column_sql}) FILTER (WHERE {column_sql} IS NOT NULL)"


def _percentile(name: str, column_sql: str, *, fraction: Fraction, held: Held) -> Figure:
    """The value at the rank that the fraction of the count makes, rounded up: by whole numbers, since doubles would miss it."""
    count = f"CAST(len({name}_sorted) AS HUGEINT)"
    rank = f"greatest(1, ({count} * {fraction.numerator} + {fraction.denominator - 1}) // {fraction.denominator})"
    return Figure((_sorted(name, column_sql),), (((name, f"{name}_sorted[CAST({rank} AS BIGINT)]"),),), held)


def _median(name: str, column_sql: str, held: Held) -> Figure:
    """Half the sum of the two values in the middle, which are the same one where the count is odd."""
    ordered = f"{name}_sorted"
    low, high = f"{ordered}[(len({ordered}) + 1) // 2]", f"{ordered}[len({ordered}) // 2 + 1]"
    if held.type is ColumnType.DURATION:
        whole, by = (f"{name}_sum", f"CAST({low} AS HUGEINT) + {high}"), (f"{name}_by", "CAST(2 AS HUGEINT)")
        return Figure((_sorted(name, column_sql),), ((whole, by), *_divided(name, whole[0], factor=1)), LONG_DURATION)
    if not held.exact:
        return Figure((_sorted(name, column_sql),), (((name, f"({low} + {high}) / 2"),),), Held(ColumnType.NUMBER, "DOUBLE"))
    tenths = (f"{name}_tenths", f"({_units(low, held.scale)} + {_units(high, held.scale)}) * 5")
    return Figure((_sorted(name, column_sql),), ((tenths,), ((name, _fitting(tenths[0])),)), scaled_figure(held.scale + 1))


def _deviation(name: str, column_sql: str, held: Held) -> Figure:
    """The deviation of a sample, by distances from the least value, which are exact before they become doubles.

    Values are taken in their own order, so that the figure does not depend on the order rows are read in.
    """
    ordered, mean, count = f"{name}_sorted", f"{name}_mean", f"len({name}_sorted)"
    least = f"CAST({ordered}[1] AS DECIMAL({FIGURE_DIGITS},{held.scale}))" if held.exact else f"{ordered}[1]"
    distances = (f"{name}_distances", f"list_transform({ordered}, lambda x: CAST(x - {least} AS DOUBLE))")
    middle = (mean, f"list_aggregate({distances[0]}, 'fsum') / {count}")
    squares = f"list_transform({distances[0]}, lambda x: (x - {mean}) * (x - {mean}))"
    made = f"CASE WHEN {count} > 1 THEN sqrt(list_aggregate({squares}, 'fsum') / ({count} - 1)) END"
    stages = ((distances,), (middle,), ((name, made),))
    return Figure((_sorted(name, column_sql),), stages, Held(ColumnType.NUMBER, "DOUBLE"))


def _total(name: str, column_sql: str, *, held: Held, rows: int) -> Figure:
    """A sum in the engine's decimals where no order of the rows can overflow them, else in halves of 19 digits."""
    if held.precision + len(str(rows)) <= FIGURE_DIGITS:
        return _plain(name, f"sum({column_sql})", Held(ColumnType.NUMBER, "DECIMAL", FIGURE_DIGITS, held.scale))
    units = _units(column_sql, held.scale)
    high, low, whole = f"{name}_high", f"{name}_low", f"{name}_whole"
    grouped = ((high, f"sum({units} // {_HALF})"), (low, f"sum({units} % {_HALF})"))
    joined = f"({high} + {low} // {_HALF}) * {_HALF} + {low} % {_HALF}"
    return Figure(grouped, (((whole, joined),), ((name, _fitting(whole)),)), scaled_figure(held.scale))


def _average(name: str, total: Figure, *, column_sql: str, held: Held) -> Figure:
    """The sum over the count in units of the ninth decimal, by whole numbers; refused where the sum itself does not fit."""
    count, whole = f"{name}_n", f"{name}_whole"
    counted = (count, f"CAST(count({column_sql}) AS HUGEINT)")
    factor, divisor = 10 ** max(0, AVERAGE_SCALE - held.scale), 10 ** max(0, held.scale - AVERAGE_SCALE)
    if total.held.scaled:
        grouped, units = total.grouped, total.stages[0]
    else:
        grouped, units = ((f"{name}_sum", total.grouped[0][1]),), ((whole, _units(f"{name}_sum", held.scale)),)
    by = (f"{name}_by", f"{count} * {divisor}" if divisor > 1 else count)
    return Figure((*grouped, counted), ((*units, by), *_divided(name, whole, factor=factor)), scaled_figure(AVERAGE_SCALE))


def _divided(name: str, total: str, *, factor: int) -> tuple[tuple[Made, ...], ...]:
    """Stages that end in total * factor over the column `_by`, rounded half to even; no step is larger than its result."""
    quotient, rest, by, rounded = f"{name}_quotient", f"{name}_rest", f"{name}_by", f"{name}_rounded"
    left = f"(({total} % {by}) * {factor})"
    up = f"abs({rest}) > {by} - abs({rest}) OR (abs({rest}) = {by} - abs({rest}) AND {quotient} % 2 <> 0)"
    return (
        ((quotient, f"({total} // {by}) * {factor} + {left} // {by}"), (rest, f"{left} % {by}")),
        ((rounded, f"CASE WHEN {up} THEN {quotient} + CAST(sign({rest}) AS HUGEINT) ELSE {quotient} END"),),
        ((name, _fitting(rounded, total)),),
    )


def _units(sql: str, scale: int) -> str:
    """A decimal as a whole number of its last decimals; by its text, since a product could overflow."""
    return f"CAST(replace(CAST({sql} AS VARCHAR), '.', '') AS HUGEINT)" if scale else f"CAST({sql} AS HUGEINT)"


def _fitting(name: str, *others: str) -> str:
    """The column, refused where it or another has more than 38 digits; past 127 bits the engine refuses by itself."""
    over = " OR ".join(f"abs({one}) >= {_LIMIT}" for one in (name, *others))
    return f"CASE WHEN {over} THEN error('{OVERFLOW_MARK}') ELSE {name} END"
