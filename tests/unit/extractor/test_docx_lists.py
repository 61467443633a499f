"""Lists of documents: which numbers their items and headings show, and when these start again."""

from __future__ import annotations

import pytest

from artifact.model import Block, BlockType, Visibility
from extractor_svc.context import DEFAULT_OPTIONS, Options
from extractor_svc.extract import extract, resolve
from extractor_svc.formats.docx_marks import padded, written
from tests.unit.extractor.documents import (
    DocumentXml,
    a_list,
    cell,
    deleted,
    item,
    level,
    lists,
    outline,
    p,
    part,
    r,
    row,
    style,
    table,
)

DECIMAL = a_list(1, level(0, "decimal", "%1."), level(1, "decimal", "%1.%2."), level(2, "lowerLetter", "(%3)"))
GONE = "<w:rPr><w:del w:id='9'/></w:rPr>"


def blocks(document: DocumentXml, options: Options = DEFAULT_OPTIONS) -> tuple[Block, ...]:
    content = document.build()
    found = extract(content, filename="x.docx", options=options).blocks
    for block in found:
        assert resolve(content, block.locator, filename="x.docx", options=options).split() == block.text.split(), block
    return found


def texts(body: str, *made: tuple[str, str], styles: str = "") -> list[str]:
    return [block.text for block in blocks(DocumentXml(body, numbering=lists(*made), styles=styles))]


def numbered(number: int, level: int) -> str:
    return f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>'


@pytest.mark.parametrize(
    ("number", "form", "text"),
    [
        (7, "decimal", "7"),
        (7, "decimalZero", "07"),
        (12, "decimalZero", "12"),
        (4, "upperRoman", "IV"),
        (1994, "lowerRoman", "mcmxciv"),
        (1, "lowerLetter", "a"),
        (26, "upperLetter", "Z"),
        (27, "lowerLetter", "aa"),
        (54, "upperLetter", "BBB"),
        (28, "russianLower", "я"),
        (2, "chicago", "†"),
        (5, "chicago", "**"),
        (10, "chineseCounting", "十"),
        (21, "japaneseCounting", "二十一"),
        (105, "ideographDigital", "一〇五"),
        (20, "decimalEnclosedCircle", "⑳"),
        (21, "decimalEnclosedCircle", "21"),
        (3, "numberInDash", "- 3 -"),
        (255, "hex", "FF"),
        (12, "decimalFullWidth", "１２"),
        (3, "cardinalText", "3"),
        (0, "lowerRoman", "0"),
        (999_999_999, "lowerLetter", "999999999"),
        (999_999_999, "upperRoman", "999999999"),
    ],
)
def test_numbers_are_written_in_their_format(number: int, form: str, text: str) -> None:
    assert written(number, form) == text


def test_a_custom_format_shows_how_wide_a_number_is() -> None:
    assert (padded(7, "001, 002, 003"), padded(1234, "001, 002"), padded(7, "x")) == ("007", "1234", "7")


