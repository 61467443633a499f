"""What a document's paragraphs and tables are, page by page, before they become blocks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from artifact.locators import PdfPlace
from artifact.model import BlockType, Visibility
from extractor_svc.formats.pdf_aligned import grid_of
from extractor_svc.formats.pdf_furniture import Furniture
from extractor_svc.formats.pdf_geometry import Turn, around
from extractor_svc.formats.pdf_grids import Grid
from extractor_svc.formats.pdf_headings import BodyLook, Placed, body_look_of, heading_levels
from extractor_svc.formats.pdf_ink import Bookmark
from extractor_svc.formats.pdf_joined import Table, table_of
from extractor_svc.formats.pdf_layout import PlacedItem, reading_order
from extractor_svc.formats.pdf_lines import Line, merged, rows_of
from extractor_svc.formats.pdf_pages import PagePieces
from extractor_svc.formats.pdf_paragraphs import Paragraph, paragraphs_of, with_titles_joined
from extractor_svc.formats.pdf_places import PagePlaces
from extractor_svc.formats.pdf_text import BULLET, TextLine, Vocabulary, join_lines, without_bullet

Body: TypeAlias = Paragraph | Grid

_CAPTION: Final = re.compile(
    r"(?P<noun>table|figure|fig\.?|chart|exhibit|box|graph|map|plate|diagram|scheme|listing|tabelle|abbildung|abb\.|tableau|tabla"
    r"|figura|tabella|tab\.)\s*(?P<number>[A-Z]{0,3}[.-]?\d+(?:[.-]\d+)*[a-z]?|[IVX]+)(?P<stop>\s*[.:–—|)-]|(?=\s|$))",
    re.IGNORECASE,
)
_LONGEST_CAPTION: Final = 60
_SMALL: Final = 0.9
_SAME_SIZE: Final = 0.5
_NOTE_SIGN: Final = re.compile(r"[\d*†‡§¹²³⁴⁵⁶⁷⁸⁹]")
_COVERED: Final = 0.5
_STEP: Final = 6.0
"""Points of indentation that make a deeper list level."""
_DEEPEST_LIST: Final = 9


@dataclass(slots=True)
class Leaf:
    """A block to be: what it is, its lines of text or its table, and its place. `size` is 0 where it has no lines."""

    kind: BlockType
    lines: tuple[TextLine, ...]
    place: PdfPlace
    level: int = 0
    table: Table | None = None
    size: float = 0.0
    ocr: bool = False
    visibility: Visibility = Visibility.VISIBLE

    @property
    def text(self) -> str:
        """Its text: a table's rows, or running text without the bullet that opens it."""
        return self.table.text if self.table else without_bullet(join_lines(self.lines))


@dataclass(frozen=True, slots=True)
class PageText:
    """A page's paragraphs and tables in reading order, and its running lines."""

    page: PagePieces
    body: tuple[Body, ...]
    furniture: Furniture


def page_text(page: PagePieces, furniture: Furniture) -> PageText:
    """Orders what stands on a page between its running lines: text it shows, then text it does not; of each the upright first.

    On a page with nothing else but running lines these are its text.
    """
    if not page.grids and not page.pictures and len(furniture.headers) + len(furniture.footers) == len(page.lines):
        furniture = Furniture()
    running = {id(line) for line in (*furniture.headers, *furniture.footers)}
    body: list[Body] = []
    for hidden in (False, True):
        lines = [line for line in page.lines if id(line) not in running and line.hidden is hidden]
        body += _body_by_direction(page, lines, page.grids if not hidden else ())
    size = body_look_of(item for item in body if isinstance(item, Paragraph)).size
    return PageText(page, tuple(_with_titles(body, size)), furniture)


def _with_titles(body: Iterable[Body], size: float) -> Iterator[Body]:
    texts: list[Paragraph] = []
    for item in body:
        if isinstance(item, Paragraph):
            texts.append(item)
            continue
        yield from with_titles_joined(texts, body_size=size)
        texts = []
        yield item
    yield from with_titles_joined(texts, body_size=size)


