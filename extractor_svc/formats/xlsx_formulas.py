"""Shared formulas: the text of one written at another cell."""

from __future__ import annotations

import re
from typing import Final

from artifact.locators import column_letters

_PIECES: Final = re.compile(
    r"""(?P<kept>"(?:[^"]|"")*"|'(?:[^']|'')*'!?|\[[^\]]*\]|[A-Za-z_\\][A-Za-z0-9_.\\]*\()"""
    r"|(?P<cell>(?<![A-Za-z0-9_.$])(?P<dc>\$?)(?P<column>[A-Za-z]{1,3})(?P<dr>\$?)(?P<row>[0-9]{1,7})(?![A-Za-z0-9_.(!]))"
    r"|(?P<columns>(?<![A-Za-z0-9_.$])(?P<d1>\$?)(?P<c1>[A-Za-z]{1,3}):(?P<d2>\$?)(?P<c2>[A-Za-z]{1,3})(?![A-Za-z0-9_.(!]))"
    r"|(?P<rows>(?<![A-Za-z0-9_.$:])(?P<e1>\$?)(?P<r1>[0-9]{1,7}):(?P<e2>\$?)(?P<r2>[0-9]{1,7})(?![A-Za-z0-9_.(!]))"
)


def column_number(letters: str) -> int:
    """The number of a column by its letters: A is 1."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def shift(formula: str, rows: int, columns: int) -> str:
    """The formula as it reads some rows down and columns to the right: relative references move, those with `$` stay.

    Text in quotes, names of sheets, names and functions stay as they are. A reference that leaves the sheet is `#REF!`.
    """
    return _Template(formula).at(rows, columns)


class SharedFormulas:
    """The shared formulas of a sheet by group, each written at one cell and repeated at others; `used` where it has any."""

    def __init__(self) -> None:
        self._written: dict[str, tuple[_Template, int, int]] = {}
        self.used = False

    def at(self, group: str, text: str, *, row: int, column: int) -> str:
        """The formula as written, or where nothing is, as that of its group reads at this cell; empty where there is none."""
        self.used = self.used or bool(group)
        if text and group:
            self._written[group] = (_Template(text), row, column)
        if text or group not in self._written:
            return text
        template, first_row, first_column = self._written[group]
        return template.at(row - first_row, column - first_column)


class _Template:
    """A formula cut into what stays and the references that move, to be read at many cells."""

    def __init__(self, formula: str) -> None:
        self._references = [match for match in _PIECES.finditer(formula) if match["kept"] is None]
        ends = [0, *(match.end() for match in self._references)]
        starts = [*(match.start() for match in self._references), len(formula)]
        self._kept = [formula[end:start] for end, start in zip(ends, starts, strict=True)]

    def at(self, rows: int, columns: int) -> str:
        """The formula some rows down and columns to the right."""
        moved = [kept + _moved(match, rows, columns) for kept, match in zip(self._kept, self._references, strict=False)]
        return "".join(moved) + self._kept[-1]


def _moved(match: re.Match[str], rows: int, columns: int) -> str:
    if match["cell"]:
        return _joined(_column(match["dc"], match["column"], columns), _row(match["dr"], match["row"], rows))
    if match["columns"]:
        first, last = _column(match["d1"], match["c1"], columns), _column(match["d2"], match["c2"], columns)
    else:
        first, last = _row(match["e1"], match["r1"], rows), _row(match["e2"], match["r2"], rows)
    return f"{first}:{last}" if first and last else "#REF!"


def _joined(column: str, row: str) -> str:
    return column + row if column and row else "#REF!"


def _column(fixed: str, letters: str, by: int) -> str:
    number = column_number(letters) + (0 if fixed else by)
    return fixed + column_letters(number) if 1 <= number <= 16_384 else ""


def _row(fixed: str, digits: str, by: int) -> str:
    number = int(digits) + (0 if fixed else by)
    return f"{fixed}{number}" if 1 <= number <= 1_048_576 else ""
