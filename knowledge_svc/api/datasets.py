"""DatasetService."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final, TypeVar

import structlog
from google.protobuf.message import Message
from loom.artifact.v1 import artifact_pb2
from loom.knowledge.v1 import datasets_pb2 as pb
from loom.knowledge.v1 import datasets_pb2_grpc

from artifact.encode import COLUMN_TYPES
from artifact.model import ColumnType
from knowledge_svc.api.arrow_results import ipc_pieces
from knowledge_svc.api.dataset_convert import (
    column_result,
    dataset_message,
    read_receipt,
    receipt_message,
    row_messages,
    sampled_message,
    snapshot_read_message,
    traced_messages,
)
from knowledge_svc.api.plan_convert import read_plan, refuse_unbuilt
from knowledge_svc.api.plan_values import write_value
from knowledge_svc.api.requests import MAX_NAME, MAX_PREFIXES, MAX_URI, Faults, Scopes, check_uri
from knowledge_svc.api.runner import Runner
from knowledge_svc.domain.approvals import DatasetApprovals
from knowledge_svc.domain.datasets import DatasetQueries
from knowledge_svc.domain.errors import ResultTooLarge
from knowledge_svc.domain.receipt import snapshots_read
from knowledge_svc.domain.stop import Stop
from knowledge_svc.domain.tracing import RowTracer, TraceCursor, TracedRows
from services.auth import current_identity
from services.deadlines import current_scope
from services.interceptor import RpcContext
from services.paging import page_size, read_page_token, write_page_token

TYPES: Final[dict[int, ColumnType]] = {artifact_pb2.ColumnType.Value(name): kind for kind, name in COLUMN_TYPES.items()}
MAX_SAMPLE_ROWS: Final = 50
PAGE_SIZE: Final = 50
MAX_PAGE_SIZE: Final = 500
MAX_MESSAGE_BYTES: Final = 4 * 1024 * 1024 - 64 * 1024
"""What a message of 4 MiB carries beside its envelope."""

TRACED_ROWS: Final = 100
MAX_TRACED_ROWS: Final = 1000

_log = structlog.get_logger("loom.datasets")
_M = TypeVar("_M", bound=Message)
_T = TypeVar("_T")


class DatasetServicer(datasets_pb2_grpc.DatasetServiceServicer):
    """Answers every call.

    Reads go to `run`, approvals to `write`. Plans go to `run_query`, whose threads nothing else shares: as many as the engine runs
    at once.
    """

    def __init__(
        self,
        queries: DatasetQueries,
        tracer: RowTracer,
        approvals: DatasetApprovals,
        *,
        scopes: Scopes,
        run: Runner,
        write: Runner,
        run_query: Runner,
        timeout_s: float,
    ) -> None:
        self._queries = queries
        self._approvals = approvals
        self._write = write
        self._tracer = tracer
        self._scopes = scopes
        self._run = run
        self._run_query = run_query
        self._timeout_s = timeout_s

    async def GetDatasets(self, request: pb.GetDatasetsRequest, context: RpcContext) -> pb.GetDatasetsResponse:
        """Returns the live datasets of a source, or one of them."""
        scope = self._scopes.of(request.namespace)
        faults = Faults()
        check_uri(faults, request.source_uri)
        faults.text(request.dataset_id, "dataset_id", most=MAX_NAME)
        faults.check(0 <= request.sample_rows <= MAX_SAMPLE_ROWS, "sample_rows", f"takes 0 to {MAX_SAMPLE_ROWS}")
        faults.raise_any()
        found = await self._run(
            self._queries.get, scope, request.source_uri, dataset_id=request.dataset_id, sample_rows=request.sample_rows
        )
        return _bounded(
            pb.GetDatasetsResponse(datasets=map(sampled_message, found)), "ask for fewer sample_rows, or for one dataset_id"
        )

    async def ListDatasets(self, request: pb.ListDatasetsRequest, context: RpcContext) -> pb.ListDatasetsResponse:
        """Lists the live datasets of a namespace."""
        scope = self._scopes.of(request.namespace)
        faults = Faults()
        faults.texts(request.uri_prefixes, "uri_prefixes", most=MAX_PREFIXES, length=MAX_URI)
        faults.raise_any()
        size = page_size(request.page_size, default=PAGE_SIZE, cap=MAX_PAGE_SIZE)
        arguments = ("ListDatasets", scope.org, scope.namespace, *request.uri_prefixes)
        after_uri, after_id = read_page_token(request.page_token, arguments) if request.page_token else ("", "")
        found = await self._run(self._queries.list, scope, tuple(request.uri_prefixes), after=(after_uri, after_id), limit=size + 1)
        response = _first_of([dataset_message(one) for one in found[:size]])
        if len(found) > len(response.datasets):
            last = response.datasets[-1]
            response.next_page_token = write_page_token((last.source_uri, last.dataset_id), arguments)
        return response

    async def Query(self, request: pb.QueryRequest, context: RpcContext) -> pb.QueryResponse:
        """Runs a plan."""
        scope = self._scopes.of(request.namespace)
        refuse_unbuilt([name for name in ("page_size", "page_token") if getattr(request, name)])
        plan = read_plan(request.plan)
        table, receipt = await self._run_query(self._stopping, lambda stop: self._queries.query(scope, plan, stop=stop))
        aliases = tuple(one.alias for one in plan.datasets)
        return _bounded(
            pb.QueryResponse(
                columns=map(column_result, table.columns), rows=row_messages(table, aliases), receipt=receipt_message(receipt)
            ),
            "narrow it with where or ask for fewer rows with limit",
        )

    async def QueryArrow(self, request: pb.QueryArrowRequest, context: RpcContext) -> AsyncIterator[pb.QueryArrowResponse]:
        """Runs a plan and streams the result."""
        scope = self._scopes.of(request.namespace)
        plan = read_plan(request.plan)

        def answer(stop: Stop) -> tuple[list[bytes], pb.Receipt]:
            table, receipt = self._queries.query(scope, plan, stop=stop)
            told = receipt_message(receipt)
            return ipc_pieces(table, told), told

        pieces, receipt = await self._run_query(self._stopping, answer)
        for piece in pieces:
            yield pb.QueryArrowResponse(arrow_ipc=piece)
        yield pb.QueryArrowResponse(receipt=receipt)

    async def ExplainQuery(self, request: pb.ExplainQueryRequest, context: RpcContext) -> pb.ExplainQueryResponse:
        """Checks a plan and shows what would run."""
        scope = self._scopes.of(request.namespace)
        plan = read_plan(request.plan)
        checked, told = await self._run_query(self._stopping, lambda stop: self._queries.explain(scope, plan, stop=stop))
        return pb.ExplainQueryResponse(
            statement=told.statement,
            parameters=map(write_value, told.parameters),
            snapshots=map(snapshot_read_message, snapshots_read(plan, checked.snapshots)),
            columns=map(column_result, checked.columns),
            engine_plan=told.engine_plan,
        )

    async def VerifyReceipt(self, request: pb.VerifyReceiptRequest, context: RpcContext) -> pb.VerifyReceiptResponse:
        """Runs a receipt's plan again and compares."""
        scope = self._scopes.of(request.namespace)
        receipt = read_receipt(request.receipt)
        found = await self._run_query(self._stopping, lambda stop: self._queries.verify(scope, receipt, stop=stop))
        return pb.VerifyReceiptResponse(agrees=not found, differences=found)

    async def TraceRows(self, request: pb.TraceRowsRequest, context: RpcContext) -> pb.TraceRowsResponse:
        """Expands a result row to the rows it was made of."""
        scope = self._scopes.of(request.namespace)
        receipt = read_receipt(request.receipt)
        size = page_size(request.page_size, default=TRACED_ROWS, cap=MAX_TRACED_ROWS)
        arguments = ("TraceRows", scope.org, scope.namespace, receipt.plan_sha256, receipt.result_sha256, str(request.result_row))
        start = TraceCursor(*map(int, read_page_token(request.page_token, arguments))) if request.page_token else TraceCursor()

        def trace(stop: Stop) -> TracedRows:
            row = request.result_row
            return self._tracer.trace(scope, receipt, result_row=row, start=start, limit=size, stop=stop)

        traced = await self._run_query(self._stopping, trace)
        response = pb.TraceRowsResponse(rows=traced_messages(traced))
        if traced.next:
            response.next_page_token = write_page_token((str(traced.next.dataset), str(traced.next.after)), arguments)
        return _bounded(response, "ask for fewer rows with page_size")

    async def ApproveDataset(self, request: pb.ApproveDatasetRequest, context: RpcContext) -> pb.ApproveDatasetResponse:
        """Settles the schema of a dataset, perhaps with columns read as other types."""
        scope = self._scopes.of(request.namespace)
        faults = Faults()
        check_uri(faults, request.source_uri)
        for name in ("dataset_id", "snapshot_id"):
            faults.text(getattr(request, name), name, most=MAX_NAME)
            faults.check(bool(getattr(request, name)), name, "name the dataset and the snapshot that was reviewed")
        types = {name: TYPES.get(number) for name, number in request.columns.items()}
        for name, kind in types.items():
            faults.check(kind is not None, f'columns["{name}"]', f"takes {', '.join(COLUMN_TYPES.values())}")
        faults.raise_any()
        done = await self._write(
            self._approvals.approve,
            scope,
            request.source_uri,
            request.dataset_id,
            snapshot_id=request.snapshot_id,
            types={name: kind for name, kind in types.items() if kind is not None},
        )
        _log.info(
            "dataset_approved",
            by=current_identity().name,
            namespace=scope.namespace,
            reviewed=request.snapshot_id,
            serves=done.snapshot.snapshot_id,
            retyped=done.retyped,
        )
        return pb.ApproveDatasetResponse(dataset=dataset_message(done.snapshot), retyped=done.retyped)

    def _stopping(self, work: Callable[[Stop], _T]) -> _T:
        """Runs on a thread of the runner; the call's end stops the engine."""
        call = current_scope()
        left = call.remaining_s()
        stop = Stop(self._timeout_s if left is None else min(left, self._timeout_s))
        call.on_stop(stop.cancel)
        try:
            return work(stop)
        finally:
            call.forget(stop.cancel)


def _bounded(message: _M, advice: str) -> _M:
    size = message.ByteSize()
    if size > MAX_MESSAGE_BYTES:
        raise ResultTooLarge(
            f"the answer takes {size} bytes and a message at most {MAX_MESSAGE_BYTES}; {advice}",
            metadata={"size_bytes": str(size), "max_bytes": str(MAX_MESSAGE_BYTES)},
        )
    return message


def _first_of(messages: Sequence[pb.Dataset]) -> pb.ListDatasetsResponse:
    """As many of the datasets as fit in one message, at least one."""
    response, size = pb.ListDatasetsResponse(), 0
    for message in messages:
        size += message.ByteSize() + 8
        if response.datasets and size > MAX_MESSAGE_BYTES:
            break
        response.datasets.append(message)
    return _bounded(response, "ask for the dataset by its source")
