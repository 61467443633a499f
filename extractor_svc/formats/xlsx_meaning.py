"""What the cells of a sheet mean, worked out for many alike at a time: alike in what they state of themselves and in format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from artifact.model import ColumnType
from extractor_svc.formats.xlsx_book import Book, whole_number
from extractor_svc.formats.xlsx_moments import plain_moments
from extractor_svc.formats.xlsx_number_formats import NumberFormat
from extractor_svc.formats.xlsx_numbers import plain_numbers
from extractor_svc.formats.xlsx_raw import KINDS, Budget, Integers, RawCells, places_of
from extractor_svc.formats.xlsx_strings import unescape, unescaped
from extractor_svc.formats.xlsx_values import bool_value, error_value, iso_value, number_value, string_value
from extractor_svc.text_columns import Mask, Places, byte_lengths, char_count, column_of, encoded, matching
from extractor_svc.value_columns import NUMBER_OF, ValueColumns, columns_of, joined_columns
from extractor_svc.values import EMPTY, Value

_MISSING_TEXT: Final = "text is missing in the file"
_INDEX: Final = "^[0-9]{1,9}$"
_UNCALCULATED: Final = -1
_FEW: Final = 200
_INT16: Final = 1 << 15


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The cells of a sheet that hold or show something, by rows and then columns, one to a place.

    `errors` are reasons why a cell holds no value, by its position. `formula_at` are the positions of cells with a formula,
    ascending, and `uncached` says of each whether the file lacks its result.
    """

    rows: Integers
    columns: Integers
    values: ValueColumns
    errors: dict[int, str]
    formula_at: Integers
    formulas: pa.StringArray
    uncached: Mask

    def __len__(self) -> int:
        return len(self.rows)

    def places(self) -> Places:
        """A number for the place of each cell, ascending."""
        return places_of(self.rows, self.columns)

    def without(self, covered: Mask) -> Cells:
        """The cells but for some."""
        return _picked(self, np.flatnonzero(~covered), self.values.take(np.flatnonzero(~covered)))


def meant(raw: RawCells, book: Book, budget: Budget) -> Cells:
    """The cells with their meaning; empty ones are left out, and of two at one place the later is kept.

    Raises:
        OutputLimit: they show more characters than the budget has left.
    """
    uncalculated = _uncalculated(raw)
    read = _one_by_one if len(raw) <= _FEW else _groups
    groups = list(read(raw, book, budget, uncalculated=uncalculated))
    values = joined_columns([group.values for group in groups])
    at = np.empty(len(raw), np.int64)
    at[np.concatenate([group.positions for group in groups])] = np.arange(len(raw))
    errors = {position: reason for group in groups for position, reason in group.errors}
    says = values.kinds[at] > 0
    says[list(errors)] = True
    says[raw.formula_at] = True
    positions = _ascending(raw, np.flatnonzero(says))
    cells = Cells(raw.rows, raw.columns, values, errors, raw.formula_at, raw.formulas, uncalculated[raw.formula_at])
    return _picked(cells, positions, values.take(at[positions]))


def _picked(cells: Cells, positions: Places, values: ValueColumns) -> Cells:
    """The cells at some positions, with their values."""
    now_at = np.full(len(cells), -1, np.int64)
    now_at[positions] = np.arange(len(positions))
    formula_at = now_at[cells.formula_at]
    order = np.argsort(formula_at, kind="stable")
    order = order[formula_at[order] >= 0]
    return Cells(
        cells.rows[positions],
        cells.columns[positions],
        values,
        {int(now_at[at]): reason for at, reason in cells.errors.items() if now_at[at] >= 0},
        formula_at[order].astype(np.int32),
        cells.formulas.take(pa.array(order)),
        cells.uncached[order],
    )


def _ascending(raw: RawCells, positions: Places) -> Places:
    """The positions in the order of their places, of each place the last one."""
    places = places_of(raw.rows[positions], raw.columns[positions])
    if (np.diff(places) > 0).all():
        return positions
    order = np.argsort(places, kind="stable")
    return positions[order[np.diff(places[order], append=places[order[-1]] + 1) > 0]]


