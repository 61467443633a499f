import datetime

from google.protobuf import duration_pb2 as _duration_pb2
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

class IngestionState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    INGESTION_STATE_UNSPECIFIED: _ClassVar[IngestionState]
    INGESTION_STATE_PENDING: _ClassVar[IngestionState]
    INGESTION_STATE_PROCESSING: _ClassVar[IngestionState]
    INGESTION_STATE_READY: _ClassVar[IngestionState]
    INGESTION_STATE_PARTIAL: _ClassVar[IngestionState]
    INGESTION_STATE_FAILED: _ClassVar[IngestionState]
    INGESTION_STATE_CANCELLED: _ClassVar[IngestionState]

class IngestionStage(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    INGESTION_STAGE_UNSPECIFIED: _ClassVar[IngestionStage]
    INGESTION_STAGE_PARSE: _ClassVar[IngestionStage]
    INGESTION_STAGE_EMBED: _ClassVar[IngestionStage]
    INGESTION_STAGE_PUBLISH: _ClassVar[IngestionStage]

class IngestionErrorCode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    INGESTION_ERROR_CODE_UNSPECIFIED: _ClassVar[IngestionErrorCode]
    INGESTION_ERROR_CODE_FORMAT_UNAVAILABLE: _ClassVar[IngestionErrorCode]
    INGESTION_ERROR_CODE_UNSUPPORTED_FORMAT: _ClassVar[IngestionErrorCode]
    INGESTION_ERROR_CODE_FORMAT_MISMATCH: _ClassVar[IngestionErrorCode]
    INGESTION_ERROR_CODE_CORRUPT: _ClassVar[IngestionErrorCode]
    INGESTION_ERROR_CODE_TIMEOUT: _ClassVar[IngestionErrorCode]
    INGESTION_ERROR_CODE_RESOURCE_LIMIT: _ClassVar[IngestionErrorCode]
    INGESTION_ERROR_CODE_ENCODING: _ClassVar[IngestionErrorCode]
    INGESTION_ERROR_CODE_INVALID_OPTION: _ClassVar[IngestionErrorCode]
    INGESTION_ERROR_CODE_INCOMPLETE_EXTRACTION: _ClassVar[IngestionErrorCode]
    INGESTION_ERROR_CODE_NO_TEXT: _ClassVar[IngestionErrorCode]
    INGESTION_ERROR_CODE_TOO_LARGE: _ClassVar[IngestionErrorCode]
    INGESTION_ERROR_CODE_REVISION_CONFLICT: _ClassVar[IngestionErrorCode]
    INGESTION_ERROR_CODE_ORIGINAL_GONE: _ClassVar[IngestionErrorCode]
    INGESTION_ERROR_CODE_RETRIES_EXHAUSTED: _ClassVar[IngestionErrorCode]
    INGESTION_ERROR_CODE_INVALID_ARTIFACT: _ClassVar[IngestionErrorCode]
    INGESTION_ERROR_CODE_REFUSED: _ClassVar[IngestionErrorCode]
    INGESTION_ERROR_CODE_INTERNAL: _ClassVar[IngestionErrorCode]

class FailureClass(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FAILURE_CLASS_UNSPECIFIED: _ClassVar[FailureClass]
    FAILURE_CLASS_RETRYING: _ClassVar[FailureClass]
    FAILURE_CLASS_CONTENT: _ClassVar[FailureClass]
    FAILURE_CLASS_SYSTEM: _ClassVar[FailureClass]
    FAILURE_CLASS_CONFLICT: _ClassVar[FailureClass]
INGESTION_STATE_UNSPECIFIED: IngestionState
INGESTION_STATE_PENDING: IngestionState
INGESTION_STATE_PROCESSING: IngestionState
INGESTION_STATE_READY: IngestionState
INGESTION_STATE_PARTIAL: IngestionState
INGESTION_STATE_FAILED: IngestionState
INGESTION_STATE_CANCELLED: IngestionState
INGESTION_STAGE_UNSPECIFIED: IngestionStage
INGESTION_STAGE_PARSE: IngestionStage
INGESTION_STAGE_EMBED: IngestionStage
INGESTION_STAGE_PUBLISH: IngestionStage
INGESTION_ERROR_CODE_UNSPECIFIED: IngestionErrorCode
INGESTION_ERROR_CODE_FORMAT_UNAVAILABLE: IngestionErrorCode
INGESTION_ERROR_CODE_UNSUPPORTED_FORMAT: IngestionErrorCode
INGESTION_ERROR_CODE_FORMAT_MISMATCH: IngestionErrorCode
INGESTION_ERROR_CODE_CORRUPT: IngestionErrorCode
INGESTION_ERROR_CODE_TIMEOUT: IngestionErrorCode
INGESTION_ERROR_CODE_RESOURCE_LIMIT: IngestionErrorCode
INGESTION_ERROR_CODE_ENCODING: IngestionErrorCode
INGESTION_ERROR_CODE_INVALID_OPTION: IngestionErrorCode
INGESTION_ERROR_CODE_INCOMPLETE_EXTRACTION: IngestionErrorCode
INGESTION_ERROR_CODE_NO_TEXT: IngestionErrorCode
INGESTION_ERROR_CODE_TOO_LARGE: IngestionErrorCode
INGESTION_ERROR_CODE_REVISION_CONFLICT: IngestionErrorCode
INGESTION_ERROR_CODE_ORIGINAL_GONE: IngestionErrorCode
INGESTION_ERROR_CODE_RETRIES_EXHAUSTED: IngestionErrorCode
INGESTION_ERROR_CODE_INVALID_ARTIFACT: IngestionErrorCode
INGESTION_ERROR_CODE_REFUSED: IngestionErrorCode
INGESTION_ERROR_CODE_INTERNAL: IngestionErrorCode
FAILURE_CLASS_UNSPECIFIED: FailureClass
FAILURE_CLASS_RETRYING: FailureClass
FAILURE_CLASS_CONTENT: FailureClass
FAILURE_CLASS_SYSTEM: FailureClass
FAILURE_CLASS_CONFLICT: FailureClass

class UploadHeader(_message.Message):
    __slots__ = ("namespace", "filename", "content_type", "sha256", "size_bytes", "resume_upload_id", "offset")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    CONTENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    RESUME_UPLOAD_ID_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    filename: str
    content_type: str
    sha256: str
    size_bytes: int
    resume_upload_id: str
    offset: int
    def __init__(self, namespace: _Optional[str] = ..., filename: _Optional[str] = ..., content_type: _Optional[str] = ..., sha256: _Optional[str] = ..., size_bytes: _Optional[int] = ..., resume_upload_id: _Optional[str] = ..., offset: _Optional[int] = ...) -> None: ...

class UploadFileRequest(_message.Message):
    __slots__ = ("header", "data")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    header: UploadHeader
    data: bytes
    def __init__(self, header: _Optional[_Union[UploadHeader, _Mapping]] = ..., data: _Optional[bytes] = ...) -> None: ...

class UploadFileResponse(_message.Message):
    __slots__ = ("upload_id", "sha256", "size_bytes", "format", "content_type", "expires_at")
    UPLOAD_ID_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    CONTENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    upload_id: str
    sha256: str
    size_bytes: int
    format: str
    content_type: str
    expires_at: _timestamp_pb2.Timestamp
    def __init__(self, upload_id: _Optional[str] = ..., sha256: _Optional[str] = ..., size_bytes: _Optional[int] = ..., format: _Optional[str] = ..., content_type: _Optional[str] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class GetUploadRequest(_message.Message):
    __slots__ = ("namespace", "upload_id")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    UPLOAD_ID_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    upload_id: str
    def __init__(self, namespace: _Optional[str] = ..., upload_id: _Optional[str] = ...) -> None: ...

class GetUploadResponse(_message.Message):
    __slots__ = ("upload_id", "received_bytes", "complete", "expires_at")
    UPLOAD_ID_FIELD_NUMBER: _ClassVar[int]
    RECEIVED_BYTES_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    upload_id: str
    received_bytes: int
    complete: bool
    expires_at: _timestamp_pb2.Timestamp
    def __init__(self, upload_id: _Optional[str] = ..., received_bytes: _Optional[int] = ..., complete: _Optional[bool] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class IngestOptions(_message.Message):
    __slots__ = ("format", "encoding", "sql_dialect", "password")
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    ENCODING_FIELD_NUMBER: _ClassVar[int]
    SQL_DIALECT_FIELD_NUMBER: _ClassVar[int]
    PASSWORD_FIELD_NUMBER: _ClassVar[int]
    format: str
    encoding: str
    sql_dialect: str
    password: str
    def __init__(self, format: _Optional[str] = ..., encoding: _Optional[str] = ..., sql_dialect: _Optional[str] = ..., password: _Optional[str] = ...) -> None: ...

class StartIngestionRequest(_message.Message):
    __slots__ = ("namespace", "upload_id", "source_uri", "title", "description", "tags", "metadata", "options", "expected_revision", "allow_partial", "request_id", "source")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    UPLOAD_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_URI_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_REVISION_FIELD_NUMBER: _ClassVar[int]
    ALLOW_PARTIAL_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    upload_id: str
    source_uri: str
    title: str
    description: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    metadata: _struct_pb2.Struct
    options: IngestOptions
    expected_revision: int
    allow_partial: bool
    request_id: str
    source: str
    def __init__(self, namespace: _Optional[str] = ..., upload_id: _Optional[str] = ..., source_uri: _Optional[str] = ..., title: _Optional[str] = ..., description: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ..., metadata: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., options: _Optional[_Union[IngestOptions, _Mapping]] = ..., expected_revision: _Optional[int] = ..., allow_partial: _Optional[bool] = ..., request_id: _Optional[str] = ..., source: _Optional[str] = ...) -> None: ...

class StartIngestionResponse(_message.Message):
    __slots__ = ("ingestion",)
    INGESTION_FIELD_NUMBER: _ClassVar[int]
    ingestion: Ingestion
    def __init__(self, ingestion: _Optional[_Union[Ingestion, _Mapping]] = ...) -> None: ...

class Ingestion(_message.Message):
    __slots__ = ("ingestion_id", "namespace", "source_uri", "state", "stage", "units_done", "units_total", "unit", "coverage", "warnings", "chunks", "revision", "searchable", "error_code", "failure_class", "error_message", "error_reason", "attempts", "queued_at", "updated_at", "ended_at", "next_attempt_at", "cancel_requested", "filename", "format", "datasets")
    INGESTION_ID_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_URI_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    STAGE_FIELD_NUMBER: _ClassVar[int]
    UNITS_DONE_FIELD_NUMBER: _ClassVar[int]
    UNITS_TOTAL_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    COVERAGE_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    SEARCHABLE_FIELD_NUMBER: _ClassVar[int]
    ERROR_CODE_FIELD_NUMBER: _ClassVar[int]
    FAILURE_CLASS_FIELD_NUMBER: _ClassVar[int]
    ERROR_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    ERROR_REASON_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    QUEUED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    ENDED_AT_FIELD_NUMBER: _ClassVar[int]
    NEXT_ATTEMPT_AT_FIELD_NUMBER: _ClassVar[int]
    CANCEL_REQUESTED_FIELD_NUMBER: _ClassVar[int]
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    DATASETS_FIELD_NUMBER: _ClassVar[int]
    ingestion_id: str
    namespace: str
    source_uri: str
    state: IngestionState
    stage: IngestionStage
    units_done: int
    units_total: int
    unit: str
    coverage: _artifact_pb2.Coverage
    warnings: _containers.RepeatedCompositeFieldContainer[_artifact_pb2.Warning]
    chunks: int
    revision: int
    searchable: bool
    error_code: IngestionErrorCode
    failure_class: FailureClass
    error_message: str
    error_reason: str
    attempts: int
    queued_at: _timestamp_pb2.Timestamp
    updated_at: _timestamp_pb2.Timestamp
    ended_at: _timestamp_pb2.Timestamp
    next_attempt_at: _timestamp_pb2.Timestamp
    cancel_requested: bool
    filename: str
    format: str
    datasets: int
    def __init__(self, ingestion_id: _Optional[str] = ..., namespace: _Optional[str] = ..., source_uri: _Optional[str] = ..., state: _Optional[_Union[IngestionState, str]] = ..., stage: _Optional[_Union[IngestionStage, str]] = ..., units_done: _Optional[int] = ..., units_total: _Optional[int] = ..., unit: _Optional[str] = ..., coverage: _Optional[_Union[_artifact_pb2.Coverage, _Mapping]] = ..., warnings: _Optional[_Iterable[_Union[_artifact_pb2.Warning, _Mapping]]] = ..., chunks: _Optional[int] = ..., revision: _Optional[int] = ..., searchable: _Optional[bool] = ..., error_code: _Optional[_Union[IngestionErrorCode, str]] = ..., failure_class: _Optional[_Union[FailureClass, str]] = ..., error_message: _Optional[str] = ..., error_reason: _Optional[str] = ..., attempts: _Optional[int] = ..., queued_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., ended_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., next_attempt_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., cancel_requested: _Optional[bool] = ..., filename: _Optional[str] = ..., format: _Optional[str] = ..., datasets: _Optional[int] = ...) -> None: ...

class GetIngestionRequest(_message.Message):
    __slots__ = ("namespace", "ingestion_id")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    INGESTION_ID_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    ingestion_id: str
    def __init__(self, namespace: _Optional[str] = ..., ingestion_id: _Optional[str] = ...) -> None: ...

class GetIngestionResponse(_message.Message):
    __slots__ = ("ingestion",)
    INGESTION_FIELD_NUMBER: _ClassVar[int]
    ingestion: Ingestion
    def __init__(self, ingestion: _Optional[_Union[Ingestion, _Mapping]] = ...) -> None: ...

class ListIngestionsRequest(_message.Message):
    __slots__ = ("namespace", "states", "source_uri", "page_size", "page_token")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    STATES_FIELD_NUMBER: _ClassVar[int]
    SOURCE_URI_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    states: _containers.RepeatedScalarFieldContainer[IngestionState]
    source_uri: str
    page_size: int
    page_token: str
    def __init__(self, namespace: _Optional[str] = ..., states: _Optional[_Iterable[_Union[IngestionState, str]]] = ..., source_uri: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListIngestionsResponse(_message.Message):
    __slots__ = ("ingestions", "next_page_token")
    INGESTIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    ingestions: _containers.RepeatedCompositeFieldContainer[Ingestion]
    next_page_token: str
    def __init__(self, ingestions: _Optional[_Iterable[_Union[Ingestion, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class WatchIngestionRequest(_message.Message):
    __slots__ = ("namespace", "ingestion_id")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    INGESTION_ID_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    ingestion_id: str
    def __init__(self, namespace: _Optional[str] = ..., ingestion_id: _Optional[str] = ...) -> None: ...

class WatchIngestionResponse(_message.Message):
    __slots__ = ("ingestion",)
    INGESTION_FIELD_NUMBER: _ClassVar[int]
    ingestion: Ingestion
    def __init__(self, ingestion: _Optional[_Union[Ingestion, _Mapping]] = ...) -> None: ...

class CancelIngestionRequest(_message.Message):
    __slots__ = ("namespace", "ingestion_id")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    INGESTION_ID_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    ingestion_id: str
    def __init__(self, namespace: _Optional[str] = ..., ingestion_id: _Optional[str] = ...) -> None: ...

class CancelIngestionResponse(_message.Message):
    __slots__ = ("ingestion",)
    INGESTION_FIELD_NUMBER: _ClassVar[int]
    ingestion: Ingestion
    def __init__(self, ingestion: _Optional[_Union[Ingestion, _Mapping]] = ...) -> None: ...

class ListFormatsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class IngestFormat(_message.Message):
    __slots__ = ("id", "extensions", "media_types", "available")
    ID_FIELD_NUMBER: _ClassVar[int]
    EXTENSIONS_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPES_FIELD_NUMBER: _ClassVar[int]
    AVAILABLE_FIELD_NUMBER: _ClassVar[int]
    id: str
    extensions: _containers.RepeatedScalarFieldContainer[str]
    media_types: _containers.RepeatedScalarFieldContainer[str]
    available: bool
    def __init__(self, id: _Optional[str] = ..., extensions: _Optional[_Iterable[str]] = ..., media_types: _Optional[_Iterable[str]] = ..., available: _Optional[bool] = ...) -> None: ...

class ListFormatsResponse(_message.Message):
    __slots__ = ("formats", "max_upload_bytes", "refused_extensions", "upload_ttl")
    FORMATS_FIELD_NUMBER: _ClassVar[int]
    MAX_UPLOAD_BYTES_FIELD_NUMBER: _ClassVar[int]
    REFUSED_EXTENSIONS_FIELD_NUMBER: _ClassVar[int]
    UPLOAD_TTL_FIELD_NUMBER: _ClassVar[int]
    formats: _containers.RepeatedCompositeFieldContainer[IngestFormat]
    max_upload_bytes: int
    refused_extensions: _containers.RepeatedScalarFieldContainer[str]
    upload_ttl: _duration_pb2.Duration
    def __init__(self, formats: _Optional[_Iterable[_Union[IngestFormat, _Mapping]]] = ..., max_upload_bytes: _Optional[int] = ..., refused_extensions: _Optional[_Iterable[str]] = ..., upload_ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...
