"""The clients of the knowledge service: one that waits, one for asyncio; both have the same methods."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Self

from loom.knowledge.v1 import datasets_pb2

from clients import files
from clients.binding import async_calls, async_pages, async_streams, calls, pages, streams
from clients.connection import AsyncConnection, BlockingConnection, Line
from clients.endpoint import KNOWLEDGE_ADDRESS, knowledge_peer, parse_endpoint
from clients.errors import DeadlineExceeded, LoomError, Unavailable
from clients.patience import Patience
from clients.requests import datasets as dataset_requests
from clients.requests import documents as document_requests
from clients.requests import ingest as ingest_requests
from clients.requests import search as search_requests
from clients.requests.datasets import Planned
from clients.requests.health import health
from clients.requests.ingest import IngestOptions
from clients.results.datasets import ArrowResult
from clients.results.ingest import Ingestion, Progress, UploadedFile, progress_of
from clients.resuming import Resumption
from clients.stubs import KNOWLEDGE
from clients.values import JsonValue

INGEST_TIMEOUT_S: Final = 600.0


def _line(address: str, *, token: str, namespace: str, ca_file: str | Path | None, timeout_s: float | None) -> Line:
    endpoint = parse_endpoint(address, ca_file=ca_file)
    return Line(endpoint, knowledge_peer(endpoint), KNOWLEDGE, token=token, namespace=namespace, timeout_s=timeout_s)


class KnowledgeClient:
    """Talks to a knowledge service and waits for its answers. Safe to use from several threads.

    `address` is `host:port`, or `https://host:port` for TLS with the system's authorities; `ca_file` names another authority.
    `namespace` holds for every call that names none; empty is the server's default. `timeout_s` replaces every call's own default.
    Methods raise `clients.LoomError`.
    """

    def __init__(
        self,
        address: str = KNOWLEDGE_ADDRESS,
        *,
        token: str = "",
        namespace: str = "",
        ca_file: str | Path | None = None,
        timeout_s: float | None = None,
    ) -> None:
        line = _line(address, token=token, namespace=namespace, ca_file=ca_file, timeout_s=timeout_s)
        self.connection = BlockingConnection(line)

    add = calls(document_requests.add)
    upsert = calls(document_requests.upsert)
    get = calls(document_requests.get)
    list = pages(document_requests.list_documents)
    outline = calls(document_requests.outline)
    delete = calls(document_requests.delete)
    search = calls(search_requests.search)
    upload_standing = calls(ingest_requests.upload_standing)
    ingest = calls(ingest_requests.ingest)
    ingestion = calls(ingest_requests.ingestion)
    list_ingestions = pages(ingest_requests.list_ingestions)
    watch = streams(ingest_requests.watch)
    cancel = calls(ingest_requests.cancel)
    formats = calls(ingest_requests.formats)
    datasets = calls(dataset_requests.datasets)
    approve = calls(dataset_requests.approve)
    list_datasets = pages(dataset_requests.list_datasets)
    query = calls(dataset_requests.query)
    explain = calls(dataset_requests.explain)
    verify = calls(dataset_requests.verify)
    trace = pages(dataset_requests.trace)
    health = calls(health)

    def upload(
        self,
        data: bytes | str | Path,
        filename: str = "",
        *,
        content_type: str = "",
        namespace: str = "",
        on_progress: Callable[[Progress], None] | None = None,
    ) -> UploadedFile:
        """Stores a file with its SHA-256, read in chunks of 256 KiB. A str is a path; bytes need a filename.

        Where the stream breaks, the upload goes on from what the server keeps.
        """
        file, meter = files.measure(data, filename, content_type=content_type), files.Meter()
        whole, scope = Resumption(meter), namespace or self.connection.line.namespace
        while True:
            try:
                if whole.broken:
                    whole.go_on_after(self.upload_standing(whole.upload_id, namespace=scope).received_bytes)
                call = ingest_requests.upload(file, namespace=scope, meter=meter, upload_id=whole.upload_id, offset=whole.offset)
                return self.connection.upload(call, meanwhile=lambda: _report_bytes(file, meter, on_progress))
            except LoomError as error:
                pause_s = whole.pause_after(error)
            time.sleep(pause_s)

    def wait_for_ingest(
        self,
        ingestion_id: str,
        *,
        timeout_s: float = INGEST_TIMEOUT_S,
        namespace: str = "",
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Ingestion:
        """Waits until a job ends, well or not, through restarts of the server.

        Raises:
            IngestTimeout: a TimeoutError; the job goes on.
        """
        patience = Patience(ingestion_id, timeout_s)
        while True:
            try:
                for job in self.watch(ingestion_id, timeout_s=patience.left_s(), namespace=namespace):
                    patience.heard()
                    _report(job, on_progress)
                    if job.ended:
                        return job
            except (Unavailable, DeadlineExceeded):
                patience.left_s()
            time.sleep(patience.pause_s())

    def ingest_file(
        self,
        path: str | Path,
        *,
        source_uri: str = "",
        title: str = "",
        description: str = "",
        tags: Sequence[str] = (),
        metadata: Mapping[str, JsonValue] | None = None,
        options: IngestOptions | None = None,
        expected_revision: int | None = None,
        allow_partial: bool = False,
        namespace: str = "",
        timeout_s: float = INGEST_TIMEOUT_S,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Ingestion:
        """Uploads a file, queues its ingest and waits for the end; `source_uri` is by default `file://` and the absolute path.

        Raises:
            IngestTimeout: a TimeoutError; the job goes on.
        """
        stored = self.upload(path, namespace=namespace, on_progress=on_progress)
        job = self.ingest(
            stored.upload_id,
            source_uri=source_uri or file_uri(path),
            title=title,
            description=description,
            tags=tags,
            metadata=metadata,
            options=options,
            expected_revision=expected_revision,
            allow_partial=allow_partial,
            namespace=namespace,
        )
        return self.wait_for_ingest(job.ingestion_id, timeout_s=timeout_s, namespace=namespace, on_progress=on_progress)

    def query_arrow(self, plan: Planned | datasets_pb2.Plan, *, namespace: str = "") -> ArrowResult:
        """Runs a plan and returns its rows as one Arrow IPC stream, for results too large for one answer."""
        parts = self.connection.stream(dataset_requests.query_arrow(plan, namespace=namespace))
        return dataset_requests.join_arrow([*parts])

    def close(self) -> None:
        """Ends the connection."""
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncKnowledgeClient:
    """Talks to a knowledge service under asyncio; arguments and methods are those of `KnowledgeClient`."""

    def __init__(
        self,
        address: str = KNOWLEDGE_ADDRESS,
        *,
        token: str = "",
        namespace: str = "",
        ca_file: str | Path | None = None,
        timeout_s: float | None = None,
    ) -> None:
        line = _line(address, token=token, namespace=namespace, ca_file=ca_file, timeout_s=timeout_s)
        self.connection = AsyncConnection(line)

    add = async_calls(document_requests.add)
    upsert = async_calls(document_requests.upsert)
    get = async_calls(document_requests.get)
    list = async_pages(document_requests.list_documents)
    outline = async_calls(document_requests.outline)
    delete = async_calls(document_requests.delete)
    search = async_calls(search_requests.search)
    upload_standing = async_calls(ingest_requests.upload_standing)
    ingest = async_calls(ingest_requests.ingest)
    ingestion = async_calls(ingest_requests.ingestion)
    list_ingestions = async_pages(ingest_requests.list_ingestions)
    watch = async_streams(ingest_requests.watch)
    cancel = async_calls(ingest_requests.cancel)
    formats = async_calls(ingest_requests.formats)
    datasets = async_calls(dataset_requests.datasets)
    approve = async_calls(dataset_requests.approve)
    list_datasets = async_pages(dataset_requests.list_datasets)
    query = async_calls(dataset_requests.query)
    explain = async_calls(dataset_requests.explain)
    verify = async_calls(dataset_requests.verify)
    trace = async_pages(dataset_requests.trace)
    health = async_calls(health)

    async def upload(
        self,
        data: bytes | str | Path,
        filename: str = "",
        *,
        content_type: str = "",
        namespace: str = "",
        on_progress: Callable[[Progress], None] | None = None,
    ) -> UploadedFile:
        """As `KnowledgeClient.upload`; the file is read in a worker thread."""
        file, meter = await asyncio.to_thread(files.measure, data, filename, content_type=content_type), files.Meter()
        whole, scope = Resumption(meter), namespace or self.connection.line.namespace
        while True:
            try:
                if whole.broken:
                    whole.go_on_after((await self.upload_standing(whole.upload_id, namespace=scope)).received_bytes)
                call = ingest_requests.upload(file, namespace=scope, meter=meter, upload_id=whole.upload_id, offset=whole.offset)
                return await self.connection.upload(call, meanwhile=lambda: _report_bytes(file, meter, on_progress))
            except LoomError as error:
                pause_s = whole.pause_after(error)
            await asyncio.sleep(pause_s)

    async def wait_for_ingest(
        self,
        ingestion_id: str,
        *,
        timeout_s: float = INGEST_TIMEOUT_S,
        namespace: str = "",
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Ingestion:
        """As `KnowledgeClient.wait_for_ingest`.

        Raises:
            IngestTimeout: a TimeoutError; the job goes on.
        """
        patience = Patience(ingestion_id, timeout_s)
        while True:
            try:
                async for job in self.watch(ingestion_id, timeout_s=patience.left_s(), namespace=namespace):
                    patience.heard()
                    _report(job, on_progress)
                    if job.ended:
                        return job
            except (Unavailable, DeadlineExceeded):
                patience.left_s()
            await asyncio.sleep(patience.pause_s())

    async def ingest_file(
        self,
        path: str | Path,
        *,
        source_uri: str = "",
        title: str = "",
        description: str = "",
        tags: Sequence[str] = (),
        metadata: Mapping[str, JsonValue] | None = None,
        options: IngestOptions | None = None,
        expected_revision: int | None = None,
        allow_partial: bool = False,
        namespace: str = "",
        timeout_s: float = INGEST_TIMEOUT_S,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Ingestion:
        """As `KnowledgeClient.ingest_file`.

        Raises:
            IngestTimeout: a TimeoutError; the job goes on.
        """
        stored = await self.upload(path, namespace=namespace, on_progress=on_progress)
        job = await self.ingest(
            stored.upload_id,
            source_uri=source_uri or file_uri(path),
            title=title,
            description=description,
            tags=tags,
            metadata=metadata,
            options=options,
            expected_revision=expected_revision,
            allow_partial=allow_partial,
            namespace=namespace,
        )
        return await self.wait_for_ingest(job.ingestion_id, timeout_s=timeout_s, namespace=namespace, on_progress=on_progress)

    async def query_arrow(self, plan: Planned | datasets_pb2.Plan, *, namespace: str = "") -> ArrowResult:
        """As `KnowledgeClient.query_arrow`."""
        parts = self.connection.stream(dataset_requests.query_arrow(plan, namespace=namespace))
        return dataset_requests.join_arrow([part async for part in parts])

    async def close(self) -> None:
        """Ends the connection."""
        await self.connection.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def file_uri(path: str | Path) -> str:
    """The default source_uri of a local file: `file://` and its absolute path, without `..`, links as they are."""
    return f"file://{os.path.normpath(Path(path).absolute())}"


def _report(job: Ingestion, on_progress: Callable[[Progress], None] | None) -> None:
    if on_progress is not None:
        on_progress(progress_of(job))


def _report_bytes(file: files.File, meter: files.Meter, on_progress: Callable[[Progress], None] | None) -> None:
    if on_progress is not None:
        on_progress(Progress("upload", "byte", meter.done_bytes, file.size_bytes))
