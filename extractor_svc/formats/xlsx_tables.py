"""The tables of a sheet: their cells one by one, and their data as typed columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from artifact.locators import SheetPlace, to_json
from artifact.model import Cell, CellFormula, Dataset, RejectedRow
from extractor_svc.errors import TooManyRows
from extractor_svc.formats.xlsx_box import Box
from extractor_svc.formats.xlsx_grid import Grid, ranges
from extractor_svc.formats.xlsx_raw import Integers
from extractor_svc.limits import Limits
from extractor_svc.made_rows import MadeRows
from extractor_svc.tabular import check_columns, name_columns, table_of
from extractor_svc.tabular_columns import hold_at
from extractor_svc.text_columns import Places, char_count, column_of, text_scalar

_REJECTED_KEPT: Final = 100
_ROWS_IN_JSON: Final = '"first_row":0,"last_row":0'


def cells_of(grid: Grid, positions: Places, box: Box, *, first_row: int) -> tuple[MadeRows[Cell], int]:
    """Some cells of a table as cells of its grid, which starts at a row and the first column of the range; and their characters."""
    cells = grid.cells
    texts = cells.values.texts.take(pa.array(positions))
    formulas, formula_chars = _formulas_at(grid, positions)
    spans = _spans_at(grid, positions, box)
    made = MadeRows(
        Cell,
        cells.rows[positions] - first_row,
        cells.columns[positions] - box.first_column,
        texts,
        spans[0],
        spans[1],
        formulas,
        pa.DictionaryArray.from_arrays(pa.array(cells.values.formats[positions]), grid.codes),
    )
    return made, char_count(texts) + formula_chars


def _formulas_at(grid: Grid, positions: Places) -> tuple[pa.StringArray, int]:
    """The formula of each cell, empty where it has none, and how long they are together."""
    if not len(grid.cells.formula_at):
        return pa.repeat(text_scalar(""), len(positions)), 0
    places = grid.formula_of[positions]
    formulas = grid.cells.formulas.take(pa.array(places, mask=places < 0))
    return pc.fill_null(formulas, text_scalar("")), char_count(formulas)


def _spans_at(grid: Grid, positions: Places, box: Box) -> tuple[Integers, Integers]:
    """Over how many rows and columns of the range each cell reaches."""
    spans = np.ones((2, len(positions)), np.int32) if grid.merges else np.broadcast_to(np.int32(1), (2, len(positions)))
    for position, merge in grid.merges_from(positions):
        i = np.searchsorted(positions, position)
        if i < len(positions) and positions[i] == position:
            spans[:, i] = (
                min(merge.last_row, box.last_row) - merge.first_row + 1,
                min(merge.last_column, box.last_column) - merge.first_column + 1,
            )
    return spans[0], spans[1]


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """The data rows of a table: the numbers of those with a cell, the positions of the cells, and the row of each by its place."""

    rows: Places
    positions: Places
    row_of: Places

    def without(self, left_out: npt.NDArray[np.bool_]) -> Data:
        """The rows but for some."""
        kept = ~left_out[self.row_of]
        now = np.cumsum(~left_out) - 1
        return Data(self.rows[~left_out], self.positions[kept], now[self.row_of[kept]])


def data_of(grid: Grid, box: Box) -> Data:
    """The rows of a range that have a cell there."""
    rows = np.array(grid.rows_in(box), np.int64)
    starts, ends = grid.spans(rows, box)
    filled = ends > starts
    counts = (ends - starts)[filled]
    return Data(rows[filled], ranges(starts[filled], ends[filled]), np.repeat(np.arange(len(counts)), counts))


@dataclass(frozen=True, slots=True)
class TableSource:
    """A table that is to be a dataset: its id, name and place, its columns on the sheet, and their names."""

    id: str
    name: str
    place: SheetPlace
    columns: Sequence[int]
    header: Sequence[str]
    header_rows: int


def dataset_of(grid: Grid, source: TableSource, data: Data, limits: Limits) -> Dataset:
    """A typed dataset of a table (L-DS, L-CLAR), just as `tabular.build_dataset` makes it of rows.

    Raises:
        TooManyColumns, TooManyRows: the table is larger than the limits.
    """
    check_columns(source.header, name=source.name, limits=limits)
    if len(data.rows) > limits.max_rows:
        raise TooManyRows(f"the table has more than {limits.max_rows} rows", metadata={"max_rows": str(limits.max_rows)})
    names, clarifications = name_columns(source.header, source.header_rows)
    rejected_count, rejected, kept = _rejected(grid, source, data, names)
    held = [
        hold_at(names[i], source.header[i], grid.cells.values, places)
        for i, places in enumerate(_by_columns(grid, kept, source.columns))
    ]
    formulas, all_cached = _formulas(grid, kept, dict(zip(source.columns, names, strict=True)))
    return Dataset(
        id=source.id,
        name=source.name,
        columns=tuple(one.column for one in held),
        rows=table_of(held, _places(source.place, kept.rows)),
        locator=source.place,
        header_rows=source.header_rows,
        rejected_count=rejected_count,
        rejected_rows=rejected,
        clarifications=(*clarifications, *(one.clarification for one in held if one.clarification)),
        formulas=formulas,
        complete=not rejected_count and all_cached and all(one.exact for one in held),
    )


def _rejected(grid: Grid, source: TableSource, data: Data, names: Sequence[str]) -> tuple[int, tuple[RejectedRow, ...], Data]:
    """How many rows have a cell that holds no value though it should, the first of them, and the others."""
    if not grid.cells.errors:
        return 0, (), data
    faults = np.flatnonzero(np.isin(data.positions, np.array(sorted(grid.cells.errors), np.int64)))
    left_out = np.zeros(len(data.rows), np.bool_)
    left_out[data.row_of[faults]] = True
    first = {int(data.row_of[fault]): int(data.positions[fault]) for fault in faults[::-1]}
    rejected = tuple(
        _rejected_row(grid, source, int(data.rows[row]), fault=first[row], names=names) for row in sorted(first)[:_REJECTED_KEPT]
    )
    return len(first), rejected, data.without(left_out)


def _rejected_row(grid: Grid, source: TableSource, row: int, *, fault: int, names: Sequence[str]) -> RejectedRow:
    place = _row_place(source.place, row)
    box = Box(row, row, place.first_column, place.last_column)
    texts = {grid.column_of(position): grid.text_of(position) for position in grid.span(row, box)}
    name = names[source.columns.index(grid.column_of(fault))]
    reason = f"column {name}: {grid.cells.errors[fault]}"
    return RejectedRow(place, tuple(texts.get(column, "") for column in source.columns), reason)


def _row_place(table: SheetPlace, row: int) -> SheetPlace:
    return SheetPlace(table.sheet, row, row, table.first_column, table.last_column)


def _by_columns(grid: Grid, data: Data, columns: Sequence[int]) -> list[Places]:
    """For each column the positions of its cells by row, -1 where it has none."""
    column_of = grid.cells.columns[data.positions]
    order = np.argsort(column_of.astype(np.int16), kind="stable")  # which numpy sorts in linear time
    ordered = column_of[order]
    starts, ends = np.searchsorted(ordered, columns), np.searchsorted(ordered, columns, side="right")
    return [_in_rows(data, order[start:end]) for start, end in zip(starts, ends, strict=True)]


def _in_rows(data: Data, cells: Places) -> Places:
    if len(cells) == len(data.rows):
        return data.positions[cells]
    places = np.full(len(data.rows), -1, np.int64)
    places[data.row_of[cells]] = data.positions[cells]
    return places


def _formulas(grid: Grid, data: Data, names: dict[int, str]) -> tuple[Sequence[CellFormula], bool]:
    """The formulas of the rows, and whether the file holds the results of all."""
    cells = grid.cells
    if not len(cells.formula_at):
        return (), True
    at = grid.formula_of[data.positions]
    has = at >= 0
    found = at[has]
    columns, places = np.unique(cells.columns[data.positions[has]], return_inverse=True)
    column_names = column_of([names[column] for column in columns.tolist()])
    formulas = MadeRows(
        CellFormula,
        data.row_of[has],
        pa.DictionaryArray.from_arrays(pa.array(places.astype(np.int32)), column_names),
        cells.formulas.take(pa.array(found)),
        ~cells.uncached[found],
    )
    return formulas, not cells.uncached[found].any()


def _places(table: SheetPlace, rows: Places) -> pa.StringArray:
    """The place of each row as `to_json` writes it."""
    before, after = _around_rows(table.sheet, table.first_column, table.last_column)
    return column_of([f'{before}"first_row":{row},"last_row":{row}{after}' for row in rows.tolist()])


@lru_cache(maxsize=64)
def _around_rows(sheet: str, first_column: int, last_column: int) -> tuple[str, str]:
    """What stands before and after the row in the JSON of the place of a row."""
    before, _, after = to_json(SheetPlace(sheet, 0, 0, first_column, last_column)).rpartition(_ROWS_IN_JSON)
    return before, after
