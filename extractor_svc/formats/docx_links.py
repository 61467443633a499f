"""The links of a document: hyperlinks, fields that are links, and links on pictures, in document order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from artifact.locators import DocxPlace
from artifact.model import Visibility
from extractor_svc.formats.docx_document import Document
from extractor_svc.formats.docx_xml import live_children, plain
from extractor_svc.ooxml import Element, attribute

_FIELD: Final = re.compile(r"""\s*HYPERLINK\b(?P<switches>.*)""", re.DOTALL | re.IGNORECASE)
_ARGUMENT: Final = re.compile(r"""(?:\\(?P<switch>[A-Za-z])\s*)?(?:"(?P<quoted>[^"]*)"|(?P<bare>[^\s"\\]+))?""")
_LINKING: Final = ("{*}hyperlink", "{*}fldSimple", "{*}instrText", "{*}hlinkClick")


@dataclass(slots=True)
class _Open:
    """A link that is being read: its target, or the code of its field, its text so far, and its paragraph."""

    path: str
    target: str = ""
    code: str | None = None
    text: str = ""


def links_of(document: Document) -> Iterator[tuple[str, str, DocxPlace]]:
    """The text, the target and the paragraph of each link; a place in the file is `#` and the bookmark. None is deleted."""
    for margin in document.margins:
        yield from _Walk(document, margin.part).links(margin.root, "")
    yield from _Walk(document, document.part).links(document.body, "body")
    for note in document.notes.values():
        yield from _Walk(document, note.part).links(note.element, note.path)


class _Walk:
    """Follows one story of a part."""

    def __init__(self, document: Document, part: str) -> None:
        self._part = part
        self._addresses = document.parts.addresses(part)
        self._changes = document.view.changes
        self._open: list[_Open] = []
        self._done: list[_Open] = []

    def links(self, element: Element, path: str) -> Iterator[tuple[str, str, DocxPlace]]:
        """The links below an element."""
        if next(element.iter(*_LINKING), None) is None:
            return
        self._follow(element, path, path)
        for link in self._done:
            if link.target:
                yield plain(link.text), link.target, DocxPlace(self._part, link.path, link.path)

    def _follow(self, element: Element, path: str, paragraph: str) -> None:
        for child, name, place in live_children(element, path):
            if self._changes.get(name) is Visibility.DELETED:
                continue
            match name:
                case "p":
                    self._follow(child, place, place)
                case "hyperlink":
                    self._begin(_Open(paragraph, self._target(child)))
                    self._follow(child, place, paragraph)
                    self._done.append(self._open.pop())
                case "fldSimple":
                    self._begin(_Open(paragraph, _target_of_field(attribute(child, "instr") or "")))
                    self._follow(child, place, paragraph)
                    self._done.append(self._open.pop())
                case "fldChar":
                    self._mark(attribute(child, "fldCharType") or "", paragraph)
                case "instrText":
                    if self._open and self._open[-1].code is not None:
                        self._open[-1].code += child.text or ""
                case "t":
                    for link in self._open:
                        link.text += child.text or ""
                case "hlinkClick":
                    self._done.append(_Open(paragraph, self._target(child)))
                case _:
                    self._follow(child, place, paragraph)

    def _begin(self, link: _Open) -> None:
        self._open.append(link)

    def _mark(self, kind: str, paragraph: str) -> None:
        """Begins a field, ends its code, or ends it."""
        if kind == "begin":
            self._begin(_Open(paragraph, code=""))
        elif self._open and self._open[-1].code is not None and kind == "separate":
            self._open[-1].target = _target_of_field(self._open[-1].code)
        elif self._open and self._open[-1].code is not None and kind == "end":
            self._done.append(self._open.pop())

    def _target(self, element: Element) -> str:
        anchor = attribute(element, "anchor")
        return self._addresses.get(attribute(element, "id") or "", "") + (f"#{anchor}" if anchor else "")


def _target_of_field(code: str) -> str:
    """Where a field that is a link leads; empty for another one."""
    field = _FIELD.fullmatch(code)
    target = anchor = ""
    for argument in _ARGUMENT.finditer(field["switches"]) if field else ():
        value = argument["quoted"] or argument["bare"] or ""
        if argument["switch"] is None:
            target = target or value
        elif argument["switch"].lower() == "l":
            anchor = value
    return target + (f"#{anchor}" if anchor else "")
