"""Makes paragraphs of the rows of a picture, and running text of their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final

from extractor_svc.ocr.layout import Row, flows_of
from extractor_svc.ocr.values import Bounds, Reading, Word, bounds_of

_FAR: Final = 1.45
"""Usual distances of two lines from which the next one begins a paragraph."""
_CLOSEST: Final = 0.8
_FARTHEST: Final = 1.8
"""Heights of a line, with its margins, that lines of one paragraph are taken to be apart at least and at most."""
_LARGER: Final = 1.4
_NEAR: Final = 3
_INDENT: Final = 0.4
_ROOM: Final = 0.6
"""Heights of a line by which it is set in, and room left after the word that would have fitted the line before."""
_BROKEN: Final = re.compile(r"(\w*[^\W\d_])[-\u2010]$")
_GOES_ON: Final = re.compile(r"[^\W\d_]\w*")
_COMPOUND: Final = re.compile(r"\w+(?:[-\u2010]\w+)+")
_NO_BLANKS: Final = re.compile("[\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uff60]")
"""Scripts that write no blank between words."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Text that belongs together, its words in reading order, and the box around them in pixels of the picture.

    Rows of a table are lines of it, their cells parted by tabs.
    """

    text: str
    words: tuple[Word, ...]
    bounds: Bounds


def paragraphs_of(reading: Reading) -> list[Paragraph]:
    """The paragraphs of a picture in reading order."""
    flows = flows_of(reading)
    compounds = {match.group().casefold() for line in reading.lines for match in _COMPOUND.finditer(line.text)}
    return [_paragraph(rows, reading, compounds) for flow in flows for rows in _parted(flow)]


def text_within(reading: Reading, box: Bounds) -> str:
    """The text in a box of the picture: a paragraph whose own box it is, else what has the middles of its words in it."""
    paragraphs = paragraphs_of(reading)
    for paragraph in paragraphs:
        if paragraph.bounds == box:
            return paragraph.text
    return "\n".join(text for paragraph in paragraphs if (text := _part_within(paragraph, box)))


def _part_within(paragraph: Paragraph, box: Bounds) -> str:
    x0, y0, x1, y1 = box
    inside = [word.text for word in paragraph.words if x0 <= word.place.x <= x1 and y0 <= word.place.y <= y1]
    return paragraph.text if len(inside) == len(paragraph.words) else " ".join(inside)


def _paragraph(rows: Sequence[Row], reading: Reading, compounds: set[str]) -> Paragraph:
    words = tuple(spot.word for row in rows for spot in row.spots)
    bounds = bounds_of((word.place for word in words), reading.width, reading.height)
    if _is_tabled(rows[0]):
        return Paragraph("\n".join("\t".join(piece.text for piece in row.pieces) for row in rows), words, bounds)
    text = rows[0].pieces[0].text
    for row in rows[1:]:
        text = _joined(text, row.pieces[0].text, compounds)
    return Paragraph(text, words, bounds)


def _is_tabled(row: Row) -> bool:
    return len(row.pieces) > 1


def _parted(flow: Sequence[Row]) -> Iterator[list[Row]]:
    """The paragraphs of a column."""
    usual = median([second.middle - first.middle for first, second in pairwise(flow)] or [0.0])
    paragraph = [flow[0]]
    for at in range(1, len(flow)):
        near = flow[max(0, at - _NEAR) : at + _NEAR]
        left, right = median(row.pieces[0].x0 for row in near), max(row.pieces[-1].x1 for row in near)
        if _is_apart(flow[at - 1], flow[at], usual) or _begins(flow[at - 1], flow[at], left=left, right=right):
            yield paragraph
            paragraph = []
        paragraph.append(flow[at])
    yield paragraph


def _is_apart(before: Row, row: Row, usual: float) -> bool:
    """Whether a row is far below the one before it, or of another kind."""
    lower, higher = sorted((before.height, row.height))
    far = row.middle - before.middle > _FAR * min(max(usual, _CLOSEST * lower), _FARTHEST * lower)
    return far or _is_tabled(row) != _is_tabled(before) or higher > _LARGER * lower


def _begins(before: Row, row: Row, *, left: float, right: float) -> bool:
    """Whether a row of running text is set in, or its first word would have had room in the row before it."""
    if _is_tabled(row) or _BROKEN.search(before.pieces[0].text):
        return False
    height = min(row.height, before.height)
    first, last = row.pieces[0], before.pieces[0]
    if first.x0 - left > _INDENT * height and last.x0 - left < _INDENT * height / 2:
        return True
    word = first.spots[0]
    aligned = abs(first.x0 - last.x0) < height or last.x0 - left > _INDENT * height
    return aligned and right - last.x1 > (word.x1 - word.x0) + _ROOM * height


def _joined(first: str, second: str, compounds: set[str]) -> str:
    """Two lines as running text; a hyphen that only breaks a word goes, one that the picture writes elsewhere stays."""
    head, tail = _BROKEN.search(first), _GOES_ON.match(second)
    if head and tail and head.group(1):
        keeps = not tail.group()[0].islower() or f"{head.group(1)}-{tail.group()}".casefold() in compounds
        return first + second if keeps else first[:-1] + second
    if _NO_BLANKS.match(first[-1]) and _NO_BLANKS.match(second[0]):
        return first + second
    return f"{first} {second}"
