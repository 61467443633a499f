"""Puts the words of a picture in reading order: rows from the top, columns of prose one after the other, tables row by row."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from math import inf
from statistics import mean, median
from typing import Final

from extractor_svc.ocr.values import Reading, TextLine, Word

_SAME_ROW: Final = 0.25
"""Heights of a line, with its margins, by which the middles of two in one row may differ."""
_LONG_COLUMN: Final = 8
_SHORT_COLUMN: Final = 3
_NARROW: Final = 0.25
_WIDE: Final = 0.7
"""Empty space between two columns in heights of a line: the first will do where they are long side by side."""
_UNUSUAL: Final = 1.4
"""Usual spaces between the words of a row up to which a space is one of them."""
_CELL: Final = 3
"""Words a piece up to which a column is that of a table where its lines stand in rows with those beside them."""
_LONGEST_CELL: Final = 5
_CELLS: Final = 3
_IN_ROWS: Final = 0.6


@dataclass(frozen=True, slots=True)
class Spot:
    """A word, and where it begins and ends on the picture turned so that its text is upright."""

    word: Word
    x0: float
    x1: float


@dataclass(frozen=True, slots=True)
class Piece:
    """Words of one line side by side; the height its middle is at, and its height with margins, on the turned picture.

    `angle` is what the picture was turned by, against the clock.
    """

    spots: tuple[Spot, ...]
    middle: float
    height: float
    angle: float

    @property
    def x0(self) -> float:
        """Where it begins."""
        return self.spots[0].x0

    @property
    def x1(self) -> float:
        """Where it ends."""
        return self.spots[-1].x1

    @property
    def text(self) -> str:
        """Its words with a blank between them."""
        return " ".join(spot.word.text for spot in self.spots)


@dataclass(frozen=True, slots=True)
class Row:
    """Pieces side by side, from the left."""

    pieces: tuple[Piece, ...]

    @property
    def spots(self) -> list[Spot]:
        """All its words, from the left."""
        return [spot for piece in self.pieces for spot in piece.spots]

    @property
    def middle(self) -> float:
        """The height its middle is at."""
        return mean(piece.middle for piece in self.pieces)

    @property
    def height(self) -> float:
        """The height of its lines with their margins."""
        return median(piece.height for piece in self.pieces)

    @property
    def is_tabled(self) -> bool:
        """Whether its pieces, three or more, are as short as cells are."""
        words = [len(piece.spots) for piece in self.pieces]
        return len(words) >= _CELLS and median(words) <= _CELL and max(words) <= _LONGEST_CELL


def flows_of(reading: Reading) -> list[list[Row]]:
    """Rows that follow one another in one column, column by column; each line that runs another way comes last, by itself."""
    along = [line for line in reading.lines if _runs_along(line, reading.angle)]
    aside = [line for line in reading.lines if not _runs_along(line, reading.angle)]
    flows = list(_flows([_piece(line, reading.angle) for line in along]))
    return flows + [[Row((_piece(line, line.place.angle),))] for line in aside]


def _runs_along(line: TextLine, angle: float) -> bool:
    return abs((line.place.angle - angle + 180) % 360 - 180) <= 45


def _piece(line: TextLine, angle: float) -> Piece:
    places = [word.place.turned(-angle) for word in line.words]
    spots = (Spot(word, at.x - at.width / 2, at.x + at.width / 2) for word, at in zip(line.words, places, strict=True))
    return Piece(tuple(spots), line.place.turned(-angle).y, line.place.height, angle)


def _flows(pieces: Sequence[Piece]) -> Iterator[list[Row]]:
    rows = _rows(pieces)
    gutter = _gutter(rows) if rows else None
    if gutter is None:
        if rows:
            yield rows
        return
    above, beside, below = rows[: gutter.first], rows[gutter.first : gutter.last], rows[gutter.last :]
    parts = [part for row in beside for piece in row.pieces for part in _parted(piece, gutter.x)]
    yield from _flows([piece for row in above for piece in row.pieces])
    yield from _flows([part for part in parts if part.x0 < gutter.x])
    yield from _flows([part for part in parts if part.x0 >= gutter.x])
    yield from _flows([piece for row in below for piece in row.pieces])


def _parted(piece: Piece, x: float) -> Iterator[Piece]:
    for _, spots in groupby(piece.spots, key=lambda spot: spot.x0 < x):
        yield Piece(tuple(spots), piece.middle, piece.height, piece.angle)


def _rows(pieces: Iterable[Piece]) -> list[Row]:
    """Pieces by the row they stand in, from the top."""
    rows: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda piece: (piece.middle, piece.x0)):
        if rows and _in_row(piece, rows[-1]):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return [Row(tuple(sorted(row, key=lambda piece: (piece.x0, piece.middle)))) for row in rows]


def _in_row(piece: Piece, row: Sequence[Piece]) -> bool:
    apart = all(piece.x0 >= other.x1 or piece.x1 <= other.x0 for other in row)
    level = abs(piece.middle - mean(other.middle for other in row))
    return apart and level <= _SAME_ROW * min(piece.height, *(other.height for other in row))


@dataclass(frozen=True, slots=True)
class _Gutter:
    """An empty strip that parts the rows from `first` to before `last` into two columns; `lines` of each stand side by side."""

    x: float
    first: int
    last: int
    lines: int


@dataclass(frozen=True, slots=True)
class _Sides:
    """Words of each piece of a row left and right of a place, and whether the space between may be that of any two words."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    usual: bool


