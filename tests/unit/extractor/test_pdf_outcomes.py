"""What damaged, locked, hostile and empty PDF files come to."""

from __future__ import annotations

import io
import random
import zlib
from collections.abc import Callable

import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from artifact.locators import LineSpan, PageBox, PdfPlace
from artifact.model import BlockType, Visibility
from extractor_svc.context import ReadContext
from extractor_svc.errors import DecompressionLimit, LocatorNotFound, Malformed, NoText, OutputLimit, PasswordRequired
from extractor_svc.formats import pdf
from extractor_svc.limits import DEFAULT_LIMITS, Limits
from tests.unit.extractor.pdf_files import LETTER, drawn, lines_at, picture, raw_pdf, read, stream, texts, together

SENTENCE = "The valve was replaced on Monday and tested under full load."
PAGE_TREE = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"
FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
CONTENT = stream(b"BT /F1 12 Tf 72 700 Td (" + SENTENCE.encode() + b") Tj ET")


def page(extra: bytes = b"", *, box: bytes = b"0 0 612 792") -> bytes:
    return b"<< /Type /Page /Parent 2 0 R /MediaBox [%s] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> %s >>" % (
        box,
        extra,
    )


def test_a_locked_file_asks_for_its_password_and_opens_with_it() -> None:
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=LETTER, encrypt=StandardEncryption("open sesame", ownerPassword="owner", strength=128))
    canvas.drawString(72, 700, SENTENCE)
    canvas.save()

    for wrong in ("", "open says me"):
        with pytest.raises(PasswordRequired) as refused:
            read(out.getvalue(), password=wrong)
        assert refused.value.code_reason == "PASSWORD_REQUIRED"
    assert texts(read(out.getvalue(), password="open sesame")) == [SENTENCE]


def test_a_truncated_file_is_repaired_and_says_so() -> None:
    whole = drawn(lines_at(72, 100, [SENTENCE]))

    artifact = read(whole[: whole.rindex(b"xref")])

    assert texts(artifact) == [SENTENCE]
    assert [warning.code for warning in artifact.warnings] == ["REPAIRED"]


def test_a_file_truncated_before_its_text_is_malformed() -> None:
    whole = raw_pdf([CATALOG, PAGE_TREE, page(), CONTENT, FONT])

    with pytest.raises(Malformed):
        read(whole[: whole.index(b"4 0 obj")])


@pytest.mark.parametrize("seed", range(8))
def test_random_bytes_behind_the_magic_are_malformed(seed: int) -> None:
    with pytest.raises(Malformed):
        read(b"%PDF-1.7\n" + random.Random(seed).randbytes(4_000))


def test_a_page_count_that_lies_is_malformed() -> None:
    lying = b"<< /Type /Pages /Kids [3 0 R] /Count 100000000 >>"

    with pytest.raises(Malformed):
        read(raw_pdf([CATALOG, lying, page(), CONTENT, FONT]))


def test_a_page_tree_in_a_circle_is_malformed() -> None:
    circle = b"<< /Type /Pages /Kids [3 0 R 2 0 R] /Count 2 >>"

    with pytest.raises(Malformed):
        read(raw_pdf([CATALOG, circle, page(), CONTENT, FONT]))


def test_an_empty_branch_and_kids_in_an_object_of_their_own_are_sound() -> None:
    tree = b"<< /Type /Pages /Kids 6 0 R /Count 1 >>"
    empty = b"<< /Type /Pages /Parent 2 0 R /Kids [] /Count 0 >>"

    assert texts(read(raw_pdf([CATALOG, tree, page(), CONTENT, FONT, b"[7 0 R 3 0 R]", empty]))) == [SENTENCE]


def test_an_outline_in_a_circle_does_no_harm() -> None:
    catalog = b"<< /Type /Catalog /Pages 2 0 R /Outlines 6 0 R >>"
    outline = b"<< /Type /Outlines /First 7 0 R /Last 7 0 R /Count 1 >>"
    entry = b"<< /Title (Valves) /Parent 6 0 R /Next 7 0 R /First 7 0 R /Dest [3 0 R /Fit] >>"

    assert texts(read(raw_pdf([catalog, PAGE_TREE, page(), CONTENT, FONT, outline, entry]))) == [SENTENCE]


