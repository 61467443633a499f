"""The text at a place of a document, found among its texts by path."""

from __future__ import annotations

from collections.abc import Sequence

from artifact.locators import DocxPlace
from artifact.model import Visibility
from extractor_svc.formats.docx_document import Document
from extractor_svc.formats.docx_flow import Paragraph, flow
from extractor_svc.formats.docx_runs import read_runs
from extractor_svc.formats.docx_story import Leaf
from extractor_svc.formats.docx_xml import LIVE, find
from extractor_svc.ooxml import local_name


def text_at(document: Document, place: DocxPlace, leaves: Sequence[Leaf]) -> str:
    """What stands at a place; empty where nothing does.

    That is the text with just these paths; else a row or a cell of a table; else all that is shown from the first path to
    the last, elements below them included; else the paragraphs that are shown in the element at the path.
    """
    here = [leaf for leaf in leaves if leaf.part == place.part]
    exact = [leaf.text for leaf in here if (leaf.first, leaf.last) == (place.first, place.last)]
    if exact:
        return exact[0]
    if place.first == place.last:
        in_table = (leaf.table.text_at(place.first) for leaf in here if leaf.table is not None)
        found = next((text for text in in_table if text is not None), None)
        return found or _between(here, place) or _shown_in(document, place)
    return _between(here, place)


def _between(leaves: Sequence[Leaf], place: DocxPlace) -> str:
    begins = [number for number, leaf in enumerate(leaves) if _is_at(leaf.first, place.first)]
    ends = [number for number, leaf in enumerate(leaves) if _is_at(leaf.last, place.last)]
    if not begins or not ends:
        return ""
    return "\n".join(leaf.text for leaf in leaves[begins[0] : ends[-1] + 1] if leaf.visibility in LIVE)


def _is_at(path: str, place: str) -> bool:
    return path == place or path.startswith(f"{place}/") or not place


def _shown_in(document: Document, place: DocxPlace) -> str:
    """The paragraphs of an element that is no text of its own, such as one in a cell."""
    root = document.parts.root(place.part) if place.part in document.parts.read else None
    element = None if root is None else find(root, place.first)
    if element is None:
        return ""
    if local_name(element) == "p":
        return read_runs(element, place.first, view=document.view, visibility=Visibility.VISIBLE).shown().strip()
    items = flow(element, place.first, view=document.view, visibility=Visibility.VISIBLE)
    return "\n".join(text for item in items if isinstance(item, Paragraph) and (text := item.runs.shown().strip()))
