"""Tells the exact names in a question from its words."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from typing import Final

_PATH: Final = re.compile(r"[\w$]+(?:[.-][\w$]+)*")
_MARKS: Final = frozenset("_.$")


def identifiers(query: str) -> tuple[str, ...]:
    """Returns the distinct identifiers of a question as it writes them, in its order (L-KEYS-03 to 07).

    A term is one when it holds `_`, `.`, `$`, a digit or camel case, or when it is the whole question. A dash belongs to a
    term only inside a dotted path.
    """
    terms = [term for run in _PATH.findall(query) for term in _split_at_dashes(run)]
    if len(terms) == 1:
        return tuple(terms)
    return tuple(dict.fromkeys(term for term in terms if _is_identifier(term)))


def normalise_key(key: str) -> str:
    """Returns the form in which names are compared: NFKC, case-folded, without white space around it."""
    return unicodedata.normalize("NFKC", key).casefold().strip()


def _split_at_dashes(run: str) -> list[str]:
    return [run] if "." in run else run.split("-")


def _is_identifier(term: str) -> bool:
    marked = any(character in _MARKS or character.isdigit() for character in term)
    return marked or _is_camel(term)


def _is_camel(term: str) -> bool:
    """Tells whether a lower-case letter is followed by a capital; capitals alone are an acronym."""
    return any(before.islower() and after.isupper() for before, after in pairwise(term))
