"""From a row of a result back to the rows it was made of."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from artifact.model import ColumnType
from knowledge_svc.domain.checked_plan import (
    CheckedColumn,
    CheckedComparison,
    CheckedKey,
    CheckedPlan,
    CheckedPredicate,
    ResultTable,
)
from knowledge_svc.domain.datasets import DatasetQueries, QueryEngine, SourceRow
from knowledge_svc.domain.errors import ReceiptMismatch
from knowledge_svc.domain.model import Scope
from knowledge_svc.domain.plan import Operator, Scalar, TimePart
from knowledge_svc.domain.receipt import Receipt, snapshots_read
from knowledge_svc.domain.stop import Stop
from services.errors import FieldViolation, InvalidArgument

_MONTHS: Final = {TimePart.MONTH: 1, TimePart.QUARTER: 3, TimePart.YEAR: 12}
_LENGTHS: Final = {
    TimePart.SECOND: dt.timedelta(seconds=1),
    TimePart.MINUTE: dt.timedelta(minutes=1),
    TimePart.HOUR: dt.timedelta(hours=1),
    TimePart.DAY: dt.timedelta(days=1),
    TimePart.WEEK: dt.timedelta(weeks=1),
}


@dataclass(frozen=True, slots=True)
class TracedRow:
    """A row behind a row of a result, and the alias of the dataset it is of."""

    alias: str
    row: SourceRow


@dataclass(frozen=True, slots=True)
class TraceCursor:
    """Where a trace stands: the place of a dataset in the plan, and the id of the last row that was told of it."""

    dataset: int = 0
    after: int = -1


@dataclass(frozen=True, slots=True)
class TracedRows:
    """Rows behind one row of a result, by dataset and row id, and where they go on; None after the last."""

    rows: tuple[TracedRow, ...]
    next: TraceCursor | None


class RowTracer:
    """Expands rows of results."""

    def __init__(self, queries: DatasetQueries, engine: QueryEngine) -> None:
        self._queries = queries
        self._engine = engine

    def trace(self, scope: Scope, receipt: Receipt, *, result_row: int, start: TraceCursor, limit: int, stop: Stop) -> TracedRows:
        """Returns rows past `start` that a row of the receipt's result was made of.

        Datasets come in the order of the joins. Those that were looked up by semi or anti joins gave no rows.

        Raises:
            ReceiptMismatch: the receipt's plan no longer gives the receipt's result.
            InvalidArgument: the result has no such row.
            and as `DatasetQueries.query`.
        """
        checked = self._queries.check(scope, receipt.plan)
        table, again = self._queries.query(scope, receipt.plan, stop=stop)
        read = snapshots_read(receipt.plan, checked.snapshots)
        if (again.result_sha256, again.snapshots, read) != (receipt.result_sha256, receipt.snapshots, receipt.snapshots):
            raise ReceiptMismatch("the receipt's plan no longer gives the receipt's result; run the plan again")
        if not 0 <= result_row < len(table.rows):
            violation = FieldViolation("result_row", f"takes a row of the result, which has {len(table.rows)}, from 0")
            raise InvalidArgument(f"result_row {violation.description}", violations=[violation])
        narrowed = checked if table.row_ids else _narrowed(checked, table, result_row)
        given = table.row_ids[result_row] if table.row_ids else None
        found: list[TracedRow] = []
        for dataset in checked.visible[checked.visible.index(start.dataset) :]:
            after = start.after if dataset == start.dataset else -1
            rows = self._of_dataset(narrowed, dataset, given, after=after, limit=limit + 1 - len(found), stop=stop)
            found += [TracedRow(receipt.plan.datasets[dataset].alias, row) for row in rows]
            if len(found) > limit:
                told = rows[: len(rows) - 1]
                last = told[-1].row_id if told else after
                return TracedRows(tuple(found[:limit]), TraceCursor(dataset, last))
        return TracedRows(tuple(found), None)

    def _of_dataset(
        self,
        checked: CheckedPlan,
        dataset: int,
        given: tuple[tuple[int, ...], ...] | None,
        *,
        after: int,
        limit: int,
        stop: Stop,
    ) -> list[SourceRow]:
        """A dataset's rows past an id: of a selected row the one it gave, of a group all that stand behind it."""
        if given is None:
            return self._engine.rows(checked, dataset=dataset, after=after, limit=limit, stop=stop)
        wanted = [row_id for row_id in given[dataset] if row_id > after]
        return [
            row
            for row_id in wanted[:limit]
            for row in self._engine.rows(checked, dataset=dataset, after=row_id - 1, limit=1, stop=stop)
        ]


def _narrowed(checked: CheckedPlan, table: ResultTable, result_row: int) -> CheckedPlan:
    """The plan with a `where` that keeps the rows of one group alone."""
    keys = checked.keys or tuple(CheckedKey(column, None) for column in checked.select)
    values = table.rows[result_row][: len(keys)]
    of_group = [predicate for key, value in zip(keys, values, strict=True) for predicate in _key_predicates(key, value)]
    return replace(checked, where=(*checked.where, *of_group))


def _key_predicates(key: CheckedKey, value: Scalar | None) -> Sequence[CheckedPredicate]:
    if value is None:
        return [_compared(key.column, Operator.IS_NULL)]
    if key.time_part is None or not isinstance(value, dt.date):
        return [_compared(key.column, Operator.EQ, value)]
    start = _of_column(value, key.column)
    end = _end(value, key.time_part)
    until = [] if end is None else [_compared(key.column, Operator.LT, _of_column(end, key.column))]
    return [_compared(key.column, Operator.GE, start), *until]


def _compared(column: CheckedColumn, operator: Operator, *values: Scalar) -> CheckedComparison:
    return CheckedComparison(column, operator, values, ignore_case=False)


def _of_column(value: dt.date, column: CheckedColumn) -> dt.date:
    """A date as the datetime at its midnight where the column holds datetimes."""
    if column.column.type is ColumnType.DATETIME and not isinstance(value, dt.datetime):
        return dt.datetime.combine(value, dt.time.min)
    return value


def _end(start: dt.date, part: TimePart) -> dt.date | None:
    """Where the part of time that begins at `start` ends; None where that is past the last date."""
    try:
        if part in _LENGTHS:
            return start + _LENGTHS[part]
        years, month = divmod(start.month - 1 + _MONTHS[part], 12)
        return start.replace(year=start.year + years, month=month + 1)
    except (OverflowError, ValueError):
        return None
