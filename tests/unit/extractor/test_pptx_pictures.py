"""Words in the pictures of slides: read once, at the picture's shape, while there is time."""

from __future__ import annotations

import pytest
from PIL import Image

from artifact.locators import SlidePlace
from artifact.model import Artifact, BlockType, Visibility
from extractor_svc.context import Options
from extractor_svc.errors import NoText
from extractor_svc.extract import extract, resolve
from extractor_svc.ocr import embedded
from extractor_svc.ocr.picture import read_frame
from tests.unit.extractor.pictures import page, saved
from tests.unit.extractor.presentations import DeckXml, SlideXml, group, shape, title

BOARD = page([(20, 30, "Ship by Friday"), (20, 64, "then call Bremen")], size=(320, 120))
BOARD_TEXT = "Ship by Friday then call Bremen"


def picture(number: int, *, top: int = 2_000_000, crop: str = "", link: str = "embed") -> str:
    return (
        f'<p:pic><p:nvPicPr><p:cNvPr id="{number}" name="p"/></p:nvPicPr>'
        f'<p:blipFill><a:blip r:{link}="rId1"/>{crop}</p:blipFill>'
        f'<p:spPr><a:xfrm><a:off x="0" y="{top}"/><a:ext cx="10" cy="10"/></a:xfrm></p:spPr></p:pic>'
    )


def deck(*shapes: str, image: Image.Image | bytes = BOARD, name: str = "board.png", shown: bool = True) -> bytes:
    """Slides that all show one picture."""
    content = image if isinstance(image, bytes) else saved(image)
    slides = [SlideXml(xml, shown=shown, related=[("image", f"../media/{name}")]) for xml in shapes]
    return DeckXml(slides, parts={f"ppt/media/{name}": content}).build()


def read(content: bytes, *, options: Options | None = None) -> Artifact:
    artifact = extract(content, filename="talk.pptx", options=options or Options())
    for block in artifact.blocks:
        assert resolve(content, block.locator, filename="talk.pptx") == block.text
    return artifact


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The sizes of the pictures that were read, in turn."""
    sizes: list[tuple[int, int]] = []

    def counted(frame, **rest):
        sizes.append((frame.width, frame.height))
        return read_frame(frame, **rest)

    monkeypatch.setattr(embedded, "read_frame", counted)
    return sizes


def test_a_picture_is_a_text_of_the_slide_in_its_place() -> None:
    content = deck(title("Plan") + shape(4, "Above", at=(0, 1_000_000)) + picture(7) + shape(5, "Below", at=(0, 4_000_000)))
    artifact = read(content)
    assert [block.text for block in artifact.blocks] == ["Plan", "Above", BOARD_TEXT, "Below"]
    block = artifact.blocks[2]
    assert (block.type, block.ocr, block.locator) == (BlockType.IMAGE_TEXT, True, SlidePlace(1, 1, "7"))
    assert block.section_path == ("Plan",)
    assert artifact.coverage.complete
    assert artifact.warnings == ()
    assert resolve(content, SlidePlace(1, 1), filename="talk.pptx").splitlines() == ["Plan", "Above", BOARD_TEXT, "Below"]


def test_a_picture_in_a_group_on_a_hidden_slide_is_flagged() -> None:
    artifact = read(deck(group(9, picture(3)), shown=False))
    (block,) = artifact.blocks
    assert (block.locator, block.visibility) == (SlidePlace(1, 1, "9/3"), Visibility.HIDDEN_SLIDE)


def test_what_a_slide_cuts_off_a_picture_is_not_read() -> None:
    crop = '<a:srcRect b="50000"/>'  # the lower half
    assert [block.text for block in read(deck(picture(7, crop=crop))).blocks] == ["Ship by Friday"]


def test_the_same_picture_is_read_once_for_all_slides(readings: list[tuple[int, int]]) -> None:
    artifact = extract(deck(picture(7), picture(7)), filename="talk.pptx")
    assert [block.text for block in artifact.blocks] == [BOARD_TEXT] * 2
    assert readings == [(320, 120)]


def test_a_place_beside_a_picture_reads_back_without_it(readings: list[tuple[int, int]]) -> None:
    content = deck(title("Plan") + picture(7))
    assert resolve(content, SlidePlace(1, 1, "2"), filename="talk.pptx") == "Plan"
    assert readings == []


def test_small_pictures_are_counted_and_not_read(readings: list[tuple[int, int]]) -> None:
    artifact = read(deck(title("Plan") + picture(7) + picture(8), image=BOARD.resize((60, 40))))
    assert [block.text for block in artifact.blocks] == ["Plan"]
    assert [(warning.code, warning.message[:10]) for warning in artifact.warnings] == [("SMALL_PICTURES", "2 pictures")]
    assert artifact.coverage.complete
    assert readings == []


def test_pictures_for_which_there_is_no_time_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "_TIME_FOR_PICTURES", 0.0)
    artifact = extract(deck(title("Plan") + picture(7)), filename="talk.pptx")
    coverage = artifact.coverage
    assert [block.text for block in artifact.blocks] == ["Plan"]
    assert [(unit.unit, unit.reason, unit.locator) for unit in coverage.failed] == [
        ("slide 1/picture", "time_limit", SlidePlace(1, 1, "7"))
    ]
    assert (coverage.total, coverage.extracted, coverage.complete) == (1, 1, False)


def test_a_picture_is_broken_off_when_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "_TIME_FOR_LAST", 0.0)
    coverage = extract(deck(title("Plan") + picture(7)), filename="talk.pptx").coverage
    assert [unit.reason for unit in coverage.failed] == ["time_limit"]


@pytest.mark.parametrize("image", [b"\x89PNG\r\n\x1a\n and noise", b"\x01\x00\x00\x00 an EMF drawing", b"<svg/>"])
def test_a_picture_that_cannot_be_decoded_is_told(image: bytes) -> None:
    artifact = read(deck(title("Plan") + picture(7), image=image, name="x.emf"))
    assert [(warning.code, warning.locator) for warning in artifact.warnings] == [("IMAGE_SKIPPED", SlidePlace(1, 1, "7"))]


def test_a_linked_picture_is_told_and_not_fetched() -> None:
    artifact = read(deck(title("Plan") + picture(7, link="link")))
    assert [warning.code for warning in artifact.warnings] == ["IMAGE_SKIPPED"]


def test_without_ocr_pictures_are_told_as_not_read() -> None:
    artifact = extract(deck(title("Plan") + picture(7)), filename="talk.pptx", options=Options(ocr=False))
    assert [block.text for block in artifact.blocks] == ["Plan"]
    assert [warning.code for warning in artifact.warnings] == ["IMAGE_SKIPPED"]
    with pytest.raises(NoText, match="OCR"):
        extract(deck(picture(7)), filename="talk.pptx", options=Options(ocr=False))
