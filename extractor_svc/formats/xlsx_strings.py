"""The texts of a workbook: shared strings, rich text and the escapes in both."""

from __future__ import annotations

import io
import re
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from extractor_svc.errors import OutputLimit
from extractor_svc.formats.xlsx_frames import TEXT, NotPlain, framed, runs
from extractor_svc.formats.xlsx_tags import Tags, slices
from extractor_svc.limits import Limits
from extractor_svc.ooxml import Element, Package, Readable, elements, local_name
from extractor_svc.text_columns import NO_TEXTS, Mask, char_count, matching, picked

_ESCAPE: Final = re.compile(r"_x([0-9A-Fa-f]{4})_")
_ITEM: Final = rf'^<si><t(?: xml:space="preserve")?>{TEXT}</t></si>[ \t\r\n]*$'
_SMALLEST_BULK: Final = 16 * 1024
_LARGEST_BULK: Final = 256 * 1024 * 1024


def read_strings(package: Package, part: str, limits: Limits) -> pa.StringArray:
    """The shared strings in their order: plain ones in bulk, the rest as their XML is parsed.

    Raises:
        OutputLimit: they hold more text than allowed.
        Malformed: the part is not sound.
    """
    size = package.size_of(part)
    if size > _LARGEST_BULK:
        with package.open(part) as stream:
            return parsed_strings(stream, part, limits)
    content = package.read(part)
    try:
        return (
            strings_in_bulk(content, part, limits) if size >= _SMALLEST_BULK else parsed_strings(io.BytesIO(content), part, limits)
        )
    except NotPlain:
        return parsed_strings(io.BytesIO(content), part, limits)


def parsed_strings(stream: Readable, part: str, limits: Limits) -> pa.StringArray:
    """Reads shared strings with an XML parser alone. Raises as `read_strings`."""
    strings: list[str] = []
    left = limits.max_text_chars
    for item in elements(stream, part, ("si",)):
        strings.append(rich_text(item))
        left -= len(strings[-1])
        if left < 0:
            raise _too_much_text(limits)
        _forget(item)
    return pa.array(strings, pa.string())


def strings_in_bulk(content: bytes, part: str, limits: Limits) -> pa.StringArray:
    """Reads the strings of plain items by their bytes, and those of other items with an XML parser. Raises as `read_strings`.

    Raises:
        NotPlain: the part is to be read as XML, all of it.
    """
    frame = framed(content, "sst", item="si")
    plain, texts, rest = [], [], []
    for piece in frame.pieces("si"):
        flags, found, left = _items(piece)
        plain.append(flags)
        texts.append(found)
        rest.extend(left)
    others = parsed_strings(io.BytesIO(frame.without(rest)), part, limits)
    strings = _merged(np.concatenate(plain), pa.concat_arrays(texts), others)
    if char_count(strings) > limits.max_text_chars:
        raise _too_much_text(limits)
    return strings


def _items(piece: bytes) -> tuple[Mask, pa.StringArray, list[bytes]]:
    """Which items are plain, their texts, and the bytes of the others with an empty element for each run of plain ones."""
    tags = Tags(piece)
    third, fourth = tags.data[tags.starts + 2], tags.data[tags.starts + 3]
    named = (tags.names == ord("s")) & (third == ord("i")) & np.isin(fourth, list(b" />"))
    bounds = np.append(tags.starts[named], len(piece))
    if not named.any() or bounds[0]:
        raise NotPlain
    items = slices(piece, bounds)
    flags = matching(items, _ITEM)
    left = [b"<p/>" if flags[first] else piece[bounds[first] : bounds[end]] for first, end in runs(flags)]
    if not flags.any():
        return flags, NO_TEXTS, left
    if not flags.all():
        tags = Tags(picked(items, flags).buffers()[2].to_pybytes())
    return flags, unescaped(tags.contents(tags.named("t"))), left


def _merged(plain: Mask, texts: pa.StringArray, others: pa.StringArray) -> pa.StringArray:
    if len(others) != np.count_nonzero(~plain):
        raise NotPlain
    if not len(others):
        return texts
    places = np.where(plain, np.cumsum(plain) - 1, len(texts) + np.cumsum(~plain) - 1)
    return pa.concat_arrays([texts, others]).take(pa.array(places))


def rich_text(element: Element) -> str:
    """The text of a string item: plain, or its formatted runs joined; reading aids beside it (`rPh`) are no part of it."""
    found = []
    for child in element:
        name = local_name(child)
        if name == "t":
            found.append(child.text or "")
        elif name == "r":
            found.extend(run.text or "" for run in child if local_name(run) == "t")
    return unescape("".join(found))


def unescape(text: str) -> str:
    """Text with `_x000D_` escapes read as the characters they stand for; half of a character becomes U+FFFD."""
    if "_x" not in text:
        return text
    plain = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def unescaped(texts: pa.StringArray) -> pa.StringArray:
    """Many texts as `unescape` reads each."""
    escapes = pc.match_substring(texts, "_x")
    if not escapes.true_count:
        return texts
    return pc.replace_with_mask(texts, escapes, pa.array(map(unescape, texts.filter(escapes).to_pylist()), pa.string()))


def _too_much_text(limits: Limits) -> OutputLimit:
    return OutputLimit(
        f"the workbook has more than {limits.max_text_chars} characters of text; split it",
        metadata={"max_text_chars": str(limits.max_text_chars)},
    )


def _forget(element: Element) -> None:
    """Frees an element that is done with and those before it."""
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]
