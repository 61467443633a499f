"""What one extraction yields: blocks in reading order, typed datasets, warnings, and a ledger of what was and was not read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import pyarrow as pa

from artifact.locators import Locator

ROW_ID: Final = "_row_id"
"""Dataset column of the row's number from 0, int64, unique and ascending."""
ROW_LOCATOR: Final = "_locator"
"""Dataset column of the row's place in the source: JSON as `artifact.locators.to_json` writes it."""


class BlockType(StrEnum):
    """What a block is; the names are those of the contract, in lower case."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    TABLE = "table"
    TABLE_ROWS = "table_rows"
    CODE = "code"
    QUOTE = "quote"
    CAPTION = "caption"
    FOOTNOTE = "footnote"
    ENDNOTE = "endnote"
    COMMENT = "comment"
    HEADER = "header"
    FOOTER = "footer"
    SPEAKER_NOTE = "speaker_note"
    IMAGE_TEXT = "image_text"
    EQUATION = "equation"
    FORM_FIELD = "form_field"
    TEXT_BOX = "text_box"
    CHART_TEXT = "chart_text"
    DIAGRAM_TEXT = "diagram_text"
    METADATA = "metadata"
    SQL_STATEMENT = "sql_statement"
    TOML_TABLE = "toml_table"
    TOML_KEY = "toml_key"


class Visibility(StrEnum):
    """How the source shows a block; everything but `visible` is flagged, never mixed into visible text."""

    VISIBLE = "visible"
    HIDDEN_SHEET = "hidden_sheet"
    HIDDEN_SLIDE = "hidden_slide"
    HIDDEN_TEXT = "hidden_text"
    HIDDEN_ROW = "hidden_row"
    DELETED = "deleted"
    INSERTED = "inserted"


class ColumnType(StrEnum):
    """What a dataset column is held as."""

    STRING = "string"
    NUMBER = "number"
    BOOL = "bool"
    DATE = "date"
    DATETIME = "datetime"
    TIME = "time"
    DURATION = "duration"


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table's grid; rows and columns from 0, spans at least 1. `text` is what the source displays."""

    row: int
    column: int
    text: str
    row_span: int = 1
    column_span: int = 1
    formula: str = ""
    number_format: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """A unit of text in reading order.

    `level` is 1..9 on headings and list items, else 0. `section_path` holds the headings above, outermost first; a heading's
    own path ends with itself. A table's `text` is its rows, one a line, cells joined by a tab. `defines` and `reads` are
    exact names (SQL tables and columns, TOML key paths).
    """

    id: str
    type: BlockType
    text: str
    locator: Locator
    level: int = 0
    section_path: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    dataset_id: str = ""
    cells: Sequence[Cell] = ()
    language: str = ""
    ocr: bool = False
    visibility: Visibility = Visibility.VISIBLE


@dataclass(frozen=True, slots=True)
class FailedUnit:
    """A page, sheet or slide that was not read, and the code of the reason."""

    unit: str
    reason: str
    locator: Locator | None = None


@dataclass(frozen=True, slots=True)
class WordCount:
    """Words of the source under one reason code, such as `running_header` or `image_only_page`."""

    reason: str
    words: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """The ledger. `unit` is what is counted (page, sheet, line); `lost` names capabilities the artifact had to do without.

    Words are runs of letters, digits and underscores. `words_emitted` stand in blocks or datasets; excluded ones are shown by
    the source and left out on purpose; unread ones could not be read.
    """

    unit: str
    total: int
    extracted: int
    failed: tuple[FailedUnit, ...] = ()
    lost: tuple[str, ...] = ()
    words_emitted: int = 0
    words_excluded: tuple[WordCount, ...] = ()
    words_unread: tuple[WordCount, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every unit was read, no capability lost and no word left unread."""
        return self.extracted == self.total and not (self.failed or self.lost or self.words_unread)


@dataclass(frozen=True, slots=True)
class ArtifactWarning:
    """Something a reader of the artifact should know: a code in capitals, a sentence, and where."""

    code: str
    message: str
    locator: Locator | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """A link of the source: the words it stands on, where it leads as the source writes it, and its place."""

    text: str
    target: str
    locator: Locator


@dataclass(frozen=True, slots=True)
class TypeCount:
    """How many values of a column were read as one type."""

    type: ColumnType
    values: int


@dataclass(frozen=True, slots=True)
class Column:
    """A dataset column. `inferred` counts the types its values had; `type` is what it is held as.

    `precision` and `scale` are those of the decimals that hold a number column, both 0 where it is a double.
    """

    name: str
    type: ColumnType
    source_header: str = ""
    inferred: tuple[TypeCount, ...] = ()
    number_format: str = ""
    unit: str = ""
    precision: int = 0
    scale: int = 0
    nullable: bool = True
    stored: bool = True


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row that does not fit its columns' types, with its displayed values and the reason."""

    locator: Locator
    values: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Clarification:
    """A question about a dataset's schema that a person has to answer (codes of L-CLAR)."""

    code: str
    column: str
    message: str


@dataclass(frozen=True, slots=True)
class CellFormula:
    """A formula of a dataset cell and whether the source held its result."""

    row_id: int
    column: str
    formula: str
    cached: bool


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """A typed table. `rows` has one Arrow column a dataset column, under its name, after `ROW_ID` and `ROW_LOCATOR`."""

    id: str
    name: str
    columns: tuple[Column, ...]
    rows: pa.Table
    locator: Locator
    header_rows: int = 1
    rejected_count: int = 0
    rejected_rows: tuple[RejectedRow, ...] = ()
    clarifications: tuple[Clarification, ...] = ()
    formulas: Sequence[CellFormula] = ()
    complete: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Artifact:
    """All that was read from one file. `parser` names the reader and its version; `properties` are the file's own."""

    format: str
    parser: str
    sha256: str
    size_bytes: int
    blocks: tuple[Block, ...]
    coverage: Coverage
    title: str = ""
    encoding: str = ""
    datasets: tuple[Dataset, ...] = ()
    links: tuple[Link, ...] = ()
    warnings: tuple[ArtifactWarning, ...] = ()
    properties: dict[str, str] = field(default_factory=dict)
