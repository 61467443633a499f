"""What the domain relies on of the indexes, whether they stay in memory or are loaded again after every change."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from knowledge_svc.domain.analysis import query_terms
from knowledge_svc.domain.errors import IndexModelMismatch
from knowledge_svc.domain.model import ChunkFilter, Publication, RevisionDraft, Scope
from knowledge_svc.domain.ports import IndexSnapshot, SearchIndexes
from knowledge_svc.index.namespaces import Indexes
from tests.index_fixtures import DAY, DIMENSION, MODEL, SCOPE, MemoryRecord, chunk, draft, word_vectors

ALL = ChunkFilter()


class Kit:
    """A record and its indexes; `settle` runs after every publication."""

    def __init__(self, folder: Path, settle: Callable[[Indexes, Scope], None]) -> None:
        self.record = MemoryRecord()
        self.indexes = Indexes(folder, store=self.record.as_store(), model=MODEL, dimension=DIMENSION)
        self._settle = settle

    def publish(self, made: RevisionDraft) -> Publication:
        staged = self.record.stage(made)
        self.indexes.add(staged)
        return self._serve(self.record.publish(staged))

    def retire(self, uri: str) -> Publication:
        return self._serve(self.record.retire(uri))

    def _serve(self, publication: Publication) -> Publication:
        self.indexes.serve(publication)
        self._settle(self.indexes, publication.scope)
        return publication


def keep(indexes: Indexes, scope: Scope) -> None:
    """Leaves the namespace in memory."""


def drop(indexes: Indexes, scope: Scope) -> None:
    indexes.drop(scope)


def rebuild(indexes: Indexes, scope: Scope) -> None:
    indexes.rebuild(scope)


@pytest.fixture(params=[keep, drop, rebuild])
def kit(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Kit]:
    made = Kit(tmp_path / "index", request.param)
    yield made
    made.indexes.close()


def lexical(snapshot: IndexSnapshot, query: str, selection: ChunkFilter = ALL, *, k: int = 10) -> list[int]:
    return [hit.chunk_id for hit in snapshot.lexical(query_terms(query), k=k, allowed=snapshot.allowed(selection))]


def nearest(snapshot: IndexSnapshot, text: str, selection: ChunkFilter = ALL, *, k: int = 10) -> list[int]:
    [vector] = word_vectors([text])
    return [hit.chunk_id for hit in snapshot.nearest(vector, k=k, allowed=snapshot.allowed(selection))]


def holders(snapshot: IndexSnapshot, keys: Sequence[str], selection: ChunkFilter = ALL) -> list[int]:
    return [match.chunk_id for match in snapshot.holders(keys, allowed=snapshot.allowed(selection))]


def test_a_namespace_that_holds_nothing_answers_with_nothing_and_leaves_no_trace(kit: Kit, tmp_path: Path) -> None:
    with kit.indexes.snapshot(Scope("acme", "../../elsewhere")) as snapshot:
        assert (snapshot.size, snapshot.change_seq) == (0, 0)
        assert nearest(snapshot, "pump") == lexical(snapshot, "pump") == holders(snapshot, ["pump"]) == []
        assert nearest(snapshot, "pump", ChunkFilter(("a",), ("b",), ("c",), ("d",), DAY)) == []
    assert not (tmp_path / "index").exists()


def test_a_publication_serves_in_every_leg_at_once(kit: Kit) -> None:
    publication = kit.publish(draft("a/1", [chunk(0, "the pump leaks", keys=("orders_daily",))]))
    with kit.indexes.snapshot(SCOPE) as snapshot:
        assert (snapshot.size, snapshot.change_seq) == (1, publication.change_seq)
        assert nearest(snapshot, "the pump leaks") == lexical(snapshot, "pump") == holders(snapshot, ["Orders_Daily"]) == [1]
        [vector] = word_vectors(["the pump leaks"])
        assert snapshot.similarities(vector, [1]) == pytest.approx({1: 1.0})


def test_staged_chunks_do_not_serve_and_abandoned_ones_never_do(kit: Kit) -> None:
    kit.publish(draft("a/1", [chunk(0, "pump")]))
    staged = kit.record.stage(draft("a/2", [chunk(0, "quokka", keys=("k_1",))]))
    kit.indexes.add(staged)
    with kit.indexes.snapshot(SCOPE) as snapshot:
        assert snapshot.size == 1
        assert lexical(snapshot, "quokka") == holders(snapshot, ["k_1"]) == []
        assert nearest(snapshot, "quokka") == [1]
    kit.record.abandon(staged)
    kit.publish(draft("a/3", [chunk(0, "valve")]))
    with kit.indexes.snapshot(SCOPE) as snapshot:
        assert snapshot.size == 2
        assert lexical(snapshot, "quokka") == holders(snapshot, ["k_1"]) == []
        assert sorted(nearest(snapshot, "quokka")) == [1, 3]


def test_a_replaced_document_leaves_nothing_behind(kit: Kit) -> None:
    """H33."""
    kit.publish(draft("d", [chunk(i, text) for i, text in enumerate(["intro", "old second", "third", "fourth", "quokka"])]))
    second = [chunk(i, text) for i, text in enumerate(["intro", "new second", "third"])]
    kit.publish(draft("d", second))
    kit.publish(draft("d", second))
    with kit.indexes.snapshot(SCOPE) as snapshot:
        assert snapshot.size == 3
        assert lexical(snapshot, "quokka") == lexical(snapshot, "fourth") == []
        assert lexical(snapshot, "intro second third") != []
        assert nearest(snapshot, "quokka") == nearest(snapshot, "quokka", k=100)
        assert sorted(nearest(snapshot, "quokka")) == [9, 10, 11]


def test_positions_and_ids_stay_together_over_deletes_and_restarts(kit: Kit) -> None:
    """H34."""
    said = {
        uri: f"the {word} stands alone" for uri, word in zip("ABCDE", ("anchor", "bellows", "crane", "drum", "engine"), strict=True)
    }
    published = {uri: kit.publish(draft(uri, [chunk(0, said[uri])])).live[0] for uri in "ABCD"}
    kit.retire("B")
    kit.indexes.close()
    published["E"] = kit.publish(draft("E", [chunk(0, said["E"])])).live[0]
    for _ in range(2):
        with kit.indexes.snapshot(SCOPE) as snapshot:
            for uri in "ACDE":
                assert nearest(snapshot, said[uri], k=1) == [published[uri]]
                assert lexical(snapshot, said[uri], k=1) == [published[uri]]
            assert published["B"] not in nearest(snapshot, said["B"]) + lexical(snapshot, said["B"])
            assert snapshot.size == len(nearest(snapshot, "anything", k=100)) == 4
        kit.indexes.close()


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("VALVE-B07", 1), ("B07", 1), ("valve b07", 1), ("MS31-220", 2), ("ms31", 2),
        ("don't panic", None), ("a-b", None), ("foo(", None), ("*.", None),
    ],
)  # fmt: skip
def test_index_and_question_are_cut_by_the_same_rules(kit: Kit, query: str, found: int | None) -> None:
    """H36."""
    kit.publish(draft("one", [chunk(0, "Fit part VALVE-B07 to the north line.")]))
    kit.publish(draft("two", [chunk(0, "Order MS31-220 seals.")]))
    with kit.indexes.snapshot(SCOPE) as snapshot:
        assert lexical(snapshot, query)[:1] == ([found] if found else [])


def test_context_is_found_in_both_legs(kit: Kit) -> None:
    """L-CHUNK-09 to 11: the text itself never says it."""
    kit.publish(draft("a", [chunk(0, "replace the seal", context="Quokka manual"), chunk(1, "replace the seal")]))
    with kit.indexes.snapshot(SCOPE) as snapshot:
        assert lexical(snapshot, "quokka") == [1]
        assert nearest(snapshot, "Quokka manual\n\nreplace the seal", k=1) == [1]


def test_filters_hold_inside_every_leg(kit: Kit) -> None:
    """L-SREQ-06 to 10: the best of the allowed, however many better ones are not."""
    crowd = [chunk(i, "pump pump pump", keys=("k_1",)) for i in range(40)]
    kit.publish(draft("x/1", crowd, tags=("crowd",), file_format="pdf"))
    last = chunk(0, "a pump among other machines", keys=("k_1",), block_type="mixed")
    kit.publish(draft("y/1", [last], tags=("rare", "other"), at=DAY + timedelta(days=2)))
    for selection in (
        ChunkFilter(uri_prefixes=("y/", "z/")),
        ChunkFilter(tags=("rare",)),
        ChunkFilter(formats=("",)),
        ChunkFilter(block_types=("mixed",)),
        ChunkFilter(ingested_since=DAY + timedelta(days=1)),
    ):
        with kit.indexes.snapshot(SCOPE) as snapshot:
            assert lexical(snapshot, "pump", selection, k=3) == nearest(snapshot, "pump pump pump", selection, k=3) == [41]
            assert holders(snapshot, ["k_1"], selection) == [41]


def test_chunks_with_most_of_the_names_come_first_ties_to_the_smaller_id(kit: Kit) -> None:
    """L-KEYS-02, L-KEYS-08."""
    names = [("daily_orders",), ("orders_daily",), ("orders_daily", "a.b"), ("a.b",), ("orders_daily", "A.B")]
    kit.publish(draft("a", [chunk(i, "x", keys=keys) for i, keys in enumerate(names)]))
    with kit.indexes.snapshot(SCOPE) as snapshot:
        assert holders(snapshot, ["orders_daily", "a.b"]) == [3, 5, 2, 4]
        assert holders(snapshot, ["daily_orders"]) == [1]


def test_namespaces_do_not_see_one_another(kit: Kit) -> None:
    other = Scope("acme", "office")
    kit.publish(draft("a", [chunk(0, "pump", keys=("k_1",))]))
    kit.publish(draft("a", [chunk(0, "pump"), chunk(1, "desk")], scope=other))
    with kit.indexes.snapshot(SCOPE) as plant, kit.indexes.snapshot(other) as office:
        assert (lexical(plant, "pump desk"), lexical(office, "pump")) == ([1], [2])
        assert (nearest(plant, "pump"), sorted(nearest(office, "pump"))) == ([1], [2, 3])
        assert (holders(plant, ["k_1"]), holders(office, ["k_1"])) == ([1], [])


def test_a_snapshot_shows_one_moment_while_others_publish(kit: Kit) -> None:
    kit.publish(draft("a", [chunk(0, "pump oil", keys=("k_1",)), chunk(1, "valve")]))
    with kit.indexes.snapshot(SCOPE) as snapshot:
        selection = ChunkFilter(uri_prefixes=("a",))

        def seen() -> tuple[object, ...]:
            [vector] = word_vectors(["pump"])
            mask = snapshot.allowed(selection)
            found = snapshot.lexical(query_terms("pump valve"), k=9, allowed=mask), snapshot.nearest(vector, k=9, allowed=mask)
            return *found, snapshot.holders(["k_1"], allowed=mask), snapshot.size, snapshot.change_seq

        before = seen()
        kit.publish(draft("a", [chunk(0, "pump pump", keys=("k_1",))]))
        kit.publish(draft("ab", [chunk(0, "pump")]))
        kit.retire("ab")
        assert seen() == before
    with kit.indexes.snapshot(SCOPE) as snapshot:
        assert lexical(snapshot, "pump valve") == [3]


def test_vectors_of_another_model_are_refused(kit: Kit, tmp_path: Path) -> None:
    """L-SREQ-17."""
    kit.publish(draft("a", [chunk(0, "pump")]))
    staged = kit.record.stage(draft("b", [chunk(0, "valve")], model="other-8"))
    with pytest.raises(IndexModelMismatch):
        kit.indexes.add(staged)
    kit.record.abandon(staged)
    kit.indexes.close()
    for model, dimension in (("other-8", DIMENSION), (MODEL, DIMENSION + 1)):
        others = Indexes(tmp_path / "index", store=kit.record.as_store(), model=model, dimension=dimension)
        with pytest.raises(IndexModelMismatch), others.snapshot(SCOPE):
            pass
    with kit.indexes.snapshot(SCOPE) as snapshot:
        assert lexical(snapshot, "pump") == [1]


@pytest.mark.parametrize("rebuilt", [True, False])
def test_after_embedding_again_the_next_use_or_a_rebuild_takes_the_new_model(kit: Kit, tmp_path: Path, rebuilt: bool) -> None:
    kit.publish(draft("a", [chunk(0, "pump")]))
    kit.indexes.close()
    for row in kit.record.rows.values():
        row.vector = np.eye(1, 5, dtype=np.float32)[0]
        row.draft = replace(row.draft, embedding_model="other-5")
    others = Indexes(tmp_path / "index", store=kit.record.as_store(), model="other-5", dimension=5)
    if rebuilt:
        assert others.rebuild(SCOPE) == 1
    with others.snapshot(SCOPE) as snapshot:
        hit = snapshot.nearest(np.eye(1, 5, dtype=np.float32)[0], k=1, allowed=snapshot.allowed(ALL))
        assert [found.chunk_id for found in hit] == [1]
    others.close()


def test_a_retired_chunk_never_serves_again_whatever_the_order_of_publications(tmp_path: Path) -> None:
    kit = Kit(tmp_path / "index", keep)
    first = kit.record.stage(draft("a", [chunk(0, "one")]))
    kit.indexes.add(first)
    early = kit.record.publish(first)
    second = kit.record.stage(draft("a", [chunk(0, "two")]))
    kit.indexes.add(second)
    late = kit.record.publish(second)
    kit.indexes.serve(late)
    kit.indexes.serve(early)
    with kit.indexes.snapshot(SCOPE) as snapshot:
        assert (snapshot.size, snapshot.change_seq) == (1, late.change_seq)
        assert nearest(snapshot, "one") == [2]
    kit.indexes.close()


def test_a_namespace_dropped_between_add_and_serve_still_serves(tmp_path: Path) -> None:
    kit = Kit(tmp_path / "index", keep)
    kit.publish(draft("a", [chunk(0, "pump")]))
    staged = kit.record.stage(draft("b", [chunk(0, "valve")]))
    kit.indexes.add(staged)
    kit.indexes.drop(SCOPE)
    with kit.indexes.snapshot(SCOPE) as snapshot:
        assert snapshot.size == 1
    kit.indexes.serve(kit.record.publish(staged))
    kit.publish(draft("c", [chunk(0, "seal")]))
    kit.indexes.drop(SCOPE)
    with kit.indexes.snapshot(SCOPE) as snapshot:
        assert lexical(snapshot, "valve") == [2]
        assert sorted(nearest(snapshot, "valve")) == [1, 2, 3]
    kit.indexes.close()


def test_searches_see_whole_revisions_while_a_writer_replaces_them(tmp_path: Path) -> None:
    kit = Kit(tmp_path / "index", keep)

    def revision(number: int) -> RevisionDraft:
        return draft("a", [chunk(place, f"pump number{number}") for place in range(3)])

    kit.publish(revision(0))
    done, mixed = threading.Event(), list[object]()

    def look() -> None:
        last = 0
        while not done.is_set():
            with kit.indexes.snapshot(SCOPE) as snapshot:
                words, near = sorted(lexical(snapshot, "pump")), sorted(nearest(snapshot, "pump"))
                revisions = {kit.record.rows[i].chunk.content for i in words}
            if words != near or len(words) != 3 or len(revisions) != 1 or snapshot.change_seq < last:
                mixed.append((words, near, revisions))
            last = snapshot.change_seq

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(1, 31):
        kit.publish(revision(number))
        if number % 10 == 0:
            kit.indexes.save()
        if number % 15 == 0:
            kit.indexes.drop(SCOPE)
    done.set()
    for thread in threads:
        thread.join()
    assert mixed == []
    kit.indexes.close()


def test_the_indexes_are_the_port_of_the_domain(tmp_path: Path) -> None:
    indexes: SearchIndexes = Indexes(tmp_path, store=MemoryRecord().as_store(), model=MODEL, dimension=DIMENSION)
    with indexes.snapshot(SCOPE) as snapshot:
        assert snapshot.size == 0
