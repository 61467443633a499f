"""What a browser draws that is no text of the page: fields with their values, pictures' alternative texts, numbers of items."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from selectolax.lexbor import LexborNode

from extractor_svc.formats.html_attributes import style_of
from extractor_svc.formats.html_style import Attributes

CONTROLS: Final = frozenset({"input", "select-list", "textarea"})
CHECKED: Final = "☑"
UNCHECKED: Final = "☐"
CHOSEN: Final = "◉"
OPEN: Final = "○"

_WITHOUT_TEXT: Final = frozenset({"hidden", "password", "range", "color", "file", "image"})
_NOT_DRAWN: Final = frozenset({"clippath", "defs", "metadata", "script", "style", "symbol"})
_SVG_TEXTS: Final = frozenset({"title", "desc", "text"})
_TYPES: Final = {
    "a": "lower-alpha",
    "A": "upper-alpha",
    "i": "lower-roman",
    "I": "upper-roman",
    "1": "decimal",
}
_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,9}")
_ROMAN: Final = (
    (1000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
    (9, "ix"),
    (5, "v"),
    (4, "iv"),
    (1, "i"),
)
_LARGEST_ROMAN: Final = 3999
_UNMARKED: Final = frozenset({"none", "disc", "circle", "square"})


def input_text(attributes: Attributes) -> str:
    """What an input shows: its value, else its hint; a box or a circle with its state; nothing of what is hidden or secret."""
    kind = (attributes.get("type") or "text").strip().lower()
    if kind == "checkbox":
        return CHECKED if "checked" in attributes else UNCHECKED
    if kind == "radio":
        return CHOSEN if "checked" in attributes else OPEN
    if kind == "image":
        return attributes.get("alt") or ""
    if kind in _WITHOUT_TEXT:
        return ""
    return attributes.get("value") or attributes.get("placeholder") or ""


def choices(select: LexborNode) -> Iterator[str]:
    """The options of a choice, each with a sign of whether it is chosen; the names of groups stand above theirs."""
    options = select.css("option")
    chosen = {option.mem_id for option in options if "selected" in option.attributes}
    many = "multiple" in select.attributes
    signs = (CHECKED, UNCHECKED) if many else (CHOSEN, OPEN)
    if not many and options and not chosen:
        chosen = {options[0].mem_id}
    group = None
    for option in options:
        above = option.parent
        if above is not None and above.tag == "optgroup" and above.mem_id != group:
            group = above.mem_id
            yield above.attributes.get("label") or ""
        text = " ".join(option.text().split()) or option.attributes.get("label") or ""
        if text:
            yield f"{signs[0] if option.mem_id in chosen else signs[1]} {text}"


def drawing_text(svg: LexborNode) -> tuple[list[str], int]:
    """The texts of a drawing, titles and labels too, and how many words of it are not drawn."""
    texts: list[str] = []
    unseen = 0
    waiting = [svg.first_child]
    while waiting:
        node = waiting.pop()
        while node is not None:
            tag = (node.tag or "").lower()
            if tag == "-text":
                texts.append(node.text_content or "")
            elif tag in _NOT_DRAWN:
                unseen += len(re.findall(r"\w+", node.text()))
            elif node.first_child is not None:
                texts.append("" if tag == "tspan" else "\n")
                waiting.append(node.next)
                node = node.first_child
                continue
            node = node.next
    return [" ".join(line.split()) for line in "".join(texts).split("\n") if line.strip()], unseen


@dataclass(slots=True)
class Numbering:
    """The numbers of a list: the next one, the step to it, and how it is written; unmarked items have none."""

    next: int
    step: int
    kind: str

    def take(self, attributes: Attributes) -> str:
        """The number that stands before an item, such as `3.` or `iv.`; empty where the list or the item has none."""
        value = (attributes.get("value") or "").strip()
        number = int(value) if _WHOLE.fullmatch(value) else self.next
        self.next = number + self.step
        kind = list_style(attributes) or self.kind
        return "" if kind in _UNMARKED else f"{_written(number, kind)}."


def numbering_of(tag: str, attributes: Attributes, items: int) -> Numbering:
    """The numbering of a list with so many items; a list without order has numbers only where its style says so."""
    ordered = tag == "ol"
    kind = list_style(attributes) or ("decimal" if ordered else "disc")
    backwards = ordered and "reversed" in attributes
    start = (attributes.get("start") or "").strip()
    first = int(start) if ordered and _WHOLE.fullmatch(start) else (items if backwards else 1)
    return Numbering(first, -1 if backwards else 1, kind)


def list_style(attributes: Attributes) -> str:
    """How an element's own style or type numbers items; empty where it does not say."""
    found = style_of(attributes.get("style") or "").get("list-style", "")
    named = next((word for word in found.split() if word in _UNMARKED or word in _WRITTEN), "")
    return named or _TYPES.get((attributes.get("type") or "").strip(), "")


def _written(number: int, kind: str) -> str:
    system = _WRITTEN.get(kind, "decimal")
    if system == "alpha" and number > 0:
        text = _letters(number)
    elif system == "roman" and 0 < number <= _LARGEST_ROMAN:
        text = _roman(number)
    elif system == "zero":
        return f"{number:02d}"
    else:
        return str(number)
    return text.upper() if kind.startswith("upper") else text


_WRITTEN: Final = {
    "decimal": "decimal",
    "decimal-leading-zero": "zero",
    "lower-alpha": "alpha",
    "upper-alpha": "alpha",
    "lower-latin": "alpha",
    "upper-latin": "alpha",
    "lower-roman": "roman",
    "upper-roman": "roman",
}


def _letters(number: int) -> str:
    text = ""
    while number > 0:
        number, rest = divmod(number - 1, 26)
        text = chr(ord("a") + rest) + text
    return text


def _roman(number: int) -> str:
    text = ""
    for value, sign in _ROMAN:
        count, number = divmod(number, value)
        text += sign * count
    return text
