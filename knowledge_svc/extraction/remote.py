"""Calls one extractor over gRPC and checks all of what it sends back."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Final

import grpc
from loom.extractor.v1 import extractor_pb2 as pb
from loom.extractor.v1 import extractor_pb2_grpc

from artifact.codec import (
    ArtifactAssembler,
    ArtifactFault,
    ArtifactTooLarge,
    BlocksPart,
    CoveragePart,
    DatasetPart,
    HeadPart,
    LinksPart,
    Part,
    RowsPart,
    WarningsPart,
    dump,
)
from artifact.model import Artifact
from knowledge_svc.domain.errors import ExtractionRefused, ExtractorDown, InvalidArtifact
from knowledge_svc.domain.model import Capabilities, ExtractOptions, FormatInfo, Upload
from knowledge_svc.domain.ports import BlobStore, ProgressSink
from knowledge_svc.extraction.trust import check_progress, check_trusted
from knowledge_svc.extraction.verdicts import verdict
from services.errors import LoomError
from services.status import error_from_rpc

CACHE_S: Final = 60.0
"""How long capabilities, or the failure to read them, are kept (L-EXT-02, L-EXT-03)."""
CAPABILITIES_TIMEOUT_S: Final = 5.0
CONNECT_S: Final = 1.0
"""How long a first connection may take, with the attempts that are refused meanwhile, before an extractor counts as down."""


class RemoteExtractor:
    """One extractor, or several replicas of it, behind one channel. `name` is its address."""

    def __init__(
        self,
        name: str,
        channel: grpc.aio.Channel,
        *,
        timeout_s: float,
        max_artifact_bytes: int,
        metadata: tuple[tuple[str, str], ...] = (),
        monotonic: Callable[[], float],
    ) -> None:
        self.name: Final = name
        self._channel = channel
        self._stub: Any = extractor_pb2_grpc.ExtractorServiceStub(channel)  # type: ignore[no-untyped-call]  # generated without types
        self._timeout_s = timeout_s
        self._max_artifact_bytes = max_artifact_bytes
        self._metadata = metadata
        self._monotonic = monotonic
        self._cached: tuple[float, Capabilities | ExtractorDown] | None = None
        self._asking = asyncio.Lock()

    async def extract(
        self, blobs: BlobStore, upload: Upload, options: ExtractOptions, *, progress: ProgressSink
    ) -> tuple[Artifact, bytes]:
        """Sends the stored bytes and puts the artifact together.

        Raises:
            ExtractionRefused: the file or the request is at fault.
            ExtractorAccessDenied: the extractor does not take this service's credential.
            ExtractorDown: the extractor cannot be reached or failed; trying again can help.
            InvalidArtifact: what came back breaks the contract.
            BlobGone: the bytes are not stored any more.
        """
        formats = {item.id for item in (await self.capabilities()).formats}
        try:
            artifact = await self._artifact(blobs, upload, options, progress=progress)
            await asyncio.to_thread(check_trusted, artifact, upload, options, formats=formats)
            return artifact, await asyncio.to_thread(dump, artifact)
        except ArtifactTooLarge as error:
            raise ExtractionRefused(f"the artifact is too large: {error}", reason="OUTPUT_LIMIT") from error
        except ArtifactFault as error:
            raise InvalidArtifact(f"the extractor's answer does not hold: {error}", metadata={"field": error.field}) from error

    async def capabilities(self, *, ask_again: bool = False) -> Capabilities:
        """Returns what the extractor reads, kept for a minute; a failure is kept too, unless it is to be asked again.

        Raises:
            ExtractorDown: it cannot be asked.
        """
        async with self._asking:
            if self._cached is None or self._monotonic() - self._cached[0] >= CACHE_S or (ask_again and self._failed):
                answer = await self._ask()
                self._cached = (self._monotonic(), answer)
            answer = self._cached[1]
        if isinstance(answer, ExtractorDown):
            raise answer
        return answer

    async def close(self) -> None:
        """Ends the connection; calls under way are cancelled."""
        await self._channel.close(None)

    @property
    def _failed(self) -> bool:
        return self._cached is not None and isinstance(self._cached[1], ExtractorDown)

    async def _artifact(self, blobs: BlobStore, upload: Upload, options: ExtractOptions, *, progress: ProgressSink) -> Artifact:
        original = _Original(blobs, upload)
        call = self._stub.Extract(original.requests(options), timeout=self._timeout_s, metadata=self._metadata)
        assembler = ArtifactAssembler(max_bytes=self._max_artifact_bytes)
        try:
            async for response in call:
                if response.WhichOneof("part") == "progress":
                    standing = response.progress
                    check_progress(standing.unit, standing.done, standing.total)
                    progress(standing.unit, standing.done, standing.total)
                else:
                    await asyncio.to_thread(assembler.add, _part(response))
            return await asyncio.to_thread(assembler.finish)
        except (grpc.aio.AioRpcError, asyncio.CancelledError) as error:
            if original.failure is not None:
                raise original.failure from None
            if isinstance(error, grpc.aio.AioRpcError):
                raise verdict(error) from error
            raise
        finally:
            call.cancel()

    async def _ask(self) -> Capabilities | ExtractorDown:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CONNECT_S):
                await self._channel.channel_ready()
        try:
            answer = await self._stub.GetCapabilities(
                pb.GetCapabilitiesRequest(), timeout=CAPABILITIES_TIMEOUT_S, metadata=self._metadata
            )
        except grpc.aio.AioRpcError as error:
            return ExtractorDown(f"the extractor cannot be asked what it reads: {error_from_rpc(error).message}")
        formats = tuple(FormatInfo(item.id, tuple(item.extensions), tuple(item.media_types)) for item in answer.formats)
        return Capabilities(formats, answer.max_bytes, tuple(answer.refused_extensions))


class _Original:
    """The requests that carry a stored file. What keeps it from being read is kept, since gRPC would swallow it."""

    def __init__(self, blobs: BlobStore, upload: Upload) -> None:
        self._blobs = blobs
        self._upload = upload
        self.failure: Exception | None = None

    async def requests(self, options: ExtractOptions) -> AsyncIterator[pb.ExtractRequest]:
        """Yields the header, then the bytes."""
        upload = self._upload
        chosen = pb.ExtractOptions(
            format=options.format, encoding=options.encoding, sql_dialect=options.sql_dialect, password=options.password
        )
        header = pb.FileHeader(filename=upload.filename, content_type=upload.content_type, sha256=upload.sha256, options=chosen)
        yield pb.ExtractRequest(header=header)
        pieces: Iterator[bytes] = self._blobs.chunks(upload.sha256, size_bytes=256 * 1024)
        while (piece := await asyncio.to_thread(self._next, pieces)) is not None:
            yield pb.ExtractRequest(data=piece)

    def _next(self, pieces: Iterator[bytes]) -> bytes | None:
        try:
            return next(pieces, None)
        except (LoomError, OSError) as failure:
            self.failure = failure
            raise


def _part(response: pb.ExtractResponse) -> Part:
    match response.WhichOneof("part"):
        case "head":
            return HeadPart(response.head)
        case "blocks":
            return BlocksPart(tuple(response.blocks.blocks))
        case "dataset":
            return DatasetPart(response.dataset)
        case "rows":
            return RowsPart(response.rows.dataset_id, response.rows.arrow_ipc)
        case "links":
            return LinksPart(tuple(response.links.links))
        case "warnings":
            return WarningsPart(tuple(response.warnings.warnings))
        case "coverage":
            return CoveragePart(response.coverage)
        case _:
            raise ArtifactFault("part", "a message holds no part")
