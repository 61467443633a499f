"""Hits as the knowledge service answers them."""

from __future__ import annotations

from dataclasses import dataclass

from loom.artifact.v1 import artifact_pb2
from loom.knowledge.v1 import search_pb2

from clients.enums import name_of


@dataclass(frozen=True, slots=True)
class Span:
    """The two-sentence span nearest the query, as characters of the hit's content, half-open."""

    text: str
    start: int
    end: int
    similarity: float


@dataclass(frozen=True, slots=True)
class LegScore:
    """What one leg said of a hit: "vector", "lexical" or "keys", its rank from 1, and what it added to the fused score."""

    leg: str
    rank: int
    score: float
    contribution: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage.

    `similarity` is the cosine of query and chunk, -1 to 1, None where the chunk has no vector of the live model;
    `lexical_score` is BM25, None where that leg did not return the chunk; `score` is what the order is made of. `revision` and
    `locator` open the passage in the source; `place` says the locator in a few words; `citation` names the passage in one string.
    """

    source_uri: str
    chunk_index: int
    content: str
    section: str
    section_path: tuple[str, ...]
    similarity: float | None
    lexical_score: float | None
    score: float
    namespace: str
    revision: int
    format: str
    block_type: str
    locator: artifact_pb2.Locator | None
    place: str
    siblings_folded: int
    keys_matched: tuple[str, ...]
    noise: bool
    span: Span | None
    title: str
    doc_id: str
    legs: tuple[LegScore, ...]
    citation: str


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits, best first; `degraded_legs` could not run; `change_seq` numbers the last change that the hits reflect."""

    hits: tuple[Hit, ...]
    reranked_by: str
    next_page_token: str
    degraded_legs: tuple[str, ...]
    change_seq: int


def read_search(message: search_pb2.SearchResponse) -> SearchResult:
    """Reads a search's answer."""
    return SearchResult(
        hits=tuple(map(read_hit, message.hits)),
        reranked_by=message.reranked_by,
        next_page_token=message.next_page_token,
        degraded_legs=tuple(name_of(search_pb2.SearchLeg, leg) for leg in message.degraded_legs),
        change_seq=message.change_seq,
    )


def read_hit(message: search_pb2.Hit) -> Hit:
    """Reads one hit."""
    return Hit(
        source_uri=message.source_uri,
        chunk_index=message.chunk_index,
        content=message.content,
        section=message.section,
        section_path=tuple(message.section_path),
        similarity=message.similarity if message.HasField("similarity") else None,
        lexical_score=message.lexical_score if message.HasField("lexical_score") else None,
        score=message.score,
        namespace=message.namespace,
        revision=message.revision,
        format=message.format,
        block_type=message.block_type,
        locator=message.locator if message.HasField("locator") else None,
        place=message.place,
        siblings_folded=message.siblings_folded,
        keys_matched=tuple(message.keys_matched),
        noise=message.noise,
        span=read_span(message.span) if message.HasField("span") else None,
        title=message.title,
        doc_id=message.doc_id,
        legs=tuple(map(read_leg, message.legs)),
        citation=message.citation,
    )


def read_span(message: search_pb2.Span) -> Span:
    """Reads a span."""
    return Span(message.text, message.start, message.end, message.similarity)


def read_leg(message: search_pb2.LegScore) -> LegScore:
    """Reads what one leg said."""
    return LegScore(name_of(search_pb2.SearchLeg, message.leg), message.rank, message.score, message.contribution)
