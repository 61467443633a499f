"""Which paragraphs are headings, and how deep."""

from __future__ import annotations

from collections.abc import Callable

from reportlab.pdfgen.canvas import Canvas

from artifact.model import Artifact, BlockType
from tests.unit.extractor.pdf_files import drawn, lines_at, read, together

BODY = ["The gates were opened at dawn and closed again", "before noon, as on every other day of the year."]
BOLD = "Helvetica-Bold"


def headings(artifact: Artifact) -> list[tuple[str, int]]:
    return [(block.text, block.level) for block in artifact.blocks if block.type is BlockType.HEADING]


def sections(*titles: tuple[str, float, str]) -> Callable[[Canvas], None]:
    """Titles of a size and font, each over a paragraph."""
    parts = []
    for i, (title, size, font) in enumerate(titles):
        top = 80 + i * 90
        parts += [lines_at(72, top, [title], size=size, font=font), lines_at(72, top + 30, BODY)]
    return together(*parts)


def test_larger_text_ranks_by_its_size() -> None:
    artifact = read(drawn(sections(("Gates", 22, BOLD), ("North gate", 15, BOLD), ("South gate", 15, BOLD))))

    assert headings(artifact) == [("Gates", 1), ("North gate", 2), ("South gate", 2)]
    paths = [block.section_path for block in artifact.blocks if block.type is BlockType.PARAGRAPH]
    assert paths == [("Gates",), ("Gates", "North gate"), ("Gates", "South gate")]


def test_bold_text_of_the_same_size_is_a_heading_where_it_stands_alone() -> None:
    artifact = read(drawn(sections(("North gate", 11, BOLD), ("South gate", 11, BOLD))))

    assert headings(artifact) == [("North gate", 1), ("South gate", 1)]


def test_numbers_say_how_deep_a_heading_is() -> None:
    titles = ["1 Gates", "1.1 North gate", "1.1.1 Hinges", "2 Locks"]

    artifact = read(drawn(sections(*((title, 14, BOLD) for title in titles))))

    assert headings(artifact) == [("1 Gates", 1), ("1.1 North gate", 2), ("1.1.1 Hinges", 3), ("2 Locks", 1)]


def test_the_outline_names_headings_that_look_like_text() -> None:
    def outlined(canvas: Canvas) -> None:
        canvas.bookmarkPage("p1")
        canvas.addOutlineEntry("Gates", "p1", level=0)
        canvas.bookmarkPage("p2")
        canvas.addOutlineEntry("North gate", "p2", level=1)
        sections(("Gates", 11, "Helvetica"), ("North gate", 11, "Helvetica"), ("no heading here", 11, "Helvetica"))(canvas)

    assert headings(read(drawn(outlined))) == [("Gates", 1), ("North gate", 2)]


def test_a_sentence_in_bold_is_no_heading() -> None:
    artifact = read(drawn(sections(("Never open the gate when the water is high.", 11, BOLD), ("North gate", 11, BOLD))))

    assert headings(artifact) == [("North gate", 1)]


def test_lines_of_a_list_in_bold_are_no_headings() -> None:
    lines = together(lines_at(72, 80, ["Ropes"], font=BOLD), lines_at(72, 98, ["Hooks"], font=BOLD), lines_at(72, 140, BODY * 4))

    assert ("Ropes", 1) not in headings(read(drawn(lines)))


def test_a_heading_over_two_lines_is_one() -> None:
    title = lines_at(72, 80, ["The long history of the gates", "and of their keepers"], size=20, leading=24, font=BOLD)

    artifact = read(drawn(together(title, lines_at(72, 160, BODY))))

    assert headings(artifact) == [("The long history of the gates and of their keepers", 1)]


def test_a_title_in_large_type_is_one_though_text_stands_beside_its_second_line() -> None:
    title = lines_at(40, 110, ["Row and Column Access Control and", "Support in a Database"], size=30, leading=32, font=BOLD)
    names = lines_at(500, 140, ["Anna Berg", "Carl Dorn", "Emil Frost", "Gina Holm"], size=10)

    artifact = read(drawn(together(title, names, lines_at(40, 300, BODY, size=10), lines_at(40, 340, BODY, size=10))))

    assert headings(artifact) == [("Row and Column Access Control and Support in a Database", 1)]


def test_lines_of_syntax_in_larger_type_are_no_headings() -> None:
    artifact = read(drawn(sections(("Syntax", 15, BOLD), ("CREATE PERMISSION <name>", 15, BOLD), ("open(gate)", 15, BOLD))))

    assert headings(artifact) == [("Syntax", 1)]


def test_a_numbered_heading_may_begin_with_a_quotation_mark() -> None:
    artifact = read(
        drawn(sections(('1.1 "Open gates" and their keepers', 11, "Times-Bold"), ("1.2 Closed gates", 11, "Times-Bold")))
    )

    assert [text for text, _ in headings(artifact)] == ['1.1 "Open gates" and their keepers', "1.2 Closed gates"]
