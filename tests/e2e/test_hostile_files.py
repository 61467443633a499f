"""An extractor that is given everything: each file ends in an artifact or a typed refusal, and the service goes on."""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from loom.extractor.v1 import extractor_pb2 as pb

from clients import ExtractorClient, LoomError
from clients.requests.extract import ExtractOptions
from tests.conftest import SHARED, Server, start_server
from tests.mutations import mutated

TIMEOUT_S = 60
SHORT, LONG = 300, 10_000
MOST_SERVER_MIB = 300
SMALL = 60_000
REASONS = {name.removeprefix("ERROR_REASON_") for name, _ in pb.ErrorReason.items()}
SCRATCH = {"MANIFEST.tsv", "README.md"}


@contextmanager
def extractor(folder: Path) -> Iterator[tuple[Server, ExtractorClient]]:
    """A server of its own, and a client of it."""
    server = start_server(
        "extractor_svc",
        *("--listen", "127.0.0.1:0", "--timeout", f"{TIMEOUT_S}s", "--progress-timeout", "30s"),
        log=folder / "extractor.log",
    )
    client = ExtractorClient(server.address)
    try:
        yield server, client
    finally:
        client.close()
        assert server.stop() == 0


def corpus() -> list[Path]:
    found = [path for path in sorted((SHARED / "corpus").rglob("*")) if path.is_file() and path.name not in SCRATCH]
    if not found:
        pytest.skip("the shared folder has no corpus here")
    return found


def outcome(client: ExtractorClient, content: bytes, filename: str) -> str:
    """ "read", or the reason of the refusal; anything else fails the test."""
    began = time.monotonic()
    try:
        artifact = client.extract(content, filename, options=ExtractOptions(ocr=False))
    except LoomError as refusal:
        assert refusal.reason in REASONS, f"{filename}: {refusal.reason} {refusal}"
        return refusal.reason
    finally:
        assert time.monotonic() - began < TIMEOUT_S + 10, filename
    assert artifact.coverage.unit, filename
    return "read"


def peak_mib(server: Server) -> float:
    """The most memory the server itself held, in MiB."""
    status = Path(f"/proc/{server.process.pid}/status").read_text("ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def check_well(server: Server, client: ExtractorClient) -> None:
    assert client.extract(b"# Well\n", "well.md").blocks[0].text == "Well"
    assert server.process.poll() is None
    if sys.platform == "linux":
        assert peak_mib(server) < MOST_SERVER_MIB


def test_l_ext_every_file_of_the_corpus_ends_in_an_artifact_or_a_typed_refusal(tmp_path):
    files = corpus()
    with extractor(tmp_path) as (server, client), ThreadPoolExecutor(2) as pool:
        outcomes = dict(zip(files, pool.map(lambda path: outcome(client, path.read_bytes(), path.name), files), strict=True))
        check_well(server, client)
    crashed = [path.name for path, reason in outcomes.items() if reason == "PARSER_CRASHED" and "hostile" not in path.parts]
    assert crashed == []
    assert Counter(outcomes.values())["read"] > len(files) * 0.5


def test_mutated_files_end_in_an_artifact_or_a_typed_refusal(tmp_path):
    assert mutate_and_look(tmp_path, count=SHORT, seed=20261130)["PARSER_CRASHED"] == 0


@pytest.mark.mutations
def test_ten_thousand_mutated_files_end_in_an_artifact_or_a_typed_refusal(tmp_path):
    seed = random.randrange(1 << 30)
    outcomes = mutate_and_look(tmp_path, count=LONG, seed=seed)
    print(f"seed {seed}: {outcomes.most_common()}")
    assert sum(outcomes.values()) == LONG


def mutate_and_look(tmp_path: Path, *, count: int, seed: int) -> Counter[str]:
    """Sends damaged copies of small files of every format; crashes leave the file in the folder."""
    seeds = [path for path in corpus() if path.stat().st_size < SMALL and path.stat().st_size]
    with extractor(tmp_path) as (server, client), ThreadPoolExecutor(2) as pool:

        def one(number: int) -> str:
            chance = random.Random(f"{seed}-{number}")
            path = chance.choice(seeds)
            content = mutated(path.read_bytes(), chance)
            ended = outcome(client, content, path.name)
            if ended == "PARSER_CRASHED":
                (tmp_path / f"{number}-{path.name}").write_bytes(content)
                print(f"the reader died on {tmp_path}/{number}-{path.name}")
            return ended

        outcomes = Counter(pool.map(one, range(count)))
        check_well(server, client)
    return outcomes
