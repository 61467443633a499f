"""Columns of a Parquet file: structs parted into their members, batches joined, and each held as what its schema says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from artifact.model import Column, ColumnType, TypeCount
from extractor_svc.formats.parquet_values import column_type_of, plain_type, shown_decimals
from extractor_svc.tabular import MAX_DIGITS, HeldColumn


@dataclass(frozen=True, slots=True)
class Leaf:
    """A column as it is shown: a field, or a member of a struct under its path, such as `address.city`."""

    name: str
    kind: pa.DataType


def leaves_of(schema: pa.Schema) -> list[Leaf]:
    """The columns that are shown, in the order of the schema."""
    return [leaf for field in schema for leaf in _leaves(field.name, field.type)]


def arrays_of(batch: pa.RecordBatch) -> list[pa.Array]:
    """The arrays of the columns that are shown; members of a struct that is null are null."""
    return [array for column in batch.columns for array in _parted(column)]


def hold_column(name: str, leaf: Leaf, chunks: Sequence[pa.Array], *, exact: bool) -> HeldColumn:
    """Holds a column: whole numbers as decimals of the digits they need, decimals as stated, other numbers as doubles.

    Decimals that need more digits than a decimal holds are text, so that none is lost.

    Instants are held in UTC, which the column's unit and format say; timestamps without a zone are held as they are.
    """
    kind = column_type_of(leaf.kind)
    array = pa.chunked_array(chunks, chunks[0].type if chunks else _empty_type(leaf, kind))
    if kind is ColumnType.NUMBER:
        array = _numbers(array)
    digits, scale = (array.type.precision, array.type.scale) if pa.types.is_decimal(array.type) else (0, 0)
    instant = kind is ColumnType.DATETIME and plain_type(leaf.kind).tz is not None
    filled = len(array) - array.null_count
    column = Column(
        name,
        ColumnType.STRING if pa.types.is_string(array.type) else kind,
        leaf.name,
        (TypeCount(kind, filled),) if filled else (),
        number_format='yyyy-mm-dd"T"hh:mm:ss"Z"' if instant else "0." + "0" * scale if scale else "",
        unit="UTC" if instant else "",
        precision=digits,
        scale=scale,
        nullable=array.null_count > 0,
    )
    return HeldColumn(column, array, exact=exact)


def _leaves(name: str, kind: pa.DataType) -> Iterator[Leaf]:
    if pa.types.is_struct(kind) and kind.num_fields:
        for field in kind:
            yield from _leaves(f"{name}.{field.name}", field.type)
    else:
        yield Leaf(name, kind)


def _parted(array: pa.Array) -> Iterator[pa.Array]:
    if pa.types.is_struct(array.type) and array.type.num_fields:
        for member in array.flatten():
            yield from _parted(member)
    else:
        yield array


def _empty_type(leaf: Leaf, kind: ColumnType) -> pa.DataType:
    """The type of a column without a batch, as batches of it would have."""
    empty = {
        ColumnType.BOOL: pa.bool_(),
        ColumnType.DATETIME: pa.timestamp("us"),
        ColumnType.DATE: pa.date32(),
        ColumnType.TIME: pa.time64("us"),
        ColumnType.DURATION: pa.duration("us"),
        ColumnType.STRING: pa.string(),
    }
    plain = plain_type(leaf.kind)
    return empty.get(kind) or (pa.float64() if pa.types.is_floating(plain) else plain)


def _numbers(array: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = array.type
    if pa.types.is_integer(kind):
        bounds = pc.min_max(array).as_py()
        digits = max(len(str(abs(bound or 0))) for bound in bounds.values())
        return array.cast(pa.decimal128(20, 0)).cast(pa.decimal128(digits, 0))
    if not pa.types.is_decimal(kind):
        return array
    if kind.precision <= MAX_DIGITS:
        return array.cast(pa.decimal128(kind.precision, kind.scale))
    try:
        return array.cast(pa.decimal128(MAX_DIGITS, kind.scale))
    except (pa.ArrowException, ValueError):
        return pa.chunked_array([shown_decimals(chunk) for chunk in array.chunks], pa.string())
