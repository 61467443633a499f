"""Does the chores of a process now and then: what was kept long enough goes, what is derived is written down."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

import structlog

from services.errors import LoomError

_log = structlog.get_logger("loom.upkeep")


@dataclass(frozen=True, slots=True)
class Chore:
    """Blocking work with a name; what it returns is logged."""

    name: str
    work: Callable[[], object]


class Upkeep:
    """Runs every chore once an interval, not at the start; one that fails is tried again the next time."""

    def __init__(self, chores: Sequence[Chore], *, interval_s: float, executor: Executor) -> None:
        self._chores = tuple(chores)
        self._interval_s = interval_s
        self._executor = executor
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begins; called on the event loop."""
        self._task = asyncio.create_task(self._keep(), name="upkeep")

    async def stop(self) -> None:
        """Ends; a chore that runs is waited for."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(self._interval_s)
            for chore in self._chores:
                await self._do(chore)

    async def _do(self, chore: Chore) -> None:
        loop = asyncio.get_running_loop()
        try:
            done = await loop.run_in_executor(self._executor, chore.work)
            _log.info("chore_done", chore=chore.name, result=done)
        except (LoomError, OSError) as error:
            _log.warning("chore_failed", chore=chore.name, error=str(error))
