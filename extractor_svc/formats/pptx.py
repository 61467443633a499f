"""PPTX presentations: every text of every listed slide in reading order, with its notes, comments, tables and charts."""

from __future__ import annotations

from importlib.metadata import version
from typing import Final

from artifact.locators import Locator, SlidePlace
from artifact.model import Artifact, BlockType, Coverage, Dataset, FailedUnit, Visibility
from extractor_svc.blocks import BlockList, LinkList, WarningList, count_words, tally
from extractor_svc.context import ReadContext
from extractor_svc.errors import LocatorNotFound, Malformed, NoText, TooManyRows
from extractor_svc.formats.pptx_deck import Deck, Slide, open_deck
from extractor_svc.formats.pptx_pictures import Looked, with_pictures
from extractor_svc.formats.pptx_shapes import Leaf
from extractor_svc.formats.pptx_slides import SlideContent, read_slide
from extractor_svc.formats.pptx_styles import StyleBook
from extractor_svc.formats.pptx_tables import Table, check_size, dataset_of, holds_data
from extractor_svc.ocr.embedded import NO_TIME, SMALL, PictureReader

PARSER: Final = f"loom-pptx/1 lxml/{version('lxml')}"

_TITLE_LEVEL: Final = 1


def read(content: bytes, context: ReadContext) -> Artifact:
    """Reads a presentation (L-FMT-03).

    Slides come in the presentation's order, hidden ones flagged. A slide's title is a heading and the slide its section; the
    rest follows from the upper left, then the notes and the comments. A table with a header and rows of data is a dataset.
    Words in pictures are read by OCR, each picture's a text of the slide at its shape; pictures for which there is no time are
    listed as not read. Left out, and counted where they have words: alternative texts of pictures, what layouts and masters
    show on every slide, slide numbers of notes pages. Numbers of numbered paragraphs, which no file holds, are not worked out.

    Raises:
        NoText: no slide has any text.
        Malformed: there is no presentation, or no slide of it can be read.
        InvalidArgument: the package is hostile or over a limit; the reason says how.
    """
    deck = open_deck(content, context.limits)
    reader = _Reading(deck, context)
    for slide in deck.slides:
        context.progress("slide", slide.number - 1, len(deck.slides))
        reader.take(slide)
    context.progress("slide", len(deck.slides), len(deck.slides))
    return reader.artifact(len(content))


def resolve(content: bytes, locator: Locator, context: ReadContext) -> str:
    """Returns what stands at a place: a shape's texts by the path of its ids, or all of the slides where there is no path.

    Below a shape's ids a path may name a paragraph (`4/p2`) or a table's row (`4/r3`); `comment/1` is a slide's first
    comment. Notes are only at places that say so.

    Raises:
        LocatorNotFound: the presentation has no such slide, or nothing stands there.
    """
    if not isinstance(locator, SlidePlace):
        raise LocatorNotFound("a place of a presentation is a slide and a path of shapes")
    deck = open_deck(content, context.limits)
    styles = StyleBook(deck)
    pictures = PictureReader(context)
    texts: list[str] = []
    for slide in deck.slides:
        if locator.first_slide <= slide.number <= locator.last_slide and slide.part:
            leaves = with_pictures(read_slide(deck, slide, styles), deck, pictures, below=locator.shape, alive=_go_on).leaves
            texts.extend(
                text for leaf in leaves if leaf.notes == locator.notes and (text := leaf.text_at(locator.shape)) is not None
            )
    if not texts:
        raise LocatorNotFound(
            f"the presentation has no text at this place of slide {locator.first_slide}",
            metadata={"slide": str(locator.first_slide), "shape": locator.shape[:200]},
        )
    return "\n".join(texts)


