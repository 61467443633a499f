"""Typed questions over datasets, as a caller states them."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import TypeAlias

Scalar: TypeAlias = str | int | Decimal | float | bool | dt.date | dt.datetime | dt.time | dt.timedelta
"""One value that is not null. Datetimes carry no zone: columns hold them without one, and calendars are UTC's."""


class Operator(StrEnum):
    """How a column is compared. Every comparison with null is false but `is_null`, so `ne` and `not_in` leave nulls out.

    Text is compared by code points. A double that is not a number equals itself and is greater than every number.
    """

    EQ = "eq"
    NE = "ne"
    LT = "lt"
    LE = "le"
    GT = "gt"
    GE = "ge"
    IN = "in"
    NOT_IN = "not_in"
    IS_NULL = "is_null"
    NOT_NULL = "not_null"
    CONTAINS = "contains"
    STARTS_WITH = "starts_with"
    ENDS_WITH = "ends_with"
    BETWEEN = "between"


class TimePart(StrEnum):
    """What a date or datetime is cut to before it is grouped by; weeks begin on Monday."""

    SECOND = "second"
    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"

    @property
    def of_day(self) -> bool:
        """Whether the part is shorter than a day."""
        return self in (TimePart.SECOND, TimePart.MINUTE, TimePart.HOUR)


class AggregateFunction(StrEnum):
    """A calculation over a group; null over no values.

    `median` is the middle value, or exactly half the sum of the two in the middle. `percentile` is the least value that at least
    its fraction of the values do not exceed, so it is always one of them. `stddev` is that of a sample, a double, null over
    fewer than two values. `first` and `last` are values of the rows that stand first and last in an order, null or not.
    """

    COUNT = "count"
    COUNT_DISTINCT = "count_distinct"
    COUNT_IF = "count_if"
    SUM = "sum"
    AVG = "avg"
    MIN = "min"
    MAX = "max"
    MEDIAN = "median"
    PERCENTILE = "percentile"
    STDDEV = "stddev"
    FIRST = "first"
    LAST = "last"


@dataclass(frozen=True, slots=True)
class PlanDataset:
    """A dataset of the plan under its alias, which may be empty where it is the only one."""

    source_uri: str
    dataset_id: str
    alias: str = ""


class JoinKind(StrEnum):
    """Which rows a join keeps. A null key equals nothing.

    `inner` pairs rows of equal keys; `left` keeps earlier rows without a partner too; `semi` keeps earlier rows that have a
    partner, once; `anti` those that have none. Columns of a dataset that was joined by `semi` or `anti` are keys and no more.
    """

    INNER = "inner"
    LEFT = "left"
    SEMI = "semi"
    ANTI = "anti"

    @property
    def looks_up(self) -> bool:
        """Whether the join only decides which earlier rows stay."""
        return self in (JoinKind.SEMI, JoinKind.ANTI)


@dataclass(frozen=True, slots=True)
class ColumnRef:
    """A column of a dataset, or a name of the result where a predicate is over the result."""

    column: str
    alias: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A column compared with values; `ignore_case` compares text by its lower case."""

    column: ColumnRef
    operator: Operator
    values: tuple[Scalar, ...] = ()
    ignore_case: bool = False


@dataclass(frozen=True, slots=True)
class All:
    """Holds where every predicate does."""

    predicates: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Holds where at least one predicate does."""

    predicates: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """Holds where the predicate does not; a comparison with null is false, so its negation is true."""

    predicate: Predicate


Predicate: TypeAlias = Comparison | All | AnyOf | Not


@dataclass(frozen=True, slots=True)
class JoinKey:
    """A pair of columns whose values are equal: one of an earlier dataset, one of the joined dataset."""

    left: ColumnRef
    right: ColumnRef


@dataclass(frozen=True, slots=True)
class Join:
    """Joins the dataset with the alias to those before it. One that repeats rows under a figure needs `allow_fan_out`."""

    alias: str
    keys: tuple[JoinKey, ...]
    kind: JoinKind = JoinKind.INNER
    allow_fan_out: bool = False


@dataclass(frozen=True, slots=True)
class GroupBy:
    """A column to group by, whole or cut to a part of time. `name` is its name in the result, empty for the default."""

    column: ColumnRef
    time_part: TimePart | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A calculation. `column` is None for `count` of rows and for `count_if`, which has a `condition`.

    `percentile` has a `fraction`, 0 to 1; `first` and `last` have an order by columns of datasets, after which rows stand as in
    their sources.
    """

    function: AggregateFunction
    column: ColumnRef | None = None
    name: str = ""
    condition: Predicate | None = None
    fraction: Decimal | None = None
    order_by: tuple[OrderBy, ...] = ()


@dataclass(frozen=True, slots=True)
class SelectColumn:
    """A column of the result of a select plan."""

    column: ColumnRef
    name: str = ""


@dataclass(frozen=True, slots=True)
class OrderBy:
    """A key of the order: a name of the result, or in a select plan a column of a dataset."""

    name: str
    alias: str = ""
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """Aggregates, perhaps over groups, or a selection of rows; never both. `limit` None asks for every row.

    Each dataset past the first has a join; joins happen in their order.
    """

    datasets: tuple[PlanDataset, ...]
    joins: tuple[Join, ...] = ()
    where: tuple[Predicate, ...] = ()
    group_by: tuple[GroupBy, ...] = ()
    aggregates: tuple[Aggregate, ...] = ()
    having: tuple[Predicate, ...] = ()
    select: tuple[SelectColumn, ...] = ()
    distinct: bool = False
    order_by: tuple[OrderBy, ...] = ()
    limit: int | None = None
