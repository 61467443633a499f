"""XLSX workbooks: a typed dataset for each table of each sheet, and every text a sheet shows beside them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Final

from artifact.locators import Locator, SheetPlace
from artifact.model import Artifact, BlockType, Coverage, Dataset, FailedUnit, Visibility
from extractor_svc.blocks import BlockList, LinkList, WarningList, count_words, tally
from extractor_svc.context import ReadContext
from extractor_svc.errors import LocatorNotFound, Malformed
from extractor_svc.formats.xlsx_book import Book, Sheet, open_book
from extractor_svc.formats.xlsx_box import Box
from extractor_svc.formats.xlsx_grid import SheetGrid, read_grid
from extractor_svc.formats.xlsx_lines import lines_of
from extractor_svc.formats.xlsx_names import DefinedName, NamesOfSheet
from extractor_svc.formats.xlsx_parts import Attachment, Attachments, printed_attachments, read_attachments, read_tables
from extractor_svc.formats.xlsx_raw import Budget, budget_of
from extractor_svc.formats.xlsx_regions import Piece, TablePiece, TextPiece, find_pieces
from extractor_svc.formats.xlsx_tables import TableSource, cells_of, data_of, dataset_of
from extractor_svc.limits import Limits

PARSER: Final = f"loom-xlsx/1 lxml/{version('lxml')}"

_TAB: Final = Box(0, 0, 0, 0)
_TITLE_LEVEL: Final = 2


def read(content: bytes, context: ReadContext) -> Artifact:
    """Reads a workbook (L-FMT-04, L-DS-01).

    Each sheet is a heading with its name; below it stand its tables and texts from top to bottom, then its notes,
    comments, text boxes, charts and diagrams. A table with a header and a row of data is a dataset. A table's text holds
    the rows that are shown; hidden ones follow in blocks of their own. Formulas are not calculated: one without a stored
    result is null and a lost capability (`cached_values`). A sheet that cannot be read is a failed unit.

    Raises:
        Malformed: there is no workbook, or no sheet of it can be read.
        InvalidArgument: the package is hostile or over a limit; the reason says how.
    """
    book = open_book(content, context.limits)
    reader = _Reading(book, context)
    for number, sheet in enumerate(book.sheets):
        context.progress("sheet", number, len(book.sheets))
        reader.take(sheet, partial(context.progress, "sheet", number, len(book.sheets)))
    context.progress("sheet", len(book.sheets), len(book.sheets))
    return reader.artifact(len(content))


def resolve(content: bytes, locator: Locator, context: ReadContext) -> str:
    """Returns what a sheet shows at a range: its rows, one a line, cells joined by a tab; hidden rows only if all of them are.

    The range with all numbers 0 is the sheet's tab and resolves to its name. A sheet name followed by `/` and a layer,
    such as `Orders/note` or `Orders/chart 1`, is the note, comment or drawing at that range; no sheet's name has a `/`.

    Raises:
        LocatorNotFound: the workbook has no such sheet, range or layer.
    """
    book = open_book(content, context.limits)
    if not isinstance(locator, SheetPlace):
        raise LocatorNotFound("a place of a workbook is a sheet and a range")
    box = Box(locator.first_row, locator.last_row, locator.first_column, locator.last_column)
    sheet = next((sheet for sheet in book.sheets if sheet.name == locator.sheet), None)
    if sheet is None:
        return _text_of_layer(book, locator.sheet, box, context.limits)
    if box == _TAB:
        return sheet.name
    if not sheet.part:
        raise _not_found(locator.sheet)
    read = read_grid(book, sheet.part, budget_of(context.limits))
    used = read.grid.box()
    if used is None or not used.touches(box):
        raise _not_found(locator.sheet)
    positions = read.grid.positions(_shown_rows(read, box), box)
    return lines_of(read.grid, positions, box.first_column, max_chars=context.limits.max_text_chars)


def _text_of_layer(book: Book, name: str, box: Box, limits: Limits) -> str:
    sheet_name, _, layer = name.rpartition("/")
    for sheet in book.sheets:
        if sheet.name == sheet_name and sheet.part:
            texts = _printed(book, sheet, limits) if box == _TAB else read_attachments(book, sheet).texts
            for found in texts:
                if (found.layer, found.box) == (layer, box):
                    return found.text
    raise _not_found(name)


def _printed(book: Book, sheet: Sheet, limits: Limits) -> tuple[Attachment, ...]:
    return tuple(printed_attachments(read_grid(book, sheet.part, budget_of(limits)).printed))


def _not_found(sheet: str) -> LocatorNotFound:
    return LocatorNotFound(f"the workbook shows nothing at this place of {sheet[:200]}", metadata={"sheet": sheet[:200]})


@dataclass(frozen=True, slots=True)
class _SheetContent:
    """All that was read of a sheet before any of it becomes a block."""

    read: SheetGrid
    pieces: Sequence[Piece]
    attachments: Attachments
    names: NamesOfSheet
    failed_part: bool


class _Reading:
    """Turns sheets into blocks and datasets, one after the other, and keeps the ledger."""

    def __init__(self, book: Book, context: ReadContext) -> None:
        self._book = book
        self._context = context
        self._budget = budget_of(context.limits)
        self._blocks = BlockList(context.limits)
        self._warnings = WarningList(context.limits)
        self._links = LinkList(context.limits)
        self._datasets: dict[str, Dataset] = {}
        self._failed: list[FailedUnit] = []
        self._read = 0
        self._uncalculated = 0
        self._excluded: list[tuple[str, int]] = []

    def take(self, sheet: Sheet, tick: Callable[[], None]) -> None:
        """Reads one sheet."""
        if not sheet.part:
            self._failed.append(FailedUnit(sheet.name, "missing_part", _place(sheet, _TAB)))
            return
        try:
            content = _content(self._book, sheet, self._budget, tick)
        except Malformed:
            self._failed.append(FailedUnit(sheet.name, "malformed", _place(sheet, _TAB)))
            return
        self._read += 1
        self._note(sheet, content)
        self._link(sheet, content.read)
        _SheetBlocks(sheet, content, self._blocks, self._datasets, self._context, tick).write()

    def artifact(self, size_bytes: int) -> Artifact:
        """The artifact of all sheets taken.

        Raises:
            Malformed: none could be read.
        """
        if not self._read:
            raise Malformed("no sheet of the workbook can be read; save it again")
        if self._uncalculated:
            message = f"{self._uncalculated} formulas have no stored result; open and save the file in a spreadsheet program."
            self._warnings.add("FORMULAS_NOT_CALCULATED", message)
        if self._book.recalculates:
            self._warnings.add(
                "RECALCULATION_DUE", "The workbook asks to be calculated on opening; stored results may be out of date."
            )
        if self._book.has_macros:
            self._warnings.add("ACTIVE_CONTENT", "The workbook holds macros; none was run.")
        blocks = self._blocks.done()
        return Artifact(
            format="xlsx",
            parser=PARSER,
            sha256=self._context.sha256,
            size_bytes=size_bytes,
            blocks=blocks,
            coverage=Coverage(
                unit="sheet",
                total=len(self._book.sheets),
                extracted=self._read,
                failed=tuple(self._failed),
                lost=("cached_values",) if self._uncalculated else (),
                words_emitted=sum(count_words(block.text) for block in blocks),
                words_excluded=tally(self._excluded),
            ),
            title=self._book.properties.get("title", ""),
            datasets=tuple(self._datasets.values()),
            links=self._links.done(self._warnings),
            warnings=self._warnings.done(),
            properties=self._book.properties,
        )

    def _link(self, sheet: Sheet, read: SheetGrid) -> None:
        """Takes the links on a sheet's cells."""
        addresses = {rel.id: rel.address for rel in self._book.package.relationships(sheet.part)} if read.links else {}
        for link in read.links:
            target = addresses.get(link.relationship, "") + (f"#{link.location}" if link.location else "")
            text = read.grid.value(link.box.first_row, link.box.first_column).text
            self._links.add(text, target, _place(sheet, link.box))

    def _note(self, sheet: Sheet, content: _SheetContent) -> None:
        """Writes into the ledger what of a sheet does not become text."""
        grid = content.read.grid
        self._uncalculated += content.read.uncalculated
        self._excluded.append(("covered_by_merge", grid.covered_words))
        if content.failed_part:
            self._failed.append(FailedUnit(f"{sheet.name}/drawings", "malformed", _place(sheet, _TAB)))
        for box in content.attachments.pictures:
            self._warnings.add("IMAGE_SKIPPED", "A picture on the sheet was not read.", _place(sheet, box))
        for first, last in content.read.hidden_columns:
            used = grid.box()
            if used is not None and first <= used.last_column and used.first_column <= last:
                place = Box(used.first_row, used.last_row, first, min(last, used.last_column))
                self._warnings.add("HIDDEN_COLUMNS", "The sheet hides these columns; they were read.", _place(sheet, place))


