import datetime

from google.protobuf import field_mask_pb2 as _field_mask_pb2
from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from loom.artifact.v1 import artifact_pb2 as _artifact_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SourceClass(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SOURCE_CLASS_UNSPECIFIED: _ClassVar[SourceClass]
    SOURCE_CLASS_AUTHORED: _ClassVar[SourceClass]
    SOURCE_CLASS_INGESTED: _ClassVar[SourceClass]
    SOURCE_CLASS_IMPORTED: _ClassVar[SourceClass]
SOURCE_CLASS_UNSPECIFIED: SourceClass
SOURCE_CLASS_AUTHORED: SourceClass
SOURCE_CLASS_INGESTED: SourceClass
SOURCE_CLASS_IMPORTED: SourceClass

class DocumentInput(_message.Message):
    __slots__ = ("source_uri", "content", "title", "description", "tags", "metadata", "original_bytes", "original_filename", "original_content_type", "source")
    SOURCE_URI_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_BYTES_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_FILENAME_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_CONTENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    source_uri: str
    content: str
    title: str
    description: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    metadata: _struct_pb2.Struct
    original_bytes: bytes
    original_filename: str
    original_content_type: str
    source: str
    def __init__(self, source_uri: _Optional[str] = ..., content: _Optional[str] = ..., title: _Optional[str] = ..., description: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ..., metadata: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., original_bytes: _Optional[bytes] = ..., original_filename: _Optional[str] = ..., original_content_type: _Optional[str] = ..., source: _Optional[str] = ...) -> None: ...

class Document(_message.Message):
    __slots__ = ("namespace", "source_uri", "doc_id", "revision", "title", "description", "tags", "metadata", "content", "content_hash", "format", "parser", "coverage", "ingestion_id", "ingested_at", "updated_at", "actor", "user_id", "source_class", "original_filename", "content_type", "blob_sha256", "source", "superseded_at", "chunk_count")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_URI_FIELD_NUMBER: _ClassVar[int]
    DOC_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    CONTENT_HASH_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    PARSER_FIELD_NUMBER: _ClassVar[int]
    COVERAGE_FIELD_NUMBER: _ClassVar[int]
    INGESTION_ID_FIELD_NUMBER: _ClassVar[int]
    INGESTED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_CLASS_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_FILENAME_FIELD_NUMBER: _ClassVar[int]
    CONTENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    BLOB_SHA256_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_AT_FIELD_NUMBER: _ClassVar[int]
    CHUNK_COUNT_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    source_uri: str
    doc_id: str
    revision: int
    title: str
    description: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    metadata: _struct_pb2.Struct
    content: str
    content_hash: str
    format: str
    parser: str
    coverage: _artifact_pb2.Coverage
    ingestion_id: str
    ingested_at: _timestamp_pb2.Timestamp
    updated_at: _timestamp_pb2.Timestamp
    actor: str
    user_id: str
    source_class: SourceClass
    original_filename: str
    content_type: str
    blob_sha256: str
    source: str
    superseded_at: _timestamp_pb2.Timestamp
    chunk_count: int
    def __init__(self, namespace: _Optional[str] = ..., source_uri: _Optional[str] = ..., doc_id: _Optional[str] = ..., revision: _Optional[int] = ..., title: _Optional[str] = ..., description: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ..., metadata: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., content: _Optional[str] = ..., content_hash: _Optional[str] = ..., format: _Optional[str] = ..., parser: _Optional[str] = ..., coverage: _Optional[_Union[_artifact_pb2.Coverage, _Mapping]] = ..., ingestion_id: _Optional[str] = ..., ingested_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., actor: _Optional[str] = ..., user_id: _Optional[str] = ..., source_class: _Optional[_Union[SourceClass, str]] = ..., original_filename: _Optional[str] = ..., content_type: _Optional[str] = ..., blob_sha256: _Optional[str] = ..., source: _Optional[str] = ..., superseded_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., chunk_count: _Optional[int] = ...) -> None: ...

class Section(_message.Message):
    __slots__ = ("path", "title", "depth", "chunk_indexes", "characters", "noise")
    PATH_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    CHUNK_INDEXES_FIELD_NUMBER: _ClassVar[int]
    CHARACTERS_FIELD_NUMBER: _ClassVar[int]
    NOISE_FIELD_NUMBER: _ClassVar[int]
    path: _containers.RepeatedScalarFieldContainer[str]
    title: str
    depth: int
    chunk_indexes: _containers.RepeatedScalarFieldContainer[int]
    characters: int
    noise: bool
    def __init__(self, path: _Optional[_Iterable[str]] = ..., title: _Optional[str] = ..., depth: _Optional[int] = ..., chunk_indexes: _Optional[_Iterable[int]] = ..., characters: _Optional[int] = ..., noise: _Optional[bool] = ...) -> None: ...

class AddDocumentRequest(_message.Message):
    __slots__ = ("namespace", "document", "request_id")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    document: DocumentInput
    request_id: str
    def __init__(self, namespace: _Optional[str] = ..., document: _Optional[_Union[DocumentInput, _Mapping]] = ..., request_id: _Optional[str] = ...) -> None: ...

class AddDocumentResponse(_message.Message):
    __slots__ = ("document", "chunks")
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_FIELD_NUMBER: _ClassVar[int]
    document: Document
    chunks: int
    def __init__(self, document: _Optional[_Union[Document, _Mapping]] = ..., chunks: _Optional[int] = ...) -> None: ...

class BulkAddDocumentsRequest(_message.Message):
    __slots__ = ("namespace", "documents", "request_id")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    documents: _containers.RepeatedCompositeFieldContainer[DocumentInput]
    request_id: str
    def __init__(self, namespace: _Optional[str] = ..., documents: _Optional[_Iterable[_Union[DocumentInput, _Mapping]]] = ..., request_id: _Optional[str] = ...) -> None: ...

class BulkAddDocumentsResponse(_message.Message):
    __slots__ = ("documents",)
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    documents: _containers.RepeatedCompositeFieldContainer[AddDocumentResponse]
    def __init__(self, documents: _Optional[_Iterable[_Union[AddDocumentResponse, _Mapping]]] = ...) -> None: ...

class UpsertDocumentRequest(_message.Message):
    __slots__ = ("namespace", "document", "request_id", "expected_revision")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    document: DocumentInput
    request_id: str
    expected_revision: int
    def __init__(self, namespace: _Optional[str] = ..., document: _Optional[_Union[DocumentInput, _Mapping]] = ..., request_id: _Optional[str] = ..., expected_revision: _Optional[int] = ...) -> None: ...

class UpsertDocumentResponse(_message.Message):
    __slots__ = ("document", "chunks", "changed", "duplicate_of_uri", "duplicate_chunk_count")
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_FIELD_NUMBER: _ClassVar[int]
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_OF_URI_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_CHUNK_COUNT_FIELD_NUMBER: _ClassVar[int]
    document: Document
    chunks: int
    changed: bool
    duplicate_of_uri: str
    duplicate_chunk_count: int
    def __init__(self, document: _Optional[_Union[Document, _Mapping]] = ..., chunks: _Optional[int] = ..., changed: _Optional[bool] = ..., duplicate_of_uri: _Optional[str] = ..., duplicate_chunk_count: _Optional[int] = ...) -> None: ...

class GetDocumentRequest(_message.Message):
    __slots__ = ("namespace", "source_uri", "revision", "include_superseded", "as_of")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_URI_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_SUPERSEDED_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    source_uri: str
    revision: int
    include_superseded: bool
    as_of: _timestamp_pb2.Timestamp
    def __init__(self, namespace: _Optional[str] = ..., source_uri: _Optional[str] = ..., revision: _Optional[int] = ..., include_superseded: _Optional[bool] = ..., as_of: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class GetDocumentResponse(_message.Message):
    __slots__ = ("document",)
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    document: Document
    def __init__(self, document: _Optional[_Union[Document, _Mapping]] = ...) -> None: ...

class ListDocumentsRequest(_message.Message):
    __slots__ = ("namespaces", "uri_prefixes", "tags", "page_size", "page_token")
    NAMESPACES_FIELD_NUMBER: _ClassVar[int]
    URI_PREFIXES_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    namespaces: _containers.RepeatedScalarFieldContainer[str]
    uri_prefixes: _containers.RepeatedScalarFieldContainer[str]
    tags: _containers.RepeatedScalarFieldContainer[str]
    page_size: int
    page_token: str
    def __init__(self, namespaces: _Optional[_Iterable[str]] = ..., uri_prefixes: _Optional[_Iterable[str]] = ..., tags: _Optional[_Iterable[str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListDocumentsResponse(_message.Message):
    __slots__ = ("documents", "next_page_token")
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    documents: _containers.RepeatedCompositeFieldContainer[Document]
    next_page_token: str
    def __init__(self, documents: _Optional[_Iterable[_Union[Document, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class OutlineDocumentRequest(_message.Message):
    __slots__ = ("namespace", "source_uri", "section_path", "include_children", "revision")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_URI_FIELD_NUMBER: _ClassVar[int]
    SECTION_PATH_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_CHILDREN_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    source_uri: str
    section_path: _containers.RepeatedScalarFieldContainer[str]
    include_children: bool
    revision: int
    def __init__(self, namespace: _Optional[str] = ..., source_uri: _Optional[str] = ..., section_path: _Optional[_Iterable[str]] = ..., include_children: _Optional[bool] = ..., revision: _Optional[int] = ...) -> None: ...

class OutlineDocumentResponse(_message.Message):
    __slots__ = ("source_uri", "revision", "structured", "sections", "section_content")
    SOURCE_URI_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    STRUCTURED_FIELD_NUMBER: _ClassVar[int]
    SECTIONS_FIELD_NUMBER: _ClassVar[int]
    SECTION_CONTENT_FIELD_NUMBER: _ClassVar[int]
    source_uri: str
    revision: int
    structured: bool
    sections: _containers.RepeatedCompositeFieldContainer[Section]
    section_content: str
    def __init__(self, source_uri: _Optional[str] = ..., revision: _Optional[int] = ..., structured: _Optional[bool] = ..., sections: _Optional[_Iterable[_Union[Section, _Mapping]]] = ..., section_content: _Optional[str] = ...) -> None: ...

class DeleteDocumentRequest(_message.Message):
    __slots__ = ("namespace", "source_uri", "expected_revision", "request_id")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_URI_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    source_uri: str
    expected_revision: int
    request_id: str
    def __init__(self, namespace: _Optional[str] = ..., source_uri: _Optional[str] = ..., expected_revision: _Optional[int] = ..., request_id: _Optional[str] = ...) -> None: ...

class DeleteDocumentResponse(_message.Message):
    __slots__ = ("doc_id", "revision", "chunks_retired")
    DOC_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_RETIRED_FIELD_NUMBER: _ClassVar[int]
    doc_id: str
    revision: int
    chunks_retired: int
    def __init__(self, doc_id: _Optional[str] = ..., revision: _Optional[int] = ..., chunks_retired: _Optional[int] = ...) -> None: ...

class BulkDeleteDocumentsRequest(_message.Message):
    __slots__ = ("namespace", "source_uris", "request_id")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_URIS_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    source_uris: _containers.RepeatedScalarFieldContainer[str]
    request_id: str
    def __init__(self, namespace: _Optional[str] = ..., source_uris: _Optional[_Iterable[str]] = ..., request_id: _Optional[str] = ...) -> None: ...

class BulkDeleteDocumentsResponse(_message.Message):
    __slots__ = ("documents", "not_found")
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    NOT_FOUND_FIELD_NUMBER: _ClassVar[int]
    documents: _containers.RepeatedCompositeFieldContainer[DeleteDocumentResponse]
    not_found: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, documents: _Optional[_Iterable[_Union[DeleteDocumentResponse, _Mapping]]] = ..., not_found: _Optional[_Iterable[str]] = ...) -> None: ...

class RestoreDocumentRequest(_message.Message):
    __slots__ = ("namespace", "source_uri", "if_revision")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_URI_FIELD_NUMBER: _ClassVar[int]
    IF_REVISION_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    source_uri: str
    if_revision: int
    def __init__(self, namespace: _Optional[str] = ..., source_uri: _Optional[str] = ..., if_revision: _Optional[int] = ...) -> None: ...

class RestoreDocumentResponse(_message.Message):
    __slots__ = ("restored", "chunks_restored", "original", "refusal", "doc_id", "revision")
    class Original(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        ORIGINAL_UNSPECIFIED: _ClassVar[RestoreDocumentResponse.Original]
        ORIGINAL_KEPT: _ClassVar[RestoreDocumentResponse.Original]
        ORIGINAL_GONE: _ClassVar[RestoreDocumentResponse.Original]
        ORIGINAL_NONE: _ClassVar[RestoreDocumentResponse.Original]
    ORIGINAL_UNSPECIFIED: RestoreDocumentResponse.Original
    ORIGINAL_KEPT: RestoreDocumentResponse.Original
    ORIGINAL_GONE: RestoreDocumentResponse.Original
    ORIGINAL_NONE: RestoreDocumentResponse.Original
    class Refusal(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        REFUSAL_UNSPECIFIED: _ClassVar[RestoreDocumentResponse.Refusal]
        REFUSAL_NOT_FOUND: _ClassVar[RestoreDocumentResponse.Refusal]
        REFUSAL_LIVE: _ClassVar[RestoreDocumentResponse.Refusal]
        REFUSAL_REVISION_MISMATCH: _ClassVar[RestoreDocumentResponse.Refusal]
        REFUSAL_NOT_RESTORABLE: _ClassVar[RestoreDocumentResponse.Refusal]
        REFUSAL_EXPIRED: _ClassVar[RestoreDocumentResponse.Refusal]
    REFUSAL_UNSPECIFIED: RestoreDocumentResponse.Refusal
    REFUSAL_NOT_FOUND: RestoreDocumentResponse.Refusal
    REFUSAL_LIVE: RestoreDocumentResponse.Refusal
    REFUSAL_REVISION_MISMATCH: RestoreDocumentResponse.Refusal
    REFUSAL_NOT_RESTORABLE: RestoreDocumentResponse.Refusal
    REFUSAL_EXPIRED: RestoreDocumentResponse.Refusal
    RESTORED_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_RESTORED_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    DOC_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    restored: bool
    chunks_restored: int
    original: RestoreDocumentResponse.Original
    refusal: RestoreDocumentResponse.Refusal
    doc_id: str
    revision: int
    def __init__(self, restored: _Optional[bool] = ..., chunks_restored: _Optional[int] = ..., original: _Optional[_Union[RestoreDocumentResponse.Original, str]] = ..., refusal: _Optional[_Union[RestoreDocumentResponse.Refusal, str]] = ..., doc_id: _Optional[str] = ..., revision: _Optional[int] = ...) -> None: ...

class UpdateDocumentMetadataRequest(_message.Message):
    __slots__ = ("namespace", "source_uri", "document", "update_mask", "reindex", "expected_revision")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_URI_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    REINDEX_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    source_uri: str
    document: DocumentInput
    update_mask: _field_mask_pb2.FieldMask
    reindex: bool
    expected_revision: int
    def __init__(self, namespace: _Optional[str] = ..., source_uri: _Optional[str] = ..., document: _Optional[_Union[DocumentInput, _Mapping]] = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ..., reindex: _Optional[bool] = ..., expected_revision: _Optional[int] = ...) -> None: ...

class UpdateDocumentMetadataResponse(_message.Message):
    __slots__ = ("document", "chunks_rewritten")
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_REWRITTEN_FIELD_NUMBER: _ClassVar[int]
    document: Document
    chunks_rewritten: int
    def __init__(self, document: _Optional[_Union[Document, _Mapping]] = ..., chunks_rewritten: _Optional[int] = ...) -> None: ...

class DownloadDocumentRequest(_message.Message):
    __slots__ = ("namespace", "source_uri", "revision")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_URI_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    source_uri: str
    revision: int
    def __init__(self, namespace: _Optional[str] = ..., source_uri: _Optional[str] = ..., revision: _Optional[int] = ...) -> None: ...

class DownloadDocumentResponse(_message.Message):
    __slots__ = ("head", "data")
    class DownloadSource(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DOWNLOAD_SOURCE_UNSPECIFIED: _ClassVar[DownloadDocumentResponse.DownloadSource]
        DOWNLOAD_SOURCE_BLOB: _ClassVar[DownloadDocumentResponse.DownloadSource]
        DOWNLOAD_SOURCE_TEXT: _ClassVar[DownloadDocumentResponse.DownloadSource]
    DOWNLOAD_SOURCE_UNSPECIFIED: DownloadDocumentResponse.DownloadSource
    DOWNLOAD_SOURCE_BLOB: DownloadDocumentResponse.DownloadSource
    DOWNLOAD_SOURCE_TEXT: DownloadDocumentResponse.DownloadSource
    class Head(_message.Message):
        __slots__ = ("source", "filename", "content_type", "size_bytes", "sha256")
        SOURCE_FIELD_NUMBER: _ClassVar[int]
        FILENAME_FIELD_NUMBER: _ClassVar[int]
        CONTENT_TYPE_FIELD_NUMBER: _ClassVar[int]
        SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
        SHA256_FIELD_NUMBER: _ClassVar[int]
        source: DownloadDocumentResponse.DownloadSource
        filename: str
        content_type: str
        size_bytes: int
        sha256: str
        def __init__(self, source: _Optional[_Union[DownloadDocumentResponse.DownloadSource, str]] = ..., filename: _Optional[str] = ..., content_type: _Optional[str] = ..., size_bytes: _Optional[int] = ..., sha256: _Optional[str] = ...) -> None: ...
    HEAD_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    head: DownloadDocumentResponse.Head
    data: bytes
    def __init__(self, head: _Optional[_Union[DownloadDocumentResponse.Head, _Mapping]] = ..., data: _Optional[bytes] = ...) -> None: ...

class DiffDocumentRequest(_message.Message):
    __slots__ = ("namespace", "source_uri", "from_revision", "to_revision")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_URI_FIELD_NUMBER: _ClassVar[int]
    FROM_REVISION_FIELD_NUMBER: _ClassVar[int]
    TO_REVISION_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    source_uri: str
    from_revision: int
    to_revision: int
    def __init__(self, namespace: _Optional[str] = ..., source_uri: _Optional[str] = ..., from_revision: _Optional[int] = ..., to_revision: _Optional[int] = ...) -> None: ...

class DiffDocumentResponse(_message.Message):
    __slots__ = ("sections",)
    class Change(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        CHANGE_UNSPECIFIED: _ClassVar[DiffDocumentResponse.Change]
        CHANGE_ADDED: _ClassVar[DiffDocumentResponse.Change]
        CHANGE_REMOVED: _ClassVar[DiffDocumentResponse.Change]
        CHANGE_EDITED: _ClassVar[DiffDocumentResponse.Change]
    CHANGE_UNSPECIFIED: DiffDocumentResponse.Change
    CHANGE_ADDED: DiffDocumentResponse.Change
    CHANGE_REMOVED: DiffDocumentResponse.Change
    CHANGE_EDITED: DiffDocumentResponse.Change
    class SectionChange(_message.Message):
        __slots__ = ("path", "change", "before", "after")
        PATH_FIELD_NUMBER: _ClassVar[int]
        CHANGE_FIELD_NUMBER: _ClassVar[int]
        BEFORE_FIELD_NUMBER: _ClassVar[int]
        AFTER_FIELD_NUMBER: _ClassVar[int]
        path: _containers.RepeatedScalarFieldContainer[str]
        change: DiffDocumentResponse.Change
        before: str
        after: str
        def __init__(self, path: _Optional[_Iterable[str]] = ..., change: _Optional[_Union[DiffDocumentResponse.Change, str]] = ..., before: _Optional[str] = ..., after: _Optional[str] = ...) -> None: ...
    SECTIONS_FIELD_NUMBER: _ClassVar[int]
    sections: _containers.RepeatedCompositeFieldContainer[DiffDocumentResponse.SectionChange]
    def __init__(self, sections: _Optional[_Iterable[_Union[DiffDocumentResponse.SectionChange, _Mapping]]] = ...) -> None: ...

class ListDocumentReadsRequest(_message.Message):
    __slots__ = ("namespace", "days", "page_size", "page_token")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    DAYS_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    days: int
    page_size: int
    page_token: str
    def __init__(self, namespace: _Optional[str] = ..., days: _Optional[int] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListDocumentReadsResponse(_message.Message):
    __slots__ = ("reads", "next_page_token")
    class Reads(_message.Message):
        __slots__ = ("source_uri", "count", "last_read_at")
        SOURCE_URI_FIELD_NUMBER: _ClassVar[int]
        COUNT_FIELD_NUMBER: _ClassVar[int]
        LAST_READ_AT_FIELD_NUMBER: _ClassVar[int]
        source_uri: str
        count: int
        last_read_at: _timestamp_pb2.Timestamp
        def __init__(self, source_uri: _Optional[str] = ..., count: _Optional[int] = ..., last_read_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...
    READS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    reads: _containers.RepeatedCompositeFieldContainer[ListDocumentReadsResponse.Reads]
    next_page_token: str
    def __init__(self, reads: _Optional[_Iterable[_Union[ListDocumentReadsResponse.Reads, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...
