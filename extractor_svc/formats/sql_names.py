"""Names in statements that the parser knows: tables and columns, columns with the tables they belong to."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, TypeAlias

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from extractor_svc.formats.sql_keys import NameList, Names, Parts, joined

_Sources: TypeAlias = "dict[str, Parts | None]"

_DEEPEST: Final = 150
_DEEPEST_TYPES: Final = 6
"""Brackets behind names of types; each of them in another one doubles the parser's work."""
_QUERIES: Final = (exp.Select, exp.Update, exp.Delete, exp.Merge)
_AFTER_SELECT: Final = (exp.Order, exp.Group, exp.Having, exp.Qualify)
_WITHOUT_NAMES: Final = (exp.Set, exp.Pragma, exp.Show)
_PARSER_FAULTS: Final = (
    SqlglotError,
    RecursionError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)
"""What a parser may raise on text that it was not written for."""


def parsed_names(code: str, dialect: str) -> Names | None:
    """The names of a statement, or of the statements in its body; None where the parser does not know it."""
    with _silence():
        try:
            roots = _parse(code, Dialect.get_or_raise(dialect))
            if roots is None or any(isinstance(root, exp.Command) for root in roots):
                return None
            return joined([_Statement(root).names() for root in roots])
        except _PARSER_FAULTS:
            return None


def _parse(code: str, dialect: Dialect) -> Sequence[exp.Expression] | None:
    """The parsed statements; None where their nesting would take the parser too long."""
    tokens = dialect.tokenize(code)
    if _is_too_deep(tokens, frozenset(dialect.parser_class.TYPE_TOKENS)):
        return None
    return [root for root in dialect.parser().parse(tokens, code) if isinstance(root, exp.Expression)]


def _is_too_deep(tokens: Sequence[Token], types: frozenset[TokenType]) -> bool:
    inside: list[bool] = []
    typed = 0
    for i, token in enumerate(tokens):
        if token.token_type in {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE}:
            inside.append(i > 0 and tokens[i - 1].token_type in types)
            typed += inside[-1]
            if typed > _DEEPEST_TYPES or len(inside) > _DEEPEST:
                return True
        elif token.token_type in {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE} and inside:
            typed -= inside.pop()
    return False


@contextmanager
def _silence() -> Iterator[None]:
    """Keeps the parser from logging the text of statements that it does not know."""
    logger = logging.getLogger("sqlglot")
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before


