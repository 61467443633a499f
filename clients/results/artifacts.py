"""Parts of an artifact: the ledger, warnings, blocks and the schemas of datasets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from loom.artifact.v1 import artifact_pb2

from clients.arrow import read_table
from clients.enums import name_of

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class FailedUnit:
    """A page, sheet or slide that was not read, and why."""

    unit: str
    reason: str
    locator: artifact_pb2.Locator | None


@dataclass(frozen=True, slots=True)
class Coverage:
    """The ledger of what was read; word counts are by reason. `complete` is the server's own verdict."""

    unit: str
    total: int
    extracted: int
    failed: tuple[FailedUnit, ...]
    lost: tuple[str, ...]
    words_emitted: int
    words_excluded: Mapping[str, int]
    words_unread: Mapping[str, int]
    complete: bool


@dataclass(frozen=True, slots=True)
class ArtifactWarning:
    """Something a reader should know: a code in capitals, a sentence, and where."""

    code: str
    message: str
    locator: artifact_pb2.Locator | None


@dataclass(frozen=True, slots=True)
class Link:
    """A link of the source: the words it stands on, where it leads as the source writes it, and its place."""

    text: str
    target: str
    locator: artifact_pb2.Locator


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table's grid; rows and columns from 0, spans at least 1."""

    row: int
    column: int
    text: str
    row_span: int
    column_span: int
    formula: str
    number_format: str


@dataclass(frozen=True, slots=True)
class Block:
    """A unit of text in reading order; `type` and `visibility` are names of the contract's enums in lower case."""

    id: str
    type: str
    text: str
    locator: artifact_pb2.Locator
    level: int
    section_path: tuple[str, ...]
    defines: tuple[str, ...]
    reads: tuple[str, ...]
    dataset_id: str
    cells: tuple[Cell, ...]
    language: str
    ocr: bool
    visibility: str


@dataclass(frozen=True, slots=True)
class Column:
    """A dataset column; `type` is "string", "number", "bool", "date", "datetime", "time" or "duration".

    `precision` and `scale` are those of the decimals that hold a number column, both 0 where it is a double.
    """

    name: str
    type: str
    source_header: str
    inferred: Mapping[str, int]
    number_format: str
    unit: str
    precision: int
    scale: int
    nullable: bool
    stored: bool


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row that does not fit its columns' types, with its displayed values."""

    locator: artifact_pb2.Locator | None
    values: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Clarification:
    """A question about a dataset's schema that a person has to answer."""

    code: str
    column: str
    message: str


@dataclass(frozen=True, slots=True)
class CellFormula:
    """A formula of a dataset cell, and whether the source held its result."""

    row_id: int
    column: str
    formula: str
    cached: bool


@dataclass(frozen=True, slots=True)
class ExtractedDataset:
    """A typed table of an artifact; `arrow_ipc` is its rows as one Arrow IPC stream, which `rows` reads."""

    id: str
    name: str
    columns: tuple[Column, ...]
    locator: artifact_pb2.Locator | None
    header_rows: int
    row_count: int
    rejected_count: int
    rejected_rows: tuple[RejectedRow, ...]
    clarifications: tuple[Clarification, ...]
    formulas: tuple[CellFormula, ...]
    complete: bool
    arrow_ipc: bytes

    @property
    def rows(self) -> pa.Table:
        """The rows, after "_row_id" and "_locator" one Arrow column a dataset column. Needs the package `pyarrow`.

        Raises:
            ModuleNotFoundError: pyarrow is not installed.
        """
        return read_table(self.arrow_ipc)


@dataclass(frozen=True, slots=True)
class Artifact:
    """All that was read from one file; `properties` are the file's own."""

    format: str
    parser: str
    sha256: str
    size_bytes: int
    title: str
    encoding: str
    properties: Mapping[str, str]
    blocks: tuple[Block, ...]
    datasets: tuple[ExtractedDataset, ...]
    coverage: Coverage
    links: tuple[Link, ...]
    warnings: tuple[ArtifactWarning, ...]


