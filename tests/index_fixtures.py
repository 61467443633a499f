"""A record in memory with the reading half of the `Store` port, and chunks to put into it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from artifact.locators import CharSpan, Locator
from knowledge_svc.domain.model import (
    Author,
    Chunk,
    Document,
    IndexRows,
    Publication,
    RevisionDraft,
    Scope,
    SourceClass,
    StagedRevision,
    StoredChunk,
    Vectors,
    section_key,
)

SCOPE = Scope("acme", "plant")
DIMENSION = 8
MODEL = "words-8"
DAY = datetime(2026, 3, 1, tzinfo=UTC)


def word_vectors(texts: Sequence[str]) -> Vectors:
    """A toy model: the same text gives the same unit vector, texts with common words come out near."""
    rows = np.zeros((len(texts), DIMENSION), dtype=np.float64)
    for row, text in enumerate(texts):
        for word in (text.lower() or " ").split(" "):
            seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
            rows[row] += np.random.default_rng(seed).standard_normal(DIMENSION)
    vectors: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return vectors


def chunk(index: int, content: str, *, context: str = "", keys: tuple[str, ...] = (), block_type: str = "") -> Chunk:
    locator: Locator = CharSpan(0, len(content))
    sha256 = hashlib.sha256(content.encode()).hexdigest()
    return Chunk(index, content, context, (), locator, sha256, block_type=block_type, keys=keys)


def draft(
    uri: str,
    chunks: Sequence[Chunk],
    *,
    scope: Scope = SCOPE,
    tags: tuple[str, ...] = (),
    file_format: str | None = None,
    at: datetime = DAY,
    vectors: Vectors | None = None,
    model: str = MODEL,
) -> RevisionDraft:
    document = Document(
        scope=scope,
        source_uri=uri,
        doc_id=f"doc:{uri}",
        revision=1,
        title=uri,
        description="",
        tags=tags,
        metadata="{}",
        content="",
        content_hash="",
        author=Author("tester"),
        source_class=SourceClass.AUTHORED,
        ingested_at=at,
        updated_at=at,
        chunk_count=len(chunks),
        format=file_format,
    )
    made = word_vectors([chunk.embedding_input for chunk in chunks]) if vectors is None else vectors
    return RevisionDraft(document, tuple(chunks), (), made, model, None)


@dataclass
class _Row:
    draft: RevisionDraft
    chunk: Chunk
    vector: npt.NDArray[np.float32]
    state: str = "staged"


@dataclass
class MemoryRecord:
    """Ids and change numbers only grow; a staged chunk is published, then retired, or abandoned."""

    uuid: str = "record-1"
    batch: int = 40
    change_seq: int = 0
    last_id: int = 0
    rows: dict[int, _Row] = field(default_factory=dict)
    reads: int = 0

    def stage(self, made: RevisionDraft) -> StagedRevision:
        self.change_seq += 1
        first = self.last_id + 1
        ids = tuple(range(first, first + len(made.chunks)))
        self.last_id = first + len(made.chunks) - 1
        for chunk_id, cut, vector in zip(ids, made.chunks, made.vectors, strict=True):
            self.rows[chunk_id] = _Row(made, cut, vector)
        return StagedRevision(made, ids, self.change_seq)

    def publish(self, staged: StagedRevision) -> Publication:
        self.change_seq += 1
        document = staged.draft.document
        retired = self._live(document.scope, document.source_uri)
        for chunk_id in retired:
            self.rows[chunk_id].state = "retired"
        for chunk_id in staged.chunk_ids:
            self.rows[chunk_id].state = "live"
        return Publication(document.scope, staged.chunk_ids, retired, self.change_seq, document)

    def abandon(self, staged: StagedRevision) -> None:
        self.change_seq += 1
        for chunk_id in staged.chunk_ids:
            del self.rows[chunk_id]

    def retire(self, uri: str, *, scope: Scope = SCOPE) -> Publication:
        self.change_seq += 1
        retired = self._live(scope, uri)
        for chunk_id in retired:
            self.rows[chunk_id].state = "retired"
        return Publication(scope, (), retired, self.change_seq)

    def scopes(self) -> list[Scope]:
        return sorted({row.draft.document.scope for row in self.rows.values()}, key=lambda scope: (scope.org, scope.namespace))

    def database_id(self) -> str:
        return self.uuid

    def embedding_model(self) -> str:
        return self.rows[max(self.rows)].draft.embedding_model if self.rows else ""

    def live_chunk_ids(self, scope: Scope) -> tuple[npt.NDArray[np.int64], int]:
        ids = [i for i, row in sorted(self.rows.items()) if row.state == "live" and row.draft.document.scope == scope]
        return np.array(ids, dtype=np.int64), self.change_seq

    def index_rows(self, scope: Scope, *, after_chunk_id: int, vectors: bool) -> Iterator[IndexRows]:
        ids = [
            i
            for i, row in sorted(self.rows.items())
            if i > after_chunk_id and row.state != "staged" and row.draft.document.scope == scope
        ]
        for start in range(0, len(ids), self.batch):
            self.reads += 1
            yield self._batch(ids[start : start + self.batch], vectors)

    def chunk_rows(self, chunk_ids: Sequence[int]) -> dict[int, StoredChunk]:
        found = {}
        for chunk_id in chunk_ids:
            row = self.rows[chunk_id]
            document = row.draft.document
            found[chunk_id] = StoredChunk(
                chunk_id=chunk_id,
                scope=document.scope,
                source_uri=document.source_uri,
                doc_id=document.doc_id,
                revision=document.revision,
                title=document.title,
                format=document.format,
                ingested_at=document.ingested_at,
                tags=document.tags,
                chunk=row.chunk,
            )
        return found

    def as_store(self) -> Any:  # Any: only the reading half of the port is here, all that the indexes use
        return self

    def _live(self, scope: Scope, uri: str) -> tuple[int, ...]:
        return tuple(
            i
            for i, row in sorted(self.rows.items())
            if row.state == "live" and (row.draft.document.scope, row.draft.document.source_uri) == (scope, uri)
        )

    def _batch(self, ids: Sequence[int], vectors: bool) -> IndexRows:
        rows = [self.rows[i] for i in ids]
        epoch = datetime(1970, 1, 1, tzinfo=UTC)
        return IndexRows(
            chunk_ids=np.array(ids, dtype=np.int64),
            source_uris=tuple(row.draft.document.source_uri for row in rows),
            tags=tuple(row.draft.document.tags for row in rows),
            formats=tuple(row.draft.document.format or "" for row in rows),
            block_types=tuple(row.chunk.block_type for row in rows),
            ingested_at_us=np.array(
                [round((row.draft.document.ingested_at - epoch).total_seconds() * 1_000_000) for row in rows], dtype=np.int64
            ),
            sections=tuple(section_key(row.draft.document.doc_id, row.chunk.section_path) for row in rows),
            contents=tuple(row.chunk.content for row in rows),
            contexts=tuple(row.chunk.context for row in rows),
            keys=tuple(row.chunk.keys for row in rows),
            live=np.array([row.state == "live" for row in rows]),
            vectors=np.stack([row.vector for row in rows]) if vectors else None,
            change_seq=self.change_seq,
        )
