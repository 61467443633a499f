"""Puts the lines and tables of a page into reading order: columns one after the other, rows where there are none."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final, TypeAlias

from extractor_svc.formats.pdf_aligned import Aligned, aligned
from extractor_svc.formats.pdf_grids import Grid
from extractor_svc.formats.pdf_lines import Line, merged, rows_of

Item: TypeAlias = Line | Grid
PlacedItem: TypeAlias = Line | Grid | Aligned
Ranges: TypeAlias = list[tuple[float, float]]
"""Ranges of x, from the left, that do not meet."""

_GUTTER: Final = 6.0
"""Points; narrower gaps are those between words."""
_WORDS_OF_PROSE: Final = 2.5
_WORDS_OF_LONG_LINES: Final = 5.0
_SIGNS_OF_PROSE: Final = 8
_RUN_ON: Final = 0.3
"""Share of lines that go on inside a sentence, from which on a column is prose."""
_ALIGNED: Final = 0.6
"""Share of rows two columns must have in common to be rows of a table rather than columns of text."""
_ON_A_ROW: Final = 0.25
"""Sizes by which the baselines of texts on one row may differ."""
_OFF_A_ROW: Final = 0.1
"""Sizes by which the rows of a table may be off one another by more than usual."""
_DEEPEST: Final = 6
_UNCASED: Final = re.compile("[\u0590-\u0aff\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class Region:
    """A stretch of the page that is read from the top down: its rows as single lines, and its tables."""

    items: tuple[PlacedItem, ...]


def reading_order(lines: Sequence[Line], grids: Sequence[Grid] = ()) -> list[Region]:
    """The regions of one upright page in the order they are read."""
    return list(_read(lines, grids, depth=0)) if lines or grids else []


def _read(lines: Sequence[Line], grids: Sequence[Grid], *, depth: int) -> Iterator[Region]:
    plain: list[PlacedItem] = []
    for band in _bands(_rows(lines, grids)):
        columns = _columns(band) if depth < _DEEPEST else []
        if len(columns) < 2:
            plain += _plain_items(band)
            continue
        if plain:
            yield Region(tuple(plain))
            plain = []
        for column in columns:
            column_lines = [item for item in column if isinstance(item, Line)]
            column_grids = [item for item in column if isinstance(item, Grid)]
            yield from _read(column_lines, column_grids, depth=depth + 1)
    if plain:
        yield Region(tuple(plain))


def _plain_items(band: Sequence[Sequence[Item]]) -> list[PlacedItem]:
    """The rows of a band as single lines, or as tables without lines where they are."""
    rows = [[item for item in row if isinstance(item, Line)] for row in band]
    ruled = any(len(lines) < len(row) for lines, row in zip(rows, band, strict=True))
    found = None if ruled else aligned(rows, gutter=_GUTTER)
    if found is None:
        return [item for row in band for item in _row_items(row)]
    return [*_plain_items(band[: found.start]), found.table, *_plain_items(band[found.end :])]


def _rows(lines: Sequence[Line], grids: Sequence[Grid]) -> list[list[Item]]:
    rows: list[list[Item]] = [[*row] for row in rows_of(lines)]
    rows += [[grid] for grid in grids]
    rows.sort(key=lambda row: row[0].box.y0 if len(row) == 1 else min([item.box.y0 for item in row]))
    return rows


def _row_items(row: Sequence[Item]) -> list[Item]:
    if len(row) == 1:
        return [*row]
    lines = [item for item in row if isinstance(item, Line)]
    grids = [item for item in row if isinstance(item, Grid)]
    return [*([merged(lines)] if lines else []), *grids]


def _bands(rows: Iterable[list[Item]]) -> list[list[list[Item]]]:
    """Runs of rows with a gap from top to bottom in common, and runs of rows without one."""
    bands: list[list[list[Item]]] = []
    cover: Ranges = []
    for row in rows:
        covered = _cover(row) if len(row) > 1 else [(row[0].box.x0, row[0].box.x1)]
        both = _united(cover, covered)
        if bands and (len(both) > 1 or (len(cover) < 2 and not _begins_a_band(bands[-1], covered))):
            bands[-1].append(row)
            cover = both
            continue
        start = _start_of_band(bands[-1], covered) if bands and len(cover) < 2 else None
        moved = bands[-1][start:] if start is not None else []
        if moved:
            bands[-1] = bands[-1][:start]
        bands.append([*moved, row])
        cover = covered
        for other in moved:
            cover = _united(cover, _cover(other))
    return bands


def _begins_a_band(band: Sequence[list[Item]], covered: Ranges) -> bool:
    """Whether a row shares a gap with the end of a run that has none as a whole, or has one alone."""
    return len(covered) > 1 or len(_united(_cover(band[-1]), covered)) > 1


def _start_of_band(band: Sequence[list[Item]], covered: Ranges) -> int:
    """Where the longest run of rows begins that ends the band and shares a gap with the next row; never at its start."""
    start = len(band)
    while start > 1:
        covered = _united(_cover(band[start - 1]), covered)
        if len(covered) < 2:
            break
        start -= 1
    return start


def _cover(row: Iterable[Item]) -> Ranges:
    """The ranges of x that a row's text takes up; gaps narrower than a gutter are closed."""
    return _closed(sorted((item.box.x0, item.box.x1) for item in row))


