"""Tells watchers in this process that a job moved, and where a running one stands between two writes to the record."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from knowledge_svc.domain.model import Job, JobStage, JobState


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a running job stands."""

    stage: JobStage
    unit: str
    done: int
    total: int


class JobBoard:
    """Standings of running jobs, and wake-ups for those who watch them. All methods are safe from any thread."""

    def __init__(self) -> None:
        self._standings: dict[str, Standing] = {}
        self._watchers: dict[str, set[asyncio.Event]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Names the loop the watchers run on."""
        self._loop = loop

    def post(self, ingestion_id: str, standing: Standing) -> None:
        """Says where a running job stands."""
        self._standings[ingestion_id] = standing
        self.moved(ingestion_id)

    def clear(self, ingestion_id: str) -> None:
        """Forgets a job that no longer runs."""
        self._standings.pop(ingestion_id, None)
        self.moved(ingestion_id)

    def moved(self, ingestion_id: str) -> None:
        """Wakes those who watch the job."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake, ingestion_id)

    def overlay(self, job: Job) -> Job:
        """The job with its standing in this process, where it runs."""
        standing = self._standings.get(job.ingestion_id)
        if standing is None or job.state is not JobState.PROCESSING:
            return job
        return replace(job, stage=standing.stage, unit=standing.unit, units_done=standing.done, units_total=standing.total)

    @asynccontextmanager
    async def watching(self, ingestion_id: str) -> AsyncIterator[asyncio.Event]:
        """An event that is set whenever the job moves; the watcher clears it."""
        event = asyncio.Event()
        self._watchers.setdefault(ingestion_id, set()).add(event)
        try:
            yield event
        finally:
            self._watchers[ingestion_id].discard(event)
            if not self._watchers[ingestion_id]:
                del self._watchers[ingestion_id]

    def _wake(self, ingestion_id: str) -> None:
        for event in self._watchers.get(ingestion_id, ()):
            event.set()
