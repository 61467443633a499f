"""Bad input at the door of a running service: the typed outcome, and that nothing is lost."""

import hashlib
import subprocess
import sys

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2
from loom.knowledge.v1 import (
    datasets_pb2,
    datasets_pb2_grpc,
    documents_pb2,
    documents_pb2_grpc,
    ingest_pb2,
    ingest_pb2_grpc,
    search_pb2,
    search_pb2_grpc,
)

from clients import KnowledgeClient
from tests.conftest import ROOT


@pytest.fixture
def channel(running_loom):
    with grpc.insecure_channel(running_loom.knowledge) as opened:
        yield opened


def refused(call) -> tuple[grpc.StatusCode, str, list[str]]:
    """Code, reason and violated fields of the error a call ends with."""
    with pytest.raises(grpc.RpcError) as caught:
        call()
    trailers = dict(caught.value.trailing_metadata())
    status = status_pb2.Status.FromString(trailers["grpc-status-details-bin"])
    info, faults = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    for detail in status.details:
        detail.Unpack(info)
        detail.Unpack(faults)
    assert info.domain == "loom.knowledge.v1"
    assert trailers["x-request-id"]
    return caught.value.code(), info.reason, [fault.field for fault in faults.field_violations]


def upload(channel, data: bytes, **header):
    parts = [ingest_pb2.UploadFileRequest(header=ingest_pb2.UploadHeader(**header))]
    parts += [ingest_pb2.UploadFileRequest(data=data[at : at + 1000]) for at in range(0, len(data), 1000)]
    return ingest_pb2_grpc.IngestServiceStub(channel).UploadFile(iter(parts))


def test_an_upload_whose_hash_is_wrong_is_refused_and_not_kept(channel):
    code, reason, _ = refused(lambda: upload(channel, b"words", filename="a.md", sha256="0" * 64))
    assert (code, reason) == (grpc.StatusCode.INVALID_ARGUMENT, "CHECKSUM_MISMATCH")


def test_an_upload_of_another_size_than_said_is_refused(channel):
    assert refused(lambda: upload(channel, b"words", filename="a.md", size_bytes=9))[1] == "CHECKSUM_MISMATCH"


def test_an_empty_upload_is_refused(channel):
    assert refused(lambda: upload(channel, b"", filename="a.md"))[:2] == (grpc.StatusCode.INVALID_ARGUMENT, "EMPTY_DOCUMENT")


@pytest.mark.parametrize("name", ["report.doc", "figures.XLS", "deck.ppt"])
def test_l_upl_06_a_legacy_office_name_is_refused_before_anything_is_stored(channel, name):
    assert refused(lambda: upload(channel, b"words", filename=name))[:2] == (
        grpc.StatusCode.INVALID_ARGUMENT,
        "UNSUPPORTED_FILE",
    )


def test_bytes_before_the_header_are_refused(channel):
    stub = ingest_pb2_grpc.IngestServiceStub(channel)
    assert refused(lambda: stub.UploadFile(iter([ingest_pb2.UploadFileRequest(data=b"x")])))[1] == "INVALID_REQUEST"


async def test_an_asyncio_caller_refused_in_the_middle_of_its_stream_hears_why(running_loom):
    async def parts():
        yield ingest_pb2.UploadFileRequest(header=ingest_pb2.UploadHeader(filename="old.doc"))
        for _ in range(200):
            yield ingest_pb2.UploadFileRequest(data=bytes(100_000))

    async with grpc.aio.insecure_channel(running_loom.knowledge) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await ingest_pb2_grpc.IngestServiceStub(channel).UploadFile(parts())
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "save the file as .docx" in caught.value.details()


def test_an_upload_gives_back_what_it_stored(channel):
    answer = upload(channel, b"words", filename="a.md", sha256=hashlib.sha256(b"words").hexdigest(), size_bytes=5)
    assert (answer.size_bytes, answer.format, answer.sha256) == (5, "markdown", hashlib.sha256(b"words").hexdigest())


def test_an_ingest_of_no_upload_is_refused(channel):
    stub = ingest_pb2_grpc.IngestServiceStub(channel)
    ask = ingest_pb2.StartIngestionRequest(upload_id="none", source_uri="doc:a")
    assert refused(lambda: stub.StartIngestion(ask))[:2] == (grpc.StatusCode.NOT_FOUND, "UPLOAD_NOT_FOUND")


