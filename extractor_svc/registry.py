"""Every format that is read, one line each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from artifact.locators import Locator
from artifact.model import Artifact
from extractor_svc.context import ReadContext
from extractor_svc.errors import UnsupportedType


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
    read: Callable[[bytes, ReadContext], Artifact]
    resolve: Callable[[bytes, Locator, ReadContext], str]


READERS: Final[tuple[FormatReader, ...]] = ()


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