class _Reading:
    """Turns slides into blocks and datasets, one after the other, and keeps the ledger."""

    def __init__(self, deck: Deck, context: ReadContext) -> None:
        self._deck = deck
        self._context = context
        self._styles = StyleBook(deck)
        self._blocks = BlockList(context.limits)
        self._warnings = WarningList(context.limits)
        self._links = LinkList(context.limits)
        self._datasets: list[Dataset] = []
        self._failed: list[FailedUnit] = []
        self._excluded: list[tuple[str, int]] = []
        self._read = 0
        self._cells = 0
        self._pictures = PictureReader(context)
        self._unread: list[tuple[str, int]] = []
        self._small = 0
        self._skipped = 0

    def take(self, slide: Slide) -> None:
        """Reads one slide."""
        place = SlidePlace(slide.number, slide.number)
        if not slide.part:
            self._failed.append(FailedUnit(f"slide {slide.number}", "missing_part", place))
            return
        try:
            content = read_slide(self._deck, slide, self._styles)
        except Malformed:
            self._failed.append(FailedUnit(f"slide {slide.number}", "malformed", place))
            return
        self._read += 1
        slides = len(self._deck.slides)
        looked = with_pictures(
            content, self._deck, self._pictures, alive=lambda: self._context.progress("slide", slide.number - 1, slides)
        )
        self._note(slide, content)
        self._note_pictures(slide, looked)
        self._blocks.leave(_TITLE_LEVEL)
        tables = 0
        for leaf in looked.leaves:
            tables += leaf.table is not None
            self._write(leaf, slide, hidden_slide=content.hidden, tables=tables)

    def artifact(self, size_bytes: int) -> Artifact:
        """The artifact of all slides taken.

        Raises:
            NoText, Malformed: there is none.
        """
        blocks = self._blocks.done()
        if not blocks:
            raise self._nothing()
        if self._small:
            self._warnings.add("SMALL_PICTURES", f"{self._small} pictures too small to hold text were not read.")
        if self._deck.has_macros:
            self._warnings.add("ACTIVE_CONTENT", "The presentation holds macros; none was run.")
        shown_behind = "\n".join(styles.words_shown for styles in self._styles.all)
        return Artifact(
            format="pptx",
            parser=PARSER,
            sha256=self._context.sha256,
            size_bytes=size_bytes,
            blocks=blocks,
            coverage=Coverage(
                unit="slide",
                total=len(self._deck.slides),
                extracted=self._read,
                failed=tuple(self._failed),
                words_emitted=sum(count_words(block.text) for block in blocks),
                words_excluded=tally([*self._excluded, ("slide_layout", count_words(shown_behind))]),
                words_unread=tally(self._unread),
            ),
            title=self._deck.properties.get("title", ""),
            datasets=tuple(self._datasets),
            links=self._links.done(self._warnings),
            warnings=self._warnings.done(),
            properties=self._deck.properties,
        )

    def _nothing(self) -> NoText | Malformed:
        if self._failed and not self._read:
            return Malformed("no slide of the presentation can be read; save it again")
        if self._skipped:
            return NoText(
                "the slides are pictures without text, and they were not read by OCR; switch it on, or send a file with text"
            )
        return NoText("the presentation holds no text")

    def _note(self, slide: Slide, content: SlideContent) -> None:
        """Writes into the ledger what of a slide does not become text."""
        found = content.found
        self._excluded.extend(found.excluded)
        for word, reason, path in found.failed:
            place = SlidePlace(slide.number, slide.number, path, word.startswith("notes"))
            self._failed.append(FailedUnit(f"slide {slide.number}/{word}", reason, place))
        for link in found.links:
            self._links.add(link.text, link.target, SlidePlace(slide.number, slide.number, link.path, link.notes))
        for path in found.embedded:
            self._warnings.add("ACTIVE_CONTENT", "The slide holds an embedded file; it was not run or read.", _place(slide, path))

    def _note_pictures(self, slide: Slide, looked: Looked) -> None:
        """Writes into the ledger which pictures of a slide were not read, and why."""
        for picture, seen in looked.pictures:
            place = _place(slide, picture.path)
            self._unread.append(("unsure_letters", seen.unsure_words))
            self._skipped += bool(seen.reason)
            if seen.reason == SMALL:
                self._small += 1
            elif seen.reason == NO_TIME:
                self._failed.append(FailedUnit(f"slide {slide.number}/picture", seen.reason, place))
            elif seen.reason:
                self._warnings.add("IMAGE_SKIPPED", "A picture on the slide was not read.", place)

    def _write(self, leaf: Leaf, slide: Slide, *, hidden_slide: bool, tables: int) -> None:
        place = SlidePlace(slide.number, slide.number, leaf.path, leaf.notes)
        visibility = Visibility.HIDDEN_TEXT if leaf.hidden else Visibility.VISIBLE
        visibility = Visibility.HIDDEN_SLIDE if hidden_slide else visibility
        if leaf.kind is BlockType.HEADING:
            self._blocks.heading(leaf.text, place, level=_TITLE_LEVEL, visibility=visibility)
            return
        cells, dataset_id = ((), "") if leaf.table is None else (leaf.table.cells, self._table(leaf.table, place, tables))
        self._blocks.add(
            leaf.kind, leaf.text, place, level=leaf.level, dataset_id=dataset_id, cells=cells, ocr=leaf.ocr, visibility=visibility
        )

    def _table(self, table: Table, place: SlidePlace, number: int) -> str:
        """Checks a table against the limits, and returns the id of its dataset; empty where it holds no data."""
        check_size(table, self._context.limits)
        self._cells += len(table.cells)
        if self._cells > self._context.limits.max_cells:
            most = self._context.limits.max_cells
            raise TooManyRows(f"the tables have more than {most} cells; split the file", metadata={"max_cells": str(most)})
        if not holds_data(table):
            return ""
        name = f"Slide {place.first_slide} table {number}"
        dataset = dataset_of(
            table, dataset_id=name.lower().replace(" ", "-"), name=name, locator=place, limits=self._context.limits
        )
        self._datasets.append(dataset)
        return dataset.id


def _place(slide: Slide, path: str) -> SlidePlace:
    return SlidePlace(slide.number, slide.number, path)


def _go_on() -> None:
    """Has nobody to tell."""
