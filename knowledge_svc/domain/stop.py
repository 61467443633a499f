"""When work has to end: at a deadline, or because its caller went away."""

from __future__ import annotations

import threading
import time

from knowledge_svc.domain.errors import QueryTimeout
from services.errors import Cancelled


class Stop:
    """A deadline and a flag that another thread can set."""

    def __init__(self, timeout_s: float) -> None:
        self._deadline = time.monotonic() + timeout_s
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        """Asks the work to end now."""
        self._cancelled.set()

    @property
    def reached(self) -> bool:
        """Whether the work has to end."""
        return self._cancelled.is_set() or time.monotonic() >= self._deadline

    @property
    def remaining_s(self) -> float:
        """Seconds until the deadline, at least 0."""
        return max(0.0, self._deadline - time.monotonic())

    def shortened(self, timeout_s: float) -> Stop:
        """The same flag with a deadline no later than `timeout_s` from now."""
        other = Stop(min(timeout_s, self.remaining_s))
        other._cancelled = self._cancelled
        return other

    def check(self) -> None:
        """Ends work that has to end.

        Raises:
            Cancelled: the caller went away.
            QueryTimeout: the deadline passed.
        """
        if self._cancelled.is_set():
            raise Cancelled("the query was cancelled")
        if self.reached:
            raise QueryTimeout("the query ran longer than allowed; narrow it with where or allow it more time")
