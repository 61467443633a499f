"""Cuts text on its headings, then into overlapping character windows inside each section."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from artifact.locators import CharSpan
from knowledge_svc.domain.model import Chunk, Section

BREADCRUMB: Final = " > "
MIN_UNDERLINE: Final = 3
"""Characters of a setext underline that make a heading (L-CHUNK-05)."""
_ONE_LINE_HTML_HEADING: Final = re.compile(r"^ {0,3}<h([1-6])(?:\s[^>]*)?>(.*)</h\1\s*>\s*$", re.IGNORECASE)
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_TAG: Final = re.compile(r"<[^>]*>")
_PARSER: Final = MarkdownIt("commonmark")


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """Characters of a window, and from one window's start to the next; windows overlap because stride is smaller."""

    size: int = 1000
    stride: int = 800


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: its level 1..6, its text, and the 0-based line it starts on."""

    level: int
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class TextSection:
    """Half-open character range of a text that stands under one heading; the path is empty before the first heading."""

    path: tuple[str, ...]
    start: int
    end: int


def headings(text: str) -> list[Heading]:
    """Finds the headings of a text by CommonMark's block rules, with the differences of L-CHUNK-05 to 07."""
    lines = _LINE.findall(text)
    tokens = _PARSER.parse(text)
    found = []
    for position, token in enumerate(tokens):
        if token.level or token.map is None:
            continue
        if token.type == "heading_open" and _counts(token, lines[token.map[1] - 1]):
            found.append(Heading(int(token.tag[1]), _plain(tokens[position + 1]), token.map[0]))
        elif token.type == "html_block" and (match := _ONE_LINE_HTML_HEADING.match(token.content.rstrip("\n"))):
            found.append(Heading(int(match[1]), _TAG.sub("", match[2]).strip(), token.map[0]))
    return found


def sections(text: str) -> list[TextSection]:
    """Splits a text into sections that cover it end to end, in order."""
    line_starts = [0]
    for line in _LINE.findall(text):
        line_starts.append(line_starts[-1] + len(line))
    path: list[Heading] = []
    result: list[TextSection] = []
    start, current = 0, tuple[str, ...]()
    for heading in headings(text):
        here = line_starts[heading.line]
        if here > start:
            result.append(TextSection(current, start, here))
        path = [above for above in path if above.level < heading.level] + [heading]
        start, current = here, tuple(above.text for above in path)
    if len(text) > start or not result:
        result.append(TextSection(current, start, len(text)))
    return result


def windows(text: str, start: int, end: int, *, settings: ChunkSettings) -> Iterator[tuple[int, int]]:
    """Yields half-open ranges that cover [start, end); each but the first begins inside the one before it.

    Edges move left to a space where one is near, so that words stay whole.
    """
    slack = max(0, min(80, (settings.size - settings.stride) // 2, settings.stride - 1))
    while True:
        stop = end if end - start <= settings.size else _word_edge(text, start + settings.size, slack)
        yield start, stop
        if stop >= end:
            return
        start = _word_edge(text, start + settings.stride, slack)


def cut_text(text: str, *, title: str, description: str, settings: ChunkSettings) -> tuple[tuple[Chunk, ...], tuple[Section, ...]]:
    """Cuts a text a caller wrote; a titled document without text has one chunk that holds only its context (L-CHUNK-15)."""
    chunks: list[Chunk] = []
    recorded: list[Section] = []
    for part in sections(text):
        first = len(chunks)
        for start, end in windows(text, part.start, part.end, settings=settings):
            if text[start:end].strip():
                chunks.append(_text_chunk(len(chunks), text, (start, end), context_of(title, description, part.path), part.path))
        indexes = tuple(range(first, len(chunks)))
        if indexes or part.path:
            recorded.append(Section(part.path, indexes, part.end - part.start))
    if not chunks and (title or description):
        context = context_of(title, description, ())
        chunks.append(Chunk(0, "", context, (), CharSpan(0, 0), sha256_of("")))
    return tuple(chunks), tuple(recorded)


def context_of(title: str, description: str, path: Sequence[str]) -> str:
    """The words around a chunk: title, description and breadcrumb, one a line (L-CHUNK-08)."""
    return "\n".join(part for part in (title.strip(), description.strip(), BREADCRUMB.join(path)) if part)


def sha256_of(text: str) -> str:
    """Lower-case hex SHA-256 of a text in UTF-8."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _text_chunk(index: int, text: str, span: tuple[int, int], context: str, path: tuple[str, ...]) -> Chunk:
    content = text[span[0] : span[1]]
    return Chunk(index, content, context, path, CharSpan(*span), sha256_of(content))


def _counts(token: Token, last_line: str) -> bool:
    """Whether a CommonMark heading is one here: a setext underline needs three characters."""
    return token.markup.startswith("#") or len(last_line.strip()) >= MIN_UNDERLINE


def _plain(inline: Token) -> str:
    """A heading's words without their inline markup."""
    parts = []
    for child in inline.children or []:
        if child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif child.type != "html_inline":
            parts.append(child.content)
    return "".join(parts).strip()


def _word_edge(text: str, at: int, slack: int) -> int:
    """The nearest place at or left of `at`, within the slack, where a word begins; `at` itself where there is none."""
    for place in range(at, at - slack - 1, -1):
        if place > 0 and text[place - 1].isspace():
            return place
    return at
