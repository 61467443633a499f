"""What displayed text means as a value, decided by the column and never against doubt."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from artifact.model import ColumnType
from extractor_svc.values import EMPTY, Value

_CURRENCIES: Final = (
    r"(?:US\$|R\$|A\$|C\$|[$€£¥₹₩₽₺₴₪₫₱฿]|(?:EUR|USD|GBP|CHF|JPY|CNY|INR|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR|KRW)\b)"
)
_SPACES: Final = " \u00a0\u2009\u202f"
_NUMBER: Final = re.compile(
    rf"(?P<open>\()?(?P<sign>[+\-−])?(?P<before>{_CURRENCIES})?[{_SPACES}]?(?P<late_sign>[\-−])?"
    rf"(?P<body>[0-9](?:[0-9.,'’{_SPACES}]*[0-9])?|\.[0-9]+)(?P<exponent>[eE][+-]?[0-9]{{1,3}})?"
    rf"[{_SPACES}]?(?P<after>%|{_CURRENCIES})?(?P<close>\))?"
)
_PLAIN: Final = r"(?:0|[1-9][0-9]*)"
_SEPARATORS: Final = re.compile(rf"[.,'’{_SPACES}]")
_IDENTIFIER: Final = re.compile(r"0[0-9]+")
_NOTHING: Final = frozenset("-–—−‐")
_ISO_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_ISO_DATETIME: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?")
_DATE_LIKE: Final = re.compile(
    r"[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{2,4}|[0-9]{4}[./][0-9]{1,2}[./][0-9]{1,2}|[0-9]{4}-[0-9]{2}"
    r"|(?:[0-9]{1,2}[ .-]{1,2})?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[ .-]{1,2}(?:[0-9]{1,2}, ?)?[0-9]{2,4}",
    re.IGNORECASE,
)


def _grouped(separator: str) -> str:
    return rf"[1-9][0-9]{{0,2}}(?:{separator}[0-9]{{3}})+"


def _bodies(point: str, comma: str) -> re.Pattern[str]:
    """Every way to write digits where `point` marks decimals; groups are of three, or of two before three as in India."""
    groups = "|".join(_grouped(separator) for separator in (comma, f"[{_SPACES}]", "['’]"))
    indian = rf"[1-9][0-9]?(?:{comma}[0-9]{{2}})+{comma}[0-9]{{3}}"
    return re.compile(rf"(?:{groups}|{indian}|{_PLAIN})(?:{point}[0-9]+)?|{point}[0-9]+")


_BODY_BY_MARK: Final = {".": _bodies(r"\.", ","), ",": _bodies(",", r"\.")}


@dataclass(frozen=True, slots=True)
class _Number:
    """Text that looks like a number: its digits as written, its sign, exponent and unit."""

    body: str
    negative: bool
    in_brackets: bool
    exponent: str
    unit: str
    unit_first: bool


def value_of_text(text: str, *, decimal_mark: str = "") -> Value:
    """The value of one text, as `column_values_of_text` reads a column of it alone."""
    return column_values_of_text([text], decimal_mark=decimal_mark)[0]


def column_values_of_text(texts: Sequence[str], *, decimal_mark: str = "") -> list[Value]:
    """Types a column of displayed texts, conservatively; no value is a float.

    Numbers with separators are numbers only where the whole column leaves one reading: `1,234.50`, `1,234,567` or `0,5`
    settle it, `1,234` alone does not. `decimal_mark` (`.` or `,`) settles it from outside, such as from the rest of the
    document by `decimal_mark_of`. A column with a number that starts with 0, as identifiers do, is text. `7.5%` is
    0.075 under the format `0.0%`, as a sheet would hold it; one currency may stand at some of a column's values, several
    currencies or percents among plain numbers leave it text. Amounts in brackets are negative. ISO dates and date-times
    are typed, other dates stay text. A lone dash is an empty cell that displays a dash.
    """
    stripped = [text.strip() for text in texts]
    numbers = [_number(text) for text in stripped]
    typed = _typer([number for number in numbers if number is not None], decimal_mark)
    return [_value(texts[i], stripped[i], number, typed) for i, number in enumerate(numbers)]


def decimal_mark_of(texts: Sequence[str]) -> str:
    """The decimal mark, `.` or `,`, that the numbers among the texts agree on; empty where none or both are evident."""
    fits = dict.fromkeys(_BODY_BY_MARK, False)
    for text in texts:
        number = _number(text.strip())
        if number is not None and _SEPARATORS.search(number.body):
            readable = [mark for mark in fits if _BODY_BY_MARK[mark].fullmatch(number.body)]
            if len(readable) == 1:
                fits[readable[0]] = True
    evident = [mark for mark, fit in fits.items() if fit]
    return evident[0] if len(evident) == 1 else ""


def reads_as_number_or_date(text: str) -> bool:
    """Whether a person would read the text as a number or a date, however it is written."""
    stripped = text.strip()
    if _ISO_DATETIME.fullmatch(stripped) or _ISO_DATE.fullmatch(stripped) or _DATE_LIKE.fullmatch(stripped):
        return True
    return _number(stripped) is not None


def _number(text: str) -> _Number | None:
    match = _NUMBER.fullmatch(text)
    if match is None or bool(match["open"]) != bool(match["close"]) or (match["before"] and match["after"]):
        return None
    return _Number(
        body=match["body"],
        negative=bool(match["open"]) or "-" in (sign := (match["sign"] or "") + (match["late_sign"] or "")) or "−" in sign,
        in_brackets=bool(match["open"]),
        exponent=match["exponent"] or "",
        unit=match["before"] or match["after"] or "",
        unit_first=bool(match["before"]),
    )


def _typer(numbers: Sequence[_Number], decimal_mark: str) -> Callable[[_Number], Decimal | None]:
    """A function that reads this column's numbers, or refuses each that leaves a doubt."""
    units = {number.unit for number in numbers}
    mixed_units = len(units - {""}) > 1 or units >= {"", "%"}
    identifiers = any(_IDENTIFIER.fullmatch(number.body) for number in numbers)
    notes_only = bool(numbers) and all(number.in_brackets and number.body.isdigit() for number in numbers)
    mark = decimal_mark or _mark(numbers)
    if mixed_units or identifiers or notes_only or not mark:
        return lambda _: None
    return lambda number: _decimal(number, mark)


