"""The chunks of one namespace in memory: vectors, catalog and keys under the same positions."""

from __future__ import annotations

from dataclasses import dataclass

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
        self.vectors.add(rows.chunk_ids, rows.vectors)
        self.catalog.append(rows)
        self.keys.append(self.size, rows.keys)
        self.size += len(rows.chunk_ids)

    def keep(self, positions: Mask) -> Generation:
        """Returns a generation of the positions alone, in their order."""
        size = int(np.count_nonzero(positions))
        return Generation(self.vectors.keep(positions), self.catalog.keep(positions), self.keys.keep(positions), size)

    def among(self, chunk_ids: npt.NDArray[np.int64]) -> Mask:
        """Returns a flag a position: whether its chunk is among the ids."""
        return np.isin(self.chunk_ids, chunk_ids)
