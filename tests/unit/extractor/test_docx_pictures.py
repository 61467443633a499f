"""Words in the pictures of documents: read at the picture's place, beside its alternative text."""

from __future__ import annotations

import pytest

from artifact.locators import DocxPlace
from artifact.model import Artifact, BlockType, Visibility
from extractor_svc.context import Options
from extractor_svc.errors import NoText
from extractor_svc.extract import extract, resolve
from extractor_svc.ocr import embedded
from extractor_svc.ocr.picture import read_frame
from tests.unit.extractor.documents import DocumentXml, cell, drawn, p, row, table
from tests.unit.extractor.pictures import page, saved

BOARD = page([(20, 30, "Ship by Friday"), (20, 64, "then call Bremen")], size=(320, 120))
BOARD_TEXT = "Ship by Friday then call Bremen"
PART = "word/document.xml"
PLACE = "body/p[2]/r[1]/drawing[1]/inline[1]/graphic[1]/graphicData[1]/pic[1]"
OLD = '<w:r><w:pict><v:shape><v:imagedata r:id="rId1"/></v:shape></w:pict></w:r>'


def picture(*, crop: str = "", link: str = "embed") -> str:
    return drawn(f'<pic:pic><pic:blipFill><a:blip r:{link}="rId1"/>{crop}</pic:blipFill></pic:pic>')


def document(body: str, *, image: bytes | None = None) -> bytes:
    content = saved(BOARD) if image is None else image
    return DocumentXml(body, related=[("image", "media/board.png")], parts={"word/media/board.png": content}).build()


def read(content: bytes) -> Artifact:
    artifact = extract(content, filename="x.docx")
    for block in artifact.blocks:
        assert resolve(content, block.locator, filename="x.docx") == block.text
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


def test_a_picture_is_a_text_in_its_place() -> None:
    content = document(p("Above") + p(picture()) + p("Below"))
    artifact = read(content)
    assert [block.text for block in artifact.blocks] == ["Above", BOARD_TEXT, "Below"]
    block = artifact.blocks[1]
    assert (block.type, block.ocr, block.locator) == (BlockType.IMAGE_TEXT, True, DocxPlace(PART, PLACE, PLACE))
    assert artifact.coverage.complete
    assert artifact.warnings == ()
    assert resolve(content, DocxPlace(PART, "body/p[2]", "body/p[2]"), filename="x.docx") == BOARD_TEXT


def test_a_picture_as_older_files_have_it_is_read() -> None:
    assert [block.text for block in read(document(p(OLD))).blocks] == [BOARD_TEXT]


def test_a_picture_in_a_cell_follows_its_table() -> None:
    artifact = read(document(table(row(cell(p("Board")), cell(p(picture()))))))
    assert [(block.type, block.text) for block in artifact.blocks] == [
        (BlockType.TABLE, "Board"),
        (BlockType.IMAGE_TEXT, BOARD_TEXT),
    ]


def test_a_picture_that_was_deleted_is_flagged() -> None:
    artifact = extract(document(p("Kept") + p(f"<w:del>{picture()}</w:del>")), filename="x.docx")
    assert [(block.text, block.visibility) for block in artifact.blocks] == [
        ("Kept", Visibility.VISIBLE),
        (BOARD_TEXT, Visibility.DELETED),
    ]


def test_what_is_cut_off_a_picture_is_not_read() -> None:
    artifact = read(document(p(picture(crop='<a:srcRect t="50000"/>'))))
    assert [block.text for block in artifact.blocks] == ["then call Bremen"]


def test_the_same_picture_is_read_once(readings: list[tuple[int, int]]) -> None:
    artifact = extract(document(p(picture()) * 3), filename="x.docx")
    assert [block.text for block in artifact.blocks] == [BOARD_TEXT] * 3
    assert readings == [(320, 120)]


def test_a_place_beside_a_picture_reads_back_without_it(readings: list[tuple[int, int]]) -> None:
    content = document(p("Above") + p(picture()))
    assert resolve(content, DocxPlace(PART, "body/p[1]", "body/p[1]"), filename="x.docx") == "Above"
    assert readings == []


def test_small_linked_and_damaged_pictures_are_told() -> None:
    small = extract(document(p("x", picture()), image=saved(BOARD.resize((60, 40)))), filename="x.docx")
    assert [warning.code for warning in small.warnings] == ["SMALL_PICTURES"]
    linked = extract(document(p("x", picture(link="link"))), filename="x.docx")
    assert [warning.code for warning in linked.warnings] == ["IMAGE_SKIPPED"]
    damaged = extract(document(p("x", picture()), image=b"\x89PNG\r\n\x1a\n and noise"), filename="x.docx")
    assert [warning.code for warning in damaged.warnings] == ["IMAGE_SKIPPED"]


def test_pictures_for_which_there_is_no_time_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "_TIME_FOR_PICTURES", 0.0)
    coverage = extract(document(p("Above") + p(picture())), filename="x.docx").coverage
    assert [(unit.reason, unit.locator) for unit in coverage.failed] == [("time_limit", DocxPlace(PART, PLACE, PLACE))]
    assert not coverage.complete


def test_without_ocr_pictures_are_told_as_not_read() -> None:
    artifact = extract(document(p("Above") + p(picture())), filename="x.docx", options=Options(ocr=False))
    assert [block.text for block in artifact.blocks] == ["Above"]
    assert [warning.code for warning in artifact.warnings] == ["IMAGE_SKIPPED"]
    with pytest.raises(NoText, match="OCR"):
        extract(document(p(picture())), filename="x.docx", options=Options(ocr=False))
