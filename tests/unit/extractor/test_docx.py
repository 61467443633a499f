"""Documents: what the text says, in which order, and where each piece stands."""

from __future__ import annotations

from decimal import Decimal

import pytest

from artifact.locators import DocxPlace, LineSpan
from artifact.model import Artifact, BlockType, Cell, ColumnType, Visibility, WordCount
from extractor_svc.context import DEFAULT_OPTIONS, Options
from extractor_svc.errors import LocatorNotFound, Malformed, NoText, OutputLimit, TooManyColumns, TooManyRows, XmlDtdForbidden
from extractor_svc.extract import extract, resolve
from extractor_svc.limits import DEFAULT_LIMITS, Limits
from tests.unit.extractor.documents import (
    CHART,
    DIAGRAM,
    DRAWING,
    MACRO_TYPE,
    NAMES,
    DocumentXml,
    alternatives,
    cell,
    deleted,
    drawn,
    field_of,
    inserted,
    old_text_box,
    outline,
    p,
    part,
    r,
    relationships,
    row,
    style,
    table,
    text_box,
)

BODY = "word/document.xml"
HIDDEN = "<w:vanish/>"


def read(
    document: DocumentXml, *, limits: Limits = DEFAULT_LIMITS, strict: bool = False, options: Options = DEFAULT_OPTIONS
) -> Artifact:
    content = document.build(strict=strict)
    artifact = extract(content, filename="paper.docx", limits=limits, options=options)
    for block in artifact.blocks:
        assert resolve(content, block.locator, filename="paper.docx", options=options).split() == block.text.split(), block
    return artifact


def original(body: str) -> Artifact:
    return read(DocumentXml(body), options=Options(original_view=True))


def texts(artifact: Artifact) -> list[str]:
    return [block.text for block in artifact.blocks]


def kinds(artifact: Artifact) -> list[tuple[BlockType, str]]:
    return [(block.type, block.text) for block in artifact.blocks]


def flags(artifact: Artifact) -> list[tuple[str, Visibility]]:
    return [(block.text, block.visibility) for block in artifact.blocks]


