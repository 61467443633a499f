"""A workbook's frame: its sheets in their order, shared strings, number formats and the settings that give values meaning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from artifact.model import Visibility
from extractor_svc.errors import Malformed
from extractor_svc.formats.xlsx_names import DefinedName, defined_names
from extractor_svc.formats.xlsx_number_formats import BUILT_IN, GENERAL, NumberFormat, number_format
from extractor_svc.formats.xlsx_strings import read_strings, unescape
from extractor_svc.limits import Limits
from extractor_svc.ooxml import Element, Package, child_of, children_of, local_name

_TRUE: Final = frozenset({"1", "true", "on"})
_PROPERTIES: Final = ("title", "subject", "creator", "keywords", "description", "category", "created", "modified")


@dataclass(frozen=True, slots=True)
class Sheet:
    """One tab: its name, its part (empty where the package has none), the word for its kind, and whether it is shown."""

    name: str
    part: str
    kind: str
    visibility: Visibility


@dataclass(frozen=True, slots=True, eq=False)
class Book:
    """What reading a sheet needs of the workbook around it."""

    package: Package
    part: str
    sheets: tuple[Sheet, ...]
    strings: pa.StringArray
    looks: tuple[NumberFormat, ...]
    look_of_style: npt.NDArray[np.int32]
    from_1904: bool
    names: tuple[DefinedName, ...]
    recalculates: bool
    has_macros: bool
    properties: dict[str, str] = field(default_factory=dict)

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of `looks`."""
        return tuple(look.code for look in self.looks)

    def looks_of(self, styles: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """The place in `looks` of the number format of each style; 0, which is General, where a style leads nowhere."""
        last = len(self.look_of_style) - 1
        return np.where(styles <= last, self.look_of_style[np.minimum(styles, last)], 0).astype(np.int32)


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
    strings = [read_strings(package, shared, limits) for shared in package.related(part, "sharedStrings")[:1]]
    looks, look_of_style = _looks(package, part)
    return Book(
        package=package,
        part=part,
        sheets=sheets,
        strings=strings[0] if strings else pa.array([], pa.string()),
        looks=looks,
        look_of_style=look_of_style,
        from_1904=settings is not None and is_true(settings.get("date1904")),
        names=tuple(defined_names(workbook)),
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


def _looks(package: Package, part: str) -> tuple[tuple[NumberFormat, ...], npt.NDArray[np.int32]]:
    """The number formats, General first, and the place of each cell style's among them."""
    places = {GENERAL.code: 0}
    looks = [GENERAL]
    look_of_style = []
    for found in _formats(package, part):
        if found.code not in places:
            places[found.code] = len(looks)
            looks.append(found)
        look_of_style.append(places[found.code])
    return tuple(looks), np.array(look_of_style or [0], np.int32)


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
