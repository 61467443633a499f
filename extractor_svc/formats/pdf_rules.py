"""The straight lines of a page's drawings, and the groups of them that cross."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from extractor_svc.formats.pdf_geometry import Box, Turn
from extractor_svc.formats.pdf_ink import Vector

TOUCH: Final = 3.0
"""Points by which two lines may miss each other and still meet."""
_THIN: Final = 3.0
_ALIGNED: Final = 1.5
_SHORTEST: Final = 7.0
_MOST_RULES: Final = 4_000
"""Past this many straight lines a page is a drawing, and no tables are looked for on it."""
_MOST_PIECES: Final = 20_000
_WHITE: Final = 0xFFFFFF


@dataclass(slots=True)
class Rule:
    """A straight level or upright line: its place across, and where it starts and ends along."""

    at: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Mesh:
    """Level and upright lines; the upright ones are ordered by their place."""

    level: tuple[Rule, ...]
    upright: tuple[Rule, ...]


def rules_of(vectors: Iterable[Vector], turn: Turn) -> Iterator[Mesh]:
    """The level and upright lines of a page that are drawn as such, sides of drawn rectangles included.

    Where the page has shaded areas without a line around them, the same with the edges of these follow: they bound cells where no
    lines do.
    """
    level: list[Rule] = []
    upright: list[Rule] = []
    shaded: list[Box] = []
    for vector in vectors:
        if not vector.rectangle:
            continue
        box = turn.upright(vector.box) if turn.quarters else vector.box
        if box.x1 - box.x0 <= _THIN or box.y1 - box.y0 <= _THIN:
            _take_thin(box, level=level, upright=upright)
        elif vector.stroked:
            _take_sides(box, level=level, upright=upright)
        elif vector.colour != _WHITE:
            shaded.append(box)
    yield _mesh([*level], [*upright])
    if shaded:
        for box in shaded:
            _take_sides(box, level=level, upright=upright)
        yield _mesh(level, upright)


def meshes_of(rules: Mesh) -> Iterator[Mesh]:
    """The groups of lines that meet, each with two lines or more in either direction."""
    if len(rules.level) < 2 or len(rules.upright) < 2 or len(rules.level) + len(rules.upright) > _MOST_RULES:
        return
    group = list(range(len(rules.level) + len(rules.upright)))
    places = [rule.at for rule in rules.upright]
    for i, level in enumerate(rules.level):
        first, end = bisect_left(places, level.start - TOUCH), bisect_right(places, level.end + TOUCH)
        for j in range(first, end):
            if rules.upright[j].start - TOUCH <= level.at <= rules.upright[j].end + TOUCH:
                _unite(group, i, len(rules.level) + j)
    by_root: dict[int, tuple[list[Rule], list[Rule]]] = {}
    for i, rule in enumerate((*rules.level, *rules.upright)):
        found = by_root.setdefault(_root(group, i), ([], []))
        found[i >= len(rules.level)].append(rule)
    for levels, uprights in by_root.values():
        if len(levels) >= 2 and len(uprights) >= 2:
            yield Mesh(tuple(levels), tuple(uprights))


def places_of(rules: Sequence[Rule], *, apart: float) -> list[float]:
    """The distinct places of rules; those closer than `apart` are one, at their mean."""
    groups: list[list[float]] = []
    for at in sorted(rule.at for rule in rules):
        if groups and at - groups[-1][-1] < apart:
            groups[-1].append(at)
        else:
            groups.append([at])
    return [sum(group) / len(group) for group in groups]


def _take_thin(box: Box, *, level: list[Rule], upright: list[Rule]) -> None:
    x0, y0, x1, y1 = box.x0, box.y0, box.x1, box.y1
    if y1 - y0 <= _THIN:
        level.append(Rule((y0 + y1) / 2, x0, x1))
    if x1 - x0 <= _THIN:
        upright.append(Rule((x0 + x1) / 2, y0, y1))


def _take_sides(box: Box, *, level: list[Rule], upright: list[Rule]) -> None:
    level += (Rule(box.y0, box.x0, box.x1), Rule(box.y1, box.x0, box.x1))
    upright += (Rule(box.x0, box.y0, box.y1), Rule(box.x1, box.y0, box.y1))


def _mesh(level: list[Rule], upright: list[Rule]) -> Mesh:
    if len(level) + len(upright) > _MOST_PIECES:
        return Mesh((), ())
    return Mesh(tuple(_joined(level)), tuple(sorted(_joined(upright), key=lambda rule: rule.at)))


def _joined(rules: list[Rule]) -> Iterator[Rule]:
    """Pieces on one line as one rule, where they touch; what stays short is dropped."""
    rules.sort(key=lambda rule: rule.at)
    first = 0
    for i in range(1, len(rules) + 1):
        if i == len(rules) or rules[i].at - rules[i - 1].at > _ALIGNED:
            yield from _joined_in_line(rules[first:i])
            first = i


def _joined_in_line(rules: list[Rule]) -> Iterator[Rule]:
    rules.sort(key=lambda rule: rule.start)
    at = sum(rule.at for rule in rules) / len(rules)
    start, end = rules[0].start, rules[0].end
    for rule in rules[1:]:
        if rule.start > end + TOUCH:
            if end - start >= _SHORTEST:
                yield Rule(at, start, end)
            start = rule.start
            end = rule.end
        end = max(end, rule.end)
    if end - start >= _SHORTEST:
        yield Rule(at, start, end)


def _root(group: list[int], i: int) -> int:
    while group[i] != i:
        group[i] = group[group[i]]
        i = group[i]
    return i


def _unite(group: list[int], i: int, j: int) -> None:
    group[_root(group, i)] = _root(group, j)
