from __future__ import annotations

import inspect
from datetime import UTC, datetime, timedelta
from typing import Any

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from loom.artifact.v1 import artifact_pb2
from loom.knowledge.v1 import datasets_pb2, documents_pb2, ingest_pb2, search_pb2

from clients import AsyncKnowledgeClient, KnowledgeClient, errors, stubs
from clients.calls import Call, Pages, Stream
from clients.requests import datasets, documents, ingest, search
from tests.unit.clients.fakes import Fake

HIT = search_pb2.Hit(
    source_uri="file:///r.pdf",
    chunk_index=4,
    content="Stack 3 ran 41 hours.",
    section="Report > Runs",
    section_path=["Report", "Runs"],
    similarity=0.0,
    score=0.032,
    namespace="local",
    revision=2,
    format="pdf",
    block_type="table",
    locator=artifact_pb2.Locator(pdf=artifact_pb2.PdfPlace(first_page=2, last_page=2)),
    place="page 2",
    siblings_folded=1,
    keys_matched=["pool.max-size"],
    noise=True,
    span=search_pb2.Span(text="Stack 3", start=0, end=7, similarity=0.5),
    legs=[search_pb2.LegScore(leg=search_pb2.SEARCH_LEG_KEYS, rank=1, score=1.0, contribution=0.016)],
    citation="file:///r.pdf#4",
)


def test_a_hit_exposes_all_that_the_contract_says_of_it(fake: Fake, client: KnowledgeClient) -> None:
    response = search_pb2.SearchResponse(hits=[HIT], degraded_legs=[search_pb2.SEARCH_LEG_LEXICAL], change_seq=9)
    fake.on("Search", response)
    result = client.search("how long did the stacks run", top_k=3)
    (hit,) = result.hits
    assert (hit.source_uri, hit.section, hit.section_path) == ("file:///r.pdf", "Report > Runs", ("Report", "Runs"))
    assert (hit.similarity, hit.lexical_score, hit.score) == (0.0, None, 0.032)
    assert (hit.place, hit.block_type, hit.keys_matched) == ("page 2", "table", ("pool.max-size",))
    assert hit.locator is not None
    assert hit.locator.pdf.first_page == 2
    assert hit.span is not None
    assert (hit.span.text, hit.span.start, hit.span.end) == ("Stack 3", 0, 7)
    assert [(leg.leg, leg.rank) for leg in hit.legs] == [("keys", 1)]
    assert (hit.noise, hit.siblings_folded, hit.revision, hit.citation) == (True, 1, 2, "file:///r.pdf#4")
    assert (result.degraded_legs, result.change_seq, result.reranked_by) == (("lexical",), 9, "")


def test_a_search_asks_for_what_it_was_told(fake: Fake, client: KnowledgeClient) -> None:
    fake.on("Search", search_pb2.SearchResponse())
    client.search(
        "x", mode="lexical", uri_prefixes=["file:///"], formats=["", "pdf"], since=timedelta(days=1), collapse_sections=False
    )
    asked = fake.request("Search")
    assert asked.mode == search_pb2.SEARCH_MODE_LEXICAL
    assert list(asked.uri_prefixes) == ["file:///"]
    assert list(asked.formats) == ["", "pdf"]
    assert asked.since.seconds == 86400
    assert asked.HasField("collapse_sections")
    assert asked.collapse_sections is False
    assert not asked.HasField("lexical_weight")
    assert (asked.namespace, asked.top_k) == ("", 0)


def test_an_unknown_mode_is_refused_before_anything_is_sent(fake: Fake, client: KnowledgeClient) -> None:
    with pytest.raises(ValueError, match="hybrid, semantic, lexical"):
        client.search("x", mode="fuzzy")
    assert fake.asked == []


def test_the_clients_namespace_holds_where_a_call_names_none(fake: Fake) -> None:
    fake.on("Search", search_pb2.SearchResponse()).on("ListDocuments", documents_pb2.ListDocumentsResponse())
    fake.on("UploadFile", lambda requests, _: ingest_pb2.UploadFileResponse(upload_id=next(requests).header.namespace))
    with KnowledgeClient(fake.address, namespace="ops") as client:
        client.search("x")
        client.search("x", namespace="lab")
        list(client.list())
        assert client.upload(b"x", "x.md").upload_id == "ops"
        assert client.upload(b"x", "x.md", namespace="lab").upload_id == "lab"
    assert [asked.request.namespace for asked in fake.calls("Search")] == ["ops", "lab"]
    assert list(fake.request("ListDocuments").namespaces) == ["ops"]


