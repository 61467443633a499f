"""Calls an extractor over gRPC and checks all of what it sends back."""

from __future__ import annotations

import asyncio
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
    Part,
    RowsPart,
    WarningsPart,
    dump,
)
from artifact.model import Artifact
from knowledge_svc.domain.errors import ExtractionRefused, ExtractorDown, InvalidArtifact
from knowledge_svc.domain.model import Capabilities, ExtractOptions, FormatInfo, Upload
from knowledge_svc.domain.ports import BlobStore, ProgressSink
from services.errors import FailedPrecondition, InvalidArgument, LoomError
from services.status import error_from_rpc

CACHE_S: Final = 60.0
"""How long capabilities, or the failure to read them, are kept (L-EXT-02, L-EXT-03)."""
CAPABILITIES_TIMEOUT_S: Final = 5.0


class RemoteExtractor:
    """One extractor behind a channel."""

    def __init__(
        self,
        channel: grpc.aio.Channel,
        *,
        timeout_s: float,
        max_artifact_bytes: int,
        metadata: tuple[tuple[str, str], ...] = (),
        monotonic: Callable[[], float],
    ) -> None:
        self._stub: Any = extractor_pb2_grpc.ExtractorServiceStub(channel)  # type: ignore[no-untyped-call]  # generated without types
        self._timeout_s = timeout_s
        self._max_artifact_bytes = max_artifact_bytes
        self._metadata = metadata
        self._monotonic = monotonic
        self._cached: tuple[float, Capabilities | ExtractorDown] | None = None

    async def extract(
        self, blobs: BlobStore, upload: Upload, options: ExtractOptions, *, progress: ProgressSink
    ) -> tuple[Artifact, bytes]:
        """Sends the stored bytes and puts the artifact together.

        Raises:
            ExtractionRefused: the file or the request is at fault.
            ExtractorDown: the extractor cannot be reached or failed; trying again can help.
            InvalidArtifact: what came back breaks the contract.
        """
        call = self._stub.Extract(_requests(blobs, upload, options), timeout=self._timeout_s, metadata=self._metadata)
        assembler = ArtifactAssembler(max_bytes=self._max_artifact_bytes)
        try:
            async for response in call:
                if response.WhichOneof("part") == "progress":
                    progress(response.progress.unit, response.progress.done, response.progress.total)
                else:
                    await asyncio.to_thread(assembler.add, _part(response))
            artifact = await asyncio.to_thread(assembler.finish)
        except grpc.aio.AioRpcError as error:
            raise _refusal(error_from_rpc(error)) from error
        except ArtifactTooLarge as error:
            raise ExtractionRefused(f"the artifact is too large: {error}", reason="OUTPUT_LIMIT") from error
        except ArtifactFault as error:
            raise InvalidArtifact(f"the extractor's answer does not hold: {error}") from error
        finally:
            call.cancel()
        return artifact, await asyncio.to_thread(dump, artifact)

    async def capabilities(self) -> Capabilities:
        """Returns what the extractor reads, cached for a minute, failures too.

        Raises:
            ExtractorDown: it cannot be asked.
        """
        now = self._monotonic()
        if self._cached is None or now - self._cached[0] >= CACHE_S:
            self._cached = (now, await self._ask())
        answer = self._cached[1]
        if isinstance(answer, ExtractorDown):
            raise answer
        return answer

    async def _ask(self) -> Capabilities | ExtractorDown:
        try:
            answer = await self._stub.GetCapabilities(
                pb.GetCapabilitiesRequest(), timeout=CAPABILITIES_TIMEOUT_S, metadata=self._metadata
            )
        except grpc.aio.AioRpcError as error:
            return ExtractorDown(f"the extractor cannot be asked: {error_from_rpc(error).message}", retry_after_s=CACHE_S)
        formats = tuple(FormatInfo(item.id, tuple(item.extensions), tuple(item.media_types)) for item in answer.formats)
        return Capabilities(formats, answer.max_bytes, tuple(answer.refused_extensions))


async def _requests(blobs: BlobStore, upload: Upload, options: ExtractOptions) -> AsyncIterator[pb.ExtractRequest]:
    chosen = pb.ExtractOptions(
        format=options.format, encoding=options.encoding, sql_dialect=options.sql_dialect, password=options.password
    )
    header = pb.FileHeader(filename=upload.filename, content_type=upload.content_type, sha256=upload.sha256, options=chosen)
    yield pb.ExtractRequest(header=header)
    pieces: Iterator[bytes] = blobs.chunks(upload.sha256, size_bytes=256 * 1024)
    while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
        yield pb.ExtractRequest(data=piece)


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
        case "warnings":
            return WarningsPart(tuple(response.warnings.warnings))
        case "coverage":
            return CoveragePart(response.coverage)
        case _:
            raise ArtifactFault("part", "a message holds no part")


def _refusal(error: LoomError) -> LoomError:
    """What an extractor's error means for a job: its own refusals are for good, the rest is passing."""
    if isinstance(error, (InvalidArgument, FailedPrecondition)):
        return ExtractionRefused(error.message, reason=error.code_reason, metadata=error.metadata)
    return ExtractorDown(f"the extractor failed: {error.message}", metadata=error.metadata, retry_after_s=error.retry_after_s)
