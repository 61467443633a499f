"""DatasetService over a real channel, on real snapshot files."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Awaitable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import grpc
import pyarrow as pa
import pytest
from google.protobuf import json_format
from loom.artifact.v1 import artifact_pb2
from loom.knowledge.v1 import datasets_pb2 as pb
from loom.knowledge.v1 import datasets_pb2_grpc

from artifact.locators import RowSpan
from artifact.model import Clarification, Column, ColumnType, RejectedRow
from knowledge_svc.api.datasets import DatasetServicer
from knowledge_svc.api.requests import Scopes
from knowledge_svc.datasets.engine import EngineLimits
from knowledge_svc.datasets.retyping import DatasetRetyper
from knowledge_svc.domain.approvals import DatasetApprovals
from knowledge_svc.domain.tracing import RowTracer
from services import errors
from services.auth import Guard
from services.deadlines import Runner
from services.interceptor import CallInterceptor
from services.status import error_from_rpc
from tests.dataset_fixtures import NOW, URI, Tables, double, make_dataset, number, text

ORDERS = (text("region"), number("amount", 9, 2), Column("day", ColumnType.DATE))
ROWS = [
    ("north", Decimal("10.10"), dt.date(2031, 5, 1)),
    ("south", Decimal("0.05"), dt.date(2031, 5, 31)),
    ("north", None, dt.date(2031, 6, 1)),
    (None, Decimal("-3.00"), None),
    ("north", Decimal("0.25"), dt.date(2031, 5, 2)),
]


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    tables = Tables(tmp_path, EngineLimits(memory_bytes=256 << 20, threads=1, max_running=1, max_result_rows=50_000))
    tables.publish(make_dataset(ORDERS, ROWS))
    return tables


@pytest.fixture
async def stub(tables: Tables) -> AsyncIterator[Any]:
    run, run_query = Runner("reads", workers=1, queue=8), Runner("queries", workers=1, queue=8)
    store: Any = tables.store  # as much of a record as approvals without new types use
    nothing: Any = None
    approvals = DatasetApprovals(store, nothing, DatasetRetyper(), tables.files, clock=lambda: NOW)
    servicer = DatasetServicer(
        tables.queries,
        RowTracer(tables.queries, tables.engine),
        approvals,
        scopes=Scopes("local"),
        run=run,
        write=run,
        run_query=run_query,
        timeout_s=30.0,
    )
    server = grpc.aio.server(interceptors=[CallInterceptor(domain="loom.knowledge.v1", guard=Guard())])
    datasets_pb2_grpc.add_DatasetServiceServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield datasets_pb2_grpc.DatasetServiceStub(channel)
    await server.stop(None)
    for runner in (run, run_query):
        runner.close()
    tables.engine.close()


async def refused(call: Awaitable[Any]) -> errors.LoomError:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return error_from_rpc(caught.value)


def column(name: str) -> pb.ColumnRef:
    return pb.ColumnRef(column=name)


def compare(name: str, operator: Any, *values: pb.Value) -> pb.Predicate:
    return pb.Predicate(comparison=pb.Comparison(column=column(name), operator=operator, values=values))


def plan(**parts: Any) -> pb.Plan:
    return pb.Plan(datasets=[pb.PlanDataset(source_uri=URI, dataset_id="t1")], **parts)


def by_region(**parts: Any) -> pb.Plan:
    return plan(
        where=[compare("amount", pb.OPERATOR_LT, pb.Value(number_value="1000.001"))],
        group_by=[pb.GroupBy(column=column("region"))],
        aggregates=[
            pb.Aggregate(function=pb.AGGREGATE_FUNCTION_SUM, column=column("amount")),
            pb.Aggregate(function=pb.AGGREGATE_FUNCTION_AVG, column=column("amount")),
            pb.Aggregate(function=pb.AGGREGATE_FUNCTION_COUNT),
        ],
        **parts,
    )


def average(name: str, shown_as: str) -> pb.Aggregate:
    message = pb.Aggregate(function=pb.AGGREGATE_FUNCTION_AVG, column=column(name))
    setattr(message, "as", shown_as)  # a keyword of Python
    return message


def select(*names: str, **parts: Any) -> pb.Plan:
    return plan(select=[pb.SelectColumn(expression=pb.Expression(column=column(name))) for name in names], **parts)


async def query(stub: Any, asked: pb.Plan) -> pb.QueryResponse:
    response = await stub.Query(pb.QueryRequest(plan=asked))
    assert isinstance(response, pb.QueryResponse)
    return response


def shown(rows: Any) -> list[list[Any]]:
    return [[getattr(value, kind) if (kind := value.WhichOneof("kind")) else None for value in row.values] for row in rows]


async def test_a_grouped_query_is_answered_with_its_receipt(stub: Any, tables: Tables) -> None:
    response = await query(stub, by_region())
    assert shown(response.rows) == [
        ["north", "10.35", "5.175000000", 2],
        ["south", "0.05", "0.050000000", 1],
        [None, "-3.00", "-3.000000000", 1],
    ]
    assert [(one.name, one.precision, one.scale) for one in response.columns] == [
        ("region", 0, 0),
        ("sum_amount", 38, 2),
        ("avg_amount", 38, 9),
        ("count", 19, 0),
    ]
    receipt, snapshot = response.receipt, tables.store.live[0]
    assert receipt.plan == by_region()
    assert [(one.snapshot_id, one.revision, one.row_count, one.rejected_rows, one.file_sha256) for one in receipt.snapshots] == [
        (snapshot.snapshot_id, 1, 5, 0, snapshot.file_sha256)
    ]
    assert receipt.engine.startswith("duckdb ")
    assert receipt.statement.startswith("WITH grouped AS (")
    assert receipt.parameters[0] == pb.Value(number_value="1000.00")  # of a column with two decimals, x < 1000.001 is x <= 1000.00
    assert receipt.result_rows == 3
    assert receipt.complete
    assert len(receipt.plan_sha256) == len(receipt.result_sha256) == 64
    assert [(one.step, one.rows_in, one.rows_out, one.null_skipped) for one in receipt.steps] == [
        ("read", 5, 5, 0),
        ("where", 5, 4, 0),
        ("aggregate sum_amount", 4, 4, 0),
        ("aggregate avg_amount", 4, 4, 0),
        ("group", 4, 3, 0),
    ]


async def test_selected_rows_carry_their_row_ids(stub: Any) -> None:
    response = await query(
        stub, select("amount", "day", order_by=[pb.OrderBy(name="amount", descending=True, nulls=pb.NULLS_ORDER_FIRST)], limit=2)
    )
    assert shown(response.rows) == [[None, "2031-06-01"], ["10.10", "2031-05-01"]]
    assert [[list(ids.ids) for ids in row.row_ids] for row in response.rows] == [[[2]], [[0]]]


async def test_values_of_every_type_travel(stub: Any, tables: Tables) -> None:
    kinds = (double("d"), Column("b", ColumnType.BOOL), Column("t", ColumnType.DATETIME), Column("c", ColumnType.TIME))
    values = (0.1, True, dt.datetime.fromisoformat("2031-05-27T07:32:00.5"), dt.time(7, 32, 0, 500000), dt.timedelta(seconds=-0.25))
    tables.publish(make_dataset([*kinds, Column("l", ColumnType.DURATION)], [values]))
    where = [
        compare("d", pb.OPERATOR_EQ, pb.Value(double_value=0.1)),
        compare("b", pb.OPERATOR_EQ, pb.Value(bool_value=True)),
        compare("t", pb.OPERATOR_EQ, pb.Value(datetime_value="2031-05-27T07:32:00.5")),
        compare("c", pb.OPERATOR_GE, pb.Value(time_value="07:32")),
        compare("l", pb.OPERATOR_BETWEEN, pb.Value(duration_value="-0.25"), pb.Value(duration_value="5400")),
    ]
    response = await query(stub, select("d", "b", "t", "c", "l", where=where))
    assert shown(response.rows) == [[0.1, True, "2031-05-27T07:32:00.500000", "07:32:00.500000", "-0.25"]]


async def test_a_plan_is_refused_with_every_fault_at_its_field(stub: Any) -> None:
    error = await refused(
        stub.Query(
            pb.QueryRequest(
                plan=plan(
                    where=[
                        pb.Predicate(),
                        compare("amount", pb.OPERATOR_UNSPECIFIED),
                        compare("day", pb.OPERATOR_EQ, pb.Value(date_value="2031-02-30")),
                    ],
                    aggregates=[pb.Aggregate(), pb.Aggregate(function=77)],  # type: ignore[arg-type]  # no such number
                )
            )
        )
    )
    assert error.code_reason == "INVALID_PLAN"
    assert [one.field for one in error.violations] == [
        "plan.where[0]",
        "plan.where[1].comparison.operator",
        "plan.where[2].comparison.values[0].date_value",
        "plan.aggregates[0].function",
        "plan.aggregates[1].function",
    ]
    error = await refused(stub.Query(pb.QueryRequest(plan=select("amuont"))))
    assert [(one.field, one.description) for one in error.violations] == [
        ("plan.select[0].expression.column", 'no column "amuont"; close: "amount"')
    ]


@pytest.mark.parametrize(
    ("request_parts", "field"),
    [
        ({"page_size": 10}, "page_size"),
        ({"page_token": "x"}, "page_token"),
        ({"plan": plan(group_by=[pb.GroupBy(column=column("day"), time_zone="Europe/Rome")])}, "plan.group_by[0].time_zone"),
        (
            {"plan": plan(select=[pb.SelectColumn(expression=pb.Expression(value=pb.Value(bool_value=True)))])},
            "plan.select[0].expression.value",
        ),
        (
            {"plan": plan(select=[pb.SelectColumn(expression=pb.Expression(arithmetic=pb.Arithmetic()))])},
            "plan.select[0].expression.arithmetic",
        ),
    ],
)
async def test_what_is_not_built_is_refused_by_name(stub: Any, request_parts: dict[str, Any], field: str) -> None:
    error = await refused(stub.Query(pb.QueryRequest(**{"plan": select("region"), **request_parts})))
    assert isinstance(error, errors.Unimplemented)
    assert field in error.metadata["fields"]


async def test_a_dataset_is_joined_to_itself_and_says_which_rows_it_paired(stub: Any) -> None:
    key = pb.JoinKey(left=pb.ColumnRef(alias="a", column="amount"), right=pb.ColumnRef(column="amount"))
    asked = pb.Plan(
        datasets=[pb.PlanDataset(source_uri=URI, dataset_id="t1", alias=alias) for alias in "ab"],
        joins=[pb.Join(alias="b", keys=[key])],
        select=[pb.SelectColumn(expression=pb.Expression(column=pb.ColumnRef(alias="b", column="region")))],
    )
    answer = await stub.Query(pb.QueryRequest(plan=asked))
    assert answer.rows
    assert all([(one.alias, len(one.ids)) for one in row.row_ids] == [("a", 1), ("b", 1)] for row in answer.rows)
    assert (await stub.VerifyReceipt(pb.VerifyReceiptRequest(receipt=answer.receipt))).agrees


async def test_a_dataset_that_is_not_there_is_told_with_those_that_are(stub: Any) -> None:
    asked = select("region")
    asked.datasets[0].dataset_id = "t9"
    error = await refused(stub.Query(pb.QueryRequest(plan=asked)))
    assert (error.code_reason, error.metadata["dataset_ids"]) == ("DATASET_NOT_FOUND", "t1")
    error = await refused(stub.Query(pb.QueryRequest(namespace="other", plan=select("region"))))
    assert error.code_reason == "DATASET_NOT_FOUND"


async def test_a_schema_that_waits_for_answers_is_not_queried(stub: Any, tables: Tables) -> None:
    question = Clarification("mixed_types", "amount", "text and numbers")
    tables.publish(make_dataset(ORDERS, ROWS, clarifications=(question,)))
    error = await refused(stub.Query(pb.QueryRequest(plan=select("region"))))
    assert (error.code_reason, error.metadata["clarifications"]) == ("NEEDS_CLARIFICATION", 'mixed_types (column "amount")')
    (dataset,) = (await stub.GetDatasets(pb.GetDatasetsRequest(source_uri=URI))).datasets
    assert dataset.schema_state == pb.SCHEMA_STATE_NEEDS_CLARIFICATION
    assert dataset.clarifications[0].code == "mixed_types"


async def test_rows_left_out_make_a_receipt_incomplete(stub: Any, tables: Tables) -> None:
    rejected = RejectedRow(RowSpan(6, 6), ("x", "#DIV/0!", ""), "column amount: cell error #DIV/0!")
    tables.publish(make_dataset(ORDERS, ROWS, rejected_count=1, rejected_rows=(rejected,), complete=False))
    receipt = (await query(stub, by_region())).receipt
    assert not receipt.complete
    assert list(receipt.incomplete) == [
        f"dataset t1 of {URI}: 1 row of the source did not fit the columns and is left out; "
        "the extraction did not keep every value of the table"
    ]
    assert receipt.snapshots[0].rejected_rows == 1


async def test_a_dataset_replaced_while_the_plan_ran_is_refused(stub: Any, tables: Tables) -> None:
    engine = tables.engine
    original = engine.run

    def replacing(*args: Any, **kwargs: Any) -> Any:
        answer = original(*args, **kwargs)
        tables.publish(make_dataset(ORDERS, ROWS), revision=2)
        return answer

    engine.run = replacing  # type: ignore[method-assign]  # the moment a publish commits
    error = await refused(stub.Query(pb.QueryRequest(plan=by_region())))
    engine.run = original  # type: ignore[method-assign]  # as before
    assert isinstance(error, errors.FailedPrecondition)
    assert error.code_reason == "PRECONDITION_FAILED"
    assert (await query(stub, by_region())).receipt.snapshots[0].revision == 2


async def test_a_damaged_snapshot_is_never_read(stub: Any, tables: Tables) -> None:
    path = next(tables.files.directory.iterdir())
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x10
    path.write_bytes(data)
    for call in (
        stub.Query(pb.QueryRequest(plan=by_region())),
        stub.GetDatasets(pb.GetDatasetsRequest(source_uri=URI, sample_rows=1)),
    ):
        error = await refused(call)
        assert isinstance(error, errors.DataLoss)
        assert error.code_reason == "SNAPSHOT_DAMAGED"


async def test_overflow_and_size_are_refused(stub: Any, tables: Tables) -> None:
    tables.publish(
        make_dataset([number("x", 38), text("t")], [(Decimal(10**38 - 1), "y" * 3_000_000), (Decimal(1), "z" * 3_000_000)])
    )
    total = plan(aggregates=[pb.Aggregate(function=pb.AGGREGATE_FUNCTION_SUM, column=column("x"))])
    assert (await refused(stub.Query(pb.QueryRequest(plan=total)))).code_reason == "NUMBER_OVERFLOW"
    assert (await refused(stub.Query(pb.QueryRequest(plan=select("t"))))).code_reason == "RESULT_TOO_LARGE"


async def test_a_deadline_ends_a_query_and_the_next_one_runs(stub: Any, tables: Tables) -> None:
    tables.publish(make_dataset([number("x", 9), double("d")], [(Decimal(i), i / 7) for i in range(60_000)]))
    slow = plan(
        group_by=[pb.GroupBy(column=column("x"))],
        aggregates=[average("d", f"a{i}") for i in range(64)],
    )
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stub.Query(pb.QueryRequest(plan=slow), timeout=0.1)
    assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    call = stub.Query(pb.QueryRequest(plan=slow))
    await asyncio.sleep(0.1)
    call.cancel()
    counted = plan(aggregates=[pb.Aggregate(function=pb.AGGREGATE_FUNCTION_COUNT)])
    response = await stub.Query(pb.QueryRequest(plan=counted), timeout=5.0)
    assert shown(response.rows) == [[60_000]]


async def test_datasets_of_a_source_come_in_file_order_with_samples(stub: Any, tables: Tables) -> None:
    tables.publish(make_dataset([text("a")], [("x",), (None,)], dataset_id="a2"))
    found = (await stub.GetDatasets(pb.GetDatasetsRequest(source_uri=URI, sample_rows=1))).datasets
    assert [(one.dataset_id, one.row_count, shown(one.sample_rows)) for one in found] == [
        ("t1", 5, [["north", "10.10", "2031-05-01"]]),
        ("a2", 2, [["x"]]),
    ]
    assert [(one.name, one.type, one.precision, one.stored) for one in found[0].columns] == [
        ("region", artifact_pb2.COLUMN_TYPE_STRING, 0, True),
        ("amount", artifact_pb2.COLUMN_TYPE_NUMBER, 9, True),
        ("day", artifact_pb2.COLUMN_TYPE_DATE, 0, True),
    ]
    (one,) = (await stub.GetDatasets(pb.GetDatasetsRequest(source_uri=URI, dataset_id="a2"))).datasets
    assert not one.sample_rows
    assert (await refused(stub.GetDatasets(pb.GetDatasetsRequest(source_uri="file:///none")))).code_reason == "DATASET_NOT_FOUND"
    error = await refused(stub.GetDatasets(pb.GetDatasetsRequest(sample_rows=51)))
    assert [one.field for one in error.violations] == ["source_uri", "sample_rows"]


async def test_only_the_first_twenty_datasets_are_sampled(stub: Any, tables: Tables) -> None:
    for i in range(2, 23):
        tables.publish(make_dataset([text("a")], [("x",)], dataset_id=f"t{i}"))
    found = (await stub.GetDatasets(pb.GetDatasetsRequest(source_uri=URI, sample_rows=1))).datasets
    assert [len(one.sample_rows) for one in found] == [1] * 20 + [0] * 2
    (last,) = (await stub.GetDatasets(pb.GetDatasetsRequest(source_uri=URI, dataset_id="t22", sample_rows=1))).datasets
    assert len(last.sample_rows) == 1


async def test_datasets_are_listed_page_by_page(stub: Any, tables: Tables) -> None:
    for uri in ("file:///a.csv", "file:///b.csv"):
        tables.publish(make_dataset([text("a")], []), source_uri=uri)
    first = await stub.ListDatasets(pb.ListDatasetsRequest(page_size=2))
    assert [one.source_uri for one in first.datasets] == ["file:///a.csv", "file:///b.csv"]
    rest = await stub.ListDatasets(pb.ListDatasetsRequest(page_size=2, page_token=first.next_page_token))
    assert [one.source_uri for one in rest.datasets] == [URI]
    assert not rest.next_page_token
    one = await stub.ListDatasets(pb.ListDatasetsRequest(uri_prefixes=["file:///b"]))
    assert [found.source_uri for found in one.datasets] == ["file:///b.csv"]
    error = await refused(stub.ListDatasets(pb.ListDatasetsRequest(page_token=first.next_page_token, uri_prefixes=["x"])))
    assert error.code_reason == "INVALID_PAGE_TOKEN"
    assert isinstance(await refused(stub.ListDatasets(pb.ListDatasetsRequest(page_size=-1))), errors.InvalidArgument)


async def test_a_receipt_agrees_until_something_changes(stub: Any, tables: Tables) -> None:
    receipt = (await query(stub, by_region(limit=2))).receipt
    verified = await stub.VerifyReceipt(pb.VerifyReceiptRequest(receipt=receipt))
    assert (verified.agrees, list(verified.differences)) == (True, [])
    forged = pb.Receipt()
    forged.CopyFrom(receipt)
    forged.result_sha256, forged.plan.limit = "0" * 64, 1
    verified = await stub.VerifyReceipt(pb.VerifyReceiptRequest(receipt=forged))
    assert not verified.agrees
    assert [one.split(" is not")[0] for one in verified.differences] == [
        "the hash of the plan",
        "the hash of the result",
        "the number of rows",
        "what it says of the steps",
        "a parameter of the statement",
    ]
    tables.publish(make_dataset(ORDERS, ROWS), revision=2)
    verified = await stub.VerifyReceipt(pb.VerifyReceiptRequest(receipt=receipt))
    assert not verified.agrees
    assert "serves no more" in verified.differences[0]


async def test_a_result_row_is_traced_to_its_rows_and_their_places(stub: Any) -> None:
    receipt = (await query(stub, by_region())).receipt
    first = await stub.TraceRows(pb.TraceRowsRequest(receipt=receipt, result_row=0, page_size=1))
    assert [(one.row_id, one.locator.rows.first, one.values[1].number_value) for one in first.rows] == [(0, 1, "10.10")]
    rest = await stub.TraceRows(pb.TraceRowsRequest(receipt=receipt, result_row=0, page_token=first.next_page_token))
    assert [(one.row_id, one.values[1].number_value) for one in rest.rows] == [(4, "0.25")]
    assert not rest.next_page_token
    of_null = await stub.TraceRows(pb.TraceRowsRequest(receipt=receipt, result_row=2))
    assert [one.row_id for one in of_null.rows] == [3]
    error = await refused(stub.TraceRows(pb.TraceRowsRequest(receipt=receipt, result_row=3)))
    assert [one.field for one in error.violations] == ["result_row"]


async def test_rows_of_parts_of_time_selections_and_distinct_ones_are_traced(stub: Any) -> None:
    async def traced(asked: pb.Plan, row: int) -> list[int]:
        receipt = (await query(stub, asked)).receipt
        response = await stub.TraceRows(pb.TraceRowsRequest(receipt=receipt, result_row=row))
        return [one.row_id for one in response.rows]

    months = plan(group_by=[pb.GroupBy(column=column("day"), time_part=pb.TIME_PART_MONTH)])
    assert [await traced(months, row) for row in range(3)] == [[0, 1, 4], [2], [3]]
    assert await traced(select("amount", order_by=[pb.OrderBy(name="amount")]), 0) == [3]
    assert await traced(select("region", distinct=True), 0) == [0, 2, 4]


async def test_a_result_that_changed_is_not_traced(stub: Any, tables: Tables) -> None:
    receipt = (await query(stub, by_region())).receipt
    tables.publish(make_dataset(ORDERS, ROWS[:1]), revision=2)
    error = await refused(stub.TraceRows(pb.TraceRowsRequest(receipt=receipt, result_row=0)))
    assert error.code_reason == "RECEIPT_MISMATCH"


async def test_a_plan_is_explained_without_being_run(stub: Any, tables: Tables) -> None:
    told = await stub.ExplainQuery(pb.ExplainQueryRequest(plan=by_region()))
    assert told.statement == (await query(stub, by_region())).receipt.statement
    assert [one.name for one in told.columns] == ["region", "sum_amount", "avg_amount", "count"]
    assert told.snapshots[0].snapshot_id == tables.store.live[0].snapshot_id
    assert "Parquet Scan" in told.engine_plan
    assert str(tables.files.directory) not in told.engine_plan


async def test_a_result_streams_as_arrow_and_its_receipt_comes_last(stub: Any) -> None:
    parts = [part async for part in stub.QueryArrow(pb.QueryArrowRequest(plan=by_region()))]
    table = pa.ipc.open_stream(b"".join(part.arrow_ipc for part in parts[:-1])).read_all()
    assert table.schema.types == [pa.string(), pa.decimal128(38, 2), pa.decimal128(38, 9), pa.decimal128(19, 0)]
    assert table.column("sum_amount").to_pylist() == [Decimal("10.35"), Decimal("0.05"), Decimal("-3.00")]
    assert parts[-1].receipt.result_rows == 3
    assert json_format.Parse(table.schema.metadata[b"loom.receipt"], pb.Receipt()) == parts[-1].receipt


async def test_the_same_plan_over_the_same_rows_has_the_same_hashes(stub: Any, tables: Tables) -> None:
    first = (await query(stub, by_region())).receipt
    tables.store.live = [replace(one, revision=9) for one in tables.store.live]
    again = (await query(stub, by_region())).receipt
    other = (await query(stub, by_region(limit=3))).receipt
    assert (first.plan_sha256, first.result_sha256) == (again.plan_sha256, again.result_sha256)
    assert first.plan_sha256 != other.plan_sha256
    assert first.result_sha256 == other.result_sha256


async def test_l_appr_01_a_dataset_is_approved_by_its_snapshot(stub: Any, tables: Tables) -> None:
    question = Clarification("mixed_types", "amount", "values of several types")
    tables.publish(make_dataset(ORDERS, ROWS, clarifications=(question,)))
    (waiting,) = (await stub.GetDatasets(pb.GetDatasetsRequest(source_uri=URI))).datasets
    asked = pb.ApproveDatasetRequest(source_uri=URI, dataset_id="t1", snapshot_id=waiting.snapshot_id)
    answer = await stub.ApproveDataset(asked)
    assert (answer.retyped, answer.dataset.schema_state) == (False, pb.SCHEMA_STATE_APPROVED)
    assert (await stub.Query(pb.QueryRequest(plan=select("region")))).rows


async def test_what_an_approval_lacks_is_told_at_its_fields(stub: Any) -> None:
    error = await refused(
        stub.ApproveDataset(pb.ApproveDatasetRequest(source_uri=URI, columns={"amount": artifact_pb2.COLUMN_TYPE_UNSPECIFIED}))
    )
    assert {one.field for one in error.violations} == {"dataset_id", "snapshot_id", 'columns["amount"]'}
    unknown = pb.ApproveDatasetRequest(source_uri=URI, dataset_id="t1", snapshot_id="other")
    assert (await refused(stub.ApproveDataset(unknown))).code_reason == "PRECONDITION_FAILED"
