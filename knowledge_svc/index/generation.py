"""The chunks of one namespace in memory: vectors, catalog and keys under the same positions."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from knowledge_svc.domain.model import IndexRows
from knowledge_svc.domain.ports import Mask
from knowledge_svc.index.catalog import Catalog
from knowledge_svc.index.keys import KeyIndex
from knowledge_svc.index.vectors import FlatVectors


@dataclass(slots=True, eq=False)
class Generation:
    """Chunks are appended to all three parts together and never leave them; `size` counts those that are in."""

    vectors: FlatVectors
    catalog: Catalog
    keys: KeyIndex
    size: int = 0
    _ascending: bool = field(init=False)

    def __post_init__(self) -> None:
        self._ascending = _rises(self.chunk_ids)

    @classmethod
    def empty(cls, dimension: int) -> Generation:
        """Returns a generation without chunks."""
        return cls(FlatVectors(dimension), Catalog.empty(), KeyIndex())

    @property
    def chunk_ids(self) -> npt.NDArray[np.int64]:
        """The ids in position order."""
        return self.catalog.chunk_ids.first(self.size)

    def append(self, rows: IndexRows) -> None:
        """Adds chunks, whose ids are not there yet and whose vectors are."""
        if rows.vectors is None:
            raise ValueError("rows for a generation carry their vectors")
        if not len(rows.chunk_ids):
            return
        self._ascending = self._ascending and _rises(np.concatenate([self.chunk_ids[-1:], rows.chunk_ids]))
        self.vectors.add(rows.chunk_ids, rows.vectors)
        self.catalog.append(rows)
        self.keys.append(self.size, rows.keys)
        self.size += len(rows.chunk_ids)

    def keep(self, positions: Mask) -> Generation:
        """Returns a generation of the positions alone, in their order."""
        size = int(np.count_nonzero(positions))
        return Generation(self.vectors.keep(positions), self.catalog.keep(positions), self.keys.keep(positions), size)

    def find(self, chunk_ids: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Returns each chunk's position, -1 where it is not here."""
        known = self.chunk_ids
        if not len(known):
            return np.full(len(chunk_ids), -1, dtype=np.int64)
        order = None if self._ascending else np.argsort(known)
        places = np.minimum(np.searchsorted(known, chunk_ids, sorter=order), len(known) - 1)
        if order is not None:
            places = order[places]
        return np.where(known[places] == chunk_ids, places, -1)


def _rises(chunk_ids: npt.NDArray[np.int64]) -> bool:
    return bool((np.diff(chunk_ids) > 0).all())
