"""Tells text that a page holds and does not show: on layers that are off, cut away, without ink, or white on white."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import pymupdf
from pymupdf import mupdf

from extractor_svc.formats.pdf_geometry import Box
from extractor_svc.formats.pdf_ink import Picture
from extractor_svc.formats.pdf_spans import VECTOR, Dictionary, Unseen, flat, lines_in

_CLIPS: Final = re.compile(rb"\bW\*?\s+n\b")
_SHADES: Final = ("Resources/Shading", "Resources/Pattern")
_LIGHT: Final = 0xF8
"""Least share of red, green and blue, of 255, at which ink is as white as paper."""
_LIGHTEST: Final = _LIGHT << 16
"""Least colour that may be as white as paper."""
_INKED: Final = 16 | 32 | 64
"""Signs of letters that are filled, stroked, or cut out of what is drawn next."""
_WHITE: Final = 0xFFFFFF
_MOST_LOOKS: Final = 2_000_000
"""Comparisons of boxes on a page, about a second's work, past which text counts as shown."""
_SHOWN: Final = 0.1
"""Share of a span's box that what is shown of it must cover."""


class Layers:
    """The layers of a file that are off as it opens; they are switched on to read what they hold."""

    def __init__(self, document: pymupdf.Document) -> None:
        """Takes an open PDF document."""
        self._file = mupdf.pdf_document_from_fz_document(document.this)
        count = mupdf.pdf_count_layers(self._file)
        self._off = [i for i in range(count) if not mupdf.pdf_layer_is_enabled(self._file, i)]

    @property
    def any_off(self) -> bool:
        """Whether a layer is off."""
        return bool(self._off)

    def switch(self, *, on: bool) -> None:
        """Switches the layers that are off as the file opens."""
        for layer in self._off:
            mupdf.pdf_enable_layer(self._file, layer, int(on))


def may_cut_text_away(contents: bytes, *, draws_forms: bool) -> bool:
    """Whether a page's content sets a clip, or may do so in the forms it draws."""
    return draws_forms or bool(_CLIPS.search(contents))


def unseen_on(
    page: pymupdf.Page,
    blocks: Sequence[Dictionary],
    *,
    shown: Sequence[Dictionary] | None,
    pictures: Callable[[], Sequence[Picture]],
) -> Unseen:
    """A test for the spans of a page: whether one is not seen.

    `blocks` are all the page holds, `shown` what is left with its layers as they open and its clips kept; None where nothing
    can be missing from it. Ink as white as paper is seen where a shape of another colour, a picture or a shade lies under it.
    """
    places = None if shown is None else _Shown(shown)
    under = _Under(page, blocks, pictures)

    def is_unseen(span: Dictionary) -> bool:
        if not span["char_flags"] & _INKED or span["alpha"] == 0:
            return True
        if places is not None and not places.have(span):
            return True
        colour = span["color"]
        return colour >= _LIGHTEST and _is_white(colour) and not under.inks(span["bbox"])

    return is_unseen


class _Boxes:
    """Boxes that are looked through one by one, up to a bound for a page; past it the answer is yes."""

    def __init__(self, boxes: Iterable[Box]) -> None:
        self._boxes = list(boxes)
        self._left = _MOST_LOOKS

    def any(self, fits: Callable[[Box], bool]) -> bool:
        """Whether one of them fits."""
        self._left -= len(self._boxes)
        return self._left < 0 or any(map(fits, self._boxes))


class _Under:
    """What a page paints under its text; it is looked for when it is first asked about."""

    def __init__(self, page: pymupdf.Page, blocks: Sequence[Dictionary], pictures: Callable[[], Sequence[Picture]]) -> None:
        self._page = page
        self._blocks = blocks
        self._pictures = pictures
        self._boxes: _Boxes | None = None

    def inks(self, bbox: tuple[float, float, float, float]) -> bool:
        """Whether something other than white lies under the middle of a box."""
        if self._boxes is None:
            self._boxes = _Boxes([*self._shapes(), *self._shades(), *(picture.box for picture in self._pictures())])
        box = Box(*bbox)
        return self._boxes.any(lambda painted: painted.holds_centre_of(box))

    def _shapes(self) -> Iterator[Box]:
        for block, _ in flat(self._blocks):
            if block["type"] == VECTOR and block["color"] != _WHITE and block["alpha"]:
                yield Box(*block["bbox"])

    def _shades(self) -> Iterator[Box]:
        document, xref = self._page.parent, self._page.xref
        if any(document.xref_get_key(xref, key)[0] != "null" for key in _SHADES):
            yield Box(*self._page.rect)


class _Shown:
    """Spans that a page shows."""

    def __init__(self, blocks: Sequence[Dictionary]) -> None:
        spans = [span for line, _ in lines_in(blocks) for span in line["spans"]]
        self._whole = {_key(span) for span in spans}
        self._boxes = _Boxes(Box(*span["bbox"]) for span in spans)

    def have(self, span: Dictionary) -> bool:
        """Whether the span is shown, or a part of it is."""
        if _key(span) in self._whole:
            return True
        box = Box(*span["bbox"])
        return self._boxes.any(lambda other: box.meets(other) and box.cut_to(other).area > _SHOWN * box.area)


def _key(span: Dictionary) -> tuple[str, float, float]:
    x, y = span["origin"]
    return span["text"], round(x, 1), round(y, 1)


def _is_white(colour: int) -> bool:
    return colour >> 16 >= _LIGHT and colour >> 8 & 0xFF >= _LIGHT and colour & 0xFF >= _LIGHT
