"""A parsed statement's parts in order, each with the query it stands in and the tables that the query reads from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from sqlglot import exp

from extractor_svc.formats.sql_keys import Parts

_QUERIES: Final = (exp.Select, exp.Update, exp.Delete, exp.Merge)
_AFTER_SELECT: Final = (exp.Order, exp.Group, exp.Having, exp.Qualify)
_HOLDS_SOURCES: Final = (exp.CTE, exp.From, exp.Join)
_NOT_OF_A_SOURCE: Final = ("on", "using")


@dataclass(slots=True, eq=False)
class Scope:
    """A query with the tables it reads from, by alias, None for a derived one; the outermost scope has no query.

    `outer` is the scope that its columns may be of as well; None where there is none, as in a table that a query makes up.
    """

    query: exp.Expr | None
    outer: Scope | None
    sources: dict[str, Parts | None] = field(default_factory=dict)
    computed: frozenset[str] = frozenset()

    def of_alias(self, qualifier: str) -> Parts:
        """The table that a column's qualifier stands for; empty where it stands for a derived one, or for none."""
        scope: Scope | None = self
        while scope is not None:
            if qualifier in scope.sources:
                return scope.sources[qualifier] or ()
            scope = scope.outer
        return ()

    def only_table(self) -> Parts:
        """The table of a column without a qualifier where only one can be meant; empty where there are several."""
        found: list[Parts | None] = []
        scope: Scope | None = self
        while scope is not None:
            found.extend(scope.sources.values())
            scope = scope.outer
        return (found[0] or ()) if len(found) == 1 else ()


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A node of a statement; `is_source` says that it is what a query reads from, `is_sorting` that it stands behind one."""

    node: exp.Expr
    scope: Scope
    is_source: bool = False
    is_sorting: bool = False


def parts_of(root: exp.Expr) -> Iterator[Part]:
    """Every node of a statement, parents first."""
    top = Scope(None, None)
    stack = [Part(root, top)]
    while stack:
        part = stack.pop()
        yield part
        stack.extend(reversed([*_children(part)]))


def _children(part: Part) -> Iterator[Part]:
    node, scope = part.node, part.scope
    is_source, is_sorting = part.is_source, part.is_sorting
    if isinstance(node, _QUERIES):
        scope = Scope(node, None if is_source or scope.query is None else scope, computed=_computed(node))
        is_source = is_sorting = False
    elif isinstance(node, _HOLDS_SOURCES):
        is_source = True
    elif isinstance(node, exp.Lateral):
        is_source = False
    elif isinstance(node, _AFTER_SELECT):
        is_sorting = isinstance(node.parent, exp.Query)
    for child in node.iter_expressions():
        yield Part(child, scope, is_source and child.arg_key not in _NOT_OF_A_SOURCE, is_sorting)


def _computed(query: exp.Expr) -> frozenset[str]:
    """The names that a query gives what it computes."""
    if not isinstance(query, exp.Select):
        return frozenset()
    return frozenset(item.alias.casefold() for item in query.expressions if isinstance(item, exp.Alias))
