"""Reads the links of a page and where they lead."""

from __future__ import annotations

import pymupdf

from extractor_svc.formats.pdf_geometry import Box
from extractor_svc.formats.pdf_ink import LinkArea


def links_of(page: pymupdf.Page) -> tuple[LinkArea, ...]:
    """The links of a page in the order the file lists them; one within the file leads to `#page=3` or `#nameddest=...`."""
    found = []
    link = page.first_link
    while link is not None:
        if link.uri:
            found.append(LinkArea(Box(*link.rect.normalize()), link.uri))
        link = link.next
    return tuple(found)
