"""Public pages: words against an independent count, headings and order against renderings, main text against a reader view."""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
from lxml import html as lxml_html
from selectolax.lexbor import LexborHTMLParser

from artifact.model import Artifact, BlockType
from extractor_svc.extract import extract, resolve
from extractor_svc.formats.html_source import normal_source
from extractor_svc.render import to_json

SHARED = Path(__file__).resolve().parents[3] / ".." / "shared"
CORPUS = SHARED / "corpus" / "html"

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the shared corpus is not here")

PAGES = sorted(path.relative_to(CORPUS).as_posix() for path in CORPUS.rglob("*.html") if ".expected" not in path.name)
RENDERED = [name for name in PAGES if (CORPUS / f"{name}.md").exists()]
MAIN = [name for name in PAGES if name.startswith("readability/")]
BESIDE = (BlockType.HEADER, BlockType.FOOTER, BlockType.TEXT_BOX)
INLINE = frozenset(
    ("a", "b", "code", "del", "em", "font", "i", "img", "input", "ins", "kbd", "label", "s", "samp", "small", "span")
)
INLINE |= {"strong", "sub", "sup", "svg", "u", "var"}
LEAST_ORDER = {
    "docling/example_01.html": 0.99,
    "docling/example_08.html": 0.9,
    "docling/formatting.html": 0.93,
    "docling/html_code_snippets.html": 0.98,
    "docling/html_nested_block_in_list_item.html": 0.98,
    "docling/html_rich_table_cells.html": 0.83,
    "docling/hyperlink_05.html": 0.88,
    "docling/kvp_data_example.html": 0.88,
}
"""Below 1 where the rendering differs by its own doing: it repeats a merged cell's text in each place it covers, parts `H2O` into
three words, leaves out captions of tables and pictures' texts in figures, and writes comments of its own."""


def read(name: str) -> Artifact:
    return extract((CORPUS / name).read_bytes(), filename=Path(name).name)


