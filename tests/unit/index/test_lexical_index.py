"""BM25 against the formula, and its filtered paths against each other."""

from __future__ import annotations

import gc
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge_svc.domain.analysis import query_terms, tokens
from knowledge_svc.domain.model import IndexRows, Scored
from knowledge_svc.index.lexical import LexicalIndexDamaged, TantivyIndex
from knowledge_svc.index.rows import rows_of
from tests.index_fixtures import MemoryRecord, chunk, draft

WORDS = ("pump", "valve", "leak", "oil", "north", "line", "seal")


def rows(texts: Sequence[str], *, first: int = 1, seq: int = 1, contexts: Sequence[str] | None = None) -> IndexRows:
    record = MemoryRecord(last_id=first - 1, change_seq=seq - 1)
    titles = contexts or [""] * len(texts)
    return rows_of(
        record.stage(draft("u", [chunk(i, text, context=title) for i, (text, title) in enumerate(zip(texts, titles, strict=True))]))
    )


def find(index: TantivyIndex, query: str, *, k: int = 10, ids: Sequence[int] = range(1, 1_000)) -> list[Scored]:
    return index.search(query_terms(query), k=k, allowed_ids=np.array(ids, dtype=np.int64))


def bm25(texts: Sequence[str], word: str) -> dict[int, float]:
    """Robertson's formula with k1 = 1.2 and b = 0.75; one more document is the watermark, which has no words."""
    bags = [[token.text for token in tokens(text)] for text in texts]
    count = len(texts) + 1
    holding = sum(word in bag for bag in bags)
    idf = math.log(1 + (count - holding + 0.5) / (holding + 0.5))
    mean = sum(map(len, bags)) / count
    scores = {}
    for chunk_id, bag in enumerate(bags, start=1):
        times = bag.count(word)
        if times:
            scores[chunk_id] = idf * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * len(bag) / mean))
    return scores


def test_scores_are_bm25() -> None:
    texts = ["pump pump oil", "pump", "oil north seal", "north"]
    index = TantivyIndex()
    index.add(rows(texts))
    assert {hit.chunk_id: hit.score for hit in find(index, "pump")} == pytest.approx(bm25(texts, "pump"), abs=1e-4)


def test_alternatives_at_one_position_count_once_the_best_of_them() -> None:
    texts = ["valves here", "valve here", "oil there"]
    index = TantivyIndex()
    index.add(rows(texts))
    exact, stem = bm25(texts, "valves"), bm25(texts, "valv")
    expected = {1: max(exact[1], stem[1]), 2: stem[2]}
    assert {hit.chunk_id: hit.score for hit in find(index, "valves")} == pytest.approx(expected, abs=1e-4)


def test_words_of_the_context_score_together_with_the_words_of_the_text() -> None:
    """L-CHUNK-10, L-CHUNK-11."""
    apart, together = TantivyIndex(), TantivyIndex()
    apart.add(rows(["leak at night", "oil"], contexts=["Pump manual", ""]))
    together.add(rows(["Pump manual leak at night", "oil"]))
    assert find(apart, "pump leak") == find(together, "pump leak")
    assert [hit.chunk_id for hit in find(apart, "manual")] == [1]


def test_a_chunk_without_context_is_scored_on_its_text() -> None:
    """L-CHUNK-14."""
    index = TantivyIndex()
    index.add(rows(["pump", "pump"], contexts=["", "title"]))
    assert [hit.chunk_id for hit in find(index, "pump")] == [1, 2]


