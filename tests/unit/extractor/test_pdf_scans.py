"""Scanned pages of PDF files and pictures beside text, read from their pixels."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from artifact.locators import PageBox, PdfPlace
from artifact.model import Artifact, BlockType
from extractor_svc.context import Options, ReadContext
from extractor_svc.errors import NoText
from extractor_svc.formats import pdf, pdf_scans
from extractor_svc.ocr.picture import read_pixels
from tests.unit.extractor.pdf_files import drawn, texts, together
from tests.unit.extractor.pictures import SENTENCE, page, saved

SIZE = (240.0, 120.0)
"""Points of a page in these tests: small, for its pixels are read."""
OWN = "Typed below the picture"


def scanned(lines: list[tuple[int, int, str]], *, turn: float = 0.0) -> Callable[[Canvas], None]:
    """Draws a picture over the whole page: text by its left and top in points, at 3 pixels a point."""
    image = page([(3 * x, 3 * y, text) for x, y, text in lines], size=(720, 360), type_size=30)
    image = image.rotate(turn, resample=Image.Resampling.BICUBIC, fillcolor="white")
    return placed(image, 0, 0, *SIZE)


def placed(image: Image.Image, x: float, y: float, width: float, height: float) -> Callable[[Canvas], None]:
    def draw(canvas: Canvas) -> None:
        canvas.drawImage(ImageReader(io.BytesIO(saved(image))), x, y, width, height)

    return draw


def typed(text: str, *, x: float = 20, y: float = 10, mode: int = 0) -> Callable[[Canvas], None]:
    def draw(canvas: Canvas) -> None:
        words = canvas.beginText(x, y)
        words.setFont("Helvetica", 10)
        words.setTextRenderMode(mode)
        words.textLine(text)
        canvas.drawText(words)

    return draw


def chart() -> Callable[[Canvas], None]:
    """A picture in the upper part of the page that holds three words."""
    return placed(page([(40, 60, "Grain by harbour")], size=(540, 180), type_size=36), 30, 50, 180, 60)


def file(*pages: Callable[[Canvas], None]) -> bytes:
    return drawn(*pages, size=SIZE)


def read(content: bytes, context: ReadContext | None = None) -> Artifact:
    artifact = pdf.read(content, context or ReadContext())
    for block in artifact.blocks:
        assert pdf.resolve(content, block.locator, ReadContext()).split() == block.text.split()
    return artifact


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """The sizes of the pictures that were read, in turn."""
    sizes: list[tuple[int, ...]] = []

    def counted(pixels, **rest):
        sizes.append(pixels.shape)
        return read_pixels(pixels, **rest)

    monkeypatch.setattr(pdf_scans, "read_pixels", counted)
    return sizes


def test_a_scanned_page_is_read_and_placed_in_points() -> None:
    artifact = read(file(scanned([(20, 30, SENTENCE)])))

    (block,) = artifact.blocks
    assert (block.text, block.ocr) == (SENTENCE, True)
    assert isinstance(block.locator, PdfPlace)
    (box,) = block.locator.boxes
    assert abs(box.x0 - 20) < 4
    assert abs((box.y0 + box.y1) / 2 - 36) < 4
    assert artifact.coverage.complete
    assert artifact.coverage.words_emitted == 6


def test_a_tilted_scan_is_read_line_by_line() -> None:
    lines = ["The harbour master counts", "all ships before the night", "and writes down each name"]
    artifact = read(file(scanned([(30, 25 + 16 * i, text) for i, text in enumerate(lines)], turn=2)))
    assert " ".join(texts(artifact)) == " ".join(lines)


def test_a_picture_beside_text_is_a_block_at_its_own_box(readings: list[tuple[int, ...]]) -> None:
    content = file(together(chart(), typed(OWN)))
    artifact = read(content)

    own, shown = artifact.blocks
    assert (own.text, own.ocr) == (OWN, False)
    assert (shown.type, shown.text, shown.ocr) == (BlockType.IMAGE_TEXT, "Grain by harbour", True)
    assert shown.locator == PdfPlace(1, 1, "", (PageBox(1, 30, 10, 210, 70),))
    assert artifact.coverage.complete

    readings.clear()
    assert pdf.resolve(content, own.locator, ReadContext()) == OWN
    assert readings == []


def test_a_picture_that_stands_on_several_pages_is_read_once(readings: list[tuple[int, ...]]) -> None:
    artifact = pdf.read(file(*[together(chart(), typed(OWN))] * 3), ReadContext())
    assert texts(artifact, BlockType.IMAGE_TEXT) == ["Grain by harbour"] * 3
    assert len(readings) == 1


def test_a_text_layer_over_a_scan_is_used_once(readings: list[tuple[int, ...]]) -> None:
    artifact = read(file(together(scanned([(20, 30, SENTENCE)]), typed(SENTENCE, x=20, y=80, mode=3))))
    assert [(block.text, block.ocr) for block in artifact.blocks] == [(SENTENCE, True)]
    assert readings == []


def test_what_is_typed_over_a_scan_is_not_read_a_second_time() -> None:
    artifact = read(file(together(scanned([(20, 30, SENTENCE)]), typed("Received today"))))
    assert sorted(texts(artifact)) == ["Received today", SENTENCE]


def test_an_empty_scan_among_pages_is_read() -> None:
    artifact = pdf.read(file(scanned([]), typed(OWN)), ReadContext())
    assert texts(artifact) == [OWN]
    assert artifact.coverage.complete


def test_without_ocr_scans_are_listed_as_before() -> None:
    context = ReadContext(options=Options(ocr=False))
    coverage = pdf.read(file(scanned([(20, 30, SENTENCE)]), typed(OWN)), context).coverage
    assert [(unit.unit, unit.reason) for unit in coverage.failed] == [("1", "image_only_page")]
    assert coverage.lost == ("ocr",)
    with pytest.raises(NoText, match="OCR"):
        pdf.read(file(scanned([(20, 30, SENTENCE)])), context)


def test_pictures_for_which_there_is_no_time_are_listed_and_the_text_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_scans, "_TIME_FOR_SCANS", 0.0)
    artifact = pdf.read(file(scanned([(20, 30, SENTENCE)]), together(chart(), typed(OWN))), ReadContext())

    assert texts(artifact) == [OWN]
    coverage = artifact.coverage
    assert (coverage.total, coverage.extracted, coverage.complete) == (2, 1, False)
    assert [(unit.unit, unit.reason) for unit in coverage.failed] == [("1", "time_limit"), ("2/picture 1", "time_limit")]
    assert coverage.failed[1].locator == PdfPlace(2, 2, "", (PageBox(2, 30, 10, 210, 70),))


def test_reading_is_broken_off_inside_a_picture_when_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_scans, "_TIME_FOR_LAST", 0.0)
    coverage = pdf.read(file(scanned([(20, 30, SENTENCE)]), typed(OWN)), ReadContext()).coverage
    assert [(unit.unit, unit.reason) for unit in coverage.failed] == [("1", "time_limit")]


def test_icons_are_not_read(readings: list[tuple[int, ...]]) -> None:
    icon = placed(page([(4, 4, "ab")], size=(64, 64), type_size=30), 200, 90, 14, 14)
    assert texts(pdf.read(file(together(icon, typed(OWN))), ReadContext())) == [OWN]
    assert readings == []


def test_a_picture_with_too_many_pixels_is_not_drawn(readings: list[tuple[int, ...]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_scans, "LARGEST_PICTURE_PIXELS", 90_000)  # the chart has 97,200
    assert texts(pdf.read(file(together(chart(), typed(OWN))), ReadContext())) == [OWN]
    assert readings == []