class TestFieldFaults:
    """The field's known faults with documents (H07 to H11)."""

    def test_h07_the_text_is_the_accepted_one_and_deletions_stand_apart(self) -> None:
        artifact = read(DocumentXml(p("The fee is ", deleted("100"), inserted("250"), " euros.") + p(inserted("Added clause."))))
        assert flags(artifact) == [
            ("The fee is 250 euros.", Visibility.VISIBLE),
            ("100", Visibility.DELETED),
            ("Added clause.", Visibility.INSERTED),
        ]
        assert [warning.code for warning in artifact.warnings] == ["TRACKED_CHANGES"]

    def test_h08_numbered_headings_stay_headings_and_items_stay_items(self) -> None:
        numbered = '<w:numPr><w:ilvl w:val="{}"/><w:numId w:val="{}"/></w:numPr>'
        styles = (
            style("Heading1", outline(0))
            + style("Heading2", outline(1) + numbered.format(1, 1))
            + style("ListBullet", numbered.format(0, 2))
        )
        body = p("Terms", style="Heading1") + p("Glossary", style="Heading2")
        body += "".join(p(name, style="ListBullet") for name in ("one", "two", "three", "four", "five"))
        artifact = read(DocumentXml(body + p("Scope", style="Heading2") + p("One line."), styles=styles))
        headings = [(block.text, block.level) for block in artifact.blocks if block.type is BlockType.HEADING]
        assert headings == [("Terms", 1), ("Glossary", 2), ("Scope", 2)]
        items = [block for block in artifact.blocks if block.type is BlockType.LIST_ITEM]
        assert [block.text for block in items] == ["one", "two", "three", "four", "five"]
        assert {block.section_path for block in items} == {("Terms", "Glossary")}
        assert artifact.blocks[-1].section_path == ("Terms", "Scope")

    def test_h09_cells_stand_by_grid_column(self) -> None:
        grid = table(
            row("Part", "Size", "Qty"),
            row("Bolt", "M8", "40"),
            row("M10", "15", properties='<w:gridBefore w:val="1"/>'),
            row("Nut", "M8", properties='<w:gridAfter w:val="1"/>'),
            columns=3,
        )
        (block,) = read(DocumentXml(grid)).blocks
        assert block.text == "Part\tSize\tQty\nBolt\tM8\t40\n\tM10\t15\nNut\tM8"
        assert block.cells[6:] == (Cell(2, 1, "M10"), Cell(2, 2, "15"), Cell(3, 0, "Nut"), Cell(3, 1, "M8"))

    def test_h09_the_column_of_quantities_adds_up(self) -> None:
        grid = table(
            row("Part", "Size", "Qty"),
            row("Bolt", "M8", "40"),
            row("M10", "15", properties='<w:gridBefore w:val="1"/>'),
            row("Nut", "M8", properties='<w:gridAfter w:val="1"/>'),
        )
        (dataset,) = read(DocumentXml(grid)).datasets
        assert dataset.rows["Qty"].to_pylist() == [Decimal(40), Decimal(15), None]
        assert dataset.rows["Part"].to_pylist() == ["Bolt", None, "Nut"]

    def test_h10_a_text_box_with_two_renderings_is_told_once(self) -> None:
        box = p("Pump room closed")
        both = p(f"<w:r>{alternatives(drawn(text_box(box))[5:-6], old_text_box(box)[5:-6])}</w:r>")
        artifact = read(DocumentXml(p("before") + both + p("after")))
        assert kinds(artifact) == [
            (BlockType.PARAGRAPH, "before"),
            (BlockType.TEXT_BOX, "Pump room closed"),
            (BlockType.PARAGRAPH, "after"),
        ]

    def test_h11_headings_are_known_by_outline_level_in_any_language(self) -> None:
        styles = (
            style("Nadpis1", outline(0))
            + style("Firma2", outline(1))
            + style("Heading1", name="heading 1")
            + style("KapitelX", based_on="Heading1")
            + style("Body9", outline(9))
        )
        names = ("Nadpis1", "Firma2", "KapitelX", "Body9")
        artifact = read(DocumentXml("".join(p(f"in {name}", style=name) for name in names), styles=styles))
        assert [(block.type, block.level) for block in artifact.blocks] == [
            (BlockType.HEADING, 1),
            (BlockType.HEADING, 2),
            (BlockType.HEADING, 1),
            (BlockType.PARAGRAPH, 0),
        ]

    def test_the_title_heads_what_comes_before_the_first_heading(self) -> None:
        styles = style("Nazev", name="Title") + style("H", outline(0))
        artifact = read(DocumentXml(p("Annual report", style="Nazev") + p("a") + p("Costs", style="H") + p("b"), styles=styles))
        assert [(block.text, block.level, block.section_path) for block in artifact.blocks] == [
            ("Annual report", 1, ("Annual report",)),
            ("a", 0, ("Annual report",)),
            ("Costs", 1, ("Costs",)),
            ("b", 0, ("Costs",)),
        ]


