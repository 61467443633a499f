"""Where the tables and texts of a sheet lie: blocks of cells parted by empty rows and columns, titles above, headers on top."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from artifact.model import ColumnType
from extractor_svc.formats.xlsx_box import Box
from extractor_svc.formats.xlsx_cuts import blocks
from extractor_svc.formats.xlsx_grid import Grid, ranges
from extractor_svc.formats.xlsx_raw import COLUMN_BITS, places_of
from extractor_svc.text_columns import Places
from extractor_svc.value_columns import NUMBER_OF

_MERGE_SIDE: Final = 1_000
_MERGE_CELLS: Final = 1_000_000
_MOST_PEELED: Final = 20
_DEEPEST_HEADER: Final = 5
_LIST_TEXT: Final = 80
_TITLE_TEXT: Final = 120
_TITLE_DISTANCE: Final = 3
_YEARS: Final = range(1900, 2101)
_STRING: Final = NUMBER_OF[ColumnType.STRING]
_NOTE: Final = re.compile(r"\s*(?:source|note|notes|remark|remarks)\b|\s*[*†‡¹²³]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TablePart:
    """A table that the workbook itself declares, with its name, range, and how many rows are header and totals."""

    name: str
    box: Box
    header_rows: int
    totals_rows: int
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A cell, or a merged range, that stands for itself; `title` where it heads what follows."""

    box: Box
    title: bool


@dataclass(frozen=True, slots=True)
class TablePiece:
    """A range that is a table; where it is to be a dataset, `columns` and `header` are its columns and their flattened names."""

    box: Box
    header_rows: int = 0
    columns: tuple[int, ...] = ()
    header: tuple[str, ...] = ()
    totals_rows: int = 0
    part: TablePart | None = None


Piece: TypeAlias = TextPiece | TablePiece


def find_pieces(grid: Grid, parts: Sequence[TablePart]) -> list[Piece]:
    """The texts and tables of a sheet from top to bottom and left to right; every cell lies in exactly one.

    Declared tables are taken as declared, unless other cells surround one so that their block would hold it too.
    """
    declared = [part for part in parts if grid.rows_in(part.box)]
    occupied = _occupied(grid, [part.box for part in declared])
    boxes = blocks(occupied)
    if _touch(boxes, [part.box for part in declared]) or _overlap(declared):
        occupied = _occupied(grid, [])
        declared, boxes = [], blocks(occupied)
    pieces: list[Piece] = [_declared(grid, part) for part in declared]
    for box in boxes:
        pieces.extend(_pieces_of(grid, box, occupied, _MOST_PEELED))
    pieces.sort(key=lambda piece: (piece.box.first_row, piece.box.first_column))
    return [_titled(grid, piece, pieces[i + 1 : i + 2]) for i, piece in enumerate(pieces)]


def _occupied(grid: Grid, without: Sequence[Box]) -> Places:
    """Places with a cell and those merged with one, but for some ranges; vast merged ranges count as one cell."""
    taken = [grid.places]
    left = _MERGE_CELLS
    for box in grid.merges.values():
        height, width = box.last_row - box.first_row + 1, box.last_column - box.first_column + 1
        left -= height * width
        if height > _MERGE_SIDE or width > _MERGE_SIDE or left < 0:
            continue
        rows = np.arange(box.first_row, box.last_row + 1)
        taken.append(places_of(rows[:, None], np.arange(box.first_column, box.last_column + 1)).ravel())
    places = np.unique(np.concatenate(taken)) if len(taken) > 1 else taken[0]
    for box in without:
        start, end = np.searchsorted(places, [box.first_row << COLUMN_BITS, box.last_row + 1 << COLUMN_BITS])
        columns = places[start:end] & (1 << COLUMN_BITS) - 1
        outside = (columns < box.first_column) | (columns > box.last_column)
        places = np.concatenate([places[:start], places[start:end][outside], places[end:]])
    return places


def _touch(boxes: Sequence[Box], declared: Sequence[Box]) -> bool:
    """Whether any of the one touches any of the other."""
    edges = np.array([(box.first_row, box.last_row, box.first_column, box.last_column) for box in boxes]).reshape(-1, 4).T
    return any(
        (
            (edges[0] <= box.last_row)
            & (edges[1] >= box.first_row)
            & (edges[2] <= box.last_column)
            & (edges[3] >= box.first_column)
        ).any()
        for box in declared
    )


def _overlap(parts: Sequence[TablePart]) -> bool:
    return any(one.box.touches(other.box) for i, one in enumerate(parts) for other in parts[:i])


def _declared(grid: Grid, part: TablePart) -> TablePiece:
    data_rows = part.box.last_row - part.box.first_row + 1 - part.header_rows - part.totals_rows
    if data_rows < 1:
        return TablePiece(part.box, part=part)
    names = _flat_names(grid, part.box, part.header_rows) if part.header_rows else part.columns
    columns = tuple(range(part.box.first_column, part.box.last_column + 1))
    header = (*names, *[""] * len(columns))[: len(columns)]
    return TablePiece(part.box, part.header_rows, columns, header, part.totals_rows, part)


