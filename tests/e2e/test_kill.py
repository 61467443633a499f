"""Killed at any moment, nothing that was acknowledged is missing and what was running is finished."""

import random
import threading
import time
from contextlib import ExitStack, contextmanager

import pytest

from clients import KnowledgeClient, LoomError
from tests.conftest import Server, start_knowledge, start_server

KILLS = 4
LONG_KILLS = 150


@contextmanager
def extractor(folder):
    server = start_server("extractor_svc", "--listen", "127.0.0.1:0", log=folder / "extractor.log")
    try:
        yield server.address
    finally:
        server.stop()


def file_of(number: int) -> bytes:
    return f"# File {number}\n\nThe marker of this file is zz{number}zz.\n\n## Second\n\nMore words of file {number}.\n".encode()


def test_killed_in_the_middle_of_an_ingest_the_job_finishes(tmp_path):
    with extractor(tmp_path) as address:
        server = start_knowledge(tmp_path / "data", address, log=tmp_path / "knowledge.log")
        with KnowledgeClient(server.address) as client:
            jobs = [
                client.ingest(client.upload(file_of(number), f"{number}.md").upload_id, source_uri=f"doc:{number}").ingestion_id
                for number in range(8)
            ]
        server.kill()
        server = start_knowledge(tmp_path / "data", address, log=tmp_path / "knowledge.log")
        try:
            with KnowledgeClient(server.address) as client:
                for number, job in enumerate(jobs):
                    ended = client.wait_for_ingest(job, timeout_s=60)
                    assert ended.state == "ready", ended
                    assert ended.revision == 1
                    hits = client.search(f"zz{number}zz", mode="lexical", top_k=3).hits
                    assert [hit.source_uri for hit in hits] == [f"doc:{number}"]
        finally:
            assert server.stop() == 0


def test_h35_a_large_file_that_was_being_read_when_the_service_died_is_published_once(tmp_path):
    sections = "".join(f"## Part {number}\n\nPart {number} tells of larches. {'More words. ' * 40}\n\n" for number in range(150))
    with extractor(tmp_path) as address:
        server = start_knowledge(tmp_path / "data", address, log=tmp_path / "knowledge.log")
        with KnowledgeClient(server.address) as client:
            stored = client.upload(f"# Large\n\n{sections}".encode(), "large.md")
            job = client.ingest(stored.upload_id, source_uri="doc:large").ingestion_id
            wait_until(lambda: client.ingestion(job).state == "processing")
        server.kill()
        server = start_knowledge(tmp_path / "data", address, log=tmp_path / "knowledge.log")
        try:
            with KnowledgeClient(server.address) as client:
                later = client.ingest(client.upload(file_of(1), "1.md").upload_id, source_uri="doc:1").ingestion_id
                assert client.wait_for_ingest(job, timeout_s=90).state == "ready"
                assert client.wait_for_ingest(later, timeout_s=30).state == "ready"
                document = client.get("doc:large")
                hits = client.search("larches", mode="lexical", top_k=50, collapse_sections=False, uri_prefixes=["doc:large"]).hits
                assert (document.revision, {hit.revision for hit in hits}) == (1, {1})
                places = [hit.chunk_index for hit in hits]
                assert len(places) == len(set(places))
        finally:
            assert server.stop() == 0


def wait_until(holds) -> None:
    for _ in range(2000):
        if holds():
            return
        time.sleep(0.01)
    raise AssertionError("it did not come about in time")


@pytest.mark.timeout(300)
def test_nothing_acknowledged_is_lost_and_no_revision_is_mixed(tmp_path):
    kill_and_look(tmp_path, kills=KILLS, seed=7)


@pytest.mark.crash
def test_nothing_is_lost_over_many_kills(tmp_path):
    kill_and_look(tmp_path, kills=LONG_KILLS, seed=random.randrange(1 << 30))


def kill_and_look(tmp_path, *, kills: int, seed: int) -> None:
    """Writes and searches while the service is killed at random moments; looks after each restart."""
    chance = random.Random(seed)
    acknowledged: dict[str, int] = {}
    queued: dict[str, str] = {}
    with extractor(tmp_path) as address, ExitStack() as started:

        def start() -> Server:
            server = start_knowledge(tmp_path / "data", address, log=tmp_path / "knowledge.log")
            started.callback(server.kill)
            return server

        for kill in range(kills):
            server = start()
            look(server.address, acknowledged, seed=seed)
            writer = threading.Thread(target=write, args=(server.address, kill, acknowledged, queued))
            reader = threading.Thread(target=read, args=(server.address,))
            writer.start()
            reader.start()
            wait_for_word(acknowledged, before=dict(acknowledged))
            time.sleep(chance.uniform(0.0, 1.2))
            server.kill()
            writer.join(60)
            reader.join(60)
            assert not writer.is_alive()
            assert not reader.is_alive()
        server = start()
        look(server.address, acknowledged, seed=seed)
        with KnowledgeClient(server.address) as client:
            for job, marker in queued.items():
                assert client.wait_for_ingest(job, timeout_s=120).state == "ready"
                assert client.search(marker, mode="lexical", top_k=1).hits
        assert server.stop() == 0
    assert acknowledged


def wait_for_word(acknowledged: dict[str, int], *, before: dict[str, int]) -> None:
    """Waits until the writer had an answer, so that every kill falls into running work."""
    wait_until(lambda: acknowledged != before)


def write(address: str, kill: int, acknowledged: dict[str, int], queued: dict[str, str]) -> None:
    """Upserts a few documents over and over and queues files, noting what was acknowledged, until the service is gone."""
    number = 0
    with KnowledgeClient(address, timeout_s=10) as client:
        while True:
            uri = f"doc:{number % 5}"
            try:
                version = client.upsert(uri, f"kill {kill} write {number} of {uri}\n\n# Tail\n\nrev-{kill}-{number}").document
                acknowledged[uri] = version.revision
                marker = f"qq{kill}x{number}qq"
                stored = client.upload(f"# Queued\n\n{marker}\n".encode(), "q.md")
                queued[client.ingest(stored.upload_id, source_uri=f"file:{marker}").ingestion_id] = marker
            except LoomError:
                return
            number += 1


def read(address: str) -> None:
    """Searches until the service is gone; no answer may mix two revisions of a document."""
    with KnowledgeClient(address, timeout_s=10) as client:
        while True:
            try:
                hits = client.search("write of tail", top_k=50, collapse_sections=False).hits
            except LoomError:
                return
            revisions: dict[str, set[int]] = {}
            for hit in hits:
                revisions.setdefault(hit.source_uri, set()).add(hit.revision)
            mixed = {uri: found for uri, found in revisions.items() if len(found) > 1}
            assert not mixed, mixed


def look(address: str, acknowledged: dict[str, int], *, seed: int) -> None:
    """Every acknowledged revision, or a later one, is there and found whole."""
    with KnowledgeClient(address) as client:
        for uri, revision in acknowledged.items():
            document = client.get(uri)
            assert document.revision >= revision, (uri, seed)
            found = client.search(f"write of {uri}", uri_prefixes=[uri], top_k=50, collapse_sections=False).hits
            assert {hit.revision for hit in found} == {document.revision}, (uri, seed)
            assert len(found) == document.chunk_count