class TestText:
    def test_signs_in_a_run_are_what_a_reader_sees(self) -> None:
        signs = (
            "<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/><w:t>d so\u00adft</w:t><w:softHyphen/></w:r>"
        )
        assert texts(read(DocumentXml(p(signs)))) == ["a\tb\nc-d soft"]

    def test_symbols_are_what_their_font_shows(self) -> None:
        symbols = "<w:r><w:sym w:font='Symbol' w:char='F061'/><w:sym w:font='Wingdings' w:char='F0FC'/></w:r>"
        assert texts(read(DocumentXml(p(symbols)))) == ["α✓"]

    def test_a_field_shows_its_result_and_not_its_code(self) -> None:
        simple = f'<w:fldSimple w:instr="PAGE">{r("7")}</w:fldSimple>'
        artifact = read(DocumentXml(p("see ", field_of(" REF target ", "chapter 2"), " on ", simple)))
        assert texts(artifact) == ["see chapter 2 on 7"]

    def test_a_field_in_the_code_of_another_is_code(self) -> None:
        inner = field_of("PAGE", "3")
        outer = (
            '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
            f'<w:r><w:instrText>IF </w:instrText></w:r>{inner}<w:r><w:instrText> = 3 "yes"</w:instrText></w:r>'
            '<w:r><w:fldChar w:fldCharType="separate"/></w:r>' + r("yes") + '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
        )
        artifact = read(DocumentXml(p(outer)))
        assert texts(artifact) == ["yes"]
        assert artifact.coverage.words_excluded == (WordCount("field_code", 1),)

    def test_hyperlinks_content_controls_and_smart_tags_are_text(self) -> None:
        link = f'<w:hyperlink r:id="rId1">{r("the site")}</w:hyperlink>'
        control = f"<w:sdt><w:sdtPr><w:alias w:val='x'/></w:sdtPr><w:sdtContent>{r('chosen')}</w:sdtContent></w:sdt>"
        tag = f"<w:smartTag>{r('London')}</w:smartTag>"
        block = f"<w:sdt><w:sdtContent>{p('in a control')}</w:sdtContent></w:sdt>"
        document = DocumentXml(p(link, " ", control, " ", tag) + block, related=[("hyperlink", "https://example.org/")])
        assert texts(read(document)) == ["the site chosen London", "in a control"]

    def test_a_ruby_reading_follows_its_word(self) -> None:
        ruby = f"<w:r><w:ruby><w:rubyPr/><w:rt>{r('とうきょう')}</w:rt><w:rubyBase>{r('東京')}</w:rubyBase></w:ruby></w:r>"
        assert texts(read(DocumentXml(p(ruby, "へ")))) == ["東京(とうきょう)へ"]

    def test_right_to_left_text_stays_in_logical_order(self) -> None:
        embedded = f'<w:bdo w:val="rtl">{r("שלום")}</w:bdo><w:dir w:val="rtl">{r(" עולם")}</w:dir>'
        assert texts(read(DocumentXml(p(embedded, properties="<w:bidi/>")))) == ["שלום עולם"]

    def test_strict_documents_are_read_as_usual_ones(self) -> None:
        document = DocumentXml(p("Title", style="H") + p("text"), styles=style("H", outline(0)))
        assert kinds(read(document, strict=True)) == [(BlockType.HEADING, "Title"), (BlockType.PARAGRAPH, "text")]

    def test_a_document_with_macros_is_read_and_said_to_have_them(self) -> None:
        document = DocumentXml(p("text"), main_type=MACRO_TYPE, parts={"word/vbaProject.bin": b"x"})
        content = document.build()
        artifact = extract(content, content_type="application/vnd.ms-word.document.macroEnabled.12")
        assert texts(artifact) == ["text"]
        assert [warning.code for warning in artifact.warnings] == ["ACTIVE_CONTENT"]

    def test_properties_of_the_file_are_metadata(self) -> None:
        core = '<x xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title> Plans </dc:title><dc:creator>Ann</dc:creator></x>'
        artifact = read(DocumentXml(p("text"), parts={"docProps/core.xml": core}))
        assert (artifact.title, artifact.properties) == ("Plans", {"title": "Plans", "creator": "Ann"})


class TestHidden:
    def test_hidden_text_is_flagged_and_not_mixed_in(self) -> None:
        artifact = read(DocumentXml(p("shown ", r("secret", HIDDEN), "again")))
        assert flags(artifact) == [("shown again", Visibility.VISIBLE), ("secret", Visibility.HIDDEN_TEXT)]

    def test_a_style_hides_and_a_run_may_show_again(self) -> None:
        styles = style("Ghost", rest=f"<w:rPr>{HIDDEN}</w:rPr>") + style("Child", based_on="Ghost")
        artifact = read(DocumentXml(p("gone", r(" back", '<w:vanish w:val="0"/>'), style="Child"), styles=styles))
        assert flags(artifact) == [("back", Visibility.VISIBLE), ("gone", Visibility.HIDDEN_TEXT)]

    def test_a_hidden_row_is_flagged(self) -> None:
        artifact = read(DocumentXml(table(row("a", "b"), row("c", "d", properties="<w:hidden/>"))))
        assert flags(artifact) == [("a\tb", Visibility.VISIBLE), ("c\td", Visibility.HIDDEN_ROW)]


