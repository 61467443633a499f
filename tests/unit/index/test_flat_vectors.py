"""Vectors against a search by hand over the same numbers."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge_svc.domain.model import Scored
from knowledge_svc.index.files import write_file
from knowledge_svc.index.vectors import FlatVectors

# Few small whole numbers: products are exact, and many chunks tie.
lattice = st.lists(st.tuples(*[st.integers(-2, 2)] * 3), min_size=1, max_size=80)


def by_hand(
    ids: npt.NDArray[np.int64],
    rows: npt.NDArray[np.float32],
    query: npt.NDArray[np.float32],
    *,
    k: int,
    allowed: npt.NDArray[np.bool_],
) -> list[Scored]:
    scored = [Scored(int(i), float(row @ query)) for i, row, ok in zip(ids, rows, allowed, strict=True) if ok]
    return sorted(scored, key=lambda hit: (-hit.score, hit.chunk_id))[:k]


@settings(max_examples=80, deadline=None)
@given(rows=lattice, data=st.data())
def test_the_filtered_top_k_is_the_true_one_ties_to_the_smaller_id(rows: list[tuple[int, ...]], data: st.DataObject) -> None:
    matrix = np.array(rows, dtype=np.float32)
    ids = np.array(data.draw(st.permutations(range(100, 100 + len(rows)))), dtype=np.int64)
    allowed = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))))
    query = np.array(data.draw(st.tuples(*[st.integers(-2, 2)] * 3)), dtype=np.float32)
    k = data.draw(st.integers(1, len(rows) + 3))
    index = FlatVectors(3)
    index.add(ids, matrix)
    assert index.search(query, k=k, allowed=allowed) == by_hand(ids, matrix, query, k=k, allowed=allowed)


def test_equal_vectors_tie_exactly_whatever_is_allowed() -> None:
    rng = np.random.default_rng(5)
    base = rng.standard_normal((7, 384)).astype(np.float32)
    rows = base[rng.integers(0, 7, 999)]
    index = FlatVectors(384)
    index.add(np.arange(999, dtype=np.int64), rows)
    same = np.flatnonzero((rows == base[3]).all(axis=1))
    for allowed in (np.ones(999, dtype=np.bool_), np.arange(999) % 3 > 0, np.isin(np.arange(999), same)):
        found = index.search(base[3], k=999, allowed=allowed)
        scores = {hit.score for hit in found[: int(allowed[same].sum())]}
        assert scores == {index.similarities(base[3], [int(same[0])])[int(same[0])]}
        assert [hit.chunk_id for hit in found if hit.score in scores] == same[allowed[same]].tolist()
        assert index.search(base[3], k=40, allowed=allowed) == found[:40]


def test_what_is_added_later_is_not_found_through_an_older_mask() -> None:
    index = FlatVectors(2)
    index.add(np.array([1, 2]), np.array([[0, 1], [1, 0]], dtype=np.float32))
    mask = np.ones(2, dtype=np.bool_)
    index.add(np.array([3]), np.array([[0, 1]], dtype=np.float32))
    found = index.search(np.array([0, 1], dtype=np.float32), k=5, allowed=mask)
    assert [hit.chunk_id for hit in found] == [1, 2]


def test_nothing_allowed_finds_nothing() -> None:
    index = FlatVectors(2)
    query = np.array([0, 1], dtype=np.float32)
    assert index.search(query, k=3, allowed=np.zeros(0, dtype=np.bool_)) == []
    index.add(np.array([1]), np.array([[0, 1]], dtype=np.float32))
    assert index.search(query, k=3, allowed=np.zeros(1, dtype=np.bool_)) == []
    assert index.search(query, k=0, allowed=np.ones(1, dtype=np.bool_)) == []


def test_a_question_without_a_direction_finds_nothing() -> None:
    index = FlatVectors(2)
    index.add(np.array([1, 2]), np.array([[0, 1], [1, 0]], dtype=np.float32))
    nowhere = np.array([np.nan, np.nan], dtype=np.float32)
    assert index.search(nowhere, k=1, allowed=np.ones(2, dtype=np.bool_)) == []


def test_similarities_are_cosines_of_the_chunks_asked_for() -> None:
    index = FlatVectors(2)
    index.add(np.array([7, 3]), np.array([[0.6, 0.8], [1, 0]], dtype=np.float32))
    query = np.array([1, 0], dtype=np.float32)
    assert index.similarities(query, [3, 7]) == pytest.approx({3: 1.0, 7: 0.6})
    assert index.similarities(query, []) == {}


def test_keeping_some_positions_keeps_ids_and_vectors_together() -> None:
    index = FlatVectors(2)
    index.add(np.array([10, 11, 12, 13]), np.array([[1, 0], [0, 1], [-1, 0], [0, -1]], dtype=np.float32))
    kept = index.keep(np.array([True, False, True, True]))
    assert kept.chunk_ids.tolist() == [10, 12, 13]
    assert kept.search(np.array([0, -1], dtype=np.float32), k=1, allowed=np.ones(3, dtype=np.bool_)) == [Scored(13, 1.0)]


def test_a_saved_index_is_read_back(tmp_path: Path) -> None:
    index = FlatVectors(2)
    index.add(np.array([5, 4]), np.array([[1, 0], [0, 1]], dtype=np.float32))
    write_file(tmp_path / "v", lambda file: index.save(file.write))
    loaded = FlatVectors.load(str(tmp_path / "v"))
    assert loaded.chunk_ids.tolist() == [5, 4]
    assert loaded.similarities(np.array([0, 1], dtype=np.float32), [4, 5]) == {4: 1.0, 5: 0.0}


def test_searches_go_on_while_another_thread_adds() -> None:
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((4_000, 16)).astype(np.float32)
    index = FlatVectors(16)
    index.add(np.arange(100), rows[:100])
    mask = np.ones(100, dtype=np.bool_)
    expected = index.search(rows[0], k=10, allowed=mask)
    failures: list[object] = []
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            found = index.search(rows[0], k=10, allowed=mask)
            if found != expected:
                failures.append(found)

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    for start in range(100, 4_000, 10):
        index.add(np.arange(start, start + 10), rows[start : start + 10])
    done.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(index.chunk_ids) == 4_000
