"""Tells running headers and footers from the text by what repeats at the edges of pages."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Final, TypeAlias

from extractor_svc.blocks import count_words
from extractor_svc.formats.pdf_geometry import Box, Turn
from extractor_svc.formats.pdf_lines import Line, rows_of

Signature: TypeAlias = tuple[int, bool, str]
"""A line's quarter turns, whether it stands at the top, and its text without its numbers."""

_ZONE: Final = 0.12
"""Share of the page's height, at its top and bottom, where headers and footers stand."""
_DRIFT: Final = 8.0
"""Points by which a running line may move from page to page."""
_MOST_ROWS: Final = 4
_STRAY_WORDS: Final = 6
"""Words up to which a row between a running one and the page's edge runs with it."""
_NUMBER: Final = re.compile(r"\d+|\b[ivxlc]+\b")


@dataclass(slots=True)
class Furniture:
    """The running lines of one page, top and bottom, by their identity."""

    headers: list[Line] = field(default_factory=list)
    footers: list[Line] = field(default_factory=list)

    def words(self) -> int:
        """How many words the running lines have."""
        return sum(count_words(line.text) for line in (*self.headers, *self.footers))


def furniture_of(pages: Sequence[tuple[Box, Sequence[Line]]]) -> list[Furniture]:
    """The running lines of every page, given its bounds and its lines.

    A line runs when its text, numbers aside, stands at the same height near the same edge on three pages, or on two of a
    document of up to five. A row with a running line in it, more than a number, runs as a whole, and so do short rows between it
    and the edge.
    """
    rows = [list(_rows_at_edges(bounds, lines)) for bounds, lines in pages]
    running = _running(rows, needed=3 if len(pages) > 5 else 2)
    return [_of_page(rows_of_page, running) for rows_of_page in rows]


@dataclass(frozen=True, slots=True)
class _EdgeRow:
    """A row near an edge: its lines, whether at the top, and how many rows lie between it and the edge."""

    lines: tuple[Line, ...]
    top: bool
    depth: int

    @property
    def quarters(self) -> int | None:
        """The quarter turns of its lines."""
        return self.lines[0].quarters


def _rows_at_edges(bounds: Box, lines: Sequence[Line]) -> Iterable[_EdgeRow]:
    by_turn: dict[int, list[Line]] = defaultdict(list)
    for line in lines:
        if line.quarters is not None:
            by_turn[line.quarters].append(line)
    for quarters, turned in by_turn.items():
        height = Turn(quarters, bounds.x1, bounds.y1).page.y1
        rows = rows_of(line for line in turned if not _ZONE * height < line.box.centre[1] < (1 - _ZONE) * height)
        above = [row for row in rows if row[0].box.centre[1] <= _ZONE * height]
        below = [row for row in rows if row[0].box.centre[1] > _ZONE * height]
        yield from (_EdgeRow(tuple(row), depth=depth, top=True) for depth, row in enumerate(above[:_MOST_ROWS]))
        yield from (_EdgeRow(tuple(row), depth=depth, top=False) for depth, row in enumerate(below[: -_MOST_ROWS - 1 : -1]))


def _running(pages: Sequence[Sequence[_EdgeRow]], *, needed: int) -> Mapping[Signature, float]:
    """The signatures that run, each with its height on the page."""
    seen: dict[Signature, dict[int, float]] = defaultdict(dict)
    for number, rows in enumerate(pages):
        for row in rows:
            for line in row.lines:
                seen[_signature(line, top=row.top)][number] = line.baseline
    usual = {signature: median(heights.values()) for signature, heights in seen.items() if len(heights) >= needed}
    return {
        signature: height
        for signature, height in usual.items()
        if sum(abs(other - height) <= _DRIFT for other in seen[signature].values()) >= needed
    }


def _of_page(rows: Sequence[_EdgeRow], running: Mapping[Signature, float]) -> Furniture:
    out = Furniture()
    for top in (True, False):
        mine = [row for row in rows if row.top is top]
        deepest: dict[int | None, int] = {}
        for row in mine:
            if _row_runs(row, running):
                deepest[row.quarters] = max(deepest.get(row.quarters, -1), row.depth)
        for row in mine:
            short = sum(count_words(line.text) for line in row.lines) <= _STRAY_WORDS
            if (short and row.depth <= deepest.get(row.quarters, -1)) or _row_runs(row, running):
                (out.headers if top else out.footers).extend(row.lines)
    return out


def _row_runs(row: _EdgeRow, running: Mapping[Signature, float]) -> bool:
    """Whether a row runs: all of it, or a piece of it that is more than a number."""
    pieces = [(line, _runs(line, running, top=row.top)) for line in row.lines]
    return all(runs for _, runs in pieces) or any(runs and any(map(str.isalpha, line.text)) for line, runs in pieces)


def _runs(line: Line, running: Mapping[Signature, float], *, top: bool) -> bool:
    height = running.get(_signature(line, top=top))
    return height is not None and abs(line.baseline - height) <= _DRIFT


def _signature(line: Line, *, top: bool) -> Signature:
    return line.quarters or 0, top, _NUMBER.sub("#", line.text.casefold())
