"""A paragraph's runs in document order: what they show, what of it is deleted or hidden, and what hangs on them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from artifact.model import BlockType, Visibility
from extractor_svc.blocks import count_words
from extractor_svc.formats.docx_math import gap, linear, taken_away
from extractor_svc.formats.docx_styles import View
from extractor_svc.formats.docx_symbols import by_font, needs_font, symbol
from extractor_svc.formats.docx_xml import LIVE, is_gone, live_children, outweighing, plain, properties_of, switch_of, whole_number
from extractor_svc.ooxml import Element, attribute, child_of, local_name

_SILENT: Final = frozenset(
    {"pPr", "rPr", "sdtPr", "sdtEndPr", "customXmlPr", "smartTagPr", "footnoteRef", "endnoteRef", "annotationRef", "rubyPr"}
)
_SIGNS: Final = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_NOTES: Final = {
    "footnoteReference": BlockType.FOOTNOTE,
    "endnoteReference": BlockType.ENDNOTE,
    "commentReference": BlockType.COMMENT,
}
_SEQUENCE: Final = re.compile(r"\s*SEQ\s", re.IGNORECASE)
_CHANGED: Final = frozenset({Visibility.INSERTED, Visibility.DELETED})
_BOXES: Final = ("☐", "☒")


@dataclass(frozen=True, slots=True)
class Piece:
    """Some of a paragraph's text; `path` is that of the element it stands in. A display equation stands on a line of its own."""

    text: str
    visibility: Visibility
    path: str
    is_math: bool = False
    is_display: bool = False


@dataclass(frozen=True, slots=True)
class Drawing:
    """Something drawn in a paragraph: shapes, a picture, a chart, a diagram or an embedded file."""

    element: Element
    path: str
    visibility: Visibility


@dataclass(frozen=True, slots=True)
class Aside:
    """Text kept apart from what is shown: deleted or hidden, or a display equation; with the paths of its ends."""

    text: str
    visibility: Visibility
    first: str
    last: str


@dataclass(slots=True)
class Runs:
    """What a paragraph holds. `notes` are the kinds and ids of notes and comments it refers to, and how the reference is shown.

    `is_numbered` tells a paragraph with a counter, as captions have; `code_words` counts words within field codes.
    """

    pieces: list[Piece] = field(default_factory=list)
    drawings: list[Drawing] = field(default_factory=list)
    notes: list[tuple[BlockType, str, Visibility]] = field(default_factory=list)
    ends_deleted: bool = False
    is_numbered: bool = False
    code_words: int = 0

    def shown(self) -> str:
        """The text once every change is accepted, display equations on their own lines."""
        return joined(piece for piece in self.pieces if piece.visibility in LIVE)

    def prose(self) -> str:
        """The text that is shown without the display equations."""
        return joined(piece for piece in self.pieces if piece.visibility in LIVE and not piece.is_display)

    @property
    def visibility(self) -> Visibility:
        """Inserted where all that is shown is, else visible."""
        kinds = {piece.visibility for piece in self.pieces if piece.visibility in LIVE and piece.text.strip()}
        return Visibility.INSERTED if kinds == {Visibility.INSERTED} else Visibility.VISIBLE

    @property
    def has_changes(self) -> bool:
        """Whether any of it stands or is gone by a tracked change."""
        return any(piece.visibility in _CHANGED for piece in self.pieces)

    @property
    def is_equation(self) -> bool:
        """Whether all that is shown is mathematics."""
        shown = [piece for piece in self.pieces if piece.visibility in LIVE and piece.text.strip()]
        return bool(shown) and all(piece.is_math for piece in shown)

    def equations(self) -> list[Aside]:
        """The display equations that are shown."""
        found = (piece for piece in self.pieces if piece.is_display and piece.visibility in LIVE and piece.text.strip())
        return [Aside(piece.text.strip(), piece.visibility, piece.path, piece.path) for piece in found]

    def asides(self) -> list[Aside]:
        """What is deleted and what is hidden, as far as it stands together."""
        said = [piece for piece in self.pieces if piece.text]
        asides: list[Aside] = []
        for visibility, group in groupby(said, key=lambda piece: piece.visibility):
            together = list(group)
            text = joined(together).strip()
            if visibility not in LIVE and text:
                asides.append(Aside(text, visibility, together[0].path, together[-1].path))
        return asides


