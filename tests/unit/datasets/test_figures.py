from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from artifact.model import Column, ColumnType
from knowledge_svc.domain.checked_plan import ResultColumn
from knowledge_svc.domain.errors import NumberOverflow
from knowledge_svc.domain.plan import Aggregate, AggregateFunction, ColumnRef, Comparison, GroupBy, Operator, OrderBy
from tests.dataset_fixtures import Tables, double, make_dataset, number, text

SUM, AVG, MIN, MAX = AggregateFunction.SUM, AggregateFunction.AVG, AggregateFunction.MIN, AggregateFunction.MAX
COUNT, DISTINCT = AggregateFunction.COUNT, AggregateFunction.COUNT_DISTINCT
NINES = 10**38 - 1


def figure(tables: Tables, column: Column, values: list[Any], function: AggregateFunction) -> Any:
    tables.publish(make_dataset([column], [[value] for value in values]))
    ((value,),) = tables.rows(aggregates=(Aggregate(function, ColumnRef(column.name)),))
    return value


def test_wide_decimals_are_exact(tables: Tables) -> None:
    amounts = ["-12345.67", "98765432109876543210987.65", "-98765432109876543210987.65", "-0.01"]
    tables.publish(make_dataset([number("amt", 29, 2)], [*([Decimal(one)] for one in amounts), [None]]))
    aggregates = (*tuple(Aggregate(one, ColumnRef("amt")) for one in (SUM, MIN, MAX, COUNT, DISTINCT)), Aggregate(COUNT))
    table, receipt = tables.ask(aggregates=aggregates)
    assert table.rows == (
        (Decimal("-12345.68"), Decimal("-98765432109876543210987.65"), Decimal("98765432109876543210987.65"), 4, 4, 5),
    )
    assert table.columns[0] == ResultColumn("sum_amt", ColumnType.NUMBER, 38, 2)
    assert receipt.steps[1].null_skipped == 1


MEDIAN, PERCENTILE, STDDEV = AggregateFunction.MEDIAN, AggregateFunction.PERCENTILE, AggregateFunction.STDDEV
FIRST, LAST = AggregateFunction.FIRST, AggregateFunction.LAST


@pytest.mark.parametrize(
    ("values", "median"),
    [
        (["3.00", None, "1.00", "2.00"], "2.000"),
        (["1.00", "2.01"], "1.505"),
        (["-0.01", "0.00"], "-0.005"),
        (["9", "1", "1", "1"], "1.000"),
        ([None], None),
        ([], None),
    ],
)
def test_a_median_is_the_middle_value_or_half_the_sum_of_two(tables: Tables, values: list[Any], median: str | None) -> None:
    given = [None if value is None else Decimal(value) for value in values]
    assert figure(tables, number("x", 9, 2), given, MEDIAN) == (None if median is None else Decimal(median))


def test_medians_of_wide_decimals_are_exact_or_refused(tables: Tables) -> None:
    wide = number("x", 37)
    assert figure(tables, wide, [Decimal(10**36 + 1), Decimal(10**36 + 2)], MEDIAN) == Decimal(f"{10**36 + 1}.5")
    with pytest.raises(NumberOverflow):
        figure(tables, number("x", 38), [Decimal(NINES), Decimal(NINES)], MEDIAN)


def test_medians_of_time_spans_are_rounded_to_even_microseconds(tables: Tables) -> None:
    spans = [dt.timedelta(microseconds=one) for one in (1, 2, 4, 4)]
    assert figure(tables, Column("x", ColumnType.DURATION), spans, MEDIAN) == dt.timedelta(microseconds=3)
    assert figure(tables, Column("x", ColumnType.DURATION), spans[:2], MEDIAN) == dt.timedelta(microseconds=2)


@pytest.mark.parametrize(
    ("fraction", "value"),
    [("0", 1), ("0.1", 3), ("0.5", 15), ("0.9", 27), ("0.95", 29), ("1", 30), ("0.0000001", 1), ("0.3333333333333333", 10)],
)
def test_a_percentile_is_the_least_value_that_the_fraction_does_not_exceed(tables: Tables, fraction: str, value: int) -> None:
    tables.publish(make_dataset([number("x", 9)], [[Decimal(31 - one)] for one in range(1, 31)] + [[None]]))
    asked = Aggregate(PERCENTILE, ColumnRef("x"), fraction=Decimal(fraction))
    assert tables.rows(aggregates=(asked,)) == [(Decimal(value),)]  # 0.1 of 30 is the third, which doubles make the fourth


