"""Turns the artifact's value types into messages of the contract."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import chain
from typing import Final

from google.protobuf.message import Message
from loom.artifact.v1 import artifact_pb2 as pb

from artifact.locators import KINDS, Locator, PageBox, PdfPlace, SheetPlace, kind_of
from artifact.model import (
    Artifact,
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
    Visibility,
    WordCount,
)

# Names of the contract's enum values.
BLOCK_TYPES: Final = {kind: f"BLOCK_TYPE_{kind.name}" for kind in BlockType}
VISIBILITIES: Final = {kind: f"VISIBILITY_{kind.name}" for kind in Visibility}
COLUMN_TYPES: Final = {kind: f"COLUMN_TYPE_{kind.name}" for kind in ColumnType}

FIELDS: Final = {kind: tuple(field.name for field in fields(kind)) for kind in KINDS.values()}
"""Field names of each locator, which are those of its message."""

_USUAL_CELL_BYTES: Final = 24
_ENTRY_BYTES: Final = 8  # tag and length of a list's entry, and some to spare
_BOX_FIELDS: Final = tuple(field.name for field in fields(PageBox))


def locator_message(locator: Locator) -> pb.Locator:
    """The locator under its kind; a sheet's range is also written in A1 notation."""
    message = pb.Locator()
    place = getattr(message, kind_of(locator))
    place.SetInParent()
    for name in FIELDS[type(locator)]:
        if name != "boxes":
            setattr(place, name, getattr(locator, name))
    if isinstance(locator, PdfPlace):
        message.pdf.boxes.extend(pb.PageBox(**{name: getattr(box, name) for name in _BOX_FIELDS}) for box in locator.boxes)
    if isinstance(locator, SheetPlace):
        message.sheet.a1 = locator.a1
    return message


def cell_message(cell: Cell) -> pb.Cell:
    """One cell of a table's grid."""
    return pb.Cell(
        row=cell.row,
        column=cell.column,
        text=cell.text,
        row_span=cell.row_span,
        column_span=cell.column_span,
        formula=cell.formula,
        number_format=cell.number_format,
    )


def block_message(block: Block) -> pb.Block:
    """One block with its grid."""
    return pb.Block(
        id=block.id,
        type=BLOCK_TYPES[block.type],
        text=block.text,
        locator=locator_message(block.locator),
        level=block.level,
        section_path=block.section_path,
        defines=block.defines,
        reads=block.reads,
        dataset_id=block.dataset_id,
        cells=map(cell_message, block.cells),
        language=block.language,
        ocr=block.ocr,
        visibility=VISIBILITIES[block.visibility],
    )


