"""Documents cut anew after a change of the chunk size."""

import subprocess
import sys
from pathlib import Path

import pytest

from clients import KnowledgeClient
from knowledge_svc.datasets.retyping import DatasetRetyper
from knowledge_svc.domain.approvals import DatasetApprovals, DatasetWriter
from knowledge_svc.domain.chunking import ChunkSettings
from knowledge_svc.domain.errors import DocumentNotFound
from knowledge_svc.domain.model import Document, SchemaState
from knowledge_svc.domain.rechunking import Rechunker, Recut
from knowledge_svc.extraction.stored import StoredArtifacts
from tests.conftest import ROOT, start_knowledge
from tests.house_fixtures import SCOPE, House, open_house
from tests.ingest_fixtures import ScriptedExtractor, artifact, ended, prices, queue, working

SMALL = ChunkSettings(size=100, stride=80)
LONG = " ".join(f"word{number}" for number in range(60))


def rechunker(house: House) -> Rechunker:
    stored, datasets = StoredArtifacts(house.blobs), DatasetWriter(house.store, DatasetRetyper(), house.snapshots)
    return Rechunker(house.store, house.publisher, house.embedder, stored, datasets, chunks=SMALL, clock=house.clock)


def told(results) -> list[tuple[str, Recut]]:
    return [(result.source_uri, result.outcome) for result in results]


@pytest.fixture
def house(tmp_path):
    with open_house(tmp_path) as opened:
        opened.write("doc:long", LONG, title="Words", tags=("t",))
        opened.write("doc:short", "a few words")
        yield opened


def test_comparing_tells_what_would_change_and_writes_nothing(house):
    assert told(rechunker(house).compare(SCOPE)) == [("doc:long", Recut.CHANGED), ("doc:short", Recut.SAME)]
    assert house.documents.get(SCOPE, "doc:long").revision == 1


def test_a_document_is_cut_anew_with_everything_else_as_it_was(house):
    before = house.documents.get(SCOPE, "doc:long")
    (changed, same) = rechunker(house).apply(SCOPE)
    after = house.documents.get(SCOPE, "doc:long")
    assert (changed.outcome, changed.before, same.outcome) == (Recut.CHANGED, 1, Recut.SAME)
    assert (after.revision, after.chunk_count) == (2, changed.after)
    assert changed.after > 4
    kept = ("content", "title", "tags", "author", "ingested_at", "doc_id", "metadata")
    assert [getattr(after, name) for name in kept] == [getattr(before, name) for name in kept]
    assert house.find("word59", top_k=1) == ["doc:long"]
    assert told(rechunker(house).apply(SCOPE)) == [("doc:long", Recut.SAME), ("doc:short", Recut.SAME)]


def test_l_edit_03_a_document_written_meanwhile_is_left_as_it_is(house, monkeypatch):
    embed = house.embedder.embed

    def overtaken(texts):
        monkeypatch.setattr(house.embedder, "embed", embed)
        house.write("doc:long", "something else")
        return embed(texts)

    monkeypatch.setattr(house.embedder, "embed", overtaken)
    assert told(rechunker(house).apply(SCOPE, source_uri="doc:long")) == [("doc:long", Recut.OVERTAKEN)]
    assert house.documents.get(SCOPE, "doc:long").content == "something else"


@pytest.fixture
async def zoo(house) -> Document:
    """A file with a dataset, ingested."""
    async with working(house, ScriptedExtractor(artifact(LONG, datasets=(prices(),)))) as feed:
        await ended(house, queue(house, feed))
    return house.documents.get(SCOPE, "file:///zoo.md")


async def test_an_ingested_file_is_cut_anew_from_its_stored_extraction(house, zoo):
    (changed,) = rechunker(house).apply(SCOPE, source_uri=zoo.source_uri)
    after = house.documents.get(SCOPE, zoo.source_uri)
    assert (changed.outcome, changed.before, after.chunk_count) == (Recut.CHANGED, 1, changed.after)
    assert changed.after > 4
    kept = ("content", "title", "format", "parser", "coverage", "original", "artifact_sha256", "source_class", "ingestion_id")
    assert [getattr(after, name) for name in kept] == [getattr(zoo, name) for name in kept]
    chunks = [row.chunk for row in house.store.chunks(after)]
    assert all(chunk.locator is not None and chunk.section_path == ("Animals",) for chunk in chunks)
    assert house.find("word59", top_k=1) == [zoo.source_uri]
    assert told(rechunker(house).compare(SCOPE, source_uri=zoo.source_uri)) == [(zoo.source_uri, Recut.SAME)]


async def test_the_datasets_of_a_file_that_is_cut_anew_go_on_serving_as_they_were_approved(house, zoo):
    (before,) = house.store.datasets(SCOPE, zoo.source_uri)
    approvals = DatasetApprovals(house.store, StoredArtifacts(house.blobs), DatasetRetyper(), house.snapshots, clock=house.clock)
    approvals.approve(SCOPE, zoo.source_uri, before.dataset_id, snapshot_id=before.snapshot_id, types={})
    list(rechunker(house).apply(SCOPE, source_uri=zoo.source_uri))
    (after,) = house.store.datasets(SCOPE, zoo.source_uri)
    assert (after.dataset_id, after.row_count, after.revision) == (before.dataset_id, 2, 2)
    assert (before.schema_state, after.schema_state) == (SchemaState.INFERRED, SchemaState.APPROVED)


async def test_a_file_whose_extraction_is_gone_is_named_and_left_as_it_is(house, zoo):
    house.blobs.sweep(named=frozenset(), older_than_s=-60)
    assert told(rechunker(house).apply(SCOPE, source_uri=zoo.source_uri)) == [(zoo.source_uri, Recut.GONE)]
    assert house.documents.get(SCOPE, zoo.source_uri).revision == 1


def test_a_document_that_is_not_there_is_said(house):
    with pytest.raises(DocumentNotFound):
        list(rechunker(house).compare(SCOPE, source_uri="doc:none"))


def test_the_command_tells_and_with_apply_writes(tmp_path):
    data = tmp_path / "data"
    server = start_knowledge(data, "127.0.0.1:1", log=tmp_path / "log")
    with KnowledgeClient(server.address) as client:
        client.upsert("doc:long", LONG)
    assert server.stop() == 0

    def rechunk(*flags: str) -> list[str]:
        done = subprocess.run(
            [str(Path(sys.executable).parent / "loom"), "rechunk", "--data-dir", str(data), *flags],
            cwd=ROOT, env={"PATH": "", "LOOM_KNOWLEDGE_CHUNK_SIZE": "100", "LOOM_KNOWLEDGE_CHUNK_STRIDE": "80"},
            capture_output=True, text=True, timeout=100, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    assert rechunk()[-1] == "0 same, 1 changed, 0 gone, 0 overtaken; nothing was written, add --apply"
    assert rechunk("--apply", "--source-uri", "doc:long")[-1] == "0 same, 1 changed, 0 gone, 0 overtaken"
    assert rechunk() == ["1 same, 0 changed, 0 gone, 0 overtaken"]
