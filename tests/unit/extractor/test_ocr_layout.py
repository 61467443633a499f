"""Reading order and paragraphs of lines at given places; nothing is read from pixels."""

from __future__ import annotations

import time
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from extractor_svc.ocr.paragraphs import paragraphs_of, text_within
from extractor_svc.ocr.values import Patch, Reading, TextLine, Word, bounds_of

LETTER = 10.0
HEIGHT = 30.0
"""Pixels of a letter's width and of a line's height, its margins included, in these tests."""


def line(left: float, top: float, text: str, *, angle: float = 0.0, height: float = HEIGHT) -> TextLine:
    """Words one letter apart on a line whose upper left corner is given."""
    along = Patch(left + len(text) * LETTER / 2, top + height / 2, len(text) * LETTER, height)
    words: list[Word] = []
    start = 0
    for word in text.split(" "):
        words.append(Word(word, 0.99, along.part(start * LETTER, (start + len(word)) * LETTER).turned(angle)))
        start += len(word) + 1
    return TextLine(tuple(words), along.turned(angle), 0.99)


def reading(lines: Sequence[TextLine], *, angle: float = 0.0) -> Reading:
    return Reading(2_000, 2_000, angle, tuple(lines))


def read(*lines: TextLine, angle: float = 0.0) -> list[str]:
    return [paragraph.text for paragraph in paragraphs_of(reading(lines, angle=angle))]


def column(left: float, top: float, texts: Sequence[str]) -> list[TextLine]:
    return [line(left, top + 28 * i, text) for i, text in enumerate(texts)]


LEFT = ["the first of two columns", "has text that goes on and", "on for as many as eight", "lines so that a narrow"]
RIGHT = ["while the second of them", "which stands to its right", "is as long as the other", "and begins at one height"]


class TestParagraphs:
    def test_lines_of_one_paragraph_are_one_text(self) -> None:
        assert read(*column(100, 100, ["All lines but the last", "are full, and so they", "are one."])) == [
            "All lines but the last are full, and so they are one."
        ]

    def test_a_far_line_a_short_one_and_an_indented_one_end_a_paragraph(self) -> None:
        texts = ["a paragraph that ends", "here.", "Then a full line is next", "and one to follow it up."]
        lines = column(100, 100, texts)
        assert read(*lines) == ["a paragraph that ends here.", "Then a full line is next and one to follow it up."]
        assert read(*lines[2:], line(100, 300, "far below")) == ["Then a full line is next and one to follow it up.", "far below"]
        indented = [
            line(100, 100, "a paragraph of full lines"),
            line(100, 128, "that fill all of a column"),
            line(130, 156, "set in"),
        ]
        assert read(*indented) == ["a paragraph of full lines that fill all of a column", "set in"]

    def test_a_larger_line_stands_by_itself(self) -> None:
        title = line(100, 90, "A title of its own here", height=60)
        assert read(title, *column(100, 150, ["and the text that follows", "it down the whole page."])) == [
            "A title of its own here",
            "and the text that follows it down the whole page.",
        ]

    def test_a_hyphen_that_breaks_a_word_goes_and_one_that_joins_two_stays(self) -> None:
        assert read(*column(100, 100, ["she could not ex-", "plain what it was"])) == ["she could not explain what it was"]
        assert read(*column(100, 100, ["the well-known and", "again that well-", "known gate to it"])) == [
            "the well-known and again that well-known gate to it"
        ]
        assert read(*column(100, 100, ["the road to Stratford-", "Upon is shut today now"])) == [
            "the road to Stratford-Upon is shut today now"
        ]

    def test_scripts_without_blanks_are_joined_without(self) -> None:
        assert read(*column(100, 100, ["一二三四五六七", "八九"])) == ["一二三四五六七八九"]


