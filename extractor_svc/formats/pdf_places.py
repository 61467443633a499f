"""Places of lines and tables on displayed pages, narrow enough that nothing else reads back from them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, TypeAlias

from artifact.locators import PageBox, PdfPlace
from extractor_svc.formats.pdf_geometry import Box, Turn, around
from extractor_svc.formats.pdf_ink import Span
from extractor_svc.formats.pdf_lines import Line
from extractor_svc.formats.pdf_pages import PagePieces

_Core: TypeAlias = tuple[float, float, float, float, int]
"""Top, bottom, left and right of the middles of a span's letters, and its index."""

_SLIT: Final = 0.3
"""Half the height, in points, of a box that must not take in a text drawn close by."""
SLACK: Final = 0.02
"""Points by which a rounded box may miss what it was made of."""


class PagePlaces:
    """Makes locators on one page."""

    def __init__(self, page: PagePieces) -> None:
        self._page = page
        self._cores = sorted(_cores(page))
        self._tallest = max((bottom - top for top, bottom, *_ in self._cores), default=0.0)

    def of_lines(self, lines: Iterable[Line]) -> PdfPlace:
        """The place of some lines: a box each, or several where text of other lines lies in it."""
        return self._place(box for line in lines for box in self._boxes(line))

    def of_box(self, box: Box) -> PdfPlace:
        """The place of a rectangle."""
        return self._place([box])

    def _place(self, boxes: Iterable[Box]) -> PdfPlace:
        page = self._page
        return PdfPlace(page.number, page.number, page.label, tuple(page_box(page.number, box) for box in boxes))

    def _boxes(self, line: Line) -> Iterator[Box]:
        own = {span.index for stroke in line.strokes for span in stroke}
        turn = Turn(line.quarters or 0, self._page.bounds.x1, self._page.bounds.y1)
        box = turn.displayed(line.box)
        if not self._holds_others(box, own):
            yield box
            return
        for group in _level_groups(line.spans):
            yield turn.displayed(_slit(around(span.box for span in group)))

    def _holds_others(self, box: Box, own: set[int]) -> bool:
        """Whether the middle of any letter of another span may lie in the box."""
        x0, y0, x1, y1 = box.x0 - 2 * SLACK, box.y0 - 2 * SLACK, box.x1 + 2 * SLACK, box.y1 + 2 * SLACK
        for i in range(bisect_left(self._cores, (y0 - self._tallest,)), len(self._cores)):
            top, bottom, left, right, index = self._cores[i]
            if top > y1:
                return False
            if left <= x1 and right >= x0 and bottom >= y0 and index not in own:
                return True
        return False


def is_slit(box: Box) -> bool:
    """Whether a box is one of those that keep text drawn close by out."""
    return min(box.height, box.width) <= 2 * _SLIT + SLACK


def merged_place(places: Sequence[PdfPlace]) -> PdfPlace:
    """One place of several in reading order."""
    first = min(places, key=lambda place: place.first_page)
    boxes = tuple(box for place in places for box in place.boxes)
    return PdfPlace(first.first_page, max(place.last_page for place in places), first.label, boxes)


def box_of(place: PageBox) -> Box:
    """The rectangle of a locator's box."""
    return Box(place.x0, place.y0, place.x1, place.y1)


def page_box(page: int, box: Box) -> PageBox:
    """A rectangle of a displayed page as locators have it, to hundredths of a point."""
    return PageBox(page, round(box.x0, 2), round(box.y0, 2), round(box.x1, 2), round(box.y1, 2))


def _cores(page: PagePieces) -> Iterator[_Core]:
    """Where the middles of the letters of every span lie on the displayed page."""
    for stroke in page.strokes:
        turn = Turn(stroke.quarters, page.bounds.x1, page.bounds.y1) if stroke.quarters else None
        for span in stroke.spans:
            box = span.box
            if stroke.quarters is not None:
                middle = (box.y0 + box.y1) / 2
                if turn is None:
                    yield middle, middle, box.x0, box.x1, span.index
                    continue
                box = turn.displayed(Box(box.x0, middle, box.x1, middle))
            yield box.y0, box.y1, box.x0, box.x1, span.index


def _level_groups(spans: Sequence[Span]) -> Iterator[list[Span]]:
    """Runs of spans whose letters have their middles at one height."""
    group = [spans[0]]
    for before, span in pairwise(spans):
        if abs(before.box.centre[1] - span.box.centre[1]) > _SLIT / 2 or span.box.x0 < before.box.x0:
            yield group
            group = []
        group.append(span)
    yield group


def _slit(box: Box) -> Box:
    middle = (box.y0 + box.y1) / 2
    return Box(box.x0, middle - _SLIT, box.x1, middle + _SLIT)