def test_percentiles_are_of_whatever_can_be_ordered(tables: Tables) -> None:
    tables.publish(make_dataset([text("x")], [["b"], ["a"], ["c"], [None]]))
    assert tables.rows(aggregates=(Aggregate(PERCENTILE, ColumnRef("x"), fraction=Decimal("0.5")),)) == [("b",)]


@pytest.mark.parametrize(
    ("values", "deviation"), [(["2", "4", "4", "4", "5", "5", "7", "9"], (32 / 7) ** 0.5), (["1"], None), (["5", "5"], 0.0)]
)
def test_a_deviation_is_that_of_a_sample(tables: Tables, values: list[str], deviation: float | None) -> None:
    found = figure(tables, number("x", 9, 2), [Decimal(value) for value in values], STDDEV)
    assert found == (None if deviation is None else pytest.approx(deviation, rel=1e-15))


def test_a_deviation_far_from_zero_keeps_its_digits(tables: Tables) -> None:
    far = [Decimal(10**30 + one) for one in range(3)]
    assert figure(tables, number("x", 38, 2), far, STDDEV) == pytest.approx(1.0, rel=1e-15)


def test_first_and_last_are_values_of_rows_in_an_order_null_or_not(tables: Tables) -> None:
    rows: list[tuple[str, int | None, str | None]] = [
        ("a", 2, "late"),
        ("a", 1, None),
        ("b", 5, "x"),
        ("b", 5, "y"),
        ("b", None, "z"),
    ]
    typed = [[key, None if at is None else Decimal(at), note] for key, at, note in rows]
    tables.publish(make_dataset([text("key"), number("at", 9), text("note")], typed))
    by_time = (OrderBy("at"),)
    aggregates = (
        Aggregate(FIRST, ColumnRef("note"), "first", order_by=by_time),
        Aggregate(LAST, ColumnRef("note"), "last", order_by=by_time),
        Aggregate(FIRST, ColumnRef("note"), "newest", order_by=(OrderBy("at", descending=True),)),
        Aggregate(LAST, ColumnRef("note"), "final"),
    )
    found = tables.rows(group_by=(GroupBy(ColumnRef("key")),), aggregates=aggregates)
    # nulls stand last in an order, and rows that tie stand as in the source
    assert found == [("a", None, "late", "late", None), ("b", "x", "z", "x", "z")]


def test_names_that_differ_in_case_alone_and_keywords_are_columns_of_their_own(tables: Tables) -> None:
    columns = [number(name, 18) for name in ("total", "TOTAL", "order")]
    tables.publish(make_dataset(columns, [[Decimal(i), Decimal(i + 3), Decimal(i + 6)] for i in (1, 2, 3)]))
    table, _ = tables.ask(aggregates=tuple(Aggregate(SUM, ColumnRef(one.name)) for one in columns))
    assert [column.name for column in table.columns] == ["sum_total", "sum_TOTAL", "sum_order"]
    assert table.rows == ((6, 15, 24),)


@pytest.mark.parametrize(
    ("values", "average"),
    [
        (["1", "2"], "1.500000000"),
        (["1", "0", "0"], "0.333333333"),
        (["2", "0", "0"], "0.666666667"),
        (["-2", "0", "0"], "-0.666666667"),
        (["0.0000000005"], "0.000000000"),
        (["0.0000000015"], "0.000000002"),
        (["0.0000000025"], "0.000000002"),
        (["-0.0000000015"], "-0.000000002"),
        (["-0.0000000025"], "-0.000000002"),
        (["0.00000000250000000001"], "0.000000003"),
    ],
)
def test_averages_round_half_to_even_at_nine_places(tables: Tables, values: list[str], average: str) -> None:
    result = figure(tables, number("x", 38, 20), [Decimal(one) for one in values], AVG)
    assert str(result) == str(Decimal(average))


