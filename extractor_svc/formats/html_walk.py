"""Follows a parsed page in the order of its source and gathers what a browser shows of it, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from selectolax.lexbor import LexborNode

from artifact.model import BlockType
from extractor_svc.blocks import count_words
from extractor_svc.context import Progress, ignore_progress
from extractor_svc.errors import OutputLimit
from extractor_svc.formats import html_fields
from extractor_svc.formats.html_attributes import LINK
from extractor_svc.formats.html_elements import NEVER_SHOWN
from extractor_svc.formats.html_flow import Flow, Leaf
from extractor_svc.formats.html_places import Place
from extractor_svc.formats.html_style import Attributes, Style, is_block, is_hidden, styled
from extractor_svc.formats.html_tables import SourceCell, SourceRow, column_span, lay_out, row_span
from extractor_svc.limits import Limits

MARGINS: Final = frozenset({BlockType.HEADER, BlockType.FOOTER})
"""What stands around the main text: the page's header with its navigation, and its footer."""

_TEXT: Final = "-text"
_NO_ATTRIBUTES: Final[Attributes] = {}
_GROUPS: Final = frozenset({"thead", "tbody", "tfoot"})
_UNSEEN: Final = frozenset({"head", "title", "annotation", "annotation-xml"})
_LINKS: Final = frozenset({"a", "button"})
_LISTS: Final = frozenset({"dir", "menu", "ol", "ul"})
_SIGNS: Final = {"mfrac": "/", "msup": "^"}
_SIGNED: Final = frozenset({"button", "mrow", "q", "rt"})
_UNSEEN_CHARACTERS: Final = " \n\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
_REPORT_EVERY: Final = 10_000
_SHORT: Final = 200
_LONG: Final = 2_000
_MANY: Final = 8
"""Characters of a cell, or blocks in it, from which a table without header arranges the page rather than holds data."""


@dataclass(frozen=True, slots=True)
class Link:
    """An anchor that is shown: its text, the number of its target, and the block or the cell it stands in."""

    text: str
    target: int
    place: Place


@dataclass(slots=True)
class Ledger:
    """What is not shown, by reason, tables that were too large for a grid, and links; reports how many elements were followed."""

    progress: Progress = ignore_progress
    elements: int = 0
    excluded: list[tuple[str, int]] = field(default_factory=list)
    large_tables: list[Place] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)

    def count(self) -> None:
        """Counts an element and reports now and then."""
        self.elements += 1
        if self.elements % _REPORT_EVERY == 0:
            self.progress("element", self.elements, 0)

    def leave_out(self, reason: str, text: str) -> None:
        """Counts the words of a text that is left out."""
        self.excluded.append((reason, count_words(text)))


@dataclass(slots=True)
class _Open:
    """An element that is being followed: the child that comes next, how many of each name came, and what its end writes."""

    tag: str
    place: Place
    style: Style
    next: LexborNode | None
    block: bool
    leaves: int
    counts: dict[str, int] = field(default_factory=dict)
    numbering: html_fields.Numbering | None = None
    marked: bool = False
    ending: str = ""

    def child(self, name: str) -> Place:
        """The place of the next child of a name."""
        number = self.counts.get(name, 0) + 1
        self.counts[name] = number
        return Place(self.place, name, number)


def body_leaves(body: LexborNode, ledger: Ledger, limits: Limits) -> list[Leaf]:
    """The blocks of a page's body."""
    tag, attributes = body.tag or "body", body.attributes
    if is_hidden(tag, attributes):
        ledger.leave_out("hidden", body.text(separator=" "))
        return []
    return _Walk(ledger, limits).leaves(body, Place(Place(None, "html", 1), tag, 1), styled(tag, attributes, Style()))