def block_messages(block: Block, *, max_bytes: int) -> Iterator[pb.Block]:
    """The block in one message, or where that is too large in several: the further ones hold its id and more text and cells."""
    if len(block.text) + _USUAL_CELL_BYTES * len(block.cells) <= max_bytes:
        message = block_message(block)
        if message.ByteSize() <= max_bytes:
            yield message
            return
    message = block_message(replace(block, text="", cells=()))
    size = bare = message.ByteSize()
    step = max(1, max_bytes // 8)  # a character takes at most 4 bytes, so a piece fills half a message at most
    pieces = (block.text[start : start + step] for start in range(0, len(block.text), step))
    items: Iterator[str | pb.Cell] = chain(pieces, map(cell_message, block.cells))
    for item in items:
        grown = (len(item.encode()) if isinstance(item, str) else item.ByteSize()) + _ENTRY_BYTES
        if size + grown > max_bytes and size > bare:
            yield message
            message = pb.Block(id=block.id)
            size = bare = message.ByteSize()
        if isinstance(item, str):
            message.text += item
        else:
            message.cells.append(item)
        size += grown
    yield message


def coverage_message(coverage: Coverage) -> pb.Coverage:
    """The ledger, with `complete` spelled out."""
    return pb.Coverage(
        unit=coverage.unit,
        total=coverage.total,
        extracted=coverage.extracted,
        failed=map(_failed_message, coverage.failed),
        lost=coverage.lost,
        words_emitted=coverage.words_emitted,
        words_excluded=map(_words_message, coverage.words_excluded),
        words_unread=map(_words_message, coverage.words_unread),
        complete=coverage.complete,
    )


def link_message(link: Link) -> pb.Link:
    """One link."""
    return pb.Link(text=link.text, target=link.target, locator=locator_message(link.locator))


def warning_message(warning: ArtifactWarning) -> pb.Warning:
    """One warning."""
    return pb.Warning(code=warning.code, message=warning.message, locator=_optional_locator(warning.locator))


def head_message(artifact: Artifact) -> pb.ArtifactHead:
    """What is known of the file as a whole."""
    return pb.ArtifactHead(
        format=artifact.format,
        parser=artifact.parser,
        sha256=artifact.sha256,
        size_bytes=artifact.size_bytes,
        title=artifact.title,
        encoding=artifact.encoding,
        properties=artifact.properties,
    )


def column_message(column: Column) -> pb.Column:
    """One dataset column."""
    return pb.Column(
        name=column.name,
        type=COLUMN_TYPES[column.type],
        source_header=column.source_header,
        inferred=map(_count_message, column.inferred),
        number_format=column.number_format,
        unit=column.unit,
        precision=column.precision,
        scale=column.scale,
        nullable=column.nullable,
        stored=column.stored,
    )


def dataset_messages(dataset: Dataset, *, max_bytes: int) -> Iterator[pb.DatasetSchema]:
    """The dataset without its rows: one message, and more with its id and the rest of its lists where one would be too large."""
    message = pb.DatasetSchema(
        id=dataset.id,
        name=dataset.name,
        locator=locator_message(dataset.locator),
        header_rows=dataset.header_rows,
        row_count=dataset.rows.num_rows,
        rejected_count=dataset.rejected_count,
        complete=dataset.complete,
    )
    size = message.ByteSize()
    for name, item in _dataset_items(dataset):
        item_size = item.ByteSize() + _ENTRY_BYTES
        if size + item_size > max_bytes and any(_lists(message)):
            yield message
            message = pb.DatasetSchema(id=dataset.id)
            size = message.ByteSize()
        getattr(message, name).append(item)
        size += item_size
    yield message


DATASET_LISTS: Final = ("columns", "rejected_rows", "clarifications", "formulas")
"""Fields of a dataset's schema that may come in several messages."""


def _lists(message: pb.DatasetSchema) -> Iterator[int]:
    return (len(getattr(message, name)) for name in DATASET_LISTS)


def _dataset_items(dataset: Dataset) -> Iterator[tuple[str, Message]]:
    return chain(
        (("columns", column_message(column)) for column in dataset.columns),
        (("rejected_rows", _rejected_message(row)) for row in dataset.rejected_rows),
        (("clarifications", _clarification_message(question)) for question in dataset.clarifications),
        (("formulas", _formula_message(formula)) for formula in dataset.formulas),
    )


def _optional_locator(locator: Locator | None) -> pb.Locator | None:
    return None if locator is None else locator_message(locator)


def _failed_message(failed: FailedUnit) -> pb.FailedUnit:
    return pb.FailedUnit(unit=failed.unit, reason=failed.reason, locator=_optional_locator(failed.locator))


def _words_message(count: WordCount) -> pb.WordCount:
    return pb.WordCount(reason=count.reason, words=count.words)


def _count_message(count: TypeCount) -> pb.TypeCount:
    return pb.TypeCount(type=COLUMN_TYPES[count.type], values=count.values)


def _rejected_message(row: RejectedRow) -> pb.RejectedRow:
    return pb.RejectedRow(locator=locator_message(row.locator), values=row.values, reason=row.reason)


def _clarification_message(question: Clarification) -> pb.Clarification:
    return pb.Clarification(code=question.code, column=question.column, message=question.message)


def _formula_message(formula: CellFormula) -> pb.CellFormula:
    return pb.CellFormula(row_id=formula.row_id, column=formula.column, formula=formula.formula, cached=formula.cached)
