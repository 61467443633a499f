"""Reads the text at a place of a PDF back from the file alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from artifact.locators import PdfPlace
from extractor_svc.formats.pdf_furniture import Furniture
from extractor_svc.formats.pdf_geometry import Box
from extractor_svc.formats.pdf_ink import Letters, PageInk
from extractor_svc.formats.pdf_leaves import page_text
from extractor_svc.formats.pdf_lines import Line, merged
from extractor_svc.formats.pdf_pages import PagePieces, take_apart
from extractor_svc.formats.pdf_paragraphs import Paragraph
from extractor_svc.formats.pdf_places import SLACK, box_of, is_slit
from extractor_svc.formats.pdf_source import PdfFile
from extractor_svc.formats.pdf_text import TextLine, join_lines, without_bullet
from extractor_svc.formats.pdf_within import lines_in

_WIDTH_OF_ROWS: Final = 0.95


def text_at(file: PdfFile, place: PdfPlace) -> str:
    """The text inside the place's boxes, in their order; of whole pages where it has none.

    A box that is a form field's or an annotation's reads as that. One over rows of a ruled table reads as the rows. Any other
    reads as the letters whose middles lie in it, and boxes that follow one another as lines of running text.

    Raises:
        PageUnreadable: a page cannot be loaded.
    """
    if not place.boxes:
        return "\n".join(_OpenPage(file, number).text() for number in range(place.first_page, place.last_page + 1))
    pieces: list[str] = []
    lines: list[TextLine] = []
    for number, of_page in groupby(place.boxes, key=lambda box: box.page):
        page = _OpenPage(file, number)
        for read in page.read([box_of(box) for box in of_page]):
            if isinstance(read, TextLine):
                lines.append(read)
            else:
                pieces += [join_lines(lines), read]
                lines = []
    pieces.append(join_lines(lines))
    return without_bullet("\n".join(piece for piece in pieces if piece))


class _OpenPage:
    """One page with its letters at hand."""

    def __init__(self, file: PdfFile, number: int) -> None:
        self._ink: PageInk = file.page(number)
        self._letters: Letters = file.letters
        self._pieces: PagePieces = take_apart(self._ink, letters=file.letters)

    def text(self) -> str:
        """All text of the page in reading order."""
        body = page_text(self._pieces, Furniture()).body
        return "\n".join(
            join_lines([self._text_line(line) for line in item.lines])
            if isinstance(item, Paragraph)
            else item.text_of_rows(range(item.row_count))
            for item in body
        )

    def read(self, boxes: Sequence[Box]) -> Iterator[TextLine | str]:
        """What each box holds: lines of text, or the text of a mark or of rows as it is."""
        slit: list[Line] = []
        for box in boxes:
            fixed = self._fixed(box)
            lines = lines_in(box, self._ink, letters=self._letters) if fixed is None else []
            if slit and not (lines and is_slit(box) and _level(slit[-1], lines[0])):
                yield self._text_line(merged(slit))
                slit = []
            if fixed is not None:
                yield fixed
            elif is_slit(box):
                slit += lines
            else:
                yield from (self._text_line(line) for line in lines)
        if slit:
            yield self._text_line(merged(slit))

    def _text_line(self, line: Line) -> TextLine:
        return TextLine(line.text, self._pieces.vocabulary, line.mono)

    def _fixed(self, box: Box) -> str | None:
        """The text of a mark that has this box, or of rows of a table that fill it."""
        for mark in self._pieces.marks:
            if _same(mark.box, box):
                return mark.text
        for grid in self._pieces.grids:
            held = grid.turn.upright(box)
            if grid.box.grown(1.0).holds_centre_of(held) and held.width >= _WIDTH_OF_ROWS * grid.box.width:
                return grid.text_of_rows(grid.rows_in(box))
        return None


def _same(first: Box, second: Box) -> bool:
    pairs = ((first.x0, second.x0), (first.y0, second.y0), (first.x1, second.x1), (first.y1, second.y1))
    return all(abs(a - b) <= SLACK for a, b in pairs)


def _level(first: Line, second: Line) -> bool:
    """Whether two lines in slits are pieces of one."""
    return first.quarters == second.quarters and abs(first.box.centre[1] - second.box.centre[1]) <= SLACK
