"""SearchService."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from loom.knowledge.v1 import search_pb2 as pb
from loom.knowledge.v1 import search_pb2_grpc

from knowledge_svc.api.messages import LEGS, hit_message
from knowledge_svc.api.requests import Scopes, search_query
from knowledge_svc.api.runner import Runner
from knowledge_svc.domain.search import Searcher
from services.interceptor import RpcContext


class SearchServicer(search_pb2_grpc.SearchServiceServicer):
    """Answers Search."""

    def __init__(self, searcher: Searcher, *, scopes: Scopes, run: Runner, clock: Callable[[], datetime]) -> None:
        self._searcher = searcher
        self._scopes = scopes
        self._run = run
        self._clock = clock

    async def Search(self, request: pb.SearchRequest, context: RpcContext) -> pb.SearchResponse:
        """Finds passages."""
        query = search_query(request, self._scopes.of(request.namespace), now=self._clock())
        result = await self._run(self._searcher.search, query)
        hits = [hit_message(hit, explain=request.explain) for hit in result.hits]
        return pb.SearchResponse(hits=hits, change_seq=result.change_seq, degraded_legs=[LEGS[leg] for leg in result.degraded])
