"""Finds lines of text in a picture."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import cv2
import numpy as np
import numpy.typing as npt

from extractor_svc.ocr.engine import text_probability
from extractor_svc.ocr.values import Patch, Pixels

_LARGEST_AREA: Final = 1_250_000
"""Pixels of a tile on which lines are looked for: a page of paper at about 110 dots an inch, where type of 5 points is found."""
_TALL: Final = 2.5
"""Widths from which the height of a large picture is looked at in tiles, as that of a long web page is."""
_TILE: Final = 1.5
_SHARED: Final = 0.1
"""Share of a tile's height that it has in common with the next one."""
_STEP: Final = 32
_TEXT: Final = 0.3
_LINE: Final = 0.5
"""Least probability of a pixel to be text, and least mean over a line; both are those the network was published with."""
_THINNEST: Final = 3
_SHRUNK: Final = 1.6
"""How much of a line the network leaves out at its edges: its area by its outline, times this."""


@dataclass(frozen=True, slots=True)
class _Tile:
    """Rows of a picture, and those between which the middle of a line must lie to be this tile's."""

    top: int
    bottom: int
    first: float
    last: float


def lines_in(pixels: Pixels) -> list[Patch]:
    """Where the picture has lines of text, from the top; each runs along its longer side."""
    found: list[Patch] = []
    for tile in _tiles(pixels.shape[1], pixels.shape[0]):
        lower = (replace(line, y=line.y + tile.top) for line in _lines_in_tile(pixels[tile.top : tile.bottom]))
        found += (line for line in lower if tile.first <= line.y < tile.last)
    return sorted(found, key=lambda line: (line.y, line.x, line.width, line.height, line.angle))


def _tiles(width: int, height: int) -> Iterator[_Tile]:
    if height <= _TALL * width or width * height <= _LARGEST_AREA:
        yield _Tile(0, height, -math.inf, math.inf)
        return
    tall = round(_TILE * width)
    shared = round(_SHARED * tall)
    first, top = -math.inf, 0
    while top + tall < height:
        last = top + tall - shared / 2
        yield _Tile(top, top + tall, first, last)
        first, top = last, top + tall - shared
    yield _Tile(top, height, first, math.inf)


def _lines_in_tile(pixels: Pixels) -> Iterator[Patch]:
    height, width = pixels.shape[:2]
    scale = min(1.0, math.sqrt(_LARGEST_AREA / (width * height)))
    size = max(1, round(width * scale)), max(1, round(height * scale))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA) if scale < 1 else pixels
    padded = cv2.copyMakeBorder(small, 0, -size[1] % _STEP, 0, -size[0] % _STEP, cv2.BORDER_REPLICATE)
    probability = text_probability(padded.astype(np.uint8, copy=False))[: size[1], : size[0]]
    mask = cv2.dilate((probability > _TEXT).astype(np.uint8), np.ones((2, 2), np.uint8))
    outlines, _ = cv2.findContours(mask, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
    for outline in outlines:
        (x, y), (along, across), angle = cv2.minAreaRect(outline)
        if min(along, across) >= _THINNEST and _is_line(probability, (x, y), (along, across), angle):
            yield _line(x, y, along, across, angle).scaled(1 / scale)


def _is_line(probability: npt.NDArray[np.float32], middle: tuple[float, float], size: tuple[float, float], angle: float) -> bool:
    """Whether the pixels of a rectangle are likely enough to be text."""
    corners = cv2.boxPoints((middle, size, angle))
    left, top = np.maximum(np.floor(corners.min(axis=0)).astype(int), 0)
    right, bottom = np.ceil(corners.max(axis=0)).astype(int) + 1
    part = probability[top:bottom, left:right]
    inside = np.zeros(part.shape, np.uint8)
    cv2.fillConvexPoly(inside, (corners - (left, top)).astype(np.int32), 1)
    return cv2.mean(part, inside)[0] >= _LINE


def _line(x: float, y: float, along: float, across: float, angle: float) -> Patch:
    """The line whose inner part is a rectangle: grown to its outline, on its longer side, at -90 to 90 degrees."""
    margin = _SHRUNK * along * across / (along + across)
    if along < across:
        along, across, angle = across, along, angle + 90
    return Patch(x, y, along + margin, across + margin, (angle + 89.999) % 180 - 89.999)
