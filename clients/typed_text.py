"""Reads values that a person wrote, as the type of the column they are compared with."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import Final

from clients.values import PyValue


class QuerySyntax(ValueError):
    """What was written is no query; the message says where and what would be one."""


def typed(text: str, *, kind: str, column: str) -> PyValue:
    """The value of `text` for a column of a kind, such as "number" or "date".

    Raises:
        QuerySyntax: the text is no value of that kind.
    """
    read, example = _READERS[kind]
    try:
        return read(text)
    except (ValueError, InvalidOperation) as error:
        raise QuerySyntax(f"column {column} is of type {kind}, and {text!r} is none; write it as {example}") from error


def _number(text: str) -> Decimal:
    number = Decimal(text.replace("_", ""))
    if not number.is_finite():
        raise ValueError(text)
    return number


def _bool(text: str) -> bool:
    known = {"true": True, "yes": True, "false": False, "no": False}
    if text.lower() not in known:
        raise ValueError(text)
    return known[text.lower()]


def _datetime(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is not None:
        raise ValueError(text)
    return moment


def _duration(text: str) -> timedelta:
    """Seconds, or hours, minutes and perhaps seconds joined by colons."""
    if ":" not in text:
        return timedelta(microseconds=int(Decimal(text).scaleb(6)))
    sign, parts = (-1, text[1:].split(":")) if text.startswith("-") else (1, text.split(":"))
    hours, minutes, seconds = (*parts, "0") if len(parts) == 2 else parts
    whole = timedelta(hours=int(hours), minutes=int(minutes)) + timedelta(microseconds=int(Decimal(seconds).scaleb(6)))
    return sign * whole


_READERS: Final[dict[str, tuple[Callable[[str], PyValue], str]]] = {
    "string": (str, "text"),
    "number": (_number, "digits, such as -12.50"),
    "bool": (_bool, "true or false"),
    "date": (date.fromisoformat, "2031-05-27"),
    "datetime": (_datetime, "2031-05-27T07:32:00, without an offset"),
    "time": (time.fromisoformat, "07:32:00"),
    "duration": (_duration, "seconds, such as 90.5, or 1:30:00"),
}
