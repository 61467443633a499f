"""One page, taken apart: its tables, its lines, and the ones that read in another direction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from extractor_svc.formats.pdf_geometry import Box, Turn
from extractor_svc.formats.pdf_grids import Grid
from extractor_svc.formats.pdf_ink import Letters, Mark, PageInk, Picture, Scan, Span, Stroke
from extractor_svc.formats.pdf_lines import Line, lines_of
from extractor_svc.formats.pdf_tables import ruled_tables
from extractor_svc.formats.pdf_text import Vocabulary, unread_words

_UNNAMED: Final = "\ufffd"
"""Stands for a letter that the font does not name."""
_STRAY_WORDS: Final = 5
"""Words up to which a page that a picture covers counts as that picture."""
_COVERING: Final = 0.5
"""Share of the page that a picture, or several, take up to cover it."""
_SMALLEST_PICTURE: Final = 16.0
_DRAWING: Final = 30
"""Pieces of a drawing that are no straight lines, from which on a page without text may show outlined text."""


@dataclass(frozen=True, slots=True)
class PagePieces:
    """A page's ruled tables and its lines outside them, `turn` bringing most of its text upright.

    `spans` are all spans drawn on it by the quarter turns that bring them upright.
    """

    number: int
    label: str
    bounds: Box
    turn: Turn
    grids: tuple[Grid, ...]
    lines: tuple[Line, ...]
    strokes: tuple[Stroke, ...]
    vocabulary: Vocabulary
    marks: tuple[Mark, ...]
    pictures: tuple[Picture, ...]
    outlines: int
    off_page_words: int
    overprinted_words: int
    unread_words: int
    scan: Scan

    def is_picture_beside(self, words: int) -> bool:
        """Whether the page is a picture, given how many of its words count as text."""
        shown = [picture for picture in self.pictures if min(picture.box.width, picture.box.height) >= _SMALLEST_PICTURE]
        if words == 0 and shown:
            return True
        return words <= _STRAY_WORDS and self.covered_by_pictures(self.bounds) >= _COVERING

    @property
    def shows_only_a_drawing(self) -> bool:
        """Whether the page has no text but a drawing that may be text in outlines."""
        return not self.strokes and self.outlines >= _DRAWING

    def covered_by_pictures(self, box: Box) -> float:
        """The share of a box that pictures take up, at most 1; overlaps count twice."""
        return min(1.0, sum(picture.box.cut_to(box).area for picture in self.pictures) / max(box.area, 1e-6))


def take_apart(ink: PageInk, *, letters: Letters) -> PagePieces:
    """Finds the tables and lines of a page."""
    turn = Turn(_main_direction(ink.strokes), ink.bounds.x1, ink.bounds.y1)
    vocabulary = Vocabulary(_stroke_text(stroke.spans) for stroke in ink.strokes)
    seen, unseen = _by_sight(ink.strokes)
    tabled = ruled_tables(seen, ink.vectors, turn, letters=letters, vocabulary=vocabulary)
    return PagePieces(
        number=ink.number,
        label=ink.label,
        bounds=ink.bounds,
        turn=turn,
        grids=tabled.grids,
        lines=tuple(lines_of((*tabled.loose, *unseen))),
        strokes=ink.strokes,
        vocabulary=vocabulary,
        marks=ink.marks,
        pictures=ink.pictures,
        outlines=sum(not vector.rectangle for vector in ink.vectors),
        off_page_words=ink.off_page_words,
        overprinted_words=ink.overprinted_words,
        unread_words=sum([unread_words(span.text) for stroke in ink.strokes for span in stroke.spans if _UNNAMED in span.text]),
        scan=ink.scan,
    )


def _main_direction(strokes: Iterable[Stroke]) -> int:
    letters: Counter[int] = Counter()
    for stroke in strokes:
        if stroke.quarters is not None:
            letters[stroke.quarters] += sum([len(span.text) for span in stroke.spans])
    return letters.most_common(1)[0][0] if letters else 0


def _by_sight(strokes: Sequence[Stroke]) -> tuple[Sequence[Stroke], Sequence[Stroke]]:
    """The strokes that fill tables, and those that the page holds beside them unseen; all fill them where most are unseen."""
    unseen = [stroke for stroke in strokes if stroke.spans[0].hidden]
    if not unseen or len(unseen) * 2 > len(strokes):
        return strokes, ()
    return [stroke for stroke in strokes if not stroke.spans[0].hidden], unseen


def _stroke_text(spans: Sequence[Span]) -> str:
    return spans[0].text if len(spans) == 1 else "".join([f" {span.text}" if span.spaced else span.text for span in spans])
