"""Tables without lines: found by columns that hold, joined over pages, and told from prose and lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal

import pytest
from reportlab.pdfgen.canvas import Canvas

from artifact.locators import PdfPlace, from_json
from artifact.model import ROW_LOCATOR, Artifact, BlockType, Dataset
from tests.unit.extractor.pdf_files import LETTER, drawn, folded, lines_at, read, read_back, texts, together

COLUMNS = (72.0, 220.0, 300.0, 380.0)


def rows_at(
    top: float,
    rows: Sequence[Sequence[str]],
    *,
    columns: Sequence[float] = COLUMNS,
    leading: float = 16,
    bold_rows: int = 0,
) -> Callable[[Canvas], None]:
    """Draws rows of texts at columns; an empty text leaves its place empty."""

    def draw(canvas: Canvas) -> None:
        for r, row in enumerate(rows):
            canvas.setFont("Helvetica-Bold" if r < bold_rows else "Helvetica", 10)
            for x, text in zip(columns, row, strict=True):
                if text:
                    canvas.drawString(x, LETTER[1] - top - r * leading, text)

    return draw


def text_at(x: float, top: float, text: str) -> Callable[[Canvas], None]:
    return lines_at(x, top, [text], size=10)


def column(dataset: Dataset, name: str) -> list[object]:
    values: list[object] = dataset.rows.column(name).to_pylist()
    return values


def spans(artifact: Artifact) -> list[tuple[int, int, str, int]]:
    return [(c.row, c.column, c.text, c.column_span) for b in artifact.blocks for c in b.cells if c.column_span > 1]


def test_a_header_stands_over_the_columns_it_reaches_over() -> None:
    rows = [
        ("Region", "Men", "Women", "All"),
        ("North", "1.5", "2.5", "4.0"),
        ("South", "3.5", "4.5", "8.0"),
        ("East", "5", "6", "11"),
    ]
    head = text_at(215, 100, "Employed persons here")

    artifact = read(drawn(together(head, rows_at(116, rows))))

    (dataset,) = artifact.datasets
    assert [c.name for c in dataset.columns] == ["Region", "Employed persons here Men", "Employed persons here Women", "All"]
    assert spans(artifact) == [(0, 1, "Employed persons here", 2)]
    assert column(dataset, "All") == [Decimal("4.0"), Decimal("8.0"), Decimal("11.0")]


def test_a_title_among_the_rows_covers_the_columns_it_reaches_over() -> None:
    rows = [("Item", "2019", "2020", "2021"), ("Ash", "1", "2", "3"), ("Oak", "4", "5", "6"), ("Elm", "7", "8", "9")]
    later = [("Fir", "10", "11", "12"), ("Yew", "13", "14", "15"), ("Box", "16", "17", "18")]
    title = text_at(72, 164, "Needles, and what is left of them in")

    artifact = read(drawn(together(rows_at(100, rows), title, rows_at(180, later))))

    (dataset,) = artifact.datasets
    assert column(dataset, "2021") == [Decimal(n) if n else None for n in (3, 6, 9, 0, 12, 15, 18)]
    assert spans(artifact) == [(4, 0, "Needles, and what is left of them in", 2)]


def test_figures_drawn_as_one_text_are_parted_by_the_columns_of_the_other_rows() -> None:
    columns = (72.0, 220.0, 254.0)
    rows = [("Item", "In", "Out"), ("Ash", "12.5", "14.5"), ("Oak", "22.5", "24.5"), ("Elm", "32.5", "34.5")]
    joined = together(text_at(72, 164, "Fir"), text_at(220, 164, "(42.5)  44.5"), text_at(72, 180, "Yew"), text_at(220, 180, "5.5"))

    (dataset,) = read(drawn(together(rows_at(100, rows, columns=columns), joined))).datasets

    assert column(dataset, "In") == [Decimal(n) for n in ("12.5", "22.5", "32.5", "-42.5", "5.5")]
    assert column(dataset, "Out") == [*(Decimal(n) for n in ("14.5", "24.5", "34.5", "44.5")), None]


def test_lines_that_go_on_inside_a_cell_belong_to_its_row() -> None:
    rows = [
        ("Post", "Note", "Paid", "Left"),
        ("Travel", "to the", "7", "1"),
        ("Rent", "hall", "8", "2"),
        ("Food", "soup", "9", "3"),
    ]
    more = text_at(220, 110 + 26, "north")

    artifact = read(drawn(together(rows_at(100, rows, leading=26), more)))

    (dataset,) = artifact.datasets
    assert column(dataset, "Note") == ["to the north", "hall", "soup"]


def test_crosses_make_columns_as_figures_do() -> None:
    rows = [
        ("Right", "Admin", "Editor", "Guest"),
        ("Read", "X", "X", "X"),
        ("Write", "X", "X", ""),
        ("Delete", "X", "", ""),
        ("Grant", "X", "", ""),
    ]

    (block,) = [b for b in read(drawn(rows_at(100, rows))).blocks if b.type is BlockType.TABLE]

    assert block.text.split("\n")[2] == "Write\tX\tX\t"


def test_words_below_a_bold_row_that_names_every_column_are_a_table() -> None:
    rows = [
        ("Code", "Name", "Town", "Kind"),
        ("a1", "Ash", "Bern", "tree"),
        ("b2", "Oak", "Rome", "tree"),
        ("c3", "Yew", "Oslo", "bush"),
    ]

    assert [b.type for b in read(drawn(rows_at(100, rows, bold_rows=1))).blocks] == [BlockType.TABLE]
    assert BlockType.TABLE not in {b.type for b in read(drawn(rows_at(100, rows))).blocks}


PAGES = [
    [(f"Item {i}", str(i), f"{i}.5", str(i * 10)) for i in range(1, 11)],
    [(f"Item {i}", str(i), f"{i}.5", str(i * 10)) for i in range(11, 16)],
]
HEADER = ("Name", "Count", "Rate", "Sum")


@pytest.mark.parametrize("repeated", [True, False])
def test_a_table_goes_on_over_pages(repeated: bool) -> None:
    second = [HEADER, *PAGES[1]] if repeated else PAGES[1]

    artifact = read(drawn(rows_at(100, [HEADER, *PAGES[0]]), rows_at(72, second)))

    (dataset,) = artifact.datasets
    assert column(dataset, "Count") == [Decimal(i) for i in range(1, 16)]
    assert sum(Decimal(str(value)) for value in column(dataset, "Sum")) == Decimal(1200)
    places = [from_json(text) for text in dataset.rows.column(ROW_LOCATOR).to_pylist()]
    assert [place.first_page for place in places if isinstance(place, PdfPlace)] == [1] * 10 + [2] * 5
    assert [block.type for block in artifact.blocks] == [BlockType.TABLE]
    assert {count.reason: count.words for count in artifact.coverage.words_excluded} == (
        {"repeated_table_header": 4} if repeated else {}
    )


def test_rows_of_a_table_without_lines_read_back() -> None:
    content = drawn(rows_at(100, [HEADER, *PAGES[0]]), rows_at(72, PAGES[1]))

    (block,) = read(content).blocks

    assert folded(read_back(content, block)) == folded(block.text)


def test_prose_in_columns_and_lists_of_names_are_no_tables() -> None:
    words = ["the", "river", "rose", "above", "its", "banks", "in", "spring", "and", "took", "our", "bridge", "with", "it"]
    prose = [" ".join(words[i % 9 : i % 9 + 6]) for i in range(12)]
    names = [
        ("Anna", "Bert", "Carl", "Dora"),
        ("Emil", "Fred", "Gina", "Hans"),
        ("Ida", "Jan", "Karl", "Lena"),
        ("Max", "Nora", "Otto", "Paul"),
    ]
    columns = together(*(lines_at(x, 100, prose, size=9) for x in (60, 240, 420)))

    artifact = read(drawn(together(columns, rows_at(400, names))))

    assert BlockType.TABLE not in {block.type for block in artifact.blocks}
    assert not artifact.datasets


def test_a_list_of_contents_is_no_table() -> None:
    entries = [(f"{i}. Chapter about the river", str(i * 7)) for i in range(1, 8)]
    draw = together(*(together(text_at(72, 100 + 16 * i, a), text_at(500, 100 + 16 * i, b)) for i, (a, b) in enumerate(entries)))

    artifact = read(drawn(draw))

    assert "1. Chapter about the river" in texts(artifact)[0]
    assert not artifact.datasets


def test_rows_in_one_box_below_a_ruled_header_stand_in_its_columns() -> None:
    edges = (72.0, 150.0, 400.0, 480.0)

    def lines(canvas: Canvas) -> None:
        for edge in edges:
            canvas.line(edge, 692, edge, 672)
        for edge in (edges[0], edges[-1]):
            canvas.line(edge, 672, edge, 540)
        for y in (692, 672, 540):
            canvas.line(edges[0], y, edges[-1], y)

    first = rows_at(113, [("Code", "What", "Paid")], columns=(76, 154, 404))
    body = [("A1", "Staff travel", "1.50"), ("", "by train to the capital and back again, with two nights in a small inn", "")]
    body += [("A2", "Staff travel", "2.50"), ("", "by bus", ""), ("A3", "Rent", "4.00"), ("", "", ""), ("A4", "Food", "8.00")]

    (dataset,) = read(drawn(together(lines, first, rows_at(132, body, columns=(76, 154, 430), leading=14)))).datasets

    assert column(dataset, "Code") == ["A1", "A2", "A3", "A4"]
    assert column(dataset, "What")[1] == "Staff travel by bus"
    assert column(dataset, "Paid") == [Decimal("1.50"), Decimal("2.50"), Decimal("4.00"), Decimal("8.00")]