def _united(first: Ranges, second: Ranges) -> Ranges:
    return _closed(sorted((*first, *second))) if first and second else first or second


def _closed(ranges: Iterable[tuple[float, float]]) -> Ranges:
    out: Ranges = []
    for x0, x1 in ranges:
        if out and x0 - out[-1][1] < _GUTTER:
            out[-1] = (out[-1][0], max(out[-1][1], x1))
        else:
            out.append((x0, x1))
    return out


def _columns(band: Sequence[Sequence[Item]]) -> list[list[Item]]:
    """The band's columns of text; one, or none, where its gaps part the cells of rows rather than columns or it has no gap."""
    ranges = _cover(item for row in band for item in row)
    if len(ranges) < 2:
        return []
    columns: list[list[Item]] = [[] for _ in ranges]
    for row in band:
        for item in row:
            columns[sum(item.box.x0 > x1 for _, x1 in ranges)].append(item)
    kept = [columns[0]]
    for column in columns[1:]:
        if _stand_apart(kept[-1], column):
            kept.append(column)
        else:
            kept[-1] = kept[-1] + column
    return kept


def _stand_apart(left: Sequence[Item], right: Sequence[Item]) -> bool:
    """Whether two neighbours are columns of text: both prose, or lines that do not share rows."""
    if any(isinstance(item, Grid) for item in (*left, *right)):
        return True
    first = [item for item in left if isinstance(item, Line)]
    second = [item for item in right if isinstance(item, Line)]
    if _is_prose(first) and _is_prose(second):
        return True
    few, many = sorted((first, second), key=len)
    return len(few) >= 3 and len(_on_rows(few, many)) < _ALIGNED * len(few)


def _on_rows(few: Sequence[Line], many: Sequence[Line]) -> list[float]:
    """How far the lines that stand on a row of the others are off it; columns of text are off it by other amounts each time."""
    baselines = sorted(line.baseline for line in many)
    off = [_nearest(line.baseline, baselines) - line.baseline for line in few]
    usual = median(off)
    return [by for by in off if abs(by) <= _ON_A_ROW * many[0].size and abs(by - usual) <= _OFF_A_ROW * many[0].size]


def _nearest(value: float, ordered: Sequence[float]) -> float:
    at = bisect_left(ordered, value)
    return min(ordered[max(at - 1, 0) : at + 1], key=lambda other: abs(other - value))


def _is_prose(lines: Sequence[Line]) -> bool:
    if len(lines) < 2:
        return False
    texts = [line.text for line in lines]
    whole = " ".join(texts)
    signs = len(whole) - len(texts) + 1
    if not whole.isascii() and len(_UNCASED.findall(whole)) * 2 > signs:
        return signs / len(texts) >= _SIGNS_OF_PROSE
    words = len(whole.split()) / len(texts)
    run_on = sum(text[0].islower() for text in texts[1:]) / (len(texts) - 1)
    if sum(map(str.isalpha, whole)) < 0.6 * signs:
        return False
    return words >= _WORDS_OF_LONG_LINES or (words >= _WORDS_OF_PROSE and run_on >= _RUN_ON)
