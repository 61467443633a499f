"""Sheets read in bulk: the same cells as an XML parser finds, whatever stands in them, and the same meaning as one by one."""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from artifact.locators import LineSpan
from artifact.model import Block, BlockType, Cell, ColumnType
from bench.workbook import large_workbook
from extractor_svc import render
from extractor_svc.errors import Malformed, XmlDtdForbidden
from extractor_svc.extract import extract
from extractor_svc.formats import xlsx_cells, xlsx_lines, xlsx_meaning, xlsx_moments, xlsx_numbers
from extractor_svc.formats.xlsx_display import show_number
from extractor_svc.formats.xlsx_frames import NotPlain
from extractor_svc.formats.xlsx_moments import plain_moments
from extractor_svc.formats.xlsx_number_formats import number_format
from extractor_svc.formats.xlsx_numbers import plain_numbers
from extractor_svc.formats.xlsx_plain import read_plain
from extractor_svc.formats.xlsx_raw import Budget
from extractor_svc.formats.xlsx_strings import parsed_strings, strings_in_bulk
from extractor_svc.formats.xlsx_values import number_value
from extractor_svc.limits import Limits
from extractor_svc.made_rows import MadeRows
from extractor_svc.tabular import hold_values
from extractor_svc.tabular_columns import hold_at
from extractor_svc.value_columns import columns_of, digits
from extractor_svc.values import EMPTY, Value
from tests.unit.extractor.workbooks import MAIN, SheetXml, WorkbookXml, number, row, shared, text

CORPUS = Path(__file__).resolve().parents[3] / ".." / "shared" / "corpus" / "xlsx"
SPACES = "urn:x"


def sheet(rows: str, *, attributes: str = "", before: str = "", after: str = "") -> bytes:
    return f'<worksheet xmlns="{MAIN}" {attributes}>{before}<sheetData>{rows}</sheetData>{after}</worksheet>'.encode()


def told(read: Callable[..., xlsx_cells.SheetXml], content: bytes) -> object:
    """All that a reader finds in a part, or the name of its refusal."""
    try:
        found = read(content, "sheet.xml", Budget(1_000_000, 1_000_000), lambda: None)
    except (Malformed, XmlDtdForbidden) as error:
        return type(error).__name__
    raw = found.cells
    formulas = dict(zip(raw.formula_at.tolist(), raw.formulas.to_pylist(), strict=True))
    columns = (raw.rows.tolist(), raw.columns.tolist(), raw.kinds.tolist(), raw.styles.tolist(), raw.stored.to_pylist())
    cells = [(*cell, formulas.get(i)) for i, cell in enumerate(zip(*columns, strict=True))]
    last = {cell[:2]: cell[2:] for cell in cells}
    return len(cells), last, found.merged, found.hidden_rows, found.hidden_columns, found.printed


def assert_alike(content: bytes) -> None:
    assert told(xlsx_cells.in_bulk, content) == told(xlsx_cells.parsed, content)


def is_plain(content: bytes) -> bool:
    try:
        return read_plain(content, Budget(1_000_000, 0), lambda: None).whole
    except NotPlain:
        return False


ROWS = (
    row(1, text("A1", "Name"), shared("B1", 3), '<c r="C1" s="2"/>', attributes='spans="1:3" x:dyDescent="0.25"')
    + row(2, number("A2", "0.5", style=1), '<c r="B2" t="str"><f>A2&amp;"&lt;&quot;"</f><v>a &lt; b &amp;amp; c</v></c>')
    + row(3, number("A3", "1E-7"), '<c r="XFD3" t="b"><v>1</v></c>', attributes='hidden="1"')
    + row(4, '<c r="A4"><f t="shared" ref="A4:A5" si="0">B4*$C$1</f><v>7</v></c>', '<c r="B4"><f/><v>1</v></c>')
    + row(5, '<c r="A5"><f t="shared" si="0"/><v>8</v></c>', '<c r="B5"><f>SUM(A1:A4)</f><v/></c>', '<c r="C5"></c>')
    + '<row r="6" ht="3"/>'
    + row(1048576, '<c r="A1048576" t="e"><v>#N/A</v></c>', '<c r="B1048576" t="inlineStr"><is><t>\u00fc\U0001f600</t></is></c>')
)
AFTER = '<mergeCells><mergeCell ref="A1:B1"/></mergeCells><headerFooter><oddHeader>&amp;Ltop</oddHeader></headerFooter>'
WHOLE = sheet(ROWS, attributes=f'xmlns:x="{SPACES}"', before='<cols><col min="2" max="3" hidden="1"/></cols>', after=AFTER)


