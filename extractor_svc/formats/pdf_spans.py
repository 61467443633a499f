"""Turns the parser's page dictionaries into spans, letters and vectors."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import Any, Final, TypeAlias

from extractor_svc.blocks import count_words
from extractor_svc.formats.pdf_bidi import LEFTWARDS, as_read
from extractor_svc.formats.pdf_geometry import Box, Turn
from extractor_svc.formats.pdf_ink import Letter, Letters, Span, Stroke, Vector

Dictionary: TypeAlias = Mapping[str, Any]
"""A block, line or span as the parser writes it; its values have many types."""
Unseen: TypeAlias = Callable[[Dictionary], bool]
"""Whether a page does not show a span of it."""

HEADING_TAGS: Final = {"H": 1, **{f"H{level}": level for level in range(1, 7)}}
"""Names that the structure of a file gives headings, and their levels."""
_TEXT, _STRUCTURE, VECTOR = 0, 2, 3
_ITALIC, _MONO, _BOLD, _RAISED = 2, 8, 16, 1
_STYLE_BOLD: Final = 8
_BOLD_NAME: Final = re.compile(r"bold|black|heavy|semibold|demi(?!\w*italic)", re.IGNORECASE)
_SUBSET: Final = re.compile(r"^[A-Z]{6}\+")
_UNSEEN: Final = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u200b\u200e\u200f\ufeff]")
_SYMBOLS: Final = str.maketrans(
    {"\uf0b7": "•", "\uf0a7": "▪", "\uf0a8": "▫", "\uf0d8": "➢", "\uf0fc": "✓", "\uf02d": "-", "\uf06e": "■"}
)
_ASCENT, _DESCENT = 1.0, 0.35
"""How far a span's box may reach above and below its baseline, in sizes; fonts state wilder figures."""
_SPACE_SIZE: Final = 0.25
_FEW_LETTERS: Final = 2
_MOST_WORDS: Final = 200
"""Texts on one baseline among which letters drawn twice are looked for."""
_SHIFT: Final = 0.7
"""Points by which a letter drawn twice may miss itself."""
_STRAIGHT: Final = 0.998
"""Cosine of the angle, about 3.6 degrees, up to which a line counts as level: scans are seldom laid straighter."""


@dataclass(frozen=True, slots=True)
class PageSpans:
    """The text of a page, and the words that were dropped: outside the page, or repeating a text on its own place."""

    strokes: tuple[Stroke, ...]
    off_page_words: int
    overprinted_words: int


def spans_of(blocks: Iterable[Dictionary], page: Box, *, letters: Letters, unseen: Unseen) -> PageSpans:
    """The spans of a page in the order they are drawn, those that are not seen in strokes of their own.

    Letters are asked for where white space makes a span's ends unsure.
    """
    strokes: list[Stroke] = []
    off_page = overprinted = first = 0
    seen: set[tuple[str, int, int]] = set()
    for line, tag in lines_in(blocks):
        quarters = quarters_of(line)
        turn = Turn(quarters or 0, page.x1, page.y1)
        spans: list[Span] = []
        spaced = False
        for index, raw in enumerate(line["spans"], first):
            text, starts_blank, ends_blank = _cleaned(raw["text"])
            if not text:
                spaced = True
                continue
            span = _span(raw, text, turn, index=index, spaced=spaced or starts_blank, level=quarters is not None, tag=tag)
            if unseen(raw):
                span = replace(span, hidden=True)
            if quarters is not None and _is_unsure(raw["text"]):
                span = _measured(span, letters(index))
            spaced = ends_blank
            if not page.holds_centre_of(turn.displayed(span.box) if quarters else span.box):
                off_page += count_words(text)
            elif _repeats(span, seen):
                overprinted += count_words(text)
            else:
                spans.append(span)
        first += len(line["spans"])
        strokes += (Stroke(tuple(run), quarters) for _, run in groupby(spans, key=attrgetter("hidden")))
    kept = _without_letters_over_words(strokes)
    return PageSpans(tuple(kept), off_page, overprinted + len(strokes) - len(kept))


