"""A lock that many readers or one writer hold."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class ReadersWriterLock:
    """Whoever comes waits behind whoever came before, so neither side starves. Not reentrant."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._left = threading.Condition()
        self._readers = 0

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Holds the lock together with other readers."""
        with self._turn, self._left:
            self._readers += 1
        try:
            yield
        finally:
            with self._left:
                self._readers -= 1
                self._left.notify_all()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Holds the lock alone: new readers wait at the turn, those inside are waited for."""
        with self._turn:
            with self._left:
                self._left.wait_for(lambda: self._readers == 0)
            yield
