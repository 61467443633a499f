"""Headers and footers of a sheet's printout: their text without the codes that format it or stand for page, date and names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from artifact.model import BlockType

PRINTED: Final = ("oddHeader", "oddFooter", "evenHeader", "evenFooter", "firstHeader", "firstFooter")
"""The elements that hold them."""

_CODE: Final = re.compile(
    r'&(?:(?P<and>&)|(?P<section>[LCR])|"[^"]*"|[0-9]+|K(?:[0-9A-Fa-f]{6}|[0-9]{2}[+-][0-9]{3})|[PN][+-][0-9]+|.|$)', re.DOTALL
)
_ASKED_FOR: Final = {"even": "differentOddEven", "first": "differentFirst"}


def is_printed(name: str, settings: Mapping[str, bool]) -> bool:
    """Whether a header or footer is printed on any page; those of even and first pages have to be asked for."""
    asked_for = next((setting for start, setting in _ASKED_FOR.items() if name.startswith(start)), "")
    return not asked_for or settings.get(asked_for, False)


def printed_text(codes: str) -> str:
    """The text of a header or footer: its left, middle and right parts that say something, joined by a tab."""
    plain = _CODE.sub(lambda found: "&" if found["and"] else "\t" if found["section"] else "", codes)
    parts = (" ".join(part.split()) for part in plain.split("\t"))
    return "\t".join(part for part in parts if part)


def printed_layer(name: str) -> tuple[BlockType, str]:
    """What such an element is, and the layer of the sheet it is known by: `header`, or `footer first` for a first page's."""
    kind = BlockType.HEADER if name.endswith("Header") else BlockType.FOOTER
    pages = name.removesuffix("Header").removesuffix("Footer")
    return kind, kind.value if pages == "odd" else f"{kind.value} {pages}"
