"""Plans whose every name, type and operator was checked against the snapshots they read, and their results."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Final, TypeAlias

from artifact.model import Column, ColumnType
from knowledge_svc.domain.model import DatasetSnapshot
from knowledge_svc.domain.plan import AggregateFunction, JoinKind, Operator, Plan, Scalar, TimePart

COUNT_DIGITS: Final = 19
"""Digits of a count, a whole number of 64 bits."""
FIGURE_DIGITS: Final = 38
"""Digits of a sum or an average."""
AVERAGE_SCALE: Final = 9
"""Decimals of an average."""


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """A column of a result. `precision` and `scale` are those of its decimals, both 0 for doubles and for other types."""

    name: str
    type: ColumnType
    precision: int = 0
    scale: int = 0


@dataclass(frozen=True, slots=True)
class CheckedColumn:
    """A column of a snapshot: which dataset of the plan, and its place among the snapshot's columns, both from 0."""

    dataset: int
    position: int
    column: Column


@dataclass(frozen=True, slots=True)
class ResultName:
    """A column of the result by its place, from 0."""

    position: int
    column: ResultColumn


Target: TypeAlias = CheckedColumn | ResultName
"""What can be compared and ordered by."""


@dataclass(frozen=True, slots=True)
class CheckedComparison:
    """A comparison whose values have the target's type: Decimal for exact numbers, float for doubles."""

    target: Target
    operator: Operator
    values: tuple[Scalar, ...]
    ignore_case: bool


@dataclass(frozen=True, slots=True)
class CheckedAll:
    """Holds where every predicate does."""

    predicates: tuple[CheckedPredicate, ...]


@dataclass(frozen=True, slots=True)
class CheckedAny:
    """Holds where at least one predicate does."""

    predicates: tuple[CheckedPredicate, ...]


@dataclass(frozen=True, slots=True)
class CheckedNot:
    """Holds where the predicate does not."""

    predicate: CheckedPredicate


CheckedPredicate: TypeAlias = CheckedComparison | CheckedAll | CheckedAny | CheckedNot


@dataclass(frozen=True, slots=True)
class CheckedJoin:
    """A join of the dataset at a place, by pairs of columns of the same type, the earlier dataset's first."""

    dataset: int
    kind: JoinKind
    keys: tuple[tuple[CheckedColumn, CheckedColumn], ...]
    allow_fan_out: bool


@dataclass(frozen=True, slots=True)
class CheckedKey:
    """A key of the groups."""

    column: CheckedColumn
    time_part: TimePart | None


@dataclass(frozen=True, slots=True)
class CheckedAggregate:
    """A calculation; `column` is None where it counts rows, `condition` None unless it counts those that meet one.

    `fraction` is a percentile's; `order_by` that of first and last, by columns of datasets.
    """

    function: AggregateFunction
    column: CheckedColumn | None
    condition: CheckedPredicate | None = None
    fraction: Decimal | None = None
    order_by: tuple[CheckedOrder, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckedOrder:
    """A key of the order."""

    target: Target
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class CheckedPlan:
    """A plan that can run. `columns` are those of the result: keys, then aggregates; or the selected ones.

    `snapshots` stand in the order of the plan's datasets. A plan with `select` has neither keys nor aggregates.
    """

    plan: Plan
    snapshots: tuple[DatasetSnapshot, ...]
    columns: tuple[ResultColumn, ...]
    joins: tuple[CheckedJoin, ...]
    where: tuple[CheckedPredicate, ...]
    keys: tuple[CheckedKey, ...]
    aggregates: tuple[CheckedAggregate, ...]
    having: tuple[CheckedPredicate, ...]
    select: tuple[CheckedColumn, ...]
    order_by: tuple[CheckedOrder, ...]

    @property
    def visible(self) -> tuple[int, ...]:
        """The places of the datasets whose rows stand in the joined rows, in the order of the joins."""
        return (0, *(join.dataset for join in self.joins if not join.kind.looks_up))

    @property
    def selects_rows(self) -> bool:
        """Whether the result is rows of the datasets rather than figures over them."""
        return bool(self.select)


@dataclass(frozen=True, slots=True)
class ResultTable:
    """Rows of a result, None for null: counts are int, exact numbers Decimal, doubles float.

    `row_ids` has, for each row of a select plan that is not `distinct`, one tuple of row ids a dataset, which is empty where the
    dataset gave no row; it is empty otherwise.
    """

    columns: tuple[ResultColumn, ...]
    rows: tuple[tuple[Scalar | None, ...], ...]
    row_ids: tuple[tuple[tuple[int, ...], ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """What one step did to the rows; `null_skipped` counts the null values an aggregate passed over."""

    name: str
    rows_in: int
    rows_out: int
    null_skipped: int = 0
