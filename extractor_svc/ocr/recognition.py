"""Reads one line of text: a strip is cut out of the picture, and a network names the letter in each of its columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import cv2
import numpy as np
import numpy.typing as npt

from extractor_svc.ocr.engine import alphabet, letter_probability
from extractor_svc.ocr.values import Patch, Pixels, TextLine, Word

_HEIGHT: Final = 48
_COLUMN: Final = 8
_NARROWEST: Final = 32
_WIDEST: Final = 4_800
"""Columns of pixels that the network reads; a line of 300 letters has about this many."""
_SAMPLED: Final = 4
_PARTED: Final = 0.7
"""Heights of the line between the middles of two letters from which they may be words of their own without a blank read."""
_WORD_GAP: Final = 0.45
_LINE_GAP: Final = 1.4
"""Empty space, in heights of the line with its margins, that parts words, and that parts lines."""
_INK: Final = 0.35
"""Contrast of a line's ink with its ground from which a pixel is inked, as a share of the strongest."""
_FEWEST_INKED: Final = 2
_ROWS: Final = slice(5, 43)


@dataclass(frozen=True, slots=True)
class _Letter:
    """A letter, how sure it is, and the middle of its column in the strip."""

    text: str
    probability: float
    middle: float


@dataclass(frozen=True, slots=True)
class _Run:
    """Letters without a blank between them, and where their ink begins and ends in the strip."""

    letters: tuple[_Letter, ...]
    start: float
    end: float


def read_line(pixels: Pixels, place: Patch) -> list[TextLine]:
    """The texts on a rectangle of the picture, from its start; several where wide gaps part them, none where nothing is read."""
    strip = _strip(pixels, place)
    scale = place.height / _HEIGHT
    lines: list[list[Word]] = []
    last = -math.inf
    for run in _runs(list(_letters(strip)), _ink(strip), end=place.width / scale):
        if run.start - last > _LINE_GAP * _HEIGHT:
            lines.append([])
        last = run.end
        text = "".join(letter.text for letter in run.letters)
        sure = sum(letter.probability for letter in run.letters) / len(run.letters)
        lines[-1].append(Word(text, round(sure, 4), place.part(run.start * scale, run.end * scale)))
    return [line_of(words, place) for words in lines]


def line_of(words: Sequence[Word], along: Patch) -> TextLine:
    """A line of some words that lie on a rectangle, in their order; its confidence is the mean over its letters."""
    letters = sum(len(word.text) for word in words)
    sure = sum(word.confidence * len(word.text) for word in words) / letters
    start, end = (_distance(along, word.place) for word in (words[0], words[-1]))
    return TextLine(tuple(words), along.part(start - words[0].place.width / 2, end + words[-1].place.width / 2), round(sure, 4))


def sureness(pixels: Pixels, place: Patch) -> float:
    """How sure the letters on a rectangle are in the mean, from 0 to 1."""
    letters = list(_letters(_strip(pixels, place)))
    return sum(letter.probability for letter in letters) / len(letters) if letters else 0.0


def _distance(along: Patch, place: Patch) -> float:
    """How far from the start of one rectangle the middle of another lies along it."""
    step = math.radians(along.angle)
    return (place.x - along.x) * math.cos(step) + (place.y - along.y) * math.sin(step) + along.width / 2


def _strip(pixels: Pixels, place: Patch) -> Pixels:
    """The rectangle as a strip of the height that the network reads, upright; grey, as nothing is, beyond its end."""
    width = min(_WIDEST, max(_COLUMN, math.ceil(place.width / place.height * _HEIGHT)))
    finer = max(1, min(_SAMPLED, int(place.height // _HEIGHT)))
    size = width * finer, _HEIGHT * finer
    upper_left, upper_right, _, lower_left = place.corners()
    onto = cv2.getAffineTransform(
        np.array([upper_left, upper_right, lower_left], np.float32),
        np.array([(0, 0), (size[0], 0), (0, size[1])], np.float32),
    )
    strip = cv2.warpAffine(pixels, onto, size, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    if finer > 1:
        strip = cv2.resize(strip, (width, _HEIGHT), interpolation=cv2.INTER_AREA)
    missing = max(_NARROWEST, width + -width % _COLUMN) - width
    padded = cv2.copyMakeBorder(strip, 0, 0, 0, missing, cv2.BORDER_CONSTANT, value=(127, 127, 127))
    return padded.astype(np.uint8, copy=False)


def _letters(strip: Pixels) -> Iterator[_Letter]:
    """The letters in a strip; one that goes on in the next column is one letter."""
    probability = letter_probability(strip)
    best = probability.argmax(axis=1)
    width = strip.shape[1] / len(best)
    names = alphabet()
    for column, (before, letter) in enumerate(pairwise([0, *best.tolist()])):
        if letter not in (0, before):
            yield _Letter(names[letter], float(probability[column, letter]), (column + 0.5) * width)


def _ink(strip: Pixels) -> npt.NDArray[np.bool_]:
    """Which columns of a strip have ink, less its margins above and below, where the lines next to it may reach in."""
    grey = cv2.cvtColor(strip, cv2.COLOR_RGB2GRAY)[_ROWS].astype(np.int16)
    contrast = np.abs(grey - np.median(grey))
    inked: npt.NDArray[np.bool_] = (contrast > _INK * contrast.max()).sum(axis=0) >= _FEWEST_INKED
    return inked


def _runs(letters: Sequence[_Letter], ink: npt.NDArray[np.bool_], *, end: float) -> Iterator[_Run]:
    """The words of a line by the blanks that were read and the wide gaps that were not."""
    run: list[_Letter] = []
    start = 0.0
    blank = False
    for letter in letters:
        if letter.text.isspace():
            blank = True
            continue
        if run and (blank or letter.middle - run[-1].middle > _PARTED * _HEIGHT):
            gap = _widest_gap(ink, run[-1].middle, letter.middle)
            if blank or gap[1] - gap[0] > _WORD_GAP * _HEIGHT:
                yield _Run(tuple(run), start, gap[0])
                run, start = [], gap[1]
        if not run and not start:
            start = _edge(ink, letter.middle, -1)
        run.append(letter)
        blank = False
    if run:
        yield _Run(tuple(run), start, min(end, _edge(ink, run[-1].middle, 1)))


def _widest_gap(ink: npt.NDArray[np.bool_], first: float, second: float) -> tuple[float, float]:
    """The start and end of the widest run of columns without ink between two letters; their middle where there is none."""
    left, right = round(first), max(round(first) + 1, round(second))
    best = ((first + second) / 2, (first + second) / 2)
    start = left
    for column in range(left, right + 1):
        if column == right or ink[min(column, len(ink) - 1)]:
            if column - start > best[1] - best[0]:
                best = (float(start), float(column))
            start = column + 1
    return best


def _edge(ink: npt.NDArray[np.bool_], middle: float, step: int) -> float:
    """Where the ink of an outermost letter ends, going outwards from its middle to the last inked column of the strip."""
    inked = np.flatnonzero(ink)
    outside = inked[inked <= middle] if step < 0 else inked[inked >= middle]
    if not len(outside):
        return middle
    return float(outside[0]) if step < 0 else float(outside[-1] + 1)
