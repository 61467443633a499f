"""The cells of a sheet as its part states them, held as columns: places, kinds, styles, stored texts and formulas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from extractor_svc.errors import OutputLimit, TooManyRows
from extractor_svc.limits import Limits
from extractor_svc.text_columns import NO_TEXTS, Places

Integers: TypeAlias = npt.NDArray[np.int32]

KINDS: Final = ("n", "s", "str", "inlineStr", "b", "e", "d")
"""What a cell states of its stored text; any other word means a number, as the first does."""

COLUMN_BITS: Final = 15


def kind_number(word: str) -> int:
    """The place of a kind in `KINDS`."""
    return KINDS.index(word) if word in KINDS else 0


@dataclass(frozen=True, slots=True, eq=False)
class RawCells:
    """Cells with a stored text or a formula, in the order of the part; where two have one place, the later counts.

    `stored` is null on a formula without a result. `formula_at` are the positions of the cells with a formula, ascending,
    and `formulas` their formulas.
    """

    rows: Integers
    columns: Integers
    kinds: npt.NDArray[np.uint8]
    styles: Integers
    stored: pa.StringArray
    formula_at: Integers
    formulas: pa.StringArray

    def __len__(self) -> int:
        return len(self.rows)

    def places(self) -> Places:
        """A number for the place of each cell, which ascends by rows and then by columns."""
        return places_of(self.rows, self.columns)


def places_of(rows: Integers | Places, columns: Integers | Places) -> Places:
    """A number for each place of a sheet, which ascends by rows and then by columns."""
    return rows.astype(np.int64) << COLUMN_BITS | columns


def no_cells() -> RawCells:
    """A sheet's cells where it has none."""
    none = np.array([], np.int32)
    return RawCells(none, none, np.array([], np.uint8), none, NO_TEXTS, none, NO_TEXTS)


def joined(parts: Sequence[RawCells]) -> RawCells:
    """The cells of several parts, one after the other."""
    if len(parts) == 1:
        return parts[0]
    starts = np.cumsum([0, *(len(part) for part in parts)])[:-1]
    return RawCells(
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.columns for part in parts]),
        np.concatenate([part.kinds for part in parts]),
        np.concatenate([part.styles for part in parts]),
        pa.concat_arrays([part.stored for part in parts]),
        np.concatenate([part.formula_at + np.int32(start) for part, start in zip(parts, starts, strict=True)]),
        pa.concat_arrays([part.formulas for part in parts]),
    )


@dataclass(slots=True)
class Budget:
    """What all sheets of a workbook may still take."""

    cells: int
    chars: int

    def take_cells(self, cells: int) -> None:
        """Takes some cells.

        Raises:
            TooManyRows: fewer are left.
        """
        self.cells -= cells
        if self.cells < 0:
            raise TooManyRows("the workbook has more cells than are read; split it")

    def take_chars(self, chars: int) -> None:
        """Takes some characters that cells show.

        Raises:
            OutputLimit: fewer are left.
        """
        self.chars -= chars
        if self.chars < 0:
            raise OutputLimit("the workbook's cells show more text than is read; split it")


def budget_of(limits: Limits) -> Budget:
    """The budget that the limits set for one workbook."""
    return Budget(limits.max_cells, limits.max_text_chars)
