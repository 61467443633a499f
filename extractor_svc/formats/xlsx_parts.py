"""What hangs on a sheet besides its cells: declared tables, notes and comments, text boxes, charts and diagrams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from artifact.model import BlockType, Visibility
from extractor_svc.formats.xlsx_book import Book, Sheet, whole_number
from extractor_svc.formats.xlsx_box import LAST_COLUMN, LAST_ROW, Box, box_of
from extractor_svc.formats.xlsx_charts import chart_text
from extractor_svc.formats.xlsx_drawn import live, paragraphs
from extractor_svc.formats.xlsx_printed import printed_layer, printed_text
from extractor_svc.formats.xlsx_regions import TablePart
from extractor_svc.formats.xlsx_strings import rich_text
from extractor_svc.ooxml import Element, attribute, child_of, children_of, local_name

_TAB: Final = Box(1, 1, 1, 1)
_THREAD_AUTHOR: Final = "tc="


@dataclass(frozen=True, slots=True)
class Attachment:
    """Text beside the cells: `layer` tells it from the cells and from others at the same range, such as `note` or `chart 1`."""

    kind: BlockType
    layer: str
    box: Box
    text: str
    visibility: Visibility = Visibility.VISIBLE


@dataclass(frozen=True, slots=True)
class Attachments:
    """All of a sheet's attachments, in a fixed order, and the ranges of its pictures, which are not read."""

    texts: tuple[Attachment, ...]
    pictures: tuple[Box, ...]


def read_tables(book: Book, sheet: Sheet) -> tuple[TablePart, ...]:
    """The tables that a sheet declares, in the order of its relationships."""
    return tuple(table for part in book.package.related(sheet.part, "table") if (table := _table(book.package.parse(part))))


def read_attachments(book: Book, sheet: Sheet) -> Attachments:
    """Reads notes, comments and drawings of a sheet; those without text are left out.

    Raises:
        Malformed: one of their parts is not sound.
    """
    comments = list(_comments(book, sheet))
    drawn: list[Attachment] = []
    pictures: list[Box] = []
    for part in book.package.related(sheet.part, "drawing"):
        drawing = _Drawing(book, part, len(drawn))
        drawn.extend(drawing.texts())
        pictures.extend(drawing.pictures())
    return Attachments(tuple(found for found in (*comments, *drawn) if found.text.strip()), tuple(pictures))


def printed_attachments(printed: Sequence[tuple[str, str]]) -> Iterator[Attachment]:
    """The headers and footers of a sheet's printout that say something besides page, date and names, at the sheet's tab."""
    for name, codes in printed:
        kind, layer = printed_layer(name)
        if text := printed_text(codes):
            yield Attachment(kind, layer, Box(0, 0, 0, 0), text)


def _table(root: Element) -> TablePart | None:
    box = box_of(root.get("ref", ""))
    if box is None:
        return None
    header_rows = whole_number(root.get("headerRowCount"))
    return TablePart(
        name=root.get("displayName") or root.get("name") or "",
        box=box,
        header_rows=1 if header_rows is None else min(header_rows, 1),
        totals_rows=min(whole_number(root.get("totalsRowCount")) or 0, 1),
        columns=tuple(column.get("name", "") for column in children_of(root, "tableColumns")),
    )


def _comments(book: Book, sheet: Sheet) -> Iterator[Attachment]:
    """Notes by cell, then threads of comments by cell; a thread's stand-in note, which a sheet no longer shows, is hidden."""
    threads = dict(_threads(book, sheet))
    for part in book.package.related(sheet.part, "comments"):
        root = book.package.parse(part)
        authors = [author.text or "" for author in children_of(root, "authors")]
        for comment in children_of(root, "commentList"):
            box = box_of(comment.get("ref", "")) or _TAB
            body = child_of(comment, "text")
            text = "" if body is None else rich_text(body)
            visibility = Visibility.HIDDEN_TEXT if box in threads else Visibility.VISIBLE
            author = whole_number(comment.get("authorId"))
            name = authors[author] if author is not None and author < len(authors) else ""
            yield Attachment(BlockType.COMMENT, "note", box, _said_by(name, text), visibility)
    for box, text in threads.items():
        yield Attachment(BlockType.COMMENT, "comment", box, text)


