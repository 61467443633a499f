"""Names that a workbook defines for ranges of its sheets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from extractor_svc.formats.xlsx_box import LAST_COLUMN, LAST_ROW, Box, box_of
from extractor_svc.formats.xlsx_formulas import column_number
from extractor_svc.ooxml import Element, children_of

_AREA: Final = re.compile(
    r"(?:'(?P<quoted>(?:[^']|'')+)'|(?P<plain>[^\s'!,:()\[\]]+))!(?P<range>\$?[A-Za-z0-9$]+(?::\$?[A-Za-z0-9$]+)?)"
)
_COLUMNS: Final = re.compile(r"\$?([A-Za-z]{1,3}):\$?([A-Za-z]{1,3})")
_ROWS: Final = re.compile(r"\$?([0-9]{1,7}):\$?([0-9]{1,7})")
_OWN: Final = "_xlnm."


@dataclass(frozen=True, slots=True)
class DefinedName:
    """A name and one of the ranges it stands for."""

    name: str
    sheet: str
    box: Box


class NamesOfSheet:
    """The names that stand for ranges of one sheet, each given once: to what first shows any of its range."""

    def __init__(self, names: Sequence[DefinedName], sheet: str) -> None:
        self._left = [defined for defined in names if defined.sheet.casefold() == sheet.casefold()]
        self._edges = _edges(self._left)

    def taken_by(self, box: Box) -> tuple[str, ...]:
        """The names, not given before, whose range has a cell in common with this one."""
        if not self._left:
            return ()
        first_row, last_row, first_column, last_column = self._edges
        touches = (first_row <= box.last_row) & (last_row >= box.first_row)
        touches &= (first_column <= box.last_column) & (last_column >= box.first_column)
        if not touches.any():
            return ()
        names = {defined.name: None for defined, taken in zip(self._left, touches, strict=True) if taken}
        self._left = [defined for defined in self._left if defined.name not in names]
        self._edges = _edges(self._left)
        return tuple(names)


def _edges(names: Sequence[DefinedName]) -> npt.NDArray[np.int64]:
    boxes = (defined.box for defined in names)
    edges = [(box.first_row, box.last_row, box.first_column, box.last_column) for box in boxes]
    return np.array(edges, np.int64).reshape(-1, 4).T


def defined_names(workbook: Element) -> Iterator[DefinedName]:
    """Each name with the range it stands for, once for each range; hidden names and a program's own are left out.

    A name for a constant or a formula stands for no range.
    """
    for element in children_of(workbook, "definedNames"):
        name = element.get("name", "")
        if name and not name.startswith(_OWN) and element.get("hidden", "0") in ("0", "false"):
            for sheet, box in _areas(element.text or ""):
                yield DefinedName(name, sheet, box)


def _areas(formula: str) -> Iterator[tuple[str, Box]]:
    """The ranges of a reference; none where it is a formula of another kind."""
    text = formula.strip()
    areas = list(_AREA.finditer(text))
    if ",".join(area.group() for area in areas) != text:
        return
    for area in areas:
        sheet = area["plain"] or area["quoted"].replace("''", "'")
        box = _box(area["range"])
        if box is not None:
            yield sheet, box


def _box(reference: str) -> Box | None:
    if columns := _COLUMNS.fullmatch(reference):
        first, last = sorted(column_number(letters) for letters in columns.groups())
        return Box(1, LAST_ROW, first, last) if last <= LAST_COLUMN else None
    if rows := _ROWS.fullmatch(reference):
        first, last = sorted(int(digits) for digits in rows.groups())
        return Box(first, last, 1, LAST_COLUMN) if first >= 1 and last <= LAST_ROW else None
    return box_of(reference)
