"""The children of a pool: enough of them started, handed out one at a time, replaced when they end."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Final

import structlog

from extractor_svc.child import Cause, Child, ChildGone, ChildSettings
from services.errors import ResourceExhausted

_log = structlog.get_logger("loom.extractor.children")

_RESTART_DELAYS_S: Final = (0.5, 1.0, 2.0, 5.0, 10.0)
_RETRY_AFTER_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Upkeep:
    """How many children are kept, and how long each serves."""

    children: int
    recycle_documents: int
    recycle_growth_bytes: int


class Children:
    """Keeps a number of children ready. Who takes one brings it back, or says what it ended of."""

    def __init__(self, settings: ChildSettings, upkeep: Upkeep) -> None:
        self._settings = settings
        self._upkeep = upkeep
        self._all: set[Child] = set()
        self._dying: set[Child] = set()
        self._idle: list[Child] = []
        self._starting = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._arrival = asyncio.Event()
        self._closed = False
        self.ended: Counter[Cause] = Counter()

    def __len__(self) -> int:
        return len(self._all)

    async def first(self) -> Child:
        """Starts one child and shows it, so that a fault in the settings is known at once; the others follow.

        Raises:
            ChildGone: it does not start.
        """
        child = await Child.start(self._settings)
        self._add(child)
        self._restock()
        return child

    async def take(self, *, fresh: bool) -> Child:
        """An idle child, the most used one first; a fresh one has read nothing yet.

        Raises:
            ResourceExhausted: none could be started in time.
        """
        try:
            async with asyncio.timeout(self._settings.start_timeout_s):
                while (child := self._pick(fresh=fresh)) is None:
                    self._restock()
                    await self._arrival.wait()
        except TimeoutError as error:
            raise ResourceExhausted("no reader could be started in time; try again", retry_after_s=_RETRY_AFTER_S) from error
        return child

    def give_back(self, child: Child) -> None:
        """Takes back a child that answered; one that has served long or grown large is replaced."""
        grown = child.rss_bytes() - child.first_rss_bytes
        if child.documents >= self._upkeep.recycle_documents or grown >= self._upkeep.recycle_growth_bytes:
            self.end(child, Cause.WORN)
        else:
            self._idle.append(child)
            self._announce()

    def end(self, child: Child, cause: Cause) -> None:
        """Kills a child and starts another in its place."""
        self.ended[cause] += 1
        child.kill()
        if not self._closed:
            self._all.discard(child)
            self._dying.add(child)
            self._run(self._reap(child, cause))
            self._restock()

    async def close(self) -> None:
        """Kills every child and waits until the last is gone."""
        self._closed = True
        while self._tasks:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
        left = self._all | self._dying
        for child in left:
            child.kill()
        await asyncio.gather(*(child.close() for child in left))
        for kept in (self._all, self._dying, self._idle):
            kept.clear()

    def _pick(self, *, fresh: bool) -> Child | None:
        for child in [child for child in self._idle if not child.running]:
            self._idle.remove(child)
            self.end(child, Cause.CRASH)
        chosen = max((child for child in self._idle if not fresh or not child.documents), key=_documents, default=None)
        if chosen is not None:
            self._idle.remove(chosen)
        elif fresh and self._idle and not self._starting:
            self.end(self._idle.pop(), Cause.WORN)  # makes room for one that is fresh
        return chosen

    def _add(self, child: Child) -> None:
        self._all.add(child)
        self._idle.append(child)
        self._announce()

    def _announce(self) -> None:
        """Wakes everyone who waits for a child."""
        self._arrival.set()
        self._arrival = asyncio.Event()

    def _restock(self) -> None:
        missing = self._upkeep.children - len(self._all) - self._starting
        for _ in range(0 if self._closed else missing):
            self._starting += 1
            self._run(self._start())

    async def _start(self) -> None:
        """Starts one child, however often it takes."""
        attempts = 0
        try:
            while True:
                try:
                    self._add(await Child.start(self._settings))
                    return
                except (ChildGone, OSError) as error:
                    _log.error("child_does_not_start", error=str(error), attempts=attempts + 1)
                await asyncio.sleep(_RESTART_DELAYS_S[min(attempts, len(_RESTART_DELAYS_S) - 1)])
                attempts += 1
        finally:
            self._starting -= 1

    async def _reap(self, child: Child, cause: Cause) -> None:
        await child.close()
        self._dying.discard(child)
        event = _log.info if cause in (Cause.WORN, Cause.CANCELLED) else _log.warning
        event("child_ended", cause=cause.value, pid=child.pid, documents=child.documents, status=child.returncode)
        if child.last_words:
            _log.warning("child_last_words", pid=child.pid, report=child.last_words)

    def _run(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _documents(child: Child) -> int:
    return child.documents
