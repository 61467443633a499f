"""The links of a text in Markdown: those written inline, by reference, as autolinks, and the anchors of HTML in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from html import unescape
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

_SIGNS: Final = re.compile(r"[\[<]")
_ANCHOR: Final = re.compile(
    r"""<a\s[^>]{0,2000}?\bhref\s*=\s*(?:"([^"]{0,5000})"|'([^']{0,5000})'|([^\s"'>]{1,5000}))""", re.IGNORECASE
)
_ELEMENT: Final = re.compile(_ANCHOR.pattern + r"[^>]{0,2000}>(?P<text>.{0,5000}?)</a\s*>", re.IGNORECASE | re.DOTALL)
_TAG: Final = re.compile(r"<[^>]*>")


@cache
def _inline_parser() -> MarkdownIt:
    return MarkdownIt("commonmark")


def links_of_html(html: str) -> Iterator[tuple[str, str]]:
    """The words and the target of each anchor of a block of HTML."""
    for found in _ELEMENT.finditer(html):
        yield unescape(_TAG.sub(" ", found["text"])), unescape(next(filter(None, found.groups()), ""))


class LinkFinder:
    """Finds links; `references` are the targets of a document's links by name, as the parser knows them."""

    def __init__(self, references: Mapping[str, object]) -> None:
        self._inline = _inline_parser()
        self._references = references

    def links(self, text: str) -> Iterator[tuple[str, str]]:
        """The words and the target of each link of an inline text, in order; pictures are none."""
        if not _SIGNS.search(text):
            return
        (inline,) = self._inline.parseInline(text, {"references": self._references})
        words: list[str] = []
        target = ""
        for token in inline.children or []:
            match token.type:
                case "link_open":
                    words, target = [], str(token.attrs.get("href", ""))
                case "link_close":
                    yield "".join(words), target
                case "html_inline" if anchor := _ANCHOR.match(token.content):
                    words, target = [], unescape(next(filter(None, anchor.groups()), ""))
                case "html_inline" if token.content.lower().startswith("</a"):
                    yield "".join(words), target
                case _:
                    words.append(_shown(token))


def _shown(token: Token) -> str:
    if token.type in ("softbreak", "hardbreak"):
        return " "
    return token.content if token.type in ("text", "text_special", "code_inline", "image") else ""
