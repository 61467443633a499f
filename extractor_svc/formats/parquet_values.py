"""Values of a Parquet column as a dataset holds them and as text shows them, a batch at a time."""

from __future__ import annotations

import json
import math
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from artifact.model import ColumnType
from extractor_svc.errors import DecompressionLimit, UnsupportedType

_DAY_US: Final = 86_400_000_000
_FIRST_DAY: Final = -719_162  # 0001-01-01
_LAST_DAY: Final = 2_932_896  # 9999-12-31
_PER_SECOND: Final = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """Some values of one column: as they are held, as they are shown, which cannot be held, and whether all digits are kept."""

    held: pa.Array
    texts: pa.StringArray
    unfit: pa.BooleanArray | None = None
    exact: bool = True


def column_type_of(kind: pa.DataType) -> ColumnType:
    """What a column of an Arrow type is held as; lists, maps and whatever else has no type of its own are text."""
    kind = plain_type(kind)
    if pa.types.is_boolean(kind):
        return ColumnType.BOOL
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return ColumnType.NUMBER
    if pa.types.is_timestamp(kind):
        return ColumnType.DATETIME
    if pa.types.is_date(kind):
        return ColumnType.DATE
    if pa.types.is_time(kind):
        return ColumnType.TIME
    return ColumnType.DURATION if pa.types.is_duration(kind) else ColumnType.STRING


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type of the values themselves, without a dictionary; the storage of a type that extends another."""
    if pa.types.is_dictionary(kind):
        return plain_type(kind.value_type)
    return plain_type(kind.storage_type) if isinstance(kind, pa.BaseExtensionType) and not _is_uuid(kind) else kind


def is_bytes(kind: pa.DataType) -> bool:
    """Whether values are bytes that no type says to be text."""
    kind = plain_type(kind)
    return bool(
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
        or pa.types.is_binary_view(kind)
    )


def plain_array(array: pa.Array, *, most_bytes: int) -> pa.Array:
    """The values themselves, without a dictionary.

    Raises:
        DecompressionLimit: the values of a dictionary would take more bytes than that.
    """
    if isinstance(array, pa.ExtensionArray) and not _is_uuid(array.type):
        array = array.storage
    if not pa.types.is_dictionary(array.type):
        return array
    if pa.types.is_string(array.type.value_type) or pa.types.is_binary(array.type.value_type):
        lengths = pc.cast(pc.binary_length(array.dictionary), pa.int64())
        if (pc.sum(lengths.take(array.indices), min_count=0).as_py() or 0) > most_bytes:
            raise DecompressionLimit(
                f"strings that a dictionary repeats take more than {most_bytes} bytes in {len(array)} rows; split the file",
                metadata={"max_value_bytes": str(most_bytes)},
            )
    return array.dictionary_decode()


def read_values(array: pa.Array) -> Values:
    """Reads an array that has no dictionary.

    Raises:
        UnsupportedType: values of the array's type cannot be shown.
    """
    kind = array.type
    if pa.types.is_null(kind):
        return Values(pa.nulls(len(array), pa.string()), pa.nulls(len(array), pa.string()))
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind):
        return Values(array, array.cast(pa.string()))
    if pa.types.is_floating(kind):
        return Values(array.cast(pa.float64()), array.cast(pa.string()))
    if pa.types.is_decimal(kind):
        held = array if pa.types.is_decimal256(kind) else array.cast(pa.decimal128(kind.precision, kind.scale))
        return Values(held, shown_decimals(array))
    if pa.types.is_timestamp(kind):
        return _timestamps(array)
    if pa.types.is_date(kind):
        return _dates(array)
    if pa.types.is_time(kind):
        return _times(array)
    if pa.types.is_duration(kind):
        return _durations(array)
    texts = _texts(array)
    return Values(texts, texts)


def shown_decimals(array: pa.Array) -> pa.StringArray:
    """Decimals with all their digits and without an exponent."""
    texts = array.cast(pa.string())
    if not pc.any(pc.match_substring(texts, "E")).as_py():
        return texts
    return pa.array([None if value is None else f"{value:f}" for value in array.to_pylist()], pa.string())


def _timestamps(array: pa.Array) -> Values:
    kind = array.type
    counts = array.cast(pa.int64()) if kind.tz is None else array.view(pa.int64())
    per_day = 86_400 * _PER_SECOND[kind.unit]
    unfit = _outside(counts, _FIRST_DAY * per_day, (_LAST_DAY + 1) * per_day - 1)
    local = pc.if_else(unfit, pa.scalar(None, pa.int64()), counts).view(pa.timestamp(kind.unit))
    held = local.cast(pa.timestamp("us"), safe=False)
    exact = kind.unit != "ns" or held.cast(pa.timestamp("ns"), safe=False).equals(local)
    shown = _without_zeros(local.cast(pa.string()))
    if kind.tz is not None:
        shown = pc.binary_join_element_wise(pc.replace_substring(shown, " ", "T"), "Z", "")
    return Values(held, _or_count(shown, unfit, counts), unfit, exact)


def _dates(array: pa.Array) -> Values:
    counts = array.view(pa.int32()) if pa.types.is_date32(array.type) else floor_divide(array.view(pa.int64()), 86_400_000)
    unfit = _outside(counts, _FIRST_DAY, _LAST_DAY)
    held = pc.if_else(unfit, pa.scalar(None, counts.type), counts).cast(pa.int32()).view(pa.date32())
    return Values(held, _or_count(held.cast(pa.string()), unfit, counts), unfit)


def _times(array: pa.Array) -> Values:
    kind = array.type
    counts = array.view(pa.int32() if pa.types.is_time32(kind) else pa.int64()).cast(pa.int64())
    per_second = _PER_SECOND[kind.unit]
    unfit = _outside(counts, 0, 86_400 * per_second - 1)
    fit = pc.if_else(unfit, pa.scalar(None, pa.int64()), counts)
    in_ns = pc.multiply(fit, 1_000_000_000 // per_second)
    held = pc.divide(in_ns, 1_000).view(pa.time64("us"))
    exact = kind.unit != "ns" or pc.multiply(pc.divide(in_ns, 1_000), 1_000).equals(in_ns)
    return Values(held, _or_count(_without_zeros(in_ns.view(pa.time64("ns")).cast(pa.string())), unfit, counts), unfit, exact)


def _durations(array: pa.Array) -> Values:
    counts = array.cast(pa.int64())
    per_second = _PER_SECOND[array.type.unit]
    most = 999_999_999 * 86_400 * min(per_second, 1_000_000)
    unfit = _outside(counts, -most, most)
    fit = pc.if_else(unfit, pa.scalar(None, pa.int64()), counts)
    held = fit.view(pa.duration(array.type.unit)).cast(pa.duration("us"), safe=False)
    exact = array.type.unit != "ns" or held.cast(pa.duration("ns"), safe=False).cast(pa.int64()).equals(fit)
    seconds = [None if count is None else f"{Decimal(count) / per_second:f}" for count in counts.to_pylist()]
    return Values(held, pa.array(seconds, pa.string()), unfit, exact)


def _texts(array: pa.Array) -> pa.StringArray:
    """Strings as they are; lists, maps and structs as JSON."""
    kind = array.type
    if pa.types.is_string(kind):
        return array
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return array.cast(pa.string())
    if is_bytes(kind):
        return array.cast(pa.binary()).cast(pa.string())
    if _is_uuid(kind):
        storage = array.storage.to_pylist()
        return pa.array([None if value is None else str(uuid.UUID(bytes=value)) for value in storage], pa.string())
    write = json_writer(kind)
    return pa.array([None if value is None else write(value) for value in _items(array)], pa.string())


def json_writer(kind: pa.DataType) -> Callable[[Any], str]:  # values of any Python type that Arrow gives
    """A function that writes a value of the type as JSON: numbers with all their digits, dates and times as ISO text.

    A map is an object where its keys are strings, else a list of pairs. Bytes are text if they are UTF-8, else `0x` and hex.
    """
    kind = plain_type(kind)
    if pa.types.is_map(kind):
        return _map_writer(kind)
    if pa.types.is_struct(kind):
        members = [(json.dumps(field.name, ensure_ascii=False), field.name, _or_null(field.type)) for field in kind]
        return lambda value: "{" + ", ".join(f"{key}: {write(value[name])}" for key, name, write in members) + "}"
    if _is_list(kind):
        item = _or_null(kind.value_type)
        return lambda value: "[" + ", ".join(map(item, value)) + "]"
    if pa.types.is_null(kind) or pa.types.is_boolean(kind) or pa.types.is_integer(kind):
        return json.dumps
    if pa.types.is_floating(kind):
        return lambda value: repr(value) if math.isfinite(value) else f'"{value}"'
    if pa.types.is_decimal(kind):
        return lambda value: f"{value:f}"
    if is_bytes(kind):
        return lambda value: json.dumps(_bytes_text(value), ensure_ascii=False)
    return lambda value: json.dumps(value if isinstance(value, str) else str(value), ensure_ascii=False)


def _map_writer(kind: pa.DataType) -> Callable[[Any], str]:  # as json_writer
    key, item = _or_null(kind.key_type), _or_null(kind.item_type)
    if pa.types.is_string(plain_type(kind.key_type)):
        return lambda value: "{" + ", ".join(f"{key(k)}: {item(v)}" for k, v in value) + "}"
    return lambda value: "[" + ", ".join(f"[{key(k)}, {item(v)}]" for k, v in value) + "]"


def _or_null(kind: pa.DataType) -> Callable[[Any], str]:  # as json_writer
    write = json_writer(kind)
    return lambda value: "null" if value is None else write(value)


def _bytes_text(value: bytes) -> str:
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return "0x" + value.hex()
    return text if text.isprintable() else "0x" + value.hex()


def _items(array: pa.Array) -> Iterable[Any]:  # values of any Python type that Arrow gives
    try:
        values: list[Any] = array.to_pylist()
        return values
    except NotImplementedError as error:
        raise UnsupportedType(f"values of type {array.type} are not read; leave the column out") from error


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _is_uuid(kind: pa.DataType) -> bool:
    return isinstance(kind, pa.UuidType)


def _outside(counts: pa.Array, least: int, most: int) -> pa.BooleanArray:
    """Where a count is out of range; where there is none it is not."""
    limits = np.iinfo(np.int32 if pa.types.is_int32(counts.type) else np.int64)
    low, high = (pa.scalar(min(max(bound, int(limits.min)), int(limits.max)), counts.type) for bound in (least, most))
    return pc.coalesce(pc.or_(pc.less(counts, low), pc.greater(counts, high)), pa.scalar(value=False))


def floor_divide(counts: pa.Array, size: int) -> pa.Array:
    """How often the size is in each count, rounded down below 0 too."""
    whole = pc.divide(counts, size)
    return pc.if_else(pc.less(counts, pc.multiply(whole, size)), pc.subtract(whole, 1), whole)


def _or_count(texts: pa.StringArray, unfit: pa.BooleanArray, counts: pa.Array) -> pa.StringArray:
    """The texts, and the bare count where a value is out of range."""
    return pc.if_else(unfit, counts.cast(pa.string()), texts)


def _without_zeros(texts: pa.StringArray) -> pa.StringArray:
    """Times without zeros at the end of their fraction."""
    return pc.replace_substring_regex(pc.replace_substring_regex(texts, r"(\.[0-9]*[1-9])0+$", r"\1"), r"\.0+$", "")
