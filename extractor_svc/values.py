"""One cell of a table as the source means it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from artifact.locators import Locator
from artifact.model import ColumnType


@dataclass(frozen=True, slots=True)
class Value:
    """A cell's meaning and its look.

    `kind` None is an empty cell. `value` is what `kind` says: str, int or Decimal, bool, date, datetime without a zone, time,
    timedelta. `text` is what the source displays. `error` names a cell error (`#DIV/0!`) or why the value cannot be held.
    `cached` is False on a formula whose result the source does not hold.
    """

    kind: ColumnType | None = None
    value: object = None
    text: str = ""
    number_format: str = ""
    formula: str = ""
    error: str = ""
    cached: bool = True


EMPTY: Final = Value()


@dataclass(frozen=True, slots=True)
class TableRow:
    """A data row: its place and its values in column order; missing ones at the end are empty."""

    locator: Locator
    values: Sequence[Value]
