"""The words, names and signs of a SQL statement, for what has to be found without parsing it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from extractor_svc.formats.sql_dialects import Fold, Rules

_WORDS_AND_SIGNS: Final = r"|(?P<word>[^\W\d][\w$#]*|@{1,2}\w+)|(?P<number>[0-9][\w.]*)|(?P<sign>[().,;=*])"
_DOLLAR_SIGN: Final = re.compile(r"\$(?:[^\W\d]\w*)?\$")


@dataclass(frozen=True, slots=True)
class Token:
    """A word in capitals or a sign as `key`, empty for a quoted name; `name` is what it names, empty for a sign.

    `start` and `end` are its characters, `end` not included.
    """

    key: str
    name: str
    start: int
    end: int


def tokens(code: str, rules: Rules, fold: Fold) -> Iterator[Token]:
    """The tokens in order; strings and comments are left out, MySQL's conditional code is not."""
    pattern, quotes = _pattern(rules), _dollar_quotes(code) if rules.dollars else {}
    at = 0
    while match := pattern.search(code, at):
        at = match.end()
        match match.lastgroup:
            case "name":
                quoted = match["name"]
                closing = "]" if quoted[0] == "[" else quoted[0]
                yield Token("", quoted[1:-1].replace(closing * 2, closing), *match.span())
            case "word":
                word = match["word"]
                yield Token(word.upper(), "" if word[0] == "@" else fold(word), *match.span())
            case "sign":
                yield Token(match["sign"], "", *match.span())
            case "number":
                yield Token("0", "", *match.span())
            case "dollar":
                at = quotes.get(match.start(), match.end())


def dollar_bodies(code: str) -> Iterator[str]:
    """What stands between dollar signs, from outside in and in order; quotes inside other ones are part of these."""
    at = 0
    for start, end in _dollar_quotes(code).items():
        if start >= at:
            sign = _DOLLAR_SIGN.match(code, start)
            length = len(sign[0]) if sign else 0
            yield code[start + length : end - length]
            at = end


def _dollar_quotes(code: str) -> dict[int, int]:
    """The end of what each dollar sign quotes, by where it starts; a sign that does not come again quotes nothing."""
    ends: dict[str, int] = {}
    quotes: dict[int, int] = {}
    for sign in reversed([*_DOLLAR_SIGN.finditer(code)]):
        if sign[0] in ends:
            quotes[sign.start()] = ends[sign[0]]
        ends[sign[0]] = sign.end()
    return dict(reversed(quotes.items()))


@lru_cache(maxsize=32)
def _pattern(rules: Rules) -> re.Pattern[str]:
    """Strings and comments without a name, so that they are passed over."""
    escaped, plain = r"'(?:[^'\\]|\\.|'')*+'?", r"'(?:[^']|'')*+'?"
    skipped = [r"/\*!\d*", r"\*/", r"/\*.*?(?:\*/|\Z)", r"--[^\n]*"]
    if rules.hashes:
        skipped.append(r"#[^\n]*")
    skipped.append(rf"(?<![\w$])[eE]{escaped}|(?<![\w$])[nNxXbB]?{escaped if rules.backslash else plain}")
    names = [r"`(?:[^`]|``)*+`"]
    if rules.backslash and rules.hashes:
        skipped.append(r'"(?:[^"\\]|\\.|"")*+"')
    else:
        names.append(r'"(?:[^"]|"")*+"')
    if rules.brackets:
        names.append(r"\[(?:[^\]\n]|\]\]){1,258}+\]")
    dollars = r"|(?P<dollar>(?<![\w$])\$(?:[^\W\d]\w*)?\$)" if rules.dollars else ""
    return re.compile(f"(?:{'|'.join(skipped)})|(?P<name>{'|'.join(names)}){dollars}{_WORDS_AND_SIGNS}", re.DOTALL)
