"""What is read from a picture: words and lines, each on a rectangle that may be turned."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

Pixels: TypeAlias = npt.NDArray[np.uint8]
"""Rows, columns, and red, green and blue."""
Alive: TypeAlias = Callable[[], None]
"""Told now and then that reading goes on; what it raises ends the reading."""
Point: TypeAlias = tuple[float, float]
Bounds: TypeAlias = tuple[int, int, int, int]
"""Left, top, right and bottom in pixels from the upper left corner."""

_WIDE: Final = 2.0
"""Widths in heights from which a rectangle shows the direction of its text."""


@dataclass(frozen=True, slots=True)
class Patch:
    """A rectangle in pixels by its middle; `angle` is the direction its text runs in, in degrees clockwise, 0 to the right."""

    x: float
    y: float
    width: float
    height: float
    angle: float = 0.0

    @property
    def is_wide(self) -> bool:
        """Whether it is so much wider than high that its text must run along it."""
        return self.width >= _WIDE * self.height

    def part(self, start: float, end: float) -> Patch:
        """The part of it between two distances along its text."""
        along = (start + end - self.width) / 2
        step = math.radians(self.angle)
        x, y = self.x + along * math.cos(step), self.y + along * math.sin(step)
        return Patch(x, y, end - start, self.height, self.angle)

    def turned(self, degrees: float) -> Patch:
        """It on a picture turned clockwise about its upper left corner."""
        step = math.radians(degrees)
        x = self.x * math.cos(step) - self.y * math.sin(step)
        y = self.x * math.sin(step) + self.y * math.cos(step)
        return Patch(x, y, self.width, self.height, self.angle + degrees)

    def scaled(self, factor: float) -> Patch:
        """It on a picture this many times as large."""
        return Patch(self.x * factor, self.y * factor, self.width * factor, self.height * factor, self.angle)

    def read_from(self, direction: float) -> Patch:
        """The same rectangle with its text running in the one of four directions along its sides that is nearest to another."""
        quarters = round((direction - self.angle) / 90)
        sides = (self.height, self.width) if quarters % 2 else (self.width, self.height)
        return Patch(self.x, self.y, *sides, self.angle + 90 * quarters)

    def corners(self) -> tuple[Point, Point, Point, Point]:
        """Its corners: where its text's upper left is, and on clockwise."""
        step = math.radians(self.angle)
        across, along = math.cos(step), math.sin(step)
        half = ((-1, -1), (1, -1), (1, 1), (-1, 1))
        width, height = self.width / 2, self.height / 2
        first, second, third, fourth = (
            (self.x + i * width * across - j * height * along, self.y + i * width * along + j * height * across) for i, j in half
        )
        return first, second, third, fourth


@dataclass(frozen=True, slots=True)
class Word:
    """A run of letters between blanks, how sure its reading is from 0 to 1, and its place."""

    text: str
    confidence: float
    place: Patch


@dataclass(frozen=True, slots=True)
class TextLine:
    """Words side by side with no more than a blank between them, in reading order; there is at least one."""

    words: tuple[Word, ...]
    place: Patch
    confidence: float

    @property
    def text(self) -> str:
        """Its words with a blank between them."""
        return " ".join(word.text for word in self.words)


@dataclass(frozen=True, slots=True)
class Reading:
    """All text of a picture of this many pixels.

    Most of its text runs at `angle`, in degrees clockwise. `unsure` are lines that were seen and are not read well enough to
    be text; neither list is in reading order.
    """

    width: int
    height: int
    angle: float
    lines: tuple[TextLine, ...] = ()
    unsure: tuple[TextLine, ...] = ()

    def without(self, is_elsewhere: Callable[[Word], bool]) -> Reading:
        """The reading less the words that are known from elsewhere."""
        lines, unsure = (
            tuple(kept for line in lines if (kept := _without(line, is_elsewhere))) for lines in (self.lines, self.unsure)
        )
        return Reading(self.width, self.height, self.angle, lines, unsure)

    def scaled(self, factor: float) -> Reading:
        """The reading as that of a picture this many times as large."""
        lines, unsure = (tuple(_scaled(line, factor) for line in lines) for lines in (self.lines, self.unsure))
        return Reading(round(self.width * factor), round(self.height * factor), self.angle, lines, unsure)


def _scaled(line: TextLine, factor: float) -> TextLine:
    words = tuple(replace(word, place=word.place.scaled(factor)) for word in line.words)
    return TextLine(words, line.place.scaled(factor), line.confidence)


def _without(line: TextLine, is_elsewhere: Callable[[Word], bool]) -> TextLine | None:
    words = tuple(word for word in line.words if not is_elsewhere(word))
    return TextLine(words, line.place, line.confidence) if words else None


def bounds_of(places: Iterable[Patch], width: int, height: int) -> Bounds:
    """The smallest upright box of whole pixels around some places, cut to the picture."""
    xs, ys = zip(*(corner for place in places for corner in place.corners()), strict=True)
    left, top = max(0, math.floor(min(xs))), max(0, math.floor(min(ys)))
    return left, top, max(left, min(width, math.ceil(max(xs)))), max(top, min(height, math.ceil(max(ys))))
