"""What a cell's stored text means: numbers as written, moments by number format and date base, strings, booleans, errors."""

from __future__ import annotations

import datetime as dt
import re
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Final

from artifact.model import ColumnType
from extractor_svc.formats.xlsx_display import show_duration, show_moment, show_number
from extractor_svc.formats.xlsx_number_formats import GENERAL, NumberFormat
from extractor_svc.values import EMPTY, Value

_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_WHOLE: Final = re.compile(r"-?[0-9]{1,15}")
_LONGEST_NUMBER: Final = 340
_DOUBLE_DIGITS: Final = 15
_DAY_MS: Final = 86_400_000
_LAST_SERIAL: Final = 2_958_465
_LEAP_FICTION: Final = 60
_LONGEST_SPAN_DAYS: Final = 100_000_000
_ISO: Final = re.compile(r"(?:(?P<date>\d{4}-\d\d-\d\d))?(?:(?:^|T)(?P<time>\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)Z?)?", re.ASCII)


def number_value(stored: str, look: NumberFormat, *, from_1904: bool) -> Value:
    """A number, or the moment or time span that its number format makes of it (checklist rows H01, H05).

    Up to 15 digits are kept as written; more, which are those of a double, are cut to the fewest that mean the same double.
    Whole numbers keep all their digits. A serial number that stands for no day, such as 60, the 29th of February 1900, is an error.
    """
    if look is GENERAL and _WHOLE.fullmatch(stored):
        number = int(stored)
        return Value(ColumnType.NUMBER, number, str(number))
    exact = _exact(stored.strip())
    if exact is None:
        return Value(text=stored, number_format=look.code, error=f"{stored[:40]} is no number")
    if look.kind in (ColumnType.NUMBER, ColumnType.STRING):
        return Value(ColumnType.NUMBER, exact, show_number(look, Decimal(exact)), look.code)
    return _moment_or_span(Decimal(exact), look, from_1904=from_1904)


def string_value(text: str, look: NumberFormat) -> Value:
    """A text; an empty one is an empty cell."""
    return Value(ColumnType.STRING, text, text, look.code) if text else EMPTY


def bool_value(stored: str, look: NumberFormat) -> Value:
    """TRUE or FALSE."""
    held = stored.strip().lower() in ("1", "true")
    return Value(ColumnType.BOOL, held, "TRUE" if held else "FALSE", look.code)


def error_value(stored: str, look: NumberFormat) -> Value:
    """A cell error such as `#DIV/0!`, which is shown and holds no value."""
    code = stored.strip() or "#ERROR"
    return Value(text=code, number_format=look.code, error=f"cell error {code}")


def iso_value(stored: str, look: NumberFormat) -> Value:
    """A date, time or both written as ISO 8601; a date-time at midnight is a date where the format shows only dates."""
    match = _ISO.fullmatch(stored.strip())
    try:
        date = dt.date.fromisoformat(match["date"]) if match and match["date"] else None
        time = dt.time.fromisoformat(match["time"]) if match and match["time"] else None
    except ValueError:
        date = time = None
    if date is None and time is None:
        return Value(text=stored, number_format=look.code, error=f"{stored[:40]} is no date")
    return _moment(date, time, look, shown=stored)


def _moment(date: dt.date | None, time: dt.time | None, look: NumberFormat, *, shown: str) -> Value:
    is_moment_format = look.kind in (ColumnType.DATE, ColumnType.DATETIME, ColumnType.TIME)
    moment = dt.datetime.combine(date or dt.date(1900, 1, 1), time or dt.time())
    text = show_moment(look, moment) if is_moment_format else shown
    if date is None:
        return Value(ColumnType.TIME, time, text, look.code)
    midnight = time is None or (time == dt.time() and look.kind is ColumnType.DATE)
    return Value(ColumnType.DATE, date, text, look.code) if midnight else Value(ColumnType.DATETIME, moment, text, look.code)


def _exact(text: str) -> int | Decimal | None:
    if len(text) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
        return None
    number = Decimal(text)
    if number.adjusted() > 400 or number.adjusted() < -400:
        return None
    if re.fullmatch(r"[+-]?[0-9]+", text):
        return int(text)
    return number if len(number.as_tuple().digits) <= _DOUBLE_DIGITS else Decimal(repr(float(text)))


def _moment_or_span(serial: Decimal, look: NumberFormat, *, from_1904: bool) -> Value:
    if look.kind is ColumnType.DURATION:
        return _span(serial, look)
    if serial < 0 or serial >= _LAST_SERIAL + 1:
        return _no_day(serial, look)
    days, milliseconds = divmod(_milliseconds(serial), _DAY_MS)
    time = (dt.datetime.combine(dt.date.min, dt.time()) + dt.timedelta(milliseconds=milliseconds)).time()
    if look.kind is ColumnType.TIME and days == 0:
        return _moment(None, time, look, shown="")
    date = _day(days, from_1904=from_1904)
    if date is None:
        return _no_day(serial, look)
    return _moment(date, time if milliseconds or look.kind is not ColumnType.DATE else None, look, shown="")


def _day(days: int, *, from_1904: bool) -> dt.date | None:
    """The day of a serial number; the base of 1900 counts from 1 and has a 29th of February 1900 that never was."""
    if from_1904:
        return dt.date(1904, 1, 1) + dt.timedelta(days=days) if days <= _LAST_SERIAL - 1462 else None
    if days in (0, _LEAP_FICTION) or days > _LAST_SERIAL:
        return None
    return dt.date(1899, 12, 31 if days < _LEAP_FICTION else 30) + dt.timedelta(days=days)


def _no_day(serial: Decimal, look: NumberFormat) -> Value:
    shown = show_number(GENERAL, serial)
    return Value(text=shown, number_format=look.code, error=f"serial number {shown} is no day")


def _span(serial: Decimal, look: NumberFormat) -> Value:
    if abs(serial) > _LONGEST_SPAN_DAYS:
        shown = show_number(GENERAL, serial)
        return Value(text=shown, number_format=look.code, error=f"{shown} days are no time span that can be held")
    span = dt.timedelta(milliseconds=_milliseconds(serial))
    return Value(ColumnType.DURATION, span, show_duration(look, span), look.code)


def _milliseconds(serial: Decimal) -> int:
    return int((serial * _DAY_MS).to_integral_value(ROUND_HALF_EVEN))
