"""Plain text: paragraphs parted by empty lines and page breaks, as they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import version
from typing import Final

from artifact.locators import Locator
from artifact.model import Artifact, BlockType, Coverage
from extractor_svc.blocks import BlockList, WarningList, count_words
from extractor_svc.context import ReadContext
from extractor_svc.encoding_detection import decode_or_guess
from extractor_svc.errors import NoText
from extractor_svc.source_text import SourceText, cut, readable_text

PARSER: Final = f"loom-text/1 charset-normalizer/{version('charset-normalizer')}"

_LONGEST_PARAGRAPH: Final = 4_000
"""Characters; longer ones are cut at the ends of lines, so that the place of a passage stays narrow."""
_BETWEEN: Final = re.compile(r"\n[^\S\n]*\n\s*|\f\s*")


def read(content: bytes, context: ReadContext) -> Artifact:
    """Reads a text file; nothing in it is a heading.

    Without a named encoding or a byte order mark the text is UTF-8, else what its bytes read best as, with a warning.

    Raises:
        NoText: the file holds nothing but white space.
        BadEncoding: the bytes are not valid in the named encoding, or in none that can be told.
        InvalidOption, OutputLimit: as their names say.
    """
    warnings = WarningList(context.limits)
    source = readable_text(decode_or_guess(content, context.options.encoding, warnings))
    source.warn(warnings)
    out = BlockList(context.limits)
    words = 0
    ranges = list(_paragraphs(source))
    for (start, end), place in zip(ranges, source.places(ranges), strict=True):
        block = out.add(BlockType.PARAGRAPH, source.text[start:end], place)
        words += count_words(block.text)
    if not out.done():
        raise NoText("the file holds no text")
    context.progress("line", source.lines, source.lines)
    return Artifact(
        format="text",
        parser=PARSER,
        sha256=context.sha256,
        size_bytes=len(content),
        blocks=out.done(),
        coverage=Coverage("line", source.lines, source.lines, words_emitted=words),
        encoding=source.encoding,
        warnings=warnings.done(),
    )


def resolve(content: bytes, locator: Locator, context: ReadContext) -> str:
    """Returns the text of some lines or characters.

    Raises:
        LocatorNotFound: the file has no such place.
    """
    return readable_text(decode_or_guess(content, context.options.encoding, WarningList(context.limits))).at(locator)


def _paragraphs(source: SourceText) -> Iterator[tuple[int, int]]:
    """The ranges of text between empty lines, long ones in parts, without the white space around them."""
    start = 0
    for stop, after in [*(found.span() for found in _BETWEEN.finditer(source.text)), (len(source.text), 0)]:
        for part in cut(source.text, start, stop, size=_LONGEST_PARAGRAPH):
            first, last = source.trimmed(*part)
            if first < last:
                yield first, last
        start = after
