"""What a file's name and media type say of its format; the extractor, not this, decides what the bytes are."""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

from knowledge_svc.domain.errors import UnsupportedFile
from knowledge_svc.domain.model import FormatInfo, FormatStanding

FORMAT_BY_EXTENSION: Final[dict[str, str]] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".txt": "text",
    ".sql": "sql",
    ".toml": "toml",
    ".csv": "csv",
    ".tsv": "csv",
    ".pdf": "pdf",
    ".docx": "docx",
    ".pptx": "pptx",
    ".xlsx": "xlsx",
    ".parquet": "parquet",
    ".png": "image",
    ".jpg": "image",
    ".jpeg": "image",
    ".tif": "image",
    ".tiff": "image",
}

FORMAT_BY_MEDIA_TYPE: Final[dict[str, str]] = {
    "text/markdown": "markdown",
    "text/html": "html",
    "application/xhtml+xml": "html",
    "application/sql": "sql",
    "application/toml": "toml",
    "text/csv": "csv",
    "text/tab-separated-values": "csv",
    "application/pdf": "pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.apache.parquet": "parquet",
    "image/png": "image",
    "image/jpeg": "image",
    "image/tiff": "image",
}
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
