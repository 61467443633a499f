"""Where the statements, comments and data rows of a SQL script begin and end, decided before anything is parsed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Final

from extractor_svc.formats.sql_blocks import BlockTracker, Body, body_of, head_of, stands_alone
from extractor_svc.formats.sql_dialects import Rules
from extractor_svc.formats.sql_lexer import Lexer, Sign, Stop

_DELIMITER: Final = re.compile(r"DELIMITER[ \t]+(?P<sign>\S+)[ \t]*$", re.IGNORECASE | re.MULTILINE)
_SEPARATOR: Final = re.compile(r"(?:GO(?:[ \t]+[0-9]+)?[ \t]*;?|/|\\\.)[ \t]*$", re.IGNORECASE | re.MULTILINE)
_COMMAND: Final = re.compile(r"\\[A-Za-z?!][^\n]*|\.[a-z]+\b[^\n]*", re.IGNORECASE)
_SQLPLUS: Final = re.compile(
    r"(?:PROMPT|REM|REMARK|SPOOL|WHENEVER|ACCEPT|DEFINE|UNDEFINE|COLUMN|TTITLE|PAUSE|EXIT|SHOW|CONN(?:ECT)?)\b[^\n]*"
    r"|@@?\S[^\n]*"
    r"|SET[ \t]+(?:DEFINE|ECHO|FEEDBACK|HEADING|LINESIZE|PAGESIZE|SERVEROUTPUT|SQLBLANKLINES|TERMOUT|TIMING|VERIFY)\b[^\n]*",
    re.IGNORECASE,
)
_SLASH_LINE: Final = re.compile(r"^[ \t]*/[ \t]*$", re.MULTILINE)
_COPY: Final = re.compile(r"COPY\b[^;]*\bFROM\s+STDIN\b", re.IGNORECASE)
_END_OF_DATA: Final = re.compile(r"^\\\.[ \t]*$", re.MULTILINE)
_SPACE: Final = re.compile(r"\s*")
_BLANK: Final = re.compile(r"[^\S\n]*")


class PieceKind(Enum):
    """What a piece of a script is; a command is one of the client that runs the script, a separator only ends statements."""

    STATEMENT = auto()
    COMMENT = auto()
    COMMAND = auto()
    DATA = auto()
    SEPARATOR = auto()


@dataclass(frozen=True, slots=True)
class Piece:
    """A range of characters and what it is; `code_end` is a statement's end without its delimiter and what is behind that."""

    kind: PieceKind
    start: int
    end: int
    code_end: int


