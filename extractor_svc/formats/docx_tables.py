"""Tables of a document: their grid, the rows as text, and a typed dataset where the first row is plainly a header."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from artifact.locators import DocxPlace
from artifact.model import Cell, ColumnType, Dataset
from extractor_svc.errors import OutputLimit
from extractor_svc.limits import Limits
from extractor_svc.tabular import TableRow, build_dataset, column_values_of_text, decimal_mark_of
from extractor_svc.text_values import reads_as_number_or_date

_FEWEST: Final = 2


@dataclass(frozen=True, slots=True)
class Table:
    """A table's cells without those a merge covers, with the paths of its rows and cells, and what sets rows apart.

    A `plain_grid` has no merged cells and no table within a cell. `text` and `lines` have one space for white space within
    a cell, so that a row stays a line.
    """

    cells: tuple[Cell, ...]
    row_paths: tuple[str, ...]
    cell_paths: tuple[str, ...]
    columns: int
    has_header: bool
    has_total: bool
    plain_grid: bool

    @property
    def text(self) -> str:
        """The rows, one a line; those without text are left out."""
        return "\n".join(line for line in self.lines() if line.strip())

    def lines(self) -> list[str]:
        """Each row's cells joined by a tab; columns without a cell are passed over by a tab each."""
        lines = [""] * len(self.row_paths)
        reached = [0] * len(self.row_paths)
        for cell in self.cells:
            if cell.text.strip():
                lines[cell.row] += "\t" * (cell.column - reached[cell.row]) + " ".join(cell.text.split())
                reached[cell.row] = cell.column
        return lines

    def text_at(self, path: str) -> str | None:
        """The text of a row or a cell by its path; None where the path is neither's."""
        if path in self.row_paths:
            return self.lines()[self.row_paths.index(path)]
        return self.cells[self.cell_paths.index(path)].text if path in self.cell_paths else None


def refuse_wide_text(table: Table, limits: Limits) -> None:
    """Refuses a table whose rows would be mostly tabs.

    Raises:
        OutputLimit: its text would be longer than all text of a document may be.
    """
    if sum(cell.column + len(cell.text) for cell in table.cells if cell.text) > limits.max_text_chars:
        raise OutputLimit(
            f"a table has more than {limits.max_text_chars} characters; split it",
            metadata={"max_text_chars": str(limits.max_text_chars)},
        )


def holds_data(table: Table) -> bool:
    """Whether the table is one header row over rows of data.

    It has two columns at least, no merged cells and no tables in cells, and a name over every column but perhaps the first.
    And either the document sets the first row apart (it repeats on every page, or the table's style draws it so), or that
    row is all words while a column below it is all numbers.
    """
    size = len(table.row_paths) * table.columns
    if not table.plain_grid or len(table.row_paths) < _FEWEST or table.columns < _FEWEST or size > 2 * len(table.cells):
        return False
    header, body = _parted(table)
    if not all(header[1:]) or not any(text for row in body for text in row):
        return False
    return table.has_header or (
        all(header)
        and not any(reads_as_number_or_date(text) for text in header)
        and any(_all_numbers(column) for column in zip(*body, strict=True))
    )


def dataset_of(table: Table, *, dataset_id: str, name: str, locator: DocxPlace, limits: Limits) -> Dataset:
    """The typed dataset of a table that holds data; a last row that the style draws as a total is no part of it."""
    header, body = _parted(table)
    mark = decimal_mark_of([text for row in body for text in row])
    columns = [column_values_of_text(texts, decimal_mark=mark) for texts in zip(*body, strict=True)]
    rows = (
        TableRow(DocxPlace(locator.part, path, path), values)
        for path, values in zip(table.row_paths[1:], zip(*columns, strict=True), strict=False)
        if any(value.text.strip() for value in values)
    )
    return build_dataset(dataset_id=dataset_id, name=name, header=header, rows=rows, locator=locator, header_rows=1, limits=limits)


def _parted(table: Table) -> tuple[list[str], list[list[str]]]:
    grid = [[""] * table.columns for _ in table.row_paths]
    for cell in table.cells:
        grid[cell.row][cell.column] = " ".join(cell.text.split())
    return grid[0], grid[1 : len(grid) - table.has_total]


def _all_numbers(column: Sequence[str]) -> bool:
    kinds = {value.kind for value in column_values_of_text(column) if value.text.strip()}
    return kinds == {ColumnType.NUMBER}
