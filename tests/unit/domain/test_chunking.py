import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from artifact.locators import CharSpan
from knowledge_svc.domain.chunking import ChunkSettings, context_of, cut_text, headings, sections, windows

CORPUS = Path(__file__).resolve().parents[3] / ".." / "shared" / "corpus" / "markdown"
SMALL = ChunkSettings(size=40, stride=30)

MARKDOWN = st.lists(
    st.sampled_from(
        ["# One", "## Two", "text", "more words here", "", "```", "~~~", "- item", "===", "---", "--", "<h2>H</h2>", "> q"]
    ),
    max_size=30,
).map("\n".join)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("# A\n\n## B ##\n", [(1, "A"), (2, "B")], id="L-CHUNK-04 ATX"),
        pytest.param("A\n===\n\nB\n---\n", [(1, "A"), (2, "B")], id="L-CHUNK-05 setext of three"),
        pytest.param("A\n==\n\nB\n-\n", [], id="L-CHUNK-05 a shorter underline is text"),
        pytest.param("<h2>Deep</h2>\n\ntext", [(2, "Deep")], id="L-CHUNK-06 one-line HTML"),
        pytest.param('<h3 id="x">Rates <em>now</em></h3>\n', [(3, "Rates now")], id="L-CHUNK-06 with attributes"),
        pytest.param("<h2>Not\nover two lines</h2>\n", [], id="L-CHUNK-06 over two lines"),
        pytest.param("- # item\n\n1. # other\n", [], id="L-CHUNK-07 list item"),
        pytest.param("text\n\n---\n\n***\n", [], id="L-CHUNK-07 thematic break"),
        pytest.param("```\n# no\n```\n~~~\n# no\n~~~\n", [], id="L-CHUNK-07 fence"),
        pytest.param("<div>\n# no\n</div>\n", [], id="L-CHUNK-07 HTML block"),
        pytest.param("> # no\n", [], id="a quotation is not the document's own structure"),
        pytest.param("#no\n\n####### seven\n", [], id="CommonMark: a space and at most six"),
        pytest.param("# With `code` and *stress*\n", [(1, "With code and stress")], id="inline markup is not text"),
        pytest.param("# A\r\n\r\n## B\r\ntext", [(1, "A"), (2, "B")], id="CRLF"),
        pytest.param("a\x0bb\u2028c\n\n# After odd line ends\n", [(1, "After odd line ends")], id="only CR and LF end a line"),
    ],
)
def test_headings_follow_commonmark_with_the_stated_differences(text, expected):
    assert [(found.level, found.text) for found in headings(text)] == expected


def test_h30_fences_are_not_simplified():
    text = "# Real\n\n~~~\n# no1\n~~~\n\n````\n```\n# no2\n```\n````\n\n    # no3\n\nan `open span\n\n## Also real ##\n"
    assert [(found.level, found.text) for found in headings(text)] == [(1, "Real"), (2, "Also real")]


def test_a_section_runs_from_its_heading_to_the_next():
    text = "intro\n\n# A\none\n\n## B\ntwo\n\n# C\nthree"
    assert [(part.path, text[part.start : part.end]) for part in sections(text)] == [
        ((), "intro\n\n"),
        (("A",), "# A\none\n\n"),
        (("A", "B"), "## B\ntwo\n\n"),
        (("C",), "# C\nthree"),
    ]


def test_a_skipped_level_keeps_the_path_of_what_stands_above():
    assert [part.path for part in sections("# A\n\n### C\n\n## B\n")] == [("A",), ("A", "C"), ("A", "B")]


def test_a_text_without_headings_is_one_section_l_chunk_02():
    assert [(part.path, part.start, part.end) for part in sections("just words")] == [((), 0, 10)]


def test_windows_overlap_and_end_where_words_end():
    text = "alpha beta gamma delta epsilon zeta eta theta iota kappa"
    cut = [text[start:end] for start, end in windows(text, 0, len(text), settings=ChunkSettings(size=30, stride=20))]
    assert cut == ["alpha beta gamma delta epsilon", "delta epsilon zeta eta theta ", "eta theta iota kappa"]


def test_context_holds_title_description_and_breadcrumb_l_chunk_08():
    assert context_of("Guide", "How to", ("A", "B")) == "Guide\nHow to\nA > B"
    assert context_of("", "", ()) == ""


def test_a_chunk_keeps_its_text_apart_from_its_context_l_chunk_09():
    chunks, _ = cut_text("# A\nbody", title="Guide", description="", settings=SMALL)
    assert [(chunk.content, chunk.context, chunk.section_path) for chunk in chunks] == [("# A\nbody", "Guide\nA", ("A",))]
    assert chunks[0].embedding_input == "Guide\nA\n\n# A\nbody"


def test_a_titled_document_without_text_has_one_chunk_of_context_l_chunk_15():
    chunks, recorded = cut_text("", title="Guide", description="", settings=SMALL)
    assert [(chunk.content, chunk.context) for chunk in chunks] == [("", "Guide")]
    assert recorded == ()


def test_a_document_with_neither_text_nor_title_has_no_chunk():
    assert cut_text(" \n", title="", description="", settings=SMALL)[0] == ()


@given(MARKDOWN | st.text(max_size=400), st.integers(2, 60), st.integers(1, 60))
def test_windows_cover_the_text_and_never_cross_a_section_l_chunk_03(text, size, stride):
    settings = ChunkSettings(size=size, stride=min(stride, size - 1))
    covered = 0
    for part in sections(text):
        assert part.start == covered
        position = part.start
        for start, end in windows(text, part.start, part.end, settings=settings):
            assert part.start <= start <= position
            assert start < end <= part.end or not text
            assert end - start <= size
            position = end
        assert position == part.end
        covered = part.end
    assert covered == len(text)


@given(MARKDOWN)
def test_a_chunk_stands_where_its_locator_says(text):
    chunks, recorded = cut_text(text, title="t", description="", settings=SMALL)
    for chunk in chunks:
        assert isinstance(chunk.locator, CharSpan)
        assert text[chunk.locator.start : chunk.locator.end] == chunk.content
    named = [index for section in recorded for index in section.chunk_indexes]
    assert named == [chunk.index for chunk in chunks if chunk.content]


@pytest.mark.skipif(not CORPUS.exists(), reason="the shared corpus is not here")
def test_every_word_of_real_documentation_is_in_a_chunk():
    files = sorted((CORPUS / "httpx").rglob("*.md"))
    assert files
    for path in files:
        text = path.read_text("utf-8")
        chunks, _ = cut_text(text, title="", description="", settings=ChunkSettings())
        kept = set(re.findall(r"\w+", " ".join(chunk.content for chunk in chunks)))
        assert set(re.findall(r"\w+", text)) <= kept, path.name
