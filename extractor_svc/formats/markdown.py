"""Markdown: every line of the source in exactly one block, as written but for the signs that make the block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from operator import itemgetter
from typing import Final

from artifact.locators import LineSpan, Locator
from artifact.model import Artifact, Block, BlockType, Coverage, Dataset, Link, Visibility
from extractor_svc.blocks import BlockList, LinkList, WarningList, tally, words_of
from extractor_svc.context import ReadContext
from extractor_svc.decoding import decode
from extractor_svc.errors import LocatorNotFound, NoText
from extractor_svc.formats.markdown_links import LinkFinder
from extractor_svc.formats.markdown_matter import FrontMatter, front_matter
from extractor_svc.formats.markdown_rules import block_parser
from extractor_svc.formats.markdown_tables import DatasetMaker, holds_data
from extractor_svc.formats.markdown_walk import Leaf, Walk
from extractor_svc.limits import Limits

PARSER: Final = f"loom-markdown/1 markdown-it-py/{version('markdown-it-py')}"

_MOST_DATASETS: Final = 2_000
"""Tables of one document that become datasets; each takes a millisecond, and later ones are text alone."""


@dataclass(frozen=True, slots=True)
class _Document:
    """The source's lines without block signs (empty where a line has nothing else), and the blocks they make.

    `excluded` counts words that a rendering does not show, by reason; `references` are link targets as the parser knows them;
    `anchors` are the links of blocks of HTML, with their lines.
    """

    texts: tuple[str, ...]
    leaves: tuple[Leaf, ...]
    matter: FrontMatter | None
    excluded: Counter[str]
    references: dict[str, object]
    anchors: Sequence[tuple[str, str, int, int]]

    def text_of(self, first: int, end: int) -> str:
        """The text of some lines."""
        return "\n".join(self.texts[first:end]).strip("\n")

    def text_of_leaf(self, leaf: Leaf) -> str:
        """The text of a block: a heading's on one line, a table's without the line below its header."""
        lines = self.texts[leaf.first : leaf.end]
        if leaf.kind is BlockType.HEADING:
            return " ".join(line for line in lines if line)
        if leaf.kind is BlockType.TABLE:
            return "\n".join(line for line in lines if line)
        return "\n".join(lines).strip("\n")


def read(content: bytes, context: ReadContext) -> Artifact:
    """Reads a Markdown file: CommonMark, pipe tables, footnotes, and a front matter as properties (L-CHUNK-04..07).

    Inline Markdown stays as written. Numbers of ordered items are kept, for a reader sees them; bullets are not. Headings
    in lists and quotes belong to these. Of HTML that which a browser shows is text; comments are left out. Definitions that a
    rendering hides (link targets) are hidden text. A table is a dataset too, of what its cells show.

    Raises:
        NoText: the file holds nothing but white space and signs.
        BadEncoding, InvalidOption, OutputLimit, TooManyRows, TooManyColumns: as their names say.
    """
    decoded = decode(content, context.options.encoding)
    document = _segment(decoded.text)
    out = _Output(document, context)
    blocks = out.blocks()
    if not blocks:
        raise NoText("the file holds no text")
    lines = len(document.texts)
    warnings = _warnings(decoded.text, document, out.tables_left, context)
    context.progress("line", lines, lines)
    properties = document.matter.properties if document.matter else {}
    return Artifact(
        format="markdown",
        parser=PARSER,
        sha256=context.sha256,
        size_bytes=len(content),
        blocks=blocks,
        coverage=_coverage(decoded.text, blocks, document, tables_left=out.tables_left),
        title=properties.get("title", "") or _first_title(blocks),
        encoding=decoded.encoding,
        datasets=tuple(out.datasets),
        links=_links(document, context.limits, warnings),
        warnings=warnings.done(),
        properties=properties,
    )


def resolve(content: bytes, locator: Locator, context: ReadContext) -> str:
    """Returns the text of some lines, without block signs, as the blocks there have it.

    Raises:
        LocatorNotFound: the locator is no span of lines of this file.
    """
    document = _segment(decode(content, context.options.encoding).text)
    if not isinstance(locator, LineSpan) or not 1 <= locator.first <= locator.last <= len(document.texts):
        raise LocatorNotFound(f"the file has lines 1 to {len(document.texts)}", metadata={"lines": str(len(document.texts))})
    return document.text_of(locator.first - 1, locator.last)


class _Output:
    """The blocks and datasets of a document; `tables_left` counts the tables that would have been one dataset too many."""

    def __init__(self, document: _Document, context: ReadContext) -> None:
        self.datasets: list[Dataset] = []
        self.tables_left = 0
        self._document = document
        self._list = BlockList(context.limits)
        self._maker = DatasetMaker(document.references, context.limits)
        self._tables = 0

    def blocks(self) -> tuple[Block, ...]:
        """Makes a block of every leaf."""
        for leaf in self._document.leaves:
            text = self._document.text_of_leaf(leaf)
            place = LineSpan(leaf.first + 1, leaf.end)
            if leaf.kind is BlockType.HEADING:
                self._list.heading(text, place, level=leaf.level)
                continue
            self._list.add(
                leaf.kind,
                text,
                place,
                level=leaf.level,
                dataset_id=self._dataset(leaf, place),
                cells=leaf.cells,
                language=leaf.language,
                visibility=leaf.visibility,
            )
        return self._list.done()

    def _dataset(self, leaf: Leaf, place: LineSpan) -> str:
        """The id of a table's dataset; empty where it holds no data, or there are too many."""
        self._tables += leaf.kind is BlockType.TABLE
        if leaf.kind is not BlockType.TABLE or not holds_data(leaf.cells):
            return ""
        if len(self.datasets) >= _MOST_DATASETS:
            self.tables_left += 1
            return ""
        dataset = self._maker.dataset_of(leaf.cells, leaf.row_lines, number=self._tables, locator=place)
        self.datasets.append(dataset)
        return dataset.id


