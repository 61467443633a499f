"""Draws the figures of a grouped result as bars on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from rich.bar import Bar
from rich.table import Table

from clients.cli.output import UsageFault, styled
from clients.results.datasets import QueryResult

_WIDTH: Final = 40
_NUMBERS: Final = (int, float, Decimal)


def bars(result: QueryResult) -> Table:
    """A bar for each row: the first column of numbers after the keys, drawn from zero, beside the keys it belongs to.

    Raises:
        UsageFault: the result has no key, or no number, to draw.
    """
    drawn = next((i for i, column in enumerate(result.columns) if i and column.type == "number"), None)
    if drawn is None:
        raise UsageFault("a plot needs a group and a number: name them with --group-by and a figure such as --sum")
    values = [row[drawn] for row in result.rows]
    numbers = [float(value) for value in values if isinstance(value, _NUMBERS)]
    low, high = min([0.0, *numbers]), max([0.0, *numbers])
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(styled(", ".join(column.name for column in result.columns[:drawn])))
    table.add_column(styled(result.columns[drawn].name), justify="right")
    table.add_column("", min_width=_WIDTH)
    for row, value in zip(result.rows, values, strict=True):
        table.add_row(styled(_key(row[:drawn])), styled("–" if value is None else str(value)), _bar(value, low, high))
    return table


def _key(values: Sequence[object]) -> str:
    return ", ".join("–" if value is None else str(value) for value in values)


def _bar(value: object, low: float, high: float) -> Bar:
    """A bar from zero to the value, on a scale from the lowest to the highest of all."""
    size = max(high - low, 1e-12)
    at = float(value) if isinstance(value, _NUMBERS) else 0.0
    return Bar(size, min(at, 0.0) - low, max(at, 0.0) - low, width=_WIDTH)
