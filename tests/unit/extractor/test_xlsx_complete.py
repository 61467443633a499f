"""Workbooks beyond their cells: charts, names, printed headers, links, rules, pivot tables, and the ways a file may be written."""

from __future__ import annotations

import csv
import datetime as dt
from decimal import Decimal
from pathlib import Path

import pytest

from artifact.locators import SheetPlace
from artifact.model import Artifact, Block, BlockType, ColumnType, Visibility
from extractor_svc.errors import LocatorNotFound
from extractor_svc.extract import extract, resolve
from extractor_svc.sniff import known_format
from tests.unit.extractor.workbooks import (
    MAIN,
    RELS,
    SheetXml,
    WorkbookXml,
    merged,
    number,
    relationships,
    row,
    simple,
    table,
    text,
    zipped,
)

SHARED = Path(__file__).resolve().parents[3] / ".." / "shared" / "corpus" / "xlsx"
SHEET_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing"
DRAWN = "http://schemas.openxmlformats.org/drawingml/2006/main"
CHART = "http://schemas.openxmlformats.org/drawingml/2006/chart"
STRICT = "http://purl.oclc.org/ooxml"


def read(content: bytes, filename: str = "book.xlsx") -> Artifact:
    return extract(content, filename=filename)


def blocks_of(artifact: Artifact, kind: BlockType) -> list[Block]:
    return [block for block in artifact.blocks if block.type is kind]


def assert_reads_back(content: bytes, artifact: Artifact) -> None:
    for block in artifact.blocks:
        assert resolve(content, block.locator, filename="book.xlsx").split() == block.text.split(), block


def cache(kind: str, points: list[object], *, code: str = "") -> str:
    stated = f"<c:formatCode>{code}</c:formatCode>" if code else ""
    each = "".join(f'<c:pt idx="{i}"><c:v>{point}</c:v></c:pt>' for i, point in enumerate(points) if point is not None)
    return f'<c:{kind}>{stated}<c:ptCount val="{len(points)}"/>{each}</c:{kind}>'


def series(name: str, categories: str, values: str) -> str:
    return f"<c:ser><c:tx><c:strRef>{cache('strCache', [name])}</c:strRef></c:tx>{categories}{values}</c:ser>"


def with_chart(inner: str, *, sheet: str = "worksheet") -> bytes:
    """A workbook whose second sheet holds one chart; as a chart sheet where `sheet` says so."""
    chart = f'<c:chartSpace xmlns:c="{CHART}" xmlns:a="{DRAWN}"><c:chart>{inner}</c:chart></c:chartSpace>'
    frame = '<a:graphic><a:graphicData><c:chart r:id="rId1"/></a:graphicData></a:graphic>'
    anchor = f"<xdr:absoluteAnchor><xdr:graphicFrame>{frame}</xdr:graphicFrame></xdr:absoluteAnchor>"
    spaces = f'xmlns:xdr="{SHEET_DRAWING}" xmlns:a="{DRAWN}" xmlns:c="{CHART}" xmlns:r="{RELS}"'
    parts = {
        "xl/drawings/d.xml": f"<xdr:wsDr {spaces}>{anchor}</xdr:wsDr>",
        "xl/drawings/_rels/d.xml.rels": relationships([("chart", "../charts/c.xml")]),
        "xl/charts/c.xml": chart,
    }
    sheets = [SheetXml("Data", table([["a", "b"], [1, 2]])), SheetXml("Chart", related=[("drawing", "../drawings/d.xml")])]
    if sheet == "chartsheet":
        body = f'<chartsheet xmlns="{MAIN}" xmlns:r="{RELS}"><drawing r:id="rId1"/></chartsheet>'
        parts |= {
            "xl/worksheets/sheet2.xml": body,
            "xl/_rels/workbook.xml.rels": relationships(
                [("worksheet", "worksheets/sheet1.xml"), ("chartsheet", "worksheets/sheet2.xml")]
            ),
        }
    return WorkbookXml(sheets, parts=parts).build()


