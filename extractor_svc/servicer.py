"""The extractor's RPCs: a file's stream in, progress and the artifact's parts out; nothing of either stays."""

from __future__ import annotations

import asyncio
import contextlib
import errno
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog
from google.protobuf.duration_pb2 import Duration
from loom.extractor.v1 import extractor_pb2 as pb
from loom.extractor.v1 import extractor_pb2_grpc

from artifact.codec import (
    ArtifactFault,
    BlocksPart,
    CoveragePart,
    DatasetPart,
    HeadPart,
    LinksPart,
    Part,
    RowsPart,
    WarningsPart,
    locator_of,
    unpack,
)
from artifact.locators import to_json
from extractor_svc.context import Options
from extractor_svc.errors import ParserCrashed
from extractor_svc.frames import Progress, Request
from extractor_svc.pool import ExtractorPool, Job
from extractor_svc.registry import FormatReader
from extractor_svc.spool import DocumentSpool, PartSpool
from extractor_svc.upload import Upload, UploadLimits
from services.errors import FieldViolation, InvalidArgument, ResourceExhausted
from services.interceptor import RpcContext

_log = structlog.get_logger("loom.extractor.servicer")
_FULL_DISK_RETRY_S: Final = 30.0
_BUSY_RETRY_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class ServicerSettings:
    """What the servicer takes in, and what it says of itself."""

    version: str
    readers: tuple[FormatReader, ...]
    refused_extensions: tuple[str, ...]
    upload: UploadLimits
    max_uploads: int
    workers: int
    timeout_s: float
    spool_folder: Path


class ExtractorServicer(extractor_pb2_grpc.ExtractorServiceServicer):
    """Serves loom.extractor.v1.ExtractorService."""

    def __init__(self, pool: ExtractorPool, settings: ServicerSettings) -> None:
        self._pool = pool
        self._settings = settings
        self._held = 0

    async def GetCapabilities(self, request: pb.GetCapabilitiesRequest, context: RpcContext) -> pb.GetCapabilitiesResponse:
        """Says which formats are read, within which limits, behind which protections."""
        settings = self._settings
        timeout = Duration()
        timeout.FromMilliseconds(round(settings.timeout_s * 1000))
        return pb.GetCapabilitiesResponse(
            version=settings.version,
            formats=map(_format_message, settings.readers),
            max_bytes=settings.upload.max_bytes,
            timeout=timeout,
            workers=settings.workers,
            protections=[pb.Protection(name=layer.name, on=layer.on, detail=layer.detail) for layer in self._pool.protections],
            refused_extensions=settings.refused_extensions,
        )

    async def Extract(self, request_iterator: AsyncIterator[pb.ExtractRequest], context: RpcContext) -> None:
        """Reads one file; the responses are written as they come."""
        with PartSpool(self._settings.spool_folder) as sink:
            async with self._document() as document:
                upload = Upload(request_iterator, self._settings.upload)
                header = (await upload.first()).header
                relay = _Relay(context)
                await upload.receive(header, document, on_bytes=relay.received)
                await self._run(Job(document, _request(header), sink, relay.heard), relay)
            await relay.send_stage("send", unit="byte", done=0, total=sink.size_bytes)
            await _send(sink, context)

    async def Resolve(self, request_iterator: AsyncIterator[pb.ResolveRequest], context: RpcContext) -> pb.ResolveResponse:
        """Returns the text at a locator, read from the file alone."""
        with PartSpool(self._settings.spool_folder) as sink:
            async with self._document() as document:
                upload = Upload(request_iterator, self._settings.upload)
                header = (await upload.first()).header
                request = _request(header.file, locator=_locator_json(header))
                await upload.receive(header.file, document, on_bytes=_ignore_bytes)
                await self._pool.run(Job(document, request, sink, _ignore_progress))
            texts = [text.decode("utf-8", "replace") async for text in sink.read()]
            return pb.ResolveResponse(text="".join(texts))

    async def _run(self, job: Job, relay: _Relay) -> None:
        """Runs the job and passes its progress on; whatever ends this ends the job."""
        running = asyncio.create_task(self._pool.run(job))
        running.add_done_callback(lambda _: relay.wake())
        try:
            while not running.done():
                await relay.changed()
            await running
        finally:
            running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.gather(running, return_exceptions=True)

    @contextlib.asynccontextmanager
    async def _document(self) -> AsyncIterator[DocumentSpool]:
        """A spool for a document, where there is room for another."""
        self._pool.check_room()
        with self._counted(), _disk_faults(), DocumentSpool(self._settings.spool_folder) as document:
            yield document

    @contextlib.contextmanager
    def _counted(self) -> Iterator[None]:
        if self._held >= self._settings.max_uploads:
            raise ResourceExhausted(
                f"{self._held} files are held already; try again in {_BUSY_RETRY_S:g} s",
                metadata={"held": str(self._held), "retry_after_s": f"{_BUSY_RETRY_S:g}"},
                retry_after_s=_BUSY_RETRY_S,
            )
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1


