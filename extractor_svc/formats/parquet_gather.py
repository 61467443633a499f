"""All rows of a Parquet file put together: their columns, their text as far as there is room, and those that cannot be held."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from artifact.locators import RowSpan
from artifact.model import Cell, RejectedRow
from extractor_svc.context import ReadContext
from extractor_svc.errors import DecompressionLimit
from extractor_svc.formats.parquet_columns import Leaf
from extractor_svc.formats.parquet_rows import ParquetRows, lines_of
from extractor_svc.formats.parquet_values import Values
from extractor_svc.limits import Limits

_CELLS_TOLD: Final = 50_000
"""A table of more cells tells them by its text and its dataset alone."""
_REJECTED_KEPT: Final = 100
_SHARE_OF_MEMORY: Final = 4
"""The part of the memory, as a divisor, that the values of a file may take once they are read."""


@dataclass(slots=True)
class Gathered:
    """The rows that are held by column, with their places; `told` of all rows stand in `lines`, a string for each batch."""

    columns: list[list[pa.Array]]
    exact: list[bool]
    most_chars: int
    places: list[pa.StringArray] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    texts: list[list[pa.StringArray]] = field(default_factory=list)
    told: int = 0
    chars: int = 0
    full: bool = False
    value_bytes: int = 0
    rejected: list[RejectedRow] = field(default_factory=list)
    rejected_count: int = 0

    def cells(self) -> tuple[Cell, ...]:
        """The cells of the rows in `lines`; none where there are too many to be told one by one."""
        if self.full or sum(_length(texts) for batch in self.texts for texts in batch) > self.most_chars - self.chars:
            return ()
        rows = (row for batch in self.texts for row in zip(*(texts.to_pylist() for texts in batch), strict=True))
        return tuple(Cell(i, j, text) for i, row in enumerate(rows) for j, text in enumerate(row) if text)

    def take_text(self, values: Sequence[Values]) -> None:
        """Adds a batch's lines while there is room for all of them."""
        lines = "" if self.full else "\n".join(lines_of(values).to_pylist())
        if self.full or self.chars + len(lines) + 1 > self.most_chars:
            self.full = True
            return
        self.lines.append(lines)
        self.chars += len(lines) + 1
        self.told += len(values[0].held)
        self.texts.append([column.texts for column in values])
        if self.told * len(values) > _CELLS_TOLD:
            self.texts.clear()

    def take_rows(self, first: int, values: Sequence[Values], leaves: Sequence[Leaf]) -> None:
        """Adds a batch's values, and sets aside the rows with one that cannot be held."""
        count = len(values[0].held)
        numbers = pa.array(range(first, first + count), pa.int64()).cast(pa.string())
        places = pc.binary_join_element_wise('{"rows":{"first":', numbers, ',"last":', numbers, "}}", "")
        fit = _fit(values)
        if fit is not None:
            self._reject(first, values, leaves)
            places = places.filter(fit)
        self.places.append(places)
        self.value_bytes += places.nbytes
        for number, column in enumerate(values):
            held = column.held if fit is None else column.held.filter(fit)
            self.columns[number].append(held)
            self.exact[number] &= column.exact
            self.value_bytes += held.nbytes

    def _reject(self, first: int, values: Sequence[Values], leaves: Sequence[Leaf]) -> None:
        faults: dict[int, int] = {}
        for number, column in enumerate(values):
            for row in [] if column.unfit is None else pc.indices_nonzero(column.unfit).to_pylist():
                faults.setdefault(row, number)
        self.rejected_count += len(faults)
        for row in sorted(faults)[: _REJECTED_KEPT - len(self.rejected)]:
            texts = tuple(column.texts[row].as_py() or "" for column in values)
            reason = f"column {leaves[faults[row]].name}: the value is out of range"
            self.rejected.append(RejectedRow(RowSpan(first + row, first + row), texts, reason))


def gather(rows: ParquetRows, context: ReadContext, *, most_chars: int) -> Gathered:
    """Reads all rows; their text takes at most so many characters, whole batches only.

    Raises:
        DecompressionLimit: the values take more memory than a file may.
        InvalidArgument: the file is damaged or written in a way that is not read.
    """
    width = len(rows.leaves)
    out = Gathered([[] for _ in range(width)], [True] * width, most_chars)
    for first, values in rows.batches():
        out.take_text(values)
        out.take_rows(first, values, rows.leaves)
        _refuse_too_large(out, context.limits)
        context.progress("row", first + len(values[0].held) - 1, rows.source.rows)
    return out


def _fit(values: Sequence[Values]) -> pa.BooleanArray | None:
    """Which rows have only values that can be held; None where all do."""
    fit = None
    for column in values:
        if column.unfit is not None and pc.any(column.unfit).as_py():
            fit = pc.invert(column.unfit) if fit is None else pc.and_(fit, pc.invert(column.unfit))
    return fit


def _length(texts: pa.StringArray) -> int:
    return pc.sum(pc.utf8_length(texts), min_count=0).as_py() or 0


def _refuse_too_large(out: Gathered, limits: Limits) -> None:
    most = limits.memory_bytes // _SHARE_OF_MEMORY
    if out.value_bytes > most:
        message = f"the values of the file take more than {most} bytes; split it"
        raise DecompressionLimit(message, metadata={"max_value_bytes": str(most)})