class TestRows:
    def test_plain_rows_are_read_without_a_parser_and_alike(self) -> None:
        assert is_plain(WHOLE)
        assert_alike(WHOLE)

    def test_a_prefix_and_a_byte_order_mark_and_a_declaration_are_as_good_as_none(self) -> None:
        prefixed = WHOLE.replace(b"<", b"<p:").replace(b"<p:/", b"</p:").replace(b"xmlns=", b"xmlns:p=")
        content = b'\xef\xbb\xbf<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n' + prefixed
        assert is_plain(content)
        assert told(xlsx_cells.in_bulk, content) == told(xlsx_cells.parsed, WHOLE)

    @pytest.mark.parametrize(
        "cells",
        [
            '<c r="A2" t="inlineStr"><is><r><t>rich</t></r><r><t> text</t></r></is></c>',
            '<c r="A2"><v><![CDATA[5]]></v></c>',
            '<c r="A2"><v>5</v></c><!-- a comment --><c r="B2"><v>6</v></c>',
            "<c><v>5</v></c><c><v>6</v></c>",
            '<c r="B9"><v>5</v></c>',
            '<c t="s" r="A2"><v>5</v></c>',
            "<c r='A2'><v>5</v></c>",
            '<c r="A2"><v>&#53;</v></c>',
            '<c r="A2"><v>5</v><v>6</v></c>',
            '<c r="A2"><v>1 > 0</v></c>',
            '<c r="A2" t="str"><v>one\r\ntwo</v></c>',
            '\n  <c r="A2">\n <v>5</v>\n </c>\n',
            '<c r="A2"><extLst><ext/></extLst><v>5</v></c>',
            '<c r="A1"><v>first</v></c>',
            '<c r="A2" nobody:s="1" any:s="2"><v>5</v></c>',
            '<c r="A2"><f t="shared" si="0"/></c>',
        ],
    )
    def test_a_row_that_is_not_plain_is_parsed_among_those_that_are(self, cells: str) -> None:
        rows = row(1, number("A1", 1)) + f'<row r="2">{cells}</row>' + row(3, number("A3", 3)) + "<row><c><v>4</v></c></row>"
        assert not is_plain(sheet(rows))
        assert_alike(sheet(rows))

    @pytest.mark.parametrize(
        "rows",
        [
            '<row r="1"><c r="A1"><v>1</v></row>',
            '<row r="1"><c r="A1" s="1" s="2"><v>1</v></c></row>',
            '<row r="1"><c r="A1" r="B1"><v>1</v></c></row>',
            '<row r="1"><c r="A1"><v>&nbsp;</v></c></row>',
            '<row r="1"><c r="A1"><v>\x01</v></c></row>',
            '<row r="1"><c r="A1"><v>\ufffe</v></c></row>',
            '<c r="<row r="1"><c r="A1"><v>1</v></c></row>"/>',
            '<row r="1"><c r="A1"><v>1</v></c></row></sheetData><sheetData',
            '<row r="1048577"><c r="A1048577"><v>1</v></c></row>',
            '<row r="1"><c r="XFE1"><v>1</v></c></row>',
        ],
    )
    def test_what_a_parser_refuses_is_refused(self, rows: str) -> None:
        assert told(xlsx_cells.parsed, sheet(rows)) == "Malformed"
        assert_alike(sheet(rows))

    def test_bytes_that_are_no_utf_8_are_refused(self) -> None:
        assert_alike(sheet(row(1, text("A1", "x"))).replace(b">x<", b">\xff<"))

    def test_another_encoding_is_left_to_the_parser(self) -> None:
        content = '<?xml version="1.0" encoding="ISO-8859-1"?>' + sheet(row(1, text("A1", "\u00fc"))).decode()
        assert_alike(content.encode("latin-1"))
        assert_alike(content.replace("ISO-8859-1", "utf-16").encode("utf-16"))

    def test_a_document_type_is_refused(self) -> None:
        assert told(xlsx_cells.in_bulk, b"<!DOCTYPE x>" + WHOLE) == "XmlDtdForbidden"


