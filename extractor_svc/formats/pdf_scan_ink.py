"""Turns what was read from the pixels of a page into strokes, as if its text had been drawn there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from statistics import median
from typing import Final

from extractor_svc.formats.pdf_geometry import Box, Turn
from extractor_svc.formats.pdf_ink import Letter, Span, Stroke
from extractor_svc.ocr.layout import Piece, Spot, flows_of
from extractor_svc.ocr.values import Patch, Reading

_SIZE: Final = 0.7
"""Size of type in heights of its line, which has margins."""
_ASCENT: Final = 0.8
_DESCENT: Final = 0.25
_BELOW_MIDDLE: Final = 0.3
"""How far a letter's top, its bottom and the middle of its line are from the baseline, in sizes."""
_SAME_HEIGHT: Final = 1.22
_SAME_HEIGHT_SHORT: Final = 1.5
"""Largest ratio of two measured heights that are taken to be one: of a line, and of one too short to be measured well."""
_LONG: Final = 5.0
_FIRST_INDEX: Final = 1_000_000
"""Index of the first span that is read from pixels; those that are drawn have lower ones."""


@dataclass(frozen=True, slots=True)
class ScanInk:
    """Strokes, and the letters of their spans by the span's index."""

    strokes: tuple[Stroke, ...]
    letters: dict[int, tuple[Letter, ...]]


def strokes_of(reading: Reading, page: Box) -> ScanInk:
    """The lines of a reading whose places are in points of a displayed page.

    Lines of a tilted page are laid level about its middle, so that rows and columns are found as on any page. Letters share the
    width of their word evenly. Sizes near that of most text are it.
    """
    pieces = [piece for flow in flows_of(reading) for row in flow for piece in row.pieces]
    sizes = _sizes(pieces)
    strokes: list[Stroke] = []
    letters: dict[int, tuple[Letter, ...]] = {}
    index = count(_FIRST_INDEX)
    for piece, size in zip(pieces, sizes, strict=True):
        spans = [_span(spot, piece, size, page, index=next(index), first=i == 0) for i, spot in enumerate(piece.spots)]
        strokes.append(Stroke(tuple(spans), _quarters(piece.angle)))
        letters |= {span.index: tuple(_letters(span)) for span in spans}
    return ScanInk(tuple(strokes), letters)


def _span(spot: Spot, piece: Piece, size: float, page: Box, *, index: int, first: bool) -> Span:
    right, down = _shift(piece.angle, page)
    baseline = piece.middle + down + _BELOW_MIDDLE * size
    box = Box(spot.x0 + right, baseline - _ASCENT * size, spot.x1 + right, baseline + _DESCENT * size)
    return Span(spot.word.text, box, baseline, size, "", index, spaced=not first)


def _shift(angle: float, page: Box) -> tuple[float, float]:
    """From a page turned by an angle about its corner to one turned by whole quarters, the middles on one another."""
    x, y = page.centre
    middle = Patch(x, y, 0, 0).turned(-angle)
    upright = Turn(_quarters(angle), page.x1, page.y1).page.centre
    return upright[0] - middle.x, upright[1] - middle.y


def _quarters(angle: float) -> int:
    """The quarter turns, clockwise, that bring text that runs at an angle about upright."""
    return -round(angle / 90) % 4


def _sizes(pieces: Sequence[Piece]) -> list[float]:
    """The size of type of each piece: that of most text where it is about that, for heights are measured coarsely."""
    if not pieces:
        return []
    heights = sorted(piece.height for piece in pieces for _ in piece.text)
    usual = median(heights)
    return [round(_SIZE * (usual if _is_about(piece, usual) else piece.height), 1) for piece in pieces]


def _is_about(piece: Piece, height: float) -> bool:
    ratio = max(piece.height, height) / min(piece.height, height)
    return ratio <= (_SAME_HEIGHT if piece.x1 - piece.x0 >= _LONG * piece.height else _SAME_HEIGHT_SHORT)


def _letters(span: Span) -> Iterator[Letter]:
    step = span.box.width / len(span.text)
    for i, letter in enumerate(span.text):
        yield Letter(letter, Box(span.box.x0 + i * step, span.box.y0, span.box.x0 + (i + 1) * step, span.box.y1))
