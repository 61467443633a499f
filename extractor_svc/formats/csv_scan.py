"""The records of a delimited text as columns of offsets: whole stretches at a time, cell by cell where quotes do not fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from extractor_svc.formats.csv_dialect import Dialect

Places: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]

_STRETCH: Final = 1024 * 1024
_LINE_FEED: Final = 10


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """Some records in order: all their cells, how many each has, and the lines they stand on, 1-based.

    `odd` are the records with a cell whose quotes do not fit; its quotes are part of its text.
    """

    cells: pa.StringArray
    widths: Places
    first_lines: Places
    last_lines: Places
    odd: Flags

    def __len__(self) -> int:
        return len(self.widths)

    @property
    def offsets(self) -> Places:
        """Where each record's cells start among all cells, and where the last one's end."""
        return np.concatenate((np.zeros(1, np.int64), np.cumsum(self.widths)))

    def rows(self, start: int, stop: int) -> list[list[str]]:
        """The cells of some records, one list a record."""
        offsets = self.offsets
        return [self.cells[offsets[row] : offsets[row + 1]].to_pylist() for row in range(start, min(stop, len(self)))]

    def part(self, start: int, stop: int) -> Records:
        """Some of the records."""
        offsets = self.offsets
        span = slice(start, stop)
        cells = self.cells[offsets[start] : offsets[stop]]
        return Records(cells, self.widths[span], self.first_lines[span], self.last_lines[span], self.odd[span])

    def only(self, kept: Flags) -> Records:
        """The records that are kept."""
        if kept.all():
            return self
        cells = self.cells.filter(pa.array(np.repeat(kept, self.widths)))
        return Records(cells, self.widths[kept], self.first_lines[kept], self.last_lines[kept], self.odd[kept])

    def column(self, number: int) -> pa.StringArray:
        """One column of the records, null where a record is too short for it."""
        starts = self.offsets[:-1]
        there = self.widths > number
        if there.all():
            return self.cells.take(pa.array(starts + number))
        return self.cells.take(pa.array(starts + number, mask=~there))

    def lines(self) -> pa.StringArray:
        """The records as lines of text: cells joined by a tab; white space within a cell is one space."""
        cells = self.cells
        if pc.any(pc.match_substring_regex(cells, r"[\t\n\f]|  |^ | $")).as_py():
            cells = pc.utf8_trim_whitespace(pc.replace_substring_regex(cells, r"\s+", " "))
        return pc.binary_join(pa.ListArray.from_arrays(pa.array(self.offsets, pa.int32()), cells), "\t")


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """Where the cells of a stretch stand, without the quotes around them, and the separator after each."""

    starts: Places
    stops: Places
    ends: Places
    last: Flags
    escaped: Flags
    odd: Flags


def scan(data: bytes, dialect: Dialect, *, first_line: int = 1, stretch: int = _STRETCH) -> Iterator[Records]:
    """Yields the records of UTF-8 text in stretches of about `stretch` bytes; lines without anything are no records."""
    scanner = _Scanner(data, dialect)
    line, position = first_line, 0
    while position < len(data):
        cells, after = scanner.cells(position, stretch)
        yield scanner.records(cells, position, line)
        line += data.count(b"\n", position, after)
        position = after


class _Scanner:
    """Reads one text in one dialect."""

    def __init__(self, data: bytes, dialect: Dialect) -> None:
        self._data = data
        self._bytes = np.frombuffer(data, np.uint8)
        self._dialect = dialect
        self._pattern = dialect.field_pattern()
        self._quote, self._delimiter = ord(dialect.quote), ord(dialect.delimiter)
        self._marks = np.zeros(256, np.bool_)
        self._marks[[self._quote, self._delimiter, _LINE_FEED]] = True

    def cells(self, start: int, size: int) -> tuple[_Cells, int]:
        """The cells of the records from `start` on, and where the next record starts."""
        wanted = size
        while True:
            window = min(start + wanted, len(self._data))
            found = self._well_quoted(start, window)
            if found is None:
                return self._one_by_one(start, min(start + size, len(self._data)))
            if found[1] > start:
                return found
            wanted *= 2

    def records(self, cells: _Cells, start: int, line: int) -> Records:
        """The records that the cells of a stretch make up, with their lines counted from that of `start`."""
        closing = np.flatnonzero(cells.last)
        firsts = np.concatenate((np.zeros(1, np.int64), closing[:-1] + 1))
        breaks = np.flatnonzero(self._bytes[start : cells.ends[-1]] == _LINE_FEED) + start
        texts = self._texts(cells, start)
        widths = np.diff(firsts, append=len(cells.starts))
        first_lines = line + np.searchsorted(breaks, np.concatenate((np.array([start]), cells.ends[closing[:-1]] + 1)))
        last_lines = line + np.searchsorted(breaks, cells.ends[closing])
        odd = np.logical_or.reduceat(cells.odd, firsts)
        every = Records(texts, widths, first_lines, last_lines, odd)
        return _without_blank_lines(every, firsts, self._bytes[np.minimum(cells.stops, len(self._data) - 1)] == self._quote)

    def _well_quoted(self, start: int, window: int) -> tuple[_Cells, int] | None:
        """The cells up to the last record end of the window (none where there is none); None where a quote does not fit."""
        part = self._bytes[start:window]
        marks = np.flatnonzero(self._marks[part])
        kinds = part[marks]
        quotes = kinds == self._quote
        seen = np.cumsum(quotes)
        if len(marks) and seen[-1] and (self._dialect.escape or not self._quotes_fit(part, marks[quotes])):
            return None
        separators = np.flatnonzero(~quotes & (seen % 2 == 0))
        ends, last, counts = marks[separators], kinds[separators] == _LINE_FEED, seen[separators]
        if window == len(self._data):
            if len(seen) and seen[-1] % 2:
                return None
            if not len(ends) or ends[-1] + 1 < len(part) or not last[-1]:
                total = int(seen[-1]) if len(seen) else 0
                ends, last, counts = np.append(ends, len(part)), np.append(last, True), np.append(counts, total)
            after = window
        else:
            closing = np.flatnonzero(last)
            if not len(closing):
                return _NO_CELLS, start
            kept = slice(0, int(closing[-1]) + 1)
            ends, last, counts = ends[kept], last[kept], counts[kept]
            after = start + int(ends[-1]) + 1
        return _cut(ends, last, counts, start), after

    def _quotes_fit(self, part: npt.NDArray[np.uint8], quotes: Places) -> bool:
        """Whether every quote opens or closes a cell, or is one of two within quotes; the window's last byte may be either."""
        opening, closing = quotes[0::2], quotes[1::2]
        before = part[opening[opening > 0] - 1]
        after = part[closing[closing < len(part) - 1] + 1]
        return bool(self._marks[before].all() and self._marks[after].all())

    def _one_by_one(self, start: int, stop: int) -> tuple[_Cells, int]:
        """Reads cell by cell up to the end of a record at or behind `stop`."""
        end = len(self._data)
        spans: list[tuple[int, int, int, int]] = []
        for found in self._pattern.finditer(self._data, start):
            (_, after), (quoted_from, quoted_to), (plain_from, plain_to), (at, _) = found.regs
            spans.append((quoted_from, quoted_to, at, 1) if quoted_from >= 0 else (plain_from, plain_to, at, 0))
            if after >= stop and (at == end or self._data[at] == _LINE_FEED):
                break
        starts, stops, ends, kinds = np.array(spans, np.int64).T
        quoted = kinds == 1
        last = np.append(self._bytes[ends[:-1]] == _LINE_FEED, True)
        odd = ~quoted & (stops > starts) & (self._bytes[np.minimum(starts, end - 1)] == self._quote)
        return _Cells(starts, stops, ends, last, quoted, odd), min(int(ends[-1]) + 1, end)

    def _texts(self, cells: _Cells, start: int) -> pa.StringArray:
        offsets = np.column_stack((cells.starts, cells.stops)).ravel() - start
        window = pa.py_buffer(memoryview(self._data)[start:])
        every = pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets.astype(np.int32)), window)
        texts = every.take(pa.array(np.arange(0, len(offsets), 2)))
        if not cells.escaped.any():
            return texts
        plain = pc.replace_substring_regex(texts, self._dialect.unescape_pattern(), r"\1\2" if self._dialect.escape else r"\1")
        return pc.if_else(pa.array(cells.escaped), plain, texts)


