"""Reads PDF files: text as it is laid out, ruled tables, form fields, and an honest ledger of pages."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from artifact.locators import Locator, PdfPlace
from artifact.model import Artifact, Block, Coverage, FailedUnit, Visibility
from extractor_svc.blocks import LinkList, WarningList, count_words, tally
from extractor_svc.context import ReadContext
from extractor_svc.errors import LocatorNotFound, Malformed, NoText
from extractor_svc.formats.pdf_blocks import Written, write
from extractor_svc.formats.pdf_flow import joined
from extractor_svc.formats.pdf_furniture import furniture_of
from extractor_svc.formats.pdf_geometry import Box
from extractor_svc.formats.pdf_ink import Active, FileFacts, Letters, PageInk
from extractor_svc.formats.pdf_leaves import leaves_of, page_text
from extractor_svc.formats.pdf_pages import PagePieces, take_apart
from extractor_svc.formats.pdf_places import box_of, page_box
from extractor_svc.formats.pdf_resolve import text_at
from extractor_svc.formats.pdf_scans import LARGEST_PICTURE_PIXELS, ScannedFile
from extractor_svc.formats.pdf_source import PARSER, PageUnreadable, PdfFile
from extractor_svc.formats.pdf_within import lines_in

__all__ = ["PARSER", "read", "resolve"]

_T = TypeVar("_T")

_PAGES_A_SIGN: Final = 100
_TIME_FOR_PAGES: Final = 0.7
"""Share of the time limit after which the pages left are listed as not read, so that those read are still returned."""


def read(content: bytes, context: ReadContext) -> Artifact:
    """Reads a PDF (L-FMT-02).

    Blocks are headings, paragraphs, list items, captions, footnotes, code, tables with lines and without, form fields, comments,
    and running headers and footers, which belong to no section. Text drawn invisibly over a picture is text that was read from it
    (`ocr`); other text that a page holds and does not show is hidden, and a warning names the page. A page that shows only a
    picture is read from its pixels (`ocr` too), and so are large pictures beside text; where OCR is switched off, or there is no
    time left for it, they are listed as not read. Nothing a file would run, open or send is followed; what is attached to it is
    named in a warning and in the properties, and not read.

    Raises:
        PasswordRequired: the file is encrypted and the password does not open it.
        Malformed: the file is damaged and no text is left.
        NoText: the file is sound and has no text, or pictures only and they are not read.
        OutputLimit, DecompressionLimit, TooManyRows, TooManyColumns: as their names say.
    """
    with _opened(content, context) as file:
        ledger = _Ledger(context, file.facts)
        pages = _pages(file, context, ledger)
    running = furniture_of([(page.bounds, page.lines) for page in pages])
    laid_out = (page_text(page, furniture) for page, furniture in zip(pages, running, strict=True))
    texts = list(_alive(laid_out, context, file.facts))
    for page, furniture in zip(pages, running, strict=True):
        ledger.judge(page, running_words=furniture.words())
    leaves = _alive(leaves_of(texts, file.facts.outline), context, file.facts)
    written = write(joined(leaves), context.limits)
    if not written.blocks:
        ledger.refuse()
    ledger.declare(written.blocks)
    return Artifact(
        format="pdf",
        parser=PARSER,
        sha256=context.sha256,
        size_bytes=len(content),
        blocks=written.blocks,
        coverage=ledger.coverage(written, pages),
        title=file.facts.title,
        datasets=written.datasets,
        links=ledger.links.done(ledger.warnings),
        warnings=ledger.warnings.done(),
        properties=file.facts.properties,
    )


def resolve(content: bytes, locator: Locator, context: ReadContext) -> str:
    """Returns the text at a place, read from the file alone; for a block's place that is the block's text.

    Raises:
        LocatorNotFound: the place is none of this file's pages.
        PasswordRequired, Malformed: as `read`.
    """
    boxes = locator.boxes if isinstance(locator, PdfPlace) else ()
    with _opened(content, context, wanted=[(box.page, box_of(box)) for box in boxes] or None) as file:
        pages = file.facts.page_count
        if not isinstance(locator, PdfPlace) or not _is_within(locator, pages):
            raise LocatorNotFound(f"the file has pages 1 to {pages}", metadata={"pages": str(pages)})
        try:
            return text_at(file, locator)
        except PageUnreadable as error:
            raise LocatorNotFound("the page is damaged and cannot be read") from error


def _opened(content: bytes, context: ReadContext, *, wanted: Sequence[tuple[int, Box]] | None = None) -> PdfFile:
    if context.options.ocr is False:
        return PdfFile(content, password=context.options.password, limits=context.limits)
    return ScannedFile(content, context, wanted=wanted)


def _is_within(place: PdfPlace, pages: int) -> bool:
    numbers = (place.first_page, place.last_page, *(box.page for box in place.boxes))
    return place.first_page <= place.last_page and all(1 <= number <= pages for number in numbers)


def _alive(items: Iterable[_T], context: ReadContext, facts: FileFacts) -> Iterator[_T]:
    """The items of pages that are all read, with a sign of life now and then while they are put in order."""
    for i, item in enumerate(items, 1):
        if i % _PAGES_A_SIGN == 0:
            context.progress("page", facts.page_count, facts.page_count)
        yield item


def _pages(file: PdfFile, context: ReadContext, ledger: _Ledger) -> list[PagePieces]:
    pages = []
    total = file.facts.page_count
    end = time.monotonic() + _TIME_FOR_PAGES * context.limits.timeout_s
    for number in range(1, total + 1):
        if time.monotonic() > end:
            ledger.fail(number, "time_limit")
            continue
        try:
            ink = file.page(number)
        except PageUnreadable as error:
            ledger.fail(number, error.reason)
        else:
            ledger.note(ink, letters=file.letters)
            pages.append(take_apart(ink, letters=file.letters))
        context.progress("page", number, total)
    return pages


@dataclass(slots=True)
class _Ledger:
    """What was met on the way: pages that were not read and why, what was lost, and warnings."""

    context: ReadContext
    facts: FileFacts
    failed: dict[int, FailedUnit] = field(default_factory=dict)
    damaged: set[int] = field(default_factory=set)
    pictures: list[FailedUnit] = field(default_factory=list)
    unsure: bool = False
    warnings: WarningList = field(init=False)
    links: LinkList = field(init=False)

    def __post_init__(self) -> None:
        self.warnings = WarningList(self.context.limits)
        self.links = LinkList(self.context.limits)
        if self.facts.repaired:
            self.warnings.add("REPAIRED", "The file is damaged and was repaired; text may be missing.")
        self._warn_of(self.facts.active)

    def note(self, ink: PageInk, *, letters: Letters) -> None:
        """Takes down what is worth a warning on a page."""
        self._warn_of(ink.active)
        place = PdfPlace(ink.number, ink.number, ink.label)
        if ink.largest_picture_pixels > LARGEST_PICTURE_PIXELS:
            self.warnings.add("IMAGE_SKIPPED", f"A picture of {ink.largest_picture_pixels} pixels was not looked at.", place)
        for link in ink.links:
            text = " ".join(line.text for line in lines_in(link.box, ink, letters=letters))
            self.links.add(text, link.target, PdfPlace(ink.number, ink.number, ink.label, (page_box(ink.number, link.box),)))
        if ink.faults:
            self.damaged.add(ink.number)
            self.warnings.add("PAGE_DAMAGED", "The page's content is damaged; text may be missing.", place)

    def fail(self, number: int, reason: str, label: str = "") -> None:
        """Lists a page as not read."""
        self.failed[number] = FailedUnit(str(number), reason, PdfPlace(number, number, label))

    def judge(self, page: PagePieces, *, running_words: int) -> None:
        """Lists a page as not read where its text is not what it shows, and pictures beside text that were not read."""
        for number, (box, reason) in enumerate(page.scan.unread, 1):
            place = PdfPlace(page.number, page.number, page.label, (page_box(page.number, box),))
            self.pictures.append(FailedUnit(f"{page.number}/picture {number}", reason, place))
        self.unsure = self.unsure or page.scan.unsure_words > 0
        if page.scan.reason:
            self.fail(page.number, page.scan.reason, page.label)
        if page.scan.whole or page.scan.pictures or page.scan.reason:
            return
        words = sum(count_words(span.text) for stroke in page.strokes for span in stroke.spans) if page.pictures else 0
        if page.pictures and page.is_picture_beside(max(words - running_words, 0)):
            self.fail(page.number, "image_only_page", page.label)
        elif not page.strokes and page.number in self.damaged:
            self.fail(page.number, "damaged_page", page.label)
        elif page.shows_only_a_drawing:
            self.fail(page.number, "drawing_only_page", page.label)

    def declare(self, blocks: Sequence[Block]) -> None:
        """Warns of pages that hold text they do not show, once each."""
        hidden = (block.locator for block in blocks if block.visibility is Visibility.HIDDEN_TEXT)
        pages = {place.first_page: place.label for place in hidden if isinstance(place, PdfPlace)}
        for number, label in sorted(pages.items()):
            place = PdfPlace(number, number, label)
            self.warnings.add("HIDDEN_TEXT", "The page holds text that it does not show; its blocks are marked hidden.", place)

    def refuse(self) -> None:
        """Says why there is no text.

        Raises:
            NoText, Malformed: there is none.
        """
        reasons = {unit.reason for unit in self.failed.values()}
        if "image_only_page" in reasons:
            raise NoText(
                "the pages are pictures without a text layer, and they were not read by OCR; switch it on, or send a file with text"
            )
        if self.facts.repaired or reasons & {"unreadable_page", "damaged_page", "page_too_complex"}:
            raise Malformed("the file is damaged and no text of it is left; send an undamaged copy")
        if self.unsure:
            raise NoText("the pages are pictures, and no line of them was read surely; send a file with text")
        raise NoText("the file holds no text")

    def coverage(self, written: Written, pages: Sequence[PagePieces]) -> Coverage:
        """The ledger of pages and words."""
        reasons = {unit.reason for unit in self.failed.values()}
        lost = ["ocr"] if reasons & {"image_only_page", "drawing_only_page"} else []
        lost += ["page_content"] if self.damaged else []
        excluded = [("off_page", page.off_page_words) for page in pages]
        excluded += [("overprinted", page.overprinted_words) for page in pages]
        excluded.append(("repeated_table_header", written.repeated_words))
        unread = [("unmapped_glyphs", page.unread_words) for page in pages]
        return Coverage(
            unit="page",
            total=self.facts.page_count,
            extracted=self.facts.page_count - len(self.failed),
            failed=(*(self.failed[number] for number in sorted(self.failed)), *self.pictures),
            lost=tuple(lost),
            words_emitted=sum(count_words(block.text) for block in written.blocks),
            words_excluded=tally(excluded),
            words_unread=tally([*unread, *(("unsure_letters", page.scan.unsure_words) for page in pages)]),
        )

    def _warn_of(self, active: Sequence[Active]) -> None:
        for found in active:
            place = PdfPlace(found.page, found.page) if found.page else None
            name = f" ({found.name})" if found.name else ""
            self.warnings.add("ACTIVE_CONTENT", f"The file holds {found.activity.value}{name}; it was not run or read.", place)
