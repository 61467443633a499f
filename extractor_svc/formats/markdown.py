"""Markdown: every line of the source in exactly one block, as written but for the signs that make the block."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, table
from markdown_it.token import Token

from artifact.locators import LineSpan, Locator
from artifact.model import Artifact, Block, BlockType, Cell, Coverage, Visibility
from extractor_svc.blocks import BlockList, WarningList, count_words, tally, words_of
from extractor_svc.context import ReadContext
from extractor_svc.decoding import decode
from extractor_svc.errors import LocatorNotFound, NoText

PARSER: Final = f"loom-markdown/1 markdown-it-py/{version('markdown-it-py')}"

_SETEXT_SIGNS: Final = 3
_LOOK_AHEAD: Final = True
_HTML_HEADING: Final = re.compile(
    r"\s{0,3}<h(?P<level>[1-6])(?:\s[^>]*)?>(?P<text>(?:(?!</?h[1-6]).)*)</h(?P=level)\s*>\s*", re.IGNORECASE
)
_TAG: Final = re.compile(r"</?[A-Za-z][^>]*>")
_BREAK: Final = re.compile(r"<br\s*/?>|<img[^>]*>", re.IGNORECASE)
_QUOTE_SIGNS: Final = re.compile(r"[\s>]*")
_ONLY_SIGNS: Final = re.compile(r"[\s>]*(?:(?:[-*+]|[0-9]+[.)])[\s>]*)*")
_UNESCAPED_BAR: Final = re.compile(r"(?<!\\)\|")
_PROPERTY: Final = re.compile(r"""["']?(?P<key>[A-Za-z_][\w .-]*?)["']?\s*[:=]\s*(?P<value>.*)""")
_FENCE_OF_MATTER: Final = {"---": ("---", "..."), "+++": ("+++",)}


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A block before it is numbered: its lines (from 0, the end not included) and what it is."""

    kind: BlockType
    first: int
    end: int
    level: int = 0
    language: str = ""
    cells: tuple[Cell, ...] = ()
    visibility: Visibility = Visibility.VISIBLE


@dataclass(frozen=True, slots=True)
class _Marker:
    """The number of an ordered item whose text has not come yet, its line, and how many containers are open in it."""

    line: int
    text: str
    depth: int


@dataclass(frozen=True, slots=True)
class _Document:
    """The source's lines without block signs (empty where a line has nothing else), and the blocks they make."""

    texts: tuple[str, ...]
    leaves: tuple[_Leaf, ...]
    properties: dict[str, str]

    def text_of(self, first: int, end: int) -> str:
        """The text of some lines."""
        return "\n".join(self.texts[first:end]).strip("\n")

    def text_of_leaf(self, leaf: _Leaf) -> str:
        """The text of a block: a heading's on one line, a table's without the line below its header."""
        lines = self.texts[leaf.first : leaf.end]
        if leaf.kind is BlockType.HEADING:
            return " ".join(line for line in lines if line)
        if leaf.kind is BlockType.TABLE:
            return "\n".join(line for line in lines if line)
        return "\n".join(lines).strip("\n")


def read(content: bytes, context: ReadContext) -> Artifact:
    """Reads a Markdown file: CommonMark, pipe tables, and a front matter as properties (L-CHUNK-04..07).

    Inline Markdown stays as written. Numbers of ordered items are kept, for a reader sees them; bullets are not. Headings
    in lists and quotes belong to these. Definitions that a rendering hides (link targets) are paragraphs.

    Raises:
        NoText: the file holds nothing but white space and signs.
        BadEncoding, InvalidOption, OutputLimit: as their names say.
    """
    decoded = decode(content, context.options.encoding)
    document = _segment(decoded.text)
    blocks = _blocks(document, context)
    if not blocks:
        raise NoText("the file holds no text")
    lines = len(document.texts)
    context.progress("line", lines, lines)
    warnings = WarningList(context.limits)
    if "\x00" in decoded.text:
        warnings.add("CONTROL_CHARS", "NUL characters were replaced by U+FFFD.")
    return Artifact(
        format="markdown",
        parser=PARSER,
        sha256=context.sha256,
        size_bytes=len(content),
        blocks=blocks,
        coverage=_coverage(decoded.text, blocks, lines),
        title=document.properties.get("title", "") or _first_title(blocks),
        encoding=decoded.encoding,
        warnings=warnings.done(),
        properties=document.properties,
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


def _blocks(document: _Document, context: ReadContext) -> tuple[Block, ...]:
    out = BlockList(context.limits)
    for leaf in document.leaves:
        text = document.text_of_leaf(leaf)
        place = LineSpan(leaf.first + 1, leaf.end)
        if leaf.kind is BlockType.HEADING:
            out.heading(text, place, level=leaf.level)
        else:
            out.add(
                leaf.kind,
                text,
                place,
                level=leaf.level,
                cells=leaf.cells,
                language=leaf.language,
                visibility=leaf.visibility,
            )
    return out.done()


def _coverage(source: str, blocks: Sequence[Block], lines: int) -> Coverage:
    emitted = sum((words_of(block.text) for block in blocks), words_of(""))
    left_out = words_of(source) - emitted
    return Coverage(
        unit="line",
        total=lines,
        extracted=lines,
        words_emitted=emitted.total(),
        words_excluded=tally([("markup", left_out.total())]),
    )


def _first_title(blocks: Sequence[Block]) -> str:
    return next((block.text for block in blocks if block.type is BlockType.HEADING and block.level == 1), "")


def _segment(text: str) -> _Document:
    lines = text.replace("\x00", "\ufffd").split("\n")
    walk = _Walk(lines)
    matter = _front_matter(lines)
    if matter is not None:
        walk.give(matter, ["", *lines[1 : matter.end - 1]])
    body = [""] * (matter.end if matter else 0) + lines[matter.end if matter else 0 :]
    rows: dict[int, str] = {}
    walk.follow(_parser().parse("\n".join(body), {"rows": rows}), rows)
    walk.take_what_is_left()
    leaves = tuple(sorted(walk.leaves, key=lambda leaf: leaf.first))
    properties = dict(_properties(lines[1 : matter.end - 1])) if matter else {}
    return _Document(tuple(walk.texts), leaves, properties)


def _front_matter(lines: Sequence[str]) -> _Leaf | None:
    """The properties above a document, fenced by `---` or `+++`; a thematic break is followed by no property."""
    closing = _FENCE_OF_MATTER.get(lines[0].rstrip())
    if closing is None or len(lines) < 2 or not _PROPERTY.match(lines[1]):
        return None
    end = next((i for i, line in enumerate(lines[1:], 1) if line.rstrip() in closing), None)
    return None if end is None else _Leaf(BlockType.METADATA, 0, end + 1)


def _properties(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        match = _PROPERTY.fullmatch(line.rstrip())
        if match and (value := match["value"].strip().strip("\"'")):
            yield match["key"].strip(), value


class _Walk:
    """Follows the parser's tokens and gives each line of the source to the block that it is text of."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.texts = [""] * len(lines)
        self.leaves: list[_Leaf] = []
        self._lines = lines
        self._owned = bytearray(len(lines))
        self._inside: list[str] = []
        self._markers: list[_Marker] = []

    def follow(self, tokens: Sequence[Token], rows: dict[int, str]) -> None:
        """Takes all tokens of a document; `rows` holds the table lines without what encloses the table."""
        opened = Token("", "", 0)
        for token in tokens:
            match token.type:
                case "blockquote_open":
                    self._inside.append("quote")
                case "list_item_open":
                    self._open_item(token)
                case "blockquote_close":
                    self._inside.pop()
                case "list_item_close":
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

    def give(self, leaf: _Leaf, texts: Sequence[str]) -> None:
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

    def take_what_is_left(self) -> None:
        """Gives lines that no token stands for, such as link definitions, to paragraphs."""
        first = None
        for i in range(len(self._lines) + 1):
            left = i < len(self._lines) and not self._owned[i] and bool(count_words(self._lines[i]))
            if left and first is None:
                first = i
            if not left and first is not None:
                texts = [_QUOTE_SIGNS.sub("", line, count=1).rstrip() for line in self._lines[first:i]]
                self.give(_Leaf(BlockType.PARAGRAPH, first, i), texts)
                first = None

    def _open_item(self, token: Token) -> None:
        self._inside.append("item")
        if token.info:
            self._markers.append(_Marker(_lines_of(token)[0], f"{token.info}{token.markup}", len(self._inside)))

    def _close_item(self) -> None:
        """Forgets the numbers of items that had no text; their lines are taken at the end."""
        self._markers = [marker for marker in self._markers if marker.depth < len(self._inside)]
        self._inside.pop()

    def _number_above(self, leaf: _Leaf) -> str:
        """The numbers of the items that a leaf opens, and their lines where they stand alone above it.

        A line that holds something else besides, such as a link definition, is taken as it is at the end, number included.
        """
        markers, self._markers = self._markers, []
        above = [marker for marker in markers if marker.line < leaf.first]
        for line in {marker.line for marker in above}:
            pending = sum(marker.line == line for marker in above)
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
        self.give(self._placed(_Leaf(kind, first, end, level)), [line.strip() for line in content.split("\n")])

    def _placed(self, leaf: _Leaf) -> _Leaf:
        """The leaf as what encloses it makes it: text of a list item or of a quote."""
        if not self._inside:
            return leaf
        if self._inside[-1] == "quote":
            return replace(leaf, kind=BlockType.QUOTE)
        return replace(leaf, kind=BlockType.LIST_ITEM, level=min(self._inside.count("item"), 9))

    def _fence(self, token: Token) -> None:
        """A fence's first word is the language; what else its opening line says stands above the code."""
        first, end = _lines_of(token)
        language, _, rest = token.info.strip().partition(" ")
        lines = _content_lines(token)
        if any(marker.line == first for marker in self._markers):
            self.give(self._placed(_Leaf(BlockType.LIST_ITEM, first, first + 1)), [rest.strip()])
            self.give(_Leaf(BlockType.CODE, first + 1, end, language=language), lines)
        else:
            self.give(_Leaf(BlockType.CODE, first, end, language=language), [rest.strip(), *lines])

    def _code(self, token: Token) -> None:
        first, end = _lines_of(token)
        self.give(_Leaf(BlockType.CODE, first, end), _content_lines(token))

    def _html(self, token: Token) -> None:
        """Leading one-line heading elements are headings (L-CHUNK-06); the rest is kept as written, a comment as hidden text."""
        first, end = _lines_of(token)
        lines = _content_lines(token)
        while lines and not self._inside and (match := _HTML_HEADING.fullmatch(lines[0])):
            text = " ".join(_TAG.sub("", _BREAK.sub(" ", match["text"])).split())
            self.give(_Leaf(BlockType.HEADING, first, first + 1, int(match["level"])), [text])
            lines, first = lines[1:], first + 1
        if first < end:
            hidden = bool(lines) and lines[0].lstrip().startswith("<!--") and lines[-1].rstrip().endswith("-->")
            shown = Visibility.HIDDEN_TEXT if hidden else Visibility.VISIBLE
            self.give(self._placed(_Leaf(BlockType.PARAGRAPH, first, end, visibility=shown)), lines)

    def _table(self, first: int, end: int, rows: dict[int, str]) -> None:
        split = {i: _cells_of(rows[i]) for i in range(first, end) if i != first + 1}
        cells = tuple(Cell(r, c, text) for r, texts in enumerate(split.values()) for c, text in enumerate(texts))
        texts = ["\t".join(split[i]) if i in split else "" for i in range(first, end)]
        self.give(_Leaf(BlockType.TABLE, first, end, cells=cells), texts)


def _lines_of(token: Token) -> tuple[int, int]:
    first, end = token.map or (0, 0)
    return first, end


def _content_lines(token: Token) -> list[str]:
    return token.content.removesuffix("\n").split("\n")


def _cells_of(row: str) -> list[str]:
    """The cells of a pipe table's row, those past the header's columns too, which a rendering drops."""
    inner = row.strip().removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [cell.strip().replace("\\|", "|") for cell in _UNESCAPED_BAR.split(inner)]


def _parser() -> MarkdownIt:
    """A parser of blocks alone: inline Markdown stays as it is written."""
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    parser.block.ruler.at("lheading", _setext_heading)
    parser.block.ruler.at("table", _table_with_rows, {"alt": ["paragraph", "reference"]})
    return parser


def _table_with_rows(state: StateBlock, first: int, end: int, silent: int) -> bool:
    """The parser's rule for tables, which also keeps each line of a table without what encloses it."""
    found = table(state, first, end, bool(silent))
    if found and not silent:
        for line in range(first, state.line):
            state.env["rows"][line] = state.getLines(line, line + 1, state.blkIndent, keepLastLF=False)
    return found


def _setext_heading(state: StateBlock, first: int, end: int, silent: int) -> bool:
    """A rule for underlined headings that asks for three signs (L-CHUNK-05); a shorter line is text of the paragraph."""
    if silent or state.is_code_block(first):
        return False
    underline = _underline(state, first, end)
    if underline is None:
        return False
    sign = state.src[state.bMarks[underline] + state.tShift[underline]]
    tag = "h1" if sign == "=" else "h2"
    opening = state.push("heading_open", tag, 1)
    opening.map = [first, underline + 1]
    inline = state.push("inline", "", 0)
    inline.content = state.getLines(first, underline, state.blkIndent, keepLastLF=False).strip()
    inline.map = [first, underline]
    state.push("heading_close", tag, -1)
    state.line = underline + 1
    return True


def _underline(state: StateBlock, first: int, end: int) -> int | None:
    """The line that underlines the paragraph from `first`; None where the paragraph ends without one."""
    ends_paragraph = state.md.block.ruler.getRules("paragraph")
    parent, state.parentType = state.parentType, "paragraph"
    try:
        for line in range(first + 1, end):
            if state.isEmpty(line):
                return None
            deep = state.sCount[line] - state.blkIndent > 3
            if not deep and state.sCount[line] >= state.blkIndent and _is_underline(state, line):
                return line
            if not deep and state.sCount[line] >= 0 and any(rule(state, line, end, _LOOK_AHEAD) for rule in ends_paragraph):
                return None
        return None
    finally:
        state.parentType = parent


def _is_underline(state: StateBlock, line: int) -> bool:
    text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip(" \t")
    return len(text) >= _SETEXT_SIGNS and (not text.strip("=") or not text.strip("-"))