def _said_by(author: str, text: str) -> str:
    """A note with its author before it, unless it opens with the name, as notes typed in a sheet do."""
    if not author.strip() or not text.strip() or author.startswith(_THREAD_AUTHOR) or text.lstrip().startswith(author):
        return text
    return f"{author}: {text}"


def _threads(book: Book, sheet: Sheet) -> Iterator[tuple[Box, str]]:
    people = dict(_people(book))
    lines: dict[Box, list[str]] = {}
    for part in book.package.related(sheet.part, "threadedComment"):
        for comment in book.package.parse(part):
            body = child_of(comment, "text")
            if local_name(comment) == "threadedComment" and body is not None:
                box = box_of(comment.get("ref", "")) or _TAB
                lines.setdefault(box, []).append(_said_by(people.get(comment.get("personId", ""), ""), body.text or ""))
    for box, texts in lines.items():
        yield box, "\n".join(texts)


def _people(book: Book) -> Iterator[tuple[str, str]]:
    for part in book.package.related(book.part, "person"):
        for person in book.package.parse(part):
            yield person.get("id", ""), person.get("displayName", "")


class _Drawing:
    """One drawing: shapes, charts and diagrams by their anchors, in document order."""

    def __init__(self, book: Book, part: str, numbered: int) -> None:
        self._package = book.package
        self._from_1904 = book.from_1904
        self._targets = {rel.id: rel.part for rel in book.package.relationships(part) if rel.part in book.package}
        self._anchors = [anchor for anchor in book.package.parse(part) if local_name(anchor).endswith("Anchor")]
        self._numbered = numbered

    def texts(self) -> Iterator[Attachment]:
        number = self._numbered
        for anchor in self._anchors:
            for element in live(anchor):
                found = self._text_of(element)
                if found is not None:
                    number += 1
                    kind, word, text = found
                    yield Attachment(kind, f"{word} {number}", _anchored(anchor), text)

    def _chart(self, part: str) -> str:
        """A chart's text, and that of the shapes drawn on it."""
        shapes = (paragraphs(self._package.parse(drawn)) for drawn in self._package.related(part, "chartUserShapes"))
        return "\n".join(text for text in (chart_text(self._package.parse(part), from_1904=self._from_1904), *shapes) if text)

    def pictures(self) -> Iterator[Box]:
        for anchor in self._anchors:
            if any(local_name(element) == "pic" for element in live(anchor)):
                yield _anchored(anchor)

    def _text_of(self, element: Element) -> tuple[BlockType, str, str] | None:
        match local_name(element):
            case "txBody":
                return BlockType.TEXT_BOX, "shape", paragraphs(element)
            case "chart" if part := self._targets.get(attribute(element, "id") or ""):
                return BlockType.CHART_TEXT, "chart", self._chart(part)
            case "relIds" if part := self._targets.get(attribute(element, "dm") or ""):
                return BlockType.DIAGRAM_TEXT, "diagram", paragraphs(self._package.parse(part))
        return None


def _anchored(anchor: Element) -> Box:
    """The cells below a drawing, as far as its anchor states them."""
    first, last = _corner(child_of(anchor, "from")), _corner(child_of(anchor, "to"))
    if first is None:
        return _TAB
    last = last or first
    return Box(first[0], max(first[0], last[0]), first[1], max(first[1], last[1]))


def _corner(element: Element | None) -> tuple[int, int] | None:
    if element is None:
        return None
    row, column = child_of(element, "row"), child_of(element, "col")
    if row is None or column is None:
        return None
    return min((whole_number(row.text) or 0) + 1, LAST_ROW), min((whole_number(column.text) or 0) + 1, LAST_COLUMN)
