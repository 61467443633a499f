"""Text is read from pixels inside the confined child, within its limits."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from artifact.codec import ArtifactAssembler, unpack
from artifact.locators import Locator, to_json
from artifact.model import Artifact
from extractor_svc.child import ChildSettings
from extractor_svc.context import Options
from extractor_svc.errors import MemoryLimit
from extractor_svc.frames import Progress, Request
from extractor_svc.limits import MIB, Limits
from extractor_svc.pool import ExtractorPool, Job, PoolSettings
from extractor_svc.spool import DocumentSpool, PartSpool
from services.errors import InvalidArgument

SENTENCE = "Stock of pallets counted in Bremen"


def picture(*, pages: int = 1, size: tuple[int, int] = (640, 200)) -> bytes:
    """Pages of one line each, as a TIFF file."""
    image = Image.new("L", size, 255)
    ImageDraw.Draw(image).text((60, 80), SENTENCE, fill=0, font=ImageFont.load_default(24))
    out = io.BytesIO()
    image.save(out, "TIFF", save_all=True, append_images=[image] * (pages - 1), compression="tiff_deflate")
    return out.getvalue()


class Reader:
    """A pool of one child, and what its progress said."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self._folder = folder
        self._pool = ExtractorPool(PoolSettings(ChildSettings(limits), workers=1, spares=0))
        self.heard: list[Progress] = []

    async def __aenter__(self) -> Reader:
        await self._pool.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._pool.close()

    @property
    def protections(self) -> dict[str, bool]:
        return {layer.name: layer.on for layer in self._pool.protections}

    async def extract(self, content: bytes) -> Artifact:
        assembler = ArtifactAssembler()
        for packed in await self._run(content, ""):
            assembler.add(unpack(packed))
        return assembler.finish()

    async def resolve(self, content: bytes, place: Locator) -> str:
        return b"".join(await self._run(content, to_json(place))).decode()

    async def _run(self, content: bytes, locator: str) -> list[bytes]:
        with DocumentSpool(self._folder) as document, PartSpool(self._folder) as sink:
            await document.write(content)
            request = Request("scan.tif", "", Options(), locator)
            await self._pool.run(Job(document, request, sink, lambda _, progress: self.heard.append(progress)))
            return [packed async for packed in sink.read()]


async def test_a_confined_child_reads_pixels_and_reads_them_back(tmp_path: Path) -> None:
    async with Reader(tmp_path, Limits()) as reader:
        content = picture(pages=2)
        artifact = await reader.extract(content)
        assert [(block.text, block.ocr) for block in artifact.blocks] == [(SENTENCE, True)] * 2
        assert await reader.resolve(content, artifact.blocks[1].locator) == SENTENCE
        assert Progress("page", 2, 2) in reader.heard
        assert reader.protections["rlimits"]


async def test_too_little_memory_for_the_networks_is_told_as_that(tmp_path: Path) -> None:
    async with Reader(tmp_path, Limits(memory_bytes=250 * MIB)) as reader:
        with pytest.raises(MemoryLimit):
            await reader.extract(picture(size=(1600, 1200)))


async def test_a_picture_that_inflates_past_the_bound_is_refused_before_it_does(tmp_path: Path) -> None:
    async with Reader(tmp_path, Limits()) as reader:
        with pytest.raises(InvalidArgument) as refused:
            await reader.extract(picture(size=(25_000, 17_000)))
        assert refused.value.code_reason == "DECOMPRESSION_LIMIT"
