"""Reads of documents, their sections and their chunks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from knowledge_svc.domain.errors import DocumentNotFound
from knowledge_svc.domain.model import Document, DocumentFilter, Scope, Section, StoredChunk
from knowledge_svc.storage.codec import document_of, hash_key, section_of, stored_chunk_of
from knowledge_svc.storage.record import Record
from knowledge_svc.storage.sql import Row
from knowledge_svc.storage.vectors import vectors_of

_LIVE: Final = "SELECT * FROM revisions WHERE namespace_id = $namespace AND source_uri = $uri AND superseded_at IS NULL"
_KEPT: Final = "SELECT * FROM revisions WHERE namespace_id = $namespace AND source_uri = $uri AND revision = $revision"
_NEWEST: Final = """
    SELECT * FROM revisions WHERE namespace_id = $namespace AND source_uri = $uri ORDER BY staged_seq DESC LIMIT 1
"""
_PAGE: Final = """
    SELECT * REPLACE ('' AS content) FROM revisions
    WHERE namespace_id = $namespace AND superseded_at IS NULL AND source_uri > $after
        AND (len($prefixes::VARCHAR[]) = 0 OR list_bool_or([starts_with(source_uri, p) FOR p IN $prefixes::VARCHAR[]]))
        AND (len($tags::VARCHAR[]) = 0 OR list_has_any(tags, $tags::VARCHAR[]))
    ORDER BY source_uri LIMIT $limit
"""
_LAST_REVISION: Final = """
    SELECT coalesce(max(revision), 0) AS revision FROM revisions WHERE namespace_id = $namespace AND source_uri = $uri
"""
_SECTIONS: Final = """
    SELECT s.* FROM sections s JOIN revisions r USING (staged_seq)
    WHERE r.namespace_id = $namespace AND r.source_uri = $uri AND r.revision = $revision ORDER BY s.ordinal
"""
_CHUNKS: Final = """
    SELECT c.* EXCLUDE (vector), r.namespace_id, r.source_uri, r.doc_id, r.revision, r.title, r.format, r.ingested_at, r.tags
    FROM chunks c JOIN revisions r USING (staged_seq)
    WHERE r.namespace_id = $namespace AND r.source_uri = $uri AND r.revision = $revision ORDER BY c.chunk_index
"""
_CHUNKS_BY_ID: Final = "SELECT * EXCLUDE (vector) FROM chunks WHERE chunk_id IN (SELECT unnest($ids::BIGINT[]))"
_VERSIONS_BY_CHANGE: Final = """
    SELECT staged_seq, namespace_id, source_uri, doc_id, revision, title, format, ingested_at, tags
    FROM revisions WHERE staged_seq IN (SELECT unnest($changes::BIGINT[]))
"""
_VERSIONS_KEPT: Final = 20_000
"""Versions whose names are kept in memory, some 300 bytes each: a search then reads chunks alone, in half the time of the join."""
_LIVE_CONTENT: Final = """
    SELECT source_uri FROM revisions
    WHERE namespace_id = $namespace AND superseded_at IS NULL AND content_hash = $hash AND title = $title AND source_uri <> $uri
    ORDER BY source_uri LIMIT 1
"""
_SERVED_ELSEWHERE: Final = """
    WITH found AS MATERIALIZED (
        SELECT staged_seq, content_hash FROM chunks WHERE content_key IN (SELECT unnest($keys::BIGINT[]))
    )
    SELECT count(DISTINCT f.content_hash) AS hashes FROM found f JOIN revisions r USING (staged_seq)
    WHERE f.content_hash IN (SELECT unnest($hashes::VARCHAR[]))
        AND r.namespace_id = $namespace AND r.superseded_at IS NULL AND r.source_uri <> $uri
"""
_VECTORS_BY_INPUT: Final = """
    WITH found AS MATERIALIZED (
        SELECT staged_seq, input_hash, vector FROM chunks
        WHERE input_key IN (SELECT unnest($keys::BIGINT[])) AND embedding_model = $model
    )
    SELECT f.input_hash, any_value(f.vector) AS vector FROM found f JOIN revisions r USING (staged_seq)
    WHERE f.input_hash IN (SELECT unnest($hashes::VARCHAR[])) AND r.namespace_id = $namespace
    GROUP BY f.input_hash