SNIPPETS = st.sampled_from(
    [
        "<c>", "</c>", '<c r="B2">', '<c r="A0"/>', "<row>", '<row r="9">', '<row r="2">', "</row>", "<v>", "</v>", "<v>7</v>",
        "<f>", '<f t="shared" si="0">A1</f>', '<f t="shared" si="0"/>', "<is>", "</is>", "<t>x</t>", "&lt;", "&", "<", ">", '"',
        "]]>",
        "x", "<!--", "-->", "<!-- <row -->", "<?pi?>", "<![CDATA[", "\r", " ", "\n", "=",
        "<sheetData>", "</sheetData>", 's="3"',
        '<row r="7"><c r="A7"><v>1</v></c></row>', '<c r="A2" t="s"><v>1</v></c>', "\x02", "/", 'xmlns:x="u"', "x:",
    ]
)  # fmt: skip
CHANGES = st.lists(
    st.tuples(st.integers(0, len(WHOLE)), st.integers(0, 8), st.one_of(st.just(""), SNIPPETS)), min_size=1, max_size=4
)


def test_a_cell_with_an_empty_formula_and_no_result_is_none() -> None:
    content = sheet('<row r="1"><c r="A1"><v>1</v></c><c r="B1"><f/></c></row><row r="2"><c r="A2"><v>2</v></c></row>')
    assert_alike(content)
    counted = told(xlsx_cells.in_bulk, content)
    assert isinstance(counted, tuple)
    assert counted[0] == 2


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(CHANGES)
def test_a_changed_sheet_is_read_or_refused_as_its_parser_does(changes: list[tuple[int, int, str]]) -> None:
    content = WHOLE
    for place, cut, snippet in changes:
        content = content[:place] + snippet.encode() + content[place + cut :]
    assert_alike(content)


TOKENS = st.lists(SNIPPETS, max_size=12).map("".join)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(st.just(ROWS), TOKENS, st.just(row(8, number("A8", 1)))), max_size=4).map("".join))
def test_any_order_of_a_sheets_elements_is_read_alike(rows: str) -> None:
    assert_alike(sheet(rows, attributes=f'xmlns:x="{SPACES}"'))


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the shared corpus is not here")
def test_every_sheet_and_string_of_the_corpus_is_read_alike() -> None:
    plain = 0
    for path in sorted(CORPUS.rglob("*.xls[xm]")):
        if not zipfile.is_zipfile(path):
            continue
        with zipfile.ZipFile(path) as package:
            for name in package.namelist():
                content = package.read(name)
                if "/worksheets/" in name and name.endswith(".xml"):
                    assert_alike(content)
                    plain += is_plain(content)
                elif name.lower().endswith("sharedstrings.xml"):
                    assert strings(strings_in_bulk, content) == strings(parsed, content)
    assert plain >= 45


def parsed(content: bytes, part: str, limits: Limits) -> pa.StringArray:
    return parsed_strings(io.BytesIO(content), part, limits)


def strings(read: Callable[..., pa.StringArray], content: bytes) -> object:
    try:
        return read(content, "strings.xml", Limits()).to_pylist()
    except NotPlain:
        return strings(parsed, content)
    except (Malformed, XmlDtdForbidden) as error:
        return type(error).__name__


STRINGS = (
    "<si><t>plain</t></si><si><t xml:space='preserve'> two </t></si><si><t xml:space=\"preserve\"> a &amp;lt; b </t></si>"
    "<si><r><rPr/><t>rich</t></r><r><t>er</t></r></si><si><t>_x0041_</t></si><si/><si><t/></si>"
    "<si><t>\u5009</t><rPh sb='0' eb='1'><t>aid</t></rPh></si><si><t>last</t></si>\n"
)


