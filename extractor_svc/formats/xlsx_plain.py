"""Reads the rows of a sheet that are written as nearly all programs write them, many at a time, without an XML parser.

A row is plain where `_ROW` matches it. What is plain is cut out of its bytes by the places of `<` and `>`; everything else of
the part, in its order, is left for the XML reader, with an empty row in place of each run of plain ones. So a part is
well-formed exactly where that rest is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from extractor_svc.formats.xlsx_book import is_true, whole_number
from extractor_svc.formats.xlsx_box import LAST_COLUMN, LAST_ROW
from extractor_svc.formats.xlsx_formulas import SharedFormulas
from extractor_svc.formats.xlsx_frames import TEXT, UNUSED, NotPlain, framed, runs
from extractor_svc.formats.xlsx_raw import Budget, Integers, RawCells, joined, kind_number
from extractor_svc.formats.xlsx_strings import unescaped
from extractor_svc.formats.xlsx_tags import CellHeads, RowHeads, Tags, cell_heads, row_heads, slices, stored_texts
from extractor_svc.text_columns import Places, byte_lengths, column_of, encoded, matching, picked

_NAME: Final = "[A-Za-z_][-A-Za-z0-9_.]*"
_ATTRIBUTES: Final = rf'(?: {_NAME}(?::{_NAME})?="[^<>"&\t\n{UNUSED}]*")* ?'
_FORMULA: Final = rf"(?:<f{_ATTRIBUTES}(?:/>|>{TEXT}</f>))?"
_INLINE: Final = rf'<is><t(?: xml:space="preserve")?>{TEXT}</t></is>'
_CELL: Final = rf'<c r="[A-Z]{{1,3}}[1-9][0-9]{{0,6}}"{_ATTRIBUTES}(?:/>|>(?:{_FORMULA}(?:<v>{TEXT}</v>|<v ?/>)?|{_INLINE})</c>)'
_ROW: Final = rf'^<row r="[1-9][0-9]{{0,6}}"{_ATTRIBUTES}(?:/>|>(?:{_CELL})*</row>)[ \t\r\n]*$'

_ATTRIBUTE: Final = re.compile(r' (?:([^ :="]+):)?([^ :="]+)="([^"]*)"')


@dataclass(frozen=True, slots=True)
class PlainPart:
    """What was read of a part in bulk, and the part without it; `whole` where every row was plain."""

    cells: RawCells
    hidden_rows: frozenset[int]
    rest: bytes
    whole: bool
    shares_formulas: bool


def read_plain(content: bytes, budget: Budget, tick: Callable[[], None]) -> PlainPart:
    """Reads the plain rows of a sheet's part.

    Raises:
        NotPlain: the part is to be read as XML, all of it.
        TooManyRows: there are more cells than the budget has left.
    """
    frame = framed(content, "sheetData", item="row")
    reader = _Rows()
    cells, rest = [], []
    for piece in frame.pieces("row"):
        tick()
        found, left = reader.read(piece)
        budget.take_cells(len(found))
        cells.append(found)
        rest.extend(left)
    remains = frame.without(rest)
    return PlainPart(joined(cells), frozenset(reader.hidden_rows), remains, reader.all_plain, reader.formulas.used)


class _Rows:
    """Reads pieces of rows one after the other."""

    def __init__(self) -> None:
        self.hidden_rows: list[int] = []
        self.formulas = SharedFormulas()
        self.all_plain = True

    def read(self, piece: bytes) -> tuple[RawCells, list[bytes]]:
        """The cells of the plain rows, and what is left of the piece."""
        tags = Tags(piece)
        starts = tags.starts[(tags.names == ord("r")) & (tags.data[tags.starts + 2] == ord("o"))]
        rows = slices(piece, np.append(starts, len(piece)))
        plain = matching(rows, _ROW)
        if plain.all():
            cells, numbers = self._cells(tags)
            return cells, [_empty_row(numbers[-1])]
        self.all_plain = False
        cells, numbers = self._cells(Tags(picked(rows, plain).buffers()[2].to_pybytes() if plain.any() else b""))
        return cells, list(_left(piece, starts, plain, numbers))

    def _cells(self, tags: Tags) -> tuple[RawCells, Places]:
        """The cells of rows that are plain, all of them, and the rows' numbers."""
        rows = row_heads(tags)
        self._note_hidden(tags, rows)
        cells = cell_heads(tags, rows)
        if cells is None or (rows.numbers > LAST_ROW).any() or (cells.columns > LAST_COLUMN).any():
            raise NotPlain
        kinds, styles = self._kinds_and_styles(tags, cells)
        formula_tags, formula_at, formulas = self._formulas(tags, cells)
        stored = stored_texts(tags, cells, formula_tags)
        if _says_nothing(stored, formula_at):
            raise NotPlain
        raw = RawCells(cells.rows.astype(np.int32), cells.columns.astype(np.int32), kinds, styles, stored, formula_at, formulas)
        return raw, rows.numbers

    def _note_hidden(self, tags: Tags, rows: RowHeads) -> None:
        places, words = encoded(tags.texts(rows.rest, tags.ends[rows.tags] - tags.alone(rows.tags)))
        hidden = np.array([is_true(_attributes(word).get("hidden")) for word in words], np.bool_)
        if hidden.any():
            self.hidden_rows.extend(rows.numbers[hidden[places]].tolist())

    def _kinds_and_styles(self, tags: Tags, cells: CellHeads) -> tuple[npt.NDArray[np.uint8], Integers]:
        places, words = encoded(tags.texts(cells.rest, tags.ends[cells.tags]))
        found = [_attributes(word) for word in words]
        kinds = np.array([kind_number(attributes.get("t", "n")) for attributes in found], np.uint8)
        styles = np.array([whole_number(attributes.get("s")) or 0 for attributes in found], np.int32)
        return kinds[places], styles[places]

    def _formulas(self, tags: Tags, cells: CellHeads) -> tuple[Places, Integers, pa.StringArray]:
        """How many tags each cell's formula takes; which cells have one that says something; and these formulas."""
        at = np.flatnonzero(tags.names[cells.tags + 1] == ord("f"))
        heads = cells.tags[at] + 1
        alone = tags.alone(heads)
        taken = np.zeros(len(cells.tags), np.int64)
        taken[at] = 2 - alone
        attributes = tags.texts(tags.starts[heads] + len("<f"), tags.ends[heads] - alone)
        texts = self._as_at_each(unescaped(tags.contents(heads)), attributes, cells, at=at)
        says = byte_lengths(texts) > 0
        return taken, at[says].astype(np.int32), picked(texts, says)

    def _as_at_each(self, texts: pa.StringArray, attributes: pa.StringArray, cells: CellHeads, *, at: Places) -> pa.StringArray:
        """The formulas, shared ones as they read at each cell that has them."""
        places, words = encoded(attributes)
        found = [_attributes(word) for word in words]
        groups = [one.get("si", "") if one.get("t") == "shared" else "" for one in found]
        if not any(groups):
            return texts
        formulas = texts.to_pylist()
        shared = np.flatnonzero(np.array([bool(group) for group in groups])[places]).tolist()
        for i in shared:
            row, column = int(cells.rows[at[i]]), int(cells.columns[at[i]])
            formulas[i] = self.formulas.at(groups[places[i]], formulas[i], row=row, column=column)
        return column_of(formulas)


