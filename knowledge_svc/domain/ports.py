"""The seams of the domain: what it needs from storage, indexes, models and the extractor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from artifact.model import Artifact
from knowledge_svc.domain.model import (
    ChunkFilter,
    DatasetSnapshot,
    Document,
    DocumentFilter,
    ExtractOptions,
    FormatStanding,
    IndexRows,
    Job,
    JobFailure,
    JobStage,
    JobState,
    KeyMatch,
    Publication,
    RequestKey,
    RevisionDraft,
    Scope,
    Scored,
    Section,
    StagedRevision,
    StoredChunk,
    Token,
    Upload,
    Vectors,
)

Mask: TypeAlias = npt.NDArray[np.bool_]
"""One flag a chunk of a snapshot, in the snapshot's own order."""


class Store(Protocol):
    """The record of documents. Writes answer after their commit is on disk; reads see the last commit.

    Every write raises RecordBehindIndex while the record is known to have lost writes, and DiskFull where the disk is full.
    """

    def document(self, scope: Scope, source_uri: str, *, revision: int | None = None, superseded: bool = False) -> Document:
        """Returns the live version, or the kept `revision`; with `superseded` the newest version even if retired.

        Raises:
            DocumentNotFound: there is none.
        """

    def documents(self, scope: Scope, selection: DocumentFilter, *, after_uri: str, limit: int) -> list[Document]:
        """Returns live documents with a source_uri greater than `after_uri`, in its order; their content is left empty."""

    def last_revision(self, scope: Scope, source_uri: str) -> int:
        """Returns the highest revision ever given at the source_uri, 0 where none was."""

    def sections(self, document: Document) -> list[Section]:
        """Returns the sections of that version in reading order."""

    def chunks(self, document: Document) -> list[StoredChunk]:
        """Returns the chunks of that version in order."""

    def chunk_rows(self, chunk_ids: Sequence[int]) -> dict[int, StoredChunk]:
        """Returns chunks by id, live or retired."""

    def live_content(self, scope: Scope, content_hash: str, *, title: str, not_uri: str) -> str:
        """Returns the source_uri of another live document with this title and content hash, empty where none."""

    def chunks_served_elsewhere(self, scope: Scope, content_hashes: Sequence[str], *, not_uri: str) -> int:
        """Returns how many of the hashes are of a live chunk of another source_uri."""

    def vectors_by_input(self, scope: Scope, input_hashes: Sequence[str], *, model: str) -> dict[str, npt.NDArray[np.float32]]:
        """Returns the vectors already made of these embedding inputs (SHA-256) under the model."""

    def answer(self, key: RequestKey) -> Publication | None:
        """Returns what an earlier call under the same request key published.

        Raises:
            IdempotencyConflict: the request id was used with another body.
        """

    def stage(self, draft: RevisionDraft) -> StagedRevision:
        """Writes the draft's chunks, not served yet, in one transaction.

        Raises:
            IndexModelMismatch: the record's vectors are of another model or length.
        """

    def publish(self, staged: StagedRevision) -> Publication:
        """Makes the staged revision the live one in one transaction, with its datasets, its job's end and its request key.

        Under a request key that an earlier call used, that call's answer comes back and the staged chunks go.

        Raises:
            RevisionConflict: the live revision is not the draft's base any more; nothing was written.
            IdempotencyConflict: the request id was used with another body; nothing was written.
            Cancelled: the draft's job was asked to stop, or ended; nothing was written.
            FailedPrecondition: the staged chunks were abandoned.
        """

    def abandon(self, staged: StagedRevision) -> None:
        """Removes staged chunks that will not be published; leaves published ones alone."""

    def retire(self, document: Document, *, at: datetime, request: RequestKey | None = None) -> Publication:
        """Retires a live document, its chunks and its datasets in one transaction.

        Under a request key that an earlier call used, that call's answer comes back.

        Raises:
            RevisionConflict: another version is live.
            IdempotencyConflict: the request id was used with another body; nothing was written.
        """

    def scopes(self) -> list[Scope]:
        """Returns every scope that ever held a document."""

    def index_rows(self, scope: Scope, *, after_chunk_id: int, vectors: bool) -> Iterator[IndexRows]:
        """Yields the published or retired chunks with a greater id in batches, ascending; staged ones are left out."""

    def live_counts(self) -> dict[Scope, int]:
        """Returns how many chunks serve in each scope that has any."""

    def live_chunk_ids(self, scope: Scope) -> tuple[npt.NDArray[np.int64], int]:
        """Returns the ids that serve, ascending, and the change number they are as of."""

    def database_id(self) -> str:
        """Returns the id made with the database; indexes of another one are not read."""

    def embedding_model(self) -> str:
        """Returns the model that made the record's vectors, empty while there are none."""

    def datasets(self, scope: Scope, source_uri: str) -> list[DatasetSnapshot]:
        """Returns the live snapshots of a source in file order; empty where it has none."""

    def dataset_page(
        self, scope: Scope, uri_prefixes: Sequence[str], *, after: tuple[str, str], limit: int
    ) -> list[DatasetSnapshot]:
        """Returns live snapshots after (source_uri, dataset_id), in that order."""

    def replace_dataset(self, snapshot_id: str, snapshot: DatasetSnapshot, *, at: datetime) -> None:
        """Has a snapshot serve in place of the live one with the id, in one transaction; one of the same id is settled anew.

        Raises:
            DatasetReplaced: the snapshot with the id serves no more; nothing was written.
        """