def _body_by_direction(page: PagePieces, lines: Sequence[Line], grids: Sequence[Grid]) -> Iterator[Body]:
    upright = [line for line in lines if line.quarters == page.turn.quarters]
    for region in reading_order(upright, grids):
        yield from _body_of(region.items, page.turn, page.vocabulary)
    for quarters in sorted({line.quarters for line in lines if line.quarters is not None} - {page.turn.quarters}):
        turn = Turn(quarters, page.bounds.x1, page.bounds.y1)
        for region in reading_order([line for line in lines if line.quarters == quarters]):
            yield from _body_of(region.items, turn, page.vocabulary)
    yield from (Paragraph((line,)) for line in lines if line.quarters is None)


def leaves_of(pages: Sequence[PageText], outline: Sequence[Bookmark]) -> Iterator[list[Leaf]]:
    """The leaves of every page in turn: headers, the body, marks, footers."""
    paragraphs = [(page, item) for page in pages for item in page.body if isinstance(item, Paragraph)]
    body = body_look_of(item for _, item in paragraphs)
    levels = _levels(paragraphs, outline, body=body)
    for page in pages:
        leaves = _leaves_of_page(page, levels, body=body)
        yield [replace(leaf, ocr=True) for leaf in leaves] if page.page.scan.whole else list(leaves)


def _body_of(items: Iterable[PlacedItem], turn: Turn, vocabulary: Vocabulary) -> Iterator[Body]:
    lines: list[Line] = []
    for item in items:
        if isinstance(item, Line):
            lines.append(item)
            continue
        yield from paragraphs_of(lines)
        lines = []
        yield item if isinstance(item, Grid) else grid_of(item, turn, vocabulary)
    yield from paragraphs_of(lines)


def _levels(paragraphs: Sequence[tuple[PageText, Paragraph]], outline: Sequence[Bookmark], *, body: BodyLook) -> dict[int, int]:
    """Heading levels by the identity of the paragraph."""
    placed: list[Placed] = []
    kept: list[Paragraph] = []
    for i, (page, paragraph) in enumerate(paragraphs):
        text = join_lines(_text_lines(paragraph.lines, page.page))
        if BULLET.match(text) or _is_caption(paragraph, text):
            continue
        after = paragraphs[i + 1][1] if i + 1 < len(paragraphs) and paragraphs[i + 1][0] is page else None
        placed.append(Placed(page.page.number, paragraph, text, next_alike=after is not None and _alike(paragraph, after)))
        kept.append(paragraph)
    return {id(kept[i]): level for i, level in heading_levels(placed, outline, body=body).items()}


def _alike(first: Paragraph, second: Paragraph) -> bool:
    """Whether two neighbours look the same, as the entries of a list do and a heading and its text do not."""
    return (
        abs(first.size - second.size) < _SAME_SIZE
        and first.bold == second.bold
        and (first.font == second.font or not first.font or not second.font)
        and first.lines[0].text.isupper() == second.lines[0].text.isupper()
        and bool(first.marker) == bool(second.marker)
        and second.lines[0].baseline - first.lines[-1].baseline < 2.5 * first.size
    )


def _leaves_of_page(page: PageText, levels: dict[int, int], *, body: BodyLook) -> Iterator[Leaf]:
    places = PagePlaces(page.page)
    indents: list[float] = []
    yield from _running(page, page.furniture.headers, BlockType.HEADER, places)
    for item in page.body:
        if isinstance(item, Grid):
            yield _table_leaf(page.page, item)
            continue
        leaf = _leaf(page.page, item, places, level=levels.get(id(item), 0), body=body)
        if leaf.kind is BlockType.LIST_ITEM:
            leaf = replace(leaf, level=_list_level(item.lines[0].box.x0, indents))
        elif leaf.kind is not BlockType.PARAGRAPH or leaf.size:
            indents = [] if leaf.kind is BlockType.HEADING else indents
        yield leaf
    for mark in page.page.marks:
        shown = Visibility.HIDDEN_TEXT if mark.hidden else Visibility.VISIBLE
        lines = (TextLine(mark.text, page.page.vocabulary, code=True),)
        yield Leaf(mark.kind, lines, places.of_box(mark.box), ocr=mark.kind is BlockType.IMAGE_TEXT, visibility=shown)
    yield from _running(page, page.furniture.footers, BlockType.FOOTER, places)


