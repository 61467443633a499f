"""Puts a page's text into the cells that its drawn lines enclose."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from extractor_svc.blocks import count_words
from extractor_svc.formats.pdf_geometry import Box, Turn
from extractor_svc.formats.pdf_grids import Grid, GridCell, without_empty_strips
from extractor_svc.formats.pdf_ink import Letter, Letters, Span, Stroke, Vector
from extractor_svc.formats.pdf_lattice import Lattice, Slot, lattice_of
from extractor_svc.formats.pdf_lines import Line, line_of, merged, rows_of
from extractor_svc.formats.pdf_rules import Mesh, meshes_of, rules_of
from extractor_svc.formats.pdf_text import Vocabulary
from extractor_svc.formats.pdf_undrawn import with_undrawn_columns, with_undrawn_rows

_FILLED: Final = 0.3
"""Share of a lattice's cells that must hold text; the grid of a chart is nearly empty."""
_MOST_LATTICES: Final = 300
_FEWEST_CELLS: Final = 3
_FEW_CELLS: Final = 6
_PROSE: Final = 60
"""Words past which a cell, among few, is a box of text on the page rather than a cell of a table."""
_NARROWEST: Final = 9.0
_EDGE: Final = 0.3
"""How much of its size a span's end may lie beyond a cell's side."""


@dataclass(frozen=True, slots=True)
class Tabled:
    """The ruled tables of a page, and the strokes that stand in none of them."""

    grids: tuple[Grid, ...]
    loose: tuple[Stroke, ...]


def ruled_tables(
    strokes: Sequence[Stroke], vectors: Sequence[Vector], turn: Turn, *, letters: Letters, vocabulary: Vocabulary
) -> Tabled:
    """Finds the ruled tables of a page and takes their text out of it.

    A lattice counts as a table when it has text in two rows and two columns and is not mostly empty.
    """
    loose: Sequence[Stroke] = strokes
    grids: list[Grid] = []
    for rules in rules_of(vectors, turn) if vectors else ():
        for lattice in _lattices(rules):
            if any(grid.box.meets(lattice.box) for grid in grids):
                continue
            filling = _Filling(lattice, turn, letters)
            left = filling.take(loose)
            grid = filling.grid(vocabulary)
            if grid is not None:
                grids.append(grid)
                loose = left
    return Tabled(tuple(sorted(grids, key=lambda grid: (grid.ys[0], grid.xs[0]))), tuple(loose))


def _lattices(rules: Mesh) -> list[Lattice]:
    """The lattices of a page, those with most cells first; a page with more than these is a drawing."""
    found = [lattice for mesh in meshes_of(rules) if (lattice := lattice_of(mesh))]
    return sorted(found, key=lambda lattice: -len(lattice.slots))[:_MOST_LATTICES]


