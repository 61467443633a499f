"""Documents in, answers out: a bounded queue before a few children, each document under its limits."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

import structlog

from extractor_svc.child import Cause, Child, ChildGone, ChildSettings
from extractor_svc.children import Children, Upkeep
from extractor_svc.errors import MemoryLimit, OutputLimit, ParserCrashed, ParseTimeout
from extractor_svc.frames import FrameFault, Kind, Progress, Refusal, Request, crash_of, progress_of, refusal_of
from extractor_svc.quarantine import Quarantine
from extractor_svc.sandbox import Protection
from extractor_svc.spool import DocumentSpool, PartSpool
from services.errors import FailedPrecondition, InvalidArgument, LoomError, NotFound, ResourceExhausted

_log = structlog.get_logger("loom.extractor.pool")

OnProgress: TypeAlias = Callable[[str, Progress], None]
"""Told the stage (`queue` or `parse`) and how far it is."""

MIB: Final = 1024 * 1024
_REFUSALS: Final[dict[str, type[LoomError]]] = {kind.__name__: kind for kind in (InvalidArgument, FailedPrecondition, NotFound)}
_QUARANTINED: Final = 1024
_SMOOTHING: Final = 0.2
_FREE_REPORTS: Final = 100
_REPORT_PAUSE_S: Final = 0.05  # readers report ten times a second; one that does nothing else is not listened to faster


class NoReader(FailedPrecondition):
    """Children cannot be started as the service is set."""

    reason = "NO_READER"


@dataclass(frozen=True, slots=True)
class PoolSettings:
    """How many children there are, what they may put out, and how long each serves."""

    child: ChildSettings
    workers: int = os.cpu_count() or 1
    spares: int = 1
    queue_size: int = 32
    max_output_bytes: int = 512 * MIB
    recycle_documents: int = 500
    recycle_growth_bytes: int = 512 * MIB
    crash_hold_s: float = 600.0


@dataclass(frozen=True, slots=True)
class PoolStats:
    """What the pool does now, and how many children ended of each cause so far."""

    busy: int
    waiting: int
    children: int
    ended: dict[str, int]


@dataclass(frozen=True, slots=True)
class Job:
    """A document, what to do with it, where the answer goes, and who hears of the progress."""

    document: DocumentSpool
    request: Request
    sink: PartSpool
    on_progress: OnProgress


class _Death(Exception):
    """A child ended, or has to, over a document; `fresh` where that was its first."""

    def __init__(self, cause: Cause, *, fresh: bool, detail: str = "") -> None:
        super().__init__(cause.value)
        self.cause = cause
        self.fresh = fresh
        self.detail = detail


class ExtractorPool:
    """Gives each document a child, and ends the child where the document misuses it.

    When a child dies the document is tried once more, on a child that has read nothing yet.
    """

    def __init__(self, settings: PoolSettings, *, clock: Callable[[], float] = time.monotonic) -> None:
        upkeep = Upkeep(settings.workers + settings.spares, settings.recycle_documents, settings.recycle_growth_bytes)
        self._settings = settings
        self._clock = clock
        self._children = Children(settings.child, upkeep)
        self._quarantine = Quarantine(hold_s=settings.crash_hold_s, max_entries=_QUARANTINED, clock=clock)
        self._slots = asyncio.Semaphore(settings.workers)
        self._waiting = 0
        self._busy = 0
        self._usual_s = 1.0
        self.protections: tuple[Protection, ...] = ()

    @property
    def stats(self) -> PoolStats:
        """A snapshot."""
        ended = {cause.value: self._children.ended[cause] for cause in Cause}
        return PoolStats(self._busy, self._waiting, len(self._children), ended)

    async def start(self) -> None:
        """Starts the first child and sees what protects it; the others follow.

        Raises:
            NoReader: it does not start, or a protection is off that is required.
        """
        try:
            self.protections = (await self._children.first()).protections
        except ChildGone as error:
            raise NoReader(str(error)) from error

    async def close(self) -> None:
        """Kills every child and waits until the last is gone."""
        await self._children.close()

    def check_room(self) -> None:
        """Refuses at once what would find the queue full.

        Raises:
            ResourceExhausted: it is; `retry_after_s` says when to come back.
        """
        if self._busy >= self._settings.workers and self._waiting >= self._settings.queue_size:
            wait_s = min(30.0, max(0.5, self._usual_s * (self._waiting + 1) / self._settings.workers))
            raise ResourceExhausted(
                f"every reader is busy and {self._waiting} documents wait; try again in {wait_s:.1f} s",
                reason="OVERLOADED",
                metadata={"waiting": str(self._waiting), "retry_after_s": f"{wait_s:.1f}"},
                retry_after_s=wait_s,
            )

    async def run(self, job: Job) -> None:
        """Has a child do the job; the packed parts of the artifact, or the text at a locator, end up in its sink.

        The child of a caller who is cancelled is killed.

        Raises:
            InvalidArgument, FailedPrecondition, NotFound: what the reader refused the document for.
            ParseTimeout, MemoryLimit, OutputLimit, ParserCrashed: what became of the child.
            ResourceExhausted: the queue is full, or no child can be started.
        """
        self._refuse_what_crashed(job.document.sha256)
        async with self._slot(job):
            began = self._clock()
            try:
                await self._do(job)
            except _Death as death:
                raise self._fault_of(death, job) from death
            finally:
                self._usual_s += _SMOOTHING * (self._clock() - began - self._usual_s)

    def _refuse_what_crashed(self, sha256: str) -> None:
        if (left_s := self._quarantine.seconds_left(sha256)) > 0:
            raise ParserCrashed(
                f"the reader died twice on this file; the same bytes are refused for {left_s:.0f} s more",
                metadata={"seconds_left": f"{left_s:.0f}"},
            )

    @contextlib.asynccontextmanager
    async def _slot(self, job: Job) -> AsyncIterator[None]:
        self.check_room()
        job.on_progress("queue", Progress("document", 0, self._waiting))
        self._waiting += 1
        try:
            await self._slots.acquire()
        finally:
            self._waiting -= 1
        self._busy += 1
        try:
            yield
        finally:
            self._busy -= 1
            self._slots.release()

    async def _do(self, job: Job) -> None:
        try:
            await self._attempt(job, fresh=False)
        except _Death as death:
            if death.cause is not Cause.CRASH and not (death.cause is Cause.MEMORY and not death.fresh):
                raise
            job.sink.clear()
            await self._attempt(job, fresh=True)

    async def _attempt(self, job: Job, *, fresh: bool) -> None:
        child = await self._children.take(fresh=fresh)
        ended: Cause | None = Cause.CANCELLED
        try:
            await self._watch(child, job)
            ended = None
        except _Death as death:
            ended = death.cause
            raise
        except LoomError:  # the child refused the document, and is as good as before
            ended = None
            raise
        finally:
            if ended is None:
                self._children.give_back(child)
            else:
                self._children.end(child, ended)

    async def _watch(self, child: Child, job: Job) -> None:
        """Lets a child answer within the limits; raises `_Death` where it does not."""
        limits = self._settings.child.limits
        fresh = child.documents == 0
        detail = f"reading made no progress for {limits.progress_timeout_s:g} s"
        reports = 0
        try:
            async with asyncio.timeout(limits.timeout_s) as whole:
                await self._ask(child, job)
                while True:
                    async with asyncio.timeout(limits.progress_timeout_s):
                        kind, payload = await child.next_frame()
                    if kind is Kind.DONE:
                        return
                    await self._take_in(kind, payload, job=job, fresh=fresh)
                    reports += kind is Kind.PROGRESS
                    if reports > _FREE_REPORTS:
                        await asyncio.sleep(_REPORT_PAUSE_S)
        except TimeoutError as error:
            if whole.expired():
                detail = f"reading took longer than {limits.timeout_s:g} s"
            raise _Death(Cause.TIMEOUT, fresh=fresh, detail=detail) from error
        except FrameFault as error:
            raise _Death(Cause.CRASH, fresh=fresh) from error
        except ChildGone as error:
            raise _Death(await child.cause_of_death(), fresh=fresh) from error

    async def _ask(self, child: Child, job: Job) -> None:
        descriptor = job.document.open_to_read()
        try:
            await child.ask(job.request, descriptor)
        finally:
            os.close(descriptor)

    async def _take_in(self, kind: Kind, payload: bytes, *, job: Job, fresh: bool) -> None:
        match kind:
            case Kind.PART | Kind.TEXT:
                await job.sink.append(payload)
                if job.sink.size_bytes > self._settings.max_output_bytes:
                    raise _Death(Cause.OUTPUT, fresh=fresh)
            case Kind.PROGRESS:
                job.on_progress("parse", progress_of(payload))
            case Kind.REFUSAL:
                raise _error_of(refusal_of(payload), fresh=fresh)
            case Kind.CRASH:
                crash = crash_of(payload)
                _log.warning("reader_failed", error=crash.error, place=crash.place)
                raise _Death(Cause.CRASH, fresh=fresh)
            case _:
                raise FrameFault(f"a frame of kind {kind.name} in an answer")

    def _fault_of(self, death: _Death, job: Job) -> LoomError:
        """What the caller is told of a child's end."""
        match death.cause:
            case Cause.TIMEOUT:
                limits = self._settings.child.limits
                return ParseTimeout(
                    f"{death.detail or 'reading took too much processor time'}; split the document",
                    metadata={"timeout_s": f"{limits.timeout_s:g}", "progress_timeout_s": f"{limits.progress_timeout_s:g}"},
                )
            case Cause.MEMORY:
                mib = str(self._settings.child.limits.memory_bytes // MIB)
                message = f"reading the document needs more than {mib} MiB of memory; split it"
                return MemoryLimit(message, metadata={"memory_mib": mib})
            case Cause.OUTPUT:
                mib = str(self._settings.max_output_bytes // MIB)
                return OutputLimit(f"the artifact is larger than {mib} MiB; split the document", metadata={"max_output_mib": mib})
        self._quarantine.add(job.document.sha256)
        return ParserCrashed("the reader died twice on this file; open it in its own program and save it again")


def _error_of(refusal: Refusal, *, fresh: bool) -> Exception:
    """The error a child refused the document with; a kind it may not use is a fault of the child."""
    if refusal.reason == MemoryLimit.reason:
        return _Death(Cause.MEMORY, fresh=fresh)
    kind = _REFUSALS.get(refusal.kind)
    if kind is None or not refusal.reason.isupper():
        return FrameFault(f"a refusal of kind {refusal.kind}")
    return kind(refusal.message, reason=refusal.reason, metadata=refusal.metadata)
