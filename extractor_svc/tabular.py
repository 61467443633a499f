"""Typed datasets from tables of cells, the same for every format that has tables."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, TypeVar

import pyarrow as pa

from artifact.locators import Locator, to_json
from artifact.model import (
    ROW_ID,
    ROW_LOCATOR,
    CellFormula,
    Clarification,
    Column,
    ColumnType,
    Dataset,
    RejectedRow,
    TypeCount,
)
from extractor_svc.errors import TooManyColumns, TooManyRows
from extractor_svc.limits import Limits
from extractor_svc.text_values import column_values_of_text, decimal_mark_of, reads_as_number_or_date, value_of_text
from extractor_svc.values import EMPTY, TableRow, Value

__all__ = [
    "EMPTY",
    "MAX_DIGITS",
    "HeldColumn",
    "TableRow",
    "Value",
    "build_dataset",
    "check_columns",
    "column_values_of_text",
    "decimal_mark_of",
    "hold_values",
    "name_columns",
    "table_of",
    "unit_of",
    "value_of_text",
]

_T = TypeVar("_T")

MAX_DIGITS: Final = 38
"""Digits a decimal can hold; a number column that needs more is held as doubles."""
_REJECTED_KEPT: Final = 100
_CURRENCY_SIGN: Final = re.compile(r"[$€£¥₹₩₽₺₴₪₫₱฿₦₡₲₵₸]|\bkr\b|\bCHF\b")
_BRACKETED: Final = re.compile(r"\[\$([^\]-]*)(?:-[^\]]*)?\]")


def build_dataset(
    *,
    dataset_id: str,
    name: str,
    header: Sequence[str],
    rows: Iterable[TableRow],
    locator: Locator,
    header_rows: int,
    limits: Limits,
) -> Dataset:
    """Makes a typed dataset of a table (L-DS, L-CLAR).

    A column's type is that of all its kept values; values of several types are held as their displayed text, save that
    dates among datetimes are datetimes at midnight. A row with a cell error or a value that cannot be held is rejected
    whole. A formula without its result is null, listed, and makes the dataset incomplete.

    Raises:
        TooManyColumns, TooManyRows: the table is larger than the limits.
        ValueError: a row has more values than the header has columns.
    """
    check_columns(header, name=name, limits=limits)
    names, clarifications = name_columns(header, header_rows)
    sorted_rows = _sort(rows, names, limits)
    columns = [hold_values(names[i], header[i], values) for i, values in enumerate(sorted_rows.columns)]
    return Dataset(
        id=dataset_id,
        name=name,
        columns=tuple(held.column for held in columns),
        rows=table_of(columns, pa.array(sorted_rows.locators, pa.string())),
        locator=locator,
        header_rows=header_rows,
        rejected_count=sorted_rows.rejected_count,
        rejected_rows=tuple(sorted_rows.rejected),
        clarifications=(*clarifications, *(held.clarification for held in columns if held.clarification)),
        formulas=tuple(sorted_rows.formulas),
        complete=sorted_rows.complete and all(held.exact for held in columns),
    )


def check_columns(header: Sequence[str], *, name: str, limits: Limits) -> None:
    """Refuses a table that is too wide.

    Raises:
        TooManyColumns: the table has more columns than the limits allow.
    """
    if len(header) > limits.max_columns:
        raise TooManyColumns(
            f"table {name} has {len(header)} columns and at most {limits.max_columns} are read",
            metadata={"table": name, "columns": str(len(header)), "max_columns": str(limits.max_columns)},
        )


def unit_of(number_format: str) -> str:
    """The unit a display format states: `%`, a currency sign or code; empty where none."""
    first = number_format.partition(";")[0]
    if bracketed := _BRACKETED.search(first):
        return bracketed.group(1).strip()
    quoted = "".join(text or char for text, char in re.findall(r'"([^"]*)"|\\(.)', first))
    bare = re.sub(r'"[^"]*"|\\.|_.|\*.|\[[^\]]*\]', "", first)
    if "%" in bare:
        return "%"
    sign = _CURRENCY_SIGN.search(bare) or _CURRENCY_SIGN.search(quoted)
    if sign:
        return sign.group()
    return quoted.strip() if re.fullmatch(r"\s*[A-Z]{3}\s*", quoted) else ""


@dataclass(slots=True)
class _SortedRows:
    """Rows parted into kept ones, by column, and rejected ones."""

    columns: list[list[Value]]
    locators: list[str] = field(default_factory=list)
    rejected_count: int = 0
    rejected: list[RejectedRow] = field(default_factory=list)
    formulas: list[CellFormula] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        return not self.rejected_count and all(formula.cached for formula in self.formulas)


@dataclass(frozen=True, slots=True)
class HeldColumn:
    """A column as it is held; `exact` is False where doubles lost digits of a value."""

    column: Column
    array: pa.Array | pa.ChunkedArray
    clarification: Clarification | None = None
    exact: bool = True


def name_columns(header: Sequence[str], header_rows: int) -> tuple[list[str], list[Clarification]]:
    """Unique names without regard to case (L-CLAR-02, -03); the names of the row's own columns are taken from the start."""
    taken = {ROW_ID.casefold(), ROW_LOCATOR.casefold()}
    names: list[str] = []
    asked: list[Clarification] = []
    for position, source in enumerate(header, 1):
        wanted = " ".join(source.split())
        if not wanted:
            wanted = f"column {position}"
            asked.append(Clarification("generated_name", _free_name(wanted, taken), f"Column {position} has no header; name it."))
        name = _free_name(wanted, taken)
        if name != wanted:
            message = f"The name {wanted} is already taken; this column is held as {name}."
            asked.append(Clarification("duplicate_name", name, message))
        taken.add(name.casefold())
        names.append(name)
    if header_rows > 0 and header and all(reads_as_number_or_date(name) for name in names):
        message = "Every column name reads as a number or a date; say whether the first row is data."
        asked.append(Clarification("header_like_data", "", message))
    return names, asked


