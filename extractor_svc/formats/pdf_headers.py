"""Tells the header rows of a table, and whether a table is one of records at all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from extractor_svc.formats.pdf_grids import Grid, GridCell
from extractor_svc.text_values import reads_as_number_or_date

_DEEPEST: Final = 4
_LONGEST_NAME: Final = 120
_FIGURES: Final = 0.6
"""Share of a column's cells that must be figures for its text header to stand out."""
_SPANNING: Final = 0.3
"""Share of data rows with a cell over several columns up to which a table is one of records."""
_LABELS: Final = 0.25
"""Share of cells that end with a colon from which on a table is a form."""
_NOTHING: Final = frozenset({"", "-", "–", "—", "n.a.", "n/a", "*"})
_YEAR: Final = re.compile(r"(?:19|20)\d\d(?:\s?[/–-]\s?\d{2,4})?")


def header_rows_of(grid: Grid) -> int:
    """How many of the first rows are the header; 0 where nothing says so, or the table is a form or a layout.

    A header is what its look or its kind sets apart: bold over plain, words over figures, years over a column of labels, or one
    full row of short, different texts over rows of the same shape. Cells over several rows or columns make it deeper.
    """
    if grid.column_count < 2 or grid.row_count < 2:
        return 0
    cover = grid.cover()
    texts = [[grid.text_of(cell).strip() for cell in row] for row in cover]
    depth = max(_depth(cover, texts), grid.head)
    if depth >= grid.row_count or _is_form(grid) or _is_irregular(cover[depth:]):
        return 0
    bold = _bold_rows(cover)
    if bold:
        return max(bold, depth) if max(bold, depth) < grid.row_count else 0
    names = [next((texts[row][at] for row in range(depth - 1, -1, -1) if texts[row][at]), "") for at in range(grid.column_count)]
    return depth if _stands_out(names, texts[depth:]) else 0


def names_of(grid: Grid, header_rows: int) -> list[str]:
    """The columns' names: the header's texts from the top, each once, without a title over all columns."""
    cover = grid.cover()
    names = []
    for at in range(grid.column_count):
        cells: list[GridCell] = []
        for row in range(header_rows):
            cell = cover[row][at]
            if cell not in cells and (cell.column_span < grid.column_count or header_rows == 1):
                cells.append(cell)
        names.append(" ".join(text for cell in cells if (text := grid.text_of(cell))))
    return names


def _depth(cover: Sequence[Sequence[GridCell]], texts: Sequence[Sequence[str]]) -> int:
    """How deep the first row's cells reach, and the rows of names below a cell that heads several columns."""
    depth, row = 1, 0
    while row < depth < min(_DEEPEST, len(cover)):
        for cell in cover[row]:
            reach = cell.row + cell.row_span if cell.row == 0 and cell.row_span < _DEEPEST else 0
            depth = max(depth, reach, row + 1 + _heads(cell, row, texts))
        row += 1
    return min(depth, _DEEPEST)


def _heads(cell: GridCell, row: int, texts: Sequence[Sequence[str]]) -> bool:
    """Whether a cell over several columns has names below it."""
    if cell.row != row or cell.column_span < 2 or not cell.lines or row + 1 >= len(texts):
        return False
    below = texts[row + 1][cell.column : cell.column + cell.column_span]
    return any(below) and not any(reads_as_number_or_date(text) and not _YEAR.fullmatch(text) for text in below)


def _bold_rows(cover: Sequence[Sequence[GridCell]]) -> int:
    """How many first rows are all bold, if the rows below are not."""
    bold = [_is_bold(row) for row in cover]
    first = next((i for i, is_bold in enumerate(bold) if not is_bold), len(bold))
    below = bold[first:]
    return first if 0 < first <= _DEEPEST and below and sum(below) * 2 < len(below) else 0


def _is_bold(row: Sequence[GridCell]) -> bool:
    written = [cell for cell in row if cell.lines]
    return bool(written) and len(written) * 2 >= len(row) and all(cell.bold for cell in written)


def _stands_out(names: Sequence[str], data: Sequence[Sequence[str]]) -> bool:
    """Whether the names differ in kind from the values below, or make a full row of short and different texts."""
    if any(len(name) > _LONGEST_NAME or name.endswith(":") for name in names):
        return False
    if sum(not name for name in names) * 2 > len(names):
        return False
    years = bool(names[1:]) and all(_YEAR.fullmatch(name) for name in names[1:])
    wordy = [not reads_as_number_or_date(name) and name not in _NOTHING for name in names]
    if years and not reads_as_number_or_date(names[0]):
        return True
    if any(wordy[at] and _is_figures([row[at] for row in data]) for at in range(len(names))):
        return all(wordy[at] or not names[at] or _YEAR.fullmatch(names[at]) for at in range(len(names)))
    return all(wordy[1:]) and (wordy[0] or not names[0]) and len(set(names)) == len(names)


def _is_figures(values: Sequence[str]) -> bool:
    written = [value for value in values if value not in _NOTHING]
    return bool(written) and sum(reads_as_number_or_date(value) for value in written) >= _FIGURES * len(written)


def _is_form(grid: Grid) -> bool:
    written = [cell for cell in grid.cells if cell.lines]
    labels = sum(cell.lines[-1].text.endswith(":") for cell in written)
    return labels > _LABELS * len(written)


def _is_irregular(cover: Sequence[Sequence[GridCell]]) -> bool:
    """Whether too many rows have cells over several columns for every column to hold one kind of value."""
    spanning = sum(any(cell.column_span > 1 for cell in row) for row in cover)
    return spanning > max(1.0, _SPANNING * len(cover))
