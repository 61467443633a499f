"""Tables over one or more pages, and the typed datasets they make."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from artifact.locators import PdfPlace
from artifact.model import Cell, Dataset
from extractor_svc.blocks import count_words
from extractor_svc.formats.pdf_geometry import span_overlap
from extractor_svc.formats.pdf_grids import Grid
from extractor_svc.formats.pdf_headers import header_rows_of, names_of
from extractor_svc.formats.pdf_places import page_box
from extractor_svc.limits import Limits
from extractor_svc.tabular import TableRow, build_dataset, column_values_of_text, decimal_mark_of
from extractor_svc.text_values import reads_as_number_or_date

_DRIFT: Final = 4.0
"""Points by which column borders may differ from page to page."""
_EXACT: Final = 1.5
CONTINUED: Final = re.compile(
    r"\b(?:continued|cont['’.]?d?|suite|fortsetzung|forts|continuaci[oó]n|continua|segue)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class TablePart:
    """The part of a table that stands on one page; `first_row` is the first one below a repeated header."""

    page: int
    label: str
    grid: Grid
    first_row: int = 0

    @property
    def rows(self) -> range:
        """The rows that count."""
        return range(self.first_row, self.grid.row_count)

    @property
    def text(self) -> str:
        """The rows' text."""
        return self.grid.text_of_rows(self.rows)

    @property
    def repeated_words(self) -> int:
        """How many words the repeated header has."""
        return count_words(self.grid.text_of_rows(range(self.first_row)))

    def place(self) -> PdfPlace:
        """The place of the rows that count."""
        return self.place_of_rows(self.first_row, self.grid.row_count)

    def place_of_rows(self, first: int, end: int) -> PdfPlace:
        """The place of the rows from `first` up to, not including, `end`."""
        boxes = tuple(page_box(self.page, box) for box in self.grid.boxes_of(first, end))
        return PdfPlace(self.page, self.page, self.label, boxes)


@dataclass(frozen=True, slots=True)
class Table:
    """A table and where it goes on, page by page; `header_rows` are those of its first part, 0 where it has none."""

    parts: tuple[TablePart, ...]
    header_rows: int

    @property
    def text(self) -> str:
        """All rows, one a line, cells joined by tabs."""
        return "\n".join(part.text for part in self.parts)

    def cells(self) -> tuple[Cell, ...]:
        """The cells of all parts as one grid."""
        return tuple(_cells(self.parts))

    def place(self) -> PdfPlace:
        """The place of the table: a box a page."""
        places = [part.place() for part in self.parts]
        return replace(places[0], last_page=places[-1].last_page, boxes=tuple(box for place in places for box in place.boxes))


def table_of(page: int, label: str, grid: Grid) -> Table:
    """A table of one page."""
    return Table((TablePart(page, label, grid),), header_rows_of(grid))


def continued(table: Table, page: int, label: str, *, grid: Grid) -> Table | None:
    """The table with a grid of the next page as its next part; None where the grid is a table of its own.

    It goes on when its columns stand as the table's do and it repeats the table's header, or has none and its columns stand
    exactly so and its first row holds figures where the table's columns do.
    """
    last = table.parts[-1]
    if last.page + 1 != page or not _alike(last.grid, grid, within=_DRIFT):
        return None
    header = table.header_rows
    if header and _same_rows(table.parts[0].grid, grid, header):
        return replace(table, parts=(*table.parts, TablePart(page, label, grid, header)))
    if _alike(last.grid, grid, within=_EXACT) and _begins_with_data(last.grid, grid):
        return replace(table, parts=(*table.parts, TablePart(page, label, grid)))
    return None


def dataset_of(table: Table, *, dataset_id: str, name: str, limits: Limits) -> Dataset | None:
    """The typed dataset of a table; None where it has no header, no row below it, or one column."""
    if not table.header_rows:
        return None
    first = table.parts[0].grid
    starts = [table.header_rows, *(part.first_row for part in table.parts[1:])]
    rows = [record for part, start in zip(table.parts, starts, strict=True) for record in _records(part, start)]
    if not rows:
        return None
    mark = decimal_mark_of([text for _, texts in rows for text in texts])
    columns = [column_values_of_text([texts[at] for _, texts in rows], decimal_mark=mark) for at in range(first.column_count)]
    return build_dataset(
        dataset_id=dataset_id,
        name=name,
        header=names_of(first, table.header_rows),
        rows=(TableRow(place, [column[i] for column in columns]) for i, (place, _) in enumerate(rows)),
        locator=table.place(),
        header_rows=table.header_rows,
        limits=limits,
    )


def _records(part: TablePart, start: int) -> Iterator[tuple[PdfPlace, list[str]]]:
    """The rows of a part from `start`: a cell over several rows stands in each, one over several columns in the first."""
    grid = part.grid
    cover = grid.cover()
    for row in range(start, grid.row_count):
        values = [grid.text_of(cell) if cell.column == at else "" for at, cell in enumerate(cover[row])]
        if any(values):
            yield part.place_of_rows(row, row + 1), values


def _cells(parts: Sequence[TablePart]) -> Iterator[Cell]:
    offset = 0
    for part in parts:
        for cell in part.grid.cells:
            if cell.row >= part.first_row:
                yield Cell(
                    row=cell.row - part.first_row + offset,
                    column=cell.column,
                    text=part.grid.text_of(cell),
                    row_span=cell.row_span,
                    column_span=cell.column_span,
                )
        offset += len(part.rows)


def _alike(first: Grid, second: Grid, *, within: float) -> bool:
    """Whether the columns stand as those of the other do: their borders, or without lines their texts."""
    if first.column_count != second.column_count or bool(first.bands) != bool(second.bands):
        return False
    if first.bands:
        return all(_meet(a, b, at) for at in range(first.column_count) for a, b in ((first, second), (second, first)))
    return all(abs(a - b) <= within for a, b in zip(first.xs, second.xs, strict=True))


def _meet(first: Grid, second: Grid, at: int) -> bool:
    """Whether a column's texts stand where those of the other's same column do, and less in any other."""
    own = first.extent(at)
    shared = [span_overlap(own, second.extent(column)) for column in range(second.column_count)]
    return shared[at] > 0 and all(shared[at] > other for column, other in enumerate(shared) if column != at)


def _same_rows(first: Grid, second: Grid, count: int) -> bool:
    return second.row_count > count and first.text_of_rows(range(count)) == second.text_of_rows(range(count))


def _begins_with_data(first: Grid, second: Grid) -> bool:
    """Whether the second's first row has figures where the first's last row has."""
    if second.row_count < 1 or not first.row_count:
        return False
    above = [reads_as_number_or_date(first.text_of(cell)) for cell in first.cover()[-1]]
    below = [reads_as_number_or_date(second.text_of(cell)) for cell in second.cover()[0]]
    return any(above) and above == below
