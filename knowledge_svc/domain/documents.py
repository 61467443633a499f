"""Writes and reads documents."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from knowledge_svc.domain.chunking import ChunkSettings, cut_text, sha256_of
from knowledge_svc.domain.embedding import embed_chunks
from knowledge_svc.domain.errors import DocumentNotFound, RevisionConflict, SectionNotFound
from knowledge_svc.domain.model import (
    Author,
    Chunk,
    Document,
    DocumentFilter,
    Original,
    RequestKey,
    RevisionDraft,
    Scope,
    Section,
    SourceClass,
    StoredChunk,
)
from knowledge_svc.domain.ports import BlobStore, Embedder, Store
from knowledge_svc.domain.publishing import Publisher
from services.errors import FieldViolation, InvalidArgument


@dataclass(frozen=True, slots=True)
class DocumentInput:
    """What a caller says of a document. `metadata` is a JSON object as text; `original` the file the text was made of."""

    source_uri: str
    content: str
    title: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    metadata: str = "{}"
    original: bytes | None = None
    original_filename: str = ""
    original_content_type: str = ""
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """What a write left: the live document without its content, and whether anything changed."""

    document: Document
    changed: bool = True
    duplicate_of_uri: str = ""
    duplicate_chunk_count: int = 0


@dataclass(frozen=True, slots=True)
class Outline:
    """The sections of a version; `section_content` is the text of the one that was asked for."""

    document: Document
    sections: tuple[Section, ...]
    section_content: str | None

    @property
    def structured(self) -> bool:
        """Whether the document has headings."""
        return any(section.path for section in self.sections)


class Documents:
    """The use cases of documents. Every method blocks; writes return after they are durable and searchable."""

    def __init__(
        self,
        store: Store,
        publisher: Publisher,
        embedder: Embedder,
        blobs: BlobStore,
        *,
        chunks: ChunkSettings,
        clock: Callable[[], datetime],
        new_id: Callable[[], str],
        check_wanted: Callable[[], None],
    ) -> None:
        """Takes what it works with; `check_wanted` raises where nobody waits for the running write any more."""
        self._store = store
        self._publisher = publisher
        self._embedder = embedder
        self._blobs = blobs
        self._chunks = chunks
        self._clock = clock
        self._new_id = new_id
        self._check_wanted = check_wanted

    def add(self, scope: Scope, given: DocumentInput, *, author: Author, request: RequestKey | None = None) -> Written:
        """Writes a new revision; one that is live at the source_uri is retired.

        Raises:
            IdempotencyConflict: the request id was used with another body.
            Cancelled, DeadlineExceeded: the caller waits no more; nothing was written.
        """
        settled = partial(self._answered, request)
        return self._write(scope, given, author=author, request=request, settled=settled)

    def upsert(
        self,
        scope: Scope,
        given: DocumentInput,
        *,
        author: Author,
        request: RequestKey | None = None,
        expected_revision: int | None = None,
    ) -> Written:
        """Adds or replaces; the same content and metadata again writes nothing.

        Raises:
            RevisionConflict: the live revision is not the expected one.
            IdempotencyConflict: the request id was used with another body.
            Cancelled, DeadlineExceeded: the caller waits no more; nothing was written.
        """
        settled = partial(self._settled, scope, given, request=request, expected_revision=expected_revision)
        return self._write(scope, given, author=author, request=request, settled=settled)

    def get(self, scope: Scope, source_uri: str, *, revision: int | None = None, superseded: bool = False) -> Document:
        """Returns a version whole.

        Raises:
            DocumentNotFound: there is none.
        """
        return self._store.document(scope, source_uri, revision=revision, superseded=superseded)

    def page(self, scope: Scope, selection: DocumentFilter, *, after_uri: str, limit: int) -> list[Document]:
        """Returns live documents after a source_uri, without their content."""
        return self._store.documents(scope, selection, after_uri=after_uri, limit=limit)

    def outline(
        self,
        scope: Scope,
        source_uri: str,
        *,
        section_path: Sequence[str] = (),
        include_children: bool = False,
        revision: int | None = None,
    ) -> Outline:
        """Returns the sections of a version, and the content of one of them where its path is given.

        Raises:
            DocumentNotFound: there is no such version.
            SectionNotFound: no section has the path.
        """
        document = self._store.document(scope, source_uri, revision=revision)
        sections = tuple(self._store.sections(document))
        content = None
        if section_path:
            wanted = _wanted(sections, tuple(section_path), include_children=include_children)
            content = joined_text([row for row in self._store.chunks(document) if row.chunk.index in wanted])
        return Outline(document, sections, content)

    def delete(
        self, scope: Scope, source_uri: str, *, expected_revision: int | None = None, request: RequestKey | None = None
    ) -> tuple[Document, int]:
        """Retires the live document; returns it and how many chunks stopped serving.

        Raises:
            DocumentNotFound: none is live.
            RevisionConflict: the live revision is not the expected one.
        """
        with self._publisher.turn():
            if request and (answered := self._store.answer(request)) and answered.document:
                return answered.document, len(answered.retired)
            document = self._store.document(scope, source_uri)
            check_expected(source_uri, document, expected_revision)
            publication = self._publisher.retire(document, at=self._clock(), request=request)
            return document, len(publication.retired)

    def _answered(self, request: RequestKey | None) -> Written | None:
        """What an earlier call under the request key was told, None where there was none."""
        answered = self._store.answer(request) if request else None
        if answered is None or answered.document is None:
            return None
        return self._written(answered.document, [row.chunk for row in self._store.chunks(answered.document)])

    def _settled(
        self, scope: Scope, given: DocumentInput, *, request: RequestKey | None, expected_revision: int | None
    ) -> Written | None:
        """The answer of an upsert that has nothing to write."""
        if repeated := self._answered(request):
            return repeated
        live = self._live(scope, given.source_uri)
        check_expected(given.source_uri, live, expected_revision)
        return Written(replace(live, content=""), changed=False) if live and _same(live, given) else None

    def _live(self, scope: Scope, source_uri: str) -> Document | None:
        try:
            return self._store.document(scope, source_uri)
        except DocumentNotFound:
            return None

    def _write(
        self,
        scope: Scope,
        given: DocumentInput,
        *,
        author: Author,
        request: RequestKey | None,
        settled: Callable[[], Written | None],
    ) -> Written:
        """Writes a revision, unless the answer is settled; that is asked again once it is this write's turn."""
        if known := settled():
            return known
        chunks, sections = self._cut(given)
        vectors = embed_chunks(
            chunks, scope=scope, store=self._store, embedder=self._embedder, progress=lambda _: self._check_wanted()
        )
        with self._publisher.turn():
            if known := settled():
                return known
            live = self._live(scope, given.source_uri)
            document = self._document(scope, given, author=author, live=live, chunk_count=len(chunks))
            base = live.revision if live else None
            model = self._embedder.model
            draft = RevisionDraft(document, chunks, sections, vectors, model, base_revision=base, request=request)
            self._publisher.publish(draft)
        return self._written(document, chunks)

    def _cut(self, given: DocumentInput) -> tuple[tuple[Chunk, ...], tuple[Section, ...]]:
        chunks, sections = cut_text(given.content, title=given.title, description=given.description, settings=self._chunks)
        if not chunks:
            violation = FieldViolation("document.content", "give text, a title or a description: there is nothing to find")
            raise InvalidArgument("the document has no text, title or description", violations=[violation])
        return chunks, sections

    def _document(self, scope: Scope, given: DocumentInput, *, author: Author, live: Document | None, chunk_count: int) -> Document:
        now = self._clock()
        content_hash = sha256_of(given.content)
        same_text = live is not None and live.content_hash == content_hash
        return Document(
            scope=scope,
            source_uri=given.source_uri,
            doc_id=live.doc_id if live else self._new_id(),
            revision=self._store.last_revision(scope, given.source_uri) + 1,
            title=given.title,
            description=given.description,
            tags=given.tags,
            metadata=given.metadata,
            content=given.content,
            content_hash=content_hash,
            author=live.author if live is not None and same_text else author,
            source_class=SourceClass.AUTHORED,
            ingested_at=now,
            updated_at=now,
            chunk_count=chunk_count,
            original=self._original(given),
            source=given.source,
        )

    def _original(self, given: DocumentInput) -> Original | None:
        if given.original is None:
            return None
        return Original(self._blobs.put(given.original), given.original_filename, given.original_content_type)

    def _written(self, document: Document, chunks: Sequence[Chunk]) -> Written:
        """What is told of a version that was written: it, and what of it is served from elsewhere too."""
        twin = self._store.live_content(document.scope, document.content_hash, title=document.title, not_uri=document.source_uri)
        hashes = [chunk.content_hash for chunk in chunks]
        duplicates = self._store.chunks_served_elsewhere(document.scope, hashes, not_uri=document.source_uri)
        return Written(replace(document, content=""), duplicate_of_uri=twin, duplicate_chunk_count=duplicates)


