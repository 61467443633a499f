"""Pictures of text: what is read, where it stands, and what becomes of blank, broken and oversized ones."""

from __future__ import annotations

import random
import struct
import zlib
from pathlib import Path

import pytest
from PIL import Image

from artifact.locators import ImagePlace, LineSpan
from artifact.model import Artifact, BlockType
from extractor_svc.context import Options
from extractor_svc.errors import DecompressionLimit, LocatorNotFound, Malformed, NoText, OutputLimit, ParseTimeout
from extractor_svc.extract import extract, resolve
from extractor_svc.limits import Limits
from extractor_svc.ocr.pixels import PictureFile, PictureUnreadable
from tests.unit.extractor.pictures import SENTENCE, page, saved, write

CORPUS = Path(__file__).resolve().parents[3] / ".." / "shared" / "corpus" / "image"
FOX = (
    "This is a lot of 12 point text to test the ocr code and see if it works on all types of file format.\n"
    "The quick brown dog jumped over the lazy fox. The quick brown dog jumped over the lazy fox. "
    "The quick brown dog jumped over the lazy fox. The quick brown dog jumped over the lazy fox."
)


def read(content: bytes, *, filename: str = "scan.png") -> Artifact:
    """Reads a picture, and holds its last block against the picture read once more."""
    artifact = extract(content, filename=filename)
    assert all(block.ocr for block in artifact.blocks)
    for block in artifact.blocks[-1:]:
        assert resolve(content, block.locator, filename=filename) == block.text
    return artifact


def texts(artifact: Artifact) -> list[str]:
    return [block.text for block in artifact.blocks]


def corpus_file(name: str) -> bytes:
    if not CORPUS.is_dir():
        pytest.skip("the shared corpus is not here")
    return (CORPUS / name).read_bytes()


class TestText:
    def test_a_line_is_a_paragraph_at_the_box_of_its_ink(self) -> None:
        artifact = read(saved(page([(60, 80, SENTENCE)])))
        (block,) = artifact.blocks
        assert (block.type, block.text) == (BlockType.PARAGRAPH, SENTENCE)
        ink = page([(60, 80, SENTENCE)]).convert("L").point(lambda grey: 255 - grey).getbbox()
        place = block.locator
        assert isinstance(place, ImagePlace)
        for found, drawn in zip((place.x0, place.y0, place.x1, place.y1), ink, strict=True):
            assert abs(found - drawn) <= 12
        assert (artifact.coverage.total, artifact.coverage.extracted, artifact.coverage.words_emitted) == (1, 1, 6)
        assert artifact.coverage.complete

    def test_two_columns_are_read_one_after_the_other(self) -> None:
        left = ["Cranes lift the boxes", "from the deck and set", "them down on the quay", "where the lorries wait"]
        right = ["Meanwhile a clerk has", "written every number", "into the long ledger", "and closed the gates"]
        lines = [(40, 40 + 40 * i, text) for i, text in enumerate(left)]
        lines += [(420, 40 + 40 * i, text) for i, text in enumerate(right)]
        artifact = read(saved(page(lines, size=(760, 220))))
        assert " ".join(texts(artifact)) == " ".join([*left, *right])

    def test_rows_of_short_texts_stay_rows(self) -> None:
        rows = [("Item", "Pieces", "Price"), ("Bolts", "120", "4.50"), ("Nuts", "80", "2.25")]
        lines = [(40 + 240 * j, 40 + 44 * i, cell) for i, row in enumerate(rows) for j, cell in enumerate(row)]
        artifact = read(saved(page(lines, size=(760, 200))))
        assert texts(artifact) == ["Item\tPieces\tPrice\nBolts\t120\t4.50\nNuts\t80\t2.25"]

    def test_a_tilted_page_is_read_along_its_lines(self) -> None:
        lines = ["The harbour master counts", "all ships before the night", "and writes down each name"]
        image = page([(100, 120 + 40 * i, text) for i, text in enumerate(lines)], size=(640, 360))
        tilted = image.rotate(4, resample=Image.Resampling.BICUBIC, fillcolor="white")
        assert texts(read(saved(tilted))) == [" ".join(lines)]

    @pytest.mark.parametrize("quarters", [1, 2])
    def test_a_turned_page_is_read_upright_and_placed_as_it_lies(self, quarters: int) -> None:
        image = page([(40, 60, SENTENCE), (40, 100, "and booked before the evening")], size=(640, 200))
        (block,) = read(saved(image.rotate(90 * quarters, expand=True))).blocks
        assert block.text == f"{SENTENCE} and booked before the evening"
        place = block.locator
        assert isinstance(place, ImagePlace)
        long, short = (place.x1 - place.x0, place.y1 - place.y0)[:: -1 if quarters % 2 else 1]
        assert long > 4 * short

    def test_a_word_is_read_back_from_its_own_box(self) -> None:
        content = saved(page([(60, 80, SENTENCE)]))
        assert resolve(content, ImagePlace(1, 55, 70, 128, 120), filename="x.png") == "Stock"
        assert resolve(content, ImagePlace(1, 0, 0, 640, 40), filename="x.png") == ""

    def test_the_same_picture_is_read_the_same_way(self) -> None:
        content = corpus_file("pytesseract/test-small.jpg")
        assert read(content, filename="a.jpg").blocks == read(content, filename="a.jpg").blocks
        assert texts(read(content, filename="a.jpg")) == ["This"]

    @pytest.mark.parametrize("name", ["tesseract/phototest-rotated-R.png"])
    def test_a_page_of_print_is_read_word_for_word(self, name: str) -> None:
        artifact = extract(corpus_file(name), filename=name)
        assert "\n".join(texts(artifact)) == FOX

    def test_a_script_that_is_not_known_is_counted_as_unread(self) -> None:
        artifact = extract(corpus_file("tesseract/hebrew.png"), filename="hebrew.png")
        assert artifact.blocks == ()
        assert [count.reason for count in artifact.coverage.words_unread] == ["unsure_letters"]
        assert not artifact.coverage.complete


