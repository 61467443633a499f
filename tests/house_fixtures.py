"""A knowledge service's insides on a temporary folder: real record, blobs, indexes and snapshots, a stand-in model."""

from __future__ import annotations

import hashlib
import itertools
import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from knowledge_svc.datasets.snapshots import SnapshotFiles
from knowledge_svc.domain.chunking import ChunkSettings
from knowledge_svc.domain.documents import DocumentInput, Documents
from knowledge_svc.domain.model import Author, Scope
from knowledge_svc.domain.publishing import Publisher
from knowledge_svc.domain.search import Searcher, SearchQuery
from knowledge_svc.index.namespaces import Indexes
from knowledge_svc.storage.blobs import FileBlobStore
from knowledge_svc.storage.jobs import RecordJobQueue
from knowledge_svc.storage.record import Record
from knowledge_svc.storage.store import RecordStore

SCOPE = Scope("dev", "local")
ADA = Author("ada")
START = datetime(2031, 1, 1, tzinfo=UTC)


class WordEmbedder:
    """A bag of hashed words as a unit vector: texts that share words are near, and it is instant."""

    model = "words@1"
    dimension = 64

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.embedded.extend(texts)
        return np.stack([self._vector(text) for text in texts]) if texts else np.zeros((0, self.dimension), np.float32)

    def embed_query(self, text: str) -> np.ndarray:
        return self._vector(text)

    def _vector(self, text: str) -> np.ndarray:
        vector = np.full(self.dimension, 1e-3, dtype=np.float32)
        for word in re.findall(r"\w+", text.lower()):
            vector[int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big") % self.dimension] += 1
        return (vector / np.linalg.norm(vector)).astype(np.float32)


@dataclass
class Clock:
    """A clock that a test moves, and that never stands still."""

    now: datetime = START
    _ticks: Iterator[int] = field(default_factory=itertools.count)

    def __call__(self) -> datetime:
        return self.now + timedelta(microseconds=next(self._ticks))


@dataclass
class House:
    """The opened parts."""

    record: Record
    store: RecordStore
    queue: RecordJobQueue
    blobs: FileBlobStore
    snapshots: SnapshotFiles
    indexes: Indexes
    publisher: Publisher
    embedder: WordEmbedder
    documents: Documents
    searcher: Searcher
    clock: Clock

    def write(self, source_uri: str, content: str, **more) -> int:
        """Upserts a document and returns its revision."""
        return self.documents.upsert(SCOPE, DocumentInput(source_uri, content, **more), author=ADA).document.revision

    def find(self, text: str, **more) -> list[str]:
        """Searches and returns the source_uris of the hits."""
        result = self.searcher.search(SearchQuery(SCOPE, text, **more))
        return [hit.row.source_uri for hit in result.hits]


@contextmanager
def open_house(
    folder: Path,
    *,
    clock: Clock | None = None,
    chunks: ChunkSettings | None = None,
    check_wanted: Callable[[], None] = lambda: None,
) -> Iterator[House]:
    """Opens everything on a folder, and closes it."""
    clock = clock or Clock()
    embedder = WordEmbedder()
    record = Record.open(folder, dimension=embedder.dimension, clock=clock)
    store = RecordStore(record)
    indexes = Indexes(folder / "index", store=store, model=embedder.model, dimension=embedder.dimension)
    publisher = Publisher(store, indexes)
    blobs = FileBlobStore(folder / "blobs")
    documents = Documents(
        store,
        publisher,
        embedder,
        blobs,
        chunks=chunks or ChunkSettings(),
        clock=clock,
        new_id=lambda: uuid.uuid4().hex,
        check_wanted=check_wanted,
    )
    house = House(
        record=record,
        store=store,
        queue=RecordJobQueue(record),
        blobs=blobs,
        snapshots=SnapshotFiles(folder / "snapshots"),
        indexes=indexes,
        publisher=publisher,
        embedder=embedder,
        documents=documents,
        searcher=Searcher(store, indexes, embedder),
        clock=clock,
    )
    try:
        yield house
    finally:
        indexes.close()
        record.close()
