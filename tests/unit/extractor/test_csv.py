"""CSV and TSV files: every cell, typed by whole columns, at the lines it stands on; nothing that does not fit is lost untold."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from artifact.locators import LineSpan, RowSpan, from_json
from artifact.model import ROW_LOCATOR, Artifact, BlockType, ColumnType
from extractor_svc.context import Options
from extractor_svc.errors import BadEncoding, LocatorNotFound, NoText, OutputLimit, TooManyColumns, TooManyRows
from extractor_svc.extract import extract, resolve
from extractor_svc.formats.csv_dialect import Dialect
from extractor_svc.formats.csv_scan import scan
from extractor_svc.limits import DEFAULT_LIMITS, Limits
from extractor_svc.render import to_json, to_markdown


def read(content: str | bytes, name: str = "table.csv", *, limits: Limits = DEFAULT_LIMITS, **options: str) -> Artifact:
    data = content.encode() if isinstance(content, str) else content
    return extract(data, filename=name, options=Options(**options), limits=limits)


def names(artifact: Artifact) -> list[str]:
    return [column.name for column in artifact.datasets[0].columns]


def types(artifact: Artifact) -> list[ColumnType]:
    return [column.type for column in artifact.datasets[0].columns]


def values(artifact: Artifact, column: str) -> list[object]:
    return artifact.datasets[0].rows.column(column).to_pylist()


def places(artifact: Artifact) -> list[object]:
    return [from_json(text) for text in artifact.datasets[0].rows.column(ROW_LOCATOR).to_pylist()]


def codes(artifact: Artifact) -> list[tuple[str, object]]:
    return [(warning.code, warning.locator) for warning in artifact.warnings]


class TestFieldFaults:
    @pytest.mark.parametrize(
        "content",
        [
            b"\xef\xbb\xbfName,Age\nIda,30\n",
            b'\xef\xbb\xbf"Name","Age"\nIda,30\n',
            b"\xff\xfe" + "Name,Age\nIda,30\n".encode("utf-16-le"),
        ],
    )
    def test_h21_a_byte_order_mark_is_no_part_of_the_first_name(self, content: bytes) -> None:
        artifact = read(content)
        assert names(artifact) == ["Name", "Age"]
        assert (values(artifact, "Name"), values(artifact, "Age")) == (["Ida"], [Decimal(30)])

    def test_h22_quoted_delimiters_and_decimal_commas_do_not_mislead(self) -> None:
        artifact = read('Land;Spot;Menge;Tag\nPeru;"12,04;77,03";8120,5;06/05/31\nChad;"15,45;18,73";77,25;07/05/31\n')
        assert names(artifact) == ["Land", "Spot", "Menge", "Tag"]
        assert values(artifact, "Spot") == ["12,04;77,03", "15,45;18,73"]
        assert values(artifact, "Menge") == [Decimal("8120.50"), Decimal("77.25")]

    def test_h23_identifiers_stay_as_they_are_written(self) -> None:
        artifact = read(
            'zip,acct,plot,seen\n00734,"0042",12_11_3,2031-02-03\n01020,"0043",12_11_4,2031-02-04\n90210,"1200",12_12_1,2031-02-05\n'
        )
        assert values(artifact, "zip") == ["00734", "01020", "90210"]
        assert values(artifact, "acct") == ["0042", "0043", "1200"]
        assert values(artifact, "plot")[0] == "12_11_3"
        assert values(artifact, "seen")[0] == dt.date(2031, 2, 3)

    def test_h24_the_type_is_that_of_all_rows_not_of_the_first(self) -> None:
        artifact = read("n,v\n" + "".join(f"{n},1\n" for n in range(25_000)) + "25000,3.75\n25001,007\n25002,11.0.1\n")
        assert artifact.datasets[0].rows.num_rows == 25_003
        assert values(artifact, "v")[-4:] == ["1", "3.75", "007", "11.0.1"]
        assert not artifact.datasets[0].rejected_count

    def test_h25_records_that_do_not_fit_are_kept_and_told(self) -> None:
        artifact = read("id,name,qty\n1,nut,5\n2,bolt,6,EXTRA\n3,pin\n4,rod,8,\n")
        assert names(artifact) == ["id", "name", "qty", "column 4"]
        assert values(artifact, "qty") == [5, 6, None, 8]
        assert values(artifact, "column 4") == [None, "EXTRA", None, None]
        assert codes(artifact) == [("ROW_WIDTH", LineSpan(line, line)) for line in (3, 4, 5)]


class TestCells:
    def test_quotes_hold_delimiters_quotes_and_line_feeds(self) -> None:
        artifact = read('a,b\n"x, ""y""","two\nlines"\nz,\n')
        assert values(artifact, "a") == ['x, "y"', "z"]
        assert values(artifact, "b") == ["two\nlines", None]
        assert places(artifact) == [LineSpan(2, 3), LineSpan(4, 4)]

    def test_spaces_before_a_quote_belong_to_no_cell(self) -> None:
        assert values(read('n, t\n1, "a, b"\n2, "c"\n'), "t") == ["a, b", "c"]

    def test_a_backslash_lets_a_quote_stand_where_the_file_writes_it_so(self) -> None:
        artifact = read('n,t\n1,"say \\"hi\\", then"\n2,"C:\\temp \\\\ \\"x\\""\n')
        assert values(artifact, "t") == ['say "hi", then', 'C:\\temp \\ "x"']

    def test_a_backslash_is_itself_where_no_quote_follows(self) -> None:
        assert values(read('n,t\n1,"C:\\temp"\n2,D:\\x\n'), "t") == ["C:\\temp", "D:\\x"]

    def test_quotes_within_a_cell_are_text(self) -> None:
        artifact = read('size,n\n5" pipe,1\n6"" pipe,2\n')
        assert values(artifact, "size") == ['5" pipe', '6"" pipe']
        assert codes(artifact) == []

    def test_a_quote_that_never_closes_is_text_of_its_cell_and_told(self) -> None:
        artifact = read('n,t\n1,"open\n2,b\n3,c\n')
        assert values(artifact, "t") == ['"open', "b", "c"]
        assert codes(artifact) == [("STRAY_QUOTES", LineSpan(2, 2))]

    def test_quotes_that_hold_what_could_be_records_are_told(self) -> None:
        artifact = read('n,t\n1,"open\n2,b\n3,c\n4,d"\n5,e\n')
        assert values(artifact, "t") == ["open\n2,b\n3,c\n4,d", "e"]
        assert codes(artifact) == [("CSV_AMBIGUOUS", LineSpan(2, 5))]

    def test_what_looks_like_a_formula_is_text_and_told_once(self) -> None:
        artifact = read('n,t\n1,x\n2,"=SUM(A1:A2)"\n3,=1+1\n')
        assert values(artifact, "t") == ["x", "=SUM(A1:A2)", "=1+1"]
        assert codes(artifact) == [("FORMULA_TEXT", LineSpan(3, 3))]

    def test_single_quotes_are_quotes_where_most_lines_have_them(self) -> None:
        assert values(read("name;v\n'a;b';1\n'c';2\n'd;e';3\n"), "name") == ["a;b", "c", "d;e"]
        assert values(read("name,v\nrock 'n' roll,1\n'tis,2\n"), "name") == ["rock 'n' roll", "'tis"]

    @pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", "^", "~", "\x1f", "\x01"])
    def test_the_delimiter_is_found(self, delimiter: str) -> None:
        lines = ["id name price", "1 nut 0.25", "2 bolt 1.50", "3 pin 0.75"]
        artifact = read("\n".join(line.replace(" ", delimiter) for line in lines))
        assert names(artifact) == ["id", "name", "price"]
        assert values(artifact, "price") == [Decimal("0.25"), Decimal("1.50"), Decimal("0.75")]
        assert not artifact.warnings

    def test_a_line_that_states_the_delimiter_is_no_record(self) -> None:
        artifact = read("sep=;\na;b\n1,5;2\n")
        assert (names(artifact), values(artifact, "a"), places(artifact)) == (["a", "b"], [Decimal("1.5")], [LineSpan(3, 3)])
        assert [(count.reason, count.words) for count in artifact.coverage.words_excluded] == [("delimiter_line", 1)]

    def test_a_name_in_tsv_decides_for_tabs(self) -> None:
        assert values(read("a\tb\n1,2,3\t4,5,6\n", "x.tsv"), "a") == ["1,2,3"]

    @pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
    def test_every_kind_of_line_end_counts_the_same(self, line_end: str) -> None:
        artifact = read(line_end.join(["a,b", "1,2", "", "3,4", ""]))
        assert (values(artifact, "b"), places(artifact)) == ([2, 4], [LineSpan(2, 2), LineSpan(4, 4)])

    @given(
        st.lists(st.lists(st.text("ab\"\n, ;é'", max_size=6), min_size=3, max_size=3), min_size=1, max_size=12),
        st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
        st.integers(1, 60),
    )
    @settings(max_examples=200, deadline=None)
    def test_what_a_writer_wrote_is_read_in_stretches_of_any_size(self, rows: list[list[str]], quoting: int, stretch: int) -> None:
        out = io.StringIO()
        csv.writer(out, quoting=quoting, lineterminator="\n").writerows(rows)
        text = out.getvalue()
        found = [row for part in scan(text.encode(), Dialect(","), stretch=stretch) for row in part.rows(0, len(part))]
        assert found == list(csv.reader(io.StringIO(text), skipinitialspace=False))

    @given(st.text('a",\n ', max_size=60), st.integers(1, 30))
    @settings(max_examples=300, deadline=None)
    def test_no_character_is_lost_however_quotes_stand(self, text: str, stretch: int) -> None:
        found = "".join(cell for part in scan(text.encode(), Dialect(","), stretch=stretch) for cell in part.cells.to_pylist())
        assert found.count("a") == text.count("a")

    @given(st.text('a",\n', max_size=80), st.integers(1, 30))
    @settings(max_examples=300, deadline=None)
    def test_the_size_of_a_stretch_changes_nothing(self, text: str, stretch: int) -> None:
        def rows(size: int) -> list[tuple[list[str], int, int, bool]]:
            return [
                (cells, int(part.first_lines[i]), int(part.last_lines[i]), bool(part.odd[i]))
                for part in scan(text.encode(), Dialect(","), stretch=size)
                for i, cells in enumerate(part.rows(0, len(part)))
            ]

        assert rows(stretch) == rows(1000)


