"""What a file's name and media type say of its format; the extractor, not this, decides what the bytes are."""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

from knowledge_svc.domain.errors import UnsupportedFile
from knowledge_svc.domain.model import FormatInfo, FormatStanding

_EXTENSIONS: Final[dict[str, tuple[str, ...]]] = {
    "markdown": (".md", ".markdown", ".mdown", ".mkd"),
    "html": (".html", ".htm", ".xhtml"),
    "text": (".txt", ".text"),
    "sql": (".sql",),
    "toml": (".toml",),
    "csv": (".csv", ".tsv"),
    "pdf": (".pdf",),
    "docx": (".docx", ".docm"),
    "pptx": (".pptx", ".pptm"),
    "xlsx": (".xlsx", ".xlsm"),
    "parquet": (".parquet",),
    "image": (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".gif", ".bmp", ".webp"),
}
_OFFICE: Final = "application/vnd.openxmlformats-officedocument"
_MEDIA_TYPES: Final[dict[str, tuple[str, ...]]] = {
    "markdown": ("text/markdown", "text/x-markdown"),
    "html": ("text/html", "application/xhtml+xml"),
    "sql": ("application/sql", "text/x-sql"),
    "toml": ("application/toml",),
    "csv": ("text/csv", "text/tab-separated-values"),
    "pdf": ("application/pdf",),
    "docx": (f"{_OFFICE}.wordprocessingml.document", "application/vnd.ms-word.document.macroenabled.12"),
    "pptx": (f"{_OFFICE}.presentationml.presentation", "application/vnd.ms-powerpoint.presentation.macroenabled.12"),
    "xlsx": (f"{_OFFICE}.spreadsheetml.sheet", "application/vnd.ms-excel.sheet.macroenabled.12"),
    "parquet": ("application/vnd.apache.parquet",),
    "image": ("image/png", "image/jpeg", "image/tiff", "image/gif", "image/bmp", "image/webp"),
}

FORMAT_BY_EXTENSION: Final[dict[str, str]] = {name: known for known, names in _EXTENSIONS.items() for name in names}
FORMAT_BY_MEDIA_TYPE: Final[dict[str, str]] = {name: known for known, names in _MEDIA_TYPES.items() for name in names}
"""Heard only where the name says nothing. `text/plain` is left out: servers say it of anything that is text."""

FORMATS: Final = frozenset(FORMAT_BY_EXTENSION.values())

SAVE_AS: Final[dict[str, str]] = {".doc": ".docx", ".xls": ".xlsx", ".ppt": ".pptx"}
"""Legacy Office names, refused before anything is stored, and what to save them as (L-UPL-06)."""


def named_format(filename: str, content_type: str = "") -> str:
    """The format that a file's name says, else its media type, empty where they say none.

    Raises:
        UnsupportedFile: the name is of a legacy Office format.
    """
    extension = PurePath(filename).suffix.lower()
    if extension in SAVE_AS:
        raise UnsupportedFile(
            f"{extension} files are not read; save the file as {SAVE_AS[extension]} and upload that",
            metadata={"extension": extension, "save_as": SAVE_AS[extension]},
        )
    media_type = content_type.partition(";")[0].strip().lower()
    return FORMAT_BY_EXTENSION.get(extension) or FORMAT_BY_MEDIA_TYPE.get(media_type, "")


def format_named(name: str) -> FormatInfo:
    """A format of the product as names and media types tell it."""
    extensions = tuple(extension for extension, known in FORMAT_BY_EXTENSION.items() if known == name)
    return FormatInfo(name, extensions, tuple(media_type for media_type, known in FORMAT_BY_MEDIA_TYPE.items() if known == name))


def unread_formats() -> list[FormatStanding]:
    """The formats of the product where no extractor is configured: none can be read."""
    return [FormatStanding(format_named(name), available=False) for name in sorted(FORMATS)]