class TestTrackedChanges:
    def test_moved_text_is_told_at_its_new_place(self) -> None:
        gone = inserted("clause", kind="moveFrom")
        artifact = read(DocumentXml(p("first ", gone) + p(inserted("clause", kind="moveTo"))))
        assert flags(artifact) == [
            ("first", Visibility.VISIBLE),
            ("clause", Visibility.DELETED),
            ("clause", Visibility.INSERTED),
        ]

    def test_a_paragraph_whose_end_is_deleted_runs_into_the_next(self) -> None:
        end = "<w:rPr><w:del w:id='1'/></w:rPr>"
        artifact = read(DocumentXml(p("one ", properties=end) + p("two")))
        assert texts(artifact) == ["one two"]
        assert artifact.blocks[0].locator == DocxPlace(BODY, "body/p[1]", "body/p[2]")

    def test_a_deleted_row_stands_apart_and_an_inserted_one_is_read(self) -> None:
        change = "<w:{} w:id='1'/>"
        gone = row(cell(p(deleted("old"))), cell(p(deleted("row"))), properties=change.format("del"))
        artifact = read(DocumentXml(table(row("a", "b"), gone, row("new", "row", properties=change.format("ins")))))
        assert flags(artifact) == [("a\tb\nnew\trow", Visibility.VISIBLE), ("old\trow", Visibility.DELETED)]

    def test_the_original_view_is_the_text_before_its_changes(self) -> None:
        artifact = original(p("The fee is ", deleted("100"), inserted("250"), " euros.") + p(inserted("Added clause.")))
        assert flags(artifact) == [
            ("The fee is 100 euros.", Visibility.VISIBLE),
            ("250", Visibility.INSERTED),
            ("Added clause.", Visibility.INSERTED),
        ]
        assert "as it stood before" in artifact.warnings[0].message

    def test_the_original_view_has_deleted_rows_and_joins_paragraphs_at_an_inserted_end(self) -> None:
        end = "<w:rPr><w:ins w:id='1'/></w:rPr>"
        gone = row("old", "row", properties="<w:del w:id='1'/>")
        new = row("new", "row", properties="<w:ins w:id='1'/>")
        artifact = original(p("one ", properties=end) + p("two") + table(row("a", "b"), gone, new))
        assert flags(artifact) == [
            ("one two", Visibility.VISIBLE),
            ("a\tb\nold\trow", Visibility.VISIBLE),
            ("new\trow", Visibility.INSERTED),
        ]

    def test_the_original_view_has_the_style_and_the_hiding_of_before(self) -> None:
        changed = outline(0) + f"<w:pPrChange w:id='1'><w:pPr>{outline(2)}</w:pPr></w:pPrChange>"
        shown_before = f"{HIDDEN}<w:rPrChange w:id='2'><w:rPr/></w:rPrChange>"
        body = p("Part", properties=changed) + p(r("now gone", shown_before))
        assert [(block.text, block.level) for block in original(body).blocks] == [("Part", 3), ("now gone", 0)]
        assert [block.level for block in read(DocumentXml(body)).blocks] == [1, 0]

    def test_changes_within_an_equation_are_kept_apart(self) -> None:
        letter = "<m:r><m:t>{}</m:t></m:r>"
        body = p("so ", f"<m:oMath>{letter.format('x')}<w:del w:id='1'>{letter.format('y')}</w:del></m:oMath>")
        assert flags(read(DocumentXml(body))) == [("so x", Visibility.VISIBLE), ("y", Visibility.DELETED)]
        assert texts(original(body)) == ["so x y"]


class TestTables:
    def test_spans_by_column_and_row(self) -> None:
        grid = table(
            row(cell("wide", properties='<w:gridSpan w:val="2"/>'), cell("tall", properties='<w:vMerge w:val="restart"/>')),
            row("a", "b", cell(properties="<w:vMerge/>")),
        )
        (block,) = read(DocumentXml(grid)).blocks
        assert block.cells == (
            Cell(0, 0, "wide", column_span=2),
            Cell(0, 2, "tall", row_span=2),
            Cell(1, 0, "a"),
            Cell(1, 1, "b"),
        )
        assert block.text == "wide\t\ttall\na\tb"

    def test_a_table_in_a_cell_follows_the_outer_one(self) -> None:
        grid = table(row("outer", cell("has one", table(row("inner", "cell")), p(""))))
        artifact = read(DocumentXml(grid))
        assert kinds(artifact) == [(BlockType.TABLE, "outer\thas one"), (BlockType.TABLE, "inner\tcell")]
        assert artifact.blocks[1].locator == DocxPlace(BODY, "body/tbl[1]/tr[1]/tc[2]/tbl[1]", "body/tbl[1]/tr[1]/tc[2]/tbl[1]")

    def test_a_table_that_is_data_is_a_typed_dataset(self) -> None:
        artifact = read(DocumentXml(table(row("Item", "Price"), row("Bolt", "1,250.50"), row("Nut", "3.20"))))
        (dataset,) = artifact.datasets
        assert [(column.name, column.type) for column in dataset.columns] == [
            ("Item", ColumnType.STRING),
            ("Price", ColumnType.NUMBER),
        ]
        assert dataset.rows["Price"].to_pylist() == [Decimal("1250.50"), Decimal("3.20")]
        assert artifact.blocks[0].dataset_id == dataset.id

    def test_rows_and_cells_of_a_table_read_back(self) -> None:
        content = DocumentXml(table(row("a", "b"), row("c", "d"))).build()
        for path, text in (("body/tbl[1]/tr[2]", "c\td"), ("body/tbl[1]/tr[1]/tc[2]", "b")):
            assert resolve(content, DocxPlace(BODY, path, path), filename="x.docx") == text

    def test_limits_are_kept(self) -> None:
        wide = DocumentXml(table(row(cell("x", properties='<w:gridSpan w:val="9999"/>'))))
        with pytest.raises(TooManyColumns):
            read(wide)
        long = DocumentXml(table(*[row("x", "y")] * 4))
        with pytest.raises(TooManyRows):
            read(long, limits=Limits(max_rows=3))
        with pytest.raises(TooManyRows):
            read(long, limits=Limits(max_cells=7))
        with pytest.raises(OutputLimit):
            read(DocumentXml(p("far too long")), limits=Limits(max_text_chars=5))


