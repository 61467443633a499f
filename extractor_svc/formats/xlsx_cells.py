"""Reads a sheet's cells: plain rows in bulk, the rest as its XML is parsed, without a tree."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import numpy as np
import pyarrow as pa

from extractor_svc.errors import Malformed
from extractor_svc.formats.xlsx_book import Book, is_true, whole_number
from extractor_svc.formats.xlsx_box import LAST_COLUMN, LAST_ROW, REFERENCE, Box, box_of
from extractor_svc.formats.xlsx_formulas import SharedFormulas, column_number
from extractor_svc.formats.xlsx_frames import NotPlain
from extractor_svc.formats.xlsx_plain import PlainPart, read_plain
from extractor_svc.formats.xlsx_printed import PRINTED, is_printed
from extractor_svc.formats.xlsx_raw import Budget, RawCells, joined, kind_number, no_cells
from extractor_svc.formats.xlsx_strings import unescape
from extractor_svc.ooxml import PartTarget, feed, without_namespace

_SMALLEST_BULK: Final = 16 * 1024
_LARGEST_BULK: Final = 256 * 1024 * 1024
_ROWS_A_REPORT: Final = 5_000


@dataclass(frozen=True, slots=True)
class CellLink:
    """A link on a range of cells: the relationship that holds the address outside, empty where none, and a place in the file."""

    box: Box
    relationship: str
    location: str


@dataclass(slots=True)
class SheetXml:
    """What a sheet's part states: its cells, and how they are laid out. `printed` are headers and footers of a printout."""

    cells: RawCells
    merged: list[Box] = field(default_factory=list)
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: list[tuple[int, int]] = field(default_factory=list)
    printed: list[tuple[str, str]] = field(default_factory=list)
    links: list[CellLink] = field(default_factory=list)


def no_report() -> None:
    """Takes no note of progress."""


def read_sheet_xml(book: Book, part: str, budget: Budget, tick: Callable[[], None] = no_report) -> SheetXml:
    """Reads a sheet's part; the dimension it states is not looked at. `tick` is called now and then.

    Raises:
        Malformed: the part is not sound.
        TooManyRows: it has more cells than the budget has left.
    """
    size = book.package.size_of(part)
    if size > _LARGEST_BULK:
        target = _Cells(part, budget, tick)
        book.package.feed(part, target)
        return target.sheet()
    content = book.package.read(part)
    return in_bulk(content, part, budget, tick) if size >= _SMALLEST_BULK else parsed(content, part, budget, tick)


def in_bulk(content: bytes, part: str, budget: Budget, tick: Callable[[], None]) -> SheetXml:
    """Reads a part's plain rows in bulk, and with an XML parser the others, or all where their order matters."""
    left = budget.cells
    try:
        return _with_rest(read_plain(content, budget, tick), part, budget, tick)
    except NotPlain:
        budget.cells = left
        return parsed(content, part, budget, tick)


def _with_rest(plain: PlainPart, part: str, budget: Budget, tick: Callable[[], None]) -> SheetXml:
    """What was read in bulk and what an XML parser finds in the rest of the part.

    Raises:
        NotPlain: what cells mean hangs on their order in the part, which is lost.
    """
    if plain.shares_formulas and not plain.whole:
        raise NotPlain
    sheet = parsed(plain.rest, part, budget, tick)
    if len(sheet.cells):
        cells = joined([plain.cells, sheet.cells])
        if _repeats_a_place(cells):
            raise NotPlain
        sheet.cells = cells
    else:
        sheet.cells = plain.cells
    sheet.hidden_rows |= plain.hidden_rows
    return sheet


def _repeats_a_place(cells: RawCells) -> bool:
    places = cells.places()
    return len(np.unique(places)) != len(places)


def parsed(content: bytes, part: str, budget: Budget, tick: Callable[[], None]) -> SheetXml:
    """Reads a part with an XML parser alone."""
    target = _Cells(part, budget, tick)
    feed(io.BytesIO(content), part, target)
    return target.sheet()