class TestStrings:
    def test_plain_strings_and_others_keep_their_order(self) -> None:
        found = strings_in_bulk(f'<sst xmlns="{MAIN}" count="9">{STRINGS}</sst>'.encode(), "s", Limits()).to_pylist()
        assert found == ["plain", " two ", " a &lt; b ", "richer", "A", "", "", "\u5009", "last"]

    @settings(max_examples=150, deadline=None)
    @given(
        st.lists(
            st.tuples(
                st.integers(0, len(STRINGS)), st.integers(0, 6), st.sampled_from(["", "<si>", "</si>", "<t>", "<", "&", "<!--x-->"])
            ),
            max_size=3,
        )
    )
    def test_changed_strings_are_read_or_refused_as_their_parser_does(self, changes: list[tuple[int, int, str]]) -> None:
        items = STRINGS
        for place, cut, snippet in changes:
            items = items[:place] + snippet + items[place + cut :]
        content = f'<sst xmlns="{MAIN}">{items}</sst>'.encode()
        assert strings(strings_in_bulk, content) == strings(parsed, content)


FORMATS = [
    "General", "@", "0", "0.00", "#,##0", "#,##0.00", "0%", "0.0%", '"$"#,##0.00', "0.00_);(0.00)", "#,##0_);[Red](#,##0)",
    '#,##0.00;-#,##0.00;"zero"', '_("$"* #,##0.00_);_("$"* \\(#,##0.00\\);_("$"* "-"??_);_(@_)', "0.000000", "0.00E+00",
    "# ?/?", '0.00" kg"', "[>100]0.0;0.00", "00.0", "#,##0.0000000000", "[$\u20ac-2] #,##0.00", '"1 of" 0',
]  # fmt: skip
EDGES = [
    "0", "-0", "0.0", "-0.0", "5.", ".5", "1e5", "1E-7", "007", "0.5", "0.05", "0.005", "2.675", "1.005", "99.995", "999.5",
    "-0.004",
    "9.9999999999999995", "9.9999999999999999", "0.99999999999999994", "999999999999999.9", "99999999999999.99", " 12", "", "x",
    "0.30000000000000004", "123456789012345678", "1234567890123456789", "0.000012345678901234567", "-1234.5678",
]  # fmt: skip
WRITTEN = st.one_of(
    st.sampled_from(EDGES),
    st.integers(-(10**19), 10**19).map(str),
    st.integers(-(10**7), 10**7).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-1e7, 1e7).map(lambda value: f"{value:.17g}"),
    st.decimals(-(10**7), 10**7, places=3).map(str),
    st.tuples(st.floats(-1e9, 1e9), st.integers(0, 19)).map(lambda pair: f"{pair[0]:.{pair[1]}f}"),
)


class TestNumbers:
    @settings(max_examples=60, deadline=None)
    @given(st.lists(WRITTEN, min_size=64, max_size=90), st.sampled_from(FORMATS))
    def test_many_numbers_are_read_and_shown_as_each_alone(self, written: list[str], code: str) -> None:
        look = number_format(code)
        read, numbers, texts = plain_numbers(pa.array(written), look)
        alone = [number_value(stored, look, from_1904=False) for stored, taken in zip(written, read, strict=True) if taken]
        assert [(digits(value.value), value.text) for value in alone] == list(
            zip(numbers.to_pylist(), texts.to_pylist(), strict=True)
        )

    @pytest.mark.parametrize(
        ("code", "stored", "shown"),
        [
            ("General", "0.30000000000000004", "0.3"),
            ("General", "1234567.1234567891", "1234567.12345679"),
            ("#,##0.00", "-1234567.005", "-1,234,567.01"),
            ("0%", "0.125", "13%"),
            ('"$"#,##0.00', "999.995", "$1,000.00"),
            ("0.00_);(0.00)", "-2.5", "(2.50)"),
            ("0.00", "-0.001", "0.00"),
        ],
    )
    def test_numbers_that_are_stated_by_hand(self, code: str, stored: str, shown: str) -> None:
        read, _, texts = plain_numbers(pa.array([stored] * 64), number_format(code))
        assert read.all()
        assert texts.to_pylist() == [shown] * 64
        assert show_number(number_format(code), Decimal(stored)) == shown


