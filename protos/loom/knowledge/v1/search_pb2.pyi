import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from loom.artifact.v1 import artifact_pb2 as _artifact_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SearchMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SEARCH_MODE_UNSPECIFIED: _ClassVar[SearchMode]
    SEARCH_MODE_HYBRID: _ClassVar[SearchMode]
    SEARCH_MODE_SEMANTIC: _ClassVar[SearchMode]
    SEARCH_MODE_LEXICAL: _ClassVar[SearchMode]

class NamespaceScope(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    NAMESPACE_SCOPE_UNSPECIFIED: _ClassVar[NamespaceScope]
    NAMESPACE_SCOPE_THIS: _ClassVar[NamespaceScope]
    NAMESPACE_SCOPE_ALL_MINE: _ClassVar[NamespaceScope]

class SearchLeg(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SEARCH_LEG_UNSPECIFIED: _ClassVar[SearchLeg]
    SEARCH_LEG_VECTOR: _ClassVar[SearchLeg]
    SEARCH_LEG_LEXICAL: _ClassVar[SearchLeg]
    SEARCH_LEG_KEYS: _ClassVar[SearchLeg]
SEARCH_MODE_UNSPECIFIED: SearchMode
SEARCH_MODE_HYBRID: SearchMode
SEARCH_MODE_SEMANTIC: SearchMode
SEARCH_MODE_LEXICAL: SearchMode
NAMESPACE_SCOPE_UNSPECIFIED: NamespaceScope
NAMESPACE_SCOPE_THIS: NamespaceScope
NAMESPACE_SCOPE_ALL_MINE: NamespaceScope
SEARCH_LEG_UNSPECIFIED: SearchLeg
SEARCH_LEG_VECTOR: SearchLeg
SEARCH_LEG_LEXICAL: SearchLeg
SEARCH_LEG_KEYS: SearchLeg

class SearchRequest(_message.Message):
    __slots__ = ("namespace", "query", "mode", "lexical_weight", "namespace_scope", "uri_prefixes", "tags", "since", "formats", "block_types", "collapse_sections", "narrow_spans", "top_k", "rerank", "explain", "as_of", "page_token")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    LEXICAL_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_SCOPE_FIELD_NUMBER: _ClassVar[int]
    URI_PREFIXES_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    FORMATS_FIELD_NUMBER: _ClassVar[int]
    BLOCK_TYPES_FIELD_NUMBER: _ClassVar[int]
    COLLAPSE_SECTIONS_FIELD_NUMBER: _ClassVar[int]
    NARROW_SPANS_FIELD_NUMBER: _ClassVar[int]
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    RERANK_FIELD_NUMBER: _ClassVar[int]
    EXPLAIN_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    query: str
    mode: SearchMode
    lexical_weight: float
    namespace_scope: NamespaceScope
    uri_prefixes: _containers.RepeatedScalarFieldContainer[str]
    tags: _containers.RepeatedScalarFieldContainer[str]
    since: _duration_pb2.Duration
    formats: _containers.RepeatedScalarFieldContainer[str]
    block_types: _containers.RepeatedScalarFieldContainer[str]
    collapse_sections: bool
    narrow_spans: bool
    top_k: int
    rerank: str
    explain: bool
    as_of: _timestamp_pb2.Timestamp
    page_token: str
    def __init__(self, namespace: _Optional[str] = ..., query: _Optional[str] = ..., mode: _Optional[_Union[SearchMode, str]] = ..., lexical_weight: _Optional[float] = ..., namespace_scope: _Optional[_Union[NamespaceScope, str]] = ..., uri_prefixes: _Optional[_Iterable[str]] = ..., tags: _Optional[_Iterable[str]] = ..., since: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., formats: _Optional[_Iterable[str]] = ..., block_types: _Optional[_Iterable[str]] = ..., collapse_sections: _Optional[bool] = ..., narrow_spans: _Optional[bool] = ..., top_k: _Optional[int] = ..., rerank: _Optional[str] = ..., explain: _Optional[bool] = ..., as_of: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., page_token: _Optional[str] = ...) -> None: ...

class Hit(_message.Message):
    __slots__ = ("source_uri", "chunk_index", "content", "section", "section_path", "similarity", "lexical_score", "score", "namespace", "revision", "format", "block_type", "locator", "place", "siblings_folded", "keys_matched", "noise", "span", "title", "doc_id", "legs", "citation")
    SOURCE_URI_FIELD_NUMBER: _ClassVar[int]
    CHUNK_INDEX_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    SECTION_FIELD_NUMBER: _ClassVar[int]
    SECTION_PATH_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    LEXICAL_SCORE_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    BLOCK_TYPE_FIELD_NUMBER: _ClassVar[int]
    LOCATOR_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    SIBLINGS_FOLDED_FIELD_NUMBER: _ClassVar[int]
    KEYS_MATCHED_FIELD_NUMBER: _ClassVar[int]
    NOISE_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    DOC_ID_FIELD_NUMBER: _ClassVar[int]
    LEGS_FIELD_NUMBER: _ClassVar[int]
    CITATION_FIELD_NUMBER: _ClassVar[int]
    source_uri: str
    chunk_index: int
    content: str
    section: str
    section_path: _containers.RepeatedScalarFieldContainer[str]
    similarity: float
    lexical_score: float
    score: float
    namespace: str
    revision: int
    format: str
    block_type: str
    locator: _artifact_pb2.Locator
    place: str
    siblings_folded: int
    keys_matched: _containers.RepeatedScalarFieldContainer[str]
    noise: bool
    span: Span
    title: str
    doc_id: str
    legs: _containers.RepeatedCompositeFieldContainer[LegScore]
    citation: str
    def __init__(self, source_uri: _Optional[str] = ..., chunk_index: _Optional[int] = ..., content: _Optional[str] = ..., section: _Optional[str] = ..., section_path: _Optional[_Iterable[str]] = ..., similarity: _Optional[float] = ..., lexical_score: _Optional[float] = ..., score: _Optional[float] = ..., namespace: _Optional[str] = ..., revision: _Optional[int] = ..., format: _Optional[str] = ..., block_type: _Optional[str] = ..., locator: _Optional[_Union[_artifact_pb2.Locator, _Mapping]] = ..., place: _Optional[str] = ..., siblings_folded: _Optional[int] = ..., keys_matched: _Optional[_Iterable[str]] = ..., noise: _Optional[bool] = ..., span: _Optional[_Union[Span, _Mapping]] = ..., title: _Optional[str] = ..., doc_id: _Optional[str] = ..., legs: _Optional[_Iterable[_Union[LegScore, _Mapping]]] = ..., citation: _Optional[str] = ...) -> None: ...

class Span(_message.Message):
    __slots__ = ("text", "start", "end", "similarity")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    text: str
    start: int
    end: int
    similarity: float
    def __init__(self, text: _Optional[str] = ..., start: _Optional[int] = ..., end: _Optional[int] = ..., similarity: _Optional[float] = ...) -> None: ...

class LegScore(_message.Message):
    __slots__ = ("leg", "rank", "score", "contribution")
    LEG_FIELD_NUMBER: _ClassVar[int]
    RANK_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    CONTRIBUTION_FIELD_NUMBER: _ClassVar[int]
    leg: SearchLeg
    rank: int
    score: float
    contribution: float
    def __init__(self, leg: _Optional[_Union[SearchLeg, str]] = ..., rank: _Optional[int] = ..., score: _Optional[float] = ..., contribution: _Optional[float] = ...) -> None: ...

class SearchResponse(_message.Message):
    __slots__ = ("hits", "reranked_by", "next_page_token", "degraded_legs", "change_seq")
    HITS_FIELD_NUMBER: _ClassVar[int]
    RERANKED_BY_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_LEGS_FIELD_NUMBER: _ClassVar[int]
    CHANGE_SEQ_FIELD_NUMBER: _ClassVar[int]
    hits: _containers.RepeatedCompositeFieldContainer[Hit]
    reranked_by: str
    next_page_token: str
    degraded_legs: _containers.RepeatedScalarFieldContainer[SearchLeg]
    change_seq: int
    def __init__(self, hits: _Optional[_Iterable[_Union[Hit, _Mapping]]] = ..., reranked_by: _Optional[str] = ..., next_page_token: _Optional[str] = ..., degraded_legs: _Optional[_Iterable[_Union[SearchLeg, str]]] = ..., change_seq: _Optional[int] = ...) -> None: ...
