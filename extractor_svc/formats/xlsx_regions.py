"""Where the tables and texts of a sheet lie: blocks of cells parted by empty rows and columns, titles above, headers on top."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeAlias

from artifact.model import ColumnType
from extractor_svc.formats.xlsx_grid import Box, Grid
from extractor_svc.values import Value

Occupied: TypeAlias = Mapping[int, Collection[int]]
"""The columns that are taken in each row, rows ascending."""

_MERGE_SIDE: Final = 1_000
_MERGE_CELLS: Final = 1_000_000
_MOST_PEELED: Final = 20
_DEEPEST_HEADER: Final = 5
_LIST_TEXT: Final = 80
_TITLE_TEXT: Final = 120
_TITLE_DISTANCE: Final = 3
_YEARS: Final = range(1900, 2101)
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
    boxes = _blocks(occupied)
    if any(box.touches(part.box) for box in boxes for part in declared) or _overlap(declared):
        occupied = _occupied(grid, [])
        declared, boxes = [], _blocks(occupied)
    pieces: list[Piece] = [_declared(grid, part) for part in declared]
    for box in boxes:
        pieces.extend(_pieces_of(grid, box, occupied, _MOST_PEELED))
    pieces.sort(key=lambda piece: (piece.box.first_row, piece.box.first_column))
    return [_titled(grid, piece, pieces[i + 1 : i + 2]) for i, piece in enumerate(pieces)]


def values_in(grid: Grid, row: int, box: Box) -> list[tuple[int, Value]]:
    """The cells of a row that lie in a range and show something, by column."""
    first, last = box.first_column, box.last_column
    cells = grid.rows.get(row, {})
    return [(column, value) for column, value in cells.items() if first <= column <= last and _shows(value)]


def _is_filled(grid: Grid, row: int, box: Box) -> bool:
    return any(box.first_column <= column <= box.last_column and _shows(value) for column, value in grid.rows[row].items())


def _shows(value: Value) -> bool:
    return value.kind is not None or bool(value.formula or value.error or value.text.strip())


def _occupied(grid: Grid, without: Sequence[Box]) -> Occupied:
    """Cells with something in them and those merged with one, but for some ranges; vast merged ranges count as one cell."""
    taken: dict[int, Collection[int]] = dict(grid.rows)
    left = _MERGE_CELLS
    for box in grid.merges.values():
        height, width = box.last_row - box.first_row + 1, box.last_column - box.first_column + 1
        left -= height * width
        if height > _MERGE_SIDE or width > _MERGE_SIDE or left < 0:
            continue
        for row in range(box.first_row, box.last_row + 1):
            taken[row] = {*taken.get(row, ()), *range(box.first_column, box.last_column + 1)}
    for box in without:
        for row in [row for row in taken if box.first_row <= row <= box.last_row]:
            taken[row] = [column for column in taken[row] if not box.holds(row, column)]
    return {row: taken[row] for row in sorted(taken) if taken[row]}


def _overlap(parts: Sequence[TablePart]) -> bool:
    return any(one.box.touches(other.box) for i, one in enumerate(parts) for other in parts[:i])


def _blocks(occupied: Occupied) -> list[Box]:
    """Cuts along empty rows, empty columns, and corners where all below lies beside all above, until nothing is left to cut."""
    if not occupied:
        return []
    done: list[Box] = []
    work = [_Part([(row, list(columns)) for row, columns in occupied.items()])]
    while work:
        part = work.pop()
        smaller = part.cut()
        if smaller is None:
            done.append(part.box())
        else:
            work.extend(smaller)
    return done


@dataclass(frozen=True, slots=True)
class _Part:
    """Rows with the columns taken in each, none of them empty."""

    rows: Sequence[tuple[int, Sequence[int]]]

    def cut(self) -> list[_Part] | None:
        return self._along_rows() or self._along_columns() or self._at_a_corner()

    def box(self) -> Box:
        columns = [column for _, taken in self.rows for column in (min(taken), max(taken))]
        return Box(self.rows[0][0], self.rows[-1][0], min(columns), max(columns))

    def _along_rows(self) -> list[_Part] | None:
        starts = [i for i in range(1, len(self.rows)) if self.rows[i][0] - self.rows[i - 1][0] > 1]
        return self._split_at(starts) if starts else None

    def _along_columns(self) -> list[_Part] | None:
        taken = sorted(set().union(*(columns for _, columns in self.rows)))
        starts = [0, *(i for i in range(1, len(taken)) if taken[i] - taken[i - 1] > 1), len(taken)]
        if len(starts) == 2:
            return None
        group_of = {column: group for group, (a, b) in enumerate(pairwise(starts)) for column in taken[a:b]}
        groups: list[list[tuple[int, list[int]]]] = [[] for _ in range(len(starts) - 1)]
        for row, columns in self.rows:
            for column in columns:
                group = groups[group_of[column]]
                if not group or group[-1][0] != row:
                    group.append((row, []))
                group[-1][1].append(column)
        return [_Part(group) for group in groups]

    def _at_a_corner(self) -> list[_Part] | None:
        """Cuts between rows where the columns above all lie left, or all right, of those below."""
        lows, highs = [min(columns) for _, columns in self.rows], [max(columns) for _, columns in self.rows]
        below_low, below_high = lows[:], highs[:]
        for i in range(len(lows) - 2, -1, -1):
            below_low[i] = min(below_low[i], below_low[i + 1])
            below_high[i] = max(below_high[i], below_high[i + 1])
        starts, low, high = [], lows[0], highs[0]
        for i in range(1, len(self.rows)):
            if high < below_low[i] or low > below_high[i]:
                starts.append(i)
            low, high = min(low, lows[i]), max(high, highs[i])
        return self._split_at(starts) if starts else None

    def _split_at(self, starts: Sequence[int]) -> list[_Part]:
        edges = [0, *starts, len(self.rows)]
        return [_Part(self.rows[a:b]) for a, b in pairwise(edges)]


def _declared(grid: Grid, part: TablePart) -> TablePiece:
    data_rows = part.box.last_row - part.box.first_row + 1 - part.header_rows - part.totals_rows
    if data_rows < 1:
        return TablePiece(part.box, part=part)
    names = _flat_names(grid, part.box, part.header_rows) if part.header_rows else part.columns
    columns = tuple(range(part.box.first_column, part.box.last_column + 1))
    header = (*names, *[""] * len(columns))[: len(columns)]
    return TablePiece(part.box, part.header_rows, columns, header, part.totals_rows, part)


def _pieces_of(grid: Grid, box: Box, occupied: Occupied, peels: int) -> Iterator[Piece]:
    """A block's titles, its table or texts, and its notes below; what stands under a title is cut anew."""
    rows = [row for row in grid.rows_in(box) if _is_filled(grid, row, box)]
    if not rows:
        return
    if peels and (title := _title(grid, box, rows)):
        yield TextPiece(title, title=True)
        below = Box(title.last_row + 1, box.last_row, box.first_column, box.last_column)
        for smaller in _blocks(_inside(occupied, below)):
            yield from _pieces_of(grid, smaller, occupied, peels - 1)
    elif peels and (note := _note(grid, box, rows)):
        above = Box(box.first_row, note.first_row - 1, box.first_column, box.last_column)
        yield from _pieces_of(grid, above, occupied, peels - 1)
        yield TextPiece(note, title=False)
    else:
        yield from _table_or_texts(grid, box, rows)