class TestBeside:
    def test_notes_and_comments_follow_what_refers_to_them(self) -> None:
        refers = (
            '<w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:endnoteReference w:id="3"/></w:r>'
            '<w:r><w:commentReference w:id="0"/></w:r>'
        )
        document = DocumentXml(
            p("claim", refers) + p("next"),
            footnotes=f'<w:footnote w:type="separator" w:id="0">{p("---")}</w:footnote>'
            + f'<w:footnote w:id="2">{p("foot")}</w:footnote>',
            endnotes=f'<w:endnote w:id="3">{p("end")}</w:endnote>',
            comments=f'<w:comment w:id="0" w:author="Ann Lee">{p("why?")}</w:comment>',
        )
        artifact = read(document)
        assert kinds(artifact) == [
            (BlockType.PARAGRAPH, "claim"),
            (BlockType.FOOTNOTE, "foot"),
            (BlockType.ENDNOTE, "end"),
            (BlockType.COMMENT, "Ann Lee: why?"),
            (BlockType.PARAGRAPH, "next"),
        ]
        assert artifact.blocks[1].locator == DocxPlace("word/footnotes.xml", "footnote[2]/p[1]", "footnote[2]/p[1]")

    def test_headers_and_footers_are_told_once_and_unshown_ones_flagged(self) -> None:
        section = (
            '<w:sectPr><w:headerReference w:type="default" r:id="rId1"/><w:headerReference w:type="first" r:id="rId2"/>'
            '<w:footerReference w:type="default" r:id="rId3"/></w:sectPr>'
        )
        document = DocumentXml(
            p("text") + section,
            related=[("header", "header1.xml"), ("header", "header2.xml"), ("footer", "footer1.xml")],
            parts={
                "word/header1.xml": part("hdr", p("Report")),
                "word/header2.xml": part("hdr", p("Cover")),
                "word/footer1.xml": part("ftr", p("Page ", field_of("PAGE", "1"))),
            },
        )
        artifact = read(document)
        assert [(block.type, block.text, block.visibility) for block in artifact.blocks] == [
            (BlockType.HEADER, "Report", Visibility.VISIBLE),
            (BlockType.HEADER, "Cover", Visibility.HIDDEN_TEXT),
            (BlockType.PARAGRAPH, "text", Visibility.VISIBLE),
            (BlockType.FOOTER, "Page 1", Visibility.VISIBLE),
        ]

    def test_words_of_charts_and_diagrams(self) -> None:
        chart = (
            f'<c:chartSpace xmlns:c="{CHART}" xmlns:a="{DRAWING}"><c:title><a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:title>'
            "<c:cat><c:strCache><c:pt><c:v>North</c:v></c:pt></c:strCache></c:cat>"
            "<c:val><c:numCache><c:pt><c:v>9</c:v></c:pt></c:numCache></c:val></c:chartSpace>"
        )
        diagram = (
            f'<dgm:dataModel xmlns:dgm="{DIAGRAM}" xmlns:a="{DRAWING}"><dgm:ptLst><dgm:pt><dgm:t>'
            "<a:p><a:r><a:t>Plan</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>"
        )
        document = DocumentXml(
            p(drawn('<c:chart r:id="rId1"/>'), drawn('<dgm:relIds r:dm="rId2"/>')),
            related=[("chart", "charts/chart1.xml"), ("diagramData", "diagrams/data1.xml")],
            parts={"word/charts/chart1.xml": chart, "word/diagrams/data1.xml": diagram},
        )
        assert kinds(read(document)) == [(BlockType.CHART_TEXT, "Sales\nNorth"), (BlockType.DIAGRAM_TEXT, "Plan")]

    def test_a_picture_is_known_by_its_alternative_text_told_once(self) -> None:
        picture = '<pic:pic><pic:nvPicPr><pic:cNvPr id="2" name="x" descr="A red bolt"/></pic:nvPicPr></pic:pic>'
        artifact = read(DocumentXml(p("See ", drawn(picture, description="A red bolt"))))
        assert kinds(artifact) == [(BlockType.PARAGRAPH, "See"), (BlockType.IMAGE_TEXT, "A red bolt")]
        assert [warning.code for warning in artifact.warnings] == ["IMAGE_SKIPPED"]

    def test_equations_are_characters(self) -> None:
        fraction = "<m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f>"
        artifact = read(
            DocumentXml(
                p("mean ", f"<m:oMath>{fraction}</m:oMath>") + p(f"<m:oMathPara><m:oMath>{fraction}</m:oMath></m:oMathPara>")
            )
        )
        assert kinds(artifact) == [(BlockType.PARAGRAPH, "mean (a+b)/2"), (BlockType.EQUATION, "(a+b)/2")]

    def test_another_document_within_is_declared_in_the_ledger(self) -> None:
        artifact = read(DocumentXml(p("text") + '<w:altChunk r:id="rId1"/>', related=[("aFChunk", "chunk.html")]))
        (failed,) = artifact.coverage.failed
        assert (failed.reason, failed.locator) == ("other_document", DocxPlace(BODY, "body/altChunk[1]", "body/altChunk[1]"))
        assert not artifact.coverage.complete

    def test_embedded_files_are_listed(self) -> None:
        artifact = read(DocumentXml(p("text", "<w:r><w:object><o:OLEObject ProgID='Excel.Sheet'/></w:object></w:r>")))
        assert [(warning.code, warning.locator) for warning in artifact.warnings] == [
            ("ACTIVE_CONTENT", DocxPlace(BODY, *["body/p[1]/r[2]/object[1]/OLEObject[1]"] * 2))
        ]