@pytest.mark.parametrize("scale", [0, 2, 9, 10, 12, 20])
def test_averages_are_those_of_fractions_rounded_half_to_even(tables: Tables, scale: int) -> None:
    random = Random(scale)
    near_ties = max(1, 10 ** (scale - 9) // 2)
    groups = [[random.randint(-9, 9) * near_ties for _ in range(random.randint(1, 4))] for _ in range(500)]
    rows = [[Decimal(group), Decimal(f"{units}E-{scale}")] for group, many in enumerate(groups) for units in many]
    tables.publish(make_dataset([number("group", 9), number("x", 30, scale)], rows))
    asked = tables.rows(group_by=(GroupBy(ColumnRef("group")),), aggregates=(Aggregate(AVG, ColumnRef("x")),))
    expected = [round(Fraction(sum(many), len(many)) / 10**scale * 10**9) for many in groups]  # Python rounds half to even
    assert [int(average.scaleb(9)) for _, average in asked] == expected


def test_an_average_of_whole_numbers_past_doubles_is_exact(tables: Tables) -> None:
    assert figure(tables, number("x", 18), [Decimal(9007199254740993)] * 3, AVG) == 9007199254740993
    assert figure(tables, number("x", 29), [Decimal(10**28 + 1), Decimal(10**28)], AVG) == Decimal(
        "10000000000000000000000000000.5"
    )


def test_an_average_orders_by_all_its_digits(tables: Tables) -> None:
    rows = [["low", Decimal("100000000000000000.01")], ["high", Decimal("100000000000000000.02")]]
    tables.publish(make_dataset([text("name"), number("x", 20, 2)], rows))
    asked = tables.rows(
        group_by=(GroupBy(ColumnRef("name")),),
        aggregates=(Aggregate(AVG, ColumnRef("x"), "mean"),),
        order_by=(OrderBy("mean", descending=True),),
    )
    assert [name for name, _ in asked] == ["high", "low"]


def test_a_sum_whose_partial_sums_do_not_fit_is_exact(tables: Tables) -> None:
    assert figure(tables, number("x", 38), [Decimal(one) for one in (NINES, NINES, -NINES, 1 - NINES)], SUM) == 1


@pytest.mark.parametrize("function", [SUM, AVG])
@pytest.mark.parametrize("values", [[NINES, 1], [NINES, NINES], [-NINES, -1], [NINES] * 5])
def test_a_figure_of_more_than_38_digits_is_refused(tables: Tables, function: AggregateFunction, values: list[int]) -> None:
    with pytest.raises(NumberOverflow, match="38 digits"):
        figure(tables, number("x", 38), [Decimal(one) for one in values], function)


def test_an_average_that_needs_more_than_29_whole_digits_is_refused(tables: Tables) -> None:
    with pytest.raises(NumberOverflow):
        figure(tables, number("x", 30), [Decimal(10**29)], AVG)


@pytest.mark.parametrize("function", [SUM, AVG, MIN, MAX])
@pytest.mark.parametrize("values", [[], [None, None]])
def test_a_figure_over_no_values_is_null(tables: Tables, function: AggregateFunction, values: list[None]) -> None:
    for column in (number("x", 9, 2), number("x", 38, 2), double("x"), Column("x", ColumnType.DURATION)):
        assert figure(tables, column, values, function) is None


def test_durations_add_up_past_64_bits_of_microseconds_and_average_to_the_microsecond(tables: Tables) -> None:
    column = Column("x", ColumnType.DURATION)
    long = dt.timedelta(days=100_000_000)
    assert figure(tables, column, [long, long], SUM) == dt.timedelta(days=200_000_000)
    one, two = dt.timedelta(microseconds=1), dt.timedelta(microseconds=2)
    assert figure(tables, column, [one, two], AVG) == two
    assert figure(tables, column, [one, dt.timedelta(0)], AVG) == dt.timedelta(0)
    assert figure(tables, column, [-two, -one], AVG) == -two


def test_a_sum_of_doubles_does_not_depend_on_the_order_of_the_rows_and_says_it_is_one(tables: Tables) -> None:
    values = [Random(7).uniform(-1e9, 1e9) for _ in range(500)] + [1e16, 1.0, -1e16]
    sums = set()
    for seed in range(5):
        Random(seed).shuffle(values)
        sums.add(figure(tables, double("x"), values, SUM))
    assert len(sums) == 1
    table, _ = tables.ask(aggregates=(Aggregate(SUM, ColumnRef("x")), Aggregate(AVG, ColumnRef("x"))))
    assert [(column.precision, column.scale) for column in table.columns] == [(0, 0), (0, 0)]
    assert isinstance(table.rows[0][1], float)


def test_the_two_zeros_of_doubles_are_one_group(tables: Tables) -> None:
    tables.publish(make_dataset([double("x")], [[-0.0], [0.0]]))
    assert [
        (str(zero), count) for zero, count in tables.rows(group_by=(GroupBy(ColumnRef("x")),), aggregates=(Aggregate(COUNT),))
    ] == [("0.0", 2)]


def test_count_if_counts_rows_that_meet_its_condition(tables: Tables) -> None:
    tables.publish(make_dataset([number("x", 9)], [[Decimal(1)], [Decimal(5)], [None]]))
    condition = Comparison(ColumnRef("x"), Operator.GT, (Decimal(1),))
    assert tables.rows(aggregates=(Aggregate(AggregateFunction.COUNT_IF, condition=condition),)) == [(1,)]
