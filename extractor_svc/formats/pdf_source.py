"""The one door to the PDF parser: opens a file and gives each page as our own values."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, partial
from types import TracebackType
from typing import Final, Self

import pymupdf
from pymupdf import mupdf

from extractor_svc.errors import Malformed, OutputLimit, PasswordRequired
from extractor_svc.formats.pdf_active import active_in_file, active_in_page
from extractor_svc.formats.pdf_geometry import Box
from extractor_svc.formats.pdf_guard import FEWEST_FORMS, FormEntry, draws_without_end, refuse_a_bomb
from extractor_svc.formats.pdf_ink import Bookmark, FileFacts, Letter, PageInk, Picture, Stroke
from extractor_svc.formats.pdf_links import links_of
from extractor_svc.formats.pdf_marks import marks_of
from extractor_svc.formats.pdf_spans import Dictionary, PageLetters, spans_of, vectors_of
from extractor_svc.formats.pdf_structure import has_tagged_headings, references
from extractor_svc.formats.pdf_unseen import Layers, may_cut_text_away, unseen_on
from extractor_svc.limits import Limits

PARSER: Final = f"loom-pdf/1 mupdf/{pymupdf.mupdf_version}"

_TEXT_FLAGS: Final = pymupdf.TEXT_COLLECT_VECTORS | pymupdf.TEXT_LAZY_VECTORS
"""Ligatures are expanded, unknown glyphs stay U+FFFD, nothing is clipped; vectors come after the text they lie among."""
_SPARSE_CHARS: Final = 250
"""A page with fewer visible characters is looked at for pictures."""
_SOUND_BOX: Final = re.compile(r"/(?:Media|Crop)Box ?\[ ?(?:-?\d{1,4}(?:\.\d*)? ?){4}\]")
"""A box of a page whose sides are well inside what the parser can place text on."""
_MAY_HOLD_PICTURES: Final = re.compile(rb"\bBI\b|\b(?:scn|SCN)\b")
"""Pictures inside the content, and patterns, which may hold some."""
_PROPERTIES: Final = ("author", "subject", "keywords", "creator", "producer", "creationDate", "modDate", "attachments")
_LARGEST_SIDE: Final = 100_000.0
"""Points; readers stop at 14,400."""


class PageUnreadable(Exception):
    """A page the parser cannot load, or would not be done with; `reason` is the ledger's."""

    def __init__(self, message: str, *, reason: str = "unreadable_page") -> None:
        super().__init__(message)
        self.reason = reason


