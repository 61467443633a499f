"""Turns datasets, results and receipts into messages of the contract, and receipts back."""

from __future__ import annotations

from typing import Any, Final

from loom.artifact.v1 import artifact_pb2
from loom.knowledge.v1 import datasets_pb2 as pb

from artifact.encode import COLUMN_TYPES, column_message, locator_message
from artifact.locators import from_json
from knowledge_svc.api.messages import timestamp
from knowledge_svc.api.plan_convert import read_plan
from knowledge_svc.api.plan_messages import plan_message
from knowledge_svc.api.plan_values import read_value, write_value
from knowledge_svc.api.requests import Faults
from knowledge_svc.domain.checked_plan import ResultColumn, ResultTable, Step
from knowledge_svc.domain.datasets import SampledDataset
from knowledge_svc.domain.model import DatasetSnapshot, SchemaState
from knowledge_svc.domain.plan_faults import PlanFaults
from knowledge_svc.domain.receipt import Receipt, SnapshotRead
from knowledge_svc.domain.tracing import TracedRows

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
        snapshots=map(snapshot_read_message, receipt.snapshots),
        statement=receipt.statement,
        parameters=map(write_value, receipt.parameters),
        engine=receipt.engine,
        result_sha256=receipt.result_sha256,
        result_rows=receipt.result_rows,
        complete=receipt.complete,
        incomplete=receipt.incomplete,
        executed_at=timestamp(receipt.executed_at) if receipt.executed_at else None,
        steps=map(_step, receipt.steps),
    )


def snapshot_read_message(read: SnapshotRead) -> pb.SnapshotRead:
    """A snapshot that a plan reads."""
    return pb.SnapshotRead(
        alias=read.alias,
        source_uri=read.source_uri,
        dataset_id=read.dataset_id,
        snapshot_id=read.snapshot_id,
        revision=read.revision,
        row_count=read.row_count,
        rejected_rows=read.rejected_rows,
        file_sha256=read.file_sha256,
    )


def read_receipt(message: pb.Receipt) -> Receipt:
    """Reads a receipt that a caller hands in; when it ran is left out, since it is not compared.

    Raises:
        InvalidArgument: with every fault as a violation.
        InvalidPlan, Unimplemented: as `read_plan`.
    """
    faults = Faults()
    plan_faults = PlanFaults()
    faults.check(message.complete == (not message.incomplete), "receipt.complete", "is true where nothing is incomplete")
    faults.check(len(message.snapshots) == len(message.plan.datasets), "receipt.snapshots", "takes one for each dataset")
    parameters = [read_value(one, f"receipt.parameters[{i}]", plan_faults) for i, one in enumerate(message.parameters)]
    faults.raise_any()
    plan_faults.raise_if_any()
    return Receipt(
        plan=read_plan(message.plan, "receipt.plan"),
        plan_sha256=message.plan_sha256,
        snapshots=tuple(_snapshot_read(one) for one in message.snapshots),
        statement=message.statement,
        parameters=tuple(one for one in parameters if one is not None),
        engine=message.engine,
        result_sha256=message.result_sha256,
        result_rows=message.result_rows,
        incomplete=tuple(message.incomplete),
        steps=tuple(Step(one.step, one.rows_in, one.rows_out, one.null_skipped) for one in message.steps),
    )


def traced_messages(traced: TracedRows) -> list[pb.TraceRowsResponse.Trace]:
    """Rows of a source with their places."""
    return [
        pb.TraceRowsResponse.Trace(
            alias=one.alias,
            row_id=one.row.row_id,
            locator=locator_message(from_json(one.row.locator)),
            values=map(write_value, one.row.values),
        )
        for one in traced.rows
    ]


def _snapshot_read(message: pb.SnapshotRead) -> SnapshotRead:
    return SnapshotRead(
        alias=message.alias,
        source_uri=message.source_uri,
        dataset_id=message.dataset_id,
        snapshot_id=message.snapshot_id,
        revision=message.revision,
        row_count=message.row_count,
        rejected_rows=message.rejected_rows,
        file_sha256=message.file_sha256,
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
