"""Dataset rows as Arrow IPC streams: written in bounded parts, read back without trust."""

from __future__ import annotations

import io
import re
import struct
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from artifact.faults import ArtifactFault
from artifact.model import ROW_ID, ROW_LOCATOR, Column, ColumnType
from artifact.places import read_locator_json

MAX_DECIMAL_DIGITS: Final = 76

_FIXED_TYPES: Final = {
    ColumnType.STRING: pa.string(),
    ColumnType.BOOL: pa.bool_(),
    ColumnType.DATE: pa.date32(),
    ColumnType.DATETIME: pa.timestamp("us"),
    ColumnType.TIME: pa.time64("us"),
    ColumnType.DURATION: pa.duration("us"),
}
_RECORD_BATCH: Final = 3  # MessageHeader of the Arrow format
_COUNT: Final = "([1-9][0-9]{0,8})"
_PLAIN_ROWS: Final = re.compile(r'\{"(?:rows|lines)":\{"first":N,"last":N\}\}'.replace("N", _COUNT))
_PLAIN_SHEET_ROWS: Final = re.compile(
    r'\{"sheet":\{"sheet":"[^"\\\x00-\x1f]+","first_row":N,"last_row":N,"first_column":N,"last_column":N\}\}'.replace("N", _COUNT)
)
_FAULTS: Final = (pa.ArrowException, OSError, struct.error, ValueError, OverflowError, EOFError, MemoryError)


def arrow_type(column: Column) -> pa.DataType:
    """The Arrow type that holds a column: decimals of its precision and scale, doubles where it has none."""
    if column.type is not ColumnType.NUMBER:
        return _FIXED_TYPES[column.type]
    if not column.precision:
        return pa.float64()
    return (
        pa.decimal128(column.precision, column.scale) if column.precision <= 38 else pa.decimal256(column.precision, column.scale)
    )


def row_schema(columns: Iterable[Column]) -> pa.Schema:
    """The schema of a dataset's rows: the row id, the row's place, then every stored column."""
    stored = [(column.name, arrow_type(column)) for column in columns if column.stored]
    return pa.schema([(ROW_ID, pa.int64()), (ROW_LOCATOR, pa.string()), *stored])


def check_schema(found: pa.Schema, columns: Iterable[Column], *, field: str) -> None:
    """Refuses rows whose Arrow columns are not those of the dataset, in name, order and type.

    Raises:
        ArtifactFault: naming the first column that differs.
    """
    right = row_schema(columns)
    for expected, actual in zip(right, found, strict=False):
        if expected.name != actual.name:
            raise ArtifactFault(field, f"column {actual.name!r} stands where {expected.name!r} should")
        if expected.type != actual.type:
            raise ArtifactFault(f"{field}.{expected.name}", f"is held as {actual.type}, not {expected.type}")
    if len(right) != len(found):
        raise ArtifactFault(field, f"has {len(found)} columns, not {len(right)}")


def write_rows(rows: pa.Table, columns: Sequence[Column], *, max_part_bytes: int, field: str) -> Iterator[bytes]:
    """Yields one Arrow IPC stream of the rows in parts of at most `max_part_bytes`; only about two parts are held at a time.

    Raises:
        ArtifactFault: the rows do not fit the columns.
    """
    check_schema(rows.schema, columns, field=field)
    schema = row_schema(columns)
    sink = io.BytesIO()
    pending = bytearray()
    with pa.ipc.new_stream(sink, schema) as writer:
        for batch in rows.to_batches(max_chunksize=_rows_per_batch(rows, max_part_bytes)):
            writer.write_batch(pa.RecordBatch.from_arrays(batch.columns, schema=schema))
            pending += _drain(sink)
            while len(pending) >= max_part_bytes:
                yield bytes(pending[:max_part_bytes])
                del pending[:max_part_bytes]
    pending += _drain(sink)
    for start in range(0, len(pending), max_part_bytes):
        yield bytes(pending[start : start + max_part_bytes])


def read_rows(parts: Iterable[bytes], columns: Sequence[Column], *, row_count: int, field: str) -> pa.Table:
    """Reads the parts of one Arrow IPC stream back and checks every row.

    Raises:
        ArtifactFault: the stream is damaged or compressed, its columns are not the dataset's, the row ids do not ascend, a
            row's place is not a locator, a null stands where none may, or there are more or fewer rows.
    """
    try:
        table = _read_table(_Joined(parts), columns, row_count=row_count, field=field)
    except ArtifactFault:
        raise
    except _FAULTS as error:
        raise ArtifactFault(field, "is not a sound Arrow IPC stream") from error
    if table.num_rows != row_count:
        raise ArtifactFault(field, f"has {table.num_rows} rows, not {row_count}")
    _check_row_ids(table[ROW_ID], field)
    _check_nulls(table, columns, field=field)
    _check_row_locators(table[ROW_LOCATOR], field)
    return table


