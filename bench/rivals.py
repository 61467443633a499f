"""Loom beside two other extraction tools on the same files: words kept, words invented, tables, headings, time.

The counts are those of the shared folder's own tools, which know nothing of any of the three.
"""

from __future__ import annotations

import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from bench.corpus import CORPUS, files, tool
from extractor_svc.context import Options
from extractor_svc.extract import extract
from extractor_svc.render import to_json

Read: TypeAlias = Callable[[Path], dict[str, Any]]
"""Reads a file into `blocks`, as `loom extract` writes them."""

FORMATS = {"pdf": (".pdf",), "docx": (".docx",), "pptx": (".pptx",), "xlsx": (".xlsx",), "html": (".html", ".htm")}
_ROW = re.compile(r"^\s*\|(.*)\|\s*$")
_RULE = re.compile(r"^[\s|:-]+$")
_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")


@dataclass(frozen=True, slots=True)
class Score:
    """What a tool did with the files of one format; shares are of 1, times milliseconds."""

    files: int
    read: int
    recall: float
    invented: float
    median_ms: float


def run() -> str:
    """The two tables, as Markdown; a line that says so where the corpus is absent."""
    if not CORPUS.is_dir():
        return "The corpus is not here: nothing to compare."
    readers = _readers()
    words = ["| format | tool | files read | word recall | words invented | median a file |", "|---|---|---|---|---|---|"]
    for kind, suffixes in FORMATS.items():
        paths = _counted(files(kind, *suffixes))
        for name, read in readers.items():
            score = _score(read, paths)
            invented = "" if kind == "xlsx" else f"{score.invented:.2%}"  # the count knows the texts of a workbook, not its numbers
            done = f"{score.read} of {score.files}"
            words.append(f"| {kind} | {name} | {done} | {score.recall:.4f} | {invented} | {score.median_ms:.1f} ms |")
    return "\n".join([*words, "", *_structure(readers)])


def _readers() -> dict[str, Read]:
    import kreuzberg
    from markitdown import MarkItDown

    converter = MarkItDown(enable_plugins=False)
    settings = kreuzberg.ExtractionConfig(output_format="markdown", use_cache=False)
    return {
        "Loom": lambda path: dict(to_json(extract(path.read_bytes(), filename=path.name, options=Options(ocr=False)))),
        "kreuzberg": lambda path: {"blocks": [*_blocks(kreuzberg.extract_file_sync(str(path), config=settings).content)]},
        "markitdown": lambda path: {"blocks": [*_blocks(converter.convert(str(path)).text_content)]},
    }


def _counted(paths: list[Path]) -> list[Path]:
    """The files that the independent count can read and finds words in."""
    account = tool("account")
    return [path for path in paths if _source_words(account, path)]


def _source_words(account: Any, path: Path) -> dict[str, Counter[str]]:
    try:
        return dict(account.source_words(path))
    except Exception:  # an oracle that cannot read a file has no say on it
        return {}


def _score(read: Read, paths: list[Path]) -> Score:
    account = tool("account")
    kept = shown = invented = done = 0
    times = []
    for path in paths:
        source = _source_words(account, path)
        live: Counter[str] = sum((counted for kind, counted in source.items() if kind != "deleted"), Counter())
        shown += live.total()
        began = time.perf_counter()
        try:
            artifact = read(path)
        except Exception:  # a tool that cannot read a file has kept none of its words
            continue
        times.append((time.perf_counter() - began) * 1000)
        done += 1
        produced: Counter[str] = sum((account.words(block["text"]) for block in artifact["blocks"]), Counter())
        kept += (live & produced).total()
        invented += (produced - live).total()
    return Score(len(paths), done, kept / (shown or 1), invented / (shown or 1), statistics.median(times) if times else 0.0)


def _structure(readers: dict[str, Read]) -> Iterator[str]:
    truth = tool("truth")
    yield "| tool | tables, adjacency F1 (ICDAR 2013) | headings F1 (expected Markdown) | order (expected Markdown) |"
    yield "|---|---|---|---|"
    tables = [(path, path.with_name(f"{path.stem}-str.xml")) for path in files("pdf/icdar2013-eu", ".pdf")]
    pages = [
        (path, expected)
        for kind in ("pdf", "docx", "pptx", "html")
        for path in files(f"{kind}/docling", f".{kind}")
        for expected in (path.with_name(f"{path.name}.md"), path.with_suffix(".md"))
        if expected.is_file()
    ]
    for name, read in readers.items():
        grids = [truth.tables(artifact, right)["adjacency"]["f1"] for artifact, right in _read_all(read, tables)]
        read_pages = [*_read_all(read, pages)]
        headings = [truth.headings(artifact, right)["texts"]["f1"] for artifact, right in read_pages]
        order = [truth.order(artifact, right)["order"] for artifact, right in read_pages]
        yield f"| {name} | {_mean(grids, tables):.3f} | {_mean(headings, pages):.3f} | {_mean(order, pages):.3f} |"


def _read_all(read: Read, pairs: list[tuple[Path, Path]]) -> Iterator[tuple[dict[str, Any], Path]]:
    for path, right in pairs:
        if not right.is_file():
            continue
        try:
            yield read(path), right
        except Exception:  # what a tool cannot read scores nothing
            continue


def _mean(found: list[float], pairs: list[tuple[Path, Path]]) -> float:
    """The mean over all files; one that was not read counts as 0."""
    return sum(found) / max(1, sum(right.is_file() for _, right in pairs))


def _blocks(text: str) -> Iterator[dict[str, Any]]:
    """Markdown as blocks: headings with levels, pipe tables with cells, everything else line by line."""
    table: list[list[str]] = []
    for line in [*text.splitlines(), ""]:
        row = _ROW.match(line)
        if row:
            if not _RULE.match(line):
                table.append([cell.strip() for cell in row[1].split("|")])
            continue
        if table:
            yield _table(table)
            table = []
        heading = _HEADING.match(line)
        if heading:
            yield {"type": "heading", "level": len(heading[1]), "text": heading[2]}
        elif line.strip():
            yield {"type": "paragraph", "text": line}


def _table(rows: list[list[str]]) -> dict[str, Any]:
    cells = [
        {"row": r, "column": c, "row_span": 1, "column_span": 1, "text": text}
        for r, row in enumerate(rows)
        for c, text in enumerate(row)
    ]
    return {"type": "table", "text": "\n".join("\t".join(row) for row in rows), "cells": cells}
