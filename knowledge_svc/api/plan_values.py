"""Values of plans and results between the contract and the domain."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from typing import Final

from loom.knowledge.v1 import datasets_pb2 as pb

from knowledge_svc.domain.plan import Scalar
from knowledge_svc.domain.plan_faults import PlanFaults
from knowledge_svc.domain.receipt import scalar_text

MAX_DIGITS: Final = 100
"""Digits of a literal on either side of its point; columns hold 38."""

_NUMBER: Final = re.compile(rf"-?[0-9]{{1,{MAX_DIGITS}}}(\.[0-9]{{1,{MAX_DIGITS}}})?")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_CLOCK: Final = r"[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?"
_TIME: Final = re.compile(_CLOCK)
_DATETIME: Final = re.compile(rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}T{_CLOCK}")
_DURATION: Final = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,6})?")


def read_value(message: pb.Value, field: str, faults: PlanFaults) -> Scalar | None:
    """Reads a value of a plan; None where it does not hold, which is noted."""
    match message.WhichOneof("kind"):
        case "string_value":
            return message.string_value
        case "double_value":
            return message.double_value
        case "bool_value":
            return message.bool_value
        case "integer_value":
            return message.integer_value
        case None:
            faults.add(field, "nothing equals null; use is_null or not_null")
            return None
        case kind:
            return _read_text(getattr(message, kind), f"{field}.{kind}", kind, faults)


def write_value(value: Scalar | None) -> pb.Value:
    """A value as the contract writes it; None is a value without a kind."""
    match value:
        case None:
            return pb.Value()
        case str():
            return pb.Value(string_value=value)
        case bool():
            return pb.Value(bool_value=value)
        case int():
            return pb.Value(integer_value=value)
        case float():
            return pb.Value(double_value=value)
        case Decimal():
            return pb.Value(number_value=scalar_text(value))
        case dt.datetime():
            return pb.Value(datetime_value=scalar_text(value))
        case dt.date():
            return pb.Value(date_value=scalar_text(value))
        case dt.time():
            return pb.Value(time_value=scalar_text(value))
        case dt.timedelta():
            return pb.Value(duration_value=scalar_text(value))


def _duration(text: str) -> dt.timedelta:
    seconds, _, decimals = text.lstrip("-").partition(".")
    length = dt.timedelta(seconds=int(seconds), microseconds=int(decimals.ljust(6, "0")))
    return -length if text.startswith("-") else length


_TEXTS: Final[dict[str, tuple[re.Pattern[str], Callable[[str], Scalar], str]]] = {
    "number_value": (_NUMBER, Decimal, f'digits such as "-12345.67", at most {MAX_DIGITS} on a side, without exponent'),
    "date_value": (_DATE, dt.date.fromisoformat, 'a date such as "2031-05-27"'),
    "datetime_value": (_DATETIME, dt.datetime.fromisoformat, 'a datetime such as "2031-05-27T07:32:00.5", without an offset'),
    "time_value": (_TIME, dt.time.fromisoformat, 'a time of day such as "07:32:00.5"'),
    "duration_value": (_DURATION, _duration, 'seconds such as "5400" or "-0.25", at most six decimals'),
}


def _read_text(text: str, field: str, kind: str, faults: PlanFaults) -> Scalar | None:
    pattern, read, form = _TEXTS[kind]
    if pattern.fullmatch(text):
        with suppress(ValueError, OverflowError):  # right in form and no such value, such as 2031-02-30
            return read(text)
    faults.add(field, f"takes {form}")
    return None