def locator_of(
    message: artifact_pb2.Warning | artifact_pb2.FailedUnit | artifact_pb2.RejectedRow | artifact_pb2.DatasetSchema,
) -> artifact_pb2.Locator | None:
    """The message's locator; None where it names no place."""
    return message.locator if message.HasField("locator") else None


def read_coverage(message: artifact_pb2.Coverage) -> Coverage:
    """Reads the ledger."""
    return Coverage(
        unit=message.unit,
        total=message.total,
        extracted=message.extracted,
        failed=tuple(FailedUnit(item.unit, item.reason, locator_of(item)) for item in message.failed),
        lost=tuple(message.lost),
        words_emitted=message.words_emitted,
        words_excluded={item.reason: item.words for item in message.words_excluded},
        words_unread={item.reason: item.words for item in message.words_unread},
        complete=message.complete,
    )


def read_links(messages: Sequence[artifact_pb2.Link]) -> tuple[Link, ...]:
    """Reads links, in order."""
    return tuple(Link(item.text, item.target, item.locator) for item in messages)


def read_warnings(messages: Sequence[artifact_pb2.Warning]) -> tuple[ArtifactWarning, ...]:
    """Reads warnings, in order."""
    return tuple(ArtifactWarning(item.code, item.message, locator_of(item)) for item in messages)


def read_block(message: artifact_pb2.Block) -> Block:
    """Reads one block."""
    return Block(
        id=message.id,
        type=name_of(artifact_pb2.BlockType, message.type),
        text=message.text,
        locator=message.locator,
        level=message.level,
        section_path=tuple(message.section_path),
        defines=tuple(message.defines),
        reads=tuple(message.reads),
        dataset_id=message.dataset_id,
        cells=tuple(map(read_cell, message.cells)),
        language=message.language,
        ocr=message.ocr,
        visibility=name_of(artifact_pb2.Visibility, message.visibility) or "visible",
    )


def read_cell(message: artifact_pb2.Cell) -> Cell:
    """Reads one cell; a span of 0 reads as 1."""
    return Cell(
        row=message.row,
        column=message.column,
        text=message.text,
        row_span=message.row_span or 1,
        column_span=message.column_span or 1,
        formula=message.formula,
        number_format=message.number_format,
    )


def read_column(message: artifact_pb2.Column) -> Column:
    """Reads one column."""
    return Column(
        name=message.name,
        type=name_of(artifact_pb2.ColumnType, message.type),
        source_header=message.source_header,
        inferred={name_of(artifact_pb2.ColumnType, item.type): item.values for item in message.inferred},
        number_format=message.number_format,
        unit=message.unit,
        precision=message.precision,
        scale=message.scale,
        nullable=message.nullable,
        stored=message.stored,
    )


def read_rejected(messages: Sequence[artifact_pb2.RejectedRow]) -> tuple[RejectedRow, ...]:
    """Reads rejected rows, in order."""
    return tuple(RejectedRow(locator_of(item), tuple(item.values), item.reason) for item in messages)


def read_clarifications(messages: Sequence[artifact_pb2.Clarification]) -> tuple[Clarification, ...]:
    """Reads clarifications, in order."""
    return tuple(Clarification(item.code, item.column, item.message) for item in messages)


def read_dataset(message: artifact_pb2.DatasetSchema, arrow_ipc: bytes) -> ExtractedDataset:
    """Reads one dataset, its schema and its rows."""
    return ExtractedDataset(
        id=message.id,
        name=message.name,
        columns=tuple(map(read_column, message.columns)),
        locator=locator_of(message),
        header_rows=message.header_rows,
        row_count=message.row_count,
        rejected_count=message.rejected_count,
        rejected_rows=read_rejected(message.rejected_rows),
        clarifications=read_clarifications(message.clarifications),
        formulas=tuple(CellFormula(item.row_id, item.column, item.formula, item.cached) for item in message.formulas),
        complete=message.complete,
        arrow_ipc=arrow_ipc,
    )