def _warnings(source: str, document: _Document, tables_left: int, context: ReadContext) -> WarningList:
    warnings = WarningList(context.limits)
    if "\x00" in source:
        warnings.add("CONTROL_CHARS", "NUL characters were replaced by U+FFFD.")
    if document.matter and not document.matter.understood:
        place = LineSpan(1, document.matter.lines)
        warnings.add(
            "FRONT_MATTER_NOT_PARSED", "The front matter is not valid, or too long; some of its properties are not known.", place
        )
    if tables_left:
        warnings.add("DATASETS_LEFT_OUT", f"{tables_left} more tables are text and no datasets.")
    return warnings


def _links(document: _Document, limits: Limits, warnings: WarningList) -> tuple[Link, ...]:
    """The links of every block that a rendering shows as more than code, and of its blocks of HTML; a table's by row."""
    finder, found = LinkFinder(document.references), []
    for leaf in document.leaves:
        if leaf.kind in (BlockType.CODE, BlockType.METADATA) or leaf.visibility is not Visibility.VISIBLE:
            continue
        spans = [(line, line + 1) for line in leaf.row_lines] or [(leaf.first, leaf.end)]
        for first, end in spans:
            found += [(first, end, *link) for link in finder.links("\n".join(document.texts[first:end]))]
    found += [(first, end, text, target) for text, target, first, end in document.anchors]
    links = LinkList(limits)
    for first, end, text, target in sorted(found, key=itemgetter(0)):
        links.add(text, target, LineSpan(first + 1, end))
    return links.done(warnings)


def _coverage(source: str, blocks: Sequence[Block], document: _Document, *, tables_left: int) -> Coverage:
    emitted: Counter[str] = Counter()
    for block in blocks:
        emitted.update(words_of(block.text))
    left_out = (words_of(source) - emitted).total()
    told = [*document.excluded.items()]
    markup = left_out - sum(words for _, words in told)
    lines = len(document.texts)
    return Coverage(
        unit="line",
        total=lines,
        extracted=lines,
        lost=("datasets",) if tables_left else (),
        words_emitted=emitted.total(),
        words_excluded=tally([*told, ("markup", max(markup, 0))]),
    )


def _first_title(blocks: Sequence[Block]) -> str:
    return next((block.text for block in blocks if block.type is BlockType.HEADING and block.level == 1), "")


def _segment(text: str) -> _Document:
    lines = text.replace("\x00", "\ufffd").split("\n")
    walk = Walk(lines)
    matter = front_matter(lines)
    above = matter.lines if matter else 0
    if matter:
        walk.give(Leaf(BlockType.METADATA, 0, above), ["", *lines[1 : above - 1]])
    rows: dict[int, str] = {}
    found: dict[str, object] = {"rows": rows}
    walk.follow(block_parser().parse("\n".join([""] * above + lines[above:]), found), rows)
    walk.take_definitions(found)
    walk.take_what_is_left()
    leaves = tuple(sorted(walk.leaves, key=lambda leaf: leaf.first))
    references = found.get("references")
    return _Document(
        tuple(walk.texts), leaves, matter, walk.excluded, references if isinstance(references, dict) else {}, walk.anchors
    )