class _Walk:
    """Follows one element's content; a cell of a table is followed by a walk of its own."""

    def __init__(self, ledger: Ledger, limits: Limits, *, cell: Place | None = None) -> None:
        self._ledger = ledger
        self._limits = limits
        self._cell = cell
        self._leaves: list[Leaf] = []
        self._flow = Flow()
        self._stack: list[_Open] = []
        self._markers: list[str] = []
        self._after_link = False

    def leaves(self, node: LexborNode, place: Place, style: Style) -> list[Leaf]:
        """The blocks in an element, in order."""
        self._stack.append(_Open(node.tag or "", place, style, node.first_child, block=True, leaves=0))
        while self._stack:
            top = self._stack[-1]
            child = top.next
            if child is None:
                self._leave(self._stack.pop())
                continue
            top.next = child.next
            tag = child.tag or ""
            if tag == _TEXT:
                self._text(child.text_content or "", top)
            elif child.is_element_node:
                self._ledger.count()
                self._enter(child, tag, top)
        return self._leaves

    def _text(self, text: str, top: _Open) -> None:
        place = top.child("text()")
        style = top.style
        if style.hidden:
            self._ledger.leave_out("hidden", text)
        elif style.code:
            self._flow.verbatim(text, place)
        elif style.keeps_lines:
            self._flow.lines(text, place)
        else:
            self._flow.text(text, place)
        self._after_link = False

    def _enter(self, node: LexborNode, tag: str, top: _Open) -> None:
        place = top.child("select" if tag == "select-list" else tag)
        attributes = node.attributes or _NO_ATTRIBUTES
        if tag in _UNSEEN or tag in NEVER_SHOWN or is_hidden(tag, attributes):
            self._ledger.leave_out(NEVER_SHOWN.get(tag, "hidden"), node.text(separator=" "))
        elif tag == "table":
            self._flush(self._stack[-1].style)
            self._leaves += self._table(node, place, styled(tag, attributes, top.style), attributes)
        elif (drawn := self._drawn(node, tag, attributes)) is not None:
            self._stands_for(drawn, place, hidden=top.style.hidden, control=tag in html_fields.CONTROLS)
        elif tag in ("br", "hr"):
            self._break(tag, top.style)
        else:
            self._open(node, tag, attributes, place, top)

    def _drawn(self, node: LexborNode, tag: str, attributes: Attributes) -> str | None:
        """The text of an element that a browser draws as one thing; None where it is none of these."""
        match tag:
            case "img":
                return attributes.get("alt") or ""
            case "svg":
                texts, unseen = html_fields.drawing_text(node)
                self._ledger.excluded.append(("hidden", unseen))
                return " ".join(texts)
            case "input":
                return html_fields.input_text(attributes)
            case "select-list":
                shown = "\n".join(html_fields.choices(node))
                unseen = count_words(node.text(separator=" ")) - count_words(shown)
                self._ledger.excluded.append(("hidden", max(unseen, 0)))
                return shown
            case "textarea":
                return node.text().strip("\n") or attributes.get("placeholder") or ""
        return None

    def _stands_for(self, text: str, place: Place, *, hidden: bool, control: bool) -> None:
        if hidden:
            self._ledger.leave_out("hidden", text)
        elif text.strip():
            self._flow.drawn(text if control else " ".join(text.split()), place, control=control)

    def _break(self, tag: str, style: Style) -> None:
        """Ends a line, or at a rule the block; an empty line ends a paragraph."""
        if tag == "br":
            self._flow.line_break()
        if tag == "hr" or (self._flow.breaks > 1 and not style.code and style.kind is BlockType.PARAGRAPH):
            self._flush(style)

    def _open(self, node: LexborNode, tag: str, attributes: Attributes, place: Place, top: _Open) -> None:
        block = is_block(tag, attributes)
        if block:
            self._boundary(top.style)
        elif tag == "button" or (self._after_link and _stands_alone(tag)):
            self._flow.space()
        style = styled(tag, attributes, top.style)
        if tag == "a" and not style.hidden and (number := attributes.get(LINK)):
            self._ledger.links.append(Link(_text_of(node), int(number), self._cell or self._block()))
        opened = _Open(tag, place, style, node.first_child, block=block, leaves=len(self._leaves))
        if style.code and not block:
            self._flow.language = self._flow.language or style.language
        if tag in _SIGNED or top.tag in _SIGNS:
            self._sign(node, opened, top)
        if tag in _LISTS:
            opened.numbering = html_fields.numbering_of(tag, attributes, _items(node))
        elif tag == "li" and top.numbering is not None and (marker := top.numbering.take(attributes)):
            self._markers.append(marker)
            opened.marked = True
        self._stack.append(opened)

    def _block(self) -> Place:
        """The place of the innermost block that is open."""
        return next(opened.place for opened in reversed(self._stack) if opened.block)

    def _sign(self, node: LexborNode, opened: _Open, top: _Open) -> None:
        """Writes what a browser puts before an inline element, and notes what it puts behind it."""
        tag, before = opened.tag, ""
        if top.tag in _SIGNS and sum(top.counts.values()) - top.counts.get("text()", 0) > 1:
            before = _SIGNS[top.tag]
        if tag == "q":
            before, opened.ending = "“", "”"
        elif tag == "rt" and "rp" not in top.counts:
            before, opened.ending = "(", ")"
        elif tag == "mrow" and top.tag in _SIGNS and _items(node) > 1:
            before, opened.ending = before + "(", ")"
        elif tag == "button":
            opened.ending = " "
        if before and not top.style.hidden:
            self._flow.sign(before)

    def _leave(self, closed: _Open) -> None:
        if closed.block:
            self._boundary(closed.style, closed)
        elif closed.ending and not closed.style.hidden:
            self._flow.sign(closed.ending)
        if closed.marked and self._markers:
            self._markers.pop()
        self._after_link = _stands_alone(closed.tag)

    def _boundary(self, style: Style, closed: _Open | None = None) -> None:
        """Ends a block; within code only a line."""
        if style.code and (closed is None or closed.tag != "pre"):
            self._flow.new_line()
        else:
            self._flush(style, closed)

    def _flush(self, style: Style, closed: _Open | None = None) -> None:
        """Makes a block of the text since the last one; that is all of an element where it closes and had no block before."""
        flow = self._flow
        if not flow.pieces:
            return
        self._flow = Flow()
        text = flow.code() if style.code else flow.plain()
        if flow.first is None or flow.last is None or not text.strip(_UNSEEN_CHARACTERS):
            return
        first, last = flow.first, flow.last
        if closed is not None and closed.leaves == len(self._leaves):
            first = last = closed.place
        kind, level = _kind_of(flow, style)
        if kind is not BlockType.CODE:
            text = " ".join([*self._markers, text])
            self._markers.clear()
        if kind is BlockType.HEADING:
            text = " ".join(text.split())
        language = style.language or flow.language if kind is BlockType.CODE else ""
        self._leaves.append(Leaf(kind, text, first, last, level, language))
        if len(self._leaves) > self._limits.max_blocks:
            most = self._limits.max_blocks
            raise OutputLimit(f"the page has more than {most} blocks; split it", metadata={"max_blocks": str(most)})

    def _table(self, node: LexborNode, place: Place, style: Style, attributes: Attributes) -> list[Leaf]:
        """A table as captions, the grid, and tables within its cells; one that only arranges the page as what it holds."""
        reading = _TableReading(self._ledger, self._limits, replace(style, kind=BlockType.PARAGRAPH, level=0, depth=0, code=False))
        reading.read(node, place)
        inside = [leaf for row in reading.rows for cell in row.cells for leaf in cell.leaves]
        if _arranges(attributes, reading):
            return [*reading.captions, *inside]
        table = lay_out([row.source for row in reading.rows], self._limits)
        if table is None:
            self._ledger.large_tables.append(place)
            return [*reading.captions, *inside]
        captions = [replace(leaf, of_table=True) for leaf in reading.captions]
        inner = [leaf for leaf in inside if leaf.of_table]
        if not table.text:
            return [*captions, *inner]
        kind = style.area if style.area in MARGINS else BlockType.TABLE
        return [*captions, Leaf(kind or BlockType.TABLE, table.text, place, place, table=table, of_table=True), *inner]


