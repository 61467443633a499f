"""Text from bytes, in the encoding the caller names or the file is marked with, and a refusal instead of a guess."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Final

from extractor_svc.errors import BadEncoding, InvalidOption

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True, slots=True)
class DecodedText:
    """A text without its byte order mark, every line ended by a line feed, and the encoding it was read in."""

    text: str
    encoding: str


def decode(content: bytes, encoding: str) -> DecodedText:
    """Decodes a text file: as `encoding` says, else as its byte order mark says, else as UTF-8.

    Raises:
        InvalidOption: there is no such text encoding.
        BadEncoding: the bytes are not valid in it.
    """
    mark, marked = next(((mark, name) for mark, name in _MARKS if content.startswith(mark)), (b"", ""))
    name = _known(encoding) if encoding else marked or "utf-8"
    body = content[len(mark) :] if _same(name, marked) else content
    try:
        text = body.decode(name)
    except UnicodeDecodeError as error:
        raise BadEncoding(
            f"byte {error.start} is not valid {name}; say the encoding in options.encoding",
            metadata={"encoding": name, "byte": str(error.start)},
        ) from error
    return DecodedText(text.replace("\r\n", "\n").replace("\r", "\n"), name)


def _known(encoding: str) -> str:
    name = encoding.strip().lower()
    try:
        "".encode(name)
        codecs.lookup(name)
    except (LookupError, ValueError):
        raise InvalidOption(
            f"no text encoding is named {encoding[:40]}; use an IANA name such as utf-8 or windows-1252",
            metadata={"encoding": encoding[:40]},
        ) from None
    return name


def _same(name: str, marked: str) -> bool:
    """Whether a byte order mark belongs to the encoding and is no text of it; plain `utf-16` reads its mark by itself."""
    return bool(marked) and codecs.lookup(name).name == codecs.lookup(marked).name
