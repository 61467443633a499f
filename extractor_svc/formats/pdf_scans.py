"""Reads the pages of a PDF that are pictures, and large pictures beside text, from their pixels."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pymupdf
from pymupdf import mupdf

from artifact.model import BlockType
from extractor_svc.blocks import count_words
from extractor_svc.context import ReadContext
from extractor_svc.formats.pdf_geometry import Box
from extractor_svc.formats.pdf_ink import Letter, Mark, PageInk, Picture, Scan
from extractor_svc.formats.pdf_scan_ink import strokes_of
from extractor_svc.formats.pdf_source import PdfFile, pictures_on
from extractor_svc.ocr.paragraphs import paragraphs_of
from extractor_svc.ocr.picture import read_pixels, unsure_words
from extractor_svc.ocr.values import Pixels, Reading, Word

LARGEST_PICTURE_PIXELS: Final = 200_000_000
"""Pixels past which a picture is never decoded; a page scanned at 1200 dpi has 140 million."""
_TIME_FOR_SCANS: Final = 0.55
"""Share of the time limit after which nothing more is read from pixels, so that pages with text are still read."""
_TIME_FOR_LAST: Final = 0.65
"""Share of the time limit at which reading is broken off inside a picture."""
_DENSITY: Final = 300 / 72
"""Pixels a point at which a page is drawn to be read: 300 dots an inch."""
_MOST_PIXELS: Final = 16_000_000
_STRAY_WORDS: Final = 60
"""Words up to which a page that pictures cover is a scan with a stamp or a running line on it."""
_COVERING: Final = 0.5
_DRAWING: Final = 30
"""Pieces of a drawing, no straight lines, from which a page without text may show text in outlines."""
_SMALLEST_SIDE: Final = 16.0
_LEAST_SHARE: Final = 0.02
_LEAST_PIXELS: Final = 10_000
"""Least share of the page, and least pixels, of a picture beside text that is read."""
_GROUND: Final = 30
"""Words over a picture, past which it is the ground they are written on."""
_SAME: Final = 0.02


class _Unread(Exception):
    """Pixels that are not read; `reason` is the ledger's."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ScannedFile(PdfFile):
    """An open PDF whose pictures are read too.

    A page without text of its own, or next to none, gets the text of its pixels; on other pages a large picture that holds text
    is a mark with it. What the page's own text says is not taken from pixels again. `wanted` are the pictures to be read on
    pages with text, by their boxes; None is all of them.
    """

    def __init__(self, content: bytes, context: ReadContext, *, wanted: Sequence[tuple[int, Box]] | None = None) -> None:
        """Opens the file, as `PdfFile` does."""
        super().__init__(content, password=context.options.password, limits=context.limits)
        self._context = context
        self._wanted = wanted
        began = time.monotonic()
        self._end = began + _TIME_FOR_SCANS * context.limits.timeout_s
        self._last = began + _TIME_FOR_LAST * context.limits.timeout_s
        self._scanned: dict[int, tuple[Letter, ...]] = {}
        self._known: dict[bytes, Reading] = {}

    def page(self, number: int) -> PageInk:
        """All that is drawn on a page, and what its pixels say."""
        ink = super().page(number)
        self._scanned = {}
        if ink.largest_picture_pixels > LARGEST_PICTURE_PIXELS:
            return ink
        return self._whole(ink) if _is_scan(ink) else self._beside_text(ink)

    def letters(self, index: int) -> Sequence[Letter]:
        """The letters of a span of the page, by its index."""
        read = self._scanned.get(index)
        return super().letters(index) if read is None else read

    def _whole(self, ink: PageInk) -> PageInk:
        """A page that is a picture, with the text of its pixels."""
        try:
            reading = self._reading_of(ink, ink.bounds)
        except _Unread as why:
            return replace(ink, scan=Scan(reason=why.reason))
        read = strokes_of(reading, ink.bounds)
        self._scanned = read.letters
        return replace(ink, strokes=(*ink.strokes, *read.strokes), scan=Scan(whole=True, unsure_words=unsure_words(reading)))

    def _beside_text(self, ink: PageInk) -> PageInk:
        """A page with text, and with the text of its pictures."""
        marks: list[Mark] = []
        unread: list[tuple[Box, str]] = []
        unsure = read = 0
        for box in self._boxes(ink):
            try:
                reading = self._reading_of(ink, box)
            except _Unread as why:
                unread.append((box, why.reason))
                continue
            read += 1
            unsure += unsure_words(reading)
            if text := "\n".join(paragraph.text for paragraph in paragraphs_of(reading)):
                marks.append(Mark(BlockType.IMAGE_TEXT, text, box))
        scan = Scan(pictures=read, unsure_words=unsure, unread=tuple(unread))
        return replace(ink, marks=(*ink.marks, *marks), scan=scan)

    def _boxes(self, ink: PageInk) -> Iterator[Box]:
        """The pictures beside text that are large enough, wanted, and not the ground that text is written on."""
        if ink.largest_picture_pixels < _LEAST_PIXELS:
            return
        words = [span for stroke in ink.strokes for span in stroke.spans if not span.hidden]
        hidden = [span for stroke in ink.strokes for span in stroke.spans if span.hidden]
        for picture in pictures_on(self._document.load_page(ink.number - 1)):
            box = picture.box.cut_to(ink.bounds)
            if not _is_large(picture, box, ink.bounds) or not self._is_wanted(ink.number, box):
                continue
            over = sum(count_words(span.text) for span in words if box.holds_centre_of(span.box))
            if over <= _GROUND and not any(box.holds_centre_of(span.box) for span in hidden):
                yield box

    def _is_wanted(self, number: int, box: Box) -> bool:
        return self._wanted is None or any(page == number and _same(wanted, box) for page, wanted in self._wanted)

    def _reading_of(self, ink: PageInk, box: Box) -> Reading:
        """What the pixels in a box of a page say, less what the page's own text says there; places are in points.

        Raises:
            _Unread: there is no time left for it, or it cannot be drawn.
        """
        if time.monotonic() > self._end:
            raise _Unread("time_limit")
        pixels, density = self._drawn(ink.number, box)
        key = hashlib.blake2b(pixels.tobytes(), digest_size=16).digest() + str(pixels.shape).encode()
        if key not in self._known:
            self._known[key] = read_pixels(pixels, alive=lambda: self._go_on(ink.number))
        own = [span.box.grown(1.0) for stroke in ink.strokes for span in stroke.spans if stroke.quarters in (0, None)]

        def is_own(word: Word) -> bool:
            x, y = box.x0 + word.place.x / density, box.y0 + word.place.y / density
            return any(other.holds(x, y) for other in own)

        return self._known[key].without(is_own).scaled(1 / density)

    def _go_on(self, number: int) -> None:
        if time.monotonic() > self._last:
            raise _Unread("time_limit")
        self._context.progress("page", number - 1, self.facts.page_count)

    def _drawn(self, number: int, box: Box) -> tuple[Pixels, float]:
        """A part of a page as it is shown, and how many pixels a point it has.

        Raises:
            _Unread: it cannot be drawn.
        """
        density = min(_DENSITY, math.sqrt(_MOST_PIXELS / max(box.area, 1.0)))
        matrix, clip = pymupdf.Matrix(density, density), pymupdf.Rect(box.x0, box.y0, box.x1, box.y1)
        try:
            page = self._document.load_page(number - 1)
            drawn = page.get_pixmap(matrix=matrix, clip=clip, colorspace=pymupdf.csRGB, alpha=False, annots=False)
        except (mupdf.FzErrorBase, RuntimeError) as error:
            raise _Unread("damaged_picture") from error
        rows = np.frombuffer(drawn.samples, np.uint8).reshape(drawn.height, drawn.stride)
        return rows[:, : drawn.width * 3].reshape(drawn.height, drawn.width, 3).copy(), density