def _inside(occupied: Occupied, box: Box) -> Occupied:
    rows = ((row, occupied[row]) for row in range(box.first_row, box.last_row + 1) if row in occupied)
    kept = ((row, [column for column in columns if box.holds(row, column)]) for row, columns in rows)
    return {row: columns for row, columns in kept if columns}


def _title(grid: Grid, box: Box, rows: Sequence[int]) -> Box | None:
    """The range of a title: the only text of the first row, merged over columns or standing above a row of names."""
    cells = values_in(grid, rows[0], box)
    if len(cells) != 1 or box.first_column == box.last_column or len(rows) < 2:
        return None
    column, value = cells[0]
    place = grid.merges.get((rows[0], column), Box(rows[0], rows[0], column, column))
    if value.kind is not ColumnType.STRING or place.last_row >= rows[-1]:
        return None
    wide = place.last_column > place.first_column
    if place.last_row > place.first_row and not wide:
        return None
    below = [row for row in rows if row > place.last_row]
    if not any(len(values_in(grid, row, box)) > 1 for row in below):
        return None
    names = all(value.kind is ColumnType.STRING for _, value in values_in(grid, below[0], box))
    return place if wide or names else None


def _note(grid: Grid, box: Box, rows: Sequence[int]) -> Box | None:
    """The range of a note below a table: the only text of the last row, merged over columns or opening as notes do."""
    cells = values_in(grid, rows[-1], box)
    if len(cells) != 1 or len(rows) < 3 or box.first_column == box.last_column:
        return None
    column, value = cells[0]
    place = grid.merges.get((rows[-1], column), Box(rows[-1], rows[-1], column, column))
    merged = place.last_column > place.first_column
    is_note = value.kind is ColumnType.STRING and (merged or bool(_NOTE.match(value.text)))
    return place if is_note else None


def _table_or_texts(grid: Grid, box: Box, rows: Sequence[int]) -> Iterator[Piece]:
    counts = [len(values_in(grid, row, box)) for row in rows]
    single = box.first_column == box.last_column
    if (single and not _is_typed_column(grid, box, rows)) or (max(counts) == 1 and not single):
        for row in rows:
            for column, _ in values_in(grid, row, box):
                yield TextPiece(grid.merges.get((row, column), Box(row, row, column, column)), title=False)
        return
    depth = 0 if _is_lone_value(grid, box) else _header_depth(grid, box, rows)
    if box.first_row + depth > rows[-1]:
        yield TablePiece(box)
        return
    names = dict(zip(range(box.first_column, box.last_column + 1), _flat_names(grid, box, depth), strict=True))
    filled = {column for row in rows for column, _ in values_in(grid, row, box)}
    columns = tuple(column for column in names if column in filled)
    yield TablePiece(box, depth, columns, tuple(names[column] for column in columns))


