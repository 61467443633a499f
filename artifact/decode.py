"""Turns messages of the contract into the artifact's value types, trusting nothing in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from loom.artifact.v1 import artifact_pb2 as pb

from artifact.encode import BLOCK_TYPES, COLUMN_TYPES, FIELDS, VISIBILITIES
from artifact.faults import ArtifactFault
from artifact.locators import KINDS, Locator, PageBox, PdfPlace
from artifact.model import (
    ROW_ID,
    ROW_LOCATOR,
    ArtifactWarning,
    Block,
    BlockType,
    Cell,
    CellFormula,
    Clarification,
    Column,
    ColumnType,
    Coverage,
    Dataset,
    FailedUnit,
    Link,
    RejectedRow,
    TypeCount,
    WordCount,
)
from artifact.places import check_locator
from artifact.rows import MAX_DECIMAL_DIGITS, read_rows

MAX_REJECTED_ROWS: Final = 100

_BLOCK_TYPE_OF: Final = {pb.BlockType.Value(name): kind for kind, name in BLOCK_TYPES.items()}
_VISIBILITY_OF: Final = {pb.Visibility.Value(name): kind for kind, name in VISIBILITIES.items()}
_COLUMN_TYPE_OF: Final = {pb.ColumnType.Value(name): kind for kind, name in COLUMN_TYPES.items()}
_LEVELLED: Final = frozenset({BlockType.HEADING, BlockType.LIST_ITEM})
_CODE: Final = re.compile(r"[A-Z][A-Z0-9_]*")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")

_Kind = TypeVar("_Kind")
_Message = TypeVar("_Message")
_Value = TypeVar("_Value")


def check_head(message: pb.ArtifactHead) -> None:
    """Refuses a head without a format, a parser or a well-formed hash."""
    if not message.format:
        raise ArtifactFault("head.format", "is empty")
    if not message.parser:
        raise ArtifactFault("head.parser", "is empty")
    if not _SHA256.fullmatch(message.sha256):
        raise ArtifactFault("head.sha256", "is not 64 hexadecimal digits in lower case")
    _check_count(message.size_bytes, "head.size_bytes")


def locator_of(message: pb.Locator, field: str) -> Locator:
    """The locator of a message.

    Raises:
        ArtifactFault: it has no kind, or names no possible place.
    """
    name = message.WhichOneof("kind")
    if name is None:
        raise ArtifactFault(field, "has no kind")
    kind, place = KINDS[name], getattr(message, name)
    values = {name: getattr(place, name) for name in FIELDS[kind]}
    if kind is PdfPlace:
        values["boxes"] = tuple(PageBox(box.page, box.x0, box.y0, box.x1, box.y1) for box in place.boxes)
    locator = kind(**values)
    check_locator(locator, field)
    return locator


def block_of(message: pb.Block, field: str) -> Block:
    """The block of a message.

    Raises:
        ArtifactFault: naming the field at fault.
    """
    kind = _enum(_BLOCK_TYPE_OF, message.type, f"{field}.type")
    if not message.id:
        raise ArtifactFault(f"{field}.id", "is empty")
    _check_level(kind, message.level, f"{field}.level")
    return Block(
        id=message.id,
        type=kind,
        text=message.text,
        locator=locator_of(message.locator, f"{field}.locator"),
        level=message.level,
        section_path=tuple(message.section_path),
        defines=tuple(message.defines),
        reads=tuple(message.reads),
        dataset_id=message.dataset_id,
        cells=_each(message.cells, _cell, field=f"{field}.cells"),
        language=message.language,
        ocr=message.ocr,
        visibility=_enum(_VISIBILITY_OF, message.visibility, f"{field}.visibility"),
    )


def more_of(block: Block, message: pb.Block, field: str) -> tuple[str, tuple[Cell, ...]]:
    """The text and cells that a further message of the same block brings.

    Raises:
        ArtifactFault: it brings anything else, or a faulty cell.
    """
    rest = pb.Block()
    rest.CopyFrom(message)
    for name in ("id", "text", "cells"):
        rest.ClearField(name)
    if rest.ByteSize():
        raise ArtifactFault(f"{field}.id", f"{block.id!r} is taken")
    return message.text, _each(message.cells, _cell, field=f"{field}.cells")


def link_of(message: pb.Link, field: str) -> Link:
    """The link of a message.

    Raises:
        ArtifactFault: naming the field at fault.
    """
    if not message.target:
        raise ArtifactFault(f"{field}.target", "is empty")
    return Link(message.text, message.target, locator_of(message.locator, f"{field}.locator"))


def warning_of(message: pb.Warning, field: str) -> ArtifactWarning:
    """The warning of a message.

    Raises:
        ArtifactFault: naming the field at fault.
    """
    if not _CODE.fullmatch(message.code):
        raise ArtifactFault(f"{field}.code", "is not a code in capitals")
    return ArtifactWarning(message.code, message.message, _optional_locator(message, f"{field}.locator"))


def coverage_of(message: pb.Coverage) -> Coverage:
    """The ledger of a message; whether it is complete follows from its lines, whatever the message says.

    Raises:
        ArtifactFault: naming the field at fault.
    """
    if not message.unit:
        raise ArtifactFault("coverage.unit", "is empty")
    _check_count(message.total, "coverage.total")
    _check_count(message.extracted, "coverage.extracted")
    _check_count(message.words_emitted, "coverage.words_emitted")
    if message.extracted > message.total:
        raise ArtifactFault("coverage.extracted", f"is {message.extracted} of {message.total}")
    return Coverage(
        unit=message.unit,
        total=message.total,
        extracted=message.extracted,
        failed=_each(message.failed, _failed, field="coverage.failed"),
        lost=tuple(message.lost),
        words_emitted=message.words_emitted,
        words_excluded=_each(message.words_excluded, _words, field="coverage.words_excluded"),
        words_unread=_each(message.words_unread, _words, field="coverage.words_unread"),
    )


def dataset_of(message: pb.DatasetSchema, parts: Iterable[bytes], *, field: str) -> Dataset:
    """The dataset of a whole schema message and the parts of its rows.

    Raises:
        ArtifactFault: naming the field at fault.
    """
    columns = _each(message.columns, _column, field=f"{field}.columns")
    _check_columns(columns, f"{field}.columns")
    _check_count(message.header_rows, f"{field}.header_rows")
    _check_count(message.row_count, f"{field}.row_count")
    _check_rejected(message, f"{field}.rejected_rows")
    locator = locator_of(message.locator, f"{field}.locator")
    rows = read_rows(parts, columns, row_count=message.row_count, field=f"{field}.rows")
    formulas = _each(message.formulas, _formula, field=f"{field}.formulas")
    _check_formulas(formulas, columns, ids=rows[ROW_ID], field=f"{field}.formulas")
    return Dataset(
        id=message.id,
        name=message.name,
        columns=columns,
        rows=rows,
        locator=locator,
        header_rows=message.header_rows,
        rejected_count=message.rejected_count,
        rejected_rows=_each(message.rejected_rows, _rejected, field=f"{field}.rejected_rows"),
        clarifications=_each(message.clarifications, _clarification, field=f"{field}.clarifications"),
        formulas=formulas,
        complete=message.complete,
    )


def _each(messages: Iterable[_Message], read: Callable[[_Message, str], _Value], *, field: str) -> tuple[_Value, ...]:
    return tuple(read(message, f"{field}[{number}]") for number, message in enumerate(messages))


def _enum(kinds: Mapping[Any, _Kind], number: int, field: str) -> _Kind:  # Any: keys are the contract's enum numbers
    if (kind := kinds.get(number)) is None:
        raise ArtifactFault(field, f"has the unknown value {number}")
    return kind


def _optional_locator(message: pb.Warning | pb.FailedUnit, field: str) -> Locator | None:
    return locator_of(message.locator, field) if message.HasField("locator") else None


def _check_count(number: int, field: str) -> None:
    if number < 0:
        raise ArtifactFault(field, f"is {number}, below 0")


def _check_level(kind: BlockType, level: int, field: str) -> None:
    least, most = (1, 9) if kind in _LEVELLED else (0, 0)
    if not least <= level <= most:
        raise ArtifactFault(field, f"is {level}; a {kind} has {least} to {most}")


def _cell(message: pb.Cell, field: str) -> Cell:
    _check_count(message.row, f"{field}.row")
    _check_count(message.column, f"{field}.column")
    _check_count(message.row_span, f"{field}.row_span")
    _check_count(message.column_span, f"{field}.column_span")
    return Cell(
        row=message.row,
        column=message.column,
        text=message.text,
        row_span=message.row_span or 1,
        column_span=message.column_span or 1,
        formula=message.formula,
        number_format=message.number_format,
    )


def _failed(message: pb.FailedUnit, field: str) -> FailedUnit:
    if not message.reason:
        raise ArtifactFault(f"{field}.reason", "is empty")
    return FailedUnit(message.unit, message.reason, _optional_locator(message, f"{field}.locator"))


def _words(message: pb.WordCount, field: str) -> WordCount:
    if not message.reason:
        raise ArtifactFault(f"{field}.reason", "is empty")
    _check_count(message.words, f"{field}.words")
    return WordCount(message.reason, message.words)


def _type_count(message: pb.TypeCount, field: str) -> TypeCount:
    _check_count(message.values, f"{field}.values")
    return TypeCount(_enum(_COLUMN_TYPE_OF, message.type, f"{field}.type"), message.values)


def _column(message: pb.Column, field: str) -> Column:
    kind = _enum(_COLUMN_TYPE_OF, message.type, f"{field}.type")
    most_digits = MAX_DECIMAL_DIGITS if kind is ColumnType.NUMBER else 0
    if not 0 <= message.precision <= most_digits:
        raise ArtifactFault(f"{field}.precision", f"is {message.precision}; a {kind} has 0 to {most_digits}")
    if not 0 <= message.scale <= message.precision:
        raise ArtifactFault(f"{field}.scale", f"is {message.scale}, outside 0 to its precision {message.precision}")
    return Column(
        name=message.name,
        type=kind,
        source_header=message.source_header,
        inferred=_each(message.inferred, _type_count, field=f"{field}.inferred"),
        number_format=message.number_format,
        unit=message.unit,
        precision=message.precision,
        scale=message.scale,
        nullable=message.nullable,
        stored=message.stored,
    )


def _check_columns(columns: Sequence[Column], field: str) -> None:
    names = {ROW_ID, ROW_LOCATOR}
    for number, column in enumerate(columns):
        if not column.name:
            raise ArtifactFault(f"{field}[{number}].name", "is empty")
        if column.name in names:
            raise ArtifactFault(f"{field}[{number}].name", f"{column.name!r} is taken")
        names.add(column.name)


def _check_rejected(message: pb.DatasetSchema, field: str) -> None:
    if len(message.rejected_rows) > MAX_REJECTED_ROWS:
        raise ArtifactFault(field, f"has {len(message.rejected_rows)} entries, more than {MAX_REJECTED_ROWS}")
    if message.rejected_count < len(message.rejected_rows):
        raise ArtifactFault(field, f"has {len(message.rejected_rows)} entries, more than the {message.rejected_count} counted")


def _check_formulas(formulas: Sequence[CellFormula], columns: Sequence[Column], *, ids: pa.ChunkedArray, field: str) -> None:
    names = {column.name for column in columns}
    for number, formula in enumerate(formulas):
        if formula.column not in names:
            raise ArtifactFault(f"{field}[{number}].column", f"there is no column {formula.column!r}")
    known = pc.is_in(pa.array([formula.row_id for formula in formulas], pa.int64()), value_set=ids.combine_chunks())
    if (first := known.index(pa.scalar(value=False)).as_py()) >= 0:
        raise ArtifactFault(f"{field}[{first}].row_id", f"there is no row {formulas[first].row_id}")


def _rejected(message: pb.RejectedRow, field: str) -> RejectedRow:
    return RejectedRow(locator_of(message.locator, f"{field}.locator"), tuple(message.values), message.reason)


def _clarification(message: pb.Clarification, field: str) -> Clarification:
    if not message.code:
        raise ArtifactFault(f"{field}.code", "is empty")
    return Clarification(message.code, message.column, message.message)


def _formula(message: pb.CellFormula, field: str) -> CellFormula:
    _check_count(message.row_id, f"{field}.row_id")
    return CellFormula(message.row_id, message.column, message.formula, message.cached)
