"""The corpus through both services: every file ends ready, partial with its losses told, or failed with a code, and is found."""

from __future__ import annotations

import importlib.util
import re
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest
from loom.knowledge.v1 import ingest_pb2

from clients import KnowledgeClient
from clients.requests.ingest import IngestOptions
from clients.results.ingest import Ingestion
from tests.conftest import SHARED, RunningLoom

CORPUS = SHARED / "corpus"
SMALL = 30_000
CODES = {name.removeprefix("INGESTION_ERROR_CODE_").lower() for name, _ in ingest_pb2.IngestionErrorCode.items()}
DEFECTS = {"internal", "invalid_artifact", "retries_exhausted", "unspecified"}
PASSWORDS = {"protected_passtika.xlsx": "tika"}
NOT_FILES_TO_READ = {"MANIFEST.tsv", "README.md"}
NOT_SHOWN = re.compile(r"^\s*(```|~~~).*$|\]\(.*?\)|^\[.*?\]:.*$|<.*?>", re.MULTILINE)
"""What Markdown does not show: languages of fences, targets of links, tags."""
NOT_FORMATS = {".jsonl", ".json", ".xml", ".tsv"}
"""What stands in the corpus as answers for its neighbours."""


def all_files() -> list[Path]:
    found = [path for path in sorted(CORPUS.rglob("*")) if path.is_file() and path.name not in NOT_FILES_TO_READ]
    return [path for path in found if path.suffix not in NOT_FORMATS and "retrieval" not in path.parts]


def sample() -> list[Path]:
    """The smallest files of each folder, and a few hostile ones of each kind."""
    folders: dict[Path, list[Path]] = {}
    for path in all_files():
        if 0 < path.stat().st_size < SMALL:
            folders.setdefault(path.parent, []).append(path)
    return [path for found in folders.values() for path in sorted(found, key=lambda one: (one.stat().st_size, one))[1:4:2]]


def account() -> ModuleType:
    """The independent count of words."""
    spec = importlib.util.spec_from_file_location("account", SHARED / "tools" / "account.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rare_words(counter: ModuleType, path: Path) -> list[str]:
    """Words that the file shows once, by the independent count, the longest first; none where it does not read the file."""
    try:
        source = counter.source_words(path)
    except Exception:  # an oracle that cannot read a file has no say on it
        return []
    if path.suffix == ".md":
        source = {"body": counter.words(NOT_SHOWN.sub("", path.read_text("utf-8")))}
    shown: Counter[str] = sum((words for kind, words in source.items() if kind in ("body", "cell")), Counter())
    once = [word for word, count in shown.items() if count == 1 and word.isascii() and word.isalpha() and 5 < len(word) < 20]
    return sorted(once, key=lambda word: (-len(word), word))[:3]


def ingest_all(loom: RunningLoom, paths: list[Path], *, namespace: str) -> Iterator[tuple[Path, Ingestion]]:
    with KnowledgeClient(loom.knowledge, namespace=namespace) as client, ThreadPoolExecutor(4) as pool:

        def one(path: Path) -> Ingestion:
            uri = f"corpus:{path.relative_to(CORPUS)}"
            options = IngestOptions(password=PASSWORDS.get(path.name, ""))
            return client.ingest_file(path, source_uri=uri, allow_partial=True, options=options, timeout_s=600)

        yield from zip(paths, pool.map(one, paths), strict=True)


def check(loom: RunningLoom, paths: list[Path], *, namespace: str) -> Counter[str]:
    """Ingests files, holds each to its outcome, and looks for what they say; counts the outcomes."""
    if not paths:
        pytest.skip("the shared corpus is not here")
    counter, outcomes, misses = account(), Counter[str](), []
    with KnowledgeClient(loom.knowledge, namespace=namespace) as client:
        for path, job in ingest_all(loom, paths, namespace=namespace):
            name = str(path.relative_to(CORPUS))
            outcomes[job.state] += 1
            if job.state == "failed":
                assert job.error_code in CODES - DEFECTS, (name, job.error_code, job.error_message)
                assert job.error_message, name
                continue
            assert job.coverage is not None
            assert (job.state == "partial") == (not job.coverage.complete), name
            document = client.get(f"corpus:{name}")
            assert document.revision == job.revision == 1
            for word in rare_words(counter, path):
                hits = client.search(word, mode="lexical", top_k=5, uri_prefixes=[document.source_uri]).hits
                if not any(word in hit.content.casefold() for hit in hits) and job.state == "ready":
                    misses.append((name, word))
    assert misses == []
    return outcomes


@pytest.mark.timeout(600)
def test_files_of_every_kind_are_ingested_and_found(running_loom):
    outcomes = check(running_loom, sample(), namespace="corpus-sample")
    assert outcomes["ready"] > outcomes["failed"]


@pytest.mark.corpus
def test_the_whole_corpus_is_ingested_and_found(running_loom):
    outcomes = check(running_loom, all_files(), namespace="corpus")
    print(outcomes.most_common())
    assert outcomes["ready"] > outcomes["failed"]