class PdfFile:
    """An open PDF file; a context manager, for the parser holds memory of its own.

    Pages are numbered from 1. `letters` reads the page asked for last.
    """

    def __init__(self, content: bytes, *, password: str, limits: Limits) -> None:
        """Opens the file.

        Raises:
            Malformed: the bytes are no PDF, no page is left, or the page tree runs in a circle or lies about its pages.
            PasswordRequired: the file is encrypted and the password does not open it.
            OutputLimit: there are more pages than the limits allow.
        """
        self._limits = limits
        self._document = _open(content)
        self._inflated: set[int] = set()
        self._text_page: pymupdf.TextPage = None
        self._blocks: list[Dictionary] = []
        self._bounds = Box(0, 0, 0, 0)
        self._letters: PageLetters | None = None
        if self._document.needs_pass and not self._document.authenticate(password):
            raise PasswordRequired("the file is encrypted; send the password that opens it")
        try:
            self.facts = self._facts()
            self._layers = Layers(self._document)
            self._flags = _TEXT_FLAGS | (pymupdf.TEXT_COLLECT_STRUCTURE if has_tagged_headings(self._document) else 0)
        except (mupdf.FzErrorBase, RuntimeError, ValueError) as error:
            raise Malformed("the file is damaged and its pages cannot be counted; send an undamaged copy") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._document.close()

    def page(self, number: int) -> PageInk:
        """All that is drawn on a page.

        Raises:
            PageUnreadable: the page cannot be loaded, or its forms draw one another without end.
            DecompressionLimit: its content inflates out of proportion.
        """
        try:
            page = self._document.load_page(number - 1)
            entry = self._document.xref_object(page.xref, compressed=True)
            if not entry.startswith("<<"):
                raise PageUnreadable("the object of the page is none")
            forms = page.get_xobjects()
            self._refuse_bombs(page, forms)
            if not _is_of_sound_size(entry):
                _cut_to_size(page)
            rect = page.rect
            self._bounds = Box(0, 0, rect.width, rect.height)
            self._letters = None
            faults = self._read(page)
            blocks = self._blocks = self._text_page.extractDICT()["blocks"]
            contents = cache(page.read_contents)
            look = cache(partial(_pictures_if_any, page, forms, contents))
            unseen = unseen_on(page, blocks, shown=self._shown(page, contents, draws_forms=bool(forms)), pictures=look)
            spans = spans_of(blocks, self._bounds, letters=self.letters, unseen=unseen)
            marked = "/Annots" in entry
            return PageInk(
                number=number,
                label=_label(page),
                bounds=self._bounds,
                strokes=spans.strokes,
                vectors=vectors_of(blocks),
                pictures=look() if _may_be_scanned(spans.strokes) else (),
                largest_picture_pixels=max((image[2] * image[3] for image in page.get_images()), default=0),
                marks=marks_of(page) if marked else (),
                active=active_in_page(self._document, page) if marked or "/AA" in entry else (),
                links=links_of(page) if marked else (),
                off_page_words=spans.off_page_words,
                overprinted_words=spans.overprinted_words,
                faults=faults,
            )
        except (mupdf.FzErrorBase, RuntimeError, ValueError) as error:
            raise PageUnreadable(str(error)) from error

    def _read(self, page: pymupdf.Page) -> int:
        """Reads all that a page holds, layers that are off too; how many faults were met."""
        self._layers.switch(on=True)
        try:
            self._text_page, faults = _text_page(page, self._flags)
        finally:
            self._layers.switch(on=False)
        return faults

    def _shown(self, page: pymupdf.Page, contents: Callable[[], bytes], *, draws_forms: bool) -> list[Dictionary] | None:
        """What a page shows, without the text on layers that are off and the text cut away; None where that is all of it."""
        if not self._layers.any_off and not may_cut_text_away(contents(), draws_forms=draws_forms):
            return None
        shown, _ = _text_page(page, _TEXT_FLAGS & ~pymupdf.TEXT_COLLECT_VECTORS | pymupdf.TEXT_CLIP)
        if len(shown.extractText()) == len(self._text_page.extractText()):
            return None
        blocks: list[Dictionary] = shown.extractDICT()["blocks"]
        return blocks

    def letters(self, index: int) -> Sequence[Letter]:
        """The letters of a span of the page, by its index."""
        if self._letters is None:
            self._letters = PageLetters(self._text_page, self._blocks, self._bounds)
        return self._letters.of(index)

    def _facts(self) -> FileFacts:
        document = self._document
        pages = document.page_count
        if pages < 1 or not document.is_pdf:
            raise Malformed("the file is damaged and no page of it is left; send an undamaged copy")
        if not document.is_repaired:
            self._check_page_tree(pages)
        if pages > self._limits.max_pages:
            raise OutputLimit(
                f"the document has {pages} pages and at most {self._limits.max_pages} are read; split it",
                metadata={"pages": str(pages), "max_pages": str(self._limits.max_pages)},
            )
        said = {**(document.metadata or {}), "attachments": ", ".join(document.embfile_names())}
        return FileFacts(
            page_count=pages,
            repaired=document.is_repaired,
            title=(said.get("title") or "").strip(),
            properties={name: said[name].strip() for name in _PROPERTIES if (said.get(name) or "").strip()},
            outline=_outline(document),
            active=active_in_file(document),
        )

    def _check_page_tree(self, stated: int) -> None:
        """Counts the leaves of the page tree, which a sound file states rightly and a hostile one does not."""
        document = self._document
        leaves, met = 0, set()
        waiting = references(document, document.pdf_catalog(), "Pages")
        while waiting and leaves <= stated:
            node = waiting.pop()
            if node in met:
                raise Malformed("the page tree runs in a circle; send an undamaged copy")
            met.add(node)
            leaves += document.xref_get_key(node, "Kids")[0] == "null"
            waiting.extend(references(document, node, "Kids"))
        if leaves != stated:
            raise Malformed("the file states another number of pages than it has; send an undamaged copy")

    def _refuse_bombs(self, page: pymupdf.Page, forms: Sequence[FormEntry]) -> None:
        """Bounds the content streams of a page and of the forms it draws, and how often these draw one another."""
        for xref in (*page.get_contents(), *(form[0] for form in forms)):
            if xref not in self._inflated:
                self._inflated.add(xref)
                layers = self._document.xref_get_key(xref, "Filter")[1].count("/Fl")
                if layers:
                    refuse_a_bomb(self._document.xref_stream_raw(xref) or b"", flate_layers=layers, limits=self._limits)
        if len(forms) >= FEWEST_FORMS and draws_without_end(page.read_contents(), forms, self._document.xref_stream):
            raise PageUnreadable("the forms of the page draw one another too often", reason="page_too_complex")


