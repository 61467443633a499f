"""Calls that read datasets and run plans over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from loom.artifact.v1 import artifact_pb2
from loom.knowledge.v1 import datasets_pb2

from clients.calls import WORK_TIMEOUT_S, Call, Pages, Stream
from clients.enums import contract_name
from clients.errors import DataLoss
from clients.results.datasets import (
    Approval,
    ArrowResult,
    Dataset,
    Explanation,
    QueryResult,
    TracedRow,
    Verification,
    read_approval,
    read_dataset,
    read_explanation,
    read_result,
    read_trace,
    read_verification,
)


class Planned(Protocol):
    """Anything that builds a plan, such as `clients.plans.Plan`."""

    def to_proto(self) -> datasets_pb2.Plan:
        """The plan as the contract carries it."""


def datasets(source_uri: str, *, dataset_id: str = "", sample_rows: int = 0, namespace: str = "") -> Call[tuple[Dataset, ...]]:
    """Returns the live datasets of a source in the order of the file, or one of them, with 0 to 50 sample rows each."""
    request = datasets_pb2.GetDatasetsRequest(
        namespace=namespace, source_uri=source_uri, dataset_id=dataset_id, sample_rows=sample_rows
    )
    return Call("datasets.GetDatasets", request, lambda answer: tuple(map(read_dataset, answer.datasets)))


def list_datasets(*, uri_prefixes: Sequence[str] = (), page_size: int = 0, namespace: str = "") -> Pages[Dataset]:
    """Yields the live datasets of a namespace, by source_uri and dataset id."""
    request = datasets_pb2.ListDatasetsRequest(namespace=namespace, uri_prefixes=uri_prefixes, page_size=page_size)
    return Pages("datasets.ListDatasets", request, lambda page: [read_dataset(item) for item in page.datasets])


def approve(
    source_uri: str, dataset_id: str, *, snapshot_id: str, columns: Mapping[str, str] | None = None, namespace: str = ""
) -> Call[Approval]:
    """Answers a dataset's clarifications, of the snapshot that was reviewed; `columns` gives new types by column name.

    Types are "string", "number", "bool", "date", "datetime", "time" and "duration". Rows that do not fit them are rejected.
    """
    types = {name: getattr(artifact_pb2, contract_name(artifact_pb2.ColumnType, kind)) for name, kind in (columns or {}).items()}
    request = datasets_pb2.ApproveDatasetRequest(
        namespace=namespace, source_uri=source_uri, dataset_id=dataset_id, snapshot_id=snapshot_id, columns=types
    )
    return Call("datasets.ApproveDataset", request, read_approval, WORK_TIMEOUT_S)


def query(plan: Planned | datasets_pb2.Plan, *, page_size: int = 0, page_token: str = "", namespace: str = "") -> Call[QueryResult]:
    """Runs a plan over every row of its datasets' live snapshots, exactly or not at all."""
    request = datasets_pb2.QueryRequest(namespace=namespace, plan=plan_of(plan), page_size=page_size, page_token=page_token)
    return Call("datasets.Query", request, read_result, WORK_TIMEOUT_S)


def query_arrow(plan: Planned | datasets_pb2.Plan, *, namespace: str = "") -> Stream[datasets_pb2.QueryArrowResponse]:
    """Runs a plan and streams its result: bytes of one Arrow IPC stream, then the receipt."""
    request = datasets_pb2.QueryArrowRequest(namespace=namespace, plan=plan_of(plan))
    return Stream("datasets.QueryArrow", request, lambda answer: answer, WORK_TIMEOUT_S)


def explain(plan: Planned | datasets_pb2.Plan, *, namespace: str = "") -> Call[Explanation]:
    """Checks a plan and returns what would run."""
    request = datasets_pb2.ExplainQueryRequest(namespace=namespace, plan=plan_of(plan))
    return Call("datasets.ExplainQuery", request, read_explanation)


def verify(receipt: datasets_pb2.Receipt, *, namespace: str = "") -> Call[Verification]:
    """Runs a receipt's plan again on the receipt's snapshots and compares."""
    request = datasets_pb2.VerifyReceiptRequest(namespace=namespace, receipt=receipt)
    return Call("datasets.VerifyReceipt", request, read_verification, WORK_TIMEOUT_S)


def trace(receipt: datasets_pb2.Receipt, result_row: int, *, page_size: int = 0, namespace: str = "") -> Pages[TracedRow]:
    """Yields the rows that a result row (from 0) was made of, with their places in the source."""
    request = datasets_pb2.TraceRowsRequest(namespace=namespace, receipt=receipt, result_row=result_row, page_size=page_size)
    return Pages("datasets.TraceRows", request, lambda page: [read_trace(item) for item in page.rows], WORK_TIMEOUT_S)


def plan_of(plan: Planned | datasets_pb2.Plan) -> datasets_pb2.Plan:
    """The plan as the contract carries it."""
    return plan if isinstance(plan, datasets_pb2.Plan) else plan.to_proto()


def join_arrow(parts: Sequence[datasets_pb2.QueryArrowResponse]) -> ArrowResult:
    """Joins the parts of a streamed result.

    Raises:
        DataLoss: the stream ended before its receipt.
    """
    if not parts or parts[-1].WhichOneof("part") != "receipt":
        raise DataLoss("the result ended before its receipt; run the plan again")
    return ArrowResult(b"".join(part.arrow_ipc for part in parts), parts[-1].receipt)
