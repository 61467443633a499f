"""Weighs whether rows of texts in columns are a table: short texts, most places filled, and a column of one kind."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, TypeAlias

from extractor_svc.formats.pdf_lines import Line
from extractor_svc.text_values import reads_as_number_or_date

Placed: TypeAlias = Sequence[Sequence[Line]]
"""A row: for each column the texts in it."""

FEWEST_ROWS: Final = 3
YEAR: Final = re.compile(r"(?:19|20)\d\d(?:\s?[/–-]\s?\d{2,4})?")
_FILLED: Final = 0.6
"""Share of the places of rows and columns that hold text."""
_FIGURES: Final = 0.7
"""Share of a column's texts, its first ones aside, that are figures."""
_DOUBLE: Final = 0.1
"""Share of rows that may have two texts in one column."""
_WORDS: Final = 6.0
"""Mean words a text up to which it can be a cell rather than prose."""
_WORDS_OF_NAMES: Final = 3.0
"""The same where no column is figures or marks."""
_NOTHING: Final = frozenset({"-", "–", "—", "*", ".", "..", "...", "n.a.", "n/a", "N/A"})
_MARKS: Final = frozenset("xX✓✔✗✘*•●○■□☐☑☒+-–—") | {"yes", "no", "Yes", "No"}
_MOST_HEADER_ROWS: Final = 4
_FEWEST_NAMED_COLUMNS: Final = 3
_SAME_EDGE: Final = 3.0
"""Points within which texts of a column share an edge or their middle."""


def is_table(rows: Sequence[Placed]) -> bool:
    """Whether some rows are a table.

    Most places are filled, hardly two texts stand in one, and texts are short. A column, not the first, is figures or marks; or
    three columns and more, each in line, stand below a bold row that names all of them.
    """
    texts = [line.text for row in rows for place in row for line in place]
    filled = sum(bool(place) for row in rows for place in row)
    double = sum(any(len(place) > 1 for place in row) for row in rows)
    columns = len(rows[0])
    words = sum(len(text.split()) for text in texts) / len(texts)
    if words > _WORDS or filled < _FILLED * len(rows) * columns or double > _DOUBLE * len(rows):
        return False
    by_column = [[place[0].text for row in rows if (place := row[at])] for at in range(1, columns)]
    if any(_is_figures(texts) or _is_marks(texts) for texts in by_column):
        return True
    return words <= _WORDS_OF_NAMES and not double and columns >= _FEWEST_NAMED_COLUMNS and _is_named(rows)


def is_figure(text: str) -> bool:
    """Whether a text reads as a number or a date, a note's star aside."""
    return reads_as_number_or_date(text.strip("*$ "))


def _is_figures(texts: Sequence[str]) -> bool:
    """Whether a column's texts are figures below a header of a few rows."""
    first = next((i for i, text in enumerate(texts) if is_figure(text)), len(texts))
    below = texts[first:]
    if first > _MOST_HEADER_ROWS or len(below) < FEWEST_ROWS - 1:
        return False
    return sum(is_figure(text) or text in _NOTHING for text in below) >= _FIGURES * len(below)


def _is_marks(texts: Sequence[str]) -> bool:
    """Whether a column's texts, the first aside where it is its header, are marks such as crosses."""
    below = texts if texts and texts[0] in _MARKS else texts[1:]
    return len(below) >= FEWEST_ROWS and all(text in _MARKS for text in below)


def _is_named(rows: Sequence[Placed]) -> bool:
    """Whether the first row names every column in bold, the rows below are not bold, and every column stands in line."""
    header, body = rows[0], rows[1:]
    if not all(place and place[0].bold for place in header) or any(place[0].bold for row in body for place in row if place):
        return False
    return all(_in_line([row[at][0] for row in rows if row[at]]) for at in range(len(header)))


def _in_line(lines: Sequence[Line]) -> bool:
    edges = ([line.box.x0 for line in lines], [line.box.x1 for line in lines], [line.box.centre[0] for line in lines])
    return any(max(edge) - min(edge) <= _SAME_EDGE for edge in edges)
