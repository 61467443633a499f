"""Puts the letters of text that is read from right to left into the order they are read in, by where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final
from unicodedata import combining

from extractor_svc.formats.pdf_ink import Letter

LEFTWARDS: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
"""A letter of a script that is read from right to left."""
_RIGHTWARDS: Final = re.compile(r"[A-Za-z0-9\u00c0-\u024f\u0660-\u0669\u06f0-\u06f9]")
_BETWEEN_DIGITS: Final = frozenset(".,:/-+%")
_BETWEEN_WORDS: Final = frozenset(" .,:;/-+&'@_#")
_NO_WIDTH: Final = 0.05


def as_read(letters: Sequence[Letter]) -> list[Letter]:
    """The letters from the right to the left, runs of figures and of Latin words from the left to the right.

    Signs that a font draws as one, such as lam and alef, come apart with one of them without width, and the wrong way round.
    """
    groups = sorted(filter(None, _joined(letters)), key=lambda group: -(group[-1].box.x0 + group[-1].box.x1))
    out: list[Letter] = []
    for run in _runs([letter for group in groups for letter in group]):
        out += run
    return out


def _joined(letters: Sequence[Letter]) -> Iterator[list[Letter]]:
    """Letters by themselves, with the marks above and below them, and those drawn as one sign in the order they are read."""
    waiting: list[Letter] = []
    group: list[Letter] = []
    for letter in letters:
        if group and combining(letter.text[0]):
            group.append(Letter(letter.text, group[-1].box))
        elif letter.text != " " and letter.box.width <= _NO_WIDTH:
            waiting.append(letter)
        else:
            yield group
            group, waiting = [*_reversed_text(letter, waiting)], []
    yield group
    yield waiting


def _reversed_text(last: Letter, before: Sequence[Letter]) -> Iterator[Letter]:
    """The letters of a sign in reading order, each with the box of the sign."""
    for letter in (last, *reversed(before)):
        yield Letter(letter.text, last.box)


def _runs(letters: Sequence[Letter]) -> Iterator[Sequence[Letter]]:
    """Stretches of letters in reading order; the next stretch of figures or Latin words is turned round."""
    at = 0
    while at < len(letters):
        end = _end_of_rightwards(letters, at)
        if end > at:
            yield letters[at:end][::-1]
        else:
            yield letters[at : at + 1]
        at = max(end, at + 1)


def _end_of_rightwards(letters: Sequence[Letter], at: int) -> int:
    """The end of the run of figures or Latin words that begins at a place; the place itself where none does."""
    if not _RIGHTWARDS.match(letters[at].text):
        return at
    end = i = at
    while i < len(letters):
        text = letters[i].text
        if _RIGHTWARDS.match(text):
            end = i + 1
        elif text not in _between(letters[end - 1].text):
            break
        i += 1
    return end


def _between(text: str) -> frozenset[str]:
    return _BETWEEN_DIGITS if text.isdigit() else _BETWEEN_WORDS