class _Block:
    """A range of the sheet, its rows that have a cell there, and where the positions of these cells start and end."""

    def __init__(self, grid: Grid, box: Box) -> None:
        rows = grid.rows_in(box)
        starts, ends = grid.spans(rows, box)
        filled = np.flatnonzero(ends > starts).tolist()
        self.grid = grid
        self.box = box
        self.rows = [rows[i] for i in filled]
        self.starts, self.ends = starts[filled], ends[filled]
        self.counts = self.ends - self.starts

    @property
    def is_one_column(self) -> bool:
        """Whether the range is one column wide."""
        return self.box.first_column == self.box.last_column

    @cached_property
    def positions(self) -> Places:
        """The positions of all cells."""
        return ranges(self.starts, self.ends)

    def cells(self, i: int) -> range:
        """The positions of the cells of the i-th row."""
        return range(int(self.starts[i]), int(self.ends[i]))

    def lone_cell(self, i: int) -> tuple[int, Box] | None:
        """The position of the i-th row's only cell, and its range; None where there are several."""
        if self.counts[i] != 1:
            return None
        row, position = self.rows[i], int(self.starts[i])
        column = self.grid.column_of(position)
        return position, self.grid.merges.get((row, column), Box(row, row, column, column))

    def are_texts(self, i: int) -> bool:
        """Whether all cells of the i-th row hold texts."""
        return all(self.grid.is_text(position) for position in self.cells(i))

    def are_labels(self, i: int) -> bool:
        """Whether all cells of the i-th row are texts or years."""
        return all(_is_label(self.grid, position) for position in self.cells(i))

    def inside(self, occupied: Places, first_row: int) -> Places:
        """The taken places of the range from a row on."""
        start, end = np.searchsorted(occupied, [first_row << COLUMN_BITS, self.box.last_row + 1 << COLUMN_BITS])
        places = occupied[start:end]
        columns = places & (1 << COLUMN_BITS) - 1
        return places[(columns >= self.box.first_column) & (columns <= self.box.last_column)]


def _pieces_of(grid: Grid, box: Box, occupied: Places, peels: int) -> Iterator[Piece]:
    """A block's titles, its table or texts, and its notes below; what stands under a title is cut anew."""
    if box.first_row == box.last_row and box.first_column == box.last_column and len(grid) > 1:
        if grid.span(box.first_row, box):
            yield TextPiece(box, title=False)
        return
    block = _Block(grid, box)
    if not block.rows:
        return
    if peels and (title := _title(block)):
        yield TextPiece(title, title=True)
        for smaller in blocks(block.inside(occupied, title.last_row + 1)):
            yield from _pieces_of(grid, smaller, occupied, peels - 1)
    elif peels and (note := _note(block)):
        above = Box(box.first_row, note.first_row - 1, box.first_column, box.last_column)
        yield from _pieces_of(grid, above, occupied, peels - 1)
        yield TextPiece(note, title=False)
    else:
        yield from _table_or_texts(block)


def _title(block: _Block) -> Box | None:
    """The range of a title: the only text of the first row, merged over columns or standing above a row of names."""
    if block.is_one_column or len(block.rows) < 2 or (found := block.lone_cell(0)) is None:
        return None
    position, place = found
    if not block.grid.is_text(position) or place.last_row >= block.rows[-1]:
        return None
    wide = place.last_column > place.first_column
    if place.last_row > place.first_row and not wide:
        return None
    below = next(i for i, row in enumerate(block.rows) if row > place.last_row)
    if not (block.counts[below:] > 1).any():
        return None
    return place if wide or block.are_texts(below) else None


def _note(block: _Block) -> Box | None:
    """The range of a note below a table: the only text of the last row, merged over columns or opening as notes do."""
    if block.is_one_column or len(block.rows) < 3 or (found := block.lone_cell(-1)) is None:
        return None
    position, place = found
    merged = place.last_column > place.first_column
    is_note = block.grid.is_text(position) and (merged or bool(_NOTE.match(block.grid.text_of(position))))
    return place if is_note else None


def _table_or_texts(block: _Block) -> Iterator[Piece]:
    grid, box, single = block.grid, block.box, block.is_one_column
    if (single and not _is_typed_column(block)) or (block.counts.max() == 1 and not single):
        for i in range(len(block.rows)):
            found = block.lone_cell(i)
            yield TextPiece(found[1] if found else box, title=False)
        return
    depth = 0 if _is_lone_value(block) else _header_depth(block)
    if box.first_row + depth > block.rows[-1]:
        yield TablePiece(box)
        return
    names = dict(zip(range(box.first_column, box.last_column + 1), _flat_names(grid, box, depth), strict=True))
    columns = tuple(np.unique(grid.cells.columns[block.positions]).tolist())
    yield TablePiece(box, depth, columns, tuple(names[column] for column in columns))


def _is_lone_value(block: _Block) -> bool:
    """Whether a number, date or the like is all that a sheet holds: a table of one value without a name."""
    if len(block.grid) != 1:
        return False
    position = int(block.starts[0])
    return not block.grid.is_void(position) and not block.grid.is_text(position)