def test_add_and_upsert_say_what_was_written(fake: Fake, client: KnowledgeClient) -> None:
    stored = documents_pb2.Document(source_uri="doc:a", revision=2, source_class=documents_pb2.SOURCE_CLASS_AUTHORED)
    fake.on("AddDocument", documents_pb2.AddDocumentResponse(document=stored, chunks=3))
    fake.on("UpsertDocument", documents_pb2.UpsertDocumentResponse(document=stored, chunks=3, duplicate_of_uri="doc:b"))
    added = client.add("doc:a", "text", title="A", tags=["t"], metadata={"owner": "ops"}, original_bytes=b"raw")
    upserted = client.upsert("doc:a", "text", expected_revision=0)
    assert (added.document.revision, added.document.source_class, added.chunks, added.changed) == (2, "authored", 3, True)
    assert (upserted.changed, upserted.duplicate_of_uri) == (False, "doc:b")
    asked = fake.request("AddDocument").document
    assert (asked.title, list(asked.tags), dict(asked.metadata), asked.original_bytes) == ("A", ["t"], {"owner": "ops"}, b"raw")
    assert fake.request("UpsertDocument").HasField("expected_revision")
    assert not fake.request("AddDocument").document.HasField("source")


def test_a_document_that_was_not_ingested_has_no_format(fake: Fake, client: KnowledgeClient) -> None:
    stored = documents_pb2.Document(source_uri="doc:a", content="text", updated_at=Timestamp(seconds=86400))
    fake.on("GetDocument", documents_pb2.GetDocumentResponse(document=stored))
    document = client.get("doc:a", as_of=datetime(2031, 1, 1, tzinfo=UTC))
    assert (document.format, document.parser, document.coverage, document.ingested_at) == (None, None, None, None)
    assert document.updated_at == datetime(1970, 1, 2, tzinfo=UTC)
    assert fake.request("GetDocument").as_of.seconds == 1924992000
    assert not fake.request("GetDocument").HasField("revision")


def test_a_moment_without_a_time_zone_is_refused(client: KnowledgeClient) -> None:
    with pytest.raises(ValueError, match="has no time zone"):
        client.get("doc:a", as_of=datetime.fromisoformat("2031-01-01"))


def test_a_listing_asks_for_pages_only_as_they_are_needed(fake: Fake, client: KnowledgeClient) -> None:
    pages = {"": ("a", "b", "2"), "2": ("c", "d", "")}

    def page(request: documents_pb2.ListDocumentsRequest, _context: object) -> documents_pb2.ListDocumentsResponse:
        *names, following = pages[request.page_token]
        documents = [documents_pb2.Document(source_uri=name) for name in names]
        return documents_pb2.ListDocumentsResponse(documents=documents, next_page_token=following)

    fake.on("ListDocuments", page)
    listed = client.list(uri_prefixes=["x"], page_size=2)
    assert next(listed).source_uri == "a"
    assert len(fake.calls("ListDocuments")) == 1
    assert [document.source_uri for document in listed] == ["b", "c", "d"]
    assert [(asked.request.page_token, asked.request.page_size) for asked in fake.calls("ListDocuments")] == [("", 2), ("2", 2)]


def test_an_outline_has_section_content_only_where_one_was_asked_for(fake: Fake, client: KnowledgeClient) -> None:
    section = documents_pb2.Section(path=["A", "B"], title="B", depth=2, chunk_indexes=[1, 2], characters=9)
    fake.on("OutlineDocument", documents_pb2.OutlineDocumentResponse(source_uri="doc:a", structured=True, sections=[section]))
    outline = client.outline("doc:a")
    assert outline.section_content is None
    assert [(item.path, item.depth, item.chunk_indexes) for item in outline.sections] == [(("A", "B"), 2, (1, 2))]


def test_a_result_reads_as_rows_of_python_values_with_its_receipt(fake: Fake, client: KnowledgeClient) -> None:
    response = datasets_pb2.QueryResponse(
        columns=[
            datasets_pb2.ResultColumn(name="region", type=artifact_pb2.COLUMN_TYPE_STRING),
            datasets_pb2.ResultColumn(name="sum_amount", type=artifact_pb2.COLUMN_TYPE_NUMBER, precision=38, scale=2),
        ],
        rows=[
            datasets_pb2.Row(
                values=[datasets_pb2.Value(string_value="north"), datasets_pb2.Value(number_value="10.50")],
                row_ids=[datasets_pb2.RowIds(alias="o", ids=[3, 4])],
            )
        ],
        receipt=datasets_pb2.Receipt(plan_sha256="ab", result_rows=1, complete=True),
    )
    fake.on("Query", response)
    result = client.query(datasets_pb2.Plan())
    columns = [(column.name, column.type, column.scale) for column in result.columns]
    assert columns == [
        ("region", "string", 0),
        ("sum_amount", "number", 2),
    ]
    assert [[str(value) for value in row] for row in result.rows] == [["north", "10.50"]]
    assert result.row_ids == ({"o": (3, 4)},)
    assert result.receipt.plan_sha256 == "ab"
    assert list(result.records()[0]) == ["region", "sum_amount"]


