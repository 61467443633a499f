"""An office package: parts found by their relationships, XML read without entities, in both the usual and the strict names."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Protocol, TypeAlias
from urllib.parse import unquote

from lxml import etree

from extractor_svc.errors import DecompressionLimit, Malformed, XmlDtdForbidden
from extractor_svc.limits import MIB, Limits
from extractor_svc.zip_guard import Archive, EntryStream

Element: TypeAlias = Any  # lxml ships no types

_PROLOGUE: Final = re.compile(
    r"(?:\ufeff|\xef\xbb\xbf)?(?:\s|<\?.*?\?>|<!--.*?-->)*+<(?:(?P<document_type>!DOCTYPE)|[^!?])", re.DOTALL | re.IGNORECASE
)
_UTF_16: Final = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"<\x00": "utf-16-le", b"\x00<": "utf-16-be"}
_PROLOGUE_BYTES: Final = 16 * 1024
_LONGEST_PROLOGUE: Final = MIB
_PIECE_BYTES: Final = 64 * 1024
_LARGEST_TREE: Final = 64 * MIB
_FORMATS: Final = (("spreadsheetml", "xlsx"), ("wordprocessingml", "docx"), ("presentationml", "pptx"))
_ROOTS: Final = {"workbook": "xlsx", "document": "docx", "presentation": "pptx"}


@dataclass(frozen=True, slots=True)
class Relationship:
    """One relationship of a part: its id, the last word of its type, and the part, or the address outside, it leads to."""

    id: str
    kind: str
    part: str
    address: str = ""


class Readable(Protocol):
    """What bytes are read from by pieces."""

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes; empty at the end."""


class PartTarget:
    """What is told a part's elements one after the other; a subclass takes what it needs."""

    def __init__(self, part: str) -> None:
        self._part = part

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""

    def data(self, text: str) -> None:
        """Some of an element's text comes."""

    def end(self, tag: str) -> None:
        """An element ends."""

    def close(self) -> None:
        """Everything was told."""

    def doctype(self, *_: str | None) -> None:
        """A document type is declared, which refuses the file."""
        raise _document_type(self._part)


class Package:
    """The parts of an office file. Part names carry no leading slash."""

    def __init__(self, content: bytes, limits: Limits) -> None:
        self._archive = Archive(content, limits)
        self.names = self._archive.names
        self._relationships: dict[str, tuple[Relationship, ...]] = {}

    def __contains__(self, part: str) -> bool:
        return part in self._archive

    def parse(self, part: str) -> Element:
        """The root element of a part.

        Raises:
            Malformed: the part is missing or not XML.
            XmlDtdForbidden: the part declares a document type.
            DecompressionLimit: the part is too large to hold as a tree.
        """
        if part in self and self._archive.size_of(part) > _LARGEST_TREE:
            raise DecompressionLimit(f"part {part} is larger than any office file has it", metadata={"part": part})
        with self.open(part) as stream:
            return _tree(_Prologue(stream, part), part)

    def stream(self, part: str, names: Sequence[str]) -> Iterator[Element]:
        """The part's elements of these names, each when it ends; who reads them clears what is done with. Raises as `parse`."""
        with self.open(part) as stream:
            yield from elements(stream, part, names)

    def feed(self, part: str, target: PartTarget) -> None:
        """Tells a target the start, the text and the end of every element of a part, without a tree. Raises as `parse`."""
        with self.open(part) as stream:
            feed(stream, part, target)

    def size_of(self, part: str) -> int:
        """Bytes of a part when inflated, as the package states them; 0 where it has none."""
        return self._archive.size_of(part) if part in self else 0

    def read(self, part: str) -> bytes:
        """The bytes of a part. Raises Malformed where it is missing."""
        with self.open(part) as stream:
            return stream.read()

    def relationships(self, part: str = "") -> tuple[Relationship, ...]:
        """A part's relationships in their order, the package's own for the empty name; none where it states none."""
        if part not in self._relationships:
            self._relationships[part] = tuple(self._read_relationships(part))
        return self._relationships[part]

    def _read_relationships(self, part: str) -> Iterator[Relationship]:
        folder, name = posixpath.split(part)
        rels = posixpath.join(folder, "_rels", f"{name}.rels")
        if rels in self:
            yield from (_relationship(child, folder) for child in self.parse(rels) if local_name(child) == "Relationship")

    def related(self, part: str, kind: str) -> tuple[str, ...]:
        """Parts that a part is related to in one way, such as `sharedStrings`, where the package has them."""
        return tuple(rel.part for rel in self.relationships(part) if rel.kind == kind and rel.part in self)

    @property
    def main_part(self) -> str:
        """The part the package is about; empty where it states none."""
        return next(iter(self.related("", "officeDocument")), "")

    def format_id(self) -> str:
        """Which office format this is (`xlsx`, `docx`, `pptx`), by the main part's stated type or its root; else empty."""
        main = self.main_part
        stated = self._content_type(main) if main else ""
        for word, format_id in _FORMATS:
            if word in stated:
                return format_id
        if not main:
            return ""
        return _ROOTS.get(local_name(self.parse(main)), "")

    def _content_type(self, part: str) -> str:
        if "[Content_Types].xml" not in self:
            return ""
        for child in self.parse("[Content_Types].xml"):
            if child.get("PartName", "").lstrip("/").casefold() == part.casefold():
                return str(child.get("ContentType", ""))
        return ""

    def open(self, part: str) -> EntryStream:
        """A part as a stream. Raises Malformed where it is missing."""
        try:
            return self._archive.open(part)
        except KeyError:
            raise Malformed(f"part {part} of the file is missing; save the file again", metadata={"part": part}) from None


