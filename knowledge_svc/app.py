"""The composition root: opens everything once, wires it, and closes it in reverse."""

from __future__ import annotations

import asyncio
import itertools
import time
import uuid
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import structlog
from loom.knowledge.v1 import (
    corpus_pb2,
    corpus_pb2_grpc,
    datasets_pb2,
    datasets_pb2_grpc,
    documents_pb2,
    documents_pb2_grpc,
    ingest_pb2,
    ingest_pb2_grpc,
    records_pb2,
    records_pb2_grpc,
    search_pb2,
    search_pb2_grpc,
)

from knowledge_svc.api.datasets import DatasetServicer
from knowledge_svc.api.documents import DocumentServicer
from knowledge_svc.api.ingest import IngestServicer
from knowledge_svc.api.requests import Scopes
from knowledge_svc.api.search import SearchServicer
from knowledge_svc.api.uploads import UploadLimits
from knowledge_svc.config import KnowledgeConfig
from knowledge_svc.datasets.engine import DuckDbEngine, EngineLimits
from knowledge_svc.datasets.retyping import DatasetRetyper
from knowledge_svc.datasets.snapshots import SnapshotFiles
from knowledge_svc.domain.approvals import DatasetApprovals, DatasetWriter
from knowledge_svc.domain.datasets import DatasetQueries
from knowledge_svc.domain.documents import Documents
from knowledge_svc.domain.errors import EmbedderDown
from knowledge_svc.domain.ingestion import Ingestions, RetryPolicy
from knowledge_svc.domain.ports import Embedder
from knowledge_svc.domain.publishing import Publisher
from knowledge_svc.domain.search import Searcher
from knowledge_svc.domain.tracing import RowTracer
from knowledge_svc.extraction.channel import extractor_channel
from knowledge_svc.extraction.remote import RemoteExtractor
from knowledge_svc.extraction.routing import RoutedExtractor
from knowledge_svc.extraction.stored import StoredArtifacts
from knowledge_svc.gauges import index_gauges, queue_gauges
from knowledge_svc.index.embedding import MiniLmEmbedder
from knowledge_svc.index.namespaces import Indexes
from knowledge_svc.index.remote_embedding import EmbeddingEndpoint, RemoteEmbedder
from knowledge_svc.jobs.board import JobBoard
from knowledge_svc.jobs.upkeep import Chore, Upkeep
from knowledge_svc.jobs.workers import IngestWorkers, WorkerSettings, Workshop
from knowledge_svc.storage.blob_names import named_blobs
from knowledge_svc.storage.blobs import FileBlobStore
from knowledge_svc.storage.jobs import RecordJobQueue
from knowledge_svc.storage.record import Record
from knowledge_svc.storage.store import RecordStore
from services.auth import Role
from services.deadlines import Runner, current_scope
from services.server import LoomServer, Service

DOMAIN: Final = "loom.knowledge.v1"
WRITE_THREADS: Final = 4
READ_THREADS: Final = 4
WAITING_CALLS: Final = 256
"""Calls that may wait for a thread of each kind before further ones are told to come back."""

WRITER_METHODS: Final = (
    "DocumentService/AddDocument",
    "DocumentService/BulkAddDocuments",
    "DocumentService/UpsertDocument",
    "DocumentService/DeleteDocument",
    "DocumentService/BulkDeleteDocuments",
    "DocumentService/RestoreDocument",
    "DocumentService/UpdateDocumentMetadata",
    "IngestService/UploadFile",
    "IngestService/GetUpload",
    "IngestService/StartIngestion",
    "IngestService/CancelIngestion",
    "DatasetService/ApproveDataset",
    "CorpusService/Sync",
    "RecordService/PutRecords",
    "RecordService/DeleteRecords",
)
ADMIN_METHODS: Final = ("CorpusService/ListDuplicates", "CorpusService/ResolveDuplicate")
MINIMUM_ROLES: Final = {
    **{f"/{DOMAIN}.{method}": Role.WRITER for method in WRITER_METHODS},
    **{f"/{DOMAIN}.{method}": Role.ADMIN for method in ADMIN_METHODS},
}
"""Every method not named here takes a viewer (L-OPS-02 to L-OPS-04)."""

_log = structlog.get_logger("loom.app")
Hook = Callable[[], Awaitable[None]]


def utc_now() -> datetime:
    """The present moment, with its zone."""
    return datetime.now(UTC)


def new_id() -> str:
    """A new random id."""
    return uuid.uuid4().hex


