import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from loom.artifact.v1 import artifact_pb2 as _artifact_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ErrorReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ERROR_REASON_UNSPECIFIED: _ClassVar[ErrorReason]
    ERROR_REASON_EMPTY_DOCUMENT: _ClassVar[ErrorReason]
    ERROR_REASON_UNSUPPORTED_TYPE: _ClassVar[ErrorReason]
    ERROR_REASON_TYPE_MISMATCH: _ClassVar[ErrorReason]
    ERROR_REASON_MALFORMED: _ClassVar[ErrorReason]
    ERROR_REASON_ENCODING: _ClassVar[ErrorReason]
    ERROR_REASON_INVALID_OPTION: _ClassVar[ErrorReason]
    ERROR_REASON_DOCUMENT_TOO_LARGE: _ClassVar[ErrorReason]
    ERROR_REASON_PASSWORD_REQUIRED: _ClassVar[ErrorReason]
    ERROR_REASON_NO_TEXT: _ClassVar[ErrorReason]
    ERROR_REASON_PARSE_TIMEOUT: _ClassVar[ErrorReason]
    ERROR_REASON_MEMORY_LIMIT: _ClassVar[ErrorReason]
    ERROR_REASON_OUTPUT_LIMIT: _ClassVar[ErrorReason]
    ERROR_REASON_DECOMPRESSION_LIMIT: _ClassVar[ErrorReason]
    ERROR_REASON_PARSER_CRASHED: _ClassVar[ErrorReason]
    ERROR_REASON_ZIP_BOMB: _ClassVar[ErrorReason]
    ERROR_REASON_ZIP_INVALID: _ClassVar[ErrorReason]
    ERROR_REASON_ZIP_PATH: _ClassVar[ErrorReason]
    ERROR_REASON_ZIP_TOO_MANY_ENTRIES: _ClassVar[ErrorReason]
    ERROR_REASON_XML_DTD_FORBIDDEN: _ClassVar[ErrorReason]
    ERROR_REASON_TOO_MANY_ROWS: _ClassVar[ErrorReason]
    ERROR_REASON_TOO_MANY_COLUMNS: _ClassVar[ErrorReason]
    ERROR_REASON_CSV_AMBIGUOUS: _ClassVar[ErrorReason]
    ERROR_REASON_CHECKSUM_MISMATCH: _ClassVar[ErrorReason]
    ERROR_REASON_INVALID_REQUEST: _ClassVar[ErrorReason]
    ERROR_REASON_UPLOAD_STALLED: _ClassVar[ErrorReason]
    ERROR_REASON_OVERLOADED: _ClassVar[ErrorReason]
    ERROR_REASON_LOCATOR_NOT_FOUND: _ClassVar[ErrorReason]
    ERROR_REASON_INTERNAL: _ClassVar[ErrorReason]
    ERROR_REASON_UNIMPLEMENTED: _ClassVar[ErrorReason]
ERROR_REASON_UNSPECIFIED: ErrorReason
ERROR_REASON_EMPTY_DOCUMENT: ErrorReason
ERROR_REASON_UNSUPPORTED_TYPE: ErrorReason
ERROR_REASON_TYPE_MISMATCH: ErrorReason
ERROR_REASON_MALFORMED: ErrorReason
ERROR_REASON_ENCODING: ErrorReason
ERROR_REASON_INVALID_OPTION: ErrorReason
ERROR_REASON_DOCUMENT_TOO_LARGE: ErrorReason
ERROR_REASON_PASSWORD_REQUIRED: ErrorReason
ERROR_REASON_NO_TEXT: ErrorReason
ERROR_REASON_PARSE_TIMEOUT: ErrorReason
ERROR_REASON_MEMORY_LIMIT: ErrorReason
ERROR_REASON_OUTPUT_LIMIT: ErrorReason
ERROR_REASON_DECOMPRESSION_LIMIT: ErrorReason
ERROR_REASON_PARSER_CRASHED: ErrorReason
ERROR_REASON_ZIP_BOMB: ErrorReason
ERROR_REASON_ZIP_INVALID: ErrorReason
ERROR_REASON_ZIP_PATH: ErrorReason
ERROR_REASON_ZIP_TOO_MANY_ENTRIES: ErrorReason
ERROR_REASON_XML_DTD_FORBIDDEN: ErrorReason
ERROR_REASON_TOO_MANY_ROWS: ErrorReason
ERROR_REASON_TOO_MANY_COLUMNS: ErrorReason
ERROR_REASON_CSV_AMBIGUOUS: ErrorReason
ERROR_REASON_CHECKSUM_MISMATCH: ErrorReason
ERROR_REASON_INVALID_REQUEST: ErrorReason
ERROR_REASON_UPLOAD_STALLED: ErrorReason
ERROR_REASON_OVERLOADED: ErrorReason
ERROR_REASON_LOCATOR_NOT_FOUND: ErrorReason
ERROR_REASON_INTERNAL: ErrorReason
ERROR_REASON_UNIMPLEMENTED: ErrorReason

class GetCapabilitiesRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Format(_message.Message):
    __slots__ = ("id", "extensions", "media_types", "parser", "abilities")
    ID_FIELD_NUMBER: _ClassVar[int]
    EXTENSIONS_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPES_FIELD_NUMBER: _ClassVar[int]
    PARSER_FIELD_NUMBER: _ClassVar[int]
    ABILITIES_FIELD_NUMBER: _ClassVar[int]
    id: str
    extensions: _containers.RepeatedScalarFieldContainer[str]
    media_types: _containers.RepeatedScalarFieldContainer[str]
    parser: str
    abilities: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, id: _Optional[str] = ..., extensions: _Optional[_Iterable[str]] = ..., media_types: _Optional[_Iterable[str]] = ..., parser: _Optional[str] = ..., abilities: _Optional[_Iterable[str]] = ...) -> None: ...

class Protection(_message.Message):
    __slots__ = ("name", "on", "detail")
    NAME_FIELD_NUMBER: _ClassVar[int]
    ON_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    name: str
    on: bool
    detail: str
    def __init__(self, name: _Optional[str] = ..., on: _Optional[bool] = ..., detail: _Optional[str] = ...) -> None: ...

class GetCapabilitiesResponse(_message.Message):
    __slots__ = ("version", "formats", "max_bytes", "timeout", "workers", "protections", "refused_extensions")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    FORMATS_FIELD_NUMBER: _ClassVar[int]
    MAX_BYTES_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    PROTECTIONS_FIELD_NUMBER: _ClassVar[int]
    REFUSED_EXTENSIONS_FIELD_NUMBER: _ClassVar[int]
    version: str
    formats: _containers.RepeatedCompositeFieldContainer[Format]
    max_bytes: int
    timeout: _duration_pb2.Duration
    workers: int
    protections: _containers.RepeatedCompositeFieldContainer[Protection]
    refused_extensions: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, version: _Optional[str] = ..., formats: _Optional[_Iterable[_Union[Format, _Mapping]]] = ..., max_bytes: _Optional[int] = ..., timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., workers: _Optional[int] = ..., protections: _Optional[_Iterable[_Union[Protection, _Mapping]]] = ..., refused_extensions: _Optional[_Iterable[str]] = ...) -> None: ...

class ExtractOptions(_message.Message):
    __slots__ = ("format", "encoding", "sql_dialect", "password", "ocr", "original_view")
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    ENCODING_FIELD_NUMBER: _ClassVar[int]
    SQL_DIALECT_FIELD_NUMBER: _ClassVar[int]
    PASSWORD_FIELD_NUMBER: _ClassVar[int]
    OCR_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_VIEW_FIELD_NUMBER: _ClassVar[int]
    format: str
    encoding: str
    sql_dialect: str
    password: str
    ocr: bool
    original_view: bool
    def __init__(self, format: _Optional[str] = ..., encoding: _Optional[str] = ..., sql_dialect: _Optional[str] = ..., password: _Optional[str] = ..., ocr: _Optional[bool] = ..., original_view: _Optional[bool] = ...) -> None: ...

class FileHeader(_message.Message):
    __slots__ = ("filename", "content_type", "sha256", "options")
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    CONTENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    filename: str
    content_type: str
    sha256: str
    options: ExtractOptions
    def __init__(self, filename: _Optional[str] = ..., content_type: _Optional[str] = ..., sha256: _Optional[str] = ..., options: _Optional[_Union[ExtractOptions, _Mapping]] = ...) -> None: ...

