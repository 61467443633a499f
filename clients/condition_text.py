"""Reads conditions such as `amount >= 10 and (region in (north, south) or note is null)`.

    condition  = conjunct { "or" conjunct }
    conjunct   = term { "and" term }
    term       = "not" term | "(" condition ")" | comparison
    comparison = column ( "is" ["not"] "null" | ["not"] "in" "(" value { "," value } ")" | "between" value "and" value
               | ("contains" | "starts with" | "ends with" | "=" | "!=" | "<" | "<=" | ">" | ">=") value )

Columns and values of several words, and values that are words of this grammar, stand in quotes; a quote inside is doubled.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_
from typing import Final

from clients.plans import Condition, compare
from clients.typed_text import QuerySyntax, typed
from clients.values import PyValue

_TOKEN: Final = re.compile(
    r"""\s*(?: "(?P<double>(?:[^"]|"")*)" | '(?P<single>(?:[^']|'')*)' | (?P<sign><=|>=|!=|<>|==|=|<|>) | (?P<mark>[(),])
            | (?P<word>[^\s(),=<>!"']+) )""",
    re.VERBOSE,
)
_WORDS: Final = frozenset({"and", "or", "not", "is", "null", "in", "between", "contains", "starts", "ends", "with"})
MAX_DEPTH: Final = 32


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text; `kind` is "quoted", "sign", "mark" or "word"."""

    kind: str
    text: str

    def is_word(self, word: str) -> bool:
        """Whether this is a word of the grammar."""
        return self.kind == "word" and self.text.lower() == word

    @property
    def named(self) -> bool:
        """Whether this can stand for a column or a value."""
        return self.kind == "quoted" or (self.kind == "word" and self.text.lower() not in _WORDS)


def tokens_of(text: str) -> list[Token]:
    """Cuts a condition into its pieces.

    Raises:
        QuerySyntax: a piece is none, such as an open quote.
    """
    found, position = [], 0
    text = text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise QuerySyntax(f"cannot read {text[position:].strip()!r}; is a quote open?")
        found.append(_token(match))
        position = match.end()
    return found


def _token(match: re.Match[str]) -> Token:
    kind = match.lastgroup or ""
    text = match[kind]
    if kind == "double":
        return Token("quoted", text.replace('""', '"'))
    if kind == "single":
        return Token("quoted", text.replace("''", "'"))
    return Token(kind, text)


def read_condition(text: str, kind_of: Callable[[str], str], *, ignore_case: bool = False) -> Condition:
    """Reads one condition; `kind_of` gives a column's type and raises QuerySyntax for an unknown one.

    Raises:
        QuerySyntax: the text is no condition; the message says what was expected where.
    """
    reader = _Reader(tokens_of(text), kind_of, ignore_case=ignore_case)
    condition = reader.condition(1)
    reader.expect_end()
    return condition


class _Reader:
    def __init__(self, tokens: list[Token], kind_of: Callable[[str], str], *, ignore_case: bool) -> None:
        self._tokens = tokens
        self._kind_of = kind_of
        self._ignore_case = ignore_case
        self._position = 0

    def condition(self, depth: int) -> Condition:
        if depth > MAX_DEPTH:
            raise QuerySyntax(f"conditions nest at most {MAX_DEPTH} deep")
        conjuncts = [self._conjunct(depth)]
        while self._takes("or"):
            conjuncts.append(self._conjunct(depth))
        return reduce(or_, conjuncts)

    def expect_end(self) -> None:
        if self._position < len(self._tokens):
            raise QuerySyntax(f"expected 'and', 'or' or the end {self._place()}")

    def _conjunct(self, depth: int) -> Condition:
        terms = [self._term(depth)]
        while self._takes("and"):
            terms.append(self._term(depth))
        return reduce(and_, terms)

    def _term(self, depth: int) -> Condition:
        if depth > MAX_DEPTH:
            raise QuerySyntax(f"conditions nest at most {MAX_DEPTH} deep")
        if self._takes("not"):
            return ~self._term(depth + 1)
        if self._takes_mark("("):
            inner = self.condition(depth + 1)
            self._expect_mark(")")
            return inner
        return self._comparison()

    def _comparison(self) -> Condition:
        column = self._named("a column")
        kind = self._kind_of(column)
        if self._takes("is"):
            negated = self._takes("not")
            self._expect("null")
            return compare(column, "is not null" if negated else "is null")
        operator = self._operator(column)
        values = self._values(operator, column, kind)
        return compare(column, operator, values, ignore_case=self._ignore_case and kind == "string")

    def _operator(self, column: str) -> str:
        token = self._peek()
        if token is not None and token.kind == "sign":
            self._position += 1
            return token.text
        if self._takes("not"):
            self._expect("in")
            return "not in"
        for first, second in (("in", ""), ("between", ""), ("contains", ""), ("starts", "with"), ("ends", "with")):
            if self._takes(first):
                if second:
                    self._expect(second)
                return f"{first} {second}".strip()
        raise QuerySyntax(
            f"expected an operator after {column}: =, !=, <, <=, >, >=, in, not in, between, contains, starts with, ends with, "
            f"is null or is not null {self._place()}"
        )

    def _values(self, operator: str, column: str, kind: str) -> list[PyValue]:
        if operator in ("in", "not in"):
            self._expect_mark("(")
            values = [self._value(column, kind)]
            while self._takes_mark(","):
                values.append(self._value(column, kind))
            self._expect_mark(")")
            return values
        if operator == "between":
            least = self._value(column, kind)
            self._expect("and")
            return [least, self._value(column, kind)]
        return [self._value(column, kind)]

    def _value(self, column: str, kind: str) -> PyValue:
        value = typed(self._named("a value"), kind=kind, column=column)
        follower = self._peek()
        if follower is not None and follower.named:
            raise QuerySyntax(f"put a value of several words in quotes {self._place()}")
        return value

    def _named(self, what: str) -> str:
        token = self._peek()
        if token is None or not token.named:
            raise QuerySyntax(f"expected {what} {self._place()}")
        self._position += 1
        return token.text

    def _peek(self) -> Token | None:
        return self._tokens[self._position] if self._position < len(self._tokens) else None

    def _takes(self, word: str) -> bool:
        token = self._peek()
        taken = token is not None and token.is_word(word)
        self._position += taken
        return taken

    def _takes_mark(self, mark: str) -> bool:
        taken = self._peek() == Token("mark", mark)
        self._position += taken
        return taken

    def _expect(self, word: str) -> None:
        if not self._takes(word):
            raise QuerySyntax(f"expected {word!r} {self._place()}")

    def _expect_mark(self, mark: str) -> None:
        if not self._takes_mark(mark):
            raise QuerySyntax(f"expected {mark!r} {self._place()}")

    def _place(self) -> str:
        token = self._peek()
        return "at the end" if token is None else f"at {token.text!r}"