def tool(name: str) -> ModuleType:
    """One of the corpus's own scoring tools."""
    spec = importlib.util.spec_from_file_location(name, SHARED / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shown_words(name: str, *, parted: bool = False) -> Counter[str]:
    """The words of the corpus's own count, put right where a browser shows the page otherwise.

    That count parts words wherever an element begins (`H<sub>2</sub>O`), takes hidden elements and the insides of frames for
    shown, and leaves out numbers of items, alternative texts and values of fields. `parted` parts words as it does.
    """
    root = lxml_html.fromstring((CORPUS / name).read_bytes())
    gone = "//script|//style|//template|//noscript|//head|//iframe|//comment()|//*[@hidden]|//*[contains(@style, 'display: none')]"
    for element in root.xpath(gone + "|//*[contains(@style, 'display:none')]"):
        if element.getparent() is not None:
            element.drop_tree()
    counted: Counter[str] = tool("account").words(flat(root, parted=parted))
    return counted


def flat(element: lxml_html.HtmlElement, *, parted: bool) -> str:
    """An element's text in order, inline elements joined to what is around them, but not a link to a link."""
    drawn = element.get("alt") if element.tag == "img" else None
    if element.tag == "input" and element.get("type") not in ("hidden", "checkbox", "radio"):
        drawn = element.get("value") or element.get("placeholder")
    before = element.getprevious()
    after_link = element.tag == "a" and before is not None and before.tag == "a" and not before.tail
    apart = "" if element.tag in INLINE and not (drawn or parted or after_link) else "\n"
    inside = "".join(flat(child, parted=parted) + (child.tail or "") for child in element)
    return f"{apart}{numbered(element)}{drawn or ''}{element.text or ''}{inside}{apart}"


def numbered(element: lxml_html.HtmlElement) -> str:
    """The number before an item of an ordered list."""
    above = element.getparent()
    if element.tag != "li" or above is None or above.tag != "ol":
        return ""
    return f"{int(above.get('start') or 1) + above.findall('li').index(element)}. "


@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_read_whole_and_reads_back(name: str) -> None:
    content = (CORPUS / name).read_bytes()
    artifact = extract(content, filename=Path(name).name)
    assert artifact.coverage.complete
    for block in artifact.blocks[:: len(artifact.blocks) // 30 + 1]:
        assert resolve(content, block.locator, filename=Path(name).name).split() == block.text.split(), block


@pytest.mark.parametrize("name", PAGES)
def test_every_shown_word_arrives_once_and_none_is_invented(name: str, tmp_path: Path) -> None:
    written = tmp_path / "artifact.json"
    written.write_text(json.dumps(to_json(read(name))), encoding="utf-8")
    produced, shown = tool("account").produced_words(written), shown_words(name)
    assert (shown - produced, produced - shown) == (Counter(), Counter())


@pytest.mark.parametrize("name", PAGES)
def test_words_that_the_corpus_counts_beyond_those_shown_are_in_the_ledger(name: str) -> None:
    account, artifact = tool("account"), read(name)
    counted = account.source_words(CORPUS / name)["body"] - shown_words(name, parted=True)
    left_out = sum(count.words for count in artifact.coverage.words_excluded if count.reason in ("hidden", "fallback"))
    assert counted.total() == left_out


@pytest.mark.parametrize("name", RENDERED)
def test_headings_and_order_are_those_of_the_rendering(name: str) -> None:
    truth, rendering = tool("truth"), CORPUS / f"{name}.md"
    artifact = to_json(read(name))
    headings = truth.headings(artifact, rendering)
    assert headings["texts"]["f1"] == 1.0
    assert headings["level_steps_right"] in (1.0, None)
    assert truth.order(artifact, rendering)["order"] >= LEAST_ORDER.get(name, 1.0)


@pytest.mark.parametrize("name", MAIN)
def test_the_main_text_is_flagged_apart_from_what_is_beside_it(name: str) -> None:
    """Against a reader view that drops the title, and in one page dates, labels and a notice that nothing marks as beside."""
    account = tool("account")
    view = (CORPUS / name.replace(".html", ".expected.html")).read_text("utf-8")
    right = account.words("\n".join(lxml_html.fromstring(view).itertext()))
    main = account.words("\n".join(block.text for block in read(name).blocks if block.type not in BESIDE))
    kept = sum((main & right).values())
    assert kept == sum(right.values())
    assert kept >= 0.91 * sum(main.values())


def test_the_titles_are_those_of_another_reader() -> None:
    expected = json.loads((CORPUS / "readability/expected-metadata.json").read_text("utf-8"))
    found = {name: read(f"readability/{name}.html").title for name in expected}
    found["links-in-tables"] = found["links-in-tables"].partition(" | ")[0]
    assert found == {name: " ".join(said["title"].split()) for name, said in expected.items()}


def test_character_references_are_read_as_the_standard_says() -> None:
    cases = json.loads((CORPUS / "html5lib/tokenizer-namedEntities.test").read_text("utf-8"))["tests"]
    assert len(cases) > 4_000
    for case in cases:
        expected = "".join(token[1] for token in case["output"] if token[0] == "Character")
        tree = LexborHTMLParser(normal_source(f"<textarea>.{case['input']}</textarea>", xml=False).text)
        assert tree.css("textarea")[0].text() == f".{expected}", case["input"]


def test_tags_and_comments_end_where_the_standard_says() -> None:
    cases = json.loads((CORPUS / "html5lib/tokenizer-test1.test").read_text("utf-8"))["tests"]
    for case in cases:
        if case.get("initialStates"):
            continue
        expected = "".join(token[1] for token in case["output"] if token[0] == "Character")
        body = LexborHTMLParser(normal_source(f"<body>{case['input']}", xml=False).text).body
        assert body is not None
        assert body.text() == expected, case
