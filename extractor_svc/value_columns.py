"""Many values of cells held as columns, for tables too large to keep an object for every cell."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from artifact.model import ColumnType
from extractor_svc.text_columns import Places, column_of
from extractor_svc.values import Value

TYPES: Final = tuple(ColumnType)
"""The types of values by their number less one; 0 is a cell without a value."""
NUMBER_OF: Final[dict[ColumnType | None, int]] = {None: 0, **{kind: i for i, kind in enumerate(TYPES, 1)}}

_EPOCH: Final = dt.datetime.combine(dt.date(1970, 1, 1), dt.time())
_MICROSECOND: Final = dt.timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, eq=False)
class ValueColumns:
    """What `Value` says of one cell, for many, but for formulas and errors.

    `kinds` are numbers of types. `numbers` are the numbers exactly, in plain digits, null where the kind is another.
    `ticks` are booleans (0 or 1), days since 1970, or microseconds: since 1970, of the day, or of the span. `formats` are
    places in `codes`.
    """

    kinds: npt.NDArray[np.uint8]
    texts: pa.StringArray
    numbers: pa.StringArray
    ticks: npt.NDArray[np.int64]
    formats: npt.NDArray[np.int32]
    codes: Sequence[str]

    def __len__(self) -> int:
        return len(self.kinds)

    def value(self, place: int) -> Value:
        """One value as an object of its own."""
        if not self.kinds[place]:
            return Value(text=self.texts[place].as_py(), number_format=self.codes[self.formats[place]])
        kind, text = TYPES[self.kinds[place] - 1], self.texts[place].as_py()
        if kind is ColumnType.NUMBER:
            held: object = number_of(self.numbers[place].as_py())
        else:
            held = text if kind is ColumnType.STRING else _held(kind, int(self.ticks[place]))
        return Value(kind, held, text, self.codes[self.formats[place]])

    def take(self, places: Places) -> ValueColumns:
        """The values at these places; below 0 is a cell without a value."""
        missing = places < 0
        some = bool(missing.any())
        at = pa.array(places, mask=missing) if some else pa.array(places)
        kinds = np.where(missing, 0, self.kinds[places]).astype(np.uint8) if some else self.kinds[places]
        return ValueColumns(kinds, self.texts.take(at), self.numbers.take(at), self.ticks[places], self.formats[places], self.codes)


def columns_of(values: Sequence[Value], codes: Sequence[str], formats: npt.NDArray[np.int32]) -> ValueColumns:
    """Columns of values that are there as objects; their number formats are those at `formats` in `codes`."""
    return ValueColumns(
        np.array([NUMBER_OF[value.kind] for value in values], np.uint8),
        column_of([value.text for value in values]),
        column_of([digits(value.value) if value.kind is ColumnType.NUMBER else None for value in values]),
        np.array([_ticks(value) for value in values], np.int64),
        formats,
        codes,
    )


def joined_columns(parts: Sequence[ValueColumns]) -> ValueColumns:
    """Columns one after the other; all share their codes."""
    if len(parts) == 1:
        return parts[0]
    return ValueColumns(
        np.concatenate([part.kinds for part in parts]),
        pa.concat_arrays([part.texts for part in parts]),
        pa.concat_arrays([part.numbers for part in parts]),
        np.concatenate([part.ticks for part in parts]),
        np.concatenate([part.formats for part in parts]),
        parts[0].codes,
    )


def digits(number: object) -> str:
    """A number in plain digits, without an exponent."""
    return f"{number:f}" if isinstance(number, Decimal) else str(number)


def number_of(plain: str) -> int | Decimal:
    """The number that plain digits write."""
    return Decimal(plain) if "." in plain else int(plain)


def _ticks(value: Value) -> int:
    match value.value:
        case bool() as held:
            return int(held)
        case dt.datetime() as held:
            return (held - _EPOCH) // _MICROSECOND
        case dt.date() as held:
            return (held - _EPOCH.date()).days
        case dt.time() as held:
            return (dt.datetime.combine(_EPOCH, held) - _EPOCH) // _MICROSECOND
        case dt.timedelta() as held:
            return held // _MICROSECOND
    return 0


def _held(kind: ColumnType, ticks: int) -> object:
    match kind:
        case ColumnType.BOOL:
            return bool(ticks)
        case ColumnType.DATE:
            return _EPOCH.date() + dt.timedelta(days=ticks)
        case ColumnType.DATETIME:
            return _EPOCH + ticks * _MICROSECOND
        case ColumnType.TIME:
            return (_EPOCH + ticks * _MICROSECOND).time()
    return ticks * _MICROSECOND
