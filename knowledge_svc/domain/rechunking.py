"""Cuts text documents anew, as after a change of the chunk size; files are ingested again instead."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from knowledge_svc.domain.chunking import ChunkSettings, cut_text
from knowledge_svc.domain.embedding import embed_chunks
from knowledge_svc.domain.errors import RevisionConflict
from knowledge_svc.domain.model import Chunk, Document, DocumentFilter, RevisionDraft, Scope, Section
from knowledge_svc.domain.ports import Embedder, Store
from knowledge_svc.domain.publishing import Publisher

PAGE: Final = 200


class Recut(StrEnum):
    """What became of a document."""

    SAME = "same"
    CHANGED = "changed"
    INGESTED = "ingested"
    OVERTAKEN = "overtaken"


@dataclass(frozen=True, slots=True)
class RecutDocument:
    """A document, what became of it, and its chunks before and after."""

    source_uri: str
    outcome: Recut
    before: int
    after: int


class Rechunker:
    """Compares the chunks of documents with those that today's settings give, and writes new revisions where it is told to."""

    def __init__(
        self, store: Store, publisher: Publisher, embedder: Embedder, *, chunks: ChunkSettings, clock: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._publisher = publisher
        self._embedder = embedder
        self._chunks = chunks
        self._clock = clock

    def compare(self, scope: Scope, *, source_uri: str = "") -> Iterator[RecutDocument]:
        """Tells of each live document what cutting it anew would change; writes nothing.

        Raises:
            DocumentNotFound: none is live at the source_uri.
        """
        for document in self._documents(scope, source_uri):
            yield self._compared(document)

    def apply(self, scope: Scope, *, source_uri: str = "") -> Iterator[RecutDocument]:
        """Writes a new revision of each live document whose chunks change; one that was written meanwhile is left as it is.

        Raises:
            DocumentNotFound: none is live at the source_uri.
        """
        for document in self._documents(scope, source_uri):
            told = self._compared(document)
            if told.outcome is Recut.CHANGED and not self._rewritten(document):
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

    def _compared(self, document: Document) -> RecutDocument:
        if document.format is not None:
            return RecutDocument(document.source_uri, Recut.INGESTED, document.chunk_count, document.chunk_count)
        chunks, _ = self._cut(document)
        held = tuple(row.chunk for row in self._store.chunks(document))
        outcome = Recut.SAME if _texts(chunks) == _texts(held) else Recut.CHANGED
        return RecutDocument(document.source_uri, outcome, len(held), len(chunks))

    def _rewritten(self, document: Document) -> bool:
        """Publishes the document cut anew; False where it was written since it was read (L-EDIT-03)."""
        chunks, sections = self._cut(document)
        vectors = embed_chunks(chunks, scope=document.scope, store=self._store, embedder=self._embedder)
        revision = self._store.last_revision(document.scope, document.source_uri) + 1
        written = replace(document, revision=revision, updated_at=self._clock(), chunk_count=len(chunks))
        draft = RevisionDraft(written, chunks, sections, vectors, self._embedder.model, base_revision=document.revision)
        try:
            self._publisher.publish(draft)
        except RevisionConflict:
            return False
        return True

    def _cut(self, document: Document) -> tuple[tuple[Chunk, ...], tuple[Section, ...]]:
        return cut_text(document.content, title=document.title, description=document.description, settings=self._chunks)


def _texts(chunks: tuple[Chunk, ...]) -> list[tuple[str, str]]:
    return [(chunk.context, chunk.content) for chunk in chunks]
