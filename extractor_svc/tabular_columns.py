"""Typed datasets from columns of values, for tables too large to keep an object for every cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from artifact.model import Clarification, Column, ColumnType, TypeCount
from extractor_svc.tabular import MAX_DIGITS, HeldColumn, unit_of
from extractor_svc.text_columns import Places, byte_lengths
from extractor_svc.value_columns import NUMBER_OF, TYPES, ValueColumns

_DAY_US: Final = 86_400_000_000
_DATE: Final = NUMBER_OF[ColumnType.DATE]


def hold_at(name: str, source_header: str, values: ValueColumns, places: Places) -> HeldColumn:
    """Holds the values at some places, row by row, as what all of them are, just as `tabular.hold_values` does.

    A row whose place is below 0 has no value.
    """
    kinds = np.where(places < 0, 0, values.kinds[places])
    empty = kinds == 0
    counts = np.bincount(kinds, minlength=len(TYPES) + 1)[1:]
    inferred = tuple(TypeCount(kind, int(count)) for kind, count in zip(TYPES, counts, strict=True) if count)
    kind = _kind_of([count.type for count in inferred])
    number_format = _usual_format(values, places[~empty])
    unit = unit_of(number_format) if kind is ColumnType.NUMBER else ""
    nullable = bool(empty.any())
    column = Column(name, kind, source_header, inferred, number_format, unit, nullable=nullable)
    at = pa.array(places, mask=empty) if nullable else pa.array(places)
    if kind is ColumnType.NUMBER:
        return _hold_numbers(column, values.numbers.take(at))
    if kind is ColumnType.STRING:
        return HeldColumn(column, values.texts.take(at), _mixed(name, inferred))
    ticks = values.ticks[places]
    if kind is ColumnType.DATETIME:
        ticks = np.where(kinds == _DATE, ticks * _DAY_US, ticks)
    return HeldColumn(column, _cast(pa.array(ticks, mask=empty), kind))


def _mixed(name: str, inferred: Sequence[TypeCount]) -> Clarification | None:
    if len(inferred) < 2:
        return None
    listed = ", ".join(f"{count.values} {count.type.value}" for count in inferred)
    return Clarification("mixed_types", name, f"Column {name} has values of several types ({listed}); it is held as text.")


def _kind_of(kinds: Sequence[ColumnType]) -> ColumnType:
    if set(kinds) == {ColumnType.DATE, ColumnType.DATETIME}:
        return ColumnType.DATETIME
    return kinds[0] if len(kinds) == 1 else ColumnType.STRING


def _usual_format(values: ValueColumns, places: Places) -> str:
    """The number format that most of some values have, the first of them where several do; empty where there is no value."""
    formats = values.formats[places]
    if not len(formats) or (formats == formats[0]).all():
        return values.codes[formats[0]] if len(formats) else ""
    counts: dict[str, int] = {}
    found, firsts, times = np.unique(formats, return_index=True, return_counts=True)
    for i in np.argsort(firsts).tolist():
        code = values.codes[found[i]]
        counts[code] = counts.get(code, 0) + int(times[i])
    return max(counts, key=lambda code: counts[code])


def _hold_numbers(column: Column, numbers: pa.StringArray) -> HeldColumn:
    held = numbers.drop_null() if numbers.null_count else numbers
    point, length = pc.find_substring(held, ".").to_numpy(), byte_lengths(held)
    signs = pc.starts_with(held, "-").to_numpy(zero_copy_only=False)
    whole = int((np.where(point < 0, length, point) - signs).max(initial=1))
    scale = int(np.where(point < 0, 0, length - point - 1).max(initial=0))
    if whole + scale > MAX_DIGITS:
        return HeldColumn(column, pc.cast(numbers, pa.float64()), exact=all(map(_is_exact, held.to_pylist())))
    return HeldColumn(replace(column, precision=whole + scale, scale=scale), pc.cast(numbers, pa.decimal128(whole + scale, scale)))


def _is_exact(number: str) -> bool:
    """Whether the number is that of a double, as it is written shortest."""
    return Decimal(repr(float(number))) == Decimal(number)


def _cast(ticks: pa.Array, kind: ColumnType) -> pa.Array:
    if kind is ColumnType.DATE:
        return ticks.cast(pa.int32()).cast(pa.date32())
    return ticks.cast(
        {
            ColumnType.BOOL: pa.bool_(),
            ColumnType.DATETIME: pa.timestamp("us"),
            ColumnType.TIME: pa.time64("us"),
            ColumnType.DURATION: pa.duration("us"),
        }[kind]
    )
