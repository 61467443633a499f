"""Blocks in reading order: their ids, the headings above them, the bounds they keep, and the words they hold."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from artifact.locators import Locator
from artifact.model import ArtifactWarning, Block, BlockType, Cell, Link, Visibility, WordCount
from extractor_svc.errors import OutputLimit
from extractor_svc.limits import Limits

_WORD: Final = re.compile(r"\w+")
_WORD_CHARACTER: Final = re.compile(r"\w")
_LONG_TEXT: Final = 1_000_000
_PIECE: Final = 1024 * 1024
_PLANE: Final = 0x10000


def count_words(text: str) -> int:
    """How many runs of letters, digits and underscores the text has; the unit of the coverage ledger."""
    if len(text) < _LONG_TEXT:
        return sum(1 for _ in _WORD.finditer(text))
    words, inside = 0, False
    for start in range(0, len(text), _PIECE):
        piece = text[start : start + _PIECE]
        codes = np.frombuffer(piece.encode("utf-32-le", "surrogatepass"), "<u4")
        in_word = _word_characters(128 if piece.isascii() else sys.maxunicode + 1)[codes]
        words += int(np.count_nonzero(in_word[1:] & ~in_word[:-1])) + int(in_word[0] and not inside)
        inside = bool(in_word[-1])
    return words


@cache
def _word_characters(size: int) -> npt.NDArray[np.bool_]:
    """For each of the first code points whether it is part of words."""
    found = np.zeros(size, np.bool_)
    for start in range(0, size, _PLANE):
        plane = "".join(map(chr, range(start, min(start + _PLANE, size))))
        found[[ord(char) for char in _WORD_CHARACTER.findall(plane)]] = True
    return found


def words_of(text: str) -> Counter[str]:
    """The text's words with how often each stands in it, as written."""
    return Counter(_WORD.findall(text))


def tally(reasons: Iterable[tuple[str, int]]) -> tuple[WordCount, ...]:
    """Sums word counts by reason, in the order the reasons first come; reasons without a word are left out."""
    totals: Counter[str] = Counter()
    for reason, words in reasons:
        totals[reason] += words
    return tuple(WordCount(reason, words) for reason, words in totals.items() if words)


class BlockList:
    """Gathers a document's blocks: numbers them from `b1`, gives each the headings above it, and refuses a flood.

    A heading closes the headings of its level and deeper. Text is bounded in characters over all blocks, cells included.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._blocks: list[Block] = []
        self._open: list[tuple[int, str]] = []
        self._chars = 0

    @property
    def section_path(self) -> tuple[str, ...]:
        """The headings that are open here, outermost first."""
        return tuple(text for _, text in self._open)

    def heading(self, text: str, locator: Locator, *, level: int, visibility: Visibility = Visibility.VISIBLE) -> Block:
        """Adds a heading and opens its section."""
        self.section(text, level=level)
        return self.add(BlockType.HEADING, text, locator, level=level, visibility=visibility)

    def section(self, name: str, *, level: int) -> None:
        """Opens a section that has a name and no heading block."""
        self.leave(level)
        self._open.append((level, name))

    def leave(self, level: int) -> None:
        """Closes the sections of this level and deeper."""
        while self._open and self._open[-1][0] >= level:
            self._open.pop()

    def add(
        self,
        kind: BlockType,
        text: str,
        locator: Locator,
        *,
        level: int = 0,
        defines: tuple[str, ...] = (),
        reads: tuple[str, ...] = (),
        dataset_id: str = "",
        cells: Sequence[Cell] = (),
        cell_chars: int | None = None,
        language: str = "",
        ocr: bool = False,
        visibility: Visibility = Visibility.VISIBLE,
    ) -> Block:
        """Adds a block of any other kind under the headings that are open; `cell_chars` are its cells' characters where counted.

        Raises:
            OutputLimit: there are more blocks, or more characters in them, than the limits allow.
        """
        self._chars += len(text) + (_chars_in(cells) if cell_chars is None else cell_chars)
        self._refuse_a_flood()
        block = Block(
            id=f"b{len(self._blocks) + 1}",
            type=kind,
            text=text,
            locator=locator,
            level=level,
            section_path=self.section_path,
            defines=defines,
            reads=reads,
            dataset_id=dataset_id,
            cells=cells,
            language=language,
            ocr=ocr,
            visibility=visibility,
        )
        self._blocks.append(block)
        return block

    def done(self) -> tuple[Block, ...]:
        """The blocks so far, in order."""
        return tuple(self._blocks)

    def _refuse_a_flood(self) -> None:
        if len(self._blocks) >= self._limits.max_blocks:
            raise OutputLimit(
                f"the document has more than {self._limits.max_blocks} blocks; split it",
                metadata={"max_blocks": str(self._limits.max_blocks)},
            )
        if self._chars > self._limits.max_text_chars:
            raise OutputLimit(
                f"the document has more than {self._limits.max_text_chars} characters of text; split it",
                metadata={"max_text_chars": str(self._limits.max_text_chars)},
            )


def _chars_in(cells: Iterable[Cell]) -> int:
    return sum(len(cell.text) + len(cell.formula) for cell in cells)


class LinkList:
    """Gathers links in order, each target and place once, up to the limits; what is past them is warned of."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._links: dict[tuple[str, Locator], Link] = {}
        self._left_out = 0

    def add(self, text: str, target: str, locator: Locator) -> None:
        """Adds a link: the words it stands on, where it leads, and its place; one that leads nowhere is none."""
        target = target.strip()
        if not target or (target, locator) in self._links:
            return
        if len(self._links) >= self._limits.max_links or len(target) > self._limits.max_link_chars:
            self._left_out += 1
            return
        self._links[target, locator] = Link(" ".join(text.split()), target, locator)

    def done(self, warnings: WarningList) -> tuple[Link, ...]:
        """The links so far; warns of those that were left out."""
        if self._left_out:
            most = f"{self._limits.max_links} links, of {self._limits.max_link_chars} characters each"
            warnings.add("LINKS_LEFT_OUT", f"{self._left_out} links were left out; at most {most}, are kept.")
        return tuple(self._links.values())


class WarningList:
    """Gathers warnings up to the limit; past it one closing warning says that more were left out."""

    def __init__(self, limits: Limits) -> None:
        self._limit = limits.max_warnings
        self._warnings: list[ArtifactWarning] = []
        self._left_out = 0

    def add(self, code: str, message: str, locator: Locator | None = None) -> None:
        """Adds a warning: a code in capitals, a sentence, and where."""
        if len(self._warnings) < self._limit:
            self._warnings.append(ArtifactWarning(code, message, locator))
        else:
            self._left_out += 1

    def done(self) -> tuple[ArtifactWarning, ...]:
        """The warnings so far, in order."""
        if not self._left_out:
            return tuple(self._warnings)
        return (*self._warnings, ArtifactWarning("WARNINGS_LEFT_OUT", f"{self._left_out} more warnings were left out."))