def _is_scan(ink: PageInk) -> bool:
    """Whether a page shows pictures, or a drawing of text, and has no text but a few words over them, hidden ones included."""
    spans = [span for stroke in ink.strokes for span in stroke.spans]
    if any(span.hidden for span in spans):
        return False
    shown = [picture for picture in ink.pictures if min(picture.box.width, picture.box.height) >= _SMALLEST_SIDE]
    if not spans:
        return bool(shown) or sum(not vector.rectangle for vector in ink.vectors) >= _DRAWING
    covered = sum(picture.box.cut_to(ink.bounds).area for picture in shown)
    return covered >= _COVERING * ink.bounds.area and sum(count_words(span.text) for span in spans) <= _STRAY_WORDS


def _is_large(picture: Picture, box: Box, page: Box) -> bool:
    return (
        min(box.width, box.height) >= _SMALLEST_SIDE
        and box.area >= _LEAST_SHARE * page.area
        and _LEAST_PIXELS <= picture.pixels <= LARGEST_PICTURE_PIXELS
    )


def _same(first: Box, second: Box) -> bool:
    pairs = ((first.x0, second.x0), (first.y0, second.y0), (first.x1, second.x1), (first.y1, second.y1))
    return all(abs(a - b) <= _SAME for a, b in pairs)
