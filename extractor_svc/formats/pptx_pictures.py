"""Reads the pictures of a slide: their words are texts of the slide, at the picture's shape."""

from __future__ import annotations

from dataclasses import dataclass

from artifact.model import BlockType
from extractor_svc.formats.pptx_deck import Deck
from extractor_svc.formats.pptx_shapes import Leaf, PictureShape
from extractor_svc.formats.pptx_slides import SlideContent
from extractor_svc.ocr.embedded import PictureReader, Seen
from extractor_svc.ocr.pixels import DAMAGED
from extractor_svc.ocr.values import Alive


@dataclass(frozen=True, slots=True)
class Looked:
    """A slide's texts with those of its pictures in their places, and what came of each picture."""

    leaves: list[Leaf]
    pictures: list[tuple[PictureShape, Seen]]


def with_pictures(content: SlideContent, deck: Deck, reader: PictureReader, *, below: str = "", alive: Alive) -> Looked:
    """Reads the pictures of a slide, only those at or below a path where one is given."""
    leaves: list[Leaf] = []
    pictures: list[tuple[PictureShape, Seen]] = []
    taken = 0
    for picture in content.found.pictures:
        if below and picture.path != below and not picture.path.startswith(f"{below}/"):
            continue
        seen = _read(picture, deck, reader, alive)
        pictures.append((picture, seen))
        leaves += content.leaves[taken : picture.after]
        taken = picture.after
        if seen.text:
            leaves.append(Leaf(BlockType.IMAGE_TEXT, picture.path, seen.text, hidden=picture.hidden, ocr=True))
    return Looked(leaves + content.leaves[taken:], pictures)


def _read(picture: PictureShape, deck: Deck, reader: PictureReader, alive: Alive) -> Seen:
    package = deck.package
    if picture.part not in package:
        return Seen(reason=DAMAGED)
    size = package.size_of(picture.part)
    return reader.read(picture.part, lambda: package.read(picture.part), size_bytes=size, crop=picture.crop, alive=alive)
