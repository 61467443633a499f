"""Files nobody here wrote, of every kind there is: each job ends well, with its losses told, or with the code of its fault."""

import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from clients import KnowledgeClient

EACH = 1
"""Files taken of each folder, the smallest first."""
LARGEST_BYTES = 200_000
FAULTS = {
    "corrupt", "encoding", "format_mismatch", "format_unavailable", "no_text", "resource_limit", "timeout", "too_large",
    "unsupported_format",
}  # fmt: skip
"""What a file may be refused for; everything else would be a fault of ours."""


@pytest.fixture
def folder(shared) -> Path:
    return shared("corpus")


@pytest.mark.timeout(300)
def test_every_kind_of_file_ends_and_is_found_where_it_was_read(running_loom, folder):
    names = few_of_each(folder)
    with KnowledgeClient(running_loom.knowledge, namespace="corpus-ingest") as client:
        ends = ingest_all(client, folder, names)
        faults = [fault for name in names if (fault := fault_of(client, folder, name, ends[name]))]
    assert faults == []
    assert len(names) > 30


@pytest.mark.corpus
@pytest.mark.timeout(7200)
def test_every_file_ends_and_is_found_where_it_was_read(running_loom, folder):
    names = [path for path, _ in listed(folder)]
    with KnowledgeClient(running_loom.knowledge, namespace="corpus-ingest") as client:
        ends = ingest_all(client, folder, names)
        faults = [fault for name in names if (fault := fault_of(client, folder, name, ends[name]))]
    print(Counter("refused" if job is None else job.error_code or job.state for job in ends.values()))
    assert faults == []


def few_of_each(folder: Path) -> list[str]:
    """The smallest files of each folder that the manifest names, but those that hold expected answers."""
    sizes: dict[str, list[tuple[int, str]]] = {}
    for path, size_bytes in listed(folder):
        if size_bytes <= LARGEST_BYTES:
            sizes.setdefault(path.rpartition("/")[0], []).append((size_bytes, path))
    return sorted(path for group in sizes.values() for _, path in sorted(group)[:EACH])


def listed(folder: Path) -> list[tuple[str, int]]:
    """The corpus by its manifest: paths and sizes, without expected answers."""
    rows = [line.split("\t") for line in (folder / "MANIFEST.tsv").read_text("utf-8").splitlines()[1:]]
    return [(row[0], int(row[2])) for row in rows if not row[7].startswith("expected:") and not row[0].startswith("retrieval/")]


def ingest_all(client: KnowledgeClient, folder: Path, names: list[str]) -> dict:
    """Every file's job, ended; a file that the upload itself refuses has None."""

    def run(name: str):
        content = (folder / name).read_bytes()
        if not content or Path(name).suffix.lower() in (".doc", ".xls", ".ppt"):
            return None
        stored = client.upload(content, Path(name).name)
        job = client.ingest(stored.upload_id, source_uri=f"corpus:{name}", allow_partial=True)
        return client.wait_for_ingest(job.ingestion_id, timeout_s=250)

    with ThreadPoolExecutor(3) as pool:
        return dict(zip(names, pool.map(run, names), strict=True))


def fault_of(client: KnowledgeClient, folder: Path, name: str, job) -> str:
    """What is wrong with the end of a file's job, empty where nothing is."""
    if job is None:
        return ""
    if job.state == "failed":
        declared = {item.id for item in client.formats().formats if item.available}
        unavailable = job.error_code == "format_unavailable"
        fine = job.error_code in FAULTS and job.error_message and unavailable == (job.format not in declared | {""})
        return "" if fine else f"{name}: {job.error_code} ({job.error_reason}) {job.error_message}"
    if (job.state == "ready") != job.coverage.complete:
        return f"{name}: {job.state}, coverage {job.coverage}"
    word = known_word(folder / name, client.get(f"corpus:{name}").content)
    if not word:
        return ""
    hits = client.search(word, mode="lexical", uri_prefixes=[f"corpus:{name}"], top_k=100, collapse_sections=False).hits
    return "" if any(word in hit.content.casefold() for hit in hits) else f"{name}: {word!r} is not found"


def known_word(path: Path, content: str) -> str:
    """A long word of the file: one that its bytes show, where they are text, and the document too."""
    raw = path.read_bytes().decode("utf-8", "replace").casefold()
    shown = re.findall(r"\b[a-z]{5,15}\b", content.casefold())
    return max(
        (word for word in set(shown) if word in raw), key=lambda word: (len(word), word), default=max(shown, key=len, default="")
    )