TITLE = "<c:title><c:tx><c:rich><a:p><a:r><a:t>Ducks</a:t></a:r></a:p></c:rich></c:tx></c:title>"
YEARS = f"<c:cat><c:strRef>{cache('strCache', ['2019', '2020'])}</c:strRef></c:cat>"
COUNTS = f"<c:val><c:numRef>{cache('numCache', [120, 1350.5], code='#,##0.00')}</c:numRef></c:val>"


class TestCharts:
    @pytest.mark.parametrize("sheet", ["worksheet", "chartsheet"])
    def test_a_chart_tells_its_title_and_each_series_with_categories_and_values(self, sheet: str) -> None:
        axis = "<c:valAx><c:title><c:tx><c:rich><a:p><a:r><a:t>Birds</a:t></a:r></a:p></c:rich></c:tx></c:title></c:valAx>"
        bars = f"<c:barChart>{series('Fresh', YEARS, COUNTS)}{series('Salt', YEARS, COUNTS)}</c:barChart>"
        content = with_chart(f"{TITLE}<c:plotArea>{bars}{axis}</c:plotArea>", sheet=sheet)
        artifact = read(content)
        (chart,) = blocks_of(artifact, BlockType.CHART_TEXT)
        assert chart.text == "Ducks\nFresh\n2019\t120.00\n2020\t1,350.50\nSalt\n2019\t120.00\n2020\t1,350.50\nBirds"
        assert (chart.section_path, artifact.coverage.complete) == (("Chart",), True)
        assert_reads_back(content, artifact)

    def test_points_without_a_value_and_values_without_a_category_are_told(self) -> None:
        values = (
            f"<c:val><c:numLit>{cache('numLit', [None, 7, '#N/A'])[len('<c:numLit>') : -len('</c:numLit>')]}</c:numLit></c:val>"
        )
        content = with_chart(f"<c:plotArea><c:pieChart>{series('S', YEARS, values)}</c:pieChart></c:plotArea>")
        (chart,) = blocks_of(read(content), BlockType.CHART_TEXT)
        assert chart.text == "S\n2019\n2020\t7\n#N/A"

    def test_scattered_points_are_pairs_and_dates_are_shown_as_dates(self) -> None:
        days = f"<c:xVal><c:numRef>{cache('numCache', [43831], code='yyyy-mm-dd')}</c:numRef></c:xVal>"
        sizes = f"<c:yVal><c:numRef>{cache('numCache', ['0.25'], code='0%')}</c:numRef></c:yVal>"
        content = with_chart(f"<c:plotArea><c:scatterChart>{series('S', sizes, days)}</c:scatterChart></c:plotArea>")
        (chart,) = blocks_of(read(content), BlockType.CHART_TEXT)
        assert chart.text == "S\n2020-01-01\t25%"

    def test_categories_of_several_levels_are_named_from_the_outermost(self) -> None:
        levels = '<c:lvl><c:pt idx="0"><c:v>Q1</c:v></c:pt><c:pt idx="1"><c:v>Q2</c:v></c:pt></c:lvl>'
        levels += '<c:lvl><c:pt idx="0"><c:v>2030</c:v></c:pt></c:lvl>'
        categories = f"<c:cat><c:multiLvlStrRef><c:multiLvlStrCache>{levels}</c:multiLvlStrCache></c:multiLvlStrRef></c:cat>"
        content = with_chart(f"<c:plotArea><c:barChart>{series('S', categories, COUNTS)}</c:barChart></c:plotArea>")
        (chart,) = blocks_of(read(content), BlockType.CHART_TEXT)
        assert chart.text == "S\n2030 Q1\t120.00\nQ2\t1,350.50"

    def test_a_series_named_in_place_and_its_labels_and_trend_are_told(self) -> None:
        label = "<c:dLbls><c:dLbl><c:tx><c:rich><a:p><a:r><a:t>peak</a:t></a:r></a:p></c:rich></c:tx></c:dLbl></c:dLbls>"
        named = f"<c:ser><c:tx><c:v>In place</c:v></c:tx>{label}<c:trendline><c:name>rising</c:name></c:trendline>{COUNTS}</c:ser>"
        content = with_chart(f"<c:plotArea><c:lineChart>{named}</c:lineChart></c:plotArea>")
        (chart,) = blocks_of(read(content), BlockType.CHART_TEXT)
        assert chart.text == "In place\n120.00\n1,350.50\npeak\nrising"

    def test_a_chart_of_the_later_kind_tells_its_points(self) -> None:
        data = '<c:data id="0"><c:strDim type="cat"><c:lvl><c:pt idx="0">won</c:pt><c:pt idx="1">lost</c:pt></c:lvl></c:strDim>'
        data += (
            '<c:numDim type="val"><c:lvl formatCode="0.0"><c:pt idx="0">3</c:pt><c:pt idx="1">1</c:pt></c:lvl></c:numDim></c:data>'
        )
        named = "<c:series><c:tx><c:txData><c:v>Games</c:v></c:txData></c:tx></c:series>"
        (chart,) = blocks_of(read(with_chart(f"<c:chartData>{data}</c:chartData>{named}")), BlockType.CHART_TEXT)
        assert chart.text == "won\t3.0\nlost\t1.0\nGames"

    @pytest.mark.skipif(not SHARED.is_dir(), reason="the shared corpus is not here")
    def test_a_chart_sheet_of_the_corpus_holds_what_its_expected_rendering_shows(self) -> None:
        artifact = read((SHARED / "docling/xlsx_03_chartsheet.xlsx").read_bytes())
        (chart,) = blocks_of(artifact, BlockType.CHART_TEXT)
        fresh, salt = (120, 135, 150, 170, 160, 180), (80, 95, 100, 110, 120, 130)
        lines = ["Wild Duck Observations by Year"]
        for name, counts in (("Freshwater Ducks", fresh), ("Saltwater Ducks", salt)):
            lines += [name, *(f"{year}\t{count}" for year, count in enumerate(counts, 2019))]
        assert chart.text.splitlines() == [*lines, "Year", "Number of Ducks"]
        assert chart.section_path == ("Duck Chart",)