def _table_leaf(page: PagePieces, grid: Grid) -> Leaf:
    table = table_of(page.number, page.label, grid)
    leaf = Leaf(BlockType.TABLE, (), table.place(), table=table)
    lines = [line for cell in grid.cells for line in cell.lines]
    return _hidden(leaf, page, lines) if all(line.hidden for line in lines) else leaf


def _running(page: PageText, lines: Sequence[Line], kind: BlockType, places: PagePlaces) -> Iterator[Leaf]:
    for quarters, hidden in {(line.quarters, line.hidden): None for line in lines}:
        for row in rows_of(line for line in lines if (line.quarters, line.hidden) == (quarters, hidden)):
            line = merged(row)
            leaf = Leaf(kind, _text_lines([line], page.page), places.of_lines([line]), size=line.size)
            yield _hidden(leaf, page.page, [line]) if hidden else leaf


def _leaf(page: PagePieces, paragraph: Paragraph, places: PagePlaces, *, level: int, body: BodyLook) -> Leaf:
    lines = _text_lines(paragraph.lines, page)
    leaf = Leaf(BlockType.PARAGRAPH, lines, places.of_lines(paragraph.lines), size=paragraph.size)
    if all(line.hidden for line in paragraph.lines):
        return _hidden(leaf, page, paragraph.lines)
    if level:
        return replace(leaf, kind=BlockType.HEADING, level=level)
    text = join_lines(lines)
    if _is_caption(paragraph, text):
        return replace(leaf, kind=BlockType.CAPTION)
    if _is_footnote(page, paragraph, body.size):
        return replace(leaf, kind=BlockType.FOOTNOTE)
    if paragraph.lines[0].mono and not body.mono and len(paragraph.lines) > 1:
        return replace(leaf, kind=BlockType.CODE)
    return replace(leaf, kind=BlockType.LIST_ITEM) if paragraph.marker else leaf


def _hidden(leaf: Leaf, page: PagePieces, lines: Sequence[Line]) -> Leaf:
    """Text drawn invisibly: over a picture it is what somebody read from the picture, elsewhere it is hidden."""
    turn = Turn(lines[0].quarters or 0, page.bounds.x1, page.bounds.y1)
    box = turn.displayed(around(line.box for line in lines))
    if page.covered_by_pictures(box) >= _COVERED:
        return replace(leaf, ocr=True)
    return replace(leaf, visibility=Visibility.HIDDEN_TEXT)


def _text_lines(lines: Iterable[Line], page: PagePieces) -> tuple[TextLine, ...]:
    return tuple(TextLine(line.text, page.vocabulary, line.mono) for line in lines)


def _is_caption(paragraph: Paragraph, text: str) -> bool:
    """Whether a text begins as captions do: a noun, a number, and a stop, an own look, or a title in capitals after it."""
    match = _CAPTION.match(text)
    if match is None or len(text.split()) > _LONGEST_CAPTION:
        return False
    rest = text[match.end() :].lstrip()
    return bool(match["stop"].strip()) or not rest or rest[0].isupper() or paragraph.bold or paragraph.lines[0].italic


def _is_footnote(page: PagePieces, paragraph: Paragraph, body_size: float) -> bool:
    first = paragraph.lines[0]
    height = Turn(first.quarters or 0, page.bounds.x1, page.bounds.y1).page.y1
    small = paragraph.size <= _SMALL * body_size or (first.spans[0].raised and len(first.spans) > 1)
    return small and first.box.y0 > height / 2 and bool(_NOTE_SIGN.match(first.text)) and any(char.isalpha() for char in first.text)


def _list_level(x0: float, indents: list[float]) -> int:
    """The level of a list item by how far right it stands of the items before it; updates their indents."""
    while indents and indents[-1] > x0 + _STEP:
        indents.pop()
    if not indents or x0 > indents[-1] + _STEP:
        indents.append(x0)
    return min(len(indents), _DEEPEST_LIST)
