"""What an element makes of the text in it: its kind, its level, the part of the page it belongs to, and whether it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from artifact.model import BlockType
from extractor_svc.formats.html_attributes import style_of
from extractor_svc.formats.html_elements import BLOCKS, HEADINGS

Attributes: TypeAlias = Mapping[str, str | None]

_DEEPEST: Final = 9
_ROLES: Final = {
    "banner": "header",
    "navigation": "nav",
    "search": "search",
    "contentinfo": "footer",
    "complementary": "aside",
    "main": "main",
    "article": "article",
}
_INLINE_AT_WILL: Final = frozenset({"div", "p", "section", "form", "center"})
_KEEPS_LINES: Final = frozenset({"pre", "pre-wrap", "pre-line", "break-spaces"})


@dataclass(frozen=True, slots=True)
class Style:
    """What text is that stands here.

    `level` is that of a heading or an item; `depth` how many lists are open. `area` is the kind that parts beside the main text
    have: HEADER (also navigation), FOOTER or TEXT_BOX (asides); a `banner` is a HEADER whose headings stay headings. `sectioned`
    tells the header and footer of an article from the page's.
    """

    kind: BlockType = BlockType.PARAGRAPH
    level: int = 0
    depth: int = 0
    code: bool = False
    keeps_lines: bool = False
    hidden: bool = False
    area: BlockType | None = None
    banner: bool = False
    sectioned: bool = False
    language: str = ""
    _inside: dict[str, Style] = field(default_factory=dict, init=False, repr=False, compare=False)

    def inside(self, tag: str) -> Style:
        """The style inside an element without attributes."""
        found = self._inside.get(tag)
        if found is None:
            found = self._inside[tag] = _by_tag(tag, {}, self)
        return found


def is_hidden(tag: str, attributes: Attributes) -> bool:
    """Whether nothing of the element is shown, whatever its content says: by attribute, style, or until a script opens it."""
    if not attributes:
        return tag == "dialog"
    style = style_of(attributes.get("style") or "")
    if "display" in style:
        return style["display"] == "none"
    if "hidden" in attributes:
        return (attributes["hidden"] or "").strip().lower() != "until-found"
    return "popover" in attributes or (tag == "dialog" and "open" not in attributes)


def is_block(tag: str, attributes: Attributes) -> bool:
    """Whether the element stands on lines of its own."""
    if not attributes:
        return tag in BLOCKS
    display = style_of(attributes.get("style") or "").get("display", "")
    if not display:
        return tag in BLOCKS or (tag == "math" and attributes.get("display") == "block")
    if display.startswith("inline"):
        return tag in BLOCKS and tag not in _INLINE_AT_WILL
    return tag in BLOCKS or display in ("block", "flex", "grid", "list-item", "table", "flow-root")


def styled(tag: str, attributes: Attributes, style: Style) -> Style:
    """The style inside an element."""
    if not attributes:
        return style.inside(tag)
    style = _by_tag(tag, attributes, style)
    found = style_of(attributes.get("style") or "")
    if "visibility" in found:
        style = replace(style, hidden=found["visibility"] in ("hidden", "collapse"))
    if found.get("white-space") in _KEEPS_LINES:
        style = replace(style, keeps_lines=True)
    role = (attributes.get("role") or "").strip().lower()
    if role == "heading":
        return _heading(style, _number(attributes.get("aria-level"), default=2))
    if attributes.get("data-lang") and not style.language:
        style = replace(style, language=(attributes["data-lang"] or "").lower())
    return _by_area(_ROLES[role], style, by_role=True) if role in _ROLES else style


def _by_tag(tag: str, attributes: Attributes, style: Style) -> Style:
    if tag in HEADINGS:
        return _heading(style, HEADINGS[tag])
    match tag:
        case "ul" | "ol" | "menu" | "dir" | "dl":
            return replace(style, depth=style.depth + 1)
        case "li" | "dt":
            return _item(style, style.depth or 1)
        case "dd":
            return _item(style, style.depth + 1 if style.depth else 1)
        case "blockquote":
            return replace(style, kind=BlockType.QUOTE, level=0, sectioned=True)
        case "pre":
            return replace(style, kind=BlockType.CODE, level=0, code=True)
        case "math" if attributes.get("display") == "block":
            return replace(style, kind=BlockType.EQUATION, level=0)
        case "figcaption" | "caption" | "legend":
            return replace(style, kind=BlockType.CAPTION, level=0)
        case "header" | "footer" | "nav" | "aside" | "main" | "search":
            return _by_area(tag, style, by_role=False)
        case "article" | "section" | "details" | "dialog" | "fieldset" | "figure" | "td" | "th":
            return replace(style, sectioned=True)
    return style


def _heading(style: Style, level: int) -> Style:
    return replace(style, kind=BlockType.HEADING, level=min(max(level, 1), _DEEPEST))


def _item(style: Style, level: int) -> Style:
    return replace(style, kind=BlockType.LIST_ITEM, level=min(level, _DEEPEST))


def _by_area(name: str, style: Style, *, by_role: bool) -> Style:
    """The style inside a part of the page; an article's own header and footer are text of the article."""
    if name == "main":
        return replace(style, area=None, banner=False, sectioned=True)
    if name == "article":
        return replace(style, sectioned=True)
    of_page = by_role or not style.sectioned
    if name in ("nav", "search"):
        area = style.area or BlockType.HEADER
        return replace(style, area=area, banner=False, sectioned=True)
    if name == "aside":
        return replace(style, area=style.area or BlockType.TEXT_BOX, banner=False, sectioned=True)
    if not of_page or style.area is not None:
        return style
    is_header = name == "header"
    return replace(style, area=BlockType.HEADER if is_header else BlockType.FOOTER, banner=is_header)


def _number(written: str | None, *, default: int) -> int:
    text = (written or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < _DEEPEST else default
