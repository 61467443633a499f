"""One sheet's cells as they lie: where each stands, merged ranges, hidden rows and columns."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from artifact.model import ColumnType
from extractor_svc.blocks import count_words
from extractor_svc.errors import TooManyRows
from extractor_svc.formats.xlsx_book import Book
from extractor_svc.formats.xlsx_box import LAST_ROW, Box
from extractor_svc.formats.xlsx_cells import CellLink, no_report, read_sheet_xml
from extractor_svc.formats.xlsx_meaning import Cells, meant
from extractor_svc.formats.xlsx_raw import COLUMN_BITS, Budget, Integers, places_of
from extractor_svc.text_columns import Places, column_of
from extractor_svc.value_columns import NUMBER_OF
from extractor_svc.values import EMPTY, Value

_MERGE_VISITS: Final = 4 * LAST_ROW
_STRING: Final = NUMBER_OF[ColumnType.STRING]


class Grid:
    """The cells of a sheet that hold or show something, found by their place.

    A cell is known by its position among all of them. `merges` are the merged ranges by their upper left cell, those with an
    empty one left out. Words of cells that a merge covers are counted, not kept.
    """

    def __init__(self, cells: Cells, merges: dict[tuple[int, int], Box], covered_words: int) -> None:
        self.cells = cells
        self.merges = merges
        self.covered_words = covered_words
        self.places = cells.places()
        self.codes = column_of(list(cells.values.codes))
        starts = np.flatnonzero(np.diff(cells.rows, prepend=0))
        corners = [row << COLUMN_BITS | column for row, column in sorted(merges)]
        self._merge_at = np.searchsorted(self.places, np.array(corners, np.int64))
        self._rows: list[int] = cells.rows[starts].tolist()
        self._starts: list[int] = [*starts.tolist(), len(cells)]
        self._columns: Sequence[int] = cells.columns.data
        self._kinds: Sequence[int] = cells.values.kinds.data

    def __len__(self) -> int:
        return len(self.cells)

    @cached_property
    def formula_of(self) -> Integers:
        """For each cell the place of its formula among all formulas, below 0 where it has none."""
        places = np.full(len(self.cells), -1, np.int32)
        places[self.cells.formula_at] = np.arange(len(self.cells.formula_at))
        return places

    def box(self) -> Box | None:
        """The range that holds every cell; None where there is none."""
        if not self._rows:
            return None
        columns = self.cells.columns
        return Box(self._rows[0], self._rows[-1], int(columns.min()), int(columns.max()))

    def rows_in(self, box: Box) -> list[int]:
        """Rows of the range that have a cell anywhere on the sheet, ascending."""
        return self._rows[bisect_left(self._rows, box.first_row) : bisect_right(self._rows, box.last_row)]

    def span(self, row: int, box: Box) -> range:
        """The positions of the cells of a row that lie in a range."""
        i = bisect_left(self._rows, row)
        if i == len(self._rows) or self._rows[i] != row:
            return range(0)
        start, end = self._starts[i], self._starts[i + 1]
        first = bisect_left(self._columns, box.first_column, start, end)
        return range(first, bisect_right(self._columns, box.last_column, first, end))

    def spans(self, rows: Sequence[int] | Places, box: Box) -> tuple[Places, Places]:
        """For each of some rows, where the positions of its cells in a range start and end."""
        at = np.asarray(rows, np.int64)
        first, last = np.full(len(at), box.first_column), np.full(len(at), box.last_column)
        return np.searchsorted(self.places, places_of(at, first)), np.searchsorted(self.places, places_of(at, last), side="right")

    def positions(self, rows: Sequence[int] | Places, box: Box) -> Places:
        """The positions of the cells of some rows that lie in a range, ascending."""
        starts, ends = self.spans(rows, box)
        return ranges(starts, ends)

    def column_of(self, position: int) -> int:
        """The column a cell stands in."""
        return self._columns[position]

    def is_text(self, position: int) -> bool:
        """Whether a cell holds a text."""
        return self._kinds[position] == _STRING

    def is_void(self, position: int) -> bool:
        """Whether a cell holds no value: it has an error, or a formula without a result."""
        return not self._kinds[position]

    def text_of(self, position: int) -> str:
        """What a cell displays."""
        return str(self.cells.values.texts[position].as_py())

    def value_at(self, position: int) -> Value:
        """What a cell means."""
        return self.cells.values.value(position)

    def value(self, row: int, column: int) -> Value:
        """The value at a place; the empty one where no cell is."""
        found = self.span(row, Box(row, row, column, column))
        return self.value_at(found[0]) if found else EMPTY

    def merges_in(self, row: int, box: Box) -> list[Box]:
        """Merged ranges that start in a row, within a range."""
        if not self.merges:
            return []
        found = (self.merges.get((row, self._columns[position])) for position in self.span(row, box))
        return [merge for merge in found if merge is not None]

    def merges_from(self, positions: Places) -> Iterator[tuple[int, Box]]:
        """Merged ranges and the positions of their cells, from the first to the last of some positions."""
        if self.merges and len(positions):
            first, end = np.searchsorted(self._merge_at, [positions[0], positions[-1] + 1])
            for position in self._merge_at[first:end].tolist():
                yield position, self.merges[int(self.cells.rows[position]), self._columns[position]]


def ranges(starts: Places, ends: Places) -> Places:
    """All whole numbers from each start to its end, one range after the other."""
    lengths = ends - starts
    total = int(lengths.sum())
    if not total:
        return np.array([], np.int64)
    offsets = np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
    return offsets + np.arange(total)


@dataclass(frozen=True, slots=True, eq=False)
class SheetGrid:
    """A sheet's grid and what else its part states; `uncalculated` are its formulas without a result."""

    grid: Grid
    hidden_rows: frozenset[int]
    hidden_columns: Sequence[tuple[int, int]]
    printed: Sequence[tuple[str, str]]
    links: Sequence[CellLink]
    uncalculated: int