@dataclass(frozen=True, slots=True)
class _Cell:
    source: SourceCell
    leaves: Sequence[Leaf]


@dataclass(frozen=True, slots=True)
class _Row:
    source: SourceRow
    cells: Sequence[_Cell]


class _TableReading:
    """Reads a table's captions and rows, its foot last, as it is shown."""

    def __init__(self, ledger: Ledger, limits: Limits, style: Style) -> None:
        self._ledger = ledger
        self._limits = limits
        self._style = style
        self._groups = 0
        self.captions: list[Leaf] = []
        self.rows: list[_Row] = []
        self.has_nested = False

    def read(self, table: LexborNode, place: Place) -> None:
        """Takes all of a table."""
        feet: list[_Row] = []
        for node, tag, child, style in self._children(table, place, self._style):
            if tag == "caption":
                self.captions += _Walk(self._ledger, self._limits).leaves(node, child, style)
            elif tag in _GROUPS:
                rows = list(self._group(node, tag, child, style))
                if tag == "tfoot":
                    feet += rows
                else:
                    self.rows += rows
        self.rows += feet

    def _group(self, group: LexborNode, name: str, place: Place, style: Style) -> Iterator[_Row]:
        self._groups += 1
        for node, tag, child, row_style in self._children(group, place, style):
            if tag == "tr":
                cells = tuple(self._cells(node, child, row_style))
                sources = tuple(cell.source for cell in cells)
                row = SourceRow(child, self._groups, name == "thead", name == "tfoot", sources)
                yield _Row(row, cells)

    def _cells(self, row: LexborNode, place: Place, style: Style) -> Iterator[_Cell]:
        for node, tag, child, cell_style in self._children(row, place, style):
            if tag in ("td", "th"):
                attributes = node.attributes
                leaves = _only_text(node, child, cell_style) or _Walk(self._ledger, self._limits, cell=child).leaves(
                    node, child, cell_style
                )
                self.has_nested = self.has_nested or any(leaf.of_table for leaf in leaves)
                text = "\n".join(leaf.text for leaf in leaves if not leaf.of_table)
                columns, rows = column_span(attributes.get("colspan")), row_span(attributes.get("rowspan"))
                yield _Cell(SourceCell(child, text, columns, rows, is_header=tag == "th"), leaves)

    def _children(self, node: LexborNode, place: Place, style: Style) -> Iterator[tuple[LexborNode, str, Place, Style]]:
        """The elements in a part of a table that are shown."""
        counts: dict[str, int] = {}
        child = node.first_child
        while child is not None:
            tag = child.tag or ""
            if child.is_element_node:
                self._ledger.count()
                counts[tag] = counts.get(tag, 0) + 1
                attributes = child.attributes
                if is_hidden(tag, attributes):
                    self._ledger.leave_out("hidden", child.text(separator=" "))
                else:
                    yield child, tag, Place(place, tag, counts[tag]), styled(tag, attributes, style)
            child = child.next


