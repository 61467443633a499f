"""Cases that PDF tools are known to get wrong (H15 to H20 of the field's list of faults)."""

from __future__ import annotations

from decimal import Decimal

from reportlab.pdfgen.canvas import Canvas

from artifact.locators import PdfPlace, from_json
from artifact.model import ROW_LOCATOR, Artifact, BlockType, Dataset
from tests.unit.extractor.pdf_files import (
    LETTER,
    drawn,
    lines_at,
    picture,
    raw_pdf,
    read,
    ruled,
    stream,
    texts,
    together,
)


def test_h15_columns_are_read_one_after_the_other() -> None:
    left = lines_at(60, 100, ["The north well was", "drilled in spring and", "capped in autumn."])
    right = lines_at(330, 100, ["The south well is", "still open and needs", "a new pump."])

    artifact = read(drawn(together(left, right)))

    text = " ".join(texts(artifact))
    north = text.index("The north well was drilled in spring and capped in autumn.")
    assert north < text.index("The south well is still open and needs a new pump.")


def test_h15_columns_drawn_row_by_row_are_read_one_after_the_other() -> None:
    rows = [
        ("The north well was", "The south well is"),
        ("drilled in spring and", "still open and needs"),
        ("capped in autumn.", "a new pump."),
    ]

    def draw(canvas: Canvas) -> None:
        for i, (left, right) in enumerate(rows):
            canvas.drawString(60, 692 - i * 14, left)
            canvas.drawString(330, 692 - i * 14, right)

    text = " ".join(texts(read(drawn(draw))))

    north = text.index("The north well was drilled in spring and capped in autumn.")
    assert north < text.index("The south well is still open and needs a new pump.")


def test_h16_rotation_is_applied_to_order_and_places() -> None:
    rows = ["A1 B1", "A2 B2", "A3 B3", "A4 B4"]
    upright = b"".join(b"1 0 0 1 72 %d Tm (%s) Tj " % (600 - 30 * i, row.encode()) for i, row in enumerate(rows))
    # On a page shown a quarter turned to the right, text drawn upwards reads upright; shown three quarters, downwards.
    quarter = b"".join(b"0 1 -1 0 %d 72 Tm (%s) Tj " % (192 + 30 * i, row.encode()) for i, row in enumerate(rows))
    three = b"".join(b"0 -1 1 0 %d 700 Tm (%s) Tj " % (420 - 30 * i, row.encode()) for i, row in enumerate(rows))
    artifact = read(_rotated_pages((0, upright), (90, quarter), (270, three)))

    for page, (width, height) in enumerate([(612, 792), (792, 612), (792, 612)], 1):
        blocks = [block for block in artifact.blocks if isinstance(block.locator, PdfPlace) and block.locator.first_page == page]
        assert " ".join(block.text for block in blocks).split() == " ".join(rows).split()
        boxes = [box for block in blocks if isinstance(block.locator, PdfPlace) for box in block.locator.boxes]
        assert len(boxes) == 4
        assert [box.y0 for box in boxes] == sorted(box.y0 for box in boxes)
        assert all(0 <= box.x0 < box.x1 <= width and 0 <= box.y0 < box.y1 <= height for box in boxes)


def test_h17_joined_cells_stand_in_every_row_they_cover() -> None:
    rows = [("Crew", "Person", "Hours"), ("Red", "Ann", "7"), ("", "Ben", "8"), ("Blue", "Cy", "6"), ("", "Dee", "9")]
    artifact = read(drawn(ruled(72, 100, rows, widths=(80, 80, 60), without=[(1, 0), (3, 0)])))

    (dataset,) = artifact.datasets
    assert _column(dataset, "Crew") == ["Red", "Red", "Blue", "Blue"]
    assert _column(dataset, "Person") == ["Ann", "Ben", "Cy", "Dee"]
    assert _column(dataset, "Hours") == [Decimal(7), Decimal(8), Decimal(6), Decimal(9)]
    red = next(cell for cell in _table_cells(artifact) if cell[2] == "Red")
    assert red == (1, 0, "Red", 2, 1)