def _mark(numbers: Sequence[_Number]) -> str:
    """The one decimal mark under which the whole column reads; empty where there is none, or a doubt."""
    fitting = [mark for mark, body in _BODY_BY_MARK.items() if all(body.fullmatch(number.body) for number in numbers)]
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        return ""
    whole = [number.body for number in numbers if number.body.isdigit()]
    separated = "".join(number.body for number in numbers if not number.body.isdigit())
    if not re.search(r"[.,]", separated):
        return "."
    small = bool(whole) and all(len(body) <= 3 for body in whole)
    return "." if small and "." not in separated else ""


def _decimal(number: _Number, mark: str) -> Decimal | None:
    if not _BODY_BY_MARK[mark].fullmatch(number.body):
        return None
    digits = re.sub(rf"['’{_SPACES}]", "", number.body)
    digits = digits.replace("," if mark == "." else ".", "").replace(mark, ".")
    value = Decimal(digits + number.exponent)
    if number.unit == "%":
        value = value.scaleb(-2)
    return -value if number.negative else value


def _value(text: str, stripped: str, number: _Number | None, typed: Callable[[_Number], Decimal | None]) -> Value:
    if not stripped:
        return EMPTY
    if stripped in _NOTHING:
        return Value(None, None, text)
    if number is not None and (value := typed(number)) is not None:
        return Value(ColumnType.NUMBER, value, text, number_format=_format(number, value))
    return _date(text, stripped) or Value(ColumnType.STRING, text, text)


def _date(text: str, stripped: str) -> Value | None:
    try:
        if _ISO_DATE.fullmatch(stripped):
            return Value(ColumnType.DATE, dt.date.fromisoformat(stripped), text, number_format="yyyy-mm-dd")
        if _ISO_DATETIME.fullmatch(stripped):
            return Value(ColumnType.DATETIME, dt.datetime.fromisoformat(stripped), text, number_format="yyyy-mm-dd hh:mm:ss")
    except ValueError:
        return None
    return None


def _format(number: _Number, value: Decimal) -> str:
    """The display format the text was written in, as a sheet would write it; empty where it is plain digits."""
    exponent = value.as_tuple().exponent
    scale = -exponent if isinstance(exponent, int) and exponent < 0 else 0
    if number.unit == "%":
        return _digits(number, scale - 2) + "%"
    plain = "" if not number.unit and not _SEPARATORS.search(number.body) else _digits(number, scale)
    if not number.unit:
        return plain
    return f'"{number.unit}"{plain}' if number.unit_first else f'{plain} "{number.unit}"'


def _digits(number: _Number, scale: int) -> str:
    grouped = len(re.findall(r"[0-9]", number.body)) > max(scale, 0) + 3 and len(_SEPARATORS.findall(number.body)) > (scale > 0)
    return ("#,##0" if grouped else "0") + ("." + "0" * scale if scale > 0 else "")
