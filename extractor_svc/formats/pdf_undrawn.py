"""Parts the cells of a ruled table where its text shows rows or columns that no line does."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from extractor_svc.formats.pdf_grids import Grid, GridCell
from extractor_svc.formats.pdf_lines import Line, line_of, rows_of
from extractor_svc.text_values import reads_as_number_or_date

_FIGURE: Final = re.compile(r"[^\w]*\d[\d.,'’\s]*%?[^\w]*|[-–—.*]+|n\.?\s?a\.?", re.IGNORECASE)
_OVERHANG: Final = 2.0
"""Points by which a text may reach over a column's border and still stand in the column."""


def with_undrawn_columns(grid: Grid) -> Grid:
    """Parts cells over several columns whose text stands column by column.

    Every piece of text must lie inside one column. Two cells over the same columns, or one with text in three, are enough.
    """
    parted = {i: parts for i, cell in enumerate(grid.cells) if cell.column_span > 1 and (parts := _by_column(cell, grid.xs))}
    alike = Counter((grid.cells[i].column, grid.cells[i].column_span) for i in parted)
    cells: list[GridCell] = []
    for i, cell in enumerate(grid.cells):
        parts = parted.get(i, [])
        sure = alike[cell.column, cell.column_span] > 1 or sum(bool(part.lines) for part in parts) > 2
        cells += parts if parts and sure else [cell]
    return replace(grid, cells=tuple(cells))


def _by_column(cell: GridCell, xs: Sequence[float]) -> list[GridCell]:
    """The cell's text by column; empty where it stands in one column only or runs over a border."""
    by_column: dict[int, list[Line]] = {}
    for line in cell.lines:
        for stroke in line.strokes:
            piece = line_of([stroke], quarters=line.quarters)
            column = bisect_right(xs, piece.box.centre[0]) - 1
            if not xs[column] - _OVERHANG <= piece.box.x0 <= piece.box.x1 <= xs[column + 1] + _OVERHANG:
                return []
            by_column.setdefault(column, []).append(piece)
    if len(by_column) < 2:
        return []
    columns = range(cell.column, cell.column + cell.column_span)
    return [replace(cell, column=column, column_span=1, lines=tuple(by_column.get(column, ()))) for column in columns]


def with_undrawn_rows(grid: Grid) -> Grid:
    """Parts a drawn row that holds several lines of figures into one row a line."""
    ys: list[float] = [grid.ys[0]]
    cells: list[GridCell] = []
    moved = [0] * (grid.row_count + 1)
    for row in range(grid.row_count):
        moved[row] = len(ys) - 1
        here = [cell for cell in grid.cells if cell.row == row]
        alone = sum(cell.column_span for cell in here) == grid.column_count and all(cell.row_span == 1 for cell in here)
        borders = _borders_between_lines(here) if alone else []
        if borders:
            cells += _parted(here, [*borders, grid.ys[row + 1]], first_row=len(ys) - 1)
        else:
            cells += [replace(cell, row=len(ys) - 1) for cell in here]
        ys += [*borders, grid.ys[row + 1]]
    moved[grid.row_count] = len(ys) - 1
    if len(ys) == len(grid.ys):
        return grid
    spans = [
        replace(cell, row_span=moved[_original(moved, cell.row) + cell.row_span] - cell.row) if cell.row_span > 1 else cell
        for cell in cells
    ]
    return replace(grid, ys=tuple(ys), cells=tuple(sorted(spans, key=lambda cell: (cell.row, cell.column))))


def _original(moved: Sequence[int], row: int) -> int:
    return bisect_right(moved, row) - 1


def _borders_between_lines(cells: Sequence[GridCell]) -> list[float]:
    """Where to part a drawn row: between its lines, if there are three or more and they are rows of figures."""
    rows = rows_of(line for cell in cells for line in cell.lines)
    if len(rows) < 3 or len({line.quarters for row in rows for line in row}) > 1:
        return []
    written = sum(bool(cell.lines) for cell in cells)
    full = sum(len(row) >= max(2, written / 2) for row in rows)
    figures = any(
        len(cell.lines) >= 0.6 * len(rows) and sum(_is_figure(line.text) for line in cell.lines) >= len(cell.lines) - 1
        for cell in cells[1:]
    )
    if not figures or full < 0.7 * len(rows):
        return []
    bottoms = [max(line.box.y1 for line in row) for row in rows]
    tops = [min(line.box.y0 for line in row) for row in rows]
    return [(bottoms[i] + tops[i + 1]) / 2 for i in range(len(rows) - 1)]


def _is_figure(text: str) -> bool:
    return bool(_FIGURE.fullmatch(text)) or reads_as_number_or_date(text)


def _parted(cells: Sequence[GridCell], borders: Sequence[float], *, first_row: int) -> list[GridCell]:
    out = []
    for i, border in enumerate(borders):
        above = borders[i - 1] if i else float("-inf")
        for cell in cells:
            lines = tuple(line for line in cell.lines if above < line.box.centre[1] <= border)
            out.append(replace(cell, row=first_row + i, lines=lines))
    return out
