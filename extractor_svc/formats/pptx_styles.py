"""What a shape takes from the layout and the master below its slide: its position, and which of its paragraphs have bullets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from extractor_svc.errors import Malformed
from extractor_svc.formats.pptx_deck import Deck, whole_number
from extractor_svc.formats.pptx_text import live, live_children, paragraphs_of
from extractor_svc.ooxml import Element, child_of, local_name

_TITLES: Final = frozenset({"title", "ctrTitle"})
_MASTER_TYPE: Final = {"ctrTitle": "title", "subTitle": "body", "obj": "body"}
_OWN_MASTER_TYPES: Final = frozenset({"title", "body", "dt", "ftr", "sldNum", "hdr"})
_BULLETS: Final = frozenset({"buChar", "buAutoNum", "buBlip"})
_DEEPEST_LEVEL: Final = 9


@dataclass(frozen=True, slots=True)
class Placeholder:
    """The role of a shape that a layout places: its type, `obj` where it states none, and its number."""

    type: str
    index: str

    @property
    def is_title(self) -> bool:
        """Whether this is the slide's title."""
        return self.type in _TITLES


@dataclass(frozen=True, slots=True)
class StyleSheet:
    """A layout or a master: its root, and its placeholders in document order; neither where it cannot be read."""

    root: Element | None = None
    placeholders: tuple[tuple[Element, Placeholder], ...] = ()


@dataclass(frozen=True, slots=True)
class Styles:
    """The parts that a slide's look comes from."""

    presentation: Element
    layout: StyleSheet
    master: StyleSheet

    def position(self, shape: Element, placeholder: Placeholder | None) -> tuple[int, int] | None:
        """The left and the top of a shape, its own or that of the placeholder it fills; None where nothing states one."""
        for source in (shape, *self._sources(placeholder)):
            if (found := _offset(source)) is not None:
                return found
        return None

    def list_styles(self, shape: Element, placeholder: Placeholder | None) -> tuple[Element, ...]:
        """What states the bullets of a shape's paragraphs by their level, nearest first; found once for all of them."""
        bodies = (child_of(source, "txBody") for source in (shape, *self._sources(placeholder)))
        own = [child_of(body, "lstStyle") for body in bodies if body is not None]
        return tuple(style for style in (*own, self._defaults(placeholder)) if style is not None)

    @property
    def words_shown(self) -> str:
        """The text that the layout and the master themselves show, outside placeholders."""
        sheets = (self.layout.root, self.master.root)
        return "\n".join(text for root in sheets if root is not None for text in _own_texts(root))

    def _defaults(self, placeholder: Placeholder | None) -> Element | None:
        if placeholder is None:
            return child_of(self.presentation, "defaultTextStyle")
        styles = None if self.master.root is None else child_of(self.master.root, "txStyles")
        return None if styles is None else child_of(styles, _style_name(placeholder))

    def _sources(self, placeholder: Placeholder | None) -> Iterator[Element]:
        """The placeholders that one on the slide stands for: the layout's of the same number, the master's of its kind."""
        if placeholder is None:
            return
        inherited = placeholder
        for shape, other in self.layout.placeholders:
            if other.index == placeholder.index or (placeholder.is_title and other.is_title):
                yield shape
                inherited = other
                break
        wanted = _MASTER_TYPE.get(inherited.type, inherited.type)
        wanted = wanted if wanted in _OWN_MASTER_TYPES else "body"
        yield from [shape for shape, other in self.master.placeholders if other.type == wanted][:1]


def placeholder_of(shape: Element) -> Placeholder | None:
    """The placeholder a shape fills; None for a shape of its own."""
    for child in shape:
        if local_name(child).startswith("nv"):
            properties = child_of(child, "nvPr")
            found = None if properties is None else child_of(properties, "ph")
            return None if found is None else Placeholder(found.get("type", "obj"), found.get("idx", "0"))
    return None


def has_bullet(paragraph: Element, list_styles: Sequence[Element]) -> bool:
    """Whether a paragraph is shown with a bullet or a number: as it states itself, else as the nearest of the styles does."""
    wanted = f"lvl{level_of(paragraph)}pPr"
    candidates = (child_of(paragraph, "pPr"), *(child_of(style, wanted) for style in list_styles))
    return next((stated for element in candidates if (stated := _bullet(element)) is not None), False)


def level_of(paragraph: Element) -> int:
    """A paragraph's depth of indentation, from 1."""
    properties = child_of(paragraph, "pPr")
    stated = None if properties is None else whole_number(properties.get("lvl"))
    return min(max(stated or 0, 0) + 1, _DEEPEST_LEVEL)


class StyleBook:
    """The styles of a deck's slides; a layout is read once, however many slides use it."""

    def __init__(self, deck: Deck) -> None:
        self._deck = deck
        self._by_layout: dict[str, Styles] = {}

    def of(self, part: str) -> Styles:
        """The styles below a slide's part; a layout or master that cannot be read gives none."""
        layout = next(iter(self._deck.package.related(part, "slideLayout")), "")
        if layout not in self._by_layout:
            master = next(iter(self._deck.package.related(layout, "slideMaster")), "") if layout else ""
            self._by_layout[layout] = Styles(self._deck.presentation, self._sheet(layout), self._sheet(master))
        return self._by_layout[layout]

    @property
    def all(self) -> tuple[Styles, ...]:
        """Every set of styles asked for so far."""
        return tuple(self._by_layout.values())

    def _sheet(self, part: str) -> StyleSheet:
        try:
            root = self._deck.package.parse(part) if part else None
        except Malformed:
            root = None
        return StyleSheet() if root is None else StyleSheet(root, tuple(_placeholders(root)))


def _placeholders(root: Element) -> Iterator[tuple[Element, Placeholder]]:
    for shape in live(root):
        if local_name(shape) == "sp" and (found := placeholder_of(shape)) is not None:
            yield shape, found


def _own_texts(root: Element) -> Iterator[str]:
    for shape in live(root):
        body = child_of(shape, "txBody") if local_name(shape) == "sp" else None
        if body is not None and placeholder_of(shape) is None:
            yield from paragraphs_of(body)


def _offset(shape: Element) -> tuple[int, int] | None:
    """Where a shape states that it stands: in its properties, or beside them as frames do."""
    for child in live_children(shape):
        frame = child if local_name(child) == "xfrm" else child_of(child, "xfrm") if local_name(child).endswith("Pr") else None
        offset = None if frame is None else child_of(frame, "off")
        if offset is not None:
            return whole_number(offset.get("x")) or 0, whole_number(offset.get("y")) or 0
    return None


def _bullet(properties: Element | None) -> bool | None:
    """What paragraph properties say of a bullet; None where they say nothing."""
    if properties is None:
        return None
    for child in properties:
        name = local_name(child)
        if name == "buNone" or name in _BULLETS:
            return name != "buNone"
    return None


def _style_name(placeholder: Placeholder) -> str:
    if placeholder.is_title:
        return "titleStyle"
    return "otherStyle" if placeholder.type in ("dt", "ftr", "sldNum", "hdr") else "bodyStyle"