def _free_name(wanted: str, taken: set[str]) -> str:
    name, number = wanted, 1
    while name.casefold() in taken:
        number += 1
        name = f"{wanted} ({number})"
    return name


def _sort(rows: Iterable[TableRow], names: Sequence[str], limits: Limits) -> _SortedRows:
    out = _SortedRows([[] for _ in names])
    for row in rows:
        if len(row.values) > len(names):
            raise ValueError(f"a row has {len(row.values)} values for {len(names)} columns")
        if len(out.locators) + out.rejected_count >= limits.max_rows:
            raise TooManyRows(f"the table has more than {limits.max_rows} rows", metadata={"max_rows": str(limits.max_rows)})
        if fault := _fault(row.values, names):
            _reject(out, row, reason=fault, width=len(names))
        else:
            _keep(out, row, names)
    return out


def _fault(values: Sequence[Value], names: Sequence[str]) -> str:
    """Why a row cannot be kept; empty where it can."""
    return next((f"column {names[i]}: {value.error}" for i, value in enumerate(values) if value.error), "")


def _reject(out: _SortedRows, row: TableRow, *, reason: str, width: int) -> None:
    out.rejected_count += 1
    if len(out.rejected) < _REJECTED_KEPT:
        texts = [value.text for value in row.values]
        out.rejected.append(RejectedRow(row.locator, (*texts, *[""] * (width - len(texts))), reason))


def _keep(out: _SortedRows, row: TableRow, names: Sequence[str]) -> None:
    row_id = len(out.locators)
    out.locators.append(to_json(row.locator))
    for i, column in enumerate(out.columns):
        value = row.values[i] if i < len(row.values) else EMPTY
        column.append(value)
        if value.formula:
            out.formulas.append(CellFormula(row_id, names[i], value.formula, value.cached))


