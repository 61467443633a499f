from __future__ import annotations

import contextlib
from datetime import date, datetime, time, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clients.condition_text import read_condition
from clients.plans import Plan, compare
from clients.query_text import ShortQuery, build_plan, choose_dataset, split_source
from clients.results.artifacts import Column
from clients.results.datasets import Dataset
from clients.typed_text import QuerySyntax, typed

KINDS = {
    "region": "string",
    "Order date": "date",
    "amount": "number",
    "paid": "bool",
    "seen_at": "datetime",
    "at": "time",
    "took": "duration",
    "in": "string",
}


def column(name: str, kind: str) -> Column:
    return Column(name, kind, name, {}, "", "", 12, 2, nullable=True, stored=True)


def dataset(dataset_id: str = "orders") -> Dataset:
    return Dataset(
        namespace="local",
        source_uri="file:///o.xlsx",
        dataset_id=dataset_id,
        name="Orders",
        columns=tuple(column(name, kind) for name, kind in KINDS.items()),
        schema_state="inferred",
        clarifications=(),
        row_count=0,
        rejected_count=0,
        rejected_rows=(),
        complete=True,
        snapshot_id="s1",
        revision=1,
        locator=None,
        file_sha256="",
        sample_rows=(),
        published_at=None,
    )


def over() -> Plan:
    return Plan.over("file:///o.xlsx", "orders")


CONDITIONS = [
    ("amount >= 10", compare("amount", ">=", Decimal(10))),
    ("amount>=10.50", compare("amount", ">=", Decimal("10.50"))),
    ("amount = -3", compare("amount", "=", Decimal(-3))),
    ("region = north", compare("region", "=", "north")),
    ("region = '10'", compare("region", "=", "10")),
    ("region = 10", compare("region", "=", "10")),
    ("region = 'North ''N'' America'", compare("region", "=", "North 'N' America")),
    ('"Order date" < 2031-05-27', compare("Order date", "<", date(2031, 5, 27))),
    ('"in" = x', compare("in", "=", "x")),
    ("paid = TRUE", compare("paid", "=", True)),
    ("seen_at > 2031-05-27T07:32", compare("seen_at", ">", datetime.fromisoformat("2031-05-27T07:32"))),
    ("at <= 07:32", compare("at", "<=", time(7, 32))),
    ("took > 90.5", compare("took", ">", timedelta(seconds=90, milliseconds=500))),
    ("took > 1:30:00", compare("took", ">", timedelta(hours=1, minutes=30))),
    ("region is null", compare("region", "is null")),
    ("region IS NOT NULL", compare("region", "is not null")),
    ("region in (north, 'far south')", compare("region", "in", ["north", "far south"])),
    ("region not in (north)", compare("region", "not in", ["north"])),
    ("amount between 1 and 2", compare("amount", "between", Decimal(1), Decimal(2))),
    ("region contains 'a,b'", compare("region", "contains", "a,b")),
    ("region starts with n", compare("region", "starts with", "n")),
    ("region ends with th", compare("region", "ends with", "th")),
    ("not paid = true", ~compare("paid", "=", True)),
    (
        "amount > 1 or amount < 0 and paid = true",
        compare("amount", ">", Decimal(1)) | (compare("amount", "<", Decimal(0)) & compare("paid", "=", True)),
    ),
    (
        "(amount > 1 or amount < 0) and paid = true",
        (compare("amount", ">", Decimal(1)) | compare("amount", "<", Decimal(0))) & compare("paid", "=", True),
    ),
    (
        "amount between 1 and 2 and paid = true",
        compare("amount", "between", Decimal(1), Decimal(2)) & compare("paid", "=", True),
    ),
]


@pytest.mark.parametrize(("text", "condition"), CONDITIONS, ids=[text for text, _ in CONDITIONS])
def test_a_condition_reads_with_values_of_the_columns_type(text: str, condition: object) -> None:
    plan = build_plan(dataset(), ShortQuery(where=[text], count=["*"]))
    assert plan == over().matching(condition).count()  # type: ignore[arg-type]  # the table's values are conditions


FAULTS = [
    ("amount >= ten", "--where 'amount >= ten': column amount is of type number, and 'ten' is none; write it as digits"),
    ("amount", "expected an operator after amount"),
    ("amount >", "expected a value at the end"),
    ("amnt > 1", "there is no column 'amnt'; there are region, Order date, amount"),
    ("amount > 1 amount < 2", "put a value of several words in quotes at 'amount'"),
    ("region = North America", "put a value of several words in quotes at 'America'"),
    ("amount > 1)", r"expected 'and', 'or' or the end at '\)'"),
    ("(amount > 1", r"expected '\)' at the end"),
    ("region in north", r"expected '\(' at 'north'"),
    ("region in (north", r"expected '\)' at the end"),
    ("region starts n", "expected 'with' at 'n'"),
    ("amount between 1", "expected 'and' at the end"),
    ("region = 'north", "is a quote open"),
    ("paid = maybe", "write it as true or false"),
    ('"Order date" = 27.05.2031', "write it as 2031-05-27"),
    ("seen_at = 2031-05-27T07:32:00Z", "without an offset"),
    ("amount = NaN", "digits, such as -12.50"),
    ("", "expected a column at the end"),
    ("amount is 3", "expected 'null' at '3'"),
]


