"""The contract stands without the SDK: a plain script with generated stubs alone uploads, ingests, searches and asks."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT, RunningLoom

SCRIPT = """
import hashlib, json, sys

import grpc
from loom.knowledge.v1 import datasets_pb2, datasets_pb2_grpc, ingest_pb2, ingest_pb2_grpc, search_pb2, search_pb2_grpc

address, namespace, path = sys.argv[1:]
content = open(path, "rb").read()


def upload():
    header = ingest_pb2.UploadHeader(
        namespace=namespace, filename="orders.xlsx", sha256=hashlib.sha256(content).hexdigest(), size_bytes=len(content)
    )
    yield ingest_pb2.UploadFileRequest(header=header)
    yield ingest_pb2.UploadFileRequest(data=content)


with grpc.insecure_channel(address) as channel:
    ingest = ingest_pb2_grpc.IngestServiceStub(channel)
    stored = ingest.UploadFile(upload())
    asked = ingest_pb2.StartIngestionRequest(namespace=namespace, upload_id=stored.upload_id, source_uri="plain:orders")
    job = ingest.StartIngestion(asked).ingestion
    for update in ingest.WatchIngestion(ingest_pb2.WatchIngestionRequest(namespace=namespace, ingestion_id=job.ingestion_id)):
        job = update.ingestion

    found = search_pb2_grpc.SearchServiceStub(channel).Search(
        search_pb2.SearchRequest(namespace=namespace, query="gasket set for Birch & Sons")
    )
    plan = datasets_pb2.Plan(
        datasets=[datasets_pb2.PlanDataset(source_uri="plain:orders", dataset_id="orders")],
        aggregates=[datasets_pb2.Aggregate(function="AGGREGATE_FUNCTION_SUM", column={"column": "Amount (EUR)"})],
    )
    result = datasets_pb2_grpc.DatasetServiceStub(channel).Query(datasets_pb2.QueryRequest(namespace=namespace, plan=plan))

print(json.dumps({
    "state": ingest_pb2.IngestionState.Name(job.state),
    "searchable": job.searchable,
    "uri": found.hits[0].source_uri,
    "place": found.hits[0].locator.WhichOneof("kind"),
    "total": result.rows[0].values[0].number_value,
    "rows_read": result.receipt.snapshots[0].row_count,
}))
assert "clients" not in sys.modules
"""


def test_a_script_with_generated_stubs_alone_uploads_ingests_searches_and_asks(running_loom: RunningLoom, tmp_path: Path) -> None:
    script = tmp_path / "plain.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, str(script), running_loom.knowledge, "plain-stub", str(ROOT / "samples" / "orders.xlsx")],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "state": "INGESTION_STATE_READY",
        "searchable": True,
        "uri": "plain:orders",
        "place": "sheet",
        "total": "4536.33",
        "rows_read": 10,
    }
