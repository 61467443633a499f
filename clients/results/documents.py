"""Documents as the knowledge service answers them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from loom.knowledge.v1 import documents_pb2

from clients.enums import name_of
from clients.results.artifacts import Coverage, read_coverage
from clients.values import JsonValue, from_struct, from_timestamp


@dataclass(frozen=True, slots=True)
class Document:
    """A document; `content` is filled by get only.

    `format`, `parser` and `coverage` are None for a document that was not ingested; `source_class` is "authored", "ingested" or
    "imported"; `superseded_at` is set on a version that no longer serves.
    """

    namespace: str
    source_uri: str
    doc_id: str
    revision: int
    title: str
    description: str
    tags: tuple[str, ...]
    metadata: Mapping[str, JsonValue]
    content: str
    content_hash: str
    format: str | None
    parser: str | None
    coverage: Coverage | None
    ingestion_id: str
    ingested_at: datetime | None
    updated_at: datetime | None
    actor: str
    user_id: str
    source_class: str
    original_filename: str
    content_type: str
    blob_sha256: str
    source: str | None
    superseded_at: datetime | None
    chunk_count: int


@dataclass(frozen=True, slots=True)
class Written:
    """What a write did: the document, its chunks, and what it repeats.

    `changed` is False where an upsert found the same content and metadata; `duplicate_of_uri` names another live document with
    the same title and content, empty where none; both stay at their defaults for an add.
    """

    document: Document
    chunks: int
    changed: bool = True
    duplicate_of_uri: str = ""
    duplicate_chunk_count: int = 0


@dataclass(frozen=True, slots=True)
class Section:
    """One section; `path` is its headings, outermost first, empty for text before the first heading."""

    path: tuple[str, ...]
    title: str
    depth: int
    chunk_indexes: tuple[int, ...]
    characters: int
    noise: bool


@dataclass(frozen=True, slots=True)
class Outline:
    """The sections of a document in reading order; `section_content` is that of the section asked for, else None."""

    source_uri: str
    revision: int
    structured: bool
    sections: tuple[Section, ...]
    section_content: str | None


@dataclass(frozen=True, slots=True)
class Deleted:
    """What a delete retired."""

    doc_id: str
    revision: int
    chunks_retired: int


def read_document(message: documents_pb2.Document) -> Document:
    """Reads one document."""
    return Document(
        namespace=message.namespace,
        source_uri=message.source_uri,
        doc_id=message.doc_id,
        revision=message.revision,
        title=message.title,
        description=message.description,
        tags=tuple(message.tags),
        metadata=from_struct(message.metadata),
        content=message.content,
        content_hash=message.content_hash,
        format=message.format if message.HasField("format") else None,
        parser=message.parser if message.HasField("parser") else None,
        coverage=read_coverage(message.coverage) if message.HasField("coverage") else None,
        ingestion_id=message.ingestion_id,
        ingested_at=from_timestamp(message.ingested_at),
        updated_at=from_timestamp(message.updated_at),
        actor=message.actor,
        user_id=message.user_id,
        source_class=name_of(documents_pb2.SourceClass, message.source_class),
        original_filename=message.original_filename,
        content_type=message.content_type,
        blob_sha256=message.blob_sha256,
        source=message.source if message.HasField("source") else None,
        superseded_at=from_timestamp(message.superseded_at),
        chunk_count=message.chunk_count,
    )


def read_added(message: documents_pb2.AddDocumentResponse) -> Written:
    """Reads what an add wrote."""
    return Written(read_document(message.document), message.chunks)


def read_upserted(message: documents_pb2.UpsertDocumentResponse) -> Written:
    """Reads what an upsert wrote."""
    return Written(
        document=read_document(message.document),
        chunks=message.chunks,
        changed=message.changed,
        duplicate_of_uri=message.duplicate_of_uri,
        duplicate_chunk_count=message.duplicate_chunk_count,
    )


def read_outline(message: documents_pb2.OutlineDocumentResponse) -> Outline:
    """Reads an outline."""
    return Outline(
        source_uri=message.source_uri,
        revision=message.revision,
        structured=message.structured,
        sections=tuple(map(read_section, message.sections)),
        section_content=message.section_content if message.HasField("section_content") else None,
    )


def read_section(message: documents_pb2.Section) -> Section:
    """Reads one section."""
    return Section(
        path=tuple(message.path),
        title=message.title,
        depth=message.depth,
        chunk_indexes=tuple(message.chunk_indexes),
        characters=message.characters,
        noise=message.noise,
    )


def read_deleted(message: documents_pb2.DeleteDocumentResponse) -> Deleted:
    """Reads what a delete retired."""
    return Deleted(message.doc_id, message.revision, message.chunks_retired)
