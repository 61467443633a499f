"""Columns typed all at once are held as the same texts are held one by one."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from artifact.model import ColumnType
from extractor_svc.blocks import count_words, words_of
from extractor_svc.formats.csv_columns import hold_texts
from extractor_svc.tabular import HeldColumn, column_values_of_text, hold_values

NUMBERS = st.from_regex(r"-?(0|[1-9][0-9]{0,6})([.,][0-9]{1,4})?", fullmatch=True)
TEXTS = st.one_of(
    NUMBERS,
    st.sampled_from(
        ["", " ", "-", "–", "007", "1 234", "1'234", "(12)", "12 %", "€ 5", "USD 7", "7 EUR", "1e5", "+3", "−4", ".5", "5."]
    ),
    st.sampled_from(
        ["2024-02-29", "2024-02-30", "2024-01-01 10:30", "2024-01-01T10:30:59.5", "24-1-1", "10:30", "true", "word", "a\n1"]
    ),
    st.text("0123456789.,-€% eE()'ab\u00a0\u202f", max_size=8),
)


def one_by_one(texts: list[str]) -> HeldColumn:
    return hold_values("c", "c", column_values_of_text(texts))


def all_at_once(texts: list[str], pieces: int) -> HeldColumn:
    size = max(len(texts) // pieces, 1)
    chunks = [texts[start : start + size] for start in range(0, len(texts), size)]
    return hold_texts("c", "c", pa.chunked_array(chunks, pa.string()), lambda: "")


MANY = 101
"""Times that a few texts are repeated, so that they are held all at once."""


def assert_same(texts: list[str], pieces: int) -> None:
    right, found = one_by_one(texts), all_at_once(texts, pieces)
    assert (found.column.type, found.column.precision, found.column.scale) == (
        right.column.type,
        right.column.precision,
        right.column.scale,
    )
    assert sorted(found.column.inferred, key=str) == sorted(right.column.inferred, key=str)
    assert (found.column.nullable, found.exact) == (right.column.nullable, right.exact)
    if right.column.type is ColumnType.NUMBER:
        assert (found.column.number_format, found.column.unit) == (right.column.number_format, right.column.unit)
    assert found.array.to_pylist() == right.array.to_pylist()
    assert (found.clarification is None) == (right.clarification is None)


@given(st.lists(TEXTS, min_size=1, max_size=12).filter(lambda texts: {text.strip() for text in texts} - {""} != {"true"}))
@settings(max_examples=150, deadline=None)
def test_any_column_is_held_the_same(texts: list[str]) -> None:
    assert_same(texts, 1)
    assert_same([*texts, texts[0]] * MANY, 3)


@given(st.lists(st.one_of(NUMBERS, st.just("")), min_size=1, max_size=12))
@settings(max_examples=150, deadline=None)
def test_a_column_of_numbers_is_held_the_same(texts: list[str]) -> None:
    assert_same(texts, 2)
    assert_same([*texts, texts[0]] * MANY, 2)


SMALL = st.from_regex(r"-?[0-9](\.[0-9]{1,17})?[eE]-[0-9]{1,2}", fullmatch=True)


@given(st.lists(st.one_of(NUMBERS, SMALL, st.just("")), min_size=1, max_size=12))
@settings(max_examples=150, deadline=None)
def test_a_column_with_numbers_near_zero_is_held_the_same(texts: list[str]) -> None:
    assert_same(texts, 2)
    assert_same([*texts, texts[0]] * MANY, 2)


def test_formats_of_a_column_are_counted_by_its_rows() -> None:
    texts = ["2.25", "3.75", "4.00", "5.125"] + ["1.5"] * 300
    assert all_at_once(texts, 2).column.number_format == "0.0"
    assert all_at_once([*texts, "12%"], 2).column.type is ColumnType.STRING
    assert all_at_once(["7.5%", *["12%"] * 300], 2).column.number_format == "0%"


def test_truths_alone_are_a_column_of_truths_and_words_with_others() -> None:
    assert all_at_once(["true", "FALSE", ""], 1).column.type is ColumnType.BOOL
    assert all_at_once(["true", "FALSE", "maybe"], 1).column.type is ColumnType.STRING


def test_words_of_long_texts_are_counted_as_those_of_short_ones() -> None:
    for unit in ("a b-c_d 1.5 ", "é ü² ŋ字字 ʤ\u0301x \U0001f600y "):
        text = unit * (1_200_000 // len(unit))
        assert len(text) > 1_000_000
        assert count_words(text) == sum(words_of(text).values())