class TestNames:
    def names(self, *defined: str) -> bytes:
        book = WorkbookXml(
            [
                SheetXml("Rates & co", table([["Tax"]]) + table([["item", "rate"], ["a", 1], ["b", 2]], top=3)),
                SheetXml("Other", table([["x", "y"], [1, 2]])),
            ],
            calculation=f"<definedNames>{''.join(defined)}</definedNames>",
        )
        return book.build()

    def test_a_name_is_a_key_of_what_first_shows_its_range(self) -> None:
        content = self.names(
            "<definedName name=\"TaxRates\">'Rates &amp; co'!$A$3:$B$5</definedName>",
            "<definedName name=\"TaxTitle\">'Rates &amp; co'!$A$1</definedName>",
            '<definedName name="Everywhere">Other!$A:$B</definedName>',
            "<definedName name=\"Both\">'rates &amp; co'!$B$4,Other!$1:$1</definedName>",
        )
        artifact = read(content)
        assert [(block.type, block.defines) for block in artifact.blocks if block.defines] == [
            (BlockType.HEADING, ("TaxTitle",)),
            (BlockType.TABLE, ("TaxRates", "Both")),
            (BlockType.TABLE, ("Everywhere", "Both")),
        ]
        assert_reads_back(content, artifact)

    @pytest.mark.parametrize(
        "defined",
        [
            '<definedName name="_xlnm.Print_Area">Other!$A$1:$B$2</definedName>',
            '<definedName name="Hidden" hidden="1">Other!$A$1</definedName>',
            '<definedName name="Constant">0.19</definedName>',
            '<definedName name="Gone">Other!#REF!</definedName>',
            '<definedName name="Formula">SUM(Other!$A$1:$B$2)</definedName>',
            '<definedName name="Nowhere">Missing!$A$1</definedName>',
            '<definedName name="">Other!$A$1</definedName>',
        ],
    )
    def test_a_name_that_shows_nowhere_is_no_key(self, defined: str) -> None:
        assert not any(block.defines for block in read(self.names(defined)).blocks)

    def test_a_declared_table_is_a_key_of_its_block(self) -> None:
        part = (
            f'<table xmlns="{MAIN}" displayName="Orders" ref="A1:B3"><tableColumns><tableColumn name="k"/></tableColumns></table>'
        )
        sheet = SheetXml("S", table([["k", "v"], ["a", 1], ["b", 2]]), related=[("table", "../t.xml")])
        artifact = read(WorkbookXml([sheet], parts={"xl/t.xml": part}).build())
        (block,) = blocks_of(artifact, BlockType.TABLE)
        assert (block.defines, artifact.datasets[0].name) == (("Orders",), "Orders")


