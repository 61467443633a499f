"""Gathers the lines of a region into paragraphs and list items."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final

from extractor_svc.formats.pdf_geometry import Box, around
from extractor_svc.formats.pdf_lines import Line
from extractor_svc.formats.pdf_text import BULLET

NUMBERED: Final = re.compile(
    r"(?:\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,6})[.)]|\d{1,2}(?:\.\d{1,2}){1,4}\.?|[§]\s?\d+[a-z]?)(?=\s)",
)
_SENTENCE_ENDS: Final = frozenset(".!?:;。！？؟")
_CLOSING: Final = "\"'”’»)]"
_LEADERS: Final = re.compile(r"(?:\.\s?){4,}\s*[\divxlc]+$|_{4,}$")
"""The end of a line in a table of contents or of a line to write on."""
_GAP: Final = 1.3
"""How much larger than the usual distance of lines the one before a new paragraph is."""
_LEAST_LEADING: Final = 1.35
_LEADING: Final = 1.25
_OTHER_SIZE: Final = 0.06
_INDENT: Final = 0.8
_LARGE: Final = 1.6
"""Size, as a share of the text's, from which a text on several lines is one title though other text stands beside it."""
_LONGEST_TITLE: Final = 4
_ALIGNED: Final = 3.0
_SHORT: Final = 0.8
"""Share of the region's width that a line ending a paragraph does not reach."""


@dataclass(slots=True)
class Paragraph:
    """Lines that belong together, from the top; `marker` is the bullet or number it begins with, empty where none."""

    lines: tuple[Line, ...]
    marker: str = ""

    @property
    def box(self) -> Box:
        """The smallest box around its lines."""
        return around(line.box for line in self.lines)

    @property
    def size(self) -> float:
        """The size of its first line."""
        return self.lines[0].size

    @property
    def font(self) -> str:
        """The font of its first line; empty where that has several."""
        return self.lines[0].font

    @property
    def bold(self) -> bool:
        """Whether all its lines are bold."""
        return all(line.bold for line in self.lines)


def paragraphs_of(lines: Sequence[Line]) -> Iterator[Paragraph]:
    """The paragraphs of lines that follow one another down a region."""
    if not lines:
        return
    margins = min(line.box.x0 for line in lines), max(line.box.x1 for line in lines)
    usual = _usual_leading(lines)
    current = [lines[0]]
    for line in lines[1:]:
        if _begins(current, line, margins=margins, usual=usual):
            yield _paragraph(current)
            current = [line]
        else:
            current.append(line)
    yield _paragraph(current)


def with_titles_joined(paragraphs: Sequence[Paragraph], *, body_size: float) -> list[Paragraph]:
    """The paragraphs, those that go on in the large type of the one right above joined to it."""
    out: list[Paragraph] = []
    for paragraph in paragraphs:
        if out and _title_goes_on(out[-1], paragraph, body_size=body_size):
            out[-1] = Paragraph((*out[-1].lines, *paragraph.lines), out[-1].marker)
        else:
            out.append(paragraph)
    return out


def _title_goes_on(title: Paragraph, more: Paragraph, *, body_size: float) -> bool:
    last, line = title.lines[-1], more.lines[0]
    if title.size < _LARGE * body_size or more.marker or len(title.lines) + len(more.lines) > _LONGEST_TITLE:
        return False
    if (last.size, last.bold, last.font, last.tag, last.quarters) != (line.size, line.bold, line.font, line.tag, line.quarters):
        return False
    aligned = min(abs(last.box.x0 - line.box.x0), abs(last.box.centre[0] - line.box.centre[0])) <= _ALIGNED
    return aligned and 0 < line.baseline - last.baseline <= _LEAST_LEADING * last.size and not ends_sentence(last.text)


def marker_of(text: str) -> str:
    """The bullet or number a text begins with; empty where it begins with none."""
    match = BULLET.match(text) or NUMBERED.match(text)
    return match.group() if match else ""


def ends_sentence(text: str) -> bool:
    """Whether a text ends as a sentence does."""
    return text.rstrip(_CLOSING)[-1:] in _SENTENCE_ENDS


def _paragraph(lines: Sequence[Line]) -> Paragraph:
    return Paragraph(tuple(lines), marker_of(lines[0].text))


def _usual_leading(lines: Sequence[Line]) -> float:
    """The usual distance between two lines, in sizes."""
    steps = [
        (below.baseline - above.baseline) / above.size
        for above, below in pairwise(lines)
        if abs(above.size - below.size) <= _OTHER_SIZE * above.size and 0 < below.baseline - above.baseline < 4 * above.size
    ]
    return max(min(median(steps), 2.2), 1.0) if len(steps) >= 3 else _LEADING


def _begins(current: Sequence[Line], line: Line, *, margins: tuple[float, float], usual: float) -> bool:
    """Whether a line begins a new paragraph after the current one."""
    last = current[-1]
    size = max(last.size, 1.0)
    leading = (line.baseline - last.baseline) / size
    if leading <= 0 or leading > max(_GAP * usual, _LEAST_LEADING):
        return True
    if abs(line.size - size) > _OTHER_SIZE * size or (line.hidden, line.mono, line.tag) != (last.hidden, last.mono, last.tag):
        return True
    if line.bold != last.bold and (line.bold or all(other.bold for other in current)):
        return True
    if _LEADERS.search(last.text) or (line.note and current[0].note):
        return True
    if line.mono:
        return False
    if line.font and last.font and line.font != last.font and _is_short(last, margins):
        return True
    return _marked(current, line) or _indented(current, line, margins=margins) or _after_short(last, line, margins=margins)


def _marked(current: Sequence[Line], line: Line) -> bool:
    """Whether the line begins a list item: with a bullet, or with a number where a sentence ended or an item stands."""
    if BULLET.match(line.text):
        return line.text[0] not in "–—-*·" or bool(BULLET.match(current[0].text)) or ends_sentence(current[-1].text)
    if NUMBERED.match(line.text):
        return bool(NUMBERED.match(current[0].text)) or ends_sentence(current[-1].text)
    return False


def _indented(current: Sequence[Line], line: Line, *, margins: tuple[float, float]) -> bool:
    """Whether the line stands further right or left than its paragraph does."""
    step = (line.box.x0 - current[-1].box.x0) / max(line.size, 1.0)
    if step > _INDENT:
        hanging = len(current) == 1 and (marker_of(current[0].text) or not ends_sentence(current[0].text))
        return not hanging and line.box.x0 > margins[0] + _INDENT * line.size and ends_sentence(current[-1].text)
    if step < -_INDENT:
        return len(current) > 1
    return False


def _after_short(last: Line, line: Line, *, margins: tuple[float, float]) -> bool:
    """Whether the line follows one that ends a sentence before the right margin."""
    return _is_short(last, margins) and ends_sentence(last.text) and not line.text[:1].islower()


def _is_short(line: Line, margins: tuple[float, float]) -> bool:
    """Whether a line ends well before the right margin."""
    return line.box.x1 < margins[0] + _SHORT * (margins[1] - margins[0])
