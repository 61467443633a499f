"""Reads a dataset's columns as other types, row by row: a row with a value that does not fit is rejected, never bent."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final, TypeAlias

import pyarrow as pa

from artifact.locators import from_json
from artifact.model import ROW_ID, ROW_LOCATOR, Column, ColumnType, Dataset, RejectedRow
from artifact.rows import arrow_type
from knowledge_svc.domain.plan import Scalar
from knowledge_svc.domain.receipt import scalar_text

Convert: TypeAlias = Callable[[Any], Scalar]
"""Reads a value as another type; ValueError where it is none of that type. Any: what each takes is what its column holds."""

MAX_DIGITS: Final = 38
REJECTED_KEPT: Final = 100
_NUMBER: Final = re.compile(r"[+-]?([0-9]+|[1-9][0-9]{0,2}(,[0-9]{3})+)(\.[0-9]+)?")
_SECOND: Final = dt.timedelta(seconds=1)
_MICROSECOND: Final = dt.timedelta(microseconds=1)
_TRUTHS: Final = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def retype(dataset: Dataset, types: Mapping[str, ColumnType]) -> Dataset:
    """Returns the dataset with some columns read as other types; their rows keep ids and places.

    Rows with a value that does not fit are added to the rejected ones. A number column that needs more than 38 digits is held
    as doubles, and the dataset is not complete then. Every type can be asked of `convertible`.

    Raises:
        KeyError: a column is not there, is not stored, or cannot be read as its new type at all.
    """
    stored = {column.name: column for column in dataset.columns if column.stored}
    faults: dict[int, str] = {}
    read: dict[str, list[Scalar | None]] = {}
    for name, wanted in types.items():
        values = dataset.rows.column(name).to_pylist()
        read[name] = _read(values, _CONVERSIONS[stored[name].type, wanted], stored[name], wanted=wanted, faults=faults)
    kept = [place for place in range(dataset.rows.num_rows) if place not in faults]
    held = {name: _held(stored[name], types[name], [values[place] for place in kept]) for name, values in read.items()}
    rejected = tuple(_rejected(dataset, place, reason) for place, reason in sorted(faults.items())[:REJECTED_KEPT])
    exact = all(column.precision or column.type is not ColumnType.NUMBER for column, _ in held.values())
    return replace(
        dataset,
        columns=tuple(held[column.name][0] if column.name in held else column for column in dataset.columns),
        rows=_rows(dataset, held, kept),
        rejected_count=dataset.rejected_count + len(faults),
        rejected_rows=(*dataset.rejected_rows, *rejected)[:REJECTED_KEPT],
        complete=dataset.complete and not faults and exact,
    )


def convertible(kind: ColumnType) -> tuple[ColumnType, ...]:
    """The types that a column of this type can be read as."""
    return tuple(wanted for wanted in ColumnType if (kind, wanted) in _CONVERSIONS)


class DatasetRetyper:
    """The two questions as a port asks them."""

    retype = staticmethod(retype)
    convertible = staticmethod(convertible)


def _read(
    values: list[Any], convert: Convert, column: Column, *, wanted: ColumnType, faults: dict[int, str]
) -> list[Scalar | None]:
    """Each value converted, None where it is null or does not fit, which is noted by its place."""
    read: list[Scalar | None] = []
    for place, value in enumerate(values):
        try:
            read.append(None if value is None else convert(value))
        except ValueError:
            read.append(None)
            faults.setdefault(place, f"{column.name}: {scalar_text(value)!r} is no {wanted}")
    return read


def _held(column: Column, wanted: ColumnType, values: list[Scalar | None]) -> tuple[Column, pa.Array]:
    """The column under its new type, and its values."""
    precision, scale = _digits(values) if wanted is ColumnType.NUMBER else (0, 0)
    made = replace(column, type=wanted, precision=precision, scale=scale)
    given = values if precision or wanted is not ColumnType.NUMBER else [None if one is None else float(str(one)) for one in values]
    return made, pa.array(given, arrow_type(made))


def _digits(values: list[Scalar | None]) -> tuple[int, int]:
    """Precision and scale that hold every number, both 0 where none of 38 digits does."""
    numbers = [value.as_tuple() for value in values if isinstance(value, Decimal)]
    scale = max((max(0, -int(number.exponent)) for number in numbers), default=0)
    whole = max((len(number.digits) + int(number.exponent) for number in numbers), default=1)
    precision = max(1, whole, 0) + scale
    return (precision, scale) if precision <= MAX_DIGITS else (0, 0)


def _rows(dataset: Dataset, held: Mapping[str, tuple[Column, pa.Array]], kept: list[int]) -> pa.Table:
    rows = dataset.rows.take(pa.array(kept, pa.int64()))
    for place, name in enumerate(rows.column_names):
        if name in held:
            rows = rows.set_column(place, name, held[name][1])
    return rows


def _rejected(dataset: Dataset, place: int, reason: str) -> RejectedRow:
    row = dataset.rows.slice(place, 1).to_pylist()[0]
    values = tuple("" if value is None else scalar_text(value) for name, value in row.items() if name not in (ROW_ID, ROW_LOCATOR))
    return RejectedRow(from_json(row[ROW_LOCATOR]), values, reason)


def _number(text: str) -> Decimal:
    if not _NUMBER.fullmatch(text.strip()):
        raise ValueError(text)
    return Decimal(text.strip().replace(",", ""))


def _truth(text: str) -> bool:
    found = _TRUTHS.get(text.strip().casefold())
    if found is None:
        raise ValueError(text)
    return found


def _truth_of_number(number: Decimal | float) -> bool:
    if number not in (0, 1):
        raise ValueError(str(number))
    return bool(number)


def _local(text: str) -> dt.datetime:
    read = dt.datetime.fromisoformat(text.strip())
    if read.tzinfo is not None:
        raise ValueError(text)
    return read


def _day(moment: dt.datetime) -> dt.date:
    if moment.time() != dt.time.min:
        raise ValueError(str(moment))
    return moment.date()


def _length(seconds: Decimal | float) -> dt.timedelta:
    microseconds = Decimal(str(seconds)) * 1_000_000
    if microseconds != microseconds.to_integral_value():
        raise ValueError(str(seconds))
    try:
        return dt.timedelta(microseconds=int(microseconds))
    except OverflowError:
        raise ValueError(str(seconds)) from None


def _seconds(length: dt.timedelta) -> Decimal:
    return Decimal(length // _MICROSECOND).scaleb(-6).normalize() + Decimal(0)


def _same(value: Any) -> Any:
    return value


_CONVERSIONS: Final[dict[tuple[ColumnType, ColumnType], Convert]] = {
    **{(kind, kind): _same for kind in ColumnType},
    **{(kind, ColumnType.STRING): scalar_text for kind in ColumnType},
    (ColumnType.STRING, ColumnType.STRING): _same,
    (ColumnType.STRING, ColumnType.NUMBER): _number,
    (ColumnType.STRING, ColumnType.BOOL): _truth,
    (ColumnType.STRING, ColumnType.DATE): lambda text: dt.date.fromisoformat(text.strip()),
    (ColumnType.STRING, ColumnType.DATETIME): _local,
    (ColumnType.STRING, ColumnType.TIME): lambda text: dt.time.fromisoformat(text.strip()),
    (ColumnType.STRING, ColumnType.DURATION): lambda text: _length(_number(text)),
    (ColumnType.NUMBER, ColumnType.BOOL): _truth_of_number,
    (ColumnType.NUMBER, ColumnType.DURATION): _length,
    (ColumnType.BOOL, ColumnType.NUMBER): lambda truth: Decimal(int(truth)),
    (ColumnType.DATE, ColumnType.DATETIME): lambda day: dt.datetime.combine(day, dt.time.min),
    (ColumnType.DATETIME, ColumnType.DATE): _day,
    (ColumnType.DATETIME, ColumnType.TIME): lambda moment: moment.time(),
    (ColumnType.DURATION, ColumnType.NUMBER): _seconds,
}
