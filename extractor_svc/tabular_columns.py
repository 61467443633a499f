"""Typed datasets from columns of values, for tables too large to keep an object for every cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from artifact.model import Clarification, Column, ColumnType, TypeCount
from extractor_svc.tabular import MAX_DIGITS, HeldColumn, unit_of
from extractor_svc.value_columns import NUMBER_OF, TYPES, ValueColumns

_DAY_US: Final = 86_400_000_000
_DATE: Final = NUMBER_OF[ColumnType.DATE]


def hold_columns_of_values(name: str, source_header: str, values: ValueColumns) -> HeldColumn:
    """Holds a column's values as what all of them are, just as `tabular.hold_values` does."""
    counts = np.bincount(values.kinds, minlength=len(TYPES) + 1)[1:]
    inferred = tuple(TypeCount(kind, int(count)) for kind, count in zip(TYPES, counts, strict=True) if count)
    kinds = [count.type for count in inferred]
    kind = _kind_of(kinds)
    number_format = _usual_format(values)
    unit = unit_of(number_format) if kind is ColumnType.NUMBER else ""
    column = Column(name, kind, source_header, inferred, number_format, unit, nullable=int(counts.sum()) < len(values))
    if kind is ColumnType.NUMBER:
        return _hold_numbers(column, values.numbers)
    asked = None
    if kind is ColumnType.STRING and len(kinds) > 1:
        listed = ", ".join(f"{count.values} {count.type.value}" for count in inferred)
        asked = Clarification("mixed_types", name, f"Column {name} has values of several types ({listed}); it is held as text.")
    return HeldColumn(column, _ARRAYS[kind](values), asked)


def _kind_of(kinds: Sequence[ColumnType]) -> ColumnType:
    if set(kinds) == {ColumnType.DATE, ColumnType.DATETIME}:
        return ColumnType.DATETIME
    return kinds[0] if len(kinds) == 1 else ColumnType.STRING


def _usual_format(values: ValueColumns) -> str:
    """The number format that most values have, the first of them where several do; empty where there is no value."""
    counts: dict[str, int] = {}
    places, firsts, times = np.unique(values.formats[values.kinds > 0], return_index=True, return_counts=True)
    for i in np.argsort(firsts).tolist():
        code = values.codes[places[i]]
        counts[code] = counts.get(code, 0) + int(times[i])
    return max(counts, key=lambda code: counts[code], default="")


def _hold_numbers(column: Column, numbers: pa.StringArray) -> HeldColumn:
    point = pc.find_substring(numbers, ".")
    length = pc.binary_length(numbers)
    signed = pc.cast(pc.starts_with(numbers, "-"), pa.int32())
    has_point = pc.greater_equal(point, 0)
    whole = pc.max(pc.subtract(pc.if_else(has_point, point, length), signed)).as_py() or 1
    scale = pc.max(pc.if_else(has_point, pc.subtract(pc.subtract(length, point), 1), 0)).as_py() or 0
    if whole + scale > MAX_DIGITS:
        return HeldColumn(column, pc.cast(numbers, pa.float64()), exact=all(map(_is_exact, numbers.drop_null().to_pylist())))
    return HeldColumn(replace(column, precision=whole + scale, scale=scale), pc.cast(numbers, pa.decimal128(whole + scale, scale)))


def _is_exact(number: str) -> bool:
    """Whether the number is that of a double, as it is written shortest."""
    return Decimal(repr(float(number))) == Decimal(number)


def _ticks(values: ValueColumns, ticks: npt.NDArray[np.int64], kind: pa.DataType) -> pa.Array:
    return pa.array(ticks, mask=values.kinds == 0).cast(kind)


def _texts(values: ValueColumns) -> pa.Array:
    if values.kinds.all():
        return values.texts
    return pc.if_else(pa.array(values.kinds > 0), values.texts, pa.scalar(None, pa.string()))


def _days(values: ValueColumns) -> pa.Array:
    return _ticks(values, values.ticks, pa.int32()).cast(pa.date32())


def _moments(values: ValueColumns) -> pa.Array:
    """Moments, those of dates at midnight."""
    return _ticks(values, np.where(values.kinds == _DATE, values.ticks * _DAY_US, values.ticks), pa.timestamp("us"))


_ARRAYS: Final[dict[ColumnType, Callable[[ValueColumns], pa.Array]]] = {
    ColumnType.STRING: _texts,
    ColumnType.BOOL: lambda values: pa.array(values.ticks == 1, mask=values.kinds == 0),
    ColumnType.DATE: _days,
    ColumnType.DATETIME: _moments,
    ColumnType.TIME: lambda values: _ticks(values, values.ticks, pa.time64("us")),
    ColumnType.DURATION: lambda values: _ticks(values, values.ticks, pa.duration("us")),
}
