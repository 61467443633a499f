import datetime

from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RecordKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RECORD_KIND_UNSPECIFIED: _ClassVar[RecordKind]
    RECORD_KIND_MEMORY: _ClassVar[RecordKind]
    RECORD_KIND_TOPIC: _ClassVar[RecordKind]
    RECORD_KIND_SESSION: _ClassVar[RecordKind]
    RECORD_KIND_TICKET: _ClassVar[RecordKind]
    RECORD_KIND_TICKET_EVENT: _ClassVar[RecordKind]
    RECORD_KIND_CHECKPOINT: _ClassVar[RecordKind]
RECORD_KIND_UNSPECIFIED: RecordKind
RECORD_KIND_MEMORY: RecordKind
RECORD_KIND_TOPIC: RecordKind
RECORD_KIND_SESSION: RecordKind
RECORD_KIND_TICKET: RecordKind
RECORD_KIND_TICKET_EVENT: RecordKind
RECORD_KIND_CHECKPOINT: RecordKind

class Record(_message.Message):
    __slots__ = ("key", "kind", "fields", "links", "updated_at")
    KEY_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    FIELDS_FIELD_NUMBER: _ClassVar[int]
    LINKS_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    key: str
    kind: RecordKind
    fields: _struct_pb2.Struct
    links: _containers.RepeatedScalarFieldContainer[str]
    updated_at: _timestamp_pb2.Timestamp
    def __init__(self, key: _Optional[str] = ..., kind: _Optional[_Union[RecordKind, str]] = ..., fields: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., links: _Optional[_Iterable[str]] = ..., updated_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class PutRecordsRequest(_message.Message):
    __slots__ = ("namespace", "records", "request_id")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    records: _containers.RepeatedCompositeFieldContainer[Record]
    request_id: str
    def __init__(self, namespace: _Optional[str] = ..., records: _Optional[_Iterable[_Union[Record, _Mapping]]] = ..., request_id: _Optional[str] = ...) -> None: ...

class PutRecordsResponse(_message.Message):
    __slots__ = ("written",)
    WRITTEN_FIELD_NUMBER: _ClassVar[int]
    written: int
    def __init__(self, written: _Optional[int] = ...) -> None: ...

class GetRecordsRequest(_message.Message):
    __slots__ = ("namespace", "keys")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    KEYS_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    keys: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, namespace: _Optional[str] = ..., keys: _Optional[_Iterable[str]] = ...) -> None: ...

class GetRecordsResponse(_message.Message):
    __slots__ = ("records",)
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    records: _containers.RepeatedCompositeFieldContainer[Record]
    def __init__(self, records: _Optional[_Iterable[_Union[Record, _Mapping]]] = ...) -> None: ...

class DeleteRecordsRequest(_message.Message):
    __slots__ = ("namespace", "keys")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    KEYS_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    keys: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, namespace: _Optional[str] = ..., keys: _Optional[_Iterable[str]] = ...) -> None: ...

class DeleteRecordsResponse(_message.Message):
    __slots__ = ("deleted",)
    DELETED_FIELD_NUMBER: _ClassVar[int]
    deleted: int
    def __init__(self, deleted: _Optional[int] = ...) -> None: ...

class QueryRecordsRequest(_message.Message):
    __slots__ = ("namespace", "text", "k", "key_prefix", "near_steps", "near_key")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    K_FIELD_NUMBER: _ClassVar[int]
    KEY_PREFIX_FIELD_NUMBER: _ClassVar[int]
    NEAR_STEPS_FIELD_NUMBER: _ClassVar[int]
    NEAR_KEY_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    text: str
    k: int
    key_prefix: str
    near_steps: int
    near_key: str
    def __init__(self, namespace: _Optional[str] = ..., text: _Optional[str] = ..., k: _Optional[int] = ..., key_prefix: _Optional[str] = ..., near_steps: _Optional[int] = ..., near_key: _Optional[str] = ...) -> None: ...

class QueryRecordsResponse(_message.Message):
    __slots__ = ("hits",)
    class RecordHit(_message.Message):
        __slots__ = ("record", "score")
        RECORD_FIELD_NUMBER: _ClassVar[int]
        SCORE_FIELD_NUMBER: _ClassVar[int]
        record: Record
        score: float
        def __init__(self, record: _Optional[_Union[Record, _Mapping]] = ..., score: _Optional[float] = ...) -> None: ...
    HITS_FIELD_NUMBER: _ClassVar[int]
    hits: _containers.RepeatedCompositeFieldContainer[QueryRecordsResponse.RecordHit]
    def __init__(self, hits: _Optional[_Iterable[_Union[QueryRecordsResponse.RecordHit, _Mapping]]] = ...) -> None: ...