def run_together(many: Sequence[Runs]) -> Runs:
    """The runs of paragraphs whose ends are deleted, as those of one; it ends as the last does."""
    return Runs(
        pieces=[piece for runs in many for piece in runs.pieces],
        drawings=[drawing for runs in many for drawing in runs.drawings],
        notes=[note for runs in many for note in runs.notes],
        ends_deleted=many[-1].ends_deleted,
        is_numbered=any(runs.is_numbered for runs in many),
        code_words=sum(runs.code_words for runs in many),
    )


def joined(pieces: Iterable[Piece]) -> str:
    """Pieces in a row; mathematics does not run into words, and a display equation has lines of its own."""
    return "".join(_spaced(pieces))


def read_runs(paragraph: Element, path: str, *, view: View, visibility: Visibility) -> Runs:
    """Reads a paragraph that stands where `visibility` holds."""
    reader = _Reader(properties_of(paragraph, "pPr", view.changes), view, ends_deleted=_end_is_gone(paragraph, view))
    reader.inline(paragraph, path, visibility)
    return reader.done()


def read_stray(element: Element, path: str, *, view: View, visibility: Visibility) -> Runs:
    """Reads a run, an equation or what else holds text where it stands outside any paragraph."""
    reader = _Reader(None, view, ends_deleted=False)
    reader.one(element, local_name(element), path, visibility)
    return reader.done()


def _spaced(pieces: Iterable[Piece]) -> Iterator[str]:
    before: Piece | None = None
    for piece in pieces:
        if not piece.text:
            continue
        if before is not None and (piece.is_display or before.is_display):
            yield "\n"
        elif before is not None and piece.is_math != before.is_math:
            yield gap(before.text, piece.text)
        yield piece.text
        before = piece


@dataclass(slots=True)
class _Field:
    """A field that is open: whether its code is still being told, and what it shows where it holds no result."""

    in_code: bool = True
    otherwise: str = ""
    has_result: bool = False


