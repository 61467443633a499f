"""Exact sums and averages, which the engine's own arithmetic would overflow or round to doubles."""

from __future__ import annotations

from dataclasses import dataclass
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


def figure(aggregate: CheckedAggregate, name: str, *, column_sql: str, condition_sql: str, rows: int) -> Figure:
    """The figure called `name` over a column of a snapshot of so many rows.

    Sums of doubles are taken in an order of their own (by size) with compensation, so they do not depend on the order rows
    are read in; they are doubles, carry a double's error, and are infinite beyond a double's range.
    """
    match aggregate.function:
        case AggregateFunction.COUNT:
            return _plain(name, f"count({column_sql or '*'})", COUNT)
        case AggregateFunction.COUNT_DISTINCT:
            return _plain(name, f"count(DISTINCT {column_sql})", COUNT)
        case AggregateFunction.COUNT_IF:
            return _plain(name, f"count(*) FILTER (WHERE {condition_sql})", COUNT)
    if aggregate.column is None:
        raise ValueError(f"{aggregate.function} has no column")
    held = held_column(aggregate.column.column)
    if aggregate.function in (AggregateFunction.MIN, AggregateFunction.MAX):
        return _plain(name, f"{aggregate.function}({column_sql})", held)
    if held.type is ColumnType.DURATION:
        return _duration(aggregate.function, name, column_sql)
    if not held.exact:
        return _double(aggregate.function, name, column_sql)
    total = _total(name, column_sql, held=held, rows=rows)
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
