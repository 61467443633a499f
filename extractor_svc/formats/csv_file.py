"""CSV and TSV files: one typed dataset of the table, and the lines above and below it as text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from importlib.metadata import version
from pathlib import PurePosixPath
from typing import Final

from artifact.locators import LineSpan, Locator
from artifact.model import Artifact, BlockType, Cell, Coverage, Dataset
from extractor_svc.blocks import BlockList, WarningList, count_words, tally
from extractor_svc.context import ReadContext
from extractor_svc.errors import LocatorNotFound, NoText, TooManyRows
from extractor_svc.formats.csv_columns import hold_texts, mark_of_file
from extractor_svc.formats.csv_layout import find_layout, notes_below
from extractor_svc.formats.csv_scan import Records, scan
from extractor_svc.formats.csv_source import CsvSource, lines_of, open_source
from extractor_svc.formats.csv_table import Table, gather, warn_of_swallowed_lines
from extractor_svc.limits import Limits
from extractor_svc.tabular import check_columns, name_columns, table_of

PARSER: Final = f"loom-csv/1 pyarrow/{version('pyarrow')}"

_DATASET_ID: Final = "table"
_CELLS_TOLD: Final = 50_000
"""A table of more cells tells them by its text and its dataset alone."""


def read(content: bytes, context: ReadContext) -> Artifact:
    """Reads a delimited file (L-DS-01): delimiter, quotes and header are found by its lines.

    Single texts above the table, and below it after an empty line, are paragraphs. A record with more or fewer cells than
    most is kept and told (`ROW_WIDTH`): further cells are further columns, missing ones are null. One so wide that the
    table would have to grow to twice its width is a rejected row of the dataset. Quotes that do not fit are text, and told
    (`STRAY_QUOTES`); quotes that hold several lines, each of which could be a record, are told (`CSV_AMBIGUOUS`). Places are
    lines of the file; a record with line feeds in quotes has several.

    Raises:
        NoText: the file holds no table.
        InvalidOption, BadEncoding, OutputLimit, TooManyRows, TooManyColumns: as their names say.
    """
    warnings = WarningList(context.limits)
    source = open_source(content, context, warnings)
    parts = _scan_all(source, context)
    layout = find_layout(parts[0])
    below = notes_below(parts[-1], layout.width) if len(parts[-1]) - (layout.preamble if len(parts) == 1 else 0) > 1 else 0
    above, notes = parts[0].part(0, layout.preamble), parts[-1].part(len(parts[-1]) - below, len(parts[-1]))
    table = gather(_middle(parts, layout.preamble, below), layout, warnings=warnings, limits=context.limits)
    warn_of_swallowed_lines(table, layout, delimiter=source.dialect.delimiter, warnings=warnings)
    blocks = BlockList(context.limits)
    _add_lines(blocks, above)
    dataset = _dataset(table, source, context)
    blocks.add(BlockType.TABLE, table.text, table.place, dataset_id=dataset.id, cells=_cells(table))
    _add_lines(blocks, notes)
    rows = dataset.rows.num_rows + dataset.rejected_count
    context.progress("row", rows, rows)
    return Artifact(
        format="csv",
        parser=PARSER,
        sha256=context.sha256,
        size_bytes=len(content),
        blocks=blocks.done(),
        coverage=Coverage(
            "row",
            rows,
            rows,
            words_emitted=sum(count_words(block.text) for block in blocks.done()),
            words_excluded=tally([("delimiter_line", source.words_left_out)]),
        ),
        encoding=source.encoding,
        datasets=(dataset,),
        warnings=warnings.done(),
        properties={"delimiter": source.dialect.delimiter, "quote": source.dialect.quote},
    )


def resolve(content: bytes, locator: Locator, context: ReadContext) -> str:
    """Returns the records that start on some lines, one a line, cells joined by a tab.

    Raises:
        LocatorNotFound: the file has no such lines.
    """
    source = open_source(content, context, WarningList(context.limits))
    data = lines_of(source, locator.first, locator.last) if isinstance(locator, LineSpan) else None
    if data is None:
        raise LocatorNotFound("a place of a delimited file is some of its lines, counted from 1")
    return "\n".join(line for records in scan(data, source.dialect) for line in records.lines().to_pylist())


def _scan_all(source: CsvSource, context: ReadContext) -> list[Records]:
    parts: list[Records] = []
    rows = 0
    for records in scan(source.data, source.dialect, first_line=source.first_line):
        rows += len(records)
        _refuse_too_many(rows, context.limits)
        context.progress("row", rows, 0)
        if len(records):
            parts.append(records)
    if not parts:
        raise NoText("the file holds no text below its first line")
    return parts


def _refuse_too_many(rows: int, limits: Limits) -> None:
    if rows > limits.max_rows + 1:
        raise TooManyRows(f"the table has more than {limits.max_rows} rows", metadata={"max_rows": str(limits.max_rows)})


def _middle(parts: Sequence[Records], above: int, below: int) -> list[Records]:
    """The records without the first and the last ones."""
    middle = list(parts)
    middle[-1] = middle[-1].part(0, len(middle[-1]) - below)
    middle[0] = middle[0].part(above, len(middle[0]))
    return middle


def _add_lines(blocks: BlockList, records: Records) -> None:
    for number, line in enumerate(records.lines().to_pylist() if len(records) else ()):
        if line.strip():
            place = LineSpan(int(records.first_lines[number]), int(records.last_lines[number]))
            blocks.add(BlockType.PARAGRAPH, line, place)


def _dataset(table: Table, source: CsvSource, context: ReadContext) -> Dataset:
    name = PurePosixPath(context.filename.replace("\\", "/")).stem or _DATASET_ID
    check_columns(table.header, name=name, limits=context.limits)
    names, clarifications = name_columns(table.header, table.header_rows)
    mark = cache(partial(mark_of_file, table.columns, delimiter=source.dialect.delimiter))
    held = []
    for number, column in enumerate(table.columns):
        context.progress("column", number, len(names))
        held.append(hold_texts(names[number], table.header[number], column, mark))
    return Dataset(
        id=_DATASET_ID,
        name=name,
        columns=tuple(column.column for column in held),
        rows=table_of(held, table.places),
        locator=table.place,
        header_rows=table.header_rows,
        rejected_count=table.rejected_count,
        rejected_rows=table.rejected,
        clarifications=(*clarifications, *(column.clarification for column in held if column.clarification)),
        complete=not table.rejected_count and all(column.exact for column in held),
    )


def _cells(table: Table) -> tuple[Cell, ...]:
    if sum(len(records.cells) for records in table.records) > _CELLS_TOLD:
        return ()
    rows = [row for records in table.records for row in records.rows(0, len(records))]
    return tuple(Cell(i, j, text) for i, row in enumerate(rows) for j, text in enumerate(row) if text)