class _Reader:
    """Reads one paragraph; a field whose code is not at its end where the paragraph ends hides nothing after it."""

    def __init__(self, properties: Element | None, view: View, *, ends_deleted: bool) -> None:
        self._properties = properties
        self._view = view
        self._runs = Runs(ends_deleted=ends_deleted)
        self._fields: list[_Field] = []
        self._codes = 0

    def done(self) -> Runs:
        """What was read."""
        return self._runs

    def inline(self, element: Element, path: str, visibility: Visibility) -> None:
        """Reads all that stands in a paragraph, or in something in it that holds runs."""
        for child, name, place in live_children(element, path):
            self.one(child, name, place, visibility)

    def one(self, element: Element, name: str, path: str, visibility: Visibility) -> None:
        """Reads one thing that stands in a paragraph."""
        match name:
            case "r":
                self._run(element, path, visibility)
            case "oMath":
                self._equation(element, path, visibility)
            case "oMathPara":
                self._equations(element, path, visibility)
            case "fldSimple":
                self._take_code(attribute(element, "instr") or "")
                self.inline(element, path, visibility)
            case "subDoc":
                self._runs.drawings.append(Drawing(element, path, visibility))
            case _ if name in self._view.changes:
                self.inline(element, path, outweighing(visibility, self._view.changes[name]))
            case _ if name not in _SILENT:
                self.inline(element, path, visibility)

    def _equation(self, element: Element, path: str, visibility: Visibility) -> None:
        changes = self._view.changes
        self._add(Piece(linear(element, changes), visibility, path, is_math=True))
        self._taken_away(element, path, visibility)

    def _equations(self, element: Element, path: str, visibility: Visibility) -> None:
        changes = self._view.changes
        lines = [linear(line, changes) for line in element if local_name(line) == "oMath"]
        self._add(Piece("\n".join(filter(None, lines)), visibility, path, is_math=True, is_display=True))
        self._taken_away(element, path, visibility)

    def _taken_away(self, element: Element, path: str, visibility: Visibility) -> None:
        for text, place in taken_away(element, path, self._view.changes):
            self._add(Piece(text, outweighing(visibility, Visibility.DELETED), place, is_math=True))

    def _run(self, run: Element, path: str, visibility: Visibility) -> None:
        if self._view.styles.is_hidden(properties_of(run, "rPr", self._view.changes), self._properties):
            visibility = outweighing(visibility, Visibility.HIDDEN_TEXT)
        self._run_content(run, run, path, visibility)

    def _run_content(self, element: Element, run: Element, path: str, visibility: Visibility) -> None:
        for child, name, place in live_children(element, path):
            match name:
                case "t":
                    self._add(Piece(_text(child, run), visibility, place))
                case "delText":
                    self._add(Piece(_text(child, run), outweighing(visibility, self._view.changes["del"]), place))
                case "sym":
                    shown = symbol(attribute(child, "font") or "", attribute(child, "char") or "")
                    self._add(Piece(shown, visibility, place))
                case "fldChar":
                    self._mark(child, place, visibility)
                case "instrText":
                    self._take_code(child.text or "")
                case "drawing" | "pict" | "object":
                    self._runs.drawings.append(Drawing(child, place, visibility))
                case "ruby":
                    self._ruby(child, place, visibility)
                case _ if name in _SIGNS:
                    self._add(Piece(_SIGNS[name], visibility, place))
                case _ if name in _NOTES:
                    self._runs.notes.append((_NOTES[name], attribute(child, "id") or "", visibility))
                case _ if name not in _SILENT and len(child):
                    self._run_content(child, run, place, visibility)

    def _ruby(self, ruby: Element, path: str, visibility: Visibility) -> None:
        """A word and its reading, which stands above it and here in parentheses after it."""
        parts = {name: (child, place) for child, name, place in live_children(ruby, path)}
        if "rubyBase" in parts:
            self.inline(*parts["rubyBase"], visibility)
        if "rt" in parts:
            before = len(self._runs.pieces)
            self.inline(*parts["rt"], visibility)
            reading = self._runs.pieces[before:]
            if any(piece.text.strip() for piece in reading):
                opening, closing = (Piece(sign, reading[0].visibility, reading[0].path) for sign in "()")
                self._runs.pieces[before:] = [opening, *reading, closing]

    def _take_code(self, code: str) -> None:
        self._runs.is_numbered = self._runs.is_numbered or _SEQUENCE.match(code) is not None

    def _mark(self, mark: Element, path: str, visibility: Visibility) -> None:
        """A field begins, its code ends, or it ends; marks without a beginning mean nothing."""
        kind = attribute(mark, "fldCharType")
        if kind == "begin":
            self._fields.append(_Field(otherwise=_form_value(mark)))
            self._codes += 1
        elif self._fields and kind in ("separate", "end"):
            self._codes -= self._fields[-1].in_code
            self._fields[-1].in_code = False
            if kind == "end":
                ended = self._fields.pop()
                if ended.otherwise and not ended.has_result:
                    self._add(Piece(ended.otherwise, visibility, path))

    def _add(self, piece: Piece) -> None:
        if self._codes:
            self._runs.code_words += count_words(piece.text)
            return
        if self._fields and piece.text.strip():
            self._fields[-1].has_result = True
        self._runs.pieces.append(piece)


def _end_is_gone(paragraph: Element, view: View) -> bool:
    """Whether the paragraph's end was deleted or moved away, so that it runs into the next."""
    properties = child_of(paragraph, "pPr")
    return properties is not None and is_gone(child_of(properties, "rPr"), view.changes)


def _text(element: Element, run: Element) -> str:
    text = plain(element.text or "")
    if not needs_font(text):
        return text
    properties = child_of(run, "rPr")
    fonts = None if properties is None else child_of(properties, "rFonts")
    return by_font(text, "" if fonts is None else attribute(fonts, "hAnsi") or attribute(fonts, "ascii") or "")


def _form_value(mark: Element) -> str:
    """What a form field of older documents shows: a box, ticked or not, or the entry that is chosen."""
    data = child_of(mark, "ffData")
    if data is None:
        return ""
    box, choice = child_of(data, "checkBox"), child_of(data, "ddList")
    if box is not None:
        checked = switch_of(box, "checked")
        return _BOXES[bool(switch_of(box, "default") if checked is None else checked)]
    if choice is None:
        return ""
    entries = [attribute(child, "val") or "" for child in choice if local_name(child) == "listEntry"]
    chosen = child_of(choice, "result")
    chosen = child_of(choice, "default") if chosen is None else chosen
    number = whole_number("0" if chosen is None else attribute(chosen, "val"))
    return plain(entries[number]) if number is not None and number < len(entries) else ""