class TestTypes:
    def test_numbers_dates_truths_and_words(self) -> None:
        artifact = read("n,d,t,b,w\n1,2024-02-29,2024-01-01 10:30,true,x\n-2.50,2024-03-01,2024-01-01T23:59:59,FALSE,y\n,,,,\n")
        assert types(artifact) == [
            ColumnType.NUMBER,
            ColumnType.DATE,
            ColumnType.DATETIME,
            ColumnType.BOOL,
            ColumnType.STRING,
        ]
        assert values(artifact, "n") == [Decimal("1.00"), Decimal("-2.50"), None]
        assert values(artifact, "t") == [
            dt.datetime.fromisoformat("2024-01-01T10:30"),
            dt.datetime.fromisoformat("2024-01-01T23:59:59"),
            None,
        ]
        assert values(artifact, "b") == [True, False, None]
        column = artifact.datasets[0].columns[0]
        assert (column.precision, column.scale, column.nullable) == (3, 2, True)
        assert [(count.type, count.values) for count in column.inferred] == [(ColumnType.NUMBER, 2)]

    def test_a_column_of_several_types_is_text_and_asked_about(self) -> None:
        artifact = read("k,v\na,1\nb,2024-01-01\nc,word\nd,1\n")
        (asked,) = artifact.datasets[0].clarifications
        assert (asked.code, asked.column) == ("mixed_types", "v")
        assert "1 string, 2 number, 1 date" in asked.message
        assert values(artifact, "v") == ["1", "2024-01-01", "word", "1"]

    @pytest.mark.parametrize(
        ("content", "right"),
        [
            ("k,v\na,1.234\nb,5.678\n", [Decimal("1.234"), Decimal("5.678")]),  # commas part cells: the point marks decimals
            ("k;v\na;1.234\nb;5.678\n", ["1.234", "5.678"]),  # nothing tells
            ("k;v;w\na;1.234;0,5\nb;5.678;7,25\n", [Decimal(1234), Decimal(5678)]),  # the other column tells
            ("k;v;w\na;1.234;0.5\nb;5.678;7.25\n", [Decimal("1.234"), Decimal("5.678")]),
            ('k,v\na,"1,234.50"\nb,"5,678.00"\n', [Decimal("1234.50"), Decimal("5678.00")]),
            ('k,v\na,"0,5"\nb,"7,25"\n', [Decimal("0.50"), Decimal("7.25")]),
            ("k,v\na,12.5%\nb,7%\n", [Decimal("0.125"), Decimal("0.070")]),
            ("k,v\na,1e3\nb,2.5\n", [Decimal("1000.0"), Decimal("2.5")]),
        ],
    )
    def test_the_decimal_mark_is_taken_from_the_column_then_from_the_file(self, content: str, right: list[object]) -> None:
        assert values(read(content), "v") == right

    def test_numbers_of_more_digits_than_a_decimal_holds_are_doubles_and_said_to_be_inexact(self) -> None:
        artifact = read("k,v\na," + "1" * 39 + "\nb,0.5\n")
        assert (values(artifact, "v")[1], artifact.datasets[0].complete) == (0.5, False)

    def test_plain_numbers_of_a_long_column_are_held_as_one_by_one(self) -> None:
        texts = [f"{n % 97 - 40}.{n % 1000:03d}" for n in range(5000)]
        artifact = read("v,w\n" + "".join(f"{text},x\n" for text in texts))
        assert values(artifact, "v") == [Decimal(text) for text in texts]

    def test_an_empty_column_is_text_without_a_value(self) -> None:
        artifact = read("a,b\n1,\n2,\n")
        assert (types(artifact)[1], values(artifact, "b")) == (ColumnType.STRING, [None, None])


