"""Reads a decoded frame; the networks and what they need are loaded with the first one."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from extractor_svc.ocr.pixels import Frame
from extractor_svc.ocr.values import Alive, Pixels, Reading

_LONG: Final = 3.0
"""Widths in heights from which a line is text."""


def read_frame(frame: Frame, *, alive: Alive) -> Reading:
    """Reads a frame of a picture file; places are in its own pixels."""
    reading = read_pixels(frame.pixels, alive=alive)
    return replace(reading.scaled(frame.width / frame.pixels.shape[1]), width=frame.width, height=frame.height)


def read_pixels(pixels: Pixels, *, alive: Alive) -> Reading:
    """Reads a picture that is in memory; places are in its pixels."""
    from extractor_svc.ocr.reading import read_text  # what it loads takes a second, and most processes never read a picture

    return read_text(pixels, alive=alive)


def unsure_words(reading: Reading) -> int:
    """About how many words were seen and not read, in lines long enough to be no sign, stain or piece of a drawing."""
    lines = [line for line in reading.unsure if line.place.width >= _LONG * line.place.height]
    return sum(max(1, len(line.words)) for line in lines)