@dataclass(frozen=True, slots=True)
class _Edges:
    """Where the words of a row begin and end, the usual space between them, and their numbers by piece."""

    starts: tuple[float, ...]
    ends: tuple[float, ...]
    usual_space: float
    pieces: tuple[int, ...]
    is_tabled: bool


def _gutter(rows: Sequence[Row]) -> _Gutter | None:
    """The strip that parts most lines, the leftmost of equals; None where no two columns of prose stand side by side."""
    height = median(row.height for row in rows)
    edges = [_edges(row) for row in rows]
    best: _Gutter | None = None
    for gap, fewest in ((_NARROW * height, _LONG_COLUMN), (_WIDE * height, _SHORT_COLUMN)):
        for x in _places(edges, gap):
            for found in _runs_beside(edges, x, gap=gap):
                if found.lines >= fewest and (best is None or found.lines > best.lines):
                    best = found
    return best


def _edges(row: Row) -> _Edges:
    spots = row.spots
    starts, ends = sorted(spot.x0 for spot in spots), sorted(spot.x1 for spot in spots)
    spaces = [start - end for end, start in zip(ends, starts[1:], strict=False)]
    pieces = tuple(len(piece.spots) for piece in row.pieces)
    return _Edges(tuple(starts), tuple(ends), median(spaces or [0.0]), pieces, row.is_tabled)


def _places(rows: Sequence[_Edges], gap: float) -> list[float]:
    """Where a strip could lie: before each word that follows so wide an empty space, or begins its row."""
    starts = {row.starts[0] for row in rows}
    for row in rows:
        starts |= {start for end, start in zip(row.ends, row.starts[1:], strict=False) if start - end >= gap}
    return sorted({round(start) - gap / 2 for start in starts})


def _runs_beside(rows: Sequence[_Edges], x: float, *, gap: float) -> Iterator[_Gutter]:
    """The runs of rows that have nothing around a place, and lines of prose to both sides of it."""
    sides = [_sides(row, x, gap) for row in rows]
    first = 0
    for at in range(len(rows) + 1):
        if at == len(rows) or sides[at] is None:
            last = at
            while first < last and _is_usual(sides[last - 1]):
                last -= 1
            while first < last and _is_usual(sides[first]):
                first += 1
            lines = _lines_side_by_side([side for side in sides[first:last] if side is not None])
            if lines:
                yield _Gutter(x, first, last, lines)
            first = at + 1


def _sides(row: _Edges, x: float, gap: float) -> _Sides | None:
    """What stands left and right of a strip; None where a word stands in it, or the row is a table's."""
    words = len(row.starts)
    before = bisect_right(row.ends, x + gap / 2)
    if row.is_tabled or before + words - bisect_left(row.starts, x - gap / 2) != words:
        return None
    empty = row.starts[before] - row.ends[before - 1] if 0 < before < words else inf
    if empty < gap:
        return None
    left, right = _parts(row.pieces, before)
    within = len(left) + len(right) > len(row.pieces)
    return _Sides(left, right, usual=within and empty <= _UNUSUAL * row.usual_space)


def _parts(pieces: Sequence[int], before: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Words of each piece among the first ones of a row, and among the others."""
    left: list[int] = []
    right: list[int] = []
    for words in pieces:
        taken = min(words, before)
        before -= taken
        left += [taken] if taken else []
        right += [words - taken] if words > taken else []
    return tuple(left), tuple(right)


def _is_usual(side: _Sides | None) -> bool:
    """Whether the space in a row, the first or last of some, may part any two words."""
    return side is not None and side.usual


def _lines_side_by_side(run: Sequence[_Sides]) -> int:
    """How many lines of the shorter column have the other beside them; none where the columns are a table's."""
    lefts = [i for i, side in enumerate(run) if side.left]
    rights = [i for i, side in enumerate(run) if side.right]
    if not lefts or not rights:
        return 0
    common = run[max(lefts[0], rights[0]) : min(lefts[-1], rights[-1]) + 1]
    left = [side.left for side in common if side.left]
    right = [side.right for side in common if side.right]
    if not left or not right:
        return 0
    lines = min(len(left), len(right))
    in_rows = sum(bool(side.left and side.right) for side in common) >= _IN_ROWS * lines
    words = min(median(chain.from_iterable(left)), median(chain.from_iterable(right)))
    return 0 if in_rows and words <= _CELL else lines
