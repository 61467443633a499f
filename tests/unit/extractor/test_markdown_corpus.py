"""Markdown of the public corpus: what a rendering shows is kept, what is left out is markup, and structure is as expected."""

from __future__ import annotations

import html
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

from artifact.model import BlockType
from extractor_svc.context import ReadContext
from extractor_svc.errors import NoText
from extractor_svc.extract import extract, resolve
from extractor_svc.formats import markdown

CORPUS = Path(__file__).resolve().parents[3] / ".." / "shared" / "corpus" / "markdown"
FILES = sorted(path.relative_to(CORPUS).as_posix() for path in CORPUS.rglob("*") if path.is_file())
DOCUMENTS = [name for name in FILES if name.endswith(".md") and not name.endswith(".md.md")]
CASES = [name for name in FILES if name.endswith(".txt")]
FENCE = re.compile(r"(?m)^[ >]*(?:```+|~~~+)([^`\n]*)$")
COMMENT = re.compile(r"(?s)<!--.*?-->")
TAG = re.compile(r"</?[A-Za-z][^>]*>")
ENTITY = re.compile(r"&#?\w+;")

pytestmark = pytest.mark.skipif(not FILES, reason="the shared corpus is absent")


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"[^\W_]+", text))


def kept(text: str) -> str:
    """The text of all blocks; entities are read, for inline Markdown stays as it is written."""
    try:
        return html.unescape("\n".join(block.text for block in markdown.read(text.encode(), ReadContext()).blocks))
    except NoText:
        return ""


def shown(rendering: str) -> str:
    """What a browser shows of a page."""
    page = LexborHTMLParser(f"<body>{rendering}")
    for hidden in page.css("script, style, template"):
        hidden.decompose()
    for picture in page.css("img"):
        picture.replace_with(f" {picture.attributes.get('alt') or ''} ")
    return page.body.text(separator=" ") if page.body else ""


def cases(name: str) -> Iterator[tuple[str, str]]:
    """The Markdown and the expected page of each case; lines of one dot part them."""
    parts = re.split(r"(?m)^\.\n", (CORPUS / name).read_text("utf-8"))
    return zip(parts[1::3], parts[2::3], strict=True)


@pytest.mark.parametrize("name", FILES)
def test_every_block_reads_back(name: str) -> None:
    content = (CORPUS / name).read_bytes()
    blocks = extract(content, filename="x.md").blocks
    for block in blocks[:: max(1, len(blocks) // 30)]:
        assert resolve(content, block.locator, filename="x.md").split() == block.text.split()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_word_that_a_rendering_shows_is_kept(name: str) -> None:
    text = (CORPUS / name).read_text("utf-8")
    rendering = MarkdownIt("commonmark").enable("table").render(text)
    shown_twice = words(" ".join(ENTITY.findall(shown(rendering))))
    assert words(shown(rendering)) - words(kept(text)) <= shown_twice


@pytest.mark.parametrize("name", DOCUMENTS)
def test_words_of_the_source_that_are_left_out_are_languages_comments_tags_and_entities(name: str) -> None:
    """A count of the raw source asks for these too; a rendering shows none of them, and languages stand in their own field."""
    text = (CORPUS / name).read_text("utf-8")
    artifact = markdown.read(text.encode(), ReadContext())
    left_out = words(text) - words("\n".join(block.text for block in artifact.blocks))
    markup = " ".join([*FENCE.findall(text), *COMMENT.findall(text), *TAG.findall(text)])
    assert left_out <= words(markup) + words(" ".join(ENTITY.findall(text)))
    languages = Counter(word for block in artifact.blocks if block.type is BlockType.CODE for word in words(block.language))
    assert languages <= words(" ".join(FENCE.findall(text)))
    rendering = shown(MarkdownIt("commonmark").enable("table").render(text))
    assert not (words(text) - words(kept(text))) & (words(rendering) - words(kept(text))) - words(" ".join(ENTITY.findall(text)))


@pytest.mark.parametrize("name", CASES)
def test_every_word_of_the_expected_pages_is_kept(name: str) -> None:
    for source, expected in cases(name):
        undecoded = words(" ".join(re.findall(r"&amp;#?\w+", expected)) + " ".join(re.findall(r"amp;\w*", shown(expected))))
        assert words(unquote(shown(expected))) - words(unquote(kept(source))) <= undecoded, source


@pytest.mark.parametrize("name", DOCUMENTS)
def test_headings_are_those_that_the_parser_finds_outside_lists_and_quotes(name: str) -> None:
    text = (CORPUS / name).read_text("utf-8")
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    expected = [
        (int(token.tag[1]), tokens[i + 1].content)
        for i, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0 and tokens[i + 1].content
    ]
    blocks = extract(text.encode(), filename="x.md").blocks
    assert [(block.level, block.text) for block in blocks if block.type is BlockType.HEADING] == expected


def test_a_file_ten_times_as_long_takes_ten_times_as_long() -> None:
    text = (CORPUS / "httpx" / "quickstart.md").read_bytes()

    def seconds(times: int) -> float:
        begun = time.process_time()
        extract(text * times, filename="x.md")
        return time.process_time() - begun

    seconds(1)
    assert seconds(10) < 25 * max(seconds(1), 0.02)