class TestLayout:
    def test_titles_above_and_notes_below_are_paragraphs(self) -> None:
        artifact = read("Sales report\nMade 2024\n\nid,name,qty\n1,nut,5\n2,pin,6\n\nSource: the shop\n")
        assert [(block.type, block.text, block.locator) for block in artifact.blocks] == [
            (BlockType.PARAGRAPH, "Sales report", LineSpan(1, 1)),
            (BlockType.PARAGRAPH, "Made 2024", LineSpan(2, 2)),
            (BlockType.TABLE, "id\tname\tqty\n1\tnut\t5\n2\tpin\t6", LineSpan(4, 6)),
            (BlockType.PARAGRAPH, "Source: the shop", LineSpan(8, 8)),
        ]
        assert values(artifact, "qty") == [5, 6]

    def test_titles_padded_with_delimiters_and_named_values_stand_above_the_table(self) -> None:
        artifact = read("Report,,\nFrom:,2024-01-01,\n\nid,name,qty\n1,nut,5\n2,pin,6\n")
        assert [block.text for block in artifact.blocks[:2]] == ["Report\t\t", "From:\t2024-01-01\t"]
        assert names(artifact) == ["id", "name", "qty"]

    @pytest.mark.parametrize(
        ("content", "right"),
        [
            ("# made by x\n# on Monday, at noon\nid,v\n1,2\n3,4\n", ["id", "v"]),
            ("# made by x\n#id,v\n1,2\n3,4\n", ["#id", "v"]),
            ("#id,v\n1,2\n3,4\n", ["#id", "v"]),
        ],
    )
    def test_remarks_stand_above_the_table_and_may_end_in_its_header(self, content: str, right: list[str]) -> None:
        artifact = read(content)
        assert (names(artifact), artifact.datasets[0].rows.num_rows) == (right, 2)
        assert "".join(block.text for block in artifact.blocks).count("#") == content.count("#")

    def test_a_first_record_like_the_others_is_data(self) -> None:
        artifact = read("1,2024-01-01,5.5\n2,2024-01-02,6.5\n3,2024-01-03,7.5\n")
        dataset = artifact.datasets[0]
        assert (dataset.header_rows, names(artifact), dataset.rows.num_rows) == (0, ["column 1", "column 2", "column 3"], 3)
        assert {asked.code for asked in dataset.clarifications} == {"generated_name"}
        assert places(artifact) == [LineSpan(1, 1), LineSpan(2, 2), LineSpan(3, 3)]

    def test_years_above_numbers_are_names(self) -> None:
        artifact = read("region,2019,2020\nnorth,12,15\nsouth,13,18\n")
        assert names(artifact) == ["region", "2019", "2020"]

    def test_names_that_are_missing_or_come_twice_are_made_up_and_asked_about(self) -> None:
        artifact = read(",a,a\n1,2,3\n4,5,6\n")
        assert names(artifact) == ["column 1", "a", "a (2)"]
        assert [asked.code for asked in artifact.datasets[0].clarifications] == ["generated_name", "duplicate_name"]

    def test_numbers_as_names_over_words_are_asked_about(self) -> None:
        artifact = read("1,2\na,b\nc,d\n")
        assert (names(artifact), [asked.code for asked in artifact.datasets[0].clarifications]) == (
            ["1", "2"],
            ["header_like_data"],
        )

    def test_a_delimiter_at_the_end_of_every_row_makes_no_column(self) -> None:
        artifact = read("a,b\n1,2,\n3,4,\n5,6,\n")
        assert names(artifact) == ["a", "b"]

    def test_a_header_alone_is_a_dataset_without_rows(self) -> None:
        artifact = read("id,name\n")
        assert (names(artifact), artifact.datasets[0].rows.num_rows) == (["id", "name"], 0)

    def test_one_column_needs_no_delimiter(self) -> None:
        assert values(read("Town\nNew York\nLima\n\nOslo, Norway\n"), "Town") == ["New York", "Lima", "Oslo"]

    def test_a_record_far_too_wide_is_rejected_with_its_cells_and_stays_text(self) -> None:
        artifact = read("a,b\n1,2\n" + ",".join("x" * 30) + "\n3,4\n")
        dataset = artifact.datasets[0]
        (rejected,) = dataset.rejected_rows
        assert (rejected.locator, rejected.values, dataset.rejected_count) == (LineSpan(3, 3), ("x",) * 30, 1)
        assert (values(artifact, "a"), names(artifact), dataset.complete) == ([1, 3], ["a", "b"], False)
        assert artifact.blocks[0].text.count("x") == 30


