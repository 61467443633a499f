"""How long to wait for a job, and how long between two looks at it."""

from __future__ import annotations

import time
from collections.abc import Callable

from clients.errors import IngestTimeout

FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 5.0


class Patience:
    """Counts down `timeout_s`; pauses double from 0.2 s to 5 s while nothing is heard, and start over once something is."""

    def __init__(self, ingestion_id: str, timeout_s: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._ingestion_id = ingestion_id
        self._timeout_s = timeout_s
        self._clock = clock
        self._end = clock() + timeout_s
        self._pause_s = FIRST_PAUSE_S

    def left_s(self) -> float:
        """Seconds left.

        Raises:
            IngestTimeout: none are.
        """
        left_s = self._end - self._clock()
        if left_s <= 0:
            raise IngestTimeout(self._ingestion_id, self._timeout_s)
        return left_s

    def heard(self) -> None:
        """Starts the pauses over."""
        self._pause_s = FIRST_PAUSE_S

    def pause_s(self) -> float:
        """Seconds to pause now, never past the end."""
        pause_s = min(self._pause_s, self.left_s())
        self._pause_s = min(self._pause_s * 2, LONGEST_PAUSE_S)
        return pause_s