class TestOrder:
    def test_columns_are_read_one_after_the_other(self) -> None:
        title = line(100, 60, "A title that stands above both of the columns below")
        foot = line(100, 500, "and a foot line that runs under both of the columns")
        lines = [title, *column(100, 120, LEFT), *column(380, 120, RIGHT), foot]
        assert read(*lines) == [title.text, " ".join(LEFT), " ".join(RIGHT), foot.text]

    def test_columns_that_were_found_as_one_line_are_parted(self) -> None:
        texts = ["the words on the left side", "stand close to those that", "are on the right of them", "as the strip is narrow so"]
        others = ["here the other column is", "with eight lines as well", "of about the same length", "as those in the left one"]
        joined = []
        for i, (left, right) in enumerate(zip(texts * 2, others * 2, strict=True)):
            first, second = line(100, 100 + 28 * i, left), line(100 + 280, 100 + 28 * i, right)
            place = Patch((first.place.x + second.place.x) / 2, first.place.y, 530, HEIGHT)
            joined.append(TextLine(first.words + second.words, place, 0.99))
        assert " ".join(read(*joined)) == " ".join([*texts, *texts, *others, *others])

    def test_rows_of_a_table_stay_together(self) -> None:
        rows = [("Item", "Pieces", "Price"), ("Bolts", "120", "4.50"), ("Nuts", "80", "2.25")]
        lines = [line(100 + 200 * j, 100 + 30 * i, cell) for i, row in enumerate(rows) for j, cell in enumerate(row)]
        assert read(*lines) == ["Item\tPieces\tPrice\nBolts\t120\t4.50\nNuts\t80\t2.25"]

    def test_a_label_and_its_value_are_one_row(self) -> None:
        lines = [line(100, 100, "Name"), line(300, 100, "Maria"), line(100, 130, "Town"), line(300, 130, "Bremen")]
        assert read(*lines) == ["Name\tMaria\nTown\tBremen"]

    def test_a_page_in_any_direction_is_read_along_its_lines(self) -> None:
        lines = [*column(100, 120, LEFT), *column(380, 120, RIGHT)]
        for angle in (3.0, 90.0, -91.0, 180.0):
            turned = [TextLine(_turned(found.words, angle), found.place.turned(angle), 0.99) for found in lines]
            assert read(*turned, angle=angle) == [" ".join(LEFT), " ".join(RIGHT)]

    def test_text_along_the_edge_comes_last(self) -> None:
        aside = line(100, 100, "set upright at the edge", angle=-90)
        assert read(aside, *column(200, 100, LEFT)) == [" ".join(LEFT), "set upright at the edge"]


class TestPlaces:
    def test_a_paragraph_reads_back_from_its_box_and_a_word_from_its_own(self) -> None:
        found = reading([*column(100, 120, LEFT), *column(380, 120, RIGHT)])
        for paragraph in paragraphs_of(found):
            assert text_within(found, paragraph.bounds) == paragraph.text
        assert text_within(found, (0, 0, 370, 2_000)) == " ".join(LEFT)
        assert text_within(found, bounds_of([found.lines[0].words[1].place], 2_000, 2_000)) == "first"
        assert text_within(found, (1_500, 1_500, 1_600, 1_600)) == ""

    @settings(max_examples=60, deadline=None)
    @given(
        st.lists(
            st.tuples(st.integers(0, 1_500), st.integers(0, 1_900), st.text("abc -", min_size=1, max_size=30)),
            min_size=1,
            max_size=25,
        ),
        st.sampled_from([0.0, 1.5, 90.0, -178.0]),
    )
    def test_every_word_is_told_once_wherever_it_stands(self, places: list[tuple[int, int, str]], angle: float) -> None:
        lines = [line(x, y, " ".join(text.split()) or "x") for x, y, text in places]
        turned = [TextLine(_turned(found.words, angle), found.place.turned(angle), 0.99) for found in lines]
        paragraphs = paragraphs_of(reading(turned, angle=angle))
        told = sorted(id(word) for paragraph in paragraphs for word in paragraph.words)
        assert told == sorted(id(word) for found in turned for word in found.words)

    def test_a_page_full_of_words_is_ordered_in_no_time(self) -> None:
        crowd = [line(60 * (i % 30), 20 * (i // 30), f"w{i % 7} x{i % 5}") for i in range(3_000)]
        began = time.process_time()
        assert sum(len(paragraph.words) for paragraph in paragraphs_of(reading(crowd))) == 6_000
        assert time.process_time() - began < 5


def _turned(words: Sequence[Word], angle: float) -> tuple[Word, ...]:
    return tuple(Word(word.text, word.confidence, word.place.turned(angle)) for word in words)
