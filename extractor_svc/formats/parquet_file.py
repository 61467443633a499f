"""Parquet files: one dataset with the types that the schema states, and its rows as text."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import PurePosixPath
from typing import Final

import pyarrow as pa

from artifact.locators import ByteSpan, Locator, RowSpan
from artifact.model import Artifact, BlockType, Column, ColumnType, Coverage, Dataset
from extractor_svc.blocks import BlockList, WarningList, count_words
from extractor_svc.context import ReadContext
from extractor_svc.errors import LocatorNotFound, NoText
from extractor_svc.formats.parquet_columns import Leaf, hold_column
from extractor_svc.formats.parquet_gather import Gathered, gather
from extractor_svc.formats.parquet_rows import ParquetRows, lines_of, open_rows
from extractor_svc.formats.parquet_source import ParquetSource, open_parquet
from extractor_svc.tabular import HeldColumn, check_columns, name_columns, table_of

PARSER: Final = f"loom-parquet/1 pyarrow/{version('pyarrow')}"

_DATASET_ID: Final = "table"


def read(content: bytes, context: ReadContext) -> Artifact:
    """Reads a Parquet file (L-FMT-05, L-DS-01).

    Its column names stand in a block of their own, placed at the footer; the rows follow as one table. Members of structs
    are columns, lists and maps are JSON. Decimals keep their digits, timestamps are local or in UTC as the schema says. A
    row with a date outside the years 1 to 9999, or another value that cannot be held, is rejected. Columns of bytes that
    are no text are listed, not stored, and a lost capability (`binary_columns`). Where the text of the rows passes its
    limit it ends early (`table_text`); the dataset has all rows.

    Raises:
        Malformed, UnsupportedType: the file is damaged, or written in a way that is not read.
        NoText: it has no column.
        TooManyRows, TooManyColumns, DecompressionLimit: it is larger than the limits.
    """
    source = open_parquet(content, context.limits)
    rows = open_rows(source)
    name = PurePosixPath(context.filename.replace("\\", "/")).stem or _DATASET_ID
    headers = [leaf.name for leaf in rows.leaves]
    if not headers:
        raise NoText("the Parquet file has no column")
    check_columns(headers, name=name, limits=context.limits)
    names_line = _names_line(rows.leaves)
    gathered = gather(rows, context, most_chars=context.limits.max_text_chars - len(names_line))
    dataset = _dataset(name, rows, gathered)
    warnings = WarningList(context.limits)
    _warn(rows, gathered, warnings)
    blocks = BlockList(context.limits)
    blocks.add(BlockType.METADATA, names_line, ByteSpan(*source.footer))
    if gathered.told:
        place = RowSpan(1, gathered.told)
        blocks.add(BlockType.TABLE, "\n".join(gathered.lines), place, dataset_id=dataset.id, cells=gathered.cells())
    lost = (("binary_columns",) if rows.unread else ()) + (("table_text",) if gathered.told < source.rows else ())
    return Artifact(
        format="parquet",
        parser=PARSER,
        sha256=context.sha256,
        size_bytes=len(content),
        blocks=blocks.done(),
        coverage=Coverage(
            "row",
            source.rows,
            source.rows,
            lost=lost,
            words_emitted=sum(count_words(block.text) for block in blocks.done()),
        ),
        datasets=(dataset,),
        warnings=warnings.done(),
        properties=_properties(source),
    )


def resolve(content: bytes, locator: Locator, context: ReadContext) -> str:
    """Returns some rows, one a line, values joined by a tab; the range of bytes of the footer gives the names of the columns.

    Raises:
        LocatorNotFound: the file has no such rows.
        InvalidArgument: as `read`.
    """
    source = open_parquet(content, context.limits)
    rows = open_rows(source)
    match locator:
        case ByteSpan(start, end) if (start, end) == source.footer:
            return _names_line(rows.leaves)
        case RowSpan(first, last) if 1 <= first <= last <= source.rows:
            found = rows.batches(first=first, last=last)
            return "\n".join(line for _, values in found for line in lines_of(values).to_pylist())
    raise LocatorNotFound(f"the file has rows 1 to {source.rows}", metadata={"rows": str(source.rows)})


def _dataset(name: str, rows: ParquetRows, gathered: Gathered) -> Dataset:
    names, clarifications = name_columns([leaf.name for leaf in rows.leaves], 0)
    held = [
        hold_column(names[number], leaf, gathered.columns[number], exact=gathered.exact[number])
        for number, leaf in enumerate(rows.leaves)
    ]
    stored = [column for number, column in enumerate(held) if number not in rows.unread]
    return Dataset(
        id=_DATASET_ID,
        name=name,
        columns=tuple(
            column.column if number not in rows.unread else _not_stored(column, leaf)
            for number, (column, leaf) in enumerate(zip(held, rows.leaves, strict=True))
        ),
        rows=table_of(stored, pa.chunked_array(gathered.places, pa.string())),
        locator=RowSpan(1, max(rows.source.rows, 1)),
        header_rows=0,
        rejected_count=gathered.rejected_count,
        rejected_rows=tuple(gathered.rejected),
        clarifications=tuple(clarifications),
        complete=not rows.unread and not gathered.rejected_count and all(gathered.exact),
    )


def _not_stored(held: HeldColumn, leaf: Leaf) -> Column:
    return Column(held.column.name, ColumnType.STRING, leaf.name, stored=False)


def _names_line(leaves: Sequence[Leaf]) -> str:
    return "\t".join(" ".join(leaf.name.split()) for leaf in leaves)


def _warn(rows: ParquetRows, gathered: Gathered, warnings: WarningList) -> None:
    stated = rows.source.metadata.num_rows
    if stated != rows.source.rows:
        warnings.add("REPAIRED", f"The footer states {stated} rows; the row groups hold {rows.source.rows}, and all were read.")
    for number in sorted(rows.unread):
        leaf = rows.leaves[number]
        warnings.add("BINARY_COLUMN", f"Column {leaf.name[:200]} holds bytes that are no text ({leaf.kind}); they were not read.")
    if gathered.told < rows.source.rows:
        place = RowSpan(gathered.told + 1, rows.source.rows)
        warnings.add("CONTENT_TRUNCATED", "The rows from here on stand in the dataset alone; their text passes the limit.", place)


def _properties(source: ParquetSource) -> dict[str, str]:
    return {"created_by": source.created_by[:200], "row_groups": str(source.metadata.num_row_groups)}