def _uncalculated(raw: RawCells) -> Mask:
    """Which cells have a formula without a result; an empty result is one of a formula of text alone."""
    lengths = byte_lengths(raw.stored)
    without = raw.stored.is_null().to_numpy(zero_copy_only=False) if raw.stored.null_count else lengths < 0
    has_formula = np.zeros(len(raw), np.bool_)
    has_formula[raw.formula_at] = True
    missing: Mask = without | ((lengths == 0) & (raw.kinds != KINDS.index("str")))
    return has_formula & missing


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """Cells that are read alike: their positions, what they mean, and why some of them hold no value."""

    positions: Places
    values: ValueColumns
    errors: list[tuple[int, str]]


def _one_by_one(raw: RawCells, book: Book, budget: Budget, *, uncalculated: Mask) -> Iterator[_Group]:
    """Every cell in one group, each read by itself, which is quicker where there are few."""
    looks = book.looks_of(raw.styles)
    cells = zip(raw.kinds.tolist(), looks.tolist(), raw.stored.to_pylist(), uncalculated.tolist(), strict=True)
    values = [
        EMPTY if calculates else _meaning(stored, KINDS[kind], book.looks[look], book) for kind, look, stored, calculates in cells
    ]
    budget.take_chars(sum(len(value.text) for value in values))
    errors = [(i, value.error) for i, value in enumerate(values) if value.error]
    yield _Group(np.arange(len(raw)), columns_of(values, book.codes, looks), errors)


def _groups(raw: RawCells, book: Book, budget: Budget, *, uncalculated: Mask) -> Iterator[_Group]:
    """Every cell in one group by what it states of itself and its number format; at least one group."""
    reader = _Reader(book, budget)
    alike = book.looks_of(raw.styles).astype(np.int64) * len(KINDS) + raw.kinds
    alike = np.where(uncalculated, _UNCALCULATED - alike, alike)
    small = len(book.looks) * len(KINDS) < _INT16
    order = np.argsort(alike.astype(np.int16) if small else alike, kind="stable")  # numpy sorts small numbers in linear time
    edges = [0, *(np.flatnonzero(np.diff(alike[order])) + 1).tolist(), len(order)]
    for start, end in pairwise(edges):
        positions = order[start:end]
        stored = raw.stored.take(pa.array(positions))
        yield reader.group(int(alike[positions[0]]) if len(positions) else 0, positions, stored)


