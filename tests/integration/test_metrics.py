"""What a running knowledge service tells a scraper."""

import re
import socket
import urllib.request

import pytest

from clients import KnowledgeClient, errors
from knowledge_svc.domain.model import JobState
from knowledge_svc.gauges import index_gauges, queue_gauges
from services.metrics import exposition
from tests.conftest import start_knowledge
from tests.house_fixtures import SCOPE, Clock, open_house
from tests.ingest_fixtures import ScriptedExtractor, artifact, ended, queue, working


def test_a_running_service_tells_of_its_calls_its_queue_and_its_indexes(tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = start_knowledge(tmp_path / "data", "127.0.0.1:1", "--metrics", f"127.0.0.1:{port}", log=tmp_path / "log")
    try:
        with KnowledgeClient(server.address) as client:
            client.upsert("doc:1", "The quokka sleeps.")
            with pytest.raises(errors.NotFound):
                client.get("doc:2")
            job = client.ingest(client.upload(b"# Zoo", "zoo.md").upload_id, source_uri="doc:zoo")
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
                told = dict(line.rsplit(" ", 1) for line in answer.read().decode().splitlines() if not line.startswith("#"))
            client.cancel(job.ingestion_id)
    finally:
        assert server.stop() == 0
    service = "/loom.knowledge.v1.DocumentService"
    assert told[f'loom_calls_total{{method="{service}/UpsertDocument",code="OK"}}'] == "1"
    assert told[f'loom_refusals_total{{method="{service}/GetDocument",reason="DOCUMENT_NOT_FOUND"}}'] == "1"
    assert told['loom_index_chunks{org="dev",namespace="local"}'] == "1"
    assert told['loom_index_lag_chunks{org="dev",namespace="local"}'] == "0"
    assert int(told['loom_jobs{state="pending"}']) + int(told['loom_jobs{state="processing"}']) == 1
    assert float(told["loom_oldest_open_job_seconds"]) > 0
    assert all(re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?", value) for value in told.values())


async def test_the_queues_age_is_that_of_the_oldest_open_job(tmp_path):
    with open_house(tmp_path, clock=Clock()) as house:
        gauges = queue_gauges(house.queue, clock=lambda: house.clock.now)
        assert exposition(gauges).splitlines()[-1] == "loom_oldest_open_job_seconds 0"
        async with working(house, ScriptedExtractor(artifact())) as feed:
            job = await ended(house, queue(house, feed))
        assert job.state is JobState.READY
        queue(house, feed, source_uri="b")
        house.clock.now = job.queued_at.replace(microsecond=0).replace(hour=2)
        lines = exposition(gauges).splitlines()
        assert 'loom_jobs{state="ready"} 1' in lines
        assert 7100 < float(lines[-1].split()[1]) <= 7200


def test_an_index_that_lags_shows_by_how_many_chunks(tmp_path):
    with open_house(tmp_path) as house:
        house.write("a", "one")
        house.find("one")
        gauges = index_gauges(lambda: {SCOPE: 5}, house.indexes.serving)
        assert exposition(gauges).splitlines()[-1] == 'loom_index_lag_chunks{org="dev",namespace="local"} 4'
        assert house.store.live_counts() == {SCOPE: 1}
