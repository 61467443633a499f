"""Finds tables without lines among rows of text: columns that hold over rows, and a header above them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, TypeAlias

from extractor_svc.formats.pdf_evidence import FEWEST_ROWS, YEAR, is_figure, is_table
from extractor_svc.formats.pdf_geometry import Turn, around, span_overlap
from extractor_svc.formats.pdf_grids import Grid, GridCell
from extractor_svc.formats.pdf_ink import Span
from extractor_svc.formats.pdf_lines import Line, line_of, merged
from extractor_svc.formats.pdf_paragraphs import ends_sentence
from extractor_svc.formats.pdf_text import Vocabulary

Range: TypeAlias = tuple[float, float]
Row: TypeAlias = Sequence[Line]

_FULL: Final = 0.6
"""Share of the usual number of texts a row must have to count for the columns."""
_NEAR: Final = 2.5
"""Sizes up to which a row stands right above another."""
_NEAR_TITLE: Final = 3.0
"""The same above a row that has one text, as titles have."""
_MOST_HEADER_ROWS: Final = 6
_MOST_OWN_HEADER_ROWS: Final = 3
_LONGEST_TITLE: Final = 8
"""Words of a row that names what the rows below have in common, past which it is prose."""
_OVER: Final = 3.0
"""Points by which a text reaches over a column for it to stand over it."""
_OVERHANG: Final = 4.0
"""Sizes by which a header may be wider than the columns below it."""
_AT_EDGE: Final = 3.0
_CLOSE: Final = 0.8
"""Share of the usual distance of rows below which a row goes on with the one above."""


@dataclass(slots=True)
class Place:
    """Where texts stand in a row: their first column, how many they cover, and their lines from the top."""

    column: int
    span: int
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Aligned:
    """Rows of a table without lines, each with its texts by column from the left, and how many of them are its header."""

    rows: tuple[tuple[Place, ...], ...]
    columns: tuple[Range, ...]
    header_rows: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """A table among rows, and which of them it takes up: from `start` up to, not including, `end`."""

    start: int
    end: int
    table: Aligned


def aligned(rows: Sequence[Row], *, gutter: float) -> Found | None:
    """The table that some rows make; None where the evidence is not strong.

    The columns are the ranges of x that the fullest rows leave free of one another; where a header closes them, those of the rows
    of figures. `is_table` says what strong is. Rows of words right above belong to the table as its header.
    """
    for core in _cores(rows):
        found = _of_core(rows, core, gutter=gutter)
        if found:
            return found
    return None


def grid_of(table: Aligned, turn: Turn, vocabulary: Vocabulary) -> Grid:
    """The table as a grid, its borders in the middle of the gaps between its texts."""
    boxes = [around(line.box for place in row for line in place.lines) for row in table.rows]
    ys = [boxes[0].y0, *((above.y1 + below.y0) / 2 for above, below in pairwise(boxes)), boxes[-1].y1]
    cells = tuple(cell for r, row in enumerate(table.rows) for cell in _cells(r, row, width=len(table.columns)))
    return Grid(
        _borders(table.columns),
        tuple(ys),
        cells,
        turn,
        vocabulary,
        bands=tuple(turn.displayed(box) for box in boxes),
        head=table.header_rows,
    )


def _cells(r: int, row: Sequence[Place], *, width: int) -> Iterator[GridCell]:
    at = 0
    for place in row:
        yield from (GridCell(r, c, 1, 1, ()) for c in range(at, place.column))
        yield GridCell(r, place.column, 1, place.span, place.lines)
        at = place.column + place.span
    yield from (GridCell(r, c, 1, 1, ()) for c in range(at, width))


def _borders(columns: Sequence[Range]) -> tuple[float, ...]:
    return (columns[0][0], *((left[1] + right[0]) / 2 for left, right in pairwise(columns)), columns[-1][1])


def _cores(rows: Sequence[Row]) -> Iterator[list[int]]:
    """Rows that may tell the columns, in the order they are tried, each list once.

    Those with nearly as many texts as most rows of several texts have; the same of rows whose texts, the first aside, are mostly
    figures; and the rows of figures that have exactly the usual number.
    """
    several = [i for i, row in enumerate(rows) if len(row) > 1]
    if len(several) < FEWEST_ROWS:
        return
    full = _with_texts(several, rows, share=_FULL)
    if len(full) >= FEWEST_ROWS:
        yield full
    figures = [i for i in several if sum(is_figure(line.text) for line in rows[i][1:]) * 2 >= len(rows[i])]
    before = full
    for share in (_FULL, 1.0):
        core = _with_texts(figures, rows, share=share)
        if len(core) >= FEWEST_ROWS and core != before:
            yield core
            before = core


def _with_texts(chosen: Sequence[int], rows: Sequence[Row], *, share: float) -> list[int]:
    """The rows with a share of the usual number of texts, or more."""
    counts = Counter(len(rows[i]) for i in chosen)
    if not counts:
        return []
    usual = max(counts, key=lambda count: (counts[count], count))
    return [i for i in chosen if len(rows[i]) >= max(2.0, share * usual)]


def _of_core(rows: Sequence[Row], core: Sequence[int], *, gutter: float) -> Found | None:
    columns = covered([line for i in core for line in rows[i]], gutter)
    if len(columns) < 2:
        return None
    rows = [_with_figures_parted(row, columns) for row in rows]
    start, end = _longest_run(rows, core, columns, gutter=gutter)
    end = _with_rows_below(rows, end, columns, gutter=gutter)
    if end - start < FEWEST_ROWS:
        return None
    if not is_table([_by_column(row, columns) for row in rows[start:end]]):
        return None
    top = _top_of_header(rows, start, columns)
    header = [_placed_header(row, columns) for row in rows[top:start]]
    body = [_placed(row, columns) for row in rows[start:end]]
    table = Aligned((*header, *_with_lines_joined(body)), tuple(columns), _header_rows(header, rows[start:end]))
    return Found(top, end, table)


def _header_rows(header: Sequence[Sequence[Place]], body: Sequence[Row]) -> int:
    """How many rows are surely header: those above the body down to the last over more than its first column, or of its own.

    Rows of several words that the body begins with count too, where one with a figure follows.
    """
    above = max((i + 1 for i, row in enumerate(header) if row[-1].column + row[-1].span > 1), default=0)
    first = next((i for i, row in enumerate(body) if any(_is_value(line) for line in row)), 0)
    own = first if first <= _MOST_OWN_HEADER_ROWS and all(len(row) > 1 for row in body[:first]) else 0
    return len(header) + own if own else above


def _is_value(line: Line) -> bool:
    return is_figure(line.text) and not YEAR.fullmatch(line.text)


def _longest_run(rows: Sequence[Row], core: Sequence[int], columns: Sequence[Range], *, gutter: float) -> tuple[int, int]:
    """The longest run of rows, from one of the core to one of it, that all leave the gaps between the columns free.

    A short text alone in its row at the left edge may reach over them.
    """
    inside = set(core)
    best = start = end = core[0]
    best_end = end
    for i in range(core[0], core[-1] + 1):
        if not _fits(rows[i], columns, gutter) and not _is_title(rows[i], columns):
            start = end = i + 1
        elif i in inside:
            start = i if start == end else start
            end = i + 1
        if end - start > best_end - best:
            best, best_end = start, end
    return best, best_end


def _with_rows_below(rows: Sequence[Row], end: int, columns: Sequence[Range], *, gutter: float) -> int:
    """The end of the rows with those right below that have several texts, all in the columns."""
    while end < len(rows) and len(rows[end]) > 1 and _fits(rows[end], columns, gutter):
        if rows[end][0].baseline - rows[end - 1][0].baseline > _NEAR * rows[end][0].size:
            break
        end += 1
    return end


def _fits(row: Row, columns: Sequence[Range], gutter: float) -> bool:
    """Whether a row leaves the gaps between the columns free, and stands in no other."""
    return len(closed((*columns, *covered(row, gutter)), gutter)) == len(columns)


def _is_title(row: Row, columns: Sequence[Range]) -> bool:
    """Whether a row is one short text at the left edge that is no sentence."""
    line = row[0]
    at_edge = len(row) == 1 and abs(line.box.x0 - columns[0][0]) <= _AT_EDGE and line.box.x1 <= columns[-1][1]
    return at_edge and len(line.text.split()) <= _LONGEST_TITLE and not ends_sentence(line.text)


def _top_of_header(rows: Sequence[Row], start: int, columns: Sequence[Range]) -> int:
    """The first row of the header: of words over the columns, near one another; rows of the first column alone may lie between."""
    top = start
    for i in range(start - 1, max(start - _MOST_HEADER_ROWS, 0) - 1, -1):
        row, below = rows[i], rows[i + 1]
        near = (_NEAR_TITLE if len(below) == 1 and i + 1 < start else _NEAR) * row[0].size
        if below[0].baseline - row[0].baseline > near or not _is_of_words(row, columns):
            break
        if len(row) > 1 or row[0].box.x0 > columns[0][1]:
            top = i
    return top


def _is_of_words(row: Row, columns: Sequence[Range]) -> bool:
    reach = _OVERHANG * row[0].size
    inside = columns[0][0] - reach <= row[0].box.x0 and row[-1].box.x1 <= columns[-1][1] + reach
    alone = len(row) == 1 and len(_under(row[0], columns)) > 1 and 0 in _under(row[0], columns)
    return inside and not alone and not any(_is_value(line) for line in row)


def _placed(row: Row, columns: Sequence[Range]) -> tuple[Place, ...]:
    """The texts of a row by the column each shares most with; a title covers all it stands over."""
    if len(row) == 1 and _is_title(row, columns) and len(under := _under(row[0], columns)) > 1:
        return (Place(under[0], len(under), tuple(row)),)
    return _in_columns([(_nearest(line, columns), 1, line) for line in row])


def _placed_header(row: Row, columns: Sequence[Range]) -> tuple[Place, ...]:
    """The texts of a header's row, each over the columns it stands over; one that names several side by side is parted."""
    dense = len(row) * 2 >= len(columns)
    pieces = [piece for line in row for piece in (_parted(line, columns) if dense else [line])]
    placed = []
    for line in pieces:
        under = _under(line, columns) or [_nearest(line, columns)]
        placed.append((under[0], len(under), line))
    return _in_columns(placed)


