"""A knowledge service's insides on a folder, and texts to fill it with."""

from __future__ import annotations

import itertools
import random
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import numpy as np

from knowledge_svc.domain.chunking import ChunkSettings, cut_text, sha256_of
from knowledge_svc.domain.model import Author, Document, RevisionDraft, Scope, SourceClass, Vectors
from knowledge_svc.domain.publishing import Publisher
from knowledge_svc.domain.search import Searcher
from knowledge_svc.index.embedding import MiniLmEmbedder
from knowledge_svc.index.namespaces import Indexes
from knowledge_svc.storage.record import Record
from knowledge_svc.storage.store import RecordStore

SCOPE: Final = Scope("dev", "local")
NOW: Final = datetime(2031, 1, 1, tzinfo=UTC)
WORDS: Final = [
    "valve",
    "pump",
    "pressure",
    "north",
    "south",
    "line",
    "order",
    "seal",
    "report",
    "month",
    "budget",
    "river",
    "bridge",
    "winter",
    "storm",
    "index",
    "shard",
    "query",
    "plan",
    "table",
    "column",
    "archive",
    "ledger",
    "invoice",
    "station",
    "copper",
    "granite",
    "heron",
    "ferry",
    "signal",
    "engine",
    "filter",
    "sample",
    "method",
    "result",
    "figure",
    "section",
]


def sentence(chance: random.Random, words: int = 12) -> str:
    """A sentence of common words and one rare number."""
    return " ".join(chance.choices(WORDS, k=words)).capitalize() + f" {chance.randrange(100_000)}."


def text_of(chance: random.Random, sections: int, *, sentences: int = 11) -> str:
    """A text of that many sections, each a little under one chunk."""
    parts = (f"# Part {n}\n\n" + " ".join(sentence(chance) for _ in range(sentences)) for n in range(sections))
    return "\n\n".join(parts)


@dataclass(frozen=True, slots=True)
class House:
    """The opened parts."""

    store: RecordStore
    indexes: Indexes
    publisher: Publisher
    embedder: MiniLmEmbedder
    searcher: Searcher


@contextmanager
def open_house(folder: Path) -> Iterator[House]:
    """Opens record, indexes and model on a folder."""
    embedder = MiniLmEmbedder()
    record = Record.open(folder, dimension=embedder.dimension, clock=lambda: datetime.now(UTC))
    store = RecordStore(record)
    indexes = Indexes(folder / "index", store=store, model=embedder.model, dimension=embedder.dimension)
    try:
        yield House(store, indexes, Publisher(store, indexes), embedder, Searcher(store, indexes, embedder))
    finally:
        indexes.close()
        record.close()


def fill(house: House, *, chunks: int, seed: int = 7) -> tuple[list[str], Vectors]:
    """Publishes documents of 500 chunks with random unit vectors; returns every chunk's content and the vectors."""
    chance, noise = random.Random(seed), np.random.default_rng(seed)
    contents: list[str] = []
    kept: list[Vectors] = []
    for number in itertools.count():
        if len(contents) >= chunks:
            return contents, np.concatenate(kept)
        text = text_of(chance, 500)
        cut, sections = cut_text(text, title=f"Document {number}", description="", settings=ChunkSettings())
        vectors = noise.normal(size=(len(cut), house.embedder.dimension)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        document = Document(
            scope=SCOPE,
            source_uri=f"doc:{number}",
            doc_id=uuid.uuid4().hex,
            revision=1,
            title=f"Document {number}",
            description="",
            tags=(f"tag-{number % 5}",),
            metadata="{}",
            content=text,
            content_hash=sha256_of(text),
            author=Author("bench"),
            source_class=SourceClass.AUTHORED,
            ingested_at=NOW,
            updated_at=NOW,
            chunk_count=len(cut),
        )
        house.publisher.publish(RevisionDraft(document, cut, sections, vectors, house.embedder.model, base_revision=None))
        contents.extend(chunk.content for chunk in cut)
        kept.append(vectors)
    raise AssertionError("unreachable")