class TestPrinted:
    def sheet(self, inner: str, attributes: str = "") -> bytes:
        return WorkbookXml([SheetXml("S", table([["x"]]), f"<headerFooter {attributes}>{inner}</headerFooter>")]).build()

    def test_headers_and_footers_are_blocks_of_their_own_without_their_codes(self) -> None:
        content = self.sheet(
            '<oddHeader>&amp;LTop left&amp;C&amp;"Arial,Bold"&amp;12Draft &amp;&amp; copy&amp;R&amp;D</oddHeader>'
            "<oddFooter>&amp;K00AA11Sensitivity: &amp;BInternal&amp;K01+049 use</oddFooter>"
        )
        artifact = read(content)
        assert [(block.type, block.text, block.locator) for block in artifact.blocks[2:]] == [
            (BlockType.HEADER, "Top left\tDraft & copy", SheetPlace("S/header", 0, 0, 0, 0)),
            (BlockType.FOOTER, "Sensitivity: Internal use", SheetPlace("S/footer", 0, 0, 0, 0)),
        ]
        assert_reads_back(content, artifact)

    def test_those_of_first_and_even_pages_are_read_where_the_sheet_prints_them(self) -> None:
        inner = "<oddHeader>odd</oddHeader><evenHeader>even</evenHeader><firstFooter>first</firstFooter>"
        printed = {BlockType.HEADER, BlockType.FOOTER}
        assert [b.text for b in read(self.sheet(inner)).blocks if b.type in printed] == ["odd"]
        content = self.sheet(inner, 'differentOddEven="1" differentFirst="true"')
        artifact = read(content)
        assert [(b.text, getattr(b.locator, "sheet", "")) for b in artifact.blocks if b.type in printed] == [
            ("odd", "S/header"),
            ("even", "S/header even"),
            ("first", "S/footer first"),
        ]
        assert_reads_back(content, artifact)

    def test_page_numbers_dates_and_names_alone_are_nothing(self) -> None:
        artifact = read(self.sheet("<oddHeader>&amp;C&amp;A</oddHeader><oddFooter>&amp;P+1&amp;R&amp;P / &amp;N</oddFooter>"))
        assert [block.text for block in artifact.blocks[2:]] == ["/"]

    def test_a_layer_that_is_not_there_is_not_found(self) -> None:
        with pytest.raises(LocatorNotFound):
            resolve(self.sheet("<oddHeader>x</oddHeader>"), SheetPlace("S/footer", 0, 0, 0, 0), filename="book.xlsx")