@pytest.mark.parametrize("hits_per_name", [0, 16, 1_000_000], ids=["named", "chosen", "read"])
@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(WORDS), max_size=5), min_size=1, max_size=60),
    st.sets(st.integers(1, 60)),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3),
    st.integers(1, 8),
)
def test_the_filtered_top_k_is_the_true_one_on_every_path(
    hits_per_name: int, bags: list[list[str]], ids: set[int], query: list[str], k: int
) -> None:
    index = TantivyIndex()
    texts = [" ".join(bag) for bag in bags]
    half = len(texts) // 2
    index.add(rows(texts[:half]))
    index.add(rows(texts[half:], first=half + 1, seq=2))
    everything = find(index, " ".join(query), k=1_000, ids=range(1, 61))
    assert everything == sorted(everything, key=lambda hit: (-hit.score, hit.chunk_id))
    assert {hit.chunk_id for hit in everything} == {i for i, bag in enumerate(bags, start=1) if set(bag) & set(query)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("knowledge_svc.index.lexical.HITS_PER_NAME", hits_per_name)
        assert find(index, " ".join(query), k=k, ids=sorted(ids)) == [hit for hit in everything if hit.chunk_id in ids][:k]


def test_ties_at_the_cut_go_to_the_smaller_id_across_commits() -> None:
    index = TantivyIndex()
    for first in (40, 20, 1):
        index.add(rows(["pump"] * 15, first=first, seq=first))
    assert [hit.chunk_id for hit in find(index, "pump", k=20)] == [*range(1, 16), *range(20, 25)]


def test_adding_a_chunk_again_replaces_it() -> None:
    index = TantivyIndex()
    index.add(rows(["quokka"]))
    index.add(rows(["pump"], seq=2))
    assert find(index, "quokka") == []
    assert index.reader().chunk_ids().tolist() == [1]


def test_removed_chunks_leave_with_the_next_commit() -> None:
    index = TantivyIndex()
    index.add(rows(["quokka", "pump"]))
    index.add(rows(["oil"], first=3, seq=2), removed=[1])
    assert index.reader().chunk_ids().tolist() == [2, 3]
    assert find(index, "quokka") == []


def test_a_reader_keeps_what_was_committed_when_it_was_taken() -> None:
    index = TantivyIndex()
    index.add(rows(["pump"]))
    reader = index.reader()
    before = reader.search(query_terms("pump oil"), k=5, allowed_ids=np.array([1, 2]))
    index.add(rows(["pump oil"], first=2, seq=2), removed=[1])
    assert reader.search(query_terms("pump oil"), k=5, allowed_ids=np.array([1, 2])) == before
    assert [hit.chunk_id for hit in find(index, "pump oil")] == [2]


def test_the_watermark_is_the_change_of_the_last_commit() -> None:
    index = TantivyIndex()
    assert index.watermark() == 0
    for seq in (3, 9, 10):
        index.add(rows(["pump"], first=seq, seq=seq))
        assert index.watermark() == seq


def test_chunks_and_watermark_are_there_when_opened_again(tmp_path: Path) -> None:
    index = TantivyIndex(tmp_path)
    index.add(rows(["pump", "oil"], seq=7))
    index.close()
    again = TantivyIndex(tmp_path)
    assert again.watermark() == 7
    assert again.reader().chunk_ids().tolist() == [1, 2]
    assert [hit.chunk_id for hit in find(again, "oil")] == [2]


@pytest.mark.parametrize("query", ["foo(", "*", "a:b", "-", "AND OR NOT", '"unclosed', "~", "[1 TO 2]", "+x -y", "don't panic", ""])
def test_a_question_is_never_a_query_language(query: str) -> None:
    index = TantivyIndex()
    index.add(rows(["pump", "oil"]))
    assert find(index, query) == []


def test_nothing_to_find_in_an_empty_index_or_an_empty_filter() -> None:
    index = TantivyIndex()
    assert find(index, "pump") == []
    index.add(rows(["pump"]))
    assert find(index, "pump", ids=[]) == []
    assert find(index, "pump", k=0) == []


def test_an_index_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    (tmp_path / "meta.json").write_text("{")
    with pytest.raises(LexicalIndexDamaged):
        TantivyIndex(tmp_path)


class _Torn(Sequence[str]):
    """Contents of which the second cannot be read."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, place: object) -> str:
        raise AssertionError

    def __iter__(self) -> Iterator[str]:
        yield "quokka"
        raise KeyError("gone")


def test_an_add_that_fails_half_way_leaves_nothing_behind() -> None:
    index = TantivyIndex()
    index.add(rows(["pump"]))
    half = rows(["a", "b"], first=2, seq=2)
    torn = IndexRows(**{**{name: getattr(half, name) for name in half.__slots__}, "contents": _Torn()})
    with pytest.raises(KeyError):
        index.add(torn)
    index.add(rows(["oil"], first=9, seq=3))
    assert index.reader().chunk_ids().tolist() == [1, 9]
    assert find(index, "quokka") == []
    gc.collect()


def test_a_commit_with_deletes_that_was_killed_half_way_does_not_stop_later_ones(tmp_path: Path) -> None:
    """The killed commit left its delete file behind, and the next commit wants the same name."""
    index = TantivyIndex(tmp_path)
    index.add(rows(["pump", "oil"]))
    index.close()
    before = (tmp_path / "meta.json").read_bytes()
    for _ in range(2):
        again = TantivyIndex(tmp_path)
        again.add(rows(["valve"], first=3, seq=2), removed=[1])
        again.close()
        assert list(tmp_path.glob("*.del"))
        (tmp_path / "meta.json").write_bytes(before)
    last = TantivyIndex(tmp_path)
    last.add(rows(["valve"], first=3, seq=2), removed=[1])
    assert last.reader().chunk_ids().tolist() == [2, 3]
