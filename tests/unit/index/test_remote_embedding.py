import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from knowledge_svc.domain.errors import EmbedderDown
from knowledge_svc.domain.failures import failure_of
from knowledge_svc.index.remote_embedding import EmbeddingEndpoint, RemoteEmbedder


class Answers:
    """What the endpoint answers: by default a vector of the text's length and of ones, in reverse order."""

    def __init__(self) -> None:
        self.asked: list[dict] = []
        self.headers: list[dict] = []
        self.status = 200
        self.body = self.vectors

    @staticmethod
    def vectors(asked: dict) -> bytes:
        data = [{"index": place, "embedding": [len(text), 1.0, 1.0]} for place, text in enumerate(asked["input"])]
        return json.dumps({"data": data[::-1]}).encode()


@contextmanager
def endpoint(answers: Answers):
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answers.asked.append({"path": self.path, **asked})
            answers.headers.append(dict(self.headers))
            content = answers.body(asked)
            self.send_response(answers.status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def answers():
    return Answers()


@pytest.fixture
def embedder(answers):
    with endpoint(answers) as url:
        yield RemoteEmbedder(EmbeddingEndpoint(url, "stand-in", "a key", timeout_s=5), dimension=3)


def test_each_text_has_its_own_unit_vector_in_the_order_asked(embedder, answers):
    vectors = embedder.embed(["ab", "abcd"])
    assert vectors.dtype == np.float32
    # (2, 1, 1) and (4, 1, 1) over their lengths, the roots of 6 and 18
    assert vectors == pytest.approx(np.array([[2, 1, 1], [4, 1, 1]]) / np.array([[6**0.5], [18**0.5]]), abs=1e-6)
    assert embedder.embed_query("ab") == pytest.approx(vectors[0])
    assert (embedder.model, embedder.dimension) == ("stand-in/3", 3)


def test_the_call_is_openais(embedder, answers):
    embedder.embed(["ab", ""])
    (asked,) = answers.asked
    assert asked == {"path": "/v1/embeddings", "model": "stand-in", "input": ["ab", " "], "encoding_format": "float"}
    assert answers.headers[0]["Authorization"] == "Bearer a key"


def test_many_texts_go_in_several_requests(embedder, answers):
    assert embedder.embed(["x"] * 150).shape == (150, 3)
    assert [len(asked["input"]) for asked in answers.asked] == [64, 64, 22]
    answers.asked.clear()
    embedder.embed(["y" * 40_000, "z" * 40_000, "short"])
    assert [len(asked["input"]) for asked in answers.asked] == [1, 2]


def test_no_texts_ask_for_nothing(embedder, answers):
    assert embedder.embed([]).shape == (0, 3)
    assert answers.asked == []


def test_a_length_that_is_not_set_is_asked_for(answers):
    with endpoint(answers) as url:
        assert RemoteEmbedder(EmbeddingEndpoint(url, "stand-in")).dimension == 3
    assert "Authorization" not in answers.headers[0]


@pytest.mark.parametrize(
    "body",
    [
        b"not json",
        b"[]",
        b"{}",
        b'{"data": []}',
        b'{"data": [{"index": 0, "embedding": "words"}]}',
        b'{"data": [{"index": 0, "embedding": [1, 2]}]}',
        b'{"data": [{"index": 0, "embedding": [0, 0, 0]}]}',
        b'{"data": [{"index": 0, "embedding": [NaN, 0, 1]}]}',
        b'{"data": [{"index": 0, "embedding": [1e400, 0, 1]}]}',
        b'{"data": [{"index": 7, "embedding": [1, 2, 3]}]}',
    ],
)
def test_an_answer_that_is_no_vector_is_a_passing_failure(embedder, answers, body):
    answers.body = lambda _asked: body
    with pytest.raises(EmbedderDown) as caught:
        embedder.embed(["a"])
    assert failure_of(caught.value) is None


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500, 503])
def test_a_status_is_told_and_the_key_is_not(embedder, answers, status):
    answers.status = status
    with pytest.raises(EmbedderDown, match=str(status)) as caught:
        embedder.embed(["a"])
    assert "a key" not in str(caught.value)


def test_an_endpoint_that_is_away_is_a_passing_failure():
    with pytest.raises(EmbedderDown):
        RemoteEmbedder(EmbeddingEndpoint("http://127.0.0.1:1", "stand-in", timeout_s=2))


def test_a_key_is_never_printed():
    assert "a key" not in repr(EmbeddingEndpoint("http://h", "m", "a key"))
