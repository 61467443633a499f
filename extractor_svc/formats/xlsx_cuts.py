"""Cuts the cells of a sheet into blocks: along empty rows, along empty columns, and at corners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from extractor_svc.formats.xlsx_box import Box
from extractor_svc.formats.xlsx_raw import COLUMN_BITS, Integers
from extractor_svc.text_columns import Places


def blocks(places: Places) -> list[Box]:
    """The ranges of the blocks that taken places, ascending, fall into.

    They are cut along empty rows, empty columns, and corners where all below lies beside all above, until nothing is left to
    cut.
    """
    if not len(places):
        return []
    done: list[Box] = []
    work = [_Part((places >> COLUMN_BITS).astype(np.int32), (places & (1 << COLUMN_BITS) - 1).astype(np.int32))]
    while work:
        part = work.pop()
        smaller = part.cut()
        if smaller is None:
            done.append(part.box())
        else:
            work.extend(smaller)
    return done


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """The rows and columns of taken places, by rows and then columns."""

    rows: Integers
    columns: Integers

    def box(self) -> Box:
        """The range that holds them all."""
        return Box(int(self.rows[0]), int(self.rows[-1]), int(self.columns.min()), int(self.columns.max()))

    def cut(self) -> list[_Part] | None:
        """The parts it falls into; None where nothing is to be cut."""
        if len(self.rows) == 1:
            return None
        box = self.box()
        if len(self.rows) == (box.last_row - box.first_row + 1) * (box.last_column - box.first_column + 1):
            return None
        return self._along_rows() or self._along_columns(box) or self._at_a_corner()

    def _along_rows(self) -> list[_Part] | None:
        starts = np.flatnonzero(np.diff(self.rows) > 1) + 1
        return self._split_at(starts.tolist()) if len(starts) else None

    def _along_columns(self, box: Box) -> list[_Part] | None:
        taken = np.zeros(box.last_column - box.first_column + 1, np.bool_)
        taken[self.columns - box.first_column] = True
        if taken.all():
            return None
        groups = np.cumsum(~taken)[self.columns - box.first_column]
        order = np.argsort(groups, kind="stable")
        ordered = _Part(self.rows[order], self.columns[order])
        return ordered._split_at((np.flatnonzero(np.diff(groups[order])) + 1).tolist())

    def _at_a_corner(self) -> list[_Part] | None:
        """Cuts between rows where the columns above all lie left, or all right, of those below."""
        starts = np.flatnonzero(np.diff(self.rows, prepend=0))
        lows, highs = self.columns[starts], self.columns[np.append(starts[1:], len(self.rows)) - 1]
        above_low, above_high = np.minimum.accumulate(lows)[:-1], np.maximum.accumulate(highs)[:-1]
        below_low, below_high = np.minimum.accumulate(lows[::-1])[::-1][1:], np.maximum.accumulate(highs[::-1])[::-1][1:]
        cuts = np.flatnonzero((above_high < below_low) | (above_low > below_high)) + 1
        return self._split_at(starts[cuts].tolist()) if len(cuts) else None

    def _split_at(self, starts: Sequence[int]) -> list[_Part]:
        return [_Part(self.rows[a:b], self.columns[a:b]) for a, b in pairwise([0, *starts, len(self.rows)])]
