"""Turns a checked plan into statements whose text holds no value of the caller: names are quoted, values are bound."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from artifact.model import ColumnType
from knowledge_svc.datasets.figures import Figure, Made, Over, figure
from knowledge_svc.datasets.held import ROW_ID_COLUMN, ROW_LOCATOR_COLUMN, Held, column_name, held_column, held_part, quote
from knowledge_svc.datasets.predicates import Operand, Parameters, condition, conjunction
from knowledge_svc.domain.checked_plan import (
    CheckedAggregate,
    CheckedColumn,
    CheckedJoin,
    CheckedKey,
    CheckedOrder,
    CheckedPlan,
    Target,
)
from knowledge_svc.domain.plan import AggregateFunction, JoinKind, Scalar

_JOINS: Final = {
    JoinKind.INNER: "JOIN",
    JoinKind.LEFT: "LEFT JOIN",
    JoinKind.SEMI: "SEMI JOIN",
    JoinKind.ANTI: "ANTI JOIN",
}


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement and the values of its numbered parameters."""

    text: str
    parameters: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class CompiledPlan:
    """What runs. `main` answers the result's columns, held as `held` says, and after them hidden ones.

    Of rows the hidden ones are row ids, of each visible dataset one. Of groups they are totals over all groups, the same in every
    row: rows, groups, and the values that are not null of each column an aggregate reads; `present` says which of these is an
    aggregate's.
    `totals` is a statement of its own where `main` cannot tell them: of groups under `having` it answers groups that pass,
    then the totals; of rows under `limit` the rows before it. `joined` counts the rows after the joins and before `where`.
    """

    main: Statement
    held: tuple[Held, ...]
    present: tuple[int | None, ...]
    totals: Statement | None
    joined: Statement | None


def compile_plan(checked: CheckedPlan, *, max_rows: int) -> CompiledPlan:
    """Compiles a plan; its statement answers at most one row more than `max_rows`, which tells that there are too many."""
    joined = _row_count(replace(checked, where=())) if checked.joins and checked.where else None
    if checked.selects_rows and not checked.plan.distinct:
        main, held = _selection(checked, max_rows)
        return CompiledPlan(main, held, (), None if checked.plan.limit is None else _row_count(checked), joined)
    groups = _Groups(checked)
    return CompiledPlan(
        main=groups.statement(max_rows),
        held=groups.held,
        present=groups.present,
        totals=_Groups(checked).totals_statement() if checked.having else None,
        joined=joined,
    )


def compile_repeats(checked: CheckedPlan) -> Statement:
    """Of the joined rows that `where` keeps, for each visible dataset: how many have a row of it, and how many different ones."""
    parameters = Parameters()
    counts = [f"count({which}{_row_id(place)})" for place in checked.visible for which in ("", "DISTINCT ")]
    return Statement("\n".join([f"SELECT {', '.join(counts)}", *_source(checked, parameters)]), parameters.values)


def compile_rows(checked: CheckedPlan, *, dataset: int, after: int, limit: int) -> tuple[Statement, tuple[Held, ...]]:
    """Compiles the reading of a visible dataset's rows behind the joined rows that `where` keeps, each once, by id.

    It answers id, place in the source, then every stored column as `held`.
    """
    parameters = Parameters()
    columns = [CheckedColumn(dataset, i, column) for i, column in enumerate(checked.snapshots[dataset].columns) if column.stored]
    made = [_row_id(dataset), f"d{dataset}.{ROW_LOCATOR_COLUMN}", *map(_column, columns)]
    source = _source(checked, parameters)
    lines = [
        f"SELECT {'DISTINCT ' if checked.joins else ''}{', '.join(made)}",
        *source,
        f"{'AND' if checked.where else 'WHERE'} {_row_id(dataset)} > {parameters.bind(after, 'BIGINT')}",
        _order([_row_id(dataset)]),
        f"LIMIT {parameters.bind(limit, 'BIGINT')}",
    ]
    return Statement("\n".join(lines), parameters.values), tuple(held_column(column.column) for column in columns)


def _selection(checked: CheckedPlan, max_rows: int) -> tuple[Statement, tuple[Held, ...]]:
    parameters = Parameters()
    names = [f"{_column(column)} AS {quote(result.name)}" for column, result in zip(checked.select, checked.columns, strict=True)]
    lines = [
        f"SELECT {', '.join([*names, *_row_ids(checked)])}",
        *_source(checked, parameters),
        _order([*_order_keys(checked, [_column(column) for column in checked.select]), *_row_ids(checked)]),
        _limit(checked, parameters, max_rows=max_rows),
    ]
    return Statement("\n".join(lines), parameters.values), tuple(held_column(column.column) for column in checked.select)


