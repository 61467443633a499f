"""The time a call has left, and bounded executors that keep to it."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Final, ParamSpec, TypeVar

from services.errors import DeadlineExceeded, ResourceExhausted

P = ParamSpec("P")
T = TypeVar("T")

BUSY_RETRY_S: Final = 0.25


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
        """Calls every hook, once."""
        with self._lock:
            hooks, self._hooks, self._stopped = self._hooks, [], True
        for hook in hooks:
            hook()

    @property
    def stopped(self) -> bool:
        """Whether the caller went away or the deadline passed."""
        return self._stopped


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


class Runner:
    """Runs blocking work on threads of its own, at most `queue` calls waiting.

    A call whose deadline passed while it waited is never started. The context of the caller goes with the work.
    """

    def __init__(self, name: str, *, workers: int, queue: int) -> None:
        self._executor = ThreadPoolExecutor(workers, thread_name_prefix=name)
        self._room = workers + queue
        self._taken = 0

    @property
    def executor(self) -> Executor:
        """The threads themselves, for work that belongs to no call."""
        return self._executor

    async def __call__(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Returns what the work returns.

        Raises:
            ResourceExhausted: too many calls wait already.
            DeadlineExceeded: the deadline passed before the work began, or while it ran.
        """
        if self._taken >= self._room:
            raise ResourceExhausted("too many calls wait; try again shortly", retry_after_s=BUSY_RETRY_S)
        scope = current_scope()
        context = contextvars.copy_context()

        def started() -> T:
            if scope.stopped or scope.remaining_s() == 0:
                raise DeadlineExceeded("the deadline passed while the call waited")
            return work(*args, **kwargs)

        self._taken += 1
        running = asyncio.get_running_loop().run_in_executor(self._executor, context.run, started)
        running.add_done_callback(self._left)
        try:
            async with asyncio.timeout(scope.remaining_s()):
                return await asyncio.shield(running)
        except TimeoutError:
            if running.done():
                raise
            scope.stop()
            raise DeadlineExceeded("the deadline passed") from None
        except asyncio.CancelledError:
            scope.stop()
            raise

    def _left(self, running: asyncio.Future[T]) -> None:
        self._taken -= 1
        if not running.cancelled():
            running.exception()

    def close(self) -> None:
        """Waits for running work and drops what has not begun."""
        self._executor.shutdown(wait=True, cancel_futures=True)