class TestPixels:
    def test_a_photo_taken_sideways_is_read_and_placed_as_it_is_shown(self) -> None:
        exif = Image.Exif()
        exif[0x0112] = 6  # shown turned clockwise by a quarter
        stored = page([(60, 80, SENTENCE)]).rotate(90, expand=True)
        (block,) = read(saved(stored, "JPEG", exif=exif.tobytes(), quality=95), filename="photo.jpg").blocks
        assert block.text == SENTENCE
        assert isinstance(block.locator, ImagePlace)
        assert (block.locator.x1 <= 640, block.locator.x1 > 200, block.locator.y1 < 200) == (True, True, True)

    @pytest.mark.parametrize("mode", ["1", "L", "I;16", "CMYK", "P"])
    def test_every_kind_of_pixel_is_read(self, mode: str) -> None:
        image = page([(60, 80, SENTENCE)])
        twelve_bits = image.convert("L").point(lambda grey: grey * 16, "I").convert("I;16")
        image = twelve_bits if mode == "I;16" else image.convert(mode)
        assert texts(read(saved(image, "TIFF"), filename="scan.tif")) == [SENTENCE]

    def test_light_text_on_nothing_is_read(self) -> None:
        image = Image.new("RGBA", (640, 200), (0, 0, 0, 0))
        write(image, [(60, 80, SENTENCE)], ink="white")
        assert texts(read(saved(image))) == [SENTENCE]

    def test_a_large_picture_is_read_small_and_placed_large(self) -> None:
        image = page([(600, 900, "Pallets in Bremen")], size=(7000, 3000), type_size=400)
        (block,) = extract(saved(image), filename="scan.png").blocks
        assert block.text == "Pallets in Bremen"
        assert isinstance(block.locator, ImagePlace)
        assert abs(block.locator.x0 - 600) < 60
        assert block.locator.x1 > 3000


