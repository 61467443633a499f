"""The names of a statement by whatever finds them: the head of an insert, the parser, or the words around them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from extractor_svc.formats.sql_blocks import head_of, holds_statements
from extractor_svc.formats.sql_bodies import inner_statements, local_names, open_body, quoted_bodies
from extractor_svc.formats.sql_dialects import Rules, fold_of
from extractor_svc.formats.sql_keys import Names, joined
from extractor_svc.formats.sql_names import parsed_names
from extractor_svc.formats.sql_scan import insert_names, scanned_names

Clock: TypeAlias = Callable[[], float]

_LONGEST_PARSED: Final = 50_000
_PARSING_S: Final = 60.0
"""Seconds that the parser may take over all statements; it reads some 30,000 characters in one."""
_MOST_NAMES: Final = 10_000
_LONGEST_NAME: Final = 1_000
_WITH_BACKTICKS: Final = "sqlite"
"""The dialect that reads names between backticks, which the neutral one does not, and is the neutral one otherwise."""
_CONDITIONAL: Final = re.compile(r"/\*!\d*(.*?)\*/", re.DOTALL)
_QUOTES_BODIES: Final = frozenset({"CREATE", "ALTER", "DO"})
_NAMES_COLUMNS: Final = frozenset({"SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "MERGE"})
_HAS_COLUMNS: Final = frozenset({"TABLE", "VIEW", "INDEX", "FUNCTION", "PROCEDURE", "PROC", "POLICY", "RULE", "PACKAGE"})
_NAMELESS: Final = frozenset(
    [
        *("BEGIN", "DECLARE", "END", "COMMIT", "ROLLBACK", "START", "SAVEPOINT", "RELEASE", "SET", "RESET", "SHOW", "USE"),
        *("PRAGMA", "VACUUM", "ANALYZE", "CHECKPOINT", "PRINT", "IF", "ELSE", "WHILE", "RETURN", "RAISERROR", "THROW"),
        *("WAITFOR", "DO", "EXEC", "EXECUTE", "CALL", "SELECT", "VALUES", "UNLOCK", "FLUSH", "PURGE", "KILL", "LOAD"),
        *("INSTALL", "DISCARD", "LISTEN", "NOTIFY", "FETCH", "CLOSE", "OPEN", "DEALLOCATE", "GRANT", "REVOKE", "ALTER"),
        *("HELP", "EXPLAIN", "ATTACH", "DETACH", "BACKUP"),
    ]
)
"""Statements in which no name of a table or a column need stand."""


@dataclass(frozen=True, slots=True)
class Found:
    """The names that were found, and whether there may be more of them."""

    names: Names
    complete: bool = True


class NameFinder:
    """Finds names by a dialect, which was chosen or only guessed; parses statements until `clock`'s seconds are used up."""

    def __init__(self, dialect: str, rules: Rules, *, guessed: bool, clock: Clock) -> None:
        self._dialect = dialect
        self._rules = rules
        self._guessed = guessed
        self._fold = fold_of(dialect)
        self._clock = clock
        self._left_s = _PARSING_S

    def find(self, code: str) -> Found:
        """The names that a statement, given without its delimiter, defines and reads; of very many, the first ones."""
        return _bounded(self._find(code))

    def _find(self, code: str) -> Found:
        listed = insert_names(code, self._rules, self._fold)
        if listed is not None:
            return Found(listed)
        plain = _without_conditions(code)
        head = head_of(plain[:1_000])
        holds = holds_statements(head, self._rules)
        quoted = quoted_bodies(plain, self._rules) if head[:1] and head[0] in _QUOTES_BODIES else []
        local = local_names("".join([plain, *quoted])) if holds or quoted else frozenset()
        inside = [self._body(body, local) for body in quoted]
        names = self._parse(plain, local)
        if not names and not quoted and (holds or self._rules.batches):
            inside.append(self._body(open_body(plain), local))
        known = names is not None or holds or bool(quoted) or not _may_name_columns(head)
        outside = names or scanned_names(plain, self._rules, self._fold)
        found = joined([outside, *(body.names for body in inside)])
        nameless = not head or head[0] in _NAMELESS
        return Found(found, known and all(body.complete for body in inside) and (names is not None or bool(found) or nameless))

    def _body(self, body: str, local: frozenset[str]) -> Found:
        """The names in the statements of a body; those of one that the parser does not know by the words around them."""
        names: list[Names] = []
        complete = True
        for statement in inner_statements(body, self._rules):
            parsed = self._parse(statement, local)
            complete = complete and parsed is not None
            names.append(scanned_names(statement, self._rules, self._fold) if parsed is None else parsed)
        return Found(joined([*names, scanned_names(body, self._rules, self._fold)]), complete)

    def _parse(self, code: str, local: frozenset[str]) -> Names | None:
        """The names as the parser finds them, in the neutral dialect too where the other one was only guessed."""
        if len(code) > _LONGEST_PARSED or self._left_s <= 0:
            return None
        begun = self._clock()
        dialect = self._dialect or (_WITH_BACKTICKS if "`" in code else "")
        names = parsed_names(code, dialect, fold=self._fold, local=local)
        if names is None and dialect and self._guessed:
            names = parsed_names(code, "", fold=self._fold, local=local)
        self._left_s -= self._clock() - begun
        return names


def _without_conditions(code: str) -> str:
    """A statement with what MySQL alone runs as if every server did."""
    end = code.rfind("*/") + 2 if "/*!" in code and "*/" in code else 0
    return _CONDITIONAL.sub(r"\1", code[:end]) + code[end:]


def _bounded(found: Found) -> Found:
    """The names that a block may carry."""
    defines, reads = ([name for name in names if len(name) <= _LONGEST_NAME] for names in (found.names.defines, found.names.reads))
    kept = Names(tuple(defines[:_MOST_NAMES]), tuple(reads[:_MOST_NAMES]))
    return Found(kept, found.complete and kept == found.names)


def _may_name_columns(head: tuple[str, ...]) -> bool:
    """Whether a statement that the parser does not know can hold columns that the words around them do not tell."""
    created = head[:1] == ("CREATE",) and bool(_HAS_COLUMNS & set(head[1:6]))
    return created or (bool(head) and head[0] in _NAMES_COLUMNS)