class TestCounting:
    def test_levels_count_on_their_own_and_start_again_below_the_next_item(self) -> None:
        steps = [("a", 0), ("b", 1), ("c", 1), ("d", 2), ("e", 2), ("f", 0), ("g", 1), ("h", 2)]
        body = "".join(item(name, 1, depth) for name, depth in steps)
        assert texts(body, DECIMAL) == ["1. a", "1.1. b", "1.2. c", "(a) d", "(b) e", "2. f", "2.1. g", "(a) h"]

    def test_levels_of_blocks_are_those_of_the_list(self) -> None:
        found = blocks(DocumentXml(item("a", 1) + item("b", 1, 1), numbering=lists(DECIMAL)))
        assert [(block.type, block.level) for block in found] == [(BlockType.LIST_ITEM, 1), (BlockType.LIST_ITEM, 2)]

    def test_text_between_items_does_not_end_a_list(self) -> None:
        assert texts(item("a", 1) + p("prose") + item("b", 1), DECIMAL) == ["1. a", "prose", "2. b"]

    def test_a_level_that_is_skipped_counts_as_begun(self) -> None:
        body = item("a", 1) + item("b", 1, 2) + item("c", 1, 1)
        made = a_list(1, *(level(n, "decimal", ".".join(f"%{i}" for i in range(1, n + 2))) for n in range(3)))
        assert texts(body, made) == ["1 a", "1.1.1 b", "1.2 c"]

    def test_lists_of_one_definition_count_on_together(self) -> None:
        assert texts(item("a", 1) + item("b", 2), DECIMAL, a_list(2, abstract=1)) == ["1. a", "2. b"]

    def test_a_list_with_a_start_of_its_own_begins_again_once(self) -> None:
        override = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride>'
        body = item("a", 1) + item("b", 1) + item("c", 2) + item("d", 2)
        assert texts(body, DECIMAL, a_list(2, abstract=1, overrides=override)) == ["1. a", "2. b", "1. c", "2. d"]

    def test_an_override_replaces_a_level(self) -> None:
        override = f'<w:lvlOverride w:ilvl="0">{level(0, "upperRoman", "%1)", start=4)}</w:lvlOverride>'
        assert texts(item("a", 2), DECIMAL, a_list(2, abstract=1, overrides=override)) == ["IV) a"]

    def test_a_level_may_never_start_again(self) -> None:
        made = a_list(1, level(0, "decimal", "%1."), level(1, "decimal", "note %2", rest='<w:lvlRestart w:val="0"/>'))
        body = item("a", 1) + item("b", 1, 1) + item("c", 1) + item("d", 1, 1)
        assert texts(body, made) == ["1. a", "note 1 b", "2. c", "note 2 d"]

    def test_a_level_may_start_again_only_below_a_higher_one(self) -> None:
        third = level(2, "decimal", "%3", rest='<w:lvlRestart w:val="1"/>')
        made = a_list(1, level(0, "decimal", "%1."), level(1, "decimal", "%1.%2"), third)
        body = "".join(item("x", 1, depth) for depth in (0, 1, 2, 1, 2, 0, 2))
        assert texts(body, made) == ["1. x", "1.1 x", "1 x", "1.2 x", "2 x", "2. x", "1 x"]

    def test_a_legal_level_shows_digits_throughout(self) -> None:
        made = a_list(1, level(0, "upperRoman", "%1"), level(1, "decimal", "%1.%2", rest="<w:isLgl/>"))
        assert texts(item("a", 1) + item("b", 1, 1), made) == ["I a", "1.1 b"]

    def test_bullets_are_not_text(self) -> None:
        found = blocks(DocumentXml(item("a", 1), numbering=lists(a_list(1, level(0, "bullet", "•")))))
        assert [(block.type, block.text) for block in found] == [(BlockType.LIST_ITEM, "a")]

    def test_a_level_may_show_words_without_a_number_or_nothing(self) -> None:
        made = a_list(1, level(0, "none", "Note:"), level(1, "none", ""))
        found = blocks(DocumentXml(item("a", 1) + item("b", 1, 1), numbering=lists(made)))
        assert [(block.type, block.text) for block in found] == [(BlockType.LIST_ITEM, "Note: a"), (BlockType.PARAGRAPH, "b")]

    def test_nothing_may_part_a_number_from_its_item(self) -> None:
        made = a_list(1, level(0, "decimal", "§%1-", rest='<w:suff w:val="nothing"/>'))
        assert texts(item("a", 1), made) == ["§1-a"]

    def test_a_custom_format_stands_as_an_alternative(self) -> None:
        choice = '<mc:Choice Requires="w14"><w:numFmt w:val="custom" w:format="001, 002"/></mc:Choice>'
        form = f'<mc:AlternateContent>{choice}<mc:Fallback><w:numFmt w:val="decimal"/></mc:Fallback></mc:AlternateContent>'
        inside = f'<w:lvl w:ilvl="0"><w:start w:val="1"/>{form}<w:lvlText w:val="%1"/></w:lvl>'
        assert texts(item("a", 1), a_list(1, inside)) == ["001 a"]

    def test_a_list_style_lends_its_levels(self) -> None:
        link = '<w:abstractNum w:abstractNumId="7"><w:numStyleLink w:val="Outline"/></w:abstractNum>'
        own = f'<w:abstractNum w:abstractNumId="8"><w:styleLink w:val="Outline"/>{level(0, "upperLetter", "%1.")}</w:abstractNum>'
        number = '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>'
        assert texts(item("a", 1), (link + own, number)) == ["A. a"]


