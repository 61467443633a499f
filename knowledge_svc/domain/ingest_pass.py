"""From an artifact to a draft that can be published: checks, chunks, vectors, datasets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from artifact.model import Artifact, ArtifactWarning
from artifact.model import Dataset as ArtifactDataset
from knowledge_svc.domain.chunking import ChunkSettings, sha256_of
from knowledge_svc.domain.documents import check_expected
from knowledge_svc.domain.embedding import embed_chunks
from knowledge_svc.domain.errors import DocumentNotFound, ExtractionRefused
from knowledge_svc.domain.model import (
    Chunk,
    DatasetSnapshot,
    Document,
    Job,
    JobEnd,
    JobState,
    Original,
    RevisionDraft,
    Scope,
    Section,
    SourceClass,
)
from knowledge_svc.domain.ports import Embedder, Store
from knowledge_svc.domain.structure import cut_artifact, render, shortened

MAX_TITLE: Final = 1000
"""Characters of a title that a file gives itself; as many as a caller may give."""
MAX_WARNINGS: Final = 200
"""Warnings that a job tells; the stored artifact has all."""


class IncompleteExtraction(ExtractionRefused):
    """Coverage is incomplete and the caller did not allow that."""

    reason = "INCOMPLETE_EXTRACTION"


class TooManyChunks(ExtractionRefused):
    """A document gives more chunks than allowed."""

    reason = "TOO_MANY_CHUNKS"


class NothingToIndex(ExtractionRefused):
    """A file has nothing to index."""

    reason = "NO_TEXT"


class SnapshotWriter(Protocol):
    """Writes datasets to immutable files."""

    def write(
        self, dataset: ArtifactDataset, *, scope: Scope, source_uri: str, revision: int, ordinal: int, published_at: datetime
    ) -> DatasetSnapshot:
        """Writes one dataset durably and returns what names it."""


class RevisionDatasets(Protocol):
    """Writes the datasets of revisions."""

    def write(
        self, datasets: Sequence[ArtifactDataset], *, scope: Scope, source_uri: str, revision: int, published_at: datetime
    ) -> tuple[DatasetSnapshot, ...]:
        """Writes the datasets of a revision, in their order."""


@dataclass(frozen=True, slots=True)
class Cut:
    """An artifact cut into chunks and sections."""

    chunks: tuple[Chunk, ...]
    sections: tuple[Section, ...]


def live_version(store: Store, job: Job) -> Document | None:
    """The live document a pass is made over.

    Raises:
        RevisionConflict: the job expects another revision.
    """
    try:
        live = store.document(job.scope, job.source_uri)
    except DocumentNotFound:
        live = None
    check_expected(job.source_uri, live, job.expected_revision)
    return live


def cut(artifact: Artifact, job: Job, *, settings: ChunkSettings, max_chunks: int) -> Cut:
    """Cuts an artifact.

    Raises:
        IncompleteExtraction: part of the source is missing and the job does not allow that.
        NothingToIndex: there is no text.
        TooManyChunks: there are more chunks than allowed.
    """
    coverage = artifact.coverage
    if not coverage.complete and not job.allow_partial:
        lost = ", ".join([*coverage.lost, *sorted({failed.reason for failed in coverage.failed})]) or "words unread"
        raise IncompleteExtraction(
            f"{coverage.extracted} of {coverage.total} {coverage.unit}s were read ({lost}); allow a partial ingest to publish them"
        )
    chunks, sections = cut_artifact(artifact, title=title_of(artifact, job), description=job.description, settings=settings)
    if not chunks:
        raise NothingToIndex("the file has no text to index")
    if len(chunks) > max_chunks:
        raise TooManyChunks(f"the file gives {len(chunks)} chunks, more than the {max_chunks} allowed; split it")
    return Cut(chunks, sections)


def title_of(artifact: Artifact, job: Job) -> str:
    """The title the caller gave, else the file's own on one line, else its name without the extension."""
    return job.title or shortened(artifact.title, MAX_TITLE) or job.upload.filename.rsplit(".", 1)[0]


def draft_of(
    artifact: Artifact,
    artifact_sha256: str,
    job: Job,
    parts: Cut,
    *,
    live: Document | None,
    store: Store,
    embedder: Embedder,
    datasets: RevisionDatasets,
    now: datetime,
    new_id: Callable[[], str],
    progress: Callable[[int], None],
) -> RevisionDraft:
    """Embeds the chunks, writes the datasets and puts together what the publish commits."""
    vectors = embed_chunks(parts.chunks, scope=job.scope, store=store, embedder=embedder, progress=progress)
    revision = store.last_revision(job.scope, job.source_uri) + 1
    written = datasets.write(artifact.datasets, scope=job.scope, source_uri=job.source_uri, revision=revision, published_at=now)
    document = _document(artifact, artifact_sha256, job, parts, live=live, revision=revision, now=now, new_id=new_id)
    return RevisionDraft(
        document,
        parts.chunks,
        parts.sections,
        vectors,
        embedder.model,
        base_revision=live.revision if live else None,
        datasets=written,
        job_end=_end(artifact, job, parts.chunks, written, now=now),
    )


def _document(
    artifact: Artifact,
    artifact_sha256: str,
    job: Job,
    parts: Cut,
    *,
    live: Document | None,
    revision: int,
    now: datetime,
    new_id: Callable[[], str],
) -> Document:
    content = render(artifact)
    return Document(
        scope=job.scope,
        source_uri=job.source_uri,
        doc_id=live.doc_id if live else new_id(),
        revision=revision,
        title=title_of(artifact, job),
        description=job.description,
        tags=job.tags,
        metadata=job.metadata,
        content=content,
        content_hash=sha256_of(content),
        author=job.author,
        source_class=SourceClass.INGESTED,
        ingested_at=now,
        updated_at=now,
        chunk_count=len(parts.chunks),
        format=artifact.format,
        parser=artifact.parser,
        coverage=artifact.coverage,
        ingestion_id=job.ingestion_id,
        original=Original(job.upload.sha256, job.upload.filename, job.upload.content_type),
        artifact_sha256=artifact_sha256,
        source=job.source,
    )


def _end(artifact: Artifact, job: Job, chunks: Sequence[Chunk], datasets: Sequence[DatasetSnapshot], *, now: datetime) -> JobEnd:
    return JobEnd(
        ingestion_id=job.ingestion_id,
        state=JobState.READY if artifact.coverage.complete else JobState.PARTIAL,
        ended_at=now,
        coverage=artifact.coverage,
        warnings=_told(artifact.warnings),
        chunks=len(chunks),
        datasets=len(datasets),
        format=artifact.format,
    )


def _told(warnings: tuple[ArtifactWarning, ...]) -> tuple[ArtifactWarning, ...]:
    """The warnings a job tells; the last one counts those left out."""
    if len(warnings) <= MAX_WARNINGS:
        return warnings
    rest = len(warnings) - MAX_WARNINGS
    return (*warnings[:MAX_WARNINGS], ArtifactWarning("MORE_WARNINGS", f"{rest} more warnings stand in the stored artifact"))
