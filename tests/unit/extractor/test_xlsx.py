"""Workbooks: what a sheet shows, what its tables mean, and where each piece stands."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from artifact.locators import SheetPlace, from_json
from artifact.model import Artifact, Block, BlockType, ColumnType, Dataset, Visibility
from extractor_svc.context import Options
from extractor_svc.errors import LocatorNotFound, Malformed, OutputLimit, TooManyColumns, TooManyRows, XmlDtdForbidden
from extractor_svc.extract import extract, resolve
from extractor_svc.limits import Limits
from tests.unit.extractor.workbooks import (
    MAIN,
    RELS,
    SheetXml,
    WorkbookXml,
    merged,
    number,
    other,
    relationships,
    row,
    shared,
    simple,
    table,
    text,
    uncalculated,
)

DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing"
SHAPES = "http://schemas.openxmlformats.org/drawingml/2006/main"
CORE = "http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties"
CHART = "http://schemas.openxmlformats.org/drawingml/2006/chart"


def read(content: bytes, **limits: Any) -> Artifact:  # Any: limits of several types
    return extract(content, filename="book.xlsx", limits=Limits(**limits))


def only_dataset(artifact: Artifact) -> Dataset:
    (dataset,) = artifact.datasets
    return dataset


def column(dataset: Dataset, name: str) -> list[object]:
    return list(dataset.rows.column(name).to_pylist())


def types(dataset: Dataset) -> dict[str, ColumnType]:
    return {held.name: held.type for held in dataset.columns}


def blocks_of(artifact: Artifact, kind: BlockType) -> list[Block]:
    return [block for block in artifact.blocks if block.type is kind]


def codes(dataset: Dataset) -> list[tuple[str, str]]:
    return [(asked.code, asked.column) for asked in dataset.clarifications]


def assert_reads_back(content: bytes, artifact: Artifact) -> None:
    for block in artifact.blocks:
        assert resolve(content, block.locator, filename="book.xlsx").split() == block.text.split(), block


class TestDates:
    def test_row_h01_serial_numbers_count_from_the_base_that_the_workbook_sets(self) -> None:
        rows = row(1, text("A1", "Signed")) + row(2, number("A2", 43831, style=0)) + row(3, number("A3", 0, style=0))
        book = WorkbookXml([SheetXml("Dates", rows)], formats=["yyyy-mm-dd"], from_1904=True)
        dataset = only_dataset(read(book.build()))
        assert types(dataset) == {"Signed": ColumnType.DATE}
        assert column(dataset, "Signed") == [dt.date(2024, 1, 2), dt.date(1904, 1, 1)]

    def test_row_h01_without_the_setting_the_same_number_is_four_years_earlier(self) -> None:
        rows = row(1, text("A1", "Signed")) + row(2, number("A2", 43831, style=0))
        dataset = only_dataset(read(WorkbookXml([SheetXml("Dates", rows)], formats=["yyyy-mm-dd"]).build()))
        assert types(dataset) == {"Signed": ColumnType.DATE}
        assert column(dataset, "Signed") == [dt.date(2020, 1, 1)]

    @pytest.mark.parametrize(
        ("serial", "day"),
        [(1, dt.date(1900, 1, 1)), (59, dt.date(1900, 2, 28)), (61, dt.date(1900, 3, 1)), (2958465, dt.date(9999, 12, 31))],
    )
    def test_days_around_the_leap_day_that_never_was(self, serial: int, day: dt.date) -> None:
        rows = row(1, text("A1", "Day")) + row(2, number("A2", serial, style=0))
        dataset = only_dataset(read(WorkbookXml([SheetXml("S", rows)], formats=["yyyy-mm-dd"]).build()))
        assert column(dataset, "Day") == [day]

    @pytest.mark.parametrize("serial", [60, 0, -1, 2958466])
    def test_a_serial_number_of_no_day_rejects_its_row(self, serial: int) -> None:
        rows = row(1, text("A1", "Day")) + row(2, number("A2", serial, style=0)) + row(3, number("A3", 2, style=0))
        dataset = only_dataset(read(WorkbookXml([SheetXml("S", rows)], formats=["yyyy-mm-dd"]).build()))
        assert column(dataset, "Day") == [dt.date(1900, 1, 2)]
        assert [(rejected.values, rejected.reason) for rejected in dataset.rejected_rows] == [
            ((str(serial),), f"column Day: serial number {serial} is no day")
        ]
        assert not dataset.complete

    def test_formats_tell_dates_times_and_time_spans_apart(self) -> None:
        rows = row(1, *(text(f"{c}1", name) for c, name in zip("ABCD", ["day", "at", "time", "span"], strict=True)))
        rows += row(
            2, *(number(f"{c}2", v, style=s) for c, v, s in [("A", 44197, 0), ("B", 44197.5, 1), ("C", 0.75, 2), ("D", 1.5, 3)])
        )
        formats = ["d mmm yyyy", "yyyy-mm-dd hh:mm", "h:mm AM/PM", "[h]:mm:ss"]
        artifact = read(WorkbookXml([SheetXml("S", rows)], formats=formats).build())
        dataset = only_dataset(artifact)
        assert dataset.rows.drop_columns(["_row_id", "_locator"]).to_pylist() == [
            {
                "day": dt.date(2021, 1, 1),
                "at": dt.datetime.fromisoformat("2021-01-01T12:00"),
                "time": dt.time(18),
                "span": dt.timedelta(hours=36),
            }
        ]
        (block,) = blocks_of(artifact, BlockType.TABLE)
        assert block.text == "day\tat\ttime\tspan\n1 Jan 2021\t2021-01-01 12:00\t6:00 PM\t36:00:00"

    def test_dates_among_datetimes_are_midnights(self) -> None:
        rows = row(1, text("A1", "When")) + row(2, number("A2", 44197, style=0)) + row(3, number("A3", 44197.25, style=0))
        dataset = only_dataset(read(WorkbookXml([SheetXml("S", rows)], formats=["yyyy-mm-dd"]).build()))
        assert types(dataset) == {"When": ColumnType.DATETIME}
        assert column(dataset, "When") == [
            dt.datetime.fromisoformat("2021-01-01T00:00"),
            dt.datetime.fromisoformat("2021-01-01T06:00"),
        ]
        assert codes(dataset) == []

    def test_iso_dates_are_read_without_a_serial_number(self) -> None:
        rows = row(1, text("A1", "d"), text("B1", "t")) + row(
            2, other("A2", "d", "2021-01-01"), other("B2", "d", "2021-01-01T10:11:12")
        )
        dataset = only_dataset(read(WorkbookXml([SheetXml("S", rows)]).build()))
        assert column(dataset, "d") == [dt.date(2021, 1, 1)]
        assert column(dataset, "t") == [dt.datetime.fromisoformat("2021-01-01T10:11:12")]


class TestText:
    def test_row_h02_reading_aids_are_no_part_of_a_text_and_runs_are_joined(self) -> None:
        strings = [
            '<t>倉庫</t><rPh sb="0" eb="2"><t>ソウコ</t></rPh>',
            "<r><rPr><b/></rPr><t>Hard</t></r><r><t xml:space='preserve'> hat</t></r>",
        ]
        inline = '<c r="A3" t="inlineStr"><is><t>工場</t><rPh sb="0" eb="2"><t>コウジョウ</t></rPh></is></c>'
        rows = row(1, shared("A1", 0)) + row(2, shared("A2", 1)) + row(3, inline)
        artifact = read(WorkbookXml([SheetXml("S", rows)], strings=strings).build())
        (block,) = blocks_of(artifact, BlockType.TABLE)
        assert [cell.text for cell in block.cells] == ["倉庫", "Hard hat", "工場"]
        dataset = only_dataset(artifact)
        shown = [block.text for block in artifact.blocks] + [str(dataset.rows.to_pylist()), dataset.columns[0].name]
        assert not any(aid in text for text in shown for aid in ("ソウコ", "コウジョウ"))

    def test_escaped_characters_are_read_and_half_a_character_is_replaced(self) -> None:
        strings = ["<t>a_x000D_\nb</t>", "<t>_x005F_x000D_</t>", "<t>_xD83D__xDE00_</t>", "<t>_xD800_</t>"]
        rows = "".join(row(i + 1, shared(f"A{i + 1}", i)) for i in range(4))
        (block,) = blocks_of(read(WorkbookXml([SheetXml("S", rows)], strings=strings).build()), BlockType.TABLE)
        assert [cell.text for cell in block.cells] == ["a\r\nb", "_x000D_", "😀", "\ufffd"]

    def test_a_string_that_the_file_lacks_rejects_its_row(self) -> None:
        rows = row(1, text("A1", "n")) + row(2, shared("A2", 7)) + row(3, number("A3", 1))
        dataset = only_dataset(read(WorkbookXml([SheetXml("S", rows)], strings=["<t>x</t>"]).build()))
        assert (column(dataset, "n"), dataset.rejected_count, dataset.complete) == ([1], 1, False)

    def test_cells_without_references_stand_right_of_one_another(self) -> None:
        rows = "<row><c><v>1</v></c><c><v>2</v></c></row><row><c><v>3</v></c><c><v>4</v></c></row>"
        (block,) = blocks_of(read(WorkbookXml([SheetXml("S", rows)]).build()), BlockType.TABLE)
        assert (block.text, block.locator) == ("1\t2\n3\t4", SheetPlace("S", 1, 2, 1, 2))


class TestNumbers:
    def test_row_h05_values_stay_raw_and_the_unit_is_kept(self) -> None:
        rows = row(1, text("A1", "Item"), text("B1", "Rate"), text("C1", "Price"))
        rows += row(2, text("A2", "Loan A"), number("B2", "0.075", style=1), number("C2", "1234.5", style=2))
        rows += row(3, text("A3", "Loan B"), number("B3", "1", style=3), number("C3", "980", style=2))
        formats = ["General", "0.0%", '"$"#,##0.00', "0%"]
        artifact = read(WorkbookXml([SheetXml("Loans", rows)], formats=formats).build())
        dataset = only_dataset(artifact)
        assert column(dataset, "Rate") == [Decimal("0.075"), Decimal(1)]
        assert column(dataset, "Price") == [Decimal("1234.5"), Decimal(980)]
        assert [(held.name, held.unit) for held in dataset.columns] == [("Item", ""), ("Rate", "%"), ("Price", "$")]
        (block,) = blocks_of(artifact, BlockType.TABLE)
        assert block.text == "Item\tRate\tPrice\nLoan A\t7.5%\t$1,234.50\nLoan B\t100%\t$980.00"

    def test_general_numbers_show_fifteen_digits_and_hold_what_the_file_says(self) -> None:
        rows = row(1, text("A1", "n")) + row(2, number("A2", "0.30000000000000004")) + row(3, number("A3", "22.222200000000001"))
        artifact = read(WorkbookXml([SheetXml("S", rows)]).build())
        assert column(only_dataset(artifact), "n") == [Decimal("0.30000000000000004"), Decimal("22.2222")]
        assert blocks_of(artifact, BlockType.TABLE)[0].text == "n\n0.3\n22.2222"

    def test_whole_numbers_keep_all_their_digits(self) -> None:
        artifact = read(simple([["id"], [12345678901234567890]]))
        assert column(only_dataset(artifact), "id") == [Decimal("12345678901234567890")]
        assert blocks_of(artifact, BlockType.TABLE)[0].text == "id\n12345678901234567890"

    def test_a_number_that_is_none_rejects_its_row(self) -> None:
        rows = row(1, text("A1", "n")) + row(2, number("A2", "1_000")) + row(3, number("A3", "NaN")) + row(4, number("A4", "7"))
        dataset = only_dataset(read(WorkbookXml([SheetXml("S", rows)]).build()))
        assert (column(dataset, "n"), dataset.rejected_count) == ([Decimal(7)], 2)

    def test_a_cell_error_rejects_its_row_whole(self) -> None:
        rows = table([["name", "share"], ["a", 1]]) + row(3, text("A3", "b"), other("B3", "e", "#DIV/0!")) + row(4, text("A4", "c"))
        artifact = read(WorkbookXml([SheetXml("S", rows)]).build())
        dataset = only_dataset(artifact)
        assert column(dataset, "name") == ["a", "c"]
        assert [(r.values, r.reason, r.locator) for r in dataset.rejected_rows] == [
            (("b", "#DIV/0!"), "column share: cell error #DIV/0!", SheetPlace("S", 3, 3, 1, 2))
        ]
        assert "#DIV/0!" in blocks_of(artifact, BlockType.TABLE)[0].text


class TestFormulas:
    def test_row_h06_a_stored_result_is_a_number(self) -> None:
        rows = table([["n"], [2], [3]]) + row(4, number("A4", 5, formula="SUM(A2:A3)"))
        artifact = read(WorkbookXml([SheetXml("S", rows)]).build())
        dataset = only_dataset(artifact)
        assert (types(dataset), column(dataset, "n")) == ({"n": ColumnType.NUMBER}, [2, 3, 5])
        assert [(f.row_id, f.column, f.formula, f.cached) for f in dataset.formulas] == [(2, "n", "SUM(A2:A3)", True)]
        assert dataset.complete and artifact.coverage.complete

    def test_row_h06_without_one_the_value_is_null_and_the_loss_is_said(self) -> None:
        rows = table([["n"], [2], [3]]) + row(4, uncalculated("A4", "SUM(A2:A3)"))
        artifact = read(WorkbookXml([SheetXml("S", rows)]).build())
        dataset = only_dataset(artifact)
        assert (types(dataset), column(dataset, "n")) == ({"n": ColumnType.NUMBER}, [2, 3, None])
        assert [(f.row_id, f.column, f.formula, f.cached) for f in dataset.formulas] == [(2, "n", "SUM(A2:A3)", False)]
        assert not dataset.complete
        assert artifact.coverage.lost == ("cached_values",)
        assert not artifact.coverage.complete
        assert [(said.code, said.message[:10]) for said in artifact.warnings] == [("FORMULAS_NOT_CALCULATED", "1 formulas")]
        assert blocks_of(artifact, BlockType.TABLE)[0].cells[-1].formula == "SUM(A2:A3)"

    def test_a_shared_formula_is_read_as_it_stands_at_each_cell(self) -> None:
        rows = row(1, text("A1", "a"), text("B1", "b"))
        rows += row(2, number("A2", 1), '<c r="B2"><f t="shared" ref="B2:B3" si="0">A2*$A$2+"A2"</f><v>1</v></c>')
        rows += row(3, number("A3", 2), '<c r="B3"><f t="shared" si="0"/><v>2</v></c>')
        dataset = only_dataset(read(WorkbookXml([SheetXml("S", rows)]).build()))
        assert [formula.formula for formula in dataset.formulas] == ['A2*$A$2+"A2"', 'A3*$A$2+"A2"']

    def test_a_workbook_that_asks_to_be_calculated_is_said_to_be_stale(self) -> None:
        book = WorkbookXml([SheetXml("S", table([["a", "b"], [1, 2]]))], calculation='<calcPr fullCalcOnLoad="1"/>')
        assert [said.code for said in read(book.build()).warnings] == ["RECALCULATION_DUE"]


class TestTables:
    def test_row_h03_merged_headers_of_two_rows_become_one_name_a_column(self) -> None:
        rows = row(1, text("A1", "Region"), number("B1", 2030), number("D1", 2031))
        rows += row(2, text("B2", "Q1"), text("C2", "Q2"), text("D2", "Q1"), text("E2", "Q2"))
        rows += table([["North", 1, 2, 3, 4], ["South", 5, 6, 7, 8]], top=3)
        artifact = read(WorkbookXml([SheetXml("S", rows, merged("A1:A2", "B1:C1", "D1:E1"))]).build())
        dataset = only_dataset(artifact)
        assert [held.name for held in dataset.columns] == ["Region", "2030 Q1", "2030 Q2", "2031 Q1", "2031 Q2"]
        assert dataset.rows.num_rows == 2
        assert column(dataset, "2031 Q2") == [4, 8]
        assert dataset.header_rows == 2
        spans = {cell.text: (cell.row_span, cell.column_span) for cell in blocks_of(artifact, BlockType.TABLE)[0].cells}
        assert (spans["Region"], spans["2030"], spans["North"]) == ((2, 1), (1, 2), (1, 1))

    def test_row_h04_a_table_with_empty_cells_is_one_table_and_says_each_word_once(self) -> None:
        artifact = read(simple([["ID", "Name", "Note"], [1, "larch", None], [2, None, "wet"], [3, None, "dry"]]))
        dataset = only_dataset(artifact)
        assert dataset.rows.drop_columns(["_row_id", "_locator"]).to_pylist() == [
            {"ID": 1, "Name": "larch", "Note": None},
            {"ID": 2, "Name": None, "Note": "wet"},
            {"ID": 3, "Name": None, "Note": "dry"},
        ]
        words = " ".join(block.text for block in artifact.blocks).split()
        assert (words.count("wet"), words.count("dry")) == (1, 1)
        assert len(blocks_of(artifact, BlockType.TABLE)) == 1

    def test_tables_side_by_side_and_below_one_another_are_parted_by_empty_cells(self) -> None:
        rows = table([["a", "b", None, "c", "d"], [1, 2, None, 3, 4]]) + table([["e", "f"], [5, 6]], top=4)
        artifact = read(WorkbookXml([SheetXml("Two Words", rows)]).build())
        assert [(d.id, d.name, [h.name for h in d.columns]) for d in artifact.datasets] == [
            ("two-words", "Two Words", ["a", "b"]),
            ("two-words-2", "Two Words 2", ["c", "d"]),
            ("two-words-3", "Two Words 3", ["e", "f"]),
        ]

    def test_tables_that_touch_at_a_corner_are_two(self) -> None:
        rows = [["a", "b", None, None], [1, 2, None, None], [None, None, "c", "d"], [None, None, 3, 4]]
        assert [[held.name for held in dataset.columns] for dataset in read(simple(rows)).datasets] == [["a", "b"], ["c", "d"]]

    def test_a_title_above_a_table_heads_it_and_names_no_column(self) -> None:
        artifact = read(simple([["Ducks by year"], [None], ["Year", "Ducks"], [2019, 120]]))
        heading = blocks_of(artifact, BlockType.HEADING)[1]
        (block,) = blocks_of(artifact, BlockType.TABLE)
        assert (heading.text, heading.level, heading.section_path) == ("Ducks by year", 2, ("Sheet1", "Ducks by year"))
        assert block.section_path == ("Sheet1", "Ducks by year")
        assert [held.name for held in only_dataset(artifact).columns] == ["Year", "Ducks"]

    def test_a_merged_title_directly_above_two_tables_heads_the_first_and_keeps_them_apart(self) -> None:
        rows = [["Stock", None, None, None, None], ["a", "b", None, "c", "d"], [1, 2, None, 3, 4]]
        artifact = read(simple(rows, after=merged("A1:E1")))
        assert [block.text for block in blocks_of(artifact, BlockType.HEADING)] == ["Sheet1", "Stock"]
        assert [[held.name for held in dataset.columns] for dataset in artifact.datasets] == [["a", "b"], ["c", "d"]]

    def test_a_note_below_a_table_is_no_row_of_it(self) -> None:
        artifact = read(simple([["Year", "Ducks"], [2019, 120], [2020, 130], ["Source: the pond", None]]))
        assert only_dataset(artifact).rows.num_rows == 2
        assert [block.text for block in blocks_of(artifact, BlockType.PARAGRAPH)] == ["Source: the pond"]

    def test_a_header_without_merging_over_names_and_numbers_is_flattened(self) -> None:
        rows = [["Region", 2030, None, 2031, None], [None, "Q1", "Q2", "Q1", "Q2"], ["North", 1, 2, 3, 4], ["South", 5, 6, 7, 8]]
        dataset = only_dataset(read(simple(rows)))
        assert [held.name for held in dataset.columns] == ["Region", "2030 Q1", "2030 Q2", "2031 Q1", "2031 Q2"]

    def test_a_column_that_merging_alone_makes_is_none(self) -> None:
        rows = [["Name", None, "Qty"], ["bolt", None, 5], ["nut", None, 6]]
        dataset = only_dataset(read(simple(rows, after=merged("A1:B1", "A2:B2", "A3:B3"))))
        assert [held.name for held in dataset.columns] == ["Name", "Qty"]

    def test_a_declared_table_gives_its_name_and_its_totals_are_no_data(self) -> None:
        part = (
            f'<table xmlns="{MAIN}" id="1" name="Sales" displayName="Sales" ref="A1:B4" totalsRowCount="1"><tableColumns count="2">'
        )
        part += '<tableColumn id="1" name="City"/><tableColumn id="2" name="Sum"/></tableColumns></table>'
        rows = table([["City", "Sum"], ["Oslo", 1], ["Rome", 2], ["Total", 3]])
        sheet = SheetXml("S", rows, related=[("table", "../tables/table1.xml")])
        content = WorkbookXml([sheet], parts={"xl/tables/table1.xml": part}).build()
        artifact = read(content)
        dataset = only_dataset(artifact)
        assert (dataset.name, column(dataset, "Sum")) == ("Sales", [1, 2])
        (totals,) = blocks_of(artifact, BlockType.TABLE_ROWS)
        assert (totals.text, totals.dataset_id, totals.locator) == ("Total\t3", "", SheetPlace("S", 4, 4, 1, 2))
        assert_reads_back(content, artifact)

    def test_a_declared_table_without_header_takes_the_names_it_declares(self) -> None:
        part = f'<table xmlns="{MAIN}" id="1" name="T" displayName="T" ref="A1:B2" headerRowCount="0"><tableColumns count="2">'
        part += '<tableColumn id="1" name="Column1"/><tableColumn id="2" name="Column2"/></tableColumns></table>'
        sheet = SheetXml("S", table([[2019, 120], [2020, 130]]), related=[("table", "/xl/tables/t.xml")])
        dataset = only_dataset(read(WorkbookXml([sheet], parts={"xl/tables/t.xml": part}).build()))
        assert [held.name for held in dataset.columns] == ["Column1", "Column2"]
        assert (dataset.header_rows, dataset.rows.num_rows, codes(dataset)) == (0, 2, [])

    def test_clarifications_are_asked_for_what_a_header_leaves_open(self) -> None:
        dataset = only_dataset(read(simple([["a", "A", None, "mix"], [1, 2, 3, 4], [5, 6, 7, "x"]])))
        assert [held.name for held in dataset.columns] == ["a", "A (2)", "column 3", "mix"]
        assert codes(dataset) == [("duplicate_name", "A (2)"), ("generated_name", "column 3"), ("mixed_types", "mix")]
        assert column(dataset, "mix") == ["4", "x"]

    def test_numbers_for_names_are_questioned(self) -> None:
        dataset = only_dataset(read(simple([[2019, 2020], [1, 2]])))
        assert ("header_like_data", "") in codes(dataset)

    def test_each_row_says_where_it_stands(self) -> None:
        content = simple([[None, None], [None, "a", "b"], [None, 1, 2], [None, 3, 4]])
        dataset = only_dataset(read(content))
        places = [from_json(str(place)) for place in dataset.rows.column("_locator").to_pylist()]
        assert places == [SheetPlace("Sheet1", 3, 3, 2, 3), SheetPlace("Sheet1", 4, 4, 2, 3)]
        assert dataset.rows.column("_row_id").to_pylist() == [0, 1]
        assert [resolve(content, place, filename="book.xlsx") for place in places] == ["1\t2", "3\t4"]

    def test_a_single_column_of_prose_is_paragraphs(self) -> None:
        long = "This sheet explains at some length how the numbers on the other sheets were gathered and by whom."
        artifact = read(simple([["Read me"], [long], [long]]))
        assert artifact.datasets == ()
        assert [block.text for block in blocks_of(artifact, BlockType.PARAGRAPH)] == ["Read me", long, long]

    def test_a_lone_number_keeps_its_value_below_the_digits_it_shows(self) -> None:
        artifact = read(WorkbookXml([SheetXml("S", row(1, number("A1", "0.5", style=0)))], formats=["0"]).build())
        assert column(only_dataset(artifact), "column 1") == [Decimal("0.5")]


class TestSheets:
    def test_each_sheet_is_a_heading_in_the_order_of_the_workbook(self) -> None:
        content = WorkbookXml([SheetXml("Zwei", table([["x"]])), SheetXml("Eins & Co", "")]).build()
        artifact = read(content)
        headings = blocks_of(artifact, BlockType.HEADING)
        assert [(h.text, h.level, h.locator) for h in headings] == [
            ("Zwei", 1, SheetPlace("Zwei", 0, 0, 0, 0)),
            ("Eins & Co", 1, SheetPlace("Eins & Co", 0, 0, 0, 0)),
        ]
        assert (artifact.coverage.unit, artifact.coverage.total, artifact.coverage.extracted) == ("sheet", 2, 2)
        assert_reads_back(content, artifact)

    def test_hidden_sheets_are_flagged(self) -> None:
        artifact = read(
            WorkbookXml([SheetXml("A", table([["a", "b"], [1, 2]])), SheetXml("B", table([["x"]]), state="veryHidden")]).build()
        )
        assert [(block.text.split()[0], block.visibility) for block in artifact.blocks] == [
            ("A", Visibility.VISIBLE),
            ("a", Visibility.VISIBLE),
            ("B", Visibility.HIDDEN_SHEET),
            ("x", Visibility.HIDDEN_SHEET),
        ]

    def test_hidden_rows_stand_apart_from_what_is_shown_and_stay_in_the_dataset(self) -> None:
        rows = (
            table([["k", "v"], ["a", 1]])
            + row(3, text("A3", "b"), number("B3", 2), attributes='hidden="1"')
            + table([["c", 3]], top=4)
        )
        content = WorkbookXml([SheetXml("S", rows)]).build()
        artifact = read(content)
        (shown,) = blocks_of(artifact, BlockType.TABLE)
        (hidden,) = blocks_of(artifact, BlockType.TABLE_ROWS)
        assert shown.text == "k\tv\na\t1\nc\t3"
        assert (hidden.text, hidden.visibility, hidden.dataset_id) == ("b\t2", Visibility.HIDDEN_ROW, "s")
        assert column(only_dataset(artifact), "v") == [1, 2, 3]
        assert_reads_back(content, artifact)

    def test_a_sheet_that_cannot_be_read_is_a_failed_unit_and_the_rest_is_kept(self) -> None:
        book = WorkbookXml([SheetXml("Good", table([["a", "b"], [1, 2]])), SheetXml("Bad", "<row><c></row>"), SheetXml("Gone")])
        content = book.build()
        artifact = read(content)
        assert [(unit.unit, unit.reason) for unit in artifact.coverage.failed] == [("Bad", "malformed")]
        assert not artifact.coverage.complete
        assert [dataset.id for dataset in artifact.datasets] == ["good"]

    def test_a_workbook_without_one_readable_sheet_is_refused(self) -> None:
        with pytest.raises(Malformed):
            read(WorkbookXml([SheetXml("Bad", "<row><c></row>")]).build())

    def test_the_stated_dimension_is_not_trusted(self) -> None:
        sheet = SheetXml("S", table([["a", "b"], [1, 2]]) + table([["far"]], top=900, left=20), before='<dimension ref="A1:A1"/>')
        artifact = read(WorkbookXml([sheet]).build())
        assert [block.text for block in artifact.blocks] == ["S", "a\tb\n1\t2", "far"]
        assert artifact.blocks[2].locator == SheetPlace("S", 900, 900, 20, 20)

    def test_a_merge_over_the_whole_sheet_costs_nothing(self) -> None:
        artifact = read(simple([["a", "b"], [1, 2]], after=merged("A1:XFD1048576")))
        assert [block.text for block in artifact.blocks] == ["Sheet1", "a"]
        assert [(count.reason, count.words) for count in artifact.coverage.words_excluded] == [("covered_by_merge", 3)]

    def test_words_emitted_are_those_of_the_blocks(self) -> None:
        artifact = read(simple([["Name", "Year"], ["ann lee", 2019]], name="My sheet"))
        assert artifact.coverage.words_emitted == 7


class TestBeside:
    def comments(self) -> WorkbookXml:
        notes = f'<comments xmlns="{MAIN}"><authors><author>Ann</author><author>tc={{1}}</author></authors><commentList>'
        notes += '<comment ref="B2" authorId="0"><text><r><t>too </t></r><r><t>high?</t></r></text></comment>'
        notes += '<comment ref="A2" authorId="1"><text><t>[Threaded comment] stand-in</t></text></comment></commentList></comments>'
        threaded = "http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"
        thread = f'<ThreadedComments xmlns="{threaded}"><threadedComment ref="A2" personId="p1"><text>Who?</text></threadedComment>'
        thread += '<threadedComment ref="A2" personId="p2"><text>Me.</text></threadedComment></ThreadedComments>'
        people = f'<personList xmlns="{threaded}"><person displayName="Bo" id="p1"/><person displayName="Cy" id="p2"/></personList>'
        sheet = SheetXml(
            "S", table([["a", "b"], [1, 2]]), related=[("comments", "../comments1.xml"), ("threadedComment", "../t.xml")]
        )
        parts = {"xl/comments1.xml": notes, "xl/t.xml": thread, "xl/persons/p.xml": people}
        return WorkbookXml([sheet], parts=parts, related=[("person", "persons/p.xml")])

    def test_notes_and_threads_are_comments_at_their_cell_and_read_back(self) -> None:
        content = self.comments().build()
        artifact = read(content)
        assert [(b.text, b.locator, b.visibility) for b in blocks_of(artifact, BlockType.COMMENT)] == [
            ("Ann: too high?", SheetPlace("S/note", 2, 2, 2, 2), Visibility.VISIBLE),
            ("[Threaded comment] stand-in", SheetPlace("S/note", 2, 2, 1, 1), Visibility.HIDDEN_TEXT),
            ("Bo: Who?\nCy: Me.", SheetPlace("S/comment", 2, 2, 1, 1), Visibility.VISIBLE),
        ]
        assert_reads_back(content, artifact)

    def test_text_boxes_charts_and_pictures_are_found_on_the_drawing(self) -> None:
        place = (
            "<xdr:from><xdr:col>3</xdr:col><xdr:row>4</xdr:row></xdr:from><xdr:to><xdr:col>5</xdr:col><xdr:row>9</xdr:row></xdr:to>"
        )
        box = "<xdr:sp><xdr:txBody><a:p><a:r><a:t>Mind the </a:t></a:r><a:r><a:t>gap</a:t></a:r></a:p></xdr:txBody></xdr:sp>"
        fallback = (
            "<mc:AlternateContent><mc:Choice>" + box + "</mc:Choice><mc:Fallback>" + box + "</mc:Fallback></mc:AlternateContent>"
        )
        frame = '<a:graphic><a:graphicData><c:chart r:id="rId1"/></a:graphicData></a:graphic>'
        frame = f"<xdr:graphicFrame>{frame}</xdr:graphicFrame>"
        names = f'xmlns:xdr="{DRAWING}" xmlns:a="{SHAPES}" xmlns:c="{CHART}" xmlns:r="{RELS}" xmlns:mc="urn:mc"'
        anchors = "".join(f"<xdr:twoCellAnchor>{place}{inner}</xdr:twoCellAnchor>" for inner in (fallback, frame, "<xdr:pic/>"))
        chart = f'<c:chartSpace xmlns:c="{CHART}" xmlns:a="{SHAPES}"><c:title><a:p><a:r><a:t>Growth</a:t></a:r></a:p></c:title>'
        chart += "<c:strCache><c:pt><c:v>north</c:v></c:pt></c:strCache>"
        chart += "<c:numCache><c:pt><c:v>42</c:v></c:pt></c:numCache></c:chartSpace>"
        rels = relationships([("chart", "../charts/c.xml")])
        parts = {
            "xl/drawings/d.xml": f"<xdr:wsDr {names}>{anchors}</xdr:wsDr>",
            "xl/drawings/_rels/d.xml.rels": rels,
            "xl/charts/c.xml": chart,
        }
        content = WorkbookXml([SheetXml("S", table([["x"]]), related=[("drawing", "../drawings/d.xml")])], parts=parts).build()
        artifact = read(content)
        assert [(block.type, block.text, block.locator) for block in artifact.blocks[2:]] == [
            (BlockType.TEXT_BOX, "Mind the gap", SheetPlace("S/shape 1", 5, 10, 4, 6)),
            (BlockType.CHART_TEXT, "Growth\nnorth", SheetPlace("S/chart 2", 5, 10, 4, 6)),
        ]
        assert [(said.code, said.locator) for said in artifact.warnings] == [("IMAGE_SKIPPED", SheetPlace("S", 5, 10, 4, 6))]
        assert_reads_back(content, artifact)

    def test_macros_are_said_to_be_there(self) -> None:
        content = WorkbookXml([SheetXml("S", table([["x"]]))], parts={"xl/vbaProject.bin": b"\x00"}).build()
        assert [said.code for said in read(content).warnings] == ["ACTIVE_CONTENT"]

    def test_properties_and_title_come_from_the_core_properties(self) -> None:
        said = "<dc:title>Stock list</dc:title><dc:creator>Ann</dc:creator>"
        core = f'<cp:coreProperties xmlns:cp="urn:cp" xmlns:dc="urn:dc">{said}</cp:coreProperties>'
        rels = relationships([("officeDocument", "/xl/workbook.xml"), (CORE, "docProps/core.xml")])
        content = WorkbookXml([SheetXml("S", table([["x"]]))], parts={"docProps/core.xml": core, "_rels/.rels": rels}).build()
        artifact = read(content)
        assert (artifact.title, artifact.properties) == ("Stock list", {"title": "Stock list", "creator": "Ann"})


class TestLimits:
    def test_too_many_cells_are_refused(self) -> None:
        with pytest.raises(TooManyRows):
            read(simple([["a", "b"], [1, 2], [3, 4]]), max_cells=5)

    def test_too_many_rows_of_a_table_are_refused(self) -> None:
        with pytest.raises(TooManyRows):
            read(simple([["a", "b"], [1, 2], [3, 4]]), max_rows=1)

    def test_too_many_columns_of_a_table_are_refused(self) -> None:
        with pytest.raises(TooManyColumns):
            read(simple([["a", "b"], [1, 2]]), max_columns=1)

    def test_one_string_shown_too_often_is_refused(self) -> None:
        rows = "".join(row(i, shared(f"A{i}", 0)) for i in range(1, 12))
        with pytest.raises(OutputLimit):
            read(WorkbookXml([SheetXml("S", rows)], strings=[f"<t>{'x' * 100}</t>"]).build(), max_text_chars=1000)

    def test_a_document_type_in_any_part_is_refused(self) -> None:
        part = f'<!DOCTYPE sst [<!ENTITY a "b">]><sst xmlns="{MAIN}"><si><t>&a;</t></si></sst>'
        content = WorkbookXml(
            [SheetXml("S", row(1, shared("A1", 0)))], strings=["<t/>"], parts={"xl/sharedStrings.xml": part}
        ).build()
        with pytest.raises(XmlDtdForbidden):
            read(content)

    def test_a_document_type_in_a_sheet_is_refused_however_late_it_comes(self) -> None:
        sheet = f'<!--{"x" * 20_000}--><!DOCTYPE w [<!ENTITY a "b">]><worksheet xmlns="{MAIN}"><sheetData/></worksheet>'
        with pytest.raises(XmlDtdForbidden):
            read(WorkbookXml([SheetXml("S")], parts={"xl/worksheets/sheet1.xml": sheet}).build())

    def test_a_cell_past_the_last_row_is_a_fault_of_its_sheet(self) -> None:
        with pytest.raises(Malformed):
            read(WorkbookXml([SheetXml("S", row(1048577, text("A1048577", "x")))]).build())


class TestResolve:
    CONTENT = simple([["a", "b"], [1, 2]])

    @pytest.mark.parametrize(
        "place",
        [
            SheetPlace("Other", 1, 1, 1, 1),
            SheetPlace("Sheet1", 9, 9, 1, 1),
            SheetPlace("Sheet1/note", 1, 1, 1, 1),
            SheetPlace("Sheet1", 1, 1, 7, 7),
        ],
    )
    def test_a_place_that_the_workbook_does_not_have_is_not_found(self, place: SheetPlace) -> None:
        with pytest.raises(LocatorNotFound):
            resolve(self.CONTENT, place, filename="book.xlsx")

    def test_a_part_of_a_table_reads_as_its_cells(self) -> None:
        assert resolve(self.CONTENT, SheetPlace("Sheet1", 2, 2, 2, 2), filename="book.xlsx", options=Options(format="xlsx")) == "2"
