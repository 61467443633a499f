"""Both services as canned answers over real gRPC: the generated servicers, each method answered by a function of the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.protobuf import any_pb2
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.wrappers_pb2 import Int32Value, StringValue
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status
from loom.extractor.v1 import extractor_pb2_grpc
from loom.knowledge.v1 import datasets_pb2_grpc, documents_pb2_grpc, ingest_pb2_grpc, search_pb2_grpc

Answer = Callable[[Any, grpc.ServicerContext], Any]  # Any: messages of every method pass here


@dataclass
class Asked:
    """One call as the server saw it."""

    method: str
    requests: list[Message]
    metadata: dict[str, str]

    @property
    def request(self) -> Any:  # Any: the test knows which message it is
        return self.requests[0]


@dataclass
class Fake:
    """Answers by method name, such as "Search"; a method without an answer is UNIMPLEMENTED. Records what was asked."""

    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    address: str = ""

    def on(self, method: str, answer: Message | Answer) -> Fake:
        self.answers[method] = answer if callable(answer) else lambda _request, _context: answer
        return self

    def calls(self, method: str) -> list[Asked]:
        return [asked for asked in self.asked if asked.method == method]

    def request(self, method: str) -> Any:  # Any: the test knows which message it is
        return self.calls(method)[-1].request

    def handle(self, method: str, request: Any, context: grpc.ServicerContext) -> Any:  # Any: as Answer
        metadata = {key: value for key, value in context.invocation_metadata() or () if isinstance(value, str)}
        recorded = Asked(method, [] if hasattr(request, "__next__") else [request], metadata)
        self.asked.append(recorded)
        if method not in self.answers:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "Method not found!")
        return self.answers[method](request, context)


def refuse(
    code: grpc.StatusCode,
    reason: str,
    message: str,
    *,
    metadata: dict[str, str] | None = None,
    violations: dict[str, str] | None = None,
    retry_s: float | None = None,
    request_id: str = "",
) -> Answer:
    """An answer that refuses as the services do: one ErrorInfo, and what else applies."""
    details: list[Message] = [error_details_pb2.ErrorInfo(reason=reason, domain="loom.knowledge.v1", metadata=metadata or {})]
    if violations:
        bad = error_details_pb2.BadRequest()
        for name, description in violations.items():
            bad.field_violations.add(field=name, description=description)
        details.append(bad)
    if retry_s is not None:
        delay = Duration()
        delay.FromNanoseconds(int(retry_s * 1e9))
        details.append(error_details_pb2.RetryInfo(retry_delay=delay))
    if request_id:
        details.append(error_details_pb2.RequestInfo(request_id=request_id))
    status = status_pb2.Status(code=code.value[0], message=message)
    for detail in details:
        packed = any_pb2.Any()
        packed.Pack(detail)
        status.details.append(packed)

    def answer(_request: object, context: grpc.ServicerContext) -> object:
        context.abort_with_status(rpc_status.to_status(status))

    return answer


def _servicer(base: type, fake: Fake) -> Any:  # Any: a subclass made here has no name a type could use
    def answering(name: str) -> Callable[..., Any]:  # Any: as Answer
        return lambda _self, request, context: fake.handle(name, request, context)

    return type(f"Fake{base.__name__}", (base,), {name: answering(name) for name in vars(base) if name[0].isupper()})()


@contextmanager
def serving(fake: Fake, *, health: int = 1) -> Iterator[Fake]:
    """Serves the fake on a free loopback port; `health` is what the standard health check answers, 1 for SERVING."""
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=8))
    register: Any  # Any: the generated code is untyped
    for register, base in (
        (documents_pb2_grpc.add_DocumentServiceServicer_to_server, documents_pb2_grpc.DocumentServiceServicer),
        (search_pb2_grpc.add_SearchServiceServicer_to_server, search_pb2_grpc.SearchServiceServicer),
        (ingest_pb2_grpc.add_IngestServiceServicer_to_server, ingest_pb2_grpc.IngestServiceServicer),
        (datasets_pb2_grpc.add_DatasetServiceServicer_to_server, datasets_pb2_grpc.DatasetServiceServicer),
        (extractor_pb2_grpc.add_ExtractorServiceServicer_to_server, extractor_pb2_grpc.ExtractorServiceServicer),
    ):
        register(_servicer(base, fake), server)
    check = grpc.unary_unary_rpc_method_handler(
        lambda _request, _context: Int32Value(value=health),
        request_deserializer=StringValue.FromString,
        response_serializer=Int32Value.SerializeToString,
    )
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("grpc.health.v1.Health", {"Check": check}),))
    fake.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    try:
        yield fake
    finally:
        server.stop(None).wait()
