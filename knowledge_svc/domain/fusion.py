"""Merges the rankings of several legs by reciprocal rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

RRF_K: Final = 60
"""Damps the lead of the first ranks; the value of Cormack, Clarke and Büttcher, SIGIR 2009."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """One leg's chunk ids, best first, their scores, and the weight of the leg."""

    leg: str
    chunk_ids: tuple[int, ...]
    scores: tuple[float, ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class LegShare:
    """What one leg said of a chunk: rank from 1, its score, and what it added to the fused score."""

    leg: str
    rank: int
    score: float
    contribution: float


@dataclass(frozen=True, slots=True)
class Fused:
    """A chunk with its fused score and the legs that found it."""

    chunk_id: int
    score: float
    legs: tuple[LegShare, ...]


def fuse(rankings: Sequence[Ranking], *, k: int = RRF_K) -> list[Fused]:
    """Merges rankings by weighted reciprocal rank; ties go to the smaller chunk id."""
    shares: dict[int, list[LegShare]] = {}
    for ranking in rankings:
        for rank, (chunk_id, score) in enumerate(zip(ranking.chunk_ids, ranking.scores, strict=True), start=1):
            share = LegShare(ranking.leg, rank, score, ranking.weight / (k + rank))
            shares.setdefault(chunk_id, []).append(share)
    fused = [Fused(chunk_id, sum(leg.contribution for leg in legs), tuple(legs)) for chunk_id, legs in shares.items()]
    return sorted(fused, key=lambda hit: (-hit.score, hit.chunk_id))
