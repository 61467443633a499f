"""A delimited file made ready to be cut into cells: UTF-8 with line feeds, its encoding and its dialect known."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from extractor_svc.blocks import WarningList, count_words
from extractor_svc.context import ReadContext
from extractor_svc.encoding_detection import decode_or_guess
from extractor_svc.errors import NoText
from extractor_svc.formats.csv_dialect import Dialect, detect_dialect

_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")
_TAB_NAMES: Final = (".tsv", ".tab")


@dataclass(frozen=True, slots=True, eq=False)
class CsvSource:
    """The text that holds records, the line it starts on, and how many words stand on the line before that names the delimiter."""

    data: bytes
    first_line: int
    encoding: str
    dialect: Dialect
    words_left_out: int


def open_source(content: bytes, context: ReadContext, warnings: WarningList) -> CsvSource:
    """Decodes a file and finds its dialect.

    Raises:
        NoText: the file holds nothing but white space and control characters.
        InvalidOption, BadEncoding: as the encoding cannot be had.
    """
    decoded = decode_or_guess(content, context.options.encoding, warnings)
    text = decoded.text.removeprefix("\ufeff")
    if not text or text.isspace():
        raise NoText("the file holds no text")
    data = text.encode("utf-8", "replace")
    dialect = detect_dialect(data, tabs=PurePosixPath(context.filename.lower()).suffix in _TAB_NAMES)
    if _CONTROLS.search(text):
        data = _without_controls(text, dialect, warnings).encode("utf-8", "replace")
    if data.isspace():
        raise NoText("the file holds control characters and no text")
    if not dialect.skipped_lines:
        return CsvSource(data, 1, decoded.encoding, dialect, 0)
    head, _, rest = data.partition(b"\n")
    return CsvSource(rest, 2, decoded.encoding, dialect, count_words(head.decode()))


def lines_of(source: CsvSource, first: int, last: int) -> bytes | None:
    """The lines of a source as they are written; None where it has no such lines."""
    start = _line_start(source.data, first - source.first_line)
    if first > last or first < source.first_line or start is None or start >= len(source.data):
        return None
    end = _line_start(source.data[start:], last - first + 1)
    if end is None and source.data.count(b"\n", start) + (not source.data.endswith(b"\n")) < last - first + 1:
        return None
    return source.data[start:] if end is None else source.data[start : start + end]


def _line_start(data: bytes, number: int) -> int | None:
    """Where the line of a number from 0 starts; None past the last line feed."""
    if number <= 0:
        return 0
    for count, found in enumerate(re.finditer(b"\n", data), 1):
        if count == number:
            return found.end()
    return None


def _without_controls(text: str, dialect: Dialect, warnings: WarningList) -> str:
    """The text with a space for each control character that is no white space and parts no cells."""
    kept = dialect.delimiter
    count = 0

    def spaced(found: re.Match[str]) -> str:
        nonlocal count
        if found[0] == kept:
            return kept
        count += 1
        return " "

    cleaned = _CONTROLS.sub(spaced, text)
    if count:
        warnings.add("CONTROL_CHARS", f"{count} control characters were replaced by spaces.")
    return cleaned
