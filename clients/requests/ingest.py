"""Calls that store files and follow their ingests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import uuid4

from google.protobuf.message import Message
from loom.knowledge.v1 import ingest_pb2

from clients.calls import Call, Pages, Stream, Upload
from clients.enums import contract_name
from clients.files import File, Meter
from clients.results.ingest import (
    Formats,
    Ingestion,
    UploadedFile,
    UploadStanding,
    read_formats,
    read_ingestion,
    read_standing,
    read_upload,
)
from clients.values import JsonValue, to_struct


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestOptions:
    """What the caller knows of a file that the file cannot say; empty fields are found out. A password is never printed."""

    format: str = ""
    encoding: str = ""
    sql_dialect: str = ""
    password: str = ""

    def __repr__(self) -> str:
        shown = f"format={self.format!r}, encoding={self.encoding!r}, sql_dialect={self.sql_dialect!r}"
        return f"IngestOptions({shown}, password={'***' if self.password else ''!r})"


def upload(
    file: File, *, namespace: str = "", meter: Meter | None = None, upload_id: str = "", offset: int = 0
) -> Upload[UploadedFile]:
    """Sends a file with its size and SHA-256, so that the server keeps it whole or not at all.

    Under an `upload_id` of the caller's own an upload that broke goes on: the server keeps its first `offset` bytes.
    """

    def requests() -> Iterator[Message]:
        header = ingest_pb2.UploadHeader(
            namespace=namespace,
            filename=file.name,
            content_type=file.content_type,
            sha256=file.sha256,
            size_bytes=file.size_bytes,
            resume_upload_id=upload_id,
            offset=offset,
        )
        yield ingest_pb2.UploadFileRequest(header=header)
        for data in file.chunks(meter, offset=offset):
            yield ingest_pb2.UploadFileRequest(data=data)

    return Upload("ingest.UploadFile", requests(), read_upload)


def upload_standing(upload_id: str, *, namespace: str = "") -> Call[UploadStanding]:
    """Returns how much the server keeps of an upload that was given its id by the caller."""
    request = ingest_pb2.GetUploadRequest(namespace=namespace, upload_id=upload_id)
    return Call("ingest.GetUpload", request, read_standing)


def ingest(
    upload_id: str,
    *,
    source_uri: str,
    title: str = "",
    description: str = "",
    tags: Sequence[str] = (),
    metadata: Mapping[str, JsonValue] | None = None,
    options: IngestOptions | None = None,
    expected_revision: int | None = None,
    allow_partial: bool = False,
    source: str | None = None,
    namespace: str = "",
    request_id: str = "",
) -> Call[Ingestion]:
    """Queues the ingest of an upload as the document at `source_uri` and returns the job, which goes on by itself.

    `expected_revision` publishes only over that revision, 0 only where no document is live; `allow_partial` publishes an extraction
    that lost part of its source.
    """
    chosen = options or IngestOptions()
    request = ingest_pb2.StartIngestionRequest(
        namespace=namespace,
        upload_id=upload_id,
        source_uri=source_uri,
        title=title,
        description=description,
        tags=tags,
        metadata=to_struct(metadata) if metadata else None,
        options=ingest_pb2.IngestOptions(
            format=chosen.format, encoding=chosen.encoding, sql_dialect=chosen.sql_dialect, password=chosen.password
        ),
        expected_revision=expected_revision,
        allow_partial=allow_partial,
        request_id=request_id or uuid4().hex,
        source=source,
    )
    return Call("ingest.StartIngestion", request, lambda answer: read_ingestion(answer.ingestion))


def ingestion(ingestion_id: str, *, namespace: str = "") -> Call[Ingestion]:
    """Returns a job as it is now."""
    request = ingest_pb2.GetIngestionRequest(namespace=namespace, ingestion_id=ingestion_id)
    return Call("ingest.GetIngestion", request, lambda answer: read_ingestion(answer.ingestion))


def list_ingestions(
    *, states: Sequence[str] = (), source_uri: str = "", page_size: int = 0, namespace: str = ""
) -> Pages[Ingestion]:
    """Yields jobs, newest first: those in any of the states ("failed", …), or all."""
    request = ingest_pb2.ListIngestionsRequest(
        namespace=namespace,
        states=[contract_name(ingest_pb2.IngestionState, state) for state in states],
        source_uri=source_uri,
        page_size=page_size,
    )
    return Pages("ingest.ListIngestions", request, lambda page: [read_ingestion(item) for item in page.ingestions])


def watch(ingestion_id: str, *, timeout_s: float | None = None, namespace: str = "") -> Stream[Ingestion]:
    """Yields a job at once and on every change; the last item is its end."""
    request = ingest_pb2.WatchIngestionRequest(namespace=namespace, ingestion_id=ingestion_id)
    return Stream("ingest.WatchIngestion", request, lambda answer: read_ingestion(answer.ingestion), timeout_s)


def cancel(ingestion_id: str, *, namespace: str = "") -> Call[Ingestion]:
    """Stops a waiting job at once, a running one before it publishes, and returns it."""
    request = ingest_pb2.CancelIngestionRequest(namespace=namespace, ingestion_id=ingestion_id)
    return Call("ingest.CancelIngestion", request, lambda answer: read_ingestion(answer.ingestion))


def formats() -> Call[Formats]:
    """Returns what the service ingests, and whether a file of each format can be read now."""
    return Call("ingest.ListFormats", ingest_pb2.ListFormatsRequest(), read_formats)
