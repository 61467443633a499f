"""Every format that is read, one line each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from artifact.locators import Locator
from artifact.model import Artifact
from extractor_svc.context import ReadContext
from extractor_svc.errors import UnsupportedType
from extractor_svc.formats import csv_file, docx, html, image, markdown, parquet_file, pdf, pptx, sql, text, toml_file, xlsx
from extractor_svc.sniff import known_format

Read: TypeAlias = Callable[[bytes, ReadContext], Artifact]
Resolve: TypeAlias = Callable[[bytes, Locator, ReadContext], str]


@dataclass(frozen=True, slots=True)
class FormatReader:
    """A format, how a file of it is named, and the two functions that read it.

    `read` makes the artifact; `resolve` returns the text at a locator from the original alone. `abilities` are those of
    the contract: headings, tables, datasets, ocr, locators, exact_keys.
    """

    id: str
    extensions: tuple[str, ...]
    media_types: tuple[str, ...]
    parser: str
    abilities: tuple[str, ...]
    read: Read
    resolve: Resolve


def _reader(format_id: str, parser: str, *, abilities: tuple[str, ...], read: Read, resolve: Resolve) -> FormatReader:
    names = known_format(format_id)
    return FormatReader(names.id, names.extensions, names.media_types, parser, abilities, read, resolve)


READERS: Final = (
    _reader(
        "csv",
        csv_file.PARSER,
        abilities=("tables", "datasets", "locators"),
        read=csv_file.read,
        resolve=csv_file.resolve,
    ),
    _reader(
        "docx",
        docx.PARSER,
        abilities=("headings", "tables", "datasets", "ocr", "locators"),
        read=docx.read,
        resolve=docx.resolve,
    ),
    _reader(
        "html",
        html.PARSER,
        abilities=("headings", "tables", "datasets", "locators"),
        read=html.read,
        resolve=html.resolve,
    ),
    _reader(
        "image",
        image.PARSER,
        abilities=("ocr", "locators"),
        read=image.read,
        resolve=image.resolve,
    ),
    _reader(
        "markdown",
        markdown.PARSER,
        abilities=("headings", "tables", "datasets", "locators"),
        read=markdown.read,
        resolve=markdown.resolve,
    ),
    _reader(
        "parquet",
        parquet_file.PARSER,
        abilities=("tables", "datasets", "locators"),
        read=parquet_file.read,
        resolve=parquet_file.resolve,
    ),
    _reader(
        "pdf",
        pdf.PARSER,
        abilities=("headings", "tables", "datasets", "ocr", "locators"),
        read=pdf.read,
        resolve=pdf.resolve,
    ),
    _reader(
        "pptx",
        pptx.PARSER,
        abilities=("headings", "tables", "datasets", "ocr", "locators"),
        read=pptx.read,
        resolve=pptx.resolve,
    ),
    _reader(
        "xlsx",
        xlsx.PARSER,
        abilities=("headings", "tables", "datasets", "locators", "exact_keys"),
        read=xlsx.read,
        resolve=xlsx.resolve,
    ),
    _reader(
        "text",
        text.PARSER,
        abilities=("locators",),
        read=text.read,
        resolve=text.resolve,
    ),
    _reader(
        "sql",
        sql.PARSER,
        abilities=("locators", "exact_keys"),
        read=sql.read,
        resolve=sql.resolve,
    ),
    _reader(
        "toml",
        toml_file.PARSER,
        abilities=("locators", "exact_keys"),
        read=toml_file.read,
        resolve=toml_file.resolve,
    ),
)


def reader_of(format_id: str) -> FormatReader:
    """The reader of a format.

    Raises:
        UnsupportedType: the format is known by name but not read.
    """
    for reader in READERS:
        if reader.id == format_id:
            return reader
    readable = ", ".join(reader.id for reader in READERS)
    raise UnsupportedType(
        f"{format_id} files are not read yet; send one of: {readable}", metadata={"format": format_id, "readable": readable}
    )
