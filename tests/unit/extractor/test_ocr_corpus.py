"""How much of the corpus's pictures is read, held to what was reached; a dense page takes seconds and is read with `-m corpus`."""

from __future__ import annotations

import pytest

from bench.corpus import CORPUS
from bench.ocr import EXPECTED, SAID, SAYING, SCANS, edits, scan_of, score_of

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the shared corpus is not here")

QUICK = ("pytesseract/test.webp", "pytesseract/test-european.jpg")
FLOORS = {
    "tesseract/8071_093.3B.tif": (0.99, 0.99, 0.96),
    "tesseract/8087_054.3B.tif": (0.95, 0.98, 0.55),  # columns around an inset caption; the order of its parts is not found
}
"""Least shares of words read, words right, and letters in order."""


def test_letters_are_counted_by_the_fewest_edits() -> None:
    assert edits("kitten", "sitting") == 3
    assert (edits("", "abc"), edits("abc", ""), edits("abc", "abc")) == (3, 3, 0)


@pytest.mark.parametrize("name", QUICK)
def test_every_word_of_a_page_of_print_is_read(name: str) -> None:
    truth = (CORPUS / "image" / EXPECTED[name]).read_text("utf-8")
    score = score_of((CORPUS / "image" / name).read_bytes(), name, truth)
    assert (score.recall, score.precision) == (1.0, 1.0)
    assert score.letters >= 0.99


@pytest.mark.parametrize("name", SAYING[1:2])
def test_every_word_of_a_scan_turned_in_its_file_is_read(name: str) -> None:
    score = score_of((CORPUS / "image" / name).read_bytes(), name, SAID)
    assert (score.recall, score.precision, score.letters) == (1.0, 1.0, 1.0)


@pytest.mark.corpus
@pytest.mark.parametrize("name", FLOORS)
def test_dense_pages_keep_their_floors(name: str) -> None:
    truth = (CORPUS / "image" / EXPECTED[name]).read_text("utf-8")
    score = score_of((CORPUS / "image" / name).read_bytes(), name, truth)
    recall, precision, letters = FLOORS[name]
    assert score.recall >= recall
    assert score.precision >= precision
    assert score.letters >= letters


@pytest.mark.corpus
@pytest.mark.parametrize(("name", "page", "tilt", "noise"), SCANS)
def test_scans_of_pages_keep_their_floor(name: str, page: int, tilt: float, noise: float) -> None:
    content, truth = scan_of(CORPUS / "pdf" / name, page, tilt, noise)
    score = score_of(content, "scan.pdf", truth)
    assert score.recall >= 0.98
    assert score.precision >= 0.99
    assert score.letters >= 0.87
