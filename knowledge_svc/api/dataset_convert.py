"""Turns datasets, results and receipts into messages of the contract."""

from __future__ import annotations

from typing import Any, Final

from loom.artifact.v1 import artifact_pb2
from loom.knowledge.v1 import datasets_pb2 as pb

from artifact.encode import COLUMN_TYPES, column_message, locator_message
from knowledge_svc.api.messages import timestamp
from knowledge_svc.api.plan_messages import plan_message
from knowledge_svc.api.plan_values import write_value
from knowledge_svc.domain.checked_plan import ResultColumn, ResultTable, Step
from knowledge_svc.domain.datasets import SampledDataset
from knowledge_svc.domain.model import DatasetSnapshot, SchemaState
from knowledge_svc.domain.receipt import Receipt

_REJECTED_BYTES: Final = 256 * 1024
_STATES: Final[dict[SchemaState, Any]] = {  # Any: numbers of the enum, which the generated types take apart by name
    SchemaState.INFERRED: pb.SCHEMA_STATE_INFERRED,
    SchemaState.NEEDS_CLARIFICATION: pb.SCHEMA_STATE_NEEDS_CLARIFICATION,
    SchemaState.APPROVED: pb.SCHEMA_STATE_APPROVED,
}


def dataset_message(snapshot: DatasetSnapshot) -> pb.Dataset:
    """A dataset without rows."""
    return pb.Dataset(
        namespace=snapshot.scope.namespace,
        source_uri=snapshot.source_uri,
        dataset_id=snapshot.dataset_id,
        name=snapshot.name,
        columns=map(column_message, snapshot.columns),
        schema_state=_STATES[snapshot.schema_state],
        clarifications=[
            artifact_pb2.Clarification(code=one.code, column=one.column, message=one.message) for one in snapshot.clarifications
        ],
        row_count=snapshot.row_count,
        rejected_count=snapshot.rejected_count,
        rejected_rows=_first_rejected(snapshot),
        complete=snapshot.complete,
        snapshot_id=snapshot.snapshot_id,
        revision=snapshot.revision,
        locator=locator_message(snapshot.locator),
        file_sha256=snapshot.file_sha256,
        published_at=timestamp(snapshot.published_at),
    )


def sampled_message(sampled: SampledDataset) -> pb.Dataset:
    """A dataset with its first rows; a column that is not stored has no value in them."""
    message = dataset_message(sampled.snapshot)
    message.sample_rows.extend(pb.Row(values=map(write_value, row)) for row in sampled.rows)
    return message


def column_result(column: ResultColumn) -> pb.ResultColumn:
    """A column of a result."""
    return pb.ResultColumn(name=column.name, type=COLUMN_TYPES[column.type], precision=column.precision, scale=column.scale)


def row_messages(table: ResultTable, aliases: tuple[str, ...]) -> list[pb.Row]:
    """The rows of a result, each with the ids of the rows it was made of where the table has them."""
    rows = [pb.Row(values=map(write_value, row)) for row in table.rows]
    for message, lists in zip(rows, table.row_ids, strict=False):
        message.row_ids.extend(pb.RowIds(alias=alias, ids=ids) for alias, ids in zip(aliases, lists, strict=True))
    return rows


def receipt_message(receipt: Receipt) -> pb.Receipt:
    """A receipt."""
    return pb.Receipt(
        plan=plan_message(receipt.plan),
        plan_sha256=receipt.plan_sha256,
        snapshots=[
            snapshot_read(snapshot, one.alias) for snapshot, one in zip(receipt.snapshots, receipt.plan.datasets, strict=True)
        ],
        statement=receipt.statement,
        parameters=map(write_value, receipt.parameters),
        engine=receipt.engine,
        result_sha256=receipt.result_sha256,
        result_rows=receipt.result_rows,
        complete=receipt.complete,
        incomplete=receipt.incomplete,
        executed_at=timestamp(receipt.executed_at),
        steps=map(_step, receipt.steps),
    )


def snapshot_read(snapshot: DatasetSnapshot, alias: str) -> pb.SnapshotRead:
    """A snapshot that a plan reads."""
    return pb.SnapshotRead(
        alias=alias,
        source_uri=snapshot.source_uri,
        dataset_id=snapshot.dataset_id,
        snapshot_id=snapshot.snapshot_id,
        revision=snapshot.revision,
        row_count=snapshot.row_count,
        rejected_rows=snapshot.rejected_count,
        file_sha256=snapshot.file_sha256,
    )


def _first_rejected(snapshot: DatasetSnapshot) -> list[artifact_pb2.RejectedRow]:
    """The first rejected rows, fewer where they are long: a dataset with its columns has to fit in a message."""
    messages, size = [], 0
    for row in snapshot.rejected_rows:
        message = artifact_pb2.RejectedRow(locator=locator_message(row.locator), values=row.values, reason=row.reason)
        size += message.ByteSize()
        if size > _REJECTED_BYTES:
            break
        messages.append(message)
    return messages


def _step(step: Step) -> pb.ReceiptStep:
    return pb.ReceiptStep(step=step.name, rows_in=step.rows_in, rows_out=step.rows_out, null_skipped=step.null_skipped)
