"""Random typed tables and plans over them, with names and values chosen to be hostile."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from enum import StrEnum
from typing import Any

from hypothesis import strategies as st

from artifact.model import Column, ColumnType
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
    SelectColumn,
    TimePart,
)
from knowledge_svc.domain.plan_check import AGGREGATED
from knowledge_svc.domain.predicate_check import OPERATORS
from tests.dataset_fixtures import URI

COLUMNS = (
    Column("name", ColumnType.STRING),
    Column('sel"ect; --', ColumnType.STRING),
    Column("total", ColumnType.NUMBER, precision=4, scale=2),
    Column("TOTAL", ColumnType.NUMBER, precision=9),
    Column("order", ColumnType.NUMBER, precision=18, scale=12),
    Column("_row_id ", ColumnType.NUMBER, precision=38, scale=2),
    Column("größe\n'", ColumnType.NUMBER, precision=38),
    Column("tiny", ColumnType.NUMBER, precision=38, scale=38),
    Column("double", ColumnType.NUMBER),
    Column("c0", ColumnType.BOOL),
    Column("a0", ColumnType.DATE),
    Column("k0", ColumnType.DATETIME),
    Column("row_id", ColumnType.TIME),
    Column("n", ColumnType.DURATION),
)
TYPES = {column.name: column for column in COLUMNS}
TEXTS = ["", "a", "A", "ab", "é", "É", "ß", "a%", "_", "'", '"', "日本", "Zz", "\x00", "0"]
DAYS = [
    dt.date(1, 1, 1),
    dt.date(2030, 12, 29),
    dt.date(2030, 12, 31),
    dt.date(2031, 1, 1),
    dt.date(2031, 1, 6),
    dt.date(9999, 12, 31),
]
MOMENTS = [
    dt.datetime.fromisoformat(text)
    for text in (
        "0001-01-01T00:00:00",
        "1969-12-31T23:59:59.999999",
        "2031-03-31T23:59:59",
        "2031-04-01T00:00:00",
        "2031-04-01T00:00:00.000001",
        "9999-12-31T23:59:59.999999",
    )
]
CLOCKS = [dt.time(0), dt.time(7, 32, 0, 500000), dt.time(23, 59, 59, 999999)]
LENGTHS = [
    dt.timedelta(0),
    dt.timedelta(microseconds=1),
    dt.timedelta(days=-1),
    dt.timedelta(seconds=5400),
    dt.timedelta(days=90000),
]
FRACTIONS = [Decimal(one) for one in ("0.0", "0.1", "0.25", "0.5", "0.9", "0.95", "1.0", "0.3333333333333333")]
DOUBLES = [0.0, 0.25, -1.5, 1024.0, -3.75]
NEVER_HELD = ["0.005", "-0.001", "1e30", "-1e30", "1e60", "-1e60", "0.1234567890123456789012345678901234567890", "2.5"]


def decimals(column: Column) -> st.SearchStrategy[Decimal]:
    most = 10**column.precision - 1
    near = st.integers(-20, 20)
    halves = st.integers(-9, 9).map(lambda half: max(-most, min(most, half * 500)))  # at twelve decimals, ties at nine
    units = st.one_of(near, halves, st.sampled_from([most, -most, most // 2 + 1, most // 3]), st.integers(-most, most))
    return units.map(lambda unit: Decimal(f"{unit}E-{column.scale}"))


def values(column: Column) -> st.SearchStrategy[Any]:
    match column.type:
        case ColumnType.NUMBER:
            return decimals(column) if column.precision else st.sampled_from(DOUBLES)
        case ColumnType.BOOL:
            return st.booleans()
    pools: dict[ColumnType, list[Any]] = {
        ColumnType.STRING: TEXTS,
        ColumnType.DATE: DAYS,
        ColumnType.DATETIME: MOMENTS,
        ColumnType.TIME: CLOCKS,
        ColumnType.DURATION: LENGTHS,
    }
    return st.sampled_from(pools[column.type])


def literals(column: Column) -> st.SearchStrategy[Any]:
    if column.type is ColumnType.NUMBER and column.precision:
        return st.one_of(values(column), st.sampled_from(NEVER_HELD).map(Decimal), st.integers(-3, 3))
    return values(column)


Table = tuple[tuple[Column, ...], list[dict[str, Any]]]


@st.composite
def tables_of(draw: st.DrawFn) -> Table:
    columns = tuple(draw(st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=6, unique=True)))
    pools = {column.name: draw(st.lists(values(column), min_size=1, max_size=4)) for column in columns}
    row = st.fixed_dictionaries({name: st.one_of(st.none(), st.sampled_from(pool)) for name, pool in pools.items()})
    return columns, draw(st.lists(row, max_size=12))


@st.composite
def comparisons(draw: st.DrawFn, columns: Sequence[Column]) -> Comparison:
    column = draw(st.sampled_from(columns))
    operator = draw(st.sampled_from(sorted(OPERATORS[column.type])))
    match operator:
        case Operator.IS_NULL | Operator.NOT_NULL:
            given: list[Any] = []
        case Operator.IN | Operator.NOT_IN:
            given = draw(st.lists(literals(column), min_size=1, max_size=4))
        case Operator.BETWEEN:
            given = [draw(literals(column)), draw(literals(column))]
        case _:
            given = [draw(literals(column))]
    folds = column.type is ColumnType.STRING and draw(st.booleans())
    return Comparison(ColumnRef(column.name), operator, tuple(given), folds)


def predicates(columns: Sequence[Column]) -> st.SearchStrategy[Predicate]:
    return st.recursive(
        comparisons(columns),
        lambda inner: st.one_of(
            inner.map(Not),
            st.lists(inner, min_size=1, max_size=3).map(lambda many: All(tuple(many))),
            st.lists(inner, min_size=1, max_size=3).map(lambda many: AnyOf(tuple(many))),
        ),
        max_leaves=4,
    )


@st.composite
def keys(draw: st.DrawFn, columns: Sequence[Column]) -> GroupBy:
    column = draw(st.sampled_from(columns))
    parts: list[TimePart | None] = [None]
    if column.type is ColumnType.DATETIME:
        parts += list(TimePart)
    if column.type is ColumnType.DATE:
        parts += [part for part in TimePart if not part.of_day]
    return GroupBy(ColumnRef(column.name), draw(st.sampled_from(parts)))


@st.composite
def aggregates(draw: st.DrawFn, columns: Sequence[Column]) -> Aggregate:
    column = draw(st.sampled_from(columns))
    functions = [one for one, takes in AGGREGATED.items() if column.type in takes]
    function = draw(st.sampled_from([*functions, AggregateFunction.COUNT_IF]))
    if function is AggregateFunction.COUNT_IF:
        return Aggregate(function, condition=draw(predicates(columns)))
    if function is AggregateFunction.COUNT and draw(st.booleans()):
        return Aggregate(function)
    if function is AggregateFunction.MEDIAN and column.scale == 38:
        function = AggregateFunction.MIN
    fraction = draw(st.sampled_from(FRACTIONS)) if function is AggregateFunction.PERCENTILE else None
    by_order = function in (AggregateFunction.FIRST, AggregateFunction.LAST)
    order_by = orders(draw, [one.name for one in columns]) if by_order else ()
    return Aggregate(function, ColumnRef(column.name), fraction=fraction, order_by=order_by)


def named(parts: Sequence[Any]) -> tuple[Any, ...]:
    """The parts under names that no two share, some of them like those the statement uses itself."""
    used = ["k0", "a1", "K0", "n", 'x"y', "first_row", "p0", "grouped", "order"]
    return tuple(type(part)(**{**{f: getattr(part, f) for f in part.__slots__}, "name": used[i]}) for i, part in enumerate(parts))


def orders(draw: st.DrawFn, names: Sequence[str]) -> tuple[OrderBy, ...]:
    chosen = draw(st.lists(st.sampled_from(names), max_size=3, unique=True))
    return tuple(OrderBy(name, "", draw(st.booleans()), draw(st.booleans())) for name in chosen)


@st.composite
def group_plans(draw: st.DrawFn, columns: Sequence[Column]) -> Plan:
    group_by = draw(st.lists(keys(columns), max_size=3))
    figures = draw(st.lists(aggregates(columns), min_size=0 if group_by else 1, max_size=4))
    parts = named([*group_by, *figures])
    count = [one for one in parts if isinstance(one, Aggregate) and one.function is AggregateFunction.COUNT]
    having = [Comparison(ColumnRef(one.name), Operator.GE, (draw(st.integers(0, 3)),)) for one in count[:1]]
    return Plan(
        datasets=(PlanDataset(URI, "t1"),),
        where=tuple(draw(st.lists(predicates(columns), max_size=2))),
        group_by=parts[: len(group_by)],
        aggregates=parts[len(group_by) :],
        having=tuple(having) if draw(st.booleans()) else (),
        order_by=orders(draw, [one.name for one in parts]),
        limit=draw(st.one_of(st.none(), st.integers(1, 5))),
    )


@st.composite
def select_plans(draw: st.DrawFn, columns: Sequence[Column]) -> Plan:
    chosen = draw(st.lists(st.sampled_from(columns), min_size=1, max_size=4))
    selected = named([SelectColumn(ColumnRef(column.name)) for column in chosen])
    distinct = draw(st.booleans())
    names = [one.name for one in selected] + ([] if distinct else [column.name for column in columns])
    return Plan(
        datasets=(PlanDataset(URI, "t1"),),
        where=tuple(draw(st.lists(predicates(columns), max_size=2))),
        select=selected,
        distinct=distinct,
        order_by=orders(draw, list(dict.fromkeys(names))),
        limit=draw(st.one_of(st.none(), st.integers(1, 5))),
    )


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[Table], Plan]:
    columns, rows = draw(tables_of())
    return [(columns, rows)], draw(st.one_of(group_plans(columns), select_plans(columns)))


def joinable(left: Column, right: Column) -> bool:
    if left.type is not right.type or bool(left.precision) != bool(right.precision):
        return False
    return max(left.precision - left.scale, right.precision - right.scale) + max(left.scale, right.scale) <= 38


@st.composite
def like(draw: st.DrawFn, columns: Sequence[Column], rows: Sequence[dict[str, Any]]) -> Table:
    """A table whose columns hold much of what those of another do."""
    chosen = tuple(draw(st.lists(st.sampled_from([*columns, *COLUMNS]), min_size=1, max_size=4, unique=True)))
    pools = {}
    for column in chosen:
        held = [row[column.name] for row in rows if row.get(column.name) is not None]
        pools[column.name] = held + draw(st.lists(values(column), min_size=0 if held else 1, max_size=3))
    row = st.fixed_dictionaries({name: st.one_of(st.none(), st.sampled_from(pool)) for name, pool in pools.items()})
    return chosen, draw(st.lists(row, max_size=8))


@st.composite
def join_cases(draw: st.DrawFn) -> tuple[list[Table], Plan]:
    """Two or three tables, joined by whatever columns can be equal, and a plan over them."""
    tables = [draw(tables_of())]
    aliases, joins, seen, free = ["a"], [], ["a"], draw(st.booleans())
    for alias in "bc"[: draw(st.integers(1, 2))]:
        table = draw(like(*tables[0]))
        known = {one: tables[place][0] for place, one in enumerate(aliases) if one in seen}
        pairs = [(one, a, b) for one, columns in known.items() for a in columns for b in table[0] if joinable(a, b)]
        if not pairs:
            break
        chosen = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=2))
        keys = tuple(JoinKey(ColumnRef(a.name, one), ColumnRef(b.name, alias)) for one, a, b in chosen)
        kind = draw(st.sampled_from(JoinKind))
        joins.append(Join(alias, keys, kind, free))
        tables.append(table)
        aliases.append(alias)
        seen += [] if kind.looks_up else [alias]
    if len(tables) == 1:
        return tables, draw(st.one_of(group_plans(tables[0][0]), select_plans(tables[0][0])))
    datasets = tuple(PlanDataset(URI, f"t{place + 1}", alias) for place, alias in enumerate(aliases))
    plans = [
        (one, draw(st.one_of(group_plans(columns), select_plans(columns))))
        for one, (columns, _) in zip(aliases, tables, strict=True)
        if one in seen
    ]
    return tables, merged(draw, plans, datasets=datasets, joins=tuple(joins))


def merged(
    draw: st.DrawFn, plans: Sequence[tuple[str, Plan]], *, datasets: tuple[PlanDataset, ...], joins: tuple[Join, ...]
) -> Plan:
    """One plan out of a plan over each dataset: conditions of all, and what the first asks for, with parts of the others."""
    named_plans = [aliased(plan, alias) for alias, plan in plans]
    first = named_plans[0]
    same = [one for one in named_plans if bool(one.select) == bool(first.select)]
    group_by = [key for one in same for key in one.group_by][:3]
    aggregates = [one for plan in same for one in plan.aggregates][:4]
    select = [column for one in same for column in one.select][:4]
    parts = named([*group_by, *aggregates, *select])
    names = [one.name for one in parts]
    return replace(
        first,
        datasets=datasets,
        joins=joins,
        where=tuple(predicate for one in named_plans for predicate in one.where if draw(st.booleans())),
        group_by=parts[: len(group_by)],
        aggregates=parts[len(group_by) : len(group_by) + len(aggregates)],
        select=parts[len(group_by) + len(aggregates) :],
        having=(),
        order_by=orders(draw, names),
    )


def aliased(part: Any, alias: str) -> Any:
    """The part of a plan with every column named by the alias."""
    if isinstance(part, ColumnRef):
        return ColumnRef(part.column, alias)
    if isinstance(part, tuple):
        return tuple(aliased(one, alias) for one in part)
    if isinstance(part, OrderBy):
        return replace(part, alias=alias)
    if isinstance(part, PlanDataset) or not hasattr(part, "__slots__") or isinstance(part, StrEnum):
        return part
    return replace(part, **{name: aliased(getattr(part, name), alias) for name in part.__slots__})
