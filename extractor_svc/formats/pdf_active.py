"""Lists what a PDF file would run, open or send, without running any of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pymupdf

from extractor_svc.formats.pdf_ink import Active, Activity

_ACTIVITIES: Final = {
    "/JavaScript": Activity.JAVASCRIPT,
    "/Launch": Activity.LAUNCH,
    "/GoToR": Activity.LAUNCH,
    "/GoToE": Activity.LAUNCH,
    "/SubmitForm": Activity.SUBMIT,
    "/ImportData": Activity.SUBMIT,
    "/Rendition": Activity.MEDIA,
    "/Movie": Activity.MEDIA,
    "/Sound": Activity.MEDIA,
    "/RichMediaExecute": Activity.MEDIA,
}
_FILE_EVENTS: Final = ("WC", "WS", "DS", "WP", "DP")
_PAGE_EVENTS: Final = ("O", "C")
_MARK_EVENTS: Final = ("E", "X", "D", "U", "Fo", "Bl", "PO", "PC", "PV", "PI", "K", "F", "V", "C")


def active_in_file(document: pymupdf.Document) -> tuple[Active, ...]:
    """What belongs to the file: its opening action, its scripts and its attachments."""
    root = document.pdf_catalog()
    found = set(_actions(document, root, paths=["OpenAction", *(f"AA/{event}" for event in _FILE_EVENTS)]))
    if _has(document, root, "Names/JavaScript"):
        found.add(Activity.JAVASCRIPT)
    actions = [Active(activity) for activity in Activity if activity in found]
    return (*actions, *(Active(Activity.ATTACHMENT, name) for name in document.embfile_names()))


def active_in_page(document: pymupdf.Document, page: pymupdf.Page) -> tuple[Active, ...]:
    """What belongs to a page: its own actions, those of its links, fields and annotations, and files attached to it."""
    found = set(_actions(document, page.xref, paths=[f"AA/{event}" for event in _PAGE_EVENTS]))
    for xref, kind, _ in page.annot_xrefs():
        found.update(_actions(document, xref, paths=["A", "A/Next"]))
        if _has(document, xref, "AA"):
            found.update(_actions(document, xref, paths=[f"AA/{event}" for event in _MARK_EVENTS]))
        if kind == pymupdf.PDF_ANNOT_FILE_ATTACHMENT:
            found.add(Activity.ATTACHMENT)
        elif kind in (pymupdf.PDF_ANNOT_RICH_MEDIA, pymupdf.PDF_ANNOT_MOVIE, pymupdf.PDF_ANNOT_SOUND, pymupdf.PDF_ANNOT_SCREEN):
            found.add(Activity.MEDIA)
    return tuple(Active(activity, page=page.number + 1) for activity in Activity if activity in found)


def _actions(document: pymupdf.Document, xref: int, *, paths: list[str]) -> Iterator[Activity]:
    for path in paths:
        _, name = document.xref_get_key(xref, f"{path}/S")
        if name in _ACTIVITIES:
            yield _ACTIVITIES[name]


def _has(document: pymupdf.Document, xref: int, path: str) -> bool:
    kind, _ = document.xref_get_key(xref, path)
    return bool(kind != "null")
