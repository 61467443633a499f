"""Tables on slides: their grid, the rows as text, and a typed dataset where the first row is plainly a header."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from artifact.locators import SlidePlace
from artifact.model import Cell, ColumnType, Dataset
from extractor_svc.blocks import count_words
from extractor_svc.errors import TooManyColumns, TooManyRows
from extractor_svc.formats.pptx_deck import is_true, whole_number
from extractor_svc.formats.pptx_text import live_children, paragraphs_of
from extractor_svc.limits import Limits
from extractor_svc.ooxml import Element, child_of, local_name
from extractor_svc.tabular import TableRow, build_dataset, column_values_of_text, decimal_mark_of
from extractor_svc.text_values import reads_as_number_or_date

_FEWEST: Final = 2


@dataclass(frozen=True, slots=True)
class Table:
    """A table's cells without those a merge covers, whose words are counted, and what its style says of its rows."""

    cells: tuple[Cell, ...]
    rows: int
    columns: int
    first_row_stands_out: bool
    last_row_stands_out: bool
    covered_words: int

    @property
    def text(self) -> str:
        """The rows, one a line; those without text are left out."""
        return "\n".join(line for line in self.lines() if line.strip())

    def lines(self) -> list[str]:
        """Each row's cells joined by a tab; white space within a cell is one space, so that the row stays a line."""
        lines = [""] * self.rows
        reached = [0] * self.rows
        for cell in self.cells:
            if cell.text.strip():
                lines[cell.row] += "\t" * (cell.column - reached[cell.row]) + " ".join(cell.text.split())
                reached[cell.row] = cell.column
        return lines


def read_table(element: Element) -> Table:
    """Reads a table; a row with fewer cells than others ends early."""
    properties = child_of(element, "tblPr")
    rows = [row for row in live_children(element) if local_name(row) == "tr"]
    grid = [[cell for cell in live_children(row) if local_name(cell) == "tc"] for row in rows]
    columns = max((len(row) for row in grid), default=0)
    covered = (_cell_text(cell) for row in grid for cell in row if _is_covered(cell))
    return Table(
        cells=tuple(_cells(grid, columns)),
        rows=len(grid),
        columns=columns,
        first_row_stands_out=properties is not None and is_true(properties.get("firstRow")),
        last_row_stands_out=properties is not None and is_true(properties.get("lastRow")),
        covered_words=sum(count_words(text) for text in covered),
    )


def check_size(table: Table, limits: Limits) -> None:
    """Refuses a table that is larger than the limits.

    Raises:
        TooManyColumns, TooManyRows: it is.
    """
    if table.columns > limits.max_columns:
        raise TooManyColumns(
            f"a table has {table.columns} columns and at most {limits.max_columns} are read",
            metadata={"columns": str(table.columns), "max_columns": str(limits.max_columns)},
        )
    if table.rows > limits.max_rows:
        raise TooManyRows(
            f"a table has {table.rows} rows and at most {limits.max_rows} are read",
            metadata={"rows": str(table.rows), "max_rows": str(limits.max_rows)},
        )


def holds_data(table: Table) -> bool:
    """Whether the table is one header row over rows of data.

    It has no merged cells, and a name over every column but perhaps the first; and either its style sets the first row
    apart, or that row is all words while a column below it is all numbers.
    """
    grid = _texts(table)
    if len(grid) < _FEWEST or table.columns < _FEWEST or len(table.cells) != table.rows * table.columns:
        return False
    header, body = grid[0], grid[1 : table.rows - table.last_row_stands_out]
    if not all(text.strip() for text in header[1:]) or not any(text.strip() for row in body for text in row):
        return False
    return table.first_row_stands_out or (
        not any(reads_as_number_or_date(text) for text in header)
        and any(_all_numbers(column) for column in zip(*body, strict=True))
    )


def dataset_of(table: Table, *, dataset_id: str, name: str, locator: SlidePlace, limits: Limits) -> Dataset:
    """The typed dataset of a table that holds data; a last row that is set apart, as totals are, is no part of it."""
    grid = _texts(table)
    body = grid[1 : table.rows - table.last_row_stands_out]
    mark = decimal_mark_of([text for row in body for text in row])
    columns = [column_values_of_text(texts, decimal_mark=mark) for texts in zip(*body, strict=True)]
    rows = (
        TableRow(row_place(locator, number), values)
        for number, values in enumerate(zip(*columns, strict=True), 2)
        if any(value.text.strip() for value in values)
    )
    return build_dataset(dataset_id=dataset_id, name=name, header=grid[0], rows=rows, locator=locator, header_rows=1, limits=limits)


def row_place(table: SlidePlace, number: int) -> SlidePlace:
    """The place of a table's row, counted from 1."""
    return SlidePlace(table.first_slide, table.last_slide, f"{table.shape}/r{number}", table.notes)


def _cells(grid: Sequence[Sequence[Element]], columns: int) -> Iterator[Cell]:
    for row, elements in enumerate(grid):
        for column, element in enumerate(elements):
            if not _is_covered(element):
                yield Cell(
                    row=row,
                    column=column,
                    text=_cell_text(element),
                    row_span=_span(element, "rowSpan", len(grid) - row),
                    column_span=_span(element, "gridSpan", columns - column),
                )


def _is_covered(cell: Element) -> bool:
    return is_true(cell.get("hMerge")) or is_true(cell.get("vMerge"))


def _span(cell: Element, name: str, most: int) -> int:
    return max(1, min(whole_number(cell.get(name)) or 1, most))


def _cell_text(cell: Element) -> str:
    body = child_of(cell, "txBody")
    return "" if body is None else "\n".join(paragraphs_of(body)).strip("\n")


def _texts(table: Table) -> list[list[str]]:
    grid = [[""] * table.columns for _ in range(table.rows)]
    for cell in table.cells:
        grid[cell.row][cell.column] = " ".join(cell.text.split())
    return grid


def _all_numbers(column: Sequence[str]) -> bool:
    kinds = {value.kind for value in column_values_of_text(column) if value.text.strip()}
    return kinds == {ColumnType.NUMBER}
