"""Writes of documents: staging, publishing and retiring versions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Final

from knowledge_svc.domain.errors import IndexModelMismatch, RevisionConflict
from knowledge_svc.domain.model import Document, Publication, RequestKey, RevisionDraft, StagedRevision
from knowledge_svc.storage.change import Change
from knowledge_svc.storage.codec import chunk_rows, dataset_row, document_of, document_row, section_rows
from knowledge_svc.storage.job_end import end_published
from knowledge_svc.storage.record import Record
from knowledge_svc.storage.requests import FIND_REQUEST, keep_request, key_parameters, same_body
from knowledge_svc.storage.sql import Parameters, Row
from services.errors import FailedPrecondition

Query = Callable[[str, Parameters | None], list[Row]]

_MODEL: Final = "SELECT embedding_model, dimension FROM meta"
_SET_MODEL: Final = "UPDATE meta SET embedding_model = $model"
_STAGED: Final = "SELECT count(*) AS chunks FROM chunks WHERE staged_seq = $staged"
_DROP_STAGED: Final = """
    DELETE FROM chunks WHERE staged_seq = $staged AND staged_seq NOT IN (SELECT staged_seq FROM revisions)
"""
_HEADS: Final = """
    SELECT staged_seq, revision, superseded_at IS NULL AS live FROM revisions
    WHERE namespace_id = $namespace AND source_uri = $uri ORDER BY revision
"""
_RETIRE_VERSION: Final = "UPDATE revisions SET superseded_at = $at, change_seq = $change WHERE staged_seq = $staged"
_RETIRE_DATASETS: Final = """
    UPDATE datasets SET superseded_at = $at, change_seq = $change WHERE staged_seq = $staged AND superseded_at IS NULL
