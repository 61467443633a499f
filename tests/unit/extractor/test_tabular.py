"""Datasets: types by the whole column, names that are unique, rows that are kept whole or not at all, digits that are exact."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from artifact.locators import RowSpan, to_json
from artifact.model import ColumnType, Dataset
from extractor_svc.errors import TooManyColumns, TooManyRows
from extractor_svc.limits import Limits
from extractor_svc.tabular import (
    EMPTY,
    TableRow,
    Value,
    build_dataset,
    column_values_of_text,
    decimal_mark_of,
    unit_of,
    value_of_text,
)


def value(held: object, *, text: str | None = None, error: str = "", formula: str = "", cached: bool = True) -> Value:
    kinds = {
        str: ColumnType.STRING,
        bool: ColumnType.BOOL,
        int: ColumnType.NUMBER,
        Decimal: ColumnType.NUMBER,
        dt.date: ColumnType.DATE,
        dt.datetime: ColumnType.DATETIME,
        dt.time: ColumnType.TIME,
        dt.timedelta: ColumnType.DURATION,
    }
    kind = None if held is None else kinds[type(held)]
    return Value(kind, held, str(held) if text is None else text, error=error, formula=formula, cached=cached)


def build(header: Sequence[str], *rows: Sequence[Value], header_rows: int = 1, limits: Limits | None = None) -> Dataset:
    return build_dataset(
        dataset_id="t",
        name="T",
        header=header,
        rows=[TableRow(RowSpan(i, i), values) for i, values in enumerate(rows, 1)],
        locator=RowSpan(1, len(rows)),
        header_rows=header_rows,
        limits=limits or Limits(),
    )


def one_column(*values: Value) -> Dataset:
    return build(["c"], *([v] for v in values))


class TestTypes:
    @pytest.mark.parametrize(
        ("held", "kind", "arrow"),
        [
            ("a", ColumnType.STRING, pa.string()),
            (True, ColumnType.BOOL, pa.bool_()),
            (7, ColumnType.NUMBER, pa.decimal128(1, 0)),
            (dt.date(2020, 1, 2), ColumnType.DATE, pa.date32()),
            (dt.datetime.fromisoformat("2020-01-02T03:04:05.000006"), ColumnType.DATETIME, pa.timestamp("us")),
            (dt.time(3, 4, 5, 6), ColumnType.TIME, pa.time64("us")),
            (dt.timedelta(days=-1, microseconds=1), ColumnType.DURATION, pa.duration("us")),
        ],
    )
    def test_values_of_one_type_are_held_as_that_type(self, held: object, kind: ColumnType, arrow: pa.DataType) -> None:
        dataset = one_column(value(held), EMPTY)
        assert dataset.columns[0].type is kind
        assert dataset.rows.schema.field("c").type == arrow
        assert dataset.rows.column("c").to_pylist() == [held, None]
        assert dataset.columns[0].nullable
        assert dataset.complete

    def test_the_last_value_of_a_column_counts_like_the_first(self) -> None:
        dataset = one_column(*[value(i) for i in range(500)], value("x"))
        assert dataset.columns[0].type is ColumnType.STRING
        assert [(count.type, count.values) for count in dataset.columns[0].inferred] == [
            (ColumnType.STRING, 1),
            (ColumnType.NUMBER, 500),
        ]
        assert [(asked.code, asked.column) for asked in dataset.clarifications] == [("mixed_types", "c")]
        assert dataset.rows.column("c").to_pylist()[-2:] == ["499", "x"]

    def test_mixed_values_are_held_as_they_are_displayed(self) -> None:
        dataset = one_column(value(Decimal("0.5"), text="50%"), value(True, text="TRUE"), EMPTY)
        assert dataset.rows.column("c").to_pylist() == ["50%", "TRUE", None]

    def test_dates_among_datetimes_are_midnights_and_ask_nothing(self) -> None:
        dataset = one_column(value(dt.date(2020, 1, 2)), value(dt.datetime.fromisoformat("2020-01-02T03:00")))
        assert dataset.columns[0].type is ColumnType.DATETIME
        assert dataset.rows.column("c").to_pylist()[0] == dt.datetime.fromisoformat("2020-01-02T00:00")
        assert dataset.clarifications == ()

    def test_a_column_without_any_value_is_text(self) -> None:
        dataset = one_column(EMPTY, EMPTY)
        assert (dataset.columns[0].type, dataset.columns[0].inferred) == (ColumnType.STRING, ())

    def test_the_rows_carry_their_number_and_place_first(self) -> None:
        dataset = one_column(value("a"), value("b"))
        assert dataset.rows.column_names == ["_row_id", "_locator", "c"]
        assert dataset.rows.schema.field("_row_id").type == pa.int64()
        assert dataset.rows.column("_locator").to_pylist() == [to_json(RowSpan(1, 1)), to_json(RowSpan(2, 2))]


class TestNumbers:
    def test_decimals_are_wide_enough_for_every_value(self) -> None:
        dataset = one_column(value(123), value(Decimal("-0.0625")), value(Decimal("1E+5")))
        column = dataset.columns[0]
        assert (column.precision, column.scale) == (10, 4)
        assert dataset.rows.column("c").to_pylist() == [123, Decimal("-0.0625"), 100000]

    def test_thirty_eight_digits_are_exact(self) -> None:
        dataset = one_column(value(int("9" * 38)))
        assert (dataset.columns[0].precision, dataset.columns[0].scale) == (38, 0)
        assert dataset.rows.column("c").to_pylist() == [int("9" * 38)]

    def test_digits_that_do_not_fit_are_doubles_and_the_loss_is_said(self) -> None:
        dataset = one_column(value(int("9" * 38)), value(Decimal("0.1")))
        assert (dataset.columns[0].precision, dataset.columns[0].scale) == (0, 0)
        assert dataset.rows.schema.field("c").type == pa.float64()
        assert not dataset.complete

    def test_doubles_that_mean_their_value_lose_nothing(self) -> None:
        dataset = one_column(value(Decimal("1E-300")), value(Decimal("2.5")))
        assert dataset.rows.column("c").to_pylist() == [1e-300, 2.5]
        assert dataset.complete

    def test_binary_floats_are_refused_as_values(self) -> None:
        with pytest.raises(TypeError):
            one_column(Value(ColumnType.NUMBER, 0.1, "0.1"))

    @given(
        st.lists(st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**12), max_value=10**12), min_size=1)
    )
    def test_sums_over_a_column_are_exact(self, numbers: list[Decimal]) -> None:
        dataset = one_column(*[value(number) for number in numbers])
        assert sum(dataset.rows.column("c").to_pylist()) == sum(numbers)


class TestNames:
    def names(self, *header: str, header_rows: int = 1) -> tuple[list[str], list[tuple[str, str]]]:
        dataset = build(header, [value("x")] * len(header), header_rows=header_rows)
        return [c.name for c in dataset.columns], [(asked.code, asked.column) for asked in dataset.clarifications]

    def test_an_empty_header_is_named_by_its_position(self) -> None:
        assert self.names("a", " ", "") == (
            ["a", "column 2", "column 3"],
            [("generated_name", "column 2"), ("generated_name", "column 3")],
        )

    def test_repeated_headers_are_numbered_without_regard_to_case(self) -> None:
        assert self.names("Sum", "sum", "SUM")[0] == ["Sum", "sum (2)", "SUM (3)"]
        assert self.names("a", "a", "a (2)")[0] == ["a", "a (2)", "a (2) (2)"]

    def test_names_of_the_rows_own_columns_are_taken(self) -> None:
        names, asked = self.names("_row_id", "_Locator")
        assert names == ["_row_id (2)", "_Locator (2)"]
        assert asked == [("duplicate_name", "_row_id (2)"), ("duplicate_name", "_Locator (2)")]

    def test_a_generated_name_never_collides(self) -> None:
        assert self.names("column 2", "")[0] == ["column 2", "column 2 (2)"]

    def test_white_space_in_a_header_is_one_space_and_the_source_is_kept(self) -> None:
        dataset = build(["Net\n amount "], [value(1)])
        assert (dataset.columns[0].name, dataset.columns[0].source_header) == ("Net amount", "Net\n amount ")

    @pytest.mark.parametrize("header", [("2019", "2020"), ("2024-01-01", "12.5"), ("1/2/2024", "$5")])
    def test_a_header_of_numbers_and_dates_is_questioned(self, header: tuple[str, str]) -> None:
        assert ("header_like_data", "") in self.names(*header)[1]

    def test_one_word_in_a_header_settles_it(self) -> None:
        assert self.names("2019", "City")[1] == []

    def test_without_header_rows_names_are_not_questioned(self) -> None:
        assert self.names("2019", "2020", header_rows=0)[1] == []


class TestRows:
    def test_a_fault_in_one_cell_rejects_the_row_and_counts_it(self) -> None:
        dataset = build(["a", "b"], [value(1), value(2)], [value(3), value(None, text="#N/A", error="cell error #N/A")])
        assert dataset.rows.num_rows == 1
        assert (dataset.rejected_count, dataset.complete) == (1, False)
        assert [(r.values, r.reason, r.locator) for r in dataset.rejected_rows] == [
            (("3", "#N/A"), "column b: cell error #N/A", RowSpan(2, 2))
        ]

    def test_rejected_rows_do_not_type_their_columns(self) -> None:
        dataset = build(["a", "b"], [value(1), value(2)], [value("x"), value(None, text="#N/A", error="cell error #N/A")])
        assert dataset.columns[0].type is ColumnType.NUMBER

    def test_the_first_hundred_rejected_rows_are_kept(self) -> None:
        dataset = one_column(*[value(None, text="#N/A", error="cell error #N/A")] * 130)
        assert (dataset.rejected_count, len(dataset.rejected_rows), dataset.rows.num_rows) == (130, 100, 0)

    def test_row_numbers_ascend_over_kept_rows(self) -> None:
        dataset = one_column(value(1), value(None, text="#N/A", error="e"), value(3))
        assert dataset.rows.column("_row_id").to_pylist() == [0, 1]

    def test_short_rows_end_in_empty_cells_and_long_ones_are_a_defect(self) -> None:
        assert build(["a", "b"], [value(1)]).rows.column("b").to_pylist() == [None]
        with pytest.raises(ValueError, match="2 values for 1 columns"):
            build(["a"], [value(1), value(2)])

    def test_a_formula_without_result_is_null_listed_and_incomplete(self) -> None:
        dataset = one_column(value(1), value(None, text="", formula="A1+1", cached=False))
        assert dataset.rows.column("c").to_pylist() == [1, None]
        assert [(f.row_id, f.column, f.formula, f.cached) for f in dataset.formulas] == [(1, "c", "A1+1", False)]
        assert not dataset.complete

    def test_limits_on_rows_and_columns(self) -> None:
        with pytest.raises(TooManyRows):
            build(["a"], [value(1)], [value(2)], limits=Limits(max_rows=1))
        with pytest.raises(TooManyColumns):
            build(["a", "b"], limits=Limits(max_columns=1))


class TestUnits:
    @pytest.mark.parametrize(
        ("code", "unit"),
        [
            ("0.0%", "%"),
            ('"$"#,##0.00', "$"),
            ("[$€-407] #,##0.00", "€"),
            ("[$EUR] 0", "EUR"),
            ('#,##0.00 "kr"', "kr"),
            ('_-* #,##0.00 "USD"_-', "USD"),
            ("#,##0.00 \\€;[Red]-0", "€"),
            ("0.00", ""),
            ('0 "pieces"', ""),
            ("[Red]0", ""),
            ("", ""),
        ],
    )
    def test_the_unit_is_what_the_format_states(self, code: str, unit: str) -> None:
        assert unit_of(code) == unit

    def test_a_column_has_the_most_frequent_format_and_its_unit(self) -> None:
        values = [Value(ColumnType.NUMBER, i, str(i), code) for i, code in enumerate(["0%", "0", "0%"])]
        column = one_column(*values).columns[0]
        assert (column.number_format, column.unit) == ("0%", "%")


def held(*texts: str, mark: str = "") -> list[object]:
    return [v.value if v.kind is ColumnType.NUMBER else v.text for v in column_values_of_text(texts, decimal_mark=mark)]


class TestTexts:
    @pytest.mark.parametrize(
        ("text", "number"),
        [
            ("7", 7),
            ("-12", -12),
            ("−12", -12),
            ("+3.50", Decimal("3.50")),
            (".5", Decimal("0.5")),
            ("1,234.50", Decimal("1234.50")),
            ("1.234,50", Decimal("1234.50")),
            ("1,234,567", 1234567),
            ("12,34,567", 1234567),
            ("1 234 567,8", Decimal("1234567.8")),
            ("1\u202f234", 1234),
            ("1'234.5", Decimal("1234.5")),
            ("0,125", Decimal("0.125")),
            ("1.5e3", 1500),
            ("$1,234.50", Decimal("1234.50")),
            ("-$5", -5),
            ("€ 5", 5),
            ("5 EUR", 5),
            ("(1,234.00)", Decimal(-1234)),
            ("7.5%", Decimal("0.075")),
            ("12345678901234567890", 12345678901234567890),
        ],
    )
    def test_numbers_that_leave_one_reading_are_numbers(self, text: str, number: object) -> None:
        typed = value_of_text(text)
        assert (typed.kind, typed.value, typed.text) == (ColumnType.NUMBER, number, text)
        assert not isinstance(typed.value, float)

    @pytest.mark.parametrize(
        "text",
        [
            "1,234",
            "1.234",
            "007",
            "0012.5",
            "1.2.3",
            "1,23,4",
            "12 34",
            "5 apples",
            "$5%",
            "(5",
            "1-2",
            "v1",
            "٣",
            "5%%",
            "1e9999",
            "(3)",
        ],
    )
    def test_what_leaves_a_doubt_stays_text(self, text: str) -> None:
        assert value_of_text(text).kind is ColumnType.STRING

    def test_the_column_settles_what_a_value_leaves_open(self) -> None:
        assert held("1,234", "5,678.90") == [1234, Decimal("5678.90")]
        assert held("1,234", "12") == [1234, 12]
        assert held("1,234", "0,5") == [Decimal("1.234"), Decimal("0.5")]
        assert held("1.234", "5.678.901") == [1234, 5678901]
        assert held("1.234", "12.5") == [Decimal("1.234"), Decimal("12.5")]

    def test_a_contradiction_keeps_the_column_text(self) -> None:
        assert held("1.5", "2,5") == ["1.5", "2,5"]
        assert held("1,234", "2019") == ["1,234", "2019"]

    def test_the_document_settles_what_the_column_leaves_open(self) -> None:
        assert decimal_mark_of(["1,234.5", "1,234", "x"]) == "."
        assert decimal_mark_of(["0,5"]) == ","
        assert decimal_mark_of(["0,5", "0.5"]) == ""
        assert held("1,234", "5,678", mark=".") == [1234, 5678]
        assert held("1,234", mark=",") == [Decimal("1.234")]

    def test_an_identifier_makes_its_column_text(self) -> None:
        assert held("007", "12") == ["007", "12"]

    def test_units_of_two_kinds_keep_the_column_text_and_one_currency_may_be_left_out(self) -> None:
        assert held("$5", "€6") == ["$5", "€6"]
        assert held("7%", "3") == ["7%", "3"]
        assert held("$5", "6") == [5, 6]

    def test_a_lone_dash_is_an_empty_cell_that_shows_a_dash(self) -> None:
        typed = column_values_of_text(["–", "3", " "])
        assert [(v.kind, v.text) for v in typed] == [(None, "–"), (ColumnType.NUMBER, "3"), (None, "")]

    def test_numbers_in_brackets_alone_are_references(self) -> None:
        assert held("(1)", "(2)") == ["(1)", "(2)"]
        assert held("(1)", "2") == [-1, 2]

    def test_iso_dates_are_dates_and_others_stay_text(self) -> None:
        typed = column_values_of_text(["2024-02-29", "2024-02-30", "02/03/2024"])
        assert [v.kind for v in typed] == [ColumnType.DATE, ColumnType.STRING, ColumnType.STRING]
        assert typed[0].value == dt.date(2024, 2, 29)
        assert value_of_text("2024-01-02 03:04").value == dt.datetime.fromisoformat("2024-01-02T03:04")

    def test_formats_are_written_as_a_sheet_would(self) -> None:
        typed = column_values_of_text(["$1,234.50"]) + column_values_of_text(["7.5%"]) + column_values_of_text(["1.234,5 €"])
        assert [(v.number_format, unit_of(v.number_format)) for v in typed] == [
            ('"$"#,##0.00', "$"),
            ("0.0%", "%"),
            ('#,##0.0 "€"', "€"),
        ]

    @given(st.lists(st.text(max_size=12), max_size=6))
    def test_any_text_is_kept_and_never_a_float(self, texts: list[str]) -> None:
        typed = column_values_of_text(texts)
        assert len(typed) == len(texts)
        for source, v in zip(texts, typed, strict=True):
            assert v.text.strip() == source.strip()
            assert not isinstance(v.value, float)

    @given(st.decimals(allow_nan=False, allow_infinity=False, places=2, min_value=0, max_value=10**9))
    def test_grouped_amounts_read_as_they_were_written(self, amount: Decimal) -> None:
        assert value_of_text(f"{amount:,.2f}").value == amount
