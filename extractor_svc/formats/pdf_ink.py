"""What is drawn on a page: spans of text, rules, pictures and marks, in points of the displayed page.

Values that a page has by the thousand are not frozen, for that makes them three times as dear; they are not changed all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from artifact.model import BlockType
from extractor_svc.formats.pdf_geometry import Box


@dataclass(slots=True)
class Span:
    """A run of text in one font on one line, without white space at its ends.

    `box` lies on the page turned so that the text is upright (`Stroke.quarters`). `spaced` says that white space stands before
    it in the source; `hidden` that the page does not show it. `index` is its place among the page's spans, `tag` the level of the
    heading that the file's structure makes it, or 0.
    """

    text: str
    box: Box
    baseline: float
    size: float
    font: str
    index: int
    spaced: bool = False
    bold: bool = False
    italic: bool = False
    mono: bool = False
    raised: bool = False
    hidden: bool = False
    tag: int = 0


@dataclass(slots=True)
class Stroke:
    """Spans drawn one after the other on one baseline; `quarters` turns them upright, and None is text at an angle."""

    spans: tuple[Span, ...]
    quarters: int | None


@dataclass(slots=True)
class Letter:
    """One character of a span and its box on the turned page."""

    text: str
    box: Box


Letters: TypeAlias = Callable[[int], Sequence[Letter]]
"""Gives the letters of a page's span by its index; not free, so asked only where they are needed."""


@dataclass(slots=True)
class Vector:
    """One piece of a drawing by its bounds; `rectangle` where it is one or a straight upright line."""

    box: Box
    stroked: bool
    rectangle: bool
    colour: int


@dataclass(frozen=True, slots=True)
class Picture:
    """An image on the page, by its bounds, and its pixels."""

    box: Box
    pixels: int


@dataclass(frozen=True, slots=True)
class Mark:
    """What stands on a page outside its content: a form field or an annotation that says something."""

    kind: BlockType
    text: str
    box: Box
    hidden: bool = False


class Activity(StrEnum):
    """What a file would run or open if it were allowed to."""

    JAVASCRIPT = "a script"
    LAUNCH = "a program to launch"
    SUBMIT = "a form to send"
    MEDIA = "media to play"
    ATTACHMENT = "an attachment"


@dataclass(frozen=True, slots=True)
class Active:
    """Active content: what it is, the name it has if any, and its page from 1, or 0 where it belongs to the file."""

    activity: Activity
    name: str = ""
    page: int = 0


@dataclass(frozen=True, slots=True)
class LinkArea:
    """A link: its box on the page as it is displayed, and where it leads."""

    box: Box
    target: str


@dataclass(frozen=True, slots=True)
class Scan:
    """What came of the pixels of a page: whether they are its text, or why they were not read.

    `pictures` beside text were read, those in `unread` were not, and why; `unsure_words` were seen and not read well enough.
    """

    whole: bool = False
    reason: str = ""
    pictures: int = 0
    unsure_words: int = 0
    unread: tuple[tuple[Box, str], ...] = ()


@dataclass(frozen=True, slots=True)
class PageInk:
    """All that is drawn on one page; `number` counts from 1, `faults` the errors met while reading it.

    `off_page_words` and `overprinted_words` were dropped: they lie outside the page, or repeat a text on its own place.
    `pictures` are looked for only where the page has little text or hidden text.
    """

    number: int
    label: str
    bounds: Box
    strokes: tuple[Stroke, ...]
    vectors: tuple[Vector, ...] = ()
    pictures: tuple[Picture, ...] = ()
    largest_picture_pixels: int = 0
    marks: tuple[Mark, ...] = ()
    active: tuple[Active, ...] = ()
    links: tuple[LinkArea, ...] = ()
    off_page_words: int = 0
    overprinted_words: int = 0
    faults: int = 0
    scan: Scan = Scan()


@dataclass(frozen=True, slots=True)
class Bookmark:
    """An entry of the outline: level from 1, title, page from 1."""

    level: int
    title: str
    page: int


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What the file says of itself as a whole."""

    page_count: int
    repaired: bool
    title: str
    properties: dict[str, str] = field(default_factory=dict)
    outline: tuple[Bookmark, ...] = ()
    active: tuple[Active, ...] = ()