def _in_columns(placed: Iterable[tuple[int, int, Line]]) -> tuple[Place, ...]:
    """Texts with their columns as places; those that would share a column are one."""
    out: list[Place] = []
    for column, span, line in sorted(placed, key=lambda entry: entry[0]):
        if out and column < out[-1].column + out[-1].span:
            end = max(out[-1].column + out[-1].span, column + span)
            out[-1] = Place(out[-1].column, end - out[-1].column, (*out[-1].lines, line))
        else:
            out.append(Place(column, span, (line,)))
    return tuple(replace(place, lines=(merged(place.lines),)) if len(place.lines) > 1 else place for place in out)


def _nearest(line: Line, columns: Sequence[Range]) -> int:
    """The column a text shares most with, or lies closest to."""
    left, right = line.box.x0, line.box.x1
    best, most = 0, float("-inf")
    for i, (x0, x1) in enumerate(columns):
        shared = (x1 if x1 < right else right) - (x0 if x0 > left else left)
        if shared > most:
            best, most = i, shared
        elif x0 > right:
            break
    return best


def _under(line: Line, columns: Sequence[Range]) -> list[int]:
    """The columns a text stands over: by more than a little, or by most of the column."""
    own = line.box.x0, line.box.x1
    shared = [span_overlap(own, column) for column in columns]
    least = [min(_OVER, (column[1] - column[0]) / 2) for column in columns]
    found = [i for i, (overlap, enough) in enumerate(zip(shared, least, strict=True)) if overlap > enough]
    return list(range(found[0], found[-1] + 1)) if found else []