class _Cells(PartTarget):
    """Gathers the cells of a sheet from its elements as they come."""

    def __init__(self, part: str, budget: Budget, tick: Callable[[], None]) -> None:
        super().__init__(part)
        self._sheet = SheetXml(no_cells())
        self._rows: list[int] = []
        self._row_columns: list[int] = []
        self._kinds: list[int] = []
        self._styles: list[int] = []
        self._texts: list[str | None] = []
        self._formula_at: list[int] = []
        self._formulas: list[str] = []
        self._shared = SharedFormulas()
        self._budget = budget
        self._tick = tick
        self._row = 0
        self._row_digits = "0"
        self._column = 0
        self._columns: dict[str, int] = {}
        self._in_row = False
        self._printout: dict[str, bool] = {}
        self._cell: tuple[str, str, str] | None = None
        self._stored: str | None = None
        self._formula: str | None = None
        self._shared_group = ""
        self._in_inline = False
        self._in_reading_aid = False
        self._text: list[str] | None = None
        self._begins: dict[str, Callable[[Mapping[str, str]], None]] = {
            "row": self._begin_row,
            "c": self._begin_cell,
            "v": self._begin_value,
            "f": self._begin_formula,
            "is": self._begin_inline,
            "t": self._begin_text,
            "rPh": self._begin_reading_aid,
            "col": self._begin_column,
            "mergeCell": self._begin_merge,
            "headerFooter": self._begin_printout,
            "hyperlink": self._begin_link,
            **dict.fromkeys(PRINTED, self._begin_printed),
        }
        self._finishes: dict[str, Callable[[], None]] = {
            "row": self._finish_row,
            "c": self._finish_cell,
            "v": self._finish_value,
            "f": self._finish_formula,
            "is": self._finish_inline,
            "t": self._finish_text,
            "rPh": self._finish_reading_aid,
            **{name: partial(self._finish_printed, name) for name in PRINTED},
        }
        self._begin: dict[str, Callable[[Mapping[str, str]], None]] = {}
        self._finish: dict[str, Callable[[], None]] = {}

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Passes an element on to what is done when one of its name begins."""
        try:
            begin = self._begin[tag]
        except KeyError:
            begin = self._begin[tag] = self._begins.get(without_namespace(tag), _pass_by)
        begin(attributes)

    def data(self, text: str) -> None:
        """Keeps text where it is asked for."""
        if self._text is not None:
            self._text.append(text)

    def end(self, tag: str) -> None:
        """Passes an element on to what is done when one of its name ends."""
        try:
            finish = self._finish[tag]
        except KeyError:
            finish = self._finish[tag] = self._finishes.get(without_namespace(tag), _leave)
        finish()

    def _begin_row(self, attributes: Mapping[str, str]) -> None:
        """Notes the row that begins, which stands below the one before where it states no number."""
        self._in_row = True
        self._row = whole_number(attributes.get("r")) or self._row + 1
        self._row_digits = str(self._row)
        self._column = 0
        if self._row > LAST_ROW:
            raise Malformed("a sheet has a row past the last one there can be")
        if is_true(attributes.get("hidden")):
            self._sheet.hidden_rows.add(self._row)
        if self._row % _ROWS_A_REPORT == 0:
            self._tick()

    def _finish_row(self) -> None:
        self._in_row = False

    def _begin_cell(self, attributes: Mapping[str, str]) -> None:
        if self._in_row:
            self._cell = (attributes.get("r", ""), attributes.get("t", "n"), attributes.get("s", ""))
            self._stored = self._formula = None

    def _begin_value(self, _: Mapping[str, str]) -> None:
        if self._cell is not None:
            self._text = []

    def _finish_value(self) -> None:
        if self._cell is not None:
            self._stored = self._taken()

    def _begin_formula(self, attributes: Mapping[str, str]) -> None:
        if self._cell is not None:
            self._shared_group = attributes.get("si", "") if attributes.get("t") == "shared" else ""
            self._text = []

    def _finish_formula(self) -> None:
        if self._cell is not None:
            self._formula = unescape(self._taken())

    def _begin_inline(self, _: Mapping[str, str]) -> None:
        self._in_inline = self._cell is not None
        self._stored = ""

    def _finish_inline(self) -> None:
        self._in_inline = False

    def _begin_text(self, _: Mapping[str, str]) -> None:
        if self._in_inline and not self._in_reading_aid:
            self._text = []

    def _finish_text(self) -> None:
        if self._in_inline and not self._in_reading_aid:
            self._stored = (self._stored or "") + self._taken()

    def _begin_reading_aid(self, _: Mapping[str, str]) -> None:
        self._in_reading_aid = True

    def _finish_reading_aid(self) -> None:
        self._in_reading_aid = False

    def _begin_column(self, attributes: Mapping[str, str]) -> None:
        if is_true(attributes.get("hidden")):
            first, last = whole_number(attributes.get("min")), whole_number(attributes.get("max"))
            self._sheet.hidden_columns.append((first or 1, last or first or 1))

    def _begin_merge(self, attributes: Mapping[str, str]) -> None:
        box = box_of(attributes.get("ref", ""))
        if box is not None:
            self._sheet.merged.append(box)

    def _begin_link(self, attributes: Mapping[str, str]) -> None:
        box = box_of(attributes.get("ref", "")) or Box(1, 1, 1, 1)
        outside = next((value for name, value in attributes.items() if name.endswith("}id")), "")
        self._sheet.links.append(CellLink(box, outside, attributes.get("location", "")))

    def _begin_printout(self, attributes: Mapping[str, str]) -> None:
        self._printout = {name: is_true(value) for name, value in attributes.items()}

    def _begin_printed(self, _: Mapping[str, str]) -> None:
        self._text = []

    def _finish_printed(self, name: str) -> None:
        codes = self._taken()
        if is_printed(name, self._printout):
            self._sheet.printed.append((name, codes))

    def sheet(self) -> SheetXml:
        """All that was gathered."""
        self._sheet.cells = RawCells(
            np.array(self._rows, np.int32),
            np.array(self._row_columns, np.int32),
            np.array(self._kinds, np.uint8),
            np.array(self._styles, np.int32),
            pa.array(self._texts, pa.string()),
            np.array(self._formula_at, np.int32),
            pa.array(self._formulas, pa.string()),
        )
        return self._sheet

    def _taken(self) -> str:
        text = "".join(self._text or ())
        self._text = None
        return text

    def _finish_cell(self) -> None:
        if self._cell is None:
            return
        reference, kind, style = self._cell
        self._cell = None
        row, column = self._place(reference)
        formula = "" if self._formula is None else self._shared.at(self._shared_group, self._formula, row=row, column=column)
        if self._stored is None and not formula:
            return
        self._budget.take_cells(1)
        if formula:
            self._formula_at.append(len(self._rows))
            self._formulas.append(formula)
        self._rows.append(row)
        self._row_columns.append(column)
        self._kinds.append(kind_number(kind))
        self._styles.append(whole_number(style) or 0)
        self._texts.append(self._stored)

    def _place(self, reference: str) -> tuple[int, int]:
        """Row and column of a cell by its reference, else right of the cell before it in its row."""
        letters = reference.removesuffix(self._row_digits)
        column = self._columns.get(letters) if letters != reference else None
        if column is not None:
            self._column = column
            return self._row, column
        match = REFERENCE.fullmatch(reference)
        row, column = (int(match[2]), column_number(match[1])) if match else (self._row, self._column + 1)
        if not (1 <= row <= LAST_ROW and column <= LAST_COLUMN):
            raise Malformed("a sheet has a cell past the last one there can be")
        if match and row == self._row:
            self._columns[match[1]] = column
        self._column = column
        return row, column


def _pass_by(_: Mapping[str, str]) -> None:
    """Does nothing at the start of an element that is not read."""


def _leave() -> None:
    """Does nothing at its end."""
