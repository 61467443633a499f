"""The values that documents, chunks, jobs and datasets are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from artifact.locators import Locator
from artifact.model import ArtifactWarning, Clarification, Column, Coverage, RejectedRow

SECTION_SEPARATOR: Final = "\x1f"

Vectors: TypeAlias = npt.NDArray[np.float32]
"""Shape (n, dimension), rows of length 1."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The organisation and namespace that every record belongs to."""

    org: str
    namespace: str


class SourceClass(StrEnum):
    """Where a document came from."""

    AUTHORED = "authored"
    INGESTED = "ingested"
    IMPORTED = "imported"


@dataclass(frozen=True, slots=True)
class Original:
    """The file a document was made of, kept as a blob under its SHA-256."""

    sha256: str
    filename: str
    content_type: str


@dataclass(frozen=True, slots=True)
class Author:
    """Who writes: the identity's name, and the person behind it where one is known."""

    actor: str
    user_id: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """One version of a document.

    `metadata` is a JSON object as text. `format`, `parser` and `coverage` are None for a document that was not ingested.
    `content_hash` is the SHA-256 of the content. `superseded_at` is set on a version that no longer serves.
    """

    scope: Scope
    source_uri: str
    doc_id: str
    revision: int
    title: str
    description: str
    tags: tuple[str, ...]
    metadata: str
    content: str
    content_hash: str
    author: Author
    source_class: SourceClass
    ingested_at: datetime
    updated_at: datetime
    chunk_count: int
    format: str | None = None
    parser: str | None = None
    coverage: Coverage | None = None
    ingestion_id: str = ""
    original: Original | None = None
    artifact_sha256: str = ""
    source: str | None = None
    superseded_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage as it was cut. `context` is title, description and breadcrumb; `block_type` is empty for text a caller wrote.

    `content_hash` is the SHA-256 of the content; `keys` are exact names as the source writes them.
    """

    index: int
    content: str
    context: str
    section_path: tuple[str, ...]
    locator: Locator
    content_hash: str
    block_type: str = ""
    block_ids: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    noise: bool = False

    @property
    def embedding_input(self) -> str:
        """What the vector is made of: the context, then the content."""
        return embedding_input(self.context, self.content)


@dataclass(frozen=True, slots=True)
class Section:
    """A section as recorded at the write: its headings, its chunks and the characters of its own text."""

    path: tuple[str, ...]
    chunk_indexes: tuple[int, ...]
    characters: int
    noise: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class RevisionDraft:
    """All that one publish writes. `base_revision` is the live revision it was made over, None where no document is live."""

    document: Document
    chunks: tuple[Chunk, ...]
    sections: tuple[Section, ...]
    vectors: Vectors
    embedding_model: str
    base_revision: int | None
    datasets: tuple[DatasetSnapshot, ...] = ()
    job_end: JobEnd | None = None
    request: RequestKey | None = None


@dataclass(frozen=True, slots=True)
class RequestKey:
    """A caller's request id, the method and the hash of its body: the same key gives the same answer."""

    identity: str
    method: str
    request_id: str
    body_sha256: str


@dataclass(frozen=True, slots=True)
class StagedRevision:
    """A draft whose chunks are in the record and not served: the ids they got, in chunk order, and the change that holds them."""

    draft: RevisionDraft
    chunk_ids: tuple[int, ...]
    change_seq: int


@dataclass(frozen=True, slots=True)
class Publication:
    """What one commit changed: chunk ids that serve now, those that no longer do, and the change number."""

    scope: Scope
    live: tuple[int, ...]
    retired: tuple[int, ...]
    change_seq: int
    document: Document | None = None


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as the record holds it, with what a hit needs of its document."""

    chunk_id: int
    scope: Scope
    source_uri: str
    doc_id: str
    revision: int
    title: str
    format: str | None
    ingested_at: datetime
    tags: tuple[str, ...]
    chunk: Chunk


@dataclass(frozen=True, slots=True, eq=False)
class IndexRows:
    """Some chunks as the indexes take them, in ascending chunk id; every sequence has one entry a chunk.

    `sections` are equal for the chunks of one section of one document, over its revisions. `live` tells whether the chunk serves
    at `change_seq`. `vectors` is None where the caller did not ask for them.
    """

    chunk_ids: npt.NDArray[np.int64]
    source_uris: tuple[str, ...]
    tags: tuple[tuple[str, ...], ...]
    formats: tuple[str, ...]
    block_types: tuple[str, ...]
    ingested_at_us: npt.NDArray[np.int64]
    sections: tuple[str, ...]
    contents: tuple[str, ...]
    contexts: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...]
    live: npt.NDArray[np.bool_]
    vectors: Vectors | None
    change_seq: int


@dataclass(frozen=True, slots=True)
class DocumentFilter:
    """Selects documents: any of the prefixes, any of the tags; an empty tuple selects all."""

    uri_prefixes: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChunkFilter:
    """Selects chunks; an empty tuple selects all. In `formats`, "" means documents that were not ingested."""

    uri_prefixes: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    block_types: tuple[str, ...] = ()
    ingested_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Scored:
    """A chunk and its score in one leg; higher is better."""

    chunk_id: int
    score: float


@dataclass(frozen=True, slots=True)
class KeyMatch:
    """A chunk and the query's identifiers it holds."""

    chunk_id: int
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Token:
    """A term of the lexical index: text, position, and half-open byte range in the text it was cut from."""

    text: str
    position: int
    start: int
    end: int


