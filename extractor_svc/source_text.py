"""A decoded text file whose characters are known by line, for formats that keep their text as it is written."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from artifact.locators import CharSpan, LineSpan, Locator
from extractor_svc.blocks import WarningList
from extractor_svc.decoding import DecodedText
from extractor_svc.errors import LocatorNotFound

LONGEST_BLOCK: Final = 100_000
"""Characters of one block; longer runs of text are cut, so that every block fits a message."""

_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")
_WHITE_SPACE: Final = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text of lines, 1-based; `controls` says how many control characters spaces stand for.

    `starts` holds the offset of each line; a line feed at the very end opens no further line.
    """

    text: str
    encoding: str
    controls: int
    starts: tuple[int, ...]

    @property
    def lines(self) -> int:
        """How many lines there are."""
        return len(self.starts)

    def line_of(self, offset: int) -> int:
        """The number of the line that a character stands on."""
        return bisect_right(self.starts, offset)

    def bounds(self, first: int, last: int) -> tuple[int, int]:
        """The half-open range of characters of some lines, the last line feed left out."""
        end = self.starts[last] - 1 if last < self.lines else len(self.text.removesuffix("\n"))
        return self.starts[first - 1], end

    def places(self, ranges: Sequence[tuple[int, int]]) -> list[LineSpan | CharSpan]:
        """Where ranges stand that hold all of the text in order: by lines where one has these to itself, else by characters."""
        lines = [(self.line_of(start), self.line_of(max(end - 1, start))) for start, end in ranges]
        before = [0, *(last for _, last in lines[:-1])]
        after = [*(first for first, _ in lines[1:]), self.lines + 1]
        return [
            LineSpan(*lines[i]) if before[i] < lines[i][0] and lines[i][1] < after[i] else CharSpan(*ranges[i])
            for i in range(len(ranges))
        ]

    def at(self, locator: Locator) -> str:
        """The text at a place.

        Raises:
            LocatorNotFound: the file has no such lines or characters.
        """
        match locator:
            case LineSpan(first, last) if 1 <= first <= last <= self.lines:
                start, end = self.bounds(first, last)
                return self.text[start:end]
            case CharSpan(start, end) if 0 <= start <= end <= len(self.text):
                return self.text[start:end]
        raise LocatorNotFound(f"the file has lines 1 to {self.lines}", metadata={"lines": str(self.lines)})

    def trimmed(self, start: int, end: int) -> tuple[int, int]:
        """The range without the white space at its ends."""
        inner = self.text[start:end]
        return start + len(inner) - len(inner.lstrip()), end - len(inner) + len(inner.rstrip())

    def warn(self, warnings: WarningList) -> None:
        """Says that control characters were left out, where there are any."""
        if self.controls:
            warnings.add("CONTROL_CHARS", f"{self.controls} control characters were replaced by spaces.")


def source_text(decoded: DecodedText) -> SourceText:
    """Makes a text's lines known; every character is kept."""
    return _lined(decoded.text, decoded.encoding, 0)


def readable_text(decoded: DecodedText) -> SourceText:
    """Makes a text's lines known, with a space in place of each control character that is no white space."""
    text, controls = _CONTROLS.subn(" ", decoded.text)
    return _lined(text, decoded.encoding, controls)


def _lined(text: str, encoding: str, controls: int) -> SourceText:
    lengths = (len(line) + 1 for line in text.removesuffix("\n").split("\n"))
    return SourceText(text, encoding, controls, tuple(accumulate(lengths, initial=0))[:-1])


def cut(text: str, start: int, end: int, *, size: int) -> Iterator[tuple[int, int]]:
    """Cuts a range into parts of about `size` characters: after a line if one ends there, else after white space.

    A word is cut only where it is longer than a block may be.
    """
    while end - start > size:
        stop = _stop(text, start, end, size)
        yield start, stop
        start = stop
    if start < end:
        yield start, end


def _stop(text: str, start: int, end: int, size: int) -> int:
    limit = start + size
    line_end = text.rfind("\n", start + 1, limit)
    if line_end > 0:
        return line_end + 1
    middle = start + size // 2
    inside = max((middle + found.start() for found in _WHITE_SPACE.finditer(text[middle:limit])), default=0)
    if inside:
        return inside + 1
    longest = min(end, start + max(size, LONGEST_BLOCK))
    beyond = _WHITE_SPACE.search(text, limit, longest)
    return beyond.end() if beyond else longest
