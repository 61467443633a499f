"""Pipe tables: their cells as written, and a typed dataset of what the cells show."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from markdown_it import MarkdownIt

from artifact.locators import LineSpan
from artifact.model import Cell, Dataset
from extractor_svc.formats.markdown_html import shown_html
from extractor_svc.limits import Limits
from extractor_svc.tabular import TableRow, build_dataset, column_values_of_text, decimal_mark_of

_FEWEST: Final = 2
_UNESCAPED_BAR: Final = re.compile(r"(?<!\\)\|")
_INLINE_SIGNS: Final = re.compile(r"[*_`~\[\]<>&\\!]")


def cells_of(row: str) -> list[str]:
    """The cells of a pipe table's row, those past the header's columns too, which a rendering drops."""
    inner = row.strip().removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [cell.strip().replace("\\|", "|") for cell in _UNESCAPED_BAR.split(inner)]


def holds_data(cells: Sequence[Cell]) -> bool:
    """Whether a table, whose first row is its header, has names over two columns or more, perhaps but the first, and values.

    A row that is longer than the header has a cell without a column: such a table is text alone.
    """
    names = [cell.text for cell in cells if cell.row == 0]
    body = [cell for cell in cells if cell.row > 0]
    fits = all(cell.column < len(names) for cell in body)
    return len(names) >= _FEWEST and all(names[1:]) and fits and any(cell.text for cell in body)


@cache
def _inline_parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("strikethrough")


class DatasetMaker:
    """Makes datasets of a document's tables; `references` are the targets of its links by name, as the parser knows them."""

    def __init__(self, references: Mapping[str, object], limits: Limits) -> None:
        self._inline = _inline_parser()
        self._references = references
        self._limits = limits

    def dataset_of(self, cells: Sequence[Cell], row_lines: Sequence[int], *, number: int, locator: LineSpan) -> Dataset:
        """The typed dataset of a table that holds data; `row_lines` are the lines of its rows, from 0."""
        width = sum(cell.row == 0 for cell in cells)
        grid = [[""] * width for _ in row_lines]
        for cell in cells:
            grid[cell.row][cell.column] = self._shown(cell.text)
        header, body = grid[0], grid[1:]
        mark = decimal_mark_of([text for row in body for text in row])
        columns = [column_values_of_text(texts, decimal_mark=mark) for texts in zip(*body, strict=True)]
        rows = (
            TableRow(LineSpan(line + 1, line + 1), values)
            for line, values in zip(row_lines[1:], zip(*columns, strict=True), strict=True)
            if any(value.text.strip() for value in values)
        )
        return build_dataset(
            dataset_id=f"table-{number}",
            name=f"Table {number}",
            header=header,
            rows=rows,
            locator=locator,
            header_rows=1,
            limits=self._limits,
        )

    def _shown(self, text: str) -> str:
        """What a rendering shows of inline Markdown."""
        if not _INLINE_SIGNS.search(text):
            return text
        (inline,) = self._inline.parseInline(text, {"references": self._references})
        shown = [
            " " if token.type in {"softbreak", "hardbreak"} else token.content
            for token in inline.children or []
            if token.type in {"text", "text_special", "code_inline", "image", "softbreak", "hardbreak", "html_inline"}
        ]
        plain = "".join(shown)
        has_tags = any(token.type == "html_inline" for token in inline.children or [])
        return " ".join(" ".join(shown_html([plain]).lines).split()) if has_tags else " ".join(plain.split())