"""
_CHUNK_IDS: Final = "SELECT chunk_id FROM chunks WHERE staged_seq = $staged ORDER BY chunk_index"
_VERSION: Final = "SELECT * FROM revisions WHERE staged_seq = $staged"


class RevisionWrites:
    """The writing half of the `Store` port. A version is known by the change that staged it."""

    def __init__(self, record: Record) -> None:
        self._record = record

    def answer(self, key: RequestKey) -> Publication | None:
        """Returns what an earlier call under the same request key published.

        Raises:
            IdempotencyConflict: the request id was used with another body.
        """
        row = same_body(self._record.rows(FIND_REQUEST, key_parameters(key)), key)
        return None if row is None else self._answered(self._record.rows, row)

    def stage(self, draft: RevisionDraft) -> StagedRevision:
        """Writes the draft's chunks, not served yet, in one transaction.

        Raises:
            IndexModelMismatch: the record's vectors are of another model or length.
        """
        with self._record.writing() as change:
            _check_model(change, draft)
            chunk_ids = change.chunk_ids(len(draft.chunks))
            change.insert("chunks", chunk_rows(draft, chunk_ids, staged_seq=change.seq))
        return StagedRevision(draft, chunk_ids, change.seq)

    def publish(self, staged: StagedRevision) -> Publication:
        """Makes the staged revision the live one in one transaction, with its datasets, its job's end and its request key.

        Under a request key that an earlier call used, that call's answer comes back and the staged chunks go.

        Raises:
            RevisionConflict: the live revision is not the draft's base any more; nothing was written.
            IdempotencyConflict: the request id was used with another body.
            Cancelled: the job was asked to stop, or ended; nothing was written.
        """
        draft = staged.draft
        with self._record.writing() as change:
            if draft.request and (row := same_body(change.rows(FIND_REQUEST, key_parameters(draft.request)), draft.request)):
                change.run(_DROP_STAGED, {"staged": staged.change_seq})
                return self._answered(change.rows, row)
            return _publish(change, staged)

    def abandon(self, staged: StagedRevision) -> None:
        """Removes staged chunks that will not be published; does nothing to published ones."""
        with self._record.writing() as change:
            change.run(_DROP_STAGED, {"staged": staged.change_seq})

    def retire(self, document: Document, *, at: datetime, request: RequestKey | None = None) -> Publication:
        """Retires a live document, its chunks and its datasets in one transaction.

        Under a request key that an earlier call used, that call's answer comes back.

        Raises:
            RevisionConflict: another version is live.
            IdempotencyConflict: the request id was used with another body.
        """
        with self._record.writing() as change:
            if request and (row := same_body(change.rows(FIND_REQUEST, key_parameters(request)), request)):
                return self._answered(change.rows, row)
            live = _live_head(change, document)
            if live is None or live["revision"] != document.revision:
                raise _conflict(document, found=live, base=document.revision)
            retired = _retire_version(change, live["staged_seq"], at=at)
            if request:
                keep_request(change, request, at=at, retired=live["staged_seq"])
            return Publication(document.scope, (), retired, change.seq, document=replace(document, superseded_at=at))

    def _answered(self, query: Query, row: Row) -> Publication:
        published, retired = row["published"], row["retired"]
        (version,) = query(_VERSION, {"staged": retired if published is None else published})
        scope = self._record.scope(version["namespace_id"])
        document = document_of(version, scope)
        return Publication(
            scope,
            _chunk_ids(query, published),
            _chunk_ids(query, retired),
            row["change_seq"],
            document=document if published is None else replace(document, superseded_at=None),
        )


def _publish(change: Change, staged: StagedRevision) -> Publication:
    draft, document = staged.draft, staged.draft.document
    _check_staged(change, staged)
    live = _checked_base(change, draft)
    earlier = None if live is None else live["staged_seq"]
    retired = () if earlier is None else _retire_version(change, earlier, at=document.updated_at)
    _insert_version(change, staged)
    if draft.job_end:
        end_published(change, draft.job_end, revision=document.revision)
    if draft.request:
        keep_request(change, draft.request, at=document.updated_at, published=staged.change_seq, retired=earlier)
    return Publication(document.scope, staged.chunk_ids, retired, change.seq, document=document)


def _insert_version(change: Change, staged: StagedRevision) -> None:
    draft, staged_seq = staged.draft, staged.change_seq
    namespace_id = change.namespace_id(draft.document.scope)
    numbers = {"namespace_id": namespace_id, "staged_seq": staged_seq, "change_seq": change.seq}
    change.insert_one("revisions", document_row(draft.document, **numbers))
    change.insert("sections", section_rows(draft.sections, staged_seq=staged_seq))
    change.insert("datasets", [dataset_row(dataset, **numbers) for dataset in draft.datasets])


def _retire_version(change: Change, staged_seq: int, *, at: datetime) -> tuple[int, ...]:
    """Ends the service of a version and its datasets; returns the ids of its chunks."""
    parameters = {"at": at, "change": change.seq, "staged": staged_seq}
    change.run(_RETIRE_VERSION, parameters)
    change.run(_RETIRE_DATASETS, parameters)
    return _chunk_ids(change.rows, staged_seq)


def _checked_base(change: Change, draft: RevisionDraft) -> Row | None:
    """Returns the head of the live version, None where none is live.

    A number that was published and deleted since the draft was made is not given again.

    Raises:
        RevisionConflict: the live revision is not the draft's base, or the draft's own number was published meanwhile.
    """
    heads = change.rows(_HEADS, _address(change, draft.document))
    live = next((head for head in heads if head["live"]), None)
    if (None if live is None else live["revision"]) != draft.base_revision:
        raise _conflict(draft.document, found=live, base=draft.base_revision)
    if any(head["revision"] >= draft.document.revision for head in heads):
        raise _conflict(draft.document, found=heads[-1], base=draft.base_revision)
    return live


def _live_head(change: Change, document: Document) -> Row | None:
    return next((head for head in change.rows(_HEADS, _address(change, document)) if head["live"]), None)


def _address(change: Change, document: Document) -> Row:
    return {"namespace": change.namespace_id(document.scope), "uri": document.source_uri}


def _conflict(document: Document, *, found: Row | None, base: int | None) -> RevisionConflict:
    newest = "none" if found is None else str(found["revision"])
    made_over = "none" if base is None else str(base)
    return RevisionConflict(
        f"{document.source_uri} stands at revision {newest}, the write was made over {made_over}; read it again and repeat",
        metadata={"source_uri": document.source_uri, "found_revision": newest, "base_revision": made_over},
    )


def _check_staged(change: Change, staged: StagedRevision) -> None:
    """Sees that the chunks are still staged.

    Raises:
        FailedPrecondition: they were abandoned.
    """
    found = change.rows(_STAGED, {"staged": staged.change_seq})[0]["chunks"]
    if found != len(staged.chunk_ids):
        message = f"{found} of {len(staged.chunk_ids)} staged chunks are left; stage the revision again"
        raise FailedPrecondition(message, metadata={"found": str(found), "staged": str(len(staged.chunk_ids))})


def _check_model(change: Change, draft: RevisionDraft) -> None:
    """Sees that the draft's vectors are of the record's model, which the first draft names.

    Raises:
        IndexModelMismatch: they are of another.
    """
    (meta,) = change.rows(_MODEL)
    model = meta["embedding_model"] or draft.embedding_model
    if (model, meta["dimension"]) != (draft.embedding_model, draft.vectors.shape[1]):
        raise IndexModelMismatch(
            f"the stored vectors are of {model} ({meta['dimension']} numbers), not of {draft.embedding_model}"
            f" ({draft.vectors.shape[1]}); configure the model they were made with, or run `reembed`",
            metadata={"stored_model": model, "model": draft.embedding_model},
        )
    if not meta["embedding_model"]:
        change.run(_SET_MODEL, {"model": draft.embedding_model})


def _chunk_ids(query: Query, staged_seq: int | None) -> tuple[int, ...]:
    if staged_seq is None:
        return ()
    return tuple(row["chunk_id"] for row in query(_CHUNK_IDS, {"staged": staged_seq}))
