"""Reads what stands on a page outside its content: form fields and annotations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pymupdf

from artifact.model import BlockType
from extractor_svc.formats.pdf_geometry import Box
from extractor_svc.formats.pdf_ink import Mark

_HIDDEN_FIELD: Final = 1
_OFF: Final = frozenset({"", "Off", "No", "False", "None"})


def marks_of(page: pymupdf.Page) -> tuple[Mark, ...]:
    """The page's form fields with a value and its annotations with a text, in the order the file lists them.

    A check box or radio button always has one, `on` or `off`; the value of a password field is not read.
    """
    return (*_fields(page), *_annotations(page))


def _fields(page: pymupdf.Page) -> Iterator[Mark]:
    for field in page.widgets():
        value = _value(field)
        if value:
            name = field.field_label or (field.field_name or "").rpartition(".")[2]
            text = f"{name}: {value}" if name else value
            yield Mark(BlockType.FORM_FIELD, _tidied(text), _displayed(page, field.rect), field.field_display == _HIDDEN_FIELD)


def _value(field: pymupdf.Widget) -> str:
    match field.field_type:
        case pymupdf.PDF_WIDGET_TYPE_CHECKBOX:
            return "off" if str(field.field_value) in _OFF else "on"
        case pymupdf.PDF_WIDGET_TYPE_RADIOBUTTON:
            return f"{field.on_state()} {'on' if _is_chosen(field) else 'off'}"
        case pymupdf.PDF_WIDGET_TYPE_BUTTON:
            return field.button_caption or ""
        case pymupdf.PDF_WIDGET_TYPE_SIGNATURE:
            return "signed" if field.is_signed else ""
        case pymupdf.PDF_WIDGET_TYPE_TEXT if field.field_flags & pymupdf.PDF_TX_FIELD_IS_PASSWORD:
            return ""
    chosen = field.field_value
    return ", ".join(map(str, chosen)) if isinstance(chosen, list | tuple) else str(chosen or "")


def _is_chosen(field: pymupdf.Widget) -> bool:
    value = field.field_value
    return value is True or (isinstance(value, str) and value not in _OFF and value == field.on_state())


def _annotations(page: pymupdf.Page) -> Iterator[Mark]:
    for annotation in page.annots():
        kind = annotation.type[0]
        if kind == pymupdf.PDF_ANNOT_POPUP:
            continue
        said = annotation.info.get("content", "")
        if kind == pymupdf.PDF_ANNOT_FREE_TEXT:
            block = BlockType.TEXT_BOX
        elif kind == pymupdf.PDF_ANNOT_STAMP:
            block, said = BlockType.TEXT_BOX, annotation.get_text("text") or said
        else:
            block = BlockType.COMMENT
        if said.strip():
            yield Mark(block, _tidied(said), _displayed(page, annotation.rect))


def _tidied(text: str) -> str:
    lines = (" ".join(line.split()) for line in text.replace("\r", "\n").split("\n"))
    return "\n".join(line for line in lines if line)


def _displayed(page: pymupdf.Page, rect: pymupdf.Rect) -> Box:
    return Box(*(rect * page.rotation_matrix).normalize())
