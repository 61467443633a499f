"""The elements that are open at a place of a page's source, closed as the HTML standard says; never fewer than a parser has."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import Final

from extractor_svc.formats.html_elements import FORMATTING, SCOPE, SPECIAL

SHOWN: Final = 0
CUT: Final = 1
SKIPPED: Final = 2
"""An open element is written, or only its content is, or neither."""

_DEEPEST: Final = 512
"""Elements whose order is kept, and one more that is left out with all it holds; of others below only the number by name is, so
that a look through them stays short."""

_TABLE: Final = frozenset({"table", "template"})
_ITEM_STOPS: Final = SPECIAL - {"address", "div", "p"}
_CLOSES: Final = {
    "li": (frozenset({"li"}), _ITEM_STOPS - {"li"}),
    "dt": (frozenset({"dt", "dd"}), _ITEM_STOPS - {"dt", "dd"}),
    "dd": (frozenset({"dt", "dd"}), _ITEM_STOPS - {"dt", "dd"}),
    "tr": (frozenset({"tr"}), _TABLE | {"tbody", "thead", "tfoot"}),
    "td": (frozenset({"td", "th"}), _TABLE | {"tr"}),
    "th": (frozenset({"td", "th"}), _TABLE | {"tr"}),
    "tbody": (frozenset({"tbody", "thead", "tfoot"}), _TABLE),
    "thead": (frozenset({"tbody", "thead", "tfoot"}), _TABLE),
    "tfoot": (frozenset({"tbody", "thead", "tfoot"}), _TABLE),
    "option": (frozenset({"option"}), frozenset({"select-list", "optgroup", "datalist"}) | SPECIAL - {"option"}),
    "optgroup": (frozenset({"optgroup"}), frozenset({"select-list", "datalist"}) | SPECIAL - {"option", "optgroup"}),
    "rt": (frozenset({"rt", "rp"}), frozenset({"ruby"}) | SPECIAL),
    "rp": (frozenset({"rt", "rp"}), frozenset({"ruby"}) | SPECIAL),
    "a": (frozenset({"a"}), SCOPE | SPECIAL),
    "button": (frozenset({"button"}), SCOPE),
    "nobr": (frozenset({"nobr"}), SCOPE | SPECIAL),
}
_CLOSES_PARAGRAPH: Final = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "center",
        "details",
        "dialog",
        "dir",
        "div",
        "dl",
        "dt",
        "dd",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hgroup",
        "hr",
        "li",
        "main",
        "menu",
        "nav",
        "ol",
        "p",
        "pre",
        "listing",
        "search",
        "section",
        "summary",
        "ul",
        "xmp",
        "plaintext",
        "table",
    ]
)
_PARAGRAPH_STOPS: Final = SCOPE | {"button"}
_PARAGRAPH: Final = frozenset({"p"})
_DRAWINGS: Final = frozenset({"math", "svg"})
_TEXT_IN_DRAWINGS: Final = frozenset({"annotation-xml", "desc", "foreignobject", "mi", "mn", "mo", "ms", "mtext", "title"})
_NOT_IN_DRAWINGS: Final = FORMATTING - {"a", "font"} | frozenset(
    [
        "blockquote",
        "body",
        "br",
        "center",
        "dd",
        "div",
        "dl",
        "dt",
        "embed",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "head",
        "hr",
        "img",
        "li",
        "listing",
        "menu",
        "meta",
        "ol",
        "p",
        "pre",
        "ruby",
        "span",
        "sub",
        "sup",
        "table",
        "ul",
        "var",
    ]
)
_IN_TABLE: Final = frozenset({"caption", "table", "tbody", "td", "tfoot", "th", "thead", "tr"})


class OpenElements:
    """A stack of element names, each with what became of its tag."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._states: list[int] = []
        self._counts: dict[str, int] = defaultdict(int)
        self._below: dict[str, int] = defaultdict(int)
        self._deeper = 0
        self._outside: tuple[dict[str, int], int] | None = None
        self.skipping = 0
        self.reason = ""
        """How many open elements are left out with all they hold, and why the outermost of them is."""

    @property
    def foreign(self) -> bool:
        """Whether a tag here is one of a drawing or a formula, and not of text within it."""
        return self._drawing() >= 0

    def leave_drawing(self, name: str) -> None:
        """Closes the drawings and formulas that a tag of a page's text ends."""
        while name in _NOT_IN_DRAWINGS and (index := self._drawing()) >= 0:
            self._close_at(index)

    def _drawing(self) -> int:
        """Which open element is the drawing or formula that a tag here belongs to; -1 where none is."""
        if self._counts["svg"] or self._counts["math"]:
            for i in range(len(self._names) - 1, -1, -1):
                if self._names[i] in _DRAWINGS:
                    return i
                if self._names[i] in _TEXT_IN_DRAWINGS:
                    return -1
        return -1

    def make_room(self, name: str) -> int:
        """Closes what a start tag closes by itself; returns how many elements are open then."""
        counts = self._counts
        if self.foreign:
            return len(self._names)
        if counts["p"] and name in _CLOSES_PARAGRAPH:
            self._pop_to(_PARAGRAPH, _PARAGRAPH_STOPS)
        closing = _CLOSES.get(name)
        if closing is not None and any(counts[other] for other in closing[0]):
            self._pop_to(*closing)
        return len(self._names)

    def push(self, name: str, state: int, *, reason: str) -> None:
        """Opens an element."""
        if len(self._names) >= _DEEPEST and (self.skipping or state != SKIPPED):
            self._below[name] += 1
            self._deeper += 1
            return
        if len(self._names) >= _DEEPEST:
            self._outside = self._below, self._deeper
            self._below, self._deeper = defaultdict(int), 0
        self._names.append(name)
        self._states.append(state)
        self._counts[name] += 1
        if state == SKIPPED:
            self.reason = self.reason if self.skipping else reason
            self.skipping += 1

    def close(self, name: str) -> int:
        """Closes the innermost element of a name as its end tag does, and returns its state; `SHOWN` where none is reached."""
        names = self._names
        if names and names[-1] == name and not self._deeper:
            return self._close_last()
        if self._deeper and self._below[name]:
            self._below[name] -= 1
            self._deeper -= 1
            return SKIPPED if self.skipping else CUT
        if not self._counts[name]:
            return SHOWN
        stops = _stops_of(name)
        drawing = self._drawing()
        inside = drawing if drawing >= 0 else len(names)
        for i in range(len(names) - 1, -1, -1):
            if names[i] == name:
                return self._close_at(i)
            if names[i] in stops and i < inside:
                return SHOWN
        return SHOWN

    def _close_last(self) -> int:
        self._counts[self._names.pop()] -= 1
        state = self._states.pop()
        if state == SKIPPED:
            self.skipping -= 1
            if self._outside is not None and len(self._names) >= _DEEPEST:
                self._below, self._deeper = self._outside
        return state

    def _close_at(self, index: int) -> int:
        state = self._states[index]
        if self._names[index] in FORMATTING and any(name in SPECIAL for name in self._names[index + 1 :]):
            self._names.append(self._names.pop(index))
            self._states.append(self._states.pop(index))
            return self._close_last()
        while len(self._names) > index:
            self._close_last()
        return state

    def _pop_to(self, wanted: Collection[str], stops: Collection[str]) -> None:
        for i in range(len(self._names) - 1, -1, -1):
            if self._names[i] in wanted:
                self._close_at(i)
                return
            if self._names[i] in stops:
                return


def _stops_of(name: str) -> Collection[str]:
    """The elements that the end tag of a name does not close over."""
    if name == "template":
        return ()
    if name in _IN_TABLE:
        return _TABLE - {name}
    return SCOPE - {name} if name in SPECIAL else (SCOPE if name in FORMATTING else SPECIAL)
