"""The rows of a Parquet file as values and as lines of text, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from extractor_svc.formats.parquet_columns import Leaf, arrays_of, leaves_of
from extractor_svc.formats.parquet_source import ParquetSource, refusing
from extractor_svc.formats.parquet_values import Values, floor_divide, is_bytes, plain_array, read_values

_MOST_BYTES: Final = 256 * 1024 * 1024
"""Bytes that the strings of one batch's column may take; a dictionary lets a small file state many more."""
_FIRST_NS, _LAST_NS = -9_223_372_036, 9_223_372_035


@dataclass(frozen=True, slots=True)
class ParquetRows:
    """A file's columns; `unread` are the numbers of those whose bytes are no text."""

    source: ParquetSource
    leaves: Sequence[Leaf]
    unread: frozenset[int]

    def batches(self, *, first: int = 1, last: int = 0) -> Iterator[tuple[int, list[Values]]]:
        """Yields rows, all of them or some: the number of a batch's first row, from 1, and its values by column.

        Raises:
            InvalidArgument: the file is damaged or written in a way that is not read.
        """
        with refusing():
            if _has_int96(self.source.metadata):
                parted = [self.source.batches(first=first, last=last, int96=unit) for unit in ("us", "s", "ns")]
                for (row, held), (_, seconds), (_, nanos) in zip(*parted, strict=True):
                    pairs = zip(self._values(held), arrays_of(held), arrays_of(seconds), arrays_of(nanos), strict=True)
                    yield row, [_checked(*pair) for pair in pairs]
            else:
                for row, batch in self.source.batches(first=first, last=last):
                    yield row, self._values(batch)

    def _values(self, batch: pa.RecordBatch) -> list[Values]:
        return [
            Values(nothing := pa.nulls(len(array), pa.string()), nothing)
            if number in self.unread
            else read_values(plain_array(array, most_bytes=_MOST_BYTES))
            for number, array in enumerate(arrays_of(batch))
        ]


def open_rows(source: ParquetSource) -> ParquetRows:
    """Makes a file's columns known; one of bytes is looked at as a whole for whether it is text.

    Raises:
        InvalidArgument: the file is damaged or written in a way that is not read.
    """
    with refusing():
        leaves = leaves_of(source.schema)
        asked = {number for number, leaf in enumerate(leaves) if is_bytes(leaf.kind)}
        unread: set[int] = set()
        for _, batch in source.batches() if asked else ():
            arrays = arrays_of(batch)
            unread |= {number for number in asked - unread if not _is_text(arrays[number])}
        return ParquetRows(source, leaves, frozenset(unread))


def lines_of(columns: Sequence[Values]) -> pa.StringArray:
    """The rows as lines of text: values joined by a tab, those without one empty; white space within a value is one space."""
    return pc.binary_join_element_wise(*(_one_line(values.texts) for values in columns), "\t")


def _one_line(texts: pa.StringArray) -> pa.StringArray:
    filled = pc.fill_null(texts, "")
    if not pc.any(pc.match_substring_regex(filled, r"[\t\n\r\f]|  |^ | $")).as_py():
        return filled
    return pc.utf8_trim_whitespace(pc.replace_substring_regex(filled, r"\s+", " "))


def _is_text(array: pa.Array) -> bool:
    """Whether all bytes are UTF-8 without control characters, as writers leave strings that do not annotate them."""
    if pa.types.is_fixed_size_binary(array.type):
        return False
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    different = array.dictionary if pa.types.is_dictionary(array.type) else array
    try:
        texts = different.cast(pa.binary()).cast(pa.string())
    except pa.ArrowInvalid:
        return False
    return not pc.any(pc.match_substring_regex(texts, r"[\x00-\x08\x0b\x0e-\x1f\x7f]")).as_py()


def _has_int96(metadata: Any) -> bool:  # pyarrow ships no types
    return any(metadata.schema.column(number).physical_type == "INT96" for number in range(metadata.num_columns))


def _checked(values: Values, held: pa.Array, seconds: pa.Array, nanos: pa.Array) -> Values:
    """Holds timestamps of 96 bits against their whole seconds, as their days may pass what microseconds can count.

    Digits below a microsecond cannot be held; that some are there is told.
    """
    if held.type == seconds.type or not pa.types.is_timestamp(held.type):
        return values
    whole = seconds.cast(pa.int64())
    counted = held.cast(pa.int64())
    wrapped = pc.coalesce(pc.not_equal(floor_divide(counted, 1_000_000), whole), pa.scalar(value=False))
    in_range = pc.and_(pc.greater_equal(whole, _FIRST_NS), pc.less(whole, _LAST_NS))
    digits = nanos.cast(pa.int64())
    finer = pc.not_equal(digits, pc.multiply(pc.divide(digits, 1_000), 1_000))
    exact = not pc.any(pc.and_(in_range, finer)).as_py()
    unfit = pc.or_(values.unfit, wrapped)
    texts = pc.if_else(wrapped, pc.binary_join_element_wise(whole.cast(pa.string()), "s", " "), values.texts)
    return replace(values, texts=texts, unfit=unfit, exact=exact)
