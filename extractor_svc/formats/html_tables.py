"""Tables of a page: their grid with spans, the rows as text, and a typed dataset where they hold data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from artifact.locators import HtmlPlace
from artifact.model import Cell, ColumnType, Dataset
from extractor_svc.formats.html_places import Place
from extractor_svc.limits import Limits
from extractor_svc.tabular import TableRow, build_dataset, column_values_of_text, decimal_mark_of
from extractor_svc.text_values import reads_as_number_or_date

_FEWEST: Final = 2
_WIDEST_SPAN: Final = 1_000
_TALLEST_SPAN: Final = 65_534
"""What browsers take of `colspan` and `rowspan` at most."""


@dataclass(frozen=True, slots=True)
class SourceCell:
    """A cell as the source has it; `rows` 0 spans to the end of its group."""

    place: Place
    text: str
    columns: int
    rows: int
    is_header: bool


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A row with the number of its row group, and whether that is the table's head or foot."""

    place: Place
    group: int
    in_head: bool
    in_foot: bool
    cells: tuple[SourceCell, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table's cells on its grid, and which of its first rows are header and which of its last are totals."""

    cells: tuple[Cell, ...]
    row_places: tuple[Place, ...]
    cell_places: tuple[Place, ...]
    columns: int
    header_rows: int
    foot_rows: int
    says_header: bool

    @property
    def text(self) -> str:
        """The rows, one a line; those without text are left out."""
        return _joined(self.lines())

    def lines(self) -> list[str]:
        """Each row's cells joined by a tab; columns without text are passed over by a tab each."""
        lines: list[list[str]] = [[] for _ in self.row_places]
        reached = [0] * len(self.row_places)
        for cell in self.cells:
            if cell.text:
                lines[cell.row].append("\t" * (cell.column - reached[cell.row]) + " ".join(cell.text.split()))
                reached[cell.row] = cell.column
        return ["".join(line) for line in lines]

    def has(self, path: str) -> bool:
        """Whether a path is a row's or a cell's."""
        return _index(self.row_places, path) is not None or _index(self.cell_places, path) is not None

    def text_between(self, first: str, last: str) -> str | None:
        """The text of a cell, or of the rows from one path to another; None where a path is neither."""
        start, end = _index(self.row_places, first), _index(self.row_places, last)
        if start is not None and end is not None:
            return _joined(self.lines()[start : end + 1])
        cell = _index(self.cell_places, first) if first == last else None
        return None if cell is None else self.cells[cell].text

    def parts(self, size: int) -> Iterator[tuple[int, int, str, tuple[Cell, ...]]]:
        """The table in runs of rows of about `size` characters: first and last row, text, cells."""
        lines, by_row = self.lines(), self._by_row()
        first = length = 0
        for row, line in enumerate(lines):
            if row > first and length + len(line) > size:
                yield first, row - 1, _joined(lines[first:row]), _flat(by_row[first:row])
                first, length = row, 0
            length += len(line) + 1
        yield first, len(lines) - 1, _joined(lines[first:]), _flat(by_row[first:])

    def _by_row(self) -> list[list[Cell]]:
        rows: list[list[Cell]] = [[] for _ in self.row_places]
        for cell in self.cells:
            rows[cell.row].append(cell)
        return rows


def _index(places: Sequence[Place], path: str) -> int | None:
    return next((i for i, place in enumerate(places) if place.path == path), None)


def _joined(lines: Sequence[str]) -> str:
    return "\n".join(line for line in lines if line.strip())


def _flat(rows: Sequence[Sequence[Cell]]) -> tuple[Cell, ...]:
    return tuple(cell for row in rows for cell in row)


def span_of(written: str | None, *, most: int) -> int:
    """A span as browsers read it: the digits it starts with, at most `most`; 1 where there are none."""
    digits = ""
    for char in (written or "").strip():
        if not char.isascii() or not char.isdigit():
            break
        digits += char
        if len(digits) > len(str(most)):
            return most
    return min(int(digits), most) if digits else 1


def column_span(written: str | None) -> int:
    """The value of `colspan`; 0 is 1."""
    return span_of(written, most=_WIDEST_SPAN) or 1


def row_span(written: str | None) -> int:
    """The value of `rowspan`; 0 means all rows of the group that are left."""
    return span_of(written, most=_TALLEST_SPAN)


def lay_out(rows: Sequence[SourceRow], limits: Limits) -> Table | None:
    """Puts cells on their grid as the HTML standard does; None where the grid would be larger than the limits."""
    placed = _place(rows, limits)
    if placed is None:
        return None
    cells, places = placed
    columns = max((cell.column + cell.column_span for cell in cells), default=0)
    header_rows = _header_rows(rows, cells)
    return Table(
        cells=tuple(cells),
        row_places=tuple(row.place for row in rows),
        cell_places=tuple(places),
        columns=columns,
        header_rows=header_rows,
        foot_rows=_foot_rows(rows),
        says_header=header_rows > 0,
    )


def _place(rows: Sequence[SourceRow], limits: Limits) -> tuple[list[Cell], list[Place]] | None:
    ends = _group_ends(rows)
    taken: list[int] = []
    """The first row, by column, that no cell above reaches into."""
    cells: list[Cell] = []
    places: list[Place] = []
    area = steps = 0
    for number, row in enumerate(rows):
        column = 0
        for source in row.cells:
            while column < len(taken) and taken[column] > number:
                column += 1
                steps += 1
            height = min(source.rows or ends[number], ends[number] - number)
            area += source.columns * max(height, 1) + column // 64
            if column + source.columns > limits.max_columns or area + steps // 16 > limits.max_cells:
                return None
            taken += [0] * (column + source.columns - len(taken))
            for covered in range(column, column + source.columns):
                taken[covered] = max(taken[covered], number + height)
            cells.append(Cell(number, column, source.text, height, source.columns))
            places.append(source.place)
            column += source.columns
    return cells, places


def _group_ends(rows: Sequence[SourceRow]) -> list[int]:
    """For each row, the row behind the last of its group."""
    ends = [len(rows)] * len(rows)
    for number in range(len(rows) - 2, -1, -1):
        ends[number] = ends[number + 1] if rows[number].group == rows[number + 1].group else number + 1
    return ends


def _header_rows(rows: Sequence[SourceRow], cells: Sequence[Cell]) -> int:
    """How many first rows are header: those of the head, else those that are header cells from side to side."""
    in_head = sum(row.in_head for row in rows)
    if in_head:
        return in_head if in_head < len(rows) else 0
    widths = _widths(rows, cells)
    count = 0
    while count < len(rows) and _is_header(rows[count]) and widths[count] == max(widths):
        count += 1
    return count if count < len(rows) else 0


def _widths(rows: Sequence[SourceRow], cells: Sequence[Cell]) -> list[int]:
    """How many columns of each row have a cell, their own or one from above."""
    changes = [0] * (len(rows) + 1)
    for cell in cells:
        changes[cell.row] += cell.column_span
        changes[min(cell.row + cell.row_span, len(rows))] -= cell.column_span
    return list(accumulate(changes))[:-1]


def _is_header(row: SourceRow) -> bool:
    """Whether a row is all header cells and has more than a name of its own, as the first row of a group has."""
    if not row.cells or not all(cell.is_header for cell in row.cells if cell.text):
        return False
    return sum(bool(cell.text) for cell in row.cells) >= _FEWEST or (len(row.cells) == 1 and row.cells[0].columns >= _FEWEST)


def _foot_rows(rows: Sequence[SourceRow]) -> int:
    count = 0
    while count < len(rows) and rows[len(rows) - 1 - count].in_foot:
        count += 1
    return count


def holds_data(table: Table) -> bool:
    """Whether the table is header rows over rows of data, by its head or header cells, or by words over columns of numbers."""
    if len(table.row_places) < _FEWEST or table.columns < _FEWEST or len(table.row_places) * table.columns > 4 * len(table.cells):
        return False
    grid = _grid(table)
    depth = table.header_rows or 1
    body = [texts for _, texts in _body(table, grid, depth)]
    names = _names(grid, depth)
    if not body or not all(names[1:]) or not any(map(any, body)):
        return False
    return table.says_header or (
        all(names)
        and not any(cell.row_span > 1 or cell.column_span > 1 for cell in table.cells)
        and not any(reads_as_number_or_date(text) for text in names)
        and any(_all_numbers(column) for column in zip(*body, strict=True))
    )


def dataset_of(table: Table, *, dataset_id: str, name: str, locator: HtmlPlace, limits: Limits) -> Dataset:
    """The typed dataset of a table that holds data; what a span covers has its value, the rows of the foot are no part of it."""
    grid, depth = _grid(table), table.header_rows or 1
    body = list(_body(table, grid, depth))
    mark = decimal_mark_of([text for _, texts in body for text in texts])
    columns = [column_values_of_text(texts, decimal_mark=mark) for texts in zip(*(texts for _, texts in body), strict=True)]
    places = (HtmlPlace(table.row_places[row].path, table.row_places[row].path) for row, _ in body)
    rows = (TableRow(place, values) for place, values in zip(places, zip(*columns, strict=True), strict=True))
    return build_dataset(
        dataset_id=dataset_id,
        name=name,
        header=_names(grid, depth),
        rows=rows,
        locator=locator,
        header_rows=depth,
        limits=limits,
    )


def _grid(table: Table) -> list[list[str]]:
    """Every place's text, that of a cell wherever it reaches."""
    grid = [[""] * table.columns for _ in table.row_places]
    for cell in table.cells:
        text = " ".join(cell.text.split())
        for row in range(cell.row, min(cell.row + cell.row_span, len(grid))):
            for column in range(cell.column, cell.column + cell.column_span):
                grid[row][column] = grid[row][column] or text
    return grid


def _body(table: Table, grid: Sequence[Sequence[str]], depth: int) -> Iterator[tuple[int, Sequence[str]]]:
    """The rows of data: between header and foot, with a text of their own that does not reach over the whole width."""
    own = [False] * len(grid)
    for cell in table.cells:
        if cell.text and cell.column_span < table.columns and cell.row_span == 1:
            own[cell.row] = True
    for row in range(depth, len(grid) - table.foot_rows):
        if own[row]:
            yield row, grid[row]


def _names(grid: Sequence[Sequence[str]], depth: int) -> list[str]:
    """One name a column: the header texts over it from top to bottom, each once."""
    return [" ".join(dict.fromkeys(text for text in column if text)) for column in zip(*grid[:depth], strict=True)]


def _all_numbers(column: Sequence[str]) -> bool:
    kinds = {value.kind for value in column_values_of_text(column) if value.text.strip()}
    return kinds == {ColumnType.NUMBER}