class _Groups:
    """The statement of a plan over groups, of which a `distinct` selection is one by its columns."""

    def __init__(self, checked: CheckedPlan) -> None:
        self._checked = checked
        self._parameters = Parameters()
        self._keys = checked.keys or tuple(CheckedKey(column, None) for column in checked.select)
        self._figures = [self._figure(i) for i in range(len(checked.aggregates))]
        self._names = [f"k{i}" for i in range(len(self._keys))] + [f"a{i}" for i in range(len(self._figures))]
        self._stages = max((len(one.stages) for one in self._figures), default=0)
        self._last = f"stage{self._stages}" if self._stages else "grouped"
        self._read = list(dict.fromkeys(filter(None, map(_read_column, checked.aggregates))))
        self._by_first_row = self._can_tie() and bool(checked.order_by or not checked.keys)
        self.held = (*(_held_key(key) for key in self._keys), *(one.held for one in self._figures))
        read = map(_read_column, checked.aggregates)
        self.present = tuple(None if one is None else self._read.index(one) for one in read)

    def _can_tie(self) -> bool:
        """Whether two groups may stand alike in the asked order: not where it names every key, which tells groups apart."""
        ordered = {order.target.position for order in self._checked.order_by if not isinstance(order.target, CheckedColumn)}
        return not ordered.issuperset(range(len(self._keys)))

    def statement(self, max_rows: int) -> Statement:
        """The groups, ordered and cut."""
        checked = self._checked
        shown = [f"{self._last}.{name} AS {quote(column.name)}" for name, column in zip(self._names, checked.columns, strict=True)]
        totals = [] if checked.having else [f"{total} OVER ()" for total in self._totals()]
        lines = [*self._common(), f"SELECT {', '.join([*shown, *totals])}", f"FROM {self._last}"]
        if checked.having:
            lines.append(f"WHERE {self._having()}")
        if self._keys:
            lines.append(_order(self._order_keys()))
        lines.append(_limit(checked, self._parameters, max_rows=max_rows))
        return Statement("\n".join(lines), self._parameters.values)

    def totals_statement(self) -> Statement:
        """The number of groups that `having` keeps, and the totals over all groups."""
        passing = f"count(*) FILTER (WHERE {self._having()})"
        lines = [*self._common(), f"SELECT {', '.join([passing, *self._totals()])}", f"FROM {self._last}"]
        return Statement("\n".join(lines), self._parameters.values)

    def _totals(self) -> list[str]:
        return [f"sum({self._last}.n)", "count(*)", *(f"sum({self._last}.p{i})" for i in range(len(self._read)))]

    def _common(self) -> list[str]:
        made = [f"{sql} AS {name}" for name, sql in self._grouped()]
        lines = ["WITH grouped AS (", f"  SELECT {', '.join(made)}"]
        lines += [f"  {line}" for line in _source(self._checked, self._parameters)]
        if self._keys:
            lines.append(f"  GROUP BY {', '.join(str(i + 1) for i in range(len(self._keys)))}")
        before = "grouped"
        for stage in range(self._stages):
            made = [f"{sql} AS {name}" for one in self._figures if stage < len(one.stages) for name, sql in one.stages[stage]]
            lines += [f"), stage{stage + 1} AS (", f"  SELECT {', '.join(['*', *made])}", f"  FROM {before}"]
            before = f"stage{stage + 1}"
        return [*lines, ")"]

    def _grouped(self) -> list[Made]:
        """Keys, parts of figures, and what the totals and the order need."""
        return [
            *((f"k{i}", _key(key)) for i, key in enumerate(self._keys)),
            *(made for one in self._figures for made in one.grouped),
            ("n", "count(*)"),
            *((f"p{i}", f"count(d{place}.{column_name(position)})") for i, (place, position) in enumerate(self._read)),
            *([("first_row", f"min({_first(_row_ids(self._checked))})")] if self._by_first_row else []),
        ]

    def _figure(self, i: int) -> Figure:
        aggregate = self._checked.aggregates[i]
        over = Over(
            column_sql=_value(aggregate.column) if aggregate.column else "",
            condition_sql=condition(aggregate.condition, self._parameters, locate=_locate_column) if aggregate.condition else "",
            order_sql=", ".join([*_ordered(aggregate.order_by, []), *_row_ids(self._checked)]),
            rows=self._most_rows(),
        )
        return figure(aggregate, f"a{i}", over)

    def _most_rows(self) -> int:
        """A bound on the rows that are joined."""
        return math.prod(max(1, self._checked.snapshots[place].row_count) for place in self._checked.visible)

    def _having(self) -> str:
        return conjunction(self._checked.having, self._parameters, locate=self._locate_name)

    def _locate_name(self, target: Target) -> Operand:
        return Operand(f"{self._last}.{self._names[target.position]}", self.held[target.position])

    def _order_keys(self) -> list[str]:
        names = [f"{self._last}.{name}" for name in self._names]
        if self._by_first_row:
            return [*_order_keys(self._checked, names), f"{self._last}.first_row"]
        if self._checked.order_by:
            return _order_keys(self._checked, names)
        return [f"{name} ASC NULLS LAST" for name in names[: len(self._keys)]]


