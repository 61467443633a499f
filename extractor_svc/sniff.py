"""What a file is, by its bytes and its name, and a refusal where the two do not agree."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from extractor_svc.errors import EmptyDocument, InvalidOption, Malformed, PasswordRequired, TypeMismatch, UnsupportedType
from extractor_svc.limits import Limits
from extractor_svc.office_encryption import is_encrypted
from extractor_svc.ooxml import Package
from extractor_svc.refused_types import (
    REFUSED,
    advice_for,
    is_binary_workbook,
    kind_of_compound,
    kind_of_package,
    kind_of_start,
    refused_by_bytes,
    refused_by_name,
)

_PDF_WINDOW: Final = 1024
_TEXT: Final = "text"
_OFFICE: Final = ("docx", "pptx", "xlsx")
_BYTE_ORDER_MARKS: Final = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")

_PAGE: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html)[\s>]", re.I | re.S)
"""How a page begins that is sent without a name."""


@dataclass(frozen=True, slots=True)
class KnownFormat:
    """A format by the names its files go under; `body` is what their bytes are: `text`, or the id itself."""

    id: str
    extensions: tuple[str, ...]
    media_types: tuple[str, ...]
    body: str


_WORD: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_SLIDES: Final = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
_SHEETS: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_PICTURE_NAMES: Final = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".gif", ".bmp", ".webp")
_PICTURE_TYPES: Final = ("image/png", "image/jpeg", "image/tiff", "image/gif", "image/bmp", "image/webp")

FORMATS: Final = (
    KnownFormat("markdown", (".md", ".markdown", ".mdown", ".mkd"), ("text/markdown", "text/x-markdown"), _TEXT),
    KnownFormat("html", (".html", ".htm", ".xhtml"), ("text/html", "application/xhtml+xml"), _TEXT),
    KnownFormat("text", (".txt", ".text"), ("text/plain",), _TEXT),
    KnownFormat("sql", (".sql",), ("application/sql", "text/x-sql"), _TEXT),
    KnownFormat("toml", (".toml",), ("application/toml",), _TEXT),
    KnownFormat("csv", (".csv", ".tsv"), ("text/csv", "text/tab-separated-values"), _TEXT),
    KnownFormat("pdf", (".pdf",), ("application/pdf",), "pdf"),
    KnownFormat("docx", (".docx", ".docm"), (_WORD, "application/vnd.ms-word.document.macroEnabled.12"), "docx"),
    KnownFormat("pptx", (".pptx", ".pptm"), (_SLIDES, "application/vnd.ms-powerpoint.presentation.macroEnabled.12"), "pptx"),
    KnownFormat("xlsx", (".xlsx", ".xlsm"), (_SHEETS, "application/vnd.ms-excel.sheet.macroEnabled.12"), "xlsx"),
    KnownFormat("parquet", (".parquet",), ("application/vnd.apache.parquet",), "parquet"),
    KnownFormat("image", _PICTURE_NAMES, _PICTURE_TYPES, "image"),
)
"""Every format the product knows by name; the registry says which of them are read."""

_MAGIC: Final = (
    (b"PAR1", "parquet"),
    (b"PARE", "parquet"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "ole"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"\x89PNG\r\n\x1a\n", "image"),
    (b"\xff\xd8\xff", "image"),
    (b"GIF87a", "image"),
    (b"GIF89a", "image"),
    (b"II*\x00", "image"),
    (b"MM\x00*", "image"),
    (b"II+\x00", "image"),
    (b"MM\x00+", "image"),
    (b"\x7fELF", "elf"),
    (b"SQLite format 3\x00", "sqlite"),
)


def known_format(format_id: str) -> KnownFormat:
    """The names of a format.

    Raises:
        KeyError: there is no such format.
    """
    for known in FORMATS:
        if known.id == format_id:
            return known
    raise KeyError(format_id)


def identify(content: bytes, *, filename: str, content_type: str, declared: str, limits: Limits) -> str:
    """The id of the format that the bytes are.

    What is expected is the declared format, else the format of the name's extension, else that of the content type; a
    text format can be told apart by these alone, save a page that says it is HTML.

    Raises:
        EmptyDocument: there are no bytes.
        InvalidOption: the declared format is none of `FORMATS`.
        UnsupportedType: nothing here reads these bytes, or the name is one of `REFUSED`.
        TypeMismatch: the bytes are not what is expected.
        PasswordRequired: the bytes are an encrypted office file.
        ZipInvalid, ZipPath, ZipTooManyEntries, ZipBomb, XmlDtdForbidden, Malformed: an office file's package is not sound.
    """
    if not content:
        raise EmptyDocument("the file is empty; send its bytes")
    extension = PurePosixPath(filename.replace("\\", "/")).suffix.lower()
    expected = _expected(extension, content_type, declared)
    if extension in REFUSED and not declared:
        raise refused_by_name(extension)
    found = _body(content, expected)
    if found == "zip":
        found = kind_of_package(content) or _kind_of_office(content, limits)
    if found == "ole":
        raise _ole(content, expected)
    if found == _TEXT and expected is None and not extension and _PAGE.match(content[:_PDF_WINDOW]):
        return "html"
    return _agree(found, expected, extension)


def _kind_of_office(content: bytes, limits: Limits) -> str:
    """Which office format an archive is; `zip` where it is none."""
    try:
        return Package(content, limits).format_id() or "zip"
    except Malformed:
        if is_binary_workbook(content):
            return "xlsb"
        raise


def _expected(extension: str, content_type: str, declared: str) -> KnownFormat | None:
    if declared:
        return _declared(declared)
    media_type = content_type.partition(";")[0].strip().lower()
    for known in FORMATS:
        if extension in known.extensions:
            return known
    return next((known for known in FORMATS if not extension and media_type in map(str.lower, known.media_types)), None)


def _declared(format_id: str) -> KnownFormat:
    try:
        return known_format(format_id)
    except KeyError:
        names = ", ".join(known.id for known in FORMATS)
        message = f"no format is named {format_id[:40]}; use one of: {names}"
        raise InvalidOption(message, metadata={"format": format_id[:40]}) from None


def _body(content: bytes, expected: KnownFormat | None) -> str:
    """What the bytes are by their first ones: a format id, the name of a container, `text`, or `binary`."""
    for magic, name in _MAGIC:
        if content.startswith(magic):
            return name
    if _is_bitmap(content) or (content[:4] == b"RIFF" and content[8:12] == b"WEBP"):
        return "image"
    if kind := kind_of_start(content):
        return kind
    if content[:4].startswith(b"%PDF") or content.lstrip()[:5] == b"%PDF-":
        return "pdf"
    is_text = _is_text(content)
    if b"%PDF-" in content[:_PDF_WINDOW] and not (is_text and expected is not None and expected.body == _TEXT):
        return "pdf"
    if is_text or (expected is not None and expected.body == _TEXT):
        return _TEXT
    return "binary"


def _is_bitmap(content: bytes) -> bool:
    """Whether the bytes begin as a BMP does: its two letters alone could begin a text."""
    return content[:2] == b"BM" and content[6:10] == bytes(4) and content[15:18] == bytes(3)


def _is_text(content: bytes) -> bool:
    """Whether the first bytes could be text: marked as Unicode, or free of NUL."""
    return content.startswith(_BYTE_ORDER_MARKS) or b"\x00" not in content[:8192]


def _agree(found: str, expected: KnownFormat | None, extension: str) -> str:
    if expected is not None:
        if expected.body == found:
            return expected.id
        raise _mismatch(found, expected)
    if found == _TEXT and not extension:
        return _TEXT
    if found != _TEXT and any(known.id == found for known in FORMATS):
        return found
    if advice_for(found):
        raise refused_by_bytes(found)
    raise UnsupportedType(
        f"no reader takes {extension or found} files; convert it to a format that is read",
        metadata={"found": found, "extension": extension},
    )


def _mismatch(found: str, expected: KnownFormat) -> TypeMismatch:
    advice = advice_for(found) or "send the file under its own type"
    return TypeMismatch(f"the bytes are {found}, not {expected.id}; {advice}", metadata={"found": found, "expected": expected.id})


def _ole(content: bytes, expected: KnownFormat | None) -> Exception:
    """What to say of the container that holds both legacy office files and encrypted new ones."""
    if is_encrypted(content) and (expected is None or expected.id in _OFFICE):
        return PasswordRequired("the file is encrypted; give its password in options.password")
    kind = kind_of_compound(content)
    return refused_by_bytes(kind) if expected is None or expected.id in _OFFICE else _mismatch(kind, expected)
