"""Dates and times of one format, read and shown many at a time, where the file writes them as plain serial numbers."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from artifact.model import ColumnType
from extractor_svc.formats.xlsx_display import DAYS, MONTHS
from extractor_svc.formats.xlsx_number_formats import NumberFormat, Token
from extractor_svc.formats.xlsx_numbers import exact_numbers
from extractor_svc.text_columns import NO_TEXTS, Mask, Places, column_of, side_by_side
from extractor_svc.value_columns import NUMBER_OF

_FEW: Final = 64
_DAY_MS: Final = 86_400_000
_MOST_DECIMALS: Final = 16
_TENS: Final = np.array([10**power for power in range(_MOST_DECIMALS + 1)], np.int64)
_EPOCH: Final = dt.date(1970, 1, 1)
_BASE_1900: Final = (dt.date(1899, 12, 30) - _EPOCH).days
_BASE_1904: Final = (dt.date(1904, 1, 1) - _EPOCH).days
_FIRST_SURE_DAY: Final = 61  # the days before stand around one that never was
_LAST_DAY: Final = 2_958_465
_LAST_DAY_1904: Final = _LAST_DAY - 1462
_DATE, _DATETIME, _TIME = (NUMBER_OF[kind] for kind in (ColumnType.DATE, ColumnType.DATETIME, ColumnType.TIME))


@dataclass(frozen=True, slots=True)
class Moments:
    """Moments by what they are: numbers of types, ticks as value columns hold them, and how they are shown."""

    kinds: Places
    ticks: Places
    texts: pa.StringArray


NO_MOMENTS: Final = Moments(np.array([], np.int64), np.array([], np.int64), NO_TEXTS)


def plain_moments(stored: pa.StringArray, look: NumberFormat, *, from_1904: bool) -> tuple[Mask, Moments]:
    """Which of the texts are read here, and what they are.

    What is read here, `number_value` reads alike; it leaves the first days of 1900, numbers that are no day, and all where
    there are few.
    """
    if len(stored) < _FEW:
        return np.zeros(len(stored), np.bool_), NO_MOMENTS
    read, numbers = exact_numbers(stored)
    sure = (numbers.whole >= 0) & (numbers.decimals <= _MOST_DECIMALS)
    days, ms = _days_and_ms(numbers.whole[sure], numbers.decimals[sure])
    fits = (days <= _LAST_DAY_1904) if from_1904 else (days >= _FIRST_SURE_DAY) & (days <= _LAST_DAY)
    is_time = (days == 0) & (look.kind is ColumnType.TIME)
    fits |= is_time
    sure[sure] = fits
    read[read] = sure
    days, ms, is_time = days[fits], ms[fits], is_time[fits]
    days = np.where(is_time, 0, days + (_BASE_1904 if from_1904 else _BASE_1900))
    is_date = (ms == 0) & (look.kind is ColumnType.DATE)
    kinds = np.where(is_time, _TIME, np.where(is_date, _DATE, _DATETIME))
    ticks = np.where(is_date, days, (days * _DAY_MS + ms) * 1000)
    return read, Moments(kinds, ticks, _shown(days, ms, look))


def _days_and_ms(whole: Places, decimals: Places) -> tuple[Places, Places]:
    """Serial numbers as days and the milliseconds after midnight, rounded half to even."""
    tens = _TENS[decimals]
    part = whole % tens * 864  # a day has 864 times ten to the fifth milliseconds
    divisor = _TENS[np.maximum(decimals - 5, 0)]
    cut, left = part // divisor, part % divisor
    up = (left * 2 > divisor) | ((left * 2 == divisor) & (cut % 2 == 1))
    ms = np.where(decimals > 5, cut + up, part * _TENS[np.maximum(5 - decimals, 0)])
    return whole // tens + ms // _DAY_MS, ms % _DAY_MS


def _shown(days: Places, ms: Places, look: NumberFormat) -> pa.StringArray:
    section = look.sections[0]
    places = section.second_places
    total = days * _DAY_MS + ms
    if places is not None and places < 3:
        step = 10 ** (3 - places)
        last = (days + 1 == (dt.date.max - _EPOCH).days + 1) & (ms + step // 2 >= _DAY_MS)
        total = np.where(last, total, (total + step // 2) // step * step)
    parts = [part for token in section.tokens if (part := _part(token, total, halved=section.has("noon"))) is not None]
    return pc.utf8_trim_whitespace(side_by_side(*parts, column_of([""]).take(pa.array(np.zeros(len(total), np.int64)))))


def _part(token: Token, total_ms: Places, *, halved: bool) -> pa.StringArray | str | None:
    """What one element of a format shows of each moment; None where it shows nothing."""
    size, of_day = len(token.text), total_ms % _DAY_MS
    match token.kind:
        case "y" | "m" | "d":
            return _of_date(token.kind, size, total_ms)
        case "h":
            hours = of_day // 3_600_000
            return _digits((hours - 1) % 12 + 1 if halved else hours, min(size, 2))
        case "n":
            return _digits(of_day // 60_000 % 60, min(size, 2))
        case "s":
            return _digits(of_day // 1000 % 60, min(size, 2))
        case "fraction":
            return pc.utf8_slice_codeunits(pc.utf8_rpad(_digits(of_day % 1000, 3), 6, "0"), 0, size)
        case "noon":
            halves = column_of(["A", "P"] if size == 3 else ["AM", "PM"])
            return halves.take(pa.array(of_day // (_DAY_MS // 2)))
    return token.text if token.kind in ("literal", "point", "comma", "slash", "percent") else None


def _of_date(kind: str, size: int, total_ms: Places) -> pa.StringArray:
    days = total_ms // _DAY_MS
    if kind == "d" and size > 2:
        return _named(DAYS, size).take(pa.array((days + 3) % 7))
    date = days.astype("datetime64[D]")
    months = date.astype("datetime64[M]").astype(np.int64)
    if kind == "y":
        years = months // 12 + 1970
        return _digits(years % 100, 2) if size <= 2 else _digits(years, 4)
    if kind == "m":
        return _named(MONTHS, size).take(pa.array(months % 12)) if size > 2 else _digits(months % 12 + 1, size)
    return _digits((date - date.astype("datetime64[M]")).astype(np.int64) + 1, size)


def _named(names: tuple[str, ...], size: int) -> pa.StringArray:
    return column_of([{3: name[:3], 5: name[:1]}.get(size, name) for name in names])


def _digits(numbers: Places, size: int) -> pa.StringArray:
    return pc.utf8_lpad(pc.cast(pa.array(numbers), pa.string()), size, "0")