class _Filling:
    """Sorts strokes into the slots of a lattice."""

    def __init__(self, lattice: Lattice, turn: Turn, letters: Letters) -> None:
        self._lattice = lattice
        self._turn = turn
        self._letters = letters
        self._outline = lattice.box.grown(1.0)
        self._in_slot: dict[tuple[int, int], list[Stroke]] = {}
        self._slots = {
            (slot.row + i, slot.column + j): slot
            for slot in lattice.slots
            for i in range(slot.row_span)
            for j in range(slot.column_span)
        }

    def take(self, strokes: Iterable[Stroke]) -> list[Stroke]:
        """Takes the text inside the lattice and returns what is left."""
        left: list[Stroke] = []
        top, foot = self._outline.y0, self._outline.y1
        for stroke in strokes:
            if stroke.quarters == self._turn.quarters and all(span.box.y1 <= top or span.box.y0 >= foot for span in stroke.spans):
                left.append(stroke)
                continue
            outside: list[Span] = []
            by_slot: dict[tuple[int, int], list[Span]] = {}
            for span in stroke.spans:
                for slot, piece in self._pieces(span, stroke.quarters):
                    if slot is None:
                        outside.append(piece)
                    else:
                        by_slot.setdefault((slot.row, slot.column), []).append(piece)
            for place, spans in by_slot.items():
                self._in_slot.setdefault(place, []).append(Stroke(tuple(spans), stroke.quarters))
            if outside:
                left.append(Stroke(tuple(outside), stroke.quarters) if by_slot else stroke)
        return left

    def grid(self, vocabulary: Vocabulary) -> Grid | None:
        """The table, or None where the text does not make the lattice one."""
        slots, written = self._lattice.slots, self._in_slot
        if len(written) < max(_FEWEST_CELLS, _FILLED * len(slots)):
            return None
        if len(written) <= _FEW_CELLS and any(_words(strokes) > _PROSE for strokes in written.values()):
            return None
        if len({row for row, _ in written}) < 2 or len({column for _, column in written}) < 2:
            return None
        cells = tuple(
            GridCell(slot.row, slot.column, slot.row_span, slot.column_span, _lines(written.get((slot.row, slot.column), ())))
            for slot in slots
        )
        grid = Grid(self._lattice.xs, self._lattice.ys, cells, self._turn, vocabulary)
        return without_empty_strips(with_undrawn_rows(with_undrawn_columns(grid)), narrowest=_NARROWEST)

    def _pieces(self, span: Span, quarters: int | None) -> list[tuple[Slot | None, Span]]:
        """The span, or its parts where it runs over the side of a cell, each with its slot."""
        box = span.box if quarters == self._turn.quarters else self._laid(span.box, quarters)
        if not self._outline.meets(box):
            return [(None, span)]
        if quarters != self._turn.quarters:
            return [(self._slot(*box.centre), span)]
        y, edge = (box.y0 + box.y1) / 2, min(_EDGE * span.size, (box.x1 - box.x0) / 4)
        first, last = self._slot(box.x0 + edge, y), self._slot(box.x1 - edge, y)
        if first is last:
            return [(first, span)]
        return self._split(span, y)

    def _split(self, span: Span, y: float) -> list[tuple[Slot | None, Span]]:
        runs: list[tuple[Slot | None, list[Letter]]] = []
        for letter in self._letters(span.index):
            slot = self._slot(letter.box.centre[0], y)
            if (letter.text == " " and runs) or (runs and runs[-1][0] is slot):
                runs[-1][1].append(letter)
            else:
                runs.append((slot, [letter]))
        return [(slot, part) for slot, run in runs if (part := part_of(span, run))]

    def _slot(self, x: float, y: float) -> Slot | None:
        if not self._outline.holds(x, y):
            return None
        xs, ys = self._lattice.xs, self._lattice.ys
        return self._slots[bisect_right(ys, y, 1, len(ys) - 1) - 1, bisect_right(xs, x, 1, len(xs) - 1) - 1]

    def _laid(self, box: Box, quarters: int | None) -> Box:
        """The box of a span of another direction on the page turned as the table is."""
        own = Turn(quarters or 0, self._turn.width, self._turn.height)
        return self._turn.upright(own.displayed(box))


def part_of(span: Span, letters: Sequence[Letter]) -> Span | None:
    """The part of a span that some of its letters make; None where they are white space."""
    text = " ".join("".join(letter.text for letter in letters).split())
    if not text:
        return None
    inked = [letter.box for letter in letters if letter.text != " "]
    box = Box(min(box.x0 for box in inked), span.box.y0, max(box.x1 for box in inked), span.box.y1)
    return replace(span, text=text, box=box, spaced=span.spaced or letters[0].text == " ")


def _words(strokes: Sequence[Stroke]) -> int:
    return sum(count_words(span.text) for stroke in strokes for span in stroke.spans)


def _lines(strokes: Sequence[Stroke]) -> tuple[Line, ...]:
    """The lines of a cell from the top; text of another direction follows in its own order."""
    if len(strokes) == 1:
        return (line_of([strokes[0].spans], quarters=strokes[0].quarters),)
    by_direction: dict[int | None, list[Line]] = {}
    for stroke in strokes:
        by_direction.setdefault(stroke.quarters, []).append(line_of([stroke.spans], quarters=stroke.quarters))
    return tuple(merged(row) for lines in by_direction.values() for row in rows_of(lines))