class _Reader:
    """Reads groups of cells in their workbook."""

    def __init__(self, book: Book, budget: Budget) -> None:
        self._book = book
        self._codes = book.codes
        self._budget = budget

    def group(self, alike: int, positions: Places, stored: pa.StringArray) -> _Group:
        look, kind = divmod(alike if alike >= 0 else _UNCALCULATED - alike, len(KINDS))
        if alike < 0:
            return _Group(positions, self._empty(look, len(positions)), [])
        match KINDS[kind]:
            case "s":
                return self._shared(look, positions, stored)
            case "str" | "inlineStr":
                return _Group(positions, self._strings(look, unescaped(stored)), [])
            case "n" if self._book.looks[look].kind in (ColumnType.NUMBER, ColumnType.STRING):
                return self._numbers(look, positions, stored)
            case "n" if self._book.looks[look].kind is not ColumnType.DURATION:
                return self._moments(look, positions, stored)
        return self._each(look, KINDS[kind], positions, stored)

    def _empty(self, look: int, count: int) -> ValueColumns:
        return self._columns(look, np.zeros(count, np.uint8), column_of([""] * count))

    def _columns(
        self, look: int, kinds: npt.NDArray[np.uint8], texts: pa.StringArray, numbers: pa.StringArray | None = None
    ) -> ValueColumns:
        count = len(kinds)
        numbers = pa.nulls(count, pa.string()) if numbers is None else numbers
        return ValueColumns(kinds, texts, numbers, np.zeros(count, np.int64), np.full(count, look, np.int32), self._codes)

    def _strings(self, look: int, texts: pa.StringArray) -> ValueColumns:
        self._budget.take_chars(char_count(texts))
        return self._columns(look, _kinds_of_texts(texts), texts)

    def _shared(self, look: int, positions: Places, stored: pa.StringArray) -> _Group:
        strings = self._book.strings
        places = _indexes(stored)
        missing = (places < 0) | (places >= len(strings))
        places[missing] = len(strings)
        lengths = np.append(pc.utf8_length(strings).to_numpy(), 0)
        self._budget.take_chars(int(lengths[places].sum()))
        texts = pa.concat_arrays([strings, column_of([""])]).take(pa.array(places))
        errors = [(int(positions[i]), _MISSING_TEXT) for i in np.flatnonzero(missing)]
        return _Group(positions, self._columns(look, _kinds_of_texts(texts), texts), errors)

    def _numbers(self, look: int, positions: Places, stored: pa.StringArray) -> _Group:
        plain, numbers, texts = plain_numbers(stored, self._book.looks[look])
        self._budget.take_chars(char_count(texts))
        found = self._columns(look, np.full(len(numbers), NUMBER_OF[ColumnType.NUMBER], np.uint8), texts, numbers)
        return self._with_rest(look, positions, stored, plain=plain, found=found)

    def _moments(self, look: int, positions: Places, stored: pa.StringArray) -> _Group:
        plain, moments = plain_moments(stored, self._book.looks[look], from_1904=self._book.from_1904)
        self._budget.take_chars(char_count(moments.texts))
        found = replace(self._columns(look, moments.kinds.astype(np.uint8), moments.texts), ticks=moments.ticks)
        return self._with_rest(look, positions, stored, plain=plain, found=found)

    def _with_rest(self, look: int, positions: Places, stored: pa.StringArray, *, plain: Mask, found: ValueColumns) -> _Group:
        """The numbers that were read together, and the others read each by itself."""
        if plain.all():
            return _Group(positions, found, [])
        others = np.flatnonzero(~plain)
        rest = self._each(look, "n", positions[others], stored.take(pa.array(others)))
        return _Group(np.concatenate([positions[plain], rest.positions]), joined_columns([found, rest.values]), rest.errors)

    def _each(self, look: int, kind: str, positions: Places, stored: pa.StringArray) -> _Group:
        """Reads each stored text once, however many cells have it."""
        places, words = encoded(stored)
        values = [_meaning(word, kind, self._book.looks[look], self._book) for word in words]
        self._budget.take_chars(int(np.array([len(value.text) for value in values], np.int64)[places].sum()))
        columns = columns_of(values, self._codes, np.full(len(values), look, np.int32))
        faults = np.flatnonzero(np.array([bool(value.error) for value in values], np.bool_)[places])
        errors = [(int(positions[i]), values[places[i]].error) for i in faults]
        return _Group(positions, columns.take(places), errors)


def _meaning(stored: str, kind: str, look: NumberFormat, book: Book) -> Value:
    """What one cell means by its stored text, the kind it states and its number format."""
    match kind:
        case "s":
            index = whole_number(stored)
            if index is None or index >= len(book.strings):
                return Value(number_format=look.code, error=_MISSING_TEXT)
            return string_value(book.strings[index].as_py(), look)
        case "str" | "inlineStr":
            return string_value(unescape(stored), look)
        case "b":
            return bool_value(stored, look)
        case "e":
            return error_value(stored, look)
        case "d":
            return iso_value(stored, look)
    return number_value(stored, look, from_1904=book.from_1904) if stored.strip() else EMPTY


def _kinds_of_texts(texts: pa.StringArray) -> npt.NDArray[np.uint8]:
    """The kind of each text: none where it is empty."""
    return np.where(byte_lengths(texts) > 0, NUMBER_OF[ColumnType.STRING], 0).astype(np.uint8)


def _indexes(stored: pa.StringArray) -> Places:
    """The indexes that texts write, -1 where one writes none."""
    if matching(stored, _INDEX).all():
        return np.array(pc.cast(stored, pa.int64()).to_numpy(), np.int64)
    found = (whole_number(text) for text in stored.to_pylist())
    return np.array([-1 if index is None else index for index in found], np.int64)