def _content(book: Book, sheet: Sheet, budget: Budget, tick: Callable[[], None]) -> _SheetContent:
    read = read_grid(book, sheet.part, budget, tick)
    try:
        tables, attachments, failed = read_tables(book, sheet), read_attachments(book, sheet), False
    except Malformed:
        tables, attachments, failed = (), Attachments((), ()), True
    declared = [DefinedName(table.name, sheet.name, table.box) for table in tables if table.name]
    names = NamesOfSheet([*declared, *book.names], sheet.name)
    return _SheetContent(read, find_pieces(read.grid, tables), attachments, names, failed)


class _SheetBlocks:
    """Writes the blocks and datasets of one sheet."""

    def __init__(
        self,
        sheet: Sheet,
        content: _SheetContent,
        blocks: BlockList,
        datasets: dict[str, Dataset],
        context: ReadContext,
        tick: Callable[[], None],
    ) -> None:
        self._sheet = sheet
        self._content = content
        self._read = content.read
        self._grid = content.read.grid
        self._blocks = blocks
        self._datasets = datasets
        self._context = context
        self._tick = tick
        self._names = content.names
        self._tables = 0

    def write(self) -> None:
        sheet = self._sheet
        self._blocks.heading(sheet.name, _place(sheet, _TAB), level=1, visibility=sheet.visibility)
        after_title = False
        for piece in self._content.pieces:
            if isinstance(piece, TablePiece):
                if not after_title:
                    self._blocks.leave(_TITLE_LEVEL)
                self._table(piece)
            else:
                self._text(piece, after_title=after_title)
            after_title = isinstance(piece, TextPiece) and piece.title
        self._blocks.leave(_TITLE_LEVEL)
        for found in (*printed_attachments(self._read.printed), *self._content.attachments.texts):
            shown = found.visibility if sheet.visibility is Visibility.VISIBLE else sheet.visibility
            self._blocks.add(found.kind, found.text, _place(sheet, found.box, layer=found.layer), visibility=shown)

    def _text(self, piece: TextPiece, *, after_title: bool) -> None:
        """A title is a heading, unless it stands below one, as a subtitle does."""
        text = self._grid.value(piece.box.first_row, piece.box.first_column).text
        if not text.strip():
            return
        place, visibility = _place(self._sheet, piece.box), self._visibility(piece.box)
        defines = self._names.taken_by(piece.box)
        if piece.title and not after_title:
            title = " ".join(text.split())
            self._blocks.section(title, level=_TITLE_LEVEL)
            self._blocks.add(BlockType.HEADING, title, place, level=_TITLE_LEVEL, defines=defines, visibility=visibility)
        else:
            self._blocks.add(BlockType.PARAGRAPH, text, place, defines=defines, visibility=visibility)

    def _table(self, piece: TablePiece) -> None:
        self._tables += 1
        box = piece.box
        body = Box(box.first_row, box.last_row - piece.totals_rows, box.first_column, box.last_column)
        dataset_id = self._dataset(piece, body) if piece.header else ""
        shown = _shown_rows(self._read, body)
        self._rows(BlockType.TABLE, body, shown, dataset_id=dataset_id, visibility=self._visibility(body), first_row=body.first_row)
        for run in _runs(_others(self._grid.rows_in(body), shown)):
            self._more_rows(Box(run[0], run[-1], body.first_column, body.last_column), body, dataset_id=dataset_id)
        if piece.totals_rows:
            self._more_rows(Box(body.last_row + 1, box.last_row, box.first_column, box.last_column), body, dataset_id="")

    def _more_rows(self, box: Box, body: Box, *, dataset_id: str) -> None:
        rows = self._grid.rows_in(box)
        visibility = self._visibility(box)
        self._rows(BlockType.TABLE_ROWS, box, rows, dataset_id=dataset_id, visibility=visibility, first_row=body.first_row)

    def _rows(
        self, kind: BlockType, box: Box, rows: Sequence[int], *, dataset_id: str, visibility: Visibility, first_row: int
    ) -> None:
        positions = self._grid.positions(rows, box)
        text = lines_of(self._grid, positions, box.first_column, max_chars=self._context.limits.max_text_chars)
        if text.strip():
            cells, chars = cells_of(self._grid, positions, box, first_row=first_row)
            self._blocks.add(
                kind,
                text,
                _place(self._sheet, box),
                defines=self._names.taken_by(box),
                dataset_id=dataset_id,
                cells=cells,
                cell_chars=chars,
                visibility=visibility,
            )

    def _dataset(self, piece: TablePiece, body: Box) -> str:
        self._tick()
        part_name = piece.part.name if piece.part else ""
        source = TableSource(
            id=self._free_id(),
            name=part_name or (self._sheet.name if self._tables == 1 else f"{self._sheet.name} {self._tables}"),
            place=_place(self._sheet, body),
            columns=piece.columns,
            header=piece.header,
            header_rows=piece.header_rows,
        )
        data = data_of(self._grid, Box(body.first_row + piece.header_rows, body.last_row, body.first_column, body.last_column))
        self._datasets[source.id] = dataset_of(self._grid, source, data, self._context.limits)
        return source.id

    def _free_id(self) -> str:
        """The sheet's name in letters and digits, with the table's number from the second on; unique in the workbook."""
        slug = "-".join(re.findall(r"\w+", self._sheet.name.casefold())) or "sheet"
        wanted = slug if self._tables == 1 else f"{slug}-{self._tables}"
        number, free = 1, wanted
        while free in self._datasets:
            number += 1
            free = f"{wanted}-{number}"
        return free

    def _visibility(self, box: Box) -> Visibility:
        if self._sheet.visibility is not Visibility.VISIBLE:
            return self._sheet.visibility
        rows = self._grid.rows_in(box)
        hidden = bool(rows) and self._read.hidden_rows.issuperset(rows)
        return Visibility.HIDDEN_ROW if hidden else Visibility.VISIBLE


def _place(sheet: Sheet, box: Box, *, layer: str = "") -> SheetPlace:
    name = f"{sheet.name}/{layer}" if layer else sheet.name
    return SheetPlace(name, box.first_row, box.last_row, box.first_column, box.last_column)


def _shown_rows(read: SheetGrid, box: Box) -> list[int]:
    """The rows of a range that are not hidden, or all of them where none is shown."""
    rows = read.grid.rows_in(box)
    return [row for row in rows if row not in read.hidden_rows] or rows if read.hidden_rows else rows


def _others(rows: Sequence[int], shown: Sequence[int]) -> list[int]:
    return [] if len(rows) == len(shown) else sorted(set(rows).difference(shown))


def _runs(rows: Sequence[int]) -> Iterator[list[int]]:
    """Rows in runs without a gap."""
    run: list[int] = []
    for row in rows:
        if run and row != run[-1] + 1:
            yield run
            run = []
        run.append(row)
    if run:
        yield run
