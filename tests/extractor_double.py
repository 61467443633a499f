"""An extractor over real gRPC that answers as a test tells it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from loom.extractor.v1 import extractor_pb2 as pb
from loom.extractor.v1 import extractor_pb2_grpc

from artifact.codec import BlocksPart, CoveragePart, DatasetPart, HeadPart, LinksPart, Part, RowsPart, WarningsPart, parts
from artifact.model import Artifact
from knowledge_svc.extraction.channel import SERVICE, extractor_channel
from knowledge_svc.extraction.remote import RemoteExtractor
from services.errors import LoomError
from services.status import code_of, trailers_of

Answer = Artifact | LoomError | grpc.StatusCode | Sequence[pb.ExtractResponse] | Callable[[grpc.aio.ServicerContext], object]
"""What an Extract answers: an artifact, a refusal as the services word it, a bare code, messages, or whatever a function does."""


@dataclass
class Double(extractor_pb2_grpc.ExtractorServiceServicer):
    """Answers each Extract with the next of its answers; the last one repeats. Records the files it was sent."""

    answers: list[Answer]
    formats: tuple[str, ...] = ("markdown",)
    max_bytes: int = 0
    capabilities: grpc.StatusCode | None = None
    asked: int = 0
    files: list[tuple[pb.FileHeader, bytes]] = field(default_factory=list)
    address: str = ""
    port: int = 0

    async def GetCapabilities(self, request, context):
        self.asked += 1
        if self.capabilities is not None:
            await context.abort(self.capabilities, "not now")
        formats = [pb.Format(id=name, extensions=[f".{name}"], media_types=[f"x/{name}"]) for name in self.formats]
        return pb.GetCapabilitiesResponse(version="1", formats=formats, max_bytes=self.max_bytes)

    async def Extract(self, request_iterator, context):
        header = (await anext(request_iterator)).header
        content = b"".join([request.data async for request in request_iterator])
        self.files.append((header, content))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if callable(answer):
            answer = await answer(context)
        if isinstance(answer, LoomError):
            await context.abort(code_of(answer), answer.message, trailers_of(answer, domain="loom.extractor.v1"))
        if isinstance(answer, grpc.StatusCode):
            await context.abort(answer, "a bare code")
        for message in messages(answer) if isinstance(answer, Artifact) else answer:
            yield message


def messages(artifact: Artifact) -> list[pb.ExtractResponse]:
    """An artifact as it travels, after a word of progress."""
    progress = pb.ExtractResponse(progress=pb.Progress(stage="parse", unit="line", done=1, total=1))
    return [progress, *map(message_of, parts(artifact))]


def message_of(part: Part) -> pb.ExtractResponse:
    match part:
        case HeadPart(message):
            return pb.ExtractResponse(head=message)
        case BlocksPart(blocks):
            return pb.ExtractResponse(blocks=pb.BlockPart(blocks=blocks))
        case DatasetPart(message):
            return pb.ExtractResponse(dataset=message)
        case RowsPart(dataset_id, arrow_ipc):
            return pb.ExtractResponse(rows=pb.DatasetRows(dataset_id=dataset_id, arrow_ipc=arrow_ipc))
        case LinksPart(links):
            return pb.ExtractResponse(links=pb.LinkPart(links=links))
        case WarningsPart(warnings):
            return pb.ExtractResponse(warnings=pb.WarningPart(warnings=warnings))
        case CoveragePart(message):
            return pb.ExtractResponse(coverage=message)
    raise AssertionError(part)


@asynccontextmanager
async def served(*doubles: Double) -> AsyncIterator[list[health.HealthServicer]]:
    """Serves each double on its loopback port, a free one where it names none; yields what each says of its health."""
    servers, healths = [], []
    for double in doubles:
        server = grpc.aio.server()
        extractor_pb2_grpc.add_ExtractorServiceServicer_to_server(double, server)
        servicer = health.aio.HealthServicer()  # type: ignore[attr-defined]  # its types know the sync one only
        health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
        for name in ("", SERVICE):
            await servicer.set(name, health_pb2.HealthCheckResponse.SERVING)
        double.address = f"127.0.0.1:{server.add_insecure_port(f'127.0.0.1:{double.port}')}"
        await server.start()
        servers.append(server)
        healths.append(servicer)
    try:
        yield healths
    finally:
        await asyncio.gather(*(server.stop(None) for server in servers))


def remote(
    address: str, *, timeout_s: float = 20, max_artifact_bytes: int = 1 << 20, monotonic: Callable[[], float] = time.monotonic
) -> RemoteExtractor:
    """A remote extractor at an address."""
    return RemoteExtractor(
        address,
        extractor_channel(address, ca_file=None),
        timeout_s=timeout_s,
        max_artifact_bytes=max_artifact_bytes,
        monotonic=monotonic,
    )
