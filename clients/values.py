"""The contract's values as Python's own: exact numbers are Decimal, dates and times are those of datetime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import TypeAlias

from google.protobuf import json_format
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp
from loom.knowledge.v1 import datasets_pb2

PyValue: TypeAlias = str | Decimal | float | bool | date | datetime | time | timedelta | int | None
JsonValue: TypeAlias = "bool | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"


def from_value(value: datasets_pb2.Value) -> PyValue:
    """Reads one value; null is None.

    Raises:
        ValueError: the server sent digits or a date that are none.
    """
    match value.WhichOneof("kind"):
        case None:
            return None
        case "string_value":
            return value.string_value
        case "number_value":
            return Decimal(value.number_value)
        case "double_value":
            return value.double_value
        case "bool_value":
            return value.bool_value
        case "date_value":
            return date.fromisoformat(value.date_value)
        case "datetime_value":
            return datetime.fromisoformat(value.datetime_value)
        case "time_value":
            return time.fromisoformat(value.time_value)
        case "duration_value":
            return _duration(value.duration_value)
        case "integer_value":
            return value.integer_value
        case other:
            raise ValueError(f"the server sent a value of a kind this client does not know: {other}")


def to_value(value: PyValue) -> datasets_pb2.Value:
    """Writes one value. An int is an exact number; None is null.

    Raises:
        TypeError: it is of a type that no column holds.
        ValueError: it is a Decimal that is not finite.
    """
    match value:
        case None:
            return datasets_pb2.Value()
        case bool():
            return datasets_pb2.Value(bool_value=value)
        case int():
            return datasets_pb2.Value(number_value=str(value))
        case str():
            return datasets_pb2.Value(string_value=value)
        case Decimal():
            return datasets_pb2.Value(number_value=digits(value))
        case float():
            return datasets_pb2.Value(double_value=value)
        case datetime():
            return datasets_pb2.Value(datetime_value=value.isoformat())
        case date():
            return datasets_pb2.Value(date_value=value.isoformat())
        case time():
            return datasets_pb2.Value(time_value=value.isoformat())
        case timedelta():
            return datasets_pb2.Value(duration_value=seconds(value))
    raise TypeError(f"a plan's value is text, a number, a date, a time or a duration, not {type(value).__name__}")


def digits(number: Decimal) -> str:
    """The number's exact digits without an exponent.

    Raises:
        ValueError: it is infinite or not a number.
    """
    if not number.is_finite():
        raise ValueError(f"{number} has no exact digits")
    return format(number, "f")


def seconds(duration: timedelta) -> str:
    """Seconds with up to six decimals, exactly."""
    microseconds = duration // timedelta(microseconds=1)
    return digits(Decimal(microseconds).scaleb(-6).normalize())


def from_timestamp(stamp: Timestamp) -> datetime | None:
    """The moment in UTC; None where the server set none."""
    return stamp.ToDatetime(tzinfo=UTC) if stamp.seconds or stamp.nanos else None


def to_struct(values: Mapping[str, JsonValue]) -> Struct:
    """A JSON object as the contract carries it."""
    struct = Struct()
    struct.update(dict(values))
    return struct


def from_struct(struct: Struct) -> dict[str, JsonValue]:
    """A JSON object of the contract as a dict; its numbers are floats."""
    values: dict[str, JsonValue] = json_format.MessageToDict(struct)
    return values


def _duration(text: str) -> timedelta:
    return timedelta(microseconds=int(Decimal(text).scaleb(6)))
