"""Cuts a part of many like items, rows or strings, into what stands before, between and after, by its bytes alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from extractor_svc.text_columns import Mask

UNUSED: Final = r"\x00-\x08\x0b-\x1f\x{FFFE}\x{FFFF}"
"""Characters that no XML has, and the carriage return, which it reads as another; as in a set of a regular expression."""
TEXT: Final = rf"(?:[^<>&{UNUSED}]|&(?:amp|lt|gt|quot|apos);)*"
"""Text that says what it says but for five entities; as a regular expression."""

_HEAD: Final = 64 * 1024
_PIECE: Final = 2 * 1024 * 1024
_LONGEST_PIECE: Final = 8 * 1024 * 1024
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
_DECLARATION: Final = re.compile(rb"<\?xml\s[^>]*?\?>")
_ENCODING: Final = re.compile(rb"""encoding\s*=\s*["']([^"']*)["']""")


class NotPlain(Exception):
    """The part has something that only an XML parser can judge."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A part and where its first item starts and its last one ends; the tags of the items have no prefix."""

    content: bytes
    first: int
    end: int

    def pieces(self, item: str) -> Iterator[bytes]:
        """The items in pieces that end where one does.

        Raises:
            NotPlain: one is too long for a piece.
        """
        start = self.first
        while start < self.end:
            end = self.content.find(b"<" + item.encode(), start + _PIECE, self.end)
            end = self.end if end < 0 else end
            if end - start > _LONGEST_PIECE:
                raise NotPlain
            yield self.content[start:end]
            start = end

    def without(self, left: Sequence[bytes]) -> bytes:
        """The part with what is left of its items in their place.

        Raises:
            NotPlain: a comment or the like is in it, so that not every `<` opened a tag.
        """
        rest = b"".join((self.content[: self.first], *left, self.content[self.end :]))
        if b"<!" in rest or rest.count(b"<?") != rest.removeprefix(_BYTE_ORDER_MARK).startswith(b"<?xml"):
            raise NotPlain
        return rest


def framed(content: bytes, container: str, *, item: str) -> Frame:
    """Finds the items of the element that contains them.

    Raises:
        NotPlain: there are none, or the part is not in UTF-8.
    """
    opening = re.compile(rb"<(?:([A-Za-z_][-A-Za-z0-9_.]*):)?%b(?:\s[^<>]*)?>" % container.encode()).search(content, 0, _HEAD)
    if opening is None or not _is_utf_8(content):
        raise NotPlain
    prefix = opening[1] + b":" if opening[1] else b""
    closing = content.rfind(b"</%b%b>" % (prefix, container.encode()))
    first = content.find(b"<%b%b" % (prefix, item.encode()), opening.end())
    if not opening.end() <= first < closing:
        raise NotPlain
    if not prefix:
        return Frame(content, first, closing)
    if b" xmlns:%b=" % prefix[:-1] not in content[: opening.end()]:
        raise NotPlain
    body = _without_prefix(content[first:closing], prefix)
    return Frame(content[:first] + body + content[closing:], first, first + len(body))


def runs(flags: Mask) -> Iterator[tuple[int, int]]:
    """The start and the end of each run of equal flags."""
    yield from pairwise([0, *(np.flatnonzero(flags[1:] != flags[:-1]) + 1).tolist(), len(flags)])


def _is_utf_8(content: bytes) -> bool:
    """Whether the part is UTF-8 by its own words."""
    declaration = _DECLARATION.match(content.removeprefix(_BYTE_ORDER_MARK)[:200])
    encoding = _ENCODING.search(declaration[0]) if declaration else None
    return not content.startswith(_UTF_16) and (encoding is None or encoding[1].lower() == b"utf-8")


def _without_prefix(body: bytes, prefix: bytes) -> bytes:
    if not prefix:
        return body
    if body.count(b"<") != body.count(b"<" + prefix) + body.count(b"</" + prefix):
        raise NotPlain
    return body.replace(b"<" + prefix, b"<").replace(b"</" + prefix, b"</")
