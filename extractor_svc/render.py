"""An artifact as JSON, as Markdown and as plain text, for people and programs on a command line."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from decimal import Decimal
from typing import Final, TypeAlias

from artifact.locators import Locator, describe, kind_of
from artifact.model import ROW_ID, ROW_LOCATOR, Artifact, Block, BlockType, Cell, Column, Dataset, Visibility

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"

_FENCE: Final = "```"
_PREFIXES: Final = {BlockType.QUOTE: "> ", BlockType.FOOTNOTE: "[note] ", BlockType.ENDNOTE: "[note] ", BlockType.COMMENT: "> "}


def to_json(artifact: Artifact) -> dict[str, Json]:
    """The whole artifact as values that JSON has.

    A table's words stand once, in its block's `text` and, cell by cell, in `cells`, as the source shows them. Its dataset says
    what they mean: a `schema` of columns, whose names repeat what headers share, and `records` of typed values, which repeat
    what spans cover and write 1234 for `1,234`; neither is text of the source. Numbers of records are strings, so that their
    digits stay exact; dates and times are ISO 8601, time spans seconds.
    """
    return {
        "format": artifact.format,
        "parser": artifact.parser,
        "sha256": artifact.sha256,
        "size_bytes": artifact.size_bytes,
        "title": artifact.title,
        "encoding": artifact.encoding,
        "properties": dict(artifact.properties),
        "coverage": _coverage(artifact),
        "warnings": [
            {"code": warning.code, "message": warning.message, "locator": _locator(warning.locator)}
            for warning in artifact.warnings
        ],
        "blocks": [_block(block) for block in artifact.blocks],
        "links": [{"text": link.text, "target": link.target, "locator": _locator(link.locator)} for link in artifact.links],
        "datasets": [_dataset(dataset) for dataset in artifact.datasets],
    }


def to_text(artifact: Artifact) -> str:
    """The text of all blocks in order, parted by empty lines; hidden and deleted text is left out."""
    return "\n\n".join(block.text for block in _shown(artifact)) + "\n"


def to_markdown(artifact: Artifact) -> str:
    """The blocks as Markdown: headings as `#`, tables as pipe tables, code fenced; hidden and deleted text is left out."""
    return "\n\n".join(_markdown(block) for block in _shown(artifact)) + "\n"


def _coverage(artifact: Artifact) -> dict[str, Json]:
    coverage = artifact.coverage
    return {
        "unit": coverage.unit,
        "total": coverage.total,
        "extracted": coverage.extracted,
        "failed": [{"unit": unit.unit, "reason": unit.reason, "locator": _locator(unit.locator)} for unit in coverage.failed],
        "lost": list(coverage.lost),
        "words_emitted": coverage.words_emitted,
        "words_excluded": [{"reason": count.reason, "words": count.words} for count in coverage.words_excluded],
        "words_unread": [{"reason": count.reason, "words": count.words} for count in coverage.words_unread],
        "complete": coverage.complete,
    }


def _locator(locator: Locator | None) -> Json:
    return None if locator is None else {kind_of(locator): asdict(locator)}


def _block(block: Block) -> dict[str, Json]:
    return {
        "id": block.id,
        "type": block.type.value,
        "text": block.text,
        "level": block.level,
        "section_path": list(block.section_path),
        "locator": _locator(block.locator),
        "place": describe(block.locator),
        "defines": list(block.defines),
        "reads": list(block.reads),
        "dataset_id": block.dataset_id,
        "cells": [_cell(cell) for cell in block.cells],
        "language": block.language,
        "ocr": block.ocr,
        "visibility": block.visibility.value,
    }


def _cell(cell: Cell) -> dict[str, Json]:
    return dict(asdict(cell))


def _dataset(dataset: Dataset) -> dict[str, Json]:
    return {
        "id": dataset.id,
        "name": dataset.name,
        "locator": _locator(dataset.locator),
        "place": describe(dataset.locator),
        "header_rows": dataset.header_rows,
        "schema": [_column(column) for column in dataset.columns],
        "records": [*_records(dataset)],
        "row_count": dataset.rows.num_rows,
        "rejected_count": dataset.rejected_count,
        "rejected_rows": [
            {"locator": _locator(row.locator), "values": list(row.values), "reason": row.reason} for row in dataset.rejected_rows
        ],
        "clarifications": [asdict(asked) for asked in dataset.clarifications],
        "formulas": [asdict(formula) for formula in dataset.formulas],
        "complete": dataset.complete,
    }


def _column(column: Column) -> dict[str, Json]:
    return {
        "name": column.name,
        "type": column.type.value,
        "source_header": column.source_header,
        "inferred": [{"type": count.type.value, "values": count.values} for count in column.inferred],
        "number_format": column.number_format,
        "unit": column.unit,
        "precision": column.precision,
        "scale": column.scale,
        "nullable": column.nullable,
        "stored": column.stored,
    }


def _records(dataset: Dataset) -> Iterator[dict[str, Json]]:
    names = [name for name in dataset.rows.column_names if name not in (ROW_ID, ROW_LOCATOR)]
    for batch in dataset.rows.select([ROW_ID, ROW_LOCATOR, *names]).to_batches():
        for row_id, place, *values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield {"row_id": row_id, "locator": json.loads(place), "values": [_value(value) for value in values]}


def _value(value: object) -> Json:
    match value:
        case None | bool() | str():
            return value
        case Decimal():
            return f"{value:f}"
        case dt.timedelta():
            return f"{Decimal(value // dt.timedelta(microseconds=1)).scaleb(-6).normalize():f}"
        case dt.datetime() | dt.date() | dt.time():
            return value.isoformat()
        case int() | float():
            return repr(value)
    raise TypeError(f"no dataset holds a {type(value).__name__}")


def _shown(artifact: Artifact) -> list[Block]:
    return [block for block in artifact.blocks if block.visibility in (Visibility.VISIBLE, Visibility.INSERTED)]


def _markdown(block: Block) -> str:
    if block.type is BlockType.HEADING:
        return "#" * min(max(block.level, 1), 6) + " " + " ".join(block.text.split())
    if block.type in (BlockType.TABLE, BlockType.TABLE_ROWS) and block.cells:
        return _pipe_table(block)
    if block.type in (BlockType.CODE, BlockType.SQL_STATEMENT):
        fence = max([_FENCE, *(run + "`" for run in re.findall(r"`{3,}", block.text))], key=len)
        return f"{fence}{block.language}\n{block.text}\n{fence}"
    if block.type is BlockType.LIST_ITEM:
        marker = "" if re.match(r"\d+[.)] ", block.text) else "- "
        indent = "  " * max(block.level - 1, 0)
        return indent + marker + block.text.replace("\n", "\n" + indent + "  ")
    prefix = _PREFIXES.get(block.type, "")
    return prefix + block.text.replace("\n", "\n" + prefix) if prefix else block.text


def _pipe_table(block: Block) -> str:
    """A table's rows that have a cell, the first as header; a cell stands where its span begins."""
    rows: dict[int, dict[int, str]] = {}
    for cell in block.cells:
        rows.setdefault(cell.row, {})[cell.column] = " ".join(cell.text.split()).replace("|", "\\|")
    width = max(cell.column + cell.column_span for cell in block.cells)
    lines = ["| " + " | ".join(rows[row].get(column, "") for column in range(width)) + " |" for row in sorted(rows)]
    return "\n".join([lines[0], "|" + " --- |" * width, *lines[1:]])
