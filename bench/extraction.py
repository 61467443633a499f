"""Reading files beside the libraries that read them, called directly, and the pool beside the plain function."""

from __future__ import annotations

import asyncio
import csv
import io
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pymupdf

from artifact.codec import pack, parts
from bench.corpus import files
from bench.timing import Line
from bench.workbook import large_workbook
from extractor_svc.child import ChildSettings
from extractor_svc.context import DEFAULT_OPTIONS, Options
from extractor_svc.errors import PasswordRequired
from extractor_svc.extract import extract
from extractor_svc.frames import Progress, Request
from extractor_svc.limits import MIB, Limits
from extractor_svc.pool import ExtractorPool, Job, PoolSettings
from extractor_svc.spool import DocumentSpool, PartSpool
from services.errors import LoomError

ROUNDS = 3
ROWS = 300_000
SHEET_ROWS, SHEET_COLUMNS = 50_000, 20
LIMITS = Limits(max_bytes=1024 * MIB, max_rows=2_000_000, max_cells=20_000_000, memory_bytes=8192 * MIB)


def run() -> Iterator[Line]:
    """Measures every format; those that need the corpus are left out where it is absent."""
    with tempfile.TemporaryDirectory() as folder:
        large = Path(folder)
        yield from _pdf()
        yield from _office()
        yield from _workbook(large)
        yield from _rows(large)
        yield from _pool()


def _timed(
    calls: Mapping[str, Callable[[], object]], *, rounds: int = ROUNDS, clock: Callable[[], float] = time.process_time
) -> dict[str, float]:
    """Seconds of each call, the best of some rounds in turn; the first call of each warms up.

    Processor time by default: on a shared machine it tells more than the time that passed, where one thread does the work.
    """
    for call in calls.values():
        call()
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            began = clock()
            call()
            times[name].append(clock() - began)
    return {name: min(found) for name, found in times.items()}


def _pdf() -> Iterable[Line]:
    """Text pages, tables and all, beside `get_text("dict")` alone."""
    contents = [content for path in files("pdf", ".pdf") if (content := path.read_bytes()) and _pages_with_text(content)]
    if not contents:
        return
    pages = sum(_pages_with_text(content) for content in contents)
    taken = _timed({"loom": lambda: _read_all(contents, ".pdf"), "raw": lambda: [_raw_text(content) for content in contents]})
    yield Line(
        f"PDF, {pages} pages of text",
        f"{pages / taken['loom']:.0f} pages/s",
        f"MuPDF's dictionary of the page: {pages / taken['raw']:.0f} pages/s",
        taken["raw"] / taken["loom"],
        "≥ 0.5",
    )


def _pages_with_text(content: bytes) -> int:
    """Pages of a readable PDF of which every one has text; 0 for others."""
    try:
        with pymupdf.open(stream=content, filetype="pdf") as document:
            if document.needs_pass:
                return 0
            texts = [page.get_text() for page in document]
    except (RuntimeError, ValueError):
        return 0
    return len(texts) if all(text.strip() for text in texts) else 0


def _raw_text(content: bytes) -> int:
    """Reads every page as MuPDF gives it; the number of pages."""
    with pymupdf.open(stream=content, filetype="pdf") as document:
        return sum(bool(page.get_text("dict")) for page in document)


def _read_all(contents: Iterable[bytes], suffix: str) -> None:
    for content in contents:
        _read(content, f"file{suffix}")


def _read(content: bytes, filename: str) -> object:
    return extract(content, filename=filename, limits=LIMITS, options=Options(ocr=False))  # what stands beside it reads no pixels


def _office() -> Iterable[Line]:
    """Small files in a warm process, beside the usual library opening them."""
    from docx import Document
    from openpyxl import load_workbook
    from pptx import Presentation

    kinds: tuple[tuple[str, Callable[[io.BytesIO], Any], str], ...] = (
        ("docx", Document, "python-docx opens it"),
        ("pptx", Presentation, "python-pptx opens it"),
        ("xlsx", load_workbook, "openpyxl loads it"),
    )
    for kind, opener, what in kinds:
        name = f"x.{kind}"
        contents = [content for path in files(kind, f".{kind}") if _opens(content := path.read_bytes(), name, opener)]
        if not contents:
            continue
        ours = [_timed({"one": partial(_read, content, name)})["one"] for content in contents]
        theirs = [_timed({"one": partial(_open, opener, content)})["one"] for content in contents]
        mine, other = statistics.median(ours) * 1000, statistics.median(theirs) * 1000
        what = f"{what}: {other:.1f} ms"
        yield Line(f"{kind.upper()}, {len(contents)} small files, median", f"{mine:.1f} ms", what, mine / other, "≤ 5 ms")


def _open(opener: Callable[[io.BytesIO], Any], content: bytes) -> object:
    return opener(io.BytesIO(content))


def _opens(content: bytes, filename: str, opener: Callable[[io.BytesIO], Any]) -> bool:
    try:
        _read(content, filename)
    except (LoomError, PasswordRequired):
        return False
    try:
        _open(opener, content)
    except Exception:  # whatever the other library cannot open is not compared
        return False
    return True