def _read_column(aggregate: CheckedAggregate) -> tuple[int, int] | None:
    """The dataset and column of which an aggregate passes nulls over."""
    if aggregate.column is None or aggregate.function in (AggregateFunction.FIRST, AggregateFunction.LAST):
        return None
    return aggregate.column.dataset, aggregate.column.position


def _row_count(checked: CheckedPlan) -> Statement:
    parameters = Parameters()
    return Statement("\n".join(["SELECT count(*)", *_source(checked, parameters)]), parameters.values)


def _source(checked: CheckedPlan, parameters: Parameters) -> list[str]:
    lines = [f"FROM {quote(checked.snapshots[0].snapshot_id)} AS d0", *(_join(checked, join) for join in checked.joins)]
    if checked.where:
        lines.append(f"WHERE {conjunction(checked.where, parameters, locate=_locate_column)}")
    return lines


def _join(checked: CheckedPlan, join: CheckedJoin) -> str:
    equal = " AND ".join(f"{_value(left)} = {_value(right)}" for left, right in join.keys)
    return f"{_JOINS[join.kind]} {quote(checked.snapshots[join.dataset].snapshot_id)} AS d{join.dataset} ON {equal}"


def _locate_column(target: Target) -> Operand:
    if not isinstance(target, CheckedColumn):
        raise TypeError("a name of the result stands where a column of a dataset should")
    return Operand(_column(target), held_column(target.column))


def _column(column: CheckedColumn) -> str:
    return f"d{column.dataset}.{column_name(column.position)}"


def _value(column: CheckedColumn) -> str:
    """The column for keys and figures; of the two zeros of doubles, which are equal, only one is left."""
    is_double = column.column.type is ColumnType.NUMBER and not column.column.precision
    return f"({_column(column)} + 0.0)" if is_double else _column(column)


def _key(key: CheckedKey) -> str:
    if key.time_part is None:
        return _value(key.column)
    return f"CAST(date_trunc('{key.time_part}', {_column(key.column)}) AS {held_part(key.time_part).sql_type})"


def _held_key(key: CheckedKey) -> Held:
    return held_part(key.time_part) if key.time_part else held_column(key.column.column)


def _row_id(dataset: int) -> str:
    return f"d{dataset}.{ROW_ID_COLUMN}"


def _row_ids(checked: CheckedPlan) -> list[str]:
    return [_row_id(place) for place in checked.visible]


def _first(row_ids: Sequence[str]) -> str:
    """What the first of some joined rows is found by; rows that a dataset gave nothing to stand last."""
    return row_ids[0] if len(row_ids) == 1 else f"row({', '.join(row_ids)})"


def _order_keys(checked: CheckedPlan, names: Sequence[str]) -> list[str]:
    return _ordered(checked.order_by, names)


def _ordered(order_by: Sequence[CheckedOrder], names: Sequence[str]) -> list[str]:
    keys = []
    for order in order_by:
        sql = _column(order.target) if isinstance(order.target, CheckedColumn) else names[order.target.position]
        keys.append(f"{sql} {'DESC' if order.descending else 'ASC'} NULLS {'FIRST' if order.nulls_first else 'LAST'}")
    return keys


def _order(keys: Sequence[str]) -> str:
    return f"ORDER BY {', '.join(keys)}"


def _limit(checked: CheckedPlan, parameters: Parameters, *, max_rows: int) -> str:
    wanted = max_rows + 1 if checked.plan.limit is None else min(checked.plan.limit, max_rows + 1)
    return f"LIMIT {parameters.bind(wanted, 'BIGINT')}"
