"""How spans become lines and lines become running text."""

from __future__ import annotations

import pytest

from extractor_svc.formats.pdf_geometry import Box, Turn
from extractor_svc.formats.pdf_ink import Span
from extractor_svc.formats.pdf_text import TextLine, Vocabulary, join_lines, line_text, unread_words, without_bullet
from tests.unit.extractor.pdf_files import drawn, lines_at, read, texts, together


def span(text: str, x0: float, *, size: float = 10, spaced: bool = False, raised: bool = False) -> Span:
    """A span whose letters are half as wide as they are tall."""
    return Span(text, Box(x0, 0, x0 + len(text) * size / 2, size), size, size, "Times", 0, spaced=spaced, raised=raised)


def joined(*lines: str, page: tuple[str, ...] = ()) -> str:
    vocabulary = Vocabulary((*page, *lines))
    return join_lines([TextLine(line, vocabulary) for line in lines])


def test_a_hyphen_that_breaks_a_word_is_dropped() -> None:
    assert joined("The inspec-", "tion was short.") == "The inspection was short."


def test_a_hyphen_that_the_page_writes_elsewhere_is_kept() -> None:
    assert joined("a well-", "known fact", page=("It is well-known.",)) == "a well-known fact"


def test_a_word_that_the_page_also_writes_plain_loses_its_hyphen() -> None:
    assert joined("a co-", "operation", page=("co-operation and cooperation",)) == "a cooperation"


def test_a_hyphen_before_a_capital_or_a_number_is_kept() -> None:
    assert joined("the Anglo-", "Saxon") == "the Anglo-Saxon"
    assert joined("COVID-", "19") == "COVID-19"


def test_a_dash_between_words_joins_nothing() -> None:
    assert joined("one -", "two") == "one - two"


def test_soft_hyphens_are_dropped_at_the_end_and_inside() -> None:
    assert joined("the in\u00adspec\u00ad", "Tion") == "the inspecTion"


def test_scripts_without_spaces_are_joined_without_one() -> None:
    assert joined("東京都は日本の", "首都である。") == "東京都は日本の首都である。"


def test_lines_of_code_stay_lines_and_keep_their_hyphens() -> None:
    lines = [TextLine("rm -", Vocabulary(()), code=True), TextLine("rf", Vocabulary(()), code=True)]

    assert join_lines(lines) == "rm -\nrf"


def test_a_raised_sign_after_a_number_or_a_word_stands_apart() -> None:
    assert line_text([[span("1,234", 0), span("2", 25, size=6, raised=True)]]) == "1,234 2"
    assert line_text([[span("companies", 0), span("12", 45, size=6, raised=True)]]) == "companies 12"


def test_a_raised_sign_after_a_unit_belongs_to_it() -> None:
    assert line_text([[span("km", 0), span("2", 10, size=6, raised=True)]]) == "km2"
    assert line_text([[span("1", 0), span("st", 5, size=6, raised=True)]]) == "1st"


def test_inside_a_stroke_the_source_says_where_spaces_are() -> None:
    assert line_text([[span("in", 0), span("side", 10)], [span("out", 60)]]) == "inside out"
    assert line_text([[span("in", 0), span("side", 10, spaced=True)]]) == "in side"


def test_strokes_that_touch_are_one_word() -> None:
    assert line_text([[span("under", 0)], [span("lined", 25)]]) == "underlined"


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("• one", "one"),
        ("•one", "one"),
        ("– one", "one"),
        ("-5 degrees", "-5 degrees"),
        ("- 5 -", "- 5 -"),
        ("\ufffd two", "two"),
        ("1. one", "1. one"),
    ],
)
def test_the_bullet_that_opens_a_text_is_left_out(text: str, bare: str) -> None:
    assert without_bullet(text) == bare


def test_words_with_letters_the_font_does_not_name_are_unread() -> None:
    assert unread_words("\ufffd one \ufffd\ufffd two") == 0
    assert unread_words("o\ufffde \ufffd\ufffd\ufffd two") == 2


@pytest.mark.parametrize("quarters", range(4))
def test_a_turn_is_undone_by_its_reverse(quarters: int) -> None:
    turn = Turn(quarters, 600, 800)
    box = Box(10, 20, 110, 60)

    assert turn.displayed(turn.upright(box)) == box


def test_text_that_runs_upwards_is_upright_after_a_quarter_turn() -> None:
    turn = Turn(1, 600, 800)

    lower, upper = turn.upright(Box(50, 700, 60, 750)), turn.upright(Box(50, 600, 60, 650))

    assert (lower.x0, upper.x0) == (50, 150)
    assert turn.page == Box(0, 0, 800, 600)


def test_a_letter_drawn_again_over_its_word_is_left_out_and_counted() -> None:
    artifact = read(drawn(together(lines_at(72, 100, ["Specifies"]), lines_at(72, 100, ["S"]))))

    assert texts(artifact) == ["Specifies"]
    assert [(count.reason, count.words) for count in artifact.coverage.words_excluded] == [("overprinted", 1)]


def test_a_letter_beside_a_word_stays() -> None:
    artifact = read(drawn(together(lines_at(72, 100, ["Vitamin"]), lines_at(115, 100, ["B"]))))

    assert texts(artifact) == ["Vitamin B"]