class _Joined(io.RawIOBase):
    """Reads byte parts one after the other as one file, letting go of each part once it is read."""

    def __init__(self, parts: Iterable[bytes]) -> None:
        self._parts = deque(memoryview(part) for part in parts)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        taken = []
        left = sum(map(len, self._parts)) if size < 0 else size
        while left and self._parts:
            part = self._parts.popleft()
            if len(part) > left:
                self._parts.appendleft(part[left:])
                part = part[:left]
            taken.append(part)
            left -= len(part)
        return b"".join(taken)


def _read_table(source: _Joined, columns: Sequence[Column], *, row_count: int, field: str) -> pa.Table:
    schema = row_schema(columns)
    _check_schema_message(source, schema, field=field)
    batches = []
    rows_left = row_count
    for message in pa.ipc.MessageReader.open_stream(source):
        _refuse_compression(message, field)
        batch = pa.ipc.read_record_batch(message, schema)
        batch.validate(full=True)
        rows_left -= batch.num_rows
        if rows_left < 0:
            raise ArtifactFault(field, f"has more rows than {row_count}")
        batches.append(batch)
    return pa.Table.from_batches(batches, schema)


def _check_schema_message(source: _Joined, schema: pa.Schema, *, field: str) -> None:
    """Compares the stream's schema as bytes: Arrow's reader of schemas crashes on some damaged ones."""
    expected = schema.serialize().to_pybytes()
    if source.read(len(expected)) != expected:
        raise ArtifactFault(field, "holds other columns than the dataset states, or no Arrow IPC stream")


def _refuse_compression(message: pa.ipc.Message, field: str) -> None:
    """Lets record batches pass whose buffers are as long as they say; a compressed one could inflate without bound."""
    if message.type != "record batch":
        raise ArtifactFault(field, f"holds a {message.type} message")
    metadata = memoryview(message.metadata)
    root = struct.unpack_from("<I", metadata)[0]
    kind_at, header_at = _table_field(metadata, root, index=1), _table_field(metadata, root, index=2)
    if not (kind_at and header_at) or metadata[kind_at] != _RECORD_BATCH:
        raise ArtifactFault(field, "holds a message without a record batch")
    header = header_at + struct.unpack_from("<I", metadata, header_at)[0]
    if _table_field(metadata, header, index=3):
        raise ArtifactFault(field, "is compressed")


def _table_field(buffer: memoryview, table: int, *, index: int) -> int:
    """Where a field of a FlatBuffers table lies; 0 where the table does not have it."""
    vtable = table - struct.unpack_from("<i", buffer, table)[0]
    entry = 4 + 2 * index
    if vtable < 0 or entry + 2 > struct.unpack_from("<H", buffer, vtable)[0]:
        return 0
    offset = int(struct.unpack_from("<H", buffer, vtable + entry)[0])
    return table + offset if offset else 0


def _check_row_ids(ids: pa.ChunkedArray, field: str) -> None:
    if ids.null_count:
        raise ArtifactFault(f"{field}.{ROW_ID}", "has a null")
    ids = ids.combine_chunks() if ids.num_chunks != 1 else ids.chunk(0)
    if len(ids) and ids[0].as_py() < 0:
        raise ArtifactFault(f"{field}.{ROW_ID}", "starts below 0")
    if len(ids) > 1 and not pc.all(pc.less(ids[:-1], ids[1:])).as_py():
        raise ArtifactFault(f"{field}.{ROW_ID}", "does not ascend")


def _check_nulls(table: pa.Table, columns: Sequence[Column], *, field: str) -> None:
    for column in columns:
        if column.stored and not column.nullable and table[column.name].null_count:
            raise ArtifactFault(f"{field}.{column.name}", "has a null and is not nullable")


def _check_row_locators(places: pa.ChunkedArray, field: str) -> None:
    for chunk in places.chunks:
        for text in chunk.to_pylist():
            if text is None:
                raise ArtifactFault(f"{field}.{ROW_LOCATOR}", "has a null")
            if not _is_plain_span(text):
                read_locator_json(text, f"{field}.{ROW_LOCATOR}")


def _is_plain_span(text: str) -> bool:
    """Whether the text is a sound place in the form nearly every row has; what is not is read as JSON, five times slower."""
    found = _PLAIN_ROWS.fullmatch(text) or _PLAIN_SHEET_ROWS.fullmatch(text)
    return found is not None and _all_ascend(found.groups())


def _all_ascend(numbers: Sequence[str]) -> bool:
    return all(int(first) <= int(last) for first, last in zip(numbers[::2], numbers[1::2], strict=True))


def _rows_per_batch(rows: pa.Table, max_part_bytes: int) -> int:
    return max(1, int(max_part_bytes * rows.num_rows // max(rows.nbytes, 1)))


def _drain(sink: io.BytesIO) -> bytes:
    written = sink.getvalue()
    sink.seek(0)
    sink.truncate()
    return written
