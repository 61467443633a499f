"""Makes sentence vectors by asking an endpoint that speaks the embeddings call of OpenAI, as most model servers do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Final
from urllib.parse import SplitResult, urlsplit

import numpy as np
import numpy.typing as npt

from knowledge_svc.domain.errors import EmbedderDown
from knowledge_svc.domain.model import Vectors

BATCH_TEXTS: Final = 64
BATCH_CHARACTERS: Final = 64_000
"""Bounds of one request: servers refuse larger ones, and a smaller one shows progress sooner."""
MAX_ANSWER_BYTES: Final = 64 * 1024 * 1024
_EMPTY: Final = " "
"""What stands for an empty text, which servers refuse."""


@dataclass(frozen=True, slots=True)
class EmbeddingEndpoint:
    """Where vectors are made: the base address such as `http://host:8080/v1`, the model's name there, and the key it takes."""

    url: str
    model: str
    key: str = field(default="", repr=False)
    timeout_s: float = 60.0


class RemoteEmbedder:
    """The `Embedder` port over an endpoint. Safe from several threads; each request has a connection of its own."""

    def __init__(self, endpoint: EmbeddingEndpoint, *, dimension: int = 0) -> None:
        """Takes the length of the model's vectors; 0 asks the endpoint for one and measures it.

        Raises:
            EmbedderDown: the endpoint cannot be asked.
        """
        self._endpoint = endpoint
        self._address = urlsplit(f"{endpoint.url.rstrip('/')}/embeddings")
        self._dimension = dimension or len(self._rows(["length"])[0])

    @property
    def model(self) -> str:
        """The model's name and the length of its vectors."""
        return f"{self._endpoint.model}/{self._dimension}"

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Returns one unit vector a text, shape (n, dimension).

        Raises:
            EmbedderDown: the endpoint cannot be reached, refuses, or answers something else than vectors of this length.
        """
        vectors = np.empty((len(texts), self._dimension), dtype=np.float32)
        for start, end in _batches(texts):
            vectors[start:end] = self._unit_vectors(texts[start:end])
        return vectors

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        """Returns the unit vector of a question, shape (dimension,).

        Raises:
            EmbedderDown: as `embed`.
        """
        vector: npt.NDArray[np.float32] = self._unit_vectors([text])[0]
        return vector

    def _unit_vectors(self, texts: Sequence[str]) -> Vectors:
        rows = self._rows(texts)
        if any(len(row) != self._dimension for row in rows):
            found = sorted({len(row) for row in rows})
            raise self._fault(f"it answers vectors of {found} numbers, not of {self._dimension}")
        vectors = np.array(rows, dtype=np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or (lengths == 0).any():
            raise self._fault("it answers vectors that have no direction")
        unit: Vectors = vectors / lengths
        return unit

    def _rows(self, texts: Sequence[str]) -> list[list[float]]:
        """The numbers the endpoint answers for each text, in the order of the texts."""
        answer = self._ask({"model": self._endpoint.model, "input": [text or _EMPTY for text in texts], "encoding_format": "float"})
        try:
            items = {int(item["index"]): [float(number) for number in item["embedding"]] for item in json.loads(answer)["data"]}
            return [items[place] for place in range(len(texts))]
        except (ValueError, TypeError, KeyError) as error:
            raise self._fault("its answer is not one vector a text") from error

    def _ask(self, body: dict[str, object]) -> bytes:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._endpoint.key:
            headers["Authorization"] = f"Bearer {self._endpoint.key}"
        try:
            with closing(_connection(self._address, self._endpoint.timeout_s)) as connection:
                connection.request("POST", self._address.path, json.dumps(body).encode(), headers)
                response = connection.getresponse()
                content = response.read(MAX_ANSWER_BYTES + 1)
        except (OSError, HTTPException) as error:
            raise self._fault(f"it cannot be reached: {type(error).__name__}") from error
        if response.status != HTTPStatus.OK:
            raise self._fault(f"it answers {response.status}")
        if len(content) > MAX_ANSWER_BYTES:
            raise self._fault(f"it answers more than {MAX_ANSWER_BYTES} bytes")
        return content

    def _fault(self, what: str) -> EmbedderDown:
        message = f"the embedding endpoint of {self._endpoint.model} fails: {what}"
        return EmbedderDown(message, metadata={"model": self._endpoint.model}, retry_after_s=5)


def _connection(address: SplitResult, timeout_s: float) -> HTTPConnection:
    kind = HTTPSConnection if address.scheme == "https" else HTTPConnection
    return kind(address.hostname or "", address.port, timeout=timeout_s)


def _batches(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Half-open ranges of texts that go into one request."""
    start, characters = 0, 0
    for place, text in enumerate(texts):
        if place > start and (place - start == BATCH_TEXTS or characters + len(text) > BATCH_CHARACTERS):
            yield start, place
            start, characters = place, 0
        characters += len(text)
    if start < len(texts):
        yield start, len(texts)