class TestPlaces:
    def test_h08_headings_with_numbers_are_headings_under_their_numbers(self) -> None:
        made = a_list(1, level(0, "decimal", "%1."), level(1, "decimal", "%1.%2", rest='<w:pStyle w:val="Heading2"/>'))
        bullets = a_list(2, level(0, "bullet", "•"))
        styles = (
            style("Heading1", outline(0) + numbered(1, 0))
            + style("Heading2", f'{outline(1)}<w:numPr><w:numId w:val="1"/></w:numPr>')
            + style("ListBullet", numbered(2, 0))
        )
        body = p("Terms", style="Heading1") + p("Glossary", style="Heading2")
        body += "".join(p(name, style="ListBullet") for name in ("one", "two", "three", "four", "five"))
        document = DocumentXml(body + p("Scope", style="Heading2"), numbering=lists(made, bullets), styles=styles)
        found = blocks(document)
        headings = [(block.text, block.level) for block in found if block.type is BlockType.HEADING]
        assert headings == [("1. Terms", 1), ("1.1 Glossary", 2), ("1.2 Scope", 2)]
        items = [block for block in found if block.type is BlockType.LIST_ITEM]
        assert [block.text for block in items] == ["one", "two", "three", "four", "five"]
        assert {block.section_path for block in items} == {("1. Terms", "1.1 Glossary")}

    def test_items_in_cells_count_with_those_of_the_body(self) -> None:
        body = item("a", 1) + table(row(cell(item("b", 1)), cell("plain"))) + item("c", 1)
        assert texts(body, DECIMAL) == ["1. a", "2. b\tplain", "3. c"]

    def test_a_header_counts_for_itself(self) -> None:
        section = '<w:sectPr><w:headerReference w:type="default" r:id="rId1"/></w:sectPr>'
        document = DocumentXml(
            item("a", 1) + section,
            numbering=lists(DECIMAL),
            related=[("header", "header1.xml")],
            parts={"word/header1.xml": part("hdr", item("top", 1))},
        )
        assert [block.text for block in blocks(document)] == ["1. top", "1. a"]

    def test_an_item_that_is_deleted_does_not_count_and_did_before(self) -> None:
        old = p(deleted("b"), properties=numbered(1, 0) + GONE)
        document = DocumentXml(item("a", 1) + old + item("c", 1), numbering=lists(DECIMAL))
        assert [(block.text, block.visibility) for block in blocks(document)] == [
            ("1. a", Visibility.VISIBLE),
            ("b", Visibility.DELETED),
            ("2. c", Visibility.VISIBLE),
        ]
        assert [block.text for block in blocks(document, Options(original_view=True))] == ["1. a", "2. b", "3. c"]

    def test_an_empty_item_counts_and_a_hidden_one_does_not(self) -> None:
        hidden = p(r("x", "<w:vanish/>"), properties=numbered(1, 0) + "<w:rPr><w:vanish/></w:rPr>")
        assert texts(item("a", 1) + item("", 1) + hidden + item("c", 1), DECIMAL) == ["1. a", "x", "3. c"]

    def test_a_list_that_is_not_defined_marks_items_without_numbers(self) -> None:
        found = blocks(DocumentXml(item("a", 5)))
        assert [(block.type, block.text) for block in found] == [(BlockType.LIST_ITEM, "a")]

    def test_number_zero_takes_a_paragraph_out_of_its_styles_list(self) -> None:
        styles = style("Item", numbered(1, 0))
        plain = p("b", style="Item", properties='<w:numPr><w:numId w:val="0"/></w:numPr>')
        assert texts(p("a", style="Item") + plain, DECIMAL, styles=styles) == ["1. a", "b"]
