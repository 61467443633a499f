"""HTML: what a browser shows of a page, block by block, with its structure, tables, and the parts beside the main text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Final

from selectolax.lexbor import LexborHTMLParser

from artifact.locators import HtmlPlace, Locator
from artifact.model import Artifact, Block, BlockType, Coverage, Dataset
from extractor_svc.blocks import BlockList, LinkList, WarningList, count_words, tally
from extractor_svc.context import ReadContext
from extractor_svc.errors import LocatorNotFound, NoText, OutputLimit
from extractor_svc.formats.html_encoding import decode_page
from extractor_svc.formats.html_flow import Leaf
from extractor_svc.formats.html_meta import page_properties, page_title
from extractor_svc.formats.html_source import NormalSource, normal_source
from extractor_svc.formats.html_tables import Table, dataset_of, holds_data
from extractor_svc.formats.html_walk import MARGINS, Ledger, body_leaves
from extractor_svc.source_text import LONGEST_BLOCK, cut

PARSER: Final = f"loom-html/1 selectolax/{version('selectolax')}"

_XHTML: Final = re.compile(r"\s*<\?xml\s")
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")
_PART: Final = re.compile(r"(?P<path>.+)#(?P<start>[0-9]{1,9})-(?P<end>[0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class _Page:
    """A page as it was read: its blocks, what it says of itself, and what of it is no text of a block."""

    leaves: Sequence[Leaf]
    title: str
    properties: dict[str, str]
    encoding: str
    source: NormalSource
    ledger: Ledger


def read(content: bytes, context: ReadContext) -> Artifact:
    """Reads a page as a browser parses it; nothing is fetched, no script runs, style sheets are not applied.

    Navigation and the page's header are HEADER blocks, its footer FOOTER, asides TEXT_BOX. What is hidden by attribute or by
    an element's own style is left out and counted.

    Raises:
        NoText: the page shows no text.
        BadEncoding, InvalidOption, OutputLimit: as their names say.
    """
    warnings = WarningList(context.limits)
    page = _page(content, context, warnings)
    if not page.leaves:
        raise NoText("the page shows no text")
    written = _Writing(context)
    for leaf in page.leaves:
        written.add(leaf)
    for link in page.ledger.links:
        written.links.add(link.text, page.source.targets[link.target], HtmlPlace(link.place.path, link.place.path))
    blocks = written.done()
    context.progress("page", 1, 1)
    return Artifact(
        format="html",
        parser=PARSER,
        sha256=context.sha256,
        size_bytes=len(content),
        blocks=blocks,
        coverage=Coverage(
            unit="page",
            total=1,
            extracted=1,
            words_emitted=sum(count_words(block.text) for block in blocks),
            words_excluded=tally([*page.source.excluded, *page.ledger.excluded]),
            words_unread=tally(page.source.unread),
        ),
        title=page.title,
        encoding=page.encoding,
        datasets=tuple(written.datasets),
        links=written.links.done(warnings),
        warnings=warnings.done(),
        properties=page.properties,
    )


def resolve(content: bytes, locator: Locator, context: ReadContext) -> str:
    """Returns the text from one element to another, or of a table's row or cell, as blocks have it.

    Raises:
        LocatorNotFound: the page shows no text there.
    """
    text = None
    if isinstance(locator, HtmlPlace):
        page = _page(content, context, WarningList(context.limits))
        text = _text_between(page.leaves, locator.first, locator.last)
    if text is None:
        raise LocatorNotFound("the page shows no text at this place")
    return text


def _page(content: bytes, context: ReadContext, warnings: WarningList) -> _Page:
    decoded = decode_page(content, context.options.encoding, warnings)
    text, controls = _CONTROLS.subn(" ", decoded.text)
    if controls:
        warnings.add("CONTROL_CHARS", f"{controls} control characters were replaced by spaces.")
    xml = bool(_XHTML.match(text[:100])) or context.filename.lower().endswith((".xhtml", ".xht"))
    source = normal_source(text, xml=xml, progress=context.progress)
    if source.flattened:
        warnings.add("DEEP_NESTING", f"{source.flattened} elements stand too deep; their text was read as that of the one above.")
    if source.unclosed:
        warnings.add("CONTENT_TRUNCATED", f"A tag never ends; {source.unclosed} words behind it are not shown.")
    tree = LexborHTMLParser(source.text)
    ledger = Ledger(context.progress)
    body = tree.body
    leaves = body_leaves(body, ledger, context.limits) if body is not None else []
    for place in ledger.large_tables:
        warnings.add(
            "TABLE_TOO_LARGE", "A table has too many cells for a grid; its text was read.", HtmlPlace(place.path, place.path)
        )
    return _Page(leaves, page_title(tree), page_properties(tree), decoded.encoding, source, ledger)


class _Writing:
    """Turns leaves into blocks and datasets."""

    def __init__(self, context: ReadContext) -> None:
        self._limits = context.limits
        self._path_chars = 0
        self._tables = 0
        self._caption = ""
        self._blocks = BlockList(context.limits)
        self.datasets: list[Dataset] = []
        self.links = LinkList(context.limits)

    def add(self, leaf: Leaf) -> None:
        """Writes one leaf, in parts where it is longer than a block may be."""
        place = self._place(leaf)
        if leaf.table is not None:
            self._table(leaf, leaf.table, place)
        elif leaf.kind is BlockType.HEADING:
            self._blocks.heading(leaf.text, place, level=leaf.level)
        else:
            for text, part in _parts(leaf.text, place):
                self._blocks.add(leaf.kind, text, part, level=leaf.level, language=leaf.language)
        self._caption = leaf.text if leaf.kind is BlockType.CAPTION else ""

    def done(self) -> tuple[Block, ...]:
        """The blocks so far; what stands around the main text is in none of its sections."""
        return tuple(replace(block, section_path=()) if block.type in MARGINS else block for block in self._blocks.done())

    def _place(self, leaf: Leaf) -> HtmlPlace:
        place = HtmlPlace(leaf.first.path, leaf.last.path)
        self._path_chars += len(place.first) + (len(place.last) if leaf.first is not leaf.last else 0)
        if self._path_chars > self._limits.max_text_chars:
            raise OutputLimit(
                "the page nests its texts too deep; split it", metadata={"max_text_chars": str(self._limits.max_text_chars)}
            )
        return place

    def _table(self, leaf: Leaf, table: Table, place: HtmlPlace) -> None:
        dataset_id = self._dataset(table, place) if leaf.kind is BlockType.TABLE else ""
        if len(leaf.text) <= LONGEST_BLOCK:
            self._blocks.add(leaf.kind, leaf.text, place, dataset_id=dataset_id, cells=table.cells)
            return
        kind = leaf.kind
        for first, last, text, cells in table.parts(LONGEST_BLOCK):
            rows = HtmlPlace(table.row_places[first].path, table.row_places[last].path)
            if text:
                self._blocks.add(kind, text, rows, dataset_id=dataset_id, cells=cells)
                kind = BlockType.TABLE_ROWS if leaf.kind is BlockType.TABLE else leaf.kind

    def _dataset(self, table: Table, place: HtmlPlace) -> str:
        """The id of a table's dataset; empty where the table holds no data. Its name is its caption."""
        self._tables += 1
        if not holds_data(table):
            return ""
        number = f"table-{self._tables}"
        name = " ".join(self._caption.split())[:200] or f"Table {self._tables}"
        dataset = dataset_of(table, dataset_id=number, name=name, locator=place, limits=self._limits)
        self.datasets.append(dataset)
        return dataset.id


