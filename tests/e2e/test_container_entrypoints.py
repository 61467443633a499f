"""The commands of docker-compose.yml, started as plain processes: beyond loopback, with tokens."""

import hashlib
import re
import subprocess
import sys

import pytest
import yaml

from clients import ExtractorClient, KnowledgeClient, LoomError
from clients.errors import PermissionDenied, Unauthenticated
from tests.conftest import ROOT, start_server

TOKENS = {"extractor": "for-the-extractor", "writer": "for-a-writer", "viewer": "for-a-viewer"}


def line(token: str, name: str, role: str) -> str:
    return f"{hashlib.sha256(token.encode()).hexdigest()} {name} acme {role}\n"


def command_of(service: str, tokens: str) -> list[str]:
    """A service's command as the compose file gives it, on a free port and with the tokens file of this test."""
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))
    words = compose["services"][service]["command"]
    return [re.sub(r"^/run/secrets/.*", tokens, re.sub(r"^0\.0\.0\.0:\d+$", "0.0.0.0:0", word)) for word in words]


def modules() -> dict[str, str]:
    """The module each image runs, as the Dockerfile names it."""
    text = (ROOT / "Dockerfile").read_text("utf-8")
    return dict(re.findall(r"AS (extractor|knowledge)\n.*?ENTRYPOINT \[\"python\", \"-m\", \"(\w+)\"\]", text, re.DOTALL))


@pytest.fixture(scope="module")
def services(tmp_path_factory):
    folder = tmp_path_factory.mktemp("containers")
    (folder / "extractor.tokens").write_text(line(TOKENS["extractor"], "knowledge", "writer"))
    people = line(TOKENS["writer"], "ada", "writer") + line(TOKENS["viewer"], "ben", "viewer")
    (folder / "knowledge.tokens").write_text(people)
    run = modules()
    extractor = start_server(
        run["extractor"], *command_of("extractor", str(folder / "extractor.tokens")), log=folder / "extractor.log"
    )
    address = f"127.0.0.1:{extractor.address.rpartition(':')[2]}"
    environ = {
        "LOOM_DATA_DIR": str(folder / "data"),
        "LOOM_DOCUMENT_EXTRACTOR_URL": address,
        "LOOM_DOCUMENT_EXTRACTOR_TOKEN": TOKENS["extractor"],
    }
    knowledge = start_server(
        run["knowledge"],
        *command_of("knowledge", str(folder / "knowledge.tokens")),
        log=folder / "knowledge.log",
        environ=environ,
    )
    yield address, f"127.0.0.1:{knowledge.address.rpartition(':')[2]}", folder
    assert knowledge.stop() == 0
    assert extractor.stop() == 0


def test_a_writer_ingests_and_a_viewer_finds(services):
    _, knowledge, folder = services
    path = folder / "note.md"
    path.write_text("# Note\n\nThe quokka sleeps.\n")
    with KnowledgeClient(knowledge, token=TOKENS["writer"]) as ada:
        assert ada.ingest_file(path).state == "ready"
    with KnowledgeClient(knowledge, token=TOKENS["viewer"]) as ben:
        assert ben.search("quokka").hits[0].source_uri == path.resolve().as_uri()
        with pytest.raises(PermissionDenied):
            ben.upsert("doc:a", "words")


def test_without_a_token_nothing_is_answered_but_health(services):
    extractor, knowledge, _ = services
    with KnowledgeClient(knowledge) as nobody, pytest.raises(Unauthenticated):
        nobody.search("quokka")
    with ExtractorClient(extractor) as nobody, pytest.raises(LoomError):
        nobody.capabilities()
    for address in (extractor, knowledge):
        probe = subprocess.run(
            [sys.executable, "-m", "services.healthcheck", address], cwd=ROOT, capture_output=True, text=True, timeout=30
        )
        assert probe.returncode == 0, probe.stderr


def test_the_health_check_fails_where_nothing_listens():
    probe = subprocess.run(
        [sys.executable, "-m", "services.healthcheck", "127.0.0.1:1"], cwd=ROOT, capture_output=True, text=True, timeout=30
    )
    assert probe.returncode == 1
    assert "does not answer" in probe.stderr