class JobState(StrEnum):
    """Where an ingestion stands; the last four are ends."""

    PENDING = "pending"
    PROCESSING = "processing"
    READY = "ready"
    PARTIAL = "partial"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen to the job."""
        return self not in (JobState.PENDING, JobState.PROCESSING)


class JobStage(StrEnum):
    """What a processing job does."""

    PARSE = "parse"
    EMBED = "embed"
    PUBLISH = "publish"


class JobErrorCode(StrEnum):
    """Why a job failed (L-ERR)."""

    FORMAT_UNAVAILABLE = "format_unavailable"
    UNSUPPORTED_FORMAT = "unsupported_format"
    FORMAT_MISMATCH = "format_mismatch"
    CORRUPT = "corrupt"
    TIMEOUT = "timeout"
    RESOURCE_LIMIT = "resource_limit"
    ENCODING = "encoding"
    INVALID_OPTION = "invalid_option"
    INCOMPLETE_EXTRACTION = "incomplete_extraction"
    NO_TEXT = "no_text"
    TOO_LARGE = "too_large"
    REVISION_CONFLICT = "revision_conflict"
    ORIGINAL_GONE = "original_gone"
    RETRIES_EXHAUSTED = "retries_exhausted"
    INVALID_ARTIFACT = "invalid_artifact"
    REFUSED = "refused"
    INTERNAL = "internal"


class FailureClass(StrEnum):
    """What kind of failure it was."""

    RETRYING = "retrying"
    CONTENT = "content"
    SYSTEM = "system"
    CONFLICT = "conflict"


@dataclass(frozen=True, slots=True)
class JobFailure:
    """Why an attempt failed: the code, its class, a sentence for a person, and the finer reason of the extractor.

    `times` counts the attempts that ended in a passing failure so far; those that a crash cut off are not among them.
    """

    code: JobErrorCode
    failure_class: FailureClass
    message: str
    reason: str = ""
    times: int = 1


@dataclass(frozen=True, slots=True)
class ExtractOptions:
    """What the caller knows of a file that the file cannot say."""

    format: str = ""
    encoding: str = ""
    sql_dialect: str = ""
    password: str = ""


@dataclass(frozen=True, slots=True)
class Upload:
    """A stored file that waits for its ingest. `format` is what name and content type say, empty where they say none."""

    upload_id: str
    scope: Scope
    sha256: str
    size_bytes: int
    filename: str
    content_type: str
    format: str
    owner: str
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Job:
    """An ingestion as the record holds it.

    `seq` orders jobs of one source. `lease_until` is set while processing; `next_attempt_at` while waiting.
    """

    ingestion_id: str
    scope: Scope
    seq: int
    upload: Upload
    source_uri: str
    title: str
    description: str
    tags: tuple[str, ...]
    metadata: str
    options: ExtractOptions
    expected_revision: int | None
    allow_partial: bool
    author: Author
    source: str | None
    state: JobState
    queued_at: datetime
    updated_at: datetime
    next_attempt_at: datetime
    stage: JobStage | None = None
    unit: str = ""
    units_done: int = 0
    units_total: int = 0
    attempts: int = 0
    lease_until: datetime | None = None
    ended_at: datetime | None = None
    cancel_requested: bool = False
    failure: JobFailure | None = None
    coverage: Coverage | None = None
    warnings: tuple[ArtifactWarning, ...] = ()
    chunks: int = 0
    revision: int = 0
    datasets: int = 0
    format: str = ""


@dataclass(frozen=True, slots=True)
class JobEnd:
    """How a job that publishes ends; it is written in the publishing transaction itself."""

    ingestion_id: str
    state: JobState
    ended_at: datetime
    coverage: Coverage
    warnings: tuple[ArtifactWarning, ...]
    chunks: int
    datasets: int
    format: str


class SchemaState(StrEnum):
    """Whether a dataset's schema is settled."""

    INFERRED = "inferred"
    NEEDS_CLARIFICATION = "needs_clarification"
    APPROVED = "approved"


@dataclass(frozen=True, slots=True)
class DatasetSnapshot:
    """A typed table of one revision, its rows in an immutable Parquet file whose SHA-256 is `file_sha256`.

    `ordinal` is its place among the source's datasets, from 0. `rejected_rows` are the first ones.
    """

    snapshot_id: str
    scope: Scope
    source_uri: str
    dataset_id: str
    name: str
    ordinal: int
    revision: int
    columns: tuple[Column, ...]
    schema_state: SchemaState
    clarifications: tuple[Clarification, ...]
    row_count: int
    rejected_count: int
    rejected_rows: tuple[RejectedRow, ...]
    complete: bool
    locator: Locator
    file_sha256: str
    published_at: datetime


@dataclass(frozen=True, slots=True)
class FormatInfo:
    """A format an extractor reads; extensions with the dot, lower case."""

    id: str
    extensions: tuple[str, ...]
    media_types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FormatStanding:
    """A format and whether a file of it can be read now: None while that cannot be asked (L-FMT-09)."""

    format: FormatInfo
    available: bool | None


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an extractor reads and refuses; a `max_bytes` of 0 sets no bound."""

    formats: tuple[FormatInfo, ...]
    max_bytes: int
    refused_extensions: tuple[str, ...]


def embedding_input(context: str, content: str) -> str:
    """What a chunk's vector is made of (L-CHUNK-09)."""
    return f"{context}\n\n{content}".strip() if context else content


def section_key(doc_id: str, path: Sequence[str]) -> str:
    """What tells one section of one document from every other, as `IndexRows.sections` holds it."""
    return SECTION_SEPARATOR.join((doc_id, *path))
