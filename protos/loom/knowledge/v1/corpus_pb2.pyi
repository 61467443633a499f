import datetime

from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from loom.knowledge.v1 import documents_pb2 as _documents_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SyncAction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SYNC_ACTION_UNSPECIFIED: _ClassVar[SyncAction]
    SYNC_ACTION_WRITTEN: _ClassVar[SyncAction]
    SYNC_ACTION_UNCHANGED: _ClassVar[SyncAction]
    SYNC_ACTION_REMOVED: _ClassVar[SyncAction]
    SYNC_ACTION_RETAINED: _ClassVar[SyncAction]

class FindingSeverity(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FINDING_SEVERITY_UNSPECIFIED: _ClassVar[FindingSeverity]
    FINDING_SEVERITY_INFO: _ClassVar[FindingSeverity]
    FINDING_SEVERITY_WARNING: _ClassVar[FindingSeverity]
    FINDING_SEVERITY_ERROR: _ClassVar[FindingSeverity]
SYNC_ACTION_UNSPECIFIED: SyncAction
SYNC_ACTION_WRITTEN: SyncAction
SYNC_ACTION_UNCHANGED: SyncAction
SYNC_ACTION_REMOVED: SyncAction
SYNC_ACTION_RETAINED: SyncAction
FINDING_SEVERITY_UNSPECIFIED: FindingSeverity
FINDING_SEVERITY_INFO: FindingSeverity
FINDING_SEVERITY_WARNING: FindingSeverity
FINDING_SEVERITY_ERROR: FindingSeverity

class SyncHeader(_message.Message):
    __slots__ = ("namespace", "source", "uri_prefix")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    URI_PREFIX_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    source: str
    uri_prefix: str
    def __init__(self, namespace: _Optional[str] = ..., source: _Optional[str] = ..., uri_prefix: _Optional[str] = ...) -> None: ...

class PlanSyncRequest(_message.Message):
    __slots__ = ("header", "document")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    header: SyncHeader
    document: _documents_pb2.DocumentInput
    def __init__(self, header: _Optional[_Union[SyncHeader, _Mapping]] = ..., document: _Optional[_Union[_documents_pb2.DocumentInput, _Mapping]] = ...) -> None: ...

class PlanSyncResponse(_message.Message):
    __slots__ = ("summary", "outcomes")
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    summary: SyncSummary
    outcomes: _containers.RepeatedCompositeFieldContainer[SyncOutcome]
    def __init__(self, summary: _Optional[_Union[SyncSummary, _Mapping]] = ..., outcomes: _Optional[_Iterable[_Union[SyncOutcome, _Mapping]]] = ...) -> None: ...

class SyncRequest(_message.Message):
    __slots__ = ("header", "document")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    header: SyncHeader
    document: _documents_pb2.DocumentInput
    def __init__(self, header: _Optional[_Union[SyncHeader, _Mapping]] = ..., document: _Optional[_Union[_documents_pb2.DocumentInput, _Mapping]] = ...) -> None: ...

class SyncResponse(_message.Message):
    __slots__ = ("outcome", "summary")
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    outcome: SyncOutcome
    summary: SyncSummary
    def __init__(self, outcome: _Optional[_Union[SyncOutcome, _Mapping]] = ..., summary: _Optional[_Union[SyncSummary, _Mapping]] = ...) -> None: ...

class SyncOutcome(_message.Message):
    __slots__ = ("source_uri", "action")
    SOURCE_URI_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    source_uri: str
    action: SyncAction
    def __init__(self, source_uri: _Optional[str] = ..., action: _Optional[_Union[SyncAction, str]] = ...) -> None: ...

class SyncSummary(_message.Message):
    __slots__ = ("written", "unchanged", "removed", "retained")
    WRITTEN_FIELD_NUMBER: _ClassVar[int]
    UNCHANGED_FIELD_NUMBER: _ClassVar[int]
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    RETAINED_FIELD_NUMBER: _ClassVar[int]
    written: int
    unchanged: int
    removed: int
    retained: int
    def __init__(self, written: _Optional[int] = ..., unchanged: _Optional[int] = ..., removed: _Optional[int] = ..., retained: _Optional[int] = ...) -> None: ...

class InspectCorpusRequest(_message.Message):
    __slots__ = ("namespace", "sample_limit")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_LIMIT_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    sample_limit: int
    def __init__(self, namespace: _Optional[str] = ..., sample_limit: _Optional[int] = ...) -> None: ...

class Finding(_message.Message):
    __slots__ = ("code", "severity", "kind", "text", "count", "samples", "ingestion_ids", "ingested", "ingested_samples", "without_document", "refs")
    CODE_FIELD_NUMBER: _ClassVar[int]
    SEVERITY_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    SAMPLES_FIELD_NUMBER: _ClassVar[int]
    INGESTION_IDS_FIELD_NUMBER: _ClassVar[int]
    INGESTED_FIELD_NUMBER: _ClassVar[int]
    INGESTED_SAMPLES_FIELD_NUMBER: _ClassVar[int]
    WITHOUT_DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    REFS_FIELD_NUMBER: _ClassVar[int]
    code: str
    severity: FindingSeverity
    kind: str
    text: str
    count: int
    samples: _containers.RepeatedScalarFieldContainer[str]
    ingestion_ids: _containers.RepeatedScalarFieldContainer[str]
    ingested: int
    ingested_samples: _containers.RepeatedScalarFieldContainer[str]
    without_document: int
    refs: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, code: _Optional[str] = ..., severity: _Optional[_Union[FindingSeverity, str]] = ..., kind: _Optional[str] = ..., text: _Optional[str] = ..., count: _Optional[int] = ..., samples: _Optional[_Iterable[str]] = ..., ingestion_ids: _Optional[_Iterable[str]] = ..., ingested: _Optional[int] = ..., ingested_samples: _Optional[_Iterable[str]] = ..., without_document: _Optional[int] = ..., refs: _Optional[_Iterable[str]] = ...) -> None: ...