@pytest.mark.parametrize(("text", "message"), FAULTS, ids=[text or "nothing" for text, _ in FAULTS])
def test_what_does_not_read_says_where_and_what_was_expected(text: str, message: str) -> None:
    with pytest.raises(QuerySyntax, match=message):
        build_plan(dataset(), ShortQuery(where=[text]))


def test_conditions_nest_only_so_deep() -> None:
    with pytest.raises(QuerySyntax, match="at most 32 deep"):
        read_condition("(" * 5000 + "amount > 1" + ")" * 5000, KINDS.__getitem__)
    with pytest.raises(QuerySyntax, match="at most 32 deep"):
        read_condition("not " * 5000 + "amount > 1", KINDS.__getitem__)


@given(st.text(alphabet="ab 10()'\",<>=!andornotiull", max_size=40))
def test_no_text_makes_the_reader_fail_otherwise(text: str) -> None:
    with contextlib.suppress(QuerySyntax):
        read_condition(text, lambda _name: "string")


def test_case_is_ignored_in_text_only() -> None:
    query = ShortQuery(where=["region = NORTH and amount > 1"], count=["*"], ignore_case=True)
    both = compare("region", "=", "NORTH", ignore_case=True) & compare("amount", ">", Decimal(1))
    assert build_plan(dataset(), query) == over().matching(both).count()


def test_figures_groups_and_orders_read() -> None:
    query = ShortQuery(
        group_by=["region", "Order date:month as month"],
        sum=["amount"],
        count=["*", "paid as with_paid"],
        count_distinct=["region as regions"],
        count_if=["paid = false as open"],
        avg=["amount"],
        min=["Order date as first"],
        max=["amount"],
        having=["sum_amount > 100.5 and month >= 2031-01-01 and count < 9 and first is not null"],
        order_by=["-sum_amount, region", "-'month'"],
        limit=5,
    )
    having = (
        compare("sum_amount", ">", Decimal("100.5"))
        & compare("month", ">=", date(2031, 1, 1))
        & compare("count", "<", Decimal(9))
        & compare("first", "is not null")
    )
    expected = (
        over()
        .group_by("region")
        .group_by("Order date", "month", name="month")
        .count()
        .count("paid", name="with_paid")
        .count_distinct("region", name="regions")
        .count_if(compare("paid", "=", False), name="open")
        .sum("amount")
        .avg("amount")
        .min("Order date", name="first")
        .max("amount")
        .having_matching(having)
        .order_by("-sum_amount", "region")
        .order_by("-month")
        .limit(5)
    )
    assert build_plan(dataset(), query) == expected


def test_rows_are_selected_by_names_between_commas() -> None:
    query = ShortQuery(select=["region, 'Order date' as day", "amount"], distinct=True)
    assert build_plan(dataset(), query) == over().select("region").select(day="Order date").select("amount").distinct()


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (ShortQuery(sum=["amnt"]), "--sum 'amnt': there is no column 'amnt'"),
        (ShortQuery(sum=["*"]), r"--sum '\*': there is no column"),
        (ShortQuery(group_by=["seen_at:fortnight"]), "'fortnight' is no part of time; there are second"),
        (ShortQuery(having=["sum_amount > 1"]), "the result has no column 'sum_amount'; it has none"),
        (ShortQuery(select=["region,,amount"]), "a name is missing between commas"),
        (ShortQuery(select=["'region"]), "is a quote open"),
    ],
)
def test_options_that_do_not_read_are_named(query: ShortQuery, message: str) -> None:
    with pytest.raises(QuerySyntax, match=message):
        build_plan(dataset(), query)


def test_a_source_and_its_dataset_are_split_at_the_last_mark() -> None:
    assert split_source("file:///a#b.xlsx#orders") == ("file:///a#b.xlsx", "orders")
    assert split_source("file:///a.xlsx") == ("file:///a.xlsx", "")


def test_the_dataset_may_be_left_out_where_there_is_one() -> None:
    assert choose_dataset([dataset()], "file:///o.xlsx").dataset_id == "orders"
    with pytest.raises(QuerySyntax, match=r"write file:///o\.xlsx#ID with one of orders, customers"):
        choose_dataset([dataset(), dataset("customers")], "file:///o.xlsx")
    with pytest.raises(QuerySyntax, match="has no dataset"):
        choose_dataset([], "file:///o.xlsx")


def test_underscores_group_digits() -> None:
    assert typed("1_000.50", kind="number", column="amount") == Decimal("1000.50")


def test_negative_durations_read() -> None:
    assert typed("-0:30", kind="duration", column="took") == timedelta(minutes=-30)
