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
_RUN_OVER: Final = 0.25
"""Share of the texts of a box of rows that may run on over a border, where nothing stands in their way."""


def with_undrawn_columns(grid: Grid) -> Grid:
    """Parts cells over several columns whose text stands column by column.

    Every piece of text must lie inside one column. Two cells over the same columns, or one with text in three, are enough.
    """
    parted = {i: parts for i, cell in enumerate(grid.cells) if cell.column_span > 1 and (parts := _by_column(cell, grid.xs))}
    if not parted:
        return grid
    alike = Counter((grid.cells[i].column, grid.cells[i].column_span) for i in parted)
    cells: list[GridCell] = []
    for i, cell in enumerate(grid.cells):
        parts = parted.get(i, [])
        sure = alike[cell.column, cell.column_span] > 1 or sum(bool(part.lines) for part in parts) > 2
        cells += parts if parts and sure else [cell]
    return replace(grid, cells=tuple(cells))


def _by_column(cell: GridCell, xs: Sequence[float]) -> list[GridCell]:
    """The cell's text by column; empty where it stands in one column only or too much of it runs over a border."""
    by_column: dict[int, list[Line]] = {}
    pieces = over = 0
    for line in cell.lines:
        end = float("inf")
        for stroke in reversed(line.strokes):
            piece = line_of([stroke], quarters=line.quarters)
            inside = bisect_right(xs, piece.box.centre[0]) - 1
            column = bisect_right(xs, piece.box.x0 + _OVERHANG) - 1
            fits = xs[inside] - _OVERHANG <= piece.box.x0 and piece.box.x1 <= xs[inside + 1] + _OVERHANG
            if not fits and piece.box.x1 > end:
                return []
            pieces, over, end = pieces + 1, over + (not fits), piece.box.x0
            by_column.setdefault(inside if fits else column, []).insert(0, piece)
    if len(by_column) < 2 or over > (_RUN_OVER * pieces if len(by_column) > 2 else 0):
        return []
    columns = range(cell.column, cell.column + cell.column_span)
    parts = ((column, sorted(by_column.get(column, ()), key=lambda piece: piece.baseline)) for column in columns)
    return [replace(cell, column=column, column_span=1, lines=tuple(lines)) for column, lines in parts]


def with_undrawn_rows(grid: Grid) -> Grid:
    """Parts a drawn row that holds several lines of figures into one row a line."""
    ys: list[float] = [grid.ys[0]]
    cells: list[GridCell] = []
    moved = [0] * (grid.row_count + 1)
    by_row: list[list[GridCell]] = [[] for _ in range(grid.row_count)]
    for cell in grid.cells:
        by_row[cell.row].append(cell)
    for row, here in enumerate(by_row):
        moved[row] = len(ys) - 1
        alone = sum(cell.column_span for cell in here) == grid.column_count and all(cell.row_span == 1 for cell in here)
        borders = _borders_between_lines(here) if alone else []
        if borders:
            cells += _parted(here, [*borders, grid.ys[row + 1]], first_row=len(ys) - 1)
        else:
            cells += here if row == len(ys) - 1 else [replace(cell, row=len(ys) - 1) for cell in here]
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
    """Where to part a drawn row: between its lines, if there are three or more and they are rows of figures.

    A line of one text, not in the first column, goes on with the row above it.
    """
    if max(len(cell.lines) for cell in cells) < 3:
        return []
    rows = rows_of(line for cell in cells for line in cell.lines)
    if len(rows) < 3 or len({line.quarters for row in rows for line in row}) > 1:
        return []
    written = sum(bool(cell.lines) for cell in cells)
    first = next(cell.lines for cell in cells if cell.lines)
    starts = [i for i, row in enumerate(rows) if i == 0 or len(row) > 1 or row[0] in first]
    full = sum(len(rows[i]) >= max(2, written / 2) for i in starts)
    tops = {line.baseline for i in starts for line in rows[i]}
    figures = any(_are_figures([line.text for line in cell.lines if line.baseline in tops], len(starts)) for cell in cells[1:])
    if not figures or full < 0.7 * len(starts) or len(starts) < 3:
        return []
    return [(max(line.box.y1 for line in rows[i - 1]) + min(line.box.y0 for line in rows[i])) / 2 for i in starts[1:]]


def _are_figures(texts: Sequence[str], rows: int) -> bool:
    """Whether a column's texts, all but one, are figures, and stand in most of the rows."""
    return len(texts) >= 0.6 * rows and sum(map(_is_figure, texts)) >= len(texts) - 1


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
