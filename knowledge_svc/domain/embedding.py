"""Vectors of chunks: those already made of the same input are taken from the record, the others are embedded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from knowledge_svc.domain.chunking import sha256_of
from knowledge_svc.domain.model import Chunk, Scope, Vectors
from knowledge_svc.domain.ports import Embedder, Store

BATCH: Final = 16
"""Chunks handed to the embedder between two progress reports: less than a second's work, since a report can end the work."""


def embed_chunks(
    chunks: Sequence[Chunk], *, scope: Scope, store: Store, embedder: Embedder, progress: Callable[[int], None] | None = None
) -> Vectors:
    """Returns one unit vector a chunk, shape (n, dimension); `progress` is called with the chunks done and may raise to end it."""
    inputs = [chunk.embedding_input for chunk in chunks]
    hashes = [sha256_of(text) for text in inputs]
    vectors = np.zeros((len(chunks), embedder.dimension), dtype=np.float32)
    known = store.vectors_by_input(scope, hashes, model=embedder.model)
    fresh = []
    for position, input_hash in enumerate(hashes):
        if input_hash in known:
            vectors[position] = known[input_hash]
        else:
            fresh.append(position)
    for start in range(0, len(fresh), BATCH):
        if progress:
            progress(len(chunks) - len(fresh) + start)
        batch = fresh[start : start + BATCH]
        vectors[batch] = embedder.embed([inputs[position] for position in batch])
    if progress:
        progress(len(chunks))
    return vectors
