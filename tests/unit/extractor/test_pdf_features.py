"""What PDF files say beside the flow of text: tags, pages that fail, attachments, annotations, fields, and other scripts."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.pdfmetrics import registerFont
from reportlab.pdfgen.canvas import Canvas

from artifact.locators import PdfPlace
from artifact.model import BlockType
from extractor_svc.context import ReadContext
from extractor_svc.formats import pdf
from extractor_svc.limits import DEFAULT_LIMITS
from tests.unit.extractor.pdf_files import drawn, lines_at, raw_pdf, read, read_back, stream, texts

FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
PAGE = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] %s /Resources << /Font << /F1 %d 0 R >> %s >> >>"


def text(y: int, words: str) -> bytes:
    return b"BT /F1 12 Tf 72 %d Td (%s) Tj ET " % (y, words.encode())


def one_page(content: bytes, *more: bytes, page: bytes = b"", catalog: bytes = b"") -> bytes:
    """A page of some content; further objects are numbered from 6."""
    return raw_pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R %s >>" % catalog,
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            PAGE % (b"/Contents 4 0 R " + page, 5, b""),
            stream(content),
            FONT,
            *more,
        ]
    )


class TestTags:
    def test_the_structure_of_a_file_names_headings_that_look_like_text(self) -> None:
        marked = b"/%s << /MCID %d >> BDC %sEMC "
        content = marked % (b"Title", 0, text(700, "On dredging")) + marked % (b"P", 1, text(684, "The harbour silts up."))
        content += marked % (b"H2", 2, text(668, "By bucket")) + marked % (b"P", 3, text(652, "Buckets are slow."))
        element = b"<< /Type /StructElem /S /%s /P 7 0 R /Pg 3 0 R /K %d >>"
        names = (b"Title", b"P", b"H2", b"P")
        file = one_page(
            content,
            b"<< /Type /StructTreeRoot /K [7 0 R] /RoleMap << /Title /H1 >>"
            b" /ParentTree << /Nums [0 [8 0 R 9 0 R 10 0 R 11 0 R]] >> >>",
            b"<< /Type /StructElem /S /Document /P 6 0 R /K [8 0 R 9 0 R 10 0 R 11 0 R] >>",
            *(element % (name, number) for number, name in enumerate(names)),
            page=b"/StructParents 0",
            catalog=b"/MarkInfo << /Marked true >> /StructTreeRoot 6 0 R",
        )

        blocks = read(file).blocks

        assert [(block.type, block.level, block.text) for block in blocks] == [
            (BlockType.HEADING, 1, "On dredging"),
            (BlockType.PARAGRAPH, 0, "The harbour silts up."),
            (BlockType.HEADING, 2, "By bucket"),
            (BlockType.PARAGRAPH, 0, "Buckets are slow."),
        ]
        assert blocks[3].section_path == ("On dredging", "By bucket")
        assert [read_back(file, block) for block in blocks] == [block.text for block in blocks]

    def test_a_structure_in_a_circle_does_no_harm(self) -> None:
        file = one_page(
            text(700, "words"),
            b"<< /Type /StructTreeRoot /K [7 0 R] >>",
            b"<< /Type /StructElem /S /Div /K [7 0 R 6 0 R] >>",
            catalog=b"/StructTreeRoot 6 0 R",
        )

        assert texts(read(file)) == ["words"]


class TestPagesThatFail:
    def test_forms_that_draw_one_another_without_end_cost_their_page_alone(self) -> None:
        depth = 40
        form = b"/Type /XObject /Subtype /Form /BBox [0 0 600 700] /Resources << /XObject << /Next %d 0 R >> >>"
        forms = [stream(b"/Next Do /Next Do", form % (9 + i)) for i in range(depth)]
        file = raw_pdf(
            [
                b"<< /Type /Catalog /Pages 2 0 R >>",
                b"<< /Type /Pages /Kids [3 0 R 5 0 R] /Count 2 >>",
                PAGE % (b"/Contents 4 0 R", 7, b"/XObject << /Next 8 0 R >>"),
                stream(b"/Next Do"),
                PAGE % (b"/Contents 6 0 R", 7, b""),
                stream(text(700, "the page after it")),
                FONT,
                *forms,
                stream(text(700, "x"), b"/Type /XObject /Subtype /Form /BBox [0 0 600 700]"),
            ]
        )

        artifact = read(file)

        assert texts(artifact) == ["the page after it"]
        assert [(unit.unit, unit.reason, unit.locator) for unit in artifact.coverage.failed] == [
            ("1", "page_too_complex", PdfPlace(1, 1))
        ]
        assert not artifact.coverage.complete

    @pytest.mark.parametrize("broken", [b"(no page)", b"null", b"[]"])
    def test_a_page_that_is_no_page_is_named_and_the_others_are_read(self, broken: bytes) -> None:
        file = raw_pdf(
            [
                b"<< /Type /Catalog /Pages 2 0 R >>",
                b"<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 >>",
                broken,
                PAGE % (b"/Contents 5 0 R", 6, b""),
                stream(text(700, "the second page")),
                FONT,
            ]
        )

        artifact = read(file)

        assert texts(artifact) == ["the second page"]
        assert [unit.unit for unit in artifact.coverage.failed] == ["1"]
        assert (artifact.coverage.extracted, artifact.coverage.total) == (1, 2)

    def test_pages_past_the_time_limit_are_listed_as_not_read(self) -> None:
        file = drawn(*(lines_at(72, 100, [f"page {i}"]) for i in range(1, 4)))
        limits = replace(DEFAULT_LIMITS, timeout_s=0.2)

        artifact = pdf.read(file, ReadContext("file.pdf", "00", limits=limits, progress=lambda *_: time.sleep(0.2)))

        assert texts(artifact) == ["page 1"]
        assert [(unit.unit, unit.reason) for unit in artifact.coverage.failed] == [("2", "time_limit"), ("3", "time_limit")]
        assert not artifact.coverage.complete


class TestBesideThePage:
    def test_attachments_are_listed_and_not_read(self) -> None:
        names = b"/Names << /EmbeddedFiles << /Names [(plan.csv) 6 0 R (notes.txt) 6 0 R] >> >>"
        file = one_page(
            text(700, "words"),
            b"<< /Type /Filespec /F (plan.csv) /UF (plan.csv) /EF << /F 7 0 R >> >>",
            stream(b"secret,figures", b"/Type /EmbeddedFile"),
            catalog=names,
        )

        artifact = read(file)

        assert set(artifact.properties["attachments"].split(", ")) == {"plan.csv", "notes.txt"}
        assert [warning.code for warning in artifact.warnings] == ["ACTIVE_CONTENT"] * 2
        assert texts(artifact) == ["words"]

    def test_notes_of_highlights_are_comments_and_popups_say_nothing_again(self) -> None:
        note = b"<< /Type /Annot /Subtype /%s /P 3 0 R /Rect [72 695 120 712] %s >>"
        file = one_page(
            text(700, "The harbour silts up."),
            note % (b"Highlight", b"/QuadPoints [72 712 120 712 72 695 120 695] /Contents (Is this so?) /Popup 7 0 R"),
            note % (b"Popup", b"/Parent 6 0 R /Contents (Is this so?)"),
            note % (b"Underline", b"/QuadPoints [72 712 120 712 72 695 120 695]"),
            note % (b"Link", b"/A << /S /URI /URI (https://example.org) >>"),
            page=b"/Annots [6 0 R 7 0 R 8 0 R 9 0 R]",
        )

        artifact = read(file)

        assert [(block.type, block.text) for block in artifact.blocks] == [
            (BlockType.PARAGRAPH, "The harbour silts up."),
            (BlockType.COMMENT, "Is this so?"),
        ]
        assert artifact.warnings == ()

    def test_fields_say_what_was_chosen_written_and_signed(self) -> None:
        field = b"<< /Type /Annot /Subtype /Widget /P 3 0 R /Rect [72 %d 200 %d] /T (%s) %s >>"
        fields = [
            (b"towns", b"/FT /Ch /Ff 2097152 /Opt [(Bern) (Rome) (Oslo)] /V [(Bern) (Oslo)]"),
            (b"size", b"/FT /Ch /Ff 131072 /Opt [[(s) (Small)] [(l) (Large)]] /V (l)"),
            (b"word", b"/FT /Tx /Ff 8192 /V (hidden)"),
            (b"lines", b"/FT /Tx /Ff 4096 /V (first\\nsecond)"),
            (b"empty", b"/FT /Tx /V ()"),
            (b"signature", b"/FT /Sig"),
        ]
        objects = [field % (600 - 30 * i, 620 - 30 * i, name, what) for i, (name, what) in enumerate(fields)]
        refs = b" ".join(b"%d 0 R" % (6 + i) for i in range(len(fields)))
        file = one_page(text(700, "Form"), *objects, page=b"/Annots [%s]" % refs, catalog=b"/AcroForm << /Fields [%s] >>" % refs)

        found = texts(read(file), BlockType.FORM_FIELD)

        assert found == ["towns: Bern, Oslo", "size: Large", "lines: first\nsecond"]

    def test_the_outline_and_the_title_are_the_files_own(self) -> None:
        def page(canvas: Canvas) -> None:
            canvas.setTitle("Harbour report")
            canvas.bookmarkPage("a")
            canvas.addOutlineEntry("On dredging", "a", level=0)
            lines_at(72, 100, ["On dredging"])(canvas)
            lines_at(72, 120, ["The harbour silts up every year, and is dredged in spring."])(canvas)

        artifact = read(drawn(page))

        assert artifact.title == "Harbour report"
        assert [(block.text, block.level) for block in artifact.blocks if block.type is BlockType.HEADING] == [("On dredging", 1)]


class TestScripts:
    def test_soft_hyphens_leave_words_whole(self) -> None:
        file = one_page(b"BT /F1 12 Tf 72 700 Td (the harbour was dred\\255) Tj 0 -14 Td (ged in the spring of the year) Tj ET")

        assert texts(read(file)) == ["the harbour was dredged in the spring of the year"]

    def test_columns_of_vertical_text_are_read_from_the_right(self) -> None:
        registerFont(UnicodeCIDFont("HeiseiMin-W3", isVertical=True))

        def page(canvas: Canvas) -> None:
            canvas.setFont("HeiseiMin-W3", 14)
            canvas.drawString(400, 700, "縦書きの一行目で")
            canvas.drawString(376, 700, "二行目に続く。")

        assert "".join(texts(read(drawn(page)))) == "縦書きの一行目で二行目に続く。"

    def test_text_read_leftwards_keeps_its_order_its_stops_and_its_figures(self) -> None:
        """Drawn from the left, as they are seen: a stop, the second word, a year, the first word."""
        drawn_as = b"(.) Tj (BCDE) Tj ( 2024 ) Tj (FGHI) Tj"
        codes = dict(zip("BCDEFGHI", "םלועםולש", strict=True))
        pairs = "\n".join(f"<{ord(code):02x}> <{ord(letter):04x}>" for code, letter in codes.items())
        mapped = "/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <ff> endcodespacerange"
        mapped += f" {len(codes)} beginbfchar {pairs} endbfchar endcmap end"
        font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>"
        content = b"BT /F2 12 Tf 72 700 Td " + drawn_as + b" ET"
        file = one_page(content, stream(mapped.encode()), font)
        file = file.replace(b"/F1 5 0 R", b"/F2 7 0 R")

        assert texts(read(file)) == ["שלום 2024 עולם."]
