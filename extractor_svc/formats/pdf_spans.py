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

import pymupdf

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
    drawn = _Drawn()
    right, bottom = page.x1, page.y1
    for line, tag in lines_in(blocks):
        quarters = quarters_of(line)
        turn = Turn(quarters, right, bottom) if quarters else None
        spans: list[Span] = []
        spaced = hides = False
        for index, raw in enumerate(line["spans"], first):
            written = raw["text"]
            text, starts_blank, ends_blank = _cleaned(written)
            if not text:
                spaced = True
                continue
            hidden = unseen(raw)
            span = _span(raw, text, turn, level=quarters is not None, about=(index, spaced or starts_blank, hidden, tag))
            if quarters is not None and (text is not written or not text.isascii()) and _is_unsure(written, text):
                span = _measured(span, letters(index))
            spaced = ends_blank
            box = turn.displayed(span.box) if turn else span.box
            if not (0 <= box.x0 + box.x1 <= 2 * right and 0 <= box.y0 + box.y1 <= 2 * bottom):
                off_page += count_words(text)
            elif drawn.has(span.text, span.box.x0, span.baseline):
                overprinted += count_words(text)
            else:
                spans.append(span)
                hides = hides or hidden
        first += len(line["spans"])
        if hides:
            strokes += (Stroke(tuple(run), quarters) for _, run in groupby(spans, key=attrgetter("hidden")))
        elif spans:
            strokes.append(Stroke(tuple(spans), quarters))
    kept = _without_letters_over_words(strokes)
    return PageSpans(tuple(kept), off_page, overprinted + len(strokes) - len(kept))


class PageLetters:
    """The letters of a page's spans, made as they are asked for; white space between words is a letter too.

    Characters are costly, so the parser is asked for those of one line at a time.
    """

    def __init__(self, text_page: pymupdf.TextPage, blocks: Iterable[Dictionary], page: Box) -> None:
        """Takes the parser's text and the dictionary of its spans, both of one page."""
        self._text_page = text_page
        self._page = page
        self._spans = [(line, at) for line, _ in lines_in(blocks) for at in range(len(line["spans"]))]
        self._read: tuple[Dictionary | None, Sequence[Dictionary]] = (None, ())

    def of(self, index: int) -> list[Letter]:
        """The letters of a span by its index."""
        line, at = self._spans[index]
        if self._read[0] is not line:
            self._read = line, self._with_characters(line)
        quarters = quarters_of(line)
        letters = list(_letters(self._read[1][at]["chars"], Turn(quarters or 0, self._page.x1, self._page.y1)))
        return as_read(letters) if quarters is not None and any(LEFTWARDS.match(letter.text) for letter in letters) else letters

    def _with_characters(self, line: Dictionary) -> Sequence[Dictionary]:
        """The spans of a line with their characters."""
        place = Box(*line["bbox"]).grown(1.0)
        for near in (place, None):
            for other, _ in lines_in(self._blocks_in(near)):
                if other["bbox"] == line["bbox"] and _texts_with_characters(other) == [span["text"] for span in line["spans"]]:
                    spans: Sequence[Dictionary] = other["spans"]
                    return spans
        raise ValueError("the parser gives a line without its characters")

    def _blocks_in(self, place: Box | None) -> Sequence[Dictionary]:
        """What the parser has with characters that lie in a box of the page; everything where none is named."""
        bounds = self._text_page.this.m_internal.mediabox
        everywhere = bounds.x0, bounds.y0, bounds.x1, bounds.y1
        bounds.x0, bounds.y0, bounds.x1, bounds.y1 = (place.x0, place.y0, place.x1, place.y1) if place else everywhere
        try:
            blocks: Sequence[Dictionary] = self._text_page.extractRAWDICT()["blocks"]
        finally:
            bounds.x0, bounds.y0, bounds.x1, bounds.y1 = everywhere
        return blocks


def _texts_with_characters(line: Dictionary) -> list[str]:
    return ["".join([char["c"] for char in span["chars"]]) for span in line["spans"]]


