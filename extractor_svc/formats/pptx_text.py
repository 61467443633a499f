"""The words of drawn text: paragraphs with their runs, breaks and fields in document order, charts, and diagrams."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from extractor_svc.ooxml import Element, local_name

_ESCAPED_CONTROL: Final = re.compile(r"_x00([01][0-9A-Fa-f]|7[Ff])_")
_BREAK: Final = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_CONTROL: Final = re.compile("[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f]")
_SILENT: Final = frozenset({"", "pPr", "rPr", "endParaRPr", "extLst", "fldPr", "sPr", "rSp", "ctrlPr"})


def live_children(element: Element) -> Iterator[Element]:
    """The elements in one, with the preferred choice in place of each set of alternatives; extensions are left out."""
    for child in element:
        name = local_name(child)
        if name == "AlternateContent":
            yield from live_children(_chosen(child))
        elif name not in ("", "extLst"):
            yield child


def live(element: Element) -> Iterator[Element]:
    """All elements below one in document order, as `live_children` chooses them."""
    for child in live_children(element):
        yield child
        yield from live(child)


def paragraphs_of(body: Element) -> list[str]:
    """The texts of a text body's paragraphs, empty ones too, so that a paragraph keeps its number."""
    return [paragraph_text(child) for child in live_children(body) if local_name(child) == "p"]


def paragraph_text(paragraph: Element) -> str:
    """A paragraph's text: a break is a line end, a field is the text it showed when saved, an equation is its characters."""
    return plain("".join(_pieces(paragraph)))


def run_text(run: Element) -> str:
    """The text of one run or field."""
    return plain("".join(_pieces(run)))


def plain(text: str) -> str:
    """Text without control characters: those that break a line are line ends, any other is a space."""
    unescaped = _ESCAPED_CONTROL.sub(lambda match: chr(int(match[1], 16)), text) if "_x00" in text else text
    return _CONTROL.sub(" ", _BREAK.sub("\n", unescaped))


def lines_below(element: Element) -> str:
    """The text of all paragraphs at any depth, one a line; empty ones are left out."""
    return _joined(paragraph_text(found) for found in live(element) if local_name(found) == "p")


def chart_text(root: Element) -> str:
    """A chart's words: titles, labels, and the names of series and categories as the chart keeps them; no numbers."""
    return _joined(_chart_lines(root))


def _chosen(alternatives: Element) -> Element:
    """The first choice, or the fallback where there is none."""
    choices = [child for child in alternatives if local_name(child) == "Choice"]
    fallbacks = [child for child in alternatives if local_name(child) == "Fallback"]
    return next(iter((*choices, *fallbacks)), ())


def _pieces(element: Element) -> Iterator[str]:
    for child in live_children(element):
        match local_name(child):
            case "t":
                yield child.text or ""
            case "br":
                yield "\n"
            case name if name not in _SILENT:
                yield from _pieces(child)


def _chart_lines(root: Element) -> Iterator[str]:
    for element in live(root):
        match local_name(element):
            case "p":
                yield paragraph_text(element)
            case "strCache":
                yield from (plain(value.text or "") for value in live(element) if local_name(value) == "v")
            case "strDim":
                yield from (plain(point.text or "") for point in live(element) if local_name(point) == "pt")


def _joined(lines: Iterator[str]) -> str:
    return "\n".join(line for line in lines if line.strip())
