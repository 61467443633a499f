"""The stories of a document (its body, a header, a note, a text box) as texts in reading order, each with its paths."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby

from artifact.model import BlockType, Cell, Visibility
from extractor_svc.errors import TooManyRows
from extractor_svc.formats import docx_drawings as drawings
from extractor_svc.formats.docx_document import Document, Note
from extractor_svc.formats.docx_flow import Item, OtherDocument, Paragraph, TableAt, flow
from extractor_svc.formats.docx_grid import Grid, Row, Slot, lay_out
from extractor_svc.formats.docx_numbering import Count
from extractor_svc.formats.docx_runs import Aside, Drawing
from extractor_svc.formats.docx_tables import Table, refuse_wide_text
from extractor_svc.formats.docx_xml import LIVE
from extractor_svc.limits import Limits
from extractor_svc.ocr.embedded import Crop
from extractor_svc.ooxml import Element, child_of

_FEWEST_WITH_TOTAL = 3


@dataclass(frozen=True, slots=True)
class PictureAt:
    """A picture's part, empty where the file does not hold it, and what of it is cut off."""

    part: str
    crop: Crop


@dataclass(frozen=True, slots=True)
class Leaf:
    """One text before it is a block, with its part and the paths of its first and last element there.

    A picture has none before it is read.
    """

    kind: BlockType
    part: str
    first: str
    last: str
    text: str
    level: int = 0
    visibility: Visibility = Visibility.VISIBLE
    table: Table | None = None
    picture: PictureAt | None = None


@dataclass(slots=True)
class Ledger:
    """What a reading met that did not become text: places of embedded files, words left out, and failures."""

    embedded: list[tuple[str, str]] = field(default_factory=list)
    excluded: list[tuple[str, int]] = field(default_factory=list)
    failed: list[tuple[str, str, str]] = field(default_factory=list)
    cells: int = 0
    has_changes: bool = False