class JobQueue(Protocol):
    """Uploads and ingestions in the record; every change is durable when it returns.

    Word from an attempt that is over, such as a late progress, changes nothing.
    """

    def add_upload(self, upload: Upload) -> Upload:
        """Keeps an upload whose blob is stored; one of the same id, bytes and owner that is kept already comes back instead.

        Raises:
            IdempotencyConflict: the id is of an upload of other bytes, or of someone else.
        """

    def upload(self, scope: Scope, upload_id: str) -> Upload:
        """Returns an upload.

        Raises:
            UploadNotFound: there is none.
        """

    def add_job(self, job: Job, *, request: RequestKey | None) -> Job:
        """Queues a job and returns it with its `seq`; under a known request key the earlier job comes back instead.

        Raises:
            IdempotencyConflict: the request id was used with another body.
        """

    def job(self, scope: Scope, ingestion_id: str) -> Job:
        """Returns a job.

        Raises:
            IngestionNotFound: there is none.
        """

    def jobs(self, scope: Scope, *, states: Sequence[JobState], source_uri: str, before_seq: int | None, limit: int) -> list[Job]:
        """Returns jobs newest first, those below `before_seq`."""

    def claim(self, *, now: datetime, lease_until: datetime) -> Job | None:
        """Takes the next due job: namespaces in turn, one job of a source at a time, in the order asked.

        A job that is processing under a lease that passed is due as well: its worker is gone.
        The job is processing, its attempts counted, when this returns. None where nothing is due.
        """

    def next_due(self, *, now: datetime) -> datetime | None:
        """Returns when the next waiting job is due, `now` where one is already, None where none waits.

        A job that waits for an earlier one of its source does not count: the end of that one lets it go.
        """

    def progress(self, job: Job, *, stage: JobStage, unit: str, done: int, total: int, lease_until: datetime) -> None:
        """Records where a processing job stands and renews its lease."""

    def retry(self, job: Job, *, failure: JobFailure, next_attempt_at: datetime, now: datetime) -> None:
        """Puts a processing job back to wait; one that was asked to stop ends as cancelled."""

    def fail(self, job: Job, *, failure: JobFailure, now: datetime) -> None:
        """Ends a processing job that publishes nothing; one that was asked to stop ends as cancelled."""

    def cancel(self, scope: Scope, ingestion_id: str, *, now: datetime) -> Job:
        """Ends a pending job as cancelled; marks a processing one, which its worker then ends.

        Raises:
            TooLateToCancel: the job ended.
        """

    def end_cancelled(self, job: Job, *, now: datetime) -> None:
        """Ends a processing job as cancelled."""

    def requeue_processing(self, *, now: datetime) -> int:
        """Puts back every job that a dead process was working on; returns how many. Called once at the start.

        One that was asked to stop ends as cancelled and is not counted.
        """

    def counts(self) -> dict[JobState, int]:
        """Returns how many jobs stand in each state, every state named."""

    def oldest_open(self) -> datetime | None:
        """Returns when the oldest job that has not ended was queued, None where all have."""

    def prune(self, *, now: datetime) -> None:
        """Forgets jobs that ended 30 days ago with their request keys, and uploads that expired 7 days ago and serve no job."""