_NOWHERE: Final = np.zeros(0, np.int64)
_NEVER: Final = np.zeros(0, np.bool_)
_NO_CELLS: Final = _Cells(_NOWHERE, _NOWHERE, _NOWHERE, _NEVER, _NEVER, _NEVER)


def _cut(ends: Places, last: Flags, counts: Places, start: int) -> _Cells:
    """The cells of a stretch by the separators after them and how many quotes stand before each; all quotes fit."""
    starts = np.concatenate((np.zeros(1, np.int64), ends[:-1] + 1))
    own = np.diff(counts, prepend=0)
    quoted = own > 0
    never = np.zeros(len(ends), np.bool_)
    return _Cells(starts + quoted + start, ends - quoted + start, ends + start, last, escaped=own > 2, odd=never)


def _without_blank_lines(records: Records, firsts: Places, quoted: Flags) -> Records:
    """Leaves out records of one cell that is blank and not in quotes."""
    alone = np.flatnonzero((records.widths == 1) & ~quoted[firsts])
    blank = alone[np.asarray(pc.equal(pc.utf8_trim_whitespace(records.cells.take(pa.array(firsts[alone]))), ""))]
    if not len(blank):
        return records
    kept = np.ones(len(records), np.bool_)
    kept[blank] = False
    return records.only(kept)
