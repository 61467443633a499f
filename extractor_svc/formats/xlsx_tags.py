"""The tags of plain rows by the places of their `<` and `>`, and what stands in and between them, cut out many at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from extractor_svc.text_columns import NO_TEXTS, Places

_LESS, _GREATER, _QUOTE, _SLASH, _LETTER_A = (ord(mark) for mark in '<>"/A')
_ROW_HEAD: Final = len('<row r="')
_CELL_HEAD: Final = len('<c r="')
_MOST_DIGITS: Final = 7
_WORD: Final = 8
_FIRST_BYTES: Final = np.array([(1 << 8 * count) - 1 for count in range(_WORD + 1)], np.uint64)
_NULL: Final = pa.scalar(None, pa.string())
_ENTITIES: Final = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&apos;", "'"), ("&amp;", "&"))


class Tags:
    """The tags of rows that are plain: where each starts and ends, and the first letter of its name, `/` where it closes."""

    def __init__(self, rows: bytes) -> None:
        self._bytes = rows + bytes(_WORD)
        self._has_entities = b"&" in rows
        self.data = np.frombuffer(self._bytes, np.uint8)
        self.starts = np.flatnonzero(self.data == _LESS)
        self.ends = np.flatnonzero(self.data == _GREATER)
        self.names = self.data[self.starts + 1]

    def named(self, letter: str) -> Places:
        """The tags whose name begins with a letter."""
        return np.flatnonzero(self.names == ord(letter))

    def alone(self, tags: Places) -> Places:
        """1 for each of these tags that closes itself, 0 for the others."""
        alone: Places = (self.data[self.ends[tags] - 1] == _SLASH).astype(np.int64)
        return alone

    def contents(self, tags: Places) -> pa.StringArray:
        """The text between each of these tags and the next one."""
        return self.texts(self.ends[tags] + 1, self.starts[tags + 1])

    def texts(self, starts: Places, stops: Places) -> pa.StringArray:
        """The text from each start to its stop; both ascend."""
        if not len(starts):
            return NO_TEXTS
        every = slices(self._bytes, np.column_stack((starts, stops)).ravel())
        texts = every.take(pa.array(np.arange(0, 2 * len(starts), 2)))
        return _without_entities(texts) if self._has_entities else texts

    def words(self, places: Places) -> npt.NDArray[np.uint64]:
        """The eight bytes from each place on as a number, the first one lowest."""
        return np.ndarray((len(self.data) - _WORD + 1,), "<u8", self._bytes, strides=(1,))[places]


@dataclass(frozen=True, slots=True)
class RowHeads:
    """Rows: their tags and numbers, where each number is written and by how many digits."""

    tags: Places
    numbers: Places
    digits_at: Places
    digits: Places

    @property
    def rest(self) -> Places:
        """Where the further attributes of each start."""
        return self.digits_at + self.digits + 1


@dataclass(frozen=True, slots=True)
class CellHeads:
    """Cells that hold something: their tags, rows and columns, and where the further attributes of each start."""

    tags: Places
    rows: Places
    columns: Places
    rest: Places


def row_heads(tags: Tags) -> RowHeads:
    """The rows in their order."""
    found = tags.named("r")
    at = tags.starts[found] + _ROW_HEAD
    numbers, digits = np.zeros(len(found), np.int64), np.zeros(len(found), np.int64)
    for place in range(_MOST_DIGITS):
        digit = tags.data[at + np.minimum(digits, place)].astype(np.int64) - ord("0")
        more = (digits == place) & (digit >= 0) & (digit <= 9)
        numbers = np.where(more, numbers * 10 + digit, numbers)
        digits += more
    return RowHeads(found, numbers, at, digits)


def cell_heads(tags: Tags, rows: RowHeads) -> CellHeads | None:
    """The cells that hold something, in their order; None where one does not state the row it stands in."""
    found = tags.named("c")
    counts = np.diff(np.append(np.searchsorted(found, rows.tags), len(found)))
    row = np.repeat(np.arange(len(rows.tags)), counts)
    holds = (tags.names[np.minimum(found + 1, len(tags.names) - 1)] != _SLASH) & (tags.alone(found) == 0)
    found, row = found[holds], row[holds]
    at = tags.starts[found] + _CELL_HEAD
    columns, letters = _columns(tags, at)
    digits, digits_at = rows.digits[row], at + letters
    wanted = (tags.words(rows.digits_at) & _FIRST_BYTES[rows.digits])[row]
    if not np.array_equal(tags.words(digits_at) & _FIRST_BYTES[digits], wanted):
        return None
    rest = digits_at + digits
    return CellHeads(found, rows.numbers[row], columns, rest + 1) if (tags.data[rest] == _QUOTE).all() else None


def _columns(tags: Tags, at: Places) -> tuple[Places, Places]:
    """The columns that references name, and by how many letters."""
    first, second, third = (tags.data[at + i].astype(np.int64) - _LETTER_A + 1 for i in range(3))
    has_second = second > 0
    has_third = has_second & (third > 0)
    columns = np.where(has_second, first * 26 + second, first)
    return np.where(has_third, columns * 26 + third, columns), 1 + has_second + has_third.astype(np.int64)


def stored_texts(tags: Tags, cells: CellHeads, formula_tags: Places) -> pa.StringArray:
    """The stored text of each cell, null where it has none; `formula_tags` is how many tags the formula of each takes."""
    first = tags.names[cells.tags + 1]
    held = cells.tags + np.where(first == ord("i"), 2, 1 + formula_tags)
    has = (tags.names[held] == ord("v")) | (tags.names[held] == ord("t"))
    ends = tags.ends[np.where(has, held, cells.tags)] + 1
    texts = tags.texts(ends, np.where(has, tags.starts[held + 1], ends))
    return texts if has.all() else pc.if_else(pa.array(has), texts, _NULL)


def slices(data: bytes, bounds: Sequence[int] | Places) -> pa.StringArray:
    """The texts between bounds that ascend, without a copy of their bytes."""
    offsets = np.asarray(bounds, np.int32)
    return pa.StringArray.from_buffers(max(len(offsets) - 1, 0), pa.py_buffer(offsets), pa.py_buffer(data))


def _without_entities(texts: pa.StringArray) -> pa.StringArray:
    for entity, mark in _ENTITIES:
        texts = pc.replace_substring(texts, entity, mark)
    return texts
