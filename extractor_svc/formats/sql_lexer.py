"""What of a SQL script is quoted or commented, and the next sign that is neither."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

from extractor_svc.formats.sql_dialects import Rules

_PLAIN_STRING: Final = r"'[^']*+(?:''[^']*+)*+'"
_ESCAPED_STRING: Final = r"'[^'\\]*+(?:(?:\\.|'')[^'\\]*+)*+'"
_PLAIN_NAME: Final = r'"[^"]*+(?:""[^"]*+)*+"'
_ESCAPED_NAME: Final = r'"[^"\\]*+(?:(?:\\.|"")[^"\\]*+)*+"'
_TRIPLED: Final = (
    r"'''[^'\\]*+(?:(?:\\.|'{1,2}(?!'))[^'\\]*+)*+'''"
    r'|"""[^"\\]*+(?:(?:\\.|"{1,2}(?!"))[^"\\]*+)*+"""'
)
_TICKS: Final = r"`[^`]*+(?:``[^`]*+)*+`"
_BRACKETS: Final = r"\[(?:[^\]\n]|\]\]){1,258}+\]"
_HASH_LINE: Final = r"^[ \t]*#(?:[ \t!#][^\n]*)?$"
_DOLLAR: Final = re.compile(r"(?<![\w$])\$(?:[^\W\d]\w*)?\$")
_ANY_DOLLAR: Final = re.compile(r"\$(?:[^\W\d]\w*)?(?=\$)")
_COMMENT_SIGN: Final = re.compile(r"/\*|\*/")
_CLOSERS: Final = {"[": "]", "{": "}", "(": ")", "<": ">"}
_STARTERS: Final = (
    "ALTER|CREATE|DECLARE|DELETE|DENY|DROP|EXEC|EXECUTE|GRANT|IF|INSERT|MERGE|PRINT|REVOKE|SELECT|SET|TRUNCATE|UPDATE|USE|WITH"
)


class Sign(StrEnum):
    """What can end a statement, or open and close a block in one."""

    DELIMITER = "delimiter"
    GO = "go"
    SLASH = "slash"
    STARTER = "starter"
    WORD = "word"


_SIGNS: Final = frozenset(sign.value for sign in Sign)


@dataclass(frozen=True, slots=True)
class Stop:
    """A sign outside quotes and comments, by its characters."""

    sign: Sign
    start: int
    end: int


class Lexer:
    """Walks a script by its dialect's rules; `unclosed` tells whether a quote or comment was met that nothing closes."""

    def __init__(self, text: str, rules: Rules) -> None:
        self.unclosed = False
        self._text = text
        self._rules = rules
        self._dollars: dict[str, list[int]] | None = None
        self._never_closed: set[str] = set()

    def next_stop(self, at: int, delimiter: str, *, words: bool) -> Stop | None:
        """The next sign from here on, None where the script ends before one; `words` asks for those of blocks too."""
        pattern = _pattern(self._rules, delimiter, words=words)
        while match := pattern.search(self._text, at):
            kind = match.lastgroup
            if kind in _SIGNS:
                return Stop(Sign(kind), match.start(), match.end())
            at = self._behind(kind, match)
            if at < 0:
                self.unclosed = True
                return None
        return None

    def comment_end(self, at: int, *, fresh_line: bool) -> int:
        """Where the comment that starts here ends, 0 where none does; `fresh_line` says that nothing stands left of it."""
        match = _comment_pattern(self._rules, fresh_line=fresh_line).match(self._text, at)
        if match is None:
            return 0
        if match.lastgroup != "open":
            return match.end()
        end = self._block_comment_end(match.end())
        if end < 0:
            self.unclosed = True
        return end if end >= 0 else len(self._text)

    def _behind(self, kind: str | None, match: re.Match[str]) -> int:
        """The offset behind a quote or comment, -1 where nothing closes it."""
        match kind:
            case "open":
                return self._block_comment_end(match.end())
            case "dollar":
                return self._dollar_end(match)
            case "q_quote":
                return self._q_quote_end(match)
            case "lone":
                return -1
        return match.end()

    def _block_comment_end(self, at: int) -> int:
        depth = 1
        for sign in _COMMENT_SIGN.finditer(self._text, at):
            if sign[0] == "*/":
                depth -= 1
            elif self._rules.nested:
                depth += 1
            if not depth:
                return sign.end()
        return -1

    def _dollar_end(self, opening: re.Match[str]) -> int:
        """Behind the same sign's next place; a sign that never comes again quotes nothing."""
        if self._dollars is None:
            self._dollars = defaultdict(list)
            for found in _ANY_DOLLAR.finditer(self._text):
                self._dollars[found[0] + "$"].append(found.start())
        tag = opening["dollar"]
        places = self._dollars.get(tag, [])
        following = bisect_left(places, opening.end())
        return places[following] + len(tag) if following < len(places) else opening.end()

    def _q_quote_end(self, opening: re.Match[str]) -> int:
        sign = opening["q_quote"][-1]
        closer = _CLOSERS.get(sign, sign) + "'"
        end = -1 if closer in self._never_closed else self._text.find(closer, opening.end())
        if end < 0:
            self._never_closed.add(closer)
            return opening.end()
        return end + 2


@lru_cache(maxsize=64)
def _pattern(rules: Rules, delimiter: str, *, words: bool) -> re.Pattern[str]:
    quoted = [_TRIPLED] if rules.tripled else []
    if not rules.backslash:
        quoted.append(rf"(?<![\w$])[eE]{_ESCAPED_STRING}")
    quoted += [_ESCAPED_STRING, _ESCAPED_NAME] if rules.backslash else [_PLAIN_STRING, _PLAIN_NAME]
    quoted += [_TICKS, *([_BRACKETS] if rules.brackets else [])]
    parts = [rf"(?P<delimiter>{re.escape(delimiter)})"]
    if rules.q_quotes:
        parts.append(r"(?P<q_quote>(?<![\w$])[nN]?[qQ]'\S)")
    parts += [f"(?:{'|'.join(quoted)})", _line_comment(rules), r"(?P<open>/\*)"]
    if rules.dollars:
        parts.append(rf"(?P<dollar>{_DOLLAR.pattern})")
    parts += [r"(?P<lone>['\"`])", r"(?P<go>^[ \t]*(?i:GO)[ \t]*(?:[0-9]+[ \t]*)?;?[ \t]*$)", r"(?P<slash>^[ \t]*/[ \t]*$)"]
    if words:
        parts.append(r"(?P<word>(?<![\w$@.:#])(?i:BEGIN|END|CASE|IS|AS)(?![\w$]))")
    elif rules.batches:
        parts.append(rf"(?P<starter>^[ \t]*(?i:{_STARTERS})(?![\w$]))")
    return re.compile("|".join(parts), re.DOTALL | re.MULTILINE)


@lru_cache(maxsize=64)
def _comment_pattern(rules: Rules, *, fresh_line: bool) -> re.Pattern[str]:
    hash_line = r"|#(?:[ \t!#][^\n]*)?$" if fresh_line else ""
    return re.compile(rf"(?:{_line_comment(rules)}{hash_line})|(?P<open>/\*(?![!+]))", re.MULTILINE)


def _line_comment(rules: Rules) -> str:
    signs = [r"--(?=\s|$)[^\n]*" if rules.spaced_dashes else r"--[^\n]*"]
    signs.append(r"#[^\n]*" if rules.hashes else _HASH_LINE)
    if rules.slashes:
        signs.append(r"//[^\n]*")
    return "|".join(signs)
