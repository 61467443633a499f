"""The call that searches."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from google.protobuf.duration_pb2 import Duration
from loom.knowledge.v1 import search_pb2

from clients.calls import Call
from clients.enums import contract_name
from clients.requests.documents import timestamp
from clients.results.search import SearchResult, read_search


def search(
    query: str,
    *,
    top_k: int = 0,
    mode: str = "",
    uri_prefixes: Sequence[str] = (),
    tags: Sequence[str] = (),
    formats: Sequence[str] = (),
    block_types: Sequence[str] = (),
    since: timedelta | None = None,
    lexical_weight: float | None = None,
    collapse_sections: bool | None = None,
    narrow_spans: bool = False,
    rerank: str = "",
    explain: bool = False,
    as_of: datetime | None = None,
    namespace_scope: str = "",
    namespace: str = "",
    page_token: str = "",
) -> Call[SearchResult]:
    """Finds passages, best first.

    `top_k` is 1 to 100, 0 the server's default of 5; `mode` is "hybrid" (the default), "semantic" or "lexical";
    `namespace_scope` is "this" or "all_mine". Filters hold before the cut: the answer is the true top of what they let through.
    `formats` with "" selects documents that were not ingested. `explain` tells for each hit which leg found it.
    """
    request = search_pb2.SearchRequest(
        namespace=namespace,
        query=query,
        mode=contract_name(search_pb2.SearchMode, mode),
        lexical_weight=lexical_weight,
        namespace_scope=contract_name(search_pb2.NamespaceScope, namespace_scope),
        uri_prefixes=uri_prefixes,
        tags=tags,
        since=duration(since),
        formats=formats,
        block_types=block_types,
        collapse_sections=collapse_sections,
        narrow_spans=narrow_spans,
        top_k=top_k,
        rerank=rerank,
        explain=explain,
        as_of=timestamp(as_of),
        page_token=page_token,
    )
    return Call("search.Search", request, read_search)


def duration(length: timedelta | None) -> Duration | None:
    """The length of time as the contract carries it."""
    if length is None:
        return None
    carried = Duration()
    carried.FromTimedelta(length)
    return carried
