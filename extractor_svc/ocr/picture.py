"""Reads a decoded frame; the networks and what they need are loaded with the first one."""

from __future__ import annotations

from dataclasses import replace

from extractor_svc.ocr.pixels import Frame
from extractor_svc.ocr.values import Alive, Reading, TextLine


def read_frame(frame: Frame, *, alive: Alive) -> Reading:
    """Reads a frame of a picture file; places are in its own pixels."""
    from extractor_svc.ocr.reading import read_text  # what it loads takes a second, and most processes never read a picture

    reading = read_text(frame.pixels, alive=alive)
    factor = frame.width / frame.pixels.shape[1]
    lines, unsure = (tuple(_scaled(line, factor) for line in lines) for lines in (reading.lines, reading.unsure))
    return Reading(frame.width, frame.height, reading.angle, lines, unsure)


def _scaled(line: TextLine, factor: float) -> TextLine:
    words = tuple(replace(word, place=word.place.scaled(factor)) for word in line.words)
    return TextLine(words, line.place.scaled(factor), line.confidence)
