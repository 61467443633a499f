from __future__ import annotations

from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loom.knowledge.v1 import datasets_pb2, search_pb2

from clients.enums import contract_name, name_of
from clients.values import JsonValue, PyValue, from_struct, from_value, to_struct, to_value

Value = datasets_pb2.Value

READ = [
    (Value(), None),
    (Value(string_value=""), ""),
    (Value(number_value="-12345.6700"), Decimal("-12345.6700")),
    (Value(double_value=0.5), 0.5),
    (Value(bool_value=False), False),
    (Value(date_value="2031-05-27"), date(2031, 5, 27)),
    (Value(datetime_value="2031-05-27T07:32:00.25"), datetime.fromisoformat("2031-05-27 07:32:00.250")),
    (
        Value(datetime_value="2031-05-27T07:32:00+02:00"),
        datetime(2031, 5, 27, 7, 32, tzinfo=timezone(timedelta(hours=2))),
    ),
    (Value(time_value="07:32:00.5"), time(7, 32, 0, 500000)),
    (Value(duration_value="5400"), timedelta(hours=1, minutes=30)),
    (Value(duration_value="-0.25"), timedelta(milliseconds=-250)),
    (Value(integer_value=12), 12),
]


@pytest.mark.parametrize(("message", "expected"), READ, ids=lambda item: str(item).strip()[:30])
def test_values_read_as_pythons_own(message: datasets_pb2.Value, expected: PyValue) -> None:
    value = from_value(message)
    assert value == expected
    assert type(value) is type(expected)


def test_digits_are_kept_as_they_are() -> None:
    assert str(from_value(Value(number_value="1.500"))) == "1.500"
    assert to_value(Decimal("1.50E+3")) == Value(number_value="1500")
    assert to_value(Decimal("1E-7")) == Value(number_value="0.0000001")


def test_whole_numbers_are_exact_numbers_and_truth_is_not_a_number() -> None:
    assert to_value(10**30) == Value(number_value="1000000000000000000000000000000")
    assert to_value(True) == Value(bool_value=True)


def test_what_no_column_holds_is_refused() -> None:
    with pytest.raises(ValueError, match="no exact digits"):
        to_value(Decimal("Infinity"))
    with pytest.raises(TypeError, match="not bytes"):
        to_value(b"x")  # type: ignore[arg-type]  # the wrong type is the point


@given(
    st.one_of(
        st.none(),
        st.text(),
        st.booleans(),
        st.decimals(allow_nan=False, allow_infinity=False),
        st.floats(allow_nan=False),
        st.dates(),
        st.datetimes(),
        st.times(),
        st.timedeltas(),
    )
)
def test_what_is_written_reads_back(value: PyValue) -> None:
    assert from_value(to_value(value)) == value


def test_json_objects_pass_through() -> None:
    values: dict[str, JsonValue] = {"owner": "ops", "pages": 3.0, "draft": False, "parts": ["a", {"b": None}]}
    assert from_struct(to_struct(values)) == values


def test_enum_names_are_lower_case_without_their_prefix() -> None:
    assert name_of(search_pb2.SearchMode, search_pb2.SEARCH_MODE_LEXICAL) == "lexical"
    assert name_of(search_pb2.SearchMode, 0) == ""
    assert name_of(search_pb2.SearchMode, 99) == "99"
    assert contract_name(search_pb2.SearchMode, "lexical") == "SEARCH_MODE_LEXICAL"
    assert contract_name(search_pb2.SearchMode, "") == "SEARCH_MODE_UNSPECIFIED"
    with pytest.raises(ValueError, match="'fuzzy' is not one of hybrid, semantic, lexical"):
        contract_name(search_pb2.SearchMode, "fuzzy")
