from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class BlockType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BLOCK_TYPE_UNSPECIFIED: _ClassVar[BlockType]
    BLOCK_TYPE_HEADING: _ClassVar[BlockType]
    BLOCK_TYPE_PARAGRAPH: _ClassVar[BlockType]
    BLOCK_TYPE_LIST_ITEM: _ClassVar[BlockType]
    BLOCK_TYPE_TABLE: _ClassVar[BlockType]
    BLOCK_TYPE_TABLE_ROWS: _ClassVar[BlockType]
    BLOCK_TYPE_CODE: _ClassVar[BlockType]
    BLOCK_TYPE_QUOTE: _ClassVar[BlockType]
    BLOCK_TYPE_CAPTION: _ClassVar[BlockType]
    BLOCK_TYPE_FOOTNOTE: _ClassVar[BlockType]
    BLOCK_TYPE_ENDNOTE: _ClassVar[BlockType]
    BLOCK_TYPE_COMMENT: _ClassVar[BlockType]
    BLOCK_TYPE_HEADER: _ClassVar[BlockType]
    BLOCK_TYPE_FOOTER: _ClassVar[BlockType]
    BLOCK_TYPE_SPEAKER_NOTE: _ClassVar[BlockType]
    BLOCK_TYPE_IMAGE_TEXT: _ClassVar[BlockType]
    BLOCK_TYPE_EQUATION: _ClassVar[BlockType]
    BLOCK_TYPE_FORM_FIELD: _ClassVar[BlockType]
    BLOCK_TYPE_TEXT_BOX: _ClassVar[BlockType]
    BLOCK_TYPE_CHART_TEXT: _ClassVar[BlockType]
    BLOCK_TYPE_DIAGRAM_TEXT: _ClassVar[BlockType]
    BLOCK_TYPE_METADATA: _ClassVar[BlockType]
    BLOCK_TYPE_SQL_STATEMENT: _ClassVar[BlockType]
    BLOCK_TYPE_TOML_TABLE: _ClassVar[BlockType]
    BLOCK_TYPE_TOML_KEY: _ClassVar[BlockType]

