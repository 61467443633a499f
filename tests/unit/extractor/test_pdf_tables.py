"""What is a table on a page, what its cells are, and what dataset it makes."""

from __future__ import annotations

import io
from decimal import Decimal

import pytest
from reportlab.lib import colors
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import SimpleDocTemplate, Table, TableStyle

from artifact.locators import PdfPlace, from_json
from artifact.model import ROW_LOCATOR, Artifact, BlockType, ColumnType
from extractor_svc.context import ReadContext
from extractor_svc.errors import TooManyRows
from extractor_svc.formats import pdf
from extractor_svc.limits import Limits
from tests.unit.extractor.pdf_files import drawn, folded, lines_at, read, read_back, ruled, texts, together

ROWS = [("Port", "Ships", "Tons"), ("Aden", "12", "3,400.5"), ("Basra", "7", "1,175.25"), ("Cadiz", "31", "12,000")]


def grid_of(artifact: Artifact) -> list[list[str]]:
    """The texts of the one table's cells, each at its first place."""
    (block,) = [block for block in artifact.blocks if block.type is BlockType.TABLE]
    out = [[""] * (1 + max(cell.column for cell in block.cells)) for _ in range(1 + max(cell.row for cell in block.cells))]
    for cell in block.cells:
        out[cell.row][cell.column] = cell.text
    return out


def styled(rows: list[list[str]], *style: tuple[object, ...]) -> bytes:
    out = io.BytesIO()
    SimpleDocTemplate(out, invariant=1).build([Table(rows, style=TableStyle(list(style)))])
    return out.getvalue()


def test_a_ruled_table_is_a_typed_dataset_with_places() -> None:
    content = drawn(together(lines_at(72, 80, ["Table 1: Ships by port"]), ruled(72, 100, ROWS, widths=(90, 70, 80))))
    artifact = read(content)

    (dataset,) = artifact.datasets
    assert dataset.name == "Table 1: Ships by port"
    assert [(column.name, column.type) for column in dataset.columns] == [
        ("Port", ColumnType.STRING),
        ("Ships", ColumnType.NUMBER),
        ("Tons", ColumnType.NUMBER),
    ]
    assert dataset.rows.column("Ships").to_pylist() == [12, 7, 31]
    assert dataset.rows.column("Tons").to_pylist() == [Decimal("3400.5"), Decimal("1175.25"), Decimal(12000)]
    assert dataset.complete
    places = [from_json(text) for text in dataset.rows.column(ROW_LOCATOR).to_pylist()]
    assert [pdf.resolve(content, place, ReadContext()) for place in places] == [
        "Aden\t12\t3,400.5",
        "Basra\t7\t1,175.25",
        "Cadiz\t31\t12,000",
    ]


def test_words_of_a_table_stand_in_it_alone() -> None:
    artifact = read(drawn(together(lines_at(72, 60, ["Before the table."]), ruled(72, 100, ROWS, widths=(90, 70, 80)))))

    assert [block.type for block in artifact.blocks] == [BlockType.PARAGRAPH, BlockType.TABLE]
    # "Before the table", the header, "Aden 12 3 400 5", "Basra 7 1 175 25" and "Cadiz 31 12 000"
    assert artifact.coverage.words_emitted == 3 + 3 + 5 + 5 + 4


def test_every_block_around_a_table_reads_back() -> None:
    table = ruled(72, 100, ROWS, widths=(90, 70, 80))
    content = drawn(together(lines_at(72, 60, ["Before."]), table, lines_at(72, 300, ["After."])))

    for block in read(content).blocks:
        assert folded(read_back(content, block)) == folded(block.text)


def test_a_table_parted_by_shades_alone_is_found() -> None:
    shades = [("BACKGROUND", (0, row), (-1, row), colors.lightgrey if row % 2 else colors.lightblue) for row in range(4)]
    columns = [("LINEBEFORE", (column, 0), (column, -1), 0.5, colors.black) for column in range(3)]

    artifact = read(styled([list(row) for row in ROWS], *shades, *columns))

    assert grid_of(artifact) == [list(row) for row in ROWS]


def test_cells_over_columns_and_rows_are_kept() -> None:
    rows = [["Port", "Trade", ""], ["", "Ships", "Tons"], ["Aden", "12", "340"], ["Basra", "7", "117"]]
    style = [("GRID", (0, 0), (-1, -1), 0.5, colors.black), ("SPAN", (1, 0), (2, 0)), ("SPAN", (0, 0), (0, 1))]

    artifact = read(styled(rows, *style))

    (block,) = artifact.blocks
    spans = {cell.text: (cell.row_span, cell.column_span) for cell in block.cells if cell.row_span * cell.column_span > 1}
    assert spans == {"Port": (2, 1), "Trade": (1, 2)}
    (dataset,) = artifact.datasets
    assert dataset.header_rows == 2
    assert [column.name for column in dataset.columns] == ["Port", "Trade Ships", "Trade Tons"]
    assert dataset.rows.num_rows == 2


def test_a_table_open_at_its_sides_has_all_its_columns() -> None:
    style = [("LINEBELOW", (0, row), (-1, row), 0.5, colors.black) for row in range(4)]
    style += [("LINEABOVE", (0, 0), (-1, 0), 0.5, colors.black), ("LINEBEFORE", (1, 0), (2, -1), 0.5, colors.black)]

    assert grid_of(read(styled([list(row) for row in ROWS], *style))) == [list(row) for row in ROWS]


