"""Lines of upright text, and the rows they stand in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from extractor_svc.formats.pdf_geometry import Box, around
from extractor_svc.formats.pdf_ink import Span, Stroke
from extractor_svc.formats.pdf_text import line_text, reads_leftwards

_SAME_ROW: Final = 0.5
"""Share of the lower of two heights that two strokes have in common on one row."""
_ROWS_BACK: Final = 3
"""Rows above in which a line is looked for a place."""


@dataclass(slots=True)
class Line:
    """Strokes side by side, in reading order: their text, box and look.

    `size` is that of most of its letters; `font` is empty where it has several. A line is bold, monospaced or hidden when nearly
    all of it is. `quarters` turns the displayed page so that the line is upright; None is text at an angle, whose boxes are of
    the displayed page. `note` says that it begins with a raised sign, as footnotes do.
    """

    strokes: tuple[tuple[Span, ...], ...]
    text: str
    box: Box
    baseline: float
    size: float
    font: str
    bold: bool
    italic: bool
    mono: bool
    hidden: bool
    quarters: int | None
    note: bool = False

    @property
    def tag(self) -> int:
        """The level of the heading that the file's structure makes it, or 0."""
        return self.strokes[0][0].tag

    @property
    def spans(self) -> tuple[Span, ...]:
        """All its spans, in reading order."""
        return tuple(span for stroke in self.strokes for span in stroke)


def line_of(strokes: Iterable[Sequence[Span]], *, quarters: int | None) -> Line:
    """One line of strokes that stand side by side, in any order."""
    ordered = [tuple(stroke) for stroke in strokes]
    if len(ordered) == 1 and len(ordered[0]) == 1:
        return _line_of_span(ordered[0][0], quarters)
    ordered = _in_reading_order(ordered)
    spans = [span for stroke in ordered for span in stroke]
    letters = bold = italic = mono = hidden = 0
    sizes: dict[float, int] = {}
    for span in spans:
        length = len(span.text)
        letters += length
        bold += length * span.bold
        italic += length * span.italic
        mono += length * span.mono
        hidden += length * span.hidden
        rounded = round(span.size, 1)
        sizes[rounded] = sizes.get(rounded, 0) + length
    size = max(sizes, key=sizes.__getitem__)
    longest = max(spans, key=lambda span: (round(span.size, 1) == size, len(span.text)))
    return Line(
        strokes=tuple(ordered),
        text=line_text(ordered),
        box=around(span.box for span in spans),
        baseline=longest.baseline,
        size=size,
        font=longest.font if _mostly(sum(len(span.text) for span in spans if span.font == longest.font), letters) else "",
        bold=_mostly(bold, letters),
        italic=_mostly(italic, letters),
        mono=_mostly(mono, letters),
        hidden=_mostly(hidden, letters),
        quarters=quarters,
        note=spans[0].raised,
    )


def _line_of_span(span: Span, quarters: int | None) -> Line:
    look = span.bold, span.italic, span.mono, span.hidden
    return Line(((span,),), span.text, span.box, span.baseline, round(span.size, 1), span.font, *look, quarters)


def merged(lines: Sequence[Line]) -> Line:
    """One line of several that stand side by side."""
    if len(lines) == 1:
        return lines[0]
    return line_of((stroke for line in lines for stroke in line.strokes), quarters=lines[0].quarters)


def lines_of(strokes: Iterable[Stroke]) -> list[Line]:
    """A line of every stroke."""
    return [
        _line_of_span(stroke.spans[0], stroke.quarters)
        if len(stroke.spans) == 1
        else line_of([stroke.spans], quarters=stroke.quarters)
        for stroke in strokes
    ]


def rows_of(lines: Iterable[Line]) -> list[list[Line]]:
    """Lines by the row they stand in, from the top; inside a row from the left."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: (line.baseline, line.box.x0)):
        for row in rows[: -_ROWS_BACK - 1 : -1]:
            if _same_row(row[0], line):
                row.append(line)
                break
        else:
            rows.append([line])
    for row in rows:
        if len(row) > 1:
            row.sort(key=lambda line: line.box.x0)
    return rows


def _same_row(first: Line, second: Line) -> bool:
    size = first.size if first.size > second.size else second.size
    if abs(first.baseline - second.baseline) > _SAME_ROW * size:
        return False
    above, below = first.box, second.box
    shared = min(above.y1, below.y1) - max(above.y0, below.y0)
    return shared >= _SAME_ROW * min(above.y1 - above.y0, below.y1 - below.y0)


def _in_reading_order(strokes: list[tuple[Span, ...]]) -> list[tuple[Span, ...]]:
    if len(strokes) == 1:
        return strokes
    if reads_leftwards("".join(span.text for stroke in strokes for span in stroke)):
        return sorted(strokes, key=lambda stroke: -max(span.box.x1 for span in stroke))
    return sorted(strokes, key=lambda stroke: min(span.box.x0 for span in stroke))


def _mostly(part: int, whole: int) -> bool:
    return part * 10 >= whole * 9
