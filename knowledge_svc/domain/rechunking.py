"""Cuts documents anew, as after a change of the chunk size: texts from their content, files from their stored extraction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final, Protocol

from artifact.model import Artifact, Dataset
from knowledge_svc.domain.chunking import ChunkSettings, cut_text
from knowledge_svc.domain.embedding import embed_chunks
from knowledge_svc.domain.errors import BlobGone, RevisionConflict
from knowledge_svc.domain.ingest_pass import RevisionDatasets
from knowledge_svc.domain.model import Chunk, Document, DocumentFilter, RevisionDraft, Scope, Section
from knowledge_svc.domain.ports import Embedder, Store
from knowledge_svc.domain.publishing import Publisher
from knowledge_svc.domain.structure import cut_artifact

PAGE: Final = 200


class Recut(StrEnum):
    """What became of a document."""

    SAME = "same"
    CHANGED = "changed"
    GONE = "gone"
    OVERTAKEN = "overtaken"


@dataclass(frozen=True, slots=True)
class RecutDocument:
    """A document, what became of it, and its chunks before and after."""

    source_uri: str
    outcome: Recut
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class _Anew:
    """A document's chunks and sections as today's settings cut them, and the datasets of its file."""

    chunks: tuple[Chunk, ...]
    sections: tuple[Section, ...]
    datasets: tuple[Dataset, ...] = ()


class StoredArtifacts(Protocol):
    """Artifacts of ingested files."""

    def artifact(self, artifact_sha256: str) -> Artifact:
        """Returns a stored artifact.

        Raises:
            BlobGone: it is not stored any more.
        """


class Rechunker:
    """Compares the chunks of documents with those that today's settings give, and writes new revisions where it is told to."""

    def __init__(
        self,
        store: Store,
        publisher: Publisher,
        embedder: Embedder,
        stored: StoredArtifacts,
        datasets: RevisionDatasets,
        *,
        chunks: ChunkSettings,
        clock: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._publisher = publisher
        self._embedder = embedder
        self._stored = stored
        self._datasets = datasets
        self._chunks = chunks
        self._clock = clock

    def compare(self, scope: Scope, *, source_uri: str = "") -> Iterator[RecutDocument]:
        """Tells of each live document what cutting it anew would change; writes nothing.

        Raises:
            DocumentNotFound: none is live at the source_uri.
        """
        for document in self._documents(scope, source_uri):
            yield self._told(document, self._cut(document))

    def apply(self, scope: Scope, *, source_uri: str = "") -> Iterator[RecutDocument]:
        """Writes a new revision of each live document whose chunks change; one that was written meanwhile is left as it is.

        Raises:
            DocumentNotFound: none is live at the source_uri.
        """
        for document in self._documents(scope, source_uri):
            anew = self._cut(document)
            told = self._told(document, anew)
            if anew is not None and told.outcome is Recut.CHANGED and not self._rewritten(document, anew):
                told = replace(told, outcome=Recut.OVERTAKEN)
            yield told

    def _documents(self, scope: Scope, source_uri: str) -> Iterator[Document]:
        if source_uri:
            yield self._store.document(scope, source_uri)
            return
        after = ""
        while page := self._store.documents(scope, DocumentFilter(), after_uri=after, limit=PAGE):
            for listed in page:
                yield self._store.document(scope, listed.source_uri)
            after = page[-1].source_uri

    def _told(self, document: Document, anew: _Anew | None) -> RecutDocument:
        """What cutting a document anew changes; one whose extraction is not stored any more keeps its chunks."""
        if anew is None:
            return RecutDocument(document.source_uri, Recut.GONE, document.chunk_count, document.chunk_count)
        held = tuple(row.chunk for row in self._store.chunks(document))
        outcome = Recut.SAME if _texts(anew.chunks) == _texts(held) else Recut.CHANGED
        return RecutDocument(document.source_uri, outcome, len(held), len(anew.chunks))

    def _rewritten(self, document: Document, anew: _Anew) -> bool:
        """Publishes the document cut anew, with its datasets; False where it was written since it was read (L-EDIT-03)."""
        scope, uri, now = document.scope, document.source_uri, self._clock()
        vectors = embed_chunks(anew.chunks, scope=scope, store=self._store, embedder=self._embedder)
        revision = self._store.last_revision(scope, uri) + 1
        datasets = self._datasets.write(anew.datasets, scope=scope, source_uri=uri, revision=revision, published_at=now)
        draft = RevisionDraft(
            replace(document, revision=revision, updated_at=now, chunk_count=len(anew.chunks)),
            anew.chunks,
            anew.sections,
            vectors,
            self._embedder.model,
            base_revision=document.revision,
            datasets=datasets,
        )
        try:
            self._publisher.publish(draft)
        except RevisionConflict:
            return False
        return True

    def _cut(self, document: Document) -> _Anew | None:
        """The document cut anew; None where it is a file whose extraction is not stored any more."""
        title, description = document.title, document.description
        if document.format is None:
            return _Anew(*cut_text(document.content, title=title, description=description, settings=self._chunks))
        try:
            artifact = self._stored.artifact(document.artifact_sha256)
        except BlobGone:
            return None
        return _Anew(*cut_artifact(artifact, title=title, description=description, settings=self._chunks), artifact.datasets)


def _texts(chunks: tuple[Chunk, ...]) -> list[tuple[str, str]]:
    return [(chunk.context, chunk.content) for chunk in chunks]