def test_every_fault_of_a_request_is_named_at_once(channel):
    stub = documents_pb2_grpc.DocumentServiceStub(channel)
    given = documents_pb2.DocumentInput(source_uri="", title="x" * 1001, tags=[""], content="words")
    code, reason, fields = refused(lambda: stub.AddDocument(documents_pb2.AddDocumentRequest(document=given)))
    assert (code, reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
    assert fields == ["document.source_uri", "document.title", "document.tags[0]"]


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_metadata_that_json_cannot_hold_is_refused_by_its_field(channel, number):
    given = documents_pb2.DocumentInput(source_uri="doc:a", content="words")
    given.metadata["x"] = number
    stub = documents_pb2_grpc.DocumentServiceStub(channel)
    code, _, fields = refused(lambda: stub.AddDocument(documents_pb2.AddDocumentRequest(document=given)))
    assert (code, fields) == (grpc.StatusCode.INVALID_ARGUMENT, ["document.metadata"])
    start = ingest_pb2.StartIngestionRequest(upload_id="u", source_uri="doc:a", metadata=given.metadata)
    _, _, fields = refused(lambda: ingest_pb2_grpc.IngestServiceStub(channel).StartIngestion(start))
    assert fields == ["metadata"]


@pytest.mark.parametrize("seconds", [-5, 0, 315_576_000_000])
def test_a_window_in_time_that_cannot_be_is_refused(channel, seconds):
    ask = search_pb2.SearchRequest(query="words", since={"seconds": seconds})
    code, _, fields = refused(lambda: search_pb2_grpc.SearchServiceStub(channel).Search(ask))
    assert (code, fields) == (grpc.StatusCode.INVALID_ARGUMENT, ["since"])


def test_a_page_token_of_another_listing_is_refused(channel, namespace):
    stub = documents_pb2_grpc.DocumentServiceStub(channel)
    for number in range(2):
        given = documents_pb2.DocumentInput(source_uri=f"doc:{number}", content=f"words {number}")
        stub.AddDocument(documents_pb2.AddDocumentRequest(namespace=namespace, document=given))
    first = stub.ListDocuments(documents_pb2.ListDocumentsRequest(namespaces=[namespace], page_size=1))
    assert first.next_page_token
    other = documents_pb2.ListDocumentsRequest(namespaces=[namespace], tags=["x"], page_token=first.next_page_token)
    assert refused(lambda: stub.ListDocuments(other))[:2] == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_PAGE_TOKEN")
    negative = documents_pb2.ListDocumentsRequest(namespaces=[namespace], page_size=-1)
    assert refused(lambda: stub.ListDocuments(negative))[1] == "INVALID_REQUEST"


def test_a_plan_over_an_unknown_dataset_is_refused(channel, namespace):
    plan = datasets_pb2.Plan(datasets=[datasets_pb2.PlanDataset(source_uri="doc:none", dataset_id="x")])
    ask = datasets_pb2.QueryRequest(namespace=namespace, plan=plan)
    code, _, _ = refused(lambda: datasets_pb2_grpc.DatasetServiceStub(channel).Query(ask))
    assert code in (grpc.StatusCode.NOT_FOUND, grpc.StatusCode.INVALID_ARGUMENT)


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("noise.pdf", b"%PDF-1.7\n" + bytes(range(256)) * 8, "corrupt"),
        ("image.xyz", bytes(range(256)), "unsupported_format"),
        ("text.pdf", b"# only words\n", "format_mismatch"),
        ("broken.xlsx", b"PK\x03\x04" + b"\x00" * 60, "corrupt"),
        ("latin.md", b"caf\xe9 au lait", "encoding"),
        ("blank.md", b" \n\n", "no_text"),
    ],
)
def test_a_file_that_cannot_be_read_fails_with_its_code_and_leaves_what_was_there(
    running_loom, namespace, tmp_path, name, data, code
):
    path = tmp_path / name
    path.write_bytes(data)
    with KnowledgeClient(running_loom.knowledge, namespace=namespace) as client:
        client.upsert("doc:kept", "the text that was there before")
        job = client.ingest_file(path, source_uri="doc:kept")
        assert (job.state, job.error_code) == ("failed", code), job.error_message
        assert job.error_message
        assert client.get("doc:kept").content == "the text that was there before"
        assert [hit.source_uri for hit in client.search("text before", top_k=1).hits] == ["doc:kept"]


def test_a_second_process_on_the_folder_is_refused_and_the_first_goes_on(running_loom):
    second = subprocess.run(
        [sys.executable, "-m", "knowledge_svc", "--listen", "127.0.0.1:0", "--data-dir", str(running_loom.data_dir)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert second.returncode == 1
    assert "DATA_FOLDER_IN_USE" in second.stderr
    with KnowledgeClient(running_loom.knowledge) as client:
        assert client.formats()
