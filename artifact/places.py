"""Checks that a locator can be a place at all."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Final

from artifact.faults import ArtifactFault
from artifact.locators import (
    KINDS,
    ByteSpan,
    CharSpan,
    DocxPlace,
    HtmlPlace,
    ImagePlace,
    LineSpan,
    Locator,
    PageBox,
    PdfPlace,
    RowSpan,
    SheetPlace,
    SlidePlace,
    TomlPlace,
    from_json,
)

_TYPES: Final[dict[str, type | tuple[type, ...]]] = {
    "int": int,
    "str": str,
    "bool": bool,
    "float": (int, float),
    "tuple[PageBox, ...]": tuple,
}
_FIELD_TYPES: Final = {
    kind: tuple((field.name, _TYPES[str(field.type)]) for field in fields(kind)) for kind in (*KINDS.values(), PageBox)
}


def check_locator(locator: Locator, field: str) -> None:
    """Refuses a locator that names no possible place: counts below 1, an end before its start, boxes that are not finite.

    Raises:
        ArtifactFault: naming the field.
    """
    match locator:
        case LineSpan(first, last) | RowSpan(first, last):
            _check_range(first, last, field=field)
        case CharSpan(start, end) | ByteSpan(start, end):
            _check_range(start, end, field=field, least=0)
        case PdfPlace():
            _check_pdf(locator, field)
        case SlidePlace(first, last):
            _check_range(first, last, field=field)
        case SheetPlace():
            _check_sheet(locator, field)
        case TomlPlace(_, first, last):
            _check_range(first, last, field=field)
        case ImagePlace():
            _check_range(locator.frame, locator.frame, field=field)
            _check_range(locator.x0, locator.x1, field=field, least=0)
            _check_range(locator.y0, locator.y1, field=field, least=0)
        case DocxPlace(part, first_path, last_path):
            _check_named(part, field)
            _check_named(first_path, field)
            _check_named(last_path, field)
        case HtmlPlace(first_path, last_path):
            _check_named(first_path, field)
            _check_named(last_path, field)


def read_locator_json(text: str, field: str) -> Locator:
    """The locator that a dataset row states as JSON, with types and values checked.

    Raises:
        ArtifactFault: naming the field.
    """
    try:
        locator = from_json(text)
    except (ValueError, RecursionError) as error:
        raise ArtifactFault(field, "is not the JSON of a locator") from error
    _check_types(locator, field)
    check_locator(locator, field)
    return locator


def _check_types(value: Locator | PageBox, field: str) -> None:
    for name, kind in _FIELD_TYPES[type(value)]:
        found = getattr(value, name)
        if not isinstance(found, kind) or (isinstance(found, bool) and kind is not bool):
            raise ArtifactFault(field, f"has a value of the wrong type in {name}")
    if isinstance(value, PdfPlace):
        for box in value.boxes:
            _check_types(box, field)


def _check_pdf(place: PdfPlace, field: str) -> None:
    _check_range(place.first_page, place.last_page, field=field)
    for number, box in enumerate(place.boxes):
        where = f"{field}.boxes[{number}]"
        if not all(math.isfinite(side) for side in (box.x0, box.y0, box.x1, box.y1)):
            raise ArtifactFault(where, "has a side that is not finite")
        if box.x0 > box.x1 or box.y0 > box.y1:
            raise ArtifactFault(where, "ends before it starts")
        if not place.first_page <= box.page <= place.last_page:
            raise ArtifactFault(where, "stands on a page outside its range")


def _check_sheet(place: SheetPlace, field: str) -> None:
    _check_named(place.sheet, field)
    if not place.tab or place.first_row or place.first_column or place.last_column:
        _check_range(place.first_row, place.last_row, field=field)
        _check_range(place.first_column, place.last_column, field=field)


def _check_range(first: int, last: int, *, field: str, least: int = 1) -> None:
    if first < least:
        raise ArtifactFault(field, f"starts at {first}, below {least}")
    if last < first:
        raise ArtifactFault(field, f"ends at {last}, before its start {first}")


def _check_named(name: str, field: str) -> None:
    if not name:
        raise ArtifactFault(field, "names no place")