class TestEncoding:
    def test_text_that_is_no_utf_8_is_told(self) -> None:
        artifact = read("Straße;Größe\nMünchen;1,5\nKöln;2,5\n".encode("cp1252"))
        assert (values(artifact, "Straße"), artifact.encoding) == (["München", "Köln"], "cp1252")
        assert codes(artifact) == [("ENCODING_GUESSED", None)]

    def test_the_named_encoding_is_used_and_must_fit(self) -> None:
        assert values(read("a,b\nЯ,1\n".encode("cp1251"), encoding="cp1251"), "a") == ["Я"]
        with pytest.raises(BadEncoding):
            read(b"a,b\n\xff,1\n", encoding="utf-8")

    def test_nul_and_other_controls_are_spaces(self) -> None:
        artifact = read(b"a,b\nx\x00y,1\n")
        assert (values(artifact, "a"), codes(artifact)) == (["x y"], [("CONTROL_CHARS", None)])


class TestPlaces:
    def test_blocks_and_rows_read_back(self) -> None:
        content = b'Title\n\nid,t\n1,"a\nb"\n2,"c ""d"""\n3,e\n'
        artifact = extract(content, filename="t.csv")
        for block in artifact.blocks:
            assert resolve(content, block.locator, filename="t.csv").split() == block.text.split()
        assert [resolve(content, place, filename="t.csv") for place in places(artifact)] == ["1\ta b", '2\tc "d"', "3\te"]

    @pytest.mark.parametrize("place", [LineSpan(3, 9), LineSpan(0, 1), LineSpan(9, 9), LineSpan(2, 1), RowSpan(1, 1)])
    def test_a_place_that_is_not_there_is_refused(self, place: LineSpan) -> None:
        with pytest.raises(LocatorNotFound):
            resolve(b"a,b\n1,2\n3,4\n", place, filename="t.csv")

    def test_a_table_is_written_once_and_its_cells_are_as_in_the_file(self) -> None:
        artifact = read('a,b\n"x\ny",1\n')
        written = json.dumps(to_json(artifact)["blocks"])
        assert written.count("x y") == 1
        assert [cell.text for cell in artifact.blocks[0].cells] == ["a", "b", "x\ny", "1"]
        assert to_markdown(artifact) == "| a | b |\n| --- | --- |\n| x y | 1 |\n"


