"""The text in a box of a page: the letters whose middles lie in it, as lines."""

from __future__ import annotations

from extractor_svc.formats.pdf_geometry import Box, Turn
from extractor_svc.formats.pdf_ink import Letters, PageInk, Span
from extractor_svc.formats.pdf_lines import Line, line_of, merged, rows_of
from extractor_svc.formats.pdf_places import SLACK
from extractor_svc.formats.pdf_tables import part_of


def lines_in(box: Box, ink: PageInk, *, letters: Letters) -> list[Line]:
    """The lines in a box from the top, those of each direction by themselves."""
    by_direction: dict[int | None, list[Line]] = {}
    for stroke in ink.strokes:
        turn = Turn(stroke.quarters or 0, ink.bounds.x1, ink.bounds.y1)
        held = turn.upright(box.grown(SLACK))
        level = stroke.quarters is not None
        spans = [part for span in stroke.spans if (part := _inside(span, held, level=level, letters=letters))]
        if spans:
            by_direction.setdefault(stroke.quarters, []).append(line_of([spans], quarters=stroke.quarters))
    return [merged(row) for lines in by_direction.values() for row in rows_of(lines)]


def _inside(span: Span, held: Box, *, level: bool, letters: Letters) -> Span | None:
    """The part of a span whose letters have their middles in a box; those of level text are at one height."""
    middle = span.box.centre[1]
    if level and not held.y0 <= middle <= held.y1:
        return None
    if span.box.x1 < held.x0 or span.box.x0 > held.x1:
        return None
    own = letters(span.index)
    inside = [letter for letter in own if held.holds(letter.box.centre[0], middle if level else letter.box.centre[1])]
    return span if len(inside) == len(own) else part_of(span, inside) if inside else None
