"""Which statements hold statements of their own, and when such a body is over."""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import Final

from extractor_svc.formats.sql_dialects import Rules

_NOISE: Final = re.compile(r"/\*!\d*|\*/|/\*.*?(?:\*/|$)|--[^\n]*|'[^']*'|\"[^\"]*\"|`[^`]*`|\[[^\]]*\]", re.DOTALL)
_HEAD_WORD: Final = re.compile(r"[A-Za-z_][\w$]*|[;(=]")
_ROUTINES: Final = frozenset({"PROCEDURE", "PROC", "FUNCTION", "TRIGGER", "EVENT", "PACKAGE", "BODY"})
_OTHER_OBJECTS: Final = frozenset(
    [
        *("TABLE", "VIEW", "INDEX", "DATABASE", "SCHEMA", "SEQUENCE", "USER", "ROLE", "DOMAIN", "EXTENSION", "POLICY", "RULE"),
        *("AGGREGATE", "OPERATOR", "CAST", "SERVER", "LOGIN"),
    ]
)
_HAS_VALUE: Final = frozenset({"DEFINER", "ALGORITHM"})
_TRANSACTION: Final = frozenset(
    [
        *(
            "TRAN",
            "TRANSACTION",
            "WORK",
            "DISTRIBUTED",
            "DIALOG",
            "CONVERSATION",
            "IMMEDIATE",
            "DEFERRED",
            "EXCLUSIVE",
            "ISOLATION",
        ),
        *("READ", ";"),
    ]
)
_AFTER_END: Final = frozenset({"IF", "LOOP", "WHILE", "REPEAT", "FOR"})
_NO_BODY_AFTER_IS: Final = frozenset({"NULL", "NOT", "TRUE", "FALSE", "DISTINCT", "UNKNOWN", "OF", "LANGUAGE", "EXTERNAL", "TABLE"})
_ALONE: Final = frozenset({"USE", "PRINT", "DROP", "TRUNCATE", "SET"})
_VALUES: Final = re.compile(r"\bVALUES\s*\(", re.IGNORECASE)
_NEXT_WORD: Final = re.compile(r"\s*([A-Za-z_]\w*|;|$|.)", re.DOTALL)


class Body(Enum):
    """What ends a statement: the next semicolon, the end of its blocks, the end of its batch, or a line with a slash."""

    NONE = auto()
    BLOCKS = auto()
    BATCH = auto()
    SLASH_LINE = auto()


def head_of(code: str) -> tuple[str, ...]:
    """The first words of a statement's first characters, in capitals, without comments and quoted names."""
    return tuple(_HEAD_WORD.findall(_NOISE.sub(" ", code).upper())[:24])


def body_of(head: tuple[str, ...], rules: Rules, *, slash_follows: bool) -> Body:
    """What kind of body a statement with this head has."""
    routine = bool(_routine_kind(head))
    if routine and rules.batches:
        return Body.BATCH
    if rules.slash_lines and slash_follows and (routine or head[:1] in {("DECLARE",), ("BEGIN",)}):
        return Body.SLASH_LINE
    opens = head[:1] == ("BEGIN",) and len(head) > 1 and head[1] not in _TRANSACTION
    declares = head[:1] == ("DECLARE",) and (rules.slash_lines or rules.slashes)
    branches = rules.batches and head[:1] in {("IF",), ("WHILE",)}
    return Body.BLOCKS if routine or opens or declares or branches else Body.NONE


def holds_statements(head: tuple[str, ...], rules: Rules) -> bool:
    """Whether a statement with this head has a body of statements."""
    return body_of(head, rules, slash_follows=True) is not Body.NONE


def stands_alone(head: tuple[str, ...], code: str) -> bool:
    """Whether a statement of a batch, which needs no semicolon, is over where a line starts another one."""
    if head[:1] == ("INSERT",):
        return bool(_VALUES.search(code, 0, 10_000))
    return bool(head) and head[0] in _ALONE


class BlockTracker:
    """Follows the words that open and close blocks; `open` is True while a semicolon ends none but an inner statement."""

    def __init__(self, head: tuple[str, ...], rules: Rules) -> None:
        self._rules = rules
        self._depth = 0
        self._declares = head[:1] == ("DECLARE",)
        self._package = _routine_kind(head) in {"PACKAGE", "BODY"}
        self._begun = False

    @property
    def open(self) -> bool:
        """Whether a block, or the declarations before one, is open."""
        return self._depth > 0 or self._declares

    def follow(self, word: str, text: str, end: int) -> int:
        """Takes a word and the text with the offset behind it; returns where to go on."""
        upper = word.upper()
        found = _NEXT_WORD.match(text, end)
        following = found[1].upper() if found else ""
        if upper == "END":
            return self._close(following, found.end() if found else end, end)
        if upper == "CASE" or (upper == "BEGIN" and following not in _TRANSACTION):
            self._depth += 1
            self._declares = self._declares and upper == "CASE"
            self._begun = self._begun or upper == "BEGIN"
        elif upper in {"IS", "AS"} and not self._begun:
            self._declare(upper, following)
        return end

    def _declare(self, word: str, following: str) -> None:
        """Opens the declarations of a routine, or the block that a package is."""
        declared = following == "DECLARE" or word == "IS" or self._rules.slash_lines
        if not declared or following in _NO_BODY_AFTER_IS or not (following[:1].isalpha() or following[:1] == "_"):
            return
        if self._package:
            self._depth += 1
            self._begun = True
        elif following != "BEGIN":
            self._declares = True

    def _close(self, following: str, behind: int, end: int) -> int:
        if following in _AFTER_END and not self._rules.batches:
            return behind
        self._depth = max(0, self._depth - 1)
        return behind if following == "CASE" else end


def _routine_kind(head: tuple[str, ...]) -> str:
    """What kind of routine a statement creates or alters; empty where it does none."""
    if not head or head[0] not in {"CREATE", "ALTER", "REPLACE"}:
        return ""
    before = head[0]
    for word in head[1:]:
        if word in _ROUTINES:
            return word
        if word in _OTHER_OBJECTS or word in "(;" or (word == "=" and before not in _HAS_VALUE):
            return ""
        before = word
    return ""