def _parted(line: Line, columns: Sequence[Range]) -> list[Line]:
    """A text cut at the borders of the columns it stands over, if a word of it stands over each."""
    under = _under(line, columns)
    if len(under) < 2 or line.quarters is None:
        return [line]
    borders = _borders(columns)
    runs: dict[int, list[Span]] = {}
    for word in _words(line):
        runs.setdefault(sum(word.box.centre[0] > border for border in borders[1:-1]), []).append(word)
    if sorted(runs) != under:
        return [line]
    return [_inside(line_of([run], quarters=line.quarters), borders[at], borders[at + 1]) for at, run in runs.items()]


def _inside(line: Line, left: float, right: float) -> Line:
    """A text that reaches over no border, for its place was told by its share of letters only."""
    box = line.box
    x0, x1 = max(box.x0, left + _OVER), min(box.x1, right - _OVER)
    return replace(line, box=replace(box, x0=x0, x1=x1)) if x0 < x1 else line


def _with_figures_parted(row: Row, columns: Sequence[Range]) -> Row:
    """The row, texts parted that are figures side by side and were drawn as one."""
    if len(row) < 2 or not any(" " in line.text and all(map(is_figure, line.text.split())) for line in row):
        return row
    return [piece for line in row for piece in (_parted(line, columns) if all(map(is_figure, line.text.split())) else [line])]


