"""Embeds everything that is kept anew with another model; what serves stays whole until all of it is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from knowledge_svc.domain.model import embedding_input
from knowledge_svc.domain.ports import Embedder, FreshVectors

BATCH: Final = 256
"""Inputs between two commits: what a kill costs at most."""


def reembed(fresh: FreshVectors, embedder: Embedder, *, progress: Callable[[int, int], None]) -> int:
    """Embeds every input and switches to the model; returns how many inputs there are.

    A run that was cut short goes on where it stopped, as long as the model is the same. `progress` is told inputs done and in all.
    """
    fresh.begin(embedder.model, dimension=embedder.dimension)
    done, total = fresh.counts()
    progress(done, total)
    while batch := fresh.missing(BATCH):
        vectors = embedder.embed([embedding_input(item.context, item.content) for item in batch])
        fresh.keep(batch, vectors, model=embedder.model)
        done, total = fresh.counts()
        progress(done, total)
    fresh.switch(embedder.model, dimension=embedder.dimension)
    return total
