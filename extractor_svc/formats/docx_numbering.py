"""The lists of a document: how each of their levels is numbered, and which number comes next."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from extractor_svc.formats.docx_marks import padded, written
from extractor_svc.formats.docx_xml import live_children, plain, switch_of, value_of, whole_number
from extractor_svc.ooxml import Element, attribute, child_of, local_name

_NUMBER: Final = re.compile("%([1-9])")
_LONGEST_MARK: Final = 255


@dataclass(frozen=True, slots=True)
class _Level:
    """One level of a list.

    `style` is the style it stands for. `text` is what it shows, with `%1` for the number of the first level; `suffix` is
    what parts that from the item. `restarts_after` is the lowest level (1 is the first) that has it start again, 0 for none.
    """

    style: str
    form: str
    pattern: str
    text: str
    start: int
    restarts_after: int | None
    suffix: str
    is_legal: bool
    is_hidden: bool
    has_picture: bool

    @property
    def shows_mark(self) -> bool:
        return self.has_picture or self.form != "none" or bool(self.text.strip())


@dataclass(frozen=True, slots=True)
class _List:
    """A list under its number: its levels, and the definition that it counts with together with others."""

    shared: str
    levels: dict[int, _Level] = field(default_factory=dict)
    starts: dict[int, int] = field(default_factory=dict)

    def start(self, level: int) -> int:
        """The first number of a level."""
        known = self.levels.get(level)
        return self.starts.get(level, 1 if known is None else known.start)


class Numbering:
    """The lists of a document by their numbers, read as they are asked for."""

    def __init__(self, root: Element | None) -> None:
        elements = [] if root is None else list(root)
        abstract = {attribute(found, "abstractNumId") or "": found for found in elements if local_name(found) == "abstractNum"}
        styled = {link: found for found in abstract.values() if (link := value_of(found, "styleLink"))}
        self._lists: dict[int, _List] = {}
        self._elements: dict[int, tuple[Element, Element | None]] = {}
        for element in elements:
            number = whole_number(attribute(element, "numId")) if local_name(element) == "num" else None
            if number is not None:
                found = abstract.get(value_of(element, "abstractNumId") or "")
                self._elements[number] = element, styled.get(value_of(found, "numStyleLink") or "", found)

    def of(self, number: int) -> _List | None:
        """The list of that number; None where the document defines none."""
        if number in self._elements and number not in self._lists:
            self._lists[number] = _list(*self._elements[number])
        return self._lists.get(number)

    def shows_mark(self, number: int, level: int) -> bool:
        """Whether an item of a list is marked; a list that the document does not define is taken at its word."""
        known = self._level(number, level)
        return known is None or known.shows_mark

    def level_of_style(self, number: int, style: str) -> int:
        """The level from 0 that a list links to a style; the first where it links none."""
        found = self.of(number)
        levels = {} if found is None else found.levels
        return next((level for level, known in levels.items() if style and known.style == style), 0)

    def _level(self, number: int, level: int) -> _Level | None:
        found = self.of(number)
        return None if found is None else found.levels.get(level)


class Count:
    """Counts the items of lists as they come.

    Lists of one definition count on together, save that one which states a start of its own begins with it. An item has the
    levels below it start again, and those above it that have not come yet begin.
    """

    def __init__(self, numbering: Numbering) -> None:
        self._numbering = numbering
        self._reached: dict[str, dict[int, int]] = {}
        self._begun: set[int] = set()

    def next(self, number: int, level: int) -> str:
        """The number that the next item of a list shows, with what parts it from the item; empty for bullets."""
        found = self._numbering.of(number)
        if found is None or level not in found.levels:
            return ""
        reached = self._reached.setdefault(found.shared, {})
        if number not in self._begun:
            self._begun.add(number)
            reached.update({stated: start - 1 for stated, start in found.starts.items()})
        _advance(reached, found, level)
        return _mark(found, level, reached)


def _advance(reached: dict[int, int], found: _List, level: int) -> None:
    reached[level] = reached[level] + 1 if level in reached else found.start(level)
    for above in range(level):
        if above not in reached or reached[above] < found.start(above):
            reached[above] = found.start(above)
    for below in [below for below in reached if below > level]:
        known = found.levels.get(below)
        after = None if known is None else known.restarts_after
        if after is None or level < after:
            del reached[below]


def _mark(found: _List, level: int, reached: dict[int, int]) -> str:
    own = found.levels[level]
    if own.form == "bullet" or own.is_hidden:
        return ""

    def number(match: re.Match[str]) -> str:
        asked = int(match[1]) - 1
        known = found.levels.get(asked)
        if asked > level or known is None or known.form in ("bullet", "none"):
            return ""
        if known.pattern:
            return padded(reached[asked], known.pattern)
        return written(reached[asked], "decimal" if own.is_legal else known.form)

    mark = _NUMBER.sub(number, own.text).strip()
    return mark + own.suffix if mark else ""


def _list(element: Element, definition: Element | None) -> _List:
    levels = dict(_levels(definition))
    starts: dict[int, int] = {}
    for override in element:
        number = whole_number(attribute(override, "ilvl")) if local_name(override) == "lvlOverride" else None
        if number is not None:
            start = whole_number(value_of(override, "startOverride"))
            starts |= {} if start is None else {number: start}
            levels |= dict(_levels(override))
    shared = attribute(definition, "abstractNumId") if definition is not None else None
    return _List(shared or "", levels, starts)


def _levels(element: Element | None) -> Iterator[tuple[int, _Level]]:
    for child in () if element is None else element:
        number = whole_number(attribute(child, "ilvl")) if local_name(child) == "lvl" else None
        if number is not None:
            yield number, _level(child)


def _level(element: Element) -> _Level:
    stated = {name: child for child, name, _ in live_children(element, "")}
    values = {name: attribute(child, "val") or "" for name, child in stated.items()}
    form = values.get("numFmt", "decimal")
    return _Level(
        style=values.get("pStyle", ""),
        form=form,
        pattern=attribute(stated["numFmt"], "format") or "" if form == "custom" else "",
        text=plain(values.get("lvlText", ""))[:_LONGEST_MARK],
        start=whole_number(values.get("start")) or 0,
        restarts_after=whole_number(values.get("lvlRestart")),
        suffix="" if values.get("suff") == "nothing" else " ",
        is_legal=bool(switch_of(element, "isLgl")),
        is_hidden=bool(switch_of(child_of(element, "rPr"), "vanish")),
        has_picture=bool(values.get("lvlPicBulletId")),
    )
