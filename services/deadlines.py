"""The time a call has left, and bounded executors that keep to it."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import Final, ParamSpec, TypeVar

import structlog

from services.errors import Cancelled, DeadlineExceeded, ResourceExhausted, Unavailable

P = ParamSpec("P")
T = TypeVar("T")

BUSY_RETRY_S: Final = 0.25
_log = structlog.get_logger("loom.deadlines")


class CallScope:
    """One call's deadline and the hooks that stop its work. Safe from any thread."""

    def __init__(self, deadline: float | None = None) -> None:
        self.deadline = deadline
        self._stopped = False
        self._hooks: list[Callable[[], None]] = []
        self._lock = threading.Lock()

    def remaining_s(self) -> float | None:
        """Seconds left, not below 0; None where the caller set no deadline."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def on_stop(self, hook: Callable[[], None]) -> None:
        """Has the hook called when the call is cancelled or its deadline passes; at once where that has happened."""
        with self._lock:
            if not self._stopped:
                self._hooks.append(hook)
                return
        hook()

    def forget(self, hook: Callable[[], None]) -> None:
        """Drops a hook whose work is done."""
        with self._lock:
            if hook in self._hooks:
                self._hooks.remove(hook)

    def stop(self) -> None:
        """Calls every hook once; one that fails does not keep the others from being called."""
        with self._lock:
            hooks, self._hooks, self._stopped = self._hooks, [], True
        with ExitStack() as calls:
            for hook in reversed(hooks):
                calls.callback(hook)

    @property
    def stopped(self) -> bool:
        """Whether the caller went away or the deadline passed."""
        return self._stopped

    def check(self) -> None:
        """Ends work that nobody waits for any more.

        Raises:
            DeadlineExceeded: the deadline passed.
            Cancelled: the caller went away.
        """
        if self.remaining_s() == 0:
            raise DeadlineExceeded("the deadline passed")
        if self.stopped:
            raise Cancelled("the caller went away")


_scope: contextvars.ContextVar[CallScope] = contextvars.ContextVar("loom_call_scope")


def current_scope() -> CallScope:
    """The scope of the call being served; outside of a call one without a deadline."""
    return _scope.get(CallScope())


def enter_scope(scope: CallScope) -> None:
    """Makes the scope that of the current context."""
    _scope.set(scope)


def remaining_s(cap: float) -> float:
    """The smaller of the cap and what the call has left, in seconds."""
    left = current_scope().remaining_s()
    return cap if left is None else min(cap, left)


def cancelled_from_outside() -> bool:
    """Whether the running task was asked to end, rather than something it waits for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class Runner:
    """Runs blocking work on threads of its own, at most `queue` calls waiting.

    A call whose deadline passed while it waited is never started. The context of the caller goes with the work.
    """

    def __init__(self, name: str, *, workers: int, queue: int) -> None:
        self._executor = ThreadPoolExecutor(workers, thread_name_prefix=name)
        self._places = threading.Semaphore(workers + queue)

    @property
    def executor(self) -> Executor:
        """The threads themselves, for work that belongs to no call."""
        return self._executor

    async def __call__(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Returns what the work returns.

        Raises:
            ResourceExhausted: too many calls wait already.
            DeadlineExceeded: the deadline passed before the work began, or while it ran.
            Unavailable: the service is going down and the work had not begun.
        """
        scope = current_scope()
        running = asyncio.wrap_future(self._submit(partial(_unless_ended, scope, partial(work, *args, **kwargs))))
        try:
            async with asyncio.timeout(scope.remaining_s()) as limit:
                return await asyncio.shield(running)
        except TimeoutError:
            if not limit.expired():  # the work's own
                raise
            raise DeadlineExceeded("the deadline passed") from None
        except asyncio.CancelledError:
            if running.cancelled() and not cancelled_from_outside():
                raise _going_down() from None
            raise
        finally:
            if not running.done():
                running.cancel()
                scope.stop()

    def _submit(self, work: Callable[[], T]) -> Future[T]:
        """Queues the work in the caller's context. It holds its place until it ends, or is dropped before it began."""
        if not self._places.acquire(blocking=False):
            raise ResourceExhausted("too many calls wait; try again shortly", retry_after_s=BUSY_RETRY_S)
        try:
            submitted = self._executor.submit(contextvars.copy_context().run, work)
        except RuntimeError as error:
            self._places.release()
            raise _going_down() from error
        submitted.add_done_callback(partial(self._ended, current_scope()))
        return submitted

    def _ended(self, scope: CallScope, work: Future[T]) -> None:
        self._places.release()
        if scope.stopped and not work.cancelled() and (error := work.exception()):
            _log.debug("stopped_work_failed", error=type(error).__name__)

    def close(self) -> None:
        """Waits for running work and drops what has not begun."""
        self._executor.shutdown(wait=True, cancel_futures=True)


def _unless_ended(scope: CallScope, work: Callable[[], T]) -> T:
    if scope.stopped or scope.remaining_s() == 0:
        raise DeadlineExceeded("the deadline passed while the call waited")
    return work()


def _going_down() -> Unavailable:
    return Unavailable("the service is going down; try again shortly", retry_after_s=BUSY_RETRY_S)
