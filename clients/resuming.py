"""Whether an upload whose stream broke goes on, from where, and after which pause."""

from __future__ import annotations

from typing import Final
from uuid import uuid4

from clients.errors import Internal, LoomError, NotFound, Unavailable
from clients.files import Meter

FIRST_PAUSE_S: Final = 0.25
LONGEST_PAUSE_S: Final = 8.0
MOST_FRUITLESS: Final = 8
"""Attempts one after the other that bring nothing further before the upload is given up: about half a minute."""
STALLED: Final = "UPLOAD_STALLED"


class Resumption:
    """One upload over all its attempts: the id it has in each, and how many bytes the server keeps of it."""

    def __init__(self, meter: Meter) -> None:
        self.upload_id: Final = uuid4().hex
        self.offset = 0
        self.broken = False
        self._meter = meter
        self._fruitless = 0
        self._reached = False

    def go_on_after(self, kept_bytes: int) -> None:
        """Has the next attempt go on from what the server says it keeps."""
        if kept_bytes > self.offset:
            self._fruitless = 0
        self._reached = True
        self.offset = self._meter.done_bytes = kept_bytes

    def pause_after(self, error: LoomError) -> float:
        """Seconds to wait before the next attempt.

        Raises:
            LoomError: the error itself, where another attempt cannot help, or as many as are made did not.
        """
        lost = self.broken and isinstance(error, NotFound)
        if lost:
            self.go_on_after(0)
        elif not _passing(error) or (self.broken and not self._known()):
            raise error
        self.broken = not lost
        self._fruitless += 1
        if self._fruitless > MOST_FRUITLESS:
            raise error
        return min(FIRST_PAUSE_S * 2.0 ** (self._fruitless - 1), LONGEST_PAUSE_S)

    def _known(self) -> bool:
        """Whether there is a server at all: it took bytes, or said what it keeps."""
        return self._reached or self._meter.done_bytes > 0


def _passing(error: LoomError) -> bool:
    """Whether the line or the server failed, and not the upload.

    An asyncio call whose write fails ends as an internal error that no server sent, and so has no metadata.
    """
    return isinstance(error, Unavailable) or error.reason == STALLED or (isinstance(error, Internal) and not error.metadata)