class TestLimits:
    @pytest.mark.parametrize("content", [b" \n\n\t\n", b"\x00", b"\x00 \x00\n", b"sep=;", b"sep=;\n"])
    def test_nothing_but_white_space_and_control_characters_is_no_text(self, content: bytes) -> None:
        with pytest.raises(NoText):
            read(content)

    def test_too_many_columns_rows_and_characters_are_refused(self) -> None:
        with pytest.raises(TooManyColumns):
            read(",".join("x" * 100_000) + "\n")
        with pytest.raises(TooManyRows):
            read("a,b\n" + "1,2\n" * 11, limits=Limits(max_rows=10))
        assert read("a,b\n" + "1,2\n" * 10, limits=Limits(max_rows=10)).datasets[0].rows.num_rows == 10
        with pytest.raises(OutputLimit):
            read("a,b\n" + "word,2\n" * 100, limits=Limits(max_text_chars=100))

    def test_short_records_below_a_wide_header_do_not_fill_the_memory(self) -> None:
        with pytest.raises(TooManyRows):
            read(
                ",".join(f"c{n}" for n in range(4000)) + "\n" + ",".join("1" * 4000) + "\n" + "1,2\n" * 2,
                limits=Limits(max_cells=100),
            )

    def test_warnings_are_bounded(self) -> None:
        artifact = read("a,b\n" + "1,2\n" * 3000 + "1\n" * 1500)
        assert (len(artifact.warnings), artifact.warnings[-1].code) == (1001, "WARNINGS_LEFT_OUT")

    @given(st.binary(max_size=300))
    @settings(max_examples=150, deadline=None)
    def test_no_bytes_crash_the_reader(self, content: bytes) -> None:
        try:
            artifact = read(b"a,b\n" + content)
        except (NoText, BadEncoding, TooManyColumns):
            return
        assert artifact.datasets
