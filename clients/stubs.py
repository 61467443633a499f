"""The generated stubs of each service; they work over a blocking channel and over an asyncio one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import grpc
from google.protobuf.wrappers_pb2 import Int32Value, StringValue
from loom.extractor.v1 import extractor_pb2_grpc
from loom.knowledge.v1 import corpus_pb2_grpc, datasets_pb2_grpc, documents_pb2_grpc, ingest_pb2_grpc, search_pb2_grpc

Channel: TypeAlias = grpc.Channel | grpc.aio.Channel
Stubs: TypeAlias = Mapping[str, Callable[[Channel], Any]]  # Any: the generated code is untyped

HEALTH_CHECK: Final = "/grpc.health.v1.Health/Check"


class HealthStub:
    """The standard health check. Its two messages hold one field each and are the wrappers' on the wire: a name, a number."""

    def __init__(self, channel: Channel) -> None:
        self.Check = channel.unary_unary(HEALTH_CHECK, StringValue.SerializeToString, Int32Value.FromString)


KNOWLEDGE: Final[Stubs] = {
    "documents": documents_pb2_grpc.DocumentServiceStub,
    "search": search_pb2_grpc.SearchServiceStub,
    "ingest": ingest_pb2_grpc.IngestServiceStub,
    "datasets": datasets_pb2_grpc.DatasetServiceStub,
    "corpus": corpus_pb2_grpc.CorpusServiceStub,
    "health": HealthStub,
}
EXTRACTOR: Final[Stubs] = {"extractor": extractor_pb2_grpc.ExtractorServiceStub, "health": HealthStub}


class Methods:
    """The methods of some stubs over one channel, by name: stub, ".", method, such as "search.Search"."""

    def __init__(self, stubs: Stubs, channel: Channel) -> None:
        self._stubs = {name: stub(channel) for name, stub in stubs.items()}

    def __getitem__(self, name: str) -> Any:  # Any: the generated code is untyped
        stub, _, method = name.partition(".")
        return getattr(self._stubs[stub], method)
