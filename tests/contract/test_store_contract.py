"""What every `Store` does: the record of documents, their history, their chunks and their datasets."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Barrier, Thread

import numpy as np
import pytest

from artifact.locators import PageBox, PdfPlace, SheetPlace
from artifact.model import (
    Clarification,
    Column,
    ColumnType,
    Coverage,
    FailedUnit,
    RejectedRow,
    TypeCount,
    WordCount,
)
from knowledge_svc.domain.errors import DocumentNotFound, IdempotencyConflict, IndexModelMismatch, RevisionConflict
from knowledge_svc.domain.model import (
    Chunk,
    Document,
    DocumentFilter,
    IndexRows,
    Original,
    Publication,
    RevisionDraft,
    SchemaState,
    Scope,
    Section,
    SourceClass,
)
from knowledge_svc.domain.ports import Store
from knowledge_svc.storage.store import RecordStore
from services.errors import FailedPrecondition
from tests.storage_fixtures import (
    MODEL,
    NOW,
    SCOPE,
    SHA,
    make_dataset,
    make_document,
    make_draft,
    make_key,
    next_draft,
    open_record,
)

LATER = NOW + timedelta(hours=1)
OTHER = Scope("dev", "other")


@contextmanager
def _record_store(folder: Path) -> Iterator[Store]:
    with open_record(folder) as record:
        yield RecordStore(record)


STORES: dict[str, Callable[[Path], AbstractContextManager[Store]]] = {"record": _record_store}
"""Every implementation of the port, and how it is opened on a folder."""


@pytest.fixture(params=sorted(STORES))
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], AbstractContextManager[Store]]:
    opener = STORES[request.param]
    return lambda: opener(tmp_path)


@pytest.fixture
def store(reopen: Callable[[], AbstractContextManager[Store]]) -> Iterator[Store]:
    with reopen() as opened:
        yield opened


def published(store: Store, draft: RevisionDraft | None = None) -> Publication:
    return store.publish(store.stage(draft or make_draft()))


def all_rows(store: Store, scope: Scope = SCOPE, *, after: int = 0, vectors: bool = False) -> list[IndexRows]:
    return list(store.index_rows(scope, after_chunk_id=after, vectors=vectors))


def live_ids(store: Store, scope: Scope = SCOPE) -> list[int]:
    return [int(chunk_id) for chunk_id in store.live_chunk_ids(scope)[0]]


# ---- documents


def test_a_published_document_reads_back_whole(store: Store) -> None:
    coverage = Coverage(
        "page",
        3,
        2,
        failed=(FailedUnit("2", "IMAGE_ONLY", PdfPlace(2, 2, "ii", (PageBox(2, 0.5, 1.25, 30.0, 40.0),))), FailedUnit("3", "X")),
        lost=("ocr",),
        words_emitted=120,
        words_excluded=(WordCount("running_header", 4),),
        words_unread=(WordCount("image_only_page", 9),),
    )
    document = replace(
        make_document(content="naïve — 東京 😀 \x00 end"),
        description="what it is",
        tags=("a", "ü"),
        metadata='{"k":[1,2]}',
        source_class=SourceClass.INGESTED,
        format="pdf",
        parser="pdf 1",
        coverage=coverage,
        ingestion_id="job1",
        original=Original(SHA, "a b.pdf", "application/pdf"),
        artifact_sha256="cd" * 32,
        source="crawler",
    )
    published(store, make_draft(document))
    assert store.document(SCOPE, "doc:a") == document


def test_what_a_text_write_leaves_unset_stays_unset(store: Store) -> None:
    published(store)
    document = store.document(SCOPE, "doc:a")
    assert (document.format, document.parser, document.coverage, document.original, document.source) == (None,) * 5
    assert document.superseded_at is None


def test_a_document_that_never_was_is_not_found(store: Store) -> None:
    published(store)
    for scope, uri in ((SCOPE, "doc:b"), (OTHER, "doc:a")):
        with pytest.raises(DocumentNotFound):
            store.document(scope, uri)
        with pytest.raises(DocumentNotFound):
            store.document(scope, uri, superseded=True)
    with pytest.raises(DocumentNotFound):
        store.document(SCOPE, "doc:a", revision=2)


def test_a_replaced_revision_stays_readable_by_its_number(store: Store) -> None:
    first = make_document(content="alpha\n\nbeta")
    published(store, make_draft(first))
    published(store, next_draft(first, content="gamma", at=LATER))
    assert store.document(SCOPE, "doc:a").content == "gamma"
    kept = store.document(SCOPE, "doc:a", revision=1)
    assert kept == replace(first, superseded_at=LATER)
    assert [chunk.chunk.content for chunk in store.chunks(kept)] == ["alpha", "beta"]
    assert store.sections(kept) == [Section((), (0, 1), 11)]


def test_a_retired_document_reads_only_as_superseded(store: Store) -> None:
    first = make_document()
    published(store, make_draft(first))
    store.retire(first, at=LATER)
    with pytest.raises(DocumentNotFound):
        store.document(SCOPE, "doc:a")
    assert store.document(SCOPE, "doc:a", superseded=True) == replace(first, superseded_at=LATER)
    assert store.document(SCOPE, "doc:a", revision=1).content == first.content


def test_superseded_reads_the_live_version_where_there_is_one(store: Store) -> None:
    first = make_document()
    published(store, make_draft(first))
    published(store, next_draft(first, content="gamma"))
    assert store.document(SCOPE, "doc:a", superseded=True).content == "gamma"


def test_documents_come_in_uri_order_without_content(store: Store) -> None:
    for uri in ("b", "a/2", "a/1", "é", "Z"):
        published(store, make_draft(make_document(uri)))
    listed = store.documents(SCOPE, DocumentFilter(), after_uri="", limit=10)
    assert [document.source_uri for document in listed] == ["Z", "a/1", "a/2", "b", "é"]
    assert {document.content for document in listed} == {""}
    assert listed[0].content_hash == make_document("Z").content_hash


def test_a_page_goes_on_after_the_last_uri(store: Store) -> None:
    for uri in "abcd":
        published(store, make_draft(make_document(uri)))
    assert [d.source_uri for d in store.documents(SCOPE, DocumentFilter(), after_uri="b", limit=1)] == ["c"]
    assert store.documents(SCOPE, DocumentFilter(), after_uri="d", limit=1) == []


def test_documents_are_selected_by_any_prefix_and_any_tag(store: Store) -> None:
    for uri, tags in (("x/1", ("red",)), ("x/2", ("blue",)), ("y/1", ("red", "blue")), ("z/1", ("red",)), ("x%", ())):
        published(store, make_draft(make_document(uri, tags=tags)))

    def found(*prefixes: str, tags: tuple[str, ...] = ()) -> list[str]:
        selection = DocumentFilter(prefixes, tags)
        return [document.source_uri for document in store.documents(SCOPE, selection, after_uri="", limit=10)]

    assert found("x/", "y/") == ["x/1", "x/2", "y/1"]
    assert found(tags=("blue", "green")) == ["x/2", "y/1"]
    assert found("x/", "z/", tags=("red",)) == ["x/1", "z/1"]
    assert found("x%") == ["x%"]


def test_retired_documents_and_other_namespaces_are_not_listed(store: Store) -> None:
    first = make_document("a")
    published(store, make_draft(first))
    store.retire(first, at=LATER)
    published(store, make_draft(make_document("b", scope=OTHER)))
    assert store.documents(SCOPE, DocumentFilter(), after_uri="", limit=10) == []


def test_revisions_count_on_after_a_delete(store: Store) -> None:
    first = make_document()
    assert store.last_revision(SCOPE, "doc:a") == 0
    published(store, make_draft(first))
    store.retire(first, at=LATER)
    assert store.last_revision(SCOPE, "doc:a") == 1
    published(store, make_draft(make_document(revision=2)))
    assert store.last_revision(SCOPE, "doc:a") == 2
    assert store.document(SCOPE, "doc:a").revision == 2


# ---- chunks and sections


def test_a_chunk_reads_back_whole(store: Store) -> None:
    chunk = Chunk(
        0,
        "amount\t12,50",
        "Orders\nQ1 > May",
        ("Q1", "May"),
        SheetPlace("Bestellungen", 2, 9, 1, 27),
        "ef" * 32,
        block_type="table_rows",
        block_ids=("b1", "b2"),
        keys=("orders.amount", "Größe"),
        noise=True,
    )
    document = replace(make_document(content="one", tags=("t",)), format="xlsx")
    publication = published(store, replace(make_draft(document), chunks=(chunk,)))
    (stored,) = store.chunks(document)
    assert stored.chunk == chunk
    assert (stored.chunk_id,) == publication.live
    assert (stored.scope, stored.source_uri, stored.doc_id, stored.revision) == (SCOPE, "doc:a", "id of doc:a", 1)
    assert (stored.title, stored.format, stored.ingested_at, stored.tags) == ("Title", "xlsx", NOW, ("t",))
    assert store.chunk_rows(publication.live) == {stored.chunk_id: stored}


def test_chunks_read_by_id_live_or_retired_but_not_staged(store: Store) -> None:
    first = make_document()
    early = published(store, make_draft(first))
    late = published(store, next_draft(first))
    staged = store.stage(make_draft(make_document("doc:b")))
    rows = store.chunk_rows([*early.live, *late.live, *staged.chunk_ids, 999])
    assert sorted(rows) == sorted([*early.live, *late.live])
    assert {rows[chunk_id].revision for chunk_id in early.live} == {1}


def test_sections_come_in_reading_order(store: Store) -> None:
    sections = (Section((), (0,), 5), Section(("B",), (1, 2), 70, noise=True), Section(("B", "A"), (), 0), Section(("A",), (3,), 9))
    published(store, replace(make_draft(), sections=sections))
    assert store.sections(make_document()) == list(sections)


def test_identical_live_content_of_another_uri_is_found(store: Store) -> None:
    content_hash = make_document().content_hash
    published(store)
    published(store, make_draft(make_document("doc:b", title="Other title")))
    assert store.live_content(SCOPE, content_hash, title="Title", not_uri="doc:z") == "doc:a"
    assert store.live_content(SCOPE, content_hash, title="Title", not_uri="doc:a") == ""
    assert store.live_content(OTHER, content_hash, title="Title", not_uri="doc:z") == ""
    store.retire(make_document(), at=LATER)
    assert store.live_content(SCOPE, content_hash, title="Title", not_uri="doc:z") == ""


def test_hashes_served_elsewhere_are_counted_once_each(store: Store) -> None:
    published(store, make_draft(make_document("doc:a", content="one\n\ntwo")))
    published(store, make_draft(make_document("doc:b", content="one\n\none")))
    retired = make_document("doc:c", content="three")
    published(store, make_draft(retired))
    store.retire(retired, at=LATER)
    hashes = [chunk.content_hash for chunk in make_draft(make_document(content="one\n\ntwo\n\nthree\n\nfour")).chunks]
    assert store.chunks_served_elsewhere(SCOPE, hashes, not_uri="doc:z") == 2
    assert store.chunks_served_elsewhere(SCOPE, hashes, not_uri="doc:a") == 1
    assert store.chunks_served_elsewhere(OTHER, hashes, not_uri="doc:z") == 0
    assert store.chunks_served_elsewhere(SCOPE, [], not_uri="doc:z") == 0


def test_vectors_are_found_by_their_input_and_model(store: Store) -> None:
    draft = make_draft(make_document(content="one\n\ntwo"))
    published(store, draft)
    one, two = (hashlib.sha256(f"Title\n\n{word}".encode()).hexdigest() for word in ("one", "two"))
    found = store.vectors_by_input(SCOPE, [one, two, "f" * 64], model=MODEL)
    assert sorted(found) == sorted([one, two])
    np.testing.assert_array_equal(found[one], draft.vectors[0])
    np.testing.assert_array_equal(found[two], draft.vectors[1])
    assert store.vectors_by_input(SCOPE, [one], model="another model") == {}
    assert store.vectors_by_input(OTHER, [one], model=MODEL) == {}
    assert store.vectors_by_input(SCOPE, [], model=MODEL) == {}


# ---- publishing


def test_a_publication_names_what_serves_and_what_no_longer_does(store: Store) -> None:
    first = make_document()
    one = published(store, make_draft(first))
    two = published(store, next_draft(first, content="gamma"))
    assert (one.scope, one.document, one.retired) == (SCOPE, first, ())
    assert len(one.live) == 2
    assert two.retired == one.live
    assert two.document is not None
    assert two.document.revision == 2
    assert two.change_seq > one.change_seq
    assert live_ids(store) == list(two.live)


def test_staged_chunks_do_not_serve(store: Store) -> None:
    staged = store.stage(make_draft())
    assert len(staged.chunk_ids) == 2
    assert live_ids(store) == []
    assert all_rows(store) == []
    assert store.scopes() == []
    with pytest.raises(DocumentNotFound):
        store.document(SCOPE, "doc:a")


def test_chunk_ids_ascend_over_all_drafts(store: Store) -> None:
    ids = [*store.stage(make_draft()).chunk_ids, *published(store).live, *store.stage(make_draft(make_document("b"))).chunk_ids]
    assert ids == sorted(set(ids))


def test_an_abandoned_draft_leaves_nothing_and_cannot_be_published(store: Store) -> None:
    staged = store.stage(make_draft())
    store.abandon(staged)
    with pytest.raises(FailedPrecondition):
        store.publish(staged)
    with pytest.raises(DocumentNotFound):
        store.document(SCOPE, "doc:a")


def test_abandoning_what_was_published_changes_nothing(store: Store) -> None:
    staged = store.stage(make_draft())
    publication = store.publish(staged)
    store.abandon(staged)
    assert live_ids(store) == list(publication.live)


@pytest.mark.parametrize("base", [None, 1, 3])
def test_a_publish_over_another_base_writes_nothing(store: Store, base: int | None) -> None:
    first = make_document()
    published(store, make_draft(first))
    second = published(store, next_draft(first))
    datasets = [make_dataset(revision=4)]
    draft = make_draft(make_document(revision=4, content="late"), base_revision=base, datasets=datasets, request=make_key("late"))
    staged = store.stage(draft)
    with pytest.raises(RevisionConflict):
        store.publish(staged)
    assert store.document(SCOPE, "doc:a") == second.document
    assert live_ids(store) == list(second.live)
    assert store.datasets(SCOPE, "doc:a") == []
    assert store.last_revision(SCOPE, "doc:a") == 2
    assert store.answer(make_key("late")) is None


def test_a_publish_over_a_base_that_was_deleted_conflicts(store: Store) -> None:
    first = make_document()
    published(store, make_draft(first))
    store.retire(first, at=LATER)
    with pytest.raises(RevisionConflict):
        published(store, next_draft(first))


def test_a_number_given_and_deleted_meanwhile_conflicts(store: Store) -> None:
    staged = store.stage(make_draft(make_document(content="slow")))
    quick = make_document(content="quick")
    published(store, make_draft(quick))
    store.retire(quick, at=LATER)
    with pytest.raises(RevisionConflict):
        store.publish(staged)
    assert store.document(SCOPE, "doc:a", revision=1).content == "quick"


def test_of_racing_writers_over_one_base_exactly_one_wins(store: Store) -> None:
    first = make_document()
    published(store, make_draft(first))
    start, won, lost = Barrier(4), list[Publication](), list[RevisionConflict]()

    def write(number: int) -> None:
        staged = store.stage(next_draft(first, content=f"from writer {number}"))
        start.wait()
        try:
            won.append(store.publish(staged))
        except RevisionConflict as conflict:
            lost.append(conflict)

    threads = [Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(won), len(lost)) == (1, 3)
    assert store.document(SCOPE, "doc:a") == won[0].document
    assert live_ids(store) == list(won[0].live)


def test_vectors_of_another_model_or_length_are_refused(store: Store) -> None:
    published(store)
    with pytest.raises(IndexModelMismatch):
        store.stage(make_draft(make_document("b"), model="another model"))
    with pytest.raises(IndexModelMismatch):
        store.stage(make_draft(make_document("b"), dimension=4))
    assert store.document(SCOPE, "doc:a").revision == 1


# ---- retiring


def test_a_delete_stops_the_document_its_chunks_and_its_datasets(store: Store) -> None:
    first = make_document()
    one = published(store, make_draft(first, datasets=[make_dataset()]))
    gone = store.retire(first, at=LATER)
    assert (gone.scope, gone.live, gone.retired) == (SCOPE, (), one.live)
    assert gone.document == replace(first, superseded_at=LATER)
    assert live_ids(store) == []
    assert store.datasets(SCOPE, "doc:a") == []
    assert [chunk.chunk.content for chunk in store.chunks(first)] == ["alpha", "beta"]


def test_a_delete_of_another_version_than_the_live_one_conflicts(store: Store) -> None:
    first = make_document()
    with pytest.raises(RevisionConflict):
        store.retire(first, at=LATER)
    published(store, make_draft(first))
    published(store, next_draft(first))
    with pytest.raises(RevisionConflict):
        store.retire(first, at=LATER)
    assert store.document(SCOPE, "doc:a").revision == 2


def test_the_same_delete_twice_conflicts_without_a_request_key(store: Store) -> None:
    first = make_document()
    published(store, make_draft(first))
    store.retire(first, at=LATER)
    with pytest.raises(RevisionConflict):
        store.retire(first, at=LATER)


# ---- request keys


def test_a_request_key_answers_what_its_call_published(store: Store) -> None:
    first = make_document()
    published(store, make_draft(first))
    second = published(store, replace(next_draft(first), request=make_key()))
    assert second.document is not None
    published(store, next_draft(second.document, content="third"))
    assert store.answer(make_key()) == second
    assert store.answer(make_key("r2")) is None
    assert store.answer(make_key(method="UpsertDocument")) is None


def test_a_request_key_answers_what_its_call_retired(store: Store) -> None:
    first = make_document()
    published(store, make_draft(first))
    gone = store.retire(first, at=LATER, request=make_key())
    published(store, make_draft(make_document(revision=2)))
    assert store.answer(make_key()) == gone
    assert store.retire(first, at=LATER + timedelta(days=1), request=make_key()) == gone


def test_a_request_id_with_another_body_is_refused(store: Store) -> None:
    published(store, make_draft(request=make_key(body="one")))
    other = make_key(body="two")
    with pytest.raises(IdempotencyConflict):
        store.answer(other)
    staged = store.stage(replace(next_draft(make_document()), request=other))
    with pytest.raises(IdempotencyConflict):
        store.publish(staged)
    with pytest.raises(IdempotencyConflict):
        store.retire(make_document(), at=LATER, request=other)
    assert store.document(SCOPE, "doc:a").revision == 1


def test_a_repeated_publish_under_one_key_answers_the_first_and_writes_nothing(store: Store) -> None:
    first = published(store, make_draft(request=make_key()))
    again = store.stage(make_draft(request=make_key()))
    assert store.publish(again) == first
    assert live_ids(store) == list(first.live)
    assert store.last_revision(SCOPE, "doc:a") == 1
    assert store.chunk_rows(again.chunk_ids) == {}


def test_answers_survive_a_reopen(reopen: Callable[[], AbstractContextManager[Store]]) -> None:
    with reopen() as store:
        first = published(store, make_draft(request=make_key()))
    with reopen() as store:
        assert store.answer(make_key()) == first


# ---- datasets


def test_a_dataset_reads_back_whole(store: Store) -> None:
    dataset = replace(
        make_dataset(),
        columns=(
            Column(
                "betrag",
                ColumnType.NUMBER,
                source_header="Betrag (€)",
                inferred=(TypeCount(ColumnType.NUMBER, 3), TypeCount(ColumnType.STRING, 1)),
                number_format="#,##0.00",
                unit="€",
                precision=12,
                scale=2,
                nullable=False,
            ),
            Column("note", ColumnType.STRING, stored=False),
        ),
        schema_state=SchemaState.NEEDS_CLARIFICATION,
        clarifications=(Clarification("date_order", "day", "is 03/04 in March or April?"),),
        rejected_count=1,
        rejected_rows=(RejectedRow(SheetPlace("S", 4, 4, 1, 2), ("x", ""), "not a number"),),
        complete=False,
    )
    published(store, make_draft(datasets=[dataset]))
    assert store.datasets(SCOPE, "doc:a") == [dataset]


def test_datasets_of_a_source_come_in_file_order(store: Store) -> None:
    datasets = [make_dataset("b", ordinal=0), make_dataset("a", ordinal=1), make_dataset("c", ordinal=2)]
    published(store, make_draft(datasets=datasets))
    assert [dataset.dataset_id for dataset in store.datasets(SCOPE, "doc:a")] == ["b", "a", "c"]
    assert store.datasets(OTHER, "doc:a") == []


def test_a_new_revision_replaces_the_datasets(store: Store) -> None:
    first = make_document()
    published(store, make_draft(first, datasets=[make_dataset("a"), make_dataset("b", ordinal=1)]))
    published(store, replace(next_draft(first), datasets=(make_dataset("a", revision=2),)))
    assert [(dataset.dataset_id, dataset.revision) for dataset in store.datasets(SCOPE, "doc:a")] == [("a", 2)]


def test_a_text_write_stops_the_datasets_of_its_source(store: Store) -> None:
    first = make_document()
    published(store, make_draft(first, datasets=[make_dataset()]))
    published(store, next_draft(first))
    assert store.datasets(SCOPE, "doc:a") == []


def test_datasets_are_paged_by_source_and_id(store: Store) -> None:
    for uri, names in (("x/1", "ba"), ("x/2", "a"), ("y/1", "a")):
        datasets = [make_dataset(name, source_uri=uri, ordinal=place) for place, name in enumerate(names)]
        published(store, make_draft(make_document(uri), datasets=datasets))

    def page(*prefixes: str, after: tuple[str, str], limit: int) -> list[tuple[str, str]]:
        return [(d.source_uri, d.dataset_id) for d in store.dataset_page(SCOPE, prefixes, after=after, limit=limit)]

    assert page(after=("", ""), limit=3) == [("x/1", "a"), ("x/1", "b"), ("x/2", "a")]
    assert page(after=("x/1", "a"), limit=9) == [("x/1", "b"), ("x/2", "a"), ("y/1", "a")]
    assert page("x/", after=("x/1", "b"), limit=9) == [("x/2", "a")]


# ---- what the indexes are made of


def test_index_rows_hold_what_filters_and_legs_need(store: Store) -> None:
    document = replace(make_document(content="one\n\ntwo", tags=("t",)), format="md")
    draft = make_draft(document)
    draft = replace(
        draft, chunks=(replace(draft.chunks[0], keys=("k",), block_type="table", section_path=("Q1", "May")), draft.chunks[1])
    )
    publication = published(store, draft)
    (rows,) = all_rows(store, vectors=True)
    assert tuple(rows.chunk_ids) == publication.live
    assert rows.source_uris == ("doc:a", "doc:a")
    assert rows.tags == (("t",), ("t",))
    assert rows.formats == ("md", "md")
    assert rows.block_types == ("table", "")
    assert rows.contents == ("one", "two")
    assert rows.contexts == ("Title", "Title")
    assert rows.keys == (("k",), ())
    assert rows.sections[0] != rows.sections[1]
    # 2031-05-27 07:32:00.123456 UTC
    assert list(rows.ingested_at_us) == [1_937_633_520_123_456] * 2
    assert list(rows.live) == [True, True]
    assert rows.vectors is not None
    np.testing.assert_array_equal(rows.vectors, draft.vectors)
    assert rows.vectors.dtype == np.float32
    assert rows.change_seq == publication.change_seq


def test_index_rows_leave_vectors_out_where_not_asked(store: Store) -> None:
    published(store)
    (rows,) = all_rows(store)
    assert rows.vectors is None
    assert rows.formats == ("", "")


def test_index_rows_go_on_after_an_id_and_mark_the_retired(store: Store) -> None:
    first = make_document()
    early = published(store, make_draft(first))
    late = published(store, next_draft(first))
    store.stage(make_draft(make_document("doc:b")))
    published(store, make_draft(make_document("doc:c", scope=OTHER)))
    (rows,) = all_rows(store)
    assert tuple(rows.chunk_ids) == (*early.live, *late.live)
    assert list(rows.live) == [False, False, True]
    assert len(set(rows.sections)) == 1, "a section keeps its name over revisions"
    (tail,) = all_rows(store, after=early.live[-1])
    assert tuple(tail.chunk_ids) == late.live
    assert all_rows(store, after=late.live[-1]) == []


def test_batches_of_index_rows_are_of_one_moment(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knowledge_svc.storage.index_feed.BATCH", 2)
    first = make_document(content="a\n\nb\n\nc\n\nd\n\ne")
    published(store, make_draft(first))
    batches = store.index_rows(SCOPE, after_chunk_id=0, vectors=True)
    early = next(batches)
    published(store, next_draft(first))
    rest = list(batches)
    assert [len(rows.chunk_ids) for rows in (early, *rest)] == [2, 2, 1]
    assert all(bool(rows.live.all()) for rows in (early, *rest))
    assert {rows.change_seq for rows in rest} == {early.change_seq}


def test_live_ids_come_with_the_change_they_are_as_of(store: Store) -> None:
    assert store.live_chunk_ids(SCOPE)[0].dtype == np.int64
    publication = published(store)
    ids, change_seq = store.live_chunk_ids(SCOPE)
    assert (tuple(ids), change_seq) == (publication.live, publication.change_seq)
    assert live_ids(store, OTHER) == []


def test_scopes_remember_namespaces_whose_documents_are_gone(store: Store) -> None:
    first = make_document(scope=OTHER)
    published(store, make_draft(first))
    store.retire(first, at=LATER)
    assert store.scopes() == [OTHER]


def test_the_database_keeps_its_id(reopen: Callable[[], AbstractContextManager[Store]]) -> None:
    with reopen() as store:
        before = store.database_id()
        published(store)
    with reopen() as store:
        assert store.database_id() == before


# ---- reopening


def test_documents_and_history_survive_a_reopen(reopen: Callable[[], AbstractContextManager[Store]]) -> None:
    first = make_document()
    with reopen() as store:
        published(store, make_draft(first, datasets=[make_dataset()]))
        second = published(store, replace(next_draft(first), datasets=(make_dataset(revision=2),)))
    with reopen() as store:
        assert store.document(SCOPE, "doc:a") == second.document
        assert store.document(SCOPE, "doc:a", revision=1).content == first.content
        assert [dataset.revision for dataset in store.datasets(SCOPE, "doc:a")] == [2]
        assert live_ids(store) == list(second.live)


def test_what_was_staged_and_not_published_is_swept_and_its_ids_stay_taken(
    reopen: Callable[[], AbstractContextManager[Store]],
) -> None:
    with reopen() as store:
        publication = published(store)
        staged = store.stage(make_draft(make_document("doc:b")))
    with reopen() as store:
        with pytest.raises(FailedPrecondition):
            store.publish(staged)
        assert live_ids(store) == list(publication.live)
        assert min(published(store, make_draft(make_document("doc:c"))).live) > max(staged.chunk_ids)


def test_readers_in_other_threads_see_whole_versions_while_a_writer_publishes(store: Store) -> None:
    document = make_document(content="v1\n\nv1")
    published(store, make_draft(document))
    seen: list[tuple[Document, set[str]]] = []
    faults: list[BaseException] = []

    def read() -> None:
        try:
            for _ in range(40):
                version = store.document(SCOPE, "doc:a")
                seen.append((version, {chunk.chunk.content for chunk in store.chunks(version)}))
        except BaseException as fault:
            faults.append(fault)

    readers = [Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(2, 12):
        draft = next_draft(document, content=f"v{number}\n\nv{number}")
        document = draft.document
        published(store, draft)
    for reader in readers:
        reader.join()
    assert faults == []
    assert all(contents == {f"v{version.revision}"} for version, contents in seen)
