from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf import json_format
from loom.artifact.v1 import artifact_pb2
from loom.extractor.v1 import extractor_pb2
from loom.knowledge.v1 import datasets_pb2, documents_pb2, ingest_pb2, search_pb2
from typer.testing import CliRunner

from clients.cli.commands import app
from clients.cli.output import safe
from tests.unit.clients.fakes import Fake, refuse
from tests.unit.clients.test_ingest_client import keep


@dataclass
class Loom:
    """The command against the fake services."""

    fake: Fake

    def run(self, *words: str, code: int = 0, server: bool = True) -> tuple[str, str]:
        """What it prints on stdout and on stderr."""
        where = ["--server", self.fake.address] if server else []
        result = CliRunner().invoke(app, [*words, *where])
        assert result.exit_code == code, (result.stdout, result.stderr, result.exception)
        assert "Traceback" not in result.output
        return result.stdout, result.stderr

    def document(self, *words: str, code: int = 0) -> Any:  # Any: JSON of any shape
        out, _ = self.run(*words, "--json", code=code)
        return json.loads(out)


@pytest.fixture
def loom(fake: Fake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Loom:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("LOOM_API_KEY", "LOOM_BASE_URL", "LOOM_CA_FILE", "LOOM_EXTRACTOR_URL"):
        monkeypatch.delenv(name, raising=False)
    return Loom(fake)


def hits() -> search_pb2.SearchResponse:
    return search_pb2.SearchResponse(
        hits=[
            search_pb2.Hit(
                source_uri="file:///report.pdf",
                content="Stack 3 ran\n41 hours.\x1b[31m",
                section="Report > Runs",
                similarity=0.71,
                score=0.0325,
                revision=2,
                block_type="table",
                place="page 2",
                keys_matched=["BR-6319"],
                siblings_folded=1,
            )
        ],
        degraded_legs=[search_pb2.SEARCH_LEG_LEXICAL],
    )


def test_a_hit_is_printed_with_its_section_and_its_place(loom: Loom) -> None:
    loom.fake.on("Search", hits())
    out, err = loom.run(
        "search", "how long", "--top-k", "3", "--mode", "lexical", "--prefix", "file:///", "--tag", "a", "-n", "ops"
    )
    assert " 1  Report > Runs" in out
    assert "file:///report.pdf  page 2 · table · revision 2 · score 0.0325 · similarity 0.71 · exact BR-6319" in out
    assert "Stack 3 ran 41 hours." in out
    assert "not searched now: lexical" in out
    assert err == ""
    asked = loom.fake.request("Search")
    assert (asked.query, asked.top_k, asked.mode, asked.namespace) == ("how long", 3, search_pb2.SEARCH_MODE_LEXICAL, "ops")
    assert (list(asked.uri_prefixes), list(asked.tags)) == (["file:///"], ["a"])


def test_no_text_of_a_document_reaches_the_terminal_as_a_command(loom: Loom) -> None:
    loom.fake.on("Search", hits())
    out, _ = loom.run("search", "x")
    assert "\x1b" not in out
    assert "hours.�[31m" in out
    assert safe("a\tb\nc\x07\x9b") == "a\tb\nc��"


def test_json_is_one_document_and_nothing_else(loom: Loom) -> None:
    loom.fake.on("Search", hits())
    document = loom.document("search", "x")
    assert document["hits"][0]["section"] == "Report > Runs"
    assert document["hits"][0]["lexical_score"] is None
    assert document["degraded_legs"] == ["lexical"]


def test_nothing_found_is_said(loom: Loom) -> None:
    loom.fake.on("Search", search_pb2.SearchResponse())
    assert loom.run("search", "x")[0] == "nothing found\n"


def test_a_refusal_is_one_line_with_its_reason_and_exit_code_1(loom: Loom) -> None:
    loom.fake.on("Search", refuse(grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST", "the query is too long"))
    out, err = loom.run("search", "x", code=1)
    assert (out, err) == ("", "loom: the query is too long [INVALID_REQUEST]\n")


def test_a_refusal_is_json_where_json_was_asked_for(loom: Loom) -> None:
    answer = refuse(grpc.StatusCode.INVALID_ARGUMENT, "INVALID_PLAN", "no", violations={"plan.limit": "at least 1"}, request_id="r")
    loom.fake.on("GetDocument", answer)
    error = loom.document("get", "doc:a", code=1)["error"]
    assert (error["code"], error["reason"], error["request_id"]) == ("INVALID_ARGUMENT", "INVALID_PLAN", "r")
    assert error["violations"] == [{"field": "plan.limit", "description": "at least 1"}]


@pytest.mark.parametrize(
    "words",
    [
        ["search"],
        ["search", "x", "--top-k", "0"],
        ["search", "x", "--mode", "fuzzy"],
        ["nonsense"],
        ["query"],
        ["query", "--from", "x", "--plan", "y"],
        ["ingest", "/nonexistent/a.md"],
        ["ingest", "s3://bucket/key"],
    ],
)
def test_a_command_that_cannot_be_meant_ends_with_exit_code_2(words: list[str], loom: Loom) -> None:
    out, err = loom.run(*words, code=2, server=False)
    assert out == ""
    assert err


def test_an_address_without_a_port_is_said(loom: Loom) -> None:
    out, err = loom.run("search", "x", "--server", "nowhere", code=1, server=False)
    assert "has no port" in err
    assert out == ""


def test_an_extractor_address_without_a_port_is_said(loom: Loom) -> None:
    _, err = loom.run("status", "--extractor", "nowhere", code=1)
    assert "has no port" in err


def test_the_version_is_that_of_the_distribution(loom: Loom) -> None:
    assert loom.run("--version", server=False)[0] == "loom 0.1.0\n"


def test_the_environment_names_the_server(loom: Loom, monkeypatch: pytest.MonkeyPatch) -> None:
    loom.fake.on("Search", search_pb2.SearchResponse())
    monkeypatch.setenv("LOOM_BASE_URL", f"http://{loom.fake.address}")
    loom.run("search", "x", server=False)
    assert len(loom.fake.calls("Search")) == 1


# the token's order


def token_sent(loom: Loom, *words: str) -> str:
    loom.fake.on("Search", search_pb2.SearchResponse())
    loom.run("search", "x", *words)
    return loom.fake.calls("Search")[-1].metadata.get("authorization", "")


def test_the_token_is_found_in_its_order(loom: Loom, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path.home() / ".loom"
    assert token_sent(loom) == ""
    folder.mkdir()
    (folder / "token").write_text("of-the-file\n")
    assert token_sent(loom) == "Bearer of-the-file"
    (folder / "config.json").write_text('{"token": "of-the-config"}')
    assert token_sent(loom) == "Bearer of-the-config"
    monkeypatch.setenv("LOOM_API_KEY", "of-the-environment")
    assert token_sent(loom) == "Bearer of-the-environment"
    assert token_sent(loom, "--token", "given") == "Bearer given"


@pytest.mark.parametrize("text", ["{", '["token"]', '{"token": 3}'])
def test_a_config_that_does_not_hold_is_named(text: str, loom: Loom) -> None:
    folder = Path.home() / ".loom"
    folder.mkdir()
    (folder / "config.json").write_text(text)
    _, err = loom.run("search", "x", code=1)
    assert str(folder / "config.json") in err


# documents


def test_an_outline_is_printed_as_a_tree(loom: Loom) -> None:
    sections = [
        documents_pb2.Section(path=["A"], title="A", depth=1, chunk_indexes=[0], characters=9),
        documents_pb2.Section(path=["A", "B"], title="B", depth=2, chunk_indexes=[1, 2], characters=30, noise=True),
    ]
    loom.fake.on("OutlineDocument", documents_pb2.OutlineDocumentResponse(structured=True, sections=sections))
    assert loom.run("outline", "doc:a")[0] == "A  (9 characters, 1 chunk)\n  B  (30 characters, 2 chunks)  [noise]\n"


def test_a_sections_text_is_printed_alone(loom: Loom) -> None:
    loom.fake.on("OutlineDocument", documents_pb2.OutlineDocumentResponse(structured=True, section_content="The text."))
    assert loom.run("outline", "doc:a", "--section", "A", "--section", "B", "--children")[0] == "The text.\n"
    asked = loom.fake.request("OutlineDocument")
    assert (list(asked.section_path), asked.include_children) == (["A", "B"], True)


def test_a_local_file_is_named_by_its_path(loom: Loom, tmp_path: Path) -> None:
    path = tmp_path / "a b.md"
    path.write_text("x")
    loom.fake.on("GetDocument", documents_pb2.GetDocumentResponse(document=documents_pb2.Document(content="text")))
    assert loom.run("get", str(path))[0] == "text\n"
    assert loom.fake.request("GetDocument").source_uri == f"file://{path}"


def test_documents_are_listed(loom: Loom) -> None:
    documents = [documents_pb2.Document(source_uri="doc:a", title="A", revision=3, chunk_count=7)]
    loom.fake.on("ListDocuments", documents_pb2.ListDocumentsResponse(documents=documents))
    out, _ = loom.run("list")
    assert out.splitlines()[1].split() == ["doc:a", "A", "3", "text", "7"]
    assert loom.document("list")["documents"][0]["format"] is None


def test_a_delete_says_what_it_retired(loom: Loom) -> None:
    loom.fake.on("DeleteDocument", documents_pb2.DeleteDocumentResponse(revision=3, chunks_retired=7))
    assert loom.run("delete", "doc:a", "--expected-revision", "3")[0] == "deleted doc:a at revision 3, 7 chunks retired\n"
    assert loom.fake.request("DeleteDocument").expected_revision == 3


# ingest


@pytest.fixture
def ingesting(loom: Loom) -> Loom:
    names: dict[str, str] = {}

    def upload(requests: Iterator[ingest_pb2.UploadFileRequest], context: object) -> ingest_pb2.UploadFileResponse:
        first = next(requests)
        keep(iter([first, *requests]), context)
        return ingest_pb2.UploadFileResponse(upload_id=first.header.filename)

    def start(request: ingest_pb2.StartIngestionRequest, _context: object) -> ingest_pb2.StartIngestionResponse:
        names[f"job-{request.upload_id}"] = request.upload_id
        job = ingest_pb2.Ingestion(ingestion_id=f"job-{request.upload_id}", state=ingest_pb2.INGESTION_STATE_PENDING)
        return ingest_pb2.StartIngestionResponse(ingestion=job)

    def watch(request: ingest_pb2.WatchIngestionRequest, _context: object) -> Iterator[ingest_pb2.WatchIngestionResponse]:
        name = names[request.ingestion_id]
        job = ingest_pb2.Ingestion(ingestion_id=request.ingestion_id, filename=name)
        if name.startswith("bad"):
            job.state = ingest_pb2.INGESTION_STATE_FAILED
            job.error_code = ingest_pb2.INGESTION_ERROR_CODE_CORRUPT
            job.error_reason = "MALFORMED"
            job.error_message = "the file is damaged"
        else:
            job.state = ingest_pb2.INGESTION_STATE_READY
            job.revision, job.chunks, job.datasets, job.format = 2, 5, 1, "markdown"
            job.warnings.add(code="REPAIRED", message="the file was repaired")
        yield ingest_pb2.WatchIngestionResponse(ingestion=job)

    formats = [
        ingest_pb2.IngestFormat(id="markdown", extensions=[".md"]),
        ingest_pb2.IngestFormat(id="pptx", extensions=[".pptx"], available=False),
    ]
    loom.fake.on("UploadFile", upload).on("StartIngestion", start).on("WatchIngestion", watch)
    loom.fake.on("ListFormats", ingest_pb2.ListFormatsResponse(formats=formats, refused_extensions=[".doc"]))
    return loom


def test_an_ingest_prints_revision_chunks_datasets_format_and_warnings(ingesting: Loom, tmp_path: Path) -> None:
    path = tmp_path / "runbook.v2.md"
    path.write_text("# A")
    out, err = ingesting.run("ingest", str(path), "--tags", "ops, night", "--format", "markdown", "--allow-partial")
    assert out.splitlines()[1].split() == ["runbook.v2.md", "ready", "2", "5", "1", "markdown"]
    assert "runbook.v2.md: warning REPAIRED: the file was repaired" in out
    assert err == ""
    asked = ingesting.fake.request("StartIngestion")
    assert (asked.source_uri, asked.title) == (f"file://{path}", "runbook.v2")
    assert (list(asked.tags), asked.options.format, asked.allow_partial) == (["ops", "night"], "markdown", True)


def test_a_bad_file_does_not_keep_the_others_back_and_the_exit_code_is_1(ingesting: Loom, tmp_path: Path) -> None:
    for name in ("a.md", "bad.md", "c.md"):
        (tmp_path / name).write_text("x")
    out, _ = ingesting.run("ingest", *(str(tmp_path / name) for name in ("a.md", "bad.md", "c.md")), code=1)
    assert [line.split()[:2] for line in out.splitlines()[1:4]] == [["a.md", "ready"], ["bad.md", "failed"], ["c.md", "ready"]]
    assert "bad.md: corrupt (MALFORMED): the file is damaged" in out


@pytest.mark.parametrize("at_once", [1, 3])
def test_as_many_files_are_under_way_as_jobs_were_asked_for(ingesting: Loom, tmp_path: Path, at_once: int) -> None:
    under_way, most = set[str](), 0
    start, watch = ingesting.fake.answers["StartIngestion"], ingesting.fake.answers["WatchIngestion"]

    def started(request: ingest_pb2.StartIngestionRequest, context: object) -> object:
        nonlocal most
        under_way.add(f"job-{request.upload_id}")
        most = max(most, len(under_way))
        return start(request, context)  # type: ignore[arg-type]  # the fake's context is not looked at

    def watched(request: ingest_pb2.WatchIngestionRequest, context: object) -> Iterator[object]:
        time.sleep(0.15)
        under_way.discard(request.ingestion_id)
        yield from watch(request, context)  # type: ignore[arg-type]  # as above

    ingesting.fake.on("StartIngestion", started).on("WatchIngestion", watched)
    for number in range(6):
        (tmp_path / f"{number}.md").write_text("# x")
    (tmp_path / "bad.md").write_text("# x")
    out, _ = ingesting.run(
        "ingest", str(tmp_path), "--jobs", str(at_once), "--encoding", "latin-1", "--sql-dialect", "duckdb", code=1
    )
    assert most == at_once
    assert [line.split()[1] for line in out.splitlines()[1:8]] == ["ready"] * 6 + ["failed"]
    options = ingesting.fake.request("StartIngestion").options
    assert (options.encoding, options.sql_dialect) == ("latin-1", "duckdb")


def test_an_upload_that_is_refused_is_told_with_its_reason(ingesting: Loom, tmp_path: Path) -> None:
    (tmp_path / "a.doc").write_text("x")
    ingesting.fake.on("UploadFile", refuse(grpc.StatusCode.INVALID_ARGUMENT, "UNSUPPORTED_FILE", "save a.doc as .docx"))
    document = ingesting.document("ingest", str(tmp_path / "a.doc"), code=1)
    assert document["ingested"][0]["ingestion"] is None
    assert document["ingested"][0]["error"]["reason"] == "UNSUPPORTED_FILE"


def test_a_folder_is_walked_for_the_formats_that_are_read(ingesting: Loom, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("b.MD", "sub/a.md", "old.doc", "picture.xyz", "talk.pptx", ".hidden.md"):
        (tmp_path / name).write_text("x")
    document = ingesting.document("ingest", str(tmp_path))
    assert [item["filename"] for item in document["ingested"]] == ["b.MD", "a.md"]
    skipped = {Path(item["path"]).name: item["reason"] for item in document["skipped"]}
    assert set(skipped) == {"old.doc", "picture.xyz", "talk.pptx"}
    assert skipped["talk.pptx"] == "no extractor reads pptx files now"
    assert "legacy" in skipped["old.doc"]


def test_a_dry_run_sends_nothing(ingesting: Loom, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("12345")
    out, _ = ingesting.run("ingest", str(tmp_path / "a.md"), "--dry-run", "--title", "T", "--source-uri", "doc:a")
    assert out == "would ingest doc:a as 'T' (5 bytes)\n"
    assert ingesting.fake.asked == []


def test_without_waiting_the_jobs_ids_are_printed(ingesting: Loom, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    out, _ = ingesting.run("ingest", str(tmp_path / "a.md"), "--no-wait")
    assert out.splitlines()[1].split() == ["a.md", "pending", "job-a.md"]
    assert ingesting.fake.calls("WatchIngestion") == []


def test_a_job_that_runs_past_the_timeout_is_told_as_running(ingesting: Loom, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    ingesting.fake.on("WatchIngestion", lambda *_: iter(()))
    out, _ = ingesting.run("ingest", str(tmp_path / "a.md"), "--timeout", "0.2", code=1)
    assert "still running" in out
    assert "ingestion job-a.md still runs after 0.2 s" in out


def test_one_title_does_not_fit_two_files(ingesting: Loom, tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text("x")
    _, err = ingesting.run("ingest", str(tmp_path / "a.md"), str(tmp_path / "b.md"), "--title", "T", code=2)
    assert "are of one file, and 2 are named" in err


# datasets and plans


def orders() -> datasets_pb2.Dataset:
    columns = [
        artifact_pb2.Column(name="region", type=artifact_pb2.COLUMN_TYPE_STRING),
        artifact_pb2.Column(name="amount", type=artifact_pb2.COLUMN_TYPE_NUMBER, precision=9, scale=2, unit="EUR"),
    ]
    place = artifact_pb2.SheetPlace(sheet="Orders", first_row=1, last_row=11)
    return datasets_pb2.Dataset(
        source_uri="file:///o.xlsx",
        dataset_id="orders",
        name="Orders",
        columns=columns,
        row_count=10,
        schema_state=datasets_pb2.SCHEMA_STATE_INFERRED,
        locator=artifact_pb2.Locator(sheet=place),
    )


def answer() -> datasets_pb2.QueryResponse:
    value = datasets_pb2.Value
    read = datasets_pb2.SnapshotRead(source_uri="file:///o.xlsx", dataset_id="orders", snapshot_id="s1", revision=2, row_count=10)
    return datasets_pb2.QueryResponse(
        columns=[
            datasets_pb2.ResultColumn(name="region", type=artifact_pb2.COLUMN_TYPE_STRING),
            datasets_pb2.ResultColumn(name="sum_amount", type=artifact_pb2.COLUMN_TYPE_NUMBER, precision=38, scale=2),
        ],
        rows=[
            datasets_pb2.Row(values=[value(string_value="north"), value(number_value="3275.87")]),
            datasets_pb2.Row(values=[value(), value(number_value="0.10")]),
        ],
        receipt=datasets_pb2.Receipt(
            plan_sha256="ab" * 32, result_sha256="cd" * 32, engine="duckdb", result_rows=2, complete=True, snapshots=[read]
        ),
    )


@pytest.fixture
def querying(loom: Loom) -> Loom:
    loom.fake.on("GetDatasets", datasets_pb2.GetDatasetsResponse(datasets=[orders()]))
    loom.fake.on("ListDatasets", datasets_pb2.ListDatasetsResponse(datasets=[orders()]))
    loom.fake.on("Query", answer())
    return loom


def test_datasets_are_listed_with_their_columns_and_place(querying: Loom) -> None:
    for words in (["datasets"], ["datasets", "file:///o.xlsx"]):
        out, _ = querying.run(*words)
        assert out.splitlines() == [
            "file:///o.xlsx#orders",
            "  Orders · 10 rows · sheet Orders, rows 1-11 · inferred",
            "    region  string",
            "    amount  number(9,2) EUR",
        ]


def test_a_question_is_answered_by_a_table_and_a_receipt(querying: Loom) -> None:
    words = ["--where", "amount >= 10", "--group-by", "region", "--sum", "amount", "--order-by", "-sum_amount", "--limit", "5"]
    out, _ = querying.run("query", "--from", "file:///o.xlsx#orders", *words)
    lines = [line.split() for line in out.splitlines()]
    assert lines[:3] == [["region", "sum_amount"], ["north", "3275.87"], ["–", "0.10"]]
    assert "2 rows, complete" in out
    assert "read file:///o.xlsx#orders: 10 rows, revision 2, snapshot s1" in out
    assert f"plan {'ab' * 8}, result {'cd' * 8}, duckdb" in out
    asked = querying.fake.request("Query").plan
    assert asked.where[0].comparison.values[0].number_value == "10"
    assert (asked.order_by[0].name, asked.order_by[0].descending, asked.limit) == ("sum_amount", True, 5)
    assert querying.fake.request("GetDatasets").dataset_id == "orders"


def test_the_only_dataset_need_not_be_named(querying: Loom) -> None:
    querying.run("query", "--from", "file:///o.xlsx", "--count", "*")
    assert querying.fake.request("Query").plan.datasets[0].dataset_id == "orders"


def test_exact_numbers_are_text_in_json(querying: Loom) -> None:
    document = querying.document("query", "--from", "file:///o.xlsx#orders", "--sum", "amount")
    assert document["rows"] == [{"region": "north", "sum_amount": "3275.87"}, {"region": None, "sum_amount": "0.10"}]
    assert document["receipt"]["plan_sha256"] == "ab" * 32


def test_a_question_that_does_not_read_ends_with_exit_code_2(querying: Loom) -> None:
    _, err = querying.run("query", "--from", "file:///o.xlsx#orders", "--where", "amount >= ten", code=2)
    assert err.startswith("loom: --where 'amount >= ten': column amount is of type number")
    assert querying.fake.calls("Query") == []


def test_a_plan_comes_from_a_file_of_the_contracts_json(querying: Loom, tmp_path: Path) -> None:
    plan = datasets_pb2.Plan(datasets=[datasets_pb2.PlanDataset(source_uri="file:///o.xlsx", dataset_id="orders")], limit=3)
    path = tmp_path / "plan.json"
    path.write_text(json_format.MessageToJson(plan))
    querying.run("query", "--plan", str(path))
    assert querying.fake.request("Query").plan == plan
    path.write_text('{"datasets": [], "sql": "select 1"}')
    _, err = querying.run("query", "--plan", str(path), code=2)
    assert "holds no plan" in err
    _, err = querying.run("query", "--plan", str(path), "--limit", "3", code=2)
    assert "leave the other options out" in err


def test_a_plan_is_explained_and_not_run(querying: Loom) -> None:
    explained = datasets_pb2.ExplainQueryResponse(
        statement="SELECT sum(d0.c1) WHERE d0.c1 > $1",
        parameters=[datasets_pb2.Value(number_value="10")],
        engine_plan="Scan",
    )
    querying.fake.on("ExplainQuery", explained)
    out, _ = querying.run("query", "--from", "file:///o.xlsx#orders", "--sum", "amount", "--explain")
    assert out == "SELECT sum(d0.c1) WHERE d0.c1 > $1\nwith 10\nScan\n"
    assert querying.fake.calls("Query") == []


def test_a_receipt_is_kept_verified_and_traced(querying: Loom, tmp_path: Path) -> None:
    path = tmp_path / "receipt.json"
    querying.run("query", "--from", "file:///o.xlsx#orders", "--sum", "amount", "--receipt", str(path))
    querying.fake.on("VerifyReceipt", datasets_pb2.VerifyReceiptResponse(agrees=True))
    assert "the receipt agrees" in querying.run("verify", str(path))[0]
    assert querying.fake.request("VerifyReceipt").receipt == answer().receipt
    place = artifact_pb2.Locator(sheet=artifact_pb2.SheetPlace(sheet="Orders", first_row=4, last_row=4))
    values = [datasets_pb2.Value(string_value="south"), datasets_pb2.Value()]
    traces = [datasets_pb2.TraceRowsResponse.Trace(row_id=row, locator=place, values=values) for row in range(3)]
    querying.fake.on("TraceRows", datasets_pb2.TraceRowsResponse(rows=traces))
    out, _ = querying.run("trace", str(path), "--row", "1", "--limit", "2")
    assert out == "sheet Orders, row 4: south | –\n" * 2
    assert querying.fake.request("TraceRows").result_row == 1


def test_a_receipt_that_does_not_agree_ends_with_exit_code_1(querying: Loom, tmp_path: Path) -> None:
    path = tmp_path / "receipt.json"
    path.write_text(json_format.MessageToJson(answer().receipt))
    querying.fake.on("VerifyReceipt", datasets_pb2.VerifyReceiptResponse(agrees=False, differences=["the result changed"]))
    assert querying.run("verify", str(path), code=1) == ("", "loom: the receipt does not agree: the result changed\n")
    assert querying.document("verify", str(path), code=1) == {"agrees": False, "differences": ["the result changed"]}
    path.write_text("[]")
    assert "holds no receipt" in querying.run("verify", str(path), code=2)[1]


# status


def test_status_shows_both_services_formats_and_jobs(loom: Loom) -> None:
    formats = [ingest_pb2.IngestFormat(id="pdf", extensions=[".pdf"], available=True)]
    jobs = [
        ingest_pb2.Ingestion(state=state) for state in ("INGESTION_STATE_READY", "INGESTION_STATE_READY", "INGESTION_STATE_FAILED")
    ]
    capabilities = extractor_pb2.GetCapabilitiesResponse(
        version="0.1.0",
        formats=[extractor_pb2.Format(id="pdf", parser="loom-pdf/1", abilities=["tables"])],
        protections=[extractor_pb2.Protection(name="seccomp", on=False, detail="the kernel lacks it")],
    )
    loom.fake.on("ListFormats", ingest_pb2.ListFormatsResponse(formats=formats))
    loom.fake.on("ListIngestions", ingest_pb2.ListIngestionsResponse(ingestions=jobs)).on("GetCapabilities", capabilities)
    out, _ = loom.run("status", "--extractor", loom.fake.address)
    assert f"knowledge service  {loom.fake.address}  serving" in out
    assert "pdf  .pdf  available" in out
    assert "jobs (newest 500): 1 failed, 2 ready" in out
    assert "protections on: none; off: seccomp (the kernel lacks it)" in out
    document = loom.document("status", "--extractor", loom.fake.address)
    assert document["knowledge"]["jobs"] == {"ready": 2, "failed": 1}
    assert document["extractor"]["capabilities"]["version"] == "0.1.0"


def test_status_of_servers_that_are_not_there_says_so_with_exit_code_1(loom: Loom) -> None:
    out, _ = loom.run("status", "--server", "127.0.0.1:1", "--extractor", "127.0.0.1:1", code=1, server=False)
    assert "knowledge service  127.0.0.1:1  unreachable" in out
    assert "cannot reach the extractor at 127.0.0.1:1" in out


# the entry point


def entry(code: str, *words: str) -> subprocess.CompletedProcess[str]:
    start = f"{code}; from clients.cli.main import main; main()"
    return subprocess.run([sys.executable, "-c", start, *words], capture_output=True, text=True, check=False, timeout=60)


def test_without_typer_the_command_says_what_to_install() -> None:
    done = entry("import sys; sys.modules['typer'] = None", "search", "x")
    assert done.returncode == 1
    assert done.stderr == "loom: the command needs more than the SDK; install it with: pip install 'loom-knowledge[cli]'\n"


def test_the_sdk_needs_neither_the_command_nor_pyarrow_nor_a_service() -> None:
    barred = ("typer", "rich", "pyarrow", "services", "artifact", "knowledge_svc", "extractor_svc", "grpc_health")
    code = f"import sys; sys.modules.update(dict.fromkeys({barred!r})); import clients, clients.plans, clients.query_text"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_reader_that_goes_away_is_no_error(loom: Loom) -> None:
    content = "a line of text\n" * 100_000
    loom.fake.on("GetDocument", documents_pb2.GetDocumentResponse(document=documents_pb2.Document(content=content)))
    script = "from clients.cli.main import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", script, "get", "doc:a", "--server", loom.fake.address],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "a line of text\n"
        process.stdout.close()
        assert process.stderr.read() == ""


def test_an_interrupt_ends_an_ingest_with_exit_code_130(loom: Loom, tmp_path: Path) -> None:
    waiting = threading.Event()

    def linger(_request: object, context: grpc.ServicerContext) -> Iterator[ingest_pb2.WatchIngestionResponse]:
        waiting.set()
        yield ingest_pb2.WatchIngestionResponse(ingestion=ingest_pb2.Ingestion(ingestion_id="i1"))
        while context.is_active():
            time.sleep(0.02)

    (tmp_path / "a.md").write_text("x")
    loom.fake.on("UploadFile", keep).on("WatchIngestion", linger)
    loom.fake.on("StartIngestion", ingest_pb2.StartIngestionResponse(ingestion=ingest_pb2.Ingestion(ingestion_id="i1")))
    heeds = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # a suite in the background ignores it
    script = f"{heeds}; from clients.cli.main import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", script, "ingest", str(tmp_path / "a.md"), "--server", loom.fake.address],
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert waiting.wait(20)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=20)
            assert (said, process.returncode) == ("loom: interrupted\n", 130)
        finally:
            process.kill()


def test_an_approval_names_the_snapshot_that_serves_and_the_new_types(fake: Fake, loom: Loom) -> None:
    asked: list[datasets_pb2.ApproveDatasetRequest] = []
    dataset = datasets_pb2.Dataset(source_uri="doc:a", dataset_id="t1", snapshot_id="s-9", name="Prices", row_count=2)

    def approve(request: datasets_pb2.ApproveDatasetRequest, _context: object) -> datasets_pb2.ApproveDatasetResponse:
        asked.append(request)
        return datasets_pb2.ApproveDatasetResponse(dataset=dataset, retyped=True)

    fake.on("GetDatasets", lambda request, context: datasets_pb2.GetDatasetsResponse(datasets=[dataset]))
    fake.on("ApproveDataset", approve)
    out, _ = loom.run("approve", "doc:a", "--type", "unit=price=number")
    assert "approved, and read anew" in out
    assert (asked[0].snapshot_id, dict(asked[0].columns)) == ("s-9", {"unit=price": artifact_pb2.COLUMN_TYPE_NUMBER})
    loom.run("approve", "doc:a", "--type", "number", code=2)
    _, err = loom.run("approve", "doc:a", "--type", "price=florp", code=2)
    assert err == ("loom: --type price=florp: 'florp' is no type; there are string, number, bool, date, datetime, time, duration\n")


def test_an_approval_names_one_of_several_datasets(fake: Fake, loom: Loom) -> None:
    several = [datasets_pb2.Dataset(source_uri="doc:a", dataset_id=name, snapshot_id=f"s-{name}") for name in ("t1", "t2")]

    def datasets(request: datasets_pb2.GetDatasetsRequest, _context: object) -> datasets_pb2.GetDatasetsResponse:
        return datasets_pb2.GetDatasetsResponse(datasets=[one for one in several if request.dataset_id in ("", one.dataset_id)])

    fake.on("GetDatasets", datasets)
    fake.on("ApproveDataset", datasets_pb2.ApproveDatasetResponse(dataset=several[1]))
    loom.run("approve", "doc:a#t2")
    assert (fake.request("ApproveDataset").dataset_id, fake.request("ApproveDataset").snapshot_id) == ("t2", "s-t2")
    _, err = loom.run("approve", "doc:a", code=2)
    assert err == "loom: doc:a has several datasets; write doc:a#ID with one of t1, t2\n"
