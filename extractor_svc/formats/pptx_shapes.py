"""The shapes of one slide or notes page in reading order: each text, table, chart and diagram with the path of its shape."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from artifact.model import BlockType
from extractor_svc.blocks import count_words
from extractor_svc.errors import Malformed
from extractor_svc.formats.pptx_deck import Deck, is_true, relationship_id, whole_number
from extractor_svc.formats.pptx_links import link_targets, target_of
from extractor_svc.formats.pptx_styles import Placeholder, Styles, has_bullet, level_of, placeholder_of
from extractor_svc.formats.pptx_tables import Table, read_table
from extractor_svc.formats.pptx_text import chart_text, lines_below, live, live_children, paragraph_text, run_text
from extractor_svc.ocr.embedded import WHOLE, Crop, crop_of
from extractor_svc.ooxml import Element, attribute, child_of, local_name

_SAME_LINE: Final = 40
"""Shapes whose tops are nearer than this part of the slide's height are read from left to right."""
_MARGINS: Final = {"dt": BlockType.FOOTER, "ftr": BlockType.FOOTER, "sldNum": BlockType.FOOTER, "hdr": BlockType.HEADER}
_SHAPES: Final = frozenset({"sp", "grpSp", "graphicFrame", "pic", "cxnSp"})
_FRAMED: Final = frozenset({"tbl", "chart", "relIds", "oleObj"})


@dataclass(frozen=True, slots=True)
class Leaf:
    """One text of a slide before it is a block; `path` is that of its shape's ids, with the paragraph or comment in it."""

    kind: BlockType
    path: str
    text: str
    level: int = 0
    notes: bool = False
    hidden: bool = False
    table: Table | None = None
    ocr: bool = False

    def text_at(self, path: str) -> str | None:
        """What stands at a path: the whole text where it is here or above, a table's row by its number; None elsewhere."""
        if not path or self.path == path or self.path.startswith(f"{path}/"):
            return self.text
        above, _, step = path.rpartition("/")
        number = whole_number(step.removeprefix("r")) if step.startswith("r") else None
        if self.table is None or above != self.path or number is None or not 1 <= number <= self.table.rows:
            return None
        return self.table.lines()[number - 1]


@dataclass(frozen=True, slots=True)
class PictureShape:
    """A picture on a slide: its path, its part (empty where the file does not hold it), and how many texts stand before it."""

    path: str
    part: str
    crop: Crop
    after: int
    hidden: bool


@dataclass(frozen=True, slots=True)
class ShapeLink:
    """A link on a text or a shape: its words, where it leads, and the path of the paragraph or shape."""

    text: str
    target: str
    path: str
    notes: bool


@dataclass(slots=True)
class Found:
    """What a walk over shapes found: texts in reading order, and what did not become text."""

    leaves: list[Leaf] = field(default_factory=list)
    pictures: list[PictureShape] = field(default_factory=list)
    links: list[ShapeLink] = field(default_factory=list)
    embedded: list[str] = field(default_factory=list)
    failed: list[tuple[str, str, str]] = field(default_factory=list)
    excluded: list[tuple[str, int]] = field(default_factory=list)

    def add(self, leaf: Leaf) -> None:
        """Takes a text; one without any is left out."""
        if leaf.text.strip():
            self.leaves.append(leaf)


@dataclass(frozen=True, slots=True)
class _Spot:
    """A shape among its siblings: its number in document order, and its left and top."""

    number: int
    left: int
    top: int
    shape: Element