def _text_of(link: LexborNode) -> str:
    """A link's text; where it has none, what stands for its pictures."""
    text = link.text()
    return text if text.strip() else " ".join(picture.attributes.get("alt") or "" for picture in link.css("img"))


def _stands_alone(tag: str) -> bool:
    """Whether two elements next to each other are two things to a reader: links, buttons, elements that a script draws."""
    return tag in _LINKS or "-" in tag


def _only_text(node: LexborNode, place: Place, style: Style) -> list[Leaf]:
    """The block of an element that has nothing but plain text in it; none where there is more, or less."""
    child = node.first_child
    if child is None or child.tag != _TEXT or child.next is not None or style.hidden or style.keeps_lines:
        return []
    flow = Flow()
    flow.text(child.text_content or "", place)
    kind, level = _kind_of(flow, style)
    text = flow.plain()
    return [Leaf(kind, text, place, place, level)] if text.strip(_UNSEEN_CHARACTERS) else []


def _kind_of(flow: Flow, style: Style) -> tuple[BlockType, int]:
    """What a block is, by where it stands and what it is made of, and its level."""
    kind = BlockType.CODE if style.code else style.kind
    if style.area is not None and kind is not BlockType.CODE and not (style.banner and kind is BlockType.HEADING):
        return style.area, 0
    if kind is BlockType.PARAGRAPH and flow.has_control:
        return BlockType.FORM_FIELD, 0
    if kind is BlockType.PARAGRAPH and not flow.has_text:
        return BlockType.IMAGE_TEXT, 0
    return kind, style.level if kind in (BlockType.HEADING, BlockType.LIST_ITEM) else 0


def _items(node: LexborNode) -> int:
    """How many elements stand directly in one."""
    count = 0
    child = node.first_child
    while child is not None:
        count += child.is_element_node
        child = child.next
    return count


def _arranges(attributes: Attributes, reading: _TableReading) -> bool:
    """Whether a table only arranges the page: it says so, or has no header and a single column, tables or much text in cells."""
    if (attributes.get("role") or "").strip().lower() in ("none", "presentation"):
        return True
    rows = [row for row in reading.rows if row.cells]
    cells = [cell for row in rows for cell in row.cells]
    if reading.captions or any(row.source.in_head for row in rows) or any(cell.source.is_header for cell in cells):
        return False
    if reading.has_nested or all(len(row.cells) < 2 for row in rows) or sum(bool(cell.source.text) for cell in cells) < 2:
        return True
    if len(rows) == 1:
        return any(len(cell.leaves) > 1 or len(cell.source.text) > _SHORT for cell in cells)
    return any(len(cell.leaves) > _MANY or len(cell.source.text) > _LONG for cell in cells)