class NamedCount(_message.Message):
    __slots__ = ("name", "count")
    NAME_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    name: str
    count: int
    def __init__(self, name: _Optional[str] = ..., count: _Optional[int] = ...) -> None: ...

class DocumentCounts(_message.Message):
    __slots__ = ("live", "deleted", "by_format", "by_scheme", "newest_ingest_at", "earlier_revisions", "unnumbered", "retired_versions")
    LIVE_FIELD_NUMBER: _ClassVar[int]
    DELETED_FIELD_NUMBER: _ClassVar[int]
    BY_FORMAT_FIELD_NUMBER: _ClassVar[int]
    BY_SCHEME_FIELD_NUMBER: _ClassVar[int]
    NEWEST_INGEST_AT_FIELD_NUMBER: _ClassVar[int]
    EARLIER_REVISIONS_FIELD_NUMBER: _ClassVar[int]
    UNNUMBERED_FIELD_NUMBER: _ClassVar[int]
    RETIRED_VERSIONS_FIELD_NUMBER: _ClassVar[int]
    live: int
    deleted: int
    by_format: _containers.RepeatedCompositeFieldContainer[NamedCount]
    by_scheme: _containers.RepeatedCompositeFieldContainer[NamedCount]
    newest_ingest_at: _timestamp_pb2.Timestamp
    earlier_revisions: int
    unnumbered: int
    retired_versions: int
    def __init__(self, live: _Optional[int] = ..., deleted: _Optional[int] = ..., by_format: _Optional[_Iterable[_Union[NamedCount, _Mapping]]] = ..., by_scheme: _Optional[_Iterable[_Union[NamedCount, _Mapping]]] = ..., newest_ingest_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., earlier_revisions: _Optional[int] = ..., unnumbered: _Optional[int] = ..., retired_versions: _Optional[int] = ...) -> None: ...

