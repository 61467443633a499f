"""The exact names that chunks hold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from knowledge_svc.domain.identifiers import normalise_key
from knowledge_svc.domain.ports import Mask


class KeyIndex:
    """Normalised key to positions in ascending order; it only grows. One thread adds, many look up."""

    def __init__(self, places: Mapping[str, list[int]] | None = None) -> None:
        self._places: dict[str, list[int]] = dict(places or {})

    def append(self, position: int, keys: Iterable[Sequence[str]]) -> None:
        """Adds the keys of the chunks from `position` on."""
        for place, names in enumerate(keys, start=position):
            for key in {normalise_key(name) for name in names} - {""}:
                self._places.setdefault(key, []).append(place)

    def holders(self, names: Sequence[str], *, allowed: Mask) -> dict[int, tuple[str, ...]]:
        """Returns the allowed positions that hold any of the names, each with the names it holds in their order."""
        held: dict[int, list[str]] = defaultdict(list)
        for name in dict.fromkeys(names):
            for position in self._places.get(normalise_key(name), ())[:]:
                if position < len(allowed) and allowed[position]:
                    held[position].append(name)
        return {position: tuple(found) for position, found in held.items()}

    def keep(self, positions: Mask) -> KeyIndex:
        """Returns an index of the positions alone, counted anew from 0."""
        moved = np.cumsum(positions) - 1
        kept = {key: moved[[place for place in places if positions[place]]].tolist() for key, places in self._places.items()}
        return KeyIndex({key: places for key, places in kept.items() if places})

    def items(self) -> Iterable[tuple[str, list[int]]]:
        """Returns every key with its positions."""
        return self._places.items()
