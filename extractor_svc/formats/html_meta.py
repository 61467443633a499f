"""What a page says of itself: title, description, author, date, language."""

from __future__ import annotations

from typing import Final

from selectolax.lexbor import LexborHTMLParser

_NAMES: Final = {
    "description": ("description", "og:description", "dc.description", "dcterms.description", "twitter:description"),
    "author": ("author", "article:author", "dc.creator", "dcterms.creator", "byl"),
    "date": (
        "date",
        "article:published_time",
        "dc.date",
        "dcterms.date",
        "dcterms.created",
        "datepublished",
        "pubdate",
        "publish-date",
        "parsely-pub-date",
    ),
    "modified": ("article:modified_time", "dcterms.modified", "datemodified", "last-modified", "revised"),
    "keywords": ("keywords",),
    "site": ("og:site_name", "application-name"),
    "language": ("content-language", "dc.language", "dcterms.language"),
}
_TITLES: Final = ("og:title", "twitter:title", "dc.title", "dcterms.title")
_LONGEST: Final = 10_000


def page_title(tree: LexborHTMLParser) -> str:
    """The page's title on one line; where it has none, the title it gives to those who link to it."""
    for title in tree.css("title"):
        above = title.parent
        if above is not None and above.tag != "svg" and (text := " ".join(title.text().split())):
            return text[:_LONGEST]
    said = _metas(tree)
    return next((said[name] for name in _TITLES if name in said), "")


def page_properties(tree: LexborHTMLParser) -> dict[str, str]:
    """The properties a page states, each under one name however the page calls it."""
    said = _metas(tree)
    found = {key: next((said[name] for name in names if name in said), "") for key, names in _NAMES.items()}
    root = tree.css_first("html")
    if root is not None and (language := (root.attributes.get("lang") or root.attributes.get("xml:lang") or "").strip()):
        found["language"] = language[:_LONGEST]
    return {key: value for key, value in found.items() if value}


def _metas(tree: LexborHTMLParser) -> dict[str, str]:
    """The content of each `meta` element by its names in lower case; the first of a name counts."""
    said: dict[str, str] = {}
    for meta in tree.css("meta"):
        attributes = meta.attributes
        content = " ".join((attributes.get("content") or "").split())[:_LONGEST]
        for key in ("name", "property", "itemprop", "http-equiv"):
            for name in (attributes.get(key) or "").lower().split():
                if content:
                    said.setdefault(name, content)
    return said
