"""Tells a table without lines from other text by its rows: columns that hold, and figures in one of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeAlias

from extractor_svc.formats.pdf_geometry import Turn, around, span_overlap
from extractor_svc.formats.pdf_grids import Grid, GridCell
from extractor_svc.formats.pdf_lines import Line
from extractor_svc.formats.pdf_text import Vocabulary
from extractor_svc.text_values import reads_as_number_or_date

Ranges: TypeAlias = Sequence[tuple[float, float]]

_FEWEST_ROWS: Final = 3
_FULL: Final = 0.6
"""Share of the usual number of texts a row must have to count for the columns."""
_NEAR: Final = 2.5
"""Sizes up to which a row stands right above another."""
_YEAR: Final = re.compile(r"(?:19|20)\d\d(?:\s?[/–-]\s?\d{2,4})?")
_FILLED: Final = 0.6
"""Share of the places of rows and columns that hold text."""
_FIGURES: Final = 0.7
"""Share of a column's texts, its first ones aside, that are figures."""
_DOUBLE: Final = 0.1
"""Share of rows that may have two texts in one column."""
_WORDS: Final = 6.0
"""Mean words a text up to which it can be a cell rather than prose."""
_NOTHING: Final = frozenset({"-", "–", "—", "*", ".", "..", "...", "n.a.", "n/a", "N/A"})
_MOST_HEADER_ROWS: Final = 4


@dataclass(frozen=True, slots=True)
class Aligned:
    """Rows of a table without lines: for each, the texts of its columns; an empty place has none."""

    rows: tuple[tuple[tuple[Line, ...], ...], ...]
    columns: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Found:
    """A table among rows, and which of them it takes up: from `start` up to, not including, `end`."""

    start: int
    end: int
    table: Aligned


def aligned(rows: Sequence[Sequence[Line]], *, gutter: float) -> Found | None:
    """The table that the fullest of some rows make; None where the evidence is not strong.

    Strong is: three rows with about the same number of texts, the same ranges of x free of text between them, most places
    filled, hardly two texts in one place, short texts, and a column, not the first, that is figures. Rows of words right above
    belong to it as its header.
    """
    full = _full_rows(rows)
    if len(full) < _FEWEST_ROWS:
        return None
    columns = _covered([line for i in full for line in rows[i]], gutter)
    start, end = _longest_run(rows, full, columns, gutter=gutter)
    core = [_placed(row, columns) for row in rows[start:end]]
    if len(columns) < 2 or end - start < _FEWEST_ROWS or not _is_table(core):
        return None
    top = start
    while top > 0 and start - top < _MOST_HEADER_ROWS and _is_header(rows[top - 1], below=rows[top]):
        top -= 1
    header = [_placed(row, columns) for row in rows[top:start]]
    return Found(top, end, Aligned((*header, *core), tuple(columns)))


def grid_of(table: Aligned, turn: Turn, vocabulary: Vocabulary) -> Grid:
    """The table as a grid, its borders in the middle of the gaps between its texts."""
    cells = tuple(GridCell(r, c, 1, 1, place) for r, row in enumerate(table.rows) for c, place in enumerate(row))
    boxes = [around(line.box for place in row for line in place) for row in table.rows]
    ys = [boxes[0].y0, *((above.y1 + below.y0) / 2 for above, below in pairwise(boxes)), boxes[-1].y1]
    columns = table.columns
    xs = [columns[0][0], *((left[1] + right[0]) / 2 for left, right in pairwise(columns)), columns[-1][1]]
    return Grid(tuple(xs), tuple(ys), cells, turn, vocabulary, bands=tuple(turn.displayed(box) for box in boxes))


def _full_rows(rows: Sequence[Sequence[Line]]) -> list[int]:
    """The rows with nearly as many texts as most rows of several texts have."""
    counts = Counter(len(row) for row in rows if len(row) > 1)
    if not counts:
        return []
    usual = max(counts, key=lambda count: (counts[count], count))
    return [i for i, row in enumerate(rows) if len(row) >= max(2.0, _FULL * usual)]


def _longest_run(rows: Sequence[Sequence[Line]], full: Sequence[int], columns: Ranges, *, gutter: float) -> tuple[int, int]:
    """The longest run of rows, from a full one to a full one, that all leave the gaps between the columns free."""
    best = start = end = full[0]
    best_end = end
    for i in range(full[0], full[-1] + 1):
        fits = len(_closed(sorted((*columns, *_covered(rows[i], gutter))), gutter)) == len(columns)
        if not fits:
            start = end = i + 1
        elif i in full:
            start = i if start == end else start
            end = i + 1
        if end - start > best_end - best:
            best, best_end = start, end
    return best, best_end


def _is_table(core: Sequence[Sequence[Sequence[Line]]]) -> bool:
    texts = [line.text for row in core for place in row for line in place]
    filled = sum(bool(place) for row in core for place in row)
    double = sum(any(len(place) > 1 for place in row) for row in core)
    columns = len(core[0])
    if sum(len(text.split()) for text in texts) > _WORDS * len(texts):
        return False
    if filled < _FILLED * len(core) * columns or double > _DOUBLE * len(core):
        return False
    return any(_is_figures([place[0].text for row in core if (place := row[at])]) for at in range(1, columns))


def _is_header(row: Sequence[Line], *, below: Sequence[Line]) -> bool:
    """Whether a row of words stands right above another."""
    near = below[0].baseline - row[0].baseline <= _NEAR * row[0].size
    return near and len(row) > 1 and not any(_is_figure(line.text) and not _YEAR.fullmatch(line.text) for line in row)


def _placed(row: Sequence[Line], columns: Ranges) -> tuple[tuple[Line, ...], ...]:
    """The texts of a row by the column each shares most with."""
    places: list[list[Line]] = [[] for _ in columns]
    for line in row:
        shared = [span_overlap((line.box.x0, line.box.x1), column) for column in columns]
        places[shared.index(max(shared))].append(line)
    return tuple(map(tuple, places))


def _covered(lines: Sequence[Line], gutter: float) -> list[tuple[float, float]]:
    return _closed(sorted((line.box.x0, line.box.x1) for line in lines), gutter)


def _closed(ranges: Sequence[tuple[float, float]], gutter: float) -> list[tuple[float, float]]:
    """Ranges of x as one where less than a gutter lies between them."""
    out: list[tuple[float, float]] = []
    for x0, x1 in ranges:
        if out and x0 - out[-1][1] < gutter:
            out[-1] = (out[-1][0], max(out[-1][1], x1))
        else:
            out.append((x0, x1))
    return out


def _is_figures(texts: Sequence[str]) -> bool:
    """Whether a column's texts are figures below a header of a few rows."""
    first = next((i for i, text in enumerate(texts) if _is_figure(text)), len(texts))
    below = texts[first:]
    if first > _MOST_HEADER_ROWS or len(below) < _FEWEST_ROWS - 1:
        return False
    return sum(_is_figure(text) or text in _NOTHING for text in below) >= _FIGURES * len(below)


def _is_figure(text: str) -> bool:
    return reads_as_number_or_date(text.strip("*$ "))
