"""One moment of a namespace's indexes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from knowledge_svc.domain.model import ChunkFilter, KeyMatch, Scored, Token
from knowledge_svc.domain.ports import Mask
from knowledge_svc.index.generation import Generation
from knowledge_svc.index.lexical import LexicalReader


class NamespaceSnapshot:
    """The `IndexSnapshot` port: the first positions of a generation, the mask of those that serve, and one lexical commit.

    What is appended to the generation later stands behind the mask's end and is never seen.
    """

    def __init__(self, generation: Generation, *, live: Mask, lexical: LexicalReader, change_seq: int) -> None:
        live.setflags(write=False)
        self.live = live
        self._generation = generation
        self._lexical = lexical
        self._change_seq = change_seq
        self._size = int(np.count_nonzero(live))
        self._live_ids: npt.NDArray[np.int64] | None = None
        self._order: npt.NDArray[np.intp] | None = None

    @property
    def change_seq(self) -> int:
        """The record's change this reflects."""
        return self._change_seq

    @property
    def size(self) -> int:
        """Chunks that serve."""
        return self._size

    @property
    def live_ids(self) -> npt.NDArray[np.int64]:
        """The ids that serve, ascending."""
        if self._live_ids is None:
            self._live_ids = self._ids(self.live)
        return self._live_ids

    def allowed(self, selection: ChunkFilter) -> Mask:
        """Returns the chunks that serve and pass the filter."""
        return self._generation.catalog.allowed(selection, self.live)

    def nearest(self, vector: npt.NDArray[np.float32], *, k: int, allowed: Mask) -> list[Scored]:
        """Returns the k chunks nearest by cosine, best first, ties to the smaller id."""
        return self._generation.vectors.search(vector, k=k, allowed=allowed)

    def lexical(self, terms: Sequence[Token], *, k: int, allowed: Mask) -> list[Scored]:
        """Returns the k best chunks by BM25, best first, ties to the smaller id."""
        ids = self.live_ids if allowed is self.live else self._ids(allowed)
        return self._lexical.search(terms, k=k, allowed_ids=ids)

    def holders(self, keys: Sequence[str], *, allowed: Mask) -> list[KeyMatch]:
        """Returns the chunks that hold any of the keys, most keys first, ties to the smaller id."""
        ids = self._generation.catalog.chunk_ids.first(len(self.live))
        held = self._generation.keys.holders(keys, allowed=allowed)
        matches = [KeyMatch(int(ids[position]), names) for position, names in held.items()]
        return sorted(matches, key=lambda match: (-len(match.keys), match.chunk_id))

    def similarities(self, vector: npt.NDArray[np.float32], chunk_ids: Sequence[int]) -> dict[int, float]:
        """Returns the cosine similarity of chunks found by another leg."""
        return self._generation.vectors.similarities(vector, chunk_ids)

    def sections(self, chunk_ids: Sequence[int]) -> list[int]:
        """Returns one number a chunk, equal for chunks of one section of one document."""
        catalog, size = self._generation.catalog, len(self.live)
        if self._order is None:
            self._order = np.argsort(catalog.chunk_ids.first(size), kind="stable")
        places = np.searchsorted(catalog.chunk_ids.first(size), np.asarray(chunk_ids, dtype=np.int64), sorter=self._order)
        codes: list[int] = catalog.sections.codes.first(size)[self._order[places]].tolist()
        return codes

    def _ids(self, mask: Mask) -> npt.NDArray[np.int64]:
        return np.sort(self._generation.catalog.chunk_ids.first(len(mask))[mask])
