"""Tables of pages: spans, captions, head and foot, tables in cells, tables that only arrange the page, and datasets."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from artifact.locators import HtmlPlace, from_json
from artifact.model import ROW_LOCATOR, Artifact, Block, BlockType, Cell
from extractor_svc.context import ReadContext
from extractor_svc.extract import extract, resolve
from extractor_svc.formats import html
from extractor_svc.limits import Limits


def read(markup: str) -> Artifact:
    return extract(markup.encode(), filename="page.html")


def table(markup: str) -> Block:
    (found,) = [block for block in read(markup).blocks if block.type is BlockType.TABLE]
    return found


def rows(artifact: Artifact) -> list[dict[str, object]]:
    (dataset,) = artifact.datasets
    return [{name: row[name] for name in row if not name.startswith("_")} for row in dataset.rows.to_pylist()]


class TestFieldFaults:
    def test_h29_layout_of_the_source_and_sloppy_markup_are_no_structure(self) -> None:
        artifact = read(
            "<p>The pump\n   was <a href=x>checked\n twice</a> in\nMay.</p>"
            "<a name=top><b>Stock</b><br><table><tr><td>Part<td>Qty<tr><td>Nut<td>4</table>"
        )
        assert [(block.type, block.text) for block in artifact.blocks] == [
            (BlockType.PARAGRAPH, "The pump was checked twice in May."),
            (BlockType.PARAGRAPH, "Stock"),
            (BlockType.TABLE, "Part\tQty\nNut\t4"),
        ]
        assert rows(artifact) == [{"Part": "Nut", "Qty": Decimal(4)}]


class TestGrid:
    def test_cells_stand_where_spans_leave_room(self) -> None:
        found = table("<table><tr><th rowspan=2>a<th colspan=2>b<tr><th>c<th>d<tr><td>e<td rowspan=0>f<td>g<tr><td>h<td>i</table>")
        assert found.cells == (
            Cell(0, 0, "a", row_span=2),
            Cell(0, 1, "b", column_span=2),
            Cell(1, 1, "c"),
            Cell(1, 2, "d"),
            Cell(2, 0, "e"),
            Cell(2, 1, "f", row_span=2),
            Cell(2, 2, "g"),
            Cell(3, 0, "h"),
            Cell(3, 2, "i"),
        )
        assert found.text == "a\tb\n\tc\td\ne\tf\tg\nh\t\ti"

    def test_a_span_ends_with_its_row_group(self) -> None:
        found = table("<table><thead><tr><th rowspan=9>a<th>b</thead><tr><td>1<td>2</table>")
        assert [(cell.row, cell.column, cell.row_span) for cell in found.cells] == [(0, 0, 1), (0, 1, 1), (1, 0, 1), (1, 1, 1)]

    def test_the_foot_is_shown_last_wherever_it_stands(self) -> None:
        assert table("<table><tfoot><tr><td>sum<td>3</tfoot><tr><th>a<th>b<tr><td>1<td>2</table>").text == "a\tb\n1\t2\nsum\t3"

    def test_a_caption_is_a_block_before_its_table(self) -> None:
        blocks = read("<table><caption>Ducks</caption><tr><th>a<th>b<tr><td>1<td>2</table>").blocks
        assert [(block.type, block.text) for block in blocks] == [(BlockType.CAPTION, "Ducks"), (BlockType.TABLE, "a\tb\n1\t2")]

    def test_a_cell_has_lines_and_numbers_of_what_is_in_it(self) -> None:
        found = table("<table><tr><th>a<th>b<tr><td><p>x</p><p>y</p><td><ol><li>p<li>q</ol></table>")
        assert [cell.text for cell in found.cells] == ["a", "b", "x\ny", "1. p\n2. q"]

    def test_a_table_in_a_cell_is_a_table_of_its_own(self) -> None:
        blocks = read("<table><tr><th>a<th>b<tr><td>in:<table><tr><th>c<th>d<tr><td>1<td>2</table><td>z</table><p>end").blocks
        assert [(block.type, block.text) for block in blocks] == [
            (BlockType.TABLE, "a\tb\nin:\tz"),
            (BlockType.TABLE, "c\td\n1\t2"),
            (BlockType.PARAGRAPH, "end"),
        ]

    @pytest.mark.parametrize(
        "markup",
        [
            "<table role=presentation><tr><td>one<td>two<tr><td>three<td>four</table>",
            "<table><tr><td>one<tr><td>two<tr><td>three<tr><td>four</table>",
            "<table><tr><td><p>one</p><p>two</p><td><p>three</p><p>four</p></table>",
            "<table><tr><td>one<td>two<tr><td>three<td><table role=none><tr><td>four</table></table>",
        ],
    )
    def test_a_table_that_arranges_the_page_loses_no_word(self, markup: str) -> None:
        assert " ".join(" ".join(block.text.split()) for block in read(markup).blocks) == "one two three four"

    def test_headings_in_a_table_that_arranges_the_page_open_sections(self) -> None:
        blocks = read("<table><tr><td>menu<td><h2>Title</h2><p>text</p></table>").blocks
        assert blocks[-1].section_path == ("Title",)

    def test_an_absurd_span_reads_as_text_with_a_warning(self) -> None:
        markup = "<table>" + "<tr><th colspan=1000 rowspan=65534>a<th colspan=1000>b" * 9 + "</table>"
        artifact = read(markup)
        assert [warning.code for warning in artifact.warnings] == ["TABLE_TOO_LARGE"]
        assert [block.text for block in artifact.blocks] == ["a", "b"] * 9

    def test_a_large_table_is_cut_between_rows_and_reads_back(self) -> None:
        content = (
            "<table><tr><th>n<th>word" + "".join(f"<tr><td>{i}<td>{'word' * 20}{i}" for i in range(3_000)) + "</table>"
        ).encode()
        artifact = extract(content, filename="x.html")
        assert [block.type for block in artifact.blocks] == [BlockType.TABLE] + [BlockType.TABLE_ROWS] * (len(artifact.blocks) - 1)
        assert artifact.datasets[0].rows.num_rows == 3_000
        assert "".join(block.text for block in artifact.blocks).count("word") == 60_001
        for block in artifact.blocks:
            assert resolve(content, block.locator, filename="x.html") == block.text


class TestDatasets:
    def test_columns_are_typed_and_rows_have_places(self) -> None:
        artifact = read(
            "<table><caption>Sales</caption><thead><tr><th>Day<th>Item<th>Price</thead>"
            "<tr><td>2024-05-06<td>Nut<td>$1,234.50<tr><td>2024-05-07<td>Bolt<td>$7.00"
            "<tfoot><tr><td>all<td><td>$1,241.50</tfoot></table>"
        )
        (dataset,) = artifact.datasets
        assert (dataset.id, dataset.name, dataset.header_rows) == ("table-1", "Sales", 1)
        assert rows(artifact) == [
            {"Day": dt.date(2024, 5, 6), "Item": "Nut", "Price": Decimal("1234.50")},
            {"Day": dt.date(2024, 5, 7), "Item": "Bolt", "Price": Decimal("7.00")},
        ]
        place = "html/body/table[1]/tbody[1]/tr[2]"
        assert from_json(dataset.rows[ROW_LOCATOR].to_pylist()[1]) == HtmlPlace(place, place)

    def test_header_rows_over_each_other_make_one_name(self) -> None:
        artifact = read(
            "<table><tr><th rowspan=2>City<th colspan=2>2023<tr><th>Area<th>People"
            "<tr><td>Ulm<td>118<td>128928<tr><td>Bonn<td>141<td>335975</table>"
        )
        assert [column.name for column in artifact.datasets[0].columns] == ["City", "2023 Area", "2023 People"]
        assert len(rows(artifact)) == 2

    def test_what_a_span_covers_has_its_value_and_rows_without_their_own_are_none(self) -> None:
        artifact = read("<table><tr><th>Year<th>Month<tr><th rowspan=3>2025<tr><td>May<tr><td>June</table>")
        assert rows(artifact) == [{"Year": Decimal(2025), "Month": "May"}, {"Year": Decimal(2025), "Month": "June"}]

    def test_a_line_over_the_whole_width_is_no_record(self) -> None:
        artifact = read("<table><tr><th>a<th>b<tr><td colspan=2>Group<tr><td>x<td>1</table>")
        assert rows(artifact) == [{"a": "x", "b": Decimal(1)}]

    def test_words_over_words_without_header_cells_are_no_dataset(self) -> None:
        artifact = read("<table><tr><td>Name<td>Town<tr><td>Ann<td>Ulm</table>")
        assert (artifact.datasets, artifact.blocks[0].dataset_id) == ((), "")

    def test_tables_around_the_main_text_are_no_datasets(self) -> None:
        artifact = read("<p>x</p><footer><table><tr><th>a<th>b<tr><td>1<td>2</table></footer>")
        assert (artifact.datasets, artifact.blocks[1].type) == ((), BlockType.FOOTER)

    def test_more_columns_than_the_limit_are_read_as_text(self) -> None:
        markup = "<table><tr>" + "<th>a" * 5 + "<tr>" + "<td>1" * 5 + "</table>"
        artifact = html.read(markup.encode(), ReadContext(limits=Limits(max_columns=4)))
        assert [warning.code for warning in artifact.warnings] == ["TABLE_TOO_LARGE"]
        assert len(artifact.blocks) == 10
