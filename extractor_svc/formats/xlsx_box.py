"""Ranges of cells, and the references that name them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from extractor_svc.formats.xlsx_formulas import column_number

LAST_ROW: Final = 1_048_576
LAST_COLUMN: Final = 16_384
REFERENCE: Final = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})")


@dataclass(frozen=True, slots=True, order=True)
class Box:
    """A range of cells, from 1, both ends included."""

    first_row: int
    last_row: int
    first_column: int
    last_column: int

    def holds(self, row: int, column: int) -> bool:
        """Whether a cell lies in the range."""
        return self.first_row <= row <= self.last_row and self.first_column <= column <= self.last_column

    def touches(self, other: Box) -> bool:
        """Whether the two ranges have a cell in common."""
        return (
            self.first_row <= other.last_row
            and other.first_row <= self.last_row
            and self.first_column <= other.last_column
            and other.first_column <= self.last_column
        )


def box_of(reference: str) -> Box | None:
    """The range that a reference such as `A1` or `$B$2:D9` names; None where it names none."""
    ends = [REFERENCE.fullmatch(part) for part in reference.strip().split(":")]
    if not ends or len(ends) > 2 or not all(ends):
        return None
    cells = [(int(end[2]), column_number(end[1])) for end in ends if end]
    rows, columns = sorted(row for row, _ in cells), sorted(column for _, column in cells)
    if rows[0] < 1 or rows[-1] > LAST_ROW or columns[-1] > LAST_COLUMN:
        return None
    return Box(rows[0], rows[-1], columns[0], columns[-1])
