"""Pages made to break a reader: depth, width, attributes, unclosed elements, and whatever bytes there are."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from artifact.model import Artifact
from extractor_svc.errors import NoText
from extractor_svc.extract import extract, resolve
from extractor_svc.formats.html_source import normal_source
from services.errors import LoomError

TIMES = 20_000
MANY = {
    "divisions": "<div>word " * TIMES,
    "closed divisions": "<div>word " * TIMES + "</div>" * TIMES,
    "paragraphs in divisions": "<div><p>word " * TIMES,
    "spans": "<span>word " * TIMES,
    "misnested formatting": "<b><div>word </b>" * TIMES,
    "formatting of many colours": "".join(f"<font color=x{i}><p>word " for i in range(TIMES)),
    "tables in tables": "<table><tr><td>word " * TIMES,
    "tables that divisions close": "<table><tr><td></div>word " * TIMES,
    "lists in lists": "<ul><li>word " * TIMES,
    "buttons below paragraphs": "<p><button>" + "<span>word " * TIMES + "</p>" * TIMES,
    "options": "<p>x<select>" + "<option>word " * TIMES,
    "drawings": "<svg><g><text>word " * TIMES,
    "formulas": "<math><mrow><mi>word</mi> " * TIMES,
    "siblings": "<p>word " * TIMES,
    "attributes": "<p " + " ".join(f"a{i}=1" for i in range(TIMES)) + ">" + "word " * TIMES,
    "rows of one table": "<table>" + "<tr><td>word " * TIMES + "</table>",
    "templates": "<template>" * TIMES + "</template>" * TIMES + "word " * TIMES,
    "comments": "<!-- x -->word " * TIMES,
    "quotes": "<blockquote>word " * TIMES,
    "ruby": "<ruby>word<rt> " * TIMES,
}


def words(artifact: Artifact) -> int:
    return sum(block.text.count("word") for block in artifact.blocks)


@pytest.mark.parametrize("name", MANY)
def test_much_of_anything_is_read_whole_in_little_time(name: str) -> None:
    began = time.process_time()
    artifact = extract(MANY[name].encode(), filename="x.html")
    took = time.process_time() - began
    assert words(artifact) == TIMES
    assert took < 10


def test_a_hundred_thousand_elements_deep_the_text_is_kept_with_a_warning() -> None:
    markup = "<div>" * 100_000 + "<p>deep <b>text</b></p><p>more</p>" + "</div>" * 100_000 + "<h2>after</h2>"
    artifact = extract(markup.encode(), filename="x.html")
    assert " ".join(" ".join(block.text.split()) for block in artifact.blocks) == "deep text more after"
    assert [warning.code for warning in artifact.warnings] == ["DEEP_NESTING"]


def test_what_is_hidden_below_the_deepest_level_stays_hidden() -> None:
    markup = "<div>" * 1_000 + "seen <div hidden>not <p>shown</p></div><i>seen</i>" + "</div>" * 1_000
    artifact = extract(markup.encode(), filename="x.html")
    assert [block.text for block in artifact.blocks] == ["seen\nseen"]
    assert sum(count.words for count in artifact.coverage.words_excluded) == 2


def test_a_million_attributes_are_read_in_little_time() -> None:
    markup = "<p " + " ".join(f"data-a{i}=1" for i in range(1_000_000)) + ">text</p>"
    began = time.process_time()
    assert extract(markup.encode(), filename="x.html").blocks[0].text == "text"
    assert time.process_time() - began < 10


def test_ten_times_the_page_takes_about_ten_times_the_time() -> None:
    row = "<div class=r><p>Some <b>text</b> here for <a href=x>you</a>.</p><ul><li>one<li>two</ul></div>\n"

    def seconds(times: int) -> float:
        content = (row * times).encode()
        began = time.process_time()
        extract(content, filename="x.html")
        return time.process_time() - began

    seconds(100)
    small = min(seconds(500) for _ in range(3))
    assert seconds(5_000) < 25 * small + 0.2


NAMES = ("p", "div", "b", "a", "li", "ul", "td", "tr", "table", "span", "title", "textarea", "svg", "h1")
TAGS = [f"<{slash}{name}{said}>" for slash in ("", "/") for name in NAMES for said in ("", " hidden", " style='x'")]
OTHERS = [
    "<br>",
    "<!-- c -->",
    "<!-->",
    "<!--->",
    "--!>",
    "<",
    ">",
    "</",
    "<3",
    "&amp;",
    "&lt",
    "&",
    "word",
    " ",
    "\n",
    "<p",
    "=",
    '"',
    "'",
]
PIECES = st.sampled_from(TAGS + OTHERS)
MARKUP = st.lists(PIECES, max_size=25).map("".join)


@settings(max_examples=300, deadline=None)
@given(MARKUP)
def test_the_normal_form_of_a_page_has_the_text_that_a_parser_finds_in_it(markup: str) -> None:
    markup = f"<body>{markup}"
    source = normal_source(markup, xml=False)
    plain, normal = LexborHTMLParser(markup), LexborHTMLParser(source.text)
    assert plain.body is not None
    assert normal.body is not None
    assert normal.body.text() == plain.body.text()


@settings(max_examples=150, deadline=None)
@given(MARKUP)
def test_every_block_reads_back_whatever_the_markup(markup: str) -> None:
    content = f"<p>x</p>{markup}".encode()
    for block in extract(content, filename="x.html").blocks:
        assert resolve(content, block.locator, filename="x.html").split() == block.text.split()


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_in_a_typed_way(content: bytes) -> None:
    try:
        extract(b"<p>" + content, filename="x.html")
    except LoomError as error:
        assert error.code_reason


def test_nothing_of_the_page_is_fetched_or_run() -> None:
    with pytest.raises(NoText):
        extract(b"<img src='http://192.0.2.1/x'><script src=x></script><link rel=stylesheet href=y>", filename="x.html")
