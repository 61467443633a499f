"""Results as Arrow IPC streams, for analytics tools."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
from google.protobuf.json_format import MessageToJson
from loom.knowledge.v1 import datasets_pb2 as pb

from artifact.model import ColumnType
from knowledge_svc.domain.checked_plan import ResultColumn, ResultTable

RECEIPT_KEY: Final = "loom.receipt"
PIECE_BYTES: Final = 256 * 1024
_ROWS_PER_BATCH: Final = 10_000
_TYPES: Final = {
    ColumnType.STRING: pa.string(),
    ColumnType.BOOL: pa.bool_(),
    ColumnType.DATE: pa.date32(),
    ColumnType.DATETIME: pa.timestamp("us"),
    ColumnType.TIME: pa.time64("us"),
    ColumnType.DURATION: pa.duration("us"),
}


def ipc_pieces(table: ResultTable, receipt: pb.Receipt) -> list[bytes]:
    """One Arrow IPC stream in pieces; numbers are decimals of the result's precision and scale, or doubles.

    The schema's metadata holds the receipt under `loom.receipt`, as JSON of the contract.
    """
    told = MessageToJson(receipt, preserving_proto_field_name=True, indent=None)
    fields = [pa.field(column.name, _arrow_type(column)) for column in table.columns]
    schema = pa.schema(fields, metadata={RECEIPT_KEY: told})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        for start in range(0, len(table.rows), _ROWS_PER_BATCH):
            rows = table.rows[start : start + _ROWS_PER_BATCH]
            arrays = [pa.array([row[i] for row in rows], field.type) for i, field in enumerate(schema)]
            writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
    whole = memoryview(sink.getvalue())
    return [bytes(whole[start : start + PIECE_BYTES]) for start in range(0, len(whole), PIECE_BYTES)]


def _arrow_type(column: ResultColumn) -> pa.DataType:
    if column.type is not ColumnType.NUMBER:
        return _TYPES[column.type]
    return pa.decimal128(column.precision, column.scale) if column.precision else pa.float64()
