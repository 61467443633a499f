"""IngestService."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from typing import Final, Protocol

from google.protobuf.duration_pb2 import Duration
from loom.knowledge.v1 import ingest_pb2 as pb
from loom.knowledge.v1 import ingest_pb2_grpc

from knowledge_svc.api.messages import job_message, timestamp
from knowledge_svc.api.requests import (
    Scopes,
    author,
    ingest_request,
    job_states,
    retry_key,
)
from knowledge_svc.api.runner import Runner
from knowledge_svc.api.uploads import UploadLimits, Uploads
from knowledge_svc.domain.errors import ExtractorNotConfigured
from knowledge_svc.domain.file_names import SAVE_AS, unread_formats
from knowledge_svc.domain.ingestion import Ingestions
from knowledge_svc.domain.model import FormatStanding, Job, Scope
from knowledge_svc.domain.ports import BlobStore, Extractor
from services.interceptor import RpcContext
from services.paging import page_size, read_page_token, write_page_token

DEFAULT_PAGE: Final = 50
MAX_PAGE: Final = 500
HEARTBEAT_S: Final = 5.0
"""How often a watched job is read again even when nothing was heard of it."""


class JobWatch(Protocol):
    """What the servicer needs of the job board."""

    def overlay(self, job: Job) -> Job:
        """Returns the job with its standing in this process."""

    def watching(self, ingestion_id: str) -> AbstractAsyncContextManager[asyncio.Event]:
        """Returns an event that is set whenever the job moves."""


class IngestServicer(ingest_pb2_grpc.IngestServiceServicer):
    """Answers the ingest RPCs; those not named here answer UNIMPLEMENTED."""

    def __init__(
        self,
        ingestions: Ingestions,
        blobs: BlobStore,
        board: JobWatch,
        extractor: Extractor | None,
        *,
        limits: UploadLimits,
        scopes: Scopes,
        write: Runner,
        read: Runner,
    ) -> None:
        self._ingestions = ingestions
        self._uploads = Uploads(ingestions, blobs, limits=limits, run=write)
        self._board = board
        self._extractor = extractor
        self._limits = limits
        self._scopes = scopes
        self._write = write
        self._read = read

    async def UploadFile(self, request_iterator: AsyncIterator[pb.UploadFileRequest], context: RpcContext) -> pb.UploadFileResponse:
        """Stores a file by its hash."""
        header = await self._uploads.header(request_iterator)
        scope = self._scopes.of(header.namespace)
        upload = await self._uploads.take(header, request_iterator, scope=scope, owner=author().actor)
        return pb.UploadFileResponse(
            upload_id=upload.upload_id,
            sha256=upload.sha256,
            size_bytes=upload.size_bytes,
            format=upload.format,
            content_type=upload.content_type,
            expires_at=timestamp(upload.expires_at),
        )

    async def GetUpload(self, request: pb.GetUploadRequest, context: RpcContext) -> pb.GetUploadResponse:
        """Says how much of a named upload is kept."""
        scope = self._scopes.of(request.namespace)
        return await self._read(self._uploads.standing, scope, request.upload_id, owner=author().actor)

    async def StartIngestion(self, request: pb.StartIngestionRequest, context: RpcContext) -> pb.StartIngestionResponse:
        """Queues an ingest."""
        if self._extractor is None:
            raise ExtractorNotConfigured("no extractor is configured; set LOOM_DOCUMENT_EXTRACTOR_URL and start again")
        job = await self._write(
            self._ingestions.start,
            self._scopes.of(request.namespace),
            ingest_request(request),
            author=author(),
            request=retry_key("StartIngestion", request.request_id, request),
        )
        return pb.StartIngestionResponse(ingestion=job_message(job))

    async def GetIngestion(self, request: pb.GetIngestionRequest, context: RpcContext) -> pb.GetIngestionResponse:
        """Returns a job."""
        job = await self._job(self._scopes.of(request.namespace), request.ingestion_id)
        return pb.GetIngestionResponse(ingestion=job_message(job))

    async def ListIngestions(self, request: pb.ListIngestionsRequest, context: RpcContext) -> pb.ListIngestionsResponse:
        """Lists jobs, newest first."""
        size = page_size(request.page_size, default=DEFAULT_PAGE, cap=MAX_PAGE)
        scope = self._scopes.of(request.namespace)
        states = job_states(request.states)
        bound = ("ListIngestions", scope.org, scope.namespace, request.source_uri, *[state.value for state in states])
        before = int(read_page_token(request.page_token, bound)[0]) if request.page_token else None
        jobs = await self._read(
            self._ingestions.page, scope, states=states, source_uri=request.source_uri, before_seq=before, limit=size + 1
        )
        token = write_page_token((str(jobs[size - 1].seq),), bound) if len(jobs) > size else ""
        messages = [job_message(self._board.overlay(job)) for job in jobs[:size]]
        return pb.ListIngestionsResponse(ingestions=messages, next_page_token=token)

    async def WatchIngestion(
        self, request: pb.WatchIngestionRequest, context: RpcContext
    ) -> AsyncIterator[pb.WatchIngestionResponse]:
        """Streams a job's state until it ends."""
        scope = self._scopes.of(request.namespace)
        async with self._board.watching(request.ingestion_id) as moved:
            told: Job | None = None
            while told is None or not told.state.ended:
                moved.clear()
                job = await self._job(scope, request.ingestion_id)
                if job != told:
                    yield pb.WatchIngestionResponse(ingestion=job_message(job))
                    told = job
                if not job.state.ended:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(HEARTBEAT_S):
                            await moved.wait()

    async def CancelIngestion(self, request: pb.CancelIngestionRequest, context: RpcContext) -> pb.CancelIngestionResponse:
        """Stops a job that has not published."""
        job = await self._write(self._ingestions.cancel, self._scopes.of(request.namespace), request.ingestion_id)
        return pb.CancelIngestionResponse(ingestion=job_message(job))

    async def ListFormats(self, request: pb.ListFormatsRequest, context: RpcContext) -> pb.ListFormatsResponse:
        """Lists the formats, and whether each can be read now."""
        ttl = Duration()
        ttl.FromTimedelta(self._limits.ttl)
        return pb.ListFormatsResponse(
            formats=_format_messages(await self._extractor.formats() if self._extractor else unread_formats()),
            max_upload_bytes=self._limits.max_bytes,
            refused_extensions=sorted(SAVE_AS),
            upload_ttl=ttl,
        )

    async def _job(self, scope: Scope, ingestion_id: str) -> Job:
        return self._board.overlay(await self._read(self._ingestions.get, scope, ingestion_id))


def _format_messages(standings: Sequence[FormatStanding]) -> list[pb.IngestFormat]:
    return [
        pb.IngestFormat(
            id=standing.format.id,
            extensions=standing.format.extensions,
            media_types=standing.format.media_types,
            available=standing.available,
        )
        for standing in standings
    ]
