"""What an operator watches of a knowledge service beside its calls: the queue, and how far indexes are behind the record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from knowledge_svc.domain.model import Scope
from knowledge_svc.domain.ports import JobQueue
from services.metrics import Family, Gauge

Counts = Callable[[], Mapping[Scope, int]]


def queue_gauges(queue: JobQueue, *, clock: Callable[[], datetime]) -> tuple[Gauge, ...]:
    """How many jobs stand in each state, and how old the oldest one is that has not ended."""

    def age() -> dict[tuple[str, ...], float]:
        oldest = queue.oldest_open()
        return {(): max(0.0, (clock() - oldest).total_seconds()) if oldest else 0.0}

    return (
        Gauge(
            Family("loom_jobs", "Ingest jobs kept, by state.", ("state",)),
            lambda: {(state.value,): count for state, count in queue.counts().items()},
        ),
        Gauge(Family("loom_oldest_open_job_seconds", "Age of the oldest job that has not ended, 0 where all have."), age),
    )


def index_gauges(recorded: Counts, serving: Counts) -> tuple[Gauge, ...]:
    """Chunks that serve from memory, and by how many the record differs; both of the namespaces that are loaded."""

    def lag() -> dict[tuple[str, ...], float]:
        live = recorded()
        return {(scope.org, scope.namespace): abs(live.get(scope, 0) - count) for scope, count in serving().items()}

    names = ("org", "namespace")
    return (
        Gauge(
            Family("loom_index_chunks", "Chunks that serve, by namespace loaded.", names),
            lambda: {(scope.org, scope.namespace): count for scope, count in serving().items()},
        ),
        Gauge(Family("loom_index_lag_chunks", "Chunks by which an index differs from the record.", names), lag),
    )