class TestPages:
    def test_every_page_of_a_tiff_is_a_page(self) -> None:
        first, second = page([(60, 80, SENTENCE)]), page([(60, 80, "A second page of it")])
        content = saved(first, "TIFF", save_all=True, append_images=[second, page([])])
        artifact = read(content, filename="pages.tiff")
        assert [(block.text, block.locator.frame) for block in artifact.blocks] == [(SENTENCE, 1), ("A second page of it", 2)]
        assert (artifact.coverage.unit, artifact.coverage.total, artifact.coverage.extracted) == ("page", 3, 3)
        assert [(warning.code, warning.locator.frame) for warning in artifact.warnings] == [("NO_TEXT", 3)]

    def test_a_blank_picture_is_an_empty_page_that_says_so(self) -> None:
        artifact = read(saved(page([])))
        assert artifact.blocks == ()
        assert artifact.coverage.complete
        assert [warning.code for warning in artifact.warnings] == ["NO_TEXT"]

    def test_pages_for_which_there_is_no_time_are_listed(self) -> None:
        first = page([(60, 80, SENTENCE)])
        content = saved(first, "TIFF", save_all=True, append_images=[first, first])

        def progress(unit: str, done: int, total: int) -> None:
            if 0 < done < total:
                raise ParseTimeout("time is up")

        coverage = extract(content, filename="pages.tiff", progress=progress).coverage
        assert coverage.extracted == 1
        assert [(unit.unit, unit.reason) for unit in coverage.failed] == [("2", "time_limit"), ("3", "time_limit")]

    def test_an_animation_is_its_first_frame(self) -> None:
        content = saved(page([(60, 80, SENTENCE)]), "GIF", save_all=True, append_images=[page([(60, 80, "Next")])], duration=100)
        artifact = read(content, filename="a.gif")
        assert texts(artifact) == [SENTENCE]
        assert "FRAMES_SKIPPED" in [warning.code for warning in artifact.warnings]

    def test_more_pages_than_the_limit_are_refused(self) -> None:
        content = saved(page([]), "TIFF", save_all=True, append_images=[page([])])
        with pytest.raises(OutputLimit):
            extract(content, filename="x.tif", limits=Limits(max_pages=1))


class TestDamage:
    def test_a_picture_cut_off_is_read_as_far_as_it_goes(self) -> None:
        image = page([(60, 40, SENTENCE), (60, 520, "The end of it is lost")], size=(640, 600))
        image.paste(Image.effect_noise((640, 150), 80).convert("RGB"), (0, 300))
        content = saved(image, "JPEG", quality=95)
        artifact = read(content[: len(content) * 3 // 4], filename="half.jpg")
        assert texts(artifact)[0] == SENTENCE
        assert "REPAIRED" in [warning.code for warning in artifact.warnings]
        assert artifact.coverage.lost == ("page_content",)

    @pytest.mark.parametrize(
        "magic", [b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0", b"GIF89a", b"II*\x00", b"RIFF\x20\x00\x00\x00WEBP"]
    )
    def test_noise_behind_a_picture_s_first_bytes_is_malformed(self, magic: bytes) -> None:
        with pytest.raises(Malformed):
            extract(magic + random.Random(7).randbytes(4_000), filename="")

    def test_a_picture_that_would_fill_the_memory_is_refused(self) -> None:
        header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
        chunks = b"".join(
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
            for name, data in ((b"IHDR", header), (b"IDAT", zlib.compress(bytes(60_000))), (b"IEND", b""))
        )
        with pytest.raises(DecompressionLimit, match="60000 by 60000"):
            extract(b"\x89PNG\r\n\x1a\n" + chunks, filename="bomb.png")

    @pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "GIF", "BMP", "WEBP"])
    def test_no_damage_gets_past_the_decoder(self, kind: str) -> None:
        whole = saved(page([(20, 20, "Fuzz")], size=(96, 64)), kind)
        chance = random.Random(kind)
        for _ in range(150):
            content = bytearray(whole)
            for _ in range(chance.randint(1, 8)):
                content[chance.randrange(len(content))] = chance.randrange(256)
            try:
                frame = PictureFile(bytes(content[: chance.randint(len(content) // 2, len(content))])).frame(1)
            except PictureUnreadable:
                continue
            assert frame.pixels.ndim == 3


class TestOutcomes:
    def test_without_ocr_a_picture_has_no_text(self) -> None:
        with pytest.raises(NoText, match="switched off"):
            extract(saved(page([(60, 80, SENTENCE)])), filename="x.png", options=Options(ocr=False))

    @pytest.mark.parametrize("place", [ImagePlace(2, 0, 0, 9, 9), ImagePlace(0, 0, 0, 9, 9), LineSpan(1, 1)])
    def test_a_place_that_is_none_of_the_picture_s_is_not_found(self, place: ImagePlace | LineSpan) -> None:
        with pytest.raises(LocatorNotFound):
            resolve(saved(page([])), place, filename="x.png")
