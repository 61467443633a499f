"""Joins spans to lines of text and lines to running text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final

from extractor_svc.formats.pdf_bidi import LEFTWARDS
from extractor_svc.formats.pdf_ink import Span

_GAP: Final = 0.15
"""Empty space, in sizes, that parts two words."""
_LETTER: Final = re.compile(r"[^\W\d_]")
_NO_SPACES: Final = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\u3000-\u303f\uff00-\uff60]")
"""Scripts that write no space between words."""
_HYPHENS: Final = "-\u2010"
_SOFT_HYPHEN: Final = "\u00ad"
_LAST_WORD: Final = re.compile(rf"\w+[{_HYPHENS}]$")
_FIRST_WORD: Final = re.compile(r"\w+")
_COMPOUND: Final = re.compile(rf"\w+(?:[{_HYPHENS}]\w+)+")
BULLET: Final = re.compile(r"[•‣◦⁃▪▫●○■□◆◇➢✓✔►▶❖∙](?=\s|$)|\ufffd{1,2}(?!\ufffd)|[·–—*-](?=\s)|[•▪●■➢✓](?=\S)")
"""A sign that opens a list item."""
_DASHES: Final = "·–—*-"
_UNREAD: Final = re.compile(r"[\w\ufffd]*\ufffd[\w\ufffd]*")
_WORD_CHAR: Final = re.compile(r"\w")
_LONG_WORD: Final = re.compile(r"[^\W\d_]{4}$")
_NOTE_SIGN: Final = re.compile(r"[\d*†‡§]+(?:[,;]\s?\d+)*|\(\d+\)|[a-z]")


class Vocabulary:
    """The words of a page, looked up to tell a hyphen that belongs to a word from one that only breaks it."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._source = lines

    def writes_with_hyphen(self, first: str, second: str) -> bool:
        """Whether the page writes the two parts as one hyphened word elsewhere, and not as one plain word."""
        return f"{first}-{second}".casefold() in self._compounds and (first + second).casefold() not in self._words

    @cached_property
    def _lines(self) -> tuple[str, ...]:
        return tuple(self._source)

    @cached_property
    def _compounds(self) -> frozenset[str]:
        found = (match.group().casefold() for line in self._lines for match in _COMPOUND.finditer(line))
        return frozenset(word.replace(_HYPHENS[1], "-") for word in found)

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(match.group().casefold() for line in self._lines for match in _FIRST_WORD.finditer(line))


@dataclass(slots=True)
class TextLine:
    """One line's text, soft hyphens included, and the words of its page; a line of code breaks no words."""

    text: str
    vocabulary: Vocabulary
    code: bool = False


def reads_leftwards(text: str) -> bool:
    """Whether most letters of the text are of a script written from right to left."""
    return len(LEFTWARDS.findall(text)) * 2 > len(_LETTER.findall(text))


def line_text(strokes: Sequence[Sequence[Span]]) -> str:
    """The text of strokes that stand side by side, given in reading order.

    Inside a stroke the source says where white space is. Between strokes an empty space does. A raised number after a number
    or a word of four letters is a note's sign and stands apart, so that `1,234` with note 2 does not become `1,2342`.
    """
    if len(strokes) == 1 and len(strokes[0]) == 1:
        return strokes[0][0].text
    pieces: list[str] = []
    last: Span | None = None
    for stroke in strokes:
        for i, span in enumerate(stroke):
            if last is not None:
                apart = span.spaced or (i == 0 and _apart(last, span)) or _is_note_sign(last, span)
                pieces.append(" " if apart else "")
            pieces.append(span.text)
            last = span
    return "".join(pieces)


def join_lines(lines: Sequence[TextLine]) -> str:
    """Running text of lines: one space between them, none between signs of scripts without spaces.

    A hyphen that ends a line before a small letter is dropped, unless the page writes the word with a hyphen elsewhere; a soft
    hyphen is always dropped, at a line's end and inside it.
    """
    if not lines:
        return ""
    out = lines[0].text
    for before, line in pairwise(lines):
        out = f"{out}\n{line.text}" if before.code else _joined(out, line.text, before.vocabulary)
    return out.replace(_SOFT_HYPHEN, "")


def without_bullet(text: str) -> str:
    """The text less the bullet it begins with; a dash that comes back at the end, as around a page number, is none."""
    match = BULLET.match(text)
    if match is None or (text[0] in _DASHES and text[-1] == text[0]):
        return text
    return text[match.end() :].lstrip()


def unread_words(text: str) -> int:
    """How many words have a letter that the font does not name; lone signs, such as bullets of a symbol font, are none."""
    if "\ufffd" not in text:
        return 0
    return sum(1 for match in _UNREAD.finditer(text) if len(match.group()) > 2 or _WORD_CHAR.search(match.group()))


def _joined(first: str, second: str, vocabulary: Vocabulary) -> str:
    if not second or not first:
        return first + second
    if first[-1] == _SOFT_HYPHEN:
        return first[:-1] + second
    head = _LAST_WORD.search(first) if first[-1] in _HYPHENS else None
    tail = _FIRST_WORD.match(second)
    if head and tail:
        breaks = second[0].islower() and _LETTER.match(head.group()[-2])
        if breaks and not vocabulary.writes_with_hyphen(head.group()[:-1], tail.group()):
            return first[:-1] + second
        return first + second
    if _NO_SPACES.match(first[-1]) and _NO_SPACES.match(second[0]):
        return first + second
    return f"{first} {second}"


def _apart(last: Span, span: Span) -> bool:
    """Whether two neighbours leave room for a space, or lie over one another as no single word does."""
    gap = max(span.box.x0 - last.box.x1, last.box.x0 - span.box.x1)
    return gap > _GAP * min(last.size, span.size) or gap < -min(last.size, span.size)


def _is_note_sign(last: Span, span: Span) -> bool:
    if not span.raised or last.raised or not _NOTE_SIGN.fullmatch(span.text):
        return False
    return last.text[-1].isdigit() or bool(_LONG_WORD.search(last.text))
