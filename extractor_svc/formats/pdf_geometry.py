"""Boxes on a displayed page, and the quarter turns that bring rotated text upright."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(slots=True)
class Box:
    """A rectangle in points; x grows to the right, y downwards."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def width(self) -> float:
        """Extent from left to right."""
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        """Extent from top to bottom."""
        return self.y1 - self.y0

    @property
    def area(self) -> float:
        """Width by height."""
        return self.width * self.height

    @property
    def centre(self) -> tuple[float, float]:
        """The middle."""
        return (self.x0 + self.x1) / 2, (self.y0 + self.y1) / 2

    def holds(self, x: float, y: float) -> bool:
        """Whether a point lies in the box or on its edge."""
        return self.x0 <= x <= self.x1 and self.y0 <= y <= self.y1

    def holds_centre_of(self, other: Box) -> bool:
        """Whether the middle of the other box lies in this one."""
        return self.holds(*other.centre)

    def meets(self, other: Box) -> bool:
        """Whether the two share more than an edge."""
        return self.x0 < other.x1 and other.x0 < self.x1 and self.y0 < other.y1 and other.y0 < self.y1

    def grown(self, margin: float) -> Box:
        """The box with a margin on every side."""
        return Box(self.x0 - margin, self.y0 - margin, self.x1 + margin, self.y1 + margin)

    def cut_to(self, other: Box) -> Box:
        """What both cover; without extent where they do not meet."""
        x0, y0 = max(self.x0, other.x0), max(self.y0, other.y0)
        return Box(x0, y0, max(x0, min(self.x1, other.x1)), max(y0, min(self.y1, other.y1)))


def around(boxes: Iterable[Box]) -> Box:
    """The smallest box that covers all; there must be at least one."""
    x0s, y0s, x1s, y1s = zip(*((box.x0, box.y0, box.x1, box.y1) for box in boxes), strict=True)
    return Box(min(x0s), min(y0s), max(x1s), max(y1s))


def span_overlap(first: tuple[float, float], second: tuple[float, float]) -> float:
    """How much two ranges on a line share; negative is the gap between them."""
    return min(first[1], second[1]) - max(first[0], second[0])


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of a displayed page by whole quarters, clockwise, that brings some of its text upright.

    `width` and `height` are those of the displayed page.
    """

    quarters: int
    width: float
    height: float

    @property
    def page(self) -> Box:
        """The turned page."""
        if self.quarters % 2:
            return Box(0, 0, self.height, self.width)
        return Box(0, 0, self.width, self.height)

    def upright(self, box: Box) -> Box:
        """A box of the displayed page as it lies on the turned one."""
        match self.quarters:
            case 1:
                return Box(self.height - box.y1, box.x0, self.height - box.y0, box.x1)
            case 2:
                return Box(self.width - box.x1, self.height - box.y1, self.width - box.x0, self.height - box.y0)
            case 3:
                return Box(box.y0, self.width - box.x1, box.y1, self.width - box.x0)
            case _:
                return box

    def displayed(self, box: Box) -> Box:
        """A box of the turned page as it lies on the displayed one; undoes `upright`."""
        match self.quarters:
            case 1:
                return Box(box.y0, self.height - box.x1, box.y1, self.height - box.x0)
            case 2:
                return Box(self.width - box.x1, self.height - box.y1, self.width - box.x0, self.height - box.y0)
            case 3:
                return Box(self.width - box.y1, box.x0, self.width - box.y0, box.x1)
            case _:
                return box