def test_rows_that_no_line_parts_are_told_by_their_figures() -> None:
    style = [("BOX", (0, 0), (-1, -1), 0.5, colors.black), ("LINEBELOW", (0, 0), (-1, 0), 0.5, colors.black)]
    style += [("LINEBEFORE", (1, 0), (2, -1), 0.5, colors.black)]
    rows = [list(row) for row in [*ROWS, ("Delos", "3", "88")]]

    assert grid_of(read(styled(rows, *style))) == rows


def test_a_cell_of_several_lines_stays_one() -> None:
    rows = [["Port", "Remark"], ["Aden", "closed in\nwinter and\nspring"], ["Basra", "open"]]

    artifact = read(styled(rows, ("GRID", (0, 0), (-1, -1), 0.5, colors.black)))

    assert grid_of(artifact) == [["Port", "Remark"], ["Aden", "closed in winter and spring"], ["Basra", "open"]]


def test_text_that_runs_over_a_line_is_cut_there() -> None:
    def draw(canvas: Canvas) -> None:
        ruled(72, 100, [("Port", "Ships"), ("", ""), ("Basra", "7")], widths=(48, 60))(canvas)
        canvas.setFont("Courier", 10)
        canvas.drawString(76, 792 - 100 - 18 - 12.5, "Aden    12")  # one string; the line at 120 passes after the fifth letter

    assert grid_of(read(drawn(draw))) == [["Port", "Ships"], ["Aden", "12"], ["Basra", "7"]]


def test_a_box_around_text_is_no_table() -> None:
    def box(canvas: Canvas) -> None:
        canvas.rect(60, 600, 400, 120)
        canvas.rect(60, 560, 400, 40)

    artifact = read(drawn(together(box, lines_at(72, 100, ["Boxed text, first line,", "and its second line."]))))

    assert texts(artifact, BlockType.TABLE) == []


def test_the_grid_of_a_chart_is_no_table() -> None:
    def chart(canvas: Canvas) -> None:
        for i in range(8):
            canvas.line(100, 400 + 30 * i, 400, 400 + 30 * i)
            canvas.line(100 + 40 * i, 400, 100 + 40 * i, 610)
        canvas.drawString(150, 450, "peak")
        canvas.drawString(200, 480, "low")

    assert texts(read(drawn(chart)), BlockType.TABLE) == []


def test_a_form_of_labels_and_values_is_a_table_but_no_dataset() -> None:
    rows = [["Name:", "Ada Example", "Born:", "1815"], ["Town:", "London", "Died:", "1852"]]

    artifact = read(styled(rows, ("GRID", (0, 0), (-1, -1), 0.5, colors.black)))

    assert grid_of(artifact) == rows
    assert artifact.datasets == ()


def test_a_table_continued_without_a_header_goes_on_with_its_data() -> None:
    first = ruled(72, 600, ROWS, widths=(90, 70, 80))
    second = ruled(72, 72, [("Delos", "3", "88"), ("Ephesus", "9", "410")], widths=(90, 70, 80))

    (dataset,) = read(drawn(first, second)).datasets

    assert dataset.rows.column("Port").to_pylist() == ["Aden", "Basra", "Cadiz", "Delos", "Ephesus"]


def test_tables_with_other_headers_stay_apart() -> None:
    other = [("Port", "Wheat", "Oil"), ("Aden", "1", "2")]

    artifact = read(drawn(ruled(72, 600, ROWS, widths=(90, 70, 80)), ruled(72, 72, other, widths=(90, 70, 80))))

    assert [dataset.rows.num_rows for dataset in artifact.datasets] == [3, 1]


def test_text_between_two_pages_of_tables_keeps_them_apart() -> None:
    second = together(lines_at(72, 60, ["Another matter follows here."]), ruled(72, 100, ROWS, widths=(90, 70, 80)))

    assert len(read(drawn(ruled(72, 600, ROWS, widths=(90, 70, 80)), second)).datasets) == 2


def test_columns_of_figures_without_lines_are_a_table() -> None:
    columns = [lines_at(x, 120, [row[c] for row in ROWS]) for c, x in enumerate((72, 200, 300))]
    content = drawn(together(lines_at(72, 60, ["Ships that called in the year:"]), *columns))

    artifact = read(content)

    assert grid_of(artifact) == [list(row) for row in ROWS]
    (dataset,) = artifact.datasets
    assert dataset.rows.column("Ships").to_pylist() == [12, 7, 31]
    for block in artifact.blocks:
        assert folded(read_back(content, block)) == folded(block.text)
    place = from_json(dataset.rows.column(ROW_LOCATOR).to_pylist()[1])
    assert isinstance(place, PdfPlace)
    assert folded(pdf.resolve(content, place, ReadContext())) == "Basra71,175.25"


def test_a_table_lying_on_its_side_is_read_upright() -> None:
    def sideways(canvas: Canvas) -> None:
        canvas.rotate(90)
        canvas.translate(0, -792)
        ruled(72, 100, ROWS, widths=(90, 70, 80))(canvas)

    content = drawn(sideways)
    artifact = read(content)

    assert grid_of(artifact) == [list(row) for row in ROWS]
    assert read_back(content, artifact.blocks[0]) == artifact.blocks[0].text


def test_a_table_past_the_limit_of_rows_is_refused() -> None:
    with pytest.raises(TooManyRows):
        read(drawn(ruled(72, 100, ROWS, widths=(90, 70, 80))), limits=Limits(max_rows=2))
