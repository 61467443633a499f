"""What styles say of a paragraph: its outline level, its list, whether it is hidden, and which table rows stand out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from extractor_svc.formats.docx_numbering import Count, Numbering
from extractor_svc.formats.docx_xml import Changes, number_of, switch_of, value_of, whole_number
from extractor_svc.ooxml import Element, attribute, child_of, local_name

_BUILT_IN_HEADING: Final = re.compile(r"heading ([1-9])|title", re.IGNORECASE)
_BODY_TEXT: Final = 9
_DEEPEST: Final = 9
_FIRST_ROW: Final = 0x20
_LAST_ROW: Final = 0x40


@dataclass(frozen=True, slots=True)
class _Style:
    """A style's own statements; `outline` is its level from 0, 9 for body text, None where it states none."""

    id: str
    based_on: str
    outline: int | None
    numbered: Element | None
    vanish: bool | None
    rows: frozenset[str]


class StyleBook:
    """The styles of a document by id, read as they are asked for; what one does not state it takes from what it is based on."""

    def __init__(self, root: Element | None, numbering: Numbering) -> None:
        elements = [] if root is None else [child for child in root if local_name(child) == "style"]
        self._elements = {attribute(element, "styleId") or "": element for element in elements}
        self._styles: dict[str, _Style] = {}
        self._default = _default_paragraph_style(elements)
        self._all_vanish = root is not None and _default_vanishes(root)
        self._numbering = numbering
        self._outlines: dict[str, int] = {}
        self._vanishing: dict[str, bool] = {}

    def heading_level(self, properties: Element | None) -> int:
        """The level of a paragraph with these properties, 1 to 9; 0 for body text."""
        own = number_of(properties, "outlineLvl")
        outline = self._outline(self._style_of(properties)) if own is None else own
        return outline + 1 if outline < _BODY_TEXT else 0

    def list_level(self, properties: Element | None) -> int:
        """The level of a list item with these properties, 1 to 9; 0 for a paragraph that shows no list mark."""
        numbered = self.numbered(properties)
        return min(numbered[1] + 1, _DEEPEST) if numbered is not None and self._numbering.shows_mark(*numbered) else 0

    def numbered(self, properties: Element | None) -> tuple[int, int] | None:
        """The number of the list that a paragraph with these properties is an item of, and its level from 0; None for others."""
        style = self._style_of(properties)
        own = None if properties is None else child_of(properties, "numPr")
        holder, stated = self._numbered(style)
        number = number_of(own, "numId")
        number = number_of(stated, "numId") if number is None else number
        if not number:
            return None
        level = number_of(own, "ilvl")
        if level is None:
            level = number_of(stated, "ilvl") if own is None or number_of(own, "numId") is None else 0
        if level is None:
            level = self._numbering.level_of_style(number, holder)
        return number, level

    def is_hidden(self, run_properties: Element | None, properties: Element | None) -> bool:
        """Whether a run is hidden: as it says itself, else as its style and its paragraph's together do (they toggle)."""
        own = switch_of(run_properties, "vanish")
        if own is not None:
            return own
        by_run = self._vanishes(value_of(run_properties, "rStyle") or "")
        return self._all_vanish or by_run != self._vanishes(self._style_of(properties))

    def count(self) -> Count:
        """A count of the document's lists that has not begun."""
        return Count(self._numbering)

    def sets_apart(self, table_properties: Element | None) -> frozenset[str]:
        """Which of `firstRow` and `lastRow` the table's style draws unlike the rows between, where the table asks for it."""
        look = None if table_properties is None else child_of(table_properties, "tblLook")
        if look is None:
            return frozenset()
        bits = _hexadecimal(attribute(look, "val"))
        asked = {name for name, bit in (("firstRow", _FIRST_ROW), ("lastRow", _LAST_ROW)) if _asks(look, name, bits & bit)}
        drawn = {row for style in self._chain(value_of(table_properties, "tblStyle") or "") for row in style.rows}
        return frozenset(asked & drawn)

    def _style_of(self, properties: Element | None) -> str:
        named = value_of(properties, "pStyle")
        return named if named in self._elements else self._default

    def _chain(self, style_id: str) -> Iterator[_Style]:
        """A style and those that it is based on, nearest first; a circle ends where it closes."""
        seen: set[str] = set()
        while style_id in self._elements and style_id not in seen:
            seen.add(style_id)
            if style_id not in self._styles:
                self._styles[style_id] = _style(self._elements[style_id])
            yield self._styles[style_id]
            style_id = self._styles[style_id].based_on

    def _outline(self, style_id: str) -> int:
        if style_id not in self._outlines:
            stated = (style.outline for style in self._chain(style_id) if style.outline is not None)
            self._outlines[style_id] = next(stated, _BODY_TEXT)
        return self._outlines[style_id]

    def _numbered(self, style_id: str) -> tuple[str, Element | None]:
        found = ((style.id, style.numbered) for style in self._chain(style_id) if style.numbered is not None)
        return next(found, ("", None))

    def _vanishes(self, style_id: str) -> bool:
        if style_id not in self._vanishing:
            stated = (style.vanish for style in self._chain(style_id) if style.vanish is not None)
            self._vanishing[style_id] = next(stated, False)
        return self._vanishing[style_id]


@dataclass(frozen=True, slots=True)
class View:
    """How a document is looked at: by its styles, and with its tracked changes made or not."""

    styles: StyleBook
    changes: Changes


def _style(element: Element) -> _Style:
    properties = child_of(element, "pPr")
    conditional = (child for child in element if local_name(child) == "tblStylePr")
    return _Style(
        id=attribute(element, "styleId") or "",
        based_on=value_of(element, "basedOn") or "",
        outline=_stated_outline(element, properties),
        numbered=None if properties is None else child_of(properties, "numPr"),
        vanish=switch_of(child_of(element, "rPr"), "vanish"),
        rows=frozenset(attribute(child, "type") or "" for child in conditional),
    )


def _stated_outline(element: Element, properties: Element | None) -> int | None:
    """A style's outline level; that of a built-in heading, whose `name` is the same in every language, is known by it.

    So is that of the document's title, which Word leaves out of the outline: it heads what comes before the first heading.
    """
    stated = number_of(properties, "outlineLvl")
    if stated is not None:
        return min(stated, _BODY_TEXT)
    built_in = _BUILT_IN_HEADING.fullmatch((value_of(element, "name") or "").strip())
    is_custom = (attribute(element, "customStyle") or "0").lower() not in ("0", "false", "off")
    return int(built_in[1] or 1) - 1 if built_in is not None and not is_custom else None


def _default_paragraph_style(elements: list[Element]) -> str:
    for element in elements:
        if attribute(element, "type") == "paragraph" and (attribute(element, "default") or "0") in ("1", "true", "on"):
            return attribute(element, "styleId") or ""
    return ""


def _default_vanishes(root: Element) -> bool:
    defaults = child_of(root, "docDefaults")
    runs = None if defaults is None else child_of(defaults, "rPrDefault")
    return bool(switch_of(None if runs is None else child_of(runs, "rPr"), "vanish"))


def _hexadecimal(text: str | None) -> int:
    try:
        return int(text or "0", 16)
    except ValueError:
        return 0


def _asks(look: Element, name: str, bit: int) -> bool:
    stated = attribute(look, name)
    return bool(bit) if stated is None else stated.lower() in ("1", "true", "on") or bool(whole_number(stated))