def test_a_streamed_result_is_whole_only_with_its_receipt(fake: Fake, client: KnowledgeClient) -> None:
    part = datasets_pb2.QueryArrowResponse
    fake.on("QueryArrow", lambda *_: iter([part(arrow_ipc=b"ab"), part(arrow_ipc=b"c"), part(receipt=datasets_pb2.Receipt())]))
    assert client.query_arrow(datasets_pb2.Plan()).arrow_ipc == b"abc"
    fake.on("QueryArrow", lambda *_: iter([part(arrow_ipc=b"ab")]))
    with pytest.raises(errors.DataLoss, match="before its receipt"):
        client.query_arrow(datasets_pb2.Plan())


def test_health_is_asked_of_the_standard_service(client: KnowledgeClient) -> None:
    assert client.health() == "serving"


def test_formats_say_whether_they_can_be_read_now(fake: Fake, client: KnowledgeClient) -> None:
    fake.on(
        "ListFormats",
        ingest_pb2.ListFormatsResponse(
            formats=[ingest_pb2.IngestFormat(id="pdf", extensions=[".pdf"], available=False), ingest_pb2.IngestFormat(id="toml")],
            refused_extensions=[".doc"],
        ),
    )
    formats = client.formats()
    assert [(item.id, item.available) for item in formats.formats] == [("pdf", False), ("toml", None)]
    assert formats.refused_extensions == (".doc",)


def test_both_clients_have_the_same_methods_with_the_same_arguments() -> None:
    def surface(kind: type) -> dict[str, list[str]]:
        public = {name: getattr(kind, name) for name in dir(kind) if not name.startswith("_")}
        return {name: list(inspect.signature(method).parameters) for name, method in public.items() if callable(method)}

    assert surface(KnowledgeClient) == surface(AsyncKnowledgeClient)
    assert list(inspect.signature(KnowledgeClient.search).parameters)[:2] == ["self", "query"]
    assert KnowledgeClient.search.__doc__ == search.search.__doc__


def test_every_call_names_a_method_of_the_contract() -> None:
    built: list[Call[Any] | Pages[Any] | Stream[Any]] = [  # Any: results of every call stand here
        documents.add("u"),
        documents.upsert("u"),
        documents.get("u"),
        documents.list_documents(),
        documents.outline("u"),
        documents.delete("u"),
        search.search("q"),
        ingest.ingest("i", source_uri="u"),
        ingest.ingestion("i"),
        ingest.list_ingestions(),
        ingest.watch("i"),
        ingest.cancel("i"),
        ingest.formats(),
        datasets.datasets("u"),
        datasets.list_datasets(),
        datasets.query(datasets_pb2.Plan()),
        datasets.query_arrow(datasets_pb2.Plan()),
        datasets.explain(datasets_pb2.Plan()),
        datasets.verify(datasets_pb2.Receipt()),
        datasets.trace(datasets_pb2.Receipt(), 0),
    ]
    with grpc.insecure_channel("127.0.0.1:1") as channel:
        methods = stubs.Methods(stubs.KNOWLEDGE, channel)
        for call in built:
            assert callable(methods[call.method]), call.method


async def test_the_asyncio_client_does_the_same(fake: Fake) -> None:
    fake.on("Search", search_pb2.SearchResponse(hits=[HIT]))
    fake.on(
        "ListDocuments",
        lambda request, _: documents_pb2.ListDocumentsResponse(
            documents=[documents_pb2.Document(source_uri=request.page_token or "1")],
            next_page_token="" if request.page_token else "2",
        ),
    )
    async with AsyncKnowledgeClient(fake.address, token="secret", namespace="ops") as client:
        result = await client.search("x")
        assert result.hits[0].section == "Report > Runs"
        assert [document.source_uri async for document in client.list()] == ["1", "2"]
        assert await client.health() == "serving"
    assert fake.calls("Search")[0].metadata["authorization"] == "Bearer secret"
    assert fake.request("Search").namespace == "ops"