def _words(line: Line) -> Iterator[Span]:
    """The words of a line as spans, their places told by the share of letters before them."""
    for span in line.spans:
        each, at = span.box.width / len(span.text), 0
        for i, word in enumerate(span.text.split(" ")):
            box = replace(span.box, x0=span.box.x0 + at * each, x1=span.box.x0 + (at + len(word)) * each)
            yield replace(span, text=word, box=box, spaced=span.spaced or i > 0)
            at += len(word) + 1


def _with_lines_joined(rows: Sequence[tuple[Place, ...]]) -> list[tuple[Place, ...]]:
    """The rows, those that go on inside the cells of the row above joined to it.

    They stand closer to it than rows do, and have texts only where it has.
    """
    full = max(map(len, rows))
    tops = [row[0].lines[0].baseline for row in rows if len(row) * 2 > full]
    steps = [below - above for above, below in pairwise(tops)]
    pitch = min(steps) if len(steps) >= FEWEST_ROWS - 1 else 0.0
    out: list[tuple[Place, ...]] = [rows[0]]
    for row in rows[1:]:
        step = row[0].lines[0].baseline - out[-1][0].lines[-1].baseline
        above = {place.column for place in out[-1]}
        if step < _CLOSE * pitch and len(row) * 2 <= full and len(out[-1]) > len(row) and all(p.column in above for p in row):
            below = {place.column: place.lines for place in row}
            out[-1] = tuple(replace(place, lines=(*place.lines, *below.get(place.column, ()))) for place in out[-1])
        else:
            out.append(row)
    return out


def _by_column(row: Row, columns: Sequence[Range]) -> list[list[Line]]:
    out: list[list[Line]] = [[] for _ in columns]
    for line in row:
        out[_nearest(line, columns)].append(line)
    return out


def covered(lines: Iterable[Line], gutter: float) -> list[Range]:
    """The ranges of x that texts take up; gaps narrower than a gutter are closed."""
    return closed(((line.box.x0, line.box.x1) for line in lines), gutter)


def closed(ranges: Iterable[Range], gutter: float) -> list[Range]:
    """Ranges of x, from the left, as one where less than a gutter lies between them."""
    out: list[Range] = []
    for x0, x1 in sorted(ranges):
        if out and x0 - out[-1][1] < gutter:
            out[-1] = (out[-1][0], max(out[-1][1], x1))
        else:
            out.append((x0, x1))
    return out
