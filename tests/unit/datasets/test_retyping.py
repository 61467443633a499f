from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from artifact.locators import RowSpan
from artifact.model import ROW_ID, Column, ColumnType
from knowledge_svc.datasets.retyping import convertible, retype
from tests.dataset_fixtures import double, make_dataset, number, text


def read(column: Column, values: list[Any], wanted: ColumnType) -> tuple[Column, list[Any], list[str]]:
    """A column's new form, its kept values, and why rows were rejected."""
    made = retype(make_dataset([column, text("other")], [[value, "x"] for value in values]), {column.name: wanted})
    return made.columns[0], made.rows.column(column.name).to_pylist(), [row.reason for row in made.rejected_rows]


def test_l_appr_04_text_is_read_as_numbers_and_rows_that_do_not_fit_are_rejected() -> None:
    dataset = make_dataset([text("amount"), text("note")], [["1,234.50", "a"], ["about 7", "b"], [None, "c"], [" -3 ", "d"]])
    made = retype(dataset, {"amount": ColumnType.NUMBER})
    assert (made.columns[0].type, made.columns[0].precision, made.columns[0].scale) == (ColumnType.NUMBER, 6, 2)
    assert made.rows.to_pylist()[0]["amount"] == Decimal("1234.50")
    assert made.rows.column("amount").to_pylist() == [Decimal("1234.50"), None, Decimal(-3)]
    assert made.rows.column(ROW_ID).to_pylist() == [0, 2, 3]
    assert (made.rejected_count, made.complete) == (1, False)
    (rejected,) = made.rejected_rows
    assert (rejected.values, rejected.reason, rejected.locator) == (
        ("about 7", "b"),
        "amount: 'about 7' is no number",
        RowSpan(2, 2),
    )


@pytest.mark.parametrize(
    ("column", "value", "wanted", "held"),
    [
        (text("x"), "1.50", ColumnType.NUMBER, Decimal("1.50")),
        (text("x"), "Yes", ColumnType.BOOL, True),
        (text("x"), "2031-05-27", ColumnType.DATE, dt.date(2031, 5, 27)),
        (text("x"), "2031-05-27T07:32:00.5", ColumnType.DATETIME, dt.datetime.fromisoformat("2031-05-27T07:32:00.5")),
        (text("x"), "07:32", ColumnType.TIME, dt.time(7, 32)),
        (text("x"), "90", ColumnType.DURATION, dt.timedelta(seconds=90)),
        (number("x", 9, 2), Decimal("1.50"), ColumnType.STRING, "1.50"),
        (number("x", 9, 2), Decimal("1.00"), ColumnType.BOOL, True),
        (number("x", 9, 2), Decimal("1.50"), ColumnType.DURATION, dt.timedelta(seconds=1.5)),
        (double("x"), 0.1, ColumnType.STRING, "0.1"),
        (Column("x", ColumnType.BOOL), False, ColumnType.NUMBER, Decimal(0)),
        (Column("x", ColumnType.DATE), dt.date(2031, 5, 27), ColumnType.DATETIME, dt.datetime.fromisoformat("2031-05-27T00:00:00")),
        (Column("x", ColumnType.DATETIME), dt.datetime.fromisoformat("2031-05-27T00:00:00"), ColumnType.DATE, dt.date(2031, 5, 27)),
        (Column("x", ColumnType.DURATION), dt.timedelta(minutes=2), ColumnType.NUMBER, Decimal(120)),
        (Column("x", ColumnType.DATE), dt.date(2031, 5, 27), ColumnType.STRING, "2031-05-27"),
    ],
)
def test_a_value_is_read_as_another_type(column: Column, value: Any, wanted: ColumnType, held: Any) -> None:
    made, values, reasons = read(column, [value, None], wanted)
    assert (made.type, values, reasons) == (wanted, [held, None], [])


@pytest.mark.parametrize(
    ("column", "value", "wanted"),
    [
        (text("x"), "12,34", ColumnType.NUMBER),
        (text("x"), "1e5", ColumnType.NUMBER),
        (text("x"), "NaN", ColumnType.NUMBER),
        (text("x"), "", ColumnType.NUMBER),
        (text("x"), "27.5.2031", ColumnType.DATE),
        (text("x"), "2031-05-27T07:32:00+02:00", ColumnType.DATETIME),
        (text("x"), "maybe", ColumnType.BOOL),
        (number("x", 9), Decimal(2), ColumnType.BOOL),
        (Column("x", ColumnType.DATETIME), dt.datetime.fromisoformat("2031-05-27T07:32:00"), ColumnType.DATE),
    ],
)
def test_a_value_that_does_not_fit_is_never_bent(column: Column, value: Any, wanted: ColumnType) -> None:
    _, values, reasons = read(column, [value], wanted)
    assert values == []
    assert len(reasons) == 1


def test_numbers_of_more_than_38_digits_are_doubles_and_the_dataset_is_not_complete() -> None:
    dataset = make_dataset([text("x")], [["9" * 38], ["0.1"]])
    made = retype(dataset, {"x": ColumnType.NUMBER})
    assert (made.columns[0].precision, made.complete) == (0, False)
    assert made.rows.column("x").to_pylist() == [1e38, 0.1]


def test_a_row_that_fits_two_types_badly_is_rejected_once() -> None:
    dataset = make_dataset([text("x"), text("y")], [["a", "b"], ["1", "2"]])
    made = retype(dataset, {"x": ColumnType.NUMBER, "y": ColumnType.NUMBER})
    assert (made.rejected_count, made.rows.num_rows) == (1, 1)


def test_every_type_can_stay_and_become_text() -> None:
    for kind in ColumnType:
        assert {kind, ColumnType.STRING} <= set(convertible(kind))
    assert ColumnType.DATE not in convertible(ColumnType.NUMBER)