class ChunkCounts(_message.Message):
    __slots__ = ("live", "with_vector", "searchable", "by_model", "embedder_model")
    LIVE_FIELD_NUMBER: _ClassVar[int]
    WITH_VECTOR_FIELD_NUMBER: _ClassVar[int]
    SEARCHABLE_FIELD_NUMBER: _ClassVar[int]
    BY_MODEL_FIELD_NUMBER: _ClassVar[int]
    EMBEDDER_MODEL_FIELD_NUMBER: _ClassVar[int]
    live: int
    with_vector: int
    searchable: int
    by_model: _containers.RepeatedCompositeFieldContainer[NamedCount]
    embedder_model: str
    def __init__(self, live: _Optional[int] = ..., with_vector: _Optional[int] = ..., searchable: _Optional[int] = ..., by_model: _Optional[_Iterable[_Union[NamedCount, _Mapping]]] = ..., embedder_model: _Optional[str] = ...) -> None: ...

class IngestionCounts(_message.Message):
    __slots__ = ("by_state", "stalled", "oldest_open_queued_at", "worker_enabled", "extractor_configured", "without_document")
    BY_STATE_FIELD_NUMBER: _ClassVar[int]
    STALLED_FIELD_NUMBER: _ClassVar[int]
    OLDEST_OPEN_QUEUED_AT_FIELD_NUMBER: _ClassVar[int]
    WORKER_ENABLED_FIELD_NUMBER: _ClassVar[int]
    EXTRACTOR_CONFIGURED_FIELD_NUMBER: _ClassVar[int]
    WITHOUT_DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    by_state: _containers.RepeatedCompositeFieldContainer[NamedCount]
    stalled: int
    oldest_open_queued_at: _timestamp_pb2.Timestamp
    worker_enabled: bool
    extractor_configured: bool
    without_document: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, by_state: _Optional[_Iterable[_Union[NamedCount, _Mapping]]] = ..., stalled: _Optional[int] = ..., oldest_open_queued_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., worker_enabled: _Optional[bool] = ..., extractor_configured: _Optional[bool] = ..., without_document: _Optional[_Iterable[str]] = ...) -> None: ...

class ListedDocument(_message.Message):
    __slots__ = ("document", "retired_versions", "chunks_searchable", "chunks_unembedded", "chunks_other_model", "characters_per_chunk", "jobs")
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    RETIRED_VERSIONS_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_SEARCHABLE_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_UNEMBEDDED_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_OTHER_MODEL_FIELD_NUMBER: _ClassVar[int]
    CHARACTERS_PER_CHUNK_FIELD_NUMBER: _ClassVar[int]
    JOBS_FIELD_NUMBER: _ClassVar[int]
    document: _documents_pb2.Document
    retired_versions: int
    chunks_searchable: int
    chunks_unembedded: int
    chunks_other_model: int
    characters_per_chunk: int
    jobs: _struct_pb2.Struct
    def __init__(self, document: _Optional[_Union[_documents_pb2.Document, _Mapping]] = ..., retired_versions: _Optional[int] = ..., chunks_searchable: _Optional[int] = ..., chunks_unembedded: _Optional[int] = ..., chunks_other_model: _Optional[int] = ..., characters_per_chunk: _Optional[int] = ..., jobs: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class InspectCorpusResponse(_message.Message):
    __slots__ = ("documents", "chunks", "ingestions", "listed", "listed_complete", "findings", "skipped")
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_FIELD_NUMBER: _ClassVar[int]
    INGESTIONS_FIELD_NUMBER: _ClassVar[int]
    LISTED_FIELD_NUMBER: _ClassVar[int]
    LISTED_COMPLETE_FIELD_NUMBER: _ClassVar[int]
    FINDINGS_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_FIELD_NUMBER: _ClassVar[int]
    documents: DocumentCounts
    chunks: ChunkCounts
    ingestions: IngestionCounts
    listed: _containers.RepeatedCompositeFieldContainer[ListedDocument]
    listed_complete: bool
    findings: _containers.RepeatedCompositeFieldContainer[Finding]
    skipped: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, documents: _Optional[_Union[DocumentCounts, _Mapping]] = ..., chunks: _Optional[_Union[ChunkCounts, _Mapping]] = ..., ingestions: _Optional[_Union[IngestionCounts, _Mapping]] = ..., listed: _Optional[_Iterable[_Union[ListedDocument, _Mapping]]] = ..., listed_complete: _Optional[bool] = ..., findings: _Optional[_Iterable[_Union[Finding, _Mapping]]] = ..., skipped: _Optional[_Iterable[str]] = ...) -> None: ...

