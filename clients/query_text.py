"""The short form of a plan: options as `loom query` takes them, read against the schema of the dataset they are about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from clients.condition_text import read_condition, tokens_of
from clients.plans import Plan
from clients.results.artifacts import Column
from clients.results.datasets import Dataset
from clients.typed_text import QuerySyntax

PARTS: Final = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
_PARTS_OF_DAY: Final = ("second", "minute", "hour")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortQuery:
    """The options, as they were written.

    `group_by` is `column` or `column:month`; each figure is a column, `*` for the count of rows, `column:0.95` for a
    percentile; all of them and `select` take
    ` as name`; `select` and `order_by` take several, joined by commas.
    """

    where: Sequence[str] = ()
    group_by: Sequence[str] = ()
    count: Sequence[str] = ()
    count_distinct: Sequence[str] = ()
    count_if: Sequence[str] = ()
    sum: Sequence[str] = ()
    avg: Sequence[str] = ()
    min: Sequence[str] = ()
    max: Sequence[str] = ()
    median: Sequence[str] = ()
    percentile: Sequence[str] = ()
    stddev: Sequence[str] = ()
    having: Sequence[str] = ()
    select: Sequence[str] = ()
    distinct: bool = False
    order_by: Sequence[str] = ()
    limit: int | None = None
    ignore_case: bool = False


def split_source(text: str) -> tuple[str, str]:
    """The source_uri and dataset id of `URI#ID`; the id is empty where none is named."""
    source_uri, mark, dataset_id = text.rpartition("#")
    return (source_uri, dataset_id) if mark else (text, "")


def choose_dataset(datasets: Sequence[Dataset], source_uri: str) -> Dataset:
    """The only dataset of a source.

    Raises:
        QuerySyntax: there are none, or several to name one of.
    """
    if not datasets:
        raise QuerySyntax(f"{source_uri} has no dataset; see them all with: loom datasets")
    if len(datasets) > 1:
        names = ", ".join(dataset.dataset_id for dataset in datasets)
        raise QuerySyntax(f"{source_uri} has several datasets; write {source_uri}#ID with one of {names}")
    return datasets[0]


def build_plan(dataset: Dataset, query: ShortQuery) -> Plan:
    """The plan that the options describe.

    Raises:
        QuerySyntax: with the option that does not read, and why.
    """
    return _Builder(dataset, query).build()


class _Builder:
    def __init__(self, dataset: Dataset, query: ShortQuery) -> None:
        self._columns = {column.name: column for column in dataset.columns}
        self._results: dict[str, str] = {}
        self._query = query
        self._plan = Plan.over(dataset.source_uri, dataset.dataset_id)

    def build(self) -> Plan:
        query = self._query
        self._each("--where", query.where, self._where)
        self._each("--group-by", query.group_by, self._group)
        self._figures()
        self._each("--having", query.having, self._having)
        self._each("--select", query.select, self._select)
        self._each("--order-by", query.order_by, self._order)
        plan = self._plan.distinct() if query.distinct else self._plan
        return plan if query.limit is None else plan.limit(query.limit)

    def _figures(self) -> None:
        query = self._query
        self._each("--count", query.count, lambda text: self._figure("count", text))
        self._each("--count-distinct", query.count_distinct, lambda text: self._figure("count_distinct", text))
        self._each("--count-if", query.count_if, self._count_if)
        self._each("--sum", query.sum, lambda text: self._figure("sum", text))
        self._each("--avg", query.avg, lambda text: self._figure("avg", text))
        self._each("--min", query.min, lambda text: self._figure("min", text))
        self._each("--max", query.max, lambda text: self._figure("max", text))
        self._each("--median", query.median, lambda text: self._figure("median", text))
        self._each("--percentile", query.percentile, self._percentile)
        self._each("--stddev", query.stddev, lambda text: self._figure("stddev", text))

    def _each(self, option: str, texts: Sequence[str], take: Callable[[str], None]) -> None:
        for text in texts:
            try:
                take(text)
            except QuerySyntax as fault:
                raise QuerySyntax(f"{option} {text!r}: {fault}") from fault

    def _where(self, text: str) -> None:
        self._plan = self._plan.matching(read_condition(text, self._kind, ignore_case=self._query.ignore_case))

    def _having(self, text: str) -> None:
        self._plan = self._plan.having_matching(read_condition(text, self._result_kind))

    def _group(self, text: str) -> None:
        named, name = _aliased(text)
        column, part = self._column_and_part(named)
        self._plan = self._plan.group_by(column, part, name=name)
        kind = self._kind(column)
        self._results[name or (f"{column}_{part}" if part else column)] = (
            kind if not part else "datetime" if part in _PARTS_OF_DAY else "date"
        )

    def _column_and_part(self, text: str) -> tuple[str, str]:
        column, _, part = text.rpartition(":")
        if not column or text in self._columns:
            return self._known(text), ""
        if part not in PARTS:
            raise QuerySyntax(f"{part!r} is no part of time; there are {', '.join(PARTS)}")
        return self._known(column), part

    def _figure(self, function: str, text: str) -> None:
        named, name = _aliased(text)
        column = "" if function == "count" and named == "*" else self._known(named)
        add = {
            "count": self._plan.count,
            "count_distinct": self._plan.count_distinct,
            "sum": self._plan.sum,
            "avg": self._plan.avg,
            "min": self._plan.min,
            "max": self._plan.max,
            "median": self._plan.median,
            "stddev": self._plan.stddev,
        }[function]
        self._plan = add(column, name=name)
        kind = self._kind(column) if column and not function.startswith("count") else "number"
        self._results[name or (f"{function}_{column}" if column else function)] = kind

    def _percentile(self, text: str) -> None:
        named, name = _aliased(text)
        column, mark, share = named.rpartition(":")
        try:
            fraction = float(share)
        except ValueError:
            fraction = -1.0
        if not mark or not 0 <= fraction <= 1:
            raise QuerySyntax("write the column and the share below it, from 0 to 1, such as amount:0.95")
        self._plan = self._plan.percentile(self._known(column), fraction, name=name)
        self._results[name or f"percentile_{column}"] = self._kind(column)

    def _count_if(self, text: str) -> None:
        named, name = _aliased(text)
        condition = read_condition(named, self._kind, ignore_case=self._query.ignore_case)
        self._plan = self._plan.count_if(condition, name=name)
        self._results[name or "count_if"] = "number"

    def _select(self, text: str) -> None:
        for item in _listed(text):
            named, name = _aliased(item)
            column = self._known(named)
            self._plan = self._plan.select(**{name: column}) if name else self._plan.select(column)

    def _order(self, text: str) -> None:
        self._plan = self._plan.order_by(*(_unquoted(item) for item in _listed(text)))

    def _known(self, text: str) -> str:
        self._column(name := _unquoted(text))
        return name

    def _kind(self, name: str) -> str:
        return self._column(name).type

    def _column(self, name: str) -> Column:
        if name not in self._columns:
            raise QuerySyntax(f"there is no column {name!r}; there are {', '.join(self._columns)}")
        return self._columns[name]

    def _result_kind(self, name: str) -> str:
        if name not in self._results:
            raise QuerySyntax(f"the result has no column {name!r}; it has {', '.join(self._results) or 'none'}")
        return self._results[name]


def _aliased(text: str) -> tuple[str, str]:
    """The text and the name that " as " gives it; empty where it gives none."""
    before, mark, name = text.rpartition(" as ")
    return (before.strip(), _unquoted(name)) if mark else (text.strip(), "")


def _listed(text: str) -> list[str]:
    """The items between commas; a comma in quotes is part of its item."""
    items, quote, start = [], "", 0
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character == ",":
            items.append(text[start:position].strip())
            start = position + 1
    items.append(text[start:].strip())
    if not all(items):
        raise QuerySyntax("a name is missing between commas")
    return items


def _unquoted(text: str) -> str:
    """A name without its quotes; "-" before it stays."""
    text = text.strip()
    sign, name = ("-", text[1:]) if text[:2] in ('-"', "-'") else ("", text)
    if name[:1] not in ("'", '"'):
        return text
    tokens = tokens_of(name)
    if len(tokens) != 1:
        raise QuerySyntax(f"cannot read {text!r}; is a quote open?")
    return sign + tokens[0].text