def _is_typed_column(block: _Block) -> bool:
    """Whether a single column is a list under a name, of values other than text or of short texts, or a lone value."""
    kinds = block.grid.cells.values.kinds[block.starts]
    if len(kinds) < 2 or not kinds[0]:
        return _is_lone_value(block)
    if (kinds[1:] != _STRING).any():
        return True
    texts = block.grid.cells.values.texts.take(pa.array(block.starts))
    return len(kinds) > 2 and (pc.max(pc.utf8_length(texts)).as_py() or 0) <= _LIST_TEXT


def _header_depth(block: _Block) -> int:
    """How many rows are header: as deep as merged cells in the first row reach, and one more under each that spans columns."""
    grid, box = block.grid, block.box
    first, last = box.first_row, block.rows[-1]
    merges = [merge for merge in grid.merges_in(first, box) if merge.last_row < last]
    depth = max([merge.last_row - first + 1 for merge in merges], default=1)
    while first + depth < last and depth < _DEEPEST_HEADER:
        spans = [merge for merge in grid.merges_in(first + depth - 1, box) if merge.last_column > merge.first_column]
        below = grid.span(first + depth, box)
        if not spans or not below or not all(_is_label(grid, position) for position in below):
            break
        depth += 1
    if depth == 1 and not merges and _has_bare_groups(block):
        return 2
    return min(depth, _DEEPEST_HEADER)


def _is_label(grid: Grid, position: int) -> bool:
    """Whether a cell is a text, or a number that a year could be."""
    if grid.is_text(position):
        return True
    value = grid.value_at(position)
    return value.kind is ColumnType.NUMBER and isinstance(value.value, int) and value.value in _YEARS


def _has_bare_groups(block: _Block) -> bool:
    """Whether the first row names groups of the columns that the second names, without merging: gaps above names above numbers."""
    if len(block.rows) < 3 or block.rows[1] != block.rows[0] + 1:
        return False
    above, names = ({block.grid.column_of(position) for position in block.cells(i)} for i in (0, 1))
    gaps = [column for column in range(block.box.first_column, block.box.last_column + 1) if column not in above]
    if not gaps or gaps[0] == block.box.first_column or not names.issuperset(gaps) or not block.are_labels(1):
        return False
    below = block.positions[int(block.counts[:2].sum()) :]
    kinds = block.grid.cells.values.kinds[below[np.isin(block.grid.cells.columns[below], gaps)]]
    return bool(len(kinds)) and not (kinds == _STRING).any()


def _flat_names(grid: Grid, box: Box, depth: int) -> tuple[str, ...]:
    """One name a column: the labels above it from top to bottom, each merged one over all columns it spans (row H03)."""
    last = box.first_row + depth - 1
    labels = [_labels(grid, box, row, fill=row < last) for row in range(box.first_row, last + 1)]
    return tuple(_stacked([row[i] for row in labels]) for i in range(box.last_column - box.first_column + 1))


def _stacked(labels: Sequence[str]) -> str:
    """Labels above one another as one name; one that a merged cell repeats stands once."""
    kept = [label for i, label in enumerate(labels) if label and (i == 0 or label != labels[i - 1])]
    return " ".join(kept)


def _labels(grid: Grid, box: Box, row: int, *, fill: bool) -> list[str]:
    """The label of each column in a header row; in rows above the last one, a bare label reaches over the gap to its right."""
    labels = [""] * (box.last_column - box.first_column + 1)
    for position in grid.span(row, box):
        labels[grid.column_of(position) - box.first_column] = _label(grid, position)
    covered = set()
    for merge in (merge for above in range(box.first_row, row + 1) for merge in grid.merges_in(above, box)):
        if merge.last_row >= row:
            text = " ".join(grid.value(merge.first_row, merge.first_column).text.split())
            for column in range(max(merge.first_column, box.first_column), min(merge.last_column, box.last_column) + 1):
                labels[column - box.first_column] = text
                covered.add(column - box.first_column)
    if fill and not covered:
        for i in range(1, len(labels)):
            labels[i] = labels[i] or labels[i - 1]
    return labels


def _label(grid: Grid, position: int) -> str:
    return " ".join(grid.text_of(position).split())


def _titled(grid: Grid, piece: Piece, following: Sequence[Piece]) -> Piece:
    """Makes a text that stands alone, short and just above a table the table's title."""
    if not isinstance(piece, TextPiece) or piece.title or not following or not isinstance(following[0], TablePiece):
        return piece
    text, table = grid.value(piece.box.first_row, piece.box.first_column), following[0].box
    near = 0 < table.first_row - piece.box.last_row <= _TITLE_DISTANCE
    above = piece.box.first_column <= table.last_column and table.first_column <= piece.box.last_column
    short = text.kind is ColumnType.STRING and len(text.text) <= _TITLE_TEXT and not text.text.rstrip().endswith((".", ":", ";"))
    return TextPiece(piece.box, title=True) if near and above and short else piece
