"""Takes plurals, `-ing` and `-ed` off English words.

The rules are steps 1a, 1b and 5a of M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980: enough to bring
the forms of one word together and too little to bring many different words together.
"""

from __future__ import annotations

import re
from typing import Final

SHORTEST: Final = 4
"""Words of fewer letters stay as they are."""

_VOWEL: Final = re.compile(r"[aeiou]|(?<=[^aeiou])y")
_SYLLABLE: Final = re.compile(r"(?:[aeiou]|(?<=[^aeiou])y)+[^aeiou]")
_SHORT: Final = re.compile(r".*[^aeiou][aeiouy][^aeiouwxy]")
_BRIEF: Final = re.compile(r"[aeiou][^aeiou]")
_DOUBLED: Final = re.compile(r".*([^aeioulsz])\1")


def stem(word: str) -> str:
    """Returns the stem of a lower-case English word; anything but ASCII letters comes back unchanged."""
    if len(word) < SHORTEST or not (word.isascii() and word.isalpha()):
        return word
    return _without_e(_without_ending(_singular(word)))


def _singular(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ies", "ied")):
        return word[:-3] + "y" if len(word) > SHORTEST else word[:-1]
    if re.search(r"(?:x|ch|sh|zz)es$", word):
        return word[:-2]
    return word[:-1] if word.endswith("s") and word[-2] not in "suia" else word


def _without_ending(word: str) -> str:
    for ending in ("ing", "ed"):
        base = word.removesuffix(ending)
        if base != word and not word.endswith("eed") and _VOWEL.search(base) and len(base) > 1:
            return _mended(base)
    return word


def _mended(base: str) -> str:
    """Gives a base back what its ending took: an `e`, or one of two consonants."""
    if base.endswith(("at", "bl", "iz")) or _BRIEF.fullmatch(base):
        return base + "e"
    if _DOUBLED.fullmatch(base):
        return base[:-1]
    short = len(_SYLLABLE.findall(base)) == 1 and _SHORT.fullmatch(base)
    return base + "e" if short else base


def _without_e(word: str) -> str:
    """Drops a last `e` that longer words lose before an ending."""
    base = word.removesuffix("e")
    if base == word or len(word) < SHORTEST:
        return word
    syllables = len(_SYLLABLE.findall(base))
    return base if syllables > 1 or (syllables == 1 and not _SHORT.fullmatch(base)) else word
