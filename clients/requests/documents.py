"""Calls that write and read documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import uuid4

from google.protobuf.timestamp_pb2 import Timestamp
from loom.knowledge.v1 import documents_pb2

from clients.calls import WORK_TIMEOUT_S, Call, Pages
from clients.results.documents import (
    Deleted,
    Document,
    Outline,
    Written,
    read_added,
    read_deleted,
    read_document,
    read_outline,
    read_upserted,
)
from clients.values import JsonValue, to_struct


def add(
    source_uri: str,
    content: str = "",
    *,
    title: str = "",
    description: str = "",
    tags: Sequence[str] = (),
    metadata: Mapping[str, JsonValue] | None = None,
    original_bytes: bytes | None = None,
    original_filename: str = "",
    original_content_type: str = "",
    source: str | None = None,
    namespace: str = "",
    request_id: str = "",
) -> Call[Written]:
    """Writes a new revision of a document from its whole text.

    `original_bytes` keep the file the text was made of, at most 2 MiB. Without a `request_id` of your own the call is safe to retry
    within itself; with one, calling again with the same arguments gives the same answer.
    """
    document = documents_pb2.DocumentInput(
        source_uri=source_uri,
        content=content,
        title=title,
        description=description,
        tags=tags,
        metadata=to_struct(metadata) if metadata else None,
        original_bytes=original_bytes,
        original_filename=original_filename,
        original_content_type=original_content_type,
        source=source,
    )
    request = documents_pb2.AddDocumentRequest(namespace=namespace, document=document, request_id=request_id or uuid4().hex)
    return Call("documents.AddDocument", request, read_added, WORK_TIMEOUT_S)


def upsert(
    source_uri: str,
    content: str = "",
    *,
    title: str = "",
    description: str = "",
    tags: Sequence[str] = (),
    metadata: Mapping[str, JsonValue] | None = None,
    source: str | None = None,
    expected_revision: int | None = None,
    namespace: str = "",
    request_id: str = "",
) -> Call[Written]:
    """Adds or replaces the document at a source_uri; the same content and metadata again writes nothing.

    `expected_revision` replaces only that revision, 0 only where no document is live.
    """
    document = documents_pb2.DocumentInput(
        source_uri=source_uri,
        content=content,
        title=title,
        description=description,
        tags=tags,
        metadata=to_struct(metadata) if metadata else None,
        source=source,
    )
    request = documents_pb2.UpsertDocumentRequest(
        namespace=namespace, document=document, request_id=request_id or uuid4().hex, expected_revision=expected_revision
    )
    return Call("documents.UpsertDocument", request, read_upserted, WORK_TIMEOUT_S)


def get(
    source_uri: str,
    *,
    revision: int | None = None,
    include_superseded: bool = False,
    as_of: datetime | None = None,
    namespace: str = "",
) -> Call[Document]:
    """Returns one document whole: the live one, a kept revision, or the one that was live at a moment (with a time zone)."""
    request = documents_pb2.GetDocumentRequest(
        namespace=namespace,
        source_uri=source_uri,
        revision=revision,
        include_superseded=include_superseded,
        as_of=timestamp(as_of),
    )
    return Call("documents.GetDocument", request, lambda answer: read_document(answer.document))


def list_documents(
    *,
    uri_prefixes: Sequence[str] = (),
    tags: Sequence[str] = (),
    namespaces: Sequence[str] = (),
    page_size: int = 0,
) -> Pages[Document]:
    """Yields documents without their content, by source_uri, asking for pages as they are needed."""
    request = documents_pb2.ListDocumentsRequest(namespaces=namespaces, uri_prefixes=uri_prefixes, tags=tags, page_size=page_size)
    return Pages("documents.ListDocuments", request, lambda page: [read_document(item) for item in page.documents])


def outline(
    source_uri: str,
    *,
    section_path: Sequence[str] = (),
    include_children: bool = False,
    revision: int | None = None,
    namespace: str = "",
) -> Call[Outline]:
    """Returns the sections of a document; with `section_path` also that section's content, its subsections' folded in or not."""
    request = documents_pb2.OutlineDocumentRequest(
        namespace=namespace,
        source_uri=source_uri,
        section_path=section_path,
        include_children=include_children,
        revision=revision,
    )
    return Call("documents.OutlineDocument", request, read_outline)


def delete(source_uri: str, *, expected_revision: int | None = None, namespace: str = "", request_id: str = "") -> Call[Deleted]:
    """Retires a document: searches stop at once, its datasets stop serving, history stays."""
    request = documents_pb2.DeleteDocumentRequest(
        namespace=namespace, source_uri=source_uri, expected_revision=expected_revision, request_id=request_id or uuid4().hex
    )
    return Call("documents.DeleteDocument", request, read_deleted)


def timestamp(moment: datetime | None) -> Timestamp | None:
    """The moment as the contract carries it.

    Raises:
        ValueError: it has no time zone.
    """
    if moment is None:
        return None
    if moment.tzinfo is None:
        raise ValueError(f"{moment.isoformat()} has no time zone; say which moment it is, such as with tzinfo=UTC")
    stamp = Timestamp()
    stamp.FromDatetime(moment)
    return stamp
