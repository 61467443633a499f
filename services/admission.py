"""How many calls are served at once, in all and for one identity."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from services.auth import Identity
from services.errors import ResourceExhausted

RETRY_S: Final = 0.1
"""Callers that are refused come back after one to three times as long, spread so that they do not come at once."""


class Admission:
    """Counts the calls being served. For one event loop. `jitter` gives numbers from 0 to 1."""

    def __init__(self, *, total: int, each: int, jitter: Callable[[], float] = random.random) -> None:
        self._total = total
        self._each = each
        self._jitter = jitter
        self._held: Counter[Identity] = Counter()

    @contextmanager
    def place(self, identity: Identity) -> Iterator[None]:
        """Holds a place for one call.

        Raises:
            ResourceExhausted: every place is taken, or all that one identity may have.
        """
        if self._held.total() >= self._total:
            raise self._refusal("the service serves as many calls as it can", self._total)
        if self._held[identity] >= self._each:
            raise self._refusal("this identity has as many calls running as it may", self._each)
        self._held[identity] += 1
        try:
            yield
        finally:
            self._held[identity] -= 1
            if not self._held[identity]:
                del self._held[identity]

    def _refusal(self, what: str, most: int) -> ResourceExhausted:
        wait_s = RETRY_S * (1 + 2 * self._jitter())
        return ResourceExhausted(f"{what}, {most}; try again shortly", metadata={"most": str(most)}, retry_after_s=wait_s)