def read_grid(book: Book, part: str, budget: Budget, tick: Callable[[], None] = no_report) -> SheetGrid:
    """Reads a sheet's part and finds out what its cells mean.

    Raises:
        Malformed: the part is not sound.
        TooManyRows, OutputLimit: the budget does not suffice.
    """
    xml = read_sheet_xml(book, part, budget, tick)
    cells = meant(xml.cells, book, budget)
    return SheetGrid(
        grid=merged(cells, xml.merged),
        hidden_rows=frozenset(xml.hidden_rows),
        hidden_columns=tuple(xml.hidden_columns),
        printed=tuple(xml.printed),
        links=tuple(xml.links),
        uncalculated=int(np.count_nonzero(cells.uncached)),
    )


def merged(cells: Cells, boxes: Sequence[Box]) -> Grid:
    """The grid of which each merged range keeps its upper left cell alone, which is all that a sheet shows of it.

    Raises:
        TooManyRows: ranges overlap so that applying them takes longer than any workbook needs.
    """
    boxes = [box for box in boxes if box.first_row < box.last_row or box.first_column < box.last_column]
    if not boxes or not len(cells):
        return Grid(cells, {}, 0)
    places = cells.places()
    corners = places_of(*(np.array([getattr(box, name) for box in boxes], np.int64) for name in ("first_row", "first_column")))
    corner_at = np.minimum(np.searchsorted(places, corners), len(places) - 1)
    has_corner = places[corner_at] == corners
    covered = _covered(cells, places, boxes, has_corner)
    shown = has_corner & ~covered[corner_at]
    merges = {(box.first_row, box.first_column): box for box, keeps in zip(boxes, shown, strict=True) if keeps}
    words = sum(map(count_words, cells.values.texts.filter(pa.array(covered)).to_pylist()))
    return Grid(cells.without(covered) if covered.any() else cells, merges, words)


def _covered(cells: Cells, places: Places, boxes: Sequence[Box], has_corner: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Which cells lie in a merged range below or right of its corner."""
    rows = np.unique(cells.rows)
    edges = np.array([(box.first_row, box.last_row, box.first_column, box.last_column) for box in boxes], np.int64)
    starts, ends = np.searchsorted(rows, edges[:, 0]), np.searchsorted(rows, edges[:, 1], side="right")
    if int((ends - starts).sum()) > _MERGE_VISITS + 2 * len(cells):
        raise TooManyRows("the merged ranges of a sheet overlap")
    box = np.repeat(np.arange(len(boxes)), ends - starts)
    row = rows[ranges(starts, ends)]
    first = np.searchsorted(places, places_of(row, edges[box, 2])) + ((row == edges[box, 0]) & has_corner[box])
    last = np.searchsorted(places, places_of(row, edges[box, 3]), side="right")
    depth = np.zeros(len(places) + 1, np.int64)
    np.add.at(depth, first, 1)
    np.add.at(depth, np.maximum(last, first), -1)
    return np.cumsum(depth[:-1]) > 0
