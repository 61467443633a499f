"""What the elements of a page are by the HTML standard: empty ones, those on lines of their own, those never shown."""

from __future__ import annotations

from typing import Final

VOID: Final = frozenset(
    [
        "area",
        "base",
        "basefont",
        "bgsound",
        "br",
        "col",
        "embed",
        "frame",
        "hr",
        "img",
        "input",
        "keygen",
        "link",
        "meta",
        "param",
        "source",
        "track",
        "wbr",
    ]
)
"""Elements that have no content and no end tag."""

HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}

BLOCKS: Final = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "caption",
        "center",
        "dd",
        "details",
        "dialog",
        "dir",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "frameset",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hgroup",
        "hr",
        "html",
        "legend",
        "li",
        "listing",
        "main",
        "menu",
        "nav",
        "ol",
        "optgroup",
        "option",
        "p",
        "plaintext",
        "pre",
        "search",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
        "xmp",
    ]
)
"""Elements that a browser puts on lines of their own where no style says otherwise."""

FORMATTING: Final = frozenset(["a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"])
"""Elements that a parser opens again after a block closed over them."""

NEVER_SHOWN: Final = {
    "audio": "fallback",
    "canvas": "fallback",
    "datalist": "hidden",
    "iframe": "fallback",
    "noembed": "fallback",
    "noframes": "fallback",
    "noscript": "noscript",
    "script": "script",
    "style": "style",
    "video": "fallback",
}
"""Elements whose text a browser that runs scripts and plays media does not show, and the ledger's reason for it."""

SPECIAL: Final = BLOCKS | frozenset(
    [
        "applet",
        "button",
        "col",
        "colgroup",
        "embed",
        "head",
        "iframe",
        "img",
        "input",
        "link",
        "marquee",
        "meta",
        "noembed",
        "noframes",
        "noscript",
        "object",
        "param",
        "script",
        "select-list",
        "source",
        "style",
        "template",
        "textarea",
        "title",
        "track",
        "wbr",
        "br",
        "area",
        "base",
    ]
)
"""Elements that an end tag of an unknown or inline element does not close."""

SCOPE: Final = frozenset(["applet", "caption", "html", "marquee", "object", "table", "td", "template", "th"])
"""Elements that an end tag outside does not reach through."""
