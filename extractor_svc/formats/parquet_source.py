"""A Parquet file opened with care: what it states is held against the limits, and its rows come in batches of bounded size."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from extractor_svc.errors import DecompressionLimit, Malformed, TooManyColumns, TooManyRows, UnsupportedType
from extractor_svc.limits import MIB, Limits

_ENCRYPTED_FOOTER: Final = b"PARE"
_TAIL: Final = struct.Struct("<I4s")
_BATCH_BYTES: Final = 4 * MIB
_BATCH_ROWS: Final = 16_384
_DEEPEST: Final = 64


@dataclass(frozen=True, slots=True, eq=False)
class ParquetSource:
    """A file whose footer was read; `footer` is the range of bytes that holds the schema; `rows` are those of its row groups."""

    content: bytes
    metadata: Any  # pyarrow ships no types
    schema: Any
    footer: tuple[int, int]
    rows: int

    @property
    def created_by(self) -> str:
        """The program that wrote the file, as far as its name can be read."""
        try:
            return str(self.metadata.created_by or "")
        except UnicodeDecodeError:
            return ""

    def batches(self, *, first: int = 1, last: int = 0, int96: str = "us") -> Iterator[tuple[int, pa.RecordBatch]]:
        """Yields rows from the first to the last one, from 1, all of them if `last` is 0, each batch with its first row's number.

        Strings with a dictionary keep it. `int96` is the unit that timestamps of 96 bits are read in.

        Raises:
            Malformed: a row group cannot be read, or has other rows than it states.
            UnsupportedType: it is written in a way that is not read.
        """
        last = last or self.rows
        with refusing():
            file = _open(self.content, int96=int96, read_dictionary=_dictionary_columns(self.metadata))
            start = 1
            for number in range(self.metadata.num_row_groups):
                rows = self.metadata.row_group(number).num_rows
                if start <= last and first < start + rows:
                    for row, batch in self._group(file, number, start):
                        from_row, to_row = max(first, row), min(last, row + batch.num_rows - 1)
                        if from_row <= to_row:
                            yield from_row, batch.slice(from_row - row, to_row - from_row + 1)
                start += rows

    def _group(self, file: pq.ParquetFile, number: int, start: int) -> Iterator[tuple[int, pa.RecordBatch]]:
        rows = self.metadata.row_group(number).num_rows
        size = _rows_of_a_batch(self.metadata.row_group(number), file.schema)
        row = start
        for batch in file.iter_batches(size, row_groups=[number], use_threads=False):
            batch.validate(full=True)
            yield row, batch
            row += batch.num_rows
        if row - start != rows:
            raise Malformed(
                f"row group {number + 1} states {rows} rows and holds {row - start}; write the file again",
                metadata={"row_group": str(number + 1)},
            )


def open_parquet(content: bytes, limits: Limits) -> ParquetSource:
    """Reads a file's footer and holds what it states against the limits.

    Raises:
        Malformed: there is no sound footer.
        UnsupportedType: the file is encrypted, or written in a way that is not read.
        TooManyRows, TooManyColumns, DecompressionLimit: the file states more than the limits allow.
    """
    if content.endswith(_ENCRYPTED_FOOTER):
        raise UnsupportedType("encrypted Parquet files are not read; write the file without encryption")
    with refusing():
        footer = _footer(content)
        file = _open(content)
        metadata, schema = file.metadata, file.schema_arrow
        rows = _count_rows(metadata)
        _check_limits(metadata, rows, limits)
        return ParquetSource(content, metadata, schema, footer, rows)


@contextmanager
def refusing() -> Iterator[None]:
    """Turns what the library raises on a damaged file into a refusal; running out of memory stays what it is."""
    try:
        yield
    except MemoryError:
        raise
    except NotImplementedError as error:
        raise UnsupportedType("the Parquet file is written in a way that is not read; write it with plain types") from error
    except (pa.ArrowException, OSError, ValueError, LookupError, OverflowError, RecursionError) as error:
        raise Malformed("the Parquet file is damaged; write it again") from error


def _open(content: bytes, *, int96: str = "us", read_dictionary: list[str] | None = None) -> pq.ParquetFile:
    return pq.ParquetFile(
        pa.BufferReader(content),
        coerce_int96_timestamp_unit=int96,
        read_dictionary=read_dictionary,
        pre_buffer=False,
        page_checksum_verification=True,
        schema_depth_limit=_DEEPEST,
    )


def _footer(content: bytes) -> tuple[int, int]:
    if len(content) < 2 * _TAIL.size:
        raise Malformed("the Parquet file ends before its footer; send all of it")
    length, magic = _TAIL.unpack_from(content, len(content) - _TAIL.size)
    start = len(content) - _TAIL.size - length
    if magic != b"PAR1" or start < len(magic):
        raise Malformed("the Parquet file has no footer at its end; send all of it")
    return start, start + length


def _check_limits(metadata: Any, rows: int, limits: Limits) -> None:  # pyarrow ships no types
    if rows > limits.max_rows:
        message = f"the file has {rows} rows and at most {limits.max_rows} are read"
        raise TooManyRows(message, metadata={"rows": str(rows), "max_rows": str(limits.max_rows)})
    if metadata.num_columns > limits.max_columns:
        raise TooManyColumns(
            f"the file has {metadata.num_columns} columns and at most {limits.max_columns} are read",
            metadata={"columns": str(metadata.num_columns), "max_columns": str(limits.max_columns)},
        )
    inflated = sum(chunk.total_uncompressed_size for chunk in _chunks(metadata))
    if inflated > limits.zip_max_inflated_bytes:
        raise DecompressionLimit(
            f"the file inflates to {inflated} bytes and at most {limits.zip_max_inflated_bytes} are read; split it",
            metadata={"inflated_bytes": str(inflated), "max_inflated_bytes": str(limits.zip_max_inflated_bytes)},
        )


def _count_rows(metadata: Any) -> int:  # pyarrow ships no types
    """The rows of all row groups; what the footer states as their sum is not relied on."""
    rows = [int(metadata.row_group(number).num_rows) for number in range(metadata.num_row_groups)]
    sizes = (min(chunk.total_uncompressed_size, chunk.total_compressed_size) for chunk in _chunks(metadata))
    if min(rows, default=0) < 0 or min(sizes, default=0) < 0:
        raise Malformed("the Parquet file states a number below 0; write it again")
    return sum(rows)


def _chunks(metadata: Any) -> Iterator[Any]:  # pyarrow ships no types
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        for column in range(metadata.num_columns):
            yield group.column(column)


def _dictionary_columns(metadata: Any) -> list[str]:  # pyarrow ships no types
    """The columns of strings that are written with a dictionary: repeated values then take no memory of their own."""
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    names = []
    for number in range(metadata.num_columns):
        column = metadata.schema.column(number)
        encodings = {encoding for group in groups for encoding in group.column(number).encodings}
        if column.physical_type == "BYTE_ARRAY" and any(encoding.endswith("_DICTIONARY") for encoding in encodings):
            names.append(column.path)
    return names


def _rows_of_a_batch(group: Any, schema: Any) -> int:  # pyarrow ships no types
    """How many rows keep a batch small, by what the row group states and by the widths that the schema fixes."""
    columns = [schema.column(number) for number in range(len(schema.names))]
    fixed = sum(column.length for column in columns if column.physical_type == "FIXED_LEN_BYTE_ARRAY")
    stated = sum(group.column(number).total_uncompressed_size for number in range(group.num_columns)) // max(group.num_rows, 1)
    return max(1, min(_BATCH_ROWS, _BATCH_BYTES // max(int(stated), int(fixed), 1)))
