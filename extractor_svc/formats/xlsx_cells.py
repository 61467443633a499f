"""Reads a sheet's cells as its part is parsed, without a tree."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from extractor_svc.blocks import count_words
from extractor_svc.errors import Malformed
from extractor_svc.formats.xlsx_book import Book, Sheet, is_true, unescape, whole_number
from extractor_svc.formats.xlsx_formulas import column_number, shift
from extractor_svc.formats.xlsx_grid import LAST_COLUMN, LAST_ROW, REFERENCE, Box, Budget, Grid, apply_merges, box_of
from extractor_svc.formats.xlsx_number_formats import NumberFormat
from extractor_svc.formats.xlsx_values import bool_value, error_value, iso_value, number_value, string_value
from extractor_svc.ooxml import PartTarget, without_namespace
from extractor_svc.values import EMPTY, Value

_PRINTED: Final = ("oddHeader", "oddFooter", "evenHeader", "evenFooter", "firstHeader", "firstFooter")
_PRINT_CODE: Final = re.compile(r'&(?:"[^"]*"|[0-9]+|K[0-9A-Fa-f]{6}|.)')
_ROWS_A_REPORT: Final = 5_000
_CACHED_VALUES: Final = 100_000


def _no_report() -> None:
    """Takes no note of progress."""


def read_grid(book: Book, sheet: Sheet, budget: Budget, tick: Callable[[], None] = _no_report) -> Grid:
    """Reads the cells of a sheet; the dimension it states is not looked at. `tick` is called now and then.

    Raises:
        Malformed: the sheet's part is not sound.
        TooManyRows, OutputLimit: the budget does not suffice.
    """
    target = _Cells(book, sheet.part, budget, tick)
    book.package.feed(sheet.part, target)
    grid = target.sorted_grid()
    apply_merges(grid, target.merged)
    return grid


class _Cells(PartTarget):
    """Builds the grid from the elements of a sheet as they come."""

    def __init__(self, book: Book, part: str, budget: Budget, tick: Callable[[], None]) -> None:
        super().__init__(part)
        self.grid = Grid()
        self.merged: list[Box] = []
        self._book = book
        self._budget = budget
        self._tick = tick
        self._row = 0
        self._row_digits = "0"
        self._column = 0
        self._columns: dict[str, int] = {}
        self._unsorted: set[int] = set()
        self._shared: dict[str, tuple[str, int, int]] = {}
        self._values: dict[tuple[str, str, str], Value] = {}
        self._in_row = False
        self._cell: tuple[str, str, str] | None = None
        self._stored: str | None = None
        self._formula: str | None = None
        self._shared_group = ""
        self._in_inline = False
        self._in_reading_aid = False
        self._text: list[str] | None = None
        self._begins: dict[str, Callable[[Mapping[str, str]], None]] = {
            "row": self._begin_row,
            "c": self._begin_cell,
            "v": self._begin_value,
            "f": self._begin_formula,
            "is": self._begin_inline,
            "t": self._begin_text,
            "rPh": self._begin_reading_aid,
            "col": self._begin_column,
            "mergeCell": self._begin_merge,
            **dict.fromkeys(_PRINTED, self._begin_printed),
        }
        self._finishes: dict[str, Callable[[], None]] = {
            "row": self._finish_row,
            "c": self._finish_cell,
            "v": self._finish_value,
            "f": self._finish_formula,
            "is": self._finish_inline,
            "t": self._finish_text,
            "rPh": self._finish_reading_aid,
            **dict.fromkeys(_PRINTED, self._finish_printed),
        }
        self._begin: dict[str, Callable[[Mapping[str, str]], None]] = {}
        self._finish: dict[str, Callable[[], None]] = {}

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Passes an element on to what is done when one of its name begins."""
        try:
            begin = self._begin[tag]
        except KeyError:
            begin = self._begin[tag] = self._begins.get(without_namespace(tag), _pass_by)
        begin(attributes)

    def data(self, text: str) -> None:
        """Keeps text where it is asked for."""
        if self._text is not None:
            self._text.append(text)

    def end(self, tag: str) -> None:
        """Passes an element on to what is done when one of its name ends."""
        try:
            finish = self._finish[tag]
        except KeyError:
            finish = self._finish[tag] = self._finishes.get(without_namespace(tag), _leave)
        finish()

    def _begin_row(self, attributes: Mapping[str, str]) -> None:
        """Notes the row that begins, which stands below the one before where it states no number."""
        self._in_row = True
        self._row = whole_number(attributes.get("r")) or self._row + 1
        self._row_digits = str(self._row)
        self._column = 0
        if self._row > LAST_ROW:
            raise Malformed("a sheet has a row past the last one there can be")
        if is_true(attributes.get("hidden")):
            self.grid.hidden_rows.add(self._row)
        if self._row % _ROWS_A_REPORT == 0:
            self._tick()

    def _finish_row(self) -> None:
        self._in_row = False

    def _begin_cell(self, attributes: Mapping[str, str]) -> None:
        if self._in_row:
            self._cell = (attributes.get("r", ""), attributes.get("t", "n"), attributes.get("s", ""))
            self._stored = self._formula = None

    def _begin_value(self, _: Mapping[str, str]) -> None:
        if self._cell is not None:
            self._text = []

    def _finish_value(self) -> None:
        if self._cell is not None:
            self._stored = self._taken()

    def _begin_formula(self, attributes: Mapping[str, str]) -> None:
        if self._cell is not None:
            self._shared_group = attributes.get("si", "") if attributes.get("t") == "shared" else ""
            self._text = []

    def _finish_formula(self) -> None:
        if self._cell is not None:
            self._formula = unescape(self._taken())

    def _begin_inline(self, _: Mapping[str, str]) -> None:
        self._in_inline = self._cell is not None
        self._stored = ""

    def _finish_inline(self) -> None:
        self._in_inline = False

    def _begin_text(self, _: Mapping[str, str]) -> None:
        if self._in_inline and not self._in_reading_aid:
            self._text = []

    def _finish_text(self) -> None:
        if self._in_inline and not self._in_reading_aid:
            self._stored = (self._stored or "") + self._taken()

    def _begin_reading_aid(self, _: Mapping[str, str]) -> None:
        self._in_reading_aid = True

    def _finish_reading_aid(self) -> None:
        self._in_reading_aid = False

    def _begin_column(self, attributes: Mapping[str, str]) -> None:
        if is_true(attributes.get("hidden")):
            first, last = whole_number(attributes.get("min")), whole_number(attributes.get("max"))
            self.grid.hidden_columns.append((first or 1, last or first or 1))

    def _begin_merge(self, attributes: Mapping[str, str]) -> None:
        box = box_of(attributes.get("ref", ""))
        if box is not None:
            self.merged.append(box)

    def _begin_printed(self, _: Mapping[str, str]) -> None:
        self._text = []

    def _finish_printed(self) -> None:
        self.grid.printed_words += count_words(_PRINT_CODE.sub(" ", self._taken()))

    def sorted_grid(self) -> Grid:
        """The grid with its rows, and the cells of each, in ascending order."""
        rows = self.grid.rows
        for row in self._unsorted:
            rows[row] = dict(sorted(rows[row].items()))
        self.grid.rows = {row: rows[row] for row in sorted(rows)}
        return self.grid

    def _taken(self) -> str:
        text = "".join(self._text or ())
        self._text = None
        return text

    def _finish_cell(self) -> None:
        if self._cell is None:
            return
        reference, kind, style = self._cell
        self._cell = None
        before = self._column
        row, column = self._place(reference)
        value = self._value(kind, style, row=row, column=column)
        if value is EMPTY:
            return
        self._budget.spend(value.text)
        cells = self.grid.rows.get(row)
        if cells is None:
            cells = self.grid.rows[row] = {}
        cells[column] = value
        if column <= before or row != self._row:
            self._unsorted.add(row)

    def _place(self, reference: str) -> tuple[int, int]:
        """Row and column of a cell by its reference, else right of the cell before it in its row."""
        letters = reference.removesuffix(self._row_digits)
        column = self._columns.get(letters) if letters != reference else None
        if column is not None:
            self._column = column
            return self._row, column
        match = REFERENCE.fullmatch(reference)
        row, column = (int(match[2]), column_number(match[1])) if match else (self._row, self._column + 1)
        if not (1 <= row <= LAST_ROW and column <= LAST_COLUMN):
            raise Malformed("a sheet has a cell past the last one there can be")
        if match and row == self._row:
            self._columns[match[1]] = column
        self._column = column
        return row, column

    def _value(self, kind: str, style: str, *, row: int, column: int) -> Value:
        stored = self._stored
        if self._formula is None:
            return EMPTY if stored is None else self._meaning(kind, style, stored)
        formula = self._formula_at(self._formula, row=row, column=column)
        if formula and (stored is None or (not stored and kind != "str")):
            self.grid.uncalculated += 1
            return Value(number_format=self._book.format_of(style).code, formula=formula, cached=False)
        return EMPTY if stored is None else replace(self._meaning(kind, style, stored), formula=formula)

    def _meaning(self, kind: str, style: str, stored: str) -> Value:
        key = (kind, style, stored)
        value = self._values.get(key)
        if value is None:
            if len(self._values) >= _CACHED_VALUES:
                self._values.clear()
            value = self._values[key] = _meaning(self._book, kind, look=self._book.format_of(style), stored=stored)
        return value

    def _formula_at(self, text: str, *, row: int, column: int) -> str:
        """A formula as written, or as the shared one it repeats reads at this cell."""
        group = self._shared_group
        if group and text:
            self._shared[group] = (text, row, column)
        if text or group not in self._shared:
            return text
        first, first_row, first_column = self._shared[group]
        return shift(first, row - first_row, column - first_column)


def _pass_by(_: Mapping[str, str]) -> None:
    """Does nothing at the start of an element that is not read."""


def _leave() -> None:
    """Does nothing at its end."""


def _meaning(book: Book, kind: str, *, look: NumberFormat, stored: str) -> Value:
    match kind:
        case "s":
            index = whole_number(stored)
            if index is None or index >= len(book.strings):
                return Value(number_format=look.code, error="text is missing in the file")
            return string_value(book.strings[index], look)
        case "str" | "inlineStr":
            return string_value(unescape(stored), look)
        case "b":
            return bool_value(stored, look)
        case "e":
            return error_value(stored, look)
        case "d":
            return iso_value(stored, look)
    return number_value(stored, look, from_1904=book.from_1904) if stored.strip() else EMPTY
