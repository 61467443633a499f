"""A search over 10,000 chunks beside embedding, FAISS and BM25 called directly."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from pathlib import Path

import faiss
import tantivy

from bench.house import SCOPE, fill, open_house, sentence
from bench.timing import Line, in_turn
from knowledge_svc.domain.analysis import query_terms
from knowledge_svc.domain.model import ChunkFilter
from knowledge_svc.domain.search import SearchQuery

CHUNKS = 10_000
DEPTH = 50
ROUNDS = 150


def run() -> list[Line]:
    """Measures p50 and p99 of a hybrid search against its parts on the same queries."""
    chance = random.Random(3)
    questions = [sentence(chance, 7) for _ in range(ROUNDS)]
    with tempfile.TemporaryDirectory() as folder, open_house(Path(folder)) as house:
        contents, vectors = fill(house, chunks=CHUNKS)
        flat = faiss.IndexFlatIP(vectors.shape[1])
        flat.add(vectors)
        words = _word_index(contents)

        def loom(number: int) -> None:
            assert house.searcher.search(SearchQuery(SCOPE, questions[number])).hits

        def parts(number: int) -> None:
            vector = house.embedder.embed_query(questions[number])
            flat.search(vector[None, :], DEPTH)
            words(questions[number])

        def filtered(number: int) -> None:
            query = SearchQuery(SCOPE, questions[number], selection=ChunkFilter(tags=("tag-1",)))
            assert house.searcher.search(query).hits

        faiss.omp_set_num_threads(1)
        times = in_turn({"loom": loom, "parts": parts, "filtered": filtered}, rounds=ROUNDS)
    direct = f"embed + FAISS + BM25: {times['parts'].p50_ms:.1f} ms"
    slow = f"the same: {times['parts'].p99_ms:.1f} ms"
    return [
        _line("hybrid search, 10k chunks, p50", times["loom"].p50_ms, times["parts"].p50_ms, direct),
        _line("hybrid search, 10k chunks, p99", times["loom"].p99_ms, times["parts"].p99_ms, slow),
        _line("the same, 1 in 5 by a tag, p50", times["filtered"].p50_ms, times["parts"].p50_ms, direct),
    ]


def _line(what: str, measured: float, beside: float, told: str) -> Line:
    return Line(what, f"{measured:.1f} ms", told, measured / beside, "≤ 1.3")


def _word_index(contents: list[str]) -> Callable[[str], None]:
    """BM25 over the same texts and terms, with nothing around it."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", tokenizer_name="default")
    schema = builder.build()
    index = tantivy.Index(schema)
    writer = index.writer(50_000_000, 1)
    for content in contents:
        writer.add_document(tantivy.Document(text=content))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def search(question: str) -> None:
        terms = [tantivy.Query.term_query(schema, "text", term.text) for term in query_terms(question)]
        searcher.search(tantivy.Query.boolean_query([(tantivy.Occur.Should, term) for term in terms]), DEPTH)

    return search
