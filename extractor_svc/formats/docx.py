"""DOCX documents: the text as it reads with every change accepted, in order, with tables, notes, margins, boxes and charts."""

from __future__ import annotations

from importlib.metadata import version
from typing import Final

from artifact.locators import DocxPlace, Locator
from artifact.model import Artifact, BlockType, Coverage, Dataset, FailedUnit, Visibility
from extractor_svc.blocks import BlockList, LinkList, WarningList, count_words, tally
from extractor_svc.context import ReadContext
from extractor_svc.errors import LocatorNotFound, NoText
from extractor_svc.formats.docx_document import Document, open_document
from extractor_svc.formats.docx_links import links_of
from extractor_svc.formats.docx_pictures import Pictures, asked_for
from extractor_svc.formats.docx_places import text_at
from extractor_svc.formats.docx_story import Leaf
from extractor_svc.formats.docx_tables import dataset_of, holds_data
from extractor_svc.formats.docx_walk import Walk
from extractor_svc.formats.docx_xml import ACCEPTED, ORIGINAL, Changes
from extractor_svc.ocr.embedded import NO_TIME, SMALL, PictureReader

PARSER: Final = f"loom-docx/1 lxml/{version('lxml')}"

_OUTERMOST: Final = 1
_REPORT_EVERY: Final = 200
_ORIGINALLY: Final = {Visibility.INSERTED: Visibility.VISIBLE, Visibility.DELETED: Visibility.INSERTED}


def read(content: bytes, context: ReadContext) -> Artifact:
    """Reads a document.

    Headings are known by their outline level, in the paragraph, its style, or the styles that one is based on, and so is the
    title; list items by their numbering. The numbers of both are counted as Word counts them, and start the text. Headers
    come first, then the body, each element followed by what is drawn in it and by the notes and comments it refers to, then
    footers. Deleted and hidden text stands in blocks of its own, flagged; a paragraph that is all inserted is flagged and
    shown. In the original view deletions are the text, and insertions stand apart, flagged. A header row over data makes a
    dataset of a table in the body.
    Words in pictures are read by OCR, each picture's a text at its place, beside its alternative text; pictures for which there
    is no time are listed as not read. Left out: bullets, the marks of notes, and, counted where they have words, words within
    field codes. Embedded files and documents are told of.

    Raises:
        NoText: the document has no text.
        Malformed: there is no document in the package.
        InvalidArgument: the package is hostile or over a limit; the reason says how.
    """
    reading = _Reading(open_document(content, _changes(context), context.limits), context)
    reading.take_all()
    return reading.artifact(len(content))


def resolve(content: bytes, locator: Locator, context: ReadContext) -> str:
    """Returns what stands at a place: at the paths of a block, of the rows or cells of a table, or from one path to another.

    Raises:
        LocatorNotFound: the document has no such place, or nothing stands there.
    """
    if not isinstance(locator, DocxPlace):
        raise LocatorNotFound("a place of a document is a part and paths in it")
    document = open_document(content, _changes(context), context.limits)
    leaves = asked_for(list(Walk(document, context.limits).all()), locator)
    text = text_at(document, locator, list(Pictures(document, PictureReader(context), _go_on).read(leaves)))
    if not text:
        raise LocatorNotFound(
            "the document has no text at this place", metadata={"part": locator.part[:200], "first": locator.first[:200]}
        )
    return text


def _changes(context: ReadContext) -> Changes:
    return ORIGINAL if context.options.original_view else ACCEPTED


