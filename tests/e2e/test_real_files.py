"""The whole way, on files nobody here wrote: file in, cited passage and exact figure out."""

from decimal import Decimal

import pytest

from clients import KnowledgeClient
from clients.plans import Plan

FILES = (
    "pdf/icdar2013-eu/eu-001.pdf",
    "xlsx/docling/xlsx_05_table_with_title.xlsx",
    "xlsx/calamine/minimal_package.xlsx",
    "markdown/httpx/clients.md",
    "markdown/httpx/compatibility.md",
    "markdown/httpx/quickstart.md",
)

QUESTIONS = (
    ("above how many kilograms a year must methane released to air be reported", FILES[0], "page 1"),
    ("threshold for lindane and other pesticides", FILES[0], "page 2"),
    ("releases of asbestos and total phosphorus", FILES[0], "page 3"),
    ("how many freshwater ducks were seen in a year", FILES[1], "sheet Duck Observations"),
    ("BKG_NUM", FILES[2], "sheet Sheet1"),
    ("sharing connections between requests with a client instance", FILES[3], "line"),
    ("does httpx follow redirects by default as requests does", FILES[4], "line"),
    ("how to send form encoded data in the body of a POST request", FILES[5], "line"),
)


@pytest.fixture(scope="module")
def ingested(running_loom):
    """Every file ingested into a namespace of its own; the client and the jobs by file."""
    from tests.conftest import SHARED

    if not (SHARED / "corpus").exists():
        pytest.skip("the shared corpus is not here")
    with KnowledgeClient(running_loom.knowledge, namespace="real-files") as client:
        jobs = {name: client.ingest_file(SHARED / "corpus" / name, source_uri=f"corpus:{name}") for name in FILES}
        yield client, jobs


@pytest.mark.parametrize("name", FILES)
def test_every_file_is_ready_and_says_what_it_covered(ingested, name):
    client, jobs = ingested
    job = jobs[name]
    assert job.state == "ready", (job.error_code, job.error_message)
    assert job.coverage.complete
    assert job.coverage.words_emitted > 0
    document = client.get(f"corpus:{name}")
    assert document.revision == job.revision
    assert document.content.strip()


@pytest.mark.parametrize(("question", "name", "place"), QUESTIONS)
def test_a_question_finds_its_file_and_the_place_in_it(ingested, question, name, place):
    client, _ = ingested
    hits = client.search(question, top_k=5).hits
    best = hits[0]
    assert best.source_uri == f"corpus:{name}", [(hit.source_uri, hit.place) for hit in hits]
    assert place in best.place
    assert best.revision == 1


def test_a_plan_over_a_real_workbook_is_exact_and_has_a_receipt(ingested):
    client, _ = ingested
    uri = f"corpus:{FILES[1]}"
    (dataset,) = client.datasets(uri)
    assert [(column.name, column.type) for column in dataset.columns] == [("Year", "number"), ("Freshwater Ducks", "number")]
    assert dataset.row_count == 6
    plan = (
        Plan.over(uri, dataset.dataset_id)
        .where("Year", ">=", 2020)
        .sum("Freshwater Ducks", name="ducks")
        .avg("Freshwater Ducks", name="mean")
    )
    result = client.query(plan)
    assert result.rows == ((Decimal(795), Decimal(159)),)
    receipt = result.receipt
    assert [(read.snapshot_id, read.row_count, read.rejected_rows) for read in receipt.snapshots] == [(dataset.snapshot_id, 6, 0)]
    assert receipt.complete
    assert len(receipt.plan_sha256) == len(receipt.result_sha256) == 64
    assert "SELECT" in receipt.statement.upper()


def test_a_table_of_a_real_pdf_becomes_a_dataset(ingested):
    client, _ = ingested
    datasets = client.datasets(f"corpus:{FILES[0]}", sample_rows=50)
    assert datasets
    assert any(any("Methane" in str(value) for row in dataset.sample_rows for value in row) for dataset in datasets)


def test_the_same_file_again_is_a_new_revision_and_nothing_is_found_twice(ingested, shared):
    client, _ = ingested
    uri = f"corpus:{FILES[1]}"
    again = client.ingest_file(shared(f"corpus/{FILES[1]}"), source_uri=uri)
    assert again.state == "ready"
    assert again.revision > 1
    hits = client.search("freshwater ducks", uri_prefixes=[uri], collapse_sections=False, top_k=100).hits
    assert len({hit.chunk_index for hit in hits}) == len(hits)
    assert {hit.revision for hit in hits} == {again.revision}