class Visibility(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VISIBILITY_UNSPECIFIED: _ClassVar[Visibility]
    VISIBILITY_VISIBLE: _ClassVar[Visibility]
    VISIBILITY_HIDDEN_SHEET: _ClassVar[Visibility]
    VISIBILITY_HIDDEN_SLIDE: _ClassVar[Visibility]
    VISIBILITY_HIDDEN_TEXT: _ClassVar[Visibility]
    VISIBILITY_HIDDEN_ROW: _ClassVar[Visibility]
    VISIBILITY_DELETED: _ClassVar[Visibility]
    VISIBILITY_INSERTED: _ClassVar[Visibility]

class ColumnType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    COLUMN_TYPE_UNSPECIFIED: _ClassVar[ColumnType]
    COLUMN_TYPE_STRING: _ClassVar[ColumnType]
    COLUMN_TYPE_NUMBER: _ClassVar[ColumnType]
    COLUMN_TYPE_BOOL: _ClassVar[ColumnType]
    COLUMN_TYPE_DATE: _ClassVar[ColumnType]
    COLUMN_TYPE_DATETIME: _ClassVar[ColumnType]
    COLUMN_TYPE_TIME: _ClassVar[ColumnType]
    COLUMN_TYPE_DURATION: _ClassVar[ColumnType]
BLOCK_TYPE_UNSPECIFIED: BlockType
BLOCK_TYPE_HEADING: BlockType
BLOCK_TYPE_PARAGRAPH: BlockType
BLOCK_TYPE_LIST_ITEM: BlockType
BLOCK_TYPE_TABLE: BlockType
BLOCK_TYPE_TABLE_ROWS: BlockType
BLOCK_TYPE_CODE: BlockType
BLOCK_TYPE_QUOTE: BlockType
BLOCK_TYPE_CAPTION: BlockType
BLOCK_TYPE_FOOTNOTE: BlockType
BLOCK_TYPE_ENDNOTE: BlockType
BLOCK_TYPE_COMMENT: BlockType
BLOCK_TYPE_HEADER: BlockType
BLOCK_TYPE_FOOTER: BlockType
BLOCK_TYPE_SPEAKER_NOTE: BlockType
BLOCK_TYPE_IMAGE_TEXT: BlockType
BLOCK_TYPE_EQUATION: BlockType
BLOCK_TYPE_FORM_FIELD: BlockType
BLOCK_TYPE_TEXT_BOX: BlockType
BLOCK_TYPE_CHART_TEXT: BlockType
BLOCK_TYPE_DIAGRAM_TEXT: BlockType
BLOCK_TYPE_METADATA: BlockType
BLOCK_TYPE_SQL_STATEMENT: BlockType
BLOCK_TYPE_TOML_TABLE: BlockType
BLOCK_TYPE_TOML_KEY: BlockType
VISIBILITY_UNSPECIFIED: Visibility
VISIBILITY_VISIBLE: Visibility
VISIBILITY_HIDDEN_SHEET: Visibility
VISIBILITY_HIDDEN_SLIDE: Visibility
VISIBILITY_HIDDEN_TEXT: Visibility
VISIBILITY_HIDDEN_ROW: Visibility
VISIBILITY_DELETED: Visibility
VISIBILITY_INSERTED: Visibility
COLUMN_TYPE_UNSPECIFIED: ColumnType
COLUMN_TYPE_STRING: ColumnType
COLUMN_TYPE_NUMBER: ColumnType
COLUMN_TYPE_BOOL: ColumnType
COLUMN_TYPE_DATE: ColumnType
COLUMN_TYPE_DATETIME: ColumnType
COLUMN_TYPE_TIME: ColumnType
COLUMN_TYPE_DURATION: ColumnType

class Locator(_message.Message):
    __slots__ = ("lines", "chars", "bytes", "pdf", "slide", "sheet", "docx", "toml", "rows", "image", "html")
    LINES_FIELD_NUMBER: _ClassVar[int]
    CHARS_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    PDF_FIELD_NUMBER: _ClassVar[int]
    SLIDE_FIELD_NUMBER: _ClassVar[int]
    SHEET_FIELD_NUMBER: _ClassVar[int]
    DOCX_FIELD_NUMBER: _ClassVar[int]
    TOML_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    IMAGE_FIELD_NUMBER: _ClassVar[int]
    HTML_FIELD_NUMBER: _ClassVar[int]
    lines: LineSpan
    chars: CharSpan
    bytes: ByteSpan
    pdf: PdfPlace
    slide: SlidePlace
    sheet: SheetPlace
    docx: DocxPlace
    toml: TomlPlace
    rows: RowSpan
    image: ImagePlace
    html: HtmlPlace
    def __init__(self, lines: _Optional[_Union[LineSpan, _Mapping]] = ..., chars: _Optional[_Union[CharSpan, _Mapping]] = ..., bytes: _Optional[_Union[ByteSpan, _Mapping]] = ..., pdf: _Optional[_Union[PdfPlace, _Mapping]] = ..., slide: _Optional[_Union[SlidePlace, _Mapping]] = ..., sheet: _Optional[_Union[SheetPlace, _Mapping]] = ..., docx: _Optional[_Union[DocxPlace, _Mapping]] = ..., toml: _Optional[_Union[TomlPlace, _Mapping]] = ..., rows: _Optional[_Union[RowSpan, _Mapping]] = ..., image: _Optional[_Union[ImagePlace, _Mapping]] = ..., html: _Optional[_Union[HtmlPlace, _Mapping]] = ...) -> None: ...

class LineSpan(_message.Message):
    __slots__ = ("first", "last")
    FIRST_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    first: int
    last: int
    def __init__(self, first: _Optional[int] = ..., last: _Optional[int] = ...) -> None: ...

class CharSpan(_message.Message):
    __slots__ = ("start", "end")
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    start: int
    end: int
    def __init__(self, start: _Optional[int] = ..., end: _Optional[int] = ...) -> None: ...

class ByteSpan(_message.Message):
    __slots__ = ("start", "end")
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    start: int
    end: int
    def __init__(self, start: _Optional[int] = ..., end: _Optional[int] = ...) -> None: ...

class PageBox(_message.Message):
    __slots__ = ("page", "x0", "y0", "x1", "y1")
    PAGE_FIELD_NUMBER: _ClassVar[int]
    X0_FIELD_NUMBER: _ClassVar[int]
    Y0_FIELD_NUMBER: _ClassVar[int]
    X1_FIELD_NUMBER: _ClassVar[int]
    Y1_FIELD_NUMBER: _ClassVar[int]
    page: int
    x0: float
    y0: float
    x1: float
    y1: float
    def __init__(self, page: _Optional[int] = ..., x0: _Optional[float] = ..., y0: _Optional[float] = ..., x1: _Optional[float] = ..., y1: _Optional[float] = ...) -> None: ...

class PdfPlace(_message.Message):
    __slots__ = ("first_page", "last_page", "label", "boxes")
    FIRST_PAGE_FIELD_NUMBER: _ClassVar[int]
    LAST_PAGE_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    BOXES_FIELD_NUMBER: _ClassVar[int]
    first_page: int
    last_page: int
    label: str
    boxes: _containers.RepeatedCompositeFieldContainer[PageBox]
    def __init__(self, first_page: _Optional[int] = ..., last_page: _Optional[int] = ..., label: _Optional[str] = ..., boxes: _Optional[_Iterable[_Union[PageBox, _Mapping]]] = ...) -> None: ...

class SlidePlace(_message.Message):
    __slots__ = ("first_slide", "last_slide", "shape", "notes")
    FIRST_SLIDE_FIELD_NUMBER: _ClassVar[int]
    LAST_SLIDE_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    first_slide: int
    last_slide: int
    shape: str
    notes: bool
    def __init__(self, first_slide: _Optional[int] = ..., last_slide: _Optional[int] = ..., shape: _Optional[str] = ..., notes: _Optional[bool] = ...) -> None: ...

class SheetPlace(_message.Message):
    __slots__ = ("sheet", "first_row", "last_row", "first_column", "last_column", "a1")
    SHEET_FIELD_NUMBER: _ClassVar[int]
    FIRST_ROW_FIELD_NUMBER: _ClassVar[int]
    LAST_ROW_FIELD_NUMBER: _ClassVar[int]
    FIRST_COLUMN_FIELD_NUMBER: _ClassVar[int]
    LAST_COLUMN_FIELD_NUMBER: _ClassVar[int]
    A1_FIELD_NUMBER: _ClassVar[int]
    sheet: str
    first_row: int
    last_row: int
    first_column: int
    last_column: int
    a1: str
    def __init__(self, sheet: _Optional[str] = ..., first_row: _Optional[int] = ..., last_row: _Optional[int] = ..., first_column: _Optional[int] = ..., last_column: _Optional[int] = ..., a1: _Optional[str] = ...) -> None: ...

class DocxPlace(_message.Message):
    __slots__ = ("part", "first", "last")
    PART_FIELD_NUMBER: _ClassVar[int]
    FIRST_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    part: str
    first: str
    last: str
    def __init__(self, part: _Optional[str] = ..., first: _Optional[str] = ..., last: _Optional[str] = ...) -> None: ...

class TomlPlace(_message.Message):
    __slots__ = ("key_path", "first_line", "last_line")
    KEY_PATH_FIELD_NUMBER: _ClassVar[int]
    FIRST_LINE_FIELD_NUMBER: _ClassVar[int]
    LAST_LINE_FIELD_NUMBER: _ClassVar[int]
    key_path: str
    first_line: int
    last_line: int
    def __init__(self, key_path: _Optional[str] = ..., first_line: _Optional[int] = ..., last_line: _Optional[int] = ...) -> None: ...

class RowSpan(_message.Message):
    __slots__ = ("first", "last")
    FIRST_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    first: int
    last: int
    def __init__(self, first: _Optional[int] = ..., last: _Optional[int] = ...) -> None: ...

class ImagePlace(_message.Message):
    __slots__ = ("frame", "x0", "y0", "x1", "y1")
    FRAME_FIELD_NUMBER: _ClassVar[int]
    X0_FIELD_NUMBER: _ClassVar[int]
    Y0_FIELD_NUMBER: _ClassVar[int]
    X1_FIELD_NUMBER: _ClassVar[int]
    Y1_FIELD_NUMBER: _ClassVar[int]
    frame: int
    x0: int
    y0: int
    x1: int
    y1: int
    def __init__(self, frame: _Optional[int] = ..., x0: _Optional[int] = ..., y0: _Optional[int] = ..., x1: _Optional[int] = ..., y1: _Optional[int] = ...) -> None: ...

class HtmlPlace(_message.Message):
    __slots__ = ("first", "last")
    FIRST_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    first: str
    last: str
    def __init__(self, first: _Optional[str] = ..., last: _Optional[str] = ...) -> None: ...

class Cell(_message.Message):
    __slots__ = ("row", "column", "text", "row_span", "column_span", "formula", "number_format")
    ROW_FIELD_NUMBER: _ClassVar[int]
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    ROW_SPAN_FIELD_NUMBER: _ClassVar[int]
    COLUMN_SPAN_FIELD_NUMBER: _ClassVar[int]
    FORMULA_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FORMAT_FIELD_NUMBER: _ClassVar[int]
    row: int
    column: int
    text: str
    row_span: int
    column_span: int
    formula: str
    number_format: str
    def __init__(self, row: _Optional[int] = ..., column: _Optional[int] = ..., text: _Optional[str] = ..., row_span: _Optional[int] = ..., column_span: _Optional[int] = ..., formula: _Optional[str] = ..., number_format: _Optional[str] = ...) -> None: ...

class Block(_message.Message):
    __slots__ = ("id", "type", "text", "locator", "level", "section_path", "defines", "reads", "dataset_id", "cells", "language", "ocr", "visibility")
    ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    LOCATOR_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    SECTION_PATH_FIELD_NUMBER: _ClassVar[int]
    DEFINES_FIELD_NUMBER: _ClassVar[int]
    READS_FIELD_NUMBER: _ClassVar[int]
    DATASET_ID_FIELD_NUMBER: _ClassVar[int]
    CELLS_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    OCR_FIELD_NUMBER: _ClassVar[int]
    VISIBILITY_FIELD_NUMBER: _ClassVar[int]
    id: str
    type: BlockType
    text: str
    locator: Locator
    level: int
    section_path: _containers.RepeatedScalarFieldContainer[str]
    defines: _containers.RepeatedScalarFieldContainer[str]
    reads: _containers.RepeatedScalarFieldContainer[str]
    dataset_id: str
    cells: _containers.RepeatedCompositeFieldContainer[Cell]
    language: str
    ocr: bool
    visibility: Visibility
    def __init__(self, id: _Optional[str] = ..., type: _Optional[_Union[BlockType, str]] = ..., text: _Optional[str] = ..., locator: _Optional[_Union[Locator, _Mapping]] = ..., level: _Optional[int] = ..., section_path: _Optional[_Iterable[str]] = ..., defines: _Optional[_Iterable[str]] = ..., reads: _Optional[_Iterable[str]] = ..., dataset_id: _Optional[str] = ..., cells: _Optional[_Iterable[_Union[Cell, _Mapping]]] = ..., language: _Optional[str] = ..., ocr: _Optional[bool] = ..., visibility: _Optional[_Union[Visibility, str]] = ...) -> None: ...

class FailedUnit(_message.Message):
    __slots__ = ("unit", "reason", "locator")
    UNIT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    LOCATOR_FIELD_NUMBER: _ClassVar[int]
    unit: str
    reason: str
    locator: Locator
    def __init__(self, unit: _Optional[str] = ..., reason: _Optional[str] = ..., locator: _Optional[_Union[Locator, _Mapping]] = ...) -> None: ...

class WordCount(_message.Message):
    __slots__ = ("reason", "words")
    REASON_FIELD_NUMBER: _ClassVar[int]
    WORDS_FIELD_NUMBER: _ClassVar[int]
    reason: str
    words: int
    def __init__(self, reason: _Optional[str] = ..., words: _Optional[int] = ...) -> None: ...

class Coverage(_message.Message):
    __slots__ = ("unit", "total", "extracted", "failed", "lost", "words_emitted", "words_excluded", "words_unread", "complete")
    UNIT_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    EXTRACTED_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    LOST_FIELD_NUMBER: _ClassVar[int]
    WORDS_EMITTED_FIELD_NUMBER: _ClassVar[int]
    WORDS_EXCLUDED_FIELD_NUMBER: _ClassVar[int]
    WORDS_UNREAD_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_FIELD_NUMBER: _ClassVar[int]
    unit: str
    total: int
    extracted: int
    failed: _containers.RepeatedCompositeFieldContainer[FailedUnit]
    lost: _containers.RepeatedScalarFieldContainer[str]
    words_emitted: int
    words_excluded: _containers.RepeatedCompositeFieldContainer[WordCount]
    words_unread: _containers.RepeatedCompositeFieldContainer[WordCount]
    complete: bool
    def __init__(self, unit: _Optional[str] = ..., total: _Optional[int] = ..., extracted: _Optional[int] = ..., failed: _Optional[_Iterable[_Union[FailedUnit, _Mapping]]] = ..., lost: _Optional[_Iterable[str]] = ..., words_emitted: _Optional[int] = ..., words_excluded: _Optional[_Iterable[_Union[WordCount, _Mapping]]] = ..., words_unread: _Optional[_Iterable[_Union[WordCount, _Mapping]]] = ..., complete: _Optional[bool] = ...) -> None: ...

class Warning(_message.Message):
    __slots__ = ("code", "message", "locator")
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    LOCATOR_FIELD_NUMBER: _ClassVar[int]
    code: str
    message: str
    locator: Locator
    def __init__(self, code: _Optional[str] = ..., message: _Optional[str] = ..., locator: _Optional[_Union[Locator, _Mapping]] = ...) -> None: ...

class Link(_message.Message):
    __slots__ = ("text", "target", "locator")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    LOCATOR_FIELD_NUMBER: _ClassVar[int]
    text: str
    target: str
    locator: Locator
    def __init__(self, text: _Optional[str] = ..., target: _Optional[str] = ..., locator: _Optional[_Union[Locator, _Mapping]] = ...) -> None: ...

class TypeCount(_message.Message):
    __slots__ = ("type", "values")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    type: ColumnType
    values: int
    def __init__(self, type: _Optional[_Union[ColumnType, str]] = ..., values: _Optional[int] = ...) -> None: ...

class Column(_message.Message):
    __slots__ = ("name", "type", "source_header", "inferred", "number_format", "unit", "precision", "scale", "nullable", "stored")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_HEADER_FIELD_NUMBER: _ClassVar[int]
    INFERRED_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FORMAT_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    PRECISION_FIELD_NUMBER: _ClassVar[int]
    SCALE_FIELD_NUMBER: _ClassVar[int]
    NULLABLE_FIELD_NUMBER: _ClassVar[int]
    STORED_FIELD_NUMBER: _ClassVar[int]
    name: str
    type: ColumnType
    source_header: str
    inferred: _containers.RepeatedCompositeFieldContainer[TypeCount]
    number_format: str
    unit: str
    precision: int
    scale: int
    nullable: bool
    stored: bool
    def __init__(self, name: _Optional[str] = ..., type: _Optional[_Union[ColumnType, str]] = ..., source_header: _Optional[str] = ..., inferred: _Optional[_Iterable[_Union[TypeCount, _Mapping]]] = ..., number_format: _Optional[str] = ..., unit: _Optional[str] = ..., precision: _Optional[int] = ..., scale: _Optional[int] = ..., nullable: _Optional[bool] = ..., stored: _Optional[bool] = ...) -> None: ...

class RejectedRow(_message.Message):
    __slots__ = ("locator", "values", "reason")
    LOCATOR_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    locator: Locator
    values: _containers.RepeatedScalarFieldContainer[str]
    reason: str
    def __init__(self, locator: _Optional[_Union[Locator, _Mapping]] = ..., values: _Optional[_Iterable[str]] = ..., reason: _Optional[str] = ...) -> None: ...

class Clarification(_message.Message):
    __slots__ = ("code", "column", "message")
    CODE_FIELD_NUMBER: _ClassVar[int]
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    code: str
    column: str
    message: str
    def __init__(self, code: _Optional[str] = ..., column: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class CellFormula(_message.Message):
    __slots__ = ("row_id", "column", "formula", "cached")
    ROW_ID_FIELD_NUMBER: _ClassVar[int]
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    FORMULA_FIELD_NUMBER: _ClassVar[int]
    CACHED_FIELD_NUMBER: _ClassVar[int]
    row_id: int
    column: str
    formula: str
    cached: bool
    def __init__(self, row_id: _Optional[int] = ..., column: _Optional[str] = ..., formula: _Optional[str] = ..., cached: _Optional[bool] = ...) -> None: ...

class DatasetSchema(_message.Message):
    __slots__ = ("id", "name", "columns", "locator", "header_rows", "row_count", "rejected_count", "rejected_rows", "clarifications", "formulas", "complete")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    LOCATOR_FIELD_NUMBER: _ClassVar[int]
    HEADER_ROWS_FIELD_NUMBER: _ClassVar[int]
    ROW_COUNT_FIELD_NUMBER: _ClassVar[int]
    REJECTED_COUNT_FIELD_NUMBER: _ClassVar[int]
    REJECTED_ROWS_FIELD_NUMBER: _ClassVar[int]
    CLARIFICATIONS_FIELD_NUMBER: _ClassVar[int]
    FORMULAS_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    columns: _containers.RepeatedCompositeFieldContainer[Column]
    locator: Locator
    header_rows: int
    row_count: int
    rejected_count: int
    rejected_rows: _containers.RepeatedCompositeFieldContainer[RejectedRow]
    clarifications: _containers.RepeatedCompositeFieldContainer[Clarification]
    formulas: _containers.RepeatedCompositeFieldContainer[CellFormula]
    complete: bool
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., columns: _Optional[_Iterable[_Union[Column, _Mapping]]] = ..., locator: _Optional[_Union[Locator, _Mapping]] = ..., header_rows: _Optional[int] = ..., row_count: _Optional[int] = ..., rejected_count: _Optional[int] = ..., rejected_rows: _Optional[_Iterable[_Union[RejectedRow, _Mapping]]] = ..., clarifications: _Optional[_Iterable[_Union[Clarification, _Mapping]]] = ..., formulas: _Optional[_Iterable[_Union[CellFormula, _Mapping]]] = ..., complete: _Optional[bool] = ...) -> None: ...

class ArtifactHead(_message.Message):
    __slots__ = ("format", "parser", "sha256", "size_bytes", "title", "encoding", "properties")
    class PropertiesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    PARSER_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    ENCODING_FIELD_NUMBER: _ClassVar[int]
    PROPERTIES_FIELD_NUMBER: _ClassVar[int]
    format: str
    parser: str
    sha256: str
    size_bytes: int
    title: str
    encoding: str
    properties: _containers.ScalarMap[str, str]
    def __init__(self, format: _Optional[str] = ..., parser: _Optional[str] = ..., sha256: _Optional[str] = ..., size_bytes: _Optional[int] = ..., title: _Optional[str] = ..., encoding: _Optional[str] = ..., properties: _Optional[_Mapping[str, str]] = ...) -> None: ...
