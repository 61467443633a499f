"""The links of files: the words they stand on, where they lead as the source writes it, and places that read back."""

from __future__ import annotations

import pytest
from reportlab.pdfgen.canvas import Canvas

from artifact.locators import DocxPlace, HtmlPlace, LineSpan, SheetPlace, SlidePlace
from artifact.model import Artifact
from extractor_svc.extract import extract, resolve
from extractor_svc.limits import Limits
from tests.unit.extractor import documents, presentations, workbooks
from tests.unit.extractor.documents import DocumentXml, deleted, field_of, inserted, p, r
from tests.unit.extractor.pdf_files import drawn
from tests.unit.extractor.presentations import DeckXml, SlideXml
from tests.unit.extractor.workbooks import SheetXml, WorkbookXml

SITE = "https://example.org/a?b=1"


def read(content: bytes, filename: str) -> Artifact:
    """Reads a file; the place of each link with words reads back to a text that has them."""
    artifact = extract(content, filename=filename)
    for link in artifact.links:
        if link.text:
            assert link.text in " ".join(resolve(content, link.locator, filename=filename).split()), link
    return artifact


def told(artifact: Artifact) -> list[tuple[str, str]]:
    return [(link.text, link.target) for link in artifact.links]


class TestHtml:
    def test_anchors_are_links_with_their_block(self) -> None:
        page = f'<h1 id="t">Zoo</h1><p>See <a href="{SITE}">the <b>site</b></a> or <a href="#t">above</a>.</p>'
        artifact = read(page.encode(), "x.html")
        assert told(artifact) == [("the site", SITE), ("above", "#t")]
        assert artifact.links[0].locator == HtmlPlace("html/body/p[1]", "html/body/p[1]")

    def test_a_link_in_a_cell_stands_in_the_cell(self) -> None:
        page = '<table><tr><th>Name<th>Page</tr><tr><td>Ann<td><p><a href="ann.html">home</a></p></tr></table>'
        artifact = read(page.encode(), "x.html")
        assert told(artifact) == [("home", "ann.html")]
        assert resolve(page.encode(), artifact.links[0].locator, filename="x.html") == "home"

    def test_a_picture_stands_for_the_words_of_its_link(self) -> None:
        page = '<p>Us: <a href="/home"><img src="x.png" alt="Logo"></a></p>'
        assert told(read(page.encode(), "x.html")) == [("Logo", "/home")]

    def test_hidden_links_and_anchors_that_lead_nowhere_are_none(self) -> None:
        page = '<p>A<a name="b">B</a><a href="">C</a></p><div style="display:none"><p><a href="/d">D</a></p></div>'
        assert told(read(page.encode(), "x.html")) == []


class TestMarkdown:
    def test_links_inline_by_reference_and_as_autolinks(self) -> None:
        source = f"# [Zoo](zoo.md)\n\nSee [the site]({SITE}), [it][one]\nor <https://a.example>.\n\n[one]: one.md\n"
        artifact = read(source.encode(), "x.md")
        assert [target for _, target in told(artifact)] == ["zoo.md", SITE, "one.md", "https://a.example"]
        assert [link.locator for link in artifact.links] == [LineSpan(1, 1), *[LineSpan(3, 4)] * 3]

    def test_links_show_their_words(self) -> None:
        artifact = extract(b"See [the *big*\n`site`](a.md) and ![a picture](b.png).\n", filename="x.md")
        assert told(artifact) == [("the big site", "a.md")]

    def test_a_link_in_a_table_stands_on_its_row(self) -> None:
        artifact = read(b"| Name | Page |\n|---|---|\n| Ann | [home](ann.md) |\n", "x.md")
        assert [(link.target, link.locator) for link in artifact.links] == [("ann.md", LineSpan(3, 3))]

    def test_anchors_of_html_are_links(self) -> None:
        source = '<div>\n<a class="x" href="a.html?b&amp;c">The <b>page</b></a>\n</div>\n\nAnd <a href=b.html>that</a> one.\n'
        assert told(extract(source.encode(), filename="x.md")) == [("The page", "a.html?b&c"), ("that", "b.html")]

    def test_code_holds_no_links(self) -> None:
        assert told(read(b"Text\n\n```\n[a](b.md)\n```\n\nand `[c](d.md)`\n", "x.md")) == []

    def test_unclosed_anchors_do_not_take_long(self) -> None:
        assert told(extract(b"<div>\n" + b"<a href=x " * 20_000 + b"\n</div>\n\ntext\n", filename="x.md")) == []


class TestDocx:
    def test_hyperlinks_and_places_in_the_file(self) -> None:
        outside = f'<w:hyperlink r:id="rId1" w:anchor="part">{r("the ")}{r("site")}</w:hyperlink>'
        inside = f'<w:hyperlink w:anchor="end">{r("below")}</w:hyperlink>'
        document = DocumentXml(p("See ", outside) + p("or ", inside), related=[("hyperlink", SITE)])
        artifact = read(document.build(), "x.docx")
        assert told(artifact) == [("the site", f"{SITE}#part"), ("below", "#end")]
        assert artifact.links[0].locator == DocxPlace("word/document.xml", "body/p[1]", "body/p[1]")

    def test_fields_that_are_links(self) -> None:
        simple = f'<w:fldSimple w:instr=\' HYPERLINK "{SITE}" \\o "tip" \'>{r("tip of it")}</w:fldSimple>'
        body = p("A ", field_of(' HYPERLINK "a.docx" \\l "part" ', "b")) + p("C ", simple) + p(field_of(" PAGE ", "7"))
        assert told(read(DocumentXml(body).build(), "x.docx")) == [("b", "a.docx#part"), ("tip of it", SITE)]

    def test_links_in_cells_notes_and_margins(self) -> None:
        link = '<w:hyperlink w:anchor="{}">{}</w:hyperlink>'
        grid = documents.table(documents.row(documents.cell(p(link.format("a", r("cell"))))))
        reference = '<w:r><w:footnoteReference w:id="1"/></w:r>'
        notes = f'<w:footnote w:id="1">{p(link.format("b", r("note")))}</w:footnote>'
        document = DocumentXml(grid + p("Text", reference), footnotes=notes)
        assert told(read(document.build(), "x.docx")) == [("cell", "#a"), ("note", "#b")]

    def test_deleted_links_are_none(self) -> None:
        link = f'<w:hyperlink w:anchor="a">{r("gone")}</w:hyperlink>'
        kept = f'<w:hyperlink w:anchor="b">{r("kept")}{deleted(" not")}</w:hyperlink>'
        body = p("Text", inserted(link, kind="del"), inserted(kept))
        assert told(read(DocumentXml(body).build(), "x.docx")) == [("kept", "#b")]


