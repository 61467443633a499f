"""The SDK and the command against the real services."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from pyarrow import parquet
from typer.testing import CliRunner

from clients import AsyncKnowledgeClient, ExtractorClient, KnowledgeClient, errors
from clients.cli.commands import app
from clients.places import describe
from clients.plans import Plan
from clients.results.ingest import Progress
from tests.conftest import ROOT, RunningLoom

ORDERS = ROOT / "samples" / "orders.xlsx"
RUNBOOK = ROOT / "samples" / "runbook.md"


def test_a_file_is_ingested_found_outlined_and_deleted(running_loom: RunningLoom, namespace: str) -> None:
    reported: list[Progress] = []
    with KnowledgeClient(running_loom.knowledge, namespace=namespace) as client:
        job = client.ingest_file(RUNBOOK, on_progress=reported.append)
        assert (job.state, job.revision, job.format, job.searchable) == ("ready", 1, "markdown", True)
        assert reported[0].stage == "upload"
        assert reported[-1].stage == "ready"

        uri = f"file://{RUNBOOK}"
        hit = client.search("a worker hangs in state claiming").hits[0]
        assert (hit.source_uri, hit.section) == (uri, "Runbook: order intake > Stuck worker")
        assert hit.similarity is not None
        assert hit.locator is not None
        assert hit.locator.WhichOneof("kind") == "lines"

        titles = [section.title for section in client.outline(uri).sections]
        assert titles[1:4] == ["First look", "Connection pool exhausted", "Stuck worker"]
        inner = client.outline(uri, section_path=["Runbook: order intake", "Stuck worker"])
        assert inner.section_content is not None
        assert "Drain it, do not kill it" in inner.section_content

        assert [document.source_uri for document in client.list(uri_prefixes=["file://"], page_size=1)] == [uri]
        assert client.delete(uri).revision == 1
        assert client.search("a worker hangs in state claiming").hits == ()
        with pytest.raises(errors.NotFound) as caught:
            client.get(uri)
        assert caught.value.reason == "DOCUMENT_NOT_FOUND"


def test_a_hits_place_reads_back_from_the_original(running_loom: RunningLoom, namespace: str) -> None:
    with KnowledgeClient(running_loom.knowledge, namespace=namespace) as client, ExtractorClient(running_loom.extractor) as reader:
        client.ingest_file(RUNBOOK)
        hit = client.search("how is a stuck worker drained").hits[0]
        assert hit.locator is not None
        assert "intake drain --worker ID" in reader.resolve(RUNBOOK, hit.locator)


def test_text_is_written_and_written_again(running_loom: RunningLoom, namespace: str) -> None:
    with KnowledgeClient(running_loom.knowledge, namespace=namespace) as client:
        assert client.add("doc:a", "# Pumps\n\nPump 3 is out.", tags=["site"]).document.revision == 1
        again = client.upsert("doc:a", "# Pumps\n\nPump 3 is out.", tags=["site"])
        assert (again.changed, again.document.revision) == (False, 1)
        assert client.upsert("doc:a", "# Pumps\n\nPump 3 runs.").document.revision == 2
        assert client.get("doc:a").content == "# Pumps\n\nPump 3 runs."
        with pytest.raises(errors.Aborted):
            client.upsert("doc:a", "# Pumps\n\nLate.", expected_revision=1)


def test_a_plan_is_answered_exactly(running_loom: RunningLoom, namespace: str) -> None:
    with KnowledgeClient(running_loom.knowledge, namespace=namespace) as client:
        client.ingest_file(ORDERS, source_uri="demo:orders")
        (orders,) = client.datasets("demo:orders", dataset_id="orders")
        assert orders.column("Ordered on").type == "date"
        assert {dataset.dataset_id for dataset in client.list_datasets(page_size=1)} == {"orders", "customers"}
        plan = (
            Plan.over("demo:orders", "orders")
            .where("Ordered on", ">=", date(2031, 5, 1))
            .group_by("Region")
            .sum("Amount (EUR)", name="amount")
            .count()
            .having("amount", ">", Decimal(450))
            .order_by("-amount")
        )
        result = client.query(plan)
        assert result.rows == (("north", Decimal("1250.92"), 3), ("south", Decimal("462.15"), 1))
        assert result.receipt.snapshots[0].row_count == 10
        assert client.verify(result.receipt).agrees
        assert [describe(row.locator) for row in client.trace(result.receipt, 1)] == ["sheet Orders, row 9"]
        assert client.query_arrow(plan).rows.to_pydict()["amount"] == [Decimal("1250.92"), Decimal("462.15")]
        assert "SELECT" in client.explain(plan).statement
        with pytest.raises(errors.InvalidArgument) as caught:
            client.query(plan.where("Amuont (EUR)", ">", 1))
        assert caught.value.reason == "INVALID_PLAN"
        assert [violation.field for violation in caught.value.violations] == ["plan.where[1].comparison.column"]


async def test_the_asyncio_client_ingests_and_finds(running_loom: RunningLoom, namespace: str) -> None:
    async with AsyncKnowledgeClient(running_loom.knowledge, namespace=namespace) as client:
        job = await client.ingest_file(RUNBOOK)
        assert job.state == "ready"
        found = await client.search("partner feed is late", top_k=1)
        assert [hit.section for hit in found.hits] == ["Runbook: order intake > Partner feed late"]
        assert [document.revision async for document in client.list()] == [1]


def test_a_file_that_cannot_be_read_fails_with_its_code(running_loom: RunningLoom, namespace: str) -> None:
    with KnowledgeClient(running_loom.knowledge, namespace=namespace) as client:
        stored = client.upload(b"PK\x03\x04 and then nothing", "broken.xlsx")
        job = client.wait_for_ingest(client.ingest(stored.upload_id, source_uri="doc:broken").ingestion_id)
        assert (job.state, job.error_code, job.failure_class) == ("failed", "corrupt", "content")


def test_the_command_ingests_searches_and_asks(running_loom: RunningLoom, namespace: str, tmp_path: Path) -> None:
    def loom(*words: str) -> dict[str, object]:
        connected = [*words, "--server", running_loom.knowledge, "--namespace", namespace, "--json"]
        result = CliRunner().invoke(app, connected, env={"HOME": str(tmp_path)})
        assert result.exit_code == 0, result.output
        document: dict[str, object] = json.loads(result.stdout)
        return document

    ingested = loom("ingest", str(ORDERS), str(RUNBOOK))["ingested"]
    assert isinstance(ingested, list)
    assert [item["ingestion"]["state"] for item in ingested] == ["ready", "ready"]
    hits = loom("search", "which orders did Cedar Mill place", "--prefix", f"file://{ORDERS}")["hits"]
    assert isinstance(hits, list)
    assert hits[0]["locator"]["sheet"]["sheet"] in ("Orders", "Customers")
    figures = loom("query", "--from", f"{ORDERS}#orders", "--where", "Region = west", "--sum", "Amount (EUR) as amount")
    assert figures["rows"] == [{"amount": "440.00"}]
    written = ["query", "--from", f"{ORDERS}#orders", "--where", "Region = west", "--sum", "Amount (EUR) as amount", "--out"]
    for name in ("rows.csv", "rows.parquet"):
        connected = [*written, str(tmp_path / name), "--server", running_loom.knowledge, "--namespace", namespace]
        assert CliRunner().invoke(app, connected, env={"HOME": str(tmp_path)}).exit_code == 0
    assert (tmp_path / "rows.csv").read_text("utf-8") == "amount\n440.00\n"
    assert parquet.read_table(tmp_path / "rows.parquet").to_pydict() == {"amount": [Decimal("440.00")]}
