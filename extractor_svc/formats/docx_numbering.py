"""Which levels of which lists show a mark, and which level a style stands for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from extractor_svc.formats.docx_xml import number_of, value_of, whole_number
from extractor_svc.ooxml import Element, attribute, child_of, local_name


@dataclass(frozen=True, slots=True)
class _Level:
    """One level of a list: the style it stands for, and whether it shows a number or a bullet."""

    style: str
    shows_mark: bool


class Numbering:
    """The lists of a document by their numbers; marks themselves are generated and not text of the file."""

    def __init__(self, root: Element | None) -> None:
        elements = [] if root is None else list(root)
        abstract = {attribute(found, "abstractNumId") or "": found for found in elements if local_name(found) == "abstractNum"}
        styled = {link: found for found in abstract.values() if (link := value_of(found, "styleLink"))}
        self._lists: dict[int, dict[int, _Level]] = {}
        for element in elements:
            number = whole_number(attribute(element, "numId")) if local_name(element) == "num" else None
            if number is not None:
                found = abstract.get(value_of(element, "abstractNumId") or "")
                linked = styled.get(value_of(found, "numStyleLink") or "", found)
                self._lists[number] = {**dict(_levels(linked)), **dict(_overrides(element))}

    def shows_mark(self, number: int, level: int) -> bool:
        """Whether an item of a list is marked; a list that the document does not define is taken at its word."""
        known = self._lists.get(number, {}).get(level)
        return known is None or known.shows_mark

    def level_of_style(self, number: int, style: str) -> int:
        """The level from 0 that a list links to a style; the first where it links none."""
        levels = self._lists.get(number, {})
        return next((level for level, known in levels.items() if style and known.style == style), 0)


def _levels(element: Element | None) -> Iterator[tuple[int, _Level]]:
    for child in () if element is None else element:
        number = whole_number(attribute(child, "ilvl")) if local_name(child) == "lvl" else None
        if number is not None:
            yield number, _level(child)


def _overrides(element: Element) -> Iterator[tuple[int, _Level]]:
    for child in element:
        if local_name(child) == "lvlOverride":
            yield from _levels(child)


def _level(element: Element) -> _Level:
    has_picture = child_of(element, "lvlPicBulletId") is not None and number_of(element, "lvlPicBulletId") is not None
    is_silent = value_of(element, "numFmt") == "none" and not (value_of(element, "lvlText") or "").strip()
    return _Level(value_of(element, "pStyle") or "", has_picture or not is_silent)
