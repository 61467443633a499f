"""A workbook's frame: its sheets in their order, shared strings, number formats and the settings that give values meaning."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from artifact.model import Visibility
from extractor_svc.errors import Malformed, OutputLimit
from extractor_svc.formats.xlsx_number_formats import BUILT_IN, GENERAL, NumberFormat, number_format
from extractor_svc.limits import Limits
from extractor_svc.ooxml import Element, Package, child_of, children_of, local_name

_ESCAPE: Final = re.compile(r"_x([0-9A-Fa-f]{4})_")
_TRUE: Final = frozenset({"1", "true", "on"})
_PROPERTIES: Final = ("title", "subject", "creator", "keywords", "description", "category", "created", "modified")


@dataclass(frozen=True, slots=True)
class Sheet:
    """One tab: its name, its part (empty where the package has none), the word for its kind, and whether it is shown."""

    name: str
    part: str
    kind: str
    visibility: Visibility


@dataclass(frozen=True, slots=True)
class Book:
    """What reading a sheet needs of the workbook around it."""

    package: Package
    part: str
    sheets: tuple[Sheet, ...]
    strings: tuple[str, ...]
    formats: tuple[NumberFormat, ...]
    from_1904: bool
    recalculates: bool
    has_macros: bool
    properties: dict[str, str] = field(default_factory=dict)

    def format_of(self, style: str | None) -> NumberFormat:
        """The number format of a cell's style index; General where the index leads nowhere."""
        index = whole_number(style) or 0
        return self.formats[index] if index < len(self.formats) else GENERAL


def open_book(content: bytes, limits: Limits) -> Book:
    """Reads the frame of a workbook; sheets are those that the workbook lists, in its order.

    Raises:
        Malformed: there is no workbook in the package, or it lists no sheet.
        OutputLimit: the shared strings hold more text than allowed.
    """
    package = Package(content, limits)
    part = package.main_part
    if not part:
        raise Malformed("the file has no workbook; save it again")
    workbook = package.parse(part)
    sheets = tuple(_sheets(package, part, workbook))
    if not sheets:
        raise Malformed("the workbook lists no sheet; save it again")
    settings = child_of(workbook, "workbookPr")
    calculation = child_of(workbook, "calcPr")
    return Book(
        package=package,
        part=part,
        sheets=sheets,
        strings=_shared_strings(package, part, limits),
        formats=_formats(package, part),
        from_1904=settings is not None and is_true(settings.get("date1904")),
        recalculates=calculation is not None and is_true(calculation.get("fullCalcOnLoad")),
        has_macros=any(name.lower().endswith("vbaproject.bin") for name in package.names),
        properties=_properties(package),
    )


def whole_number(text: str | None) -> int | None:
    """A count or an index as an attribute writes it; None where it writes none, or none that a workbook could have."""
    stripped = (text or "").strip()
    return int(stripped) if stripped.isascii() and stripped.isdecimal() and len(stripped) <= 9 else None


def is_true(value: str | None) -> bool:
    """Whether an attribute says yes, in any of the ways XML writes it."""
    return value is not None and value.strip().lower() in _TRUE


def rich_text(element: Element) -> str:
    """The text of a string item: plain, or its formatted runs joined; reading aids beside it (`rPh`) are no part of it."""
    pieces = []
    for child in element:
        name = local_name(child)
        if name == "t":
            pieces.append(child.text or "")
        elif name == "r":
            pieces.extend(run.text or "" for run in child if local_name(run) == "t")
    return unescape("".join(pieces))


def unescape(text: str) -> str:
    """Text with `_x000D_` escapes read as the characters they stand for; half of a character becomes U+FFFD."""
    if "_x" not in text:
        return text
    plain = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _sheets(package: Package, part: str, workbook: Element) -> Iterator[Sheet]:
    related = {rel.id: rel for rel in package.relationships(part)}
    for element in children_of(workbook, "sheets"):
        rel = related.get(_relationship_id(element))
        shown = element.get("state", "visible") == "visible"
        yield Sheet(
            name=unescape(element.get("name", "")),
            part=rel.part if rel and rel.part in package else "",
            kind=rel.kind if rel else "",
            visibility=Visibility.VISIBLE if shown else Visibility.HIDDEN_SHEET,
        )


def _relationship_id(element: Element) -> str:
    return next((str(value) for key, value in element.attrib.items() if key.startswith("{") and key.endswith("}id")), "")


def _shared_strings(package: Package, part: str, limits: Limits) -> tuple[str, ...]:
    strings: list[str] = []
    chars = 0
    for shared in package.related(part, "sharedStrings")[:1]:
        for item in package.stream(shared, ("si",)):
            strings.append(rich_text(item))
            chars += len(strings[-1])
            if chars > limits.max_text_chars:
                raise OutputLimit(
                    f"the workbook has more than {limits.max_text_chars} characters of text; split it",
                    metadata={"max_text_chars": str(limits.max_text_chars)},
                )
            forget(item)
    return tuple(strings)


def forget(element: Element) -> None:
    """Frees an element that is done with and those before it."""
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]


def _formats(package: Package, part: str) -> tuple[NumberFormat, ...]:
    """The number format of each cell style; none where the workbook has no styles."""
    for styles in package.related(part, "styles")[:1]:
        root = package.parse(styles)
        codes = {item.get("numFmtId", ""): item.get("formatCode", "") for item in children_of(root, "numFmts")}
        return tuple(_format(item.get("numFmtId", "0"), codes) for item in children_of(root, "cellXfs"))
    return ()


def _format(number: str, codes: dict[str, str]) -> NumberFormat:
    if number in codes:
        return number_format(codes[number])
    return number_format(BUILT_IN.get(whole_number(number) or 0, "General"))


def _properties(package: Package) -> dict[str, str]:
    """What the file says of itself in its core properties; a package without them has none."""
    found = {}
    for part in package.related("", "core-properties")[:1]:
        for element in package.parse(part):
            name, text = local_name(element), (element.text or "").strip()
            if name in _PROPERTIES and text:
                found[name] = text
    return found
