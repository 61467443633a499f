"""An extractor that is away: jobs wait for it, nothing is lost, and they finish when it is back."""

import socket
import time

from clients import KnowledgeClient
from tests.conftest import start_knowledge, start_server


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_a_job_waits_for_an_extractor_that_is_away_and_finishes_when_it_is_back(tmp_path):
    address = f"127.0.0.1:{free_port()}"
    knowledge = start_knowledge(tmp_path / "data", address, log=tmp_path / "knowledge.log")
    extractor = None
    try:
        with KnowledgeClient(knowledge.address) as client:
            assert {item.available for item in client.formats().formats} == {None}
            stored = client.upload(b"# Zoo\n\nThe quokka sleeps.\n", "zoo.md")
            job = client.ingest(stored.upload_id, source_uri="doc:zoo")
            for _ in range(200):
                waiting = client.ingestion(job.ingestion_id)
                if waiting.failure_class == "retrying":
                    break
                time.sleep(0.05)
            assert (waiting.state, waiting.error_reason) == ("pending", "EXTRACTOR_DOWN")
            assert waiting.next_attempt_at is not None
            client.upsert("doc:text", "Text can be written meanwhile.")
            extractor = start_server("extractor_svc", "--listen", address, log=tmp_path / "extractor.log")
            ended = client.wait_for_ingest(job.ingestion_id, timeout_s=60)
            assert (ended.state, ended.revision) == ("ready", 1)
            assert ended.attempts > 1
            assert client.search("quokka").hits[0].source_uri == "doc:zoo"
    finally:
        assert knowledge.stop() == 0
        if extractor is not None:
            assert extractor.stop() == 0


def test_an_extractor_killed_in_the_middle_of_a_document_is_asked_again(tmp_path):
    port = free_port()
    address = f"127.0.0.1:{port}"
    extractor = start_server("extractor_svc", "--listen", address, log=tmp_path / "extractor.log")
    knowledge = start_knowledge(tmp_path / "data", address, log=tmp_path / "knowledge.log")
    try:
        with KnowledgeClient(knowledge.address) as client:
            text = "\n\n".join(f"# Part {n}\n\nWords of part {n}, a few of them." for n in range(400)).encode()
            jobs = [client.ingest(client.upload(text, "big.md").upload_id, source_uri=f"doc:{n}") for n in range(2)]
            extractor.kill()
            extractor = start_server("extractor_svc", "--listen", address, log=tmp_path / "extractor.log")
            for job in jobs:
                ended = client.wait_for_ingest(job.ingestion_id, timeout_s=100)
                assert (ended.state, ended.revision) == ("ready", 1)
    finally:
        assert knowledge.stop() == 0
        assert extractor.stop() == 0
