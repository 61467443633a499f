"""In which order a page is read, and what its paragraphs are."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from reportlab.pdfgen.canvas import Canvas

from artifact.locators import PdfPlace
from artifact.model import Artifact, Block, BlockType
from extractor_svc.context import ReadContext
from extractor_svc.formats import pdf
from tests.unit.extractor.pdf_files import drawn, folded, lines_at, raw_pdf, read, read_back, stream, texts, together

LEFT = [
    "The first column tells of the",
    "river and of the people who",
    "lived along it for a thousand",
    "years before the dam came.",
]
RIGHT = [
    "The second column tells of the",
    "dam and of the people who",
    "built it with their own hands",
    "in only three dry summers.",
]
THIRD = ["The third column tells what", "became of the valley after", "the water had covered all of", "its farms and its mills."]


def joined(lines: list[str]) -> str:
    return " ".join(lines)


def of_kind(artifact: Artifact, kind: BlockType) -> list[Block]:
    return [block for block in artifact.blocks if block.type is kind]


def test_three_columns_under_a_heading_and_over_a_footnote() -> None:
    heading = lines_at(60, 80, ["The Valley and the Dam of the Long River in the North"], size=18)
    columns = [lines_at(x, 130, lines, size=9) for x, lines in ((60, LEFT), (230, RIGHT), (400, THIRD))]
    closing = lines_at(60, 230, ["This line runs below all three columns from the left margin to the right one, full."], size=10)

    artifact = read(drawn(together(heading, *columns, closing)))

    assert texts(artifact) == [
        "The Valley and the Dam of the Long River in the North",
        joined(LEFT),
        joined(RIGHT),
        joined(THIRD),
        "This line runs below all three columns from the left margin to the right one, full.",
    ]


def test_columns_whose_lines_do_not_share_rows() -> None:
    artifact = read(drawn(together(lines_at(60, 100, LEFT), lines_at(330, 107, RIGHT))))

    assert texts(artifact) == [joined(LEFT), joined(RIGHT)]


def test_a_sentence_that_goes_on_in_the_next_column_is_one_paragraph() -> None:
    left = [*LEFT[:3], "years before the dam and the"]
    right = ["road came, and with them the", "first visitors from the coast", "who stayed for the summer."]

    artifact = read(drawn(together(lines_at(60, 100, left), lines_at(330, 100, right))))

    assert texts(artifact) == [f"{joined(left)} {joined(right)}"]


def test_a_sentence_that_goes_on_on_the_next_page_is_one_block_of_both() -> None:
    first = lines_at(72, 600, ["The commission met in spring and decided that the inspec-"])
    second = lines_at(72, 120, ["tion of the dam should be repeated every third year."])

    artifact = read(drawn(first, second))

    (block,) = artifact.blocks
    assert (
        block.text == "The commission met in spring and decided that the inspection of the dam should be repeated every third year."
    )
    assert isinstance(block.locator, PdfPlace)
    assert (block.locator.first_page, block.locator.last_page) == (1, 2)


def test_rows_of_labels_and_values_are_read_as_rows() -> None:
    labels = ["Name", "Office", "Phone"]
    values = ["Ada Example", "Harbour Street", "Extension four"]

    artifact = read(drawn(together(lines_at(72, 100, labels), lines_at(200, 100, values))))

    assert joined(texts(artifact)) == "Name Ada Example Office Harbour Street Phone Extension four"


def test_paragraphs_part_at_a_gap_an_indent_and_after_a_short_line() -> None:
    lines = ["The first paragraph is long enough to reach", "the margin and ends here."]
    second = ["The second follows the first one directly and", "then it ends as well."]

    artifact = read(drawn(together(lines_at(72, 100, [*lines, *second]), lines_at(72, 180, ["The third stands apart."]))))

    assert texts(artifact) == [joined(lines), joined(second), "The third stands apart."]


def test_running_headers_and_footers_are_told_by_repetition() -> None:
    def page(number: int, text: str) -> Callable[[Canvas], None]:
        return together(
            lines_at(72, 40, ["Annual Report of the Harbour Office"], size=9),
            lines_at(72, 120, [text]),
            lines_at(300, 760, [f"- {number} -"], size=9),
        )

    said = ["Ships came in greater numbers.", "Cranes were repaired at night.", "Fees rose."]

    artifact = read(drawn(*(page(number, text) for number, text in enumerate(said, 1))))

    assert texts(artifact, BlockType.HEADER) == ["Annual Report of the Harbour Office"] * 3
    assert texts(artifact, BlockType.FOOTER) == ["- 1 -", "- 2 -", "- 3 -"]
    assert texts(artifact, BlockType.PARAGRAPH) == said
    assert all(block.section_path == () for block in artifact.blocks if block.type in (BlockType.HEADER, BlockType.FOOTER))


def test_a_line_that_stands_on_one_page_only_is_no_header() -> None:
    artifact = read(drawn(lines_at(72, 40, ["Once only."]), lines_at(72, 300, ["Text."]), lines_at(72, 300, ["More."])))

    assert texts(artifact, BlockType.HEADER) == []


def test_list_items_have_levels_and_lose_their_bullets() -> None:
    items = together(
        lines_at(72, 100, ["Take with you:"]),
        lines_at(90, 120, ["\u2022 a rope and"]),
        lines_at(100, 134, ["a hook;"]),
        lines_at(108, 150, ["\u2022 in winter, an axe;"]),
        lines_at(90, 166, ["\u2022 a lamp."]),
    )

    artifact = read(drawn(items))

    found = of_kind(artifact, BlockType.LIST_ITEM)
    assert [(block.text, block.level) for block in found] == [("a rope and a hook;", 1), ("in winter, an axe;", 2), ("a lamp.", 1)]


def test_numbered_items_keep_their_numbers() -> None:
    artifact = read(drawn(lines_at(72, 100, ["1. Open the valve.", "2. Wait for the lamp.", "3. Close the valve."])))

    assert texts(artifact, BlockType.LIST_ITEM) == ["1. Open the valve.", "2. Wait for the lamp.", "3. Close the valve."]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Table 3: Yields by year", BlockType.CAPTION),
        ("Figure 2.1 The north gate", BlockType.CAPTION),
        ("Table 3 shows the yields of all the years, and they are discussed below.", BlockType.PARAGRAPH),
    ],
)
def test_captions_are_told_from_sentences_that_name_a_table(text: str, kind: BlockType) -> None:
    artifact = read(drawn(together(lines_at(72, 100, LEFT), lines_at(72, 220, [text]))))

    assert next(block.type for block in artifact.blocks if block.text == text) is kind


def test_small_print_at_the_foot_with_a_sign_is_a_footnote() -> None:
    artifact = read(drawn(together(lines_at(72, 100, LEFT), lines_at(72, 700, ["1 Measured at the old bridge."], size=8))))

    assert texts(artifact, BlockType.FOOTNOTE) == ["1 Measured at the old bridge."]


def test_monospaced_lines_are_code_and_stay_lines() -> None:
    code = lines_at(72, 200, ["for gate in gates:", "close(gate)"], font="Courier", size=10)

    artifact = read(drawn(together(lines_at(72, 100, LEFT), code)))

    assert texts(artifact, BlockType.CODE) == ["for gate in gates:\nclose(gate)"]


def test_a_page_written_sideways_is_read_as_it_is_turned() -> None:
    def sideways(canvas: Canvas) -> None:
        canvas.rotate(90)
        canvas.setFont("Helvetica", 11)
        for i, line in enumerate(LEFT):
            canvas.drawString(100, -100 - 14 * i, line)

    content = drawn(sideways)
    artifact = read(content)

    assert texts(artifact) == [joined(LEFT)]
    (block,) = artifact.blocks
    assert isinstance(block.locator, PdfPlace)
    assert all(box.y1 - box.y0 > box.x1 - box.x0 for box in block.locator.boxes)
    assert read_back(content, block) == joined(LEFT)


def test_text_at_an_angle_is_read_after_the_rest_and_reads_back() -> None:
    def stamp(canvas: Canvas) -> None:
        canvas.saveState()
        canvas.translate(200, 500)
        canvas.rotate(35)
        canvas.setFont("Helvetica", 60)
        canvas.drawString(0, 0, "DRAFT")
        canvas.restoreState()

    content = drawn(together(stamp, lines_at(72, 150, [*LEFT, *RIGHT, *THIRD], leading=24)))
    artifact = read(content)

    assert folded("".join(texts(artifact))).endswith("DRAFT")
    for block in artifact.blocks:
        if block.text != "DRAFT":
            assert folded(read_back(content, block)) == folded(block.text)


def test_printed_page_labels_stand_in_places() -> None:
    catalog = b"<< /Type /Catalog /Pages 2 0 R /PageLabels << /Nums [0 << /S /r /St 4 >> 1 << /S /D /P (A-) >>] >> >>"
    leaf = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 5 0 R /Resources << /Font << /F1 6 0 R >> >> >>"
    content = raw_pdf(
        [
            catalog,
            b"<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 >>",
            leaf,
            leaf,
            stream(b"BT /F1 12 Tf 72 400 Td (One line.) Tj ET"),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        ]
    )

    places = [block.locator for block in read(content).blocks]

    assert [(place.first_page, place.label) for place in places if isinstance(place, PdfPlace)] == [(1, "iv"), (2, "A-1")]


def test_comments_and_free_text_are_read() -> None:
    leaf = (
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >>"
        b" /Annots [6 0 R 7 0 R] >>"
    )
    content = raw_pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            leaf,
            stream(b"BT /F1 12 Tf 72 700 Td (One line.) Tj ET"),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            b"<< /Type /Annot /Subtype /Text /Rect [300 700 320 720] /Contents (Check this figure.) >>",
            b"<< /Type /Annot /Subtype /FreeText /Rect [72 500 300 540] /Contents (Added by hand.) /DA (/Helv 12 Tf 0 g) >>",
        ]
    )
    artifact = read(content)

    assert texts(artifact, BlockType.COMMENT) == ["Check this figure."]
    assert texts(artifact, BlockType.TEXT_BOX) == ["Added by hand."]
    for block in artifact.blocks:
        assert read_back(content, block) == block.text


def test_ligatures_are_expanded_and_kept_as_letters() -> None:
    content = raw_pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
            stream(b"BT /F1 12 Tf 72 700 Td (The o\001ce) Tj ET"),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman /Encoding << /Type /Encoding /Differences [1 /fi] >>"
            b" /ToUnicode 6 0 R >>",
            stream(
                b"/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <ff> endcodespacerange"
                b" 1 beginbfchar <01> <FB03> endbfchar 1 beginbfrange <20> <7e> <0020> endbfrange endcmap end"
            ),
        ]
    )

    assert texts(read(content)) == ["The office"]


def test_a_place_reads_one_line_of_a_paragraph() -> None:
    content = drawn(lines_at(72, 100, LEFT))
    (block,) = read(content).blocks
    assert isinstance(block.locator, PdfPlace)

    second = PdfPlace(1, 1, boxes=block.locator.boxes[1:2])

    assert pdf.resolve(content, second, ReadContext()) == LEFT[1]


def test_short_lines_beside_prose_are_a_column_where_their_rows_drift() -> None:
    side = ["Roles and duties", "kept apart", "Leverage rows", "by permissions", "Protect columns", "by masks"]
    prose = ["This paper tells how access to rows and columns", "is controlled in a database, and by whom it may be"]
    prose += ["granted, in a way that is open to all and clear", "to the people who keep it. It is written for those"]
    prose += ["who plan, build and run such a database, and for", "those who only want to know what it can do."]

    artifact = read(drawn(together(lines_at(40, 101, side, leading=14.3), lines_at(200, 100, prose, leading=12.5))))

    assert joined(prose) in texts(artifact)


def test_labels_beside_texts_of_several_lines_stay_with_them() -> None:
    labels = together(*(lines_at(60, top, [text]) for top, text in ((100, "Length"), (142, "Width"), (184, "Depth"))))
    values = [
        "from the first gate to the last one,",
        "measured along the dam",
        "and rounded",
        "between the banks at high water",
        "and",
    ]
    values += ["never less", "below the sill of the lowest gate,"]

    artifact = read(drawn(together(labels, lines_at(200, 100, values, leading=14))))

    assert texts(artifact)[0].startswith("Length from the first gate")
