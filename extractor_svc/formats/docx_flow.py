"""Paragraphs and tables as they follow one another, whatever wraps them, with paragraphs that deleted ends run together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from artifact.model import Visibility
from extractor_svc.formats.docx_runs import Runs, read_runs, read_stray, run_together
from extractor_svc.formats.docx_styles import View
from extractor_svc.formats.docx_xml import live_children, outweighing, properties_of
from extractor_svc.ooxml import Element

_SILENT: Final = frozenset({"sectPr", "sdtPr", "sdtEndPr", "customXmlPr", "tcPr", "pPr"})
_OF_PARAGRAPHS: Final = frozenset({"r", "oMath", "oMathPara", "hyperlink", "fldSimple"})


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph, or several that deleted ends run together, with the paths of the first and last; properties are the last's.

    `mark` is the number that is shown before the text, with what parts them.
    """

    properties: Element | None
    runs: Runs
    first: str
    last: str
    mark: str = ""

    def shown(self) -> str:
        """The text that is shown, number and display equations included."""
        return self._marked(self.runs.shown())

    def prose(self) -> str:
        """The text that is shown, number included, without the display equations."""
        return self._marked(self.runs.prose())

    def _marked(self, text: str) -> str:
        text = text.strip()
        return self.mark + text if text else ""


@dataclass(frozen=True, slots=True)
class TableAt:
    """A table and how it is shown as a whole."""

    element: Element
    path: str
    visibility: Visibility


@dataclass(frozen=True, slots=True)
class OtherDocument:
    """A place where another document is to be inserted, which is not read."""

    path: str


Item: TypeAlias = Paragraph | TableAt | OtherDocument


def flow(parent: Element, path: str, *, view: View, visibility: Visibility) -> Iterator[Item]:
    """What stands in an element that holds paragraphs and tables, where `visibility` holds.

    A paragraph whose end is deleted is one with the next (ECMA-376, 17.13.5.15), unless all of it is deleted.
    """
    pending: list[Paragraph] = []
    for item in _found_in(parent, path, view, visibility):
        if isinstance(item, Paragraph):
            goes_on = item.runs.ends_deleted and (pending or item.runs.shown().strip())
            pending.append(item)
            if goes_on:
                continue
        if pending:
            yield _run_together(pending)
            pending = []
        if not isinstance(item, Paragraph):
            yield item
    if pending:
        yield _run_together(pending)


def _found_in(parent: Element, path: str, view: View, visibility: Visibility) -> Iterator[Item]:
    for child, name, place in live_children(parent, path):
        match name:
            case "p":
                runs = read_runs(child, place, view=view, visibility=visibility)
                yield Paragraph(properties_of(child, "pPr", view.changes), runs, place, place)
            case "tbl":
                yield TableAt(child, place, visibility)
            case "altChunk":
                yield OtherDocument(place)
            case _ if name in _OF_PARAGRAPHS:
                yield Paragraph(None, read_stray(child, place, view=view, visibility=visibility), place, place)
            case _ if name not in _SILENT:
                yield from _found_in(child, place, view, outweighing(visibility, view.changes.get(name, Visibility.VISIBLE)))


def _run_together(paragraphs: list[Paragraph]) -> Paragraph:
    first, last = paragraphs[0], paragraphs[-1]
    if first is last:
        return first
    return Paragraph(last.properties, run_together([paragraph.runs for paragraph in paragraphs]), first.first, last.last)