def _is_lone_value(grid: Grid, box: Box) -> bool:
    """Whether a number, date or the like is all that a sheet holds: a table of one value without a name."""
    alone = len(grid.rows) == 1 and len(grid.rows.get(box.first_row, ())) == 1
    return alone and grid.value(box.first_row, box.first_column).kind not in (None, ColumnType.STRING)


def _is_typed_column(grid: Grid, box: Box, rows: Sequence[int]) -> bool:
    """Whether a single column is a list under a name, of values other than text or of short texts, or a lone value."""
    values = [values_in(grid, row, box)[0][1] for row in rows]
    if len(values) < 2 or values[0].kind is None:
        return _is_lone_value(grid, box)
    if any(value.kind is not ColumnType.STRING for value in values[1:]):
        return True
    return len(values) > 2 and all(len(value.text) <= _LIST_TEXT for value in values)


def _header_depth(grid: Grid, box: Box, rows: Sequence[int]) -> int:
    """How many rows are header: as deep as merged cells in the first row reach, and one more under each that spans columns."""
    first, last = box.first_row, rows[-1]
    merges = [merge for merge in _merges_in(grid, box, first) if merge.last_row < last]
    depth = max([merge.last_row - first + 1 for merge in merges], default=1)
    while first + depth < last and depth < _DEEPEST_HEADER:
        spans = [merge for merge in _merges_in(grid, box, first + depth - 1) if merge.last_column > merge.first_column]
        if not spans or not _are_labels(grid, box, first + depth):
            break
        depth += 1
    if depth == 1 and not merges and _has_bare_groups(grid, box, rows):
        return 2
    return min(depth, _DEEPEST_HEADER)


def _merges_in(grid: Grid, box: Box, row: int) -> list[Box]:
    """Merged ranges that start in a row of the block."""
    cells = grid.rows.get(row, {})
    found = (grid.merges.get((row, column)) for column in cells if box.first_column <= column <= box.last_column)
    return [merge for merge in found if merge is not None]


def _are_labels(grid: Grid, box: Box, row: int) -> bool:
    cells = values_in(grid, row, box)
    return bool(cells) and all(_is_label(value) for _, value in cells)


def _is_label(value: Value) -> bool:
    return value.kind is ColumnType.STRING or (
        isinstance(value.value, int) and value.value in _YEARS and value.kind is ColumnType.NUMBER
    )


def _has_bare_groups(grid: Grid, box: Box, rows: Sequence[int]) -> bool:
    """Whether the first row names groups of the columns that the second names, without merging: gaps above names above numbers."""
    if len(rows) < 3 or rows[1] != rows[0] + 1:
        return False
    above, names = dict(values_in(grid, rows[0], box)), dict(values_in(grid, rows[1], box))
    gaps = [column for column in range(box.first_column, box.last_column + 1) if column not in above]
    if not gaps or gaps[0] == box.first_column or not _are_labels(grid, box, rows[1]) or any(c not in names for c in gaps):
        return False
    below = [value for row in rows[2:] for column, value in values_in(grid, row, box) if column in gaps]
    return bool(below) and all(value.kind is not ColumnType.STRING for value in below)


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
    labels = [" ".join(grid.value(row, column).text.split()) for column in range(box.first_column, box.last_column + 1)]
    covered = set()
    for merge in (merge for above in range(box.first_row, row + 1) for merge in _merges_in(grid, box, above)):
        if merge.last_row >= row:
            text = " ".join(grid.value(merge.first_row, merge.first_column).text.split())
            for column in range(max(merge.first_column, box.first_column), min(merge.last_column, box.last_column) + 1):
                labels[column - box.first_column] = text
                covered.add(column - box.first_column)
    if fill and not covered:
        for i in range(1, len(labels)):
            labels[i] = labels[i] or labels[i - 1]
    return labels


def _titled(grid: Grid, piece: Piece, following: Sequence[Piece]) -> Piece:
    """Makes a text that stands alone, short and just above a table the table's title."""
    if not isinstance(piece, TextPiece) or piece.title or not following or not isinstance(following[0], TablePiece):
        return piece
    text, table = grid.value(piece.box.first_row, piece.box.first_column), following[0].box
    near = 0 < table.first_row - piece.box.last_row <= _TITLE_DISTANCE
    above = piece.box.first_column <= table.last_column and table.first_column <= piece.box.last_column
    short = text.kind is ColumnType.STRING and len(text.text) <= _TITLE_TEXT and not text.text.rstrip().endswith((".", ":", ";"))
    return TextPiece(piece.box, title=True) if near and above and short else piece