class BlobStore(Protocol):
    """Bytes under their SHA-256; a blob that `put_file` returned for is on disk."""

    def new_file(self) -> AbstractContextManager[BlobFile]:
        """Opens a spool file that vanishes unless it is kept."""

    def named_file(self, name: str, *, offset: int) -> AbstractContextManager[BlobFile]:
        """Opens the spool file of a name to go on after `offset` bytes; what it has beyond goes, what is written stays.

        Whoever had it open before writes no more. Names are lower-case hexadecimal.

        Raises:
            BlobTooShort: it has fewer bytes than `offset`.
        """

    def partial(self, name: str) -> Partial | None:
        """Returns how far the spool file of a name is, None where there is none."""

    def put(self, content: bytes) -> str:
        """Keeps bytes and returns their SHA-256.

        Raises:
            EmptyDocument: there are none.
        """

    def read(self, sha256: str) -> bytes:
        """Returns the bytes.

        Raises:
            BlobGone: they are not stored.
        """

    def chunks(self, sha256: str, *, size_bytes: int) -> Iterator[bytes]:
        """Yields the bytes in pieces.

        Raises:
            BlobGone: they are not stored.
        """

    def exists(self, sha256: str) -> bool:
        """Tells whether the bytes are stored."""


@dataclass(frozen=True, slots=True)
class Partial:
    """How far a named spool file is: its bytes, and when the last of them came."""

    size_bytes: int
    changed_at: datetime


class BlobFile(Protocol):
    """A spool file being written."""

    def write(self, data: bytes) -> None:
        """Appends bytes."""

    @property
    def size_bytes(self) -> int:
        """Bytes written so far."""

    @property
    def sha256(self) -> str:
        """Hash of the bytes written so far."""

    def discard(self) -> None:
        """Removes the file where it was not kept."""

    def keep(self) -> str:
        """Syncs the file, moves it under its hash, and returns the hash.

        Raises:
            EmptyDocument: nothing was written.
        """


class VectorIndex(Protocol):
    """Vectors under chunk ids, appended only; a chunk's position is the order it was added in. One thread adds; many search."""

    def add(self, chunk_ids: npt.NDArray[np.int64], vectors: Vectors) -> None:
        """Appends vectors."""

    def search(self, vector: npt.NDArray[np.float32], *, k: int, allowed: Mask) -> list[Scored]:
        """Returns the k chunks nearest by cosine among the allowed positions, best first, ties to the smaller id."""

    def similarities(self, vector: npt.NDArray[np.float32], chunk_ids: Sequence[int]) -> dict[int, float]:
        """Returns the cosine similarity of each chunk."""

    @property
    def chunk_ids(self) -> npt.NDArray[np.int64]:
        """The ids in position order."""


class LexicalIndex(Protocol):
    """BM25 over text and context. One thread writes; many search, each over what was committed when it began."""

    def add(self, rows: IndexRows) -> None:
        """Adds or replaces chunks and commits them with the rows' change number as the watermark."""

    def search(self, terms: Sequence[Token], *, k: int, allowed_ids: npt.NDArray[np.int64]) -> list[Scored]:
        """Returns the k best chunks among the allowed ids, best first, ties to the smaller id."""

    def watermark(self) -> int:
        """Returns the change number of the last commit, 0 for an empty index."""