class _Relay:
    """Carries progress from where it is heard to the caller; only the latest matters where the caller is slow."""

    def __init__(self, context: RpcContext) -> None:
        self._context = context
        self._latest: tuple[str, Progress] | None = None
        self._event = asyncio.Event()

    def heard(self, stage: str, progress: Progress) -> None:
        """Takes progress of a running job."""
        self._latest = (stage, progress)
        self._event.set()

    def wake(self) -> None:
        """Ends a wait for progress."""
        self._event.set()

    async def changed(self) -> None:
        """Waits for progress, or for `wake`, and sends what there is."""
        await self._event.wait()
        self._event.clear()
        latest, self._latest = self._latest, None
        if latest is not None:
            stage, progress = latest
            await self.send_stage(stage, unit=progress.unit, done=progress.done, total=progress.total)

    async def received(self, size_bytes: int) -> None:
        """Says how much of the file has come in."""
        await self.send_stage("receive", unit="byte", done=size_bytes, total=0)

    async def send_stage(self, stage: str, *, unit: str, done: int, total: int) -> None:
        """Sends one progress message."""
        await self._context.write(pb.ExtractResponse(progress=pb.Progress(stage=stage, unit=unit, done=done, total=total)))


async def _send(sink: PartSpool, context: RpcContext) -> None:
    """Sends the parts; the child that made them is not trusted to have made an artifact of them."""
    last: Part | None = None
    try:
        async for packed in sink.read():
            last = unpack(packed)
            await context.write(response_of(last))
    except ArtifactFault as fault:
        raise _unsound(fault.field) from fault
    if not isinstance(last, CoveragePart):
        raise _unsound("coverage")


def response_of(part: Part) -> pb.ExtractResponse:
    """The message that carries a part."""
    match part:
        case HeadPart(message):
            return pb.ExtractResponse(head=message)
        case BlocksPart(messages):
            return pb.ExtractResponse(blocks=pb.BlockPart(blocks=messages))
        case DatasetPart(message):
            return pb.ExtractResponse(dataset=message)
        case RowsPart(dataset_id, arrow_ipc):
            return pb.ExtractResponse(rows=pb.DatasetRows(dataset_id=dataset_id, arrow_ipc=arrow_ipc))
        case LinksPart(messages):
            return pb.ExtractResponse(links=pb.LinkPart(links=messages))
        case WarningsPart(messages):
            return pb.ExtractResponse(warnings=pb.WarningPart(warnings=messages))
        case CoveragePart(message):
            return pb.ExtractResponse(coverage=message)


def _request(header: pb.FileHeader, *, locator: str = "") -> Request:
    options = header.options
    return Request(
        filename=header.filename,
        content_type=header.content_type,
        options=Options(
            format=options.format,
            encoding=options.encoding,
            sql_dialect=options.sql_dialect,
            password=options.password,
            ocr=options.ocr if options.HasField("ocr") else None,
            original_view=options.original_view,
        ),
        locator=locator,
    )


def _locator_json(header: pb.ResolveHeader) -> str:
    try:
        return to_json(locator_of(header.locator, "header.locator"))
    except ArtifactFault as fault:
        raise InvalidArgument("the locator is no place", violations=[FieldViolation(fault.field, fault.message)]) from fault


def _format_message(reader: FormatReader) -> pb.Format:
    return pb.Format(
        id=reader.id,
        extensions=reader.extensions,
        media_types=reader.media_types,
        parser=reader.parser,
        abilities=reader.abilities,
    )


@contextlib.contextmanager
def _disk_faults() -> Iterator[None]:
    """Turns a full disk into a refusal that says to come back."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise ResourceExhausted("there is no room to hold the file; try again later", retry_after_s=_FULL_DISK_RETRY_S) from error


def _unsound(field: str) -> ParserCrashed:
    _log.warning("unsound_artifact", field=field)
    return ParserCrashed("the reader put out no artifact for this file", metadata={"field": field})


async def _ignore_bytes(_: int) -> None:
    """Has nobody to tell."""


def _ignore_progress(_: str, __: Progress) -> None:
    """Has nobody to tell."""