def hold_values(name: str, source_header: str, values: Sequence[Value], *, counts: Sequence[int] = ()) -> HeldColumn:
    """Holds a column's values as what all of them are; `counts` says how often each stands in the column, once if left out."""
    filled = [value for value in values if value.kind is not None]
    times = [count for value, count in zip(values, counts, strict=True) if value.kind is not None] if counts else ()
    kinds = _count((value.kind for value in filled if value.kind is not None), times)
    formats = _count((value.number_format for value in filled), times)
    inferred = tuple(TypeCount(kind, kinds[kind]) for kind in ColumnType if kinds[kind])
    kind = _kind_of(kinds)
    number_format = formats.most_common(1)[0][0] if formats else ""
    unit = unit_of(number_format) if kind is ColumnType.NUMBER else ""
    column = Column(name, kind, source_header, inferred, number_format, unit, nullable=len(filled) < len(values))
    if kind is ColumnType.NUMBER:
        return _hold_numbers(column, values)
    if kind is ColumnType.STRING and len(kinds) > 1:
        texts = [None if value.kind is None else value.text for value in values]
        listed = ", ".join(f"{count.values} {count.type.value}" for count in inferred)
        asked = Clarification("mixed_types", name, f"Column {name} has values of several types ({listed}); it is held as text.")
        return HeldColumn(column, pa.array(texts, pa.string()), asked)
    if kind is ColumnType.DATETIME:
        return HeldColumn(column, pa.array([_at_midnight(value) for value in values], pa.timestamp("us")))
    held = [None if value.kind is None else value.value for value in values]
    return HeldColumn(column, pa.array(held, _ARROW_TYPES[kind]))


_ARROW_TYPES: Final = {
    ColumnType.STRING: pa.string(),
    ColumnType.BOOL: pa.bool_(),
    ColumnType.DATE: pa.date32(),
    ColumnType.TIME: pa.time64("us"),
    ColumnType.DURATION: pa.duration("us"),
}


def _count(things: Iterable[_T], times: Sequence[int]) -> Counter[_T]:
    """How often each thing stands there, where each stands as often as `times` says; once if that is empty."""
    if not times:
        return Counter(things)
    counted: Counter[_T] = Counter()
    for thing, count in zip(things, times, strict=True):
        counted[thing] += count
    return counted


def _kind_of(kinds: Counter[ColumnType]) -> ColumnType:
    if len(kinds) == 1:
        return next(iter(kinds))
    if set(kinds) == {ColumnType.DATE, ColumnType.DATETIME}:
        return ColumnType.DATETIME
    return ColumnType.STRING


def _hold_numbers(column: Column, values: Sequence[Value]) -> HeldColumn:
    numbers = [None if value.kind is None else _decimal(value.value) for value in values]
    whole = max((max(number.adjusted() + 1, 1) for number in numbers if number is not None), default=1)
    scale = max((max(-_exponent(number), 0) for number in numbers if number is not None), default=0)
    if whole + scale > MAX_DIGITS:
        doubles = [None if number is None else float(number) for number in numbers]
        exact = all(number is None or Decimal(repr(float(number))) == number for number in numbers)
        return HeldColumn(column, pa.array(doubles, pa.float64()), exact=exact)
    held = Column(
        column.name,
        column.type,
        column.source_header,
        column.inferred,
        column.number_format,
        column.unit,
        precision=whole + scale,
        scale=scale,
        nullable=column.nullable,
    )
    return HeldColumn(held, pa.array(numbers, pa.decimal128(whole + scale, scale)))


def _decimal(value: object) -> Decimal:
    if isinstance(value, Decimal) or (isinstance(value, int) and not isinstance(value, bool)):
        return Decimal(value)
    raise TypeError(f"a number is held as int or Decimal, not {type(value).__name__}")


def _exponent(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int):
        raise TypeError("a number is finite")
    return exponent


def _at_midnight(value: Value) -> object:
    held = value.value
    if isinstance(held, dt.date) and not isinstance(held, dt.datetime):
        return dt.datetime.combine(held, dt.time())
    return None if value.kind is None else held


def table_of(columns: Sequence[HeldColumn], places: pa.Array | pa.ChunkedArray) -> pa.Table:
    """The rows of a dataset: their ids from 0, their places as `artifact.locators.to_json` writes them, and the columns."""
    names = [held.column.name for held in columns]
    row_ids = pa.array(range(len(places)), pa.int64())
    return pa.Table.from_arrays([row_ids, places, *(held.array for held in columns)], names=[ROW_ID, ROW_LOCATOR, *names])