def test_a_form_that_draws_itself_does_no_harm() -> None:
    resources = b"/Resources << /Font << /F1 5 0 R >> /XObject << /X 6 0 R >> >>"
    content = stream(b"BT /F1 12 Tf 72 700 Td (" + SENTENCE.encode() + b") Tj ET /X Do")
    form = stream(b"/X Do", b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 6 0 R >> >>")
    body = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R %s >>" % resources

    assert texts(read(raw_pdf([CATALOG, PAGE_TREE, body, content, FONT, form]))) == [SENTENCE]


@pytest.mark.parametrize("box", [b"0 0 900000000 900000000", b"-99999 -99999 99999 99999", b"0 0 0 0", b"612 792 0 0"])
def test_an_absurd_page_size_does_no_harm(box: bytes) -> None:
    assert texts(read(raw_pdf([CATALOG, PAGE_TREE, page(box=box), CONTENT, FONT]))) == [SENTENCE]


def test_scripts_launches_and_attachments_are_named_and_left_alone() -> None:
    catalog = (
        b"<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /JavaScript /JS (app.alert\\(1\\)) >>"
        b" /Names << /EmbeddedFiles << /Names [(a) 7 0 R] >> >> >>"
    )
    link = b"<< /Type /Annot /Subtype /Link /Rect [72 690 200 712] /A << /S /Launch /F (calc.exe) >> >>"
    attached = b"<< /Type /Filespec /F (../../x) /UF (../../x) /EF << /F 8 0 R >> >>"
    file = stream(b"payload", b"/Type /EmbeddedFile")
    artifact = read(raw_pdf([catalog, PAGE_TREE, page(b"/Annots [6 0 R]"), CONTENT, FONT, link, attached, file]))

    assert texts(artifact) == [SENTENCE]
    assert {warning.code for warning in artifact.warnings} == {"ACTIVE_CONTENT"}
    said = " ".join(warning.message for warning in artifact.warnings)
    assert "a script" in said
    assert "a program to launch" in said
    assert "an attachment" in said
    launch = next(warning for warning in artifact.warnings if "launch" in warning.message)
    assert launch.locator == PdfPlace(1, 1)


def test_a_link_to_a_web_page_is_no_active_content() -> None:
    link = b"<< /Type /Annot /Subtype /Link /Rect [72 690 200 712] /A << /S /URI /URI (https://example.org) >> >>"

    assert read(raw_pdf([CATALOG, PAGE_TREE, page(b"/Annots [6 0 R]"), CONTENT, FONT, link])).warnings == ()


def test_content_that_inflates_out_of_proportion_is_refused() -> None:
    packed = zlib.compress(b" " * 40_000_000, 9)
    content = stream(packed, b"/Filter /FlateDecode")

    with pytest.raises(DecompressionLimit):
        read(raw_pdf([CATALOG, PAGE_TREE, page(), content, FONT]))


def test_content_packed_twice_is_measured_as_it_comes_out() -> None:
    packed = zlib.compress(zlib.compress(b" " * 40_000_000, 9), 9)
    content = stream(packed, b"/Filter [/FlateDecode /FlateDecode]")

    with pytest.raises(DecompressionLimit):
        read(raw_pdf([CATALOG, PAGE_TREE, page(), content, FONT]))


def test_a_picture_too_large_to_decode_is_named_and_the_text_kept() -> None:
    resources = b"/Resources << /Font << /F1 5 0 R >> /XObject << /Im 6 0 R >> >>"
    content = stream(b"q 500 0 0 500 50 50 cm /Im Do Q BT /F1 12 Tf 72 700 Td (" + SENTENCE.encode() + b") Tj ET")
    body = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R %s >>" % resources
    image = stream(
        zlib.compress(b"\0" * 1000),
        b"/Type /XObject /Subtype /Image /Width 60000 /Height 60000 /ColorSpace /DeviceGray /BitsPerComponent 8"
        b" /Filter /FlateDecode",
    )

    artifact = read(raw_pdf([CATALOG, PAGE_TREE, body, content, FONT, image]))

    assert texts(artifact) == [SENTENCE]
    assert [warning.code for warning in artifact.warnings] == ["IMAGE_SKIPPED"]


def test_pages_of_pictures_alone_hold_no_text() -> None:
    with pytest.raises(NoText, match="OCR"):
        read(drawn(picture(0, 0, *LETTER), picture(72, 72, 400, 300)))


def test_blank_pages_alone_hold_no_text() -> None:
    with pytest.raises(NoText):
        read(drawn(lambda canvas: None, lambda canvas: None))


def test_a_blank_page_among_others_is_read() -> None:
    artifact = read(drawn(lines_at(72, 100, [SENTENCE]), lambda canvas: None))

    assert (artifact.coverage.extracted, artifact.coverage.total) == (2, 2)
    assert artifact.coverage.complete


@pytest.mark.parametrize(
    "limits",
    [Limits(max_pages=2), Limits(max_blocks=2), Limits(max_text_chars=100)],
)
def test_a_file_past_a_limit_is_refused(limits: Limits) -> None:
    with pytest.raises(OutputLimit):
        read(drawn(*[lines_at(72, 100, [SENTENCE])] * 3), limits=limits)


def test_every_page_is_reported() -> None:
    told: list[tuple[str, int, int]] = []
    context = ReadContext(progress=lambda unit, done, total: told.append((unit, done, total)))

    pdf.read(drawn(*[lines_at(72, 100, [SENTENCE])] * 3), context)

    assert told == [("page", 1, 3), ("page", 2, 3), ("page", 3, 3)]


def test_a_long_file_shows_signs_of_life_while_it_is_put_in_order() -> None:
    told: list[tuple[str, int, int]] = []
    context = ReadContext(progress=lambda unit, done, total: told.append((unit, done, total)))

    pdf.read(drawn(*[lines_at(72, 100, [SENTENCE])] * 100), context)

    assert told[:100] == [("page", number, 100) for number in range(1, 101)]
    assert told[100:] == [("page", 100, 100)] * 2


@pytest.mark.parametrize(
    "place",
    [LineSpan(1, 2), PdfPlace(2, 2), PdfPlace(0, 0), PdfPlace(1, 1, boxes=(PageBox(7, 0, 0, 1, 1),)), PdfPlace(1, 0)],
)
def test_a_place_that_is_not_there_is_not_found(place: PdfPlace | LineSpan) -> None:
    with pytest.raises(LocatorNotFound):
        pdf.resolve(drawn(lines_at(72, 100, [SENTENCE])), place, ReadContext())


def test_a_place_without_boxes_reads_the_whole_page() -> None:
    content = drawn(lines_at(72, 100, [SENTENCE]), lines_at(72, 100, ["Second page."]))

    assert pdf.resolve(content, PdfPlace(1, 1), ReadContext()) == SENTENCE
    assert pdf.resolve(content, PdfPlace(1, 2), ReadContext()) == f"{SENTENCE}\nSecond page."


def test_text_drawn_invisibly_over_a_picture_is_what_was_read_from_it() -> None:
    scanned = together(picture(0, 0, *LETTER), _invisible(SENTENCE))

    artifact = read(drawn(scanned))

    (block,) = artifact.blocks
    assert (block.text, block.ocr, block.visibility) == (SENTENCE, True, Visibility.VISIBLE)
    assert artifact.coverage.complete


def test_text_drawn_invisibly_on_paper_is_hidden() -> None:
    artifact = read(drawn(together(lines_at(72, 300, ["What a reader sees."]), _invisible(SENTENCE))))

    hidden = [block for block in artifact.blocks if block.visibility is Visibility.HIDDEN_TEXT]
    assert [block.text for block in hidden] == [SENTENCE]
    assert not hidden[0].ocr


def test_text_outside_the_page_is_counted_and_left_out() -> None:
    artifact = read(drawn(together(lines_at(72, 100, [SENTENCE]), lines_at(900, 100, ["four words out here"]))))

    assert texts(artifact) == [SENTENCE]
    assert [(count.reason, count.words) for count in artifact.coverage.words_excluded] == [("off_page", 4)]


def test_text_drawn_twice_on_one_place_is_read_once() -> None:
    artifact = read(drawn(together(lines_at(72, 100, [SENTENCE]), lines_at(72, 100, [SENTENCE]))))

    assert texts(artifact) == [SENTENCE]
    assert [(count.reason, count.words) for count in artifact.coverage.words_excluded] == [("overprinted", 11)]


def test_words_add_up() -> None:
    artifact = read(drawn(lines_at(72, 100, [SENTENCE])))

    assert artifact.coverage.words_emitted == 11
    assert [block.type for block in artifact.blocks] == [BlockType.PARAGRAPH]
    assert artifact.parser.startswith("loom-pdf/1 mupdf/1.28.2")
    assert DEFAULT_LIMITS.max_pages == 5_000


def _invisible(text: str) -> Callable[[Canvas], None]:
    def draw(canvas: Canvas) -> None:
        drawing = canvas.beginText(72, 692)
        drawing.setFont("Helvetica", 11)
        drawing.setTextRenderMode(3)
        drawing.textLine(text)
        canvas.drawText(drawing)

    return draw
