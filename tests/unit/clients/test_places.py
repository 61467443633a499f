from __future__ import annotations

import pytest
from google.protobuf import text_format
from loom.artifact.v1 import artifact_pb2

from clients.places import describe

PLACES = [
    ("lines { first: 4 last: 12 }", "lines 4-12"),
    ("rows { first: 3 last: 3 }", "row 3"),
    ("chars { start: 0 end: 9 }", "characters 0-9"),
    ("bytes { start: 0 end: 9 }", "bytes 0-9"),
    ("pdf { first_page: 2 last_page: 3 }", "pages 2-3"),
    ("slide { first_slide: 1 last_slide: 1 }", "slide 1"),
    ('sheet { sheet: "Orders" first_row: 2 last_row: 9 first_column: 1 last_column: 4 }', "sheet Orders, rows 2-9"),
    ('sheet { sheet: "Orders" }', "sheet Orders"),
    ('toml { key_path: "a.b" first_line: 3 last_line: 3 }', "a.b, line 3"),
    ("toml { first_line: 1 last_line: 2 }", "lines 1-2"),
    ('docx { part: "word/document.xml" first: "body/p[1]" last: "body/p[2]" }', "word/document.xml body/p[1] to body/p[2]"),
    ('html { first: "html/body/p[1]" last: "html/body/p[1]" }', "html/body/p[1]"),
    ("image { frame: 1 }", "image 1"),
    ("", ""),
]


@pytest.mark.parametrize(("text", "phrase"), PLACES, ids=[phrase or "nowhere" for _, phrase in PLACES])
def test_a_place_is_said_in_a_few_words(text: str, phrase: str) -> None:
    assert describe(text_format.Parse(text, artifact_pb2.Locator())) == phrase


def test_no_place_is_no_words() -> None:
    assert describe(None) == ""
