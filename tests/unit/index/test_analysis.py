"""The terms of the lexical index, worked out by hand."""

from __future__ import annotations

import unicodedata
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge_svc.domain.analysis import MAX_QUERY_TERMS, MAX_TERM, query_terms, tokens
from knowledge_svc.domain.model import Token

# text -> the terms at each position, alternatives together
CUTS = {
    "plain words": ("The pump leaks.", ["the", "pump", "leaks leak"]),
    "hyphenated part number": ("VALVE-B07", ["valve-b07 valve valv", "b07"]),
    "part number of two numbers": ("MS31-220", ["ms31-220 ms31", "220"]),
    "snake case": ("orders_daily", ["orders_daily orders order", "daily"]),
    "dotted path with a dash": ("pool.max-size", ["pool.max-size pool", "max-size max", "size"]),
    "qualified column": ("sales.orders_daily.id", ["sales.orders_daily.id sales sale", "orders_daily orders order", "daily", "id"]),
    "camel case": ("maxPoolSize", ["maxpoolsize max", "pool", "size"]),
    "acronym inside camel case": ("parseHTTPHeader", ["parsehttpheader parse pars", "http", "header"]),
    "plural of an acronym": ("IDs", ["ids"]),
    "capitals stay one word": ("TOTAL", ["total"]),
    "underscores around a name": ("__init__", ["init"]),
    "end of a sentence": ("Stop. Go", ["stop", "go"]),
    "apostrophe": ("don't panic", ["don", "t", "panic"]),
    "operators of query languages": ('foo:bar AND -(x "y"* ~2', ["foo", "bar", "and", "x", "y", "2"]),
    "accents": ("Café naïve Ångström", ["cafe", "naive naiv", "angstrom"]),
    "decomposed accents": ("Cafe\u0301", ["cafe"]),
    "sharp s": ("Straße", ["strasse strass"]),
    "letters that do not decompose": ("Łódź Øre", ["lodz", "ore"]),
    "full width": ("ＭＳ３１", ["ms31"]),
    "ligature": ("ﬁt", ["fit"]),
    "cyrillic with breve": ("Йод", ["иод"]),
    "non-breaking hyphen": ("VALVE\u2011B07", ["valve-b07 valve valv", "b07"]),
    "soft hyphen": ("re\u00adsult", ["result"]),
    "zero-width space separates": ("ab\u200bcd", ["ab", "cd"]),
    "chinese": ("东京都", ["东京 东", "京都 京", "都"]),
    "japanese dakuten is kept": ("がか", ["がか が", "か"]),
    "half-width katakana": ("ｶﾞｲ", ["ガイ ガ", "イ"]),
    "korean": ("서울에", ["서울 서", "울에 울", "에"]),
    "thai marks stay with their letter": ("กี่ข", ["กี่ข กี่", "ข"]),
    "latin beside chinese": ("A4纸", ["a4", "纸"]),
    "devanagari keeps its vowels": ("हिन्दी", ["हिन्दी"]),
    "nothing to index": ("*. — … ( )", []),
    "empty": ("", []),
}


@pytest.mark.parametrize(("text", "expected"), CUTS.values(), ids=CUTS.keys())
def test_text_is_cut_into_terms_by_position(text: str, expected: list[str]) -> None:
    positions: dict[int, list[str]] = {}
    for token in tokens(text):
        positions.setdefault(token.position, []).append(token.text)
    assert positions == {place: alternatives.split(" ") for place, alternatives in enumerate(expected)}


def test_offsets_are_bytes_of_the_utf8_text() -> None:
    assert tokens("é ab 日本") == [
        Token("e", 0, 0, 2),
        Token("ab", 1, 3, 5),
        Token("日本", 2, 6, 12),
        Token("日", 2, 6, 9),
        Token("本", 3, 9, 12),
    ]


def test_offsets_point_at_the_source_where_normalisation_changes_its_length() -> None:
    text = "x ﬁne\u00ad ½ e\u0301nd"
    cut = {token.text: text.encode()[token.start : token.end].decode() for token in tokens(text)}
    assert cut == {"x": "x", "fine": "ﬁne", "1": "½", "2": "½", "end": "e\u0301nd"}


def test_a_term_is_cut_at_the_longest_length_and_still_found() -> None:
    blob = "a" * 5_000
    assert [token.text for token in tokens(blob)] == ["a" * MAX_TERM]
    assert [token.text for token in query_terms(blob)] == ["a" * MAX_TERM]


def test_a_long_name_is_not_split_at_its_capitals() -> None:
    assert len(tokens("aB" * MAX_TERM)) == 1


def test_question_terms_are_distinct_and_bounded() -> None:
    assert [token.text for token in query_terms("Order order ORDERS")] == ["order", "orders"]
    assert len(query_terms(" ".join(f"w{number}" for number in range(2_000)))) == MAX_QUERY_TERMS


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=60))
def test_any_text_gives_terms_in_order_that_stand_in_it(text: str) -> None:
    size = len(text.encode())
    cut = tokens(text)
    assert [token.position for token in cut] == sorted(token.position for token in cut)
    assert all(0 <= token.start < token.end <= size and token.text and len(token.text) <= MAX_TERM for token in cut)
    assert all(text.encode()[token.start : token.end].decode() for token in cut)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=40))
def test_a_text_is_found_by_itself(text: str) -> None:
    assert {token.text for token in query_terms(text)} == {token.text for token in tokens(text)}


@settings(max_examples=150, deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=30), st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]))
def test_the_form_a_text_is_normalised_in_does_not_matter(text: str, form: Literal["NFC", "NFD", "NFKC", "NFKD"]) -> None:
    plain = [token.text for token in tokens(text)]
    assert [token.text for token in tokens(unicodedata.normalize(form, text))] == plain
