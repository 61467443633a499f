"""Reads the pictures inside a document: each once, those large enough, while there is time."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from extractor_svc.context import ReadContext
from extractor_svc.ocr.paragraphs import paragraphs_of
from extractor_svc.ocr.picture import read_frame, unsure_words
from extractor_svc.ocr.pixels import TOO_LARGE, Frame, PictureFile, PictureUnreadable
from extractor_svc.ocr.values import Alive

Crop: TypeAlias = tuple[float, float, float, float]
"""Shares of a picture that are cut away: of its width at the left, of its height at the top, at the right, and at the bottom."""

WHOLE: Final[Crop] = (0.0, 0.0, 0.0, 0.0)
SMALL: Final = "small_picture"
NO_TIME: Final = "time_limit"
SWITCHED_OFF: Final = "ocr_off"
_TIME_FOR_PICTURES: Final = 0.6
_TIME_FOR_LAST: Final = 0.7
"""Shares of the time limit after which no picture is begun, and at which the last one is broken off."""
_THOUSANDTHS: Final = re.compile(r"-?\d{1,9}")
_SHORTEST_SIDE: Final = 16
_FEWEST_PIXELS: Final = 4_096
"""Pixels under which a picture is an icon or a rule."""


def crop_of(left: str | None, top: str | None, right: str | None, bottom: str | None) -> Crop:
    """The shares that an office file states in thousandths of a percent; what is no number is nothing."""
    shares = [int(side) / 100_000 if side and _THOUSANDTHS.fullmatch(side) else 0.0 for side in (left, top, right, bottom)]
    return shares[0], shares[1], shares[2], shares[3]


@dataclass(frozen=True, slots=True)
class Seen:
    """What came of a picture: its text, a paragraph a line, empty where it shows none; or the reason it was not read."""

    text: str = ""
    reason: str = ""
    unsure_words: int = 0


class _OutOfTime(Exception):
    """No time is left for pictures."""


class PictureReader:
    """Reads the pictures of one document; the same picture is read once."""

    def __init__(self, context: ReadContext) -> None:
        self._context = context
        began = time.monotonic()
        self._end = began + _TIME_FOR_PICTURES * context.limits.timeout_s
        self._last = began + _TIME_FOR_LAST * context.limits.timeout_s
        self._seen: dict[tuple[str, Crop], Seen] = {}

    def read(self, name: str, load: Callable[[], bytes], *, size_bytes: int, crop: Crop = WHOLE, alive: Alive) -> Seen:
        """Reads a picture by the name it has in the document, of which it may be that only a part is shown."""
        if self._context.options.ocr is False:
            return Seen(reason=SWITCHED_OFF)
        if size_bytes > self._context.limits.max_bytes:
            return Seen(reason=TOO_LARGE)
        key = name, crop
        if key not in self._seen:
            try:
                self._seen[key] = self._read(load(), crop, alive)
            except PictureUnreadable as fault:
                self._seen[key] = Seen(reason=fault.reason)
            except _OutOfTime:
                return Seen(reason=NO_TIME)
        return self._seen[key]

    def _read(self, content: bytes, crop: Crop, alive: Alive) -> Seen:
        file = PictureFile(content)
        width, height = file.size(1)
        if min(width, height) < _SHORTEST_SIDE or width * height < _FEWEST_PIXELS:
            return Seen(reason=SMALL)
        self._check_time()
        frame = _cropped(file.frame(1), crop)

        def go_on() -> None:
            if time.monotonic() > self._last:
                raise _OutOfTime
            alive()

        reading = read_frame(frame, alive=go_on)
        return Seen("\n".join(paragraph.text for paragraph in paragraphs_of(reading)), unsure_words=unsure_words(reading))

    def _check_time(self) -> None:
        if time.monotonic() > self._end:
            raise _OutOfTime


def _cropped(frame: Frame, crop: Crop) -> Frame:
    """What is shown of a frame; all of it where the shares leave nothing."""
    left, top, right, bottom = (max(0.0, share) for share in crop)
    rows, columns = frame.pixels.shape[:2]
    shown = frame.pixels[round(top * rows) : rows - round(bottom * rows), round(left * columns) : columns - round(right * columns)]
    if not shown.size:
        return frame
    return replace(frame, width=shown.shape[1], height=shown.shape[0], pixels=shown.copy())