class TestPptx:
    def slide(self, *, shapes: str, related: list[tuple[str, str]]) -> Artifact:
        first = SlideXml(shapes, related=related)
        return read(DeckXml([first, SlideXml(presentations.shape(2, "Two"))]).build(), "x.pptx")

    def linked(self, text: str, relationship: str) -> str:
        return f'<a:r><a:rPr><a:hlinkClick r:id="{relationship}"/></a:rPr><a:t>{text}</a:t></a:r>'

    def test_links_on_runs_lead_outside_and_to_slides(self) -> None:
        words = presentations.paragraph(presentations.run("See ") + self.linked("the ", "rId1") + self.linked("site", "rId1"))
        jump = presentations.paragraph(self.linked("next", "rId2"))
        artifact = self.slide(shapes=presentations.shape(2, words, jump), related=[("hyperlink", SITE), ("slide", "slide2.xml")])
        assert told(artifact) == [("the site", SITE), ("next", "#slide=2")]
        assert [link.locator for link in artifact.links] == [SlidePlace(1, 1, "2/p1"), SlidePlace(1, 1, "2/p2")]

    def test_a_link_on_a_shape_and_in_a_table(self) -> None:
        button = presentations.shape(2, "Go").replace(
            '<p:cNvPr id="2" name="x" />', '<p:cNvPr id="2" name="x"><a:hlinkClick r:id="rId1"/></p:cNvPr>'
        )
        grid = presentations.table([["Name", "Page"], ["Ann", "HOME"]]).replace(
            presentations.run("HOME"), self.linked("home", "rId1")
        )
        artifact = self.slide(shapes=button + presentations.frame(3, grid), related=[("hyperlink", SITE)])
        assert [(link.text, link.target, link.locator) for link in artifact.links] == [
            ("Go", SITE, SlidePlace(1, 1, "2")),
            ("home", SITE, SlidePlace(1, 1, "3/r2")),
        ]


class TestXlsx:
    def test_links_on_cells(self) -> None:
        rows = workbooks.table([["Name", "Page"], ["Ann", "home"], ["Bob", "there"]])
        links = (
            '<hyperlinks><hyperlink ref="B2" r:id="rId1"/><hyperlink ref="B3" location="\'Other\'!A1" display="x"/></hyperlinks>'
        )
        first = SheetXml("S", rows, after=links, related=[("hyperlink", SITE)])
        content = WorkbookXml([first, SheetXml("Other", workbooks.table([["a"]]))]).build()
        artifact = read(content, "x.xlsx")
        assert told(artifact) == [("home", SITE), ("there", "#'Other'!A1")]
        assert artifact.links[0].locator == SheetPlace("S", 2, 2, 2, 2)

    def test_links_of_a_large_sheet(self) -> None:
        rows = workbooks.table([["Name", "Page"], *([f"name {n}", n] for n in range(3000))])
        links = '<hyperlinks><hyperlink ref="A3000" location="S!A1"/></hyperlinks>'
        artifact = read(WorkbookXml([SheetXml("S", rows, after=links)]).build(), "x.xlsx")
        assert told(artifact) == [("name 2998", "#S!A1")]


class TestPdf:
    @pytest.mark.parametrize("turn", [0, 90])
    def test_links_lead_outside_and_to_pages(self, turn: int) -> None:
        def first(canvas: Canvas) -> None:
            canvas.setPageRotation(turn)
            canvas.drawString(72, 500, "See the site for more.")
            before, words = (canvas.stringWidth(text, "Helvetica", 12) for text in ("See ", "the site"))
            canvas.linkURL(SITE, (72 + before, 497, 72 + before + words, 511))
            canvas.drawString(72, 400, "Next page")
            canvas.linkRect("", "second", (70, 397, 140, 412))

        def second(canvas: Canvas) -> None:
            canvas.bookmarkPage("second")
            canvas.drawString(72, 700, "Here it is.")

        artifact = read(drawn(first, second), "x.pdf")
        assert [link.text for link in artifact.links] == ["the site", "Next page"]
        assert artifact.links[0].target == SITE
        assert artifact.links[1].target.startswith("#")


def test_links_are_bounded_and_what_is_left_out_is_told() -> None:
    source = "".join(f"[{n}](p{n}.md)\n\n" for n in range(5)) + f"[long]({'x' * 50})\n"
    artifact = extract(source.encode(), filename="x.md", limits=Limits(max_links=3, max_link_chars=40))
    assert told(artifact) == [("0", "p0.md"), ("1", "p1.md"), ("2", "p2.md")]
    assert [(warning.code, warning.message[:1]) for warning in artifact.warnings] == [("LINKS_LEFT_OUT", "3")]
