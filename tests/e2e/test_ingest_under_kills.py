"""Files ingested while either service is killed at random: every file ends, is there once, and is found."""

import random
import socket
import threading
import time
from contextlib import ExitStack

import pytest

from clients import KnowledgeClient, LoomError
from tests.conftest import start_knowledge, start_server

FILES, KILLS = 12, 4
LONG_FILES, LONG_KILLS = 200, 150
OFTEN = {"LOOM_KNOWLEDGE_INGEST_MAX_ATTEMPTS": "100"}
"""Each kill costs the jobs under way an attempt; none is to be given up for that here."""
LONGEST_DELAY_S = 3700
"""A job that met the extractor down again and again waits up to an hour for its next attempt."""


@pytest.mark.timeout(300)
def test_every_file_is_published_once_though_either_service_is_killed(tmp_path):
    ingest_under_kills(tmp_path, files=FILES, kills=KILLS, seed=11)


@pytest.mark.crash
def test_two_hundred_files_survive_many_kills_of_either_service(tmp_path):
    seed = random.randrange(1 << 30)
    ingest_under_kills(tmp_path, files=LONG_FILES, kills=LONG_KILLS, seed=seed, patience_s=LONGEST_DELAY_S)


def ingest_under_kills(tmp_path, *, files: int, kills: int, seed: int, patience_s: float = 240) -> None:
    """Sends files and kills by turns, then lets everything end and looks at each file."""
    chance = random.Random(seed)
    with ExitStack() as stack:
        pair = Pair(tmp_path)
        stack.callback(pair.kill)
        queued: dict[str, str] = {}
        sender = threading.Thread(target=send, args=(pair.knowledge_address, files, queued))
        sender.start()
        for _ in range(kills):
            time.sleep(chance.uniform(0.05, 0.8))
            pair.restart(chance.choice(("knowledge", "extractor")))
        sender.join(240 + kills * 10)
        assert not sender.is_alive(), seed
        assert len(queued) == files
        look(pair.knowledge_address, queued, seed=seed, patience_s=patience_s)


class Pair:
    """Both services, each on a port that stays its own."""

    def __init__(self, folder) -> None:
        self._folder = folder
        self.knowledge_address, self.extractor_address = (f"127.0.0.1:{port}" for port in free_ports(2))
        self._servers = {"extractor": self._extractor(), "knowledge": self._knowledge()}

    def restart(self, name: str) -> None:
        self._servers[name].kill()
        self._servers[name] = self._extractor() if name == "extractor" else self._knowledge()

    def kill(self) -> None:
        for server in self._servers.values():
            server.kill()

    def _extractor(self):
        return start_server("extractor_svc", "--listen", self.extractor_address, log=self._folder / "extractor.log")

    def _knowledge(self):
        more = ("--listen", self.knowledge_address)
        return start_knowledge(
            self._folder / "data", self.extractor_address, *more, log=self._folder / "knowledge.log", environ=OFTEN
        )


def free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]


def send(address: str, files: int, queued: dict[str, str]) -> None:
    """Uploads and queues each file under a request id of its own, again and again until it is acknowledged."""
    with KnowledgeClient(address) as client:
        for number in range(files):
            content = f"# File {number}\n\nThe marker is zz{number}zz.\n\n## Second\n\n{'More words. ' * 30}\n".encode()
            while (uri := f"doc:{number}") not in queued:
                try:
                    stored = client.upload(content, f"{number}.md")
                    job = client.ingest(stored.upload_id, source_uri=uri, expected_revision=0, request_id=f"file-{number}")
                except LoomError as error:
                    if error.reason == "IDEMPOTENCY_CONFLICT":  # the earlier call took effect, its answer was lost
                        queued[uri] = next(item.ingestion_id for item in client.list_ingestions(source_uri=uri))
                    time.sleep(0.1)
                else:
                    queued[uri] = job.ingestion_id


def look(address: str, queued: dict[str, str], *, seed: int, patience_s: float) -> None:
    with KnowledgeClient(address) as client:
        for number, (uri, ingestion_id) in enumerate(queued.items()):
            ended = client.wait_for_ingest(ingestion_id, timeout_s=patience_s)
            assert (ended.state, ended.revision) == ("ready", 1), (seed, ended)
            hits = client.search(f"zz{number}zz", mode="lexical", top_k=5, collapse_sections=False).hits
            assert [(hit.source_uri, hit.revision) for hit in hits] == [(uri, 1)], seed
            assert client.get(uri).chunk_count == 2
        assert len(list(client.list())) == len(queued)
        assert {job.state for job in client.list_ingestions()} == {"ready"}
