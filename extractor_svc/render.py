"""An artifact as JSON, as Markdown and as plain text, for people and programs on a command line."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from decimal import Decimal
from typing import Final, TypeAlias

from artifact.locators import Locator, describe, kind_of
from artifact.model import ROW_ID, ROW_LOCATOR, Artifact, Block, BlockType, Cell, Dataset, Visibility
from extractor_svc.blocks import words_of

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"

_FENCE: Final = "```"
_PREFIXES: Final = {BlockType.QUOTE: "> ", BlockType.FOOTNOTE: "[note] ", BlockType.ENDNOTE: "[note] ", BlockType.COMMENT: "> "}


def to_json(artifact: Artifact) -> dict[str, Json]:
    """The whole artifact as values that JSON has.

    Numbers of datasets are strings, so that their digits stay exact; dates and times are ISO 8601, time spans seconds. A
    table that is a dataset is written once: its words stand in `datasets`, its grid in `cells`, and its block's `text` has only
    what the dataset does not write as it is displayed, such as rejected rows, `7.5%` for 0.075 or `1,234` for 1234.
    """
    written = _Written(artifact)
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
        "blocks": [_block(block, written.text_besides(block)) for block in artifact.blocks],
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


def _block(block: Block, text: str) -> dict[str, Json]:
    return {
        "id": block.id,
        "type": block.type.value,
        "text": text,
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


class _Written:
    """The words that each dataset writes, and which of a table's words are still to be written beside it."""

    def __init__(self, artifact: Artifact) -> None:
        self._left = {dataset.id: _words_written(dataset) for dataset in artifact.datasets}

    def text_besides(self, block: Block) -> str:
        """A block's text; of a table's, the cells whose words its dataset does not write, such as those of rejected rows."""
        left = self._left.get(block.dataset_id)
        if left is None:
            return block.text
        rows = ([cell for cell in line.split("\t") if not _take(left, cell)] for line in block.text.split("\n"))
        return "\n".join("\t".join(cells) for cells in rows if any(cells))


def _words_written(dataset: Dataset) -> Counter[str]:
    words = _folded("\n".join(column.name for column in dataset.columns))
    for row in _rows(dataset):
        words.update(_folded("\n".join(str(value) for value in row if value is not None)))
    return words


def _folded(text: str) -> Counter[str]:
    return words_of(text.casefold())


def _take(left: Counter[str], text: str) -> bool:
    """Takes a text's words out of those that are left; False, and takes none, where one of them is missing."""
    wanted = _folded(text)
    if any(left[word] < count for word, count in wanted.items()):
        return False
    left.subtract(wanted)
    return True


def _dataset(dataset: Dataset) -> dict[str, Json]:
    return {
        "id": dataset.id,
        "name": dataset.name,
        "locator": _locator(dataset.locator),
        "place": describe(dataset.locator),
        "header_rows": dataset.header_rows,
        "columns": [_column(dataset, i) for i in range(len(dataset.columns))],
        "rows": [*_rows(dataset)],
        "row_locators": dataset.rows.column(ROW_LOCATOR).to_pylist(),
        "row_count": dataset.rows.num_rows,
        "rejected_count": dataset.rejected_count,
        "rejected_rows": [
            {"locator": _locator(row.locator), "values": list(row.values), "reason": row.reason} for row in dataset.rejected_rows
        ],
        "clarifications": [asdict(asked) for asked in dataset.clarifications],
        "formulas": [asdict(formula) for formula in dataset.formulas],
        "complete": dataset.complete,
    }


def _column(dataset: Dataset, index: int) -> dict[str, Json]:
    column = dataset.columns[index]
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


def _rows(dataset: Dataset) -> Iterator[list[Json]]:
    names = [name for name in dataset.rows.column_names if name not in (ROW_ID, ROW_LOCATOR)]
    for batch in dataset.rows.select(names).to_batches():
        for values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield [_value(value) for value in values]


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
