"""Pictures of text, drawn for the tests."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO

from PIL import Image, ImageDraw, ImageFont

SENTENCE = "Stock of pallets counted in Bremen"


def page(lines: Sequence[tuple[int, int, str]], *, size: tuple[int, int] = (640, 200), type_size: int = 24) -> Image.Image:
    """Black text on white: each line by its left, its top and its text."""
    image = Image.new("RGB", size, "white")
    write(image, lines, type_size=type_size)
    return image


def write(image: Image.Image, lines: Sequence[tuple[int, int, str]], *, type_size: int = 24, ink: str = "black") -> None:
    """Draws lines of text on a picture."""
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(type_size)
    for left, top, text in lines:
        draw.text((left, top), text, fill=ink, font=font)


def saved(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    """The bytes of a picture file."""
    out = BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()
