"""The table of a delimited file: its header, its columns of text, and the records that do not fit its width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from artifact.locators import LineSpan
from artifact.model import RejectedRow
from extractor_svc.blocks import WarningList
from extractor_svc.errors import TooManyColumns, TooManyRows
from extractor_svc.formats.csv_layout import Layout
from extractor_svc.formats.csv_scan import Places, Records
from extractor_svc.limits import Limits

_ROOM: Final = 16
"""Columns a narrow table may grow by, beyond its own width once more."""
_REJECTED_KEPT: Final = 100
_PLACE: Final = tuple(pa.scalar(text) for text in ('{"lines":{"first":', ',"last":', "}}", ""))
_FEW_LINES: Final = 2
_SWALLOWED_LOOKED_AT: Final = 100
"""Records of several lines that are looked at in each stretch."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """`records` are all of the table with its header, `text` their lines; columns and `places` are of the rows that are kept."""

    records: Sequence[Records]
    text: str
    place: LineSpan
    header: Sequence[str]
    header_rows: int
    columns: Sequence[pa.ChunkedArray]
    places: pa.ChunkedArray
    rejected: tuple[RejectedRow, ...]
    rejected_count: int


def gather(parts: Sequence[Records], layout: Layout, *, warnings: WarningList, limits: Limits) -> Table:
    """Makes a table of records: as many columns as most have, and more where a record that is kept has more.

    Raises:
        TooManyColumns: most records have more cells than a table may have columns.
        TooManyRows: there are too many rows, or short records would leave too many cells empty.
    """
    if layout.width > limits.max_columns:
        raise TooManyColumns(
            f"the table has {layout.width} columns and at most {limits.max_columns} are read",
            metadata={"columns": str(layout.width), "max_columns": str(limits.max_columns)},
        )
    most = min(max(2 * layout.width, layout.width + _ROOM), limits.max_columns)
    body = [parts[0].part(layout.header_rows, len(parts[0])), *parts[1:]]
    filled = [_filled_widths(records) for records in body]
    header = _header(parts[0], layout, most)
    width = max([layout.width, len(header), *(int(found[found <= most].max(initial=0)) for found in filled)])
    width = _without_empty_tail(body, filled, header, width)
    kept = [records.only(found <= most) for records, found in zip(body, filled, strict=True)]
    _refuse_too_large(kept, width, limits)
    _warn(parts, layout, warnings)
    _warn_of_formulas(parts, warnings)
    rejected = [_rejected(records, found > most, layout) for records, found in zip(body, filled, strict=True)]
    return Table(
        records=parts,
        text="\n".join(line for records in parts for line in _joined(records)),
        place=LineSpan(int(parts[0].first_lines[0]), int(parts[-1].last_lines[-1])),
        header=[*header, *[""] * (width - len(header))],
        header_rows=layout.header_rows,
        columns=[pa.chunked_array([records.column(i) for records in kept], pa.string()) for i in range(width)],
        places=pa.chunked_array([_places(records) for records in kept], pa.string()),
        rejected=tuple(row for rows in rejected for row in rows)[:_REJECTED_KEPT],
        rejected_count=sum(int((found > most).sum()) for found in filled),
    )


def warn_of_swallowed_lines(table: Table, layout: Layout, *, delimiter: str, warnings: WarningList) -> None:
    """Says where quotes hold whole lines that could be records: one of them may stand there by mistake."""
    for records in table.records:
        for number in np.flatnonzero(records.last_lines - records.first_lines > _FEW_LINES)[:_SWALLOWED_LOOKED_AT].tolist():
            (cells,) = records.rows(number, number + 1)
            if any(_could_be_records(cell, layout.width, delimiter) for cell in cells):
                message = "Quotes of this record hold lines that could be records; they were read as one text."
                warnings.add("CSV_AMBIGUOUS", message, _line_span(records, number))


def _could_be_records(cell: str, width: int, delimiter: str) -> bool:
    inner = cell.split("\n")[1:-1]
    return width > 1 and len(inner) >= _FEW_LINES and all(line.count(delimiter) == width - 1 for line in inner)


def _header(records: Records, layout: Layout, most: int) -> list[str]:
    cells = records.rows(0, 1)[0][:most] if layout.header_rows else []
    while cells and not cells[-1].strip() and len(cells) > layout.width:
        cells.pop()
    return cells


def _filled_widths(records: Records) -> Places:
    """How many cells each record has up to its last one that is not empty."""
    if not len(records):
        return np.zeros(0, np.int64)
    offsets = records.offsets
    column = np.arange(len(records.cells)) - np.repeat(offsets[:-1], records.widths)
    filled = np.asarray(pc.binary_length(records.cells)) > 0
    widths: Places = np.maximum.reduceat(np.where(filled, column + 1, 0), offsets[:-1])
    return widths


def _without_empty_tail(body: Sequence[Records], filled: Sequence[Places], header: Sequence[str], width: int) -> int:
    """The width without last columns that have no name and no value, as a delimiter at the end of every line leaves one."""
    if not any(map(len, body)):
        return max(len(header), 1)
    used = max(int(found[found <= width].max(initial=0)) for found in filled)
    return max(used, len(header), 1) if header else width


def _refuse_too_large(kept: Sequence[Records], width: int, limits: Limits) -> None:
    rows = sum(map(len, kept))
    if rows > limits.max_rows:
        raise TooManyRows(f"the table has more than {limits.max_rows} rows", metadata={"max_rows": str(limits.max_rows)})
    cells = sum(len(records.cells) for records in kept)
    if rows * width > 2 * cells + limits.max_cells:
        raise TooManyRows(
            f"short records would leave more than {limits.max_cells} cells of the table empty; split the file",
            metadata={"max_cells": str(limits.max_cells)},
        )


def _warn(parts: Sequence[Records], layout: Layout, warnings: WarningList) -> None:
    for records in parts:
        found = np.flatnonzero((records.widths != layout.width) | records.odd)
        columns = (records.widths, records.first_lines, records.last_lines, records.odd)
        for cells, first, last, odd in zip(*(column[found].tolist() for column in columns), strict=True):
            place = LineSpan(first, last)
            if odd:
                warnings.add("STRAY_QUOTES", "Quotes of this record do not fit; they were read as text.", place)
            if cells != layout.width:
                message = f"The record has {cells} cells where most have {layout.width}; nothing of it was left out."
                warnings.add("ROW_WIDTH", message, place)


def _warn_of_formulas(parts: Sequence[Records], warnings: WarningList) -> None:
    """Says once that cells begin as formulas do: a program that opens the file might run them; here they are text."""
    found = [np.flatnonzero(np.asarray(pc.starts_with(records.cells, "="))) for records in parts]
    if not (count := sum(map(len, found))):
        return
    records, cells = next((records, cells) for records, cells in zip(parts, found, strict=True) if len(cells))
    number = int(np.searchsorted(records.offsets, cells[0], side="right")) - 1
    message = f"Cells that begin with an equals sign, as formulas do, are text here ({count}); the first stands in this record."
    warnings.add("FORMULA_TEXT", message, _line_span(records, number))


def _rejected(records: Records, wide: np.ndarray[tuple[int], np.dtype[np.bool_]], layout: Layout) -> list[RejectedRow]:
    rows = []
    for number in np.flatnonzero(wide)[:_REJECTED_KEPT].tolist():
        (cells,) = records.rows(number, number + 1)
        reason = f"the record has {len(cells)} cells where most have {layout.width}"
        rows.append(RejectedRow(_line_span(records, number), tuple(cells), reason))
    return rows


def _line_span(records: Records, number: int) -> LineSpan:
    return LineSpan(int(records.first_lines[number]), int(records.last_lines[number]))


def _places(records: Records) -> pa.StringArray:
    """The place of each record as `artifact.locators.to_json` writes it."""
    first, last = (pa.array(lines).cast(pa.string()) for lines in (records.first_lines, records.last_lines))
    before, between, after, nothing = _PLACE
    return pc.binary_join_element_wise(before, first, between, last, after, nothing)


def _joined(records: Records) -> list[str]:
    """The lines of some records as one text, none where there are no records."""
    return ["\n".join(records.lines().to_pylist())] if len(records) else []