class TestWhatIsNoText:
    def test_a_linked_cell_is_its_text_once_and_the_address_is_not_followed(self) -> None:
        link = '<hyperlinks><hyperlink ref="A2" r:id="rId1" tooltip="hover" display="site"/></hyperlinks>'
        rels = relationships([]).replace(
            "</Relationships>",
            f'<Relationship Id="rId1" Type="{RELS}/hyperlink" Target="http://192.0.2.1/" TargetMode="External"/></Relationships>',
        )
        sheet = SheetXml("S", table([["name", "n"], ["our site", 1]]), link)
        content = WorkbookXml([sheet], parts={"xl/worksheets/_rels/sheet1.xml.rels": rels}).build()
        artifact = read(content)
        assert [block.text for block in artifact.blocks] == ["S", "name\tn\nour site\t1"]

    def test_rules_for_cells_are_no_text(self) -> None:
        rules = '<conditionalFormatting sqref="A1"><cfRule type="containsText" text="alarm"><formula>"alarm"</formula></cfRule>'
        rules += '</conditionalFormatting><dataValidations count="1"><dataValidation type="list" sqref="A2" promptTitle="Pick">'
        rules += "<formula1>&quot;red,green&quot;</formula1></dataValidation></dataValidations>"
        artifact = read(simple([["colour", "n"], ["red", 1]], after=rules))
        assert [block.text for block in artifact.blocks] == ["Sheet1", "colour\tn\nred\t1"]

    def test_a_pivot_table_is_the_cells_it_left_on_the_sheet(self) -> None:
        rows = table([["Row Labels", "Sum of n"], ["north", 3], ["south", 4], ["Grand Total", 7]], top=3)
        pivot = f'<pivotTableDefinition xmlns="{MAIN}" name="P"><location ref="A3:B6"/></pivotTableDefinition>'
        records = f'<pivotCacheRecords xmlns="{MAIN}"><r><s v="unseen source row"/></r></pivotCacheRecords>'
        book = WorkbookXml(
            [SheetXml("S", rows, related=[("pivotTable", "../pivotTables/p.xml")])],
            parts={"xl/pivotTables/p.xml": pivot, "xl/pivotCache/r.xml": records},
        )
        artifact = read(book.build())
        (block,) = blocks_of(artifact, BlockType.TABLE)
        assert block.text == "Row Labels\tSum of n\nnorth\t3\nsouth\t4\nGrand Total\t7"
        assert artifact.datasets[0].rows.column("Sum of n").to_pylist() == [3, 4, 7]
        assert "unseen" not in " ".join(block.text for block in artifact.blocks)


class TestTables:
    def test_a_header_far_from_the_first_row_and_column_is_found(self) -> None:
        artifact = read(simple([[None]] * 6 + [[None, None, "day", "amount"], [None, None, "a", 1], [None, None, "b", 2]]))
        (dataset,) = artifact.datasets
        assert [column.name for column in dataset.columns] == ["day", "amount"]
        assert (dataset.locator, dataset.header_rows) == (SheetPlace("Sheet1", 7, 9, 3, 4), 1)

    def test_hidden_columns_are_read_and_said(self) -> None:
        hidden = '<cols><col min="2" max="2" hidden="1"/><col min="9" max="9" hidden="1"/></cols>'
        artifact = read(WorkbookXml([SheetXml("S", table([["a", "b"], [1, 2]]), before=hidden)]).build())
        assert blocks_of(artifact, BlockType.TABLE)[0].text == "a\tb\n1\t2"
        assert [(said.code, said.locator) for said in artifact.warnings] == [("HIDDEN_COLUMNS", SheetPlace("S", 1, 2, 2, 2))]

    def test_an_array_formula_stands_at_its_first_cell_and_its_results_at_all(self) -> None:
        rows = table([["a", "b"]])
        rows += row(2, number("A2", 1), '<c r="B2"><f t="array" ref="B2:B3">A2:A3*2</f><v>2</v></c>')
        rows += row(3, number("A3", 2), number("B3", 4))
        (dataset,) = read(WorkbookXml([SheetXml("S", rows)]).build()).datasets
        assert [(f.row_id, f.formula, f.cached) for f in dataset.formulas] == [(0, "A2:A3*2", True)]
        assert dataset.rows.column("b").to_pylist() == [2, 4]

    def test_currencies_percents_and_negatives_keep_value_and_unit(self) -> None:
        rows = table([["euro", "share", "loss"]])
        rows += row(2, number("A2", "-12.5", style=0), number("B2", "0.125", style=1), number("C2", "-3", style=2))
        formats = ["#,##0.00\\ [$€-407]", "0.0%", '"$"#,##0_);\\("$"#,##0\\)']
        artifact = read(WorkbookXml([SheetXml("S", rows)], formats=formats).build())
        (dataset,) = artifact.datasets
        assert [(column.type, column.unit) for column in dataset.columns] == [(ColumnType.NUMBER, unit) for unit in ("€", "%", "$")]
        assert dataset.rows.to_pylist()[0]["euro"] == Decimal("-12.5")
        assert blocks_of(artifact, BlockType.TABLE)[0].text == "euro\tshare\tloss\n-12.50 €\t12.5%\t($3)"

    def test_a_very_hidden_sheet_with_a_merged_cell_is_read_and_flagged(self) -> None:
        sheet = SheetXml("Secret", table([["wide"], ["a", "b"]]), merged("A1:B1"), state="veryHidden")
        artifact = read(WorkbookXml([SheetXml("Shown", table([["x"]])), sheet]).build())
        assert {block.visibility for block in artifact.blocks if block.section_path[0] == "Secret"} == {Visibility.HIDDEN_SHEET}


