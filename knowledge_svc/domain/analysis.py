"""Cuts text into the terms of the lexical index: one analysis for what is indexed and for what is asked."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Final, TypeAlias

from knowledge_svc.domain.model import Token
from knowledge_svc.domain.stemming import stem

ANALYSIS: Final = "1"
"""Changes with the rules below; an index made under another value is made anew."""
MAX_TERM: Final = 128
"""Characters of a term that are kept; also the longest name that is split at its capitals."""
MAX_QUERY_TERMS: Final = 512

_REPEATED: Final = 64
"""Characters of a run up to which its terms are remembered: words come again and again."""

# Scripts written without spaces between words, and Hangul, whose particles stick to the word.
_UNSPACED: Final = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1100, 0x11FF), (0x1780, 0x17FF), (0x3005, 0x3007), (0x3040, 0x30FF),
    (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xA960, 0xA97F), (0xAC00, 0xD7FF), (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)  # fmt: skip
_HYPHENS: Final = "-\u2010\u2011\u2012\u2013\u2212"
_INVISIBLE: Final = re.compile("[\u00ad\u061c\u180e\u200c-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
_DIACRITICS: Final = re.compile(
    "[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed]"
)
_UNDECOMPOSED: Final = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe"})
_FOREIGN_HYPHEN: Final = re.compile(f"[{_HYPHENS[1:]}]")

# The patterns below run over the text's shape: one of U l d m c . - _ or a space for each of its characters.
_RUN: Final = re.compile(r"(?P<unspaced>c[cm]*)|[Uld][Uldm]*(?:(?:[-.]|_+)[Uld][Uldm]*)*")
_SEGMENT: Final = re.compile(r"[^.]+")
_ATOM: Final = re.compile(r"[^-._]+")
_CAMEL: Final = re.compile(r"[lm]d*U|UUl[lm]")
_HUMP: Final = re.compile(r"U+(?=Ul[lm])|U*[lmd]+|U+")
_UNIT: Final = re.compile(r"cm*")


_Term: TypeAlias = tuple[str, int, int, int]
"""A term of a run: its text, its position and its half-open range of characters, the last three counted in the run."""


@dataclass(frozen=True, slots=True)
class _Normalised:
    """Text under NFKC without invisible characters; byte i..j of the source is what each of its characters was made of."""

    text: str
    starts: list[int] | range
    ends: list[int] | range


class _Shapes(dict[int, str]):
    """Code point to shape, worked out on first sight."""

    def __missing__(self, code: int) -> str:
        shape = self[code] = _shape(chr(code))
        return shape


def tokens(text: str) -> list[Token]:
    """Returns the terms of a text in order of position, the longer first where several stand at one.

    Words are runs of letters and digits under NFKC, case-folded, without accents; an English word has its stem beside it.
    A name joined by `-`, `.`, `_` or capitals is there whole, by its dotted segments and by its words. Text of scripts
    without spaces is there by single characters and by pairs. Offsets are bytes of the UTF-8 form.
    """
    source = _normalise(text)
    starts, ends = source.starts, source.ends
    found: list[Token] = []
    position = 0
    for run in _RUN.finditer(source.text.translate(_SHAPES)):
        first, last = run.span()
        piece = source.text[first:last]
        cut = _pairs if run.lastgroup == "unspaced" else _repeated_names if len(piece) <= _REPEATED else _names
        terms = cut(piece)
        for term, place, start, end in terms:
            found.append(Token(term, position + place, starts[first + start], ends[first + end - 1]))
        position += terms[-1][1] + 1
    return found


def query_terms(text: str) -> list[Token]:
    """Returns the distinct terms of a question, at most MAX_QUERY_TERMS; those at one position are alternatives."""
    distinct: dict[str, Token] = {}
    for token in tokens(text):
        distinct.setdefault(token.text, token)
    return list(distinct.values())[:MAX_QUERY_TERMS]


def _pairs(piece: str) -> list[_Term]:
    """Returns every character with its marks, after the pair it begins."""
    units = [unit.span() for unit in _UNIT.finditer(piece.translate(_SHAPES))]
    found: list[_Term] = []
    for place, (start, end) in enumerate(units):
        if place + 1 < len(units):
            after = units[place + 1][1]
            found.append((_fold(piece[start:after]), place, start, after))
        found.append((_fold(piece[start:end]), place, start, end))
    return found


def _names(piece: str) -> list[_Term]:
    """Returns the run, its dotted segments, its atoms and their humps, each once, and the stems of its words."""
    shape = piece.translate(_SHAPES)
    atoms = [atom.span() for atom in _ATOM.finditer(shape)]
    words = [word for atom in atoms for word in _humps(shape, atom)]
    segments = [segment.span() for segment in _SEGMENT.finditer(shape)]
    places = {start: place for place, (start, _) in enumerate(words)}
    known = set(words)
    spans = dict.fromkeys([(0, len(piece)), *segments, *atoms, *words])
    return [
        (term, places[start], start, end)
        for start, end in sorted(spans, key=lambda span: (span[0], -span[1]))
        for term in _terms(piece[start:end], word=(start, end) in known)
    ]


def _humps(shape: str, atom: tuple[int, int]) -> list[tuple[int, int]]:
    start, end = atom
    if end - start > MAX_TERM or not _CAMEL.search(shape, start, end):
        return [atom]
    return [hump.span() for hump in _HUMP.finditer(shape, start, end)]


def _terms(piece: str, *, word: bool) -> tuple[str, ...]:
    folded = _fold(piece[:MAX_TERM])[:MAX_TERM]
    root = stem(folded) if word else folded
    return (folded,) if root == folded else (folded, root)


def _fold(piece: str) -> str:
    if piece.isascii():
        return piece.lower()
    bare = _DIACRITICS.sub("", unicodedata.normalize("NFD", piece.casefold()))
    return _FOREIGN_HYPHEN.sub("-", unicodedata.normalize("NFKC", bare).translate(_UNDECOMPOSED))


def _normalise(text: str) -> _Normalised:
    if text.isascii():
        return _Normalised(text, range(len(text)), range(1, len(text) + 1))
    at = [0, *accumulate(map(_width, text))]
    if unicodedata.is_normalized("NFKC", text) and not _INVISIBLE.search(text):
        return _Normalised(text, at[:-1], at[1:])
    return _normalise_by_cluster(text, at)


def _normalise_by_cluster(text: str, at: list[int]) -> _Normalised:
    """Normalises each character with the marks after it, so that every result knows its source."""
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    first = 0
    while first < len(text):
        after = first + 1
        while after < len(text) and _continues(text[after]):
            after += 1
        piece = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text[first:after]))
        pieces.append(piece)
        starts += [at[first]] * len(piece)
        ends += [at[after]] * len(piece)
        first = after
    return _Normalised("".join(pieces), starts, ends)


def _continues(character: str) -> bool:
    """Tells whether NFKC may join a character to the one before it."""
    first = unicodedata.normalize("NFKC", character)[0]
    return unicodedata.category(first)[0] == "M" or "\u1160" <= first <= "\u11ff"


def _width(character: str) -> int:
    code = ord(character)
    return 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4


def _shape(character: str) -> str:
    category = unicodedata.category(character)
    if character in "._":
        return character
    if character in _HYPHENS:
        return "-"
    if category[0] == "M":
        return "m"
    if category == "Nd" or (category[0] == "N" and not _unspaced(character)):
        return "d"
    if category[0] in "LN":
        return "c" if _unspaced(character) else "U" if category in ("Lu", "Lt") else "l"
    return " "


def _unspaced(character: str) -> bool:
    code = ord(character)
    return any(first <= code <= last for first, last in _UNSPACED)


_SHAPES: Final = _Shapes()
_repeated_names: Final = lru_cache(maxsize=1 << 15)(_names)