class Storehouse:
    """What is on disk, and the model: all that both the service and the offline commands need."""

    def __init__(self, config: KnowledgeConfig) -> None:
        self.embedder = _embedder(config)
        self.record = Record.open(config.data_dir, dimension=self.embedder.dimension, clock=utc_now)
        self.store = RecordStore(self.record)
        self.queue = RecordJobQueue(self.record)
        self.blobs = FileBlobStore(config.data_dir / "blobs")
        self.snapshots = SnapshotFiles(config.data_dir / "snapshots")
        self.indexes = Indexes(
            config.data_dir / "index", store=self.store, model=self.embedder.model, dimension=self.embedder.dimension
        )

    def close(self) -> None:
        """Writes the indexes down and closes the record."""
        self.indexes.close()
        self.record.close()


class Knowledge:
    """A knowledge service, wired. Made on the event loop that will serve it."""

    def __init__(self, config: KnowledgeConfig, house: Storehouse) -> None:
        self._house = house
        self._config = config
        self._write = Runner("write", workers=WRITE_THREADS, queue=WAITING_CALLS)
        self._read = Runner("read", workers=READ_THREADS, queue=WAITING_CALLS)
        self._search = Runner("search", workers=config.search_threads, queue=WAITING_CALLS)
        self._plans = Runner("plan", workers=config.query_threads, queue=WAITING_CALLS)
        self._jobs = ThreadPoolExecutor(2 * config.ingest_workers + 1, thread_name_prefix="ingest")
        self._engine = DuckDbEngine(house.snapshots, _engine_limits(config))
        self._extractor = extractor = _extractor(config)
        self._board = JobBoard()
        self._publisher = Publisher(house.store, house.indexes)
        self._upkeep = Upkeep(self._chores(), interval_s=config.upkeep_s, executor=self._jobs)
        self._workers = self._ingest_workers(extractor) if extractor is not None and config.ingest_enabled else None
        gauges = (*queue_gauges(house.queue, clock=utc_now), *index_gauges(house.store.live_counts, house.indexes.serving))
        self.server = LoomServer(config.server, self._services(extractor), domain=DOMAIN, minimum=MINIMUM_ROLES, gauges=gauges)

    @property
    def on_start(self) -> tuple[Hook, ...]:
        """What runs after the port is taken and before calls are answered."""
        return (self._start,)

    @property
    def on_stop(self) -> tuple[Hook, ...]:
        """What runs after the last call was answered."""
        return (self._stop,)

    async def _start(self) -> None:
        self._board.attach(asyncio.get_running_loop())
        await self._warm_up()
        if self._house.record.behind:
            _log.error("record_behind_index", effect="read-only until the record is restored")
            return
        self._upkeep.start()
        stored, model = self._house.store.embedding_model(), self._house.embedder.model
        if stored not in ("", model):
            _log.error(
                "embedding_model_mismatch", stored=stored, configured=model, effect="jobs wait; search and writes are refused"
            )
        elif self._workers is not None:
            await self._workers.start()

    async def _warm_up(self) -> None:
        """Loads the model before the first question comes; an endpoint that is away is away for the first question too."""
        try:
            await self._search(self._house.embedder.embed_query, "load the model before the first question comes")
        except EmbedderDown as error:
            _log.warning("embedder_down", error=error.message)

    async def _stop(self) -> None:
        await self._upkeep.stop()
        if self._workers is not None:
            await self._workers.stop()
        self._jobs.shutdown(wait=True, cancel_futures=True)
        for runner in (self._write, self._read, self._search, self._plans):
            runner.close()
        self._engine.close()
        if self._extractor is not None:
            await self._extractor.close()
        self._house.close()

    def _services(self, extractor: RoutedExtractor | None) -> tuple[Service, ...]:
        scopes = Scopes(self._config.namespace)
        return (
            _service(documents_pb2, "DocumentService", documents_pb2_grpc, self._documents(scopes)),
            _service(search_pb2, "SearchService", search_pb2_grpc, self._searches(scopes)),
            _service(ingest_pb2, "IngestService", ingest_pb2_grpc, self._ingests(scopes, extractor)),
            _service(datasets_pb2, "DatasetService", datasets_pb2_grpc, self._datasets(scopes)),
            _service(corpus_pb2, "CorpusService", corpus_pb2_grpc, corpus_pb2_grpc.CorpusServiceServicer()),
            _service(records_pb2, "RecordService", records_pb2_grpc, records_pb2_grpc.RecordServiceServicer()),
        )

    def _documents(self, scopes: Scopes) -> DocumentServicer:
        house = self._house
        documents = Documents(
            house.store,
            self._publisher,
            house.embedder,
            house.blobs,
            chunks=self._config.chunks,
            clock=utc_now,
            new_id=new_id,
            check_wanted=_check_wanted,
        )
        return DocumentServicer(documents, scopes=scopes, write=self._write, read=self._read)

    def _searches(self, scopes: Scopes) -> SearchServicer:
        searcher = Searcher(self._house.store, self._house.indexes, self._house.embedder)
        return SearchServicer(searcher, scopes=scopes, run=self._search, clock=utc_now)

    def _ingests(self, scopes: Scopes, extractor: RoutedExtractor | None) -> IngestServicer:
        config = self._config
        limits = UploadLimits(config.upload_max_bytes, config.upload_stall_s, timedelta(seconds=config.upload_ttl_s))
        ingestions = Ingestions(
            self._house.queue,
            upload_ttl=limits.ttl,
            clock=utc_now,
            new_id=new_id,
            on_queued=self._workers.queued if self._workers else _nothing,
            on_cancel=self._workers.cancelled if self._workers else self._board.moved,
        )
        return IngestServicer(
            ingestions,
            self._house.blobs,
            self._board,
            extractor,
            limits=limits,
            scopes=scopes,
            write=self._write,
            read=self._read,
        )

    def _datasets(self, scopes: Scopes) -> DatasetServicer:
        queries = DatasetQueries(self._house.store, self._engine, self._house.snapshots, now=utc_now)
        house = self._house
        approvals = DatasetApprovals(house.store, StoredArtifacts(house.blobs), DatasetRetyper(), house.snapshots, clock=utc_now)
        return DatasetServicer(
            queries,
            RowTracer(queries, self._engine),
            approvals,
            scopes=scopes,
            run=self._read,
            write=self._write,
            run_query=self._plans,
            timeout_s=self._config.query_timeout_s,
        )

    def _chores(self) -> tuple[Chore, ...]:
        house, age_s = self._house, self._config.blob_min_age_s
        return (
            Chore("prune_jobs_and_uploads", lambda: house.queue.prune(now=utc_now())),
            Chore("sweep_partial_uploads", lambda: house.blobs.sweep_partials(older_than_s=self._config.upload_ttl_s)),
            Chore(
                "sweep_blobs",
                lambda: house.blobs.sweep(named=named_blobs(house.record, now=utc_now()), older_than_s=age_s),
            ),
            Chore(
                "sweep_snapshots",
                lambda: house.snapshots.sweep(house.store.snapshot_ids(), written_before=utc_now() - timedelta(seconds=age_s)),
            ),
            Chore("save_indexes", house.indexes.save),
            Chore("checkpoint", house.record.checkpoint),
        )

    def _ingest_workers(self, extractor: RoutedExtractor) -> IngestWorkers:
        config, house = self._config, self._house
        shop = Workshop(
            store=house.store,
            queue=house.queue,
            blobs=house.blobs,
            publisher=self._publisher,
            embedder=house.embedder,
            extractor=extractor,
            datasets=DatasetWriter(house.store, DatasetRetyper(), house.snapshots),
            clock=utc_now,
            new_id=new_id,
        )
        settings = WorkerSettings(
            workers=config.ingest_workers,
            max_pass=timedelta(seconds=config.ingest_max_pass_s),
            max_chunks=config.ingest_max_chunks,
            chunks=config.chunks,
            retry=RetryPolicy(config.ingest_max_attempts),
        )
        return IngestWorkers(shop, settings=settings, board=self._board, executor=self._jobs)