def feed(stream: Readable, part: str, target: PartTarget) -> None:
    """Tells a target every element of a stream of XML, as `Package.feed` does of a part; `part` is named in errors."""
    source = _Prologue(stream, part)
    parser = etree.XMLParser(target=target, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        while piece := source.read(_PIECE_BYTES):
            parser.feed(piece)
        parser.close()
    except etree.XMLSyntaxError as error:
        raise _not_well_formed(part) from error


def elements(stream: Readable, part: str, names: Sequence[str]) -> Iterator[Element]:
    """The elements of these names in a stream of XML, as `Package.stream` gives those of a part; `part` is named in errors."""
    yield from _Ends(stream, part, names)


def local_name(element: Element) -> str:
    """An element's name without its namespace; empty for a comment or an instruction."""
    tag = element.tag
    return without_namespace(tag) if isinstance(tag, str) else ""


@lru_cache(maxsize=1024)
def without_namespace(tag: str) -> str:
    """A tag's name without its namespace."""
    return tag.rpartition("}")[2]


def attribute(element: Element, name: str) -> str | None:
    """The value of an attribute by its name without the namespace."""
    if (value := element.get(name)) is not None:
        return str(value)
    end = "}" + name
    for key, value in element.attrib.items():
        if key.endswith(end):
            return str(value)
    return None


def child_of(element: Element, name: str) -> Element | None:
    """The first child of that name without the namespace."""
    for child in element:
        if local_name(child) == name:
            return child
    return None


def children_of(element: Element, name: str) -> Iterator[Element]:
    """The elements in the first child of that name; none where there is no such child."""
    parent = child_of(element, name)
    if parent is not None:
        yield from (child for child in parent if local_name(child))


class _Prologue:
    """A stream whose bytes up to the root were looked at for a document type, which a parser may die of before it can be asked."""

    def __init__(self, stream: Readable, part: str) -> None:
        self._head, found = b"", None
        self._stream = stream
        while found is None and len(self._head) < _LONGEST_PROLOGUE and (more := stream.read(len(self._head) or _PROLOGUE_BYTES)):
            self._head += more
            found = _PROLOGUE.match(self._head.decode(_UTF_16.get(self._head[:2], "latin-1"), "replace"))
        if found is None:
            raise _not_well_formed(part)
        if found["document_type"]:
            raise _document_type(part)

    def read(self, size: int) -> bytes:
        """The head first, then what follows it."""
        if not self._head:
            return self._stream.read(size)
        piece, self._head = self._head[:size], self._head[size:]
        return piece


class _Ends:
    """An iterator over elements of some names as they end, that refuses a document type before it yields any."""

    def __init__(self, stream: Readable, part: str, names: Sequence[str]) -> None:
        self._part = part
        self._checked = False
        self._events = etree.iterparse(
            _Prologue(stream, part),
            events=("end",),
            tag=[f"{{*}}{name}" for name in names],
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            remove_comments=True,
            remove_pis=True,
            huge_tree=False,
        )

    def __iter__(self) -> Iterator[Element]:
        try:
            for _, element in self._events:
                self._refuse_document_type(element)
                yield element
        except etree.XMLSyntaxError as error:
            raise _not_well_formed(self._part) from error
        self._refuse_document_type(self._events.root)

    def _refuse_document_type(self, element: Element) -> None:
        if self._checked:
            return
        self._checked = True
        _refuse_document_type(element, self._part)


def _tree(source: _Prologue, part: str) -> Element:
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True, huge_tree=False
    )
    try:
        root = etree.parse(source, parser).getroot()
    except etree.XMLSyntaxError as error:
        raise _not_well_formed(part) from error
    _refuse_document_type(root, part)
    return root


def _refuse_document_type(element: Element, part: str) -> None:
    info = element.getroottree().docinfo
    if info.internalDTD is not None or info.doctype:
        raise _document_type(part)


def _not_well_formed(part: str) -> Malformed:
    return Malformed(f"part {part} of the file is not well-formed", metadata={"part": part})


def _document_type(part: str) -> XmlDtdForbidden:
    return XmlDtdForbidden(f"part {part} declares a document type, which office files never do", metadata={"part": part})


def _relationship(element: Element, folder: str) -> Relationship:
    kind = element.get("Type", "").rstrip("/").rpartition("/")[2]
    target = element.get("Target", "")
    if element.get("TargetMode") == "External":
        return Relationship(element.get("Id", ""), kind, "", target)
    return Relationship(element.get("Id", ""), kind, _part_at(target, folder))


def _part_at(target: str, folder: str) -> str:
    path = unquote(target.replace("\\", "/")).partition("#")[0]
    absolute = path if path.startswith("/") else posixpath.join("/", folder, path)
    return posixpath.normpath(absolute).lstrip("/")
