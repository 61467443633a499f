"""A line of text as it is gathered: pieces of inline content, joined with the white space a browser shows."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from artifact.model import BlockType
from extractor_svc.formats.html_places import Place
from extractor_svc.formats.html_tables import Table

_SPACES: Final = re.compile(r"[ \t\n\f\r]+")
_LINE_ENDS: Final = re.compile(r"[ \t\n\f\r]*\n[ \t\n\f\r]*")
_RUNS: Final = re.compile(r"[ \t\f\r\xa0]+")
_AROUND_BREAKS: Final = re.compile(r" ?\n ?")
_SOFT_HYPHEN: Final = "\xad"


@dataclass(frozen=True, slots=True)
class Leaf:
    """A block before it is numbered; `of_table` marks tables and their captions, which are never text of a cell."""

    kind: BlockType
    text: str
    first: Place
    last: Place
    level: int = 0
    language: str = ""
    table: Table | None = None
    of_table: bool = False


@dataclass(slots=True)
class Flow:
    """Inline content since the last block boundary."""

    pieces: list[str] = field(default_factory=list)
    first: Place | None = None
    last: Place | None = None
    has_text: bool = False
    has_control: bool = False
    language: str = ""
    breaks: int = 0

    def text(self, text: str, place: Place) -> None:
        """Adds text in which white space is one space."""
        squeezed = _SPACES.sub(" ", text) if "\n" in text or "  " in text or "\t" in text or "\f" in text else text
        if squeezed == " ":
            if self.pieces:
                self.pieces.append(squeezed)
            return
        self._add(squeezed, place)
        self.has_text = True

    def lines(self, text: str, place: Place) -> None:
        """Adds text whose line ends are kept."""
        if text.strip():
            self._add(_LINE_ENDS.sub("\n", text), place)
            self.has_text = True

    def verbatim(self, text: str, place: Place) -> None:
        """Adds text of which every character counts."""
        self._add(text, place)
        self.has_text = True

    def drawn(self, text: str, place: Place, *, control: bool) -> None:
        """Adds what stands for an element, apart from the text around it; a control is a field of a form."""
        self._add(f" {text} ", place)
        self.has_control = self.has_control or control

    def line_break(self) -> None:
        """Ends the line."""
        if self.pieces:
            self.pieces.append("\n")
            self.breaks += 1

    def space(self) -> None:
        """Parts what follows from what is there."""
        if self.pieces:
            self.pieces.append(" ")

    def sign(self, text: str) -> None:
        """Adds a sign that a browser puts in by itself."""
        self.pieces.append(text)

    def new_line(self) -> None:
        """Begins a line within code, where one does not begin already."""
        if self.pieces and not self.pieces[-1].endswith("\n"):
            self.pieces.append("\n")

    def plain(self) -> str:
        """The text with white space as it is shown."""
        joined = (self.pieces[0] if len(self.pieces) == 1 else "".join(self.pieces)).replace(_SOFT_HYPHEN, "")
        joined = _RUNS.sub(" ", joined)
        return _AROUND_BREAKS.sub("\n", joined).strip() if "\n" in joined else joined.strip()

    def code(self) -> str:
        """The text as it stands, without empty lines around it."""
        return "".join(self.pieces).strip("\n").rstrip()

    def _add(self, text: str, place: Place) -> None:
        self.pieces.append(text)
        self.breaks = 0
        if self.first is None:
            self.first = place
        self.last = place
