"""Decodes pictures, bounded in pixels, to what text is read from: as they are shown, on white, no larger than needed."""

from __future__ import annotations

import math
import struct
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import Final

import numpy as np
from PIL import Image, ImageFile, ImageOps

from extractor_svc.ocr.values import Pixels

FORMATS: Final = ("PNG", "JPEG", "TIFF", "GIF", "BMP", "WEBP")
"""The formats that are decoded, by the decoder's names."""
_LARGEST_BYTES: Final = 400_000_000
"""Bytes of a picture decoded; a page of A4 in colour at 1200 dots an inch has as many."""
_WORKING_PIXELS: Final = 16_000_000
"""Pixels of a picture when it is read: A4 at 400 dots an inch."""
_FAULTS: Final = (
    OSError,
    SyntaxError,
    ValueError,
    EOFError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    RuntimeError,
    struct.error,
    zlib.error,
)
"""What the decoders raise over bytes that are not as their formats say."""
_DRAWN: Final = 127
_LIGHT: Final = 160
"""Mean of what is drawn over nothing from which it is light text for a dark ground."""
_ORIENTATION: Final = 0x0112
DAMAGED: Final = "damaged_picture"
TOO_LARGE: Final = "picture_too_large"
_SIDEWAYS: Final = frozenset({5, 6, 7, 8})


class PictureUnreadable(Exception):
    """A picture that cannot be decoded; `reason` is the ledger's: `DAMAGED` or `TOO_LARGE`."""

    def __init__(self, message: str, *, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a picture file as it is shown: its size, and its pixels, fewer where it is large.

    `damaged` where the end of its data is missing or broken, and what lies before it was decoded.
    """

    width: int
    height: int
    pixels: Pixels
    damaged: bool = False


class PictureFile:
    """An open picture file; its frames are decoded one at a time, from 1. The frames of an animation are one picture."""

    def __init__(self, content: bytes) -> None:
        """Reads the head of the file.

        Raises:
            PictureUnreadable: it is no picture of the formats that are decoded.
        """
        self._content = content
        with _faults():
            image = _open(content)
            self.format = str(image.format)
            self.animated = self.format not in ("TIFF", "MPO") and getattr(image, "n_frames", 1) > 1
            self.frames = int(getattr(image, "n_frames", 1)) if self.format == "TIFF" else 1

    def size(self, number: int) -> tuple[int, int]:
        """Width and height of a frame as it is stored; nothing is decoded.

        Raises:
            PictureUnreadable: there is no such frame.
        """
        with _faults():
            return _frame(self._content, number).size

    def frame(self, number: int) -> Frame:
        """Decodes a frame; one whose end is broken as far as it goes.

        Raises:
            PictureUnreadable: it is too large, or nothing of it can be decoded.
        """
        try:
            return self._decoded(number, damaged=False)
        except PictureUnreadable as fault:
            if fault.reason != DAMAGED:
                raise
        with _broken_ends():
            return self._decoded(number, damaged=True)

    def _decoded(self, number: int, *, damaged: bool) -> Frame:
        with _faults():
            image = _frame(self._content, number)
            stored = image.size
            _refuse_a_bomb(image)
            sideways = image.getexif().get(_ORIENTATION) in _SIDEWAYS
            image.draft("RGB", _working_size(*stored))
            image.load()
            ImageOps.exif_transpose(image, in_place=True)
            pixels = _on_paper(_smaller(image))
            width, height = (stored[1], stored[0]) if sideways else stored
            return Frame(width, height, pixels, damaged)


@contextmanager
def _faults() -> Iterator[None]:
    """Turns what decoders raise into a fault of the picture, and keeps what they warn of to itself."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except PictureUnreadable:
        raise
    except _FAULTS as error:
        raise PictureUnreadable("the picture is damaged or of a kind that is not read", reason=DAMAGED) from error


@contextmanager
def _broken_ends() -> Iterator[None]:
    """Has decoders give what they have where the data ends too soon."""
    before = ImageFile.LOAD_TRUNCATED_IMAGES
    ImageFile.LOAD_TRUNCATED_IMAGES = True
    try:
        yield
    finally:
        ImageFile.LOAD_TRUNCATED_IMAGES = before


def _open(content: bytes) -> Image.Image:
    Image.MAX_IMAGE_PIXELS = None  # the bound is kept here, frame by frame
    return Image.open(BytesIO(content), formats=FORMATS)


def _frame(content: bytes, number: int) -> Image.Image:
    image = _open(content)
    if number > 1:
        image.seek(number - 1)
    return image


def _refuse_a_bomb(image: Image.Image) -> None:
    channels = 1 if image.mode in ("1", "L") else 4
    if image.width * image.height * channels > _LARGEST_BYTES:
        raise PictureUnreadable(f"the picture has {image.width} by {image.height} pixels, more than are decoded", reason=TOO_LARGE)


def _working_size(width: int, height: int) -> tuple[int, int]:
    scale = min(1.0, math.sqrt(_WORKING_PIXELS / (width * height)))
    return max(1, round(width * scale)), max(1, round(height * scale))


def _smaller(image: Image.Image) -> Image.Image:
    """The picture with no more pixels than text is read from."""
    size = _working_size(*image.size)
    if size == image.size:
        return image
    if image.mode == "1":
        image = image.convert("L")
    elif image.mode in ("P", "PA"):
        image = image.convert("RGBA")
    return image.resize(size, Image.Resampling.BOX)


def _on_paper(image: Image.Image) -> Pixels:
    """The picture in red, green and blue, 8 bits each; what shines through is white, or black behind light text."""
    if image.mode.startswith(("I", "F")):
        return _stretched(np.asarray(image, np.float64))
    if "A" not in image.mode and "a" not in image.mode and "transparency" not in image.info:
        return np.array(image.convert("RGB"))
    drawn = image.convert("RGBA")
    paper = Image.new("RGBA", drawn.size, "black" if _is_light(drawn) else "white")
    paper.alpha_composite(drawn)
    return np.array(paper.convert("RGB"))


def _is_light(image: Image.Image) -> bool:
    """Whether what is drawn over nothing is light, as text for a dark ground is."""
    grey, opacity = np.asarray(image.convert("L")), np.asarray(image.getchannel("A"))
    drawn = grey[opacity > _DRAWN]
    return bool(drawn.size) and float(drawn.mean()) > _LIGHT


def _stretched(values: np.ndarray) -> Pixels:
    """Grey of more than 8 bits, or of any range, from its darkest to its lightest."""
    low, high = float(values.min()), float(values.max())
    grey = np.rint((values - low) * (255 / max(high - low, 1e-9))).astype(np.uint8)
    return np.repeat(grey[:, :, None], 3, axis=2)
