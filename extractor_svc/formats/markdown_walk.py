"""Which lines of a Markdown file make which block, and the text they have without the signs that make it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from markdown_it.token import Token

from artifact.model import BlockType, Cell, Visibility
from extractor_svc.blocks import count_words
from extractor_svc.formats.markdown_html import Shown, shown_html, without_comments
from extractor_svc.formats.markdown_links import links_of_html
from extractor_svc.formats.markdown_tables import cells_of

_HTML_HEADING: Final = re.compile(
    r"\s{0,3}<h(?P<level>[1-6])(?:\s[^>]*)?>(?P<text>(?:(?!</?h[1-6]).)*)</h(?P=level)\s*>\s*", re.IGNORECASE
)
_QUOTE_SIGNS: Final = re.compile(r"[\s>]*")
_ONLY_SIGNS: Final = re.compile(r"[\s>]*(?:(?:[-*+]|[0-9]+[.)]|\[\^[^\]\[\s]+\]:)[\s>]*)*")


@dataclass(frozen=True, slots=True)
class Leaf:
    """A block before it is numbered: its lines (from 0, the end not included) and what it is.

    `row_lines` are those of a table's rows.
    """

    kind: BlockType
    first: int
    end: int
    level: int = 0
    language: str = ""
    cells: tuple[Cell, ...] = ()
    row_lines: tuple[int, ...] = ()
    visibility: Visibility = Visibility.VISIBLE


@dataclass(frozen=True, slots=True)
class _Marker:
    """The number of an ordered item, or the label of a footnote, whose text has not come yet, its line, and its depth.

    The depth counts the containers that are open in it.
    """

    line: int
    text: str
    depth: int


class Walk:
    """Follows the parser's tokens and gives each line of the source to the block that it is text of."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.texts = [""] * len(lines)
        self.leaves: list[Leaf] = []
        self._lines = lines
        self.excluded: Counter[str] = Counter()
        self.anchors: list[tuple[str, str, int, int]] = []
        self._owned = bytearray(len(lines))
        self._inside: list[str] = []
        self._markers: list[_Marker] = []

    def follow(self, tokens: Sequence[Token], rows: Mapping[int, str]) -> None:
        """Takes all tokens of a document; `rows` holds the table lines without what encloses the table."""
        opened = Token("", "", 0)
        for token in tokens:
            match token.type:
                case "blockquote_open":
                    self._inside.append("quote")
                case "list_item_open":
                    self._open("item", token, f"{token.info}{token.markup}" if token.info else "")
                case "blockquote_close":
                    self._inside.pop()
                case "footnote_open":
                    self._open("footnote", token, f"[^{token.info}]:")
                case "list_item_close" | "footnote_close":
                    self._close_item()
                case "paragraph_open" | "heading_open":
                    opened = token
                case "table_open":
                    self._table(*_lines_of(token), rows)
                case "inline" if opened.type:
                    self._inline(opened, token.content)
                    opened = Token("", "", 0)
                case "fence":
                    self._fence(token)
                case "code_block":
                    self._code(token)
                case "html_block":
                    self._html(token)

    def give(self, leaf: Leaf, texts: Sequence[str]) -> None:
        """Makes a leaf of its lines' texts, those at the end that are missing being empty; without any text it is dropped."""
        if leaf.first >= leaf.end:
            return
        self._owned[leaf.first : leaf.end] = b"\x01" * (leaf.end - leaf.first)
        number = self._number_above(leaf)
        for i, text in enumerate(texts[: leaf.end - leaf.first]):
            self.texts[leaf.first + i] = text
        self.texts[leaf.first] = f"{number} {self.texts[leaf.first]}".strip() if number else self.texts[leaf.first]
        if any(self.texts[leaf.first : leaf.end]):
            self.leaves.append(leaf)

    def take_definitions(self, references: Mapping[str, object]) -> None:
        """Gives the lines of link definitions, which a rendering does not show, to paragraphs that are hidden."""
        found = [*_mappings(references.get("references")), *_mappings(references.get("duplicate_refs"))]
        for first, end in sorted({(definition["map"][0], definition["map"][1]) for definition in found}):
            if not any(self._owned[first:end]):
                self._take(first, end, Visibility.HIDDEN_TEXT)

    def take_what_is_left(self) -> None:
        """Gives lines that no token stands for, such as numbers of empty items, to paragraphs."""
        first = None
        for i in range(len(self._lines) + 1):
            left = i < len(self._lines) and not self._owned[i] and bool(count_words(self._lines[i]))
            if left and first is None:
                first = i
            if not left and first is not None:
                self._take(first, i, Visibility.VISIBLE)
                first = None

    def _take(self, first: int, end: int, visibility: Visibility) -> None:
        texts = [_QUOTE_SIGNS.sub("", line, count=1).rstrip() for line in self._lines[first:end]]
        self.give(Leaf(BlockType.PARAGRAPH, first, end, visibility=visibility), texts)

    def _open(self, container: str, token: Token, marker: str) -> None:
        self._inside.append(container)
        if marker:
            self._markers.append(_Marker(_lines_of(token)[0], marker, len(self._inside)))

    def _close_item(self) -> None:
        """Forgets the numbers of items that had no text; their lines are taken at the end."""
        self._markers = [marker for marker in self._markers if marker.depth < len(self._inside)]
        self._inside.pop()

    def _number_above(self, leaf: Leaf) -> str:
        """The numbers of the items that a leaf opens, and their lines where they stand alone above it.

        A line that holds something else besides, such as a link definition, is taken as it is at the end, number included.
        """
        markers, self._markers = self._markers, []
        above = [marker for marker in markers if marker.line < leaf.first]
        for line in {marker.line for marker in above}:
            pending = sum(count_words(marker.text) for marker in above if marker.line == line)
            if not _ONLY_SIGNS.fullmatch(self._lines[line]) or count_words(self._lines[line]) != pending:
                above = [marker for marker in above if marker.line != line]
        for marker in above:
            self._owned[marker.line] = 1
        return " ".join(marker.text for marker in markers if marker in above or marker.line == leaf.first)

    def _inline(self, opened: Token, content: str) -> None:
        first, end = _lines_of(opened)
        kind, level = BlockType.PARAGRAPH, 0
        if opened.type == "heading_open" and not self._inside:
            kind, level = BlockType.HEADING, int(opened.tag[1])
        self.give(self._placed(Leaf(kind, first, end, level)), [line.strip() for line in self._told(without_comments(content))])

    def _told(self, shown: Shown) -> Sequence[str]:
        """Lines that are shown, once what is not has gone to the ledger."""
        self.excluded.update(shown.excluded)
        return shown.lines

    def _placed(self, leaf: Leaf) -> Leaf:
        """The leaf as what encloses it makes it: text of a list item or of a quote."""
        if not self._inside:
            return leaf
        if self._inside[-1] == "quote":
            return replace(leaf, kind=BlockType.QUOTE)
        if self._inside[-1] == "footnote":
            return replace(leaf, kind=BlockType.FOOTNOTE)
        return replace(leaf, kind=BlockType.LIST_ITEM, level=min(self._inside.count("item"), 9))

    def _fence(self, token: Token) -> None:
        """A fence's first word is the language; what else its opening line says stands above the code."""
        first, end = _lines_of(token)
        language, _, rest = token.info.strip().partition(" ")
        lines = _content_lines(token)
        if any(marker.line == first for marker in self._markers):
            self.give(self._placed(Leaf(BlockType.LIST_ITEM, first, first + 1)), [rest.strip()])
            self.give(Leaf(BlockType.CODE, first + 1, end, language=language), lines)
        else:
            self.give(Leaf(BlockType.CODE, first, end, language=language), [rest.strip(), *lines])

    def _code(self, token: Token) -> None:
        first, end = _lines_of(token)
        self.give(Leaf(BlockType.CODE, first, end), _content_lines(token))

    def _html(self, token: Token) -> None:
        """Leading one-line heading elements are headings (L-CHUNK-06); the rest is what a browser shows of it."""
        first, end = _lines_of(token)
        lines = _content_lines(token)
        self.anchors += [(text, target, first, end) for text, target in links_of_html(token.content)]
        while lines and not self._inside and (match := _HTML_HEADING.fullmatch(lines[0])):
            text = " ".join(" ".join(self._told(shown_html([match["text"]]))).split())
            self.give(Leaf(BlockType.HEADING, first, first + 1, int(match["level"])), [text])
            lines, first = lines[1:], first + 1
        if first < end:
            self.give(self._placed(Leaf(BlockType.PARAGRAPH, first, end)), self._told(shown_html(lines)))

    def _table(self, first: int, end: int, rows: Mapping[int, str]) -> None:
        split = {i: cells_of(rows[i]) for i in range(first, end) if i != first + 1}
        cells = tuple(Cell(r, c, text) for r, texts in enumerate(split.values()) for c, text in enumerate(texts))
        texts = ["\t".join(split[i]) if i in split else "" for i in range(first, end)]
        self.give(Leaf(BlockType.TABLE, first, end, cells=cells, row_lines=tuple(split)), texts)


def _lines_of(token: Token) -> tuple[int, int]:
    first, end = token.map or (0, 0)
    return first, end


def _content_lines(token: Token) -> list[str]:
    return token.content.removesuffix("\n").split("\n")


def _mappings(definitions: object) -> list[dict[str, list[int]]]:
    """The link definitions of a parse, by the name or in a list."""
    listed = [*definitions.values()] if isinstance(definitions, dict) else definitions
    return [definition for definition in listed if "map" in definition] if isinstance(listed, list) else []
