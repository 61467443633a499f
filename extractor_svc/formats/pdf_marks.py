"""Reads what stands on a page outside its content: form fields and annotations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pymupdf
from pymupdf import mupdf

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
        value = _value(page, field)
        if value:
            name = field.field_label or (field.field_name or "").rpartition(".")[2]
            text = f"{name}: {value}" if name else value
            yield Mark(BlockType.FORM_FIELD, _tidied(text), _displayed(page, field.rect), field.field_display == _HIDDEN_FIELD)


def _value(page: pymupdf.Page, field: pymupdf.Widget) -> str:
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
        case pymupdf.PDF_WIDGET_TYPE_COMBOBOX | pymupdf.PDF_WIDGET_TYPE_LISTBOX:
            return ", ".join(_chosen(page, field))
    return str(field.field_value or "")


def _chosen(page: pymupdf.Page, field: pymupdf.Widget) -> list[str]:
    """The choices that are made, as the field shows them rather than as it would send them."""
    document = mupdf.pdf_document_from_fz_document(page.parent.this)
    value = mupdf.pdf_dict_get_inheritable(mupdf.pdf_load_object(document, field.xref), mupdf.PDF_ENUM_NAME_V)
    several = [mupdf.pdf_array_get(value, i) for i in range(mupdf.pdf_array_len(value))] if mupdf.pdf_is_array(value) else [value]
    shown = {choice[0]: choice[1] for choice in field.choice_values or () if not isinstance(choice, str)}
    sent = (mupdf.pdf_to_text_string(one) for one in several)
    return [shown.get(one, one) for one in sent if one]


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
