"""One sheet's cells, read as a stream: values, merged ranges, hidden rows, and the parts that hang on the sheet."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from extractor_svc.blocks import count_words
from extractor_svc.errors import Malformed, OutputLimit, TooManyRows
from extractor_svc.formats.xlsx_book import Book, Sheet, forget, is_true, rich_text, unescape, whole_number
from extractor_svc.formats.xlsx_formulas import column_number, shift
from extractor_svc.formats.xlsx_number_formats import NumberFormat
from extractor_svc.formats.xlsx_values import bool_value, error_value, iso_value, number_value, string_value
from extractor_svc.limits import Limits
from extractor_svc.ooxml import Element, local_name
from extractor_svc.values import EMPTY, Value

LAST_ROW: Final = 1_048_576
LAST_COLUMN: Final = 16_384
_REFERENCE: Final = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})")
_PRINTED: Final = ("oddHeader", "oddFooter", "evenHeader", "evenFooter", "firstHeader", "firstFooter")
_PRINT_CODE: Final = re.compile(r'&(?:"[^"]*"|[0-9]+|K[0-9A-Fa-f]{6}|.)')
_READ: Final = ("c", "row", "col", "mergeCell", *_PRINTED)
_CELLS_A_REPORT: Final = 50_000
_MERGE_VISITS: Final = 4 * LAST_ROW
_CACHED_VALUES: Final = 100_000


@dataclass(frozen=True, slots=True, order=True)
class Box:
    """A range of cells, from 1, both ends included."""

    first_row: int
    last_row: int
    first_column: int
    last_column: int

    def holds(self, row: int, column: int) -> bool:
        """Whether a cell lies in the range."""
        return self.first_row <= row <= self.last_row and self.first_column <= column <= self.last_column

    def touches(self, other: Box) -> bool:
        """Whether the two ranges have a cell in common."""
        return (
            self.first_row <= other.last_row
            and other.first_row <= self.last_row
            and self.first_column <= other.last_column
            and other.first_column <= self.last_column
        )


@dataclass(slots=True)
class Grid:
    """The cells of a sheet that hold or show something, by row and column, and how they are laid out.

    `merges` are the merged ranges by their upper left cell, those with an empty one left out. Words of cells that a merge
    covers, and of headers and footers that only a printout shows, are counted and not kept.
    """

    rows: dict[int, dict[int, Value]] = field(default_factory=dict)
    merges: dict[tuple[int, int], Box] = field(default_factory=dict)
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: list[tuple[int, int]] = field(default_factory=list)
    uncalculated: int = 0
    covered_words: int = 0
    printed_words: int = 0

    def box(self) -> Box | None:
        """The range that holds every cell; None where there is none."""
        if not self.rows:
            return None
        columns = [column for cells in self.rows.values() for column in (min(cells), max(cells))]
        return Box(min(self.rows), max(self.rows), min(columns), max(columns))

    def value(self, row: int, column: int) -> Value:
        """A cell's value; the empty one where it holds nothing."""
        return self.rows.get(row, {}).get(column, EMPTY)

    def rows_in(self, box: Box) -> list[int]:
        """Rows of the range that have a cell anywhere on the sheet, ascending."""
        if box.last_row - box.first_row < len(self.rows):
            return [row for row in range(box.first_row, box.last_row + 1) if row in self.rows]
        return sorted(row for row in self.rows if box.first_row <= row <= box.last_row)


@dataclass(slots=True)
class Budget:
    """What all sheets of a workbook may still take."""

    cells: int
    chars: int

    def spend(self, text: str) -> None:
        """Takes one cell and its text.

        Raises:
            TooManyRows: no cell is left.
            OutputLimit: no character is left.
        """
        self.cells -= 1
        self.chars -= len(text)
        if self.cells < 0:
            raise TooManyRows("the workbook has more cells than are read; split it")
        if self.chars < 0:
            raise OutputLimit("the workbook's cells show more text than is read; split it")


def budget_of(limits: Limits) -> Budget:
    """The budget that the limits set for one workbook."""
    return Budget(limits.max_cells, limits.max_text_chars)


def box_of(reference: str) -> Box | None:
    """The range that a reference such as `A1` or `$B$2:D9` names; None where it names none."""
    ends = [_REFERENCE.fullmatch(part) for part in reference.strip().split(":")]
    if not ends or len(ends) > 2 or not all(ends):
        return None
    cells = [(int(end[2]), column_number(end[1])) for end in ends if end]
    rows, columns = sorted(row for row, _ in cells), sorted(column for _, column in cells)
    if rows[0] < 1 or rows[-1] > LAST_ROW or columns[-1] > LAST_COLUMN:
        return None
    return Box(rows[0], rows[-1], columns[0], columns[-1])


def _no_report() -> None:
    """Takes no note of progress."""


def read_grid(book: Book, sheet: Sheet, budget: Budget, tick: Callable[[], None] = _no_report) -> Grid:
    """Reads the cells of a sheet; the dimension it states is not looked at. `tick` is called now and then.

    Raises:
        Malformed: the sheet's part is not sound.
        TooManyRows, OutputLimit: the budget does not suffice.
    """
    reader = _Reader(book, budget)
    for count, element in enumerate(book.package.stream(sheet.part, _READ)):
        reader.take(element)
        if count % _CELLS_A_REPORT == 0:
            tick()
    grid = reader.grid
    grid.rows = {row: grid.rows[row] for row in sorted(grid.rows)}
    _apply_merges(grid, reader.merged)
    return grid