class PageLetters:
    """The letters of a page's spans, made as they are asked for; white space between words is a letter too."""

    def __init__(self, blocks: Iterable[Dictionary], page: Box) -> None:
        """Takes the dictionary with characters."""
        self._page = page
        self._spans = [(line, span) for line, _ in lines_in(blocks) for span in line["spans"]]

    def of(self, index: int) -> list[Letter]:
        """The letters of a span by its index."""
        line, span = self._spans[index]
        quarters = quarters_of(line)
        letters = list(_letters(span["chars"], Turn(quarters or 0, self._page.x1, self._page.y1)))
        return as_read(letters) if quarters is not None and any(LEFTWARDS.match(letter.text) for letter in letters) else letters


def vectors_of(blocks: Iterable[Dictionary]) -> tuple[Vector, ...]:
    """The pieces of the page's drawings."""
    return tuple(
        Vector(Box(*block["bbox"]), block["stroked"], block["isrect"], block["color"])
        for block, _ in flat(blocks)
        if block["type"] == VECTOR and block["alpha"] and math.isfinite(sum(block["bbox"]))
    )


def quarters_of(line: Dictionary) -> int | None:
    """The quarter turns, clockwise, that bring a line upright; None where it runs at an angle.

    Lines of vertical writing run downwards, columns from the right: turned, they read as lines do.
    """
    dx, dy = line["dir"]
    if line["wmode"]:
        return 3
    if abs(dx) >= _STRAIGHT:
        return 0 if dx > 0 else 2
    if abs(dy) >= _STRAIGHT:
        return 3 if dy > 0 else 1
    return None


def lines_in(blocks: Iterable[Dictionary]) -> Iterator[tuple[Dictionary, int]]:
    """The lines in order, each with the level of the heading it is tagged as, or 0."""
    for block, tag in flat(blocks):
        if block["type"] == _TEXT:
            for line in block["lines"]:
                yield line, tag


def flat(blocks: Iterable[Dictionary], tag: int = 0) -> Iterator[tuple[Dictionary, int]]:
    """The blocks in order, those inside elements of the file's structure too, each with the level of the heading around it."""
    for block in blocks:
        if block["type"] == _STRUCTURE:
            yield from flat(block["blocks"], HEADING_TAGS.get(block["std"], tag))
        else:
            yield block, tag


def _cleaned(text: str) -> tuple[str, bool, bool]:
    """The text with single spaces inside and none at its ends, and whether there were some at the start and the end."""
    if not (text.isascii() and text.isprintable()):
        text = _UNSEEN.sub("", text).translate(_SYMBOLS)
    bare = text.strip()
    if bare == text and "  " not in bare and bare.isprintable():
        return bare, False, False
    return " ".join(bare.split()), text[:1].isspace(), text[-1:].isspace()


def _span(raw: Dictionary, text: str, turn: Turn, *, index: int, spaced: bool, level: bool, tag: int) -> Span:
    size = raw["size"]
    x0, y0, x1, y1 = raw["bbox"]
    baseline = raw["origin"][1]
    if turn.quarters:
        baseline = turn.upright(Box(*raw["origin"], *raw["origin"])).y0
        box = turn.upright(Box(x0, y0, x1, y1))
        x0, y0, x1, y1 = box.x0, box.y0, box.x1, box.y1
    if level:
        x0, x1 = _without_blanks(x0, x1, raw["text"], size=size)
        y0, y1 = max(y0, baseline - _ASCENT * size), min(y1, baseline + _DESCENT * size)
    font, is_bold = _face(raw["font"])
    flags, style = raw["flags"], raw["char_flags"]
    return Span(
        text=text,
        box=Box(x0, y0, x1, y1),
        baseline=baseline,
        size=size,
        font=font,
        index=index,
        spaced=spaced,
        bold=is_bold or bool(flags & _BOLD or style & _STYLE_BOLD),
        italic=bool(flags & _ITALIC),
        mono=bool(flags & _MONO),
        raised=bool(flags & _RAISED),
        tag=tag,
    )


