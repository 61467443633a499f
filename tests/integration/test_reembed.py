"""Another embedding model: refused beside the old vectors, taken once everything was embedded anew."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from clients import KnowledgeClient
from knowledge_svc.config import read_config
from knowledge_svc.domain.errors import IndexModelMismatch
from knowledge_svc.domain.reembedding import reembed
from knowledge_svc.storage.fresh_vectors import RecordFreshVectors
from services.settings import SettingsFault
from tests.conftest import ROOT, start_knowledge
from tests.house_fixtures import SCOPE, WordEmbedder, open_house
from tests.unit.index.test_remote_embedding import Answers, endpoint


class OtherEmbedder(WordEmbedder):
    """Another model, with longer vectors."""

    model = "words@2"
    dimension = 96


class Killed(Exception):
    """The end of a run in its middle."""


def write(tmp_path, count: int = 5) -> None:
    with open_house(tmp_path) as house:
        for number in range(count):
            house.write(f"doc:{number}", f"the quokka number {number} sleeps")
        house.write("doc:0", "the wombat digs")


def other(monkeypatch) -> None:
    monkeypatch.setattr("tests.house_fixtures.WordEmbedder", OtherEmbedder)


def test_another_model_is_refused_beside_the_old_vectors(tmp_path, monkeypatch):
    write(tmp_path)
    other(monkeypatch)
    with open_house(tmp_path) as house:
        with pytest.raises(IndexModelMismatch):
            house.write("doc:9", "new text")
        with pytest.raises(IndexModelMismatch):
            house.find("quokka")


def test_everything_is_embedded_anew_once_and_found_with_the_other_model(tmp_path, monkeypatch):
    write(tmp_path)
    other(monkeypatch)
    told = []
    with open_house(tmp_path) as house:
        count = reembed(RecordFreshVectors(house.record), house.embedder, progress=lambda *now: told.append(now))
        assert (count, told) == (6, [(0, 6), (6, 6)])
        assert len(house.embedder.embedded) == len(set(house.embedder.embedded)) == 6
        assert house.store.embedding_model() == "words@2"
    with open_house(tmp_path) as house:
        assert house.find("wombat digs", top_k=1) == ["doc:0"]
        assert house.find("quokka number 3", top_k=1) == ["doc:3"]
        assert house.write("doc:3", "the quokka number 3 woke") == 2
        house.embedder.embedded.clear()
        house.write("doc:7", "the quokka number 4 sleeps")
        assert house.embedder.embedded == []
        assert house.documents.get(SCOPE, "doc:0", revision=1).content == "the quokka number 0 sleeps"


def test_a_run_that_was_cut_short_changes_nothing_and_goes_on_where_it_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr("knowledge_svc.domain.reembedding.BATCH", 2)
    write(tmp_path)
    with monkeypatch.context() as patch:
        other(patch)
        with open_house(tmp_path) as house, pytest.raises(Killed):
            reembed(RecordFreshVectors(house.record), house.embedder, progress=cut_at(4))
    with open_house(tmp_path) as house:
        assert house.find("quokka number 3", top_k=1) == ["doc:3"]
        house.write("doc:5", "the echidna came meanwhile")
    other(monkeypatch)
    with open_house(tmp_path) as house:
        assert reembed(RecordFreshVectors(house.record), house.embedder, progress=lambda *_: None) == 7
        assert len(house.embedder.embedded) == 3
    with open_house(tmp_path) as house:
        assert house.find("echidna", top_k=1) == ["doc:5"]


def cut_at(limit: int):
    def progress(done: int, _total: int) -> None:
        if done >= limit:
            raise Killed

    return progress


def test_what_was_made_for_a_third_model_is_not_used(tmp_path, monkeypatch):
    class ThirdEmbedder(OtherEmbedder):
        model = "words@3"

    monkeypatch.setattr("knowledge_svc.domain.reembedding.BATCH", 2)
    write(tmp_path)
    other(monkeypatch)
    with open_house(tmp_path) as house, pytest.raises(Killed):
        reembed(RecordFreshVectors(house.record), ThirdEmbedder(), progress=cut_at(2))
    with open_house(tmp_path) as house:
        reembed(RecordFreshVectors(house.record), house.embedder, progress=lambda *_: None)
        assert len(house.embedder.embedded) == 6
        assert np.allclose(house.store.vectors_by_input(SCOPE, hashes(house), model="words@2").popitem()[1] @ np.ones(96) > 0, True)


def hashes(house) -> list[str]:
    return [row["input_hash"] for row in house.record.rows("SELECT input_hash FROM chunks")]


def test_the_command_changes_the_model_of_a_data_folder(tmp_path):
    data = tmp_path / "data"
    server = start_knowledge(data, "127.0.0.1:1", log=tmp_path / "log")
    with KnowledgeClient(server.address) as client:
        client.upsert("doc:1", "The quokka sleeps.")
    assert server.stop() == 0
    with endpoint(Answers()) as url:
        model = {"LOOM_EMBEDDING_URL": url, "LOOM_EMBEDDING_MODEL": "stand-in"}
        done = subprocess.run(
            [str(Path(sys.executable).parent / "loom"), "reembed", "--data-dir", str(data)],
            cwd=ROOT, env={"PATH": "", **model}, capture_output=True, text=True, timeout=100, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        assert lines[0].endswith(" to stand-in/3")
        assert lines[1:] == ["0 of 1 texts embedded", "1 of 1 texts embedded", "dev/local: 1 chunks indexed"]
        server = start_knowledge(data, "127.0.0.1:1", log=tmp_path / "log", environ=model)
        try:
            with KnowledgeClient(server.address) as client:
                (hit,) = client.search("quokka").hits
                assert hit.source_uri == "doc:1"
        finally:
            assert server.stop() == 0


@pytest.mark.parametrize(
    "environ",
    [
        {"LOOM_EMBEDDING_URL": "http://h/v1"},
        {"LOOM_EMBEDDING_MODEL": "m"},
        {"LOOM_EMBEDDING_URL": "ftp://h/v1", "LOOM_EMBEDDING_MODEL": "m"},
        {"LOOM_EMBEDDING_URL": "http:///v1", "LOOM_EMBEDDING_MODEL": "m"},
    ],
)
def test_an_endpoint_that_cannot_be_one_is_refused_by_the_settings(environ):
    with pytest.raises(SettingsFault, match=r"(?i)embedding.url"):
        read_config([], environ)
