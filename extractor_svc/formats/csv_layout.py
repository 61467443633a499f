"""Where in a delimited file the table stands: below which lines, under which header, above which notes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from extractor_svc.formats.csv_scan import Records
from extractor_svc.text_values import reads_as_number_or_date

_LOOKED_AT: Final = 200
_LONGEST_PREAMBLE: Final = 20
_LONGEST_NOTES: Final = 20
_YEARS: Final = range(1900, 2101)


@dataclass(frozen=True, slots=True)
class Layout:
    """How many records stand before the table, how many of it are its header (0 or 1), and how many cells most have."""

    preamble: int
    header_rows: int
    width: int


def find_layout(records: Records) -> Layout:
    """The layout by a file's first records."""
    rows = records.rows(0, _LOOKED_AT)
    width = _usual_width(rows)
    gap = _first_gap(records, rows)
    preamble = _preamble(rows, width, gap)
    table = rows[preamble:]
    return Layout(preamble, int(_has_header(table)), width)


def notes_below(records: Records, width: int) -> int:
    """How many of a file's last records are notes: single texts below the last empty line of a table of several columns."""
    total = len(records)
    tail = min(total - 1, _LONGEST_NOTES)
    rows = records.rows(total - tail, total)
    for count in range(1, tail + 1):
        row = rows[tail - count]
        if not _is_single_text(row, width):
            return 0
        number = total - count
        if records.first_lines[number] > records.last_lines[number - 1] + 1:
            return count
    return 0


def _usual_width(rows: Sequence[Sequence[str]]) -> int:
    """The width of most records, the narrower lines above them left aside."""
    leading = next((i for i, row in enumerate(rows) if len(row) > 1), 0)
    body = rows[leading:] if leading <= _LONGEST_PREAMBLE and len(rows) - leading > 1 else rows
    return Counter(map(len, body)).most_common(1)[0][0]


def _first_gap(records: Records, rows: Sequence[Sequence[str]]) -> int:
    """The first record that stands below an empty line, among those that may follow a preamble; 0 where none does."""
    for number in range(1, min(len(rows), _LONGEST_PREAMBLE + 1)):
        if records.first_lines[number] > records.last_lines[number - 1] + 1:
            return number
    return 0


def _preamble(rows: Sequence[Sequence[str]], width: int, gap: int) -> int:
    count = 0
    if gap and all(_filled(row) < width for row in rows[:gap]) and any(len(row) == width for row in rows[gap:]):
        count = gap
    while count < len(rows) - 1 and _is_single_text(rows[count], width):
        count += 1
    count += _remarks(rows[count:], width)
    return count if count <= _LONGEST_PREAMBLE and count < len(rows) - 1 else 0


def _is_single_text(row: Sequence[str], width: int) -> bool:
    """Whether a record of a table with several columns is one text alone; two columns may have an empty cell beside one."""
    return (width > 1 and len(row) == 1) or (width > 2 and sum(1 for cell in row if cell.strip()) <= 1)


def _remarks(rows: Sequence[Sequence[str]], width: int) -> int:
    """How many records begin with a number sign before the table does; the last of them may be the header itself."""
    count = next((i for i, row in enumerate(rows) if not row[0].startswith("#")), 0)
    if not count or len(rows[count - 1]) != width or _votes(rows[count:]) > 0:
        return count
    return count - 1


def _filled(row: Sequence[str]) -> int:
    return max((number for number, cell in enumerate(row, 1) if cell.strip()), default=0)


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first record names the columns: columns that look unlike their first cell speak for it, alike against."""
    first, body = rows[0], rows[1:]
    if not any(cell.strip() for cell in first):
        return False
    if not body:
        return not any(reads_as_number_or_date(cell) for cell in first)
    return _votes(rows) >= 0


def _votes(rows: Sequence[Sequence[str]]) -> int:
    """How many columns speak for the first record as a header, less those that speak against."""
    first, body = rows[0], rows[1:]
    columns = [[row[i].strip() for row in body if i < len(row) and row[i].strip()] for i in range(len(first))]
    return sum(_vote(cell.strip(), column) for cell, column in zip(first, columns, strict=True))


def _vote(head: str, column: Sequence[str]) -> int:
    """1 where a column's first cell looks like its name, -1 where it looks like one more of its cells, 0 where none can say."""
    if not head or not column:
        return 0
    shapes = {_shape(cell) for cell in column}
    valued = all(reads_as_number_or_date(cell) for cell in column)
    if reads_as_number_or_date(head):
        alike = valued or shapes == {_shape(head)}
        return -1 if alike and not _is_year_above_other_numbers(head, column) else 0
    if head in column or ("9" in _shape(head) and shapes == {_shape(head)}):
        return -1
    return 1 if valued or (len(shapes) == 1 and "9" in next(iter(shapes))) else 0


def _is_year_above_other_numbers(head: str, column: Sequence[str]) -> bool:
    return _is_year(head) and not all(_is_year(cell) for cell in column)


def _is_year(text: str) -> bool:
    return text.isdecimal() and len(text) == 4 and int(text) in _YEARS


def _shape(text: str) -> str:
    """What a text looks like: a run of letters is `a`, of digits `9`, the rest as it is."""
    return re.sub(r"\d+", "9", re.sub(r"[^\W\d_]+", "a", text))
