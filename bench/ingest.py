"""Files through both services beside the embedding model called directly on the same chunks."""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from bench.house import text_of
from bench.timing import Line
from clients import KnowledgeClient
from clients.results.ingest import Ingestion
from knowledge_svc.domain.chunking import ChunkSettings, cut_text
from knowledge_svc.index.embedding import MiniLmEmbedder

FILES = 24
SECTIONS = 15
JOBS = 4
"""Files under way at once."""


def run() -> list[Line]:
    """Measures chunks a second from the first upload to the last document being searchable."""
    chance = random.Random(11)
    texts = [text_of(chance, SECTIONS) for _ in range(FILES)]
    with tempfile.TemporaryDirectory() as name, _services(Path(name)) as address, KnowledgeClient(address) as client:
        began = time.perf_counter()
        with ThreadPoolExecutor(JOBS) as pool:
            ends = list(pool.map(lambda number: _ingested(client, texts[number], f"file-{number}.md"), range(FILES)))
        took = time.perf_counter() - began
        assert {end.state for end in ends} == {"ready"}
        chunks = sum(end.chunks for end in ends)
        one = _one_page(client)
    raw = _raw(texts)
    measured = chunks / took
    return [
        Line(
            f"ingest, {chunks} chunks of Markdown",
            f"{measured:.1f} chunks/s",
            f"embedding alone: {raw:.1f} chunks/s",
            measured / raw,
            "≥ 0.85",
        ),
        Line("one page, upload to searchable", f"{one * 1000:.0f} ms", f"embedding one chunk: {1000 / raw:.0f} ms", one * raw, ""),
    ]


def _ingested(client: KnowledgeClient, text: str, name: str) -> Ingestion:
    """One file from its upload to its end, as `loom ingest` sends the files of a folder."""
    file = client.upload(text.encode(), name)
    return client.wait_for_ingest(client.ingest(file.upload_id, source_uri=f"doc:{name}").ingestion_id)


def _one_page(client: KnowledgeClient) -> float:
    """Seconds from the upload of a one-page file to its being searchable, the median of five."""
    times = []
    for number in range(5):
        text = text_of(random.Random(number), 1)
        began = time.perf_counter()
        _ingested(client, text, f"page-{number}.md")
        times.append(time.perf_counter() - began)
    return sorted(times)[2]


def _raw(texts: list[str]) -> float:
    """Chunks a second of the model alone, on as many sessions as the service uses."""
    embedder = MiniLmEmbedder(sessions=2)
    inputs = [
        chunk.embedding_input
        for number, text in enumerate(texts)
        for chunk in cut_text(text, title=f"file-{number}", description="", settings=ChunkSettings())[0]
    ]
    embedder.embed(inputs[:4])
    halves = [inputs[::2], inputs[1::2]]
    with ThreadPoolExecutor(2) as pool:
        began = time.perf_counter()
        list(pool.map(embedder.embed, halves))
        return len(inputs) / (time.perf_counter() - began)


@contextmanager
def _services(folder: Path) -> Iterator[str]:
    """Both services on free ports; the knowledge service's address."""
    quiet = ("--log-level", "error", "--listen", "127.0.0.1:0", "--drain", "0s")
    extractor = _start("extractor_svc", *quiet)
    knowledge = _start("knowledge_svc", *quiet, "--data-dir", str(folder), "--extractor", extractor[1])
    try:
        yield knowledge[1]
    finally:
        for process, _ in (knowledge, extractor):
            process.terminate()
            process.wait(60)


def _start(module: str, *arguments: str) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen([sys.executable, "-m", module, *arguments], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, process.stdout.readline().split()[-1]