class ShapeWalk:
    """Walks the shapes of one part, groups at any depth, titles first and then from the upper left."""

    def __init__(self, deck: Deck, part: str, styles: Styles, *, notes: bool = False) -> None:
        self._deck = deck
        self._part = part
        self._targets = {rel.id: rel.part for rel in deck.package.relationships(part)}
        self._addresses = link_targets(deck, part)
        self._styles = styles
        self._notes = notes
        self._taken: dict[str, int] = {}
        self._found = Found()

    def walk(self, root: Element) -> Found:
        """What the part whose root this is shows."""
        page = child_of(root, "cSld")
        tree = None if page is None else child_of(page, "spTree")
        if tree is not None:
            self._shapes(tree, above="", height=self._deck.height, hidden=False)
        return self._found

    def _shapes(self, parent: Element, *, above: str, height: int, hidden: bool) -> None:
        for shape in self._in_order(parent, height):
            properties = _properties(shape)
            path = self._path(above, properties)
            unseen = hidden or (properties is not None and is_true(properties.get("hidden")))
            if properties is not None:
                self._found.excluded.append(("alternative_text", count_words(properties.get("descr", ""))))
            self._shape(shape, path, hidden=unseen)
            if properties is not None:
                self._link(properties, path, lines_below(shape))

    def _shape(self, shape: Element, path: str, *, hidden: bool) -> None:
        match local_name(shape):
            case "grpSp":
                self._shapes(shape, above=path, height=_inner_height(shape) or self._deck.height, hidden=hidden)
            case "graphicFrame":
                self._frame(shape, path, hidden=hidden)
            case "pic":
                self._picture(shape, path, hidden=hidden)
        body = child_of(shape, "txBody")
        if body is not None:
            self._text(body, shape, path, hidden=hidden)

    def _picture(self, shape: Element, path: str, *, hidden: bool) -> None:
        blip = next((found for found in live(shape) if local_name(found) == "blip"), None)
        part = "" if blip is None else self._targets.get(attribute(blip, "embed") or "", "")
        self._found.pictures.append(PictureShape(path, part, _crop(shape), len(self._found.leaves), hidden))

    def _in_order(self, parent: Element, height: int) -> list[Element]:
        shapes = [child for child in live_children(parent) if local_name(child) in _SHAPES or child_of(child, "txBody") is not None]
        spots: list[_Spot] = []
        left, top = 0, 0
        for number, shape in enumerate(shapes):
            left, top = self._styles.position(shape, placeholder_of(shape)) or (left, top)
            spots.append(_Spot(number, left, top, shape))
        titles = [spot for spot in spots if _is_title(spot.shape)]
        others = [spot for spot in spots if not _is_title(spot.shape)]
        return [spot.shape for spot in (*titles, *_by_lines(others, max(height // _SAME_LINE, 1)))]

    def _path(self, above: str, properties: Element | None) -> str:
        """The shape's path; where ids repeat, the second one is told apart by `~2`."""
        number = None if properties is None else whole_number(properties.get("id"))
        path = f"{above}/{number or 0}" if above else f"{number or 0}"
        self._taken[path] = self._taken.get(path, 0) + 1
        return path if self._taken[path] == 1 else f"{path}~{self._taken[path]}"

    def _text(self, body: Element, shape: Element, path: str, *, hidden: bool) -> None:
        placeholder = placeholder_of(shape)
        paragraphs = [child for child in live_children(body) if local_name(child) == "p"]
        whole = self._whole(placeholder)
        for number, paragraph in enumerate(paragraphs, 1):
            self._links(paragraph, path if whole else f"{path}/p{number}")
        texts = [paragraph_text(paragraph) for paragraph in paragraphs]
        if self._notes and placeholder is not None and placeholder.type == "sldNum":
            self._found.excluded.append(("slide_number", count_words("\n".join(texts))))
        elif whole:
            text = "\n".join(texts).strip("\n")
            if whole is BlockType.HEADING:
                self._add(Leaf(whole, path, " ".join(text.split()), level=1, hidden=hidden))
            else:
                self._add(Leaf(whole, path, text, hidden=hidden))
        else:
            styles = self._styles.list_styles(shape, placeholder)
            for number, (paragraph, text) in enumerate(zip(paragraphs, texts, strict=True), 1):
                bullet = has_bullet(paragraph, styles)
                plain_kind = BlockType.TEXT_BOX if placeholder is None else BlockType.PARAGRAPH
                kind, level = (BlockType.LIST_ITEM, level_of(paragraph)) if bullet else (plain_kind, 0)
                self._add(Leaf(kind, f"{path}/p{number}", text, level=level, hidden=hidden))

    def _links(self, parent: Element, path: str) -> None:
        """Takes the links on runs; those on runs next to each other that lead to one place are one."""
        runs: list[Element] = [run for run in live(parent) if local_name(run) in ("r", "fld")]
        for target, linked in groupby(runs, key=self._target_of_run):
            if target:
                text = "".join(map(run_text, linked))
                self._found.links.append(ShapeLink(text, target, path, self._notes))

    def _target_of_run(self, run: Element) -> str:
        properties = child_of(run, "rPr")
        click = None if properties is None else child_of(properties, "hlinkClick")
        return "" if click is None else target_of(click, self._addresses)

    def _link(self, properties: Element, path: str, text: str) -> None:
        """Takes the link on a shape as a whole."""
        click = child_of(properties, "hlinkClick")
        if click is not None and (target := target_of(click, self._addresses)):
            self._found.links.append(ShapeLink(text, target, path, self._notes))

    def _whole(self, placeholder: Placeholder | None) -> BlockType | None:
        """What all of a shape's paragraphs are together; None where each is a text of its own."""
        if placeholder is not None and placeholder.type in _MARGINS:
            return _MARGINS[placeholder.type]
        if self._notes:
            return BlockType.SPEAKER_NOTE
        return BlockType.HEADING if placeholder is not None and placeholder.is_title else None

    def _frame(self, frame: Element, path: str, *, hidden: bool) -> None:
        content = next((found for found in live(frame) if local_name(found) in _FRAMED), None)
        match local_name(content) if content is not None else "":
            case "tbl":
                table = read_table(content)
                rows = (row for row in live_children(content) if local_name(row) == "tr")
                for number, row in enumerate(rows, 1):
                    self._links(row, f"{path}/r{number}")
                self._found.excluded.append(("covered_by_merge", table.covered_words))
                self._add(Leaf(BlockType.TABLE, path, table.text, hidden=hidden, table=table))
            case "chart":
                self._related(BlockType.CHART_TEXT, relationship_id(content), path, hidden=hidden)
            case "relIds":
                self._related(BlockType.DIAGRAM_TEXT, attribute(content, "dm") or "", path, hidden=hidden)
            case "oleObj":
                self._found.embedded.append(path)

    def _related(self, kind: BlockType, relationship: str, path: str, *, hidden: bool) -> None:
        word = "chart" if kind is BlockType.CHART_TEXT else "diagram"
        target = self._targets.get(relationship, "")
        if target not in self._deck.package:
            self._found.failed.append((word, "missing_part", path))
            return
        try:
            text = self._chart(target) if kind is BlockType.CHART_TEXT else lines_below(self._deck.package.parse(target))
        except Malformed:
            self._found.failed.append((word, "malformed", path))
            return
        self._add(Leaf(kind, path, text, hidden=hidden))

    def _chart(self, part: str) -> str:
        """A chart's words, and those of the shapes drawn on it."""
        package = self._deck.package
        drawn = (lines_below(package.parse(shapes)) for shapes in package.related(part, "chartUserShapes"))
        return "\n".join(text for text in (chart_text(package.parse(part)), *drawn) if text)

    def _add(self, leaf: Leaf) -> None:
        self._found.add(
            Leaf(leaf.kind, leaf.path, leaf.text, level=leaf.level, notes=self._notes, hidden=leaf.hidden, table=leaf.table)
        )


def _properties(shape: Element) -> Element | None:
    """A shape's id, name and description; None for what is no shape."""
    for child in shape:
        if local_name(child).startswith("nv"):
            return child_of(child, "cNvPr")
    return None


def _crop(picture: Element) -> Crop:
    """The shares of a picture that the slide does not show."""
    source = next((found for found in live(picture) if local_name(found) == "srcRect"), None)
    return WHOLE if source is None else crop_of(*map(source.get, ("l", "t", "r", "b")))


def _is_title(shape: Element) -> bool:
    placeholder = placeholder_of(shape)
    return placeholder is not None and placeholder.is_title


def _inner_height(group: Element) -> int | None:
    """The height of a group in the units that its shapes are placed by."""
    properties = child_of(group, "grpSpPr")
    frame = None if properties is None else child_of(properties, "xfrm")
    extent = None if frame is None else child_of(frame, "chExt")
    return None if extent is None else whole_number(extent.get("cy"))


def _by_lines(spots: Sequence[_Spot], reach: int) -> Iterator[_Spot]:
    """Shapes from top to bottom; those that begin at about the same height from left to right."""
    line: list[_Spot] = []
    for spot in sorted(spots, key=lambda spot: (spot.top, spot.left, spot.number)):
        if line and spot.top - line[0].top >= reach:
            yield from sorted(line, key=lambda spot: (spot.left, spot.top, spot.number))
            line = []
        line.append(spot)
    yield from sorted(line, key=lambda spot: (spot.left, spot.top, spot.number))
