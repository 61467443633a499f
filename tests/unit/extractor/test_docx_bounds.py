"""Documents of any make: each place reads back, nesting has no depth that breaks, and time grows with the size."""

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from artifact.model import Visibility
from extractor_svc.context import Options
from extractor_svc.errors import NoText, OutputLimit, PasswordRequired, ZipBomb
from extractor_svc.extract import extract, resolve
from extractor_svc.limits import Limits
from tests.unit.extractor.documents import (
    DocumentXml,
    a_list,
    alternatives,
    cell,
    deleted,
    drawn,
    field_of,
    inserted,
    item,
    level,
    lists,
    old_text_box,
    outline,
    p,
    r,
    row,
    style,
    table,
    text_box,
)
from tests.unit.extractor.encrypted_files import standard_encrypted

WORDS = st.text("abc xyz", min_size=1, max_size=6)
EQUATION = "<m:oMath><m:r><m:t>{}</m:t></m:r><w:del w:id='1'><m:r><m:t>k</m:t></m:r></w:del></m:oMath>"


def runs(paragraphs: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """What may stand in a paragraph, text boxes with paragraphs included."""
    plain = st.one_of(
        WORDS.map(r),
        WORDS.map(lambda text: r(text, "<w:vanish/>")),
        WORDS.map(deleted),
        WORDS.map(inserted),
        WORDS.map(lambda text: inserted(text, kind="moveFrom")),
        WORDS.map(lambda text: field_of("PAGE", text)),
        WORDS.map(EQUATION.format),
        WORDS.map(lambda text: f"<m:oMathPara>{EQUATION.format(text)}</m:oMathPara>"),
        st.sampled_from(["<w:r><w:tab/></w:r>", "<w:r><w:br/><w:delText>z</w:delText><w:t>q</w:t><w:delText>y</w:delText></w:r>"]),
    )
    box = paragraphs.map(lambda inner: f"<w:r>{alternatives(drawn(text_box(inner))[5:-6], old_text_box(inner)[5:-6])}</w:r>")
    return st.one_of(plain, plain, plain, box)


MARKS = (
    "",
    outline(1),
    "<w:rPr><w:del w:id='1'/></w:rPr>",
    "<w:rPr><w:ins w:id='1'/></w:rPr>",
    "<w:numPr><w:numId w:val='1'/></w:numPr>",
)
ROWS = ("", "<w:hidden/>", "<w:del w:id='1'/>", "<w:ins w:id='1'/>", '<w:gridBefore w:val="1"/>', "<w:tblHeader/>")
CELLS = ("", '<w:gridSpan w:val="2"/>', '<w:vMerge w:val="restart"/>', "<w:vMerge/>", "<w:cellDel/>", "<w:cellIns/>", "<w:hMerge/>")


def bodies(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    paragraph = st.builds(
        lambda pieces, properties: p(*pieces, properties=properties), st.lists(runs(inner), max_size=4), st.sampled_from(MARKS)
    )
    cells = st.builds(lambda content, properties: cell(content, properties=properties), inner, st.sampled_from(CELLS))
    rows = st.builds(lambda made, properties: row(*made, properties=properties), st.lists(cells, max_size=3), st.sampled_from(ROWS))
    tables = st.lists(rows, min_size=1, max_size=3).map(lambda made: table(*made))
    return st.lists(st.one_of(paragraph, tables), min_size=1, max_size=3).map("".join)


BODIES = st.recursive(WORDS.map(p), bodies, max_leaves=8)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(body=BODIES, original_view=st.booleans())
def test_each_block_of_any_document_reads_back(body: str, original_view: bool) -> None:
    content = DocumentXml(body, numbering=lists(a_list(1, level(0, "decimal", "%1.")))).build()
    options = Options(original_view=original_view)
    try:
        artifact = extract(content, filename="x.docx", options=options)
    except NoText:
        return
    for block in artifact.blocks:
        assert resolve(content, block.locator, filename="x.docx", options=options).split() == block.text.split(), block


def piece(kind: str, text: str) -> str:
    """A run of text as it is, or under a mark."""
    if kind == "ins":
        return inserted(text)
    return deleted(text) if kind == "del" else r(text, "<w:vanish/>" if kind == "hidden" else "")


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(words=st.lists(st.tuples(st.sampled_from(["", "ins", "del", "hidden"]), st.integers(0, 999)), min_size=1, max_size=12))
def test_each_word_stands_in_one_block_under_its_flag(words: list[tuple[str, int]]) -> None:
    content = DocumentXml(p(*(piece(kind, f" w{number}") for kind, number in words))).build()
    found = [(word, block.visibility) for block in extract(content, filename="x.docx").blocks for word in block.text.split()]
    flag = {"del": Visibility.DELETED, "hidden": Visibility.HIDDEN_TEXT}
    alone = Visibility.INSERTED if {kind for kind, _ in words} & {"", "ins"} == {"ins"} else Visibility.VISIBLE
    assert sorted(found) == sorted((f"w{number}", flag.get(kind, alone)) for kind, number in words)


@pytest.mark.parametrize(
    ("opening", "closing", "inner", "depth"),
    [
        ("<w:sdt><w:sdtContent>", "</w:sdtContent></w:sdt>", p("x"), 120),
        ("<w:ins>", "</w:ins>", p("x"), 240),
        ("<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>", p("x"), 80),
        ("<w:p><w:r><w:pict><v:textbox><w:txbxContent>", "</w:txbxContent></v:textbox></w:pict></w:r></w:p>", p("x"), 45),
        ("<mc:AlternateContent><mc:Choice>", "</mc:Choice></mc:AlternateContent>", p("x"), 120),
    ],
)
def test_what_is_nested_as_deep_as_xml_may_be_is_read(opening: str, closing: str, inner: str, depth: int) -> None:
    content = DocumentXml(opening * depth + inner + closing * depth).build()
    assert [block.text for block in extract(content, filename="x.docx").blocks] == ["x"]


def test_an_equation_nested_deep_is_read() -> None:
    nested = "<m:d><m:e>" * 100 + "<m:r><m:t>x</m:t></m:r>" + "</m:e></m:d>" * 100
    content = DocumentXml(p(f"<m:oMath>{nested}</m:oMath>")).build()
    assert [block.text for block in extract(content, filename="x.docx").blocks] == ["(" * 100 + "x" + ")" * 100]


def pages(number: int) -> bytes:
    """A document of so many pages: a heading, prose, a list and a table on each."""
    page = p("Heading", style="H") + p("some words ", r("and more", "<w:b/>")) * 6 + item("an item", 1) * 4
    grid = table(*[row("a", "b", "1")] * 6)
    numbering = lists(a_list(1, level(0, "decimal", "%1.")))
    return DocumentXml((page + grid) * number, styles=style("H", outline(0)), numbering=numbering).build()


def seconds(content: bytes) -> float:
    """Processor time of one reading, the better of two."""
    taken = []
    for _ in range(2):
        before = time.process_time()
        extract(content, filename="x.docx")
        taken.append(time.process_time() - before)
    return min(taken)


def test_ten_times_the_pages_take_about_ten_times_as_long() -> None:
    small, large = pages(6), pages(60)
    extract(small, filename="x.docx")
    assert seconds(large) < 25 * seconds(small)


@pytest.mark.parametrize(
    "body",
    [
        p("one ", properties="<w:rPr><w:del w:id='1'/></w:rPr>") * 1_500,
        p(*[r("w ", "<w:vanish/>"), r("v ")] * 1_500),
        table(row(*["x"] * 60) * 60),
        p(*[deleted("x"), inserted("y")] * 1_500),
    ],
    ids=["paragraphs run together", "hidden runs", "a wide table", "changes"],
)
def test_long_documents_of_one_kind_take_little_time(body: str) -> None:
    assert seconds(DocumentXml(body).build()) < 2


def test_an_encrypted_document_opens_with_its_password_only() -> None:
    content = standard_encrypted(DocumentXml(p("sealed")).build(), "key")
    with pytest.raises(PasswordRequired):
        extract(content, filename="x.docx")
    opened = extract(content, filename="x.docx", options=Options(password="key"))
    assert [block.text for block in opened.blocks] == ["sealed"]


def test_a_part_that_inflates_too_far_is_refused() -> None:
    content = DocumentXml(p("x") + f"<!--{' ' * 3_000_000}-->").build()
    with pytest.raises(ZipBomb):
        extract(content, filename="x.docx")


def test_more_blocks_than_allowed_are_refused() -> None:
    with pytest.raises(OutputLimit):
        extract(DocumentXml(p("x") * 4).build(), filename="x.docx", limits=Limits(max_blocks=3))
