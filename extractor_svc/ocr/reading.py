"""Reads all text of a picture: finds its lines, sees which way they run, and reads each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import median
from typing import Final

import cv2

from extractor_svc.ocr.detection import lines_in
from extractor_svc.ocr.recognition import read_line, sureness
from extractor_svc.ocr.values import Alive, Patch, Pixels, Reading, TextLine

_SURE: Final = 0.8
"""Least mean confidence of a line's letters: upright text has 0.95 and more, text upside down or in a script unknown to the
network at most 0.85, mostly 0.7."""
_IDEOGRAPH: Final = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\u3040-\u30ff]")
_CLEARLY: Final = 0.9
_MORE_SURE: Final = 0.1
_SAMPLE: Final = 4
_MAYBE_ASIDE: Final = 1.3
_ASIDE: Final = 3.0
"""Heights in widths from which a line may be text that runs across, where it is no letter, and where it surely is."""
_LEVEL: Final = 20.0
_LONG: Final = 4.0
"""Widths in heights from which the angle of a line is known to half a degree."""


def read_text(pixels: Pixels, *, alive: Alive) -> Reading:
    """Reads a picture; the same pixels give the same reading.

    Lines may run in any direction; where most run along one, short ones are taken to run along it too.

    Raises:
        MemoryError: there is too little memory for it.
    """
    try:
        return _reading(pixels, alive)
    except cv2.error as error:
        if error.code == cv2.Error.StsNoMem:
            raise MemoryError("there is no memory left for pixels") from error
        raise


def _reading(pixels: Pixels, alive: Alive) -> Reading:
    height, width = pixels.shape[:2]
    found = lines_in(pixels)
    angle = _main_direction(pixels, found)
    lines: list[TextLine] = []
    for place in found:
        alive()
        lines += _read(pixels, place, angle)
    ideographs = any(len(_IDEOGRAPH.findall(line.text)) > 1 for line in lines if line.confidence >= _SURE)
    sure = tuple(line for line in lines if _is_sure(line, ideographs=ideographs))
    unsure = tuple(line for line in lines if not _is_sure(line, ideographs=ideographs))
    return Reading(width, height, _skew(sure, angle), sure, unsure)


def _is_sure(line: TextLine, *, ideographs: bool) -> bool:
    """Whether a line is text: a lone ideograph where there are no others is what signs and icons are taken for."""
    return line.confidence >= _SURE and (ideographs or not _IDEOGRAPH.fullmatch(line.text))


def _main_direction(pixels: Pixels, found: Sequence[Patch]) -> float:
    """The direction in which most text runs, in degrees: the longest lines are read both ways."""
    wide = [place for place in found if place.is_wide]
    if not wide:
        return 0.0
    upright = sum(place.width for place in wide if abs(place.angle) > 45)
    quarters = 90.0 if 2 * upright > sum(place.width for place in wide) else 0.0
    along = [place for place in wide if (abs(place.angle) > 45) == bool(quarters)]
    longest = [place.read_from(quarters) for place in sorted(along, key=lambda place: -place.width)[:_SAMPLE]]
    return quarters if _reads_forwards(pixels, longest) else quarters - 180


def _reads_forwards(pixels: Pixels, places: Sequence[Patch]) -> bool:
    """Whether lines are read more surely along their direction than against it."""
    forwards = sum(sureness(pixels, place) for place in places)
    if forwards >= _CLEARLY * len(places):
        return True
    backwards = sum(sureness(pixels, replace(place, angle=place.angle + 180)) for place in places)
    return backwards - forwards <= _MORE_SURE * len(places)


def _read(pixels: Pixels, place: Patch, angle: float) -> list[TextLine]:
    """A line read along the main direction; also across it, both ways, where it is long that way or not read surely."""
    along = place.read_from(angle)
    read = read_line(pixels, along)
    if along.height < _MAYBE_ASIDE * along.width or (along.height < _ASIDE * along.width and _confidence(read) >= _SURE):
        return read
    return max((read, *(read_line(pixels, along.read_from(angle + turn)) for turn in (90, -90))), key=_confidence)


def _confidence(lines: Iterable[TextLine]) -> float:
    return max((line.confidence for line in lines), default=0.0)


def _skew(lines: Sequence[TextLine], angle: float) -> float:
    """The middle angle of the longest lines that run about one way; that way itself where none is long enough to tell."""
    near = [line.place for line in lines if abs(_between(line.place.angle, angle)) < _LEVEL]
    long = [place for place in near if place.width >= _LONG * place.height]
    widest = max((place.width for place in long), default=0.0)
    return angle + median([_between(place.angle, angle) for place in long if 2 * place.width >= widest] or [0.0])


def _between(angle: float, other: float) -> float:
    """How far one direction is from another, -180 to 180 degrees."""
    return (angle - other + 180) % 360 - 180