@lru_cache(maxsize=1_024)
def _face(font: str) -> tuple[str, bool]:
    """A font's name without the mark of a subset, and whether it names a bold face."""
    name = _SUBSET.sub("", font)
    return name, bool(_BOLD_NAME.search(name))


def _without_blanks(x0: float, x1: float, text: str, *, size: float) -> tuple[float, float]:
    """The sides of a text less the white space at its ends, which is never wider than estimated here."""
    if not (text[0].isspace() or text[-1].isspace()):
        return x0, x1
    before = len(text) - len(text.lstrip())
    after = len(text) - len(text.rstrip())
    blank = min(_SPACE_SIZE * size, (x1 - x0) / len(text))
    return x0 + before * blank, x1 - after * blank


def _is_unsure(text: str) -> bool:
    """Whether a span's box or text needs its letters: more than one blank at an end, or a script read leftwards."""
    return text[:2].isspace() or text[-2:].isspace() or not (text.isascii() or not LEFTWARDS.search(text))


def _measured(span: Span, letters: Sequence[Letter]) -> Span:
    """The span with the text of its letters and their box, without the white space at its ends."""
    inked = [letter.box for letter in letters if letter.text != " "]
    x0, x1 = min(box.x0 for box in inked), max(box.x1 for box in inked)
    text = " ".join("".join(letter.text for letter in letters).split())
    return replace(span, text=text, box=Box(x0, span.box.y0, x1, span.box.y1))


def _repeats(span: Span, seen: set[tuple[str, int, int]]) -> bool:
    """Whether the same text was drawn on the same place before, as a shadow or a stroke over the fill."""
    x, y = span.box.x0, span.baseline
    keys = {(span.text, round(x), round(y)), (span.text, math.floor(x), math.floor(y))}
    repeats = not seen.isdisjoint(keys)
    seen.update(keys)
    return repeats


def _without_letters_over_words(strokes: list[Stroke]) -> list[Stroke]:
    """The strokes less those of one or two letters that were drawn once more over the same letters of a word."""
    few = {i for i, stroke in enumerate(strokes) if len(stroke.spans) == 1 and len(stroke.spans[0].text) <= _FEW_LETTERS}
    if not few:
        return strokes
    words: dict[tuple[int | None, int], list[Span]] = defaultdict(list)
    for i, stroke in enumerate(strokes):
        for span in stroke.spans if i not in few else ():
            words[stroke.quarters, round(span.baseline)].append(span)
    return [stroke for i, stroke in enumerate(strokes) if i not in few or not _lies_over(stroke, words)]


def _lies_over(stroke: Stroke, words: Mapping[tuple[int | None, int], Sequence[Span]]) -> bool:
    (span,) = stroke.spans
    level = round(span.baseline)
    near = (word for y in (level - 1, level, level + 1) for word in words.get((stroke.quarters, y), ())[:_MOST_WORDS])
    return any(_holds_letters(word, span) for word in near)


def _holds_letters(word: Span, letters: Span) -> bool:
    """Whether a span has these letters at their place, which is told by the share of the width before them."""
    if letters.box.x0 < word.box.x0 - _SHIFT or letters.box.x1 > word.box.x1 + _SHIFT or abs(word.size - letters.size) > _SHIFT:
        return False
    at = round((letters.box.x0 - word.box.x0) / max(word.box.width, 1.0) * len(word.text))
    return letters.text in word.text[max(at - 1, 0) : at + 1 + len(letters.text)]


def _letters(chars: Sequence[Dictionary], turn: Turn) -> Iterator[Letter]:
    for char in chars:
        text = _UNSEEN.sub("", char["c"]).translate(_SYMBOLS)
        if text and not text.isspace():
            yield Letter(text, turn.upright(Box(*char["bbox"])))
        elif text:
            yield Letter(" ", turn.upright(Box(*char["bbox"])))
