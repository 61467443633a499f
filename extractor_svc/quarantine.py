"""Contents that killed a reader twice, refused for a while instead of being tried again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable


class Quarantine:
    """A bounded map of content hashes and when each may be tried again; the oldest entries make room."""

    def __init__(self, *, hold_s: float, max_entries: int, clock: Callable[[], float]) -> None:
        self._hold_s = hold_s
        self._max_entries = max_entries
        self._clock = clock
        self._until: OrderedDict[str, float] = OrderedDict()

    def add(self, sha256: str) -> None:
        """Holds a content from now on."""
        self._until.pop(sha256, None)
        self._until[sha256] = self._clock() + self._hold_s
        while len(self._until) > self._max_entries:
            self._until.popitem(last=False)

    def seconds_left(self, sha256: str) -> float:
        """How long a content is still held; 0 where it is not."""
        left = self._until.get(sha256, 0.0) - self._clock()
        if left > 0:
            return left
        self._until.pop(sha256, None)
        return 0.0
