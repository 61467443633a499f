"""Names in statements that no parser has to read: the heads of inserts, and whatever a parser does not know."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from extractor_svc.formats.sql_dialects import Fold, Rules
from extractor_svc.formats.sql_keys import NameList, Names, Parts
from extractor_svc.formats.sql_tokens import Token, tokens

_OBJECTS: Final = frozenset(
    [
        *("TABLE", "VIEW", "INDEX", "FUNCTION", "PROCEDURE", "PROC", "TRIGGER", "EVENT", "SEQUENCE", "TYPE", "DOMAIN", "SCHEMA"),
        *("DATABASE", "PACKAGE", "EXTENSION", "POLICY", "RULE", "SYNONYM", "MACRO", "AGGREGATE", "ROLE", "USER", "STAGE"),
    ]
)
_BEFORE_NAME: Final = frozenset({"IF", "NOT", "EXISTS", "CONCURRENTLY", "BODY", "ONLY", "LATERAL", "TABLE", "OVERWRITE"})
_NO_NAME: Final = frozenset(
    [
        *(
            "SELECT",
            "WHERE",
            "SET",
            "VALUES",
            "VALUE",
            "ON",
            "USING",
            "AS",
            "FROM",
            "INTO",
            "JOIN",
            "LEFT",
            "RIGHT",
            "INNER",
            "OUTER",
        ),
        *("FULL", "CROSS", "NATURAL", "GROUP", "ORDER", "HAVING", "LIMIT", "UNION", "EXCEPT", "INTERSECT", "WITH", "BEGIN", "END"),
        *("CASCADE", "RESTRICT", "NO", "OF", "OR", "SKIP", "NOWAIT", "RETURNING", "DEFAULT", "STDIN", "STDOUT", "WHEN", "THEN"),
        *("FOR", "AND", "NULL", "UNNEST", "ACTION", "ROW", "STATEMENT", "FETCH", "OFFSET", "WINDOW", "QUALIFY"),
    ]
)
_NO_COLUMN: Final = frozenset(
    ["CONSTRAINT", "PRIMARY", "FOREIGN", "UNIQUE", "CHECK", "KEY", "INDEX", "FULLTEXT", "SPATIAL", "EXCLUDE", "LIKE", "PERIOD"]
)
_INTO_WHAT: Final = frozenset(
    {"INSERT", "REPLACE", "MERGE", "IGNORE", "COPY", "IMPORT", "LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY"}
)
_NO_UPDATE: Final = frozenset({"FOR", "ON", "DO", "OR", "BEFORE", "AFTER", "OF", "KEY", "THEN", ","})
_FROM_IN: Final = frozenset({"EXTRACT", "SUBSTRING", "TRIM", "OVERLAY", "POSITION"})
_FROM_BEHIND: Final = frozenset({"DISTINCT", "BOTH", "LEADING", "TRAILING", "NEXT", "PRIOR", "ABSOLUTE", "RELATIVE"})
_RIGHTS: Final = frozenset({"GRANT", "REVOKE", "DENY"})
_EVENTS: Final = frozenset({"INSERT", "UPDATE", "DELETE", "SELECT"})
_ON_AN_OBJECT: Final = frozenset({"INDEX", "TRIGGER", "POLICY", "RULE"})
_LISTS_COLUMNS: Final = frozenset({"INTO", "COPY", "INSERT", "REFERENCES", "OVERWRITE"})
_NOT_CALLED: Final = frozenset({"IMMEDIATE", "FUNCTION", "PROCEDURE", "AS", "ON", "SP_EXECUTESQL"})
_INSERT: Final = re.compile(r"(?:\s|/\*.*?\*/|--[^\n]*\n)*(?:INSERT|REPLACE)\b", re.IGNORECASE | re.DOTALL)
_PLAIN_HEAD: Final = re.compile(
    r"(?:INSERT|REPLACE)\b(?:\s+(?:IGNORE|INTO)\b)*+\s+[\w.`\"\[\]]{1,400}+\s*+(?:\([\w\s,`\"\[\]]{1,4000}+\)\s*+)?+VALUES\b",
    re.IGNORECASE,
)
_SUBQUERY: Final = re.compile(r"\(\s*SELECT\b", re.IGNORECASE)
_LOOKED_AT: Final = 200_000
_STOP_OF_HEAD: Final = frozenset({"VALUES", "VALUE", "SELECT", "WITH", "SET", "EXEC", "EXECUTE", "DEFAULT", "TABLE"})


def insert_names(code: str, rules: Rules, fold: Fold) -> Names | None:
    """The table and columns of an insert that lists its values, by its head alone; None for any other statement."""
    if not _INSERT.match(code) or _has_query(code, rules):
        return None
    plain = _PLAIN_HEAD.match(code)
    return _names_of_head(plain[0] if plain else code[:_LOOKED_AT], rules, fold)


@lru_cache(maxsize=256)
def _names_of_head(code: str, rules: Rules, fold: Fold) -> Names | None:
    """The names before the values; dumps repeat the same head for every row."""
    head: list[Token] = []
    depth = 0
    for token in tokens(code, rules, fold):
        if depth == 0 and token.key in _STOP_OF_HEAD and head:
            return _Scan(head).names() if token.key in {"VALUES", "VALUE", "DEFAULT"} else None
        depth += (token.key == "(") - (token.key == ")")
        head.append(token)
    return None


def _has_query(code: str, rules: Rules) -> bool:
    """Whether a query stands in brackets somewhere in the first values, and not only in a string."""
    if not _SUBQUERY.search(code, 0, _LOOKED_AT):
        return False
    return any(first.key == "(" and second.key == "SELECT" for first, second in pairwise(tokens(code[:_LOOKED_AT], rules, str)))


def scanned_names(code: str, rules: Rules, fold: Fold) -> Names:
    """The objects that a statement names behind the words that call for one, such as FROM, INTO or CREATE VIEW."""
    return _Scan(list(tokens(code[:_LOOKED_AT], rules, fold))).names()


class _Scan:
    """One pass over the tokens of a statement."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._names = NameList()
        self._local: set[str] = set()
        self._inside: list[str] = []
        self._seen_on = False

    def names(self) -> Names:
        """The names that the tokens give."""
        self._local = {
            token.name.casefold()
            for i, token in enumerate(self._tokens[:-2])
            if token.name and self._key(i + 1) == "AS" and self._key(i + 2) in {"(", "MATERIALIZED"} and not self._is_created(i)
        }
        at = 0
        while at < len(self._tokens):
            at = max(at + 1, self._take(at))
        return self._names.done()

    def _take(self, at: int) -> int:
        """Takes the names that the token here calls for; returns where to go on."""
        key = self._key(at)
        if key == "(":
            self._inside.append(self._key(at - 1))
        elif key == ")" and self._inside:
            self._inside.pop()
        elif (key == "CREATE" and self._key(0) not in _RIGHTS) or (key == "ALTER" and at == 0):
            return self._object(at)
        elif key == "TO" and self._key(0) == "RENAME":
            parts, behind = self._name(at + 1)
            self._names.define(parts)
            return behind
        elif key == "FROM" and not self._is_argument(at):
            return self._list(at + 1)
        elif self._calls_for_a_name(key, at):
            return self._one(at + 1)
        return at + 1

    def _calls_for_a_name(self, key: str, at: int) -> bool:
        before = self._key(at - 1)
        match key:
            case "INTO":
                return before in _INTO_WHAT
            case "UPDATE":
                return before not in _NO_UPDATE
            case "ON":
                return self._key(at + 1) not in _EVENTS and self._takes_on()
            case "TO":
                return before in _EVENTS and at < 12 and any(self._key(i) == "RULE" for i in range(1, 5))
            case "CALL" | "EXEC" | "EXECUTE":
                return self._key(at + 1) not in _NOT_CALLED
            case "INSERT":
                return at == 0 and all(self._key(i) != "INTO" for i in range(1, 5))
            case "COPY":
                return at == 0
            case "TABLE" | "TABLES":
                return before not in {"RETURNS", "TEMPORARY", "TEMP"}
        return key in {"JOIN", "REFERENCES", "VIEW", "TRUNCATE"}

    def _takes_on(self) -> bool:
        """Whether the first ON of a statement names an object and not a condition."""
        first, self._seen_on = not self._seen_on, True
        created = self._key(0) == "CREATE" and any(self._key(i) in _ON_AN_OBJECT for i in range(1, 8))
        return first and (created or self._key(0) in _RIGHTS or self._key(0) == "COMMENT")

    def _is_argument(self, at: int) -> bool:
        """Whether a FROM stands in a function's arguments, in a comparison, or before whoever loses a right."""
        inside = bool(self._inside) and self._inside[-1] in _FROM_IN
        return inside or self._key(at - 1) in _FROM_BEHIND or self._key(0) in _RIGHTS

    def _object(self, at: int) -> int:
        """A CREATE or ALTER with what it creates or changes."""
        kind = next((i for i in range(at + 1, min(at + 12, len(self._tokens))) if self._key(i) in _OBJECTS), -1)
        if kind < 0:
            return at + 1
        parts, behind = self._name(kind + 1)
        if not parts or self._key(kind + 1) == "ON":
            return kind + 1
        if self._key(at) == "ALTER":
            self._names.read(parts)
            return behind
        self._names.define(parts)
        return self._columns(parts, behind) if self._key(kind) == "TABLE" and self._key(behind) == "(" else behind

    def _columns(self, table: Parts, at: int) -> int:
        """The columns that a CREATE TABLE lists between its brackets."""
        depth, starts = 0, False
        while at < len(self._tokens):
            token = self._tokens[at]
            if starts and token.name and token.key not in _NO_COLUMN:
                self._names.define_column(table, token.name)
            starts = (token.key == "(" and depth == 0) or (token.key == "," and depth == 1)
            depth += (token.key == "(") - (token.key == ")")
            if token.key == "REFERENCES":
                self._one(at + 1)
            at += 1
            if not depth:
                break
        return at

    def _list(self, at: int) -> int:
        """The tables behind a FROM, aliases left out."""
        while True:
            at = self._one(at)
            if self._key(at) == "AS":
                at += 1
            if at < len(self._tokens) and self._tokens[at].name and self._key(at) not in _NO_NAME:
                at += 1
            if self._key(at) != ",":
                return at
            at += 1

    def _one(self, at: int) -> int:
        """One name that is read, and the columns that an insert or a copy lists behind it."""
        caller, kind = self._key(at - 1), self._key(at)
        if caller == "ON" and kind in _OBJECTS | {"COLUMN"} and self._is_name(at + 1):
            at += 1
        parts, behind = self._name(at)
        opens = self._key(behind) == "("
        if not parts or (opens and caller in {"FROM", "JOIN"}):
            return behind
        if len(parts) == 1 and parts[0].casefold() in self._local:
            return behind
        if kind == "COLUMN" and len(parts) > 1:
            self._names.read_column(parts[:-1], parts[-1])
            return behind
        self._names.read(parts)
        return self._listed(parts, behind) if opens and caller in _LISTS_COLUMNS else behind

    def _listed(self, table: Parts, at: int) -> int:
        while at < len(self._tokens):
            if self._tokens[at].name:
                self._names.read_column(table, self._tokens[at].name)
            at += 1
            if self._key(at - 1) == ")":
                break
        return at

    def _name(self, at: int) -> tuple[Parts, int]:
        """The dotted name here, behind words such as IF NOT EXISTS; no parts where there is none."""
        while self._key(at) in _BEFORE_NAME:
            at += 1
        parts: list[str] = []
        while self._is_name(at):
            parts.append(self._tokens[at].name)
            at += 1
            if self._key(at) != ".":
                break
            at += 1
        return tuple(parts), at

    def _is_name(self, at: int) -> bool:
        return at < len(self._tokens) and bool(self._tokens[at].name) and self._key(at) not in _NO_NAME

    def _is_created(self, at: int) -> bool:
        return any(self._key(i) in _OBJECTS for i in range(max(0, at - 4), at))

    def _key(self, at: int) -> str:
        return self._tokens[at].key if 0 <= at < len(self._tokens) else ""