class _Reading:
    """Turns a document's texts into blocks and datasets, and keeps the ledger."""

    def __init__(self, document: Document, context: ReadContext) -> None:
        self._document = document
        self._context = context
        self._walk = Walk(document, context.limits)
        self._pictures = Pictures(document, PictureReader(context), lambda: context.progress("paragraph", self._paragraphs, 0))
        self._paragraphs = 0
        self._blocks = BlockList(context.limits)
        self._warnings = WarningList(context.limits)
        self._datasets: list[Dataset] = []
        self._tables = 0

    def take_all(self) -> None:
        """Writes all texts in order; what follows the body is under none of its headings."""
        for leaf in self._pictures.read(self._walk.before()):
            self._write(leaf)
        for number, leaf in enumerate(self._pictures.read(self._walk.body())):
            self._write(leaf)
            self._paragraphs = number
            if number % _REPORT_EVERY == 0:
                self._context.progress("paragraph", number, 0)
        self._blocks.leave(_OUTERMOST)
        for leaf in self._pictures.read(self._walk.after()):
            self._write(leaf)

    def artifact(self, size_bytes: int) -> Artifact:
        """The artifact of all that was written.

        Raises:
            NoText: there is none.
        """
        blocks = self._blocks.done()
        if not blocks:
            raise self._nothing()
        links = LinkList(self._context.limits)
        for text, target, place in links_of(self._document):
            links.add(text, target, place)
        self._warn()
        ledger = self._walk.ledger
        return Artifact(
            format="docx",
            parser=PARSER,
            sha256=self._context.sha256,
            size_bytes=size_bytes,
            blocks=blocks,
            coverage=self._coverage(sum(count_words(block.text) for block in blocks), ledger.excluded),
            title=self._document.properties.get("title", ""),
            datasets=tuple(self._datasets),
            links=links.done(self._warnings),
            warnings=self._warnings.done(),
            properties=self._document.properties,
        )

    def _write(self, leaf: Leaf) -> None:
        place = _place(leaf)
        shown_as = self._visibility(leaf)
        if leaf.kind is BlockType.HEADING:
            self._blocks.heading(leaf.text, place, level=leaf.level, visibility=shown_as)
            return
        cells = () if leaf.table is None else leaf.table.cells
        self._blocks.add(
            leaf.kind,
            leaf.text,
            place,
            level=leaf.level,
            dataset_id=self._dataset(leaf, place),
            cells=cells,
            ocr=leaf.picture is not None,
            visibility=shown_as,
        )

    def _visibility(self, leaf: Leaf) -> Visibility:
        """How a text is flagged: in the original view what changes delete is the text, and what they insert stands apart."""
        return _ORIGINALLY.get(leaf.visibility, leaf.visibility) if self._context.options.original_view else leaf.visibility

    def _dataset(self, leaf: Leaf, place: DocxPlace) -> str:
        """The id of a table's dataset; empty where the table holds no data, or does not stand in the body."""
        if leaf.table is None or leaf.part != self._document.part:
            return ""
        self._tables += 1
        if not holds_data(leaf.table):
            return ""
        name = f"Table {self._tables}"
        dataset = dataset_of(
            leaf.table, dataset_id=name.lower().replace(" ", "-"), name=name, locator=place, limits=self._context.limits
        )
        self._datasets.append(dataset)
        return dataset.id

    def _coverage(self, words: int, excluded: list[tuple[str, int]]) -> Coverage:
        parts, ledger = self._document.parts, self._walk.ledger
        failed = [FailedUnit(part, reason) for part, reason in parts.failed.items()]
        failed += [FailedUnit(f"{part} {path}", reason, DocxPlace(part, path, path)) for part, path, reason in ledger.failed]
        failed += [
            FailedUnit(f"{leaf.part} {leaf.first}", seen.reason, _place(leaf))
            for leaf, seen in self._pictures.seen
            if seen.reason == NO_TIME
        ]
        return Coverage(
            unit="part",
            total=len(parts.read) + len(failed),
            extracted=len(parts.read),
            failed=tuple(failed),
            words_emitted=words,
            words_excluded=tally(excluded),
            words_unread=tally(("unsure_letters", seen.unsure_words) for _, seen in self._pictures.seen),
        )

    def _warn(self) -> None:
        ledger = self._walk.ledger
        if ledger.has_changes:
            view = "it stood before them" if self._context.options.original_view else "if all were accepted"
            self._warnings.add("TRACKED_CHANGES", f"The document has tracked changes; it was read as {view}.")
        if self._document.has_macros:
            self._warnings.add("ACTIVE_CONTENT", "The document holds macros; none was run.")
        for part, path in ledger.embedded:
            place = DocxPlace(part, path, path)
            self._warnings.add("ACTIVE_CONTENT", "The document holds an embedded file; it was not run or read.", place)
        for leaf, seen in self._pictures.seen:
            if seen.reason not in ("", SMALL, NO_TIME):
                self._warnings.add("IMAGE_SKIPPED", "A picture in the document was not read.", _place(leaf))
        if small := sum(seen.reason == SMALL for _, seen in self._pictures.seen):
            self._warnings.add("SMALL_PICTURES", f"{small} pictures too small to hold text were not read.")

    def _nothing(self) -> NoText:
        if any(seen.reason for _, seen in self._pictures.seen):
            return NoText("the document is pictures, and they were not read by OCR; switch it on, or send a file with text")
        return NoText("the document holds no text")


def _place(leaf: Leaf) -> DocxPlace:
    return DocxPlace(leaf.part, leaf.first, leaf.last)


def _go_on() -> None:
    """Has nobody to tell."""