class ExtractRequest(_message.Message):
    __slots__ = ("header", "data")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    header: FileHeader
    data: bytes
    def __init__(self, header: _Optional[_Union[FileHeader, _Mapping]] = ..., data: _Optional[bytes] = ...) -> None: ...

class Progress(_message.Message):
    __slots__ = ("stage", "unit", "done", "total")
    STAGE_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    stage: str
    unit: str
    done: int
    total: int
    def __init__(self, stage: _Optional[str] = ..., unit: _Optional[str] = ..., done: _Optional[int] = ..., total: _Optional[int] = ...) -> None: ...

class BlockPart(_message.Message):
    __slots__ = ("blocks",)
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    blocks: _containers.RepeatedCompositeFieldContainer[_artifact_pb2.Block]
    def __init__(self, blocks: _Optional[_Iterable[_Union[_artifact_pb2.Block, _Mapping]]] = ...) -> None: ...

class DatasetRows(_message.Message):
    __slots__ = ("dataset_id", "arrow_ipc")
    DATASET_ID_FIELD_NUMBER: _ClassVar[int]
    ARROW_IPC_FIELD_NUMBER: _ClassVar[int]
    dataset_id: str
    arrow_ipc: bytes
    def __init__(self, dataset_id: _Optional[str] = ..., arrow_ipc: _Optional[bytes] = ...) -> None: ...

class WarningPart(_message.Message):
    __slots__ = ("warnings",)
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    warnings: _containers.RepeatedCompositeFieldContainer[_artifact_pb2.Warning]
    def __init__(self, warnings: _Optional[_Iterable[_Union[_artifact_pb2.Warning, _Mapping]]] = ...) -> None: ...

class LinkPart(_message.Message):
    __slots__ = ("links",)
    LINKS_FIELD_NUMBER: _ClassVar[int]
    links: _containers.RepeatedCompositeFieldContainer[_artifact_pb2.Link]
    def __init__(self, links: _Optional[_Iterable[_Union[_artifact_pb2.Link, _Mapping]]] = ...) -> None: ...

class ExtractResponse(_message.Message):
    __slots__ = ("progress", "head", "blocks", "dataset", "rows", "warnings", "coverage", "links")
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    HEAD_FIELD_NUMBER: _ClassVar[int]
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    COVERAGE_FIELD_NUMBER: _ClassVar[int]
    LINKS_FIELD_NUMBER: _ClassVar[int]
    progress: Progress
    head: _artifact_pb2.ArtifactHead
    blocks: BlockPart
    dataset: _artifact_pb2.DatasetSchema
    rows: DatasetRows
    warnings: WarningPart
    coverage: _artifact_pb2.Coverage
    links: LinkPart
    def __init__(self, progress: _Optional[_Union[Progress, _Mapping]] = ..., head: _Optional[_Union[_artifact_pb2.ArtifactHead, _Mapping]] = ..., blocks: _Optional[_Union[BlockPart, _Mapping]] = ..., dataset: _Optional[_Union[_artifact_pb2.DatasetSchema, _Mapping]] = ..., rows: _Optional[_Union[DatasetRows, _Mapping]] = ..., warnings: _Optional[_Union[WarningPart, _Mapping]] = ..., coverage: _Optional[_Union[_artifact_pb2.Coverage, _Mapping]] = ..., links: _Optional[_Union[LinkPart, _Mapping]] = ...) -> None: ...

class ResolveHeader(_message.Message):
    __slots__ = ("file", "locator")
    FILE_FIELD_NUMBER: _ClassVar[int]
    LOCATOR_FIELD_NUMBER: _ClassVar[int]
    file: FileHeader
    locator: _artifact_pb2.Locator
    def __init__(self, file: _Optional[_Union[FileHeader, _Mapping]] = ..., locator: _Optional[_Union[_artifact_pb2.Locator, _Mapping]] = ...) -> None: ...

class ResolveRequest(_message.Message):
    __slots__ = ("header", "data")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    header: ResolveHeader
    data: bytes
    def __init__(self, header: _Optional[_Union[ResolveHeader, _Mapping]] = ..., data: _Optional[bytes] = ...) -> None: ...

class ResolveResponse(_message.Message):
    __slots__ = ("text",)
    TEXT_FIELD_NUMBER: _ClassVar[int]
    text: str
    def __init__(self, text: _Optional[str] = ...) -> None: ...
