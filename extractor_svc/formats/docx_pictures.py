"""Reads the pictures of a document: their words are texts at the picture's place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from artifact.locators import DocxPlace
from extractor_svc.formats.docx_document import Document
from extractor_svc.formats.docx_story import Leaf, PictureAt
from extractor_svc.ocr.embedded import PictureReader, Seen
from extractor_svc.ocr.pixels import DAMAGED
from extractor_svc.ocr.values import Alive


@dataclass(slots=True)
class Pictures:
    """Reads pictures as they are met; `seen` is what came of each, with its text before it was read."""

    document: Document
    reader: PictureReader
    alive: Alive
    seen: list[tuple[Leaf, Seen]] = field(default_factory=list)

    def read(self, leaves: Iterable[Leaf]) -> Iterator[Leaf]:
        """The texts, with those of pictures; a picture that shows none, or is not read, is left out."""
        for leaf in leaves:
            if leaf.picture is None:
                yield leaf
                continue
            seen = self._look_at(leaf.picture)
            self.seen.append((leaf, seen))
            if seen.text:
                yield replace(leaf, text=seen.text)

    def _look_at(self, picture: PictureAt) -> Seen:
        package = self.document.parts.package
        if picture.part not in package:
            return Seen(reason=DAMAGED)
        size = package.size_of(picture.part)
        return self.reader.read(
            picture.part, lambda: package.read(picture.part), size_bytes=size, crop=picture.crop, alive=self.alive
        )


def asked_for(leaves: Sequence[Leaf], place: DocxPlace) -> list[Leaf]:
    """The texts without the pictures that cannot belong to a place: all of them where another text stands at just that place."""
    exact = any(not leaf.picture and (leaf.part, leaf.first, leaf.last) == (place.part, place.first, place.last) for leaf in leaves)
    return [leaf for leaf in leaves if not leaf.picture or (not exact and _may_be_in(leaf, place))]


def _may_be_in(leaf: Leaf, place: DocxPlace) -> bool:
    if leaf.part != place.part:
        return False
    return place.first != place.last or f"{leaf.first}/".startswith(f"{place.first}/")
