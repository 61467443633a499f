"""Vectors in memory, searched exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import faiss
import numpy as np
import numpy.typing as npt

from knowledge_svc.domain.model import Scored, Vectors
from knowledge_svc.domain.ports import Mask
from knowledge_svc.index.locks import ReadersWriterLock

_engine: Any = faiss  # Any: the stubs leave out the Python layer over the C++ classes

_SPARE: Final = 16
"""Candidates asked for beyond k, so that most ties at the cut need no second look."""
_ROUNDING: Final = 1e-6
"""More than two ways of adding up the same products differ by."""


class FlatVectors:
    """The `VectorIndex` port over FAISS, which must not add while another thread searches.

    Scores are cosines of unit vectors, worked out the same way whatever is allowed, so that equal vectors tie exactly.
    """

    def __init__(self, dimension: int) -> None:
        self._open(faiss.IndexIDMap2(faiss.IndexFlatIP(dimension)))

    @classmethod
    def load(cls, path: str) -> FlatVectors:
        """Reads what `save` wrote; the caller has checked the file's bytes."""
        loaded = cls.__new__(cls)
        loaded._open(faiss.read_index(path))
        return loaded

    def _open(self, index: Any) -> None:  # Any: faiss ships no types
        self._lock = ReadersWriterLock()
        self._index = index
        self._flat = _engine.downcast_index(index.index)

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return int(self._index.d)

    @property
    def chunk_ids(self) -> npt.NDArray[np.int64]:
        """The ids in position order."""
        with self._lock.reading():
            ids: npt.NDArray[np.int64] = faiss.vector_to_array(self._index.id_map)
            return ids

    def add(self, chunk_ids: npt.NDArray[np.int64], vectors: Vectors) -> None:
        """Appends unit vectors under ids that are not there yet."""
        with self._lock.writing():
            self._index.add_with_ids(np.ascontiguousarray(vectors, dtype=np.float32), np.asarray(chunk_ids, dtype=np.int64))

    def keep(self, positions: Mask) -> FlatVectors:
        """Returns an index of the positions alone, in their order."""
        kept = FlatVectors(self.dimension)
        with self._lock.reading():
            ids = faiss.vector_to_array(self._index.id_map)
            kept.add(ids[positions], self._rows()[: len(positions)][positions])
        return kept

    def search(self, vector: npt.NDArray[np.float32], *, k: int, allowed: Mask) -> list[Scored]:
        """Returns the k chunks nearest by cosine among the allowed positions, best first, ties to the smaller id."""
        count = int(np.count_nonzero(allowed))
        if k < 1 or count == 0:
            return []
        with self._lock.reading():
            return self._walk(vector, k, allowed=allowed, count=count)

    def similarities(self, vector: npt.NDArray[np.float32], chunk_ids: Sequence[int]) -> dict[int, float]:
        """Returns the cosine similarity of each chunk."""
        if not chunk_ids:
            return {}
        with self._lock.reading():
            rows = self._index.reconstruct_batch(np.asarray(chunk_ids, dtype=np.int64))
        return dict(zip(chunk_ids, _cosines(rows, vector).tolist(), strict=True))

    def save(self, write: Callable[[bytes], int]) -> None:
        """Hands the index out in pieces; adding waits until it is done."""
        with self._lock.reading():
            faiss.write_index(self._index, _engine.PyCallbackIOWriter(write))

    def _walk(self, vector: npt.NDArray[np.float32], k: int, *, allowed: Mask, count: int) -> list[Scored]:
        """Takes candidates from FAISS until none outside them can tie with the last one kept.

        FAISS reads the allowed rows only: 2,000 of 60,000 take 0.4 ms, all of them 10 ms. Where all are allowed it is not asked
        about each, which halves the time.
        """
        faiss.omp_set_num_threads(1)
        chosen, bits = None, np.packbits(allowed, bitorder="little")
        if count < self._flat.ntotal:
            chosen = _engine.SearchParameters(sel=_engine.IDSelectorBitmap(bits))
        limit = min(k + _SPARE, count)
        while True:
            scores, positions = self._flat.search(vector[np.newaxis, :], limit, params=chosen)
            best = self._best(positions[0][positions[0] >= 0], vector, k=k)
            if limit == count or (best and scores[0][-1] < best[-1].score - _ROUNDING):
                return best
            limit = min(limit * 4, count)

    def _best(self, positions: npt.NDArray[np.int64], vector: npt.NDArray[np.float32], *, k: int) -> list[Scored]:
        ids = _view(self._index.id_map.data(), self._index.ntotal)[positions]
        scores = _cosines(self._rows()[positions], vector)
        order = np.lexsort((ids, -scores))[:k]
        return [Scored(*pair) for pair in zip(ids[order].tolist(), scores[order].tolist(), strict=True)]

    def _rows(self) -> Vectors:
        """Returns the vectors without copying; holds only while the lock is held."""
        rows: Vectors = _view(self._flat.get_xb(), self._index.ntotal * self._index.d).reshape(-1, self._index.d)
        return rows


def _view(pointer: Any, size: int) -> npt.NDArray[Any]:  # Any: the element type is the pointer's
    """Returns FAISS' own memory as an array, an empty one where it has none yet."""
    return np.empty(0, dtype=np.float32) if size == 0 else np.asarray(faiss.rev_swig_ptr(pointer, size))


def _cosines(rows: Vectors, vector: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    products: npt.NDArray[np.float32] = (rows * vector).sum(axis=1)
    return products
