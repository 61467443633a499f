"""Small documents, drafts and jobs, and an open record on a temporary folder, for the tests of any room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import numpy as np

from artifact.locators import CharSpan, LineSpan
from artifact.model import Column, ColumnType, Coverage, TypeCount
from knowledge_svc.domain.chunking import context_of, sha256_of
from knowledge_svc.domain.model import (
    Author,
    Chunk,
    DatasetSnapshot,
    Document,
    ExtractOptions,
    Job,
    JobEnd,
    JobState,
    RequestKey,
    RevisionDraft,
    SchemaState,
    Scope,
    Section,
    SourceClass,
    Upload,
    Vectors,
)
from knowledge_svc.storage.record import Record

DIMENSION: Final = 8
MODEL: Final = "test-model 1"
SCOPE: Final = Scope("dev", "local")
NOW: Final = datetime(2031, 5, 27, 7, 32, 0, 123456, tzinfo=UTC)
SHA: Final = "ab" * 32


@contextmanager
def open_record(folder: Path, *, dimension: int = DIMENSION) -> Iterator[Record]:
    """Opens a record whose clock stands at NOW, and closes it."""
    record = Record.open(folder, dimension=dimension, clock=lambda: NOW)
    try:
        yield record
    finally:
        record.close()


def unit_vectors(count: int, *, seed: int = 0, dimension: int = DIMENSION) -> Vectors:
    """Makes random rows of length 1, the same ones for the same seed."""
    rows = np.random.default_rng(seed).normal(size=(count, dimension))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def make_chunk(content: str, *, index: int = 0, title: str = "", path: tuple[str, ...] = (), keys: tuple[str, ...] = ()) -> Chunk:
    """Makes a chunk of text a caller wrote."""
    return Chunk(index, content, context_of(title, "", path), path, CharSpan(0, len(content)), sha256_of(content), keys=keys)


def make_document(
    source_uri: str = "doc:a",
    *,
    content: str = "alpha\n\nbeta",
    revision: int = 1,
    scope: Scope = SCOPE,
    title: str = "Title",
    tags: tuple[str, ...] = (),
    at: datetime = NOW,
) -> Document:
    """Makes a document a caller wrote."""
    return Document(
        scope=scope,
        source_uri=source_uri,
        doc_id=f"id of {source_uri}",
        revision=revision,
        title=title,
        description="",
        tags=tags,
        metadata="{}",
        content=content,
        content_hash=sha256_of(content),
        author=Author("alice", "u1"),
        source_class=SourceClass.AUTHORED,
        ingested_at=at,
        updated_at=at,
        chunk_count=len(content.split("\n\n")),
    )


def make_draft(
    document: Document | None = None,
    *,
    base_revision: int | None = None,
    datasets: Sequence[DatasetSnapshot] = (),
    job_end: JobEnd | None = None,
    request: RequestKey | None = None,
    dimension: int = DIMENSION,
    model: str = MODEL,
) -> RevisionDraft:
    """Makes a draft of a document with one chunk for each of its paragraphs, in one section."""
    document = document or make_document()
    parts = document.content.split("\n\n")
    chunks = tuple(make_chunk(part, index=index, title=document.title) for index, part in enumerate(parts))
    sections = (Section((), tuple(range(len(chunks))), len(document.content)),)
    vectors = unit_vectors(len(chunks), seed=document.revision, dimension=dimension)
    return RevisionDraft(
        document, chunks, sections, vectors, model, base_revision, datasets=tuple(datasets), job_end=job_end, request=request
    )


def next_draft(document: Document, *, content: str = "gamma", at: datetime | None = None) -> RevisionDraft:
    """Makes a draft that replaces a published document."""
    later = at or document.updated_at + timedelta(minutes=1)
    after = replace(
        document,
        revision=document.revision + 1,
        content=content,
        content_hash=sha256_of(content),
        updated_at=later,
        ingested_at=later,
        chunk_count=len(content.split("\n\n")),
    )
    return make_draft(after, base_revision=document.revision)


def make_dataset(
    dataset_id: str = "t1", *, source_uri: str = "doc:a", ordinal: int = 0, revision: int = 1, scope: Scope = SCOPE
) -> DatasetSnapshot:
    """Makes a dataset of one number column."""
    column = Column(
        "amount", ColumnType.NUMBER, source_header="Amount", inferred=(TypeCount(ColumnType.NUMBER, 3),), precision=4, scale=2
    )
    return DatasetSnapshot(
        snapshot_id=f"{source_uri}/{dataset_id}@{revision}",
        scope=scope,
        source_uri=source_uri,
        dataset_id=dataset_id,
        name="Orders",
        ordinal=ordinal,
        revision=revision,
        columns=(column,),
        schema_state=SchemaState.INFERRED,
        clarifications=(),
        row_count=3,
        rejected_count=0,
        rejected_rows=(),
        complete=True,
        locator=LineSpan(1, 4),
        file_sha256=SHA,
        published_at=NOW,
    )


def make_upload(upload_id: str = "up1", *, scope: Scope = SCOPE, expires_at: datetime = NOW + timedelta(days=1)) -> Upload:
    """Makes a stored upload."""
    return Upload(upload_id, scope, SHA, 10, "orders.csv", "text/csv", "csv", "alice", NOW, expires_at)


def make_job(ingestion_id: str = "job1", *, source_uri: str = "doc:a", scope: Scope = SCOPE, upload: Upload | None = None) -> Job:
    """Makes a job that waits and is due at NOW."""
    return Job(
        ingestion_id=ingestion_id,
        scope=scope,
        seq=0,
        upload=upload or make_upload(scope=scope),
        source_uri=source_uri,
        title="Orders",
        description="",
        tags=("a", "b"),
        metadata="{}",
        options=ExtractOptions(encoding="cp1252", password="secret"),
        expected_revision=None,
        allow_partial=False,
        author=Author("alice", "u1"),
        source=None,
        state=JobState.PENDING,
        queued_at=NOW,
        updated_at=NOW,
        next_attempt_at=NOW,
    )


def make_job_end(ingestion_id: str = "job1", *, state: JobState = JobState.READY) -> JobEnd:
    """Makes the end of a job that published."""
    return JobEnd(ingestion_id, state, NOW + timedelta(seconds=5), Coverage("line", 4, 4, words_emitted=9), (), 2, 1, "csv")


def make_key(request_id: str = "r1", *, body: str = "one", method: str = "AddDocument") -> RequestKey:
    """Makes a request key."""
    return RequestKey("alice", method, request_id, sha256_of(body))
