"""The statements inside a routine, a trigger or a block of code, and the names that are local to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from extractor_svc.formats.sql_dialects import Rules
from extractor_svc.formats.sql_tokens import Token, dollar_bodies, tokens

_STARTS: Final = frozenset({"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH", "REPLACE"})
_NO_STARTS_BEHIND: Final = frozenset({"ON", "OR", "GRANT", "REVOKE", "CREATE", ","})
_NO_CHANGES_BEHIND: Final = _NO_STARTS_BEHIND | {"FOR", "BEFORE", "AFTER", "OF", "INSTEAD", "DO"}
_QUERIES: Final = frozenset({"SELECT", "WITH"})
_STOPS: Final = frozenset({"LOOP", "THEN", "END", "ELSE", "ELSIF", "ELSEIF", "BEGIN", "EXCEPTION", "DECLARE", "RAISE"})
_STOPS_OF_BATCHES: Final = frozenset({"IF", "WHILE", "EXEC", "EXECUTE", "PRINT", "RETURN", "FETCH", "OPEN", "CLOSE"})
_NEXT_IN_BATCH: Final = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE"})
_COMMON_TABLE: Final = re.compile(r"WITH\s+(?:RECURSIVE\s+)?[\w\"`\[\]]+\s*(?:\(|AS\b)", re.IGNORECASE)
_REPLACE: Final = re.compile(r"REPLACE\s+INTO\b", re.IGNORECASE)
_INTO_VARIABLES: Final = re.compile(r"\bINTO\s+(?:STRICT\s+)?[\w.:\"]+(?:\s*,\s*[\w.:\"]+)*", re.IGNORECASE)
_PARAMETER: Final = re.compile(r"[(,]\s*(?:(?:IN|OUT|INOUT|VARIADIC)\s+)*(?P<name>[^\W\d]\w*)\s+[^\W\d]", re.IGNORECASE)
_ROUTINE: Final = re.compile(
    r"\b(?:PROCEDURE|FUNCTION)\s+[\w.$\"`]+\s*(?P<parameters>\([^()]*+(?:\([^()]*+\)[^()]*+)*+\))", re.IGNORECASE
)
_LOOPED: Final = re.compile(r"\b(?:FOR|FOREACH)\s+(?P<name>[^\W\d]\w*)\s+(?:IN|SLICE)\b", re.IGNORECASE)
_DECLARED: Final = re.compile(r"(?:\b(?:DECLARE|IS|AS)\b|;)\s*(?P<names>[^\W\d]\w*(?:\s*,\s*[^\W\d]\w*)*)\s+[^\W\d]", re.IGNORECASE)
_BODY: Final = re.compile(r"\b(?:BEGIN|AS|IS|DECLARE|IF|WHILE|FOR\s+EACH\s+ROW)\b", re.IGNORECASE)
_LANGUAGE: Final = re.compile(r"\bLANGUAGE\s+'?(?P<name>\w+)", re.IGNORECASE)
_OF_SQL: Final = frozenset({"sql", "plpgsql"})
_ROWS_OF_TRIGGERS: Final = frozenset({"new", "old", "inserted", "deleted", "excluded"})
_NO_VARIABLES: Final = frozenset(
    [
        *("begin", "end", "if", "select", "insert", "update", "delete", "return", "set", "for", "while", "with", "perform"),
        *("call", "raise", "execute", "open", "fetch", "close", "loop", "case", "else", "elsif", "merge", "null", "truncate"),
    ]
)


def quoted_bodies(code: str, rules: Rules) -> list[str]:
    """The bodies of a statement that stand between dollar signs and are in SQL."""
    language = _LANGUAGE.search(code)
    if not rules.dollars or (language and language["name"].lower() not in _OF_SQL):
        return []
    return [*dollar_bodies(code)]


def open_body(code: str) -> str:
    """The body of a statement that holds it as it is."""
    begun = _BODY.search(code)
    return code[begun.start() :] if begun else code


def local_names(code: str) -> frozenset[str]:
    """The parameters and variables that a routine or a block declares, case-folded."""
    names = {
        found["name"].casefold() for routine in _ROUTINE.finditer(code) for found in _PARAMETER.finditer(routine["parameters"])
    }
    names.update(found["name"].casefold() for found in _LOOPED.finditer(code))
    for found in _DECLARED.finditer(code):
        names.update(name.strip().casefold() for name in found["names"].split(","))
    return frozenset(names - _NO_VARIABLES) | _ROWS_OF_TRIGGERS


def inner_statements(body: str, rules: Rules) -> Iterator[str]:
    """The queries and changes of rows that a body runs, each up to the sign or word that ends it.

    A query's INTO is left out, for its targets are variables; in batches they are tables.
    """
    for start, end in _ranges(body, rules):
        statement = body[start:end]
        is_query = statement[:1].upper() in {"S", "W"} and not rules.batches
        yield _INTO_VARIABLES.sub(" ", statement, count=1) if is_query else statement


def _ranges(body: str, rules: Rules) -> Iterator[tuple[int, int]]:
    open_statement = _Open()
    before = ""
    for token in tokens(body, rules, str):
        if open_statement.is_ended_by(token, rules):
            yield open_statement.start, token.start
            open_statement.start = -1
        if open_statement.start < 0 and _starts(token, before, body):
            open_statement.begin(token)
        before = token.key
    if open_statement.start >= 0:
        yield open_statement.start, len(body)


class _Open:
    """The statement that is open, by its start, -1 while there is none; and the brackets and CASEs it stands in."""

    def __init__(self) -> None:
        self.start = -1
        self._head = ""
        self._depth = 0
        self._base = 0
        self._cases = 0

    def begin(self, token: Token) -> None:
        """Opens a statement."""
        self.start, self._head = token.start, token.key
        self._base, self._cases = self._depth, 0

    def is_ended_by(self, token: Token, rules: Rules) -> bool:
        """Follows a token; returns whether the open statement ends before it."""
        key = token.key
        self._depth += (key == "(") - (key == ")")
        if self.start < 0:
            return False
        if key == "CASE":
            self._cases += 1
        elif key == "END" and self._cases:
            self._cases -= 1
        elif key == ";" or self._depth < self._base:
            return True
        elif self._depth == self._base and not self._cases and self._head != "MERGE":
            return key in _STOPS or (
                rules.batches and (key in _STOPS_OF_BATCHES or (key in _NEXT_IN_BATCH and self._head != "WITH"))
            )
        return False


def _starts(token: Token, before: str, body: str) -> bool:
    if token.key not in _STARTS or before in (_NO_STARTS_BEHIND if token.key in _QUERIES else _NO_CHANGES_BEHIND):
        return False
    if token.key == "WITH":
        return bool(_COMMON_TABLE.match(body, token.start))
    return token.key != "REPLACE" or bool(_REPLACE.match(body, token.start))