class IndexSnapshot(Protocol):
    """One moment of a namespace's indexes; what it shows never changes."""

    @property
    def change_seq(self) -> int:
        """The record's change this reflects."""

    @property
    def size(self) -> int:
        """Chunks that serve."""

    def allowed(self, selection: ChunkFilter) -> Mask:
        """Returns the chunks that serve and pass the filter."""

    def nearest(self, vector: npt.NDArray[np.float32], *, k: int, allowed: Mask) -> list[Scored]:
        """Returns the k chunks nearest by cosine, best first."""

    def lexical(self, terms: Sequence[Token], *, k: int, allowed: Mask) -> list[Scored]:
        """Returns the k best chunks by BM25, best first."""

    def holders(self, keys: Sequence[str], *, allowed: Mask) -> list[KeyMatch]:
        """Returns the chunks that hold any of the keys, most keys first, ties to the smaller id."""

    def similarities(self, vector: npt.NDArray[np.float32], chunk_ids: Sequence[int]) -> dict[int, float]:
        """Returns the cosine similarity of chunks found by another leg."""

    def sections(self, chunk_ids: Sequence[int]) -> list[int]:
        """Returns one number a chunk, equal for chunks of one section of one document."""


class SearchIndexes(Protocol):
    """The indexes of every namespace. Writers come one at a time; readers hold a snapshot."""

    def snapshot(self, scope: Scope) -> AbstractContextManager[IndexSnapshot]:
        """Opens the newest snapshot, loading the namespace on first use.

        Raises:
            IndexModelMismatch: the stored vectors are of another model.
        """

    def add(self, staged: StagedRevision) -> None:
        """Takes staged chunks in, not served yet."""

    def serve(self, publication: Publication) -> None:
        """Makes a new snapshot with the publication's chunks live and its retired ones gone."""

    def rebuild(self, scope: Scope) -> int:
        """Makes the namespace's indexes anew from the record; returns the chunks in them."""


class Embedder(Protocol):
    """A sentence-embedding model."""

    @property
    def model(self) -> str:
        """Name and version; vectors of different models are never compared."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Returns one unit vector a text, shape (n, dimension). Safe from several threads."""

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        """Returns the unit vector of a question, shape (dimension,)."""


@dataclass(frozen=True, slots=True)
class EmbeddingInput:
    """What vectors are made of, and the SHA-256 it is known by."""

    input_hash: str
    context: str
    content: str


class FreshVectors(Protocol):
    """Vectors of another model, made beside those that serve. Used while nothing else writes."""

    def begin(self, model: str, *, dimension: int) -> None:
        """Goes on with what was made for this model, or begins anew."""

    def counts(self) -> tuple[int, int]:
        """Returns how many inputs have a fresh vector, and how many there are."""

    def missing(self, limit: int) -> list[EmbeddingInput]:
        """Returns inputs that have none yet."""

    def keep(self, inputs: Sequence[EmbeddingInput], vectors: Vectors, *, model: str) -> None:
        """Writes fresh vectors down."""

    def switch(self, model: str, *, dimension: int) -> None:
        """Puts the fresh vectors in the place of those that serve, as one change."""


class Reranker(Protocol):
    """Orders passages by a question."""

    @property
    def name(self) -> str:
        """The name a request asks for it by."""

    def rerank(self, query: str, passages: Sequence[str], *, timeout_s: float) -> list[float]:
        """Returns one score a passage, higher is better."""


class LanguageModel(Protocol):
    """Writes text from a prompt."""

    @property
    def name(self) -> str:
        """Model name as receipts and answers cite it."""

    def complete(self, system: str, messages: Sequence[str], *, timeout_s: float) -> str:
        """Returns the model's answer."""


ProgressSink: TypeAlias = Callable[[str, int, int], None]
"""Called with unit, units done and units in all (0 while unknown)."""


class Extractor(Protocol):
    """Turns files into artifacts, elsewhere."""

    async def extract(
        self, blobs: BlobStore, upload: Upload, options: ExtractOptions, *, progress: ProgressSink
    ) -> tuple[Artifact, bytes]:
        """Returns the checked artifact and its stored form.

        Raises:
            ExtractionRefused: the file or the request is at fault, or no extractor takes the format.
            ExtractorAccessDenied: the extractor does not take this service's credential.
            ExtractorDown: no extractor of the format can be reached, or all failed; trying again can help.
            InvalidArtifact: what came back breaks the contract.
            BlobGone: the file's bytes are not stored any more.
        """

    async def formats(self) -> list[FormatStanding]:
        """Returns every format there is, by id, and whether a file of it can be read now; asked at most once a minute."""
