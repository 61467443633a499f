"""Equations as one line of characters: fractions by `/`, powers by `^`, what stands below in brackets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from artifact.model import Visibility
from extractor_svc.formats.docx_xml import Changes, live_children, plain, value_of
from extractor_svc.ooxml import Element, attribute, child_of, local_name

_TOKEN: Final = re.compile(r"\w*|.", re.DOTALL)
_SILENT: Final = frozenset({"", "ctrlPr", "rPr", "argPr"})
_INTEGRAL: Final = "∫"


def linear(element: Element, changes: Changes) -> str:
    """The characters of an equation in reading order, without those that are deleted.

    What stands below is in brackets, `a[0]`, and not after an underscore, which would make one word of two.
    """
    return _Line(changes).of(element)


def taken_away(element: Element, path: str, changes: Changes) -> Iterator[tuple[str, str]]:
    """What is deleted in the equation at `path`, with the paths of the changes."""
    for child, name, place in live_children(element, path):
        if changes.get(name) is Visibility.DELETED:
            yield _in_a_row(plain(text.text or "") for text in child.iter("{*}t")), place
        else:
            yield from taken_away(child, place, changes)


def gap(before: str, after: str) -> str:
    """A space where two words would run into one, else nothing; digits that meet are one number."""
    last, first = before[-1:], after[:1]
    return " " if _is_word(last) and _is_word(first) and not (last.isdigit() and first.isdigit()) else ""


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _in_a_row(parts: Iterable[str]) -> str:
    pieces: list[str] = []
    for part in filter(None, parts):
        pieces += [gap(pieces[-1] if pieces else "", part), part]
    return "".join(pieces)


class _Line:
    """Writes equations in a row; what is deleted is left out."""

    def __init__(self, changes: Changes) -> None:
        self._changes = changes

    def of(self, element: Element) -> str:
        """An equation's characters."""
        return " ".join(self._inside(element).split(" ")).strip()

    def _inside(self, element: Element | None) -> str:
        return "" if element is None else _in_a_row(self._shown(child) for child in element)

    def _shown(self, element: Element) -> str:  # one flat table of the objects that equations are made of
        name = local_name(element)
        match name:
            case "t":
                return plain(element.text or "")
            case "br":
                return " "
            case "f":
                return self._fraction(element)
            case "sSup" | "limUpp" | "sSub" | "limLow" | "sSubSup":
                return self._scripted(_grouped(self._part(element, "e")), element)
            case "sPre":
                return _in_a_row([self._scripted("", element), self._part(element, "e")])
            case "nary":
                return self._over_a_range(element)
            case "rad":
                degree = self._part(element, "deg")
                return f"√[{degree}]({self._part(element, 'e')})" if degree else f"√({self._part(element, 'e')})"
            case "d":
                return self._delimited(element)
            case "func":
                return f"{self._part(element, 'fName')} {_grouped(self._part(element, 'e'))}"
            case "m":
                return "; ".join(", ".join(self._parts(row, "e")) for row in element if local_name(row) == "mr")
            case "eqArr":
                return "; ".join(self._parts(element, "e"))
            case "acc":
                return self._accented(element)
        return (
            "" if name in _SILENT or name.endswith("Pr") or self._changes.get(name) is Visibility.DELETED else self._inside(element)
        )

    def _part(self, element: Element, name: str) -> str:
        return self._inside(child_of(element, name)).strip()

    def _parts(self, element: Element, name: str) -> list[str]:
        return [self._inside(child).strip() for child in element if local_name(child) == name]

    def _fraction(self, element: Element) -> str:
        above, under = self._part(element, "num"), self._part(element, "den")
        if value_of(child_of(element, "fPr"), "type") == "noBar":
            return f"({above} ¦ {under})" if above and under else above or under
        return f"{_grouped(above)}/{_grouped(under)}"

    def _scripted(self, base: str, element: Element) -> str:
        below = self._part(element, "sub") if child_of(element, "sub") is not None else self._limit(element, "limLow")
        above = self._part(element, "sup") if child_of(element, "sup") is not None else self._limit(element, "limUpp")
        return base + (f"[{below}]" if below else "") + (f"^{_grouped(above)}" if above else "")

    def _limit(self, element: Element, kind: str) -> str:
        return self._part(element, "lim") if local_name(element) == kind else ""

    def _over_a_range(self, element: Element) -> str:
        stated = value_of(child_of(element, "naryPr"), "chr")
        operator = _INTEGRAL if stated is None else stated
        return _in_a_row([self._scripted(operator, element), " ", self._part(element, "e")])

    def _delimited(self, element: Element) -> str:
        properties = child_of(element, "dPr")
        begin, between, end = (
            default if (stated := value_of(properties, name)) is None else stated
            for name, default in (("begChr", "("), ("sepChr", "|"), ("endChr", ")"))
        )
        return begin + between.join(self._parts(element, "e")) + end

    def _accented(self, element: Element) -> str:
        properties = child_of(element, "accPr")
        mark = None if properties is None else child_of(properties, "chr")
        accent = "\u0302" if mark is None else attribute(mark, "val") or ""
        base = self._part(element, "e")
        return base + accent if len(base) == 1 else _grouped(base) + accent


def _grouped(text: str) -> str:
    """The text in parentheses, unless it is one word, one sign, or stands in parentheses already."""
    return text if _TOKEN.fullmatch(text) or _is_enclosed(text) else f"({text})"


def _is_enclosed(text: str) -> bool:
    if not (text.startswith("(") and text.endswith(")")):
        return False
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return position == len(text) - 1
    return False
