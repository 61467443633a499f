"""What is drawn in a paragraph: text boxes, lettering, charts, diagrams, pictures and embedded files, each with its path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from extractor_svc.formats.docx_xml import live_children, plain
from extractor_svc.ocr.embedded import WHOLE, Crop, crop_of
from extractor_svc.ooxml import Element, local_name

TEXT_BOX: Final = "text_box"
CHART: Final = "chart"
DIAGRAM: Final = "diagram"
LETTERING: Final = "lettering"
PICTURE: Final = "picture"
EMBEDDED: Final = "embedded"
DESCRIPTION: Final = "description"
OTHER_FILE: Final = "other_file"

_EMBEDDED: Final = frozenset({"OLEObject", "control", "movie"})
_CACHES: Final = frozenset({"strCache", "multiLvlStrCache"})
_PICTURES: Final = {"drawing": "pic", "pict": "imagedata"}


@dataclass(frozen=True, slots=True)
class Drawn:
    """One thing that is drawn: `kind` is one of those above; `text` is its words, or the relationship of its part."""

    kind: str
    element: Element
    path: str
    text: str = ""


def drawn_in(drawing: Element, path: str) -> Iterator[Drawn]:
    """Everything in a drawing in document order; what stands in a text box belongs to the box."""
    if local_name(drawing) == "subDoc":
        yield Drawn(OTHER_FILE, drawing, path)
    yield from _below(drawing, path, _PICTURES.get(local_name(drawing), ""))


def crop_of_picture(picture: Element) -> Crop:
    """The shares of a picture that the document does not show."""
    source = next((child for child in _all(picture) if local_name(child) == "srcRect"), None)
    return WHOLE if source is None else crop_of(*map(source.get, ("l", "t", "r", "b")))


def chart_text(root: Element) -> str:
    """A chart's words: titles, labels, and the names of series and categories as the chart keeps them; no numbers."""
    return _lines(_chart_lines(root))


def lines_of(root: Element) -> str:
    """The text of all drawn paragraphs at any depth, one a line; empty ones are left out."""
    return _lines(_paragraph(child) for child in _all(root) if local_name(child) == "p")


def _below(element: Element, path: str, picture: str) -> Iterator[Drawn]:
    for child, name, place in live_children(element, path):
        match name:
            case "txbxContent":
                yield Drawn(TEXT_BOX, child, place)
                continue
            case "txBody":
                yield Drawn(LETTERING, child, place, lines_of(child))
                continue
            case "textpath":
                yield Drawn(LETTERING, child, place, plain(child.get("string", "")))
            case "chart" if relationship := _relationship(child, "id"):
                yield Drawn(CHART, child, place, relationship)
            case "relIds" if relationship := _relationship(child, "dm"):
                yield Drawn(DIAGRAM, child, place, relationship)
            case "docPr" | "cNvPr":
                yield Drawn(DESCRIPTION, child, place, plain(child.get("descr", "")).strip())
            case "shape" | "rect" | "oval" | "roundrect":
                yield Drawn(DESCRIPTION, child, place, plain(child.get("alt", "")).strip())
            case _ if name in _EMBEDDED:
                yield Drawn(EMBEDDED, child, place)
            case _ if name == picture:
                yield Drawn(PICTURE, child, place, _relationship(child, "id") or _picture(child))
        yield from _below(child, place, picture)


def _relationship(element: Element, name: str) -> str:
    return next((str(value) for key, value in element.attrib.items() if key.startswith("{") and key.endswith("}" + name)), "")


def _picture(picture: Element) -> str:
    """The relationship of a picture's part; empty where it is only linked."""
    blip = next((child for child in _all(picture) if local_name(child) == "blip"), None)
    return "" if blip is None else _relationship(blip, "embed")


def _all(element: Element) -> Iterator[Element]:
    for child, _, _ in live_children(element, ""):
        yield child
        yield from _all(child)


def _paragraph(paragraph: Element) -> str:
    return plain("".join(_pieces(paragraph)))


def _pieces(element: Element) -> Iterator[str]:
    for child, name, _ in live_children(element, ""):
        match name:
            case "t":
                yield child.text or ""
            case "br":
                yield "\u2028"
            case "pPr" | "rPr" | "endParaRPr" | "fldPr":
                continue
            case _:
                yield from _pieces(child)


def _chart_lines(root: Element) -> Iterator[str]:
    for element in _all(root):
        name = local_name(element)
        if name == "p":
            yield _paragraph(element)
        elif name in _CACHES:
            yield from (plain(value.text or "") for value in _all(element) if local_name(value) == "v")
        elif name == "strDim":
            yield from (plain(point.text or "") for point in _all(element) if local_name(point) == "pt")


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(line for line in lines if line.strip())