class _Statement:
    """One parsed statement and the tables that each query in it reads from, by their aliases."""

    def __init__(self, root: exp.Expression) -> None:
        self._root = root
        self._names = NameList()
        self._views = {cte.alias.casefold() for cte in root.find_all(exp.CTE)}
        self._created = root.this if isinstance(root, exp.Create) else None
        self._target = _target(root)
        self._sources: dict[int, _Sources] = defaultdict(dict)
        self._parameters: set[str] = set()

    def names(self) -> Names:
        """The names that the statement defines and reads."""
        if isinstance(self._root, _WITHOUT_NAMES):
            return Names()
        if isinstance(self._root, exp.Create):
            self._create(self._root)
        for table in self._root.find_all(exp.Table):
            self._table(table)
        for derived in self._root.find_all(exp.Subquery, exp.Unnest, exp.Lateral):
            self._sources[_query_of(derived)][derived.alias.casefold() or f" {id(derived)}"] = None
        for schema in self._root.find_all(exp.Schema):
            self._schema(schema)
        for definition in self._root.find_all(exp.ColumnDef):
            if isinstance(definition.parent, exp.Schema | exp.Alter):
                self._names.define_column(self._target, definition.name)
        for column in self._root.find_all(exp.Column):
            self._column(column)
        return self._names.done()

    def _create(self, create: exp.Create) -> None:
        self._names.define(self._target if not isinstance(create.this, exp.Index) else (create.this.name,))
        if isinstance(create.this, exp.UserDefinedFunction):
            self._parameters = {parameter.name.casefold() for parameter in create.this.expressions}
        if isinstance(create.expression, exp.Query) and not isinstance(create.this, exp.Schema | exp.UserDefinedFunction):
            for name in create.expression.named_selects:
                if name and name != "*":
                    self._names.define_column(self._target, name)
        for called in create.find_all(exp.TriggerExecute):
            self._names.read((called.this.name,))

    def _table(self, table: exp.Table) -> None:
        parts = _parts(table)
        is_created = table is self._created or (table.parent is self._created and not isinstance(self._created, exp.Index))
        if not parts or is_created:
            return
        if isinstance(table.parent, exp.AlterRename):
            self._names.define(parts)
            return
        is_view = len(parts) == 1 and parts[0].casefold() in self._views
        self._sources[_query_of(table)][table.alias_or_name.casefold()] = None if is_view else parts
        if not is_view:
            self._names.read(parts)

    def _schema(self, schema: exp.Schema) -> None:
        """The bare columns behind a table's name: of a view they are created, of an insert or a reference not."""
        if not isinstance(schema.this, exp.Table):
            return
        take = self._names.define_column if schema is self._created else self._names.read_column
        for column in schema.expressions:
            if isinstance(column, exp.Identifier):
                take(_parts(schema.this), column.name)

    def _column(self, column: exp.Column) -> None:
        if isinstance(column.this, exp.Star) or not column.name:
            return
        if isinstance(column.parent, exp.RenameColumn) and column.arg_key == "to":
            self._names.define_column(self._target, column.name)
        elif column.table:
            self._names.read_column(self._table_of(column), column.name)
        elif column.name.casefold() not in self._parameters and not _is_alias(column):
            self._names.read_column(self._only_table(column), column.name)

    def _table_of(self, column: exp.Column) -> Parts:
        """The table that a column's qualifier stands for; empty where it stands for a derived one, or for none."""
        qualifier = column.table.casefold()
        query = column.find_ancestor(*_QUERIES)
        if query is None:
            return tuple(part.name for part in column.parts[:-1])
        while query is not None:
            sources = self._sources[id(query)]
            if qualifier in sources:
                return sources[qualifier] or ()
            query = query.find_ancestor(*_QUERIES)
        return ()

    def _only_table(self, column: exp.Column) -> Parts:
        """The table of a column without a qualifier where only one can be meant; empty where there are several."""
        query = column.find_ancestor(*_QUERIES)
        if query is None:
            return self._target
        found: list[Parts | None] = []
        while query is not None:
            found.extend(self._sources[id(query)].values())
            is_source = isinstance(query.parent, exp.CTE) or (
                isinstance(query.parent, exp.Subquery) and isinstance(query.parent.parent, exp.From | exp.Join)
            )
            query = None if is_source else query.find_ancestor(*_QUERIES)
        return (found[0] or ()) if len(found) == 1 else ()


def _is_alias(column: exp.Column) -> bool:
    """Whether a name behind a query's columns, as in ORDER BY, is that of a computed one."""
    clause = column.find_ancestor(*_AFTER_SELECT, *_QUERIES)
    select = column.find_ancestor(exp.Select)
    if select is None or not isinstance(clause, _AFTER_SELECT):
        return False
    return any(isinstance(item, exp.Alias) and item.alias.casefold() == column.name.casefold() for item in select.expressions)


def _target(root: exp.Expression) -> Parts:
    """The table, or other object, that a statement creates, changes or indexes."""
    here = root.this
    if isinstance(here, exp.Index):
        here = here.args.get("table")
    while isinstance(here, exp.Schema | exp.UserDefinedFunction):
        here = here.this
    if isinstance(here, exp.Table):
        return _parts(here)
    if isinstance(here, exp.Dot):
        return tuple(part.name for part in here.parts)
    return (here.name,) if isinstance(here, exp.Identifier) else ()


def _parts(table: exp.Table) -> Parts:
    """A table's dotted name; empty where the table is what a function returns."""
    parts = table.parts
    return tuple(part.name for part in parts) if all(isinstance(part, exp.Identifier) for part in parts) else ()


def _query_of(source: exp.Expr) -> int:
    return id(source.find_ancestor(*_QUERIES))