def _check_wanted() -> None:
    """Ends work of a call that nobody waits for."""
    current_scope().check()


def _nothing() -> None:
    """Nobody waits for a job in this process."""


def _service(proto: Any, name: str, stubs: Any, servicer: object) -> Service:  # Any: generated modules have no common type
    add = getattr(stubs, f"add_{name}Servicer_to_server")
    return Service(proto.DESCRIPTOR.services_by_name[name].full_name, lambda server: add(servicer, server))


def _extractor(config: KnowledgeConfig) -> RoutedExtractor | None:
    """The extractors that the configuration names, each address once; None where there are none."""
    addresses = dict.fromkeys(itertools.chain.from_iterable(config.routes.values()))
    token = config.extractor_token
    remotes = {
        address: RemoteExtractor(
            str(address),
            extractor_channel(str(address), ca_file=config.extractor_ca),
            timeout_s=config.extractor_timeout_s,
            max_artifact_bytes=config.max_artifact_bytes,
            metadata=(("authorization", f"Bearer {token}"),) if token else (),
            monotonic=time.monotonic,
        )
        for address in addresses
    }
    routes = {name: [remotes[address] for address in listed] for name, listed in config.routes.items()}
    return RoutedExtractor(routes) if remotes else None


def _embedder(config: KnowledgeConfig) -> Embedder:
    """The embedder that the configuration names; by default the one inside."""
    if not config.embedding_url:
        return MiniLmEmbedder(sessions=config.embed_sessions)
    endpoint = EmbeddingEndpoint(config.embedding_url, config.embedding_model, config.embedding_key)
    return RemoteEmbedder(endpoint, dimension=config.embedding_dimension)


def _engine_limits(config: KnowledgeConfig) -> EngineLimits:
    return EngineLimits(
        memory_bytes=config.query_memory_bytes,
        timeout_s=config.query_timeout_s,
        max_result_rows=config.query_max_rows,
        max_running=config.query_threads,
    )
