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

    def moved(match: re.Match[str]) -> str:
        if match["cell"]:
            return _joined(_column(match["dc"], match["column"], columns), _row(match["dr"], match["row"], rows))
        if match["columns"]:
            first, last = _column(match["d1"], match["c1"], columns), _column(match["d2"], match["c2"], columns)
            return f"{first}:{last}" if first and last else "#REF!"
        if match["rows"]:
            first, last = _row(match["e1"], match["r1"], rows), _row(match["e2"], match["r2"], rows)
            return f"{first}:{last}" if first and last else "#REF!"
        return match.group()

    return _PIECES.sub(moved, formula)


def _joined(column: str, row: str) -> str:
    return column + row if column and row else "#REF!"


def _column(fixed: str, letters: str, by: int) -> str:
    number = column_number(letters) + (0 if fixed else by)
    return fixed + column_letters(number) if 1 <= number <= 16_384 else ""


def _row(fixed: str, digits: str, by: int) -> str:
    number = int(digits) + (0 if fixed else by)
    return f"{fixed}{number}" if 1 <= number <= 1_048_576 else ""
