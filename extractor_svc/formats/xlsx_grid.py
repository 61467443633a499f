"""One sheet's cells as they lie: values by row and column, merged ranges, hidden rows."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import Final

from extractor_svc.blocks import count_words
from extractor_svc.errors import OutputLimit, TooManyRows
from extractor_svc.formats.xlsx_formulas import column_number
from extractor_svc.limits import Limits
from extractor_svc.values import EMPTY, Value

LAST_ROW: Final = 1_048_576
LAST_COLUMN: Final = 16_384
REFERENCE: Final = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})")
_MERGE_VISITS: Final = 4 * LAST_ROW


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

    Rows, and columns in each, ascend. `merges` are the merged ranges by their upper left cell, those with an empty one left
    out. Words of cells that a merge covers, and of headers and footers that only a printout shows, are counted, not kept.
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
    ends = [REFERENCE.fullmatch(part) for part in reference.strip().split(":")]
    if not ends or len(ends) > 2 or not all(ends):
        return None
    cells = [(int(end[2]), column_number(end[1])) for end in ends if end]
    rows, columns = sorted(row for row, _ in cells), sorted(column for _, column in cells)
    if rows[0] < 1 or rows[-1] > LAST_ROW or columns[-1] > LAST_COLUMN:
        return None
    return Box(rows[0], rows[-1], columns[0], columns[-1])


def apply_merges(grid: Grid, merged: list[Box]) -> None:
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