def _open(content: bytes) -> pymupdf.Document:
    pymupdf.TOOLS.mupdf_display_errors(on=0)
    pymupdf.TOOLS.mupdf_display_warnings(on=0)
    try:
        return pymupdf.open(stream=content, filetype="pdf")
    except (mupdf.FzErrorBase, RuntimeError, ValueError) as error:
        raise Malformed("the file is damaged beyond repair or no PDF; send an undamaged copy") from error


def _is_of_sound_size(entry: str) -> bool:
    """Whether a page says itself, in its own object, that its boxes are of the usual sizes; others are looked up."""
    return "/MediaBox" in entry and entry.count("/MediaBox") + entry.count("/CropBox") == len(_SOUND_BOX.findall(entry))


def _cut_to_size(page: pymupdf.Page) -> None:
    """Cuts a page of absurd size to what the parser can place text on; its coordinates have 24 bits."""
    box = page.mediabox
    if max(abs(side) for side in (*box, *page.cropbox)) > _LARGEST_SIDE:
        page.set_mediabox(box & pymupdf.Rect(-_LARGEST_SIDE, -_LARGEST_SIDE, _LARGEST_SIDE, _LARGEST_SIDE))


def _text_page(page: pymupdf.Page, flags: int) -> tuple[pymupdf.TextPage, int]:
    """The text and drawings of a page's own content, without its fields and annotations, and the faults met in it."""
    unbounded = mupdf.FzRect(mupdf.FzRect.Fixed_INFINITE)
    text_page = mupdf.FzStextPage(unbounded)
    options = mupdf.FzStextOptions()
    options.flags = flags
    device = mupdf.fz_new_stext_device(text_page, options)
    cookie = mupdf.FzCookie()
    drawn = page.this if isinstance(page.this, mupdf.FzPage) else page.this.super()
    mupdf.fz_run_page_contents(drawn, device, mupdf.FzMatrix(), cookie)
    mupdf.fz_close_device(device)
    return pymupdf.TextPage(text_page), cookie.m_internal.errors


def _may_be_scanned(strokes: Sequence[Stroke]) -> bool:
    """Whether the page has so little visible text, or hidden text, that a picture may hold what it says."""
    if any(stroke.spans[0].hidden for stroke in strokes):
        return True
    chars = 0
    for stroke in strokes:
        chars += sum([len(span.text) for span in stroke.spans])
        if chars >= _SPARSE_CHARS:
            return False
    return True


def _pictures_if_any(page: pymupdf.Page, forms: Sequence[FormEntry], contents: Callable[[], bytes]) -> tuple[Picture, ...]:
    """The pictures a page shows; it is drawn for them only where it names some, or may hold some inside its content or forms."""
    return pictures_on(page) if forms or page.get_images() or _MAY_HOLD_PICTURES.search(contents()) else ()


def pictures_on(page: pymupdf.Page) -> tuple[Picture, ...]:
    """The pictures a page shows, by their boxes on it as it is displayed."""
    found = page.get_image_info()
    matrix = page.rotation_matrix
    return tuple(
        Picture(Box(*(pymupdf.Rect(image["bbox"]) * matrix).normalize()), image["width"] * image["height"]) for image in found
    )


def _label(page: pymupdf.Page) -> str:
    try:
        return str(page.get_label())
    except (IndexError, KeyError, ValueError):
        return ""  # labels that do not begin with the first page, or are damaged, name no page


def _outline(document: pymupdf.Document) -> tuple[Bookmark, ...]:
    """The outline's entries that lead to a page; one that cannot be followed is as none."""
    try:
        entries = document.get_toc()
    except (mupdf.FzErrorBase, RuntimeError, ValueError, RecursionError):
        return ()
    return tuple(Bookmark(level, " ".join(title.split()), page) for level, title, page in entries if page > 0 and title.strip())