class ListDuplicatesRequest(_message.Message):
    __slots__ = ("namespace", "chunks", "page_size", "page_token")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    chunks: bool
    page_size: int
    page_token: str
    def __init__(self, namespace: _Optional[str] = ..., chunks: _Optional[bool] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListDuplicatesResponse(_message.Message):
    __slots__ = ("clusters", "next_page_token")
    class Cluster(_message.Message):
        __slots__ = ("content_hash", "canonical", "duplicates")
        CONTENT_HASH_FIELD_NUMBER: _ClassVar[int]
        CANONICAL_FIELD_NUMBER: _ClassVar[int]
        DUPLICATES_FIELD_NUMBER: _ClassVar[int]
        content_hash: str
        canonical: str
        duplicates: _containers.RepeatedScalarFieldContainer[str]
        def __init__(self, content_hash: _Optional[str] = ..., canonical: _Optional[str] = ..., duplicates: _Optional[_Iterable[str]] = ...) -> None: ...
    CLUSTERS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    clusters: _containers.RepeatedCompositeFieldContainer[ListDuplicatesResponse.Cluster]
    next_page_token: str
    def __init__(self, clusters: _Optional[_Iterable[_Union[ListDuplicatesResponse.Cluster, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ResolveDuplicateRequest(_message.Message):
    __slots__ = ("namespace", "canonical_uri", "duplicate_uri", "confirm_duplicate_uri", "resolution")
    class Resolution(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        RESOLUTION_UNSPECIFIED: _ClassVar[ResolveDuplicateRequest.Resolution]
        RESOLUTION_KEEP_CANONICAL: _ClassVar[ResolveDuplicateRequest.Resolution]
        RESOLUTION_SWAP: _ClassVar[ResolveDuplicateRequest.Resolution]
    RESOLUTION_UNSPECIFIED: ResolveDuplicateRequest.Resolution
    RESOLUTION_KEEP_CANONICAL: ResolveDuplicateRequest.Resolution
    RESOLUTION_SWAP: ResolveDuplicateRequest.Resolution
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    CANONICAL_URI_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_URI_FIELD_NUMBER: _ClassVar[int]
    CONFIRM_DUPLICATE_URI_FIELD_NUMBER: _ClassVar[int]
    RESOLUTION_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    canonical_uri: str
    duplicate_uri: str
    confirm_duplicate_uri: str
    resolution: ResolveDuplicateRequest.Resolution
    def __init__(self, namespace: _Optional[str] = ..., canonical_uri: _Optional[str] = ..., duplicate_uri: _Optional[str] = ..., confirm_duplicate_uri: _Optional[str] = ..., resolution: _Optional[_Union[ResolveDuplicateRequest.Resolution, str]] = ...) -> None: ...

class ResolveDuplicateResponse(_message.Message):
    __slots__ = ("retired_uri",)
    RETIRED_URI_FIELD_NUMBER: _ClassVar[int]
    retired_uri: str
    def __init__(self, retired_uri: _Optional[str] = ...) -> None: ...