class Splitter:
    """Parts a script into pieces that hold all of it but white space, in order.

    `unclosed` tells afterwards whether a quote, a comment or a block was met that nothing closes.
    """

    def __init__(self, text: str, rules: Rules) -> None:
        self._text = text
        self._rules = rules
        self._lexer = Lexer(text, rules)
        self._delimiter = ";"
        self._blocks = True
        self._last_slash = max((found.start() for found in _SLASH_LINE.finditer(text)), default=-1)
        self._last_data_end = max((found.start() for found in _END_OF_DATA.finditer(text)), default=-1)

    @property
    def unclosed(self) -> bool:
        """Whether something is open at the end of the script."""
        return self._lexer.unclosed or not self._blocks

    def pieces(self) -> Iterator[Piece]:
        """The pieces; a separator is part of the statement or the data that it ends, else a command if it is a word."""
        last: Piece | None = None
        for piece in self._parted():
            if piece.kind is not PieceKind.SEPARATOR:
                if last:
                    yield last
                last = piece
            elif last and last.kind in {PieceKind.STATEMENT, PieceKind.DATA}:
                last = replace(last, end=piece.end)
            else:
                if last:
                    yield last
                is_word = bool(self._text[piece.start : piece.end].strip(" ;/\\."))
                last = replace(piece, kind=PieceKind.COMMAND) if is_word else piece
        if last:
            yield last

    def _parted(self) -> Iterator[Piece]:
        """The pieces and the separators between them, each looked for behind the one before."""
        end = 0
        while (at := self._behind(_SPACE, end)) < len(self._text):
            fresh_line = end == 0 or "\n" in self._text[end:at]
            for piece in self._next(at, fresh_line=fresh_line):
                yield piece
                end = piece.end

    def _next(self, at: int, *, fresh_line: bool) -> Iterator[Piece]:
        if fresh_line and (line := self._line(at)):
            yield line
            return
        comments_end, start = self._comments(at, fresh_line=fresh_line)
        if start < 0:
            yield Piece(PieceKind.COMMENT, at, comments_end, comments_end)
            return
        statement = self._statement(start)
        yield statement
        yield from self._data(statement)

    def _line(self, at: int) -> Piece | None:
        """A line that is no SQL: a separator, or a command of the client."""
        if changed := _DELIMITER.match(self._text, at):
            self._delimiter = changed["sign"]
            return _piece(PieceKind.COMMAND, changed)
        if separator := _SEPARATOR.match(self._text, at):
            return _piece(PieceKind.SEPARATOR, separator)
        command = _COMMAND.match(self._text, at) or (_SQLPLUS.match(self._text, at) if self._rules.slash_lines else None)
        return _piece(PieceKind.COMMAND, command) if command else None

    def _comments(self, at: int, *, fresh_line: bool) -> tuple[int, int]:
        """The end of the comments from here on that have their lines to themselves and touch, or where a statement begins.

        The one that is not there is -1: a statement takes in the comments that stand left of it on its line.
        """
        start, end = at, -1
        while comment_end := self._lexer.comment_end(at, fresh_line=fresh_line):
            at = self._behind(_SPACE, comment_end)
            lines = self._text.count("\n", comment_end, at)
            if lines or at == len(self._text):
                end = comment_end
            if lines > 1 or at == len(self._text):
                break
            fresh_line = lines == 1
        return (end, -1) if end >= 0 else (-1, start)

    def _statement(self, start: int) -> Piece:
        head = head_of(self._text[start : start + 1_000])
        body = Body.NONE
        if self._blocks and self._delimiter == ";":
            body = body_of(head, self._rules, slash_follows=self._last_slash > start)
        tracker = BlockTracker(head, self._rules)
        at = start
        while stop := self._lexer.next_stop(at, self._delimiter, words=body is Body.BLOCKS):
            if self._ends(stop, start, head, body, tracker):
                return self._ended(start, stop)
            at = stop.end
            if stop.sign is Sign.WORD:
                at = tracker.follow(self._text[stop.start : stop.end], self._text, stop.end)
        if tracker.open and body is Body.BLOCKS:
            self._blocks = False
            return self._statement(start)
        end = len(self._text.rstrip())
        return Piece(PieceKind.STATEMENT, start, end, end)

    def _ends(self, stop: Stop, start: int, head: tuple[str, ...], body: Body, tracker: BlockTracker) -> bool:
        match stop.sign:
            case Sign.DELIMITER:
                return body is Body.NONE or (body is Body.BLOCKS and not tracker.open)
            case Sign.GO:
                return True
            case Sign.SLASH:
                return self._rules.slash_lines
            case Sign.STARTER:
                return stop.start > start and stands_alone(head, self._text[start : min(stop.start, start + 10_000)])
        return False

    def _ended(self, start: int, stop: Stop) -> Piece:
        """The statement with its delimiter, delimiters without a statement behind it, and a comment on the same line."""
        code_end = start + len(self._text[start : stop.start].rstrip())
        if stop.sign is not Sign.DELIMITER:
            return Piece(PieceKind.STATEMENT, start, code_end, code_end)
        end = stop.end
        while self._text.startswith(self._delimiter, behind := self._behind(_BLANK, end)):
            end = behind + len(self._delimiter)
        comment_end = self._lexer.comment_end(self._behind(_BLANK, end), fresh_line=False)
        if comment_end and "\n" not in self._text[end:comment_end] and self._is_line_end(comment_end):
            end = comment_end
        kind = PieceKind.STATEMENT if code_end > start else PieceKind.SEPARATOR
        return Piece(kind, start, end, code_end)

    def _data(self, statement: Piece) -> Iterator[Piece]:
        """The rows behind a COPY from the script itself, up to the line that ends them."""
        start = self._behind(_BLANK, statement.end) + 1
        if self._last_data_end < start or not _COPY.match(self._text, statement.start, statement.code_end):
            return
        end_line = _END_OF_DATA.search(self._text, start)
        if end_line is None:
            return
        if self._text[start : end_line.start()].strip():
            yield Piece(PieceKind.DATA, start, end_line.start() - 1, end_line.start() - 1)
        yield _piece(PieceKind.SEPARATOR, end_line)

    def _is_line_end(self, at: int) -> bool:
        at = self._behind(_BLANK, at)
        return at == len(self._text) or self._text[at] == "\n"

    def _behind(self, pattern: re.Pattern[str], at: int) -> int:
        match = pattern.match(self._text, at)
        return match.end() if match else at


def _piece(kind: PieceKind, match: re.Match[str]) -> Piece:
    return Piece(kind, match.start(), match.end(), match.end())