class TestWritten:
    def test_a_macro_workbook_is_read_by_its_media_type(self) -> None:
        media_type = "application/vnd.ms-excel.sheet.macroEnabled.12"
        assert media_type in known_format("xlsx").media_types
        content = WorkbookXml([SheetXml("S", table([["a", "b"], [1, 2]]))], parts={"xl/vbaProject.bin": b"\x00"}).build()
        artifact = extract(content, content_type=media_type)
        assert (artifact.format, [said.code for said in artifact.warnings]) == ("xlsx", ["ACTIVE_CONTENT"])

    def test_a_strict_workbook_is_read_with_its_dates(self) -> None:
        rows = table([["day", "n"]]) + '<row r="2"><c r="A2" t="d" s="0"><v>2021-02-03</v></c><c r="B2"><v>1</v></c></row>'
        main, rels = f"{STRICT}/spreadsheetml/main", f"{STRICT}/officeDocument/relationships"
        kinds = ["officeDocument", "worksheet"]
        targets = ["xl/workbook.xml", "worksheets/sheet1.xml"]
        links = [relationships([(f"{rels}/{kind}", target)]) for kind, target in zip(kinds, targets, strict=True)]
        content = zipped(
            {
                "_rels/.rels": links[0],
                "xl/_rels/workbook.xml.rels": links[1],
                "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{rels}" conformance="strict"><sheets>'
                '<sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>',
                "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>',
            }
        )
        (dataset,) = read(content).datasets
        assert dataset.rows.column("day").to_pylist() == [dt.date(2021, 2, 3)]

    def test_ten_times_as_many_tables_take_about_ten_times_as_long(self) -> None:
        """Tables of one cell, side by side and below one another."""

        def book(size: int) -> bytes:
            rows = "".join(row(3 * i + 1, *(number(f"{chr(65 + 2 * c)}{3 * i + 1}", i) for c in range(12))) for i in range(size))
            return WorkbookXml([SheetXml("S", rows)]).build()

        times = []
        for size in (30, 300):
            content = book(size)
            times.append(min(_seconds(content) for _ in range(3)))
        assert times[1] < 40 * times[0]


def _seconds(content: bytes) -> float:
    import time

    began = time.process_time()
    read(content)
    return time.process_time() - began


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared corpus is not here")
def test_merged_cells_show_what_a_spreadsheet_program_saved() -> None:
    artifact = read((SHARED / "sheetjs/merge_cells.xlsx").read_bytes())
    with (SHARED / "sheetjs/merge_cells.xlsx.0.csv").open(newline="", encoding="cp1252") as handle:
        saved = {(r, c): value for r, line in enumerate(csv.reader(handle), 1) for c, value in enumerate(line, 1) if value}
    shown = {}
    for block in artifact.blocks:
        place = block.locator
        assert isinstance(place, SheetPlace)
        for cell in block.cells:
            shown[place.first_row + cell.row, place.first_column + cell.column] = cell.text
        if not block.cells and not place.tab:
            shown[place.first_row, place.first_column] = block.text
    assert shown == saved


def test_a_text_in_line_and_a_formula_of_text_are_texts() -> None:
    rows = table([["a", "b"]]) + row(2, text("A2", "in line"), '<c r="B2" t="str"><f>A2&amp;"!"</f><v>in line!</v></c>')
    (dataset,) = read(WorkbookXml([SheetXml("S", rows)]).build()).datasets
    assert [column.type for column in dataset.columns] == [ColumnType.STRING, ColumnType.STRING]
    assert dataset.rows.to_pylist()[0]["b"] == "in line!"