def _workbook(folder: Path) -> Iterable[Line]:
    from python_calamine import CalamineWorkbook

    path = folder / "large.xlsx"
    path.write_bytes(large_workbook(SHEET_ROWS, SHEET_COLUMNS))
    content, cells = path.read_bytes(), SHEET_ROWS * SHEET_COLUMNS

    def calamine() -> None:
        CalamineWorkbook.from_filelike(io.BytesIO(content)).get_sheet_by_index(0).to_python()

    taken = _timed({"loom": lambda: _read(content, "large.xlsx"), "raw": calamine}, rounds=1)
    yield Line(
        f"XLSX, {cells:,} cells with types, formats and formulas",
        f"{cells / taken['loom'] / 1000:.0f}k cells/s",
        f"calamine, values only: {cells / taken['raw'] / 1000:.0f}k cells/s",
        taken["loom"] / taken["raw"],
        "≤ 2",
    )


def _rows(folder: Path) -> Iterable[Line]:
    """A table of eight columns as CSV and as Parquet, beside DuckDB reading the same file into Arrow."""
    table = _table()
    parquet, text = folder / "rows.parquet", folder / "rows.csv"
    pq.write_table(table, parquet)
    with text.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table.column_names)
        writer.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))
    for path, function in ((text, "read_csv"), (parquet, "read_parquet")):
        content = path.read_bytes()
        calls = {"loom": partial(_read, content, path.name), "raw": partial(_with_duckdb, function, path)}
        taken = _timed(calls, rounds=1, clock=time.perf_counter)
        yield Line(
            f"{path.suffix[1:].upper()}, {ROWS:,} rows of eight columns",
            f"{ROWS / taken['loom'] / 1000:.0f}k rows/s",
            f"DuckDB: {ROWS / taken['raw'] / 1000:.0f}k rows/s",
            taken["loom"] / taken["raw"],
            "",
        )


def _with_duckdb(function: str, path: Path) -> object:
    return duckdb.connect().execute(f"SELECT * FROM {function}(?)", [str(path)]).to_arrow_table()


def _table() -> pa.Table:
    chance = random.Random(7)
    return pa.table(
        {
            "order": range(ROWS),
            "code": [f"{n % 9973:06d}" for n in range(ROWS)],
            "name": [f"customer {n % 5000}" for n in range(ROWS)],
            "amount": [f"{chance.randrange(1_000_000) / 100:.2f}" for _ in range(ROWS)],
            "day": [f"20{20 + n % 10}-{1 + n % 12:02d}-{1 + n % 28:02d}" for n in range(ROWS)],
            "paid": [n % 3 == 0 for n in range(ROWS)],
            "note": ["" if n % 4 else f"note, with a comma {n}" for n in range(ROWS)],
            "ratio": [chance.random() for _ in range(ROWS)],
        }
    )


def _pool() -> Iterable[Line]:
    """Every small office file through one child of the pool, beside the function called in this process."""
    paths = [path for kind in ("docx", "pptx", "xlsx", "markdown") for path in files(kind, f".{kind}", ".md")]
    contents = [(path.name, content) for path in paths if _reads(content := path.read_bytes(), path.name)]
    if not contents:
        return
    pooled, plain = asyncio.run(_through_pool(contents))
    yield Line(
        f"{len(contents)} small files through one child",
        f"{pooled * 1000 / len(contents):.1f} ms each",
        f"the function called in place, the artifact packed alike: {plain * 1000 / len(contents):.1f} ms each",
        pooled / plain,
        "≤ 1.2",
    )


def _reads(content: bytes, filename: str) -> bool:
    try:
        _read(content, filename)
    except LoomError:
        return False
    return True


async def _through_pool(contents: list[tuple[str, bytes]]) -> tuple[float, float]:
    """Seconds for all files, through the pool and in place, the best of some rounds in turn."""
    pool = ExtractorPool(PoolSettings(ChildSettings(LIMITS), workers=1, spares=0))
    await pool.start()
    pooled, plain = [], []
    try:
        for _ in range(ROUNDS + 1):
            began = time.perf_counter()
            for name, content in contents:
                await _pooled(pool, name, content)
            pooled.append(time.perf_counter() - began)
            began = time.perf_counter()
            for name, content in contents:
                _packed(content, name)
            plain.append(time.perf_counter() - began)
    finally:
        await pool.close()
    return min(pooled[1:]), min(plain[1:])


def _packed(content: bytes, name: str) -> int:
    """Reads a file and packs its artifact, as a child does to send it; the bytes that makes."""
    return sum(len(pack(part)) for part in parts(extract(content, filename=name, limits=LIMITS, options=DEFAULT_OPTIONS)))


async def _pooled(pool: ExtractorPool, name: str, content: bytes) -> None:
    folder = Path(tempfile.gettempdir())
    with PartSpool(folder) as sink, DocumentSpool(folder) as document:
        await document.write(content)
        await pool.run(Job(document, Request(name, "", DEFAULT_OPTIONS), sink, _ignore))


def _ignore(_: str, __: Progress) -> None:
    """Has nobody to tell."""