def test_h18_a_table_over_three_pages_is_one_dataset() -> None:
    header = ("Code", "Amount")
    parts = [range(1, 21), range(21, 41), range(41, 46)]
    pages = [ruled(72, 72, [header, *((f"C{i:03}", str(i)) for i in part)], widths=(90, 90)) for part in parts]

    artifact = read(drawn(*pages))

    (dataset,) = artifact.datasets
    codes = _column(dataset, "Code")
    assert codes == [f"C{i:03}" for i in range(1, 46)]
    assert sum(_column(dataset, "Amount")) == Decimal(1035)
    place = from_json(dataset.rows.column(ROW_LOCATOR).to_pylist()[codes.index("C021")])
    assert isinstance(place, PdfPlace)
    assert (place.first_page, place.last_page) == (2, 2)
    assert [block.type for block in artifact.blocks] == [BlockType.TABLE]
    excluded = {count.reason: count.words for count in artifact.coverage.words_excluded}
    assert excluded == {"repeated_table_header": 4}
    assert artifact.coverage.complete


def test_h19_form_fields_are_read() -> None:
    artifact = read(_form())

    fields = texts(artifact, BlockType.FORM_FIELD)
    assert "name: Ada Example" in fields
    assert "colour: Blue" in fields
    assert "agreed: on" in fields
    assert "sent: off" in fields
    assert all(block.locator.first_page == 1 for block in artifact.blocks if isinstance(block.locator, PdfPlace))
    assert {"Name:", "Agreed:"} <= set(" ".join(texts(artifact)).split())


def test_h20_pages_that_are_pictures_are_listed_as_not_read() -> None:
    words = lines_at(72, 100, ["The tanks were inspected in March and found sound in every respect."])
    whole = picture(0, 0, *LETTER)
    stray = lines_at(300, 400, ["x"])

    artifact = read(drawn(words, picture(100, 300, 300, 60), together(whole, stray)))

    coverage = artifact.coverage
    assert [(unit.unit, unit.reason) for unit in coverage.failed] == [("2", "image_only_page"), ("3", "image_only_page")]
    assert (coverage.extracted, coverage.total) == (1, 3)
    assert coverage.lost == ("ocr",)
    assert not coverage.complete


def _column(dataset: Dataset, name: str) -> list[object]:
    values: list[object] = dataset.rows.column(name).to_pylist()
    return values


def _table_cells(artifact: Artifact) -> list[tuple[int, int, str, int, int]]:
    return [(c.row, c.column, c.text, c.row_span, c.column_span) for block in artifact.blocks for c in block.cells]


def _rotated_pages(*pages: tuple[int, bytes]) -> bytes:
    kids = b" ".join(b"%d 0 R" % (4 + 2 * i) for i in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d /MediaBox [0 0 612 792] >>" % (kids, len(pages)),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for i, (rotation, content) in enumerate(pages):
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /Rotate %d /Contents %d 0 R /Resources << /Font << /F1 3 0 R >> >> >>"
            % (rotation, 5 + 2 * i)
        )
        objects.append(stream(b"BT /F1 12 Tf %s ET" % content))
    return raw_pdf(objects)


def _form() -> bytes:
    """Two printed labels, a text field without an appearance, a box that is on, one that is off, and a choice."""
    text = b"BT /F1 12 Tf 1 0 0 1 72 700 Tm (Name:) Tj 1 0 0 1 72 660 Tm (Agreed:) Tj ET"
    field = b"<< /Type /Annot /Subtype /Widget /P 3 0 R /Rect [%s] /T (%s) %s >>"
    return raw_pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [6 0 R 7 0 R 8 0 R 9 0 R] >> >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >>"
            b" /Annots [6 0 R 7 0 R 8 0 R 9 0 R] >>",
            stream(text),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            field % (b"150 690 300 712", b"name", b"/FT /Tx /V (Ada Example)"),
            field % (b"150 655 165 670", b"agreed", b"/FT /Btn /V /Yes /AS /Yes /AP << /N << /Yes 10 0 R /Off 10 0 R >> >>"),
            field % (b"180 655 195 670", b"sent", b"/FT /Btn /V /Off /AS /Off /AP << /N << /Yes 10 0 R /Off 10 0 R >> >>"),
            field % (b"150 600 300 620", b"colour", b"/FT /Ch /Ff 131072 /Opt [(Red) (Blue)] /V (Blue)"),
            stream(b"", b"/Type /XObject /Subtype /Form /BBox [0 0 15 15]"),
        ]
    )
