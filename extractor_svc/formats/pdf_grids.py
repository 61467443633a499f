"""A table on one page: its grid of cells and the lines of text in each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from extractor_svc.formats.pdf_geometry import Box, Turn
from extractor_svc.formats.pdf_lines import Line
from extractor_svc.formats.pdf_text import TextLine, Vocabulary, join_lines


@dataclass(slots=True)
class GridCell:
    """A cell: its first row and column from 0, the rows and columns it covers, and its lines from the top."""

    row: int
    column: int
    row_span: int
    column_span: int
    lines: tuple[Line, ...]

    def text(self, vocabulary: Vocabulary) -> str:
        """The cell's running text."""
        if len(self.lines) == 1 and self.lines[0].text.isascii():
            return self.lines[0].text
        return join_lines([TextLine(line.text, vocabulary) for line in self.lines])

    @property
    def bold(self) -> bool:
        """Whether the cell has text and all of it is bold."""
        return bool(self.lines) and all(line.bold for line in self.lines)


@dataclass(frozen=True, slots=True)
class Grid:
    """A table's cells, row by row, on a turned page; `xs` and `ys` are its column and row borders.

    A table without lines has `bands`: for every row the box of its text on the displayed page; `head` is how many of its rows
    are surely header.
    """

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    cells: tuple[GridCell, ...]
    turn: Turn
    vocabulary: Vocabulary
    bands: tuple[Box, ...] = ()
    head: int = 0
    _texts: dict[tuple[int, int], str] = field(default_factory=dict, init=False, repr=False, compare=False)
    _cover: list[list[GridCell]] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def box(self) -> Box:
        """The grid's outline on the turned page."""
        return Box(self.xs[0], self.ys[0], self.xs[-1], self.ys[-1])

    @property
    def baseline(self) -> float:
        """Where the grid stands among lines: its upper side."""
        return self.ys[0]

    @property
    def row_count(self) -> int:
        """How many rows it has."""
        return len(self.ys) - 1

    @property
    def column_count(self) -> int:
        """How many columns it has."""
        return len(self.xs) - 1

    def extent(self, column: int) -> tuple[float, float]:
        """From where to where the texts reach that stand in a column alone; its borders where there are none."""
        boxes = [line.box for cell in self.cells if cell.column == column and cell.column_span == 1 for line in cell.lines]
        if not boxes:
            return self.xs[column], self.xs[column + 1]
        return min(box.x0 for box in boxes), max(box.x1 for box in boxes)

    def boxes_of(self, first: int, end: int) -> tuple[Box, ...]:
        """Where the rows from `first` up to, not including, `end` lie on the displayed page; without lines a box for each."""
        return self.bands[first:end] if self.bands else (self._band(first, end),)

    def _band(self, first: int, end: int) -> Box:
        return self.turn.displayed(Box(self.xs[0], self.ys[first], self.xs[-1], self.ys[end]))

    def rows_in(self, box: Box) -> range:
        """The rows whose middle lies in a box of the displayed page."""
        held = self.turn.upright(box)
        inside = [row for row in range(self.row_count) if held.y0 <= (self.ys[row] + self.ys[row + 1]) / 2 <= held.y1]
        return range(inside[0], inside[-1] + 1) if inside else range(0)

    def cover(self) -> list[list[GridCell]]:
        """For every place of the grid the cell that covers it."""
        if not self._cover:
            by_place = {
                (row, column): cell
                for cell in self.cells
                for row in range(cell.row, cell.row + cell.row_span)
                for column in range(cell.column, cell.column + cell.column_span)
            }
            columns = range(self.column_count)
            self._cover.extend([by_place[row, column] for column in columns] for row in range(self.row_count))
        return self._cover

    def text_of(self, cell: GridCell) -> str:
        """The running text of one of its cells."""
        place = cell.row, cell.column
        if place not in self._texts:
            self._texts[place] = cell.text(self.vocabulary)
        return self._texts[place]

    def text_of_rows(self, rows: range) -> str:
        """The rows' text, one a line, the cells that start in a row joined by tabs."""
        by_row: dict[int, list[str]] = {row: [] for row in rows}
        for cell in self.cells:
            if cell.row in by_row:
                by_row[cell.row].append(self.text_of(cell))
        return "\n".join("\t".join(texts) for texts in by_row.values())


def without_empty_strips(grid: Grid, *, narrowest: float) -> Grid:
    """The grid less the rows and columns that hold no text and are narrower than a line of text."""
    rows = _kept(
        grid.ys, {row for cell in grid.cells if cell.lines for row in range(cell.row, cell.row + cell.row_span)}, narrowest
    )
    columns = _kept(
        grid.xs, {at for cell in grid.cells if cell.lines for at in range(cell.column, cell.column + cell.column_span)}, narrowest
    )
    if len(rows) == grid.row_count and len(columns) == grid.column_count:
        return grid
    cells = []
    for cell in grid.cells:
        row_span = sum(cell.row <= row < cell.row + cell.row_span for row in rows)
        column_span = sum(cell.column <= at < cell.column + cell.column_span for at in columns)
        if row_span and column_span:
            row = sum(kept < cell.row for kept in rows)
            column = sum(kept < cell.column for kept in columns)
            cells.append(replace(cell, row=row, column=column, row_span=row_span, column_span=column_span))
    return replace(grid, xs=_borders(grid.xs, columns), ys=_borders(grid.ys, rows), cells=tuple(cells))


def _kept(borders: Sequence[float], written: set[int], narrowest: float) -> list[int]:
    return [i for i in range(len(borders) - 1) if i in written or borders[i + 1] - borders[i] >= narrowest]


def _borders(borders: Sequence[float], kept: Iterable[int]) -> tuple[float, ...]:
    """The borders of the strips that are kept; a dropped strip goes to the one before it, or to the first."""
    starts = [borders[i] for i in kept]
    return (borders[0], *starts[1:], borders[-1])