MOMENTS = [
    "yyyy-mm-dd", "d mmm yyyy", "yyyy-mm-dd hh:mm:ss", "h:mm AM/PM", "h:mm:ss.000", "m/d/yy h:mm", "dddd, mmmm dd, yyyy",
    "hh:mm:ss.0", "ddd h A/P", "yyyy-mm-dd h:mm:ss.00", "s", "  yyyy", "mmmmm-yy",
]  # fmt: skip
SERIALS = st.one_of(
    st.sampled_from(
        ["0", "59", "60", "61", "2958465", "2958465.99999", "2958466", "44197.99999999", "44197.999995", "1E5", "-1", "x"]
    ),
    st.integers(0, 2_958_470).map(str),
    st.floats(0, 3e6).map(repr),
    st.floats(0, 1).map(repr),
    st.tuples(st.integers(0, 86_400_000), st.integers(43_000, 46_000)).map(lambda pair: repr(pair[1] + pair[0] / 86_400_000)),
    st.tuples(st.floats(4e4, 5e4), st.integers(0, 16)).map(lambda pair: f"{pair[0]:.{pair[1]}f}"),
)


class TestMoments:
    @settings(max_examples=60, deadline=None)
    @given(st.lists(SERIALS, min_size=64, max_size=80), st.sampled_from(MOMENTS), st.booleans())
    def test_many_moments_are_read_and_shown_as_each_alone(self, written: list[str], code: str, from_1904: bool) -> None:
        look = number_format(code)
        read, found = plain_moments(pa.array(written), look, from_1904=from_1904)
        alone = [number_value(stored, look, from_1904=from_1904) for stored, taken in zip(written, read, strict=True) if taken]
        held = columns_of(alone, [code], np.zeros(len(alone), np.int32))
        assert found.kinds.tolist() == held.kinds.tolist()
        assert found.ticks.tolist() == held.ticks.tolist()
        assert found.texts.to_pylist() == held.texts.to_pylist()

    @pytest.mark.parametrize(
        ("code", "stored", "shown"),
        [
            ("yyyy-mm-dd", "43831", "2020-01-01"),
            ("d mmm yy h:mm AM/PM", "43831.75", "1 Jan 20 6:00 PM"),
            ("dddd hh:mm:ss.0", "43831.999999", "Wednesday 23:59:59.9"),
            ("h:mm:ss", "0.9999999", "0:00:00"),
        ],
    )
    def test_moments_that_are_stated_by_hand(self, code: str, stored: str, shown: str) -> None:
        read, found = plain_moments(pa.array([stored] * 64), number_format(code), from_1904=False)
        assert read.all()
        assert found.texts.to_pylist() == [shown] * 64


KINDS_OF_VALUES = (
    st.just(EMPTY),
    st.sampled_from(["a", "b c", "7"]).map(lambda held: Value(ColumnType.STRING, held, held)),
    st.integers(-(10**20), 10**20).map(lambda held: Value(ColumnType.NUMBER, held, f"<{held}>", number_format="0")),
    st.decimals(-1000, 1000, places=4).map(lambda held: Value(ColumnType.NUMBER, held, str(held), number_format="0.0%")),
    st.sampled_from([Decimal("1E-30"), Decimal("123456789012345.5"), Decimal("0.1")]).map(
        lambda held: Value(ColumnType.NUMBER, held, str(held), number_format='"$"0')
    ),
    st.booleans().map(lambda held: Value(ColumnType.BOOL, held, str(held).upper())),
    st.dates().map(lambda held: Value(ColumnType.DATE, held, held.isoformat(), number_format="yyyy")),
    st.datetimes().map(lambda held: Value(ColumnType.DATETIME, held, held.isoformat(), number_format="d")),
    st.times().map(lambda held: Value(ColumnType.TIME, held, held.isoformat(), number_format="h")),
    st.timedeltas(dt.timedelta(days=-9000), dt.timedelta(days=9000)).map(lambda held: Value(ColumnType.DURATION, held, str(held))),
)