def _parts(text: str, place: HtmlPlace) -> Iterator[tuple[str, HtmlPlace]]:
    """A text in parts of the longest block at most; a part's path ends with its range of characters."""
    if len(text) <= LONGEST_BLOCK:
        yield text, place
        return
    for start, end in cut(text, 0, len(text), size=LONGEST_BLOCK):
        if text[start:end].strip():
            yield text[start:end], HtmlPlace(f"{place.first}#{start}-{end}", f"{place.last}#{start}-{end}")


def _text_between(leaves: Sequence[Leaf], first: str, last: str) -> str | None:
    """The text of the blocks from one path to another; None where no block is at a path, below it, or a table that has it."""
    first_path, start, _ = _without_range(first)
    last_path, _, end = _without_range(last)
    from_leaf = _index(leaves, first_path, range(len(leaves)))
    to_leaf = _index(leaves, last_path, range(len(leaves) - 1, -1, -1))
    if from_leaf is None or to_leaf is None or from_leaf > to_leaf:
        return None
    table = leaves[from_leaf].table
    if from_leaf == to_leaf and table is not None and (found := table.text_between(first_path, last_path)) is not None:
        return found
    texts = [leaf.text for leaf in leaves[from_leaf : to_leaf + 1]]
    texts[-1] = texts[-1][:end]
    texts[0] = texts[0][start:]
    return "\n".join(texts)


def _without_range(path: str) -> tuple[str, int, int | None]:
    part = _PART.fullmatch(path)
    return (part["path"], int(part["start"]), int(part["end"])) if part else (path, 0, None)


def _index(leaves: Sequence[Leaf], path: str, order: range) -> int | None:
    """The first block in an order that is at a path; else below it; else a table with a row or cell there."""
    paths = [leaf.first.path if order.step > 0 else leaf.last.path for leaf in leaves]
    exact = next((i for i in order if paths[i] == path), None)
    if exact is not None:
        return exact
    below = next((i for i in order if paths[i].startswith(path + "/")), None)
    if below is not None:
        return below
    return next((i for i in order if (table := leaves[i].table) is not None and table.has(path)), None)
