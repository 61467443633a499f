"""TOML: every header, key and comment as it is written, under its full key path."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from typing import Final

from artifact.locators import Locator, TomlPlace
from artifact.model import Artifact, BlockType, Coverage
from extractor_svc.blocks import BlockList, WarningList, count_words
from extractor_svc.context import ReadContext
from extractor_svc.decoding import decode
from extractor_svc.errors import BadEncoding, LocatorNotFound, Malformed, NoText
from extractor_svc.formats.toml_lines import Statement, dotted, key_paths, statements
from extractor_svc.source_text import LONGEST_BLOCK, SourceText, cut, source_text

PARSER: Final = f"loom-toml/1 tomllib/{sys.version_info.major}.{sys.version_info.minor}"

_AT_LINE: Final = re.compile(r"at line ([0-9]+)")
_UTF_8: Final = "utf-8"


def read(content: bytes, context: ReadContext) -> Artifact:
    """Reads a TOML 1.0 document; a table's header, keys and comments make up one section.

    Raises:
        Malformed: the document is not valid TOML; the message and the metadata name the line.
        NoText: the file holds nothing but white space.
        BadEncoding: the file is not UTF-8, and no other encoding is named.
        InvalidOption, OutputLimit: as their names say.
    """
    source = _source(content, context)
    found = statements(source.text)
    if not found:
        raise NoText("the file holds no keys and no comments")
    out = BlockList(context.limits)
    words = 0
    for statement in found:
        out.section(statement.section, level=1) if statement.section else out.leave(1)
        words += _add(statement, source, out)
    context.progress("line", source.lines, source.lines)
    return Artifact(
        format="toml",
        parser=PARSER,
        sha256=context.sha256,
        size_bytes=len(content),
        blocks=out.done(),
        coverage=Coverage("line", source.lines, source.lines, words_emitted=words),
        encoding=source.encoding,
        warnings=WarningList(context.limits).done(),
    )


def resolve(content: bytes, locator: Locator, context: ReadContext) -> str:
    """Returns the lines at a place, which hold its key path or keys below it.

    Raises:
        LocatorNotFound: the file has no such lines, or another key stands there.
        Malformed, BadEncoding, InvalidOption: as `read`.
    """
    source = _source(content, context)
    if not isinstance(locator, TomlPlace) or not 1 <= locator.first_line <= locator.last_line <= source.lines:
        raise LocatorNotFound(f"the file has lines 1 to {source.lines}", metadata={"lines": str(source.lines)})
    start, end = source.bounds(locator.first_line, locator.last_line)
    inside = [found for found in statements(source.text) if found.start < end and start < found.end]
    if not any(_is_at(found, locator.key_path) for found in inside):
        raise LocatorNotFound("the key path does not stand on these lines", metadata={"key_path": locator.key_path[:200]})
    return source.text[start:end]


def _source(content: bytes, context: ReadContext) -> SourceText:
    decoded = decode(content, context.options.encoding)
    if decoded.encoding != _UTF_8 and not context.options.encoding:
        raise BadEncoding(
            f"TOML is written in UTF-8 and the file is {decoded.encoding}; say so in options.encoding if that is meant",
            metadata={"encoding": decoded.encoding, "byte": "0"},
        )
    _check(content.decode(decoded.encoding).removeprefix("\ufeff"))
    return source_text(decoded)


def _check(text: str) -> None:
    """Refuses a document that is not valid; its line ends are still as they were sent."""
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason = str(error).partition(" (at ")[0]
        reason = reason[:1].lower() + reason[1:]
        at_line = _AT_LINE.search(str(error))
        line = int(at_line[1]) if at_line else text.removesuffix("\n").count("\n") + 1
        raise _malformed(f"line {line}: {reason}", line) from None
    except RecursionError:
        raise _malformed("values are nested too deep", 0) from None
    except ValueError:
        raise _malformed("a number has too many digits", 0) from None


def _malformed(problem: str, line: int) -> Malformed:
    return Malformed(f"the file is not valid TOML: {problem}", metadata={"line": str(line)} if line else {})


def _add(statement: Statement, source: SourceText, out: BlockList) -> int:
    """Adds a statement, in parts where it is very long; returns its words."""
    text = source.text[statement.start : statement.end]
    defines: Sequence[tuple[str, ...]] = ()
    if statement.kind is BlockType.TOML_TABLE:
        defines = (statement.path,)
    elif statement.kind is BlockType.TOML_KEY:
        defines = key_paths(statement, text)
    path = dotted(statement.path)
    names = tuple(map(dotted, defines))
    for start, end in _parts(statement, source.text):
        place = TomlPlace(path, source.line_of(start), source.line_of(end - 1))
        out.add(statement.kind, source.text[start:end], place, defines=names)
    return count_words(text)


def _parts(statement: Statement, text: str) -> Iterator[tuple[int, int]]:
    """The statement as a whole, or in runs of whole lines that fit a block, for a place in TOML is one of lines."""
    start = statement.start
    for _, stop in cut(text, statement.start, statement.end, size=LONGEST_BLOCK):
        if stop == statement.end or text[stop - 1] == "\n":
            yield start, stop
            start = stop


def _is_at(statement: Statement, key_path: str) -> bool:
    """Whether a statement is what the path names, or below it; the empty path is the whole document."""
    here = dotted(statement.path)
    return not key_path or here == key_path or here.startswith(key_path + ".")