class StoryReader:
    """Reads the stories of one document; notes that its paragraphs refer to are put down, to be read after them."""

    def __init__(self, document: Document, limits: Limits) -> None:
        self.ledger = Ledger()
        self._document = document
        self._limits = limits
        self._counts: dict[str, Count] = {}
        self._told_of: list[tuple[BlockType, str, Visibility]] = []

    def body(self) -> Iterator[list[Leaf]]:
        """The body's texts, element by element, with what hangs on each."""
        part = self._document.part
        for item in self._flow(self._document.body, "body", Visibility.VISIBLE, part):
            if isinstance(item, Paragraph):
                yield [*self._body_paragraph(item), *self._hanging(item, part)]
            else:
                yield self._besides_paragraphs(item, part)

    def told_of(self) -> list[tuple[BlockType, str, Visibility]]:
        """Notes and comments that were referred to since this was last asked, and how the reference is shown."""
        told_of, self._told_of = self._told_of, []
        return told_of

    def note(self, note: Note, visibility: Visibility) -> list[Leaf]:
        """A note's or a comment's texts; a comment starts with its author's name."""
        leaves = self.story(note.element, note.kind, part=note.part, path=note.path, visibility=visibility)
        if note.author and leaves and leaves[0].text:
            leaves[0] = replace(leaves[0], text=f"{note.author}: {leaves[0].text}")
        return leaves

    def story(self, element: Element, kind: BlockType, *, part: str, path: str, visibility: Visibility) -> list[Leaf]:
        """The texts of a story besides the body; paragraphs that follow one another are one text of that kind."""
        leaves: list[Leaf] = []
        items = self._flow(element, path, visibility, part)
        for are_paragraphs, group in groupby(items, key=lambda item: isinstance(item, Paragraph)):
            if are_paragraphs:
                leaves += self._together([item for item in group if isinstance(item, Paragraph)], kind, part)
            else:
                leaves += [leaf for item in group for leaf in self._besides_paragraphs(item, part)]
        return leaves

    def _flow(self, element: Element, path: str, visibility: Visibility, part: str) -> Iterator[Item]:
        for item in flow(element, path, view=self._document.view, visibility=visibility):
            if isinstance(item, Paragraph):
                self.ledger.excluded.append(("field_code", item.runs.code_words))
                self.ledger.has_changes = self.ledger.has_changes or item.runs.has_changes
                mark = self._mark(item, part) if visibility in LIVE else ""
                item = replace(item, mark=mark) if mark else item
            yield item

    def _mark(self, item: Paragraph, part: str) -> str:
        """The number of a paragraph, counted in its part; one that is gone, or hidden with its end, is not counted."""
        styles = self._document.view.styles
        numbered = styles.numbered(item.properties)
        if numbered is None or item.runs.ends_deleted:
            return ""
        own = None if item.properties is None else child_of(item.properties, "rPr")
        if not item.runs.shown().strip() and styles.is_hidden(own, item.properties):
            return ""
        if part not in self._counts:
            self._counts[part] = styles.count()
        return self._counts[part].next(*numbered)

    def _besides_paragraphs(self, item: Item, part: str) -> list[Leaf]:
        if isinstance(item, TableAt):
            return self._table(item, part)
        if isinstance(item, OtherDocument):
            self.ledger.failed.append((part, item.path, "other_document"))
        return []

    def _body_paragraph(self, item: Paragraph) -> list[Leaf]:
        part = self._document.part
        leaves: list[Leaf] = []
        if text := item.prose():
            kind, level = self._kind(item)
            text = " ".join(text.split()) if kind is BlockType.HEADING else text
            leaves.append(Leaf(kind, part, item.first, item.last, text, level, item.runs.visibility))
        leaves += [_aside(equation, BlockType.EQUATION, part) for equation in item.runs.equations()]
        return leaves + _asides(item, BlockType.PARAGRAPH, part)

    def _kind(self, item: Paragraph) -> tuple[BlockType, int]:
        if level := self._document.view.styles.heading_level(item.properties):
            return BlockType.HEADING, level
        if level := self._document.view.styles.list_level(item.properties):
            return BlockType.LIST_ITEM, level
        if item.runs.is_equation:
            return BlockType.EQUATION, 0
        is_caption = item.runs.is_numbered and not item.runs.equations()
        return (BlockType.CAPTION if is_caption else BlockType.PARAGRAPH), 0

    def _together(self, paragraphs: list[Paragraph], kind: BlockType, part: str) -> list[Leaf]:
        said = [(item, text) for item in paragraphs if (text := item.shown())]
        leaves: list[Leaf] = []
        if said:
            visibility = _common({item.runs.visibility for item, _ in said})
            text = "\n".join(text for _, text in said)
            leaves.append(Leaf(kind, part, said[0][0].first, said[-1][0].last, text, visibility=visibility))
        for item in paragraphs:
            leaves += [*_asides(item, kind, part), *self._hanging(item, part)]
        return leaves

    def _hanging(self, item: Paragraph, part: str) -> list[Leaf]:
        """What is drawn in a paragraph; what it refers to is put down."""
        self._told_of += item.runs.notes
        return [leaf for drawing in item.runs.drawings for leaf in self._in_drawing(drawing, part)]

    def _in_drawing(self, drawing: Drawing, part: str) -> list[Leaf]:
        """What a drawing holds; a description that its frame and its picture share is told once."""
        leaves: list[Leaf] = []
        described: set[str] = set()
        for drawn in drawings.drawn_in(drawing.element, drawing.path):
            if drawn.kind == drawings.DESCRIPTION and drawn.text in described:
                continue
            if drawn.kind == drawings.DESCRIPTION:
                described.add(drawn.text)
            leaves += self._drawn(drawn, drawing.visibility, part)
        return leaves

    def _drawn(self, drawn: drawings.Drawn, visibility: Visibility, part: str) -> list[Leaf]:
        match drawn.kind:
            case drawings.TEXT_BOX:
                return self.story(drawn.element, BlockType.TEXT_BOX, part=part, path=drawn.path, visibility=visibility)
            case drawings.LETTERING:
                return _words(BlockType.TEXT_BOX, drawn.text, part, drawn.path, visibility)
            case drawings.CHART:
                text = self._chart(self._document.parts.target(part, drawn.text))
                return _words(BlockType.CHART_TEXT, text, part, drawn.path, visibility)
            case drawings.DIAGRAM:
                text = self._drawn_lines(self._document.parts.target(part, drawn.text))
                return _words(BlockType.DIAGRAM_TEXT, text, part, drawn.path, visibility)
            case drawings.DESCRIPTION:
                return _words(BlockType.IMAGE_TEXT, drawn.text, part, drawn.path, visibility)
            case drawings.PICTURE:
                picture = PictureAt(self._document.parts.target(part, drawn.text), drawings.crop_of_picture(drawn.element))
                return [Leaf(BlockType.IMAGE_TEXT, part, drawn.path, drawn.path, "", visibility=visibility, picture=picture)]
            case drawings.EMBEDDED:
                self.ledger.embedded.append((part, drawn.path))
            case drawings.OTHER_FILE:
                self.ledger.failed.append((part, drawn.path, "other_document"))
        return []

    def _chart(self, chart: str) -> str:
        """A chart's words, and those of the shapes drawn on it."""
        root = self._document.parts.root(chart)
        shapes = self._document.parts.related(chart, "chartUserShapes")
        texts = ["" if root is None else drawings.chart_text(root), *map(self._drawn_lines, shapes)]
        return "\n".join(filter(None, texts))

    def _drawn_lines(self, part: str) -> str:
        root = self._document.parts.root(part)
        return "" if root is None else drawings.lines_of(root)

    def _table(self, item: TableAt, part: str) -> list[Leaf]:
        """A table, then what its cells hold besides their text, then the rows that are not shown."""
        grid = lay_out(
            item.element, item.path, changes=self._document.view.changes, visibility=item.visibility, limits=self._limits
        )
        self._refuse_too_many(sum(len(row.slots) for row in grid.rows))
        besides: list[Leaf] = []
        table = self._shown_part(grid, child_of(item.element, "tblPr"), part, besides)
        refuse_wide_text(table, self._limits)
        visibility = _common({row.visibility for row in grid.rows if row.visibility in LIVE})
        leaves = [Leaf(BlockType.TABLE, part, item.path, item.path, table.text, visibility=visibility, table=table)]
        for hidden, group in groupby(grid.rows, key=lambda row: row.visibility):
            if hidden not in LIVE:
                leaves.append(self._unshown_rows(list(group), hidden, part, besides))
        return [leaf for leaf in (*leaves, *besides) if leaf.picture or leaf.text.strip()]

    def _shown_part(self, grid: Grid, properties: Element | None, part: str, besides: list[Leaf]) -> Table:
        rows = [row for row in grid.rows if row.visibility in LIVE]
        cells: list[Cell] = []
        paths: list[str] = []
        is_nested = False
        for slot in (slot for row in rows for slot in row.slots):
            text, has_table = self._cell(slot, part, besides)
            is_nested = is_nested or has_table
            if slot.is_covered:
                besides += _words(BlockType.PARAGRAPH, text, part, slot.path, Visibility.HIDDEN_TEXT)
            else:
                paths.append(slot.path)
                cells.append(Cell(slot.row, slot.column, text, row_span=slot.row_span, column_span=slot.column_span))
        headers = sum(row.is_header for row in rows[:2])
        apart = self._document.view.styles.sets_apart(properties)
        return Table(
            cells=tuple(cells),
            row_paths=tuple(row.path for row in rows),
            cell_paths=tuple(paths),
            columns=grid.columns,
            has_header="firstRow" in apart or headers > 0,
            has_total="lastRow" in apart and len(rows) >= _FEWEST_WITH_TOTAL,
            plain_grid=not is_nested and headers <= 1 and all(cell.row_span == cell.column_span == 1 for cell in cells),
        )

    def _cell(self, slot: Slot, part: str, besides: list[Leaf]) -> tuple[str, bool]:
        """A cell's text, and whether it holds a table; all else that it holds goes beside the table."""
        texts: list[str] = []
        has_table = False
        for item in self._flow(slot.element, slot.path, slot.visibility, part):
            if isinstance(item, Paragraph):
                texts.append(item.shown())
                besides += [*_asides(item, BlockType.PARAGRAPH, part), *self._hanging(item, part)]
            else:
                has_table = has_table or isinstance(item, TableAt)
                besides += self._besides_paragraphs(item, part)
        return "\n".join(texts).strip("\n"), has_table

    def _unshown_rows(self, rows: list[Row], visibility: Visibility, part: str, besides: list[Leaf]) -> Leaf:
        """Rows that follow one another and are all deleted, or all hidden, as one text."""
        lines = ["\t".join(self._unshown_cell(slot, visibility, part, besides) for slot in row.slots) for row in rows]
        text = "\n".join(line.strip() for line in lines if line.strip())
        return Leaf(BlockType.TABLE_ROWS, part, rows[0].path, rows[-1].path, text, visibility=visibility)

    def _unshown_cell(self, slot: Slot, visibility: Visibility, part: str, besides: list[Leaf]) -> str:
        texts: list[str] = []
        for item in self._flow(slot.element, slot.path, visibility, part):
            if isinstance(item, Paragraph):
                asides = item.runs.asides()
                texts += [" ".join(aside.text.split()) for aside in asides if aside.visibility is visibility]
                besides += [_aside(aside, BlockType.PARAGRAPH, part) for aside in asides if aside.visibility is not visibility]
                besides += self._hanging(item, part)
            else:
                besides += self._besides_paragraphs(item, part)
        return " ".join(texts)

    def _refuse_too_many(self, cells: int) -> None:
        self.ledger.cells += cells
        if self.ledger.cells > self._limits.max_cells:
            most = self._limits.max_cells
            raise TooManyRows(f"the tables have more than {most} cells; split the file", metadata={"max_cells": str(most)})


def _asides(item: Paragraph, kind: BlockType, part: str) -> list[Leaf]:
    """What is deleted or hidden in a paragraph; where that is all of it, it stands at the paragraph."""
    asides = item.runs.asides()
    if len(asides) == 1 and not item.runs.shown().strip():
        return [_aside(replace(asides[0], first=item.first, last=item.last), kind, part)]
    return [_aside(aside, kind, part) for aside in asides]


def _aside(aside: Aside, kind: BlockType, part: str) -> Leaf:
    return Leaf(kind, part, aside.first, aside.last, aside.text, visibility=aside.visibility)


def _words(kind: BlockType, text: str, part: str, path: str, visibility: Visibility) -> list[Leaf]:
    return [Leaf(kind, part, path, path, text, visibility=visibility)] if text.strip() else []


def _common(kinds: set[Visibility]) -> Visibility:
    """Inserted where everything is, else visible."""
    return Visibility.INSERTED if kinds == {Visibility.INSERTED} else Visibility.VISIBLE