"""


class DocumentReads:
    """The reading half of the `Store` port that serves documents."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._versions: dict[int, Row] = {}

    def document(self, scope: Scope, source_uri: str, *, revision: int | None = None, superseded: bool = False) -> Document:
        """Returns the live version, or the kept `revision`; with `superseded` the newest version even if retired.

        Raises:
            DocumentNotFound: there is none.
        """
        statement = _KEPT if revision is not None else _NEWEST if superseded else _LIVE
        parameters = {"namespace": self._record.namespace_id(scope), "uri": source_uri}
        rows = self._record.rows(statement, parameters if revision is None else {**parameters, "revision": revision})
        if not rows:
            raise _not_found(scope, source_uri, revision)
        return document_of(rows[0], scope)

    def documents(self, scope: Scope, selection: DocumentFilter, *, after_uri: str, limit: int) -> list[Document]:
        """Returns live documents with a source_uri greater than `after_uri`, in its order; their content is left empty."""
        parameters = {
            "namespace": self._record.namespace_id(scope),
            "after": after_uri,
            "prefixes": list(selection.uri_prefixes),
            "tags": list(selection.tags),
            "limit": limit,
        }
        return [document_of(row, scope) for row in self._record.rows(_PAGE, parameters)]

    def last_revision(self, scope: Scope, source_uri: str) -> int:
        """Returns the highest revision ever given at the source_uri, 0 where none was."""
        parameters = {"namespace": self._record.namespace_id(scope), "uri": source_uri}
        return int(self._record.rows(_LAST_REVISION, parameters)[0]["revision"])

    def sections(self, document: Document) -> list[Section]:
        """Returns the sections of that version in reading order."""
        return [section_of(row) for row in self._record.rows(_SECTIONS, self._version(document))]

    def chunks(self, document: Document) -> list[StoredChunk]:
        """Returns the chunks of that version in order."""
        return [self._stored(row) for row in self._record.rows(_CHUNKS, self._version(document))]

    def chunk_rows(self, chunk_ids: Sequence[int]) -> dict[int, StoredChunk]:
        """Returns chunks by id, live or retired; ids that are staged or unknown have no entry."""
        rows = self._record.rows(_CHUNKS_BY_ID, {"ids": [int(chunk_id) for chunk_id in chunk_ids]})
        versions = self._versions_of({row["staged_seq"] for row in rows})
        return {row["chunk_id"]: self._stored(row | versions[row["staged_seq"]]) for row in rows if row["staged_seq"] in versions}

    def live_content(self, scope: Scope, content_hash: str, *, title: str, not_uri: str) -> str:
        """Returns the source_uri of another live document with this title and content hash, empty where none."""
        parameters = {"namespace": self._record.namespace_id(scope), "hash": content_hash, "title": title, "uri": not_uri}
        rows = self._record.rows(_LIVE_CONTENT, parameters)
        return str(rows[0]["source_uri"]) if rows else ""

    def chunks_served_elsewhere(self, scope: Scope, content_hashes: Sequence[str], *, not_uri: str) -> int:
        """Returns how many of the hashes are of a live chunk of another source_uri."""
        parameters = {"namespace": self._record.namespace_id(scope), **_hashes(content_hashes), "uri": not_uri}
        return int(self._record.rows(_SERVED_ELSEWHERE, parameters)[0]["hashes"])

    def vectors_by_input(self, scope: Scope, input_hashes: Sequence[str], *, model: str) -> dict[str, npt.NDArray[np.float32]]:
        """Returns the vectors already made of these embedding inputs (SHA-256) under the model."""
        parameters = {"namespace": self._record.namespace_id(scope), **_hashes(input_hashes), "model": model}
        found = self._record.table(_VECTORS_BY_INPUT, parameters)
        return dict(zip(found.column("input_hash").to_pylist(), vectors_of(found.column("vector")), strict=True))

    def _versions_of(self, changes: set[int]) -> dict[int, Row]:
        """What a chunk's row takes from its version, by the change that staged it. It never changes, so it is read once."""
        kept = self._versions
        found = {change: kept[change] for change in changes if change in kept}
        missing = [change for change in changes if change not in found]
        if missing:
            rows = self._record.rows(_VERSIONS_BY_CHANGE, {"changes": missing})
            fresh = {row["staged_seq"]: row for row in rows}
            if len(kept) > _VERSIONS_KEPT:
                kept.clear()
            kept.update(fresh)
            found |= fresh
        return found

    def _version(self, document: Document) -> dict[str, object]:
        namespace_id = self._record.namespace_id(document.scope)
        return {"namespace": namespace_id, "uri": document.source_uri, "revision": document.revision}

    def _stored(self, row: Row) -> StoredChunk:
        return stored_chunk_of(row, self._record.scope(row["namespace_id"]))


def _hashes(hashes: Sequence[str]) -> dict[str, object]:
    return {"hashes": list(hashes), "keys": [hash_key(sha256) for sha256 in hashes]}


def _not_found(scope: Scope, source_uri: str, revision: int | None) -> DocumentNotFound:
    metadata = {"namespace": scope.namespace, "source_uri": source_uri}
    if revision is None:
        return DocumentNotFound(f"no document stands at {source_uri} in namespace {scope.namespace}", metadata=metadata)
    message = f"no revision {revision} of {source_uri} is kept in namespace {scope.namespace}"
    return DocumentNotFound(message, metadata={**metadata, "revision": str(revision)})
