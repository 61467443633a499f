"""A document's frame: its parts by their relationships, its headers and footers, its notes, and what the file says of itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from artifact.model import BlockType
from extractor_svc.errors import Malformed
from extractor_svc.formats.docx_numbering import Numbering
from extractor_svc.formats.docx_styles import StyleBook, View
from extractor_svc.formats.docx_xml import Changes, live_children, plain, switch_of
from extractor_svc.limits import Limits
from extractor_svc.ooxml import Element, Package, Relationship, attribute, child_of, local_name

_PROPERTIES: Final = ("title", "subject", "creator", "keywords", "description", "category", "created", "modified")
_MARGINS: Final = {"header": BlockType.HEADER, "footer": BlockType.FOOTER}
_NOTES: Final = {
    "footnotes": (BlockType.FOOTNOTE, "footnote"),
    "endnotes": (BlockType.ENDNOTE, "endnote"),
    "comments": (BlockType.COMMENT, "comment"),
}
_SEPARATORS: Final = frozenset({"separator", "continuationSeparator", "continuationNotice"})


class Parts:
    """Reads the parts of a package and keeps account of those that were read and those that could not be."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self.read: set[str] = set()
        self.failed: dict[str, str] = {}
        self._targets: dict[str, dict[str, Relationship]] = {}

    def root(self, part: str) -> Element | None:
        """A part's root; None where it is missing or not sound, which is put down as failed."""
        if part not in self.package:
            self.failed[part] = "missing_part"
            return None
        try:
            root = self.package.parse(part)
        except Malformed:
            self.failed[part] = "malformed"
            return None
        self.read.add(part)
        return root

    def related(self, part: str, kind: str) -> list[str]:
        """The parts that a part is related to in one way, whether or not the package has them; none outside it."""
        return [relationship.part for relationship in self._of(part).values() if relationship.kind == kind and relationship.part]

    def target(self, part: str, relationship: str) -> str:
        """The part that a relationship leads to; empty where there is none, or it leads outside."""
        found = self._of(part).get(relationship)
        return "" if found is None else found.part

    def addresses(self, part: str) -> dict[str, str]:
        """The addresses outside that a part's relationships lead to, by id."""
        return {name: found.address for name, found in self._of(part).items() if found.address}

    def _of(self, part: str) -> dict[str, Relationship]:
        if part not in self._targets:
            try:
                self._targets[part] = {found.id: found for found in self.package.relationships(part)}
            except Malformed:
                self._targets[part] = {}
                self.failed[f"{part} relationships"] = "malformed"
        return self._targets[part]


@dataclass(frozen=True, slots=True)
class Margin:
    """A header or footer part, and whether any page of the document shows it."""

    kind: BlockType
    part: str
    root: Element
    is_shown: bool


@dataclass(frozen=True, slots=True)
class Note:
    """A footnote, an endnote or a comment: its element and path in its part, and who wrote the comment."""

    kind: BlockType
    part: str
    path: str
    element: Element
    author: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """What reading a document needs besides its body. `notes` are by kind and id, in their parts' order."""

    parts: Parts
    part: str
    body: Element
    view: View
    margins: tuple[Margin, ...]
    notes: dict[tuple[BlockType, str], Note]
    properties: dict[str, str] = field(default_factory=dict)
    has_macros: bool = False


def open_document(content: bytes, changes: Changes, limits: Limits) -> Document:
    """Reads the frame of a document; parts are found by relationships, whatever they are named.

    Raises:
        Malformed: there is no document in the package.
    """
    package = Package(content, limits)
    part = package.main_part
    root = package.parse(part) if part else None
    body = None if root is None or local_name(root) != "document" else child_of(root, "body")
    if body is None:
        raise Malformed("the file has no document in it; save it again")
    parts = Parts(package)
    parts.read.add(part)
    numbering = Numbering(_related_root(parts, part, "numbering"))
    return Document(
        parts=parts,
        part=part,
        body=body,
        view=View(StyleBook(_related_root(parts, part, "styles"), numbering), changes),
        margins=tuple(_margins(parts, part, body)),
        notes=dict(_notes(parts, part)),
        properties=_properties(package),
        has_macros=any(name.lower().endswith("vbaproject.bin") for name in package.names),
    )


def _related_root(parts: Parts, part: str, kind: str) -> Element | None:
    return next((parts.root(related) for related in parts.related(part, kind)), None)


def _margins(parts: Parts, part: str, body: Element) -> Iterator[Margin]:
    """Headers, then footers, each part once, in the order of the sections that name them; those that no section names last."""
    settings = _related_root(parts, part, "settings")
    shown = _shown_margins(body, even_pages=bool(switch_of(settings, "evenAndOddHeaders")))
    for kind, block_type in _MARGINS.items():
        related = parts.related(part, kind)
        named = [target for found, relationship in shown if found == kind and (target := parts.target(part, relationship))]
        on_pages = {parts.target(part, relationship) for (_, relationship), is_shown in shown.items() if is_shown}
        for target in dict.fromkeys([*named, *related]):
            root = parts.root(target)
            if root is not None:
                yield Margin(block_type, target, root, target in on_pages)


def _shown_margins(body: Element, *, even_pages: bool) -> dict[tuple[str, str], bool]:
    """The headers and footers that sections name, by kind and relationship, and whether a page shows them.

    A section keeps those of the one before it that it does not replace. Those of first pages are shown where a section has
    a first page of its own, those of even pages where the document tells even from odd.
    """
    current: dict[tuple[str, str], tuple[str, str]] = {}
    shown: dict[tuple[str, str], bool] = {}
    for section in body.iter("{*}sectPr"):
        if local_name(section.getparent()) == "sectPrChange":
            continue
        for child in section:
            kind = local_name(child).removesuffix("Reference")
            if kind in _MARGINS:
                place = kind, attribute(child, "type") or "default"
                current[place] = kind, attribute(child, "id") or ""
                shown.setdefault(current[place], False)
        pages = {"default": True, "first": bool(switch_of(section, "titlePg")), "even": even_pages}
        shown.update({named: True for (_, page), named in current.items() if pages.get(page, True)})
    return shown


def _notes(parts: Parts, part: str) -> Iterator[tuple[tuple[BlockType, str], Note]]:
    for kind, (block_type, name) in _NOTES.items():
        for related in parts.related(part, kind):
            root = parts.root(related)
            for element, found, path in () if root is None else live_children(root, ""):
                if found == name and attribute(element, "type") not in _SEPARATORS:
                    author = plain(attribute(element, "author") or "").strip() if block_type is BlockType.COMMENT else ""
                    yield (block_type, attribute(element, "id") or ""), Note(block_type, related, path, element, author)


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
