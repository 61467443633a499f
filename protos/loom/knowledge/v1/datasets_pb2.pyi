import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from loom.artifact.v1 import artifact_pb2 as _artifact_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SchemaState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SCHEMA_STATE_UNSPECIFIED: _ClassVar[SchemaState]
    SCHEMA_STATE_INFERRED: _ClassVar[SchemaState]
    SCHEMA_STATE_NEEDS_CLARIFICATION: _ClassVar[SchemaState]
    SCHEMA_STATE_APPROVED: _ClassVar[SchemaState]

class Operator(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OPERATOR_UNSPECIFIED: _ClassVar[Operator]
    OPERATOR_EQ: _ClassVar[Operator]
    OPERATOR_NE: _ClassVar[Operator]
    OPERATOR_LT: _ClassVar[Operator]
    OPERATOR_LE: _ClassVar[Operator]
    OPERATOR_GT: _ClassVar[Operator]
    OPERATOR_GE: _ClassVar[Operator]
    OPERATOR_IN: _ClassVar[Operator]
    OPERATOR_NOT_IN: _ClassVar[Operator]
    OPERATOR_IS_NULL: _ClassVar[Operator]
    OPERATOR_NOT_NULL: _ClassVar[Operator]
    OPERATOR_CONTAINS: _ClassVar[Operator]
    OPERATOR_STARTS_WITH: _ClassVar[Operator]
    OPERATOR_ENDS_WITH: _ClassVar[Operator]
    OPERATOR_BETWEEN: _ClassVar[Operator]

class JoinKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    JOIN_KIND_UNSPECIFIED: _ClassVar[JoinKind]
    JOIN_KIND_INNER: _ClassVar[JoinKind]
    JOIN_KIND_LEFT: _ClassVar[JoinKind]
    JOIN_KIND_SEMI: _ClassVar[JoinKind]
    JOIN_KIND_ANTI: _ClassVar[JoinKind]

class TimePart(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TIME_PART_UNSPECIFIED: _ClassVar[TimePart]
    TIME_PART_SECOND: _ClassVar[TimePart]
    TIME_PART_MINUTE: _ClassVar[TimePart]
    TIME_PART_HOUR: _ClassVar[TimePart]
    TIME_PART_DAY: _ClassVar[TimePart]
    TIME_PART_WEEK: _ClassVar[TimePart]
    TIME_PART_MONTH: _ClassVar[TimePart]
    TIME_PART_QUARTER: _ClassVar[TimePart]
    TIME_PART_YEAR: _ClassVar[TimePart]

class AggregateFunction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    AGGREGATE_FUNCTION_UNSPECIFIED: _ClassVar[AggregateFunction]
    AGGREGATE_FUNCTION_COUNT: _ClassVar[AggregateFunction]
    AGGREGATE_FUNCTION_COUNT_DISTINCT: _ClassVar[AggregateFunction]
    AGGREGATE_FUNCTION_SUM: _ClassVar[AggregateFunction]
    AGGREGATE_FUNCTION_AVG: _ClassVar[AggregateFunction]
    AGGREGATE_FUNCTION_MIN: _ClassVar[AggregateFunction]
    AGGREGATE_FUNCTION_MAX: _ClassVar[AggregateFunction]
    AGGREGATE_FUNCTION_COUNT_IF: _ClassVar[AggregateFunction]
    AGGREGATE_FUNCTION_MEDIAN: _ClassVar[AggregateFunction]
    AGGREGATE_FUNCTION_PERCENTILE: _ClassVar[AggregateFunction]
    AGGREGATE_FUNCTION_STDDEV: _ClassVar[AggregateFunction]
    AGGREGATE_FUNCTION_FIRST: _ClassVar[AggregateFunction]
    AGGREGATE_FUNCTION_LAST: _ClassVar[AggregateFunction]

class ArithmeticOperator(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ARITHMETIC_OPERATOR_UNSPECIFIED: _ClassVar[ArithmeticOperator]
    ARITHMETIC_OPERATOR_ADD: _ClassVar[ArithmeticOperator]
    ARITHMETIC_OPERATOR_SUBTRACT: _ClassVar[ArithmeticOperator]
    ARITHMETIC_OPERATOR_MULTIPLY: _ClassVar[ArithmeticOperator]
    ARITHMETIC_OPERATOR_DIVIDE: _ClassVar[ArithmeticOperator]

class NullsOrder(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    NULLS_ORDER_UNSPECIFIED: _ClassVar[NullsOrder]
    NULLS_ORDER_LAST: _ClassVar[NullsOrder]
    NULLS_ORDER_FIRST: _ClassVar[NullsOrder]
SCHEMA_STATE_UNSPECIFIED: SchemaState
SCHEMA_STATE_INFERRED: SchemaState
SCHEMA_STATE_NEEDS_CLARIFICATION: SchemaState
SCHEMA_STATE_APPROVED: SchemaState
OPERATOR_UNSPECIFIED: Operator
OPERATOR_EQ: Operator
OPERATOR_NE: Operator
OPERATOR_LT: Operator
OPERATOR_LE: Operator
OPERATOR_GT: Operator
OPERATOR_GE: Operator
OPERATOR_IN: Operator
OPERATOR_NOT_IN: Operator
OPERATOR_IS_NULL: Operator
OPERATOR_NOT_NULL: Operator
OPERATOR_CONTAINS: Operator
OPERATOR_STARTS_WITH: Operator
OPERATOR_ENDS_WITH: Operator
OPERATOR_BETWEEN: Operator
JOIN_KIND_UNSPECIFIED: JoinKind
JOIN_KIND_INNER: JoinKind
JOIN_KIND_LEFT: JoinKind
JOIN_KIND_SEMI: JoinKind
JOIN_KIND_ANTI: JoinKind
TIME_PART_UNSPECIFIED: TimePart
TIME_PART_SECOND: TimePart
TIME_PART_MINUTE: TimePart
TIME_PART_HOUR: TimePart
TIME_PART_DAY: TimePart
TIME_PART_WEEK: TimePart
TIME_PART_MONTH: TimePart
TIME_PART_QUARTER: TimePart
TIME_PART_YEAR: TimePart
AGGREGATE_FUNCTION_UNSPECIFIED: AggregateFunction
AGGREGATE_FUNCTION_COUNT: AggregateFunction
AGGREGATE_FUNCTION_COUNT_DISTINCT: AggregateFunction
AGGREGATE_FUNCTION_SUM: AggregateFunction
AGGREGATE_FUNCTION_AVG: AggregateFunction
AGGREGATE_FUNCTION_MIN: AggregateFunction
AGGREGATE_FUNCTION_MAX: AggregateFunction
AGGREGATE_FUNCTION_COUNT_IF: AggregateFunction
AGGREGATE_FUNCTION_MEDIAN: AggregateFunction
AGGREGATE_FUNCTION_PERCENTILE: AggregateFunction
AGGREGATE_FUNCTION_STDDEV: AggregateFunction
AGGREGATE_FUNCTION_FIRST: AggregateFunction
AGGREGATE_FUNCTION_LAST: AggregateFunction
ARITHMETIC_OPERATOR_UNSPECIFIED: ArithmeticOperator
ARITHMETIC_OPERATOR_ADD: ArithmeticOperator
ARITHMETIC_OPERATOR_SUBTRACT: ArithmeticOperator
ARITHMETIC_OPERATOR_MULTIPLY: ArithmeticOperator
ARITHMETIC_OPERATOR_DIVIDE: ArithmeticOperator
NULLS_ORDER_UNSPECIFIED: NullsOrder
NULLS_ORDER_LAST: NullsOrder
NULLS_ORDER_FIRST: NullsOrder

class Value(_message.Message):
    __slots__ = ("string_value", "number_value", "double_value", "bool_value", "date_value", "datetime_value", "time_value", "duration_value", "integer_value")
    STRING_VALUE_FIELD_NUMBER: _ClassVar[int]
    NUMBER_VALUE_FIELD_NUMBER: _ClassVar[int]
    DOUBLE_VALUE_FIELD_NUMBER: _ClassVar[int]
    BOOL_VALUE_FIELD_NUMBER: _ClassVar[int]
    DATE_VALUE_FIELD_NUMBER: _ClassVar[int]
    DATETIME_VALUE_FIELD_NUMBER: _ClassVar[int]
    TIME_VALUE_FIELD_NUMBER: _ClassVar[int]
    DURATION_VALUE_FIELD_NUMBER: _ClassVar[int]
    INTEGER_VALUE_FIELD_NUMBER: _ClassVar[int]
    string_value: str
    number_value: str
    double_value: float
    bool_value: bool
    date_value: str
    datetime_value: str
    time_value: str
    duration_value: str
    integer_value: int
    def __init__(self, string_value: _Optional[str] = ..., number_value: _Optional[str] = ..., double_value: _Optional[float] = ..., bool_value: _Optional[bool] = ..., date_value: _Optional[str] = ..., datetime_value: _Optional[str] = ..., time_value: _Optional[str] = ..., duration_value: _Optional[str] = ..., integer_value: _Optional[int] = ...) -> None: ...

class Row(_message.Message):
    __slots__ = ("values", "row_ids")
    VALUES_FIELD_NUMBER: _ClassVar[int]
    ROW_IDS_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedCompositeFieldContainer[Value]
    row_ids: _containers.RepeatedCompositeFieldContainer[RowIds]
    def __init__(self, values: _Optional[_Iterable[_Union[Value, _Mapping]]] = ..., row_ids: _Optional[_Iterable[_Union[RowIds, _Mapping]]] = ...) -> None: ...

class RowIds(_message.Message):
    __slots__ = ("alias", "ids")
    ALIAS_FIELD_NUMBER: _ClassVar[int]
    IDS_FIELD_NUMBER: _ClassVar[int]
    alias: str
    ids: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, alias: _Optional[str] = ..., ids: _Optional[_Iterable[int]] = ...) -> None: ...

class Dataset(_message.Message):
    __slots__ = ("namespace", "source_uri", "dataset_id", "name", "columns", "schema_state", "clarifications", "row_count", "rejected_count", "rejected_rows", "complete", "snapshot_id", "revision", "locator", "file_sha256", "sample_rows", "published_at")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_URI_FIELD_NUMBER: _ClassVar[int]
    DATASET_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_STATE_FIELD_NUMBER: _ClassVar[int]
    CLARIFICATIONS_FIELD_NUMBER: _ClassVar[int]
    ROW_COUNT_FIELD_NUMBER: _ClassVar[int]
    REJECTED_COUNT_FIELD_NUMBER: _ClassVar[int]
    REJECTED_ROWS_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    LOCATOR_FIELD_NUMBER: _ClassVar[int]
    FILE_SHA256_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_ROWS_FIELD_NUMBER: _ClassVar[int]
    PUBLISHED_AT_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    source_uri: str
    dataset_id: str
    name: str
    columns: _containers.RepeatedCompositeFieldContainer[_artifact_pb2.Column]
    schema_state: SchemaState
    clarifications: _containers.RepeatedCompositeFieldContainer[_artifact_pb2.Clarification]
    row_count: int
    rejected_count: int
    rejected_rows: _containers.RepeatedCompositeFieldContainer[_artifact_pb2.RejectedRow]
    complete: bool
    snapshot_id: str
    revision: int
    locator: _artifact_pb2.Locator
    file_sha256: str
    sample_rows: _containers.RepeatedCompositeFieldContainer[Row]
    published_at: _timestamp_pb2.Timestamp
    def __init__(self, namespace: _Optional[str] = ..., source_uri: _Optional[str] = ..., dataset_id: _Optional[str] = ..., name: _Optional[str] = ..., columns: _Optional[_Iterable[_Union[_artifact_pb2.Column, _Mapping]]] = ..., schema_state: _Optional[_Union[SchemaState, str]] = ..., clarifications: _Optional[_Iterable[_Union[_artifact_pb2.Clarification, _Mapping]]] = ..., row_count: _Optional[int] = ..., rejected_count: _Optional[int] = ..., rejected_rows: _Optional[_Iterable[_Union[_artifact_pb2.RejectedRow, _Mapping]]] = ..., complete: _Optional[bool] = ..., snapshot_id: _Optional[str] = ..., revision: _Optional[int] = ..., locator: _Optional[_Union[_artifact_pb2.Locator, _Mapping]] = ..., file_sha256: _Optional[str] = ..., sample_rows: _Optional[_Iterable[_Union[Row, _Mapping]]] = ..., published_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class GetDatasetsRequest(_message.Message):
    __slots__ = ("namespace", "source_uri", "dataset_id", "sample_rows")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_URI_FIELD_NUMBER: _ClassVar[int]
    DATASET_ID_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_ROWS_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    source_uri: str
    dataset_id: str
    sample_rows: int
    def __init__(self, namespace: _Optional[str] = ..., source_uri: _Optional[str] = ..., dataset_id: _Optional[str] = ..., sample_rows: _Optional[int] = ...) -> None: ...

class GetDatasetsResponse(_message.Message):
    __slots__ = ("datasets",)
    DATASETS_FIELD_NUMBER: _ClassVar[int]
    datasets: _containers.RepeatedCompositeFieldContainer[Dataset]
    def __init__(self, datasets: _Optional[_Iterable[_Union[Dataset, _Mapping]]] = ...) -> None: ...

class ListDatasetsRequest(_message.Message):
    __slots__ = ("namespace", "uri_prefixes", "page_size", "page_token")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    URI_PREFIXES_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    uri_prefixes: _containers.RepeatedScalarFieldContainer[str]
    page_size: int
    page_token: str
    def __init__(self, namespace: _Optional[str] = ..., uri_prefixes: _Optional[_Iterable[str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListDatasetsResponse(_message.Message):
    __slots__ = ("datasets", "next_page_token")
    DATASETS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    datasets: _containers.RepeatedCompositeFieldContainer[Dataset]
    next_page_token: str
    def __init__(self, datasets: _Optional[_Iterable[_Union[Dataset, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class PlanDataset(_message.Message):
    __slots__ = ("source_uri", "dataset_id", "alias")
    SOURCE_URI_FIELD_NUMBER: _ClassVar[int]
    DATASET_ID_FIELD_NUMBER: _ClassVar[int]
    ALIAS_FIELD_NUMBER: _ClassVar[int]
    source_uri: str
    dataset_id: str
    alias: str
    def __init__(self, source_uri: _Optional[str] = ..., dataset_id: _Optional[str] = ..., alias: _Optional[str] = ...) -> None: ...

class ColumnRef(_message.Message):
    __slots__ = ("alias", "column")
    ALIAS_FIELD_NUMBER: _ClassVar[int]
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    alias: str
    column: str
    def __init__(self, alias: _Optional[str] = ..., column: _Optional[str] = ...) -> None: ...

class Comparison(_message.Message):
    __slots__ = ("column", "operator", "values", "ignore_case")
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    OPERATOR_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    IGNORE_CASE_FIELD_NUMBER: _ClassVar[int]
    column: ColumnRef
    operator: Operator
    values: _containers.RepeatedCompositeFieldContainer[Value]
    ignore_case: bool
    def __init__(self, column: _Optional[_Union[ColumnRef, _Mapping]] = ..., operator: _Optional[_Union[Operator, str]] = ..., values: _Optional[_Iterable[_Union[Value, _Mapping]]] = ..., ignore_case: _Optional[bool] = ...) -> None: ...

class Predicate(_message.Message):
    __slots__ = ("comparison", "all", "any")
    COMPARISON_FIELD_NUMBER: _ClassVar[int]
    ALL_FIELD_NUMBER: _ClassVar[int]
    ANY_FIELD_NUMBER: _ClassVar[int]
    NOT_FIELD_NUMBER: _ClassVar[int]
    comparison: Comparison
    all: PredicateList
    any: PredicateList
    def __init__(self, comparison: _Optional[_Union[Comparison, _Mapping]] = ..., all: _Optional[_Union[PredicateList, _Mapping]] = ..., any: _Optional[_Union[PredicateList, _Mapping]] = ..., **kwargs) -> None: ...

class PredicateList(_message.Message):
    __slots__ = ("predicates",)
    PREDICATES_FIELD_NUMBER: _ClassVar[int]
    predicates: _containers.RepeatedCompositeFieldContainer[Predicate]
    def __init__(self, predicates: _Optional[_Iterable[_Union[Predicate, _Mapping]]] = ...) -> None: ...

class Join(_message.Message):
    __slots__ = ("kind", "keys", "allow_fan_out", "alias")
    KIND_FIELD_NUMBER: _ClassVar[int]
    KEYS_FIELD_NUMBER: _ClassVar[int]
    ALLOW_FAN_OUT_FIELD_NUMBER: _ClassVar[int]
    ALIAS_FIELD_NUMBER: _ClassVar[int]
    kind: JoinKind
    keys: _containers.RepeatedCompositeFieldContainer[JoinKey]
    allow_fan_out: bool
    alias: str
    def __init__(self, kind: _Optional[_Union[JoinKind, str]] = ..., keys: _Optional[_Iterable[_Union[JoinKey, _Mapping]]] = ..., allow_fan_out: _Optional[bool] = ..., alias: _Optional[str] = ...) -> None: ...

class JoinKey(_message.Message):
    __slots__ = ("left", "right")
    LEFT_FIELD_NUMBER: _ClassVar[int]
    RIGHT_FIELD_NUMBER: _ClassVar[int]
    left: ColumnRef
    right: ColumnRef
    def __init__(self, left: _Optional[_Union[ColumnRef, _Mapping]] = ..., right: _Optional[_Union[ColumnRef, _Mapping]] = ...) -> None: ...

class GroupBy(_message.Message):
    __slots__ = ("column", "time_part", "time_zone")
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    TIME_PART_FIELD_NUMBER: _ClassVar[int]
    TIME_ZONE_FIELD_NUMBER: _ClassVar[int]
    AS_FIELD_NUMBER: _ClassVar[int]
    column: ColumnRef
    time_part: TimePart
    time_zone: str
    def __init__(self, column: _Optional[_Union[ColumnRef, _Mapping]] = ..., time_part: _Optional[_Union[TimePart, str]] = ..., time_zone: _Optional[str] = ..., **kwargs) -> None: ...

class Aggregate(_message.Message):
    __slots__ = ("function", "column", "condition", "fraction", "order_by")
    FUNCTION_FIELD_NUMBER: _ClassVar[int]
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    AS_FIELD_NUMBER: _ClassVar[int]
    CONDITION_FIELD_NUMBER: _ClassVar[int]
    FRACTION_FIELD_NUMBER: _ClassVar[int]
    ORDER_BY_FIELD_NUMBER: _ClassVar[int]
    function: AggregateFunction
    column: ColumnRef
    condition: Predicate
    fraction: float
    order_by: _containers.RepeatedCompositeFieldContainer[OrderBy]
    def __init__(self, function: _Optional[_Union[AggregateFunction, str]] = ..., column: _Optional[_Union[ColumnRef, _Mapping]] = ..., condition: _Optional[_Union[Predicate, _Mapping]] = ..., fraction: _Optional[float] = ..., order_by: _Optional[_Iterable[_Union[OrderBy, _Mapping]]] = ..., **kwargs) -> None: ...

class Arithmetic(_message.Message):
    __slots__ = ("operator", "left", "right")
    OPERATOR_FIELD_NUMBER: _ClassVar[int]
    LEFT_FIELD_NUMBER: _ClassVar[int]
    RIGHT_FIELD_NUMBER: _ClassVar[int]
    operator: ArithmeticOperator
    left: Expression
    right: Expression
    def __init__(self, operator: _Optional[_Union[ArithmeticOperator, str]] = ..., left: _Optional[_Union[Expression, _Mapping]] = ..., right: _Optional[_Union[Expression, _Mapping]] = ...) -> None: ...

class Expression(_message.Message):
    __slots__ = ("column", "value", "arithmetic")
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    ARITHMETIC_FIELD_NUMBER: _ClassVar[int]
    column: ColumnRef
    value: Value
    arithmetic: Arithmetic
    def __init__(self, column: _Optional[_Union[ColumnRef, _Mapping]] = ..., value: _Optional[_Union[Value, _Mapping]] = ..., arithmetic: _Optional[_Union[Arithmetic, _Mapping]] = ...) -> None: ...

class SelectColumn(_message.Message):
    __slots__ = ("expression",)
    EXPRESSION_FIELD_NUMBER: _ClassVar[int]
    AS_FIELD_NUMBER: _ClassVar[int]
    expression: Expression
    def __init__(self, expression: _Optional[_Union[Expression, _Mapping]] = ..., **kwargs) -> None: ...

class OrderBy(_message.Message):
    __slots__ = ("name", "alias", "descending", "nulls")
    NAME_FIELD_NUMBER: _ClassVar[int]
    ALIAS_FIELD_NUMBER: _ClassVar[int]
    DESCENDING_FIELD_NUMBER: _ClassVar[int]
    NULLS_FIELD_NUMBER: _ClassVar[int]
    name: str
    alias: str
    descending: bool
    nulls: NullsOrder
    def __init__(self, name: _Optional[str] = ..., alias: _Optional[str] = ..., descending: _Optional[bool] = ..., nulls: _Optional[_Union[NullsOrder, str]] = ...) -> None: ...

class Plan(_message.Message):
    __slots__ = ("datasets", "joins", "where", "group_by", "aggregates", "having", "select", "distinct", "order_by", "limit")
    DATASETS_FIELD_NUMBER: _ClassVar[int]
    JOINS_FIELD_NUMBER: _ClassVar[int]
    WHERE_FIELD_NUMBER: _ClassVar[int]
    GROUP_BY_FIELD_NUMBER: _ClassVar[int]
    AGGREGATES_FIELD_NUMBER: _ClassVar[int]
    HAVING_FIELD_NUMBER: _ClassVar[int]
    SELECT_FIELD_NUMBER: _ClassVar[int]
    DISTINCT_FIELD_NUMBER: _ClassVar[int]
    ORDER_BY_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    datasets: _containers.RepeatedCompositeFieldContainer[PlanDataset]
    joins: _containers.RepeatedCompositeFieldContainer[Join]
    where: _containers.RepeatedCompositeFieldContainer[Predicate]
    group_by: _containers.RepeatedCompositeFieldContainer[GroupBy]
    aggregates: _containers.RepeatedCompositeFieldContainer[Aggregate]
    having: _containers.RepeatedCompositeFieldContainer[Predicate]
    select: _containers.RepeatedCompositeFieldContainer[SelectColumn]
    distinct: bool
    order_by: _containers.RepeatedCompositeFieldContainer[OrderBy]
    limit: int
    def __init__(self, datasets: _Optional[_Iterable[_Union[PlanDataset, _Mapping]]] = ..., joins: _Optional[_Iterable[_Union[Join, _Mapping]]] = ..., where: _Optional[_Iterable[_Union[Predicate, _Mapping]]] = ..., group_by: _Optional[_Iterable[_Union[GroupBy, _Mapping]]] = ..., aggregates: _Optional[_Iterable[_Union[Aggregate, _Mapping]]] = ..., having: _Optional[_Iterable[_Union[Predicate, _Mapping]]] = ..., select: _Optional[_Iterable[_Union[SelectColumn, _Mapping]]] = ..., distinct: _Optional[bool] = ..., order_by: _Optional[_Iterable[_Union[OrderBy, _Mapping]]] = ..., limit: _Optional[int] = ...) -> None: ...

class QueryRequest(_message.Message):
    __slots__ = ("namespace", "plan", "page_size", "page_token")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    plan: Plan
    page_size: int
    page_token: str
    def __init__(self, namespace: _Optional[str] = ..., plan: _Optional[_Union[Plan, _Mapping]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class QueryResponse(_message.Message):
    __slots__ = ("columns", "rows", "receipt", "next_page_token")
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    columns: _containers.RepeatedCompositeFieldContainer[ResultColumn]
    rows: _containers.RepeatedCompositeFieldContainer[Row]
    receipt: Receipt
    next_page_token: str
    def __init__(self, columns: _Optional[_Iterable[_Union[ResultColumn, _Mapping]]] = ..., rows: _Optional[_Iterable[_Union[Row, _Mapping]]] = ..., receipt: _Optional[_Union[Receipt, _Mapping]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ResultColumn(_message.Message):
    __slots__ = ("name", "type", "precision", "scale")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    PRECISION_FIELD_NUMBER: _ClassVar[int]
    SCALE_FIELD_NUMBER: _ClassVar[int]
    name: str
    type: _artifact_pb2.ColumnType
    precision: int
    scale: int
    def __init__(self, name: _Optional[str] = ..., type: _Optional[_Union[_artifact_pb2.ColumnType, str]] = ..., precision: _Optional[int] = ..., scale: _Optional[int] = ...) -> None: ...

class SnapshotRead(_message.Message):
    __slots__ = ("alias", "source_uri", "dataset_id", "snapshot_id", "revision", "row_count", "rejected_rows", "file_sha256")
    ALIAS_FIELD_NUMBER: _ClassVar[int]
    SOURCE_URI_FIELD_NUMBER: _ClassVar[int]
    DATASET_ID_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    ROW_COUNT_FIELD_NUMBER: _ClassVar[int]
    REJECTED_ROWS_FIELD_NUMBER: _ClassVar[int]
    FILE_SHA256_FIELD_NUMBER: _ClassVar[int]
    alias: str
    source_uri: str
    dataset_id: str
    snapshot_id: str
    revision: int
    row_count: int
    rejected_rows: int
    file_sha256: str
    def __init__(self, alias: _Optional[str] = ..., source_uri: _Optional[str] = ..., dataset_id: _Optional[str] = ..., snapshot_id: _Optional[str] = ..., revision: _Optional[int] = ..., row_count: _Optional[int] = ..., rejected_rows: _Optional[int] = ..., file_sha256: _Optional[str] = ...) -> None: ...

class ReceiptStep(_message.Message):
    __slots__ = ("step", "rows_in", "rows_out", "null_skipped")
    STEP_FIELD_NUMBER: _ClassVar[int]
    ROWS_IN_FIELD_NUMBER: _ClassVar[int]
    ROWS_OUT_FIELD_NUMBER: _ClassVar[int]
    NULL_SKIPPED_FIELD_NUMBER: _ClassVar[int]
    step: str
    rows_in: int
    rows_out: int
    null_skipped: int
    def __init__(self, step: _Optional[str] = ..., rows_in: _Optional[int] = ..., rows_out: _Optional[int] = ..., null_skipped: _Optional[int] = ...) -> None: ...

class Receipt(_message.Message):
    __slots__ = ("plan", "plan_sha256", "snapshots", "statement", "parameters", "engine", "result_sha256", "result_rows", "complete", "incomplete", "executed_at", "steps")
    PLAN_FIELD_NUMBER: _ClassVar[int]
    PLAN_SHA256_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOTS_FIELD_NUMBER: _ClassVar[int]
    STATEMENT_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    ENGINE_FIELD_NUMBER: _ClassVar[int]
    RESULT_SHA256_FIELD_NUMBER: _ClassVar[int]
    RESULT_ROWS_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_FIELD_NUMBER: _ClassVar[int]
    INCOMPLETE_FIELD_NUMBER: _ClassVar[int]
    EXECUTED_AT_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    plan: Plan
    plan_sha256: str
    snapshots: _containers.RepeatedCompositeFieldContainer[SnapshotRead]
    statement: str
    parameters: _containers.RepeatedCompositeFieldContainer[Value]
    engine: str
    result_sha256: str
    result_rows: int
    complete: bool
    incomplete: _containers.RepeatedScalarFieldContainer[str]
    executed_at: _timestamp_pb2.Timestamp
    steps: _containers.RepeatedCompositeFieldContainer[ReceiptStep]
    def __init__(self, plan: _Optional[_Union[Plan, _Mapping]] = ..., plan_sha256: _Optional[str] = ..., snapshots: _Optional[_Iterable[_Union[SnapshotRead, _Mapping]]] = ..., statement: _Optional[str] = ..., parameters: _Optional[_Iterable[_Union[Value, _Mapping]]] = ..., engine: _Optional[str] = ..., result_sha256: _Optional[str] = ..., result_rows: _Optional[int] = ..., complete: _Optional[bool] = ..., incomplete: _Optional[_Iterable[str]] = ..., executed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., steps: _Optional[_Iterable[_Union[ReceiptStep, _Mapping]]] = ...) -> None: ...

class QueryArrowRequest(_message.Message):
    __slots__ = ("namespace", "plan")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    plan: Plan
    def __init__(self, namespace: _Optional[str] = ..., plan: _Optional[_Union[Plan, _Mapping]] = ...) -> None: ...

class QueryArrowResponse(_message.Message):
    __slots__ = ("arrow_ipc", "receipt")
    ARROW_IPC_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_FIELD_NUMBER: _ClassVar[int]
    arrow_ipc: bytes
    receipt: Receipt
    def __init__(self, arrow_ipc: _Optional[bytes] = ..., receipt: _Optional[_Union[Receipt, _Mapping]] = ...) -> None: ...

class ExplainQueryRequest(_message.Message):
    __slots__ = ("namespace", "plan")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    plan: Plan
    def __init__(self, namespace: _Optional[str] = ..., plan: _Optional[_Union[Plan, _Mapping]] = ...) -> None: ...

class ExplainQueryResponse(_message.Message):
    __slots__ = ("statement", "parameters", "snapshots", "columns", "engine_plan")
    STATEMENT_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOTS_FIELD_NUMBER: _ClassVar[int]
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    ENGINE_PLAN_FIELD_NUMBER: _ClassVar[int]
    statement: str
    parameters: _containers.RepeatedCompositeFieldContainer[Value]
    snapshots: _containers.RepeatedCompositeFieldContainer[SnapshotRead]
    columns: _containers.RepeatedCompositeFieldContainer[ResultColumn]
    engine_plan: str
    def __init__(self, statement: _Optional[str] = ..., parameters: _Optional[_Iterable[_Union[Value, _Mapping]]] = ..., snapshots: _Optional[_Iterable[_Union[SnapshotRead, _Mapping]]] = ..., columns: _Optional[_Iterable[_Union[ResultColumn, _Mapping]]] = ..., engine_plan: _Optional[str] = ...) -> None: ...

class VerifyReceiptRequest(_message.Message):
    __slots__ = ("namespace", "receipt")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    receipt: Receipt
    def __init__(self, namespace: _Optional[str] = ..., receipt: _Optional[_Union[Receipt, _Mapping]] = ...) -> None: ...

class VerifyReceiptResponse(_message.Message):
    __slots__ = ("agrees", "differences")
    AGREES_FIELD_NUMBER: _ClassVar[int]
    DIFFERENCES_FIELD_NUMBER: _ClassVar[int]
    agrees: bool
    differences: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, agrees: _Optional[bool] = ..., differences: _Optional[_Iterable[str]] = ...) -> None: ...

class TraceRowsRequest(_message.Message):
    __slots__ = ("namespace", "receipt", "result_row", "page_size", "page_token")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_FIELD_NUMBER: _ClassVar[int]
    RESULT_ROW_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    receipt: Receipt
    result_row: int
    page_size: int
    page_token: str
    def __init__(self, namespace: _Optional[str] = ..., receipt: _Optional[_Union[Receipt, _Mapping]] = ..., result_row: _Optional[int] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class TraceRowsResponse(_message.Message):
    __slots__ = ("rows", "next_page_token")
    class Trace(_message.Message):
        __slots__ = ("alias", "row_id", "locator", "values")
        ALIAS_FIELD_NUMBER: _ClassVar[int]
        ROW_ID_FIELD_NUMBER: _ClassVar[int]
        LOCATOR_FIELD_NUMBER: _ClassVar[int]
        VALUES_FIELD_NUMBER: _ClassVar[int]
        alias: str
        row_id: int
        locator: _artifact_pb2.Locator
        values: _containers.RepeatedCompositeFieldContainer[Value]
        def __init__(self, alias: _Optional[str] = ..., row_id: _Optional[int] = ..., locator: _Optional[_Union[_artifact_pb2.Locator, _Mapping]] = ..., values: _Optional[_Iterable[_Union[Value, _Mapping]]] = ...) -> None: ...
    ROWS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    rows: _containers.RepeatedCompositeFieldContainer[TraceRowsResponse.Trace]
    next_page_token: str
    def __init__(self, rows: _Optional[_Iterable[_Union[TraceRowsResponse.Trace, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ApproveDatasetRequest(_message.Message):
    __slots__ = ("namespace", "source_uri", "dataset_id", "snapshot_id", "columns")
    class ColumnsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: _artifact_pb2.ColumnType
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[_artifact_pb2.ColumnType, str]] = ...) -> None: ...
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_URI_FIELD_NUMBER: _ClassVar[int]
    DATASET_ID_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    source_uri: str
    dataset_id: str
    snapshot_id: str
    columns: _containers.ScalarMap[str, _artifact_pb2.ColumnType]
    def __init__(self, namespace: _Optional[str] = ..., source_uri: _Optional[str] = ..., dataset_id: _Optional[str] = ..., snapshot_id: _Optional[str] = ..., columns: _Optional[_Mapping[str, _artifact_pb2.ColumnType]] = ...) -> None: ...

class ApproveDatasetResponse(_message.Message):
    __slots__ = ("dataset", "retyped")
    DATASET_FIELD_NUMBER: _ClassVar[int]
    RETYPED_FIELD_NUMBER: _ClassVar[int]
    dataset: Dataset
    retyped: bool
    def __init__(self, dataset: _Optional[_Union[Dataset, _Mapping]] = ..., retyped: _Optional[bool] = ...) -> None: ...
