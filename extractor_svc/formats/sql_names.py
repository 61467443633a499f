"""Names in statements that the parser knows: tables and columns, columns with the tables they belong to."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from extractor_svc.formats.sql_dialects import Fold
from extractor_svc.formats.sql_keys import NameList, Names, Parts, joined
from extractor_svc.formats.sql_scopes import Part, Scope, parts_of

_DEEPEST: Final = 150
_DEEPEST_TYPES: Final = 6
"""Brackets behind names of types; each of them in another one doubles the parser's work."""
_LONGEST_CHAIN: Final = 16
"""Indexes behind indexes; the parser's work grows with the third power of their number."""
_OPENING: Final = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE})
_CLOSING: Final = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE})
_ROUTINES: Final = (exp.UserDefinedFunction, exp.StoredProcedure)
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


def parsed_names(code: str, dialect: str, *, fold: Fold, local: frozenset[str] = frozenset()) -> Names | None:
    """The names of a statement, or of the statements in its body; None where the parser does not know it.

    `local` are names, case-folded, that stand for no column.
    """
    with _silence():
        try:
            roots = _parse(code, Dialect.get_or_raise(dialect))
            if roots is None or any(isinstance(root, exp.Command) for root in roots):
                return None
            return joined([_Statement(root, fold, local).names() for root in roots])
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
    chains = [0]
    typed = 0
    before = None
    for token in tokens:
        kind = token.token_type
        if kind in _OPENING:
            chains[-1] = chains[-1] + 1 if kind is TokenType.L_BRACKET and before is TokenType.R_BRACKET else 0
            inside.append(before in types)
            chains.append(0)
            typed += inside[-1]
            if typed > _DEEPEST_TYPES or len(inside) > _DEEPEST or chains[-2] > _LONGEST_CHAIN:
                return True
        elif kind in _CLOSING and inside:
            typed -= inside.pop()
            chains.pop()
        before = kind
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
    """One parsed statement; a name without quotes is folded as its dialect does."""

    def __init__(self, root: exp.Expr, fold: Fold, local: frozenset[str]) -> None:
        self._root = root
        self._fold = fold
        self._names = NameList()
        self._created = root.this if isinstance(root, exp.Create) else None
        self._target = self._target_of(root)
        self._views: set[str] = set()
        self._local = local
        self._assigned = {id(item.this) for item in root.expressions} if isinstance(root, exp.Update) else set()

    def names(self) -> Names:
        """The names that the statement defines and reads."""
        if isinstance(self._root, _WITHOUT_NAMES):
            return Names()
        parts = [*parts_of(self._root)]
        self._views = {part.node.alias.casefold() for part in parts if isinstance(part.node, exp.CTE)}
        if isinstance(self._root, exp.Create):
            self._create(self._root)
        for part in parts:
            self._source(part)
        for part in parts:
            self._take(part)
        return self._names.done()

    def _create(self, create: exp.Create) -> None:
        self._names.define(self._target if not isinstance(create.this, exp.Index) else self._dotted([create.this.this]))
        if isinstance(create.this, exp.UserDefinedFunction):
            self._local |= {parameter.name.casefold() for parameter in create.this.expressions}
        if isinstance(create.expression, exp.Query) and not isinstance(create.this, (exp.Schema, *_ROUTINES)):
            for item in create.expression.selects:
                named = item.args.get("alias") if isinstance(item, exp.Alias) else item.this
                if isinstance(named, exp.Identifier):
                    self._names.define_column(self._target, self._name(named))

    def _source(self, part: Part) -> None:
        """Adds a table, and tells the query around it of it."""
        node, sources = part.node, part.scope.sources
        if isinstance(node, exp.Table):
            self._table(node, part)
        elif (
            isinstance(node, exp.DerivedTable)
            and isinstance(node, exp.Expression)
            and (part.is_source or isinstance(node, exp.UDTF))
        ):
            sources[node.alias.casefold() or f" {id(node)}"] = None

    def _table(self, table: exp.Table, part: Part) -> None:
        parts = self._dotted(table.parts) if isinstance(table.this, exp.Identifier) else ()
        is_created = table is self._created or (table.parent is self._created and not isinstance(self._created, exp.Index))
        if is_created:
            return
        if isinstance(table.parent, exp.AlterRename | exp.Into):
            self._names.define(parts)
            return
        is_view = len(parts) == 1 and parts[0].casefold() in self._views
        part.scope.sources[table.alias_or_name.casefold() or f" {id(table)}"] = None if is_view else parts or None
        if parts and not is_view:
            self._names.read(parts)

    def _take(self, part: Part) -> None:
        """Adds the columns, and what else is no table, that a part names."""
        match part.node:
            case exp.Column():
                self._column(part.node, part)
            case exp.ColumnDef() if isinstance(part.node.parent, exp.Schema | exp.Alter) and isinstance(
                part.node.this, exp.Identifier
            ):
                self._names.define_column(self._target, self._name(part.node.this))
            case exp.Schema():
                self._schema(part.node)
            case exp.ForeignKey() | exp.PrimaryKey():
                self._bare(self._target, part.node.expressions)
            case exp.TriggerExecute():
                self._names.read(self._dotted([*part.node.this.flatten()]))

    def _schema(self, schema: exp.Schema) -> None:
        """The bare columns behind a table's name: of a view they are created, of an insert or a reference not."""
        if schema is self._created and isinstance(schema.this, exp.Table):
            for column in schema.expressions:
                if isinstance(column, exp.Identifier):
                    self._names.define_column(self._target, self._name(column))
        elif isinstance(schema.this, exp.Table) or isinstance(schema.parent, exp.UniqueColumnConstraint):
            self._bare(self._dotted(schema.this.parts) if schema.this else self._target, schema.expressions)

    def _bare(self, table: Parts, columns: Sequence[exp.Expr]) -> None:
        for column in columns:
            if isinstance(column, exp.Identifier):
                self._names.read_column(table, self._name(column))

    def _column(self, column: exp.Column, part: Part) -> None:
        named = column.this
        if not isinstance(named, exp.Identifier) or not named.name:
            return
        name, scope = self._name(named), part.scope
        if isinstance(column.parent, exp.RenameColumn) and column.arg_key == "to":
            self._names.define_column(self._target, name)
        elif column.table:
            self._names.read_column(self._table_of(column, scope), name)
        elif name.casefold() not in self._local and not (part.is_sorting and name.casefold() in scope.computed):
            is_target = scope.query is None or id(column) in self._assigned
            self._names.read_column(self._target if is_target else scope.only_table(), name)

    def _table_of(self, column: exp.Column, scope: Scope) -> Parts:
        """The table that a column's qualifier stands for; empty where that is a derived one or a record."""
        qualifier = column.table.casefold()
        if qualifier in self._local:
            return ()
        return scope.of_alias(qualifier) if scope.query else self._dotted(column.parts[:-1])

    def _target_of(self, root: exp.Expr) -> Parts:
        """The table, or other object, that a statement creates, changes or indexes."""
        here = root.this
        if isinstance(here, exp.Index):
            here = here.args.get("table")
        while isinstance(here, (exp.Schema, *_ROUTINES)):
            here = here.this
        if isinstance(here, exp.Table):
            return self._dotted(here.parts)
        return self._dotted([*here.flatten()] if isinstance(here, exp.Dot) else [here])

    def _dotted(self, parts: Sequence[object]) -> Parts:
        """A dotted name; empty where it is not all made of names, as a table that a function returns."""
        names = [self._name(part) for part in parts if isinstance(part, exp.Identifier | exp.Anonymous)]
        return tuple(names) if len(names) == len(parts) else ()

    def _name(self, part: exp.Expr) -> str:
        return part.name if part.args.get("quoted") else self._fold(part.name)
