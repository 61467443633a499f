"""How values stand in a snapshot's file and in a statement, and how they are read back."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final

from artifact.model import Column, ColumnType
from knowledge_svc.domain.checked_plan import COUNT_DIGITS, FIGURE_DIGITS
from knowledge_svc.domain.errors import NumberOverflow
from knowledge_svc.domain.plan import Scalar, TimePart

ROW_ID_COLUMN: Final = "row_id"
ROW_LOCATOR_COLUMN: Final = "locator"

_SQL_TYPES: Final[dict[ColumnType, str]] = {
    ColumnType.STRING: "VARCHAR",
    ColumnType.BOOL: "BOOLEAN",
    ColumnType.DATE: "DATE",
    ColumnType.DATETIME: "TIMESTAMP",
    ColumnType.TIME: "TIME",
    ColumnType.DURATION: "BIGINT",
}
_MICROSECOND: Final = dt.timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Held:
    """The engine's type of a value.

    A `scaled` number is a whole number of the engine that counts units of its last decimal: exact where the engine's own
    arithmetic would leave decimals for doubles. Durations are whole microseconds.
    """

    type: ColumnType
    sql_type: str
    precision: int = 0
    scale: int = 0
    scaled: bool = False

    @property
    def exact(self) -> bool:
        """Whether it is a number of exact digits."""
        return self.type is ColumnType.NUMBER and self.precision > 0


COUNT: Final = Held(ColumnType.NUMBER, "HUGEINT", COUNT_DIGITS, 0, scaled=True)
LONG_DURATION: Final = Held(ColumnType.DURATION, "HUGEINT")


def held_column(column: Column) -> Held:
    """How a dataset column is held."""
    if column.type is not ColumnType.NUMBER:
        return Held(column.type, _SQL_TYPES[column.type])
    if not column.precision:
        return Held(ColumnType.NUMBER, "DOUBLE")
    return Held(ColumnType.NUMBER, f"DECIMAL({column.precision},{column.scale})", column.precision, column.scale)


def held_part(part: TimePart) -> Held:
    """How a date or datetime is held once it is cut to a part of time."""
    kind = ColumnType.DATETIME if part.of_day else ColumnType.DATE
    return Held(kind, _SQL_TYPES[kind])


def scaled_figure(scale: int) -> Held:
    """A figure of up to 38 digits that the engine holds as a whole number."""
    return Held(ColumnType.NUMBER, "HUGEINT", FIGURE_DIGITS, scale, scaled=True)


def column_name(position: int) -> str:
    """The name in a snapshot's file of the column at a place among the dataset's columns.

    Names of datasets may differ in case alone, be empty of letters or read as keywords; places do neither.
    """
    return f"c{position}"


def quote(identifier: str) -> str:
    """Quotes an identifier for a statement; the one way a name gets into one."""
    return '"' + identifier.replace("\x00", "\ufffd").replace('"', '""') + '"'


def unscaled(number: Decimal, scale: int) -> tuple[int, bool]:
    """The number in units of the scale's last decimal, rounded down, and whether that is exact."""
    units = Fraction(number) * 10**scale
    return units.numerator // units.denominator, units.denominator == 1


def from_units(units: int, scale: int) -> Decimal:
    """The number that is `units` of the scale's last decimal; exact whatever its length."""
    return Decimal((int(units < 0), tuple(int(digit) for digit in str(abs(units))), -scale))


def to_engine(value: Scalar) -> object:
    """What the engine binds for a parameter; numbers go as text, since a cast of text to a decimal keeps every digit."""
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, dt.timedelta):
        return value // _MICROSECOND
    return value


def from_engine(value: object, held: Held) -> Scalar | None:
    """Reads back a value of a result.

    Raises:
        NumberOverflow: a duration is longer than can be told.
    """
    if value is None:
        return None
    if held.type is ColumnType.DURATION and isinstance(value, int):
        return _duration(value)
    if held.scaled and held != COUNT and isinstance(value, int):
        return from_units(value, held.scale)
    if isinstance(value, str | int | Decimal | float | dt.date | dt.time):
        return value
    raise TypeError(f"the engine answered {type(value).__name__} for {held.sql_type}")


def _duration(microseconds: int) -> dt.timedelta:
    try:
        return dt.timedelta(microseconds=microseconds)
    except OverflowError:
        raise NumberOverflow("a duration does not fit in 999999999 days; ask for smaller groups") from None
