"""Finds passages: legs over one snapshot, fused, collapsed by section and cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from knowledge_svc.domain.analysis import query_terms
from knowledge_svc.domain.fusion import Fused, LegShare, Ranking, fuse
from knowledge_svc.domain.identifiers import identifiers
from knowledge_svc.domain.model import ChunkFilter, Scope, Scored, StoredChunk
from knowledge_svc.domain.ports import Embedder, IndexSnapshot, Mask, SearchIndexes, Store
from services.errors import DataLoss

MIN_DEPTH: Final = 50
"""Hits a leg gathers at least, so that fusion sees past the page that is returned."""
DEPTH_FACTOR: Final = 4
VECTOR, LEXICAL, KEYS = "vector", "lexical", "keys"


class SearchMode(StrEnum):
    """Which legs run."""

    HYBRID = "hybrid"
    SEMANTIC = "semantic"
    LEXICAL = "lexical"


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A question and its filters. `top_k` is 1..100, `lexical_weight` at least 0."""

    scope: Scope
    text: str
    mode: SearchMode = SearchMode.HYBRID
    lexical_weight: float = 1.0
    selection: ChunkFilter = field(default_factory=ChunkFilter)
    collapse_sections: bool = True
    top_k: int = 5


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that was found.

    `score` is the fused reciprocal rank in hybrid mode, the leg's own score otherwise. `similarity` is a cosine, -1 to 1;
    `lexical_score` a BM25 score, None where that leg did not return the chunk.
    """

    row: StoredChunk
    score: float
    similarity: float | None
    lexical_score: float | None
    keys_matched: tuple[str, ...]
    legs: tuple[LegShare, ...]
    siblings_folded: int = 0


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits, best first, the change of the record they reflect, and the legs that could not run."""

    hits: tuple[Hit, ...]
    change_seq: int
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Gathered:
    """What the legs returned at one depth; `exhausted` when a deeper look would find nothing more."""

    fused: list[Fused]
    keys: dict[int, tuple[str, ...]]
    exhausted: bool
    degraded: tuple[str, ...]


class Searcher:
    """The search use case. It blocks; call it from a worker thread."""

    def __init__(self, store: Store, indexes: SearchIndexes, embedder: Embedder) -> None:
        self._store = store
        self._indexes = indexes
        self._embedder = embedder

    def search(self, query: SearchQuery) -> SearchResult:
        """Answers from one snapshot: no hit of a retired revision, none missing that serves.

        Raises:
            IndexModelMismatch: the stored vectors are of another model.
        """
        vector = None if query.mode is SearchMode.LEXICAL else self._embedder.embed_query(query.text)
        with self._indexes.snapshot(query.scope) as snapshot:
            allowed = snapshot.allowed(query.selection)
            hits, degraded = self._hits(query, vector, snapshot=snapshot, allowed=allowed)
            return SearchResult(hits, snapshot.change_seq, degraded)

    def _hits(
        self, query: SearchQuery, vector: npt.NDArray[np.float32] | None, *, snapshot: IndexSnapshot, allowed: Mask
    ) -> tuple[tuple[Hit, ...], tuple[str, ...]]:
        """Looks deeper until the page is full or nothing more can be found."""
        depth = max(MIN_DEPTH, DEPTH_FACTOR * query.top_k)
        while True:
            gathered = _gather(query, vector, snapshot=snapshot, allowed=allowed, depth=depth)
            groups = _grouped(gathered.fused, snapshot) if query.collapse_sections else [[hit] for hit in gathered.fused]
            if len(groups) >= query.top_k or gathered.exhausted:
                break
            depth *= 4
        page = groups[: query.top_k]
        leaders = [group[0] for group in page]
        rows = self._store.chunk_rows([hit.chunk_id for hit in leaders])
        close = snapshot.similarities(vector, [hit.chunk_id for hit in leaders]) if vector is not None else {}
        hits = tuple(
            _hit(leader, rows[leader.chunk_id], close.get(leader.chunk_id), gathered.keys, folded=len(group) - 1)
            for leader, group in zip(leaders, page, strict=True)
        )
        return hits, gathered.degraded


def _gather(
    query: SearchQuery, vector: npt.NDArray[np.float32] | None, *, snapshot: IndexSnapshot, allowed: Mask, depth: int
) -> _Gathered:
    nearest = snapshot.nearest(vector, k=depth, allowed=allowed) if vector is not None else []
    lexical, degraded = _lexical(query, snapshot, allowed=allowed, depth=depth)
    exhausted = len(nearest) < depth and len(lexical) < depth
    if query.mode is not SearchMode.HYBRID:
        leg, ranked = (VECTOR, nearest) if query.mode is SearchMode.SEMANTIC else (LEXICAL, lexical)
        return _Gathered(_single(leg, ranked), {}, exhausted, degraded)
    names = identifiers(query.text)
    held = {match.chunk_id: match.keys for match in snapshot.holders(names, allowed=allowed)} if names else {}
    holders = Ranking(KEYS, tuple(held), tuple(float(len(keys)) for keys in held.values()))
    fused = fuse([_ranking(VECTOR, nearest), _ranking(LEXICAL, lexical, query.lexical_weight), holders])
    if names == (query.text.strip(),):
        fused = sorted(fused, key=lambda hit: hit.chunk_id not in held)
    return _Gathered(fused, held, exhausted, degraded)


def _lexical(query: SearchQuery, snapshot: IndexSnapshot, *, allowed: Mask, depth: int) -> tuple[Sequence[Scored], tuple[str, ...]]:
    """The BM25 leg; in hybrid mode one whose index is damaged leaves the others to answer (L-SREQ-16)."""
    terms = query_terms(query.text) if query.mode is not SearchMode.SEMANTIC else []
    try:
        return (snapshot.lexical(terms, k=depth, allowed=allowed) if terms else []), ()
    except DataLoss:
        if query.mode is SearchMode.LEXICAL:
            raise
        return [], (LEXICAL,)


def _ranking(leg: str, ranked: Sequence[Scored], weight: float = 1.0) -> Ranking:
    return Ranking(leg, tuple(hit.chunk_id for hit in ranked), tuple(hit.score for hit in ranked), weight)


def _single(leg: str, ranked: Sequence[Scored]) -> list[Fused]:
    """One leg alone: its own score orders."""
    return [
        Fused(hit.chunk_id, hit.score, (LegShare(leg, rank, hit.score, hit.score),)) for rank, hit in enumerate(ranked, start=1)
    ]


def _grouped(fused: Sequence[Fused], snapshot: IndexSnapshot) -> list[list[Fused]]:
    """Hits in order, those of one section of one document behind the best of them."""
    groups: dict[int, list[Fused]] = {}
    sections = snapshot.sections([hit.chunk_id for hit in fused])
    for hit, section in zip(fused, sections, strict=True):
        groups.setdefault(section, []).append(hit)
    return list(groups.values())


def _hit(found: Fused, row: StoredChunk, similarity: float | None, keys: dict[int, tuple[str, ...]], *, folded: int) -> Hit:
    lexical = next((leg.score for leg in found.legs if leg.leg == LEXICAL), None)
    return Hit(row, found.score, similarity, lexical, keys.get(found.chunk_id, ()), found.legs, folded)