class _Reader:
    """Takes a sheet's elements as they end."""

    def __init__(self, book: Book, budget: Budget) -> None:
        self.grid = Grid()
        self.merged: list[Box] = []
        self._book = book
        self._budget = budget
        self._row_element: Element = None
        self._row = 0
        self._column = 0
        self._shared: dict[str, tuple[str, int, int]] = {}
        self._values: dict[tuple[str, str, str], Value] = {}

    def take(self, element: Element) -> None:
        match local_name(element):
            case "c":
                self._cell(element)
            case "row":
                self._enter(element)
                if is_true(element.get("hidden")):
                    self.grid.hidden_rows.add(self._row)
                forget(element)
            case "col" if is_true(element.get("hidden")):
                self.grid.hidden_columns.append((whole_number(element.get("min")) or 1, whole_number(element.get("max")) or 1))
            case "mergeCell" if box := box_of(element.get("ref", "")):
                self.merged.append(box)
            case name if name in _PRINTED:
                self.grid.printed_words += count_words(_PRINT_CODE.sub(" ", element.text or ""))

    def _enter(self, row: Element) -> None:
        """Notes the row that is being read, which stands below the one before where it states no number."""
        if row is self._row_element:
            return
        self._row_element = row
        self._row = whole_number(row.get("r")) or self._row + 1
        self._column = 0
        if self._row > LAST_ROW:
            raise Malformed("a sheet has a row past the last one there can be")

    def _cell(self, cell: Element) -> None:
        row_element = cell.getparent()
        if row_element is None or local_name(row_element) != "row":
            return
        self._enter(row_element)
        row, column = self._place(cell)
        value = self._value(cell, row, column)
        cell.clear()
        if value is not EMPTY:
            self._budget.spend(value.text)
            self.grid.rows.setdefault(row, {})[column] = value

    def _place(self, cell: Element) -> tuple[int, int]:
        match = _REFERENCE.fullmatch(cell.get("r", ""))
        row, column = (int(match[2]), column_number(match[1])) if match else (self._row, self._column + 1)
        if not (1 <= row <= LAST_ROW and column <= LAST_COLUMN):
            raise Malformed("a sheet has a cell past the last one there can be")
        self._column = column
        return row, column

    def _value(self, cell: Element, row: int, column: int) -> Value:
        kind, style = cell.get("t", "n"), cell.get("s", "")
        formula_element = stored = None
        for child in cell:
            match local_name(child):
                case "v":
                    stored = child.text or ""
                case "f":
                    formula_element = child
                case "is" if kind == "inlineStr":
                    stored = rich_text(child)
        formula = "" if formula_element is None else self._formula(formula_element, row, column)
        if formula and (stored is None or (not stored and kind != "str")):
            self.grid.uncalculated += 1
            return Value(number_format=self._book.format_of(style).code, formula=formula, cached=False)
        if stored is None:
            return EMPTY
        value = self._stored(kind, style, stored)
        return replace(value, formula=formula) if formula else value

    def _stored(self, kind: str, style: str, stored: str) -> Value:
        key = (kind, style, stored)
        if key not in self._values:
            if len(self._values) >= _CACHED_VALUES:
                self._values.clear()
            self._values[key] = self._meaning(kind, self._book.format_of(style), stored)
        return self._values[key]

    def _meaning(self, kind: str, look: NumberFormat, stored: str) -> Value:
        match kind:
            case "s":
                index = whole_number(stored)
                if index is None or index >= len(self._book.strings):
                    return Value(text="", number_format=look.code, error="text is missing in the file")
                return string_value(self._book.strings[index], look)
            case "str":
                return string_value(unescape(stored), look)
            case "inlineStr":
                return string_value(stored, look)
            case "b":
                return bool_value(stored, look)
            case "e":
                return error_value(stored, look)
            case "d":
                return iso_value(stored, look)
        return number_value(stored, look, from_1904=self._book.from_1904) if stored.strip() else EMPTY

    def _formula(self, element: Element, row: int, column: int) -> str:
        text = unescape(element.text or "")
        group = element.get("si")
        if element.get("t") != "shared" or group is None:
            return text
        if text:
            self._shared[group] = (text, row, column)
            return text
        if group not in self._shared:
            return ""
        first, first_row, first_column = self._shared[group]
        return shift(first, row - first_row, column - first_column)


def _apply_merges(grid: Grid, merged: list[Box]) -> None:
    """Keeps of each merged range the upper left cell alone, which is all that a sheet shows of it.

    Raises:
        TooManyRows: ranges overlap so that applying them takes longer than any workbook needs.
    """
    rows = list(grid.rows)
    visits = _MERGE_VISITS + 2 * sum(len(cells) for cells in grid.rows.values())
    for box in merged:
        if box.first_row == box.last_row and box.first_column == box.last_column:
            continue
        inside = rows[bisect_left(rows, box.first_row) : bisect_right(rows, box.last_row)]
        for row in inside:
            cells = grid.rows[row]
            visits -= 1 + min(len(cells), box.last_column - box.first_column + 1)
            if visits < 0:
                raise TooManyRows("the merged ranges of a sheet overlap")
            _cover(grid, box, row)
        if grid.value(box.first_row, box.first_column) is not EMPTY:
            grid.merges[box.first_row, box.first_column] = box
    grid.rows = {row: cells for row, cells in grid.rows.items() if cells}


def _cover(grid: Grid, box: Box, row: int) -> None:
    cells = grid.rows[row]
    if len(cells) < box.last_column - box.first_column + 1:
        covered = [column for column in cells if box.holds(row, column)]
    else:
        covered = [column for column in range(box.first_column, box.last_column + 1) if column in cells]
    for column in covered:
        if (row, column) != (box.first_row, box.first_column):
            grid.covered_words += count_words(cells.pop(column).text)
