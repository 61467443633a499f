"""Walks the objects of a PDF file: what they refer to, and whether its structure names headings."""

from __future__ import annotations

import re
from typing import Final

import pymupdf

from extractor_svc.formats.pdf_spans import HEADING_TAGS

_REFERENCE: Final = re.compile(r"(\d+) \d+ R")
_MOST_ELEMENTS: Final = 2_000
"""Elements of the structure that are looked at; a file with headings has one among its first."""


def references(document: pymupdf.Document, xref: int, key: str) -> list[int]:
    """The objects that a key refers to, last first; those of an array too that stands in an object of its own."""
    kind, value = document.xref_get_key(xref, key)
    found = [int(number) for number in _REFERENCE.findall(value)] if kind in ("xref", "array") else []
    if kind == "xref" and document.xref_object(found[0], compressed=True).startswith("["):
        found = [int(number) for number in _REFERENCE.findall(document.xref_object(found[0], compressed=True))]
    return found[::-1]


def has_tagged_headings(document: pymupdf.Document) -> bool:
    """Whether the structure of the file has an element that is a heading."""
    root = next(iter(references(document, document.pdf_catalog(), "StructTreeRoot")), 0)
    if not root:
        return False
    waiting, met = references(document, root, "K"), {root}
    others: set[str] = set()
    while waiting and len(met) < _MOST_ELEMENTS:
        element = waiting.pop()
        if element in met:
            continue
        met.add(element)
        name = document.xref_get_key(element, "S")[1].removeprefix("/")
        if name not in others:
            others.add(name)
            role = document.xref_get_key(root, f"RoleMap/{name}")[1].removeprefix("/") if name else ""
            if name in HEADING_TAGS or role in HEADING_TAGS:
                return True
        waiting += references(document, element, "K")
    return False