class TestOutcomes:
    def test_a_document_without_text_is_said_to_have_none(self) -> None:
        with pytest.raises(NoText, match="holds no text"):
            read(DocumentXml(p("")))

    def test_a_package_without_a_body_is_malformed(self) -> None:
        with pytest.raises(Malformed):
            read(DocumentXml("", parts={BODY: part("document", "")}))

    def test_a_document_type_is_refused(self) -> None:
        text = f'<!DOCTYPE x [<!ENTITY e "boom">]><w:document {NAMES}><w:body>{p("&e;")}</w:body></w:document>'
        with pytest.raises(XmlDtdForbidden):
            read(DocumentXml("", parts={BODY: text}))

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be"])
    def test_an_entity_bomb_behind_a_long_prologue_is_refused_at_once(self, encoding: str) -> None:
        levels = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 10))
        text = f'<?xml version="1.0"?>{" " * 50_000}<!DOCTYPE x [<!ENTITY e0 "boom">{levels}]><x y="&e9;"/>'
        with pytest.raises(XmlDtdForbidden):
            read(DocumentXml("", parts={BODY: text.encode(encoding)}))

    def test_a_broken_part_beside_the_body_is_put_down_as_failed(self) -> None:
        artifact = read(DocumentXml(p("text"), footnotes="<w:broken>", related=[("comments", "gone.xml")]))
        assert texts(artifact) == ["text"]
        assert {(unit.unit, unit.reason) for unit in artifact.coverage.failed} == {
            ("word/footnotes.xml", "malformed"),
            ("word/gone.xml", "missing_part"),
        }

    def test_a_place_that_is_not_there_is_not_found(self) -> None:
        content = DocumentXml(p("text")).build()
        for place in (DocxPlace(BODY, "body/p[9]", "body/p[9]"), DocxPlace("word/none.xml", "p[1]", "p[1]"), LineSpan(1, 1)):
            with pytest.raises(LocatorNotFound):
                resolve(content, place, filename="x.docx")

    def test_a_package_with_relationships_of_its_own_names_is_read(self) -> None:
        content = DocumentXml(p("text"), parts={"_rels/.rels": relationships([("officeDocument", "/word/document.xml")])}).build()
        assert texts(extract(content, filename="x.docx")) == ["text"]
