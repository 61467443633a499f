"""SQL: statements, comments and data rows as they are written, statements with the exact names they define and read."""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib.metadata import version
from typing import Final

from artifact.locators import Locator
from artifact.model import Artifact, BlockType, Coverage
from extractor_svc.blocks import BlockList, WarningList, count_words
from extractor_svc.context import ReadContext
from extractor_svc.decoding import decode
from extractor_svc.errors import NoText
from extractor_svc.formats.sql_dialects import chosen_dialect, detected_dialect, rules_of
from extractor_svc.formats.sql_finder import NameFinder
from extractor_svc.formats.sql_keys import Names
from extractor_svc.formats.sql_split import Piece, PieceKind, Splitter
from extractor_svc.source_text import LONGEST_BLOCK, SourceText, cut, readable_text

PARSER: Final = f"loom-sql/1 sqlglot/{version('sqlglot')}"

_LONGEST_DATA: Final = 4_000
_NAMES_OF_ROWS: Final = 64
"""Names that a block of rows carries at most, the table's first, so that they take no more room than the rows."""
_PROGRESS_EVERY: Final = 500
_LOST: Final = ("sql_structure", "exact_keys")
_KINDS: Final = {
    PieceKind.STATEMENT: BlockType.SQL_STATEMENT,
    PieceKind.COMMENT: BlockType.COMMENT,
    PieceKind.COMMAND: BlockType.CODE,
    PieceKind.DATA: BlockType.TABLE_ROWS,
}


def read(content: bytes, context: ReadContext) -> Artifact:
    """Reads a SQL script of any dialect (L-FMT-06).

    Where statements end is decided by quotes, comments and blocks alone. Names come from the parser; those of a statement
    that it does not know from the words around them, and the coverage says that names are lost. An insert is
    known by its head, so that dumps take little time.

    Raises:
        InvalidOption: there is no such dialect or encoding.
        NoText: the file holds nothing but white space and separators.
        BadEncoding, OutputLimit: as their names say.
    """
    dialect = chosen_dialect(context.options.sql_dialect)
    source = readable_text(decode(content, context.options.encoding))
    found = dialect or ("" if context.options.sql_dialect.strip() else detected_dialect(source.text))
    script = _Script(source, found, context)
    script.read()
    if not script.blocks.done():
        raise NoText("the file holds no statements and no comments")
    context.progress("line", source.lines, source.lines)
    return Artifact(
        format="sql",
        parser=PARSER,
        sha256=context.sha256,
        size_bytes=len(content),
        blocks=script.blocks.done(),
        coverage=script.coverage(),
        encoding=source.encoding,
        warnings=script.warnings.done(),
        properties={"sql_dialect": found} if found else {},
    )


def resolve(content: bytes, locator: Locator, context: ReadContext) -> str:
    """Returns the text of some lines or characters.

    Raises:
        LocatorNotFound: the file has no such place.
    """
    return readable_text(decode(content, context.options.encoding)).at(locator)


class _Script:
    """One pass over a script's pieces."""

    def __init__(self, source: SourceText, dialect: str, context: ReadContext) -> None:
        self.blocks = BlockList(context.limits)
        self.warnings = WarningList(context.limits)
        self._source = source
        self._dialect = dialect
        self._context = context
        self._rules = rules_of(dialect, source.text)
        self._finder = NameFinder(dialect, self._rules, guessed=not context.options.sql_dialect.strip(), clock=time.process_time)
        self._words = 0
        self._lost = False

    def read(self) -> None:
        """Adds a block for every piece of text."""
        self._source.warn(self.warnings)
        splitter = Splitter(self._source.text, self._rules)
        pieces = list(self._reported(splitter))
        parts = [part for piece in pieces for part in _parts(piece, self._source.text)]
        places = iter(self._source.places(parts))
        names = Names()
        for piece in pieces:
            if piece.kind is PieceKind.STATEMENT:
                names = self._names(piece)
            for start, end in _parts(piece, self._source.text):
                self._add(piece.kind, self._source.text[start:end], next(places), names)
        if splitter.unclosed:
            self.warnings.add(
                "SQL_UNCLOSED", "A quote, a comment or a block is never closed; what follows it may be one statement."
            )

    def coverage(self) -> Coverage:
        """The ledger: lines, words, and what is not known of some statements."""
        lines = self._source.lines
        return Coverage(
            unit="line",
            total=lines,
            extracted=lines,
            lost=_LOST if self._lost else (),
            words_emitted=self._words,
        )

    def _reported(self, splitter: Splitter) -> Iterator[Piece]:
        for number, piece in enumerate(splitter.pieces()):
            if number % _PROGRESS_EVERY == 0:
                self._context.progress("line", 0, self._source.lines)
            yield piece

    def _add(self, kind: PieceKind, text: str, place: Locator, names: Names) -> None:
        if kind is PieceKind.SEPARATOR:
            return
        text = text.strip("\n")
        self._words += count_words(text)
        if kind is PieceKind.STATEMENT:
            self.blocks.add(_KINDS[kind], text, place, defines=names.defines, reads=names.reads, language="sql")
            return
        reads = names.reads[:_NAMES_OF_ROWS] if kind is PieceKind.DATA else ()
        self.blocks.add(_KINDS[kind], text, place, reads=reads)

    def _names(self, piece: Piece) -> Names:
        self._context.progress("line", self._source.line_of(piece.start) - 1, self._source.lines)
        found = self._finder.find(self._source.text[piece.start : piece.code_end])
        if not found.complete:
            place = self._source.places([(piece.start, piece.end)])[0]
            known = "its names are those that the words around them tell" if found.names else "no names were found in it"
            self.warnings.add("SQL_NOT_PARSED", f"The parser does not know all of this statement; {known}.", place)
        self._lost = self._lost or not found.complete
        return found.names


def _parts(piece: Piece, text: str) -> Iterator[tuple[int, int]]:
    """A piece as a whole; rows in runs that fit a passage, anything else too long for a block in several."""
    return cut(text, piece.start, piece.end, size=_LONGEST_DATA if piece.kind is PieceKind.DATA else LONGEST_BLOCK)