def vectors_of(blocks: Iterable[Dictionary]) -> tuple[Vector, ...]:
    """The pieces of the page's drawings."""
    return tuple(
        [
            Vector(Box(*bbox), block["stroked"], block["isrect"], block["color"])
            for block, _ in flat(blocks)
            if block["type"] == VECTOR and block["alpha"] and math.isfinite(sum(bbox := block["bbox"]))
        ]
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
        return text, False, False
    return " ".join(bare.split()), text[:1].isspace(), text[-1:].isspace()


def _span(raw: Dictionary, text: str, turn: Turn | None, *, level: bool, about: tuple[int, bool, bool, int]) -> Span:
    """A span by what the parser says; `about` are its index, whether space stands before it, whether it is hidden, and its tag."""
    size = raw["size"]
    x0, y0, x1, y1 = raw["bbox"]
    x, baseline = raw["origin"]
    if turn:
        baseline = turn.upright(Box(x, baseline, x, baseline)).y0
        box = turn.upright(Box(x0, y0, x1, y1))
        x0, y0, x1, y1 = box.x0, box.y0, box.x1, box.y1
    if level:
        if text is not raw["text"]:
            x0, x1 = _without_blanks(x0, x1, raw["text"], size=size)
        top, foot = baseline - _ASCENT * size, baseline + _DESCENT * size
        y0, y1 = (y0 if y0 > top else top), (y1 if y1 < foot else foot)
    index, spaced, hidden, tag = about
    font, bold, italic, mono, raised = _look(raw["font"], raw["flags"], raw["char_flags"])
    return Span(text, Box(x0, y0, x1, y1), baseline, size, font, index, spaced, bold, italic, mono, raised, hidden, tag)


@lru_cache(maxsize=1_024)
def _look(font: str, flags: int, style: int) -> tuple[str, bool, bool, bool, bool]:
    """A font's name without the mark of a subset, and whether its letters are bold, italic, monospaced and raised."""
    name = _SUBSET.sub("", font)
    bold = bool(flags & _BOLD or style & _STYLE_BOLD or _BOLD_NAME.search(name))
    return name, bold, bool(flags & _ITALIC), bool(flags & _MONO), bool(flags & _RAISED)


def _without_blanks(x0: float, x1: float, text: str, *, size: float) -> tuple[float, float]:
    """The sides of a text less the white space at its ends, which is never wider than estimated here."""
    if not (text[0].isspace() or text[-1].isspace()):
        return x0, x1
    before = len(text) - len(text.lstrip())
    after = len(text) - len(text.rstrip())
    blank = min(_SPACE_SIZE * size, (x1 - x0) / len(text))
    return x0 + before * blank, x1 - after * blank


def _is_unsure(written: str, text: str) -> bool:
    """Whether a span's box or text needs its letters: more than one blank at an end, or a script read leftwards."""
    if len(written) != len(text) and (written[:2].isspace() or written[-2:].isspace()):
        return True
    return not written.isascii() and LEFTWARDS.search(written) is not None


def _measured(span: Span, letters: Sequence[Letter]) -> Span:
    """The span with the text of its letters and their box, without the white space at its ends."""
    inked = [letter.box for letter in letters if letter.text != " "]
    x0, x1 = min(box.x0 for box in inked), max(box.x1 for box in inked)
    text = " ".join("".join(letter.text for letter in letters).split())
    return replace(span, text=text, box=Box(x0, span.box.y0, x1, span.box.y1))


class _Drawn:
    """Where each text of a page was drawn, to tell one drawn twice: as a shadow, or a stroke over the fill."""

    def __init__(self) -> None:
        self._first: dict[str, tuple[float, float]] = {}
        self._places: dict[str, set[tuple[int, int]]] = {}

    def has(self, text: str, x: float, y: float) -> bool:
        """Whether the text was drawn on this place before; from now on it was."""
        here = (x, y)
        first = self._first.setdefault(text, here)
        if first is here:
            return False
        keys = _nearby(here)
        places = self._places.setdefault(text, _nearby(first))
        repeats = not places.isdisjoint(keys)
        places |= keys
        return repeats


def _nearby(place: tuple[float, float]) -> set[tuple[int, int]]:
    x, y = place
    return {(round(x), round(y)), (math.floor(x), math.floor(y))}


def _without_letters_over_words(strokes: list[Stroke]) -> list[Stroke]:
    """The strokes less those of one or two letters that were drawn once more over the same letters of a word."""
    few = {i for i, stroke in enumerate(strokes) if len(stroke.spans) == 1 and len(stroke.spans[0].text) <= _FEW_LETTERS}
    if not few:
        return strokes
    levels = {(strokes[i].quarters, round(strokes[i].spans[0].baseline) + by) for i in few for by in (-1, 0, 1)}
    words: dict[tuple[int | None, int], list[Span]] = defaultdict(list)
    for i, stroke in enumerate(strokes):
        for span in stroke.spans if i not in few else ():
            level = stroke.quarters, round(span.baseline)
            if level in levels:
                words[level].append(span)
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
