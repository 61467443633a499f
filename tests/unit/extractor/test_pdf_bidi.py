"""Letters of right-to-left text are put into reading order by where they stand."""

from __future__ import annotations

from itertools import accumulate

import pytest

from extractor_svc.formats.pdf_bidi import as_read
from extractor_svc.formats.pdf_geometry import Box
from extractor_svc.formats.pdf_ink import Letter


def seen(text: str, *, width: float = 5.0) -> list[Letter]:
    """Letters as they are seen, from the left, each of one width."""
    lefts = accumulate((width for _ in text), initial=0.0)
    return [Letter(char, Box(x, 0, x + width, 10)) for char, x in zip(text, lefts, strict=False)]


def read(letters: list[Letter]) -> str:
    return "".join(letter.text for letter in as_read(letters))


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        ("םולש", "שלום"),
        (".םלוע םולש", "שלום עולם."),
        ("םלוע 2024 םולש", "שלום 2024 עולם"),
        ("םלוע 1,234.50 םולש", "שלום 1,234.50 עולם"),
        ("םלוע Machine Learning םולש", "שלום Machine Learning עולם"),
        ("םלוע 7 5 םולש", "שלום 5 7 עולם"),
    ],
)
def test_letters_are_read_from_the_right_and_figures_from_the_left(shown: str, expected: str) -> None:
    assert read(seen(shown)) == expected


def test_the_order_they_are_drawn_in_does_not_matter() -> None:
    letters = seen("םלוע םולש")

    assert read(letters[3:] + letters[:3]) == "שלום עולם"


def test_letters_drawn_as_one_sign_come_in_the_order_they_are_read() -> None:
    """Lam and alef: the parser gives alef first, without width, at the right edge of the sign."""
    letters = [Letter("ا", Box(10, 0, 10, 10)), Letter("ل", Box(4, 0, 10, 10)), Letter("م", Box(0, 0, 4, 10))]

    assert read(letters) == "لام"


def test_marks_stay_with_the_letter_they_belong_to() -> None:
    letters = [Letter("ض", Box(6, 0, 10, 10)), Letter("\u064b", Box(6, 0, 6, 10)), Letter("ا", Box(2, 0, 6, 10))]

    assert read(letters) == "ض\u064bا"
