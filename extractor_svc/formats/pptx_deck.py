"""A presentation's frame: its slides in the order it lists them, the people who comment, and what the file says of itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from extractor_svc.errors import Malformed, OutputLimit
from extractor_svc.limits import Limits
from extractor_svc.ooxml import Element, Package, child_of, children_of, local_name

_PROPERTIES: Final = ("title", "subject", "creator", "keywords", "description", "category", "created", "modified")
_SLIDE_HEIGHT: Final = 6_858_000
_FALSE: Final = frozenset({"0", "false", "off"})


@dataclass(frozen=True, slots=True)
class Slide:
    """One slide: its number in the presentation's order from 1, and its part, empty where the package has none."""

    number: int
    part: str


@dataclass(frozen=True, slots=True)
class Deck:
    """What reading a slide needs of the presentation around it; `height` is that of every slide, in EMU."""

    package: Package
    presentation: Element
    slides: tuple[Slide, ...]
    height: int
    authors: dict[str, str]
    has_macros: bool
    properties: dict[str, str]


def open_deck(content: bytes, limits: Limits) -> Deck:
    """Reads the frame of a presentation; slides are those that it lists, in its order, whatever their parts are named.

    Raises:
        Malformed: there is no presentation in the package.
        OutputLimit: it lists more slides than are read.
    """
    package = Package(content, limits)
    part = package.main_part
    if not part:
        raise Malformed("the file has no presentation; save it again")
    root = package.parse(part)
    if local_name(root) != "presentation":
        raise Malformed("the file has no presentation; save it again")
    slides = tuple(_slides(package, part, root))
    if len(slides) > limits.max_pages:
        raise OutputLimit(
            f"the presentation has {len(slides)} slides and at most {limits.max_pages} are read; split it",
            metadata={"slides": str(len(slides)), "max_pages": str(limits.max_pages)},
        )
    size = child_of(root, "sldSz")
    return Deck(
        package=package,
        presentation=root,
        slides=slides,
        height=_SLIDE_HEIGHT if size is None else whole_number(size.get("cy")) or _SLIDE_HEIGHT,
        authors=dict(_authors(package, part)),
        has_macros=any(name.lower().endswith("vbaproject.bin") for name in package.names),
        properties=_properties(package),
    )


def whole_number(text: str | None) -> int | None:
    """An integer as an attribute writes it; None where it writes none, or none that a slide could have."""
    stripped = (text or "").strip()
    digits = stripped.removeprefix("-")
    return int(stripped) if digits.isascii() and digits.isdecimal() and len(digits) <= 15 else None


def is_false(value: str | None) -> bool:
    """Whether an attribute says no, in any of the ways XML writes it."""
    return value is not None and value.strip().lower() in _FALSE


def is_true(value: str | None) -> bool:
    """Whether an attribute is there and says yes."""
    return value is not None and not is_false(value)


def relationship_id(element: Element) -> str:
    """The relationship an element names, which has its attribute in a namespace, unlike the element's own id."""
    return next((str(value) for key, value in element.attrib.items() if key.startswith("{") and key.endswith("}id")), "")


def _slides(package: Package, part: str, root: Element) -> Iterator[Slide]:
    targets = {rel.id: rel.part for rel in package.relationships(part) if rel.part in package}
    listed = (child for child in children_of(root, "sldIdLst") if local_name(child) == "sldId")
    for number, element in enumerate(listed, 1):
        yield Slide(number, targets.get(relationship_id(element), ""))


def _authors(package: Package, part: str) -> Iterator[tuple[str, str]]:
    """Ids and names of those who comment, in the older and the newer list alike; a list that is not sound names nobody."""
    for kind in ("commentAuthors", "authors"):
        for listed in package.related(part, kind):
            try:
                root = package.parse(listed)
            except Malformed:
                continue
            yield from ((author.get("id", ""), author.get("name", "")) for author in root)


def _properties(package: Package) -> dict[str, str]:
    """What the file says of itself in its core properties; a package without them, or with broken ones, has none."""
    found: dict[str, str] = {}
    for part in package.related("", "core-properties")[:1]:
        try:
            root = package.parse(part)
        except Malformed:
            return found
        for element in root:
            name, text = local_name(element), (element.text or "").strip()
            if name in _PROPERTIES and text:
                found[name] = text
    return found
