"""Checks a plan against the snapshots it reads and resolves every name in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from artifact.model import Column, ColumnType
from knowledge_svc.domain.checked_plan import (
    AVERAGE_SCALE,
    COUNT_DIGITS,
    FIGURE_DIGITS,
    CheckedAggregate,
    CheckedColumn,
    CheckedKey,
    CheckedOrder,
    CheckedPlan,
    CheckedPredicate,
    ResultColumn,
    ResultName,
    Target,
)
from knowledge_svc.domain.join_check import JoinCheck, visible_columns
from knowledge_svc.domain.model import DatasetSnapshot
from knowledge_svc.domain.plan import Aggregate, AggregateFunction, ColumnRef, GroupBy, OrderBy, Plan, SelectColumn
from knowledge_svc.domain.plan_faults import PlanFaults, shown, unknown_name
from knowledge_svc.domain.predicate_check import PredicateCheck, Resolve, snapshot_resolver

MAX_DATASETS: Final = 4
MAX_KEYS: Final = 16
MAX_AGGREGATES: Final = 64
MAX_SELECTED: Final = 1000
MAX_ORDER_KEYS: Final = 16
MAX_NAME_LENGTH: Final = 200
MAX_LIMIT: Final = 2**62

_ALIAS: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}", re.ASCII)
_NUMERIC: Final = frozenset({ColumnType.NUMBER, ColumnType.DURATION})
_ORDERED: Final = frozenset(ColumnType) - {ColumnType.BOOL}
AGGREGATED: Final[dict[AggregateFunction, frozenset[ColumnType]]] = {
    AggregateFunction.COUNT: frozenset(ColumnType),
    AggregateFunction.COUNT_DISTINCT: frozenset(ColumnType),
    AggregateFunction.SUM: _NUMERIC,
    AggregateFunction.AVG: _NUMERIC,
    AggregateFunction.MIN: _ORDERED,
    AggregateFunction.MAX: _ORDERED,
    AggregateFunction.MEDIAN: _NUMERIC,
    AggregateFunction.PERCENTILE: _ORDERED,
    AggregateFunction.STDDEV: frozenset({ColumnType.NUMBER}),
    AggregateFunction.FIRST: frozenset(ColumnType),
    AggregateFunction.LAST: frozenset(ColumnType),
}
"""The column types each aggregate takes; `count_if` takes no column."""
_BY_ORDER: Final = frozenset({AggregateFunction.FIRST, AggregateFunction.LAST})


def check_datasets(plan: Plan) -> None:
    """Checks how the plan names its datasets, which has to hold before they can be loaded.

    Raises:
        InvalidPlan: with every fault found.
    """
    faults = PlanFaults()
    if not 1 <= len(plan.datasets) <= MAX_DATASETS:
        faults.add("plan.datasets", f"a plan reads 1 to {MAX_DATASETS} datasets, not {len(plan.datasets)}")
    aliases: set[str] = set()
    for i, dataset in enumerate(plan.datasets[:MAX_DATASETS]):
        field = f"plan.datasets[{i}]"
        for name in ("source_uri", "dataset_id"):
            if not getattr(dataset, name):
                faults.add(f"{field}.{name}", "name the dataset by its source_uri and its dataset_id")
        if not (dataset.alias or len(plan.datasets) == 1):
            faults.add(f"{field}.alias", "a plan over several datasets gives each an alias")
        elif dataset.alias and not _ALIAS.fullmatch(dataset.alias):
            faults.add(f"{field}.alias", "an alias is a letter and then at most 62 letters, digits or underscores")
        elif dataset.alias in aliases:
            faults.add(f"{field}.alias", f"the alias {shown(dataset.alias)} stands for an earlier dataset")
        aliases.add(dataset.alias)
    faults.raise_if_any()


def check_plan(plan: Plan, snapshots: Sequence[DatasetSnapshot]) -> CheckedPlan:
    """Resolves the plan against its snapshots, which stand in the order of its datasets.

    Raises:
        InvalidPlan: with every fault found, each at its field with what would be valid.
    """
    check_datasets(plan)
    return _Check(plan, snapshots).run()


class _Check:
    def __init__(self, plan: Plan, snapshots: Sequence[DatasetSnapshot]) -> None:
        self._plan = plan
        self._snapshots = tuple(snapshots)
        self._faults = PlanFaults()
        self._predicates = PredicateCheck(self._faults)
        self._unresolved: set[int] = set()
        columns = {
            dataset.alias: tuple(CheckedColumn(i, j, column) for j, column in enumerate(snapshots[i].columns))
            for i, dataset in enumerate(plan.datasets)
        }
        self._joins = JoinCheck(plan, columns, self._faults).run()
        self._resolve = snapshot_resolver(visible_columns(plan, columns), self._faults)

    def run(self) -> CheckedPlan:
        plan = self._plan
        self._check_shape()
        where = self._predicates.check_all(plan.where, "plan.where", resolve=self._resolve)
        keys = [self._key(key, f"plan.group_by[{i}]") for i, key in enumerate(plan.group_by)]
        aggregates = [self._aggregate(one, f"plan.aggregates[{i}]") for i, one in enumerate(plan.aggregates)]
        select = [self._select_column(one, f"plan.select[{i}]") for i, one in enumerate(plan.select)]
        columns = [column for _, column in (*keys, *aggregates, *select)]
        self._unresolved = {i for i, (found, _) in enumerate((*keys, *aggregates, *select)) if found is None}
        self._check_names(columns)
        having = self._predicates.check_all(plan.having, "plan.having", resolve=self._result_resolver(columns))
        order_by = [self._order(order, f"plan.order_by[{i}]", columns=columns) for i, order in enumerate(plan.order_by)]
        self._faults.raise_if_any()
        return CheckedPlan(
            plan=plan,
            snapshots=self._snapshots,
            columns=tuple(columns),
            joins=self._joins,
            where=where,
            keys=tuple(key for key, _ in keys if key),
            aggregates=tuple(aggregate for aggregate, _ in aggregates if aggregate),
            having=having,
            select=tuple(column for column, _ in select if column),
            order_by=tuple(order for order in order_by if order),
        )

    def _check_shape(self) -> None:
        plan, add = self._plan, self._faults.add
        if plan.select and (plan.aggregates or plan.group_by):
            add("plan.select", "a plan either selects rows or groups and aggregates them; leave out one of the two")
        if not (plan.select or plan.aggregates or plan.group_by):
            add("plan", "ask for something: select for rows, aggregates or group_by for figures")
        if plan.having and plan.select:
            add("plan.having", "having is over groups; use where for rows")
        if plan.distinct and not plan.select:
            add("plan.distinct", "distinct is for select; groups are distinct already")
        if plan.limit is not None and not 1 <= plan.limit <= MAX_LIMIT:
            add("plan.limit", "a limit is at least 1; leave it out for every row")
        for name, most in (("group_by", MAX_KEYS), ("aggregates", MAX_AGGREGATES), ("select", MAX_SELECTED)):
            self._check_count(name, len(getattr(plan, name)), most)
        self._check_count("order_by", len(plan.order_by), MAX_ORDER_KEYS)

    def _check_count(self, name: str, count: int, most: int) -> None:
        if count > most:
            self._faults.add(f"plan.{name}", f"at most {most} are taken, not {count}")

    def _key(self, key: GroupBy, field: str) -> tuple[CheckedKey | None, ResultColumn]:
        column = self._column(key.column, f"{field}.column")
        part = key.time_part
        default = f"{key.column.column}_{part}" if part else key.column.column
        if column is None:
            return None, ResultColumn(key.name or default, ColumnType.STRING)
        kind = column.column.type
        if part is None:
            return CheckedKey(column, None), _result(key.name or default, column.column)
        if kind is ColumnType.DATE and part.of_day:
            self._faults.add(f"{field}.time_part", "a date has no time of day; group it by day, week, month, quarter or year")
        elif kind not in (ColumnType.DATE, ColumnType.DATETIME):
            self._faults.add(f"{field}.time_part", f"only dates and datetimes have parts; the column is of type {kind}")
        held = ColumnType.DATETIME if part.of_day else ColumnType.DATE
        return CheckedKey(column, part), ResultColumn(key.name or default, held)

    def _aggregate(self, one: Aggregate, field: str) -> tuple[CheckedAggregate | None, ResultColumn]:
        name = one.name or (f"{one.function}_{one.column.column}" if one.column else str(one.function))
        self._check_parts(one, field)
        condition = self._condition(one, f"{field}.condition")
        if one.column is None:
            return CheckedAggregate(one.function, None, condition), ResultColumn(name, ColumnType.NUMBER, COUNT_DIGITS)
        column = self._column(one.column, f"{field}.column")
        if column is None:
            return None, ResultColumn(name, ColumnType.STRING)
        takes = AGGREGATED.get(one.function, frozenset(ColumnType))
        if column.column.type not in takes:
            names = ", ".join(kind for kind in ColumnType if kind in takes)
            self._faults.add(
                f"{field}.column", f"{one.function} takes columns of {names}; this one is of type {column.column.type}"
            )
        if one.function is AggregateFunction.MEDIAN and column.column.scale >= FIGURE_DIGITS:
            self._faults.add(f"{field}.column", f"half a sum takes a decimal more than the {FIGURE_DIGITS} of the column")
        order_by = self._orders(one, f"{field}.order_by")
        checked = CheckedAggregate(one.function, column, condition, one.fraction, order_by)
        return checked, _figure(name, one.function, column.column)

    def _orders(self, one: Aggregate, field: str) -> tuple[CheckedOrder, ...]:
        """The order of first and last, by columns of datasets."""
        self._check_count(field.removeprefix("plan."), len(one.order_by), MAX_ORDER_KEYS)
        found = [
            (order, self._column(ColumnRef(order.name, order.alias), f"{field}[{i}].name")) for i, order in enumerate(one.order_by)
        ]
        return tuple(CheckedOrder(column, order.descending, order.nulls_first) for order, column in found if column is not None)

    def _check_parts(self, one: Aggregate, field: str) -> None:
        if one.column is None and one.function not in (AggregateFunction.COUNT, AggregateFunction.COUNT_IF):
            self._faults.add(f"{field}.column", f"{one.function} is over a column; name it")
        if one.column is not None and one.function is AggregateFunction.COUNT_IF:
            self._faults.add(f"{field}.column", "count_if counts rows that meet its condition; leave the column out")
        if one.condition is None and one.function is AggregateFunction.COUNT_IF:
            self._faults.add(f"{field}.condition", "count_if needs a condition")
        if one.condition is not None and one.function is not AggregateFunction.COUNT_IF:
            self._faults.add(f"{field}.condition", f"only count_if has a condition; {one.function} reads every row")
        if one.fraction is None and one.function is AggregateFunction.PERCENTILE:
            self._faults.add(f"{field}.fraction", "percentile needs a fraction, 0 to 1")
        if one.fraction is not None and one.function is not AggregateFunction.PERCENTILE:
            self._faults.add(f"{field}.fraction", "only percentile has a fraction")
        if one.fraction is not None and not (one.fraction.is_finite() and 0 <= one.fraction <= 1):
            self._faults.add(f"{field}.fraction", "a fraction is 0 to 1")
        if one.order_by and one.function not in _BY_ORDER:
            self._faults.add(f"{field}.order_by", "only first and last have an order")

    def _condition(self, one: Aggregate, field: str) -> CheckedPredicate | None:
        return None if one.condition is None else self._predicates.check(one.condition, field, resolve=self._resolve)

    def _select_column(self, one: SelectColumn, field: str) -> tuple[CheckedColumn | None, ResultColumn]:
        column = self._column(one.column, f"{field}.expression.column")
        if column is None:
            return None, ResultColumn(one.name or one.column.column, ColumnType.STRING)
        return column, _result(one.name or one.column.column, column.column)

    def _column(self, ref: ColumnRef, field: str) -> CheckedColumn | None:
        found = self._resolve(ref, field)
        return found if isinstance(found, CheckedColumn) else None

    def _check_names(self, columns: Sequence[ResultColumn]) -> None:
        fields = [
            *(f"plan.group_by[{i}].as" for i in range(len(self._plan.group_by))),
            *(f"plan.aggregates[{i}].as" for i in range(len(self._plan.aggregates))),
            *(f"plan.select[{i}].as" for i in range(len(self._plan.select))),
        ]
        seen: set[str] = set()
        for field, column in zip(fields, columns, strict=True):
            if column.name in seen:
                self._faults.add(field, f"the result already has a column {shown(column.name)}; give this one another name")
            seen.add(column.name)
        plan = self._plan
        given = [one.name for group in (plan.group_by, plan.aggregates, plan.select) for one in group]
        for field, name in zip(fields, given, strict=True):
            if len(name) > MAX_NAME_LENGTH or not name.isprintable():
                self._faults.add(field, f"a name has at most {MAX_NAME_LENGTH} characters, all of them printable")

    def _result_resolver(self, columns: Sequence[ResultColumn]) -> Resolve:
        def resolve(ref: ColumnRef, field: str) -> Target | None:
            if ref.alias:
                self._faults.add(f"{field}.alias", "this is over names of the result, which have no alias")
                return None
            for position, column in enumerate(columns):
                if column.name == ref.column:
                    return None if position in self._unresolved else ResultName(position, column)
            self._faults.add(field, unknown_name("column of the result", ref.column, (column.name for column in columns)))
            return None

        return resolve

    def _order(self, order: OrderBy, field: str, *, columns: Sequence[ResultColumn]) -> CheckedOrder | None:
        target = self._order_target(order, field, columns=columns)
        return None if target is None else CheckedOrder(target, order.descending, order.nulls_first)

    def _order_target(self, order: OrderBy, field: str, *, columns: Sequence[ResultColumn]) -> Target | None:
        for position, column in enumerate(columns):
            if not order.alias and column.name == order.name:
                return None if position in self._unresolved else ResultName(position, column)
        if not self._plan.select or self._plan.distinct:
            return self._result_resolver(columns)(ColumnRef(order.name, order.alias), f"{field}.name")
        return self._resolve(ColumnRef(order.name, order.alias), f"{field}.name")


def _result(name: str, column: Column) -> ResultColumn:
    return ResultColumn(name, column.type, column.precision, column.scale)


def _figure(name: str, function: AggregateFunction, column: Column) -> ResultColumn:
    match function:
        case AggregateFunction.COUNT | AggregateFunction.COUNT_DISTINCT | AggregateFunction.COUNT_IF:
            return ResultColumn(name, ColumnType.NUMBER, COUNT_DIGITS)
        case AggregateFunction.SUM if column.precision:
            return ResultColumn(name, ColumnType.NUMBER, FIGURE_DIGITS, column.scale)
        case AggregateFunction.AVG if column.precision:
            return ResultColumn(name, ColumnType.NUMBER, FIGURE_DIGITS, AVERAGE_SCALE)
        case AggregateFunction.MEDIAN if column.precision:
            return ResultColumn(name, ColumnType.NUMBER, FIGURE_DIGITS, column.scale + 1)
        case AggregateFunction.STDDEV:
            return ResultColumn(name, ColumnType.NUMBER)
        case _:
            return _result(name, column)
