"""Datasets, results of plans and their receipts as the knowledge service answers them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from loom.artifact.v1 import artifact_pb2
from loom.knowledge.v1 import datasets_pb2

from clients.arrow import data_frame, polars_frame, read_table, write_parquet
from clients.enums import name_of
from clients.results.artifacts import (
    Clarification,
    Column,
    RejectedRow,
    read_clarifications,
    read_column,
    read_rejected,
)
from clients.values import PyValue, from_timestamp, from_value

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    import polars as pl
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Dataset:
    """A live dataset; `schema_state` is "inferred", "needs_clarification" or "approved"; `snapshot_id` names this very content."""

    namespace: str
    source_uri: str
    dataset_id: str
    name: str
    columns: tuple[Column, ...]
    schema_state: str
    clarifications: tuple[Clarification, ...]
    row_count: int
    rejected_count: int
    rejected_rows: tuple[RejectedRow, ...]
    complete: bool
    snapshot_id: str
    revision: int
    locator: artifact_pb2.Locator | None
    file_sha256: str
    sample_rows: tuple[tuple[PyValue, ...], ...]
    published_at: datetime | None

    def column(self, name: str) -> Column:
        """The column of this name.

        Raises:
            KeyError: there is none; the message lists those there are.
        """
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(f"dataset {self.dataset_id} has no column {name!r}; it has {', '.join(item.name for item in self.columns)}")


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """A column of a result; `type` as of dataset columns."""

    name: str
    type: str
    precision: int
    scale: int


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The rows of a plan, every one or none, and the receipt that binds them to what they were made of.

    `row_ids` holds, for each row of a select plan, the row ids by dataset alias; empty for aggregates.
    """

    columns: tuple[ResultColumn, ...]
    rows: tuple[tuple[PyValue, ...], ...]
    row_ids: tuple[dict[str, tuple[int, ...]], ...]
    receipt: datasets_pb2.Receipt
    next_page_token: str

    def records(self) -> list[dict[str, PyValue]]:
        """The rows as dicts by column name."""
        names = [column.name for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in self.rows]


@dataclass(frozen=True, slots=True)
class ArrowResult:
    """The rows of a plan as one Arrow IPC stream, and the receipt."""

    arrow_ipc: bytes
    receipt: datasets_pb2.Receipt

    @property
    def rows(self) -> pa.Table:
        """The rows as a table. Needs the package `pyarrow`.

        Raises:
            ModuleNotFoundError: pyarrow is not installed.
        """
        return read_table(self.arrow_ipc)

    def to_arrow(self) -> pa.Table:
        """The rows as a table; its schema's metadata holds the receipt. Needs the package `pyarrow`."""
        return self.rows

    def to_pandas(self) -> pd.DataFrame:
        """The rows as a pandas data frame; exact numbers are `Decimal`. Needs the packages `pyarrow` and `pandas`."""
        return data_frame(self.rows)

    def to_polars(self) -> pl.DataFrame:
        """The rows as a polars data frame. Needs the packages `pyarrow` and `polars`."""
        return polars_frame(self.rows)

    def to_parquet(self, path: str | Path) -> None:
        """Writes the rows as a Parquet file, with the receipt in its metadata. Needs the package `pyarrow`."""
        write_parquet(self.rows, path)


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a plan would run."""

    statement: str
    parameters: tuple[PyValue, ...]
    snapshots: tuple[datasets_pb2.SnapshotRead, ...]
    columns: tuple[ResultColumn, ...]
    engine_plan: str


@dataclass(frozen=True, slots=True)
class Verification:
    """Whether a receipt's plan gives the receipt's result again; `differences` says what changed, one sentence each."""

    agrees: bool
    differences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TracedRow:
    """A row that a result row was made of, and its place in the source."""

    alias: str
    row_id: int
    locator: artifact_pb2.Locator | None
    values: tuple[PyValue, ...]


@dataclass(frozen=True, slots=True)
class Approval:
    """The dataset that serves now, and whether its rows were read as other types."""

    dataset: Dataset
    retyped: bool


def read_approval(message: datasets_pb2.ApproveDatasetResponse) -> Approval:
    """Reads the answer of an approval."""
    return Approval(read_dataset(message.dataset), message.retyped)


def read_dataset(message: datasets_pb2.Dataset) -> Dataset:
    """Reads one live dataset."""
    return Dataset(
        namespace=message.namespace,
        source_uri=message.source_uri,
        dataset_id=message.dataset_id,
        name=message.name,
        columns=tuple(map(read_column, message.columns)),
        schema_state=name_of(datasets_pb2.SchemaState, message.schema_state),
        clarifications=read_clarifications(message.clarifications),
        row_count=message.row_count,
        rejected_count=message.rejected_count,
        rejected_rows=read_rejected(message.rejected_rows),
        complete=message.complete,
        snapshot_id=message.snapshot_id,
        revision=message.revision,
        locator=message.locator if message.HasField("locator") else None,
        file_sha256=message.file_sha256,
        sample_rows=tuple(map(read_row, message.sample_rows)),
        published_at=from_timestamp(message.published_at),
    )


def read_row(message: datasets_pb2.Row) -> tuple[PyValue, ...]:
    """Reads the values of one row."""
    return tuple(map(from_value, message.values))


def read_result(message: datasets_pb2.QueryResponse) -> QueryResult:
    """Reads a plan's result."""
    return QueryResult(
        columns=tuple(map(read_result_column, message.columns)),
        rows=tuple(map(read_row, message.rows)),
        row_ids=tuple({ids.alias: tuple(ids.ids) for ids in row.row_ids} for row in message.rows),
        receipt=message.receipt,
        next_page_token=message.next_page_token,
    )


def read_result_column(message: datasets_pb2.ResultColumn) -> ResultColumn:
    """Reads one column of a result."""
    return ResultColumn(message.name, name_of(artifact_pb2.ColumnType, message.type), message.precision, message.scale)


def read_explanation(message: datasets_pb2.ExplainQueryResponse) -> Explanation:
    """Reads what a plan would run."""
    return Explanation(
        statement=message.statement,
        parameters=tuple(map(from_value, message.parameters)),
        snapshots=tuple(message.snapshots),
        columns=tuple(map(read_result_column, message.columns)),
        engine_plan=message.engine_plan,
    )


def read_verification(message: datasets_pb2.VerifyReceiptResponse) -> Verification:
    """Reads whether a receipt holds."""
    return Verification(message.agrees, tuple(message.differences))


def read_trace(message: datasets_pb2.TraceRowsResponse.Trace) -> TracedRow:
    """Reads one traced row."""
    locator = message.locator if message.HasField("locator") else None
    return TracedRow(message.alias, message.row_id, locator, tuple(map(from_value, message.values)))
