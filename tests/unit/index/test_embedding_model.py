"""The embedding model that ships."""

from __future__ import annotations

import threading

import numpy as np
import numpy.typing as npt
import pytest

from knowledge_svc.index import embedding as module
from knowledge_svc.index.embedding import BATCH_TOKENS, DIMENSION, MiniLmEmbedder

# question, the passage that answers it, passages that do not
RIGHT = [
    ("How do I fix an oil leak?", "Oil drips from the pump: replace the shaft seal.", "The invoice is due in thirty days."),
    ("When must customers pay?", "The invoice is due in thirty days.", "Oil drips from the pump: replace the shaft seal."),
    ("Who approves holidays?", "Leave requests are signed off by the team lead.", "The server restarts every night at two."),
    ("reset my password", "To choose a new passphrase, open account settings.", "Shipping to Norway takes five days."),
]


@pytest.fixture(scope="module")
def embedder() -> MiniLmEmbedder:
    return MiniLmEmbedder()


def test_the_model_is_named_with_its_version_and_its_vocabulary(embedder: MiniLmEmbedder) -> None:
    assert embedder.model == "all-MiniLM-L6-v2-onnx-int8@1.0.0+be50c3628f2b"
    assert embedder.dimension == 384


@pytest.mark.parametrize(("question", "answer", "other"), RIGHT, ids=[case[0] for case in RIGHT])
def test_the_answer_is_nearer_than_another_passage(embedder: MiniLmEmbedder, question: str, answer: str, other: str) -> None:
    vector = embedder.embed_query(question)
    near, far = embedder.embed([answer, other]) @ vector
    assert near > far


def test_vectors_have_length_one_whatever_the_text(embedder: MiniLmEmbedder) -> None:
    vectors = embedder.embed(["", " \n", "pump", "word " * 3_000, "日本語", "\x00", "🙂"])
    assert vectors.shape == (7, DIMENSION)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(7), abs=1e-5)
    assert embedder.embed([]).shape == (0, DIMENSION)


def test_a_vector_does_not_depend_on_the_texts_beside_it(embedder: MiniLmEmbedder) -> None:
    texts = ["pump", "The valve on the north line leaks.", "seal " * 40, "oil", "a b c d e f g"]
    alone = np.stack([embedder.embed([text])[0] for text in texts])
    assert np.abs(embedder.embed(texts) - alone).max() < 1e-3
    assert np.abs(embedder.embed(texts[::-1])[::-1] - alone).max() < 1e-3
    assert np.abs(np.stack([embedder.embed_query(text) for text in texts]) - alone).max() < 1e-3


def test_padding_does_not_change_a_vector(embedder: MiniLmEmbedder) -> None:
    [encoding] = embedder._tokenizer.encode_batch(["The valve on the north line leaks."])
    long = embedder._tokenizer.encode("seal " * 200)
    session = module._open_session()
    padded: npt.NDArray[np.float32] = module._pooled(session, [encoding, long])[0]
    assert np.abs(padded - module._pooled(session, [encoding])[0]).max() < 1e-3


def test_the_same_text_gives_the_same_bytes(embedder: MiniLmEmbedder) -> None:
    texts = ["pump and valve", "oil"]
    assert embedder.embed(texts).tobytes() == embedder.embed(texts).tobytes() == MiniLmEmbedder().embed(texts).tobytes()


def test_text_beyond_the_limit_is_not_read(embedder: MiniLmEmbedder) -> None:
    # 256 word pieces, the first and the last of which are the model's own marks
    long = "seal " * 254
    assert np.array_equal(embedder.embed_query(long), embedder.embed_query(long + "pump"))
    assert not np.array_equal(embedder.embed_query("seal " * 253), embedder.embed_query("seal " * 253 + "pump"))


def test_runs_hold_texts_of_like_length_and_few_pieces() -> None:
    assert list(module._batches([200, 3, 100, 4, 250, 3, 100])) == [[1, 5, 3], [2, 6], [0], [4]]
    lengths = [10] * 100
    assert all(len(batch) * 10 <= BATCH_TOKENS for batch in module._batches(lengths))


def test_several_threads_embed_at_once(embedder: MiniLmEmbedder) -> None:
    texts = [f"pump number {number}" for number in range(6)]
    expected = embedder.embed(texts)
    found: dict[int, npt.NDArray[np.float32]] = {}

    def run(number: int) -> None:
        found[number] = embedder.embed(texts)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(found[number], expected) for number in range(5))