def check_expected(source_uri: str, live: Document | None, expected_revision: int | None) -> None:
    """Raises RevisionConflict where the live revision (0: none) is not the expected one; None expects nothing."""
    found = live.revision if live else 0
    if expected_revision is not None and expected_revision != found:
        raise RevisionConflict(
            f"{source_uri} is at revision {found}, not {expected_revision}; read it again and repeat",
            metadata={"source_uri": source_uri, "revision": str(found), "expected_revision": str(expected_revision)},
        )


def joined_text(rows: Sequence[StoredChunk]) -> str:
    """The text of chunks in order, each passage once: where two windows of one text overlap, the overlap is not repeated."""
    parts: list[str] = []
    end = -1
    for row in rows:
        place = row.chunk.locator
        start = getattr(place, "start", None)
        if start is not None and not row.chunk.block_type:
            parts.append(row.chunk.content[max(0, end - start) :] if start < end else row.chunk.content)
            end = max(end, start + len(row.chunk.content))
        else:
            parts.extend(("\n\n" if parts else "", row.chunk.content))
    return "".join(parts)


def request_key(identity: str, method: str, request_id: str, body: bytes) -> RequestKey | None:
    """The key of a call that may be retried, None where the caller gave no request id."""
    return RequestKey(identity, method, request_id, hashlib.sha256(body).hexdigest()) if request_id else None


def _same(live: Document, given: DocumentInput) -> bool:
    """Whether a write would leave everything as it is. An ingested document is never the same as a text write."""
    return (
        live.format is None
        and live.content_hash == sha256_of(given.content)
        and (live.title, live.description, live.tags, live.source) == (given.title, given.description, given.tags, given.source)
        and json.loads(live.metadata) == json.loads(given.metadata)
        and (given.original is None or _keeps(live, given.original))
    )


def _keeps(live: Document, original: bytes) -> bool:
    return live.original is not None and live.original.sha256 == hashlib.sha256(original).hexdigest()


def _wanted(sections: Sequence[Section], path: tuple[str, ...], *, include_children: bool) -> set[int]:
    matching = [section for section in sections if section.path[: len(path)] == path]
    if not matching:
        shown = " > ".join(path)
        raise SectionNotFound(f"no section {shown!r}; outline the document to see its sections", metadata={"section": shown})
    own = [section for section in matching if include_children or section.path == path]
    return {index for section in own for index in section.chunk_indexes}
