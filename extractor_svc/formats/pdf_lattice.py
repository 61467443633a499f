"""Finds the cells that crossing lines enclose, spans included."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from extractor_svc.formats.pdf_geometry import Box
from extractor_svc.formats.pdf_rules import Mesh, Rule, places_of

_APART: Final = 4.0
"""Lines closer than this bound no cell; double rules stand up to 3 points apart."""
_COVERED: Final = 0.55
"""Share of a side that must be drawn for the side to part two cells."""
_OPEN_SIDE: Final = 10.0
"""How far lines must reach past the outermost one for the table to have an undrawn outer side there."""
_MOST_CELLS: Final = 40_000


@dataclass(slots=True)
class Slot:
    """A cell of a lattice: its first row and column from 0, how many of each it covers, and its box."""

    row: int
    column: int
    row_span: int
    column_span: int
    box: Box


@dataclass(frozen=True, slots=True)
class Lattice:
    """A grid of cells: column borders `xs`, row borders `ys`, and the slots row by row; every place is in one slot."""

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    slots: tuple[Slot, ...]

    @property
    def box(self) -> Box:
        """The grid's outline."""
        return Box(self.xs[0], self.ys[0], self.xs[-1], self.ys[-1])


def lattice_of(mesh: Mesh) -> Lattice | None:
    """The cells of a group of lines; None where it encloses no more than one row and one column."""
    xs = _with_open_sides(places_of(mesh.upright, apart=_APART), mesh.level)
    ys = _with_open_sides(places_of(mesh.level, apart=_APART), mesh.upright)
    if len(xs) * len(ys) > _MOST_CELLS or len(xs) + len(ys) < 5:
        return None
    right_of = _walls(mesh.upright, places=xs, along=ys)
    below = _walls(mesh.level, places=ys, along=xs)
    return Lattice(tuple(xs), tuple(ys), tuple(_slots(xs, ys, right_of=right_of, below=below)))


def _with_open_sides(places: list[float], across: Sequence[Rule]) -> list[float]:
    """Adds the outer sides of a table whose lines across run on past the last line drawn."""
    first = min(rule.start for rule in across)
    last = max(rule.end for rule in across)
    before = [first] if first < places[0] - _OPEN_SIDE else []
    after = [last] if last > places[-1] + _OPEN_SIDE else []
    return [*before, *places, *after]


def _walls(rules: Sequence[Rule], *, places: Sequence[float], along: Sequence[float]) -> set[tuple[int, int]]:
    """Which pieces of the grid are drawn: (number of the place, number of the stretch along it)."""
    drawn: dict[tuple[int, int], float] = {}
    for rule in rules:
        place = _nearest(places, rule.at)
        for stretch in range(max(bisect_right(along, rule.start) - 1, 0), min(bisect_left(along, rule.end), len(along) - 1)):
            start, end = along[stretch], along[stretch + 1]
            covered = min(rule.end, end) - max(rule.start, start)
            drawn[place, stretch] = drawn.get((place, stretch), 0.0) + covered / (end - start)
    return {piece for piece, share in drawn.items() if share >= _COVERED}


def _nearest(places: Sequence[float], at: float) -> int:
    after = min(bisect_left(places, at), len(places) - 1)
    before = max(after - 1, 0)
    return before if at - places[before] < places[after] - at else after


def _slots(
    xs: Sequence[float], ys: Sequence[float], *, right_of: set[tuple[int, int]], below: set[tuple[int, int]]
) -> Iterable[Slot]:
    """Grows each free place to the right and down until drawn lines stop it."""
    taken: set[tuple[int, int]] = set()
    for row in range(len(ys) - 1):
        for column in range(len(xs) - 1):
            if (row, column) in taken:
                continue
            width = _grow_right(row, column, end=len(xs) - 1, walls=right_of, taken=taken)
            height = _grow_down(row, column, width=width, end=len(ys) - 1, right_of=right_of, below=below, taken=taken)
            if height > 1 or width > 1:
                taken.update((row + i, column + j) for i in range(height) for j in range(width))
            box = Box(xs[column], ys[row], xs[column + width], ys[row + height])
            yield Slot(row, column, height, width, box)


def _grow_right(row: int, column: int, *, end: int, walls: set[tuple[int, int]], taken: set[tuple[int, int]]) -> int:
    width = 1
    while column + width < end and (column + width, row) not in walls and (row, column + width) not in taken:
        width += 1
    return width


def _grow_down(
    row: int,
    column: int,
    *,
    width: int,
    end: int,
    right_of: set[tuple[int, int]],
    below: set[tuple[int, int]],
    taken: set[tuple[int, int]],
) -> int:
    """How many rows the cell covers: on as long as no line lies below and the next row is as wide."""
    height = 1
    columns = range(column, column + width)
    while (
        row + height < end
        and not any((row + height, j) in below for j in columns)
        and not any((j + 1, row + height) in right_of for j in columns[:-1])
        and not any((row + height, j) in taken for j in columns)
    ):
        height += 1
    return height