class TestColumns:
    @settings(max_examples=150, deadline=None)
    @given(st.one_of(st.lists(st.one_of(KINDS_OF_VALUES), max_size=8), *(st.lists(kind, max_size=6) for kind in KINDS_OF_VALUES)))
    def test_a_column_of_many_is_held_as_one_of_single_values(self, values: list[Value]) -> None:
        codes = sorted({value.number_format for value in values} | {""})
        formats = np.array([codes.index(value.number_format) for value in values], np.int32)
        one, other = hold_values("c", "C", values), hold_at("c", "C", columns_of(values, codes, formats), np.arange(len(values)))
        assert one.column == other.column
        assert (one.clarification, one.exact) == (other.clarification, other.exact)
        assert one.array.type == other.array.type
        assert one.array.to_pylist() == other.array.to_pylist()

    def test_objects_made_when_asked_for_are_as_good_as_a_tuple(self) -> None:
        made = MadeRows(Cell, np.array([0, 1]), np.array([2, 3]), pa.array(["a", "b"]))
        cells = (Cell(0, 2, "a"), Cell(1, 3, "b"))
        one, other = (Block("b1", BlockType.TABLE, "", LineSpan(1, 1), cells=held) for held in (made, cells))
        assert (len(made), made[1], made[-1], made[:1]) == (2, cells[1], cells[1], cells[:1])
        assert (one, hash(one)) == (other, hash(other))
        with pytest.raises(IndexError):
            made[2]


MEANT = st.tuples(
    st.sampled_from(["n", "n", "n", "s", "str", "inlineStr", "b", "e", "d", "odd"]),
    st.integers(0, 5),
    st.sampled_from(["0", "1", "2.5", "44197.75", "1E-7", "", " ", "text", "_x0041_", "2021-01-02T03:04:05", "#N/A", "99"]),
    st.booleans(),
)


class TestMeaning:
    @settings(max_examples=80, deadline=None)
    @given(st.lists(MEANT, min_size=1, max_size=30))
    def test_cells_of_a_kind_mean_together_what_each_means_alone(self, cells: list[tuple[str, int, str, bool]]) -> None:
        rows = "".join(
            f'<row r="{i}"><c r="A{i}" t="{kind}" s="{style}">{"<f>B1</f>" if formula else ""}<v>{stored}</v></c></row>'
            for i, (kind, style, stored, formula) in enumerate(cells, 1)
        )
        formats = ["General", "0.00", "yyyy-mm-dd", "[h]:mm", "@", "#,##0 %"]
        book = WorkbookXml([SheetXml("S", rows)], strings=["<t>one</t>", "<t/>"], formats=formats).build()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(xlsx_meaning, "_FEW", 0)
            patch.setattr(xlsx_numbers, "_FEW", 0)
            patch.setattr(xlsx_moments, "_FEW", 0)
            patch.setattr(xlsx_lines, "_FEW", 0)
            together = render.to_json(extract(book, filename="x.xlsx"))
        assert together == render.to_json(extract(book, filename="x.xlsx"))


class TestLargeSheets:
    def test_a_large_sheet_holds_what_was_written(self) -> None:
        artifact = extract(large_workbook(3000, 10), filename="large.xlsx")
        (table,) = [block for block in artifact.blocks if block.cells]
        (dataset,) = artifact.datasets
        assert (len(table.cells), dataset.rows.num_rows, len(dataset.formulas)) == (30_010, 3000, 6000)
        assert table.text.partition("\n")[0] == "\t".join(f"column {letter}" for letter in "ABCDEFGHIJ")
        last = dataset.rows.slice(2999).to_pylist()[0]
        assert last["column A"] == 3001 * 7
        assert last["column C"] == dt.date(1899, 12, 30) + dt.timedelta(days=43831 + 3001 % 900)
        assert (last["column E"], dataset.formulas[-1].formula) == (3001 * 14, "A3001*2")
        assert table.text.rpartition("\n")[2].split("\t")[4] == str(3001 * 14)