def _says_nothing(stored: pa.StringArray, formula_at: Integers) -> bool:
    """Whether a cell has neither a stored text nor a formula, as one with an empty formula."""
    if not stored.null_count:
        return False
    silent = stored.is_null().to_numpy(zero_copy_only=False)
    silent[formula_at] = False
    return bool(silent.any())


def _attributes(text: str) -> dict[str, str]:
    """Attributes by name, those with a prefix left out.

    Raises:
        NotPlain: one may stand twice.
    """
    found = _ATTRIBUTE.findall(text)
    names = [name for _, name, _ in found]
    if len({*names, "r"}) != len(names) + 1 or any("xmlns" in one[:2] for one in found):
        raise NotPlain
    return {name: value for prefix, name, value in found if not prefix}


def _left(piece: bytes, starts: Places, plain: npt.NDArray[np.bool_], numbers: Places) -> Iterator[bytes]:
    """The rows that are not plain, as they stand, and an empty row of the last number for each run of those that are."""
    bounds = [*starts.tolist(), len(piece)]
    read = 0
    for first, end in runs(plain):
        if plain[first]:
            read += end - first
            yield _empty_row(numbers[read - 1])
        else:
            yield piece[bounds[first] : bounds[end]]


def _empty_row(number: np.int64) -> bytes:
    return b'<row r="%d"/>' % number
