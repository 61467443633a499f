import asyncio
import threading
import time

import pytest

from services.deadlines import CallScope, Runner, current_scope, enter_scope, remaining_s
from services.errors import DeadlineExceeded, ResourceExhausted


@pytest.fixture
def runner():
    made = Runner("test", workers=1, queue=1)
    yield made
    made.close()


def in_seconds(seconds: float) -> CallScope:
    return CallScope(time.monotonic() + seconds)


async def test_work_runs_in_the_callers_context(runner):
    scope = in_seconds(60)
    enter_scope(scope)
    assert await runner(current_scope) is scope


async def test_what_the_work_raises_comes_through(runner):
    with pytest.raises(KeyError):
        await runner({}.__getitem__, "missing")


async def test_a_call_whose_deadline_passed_while_it_waited_is_never_started(runner):
    gate, started = threading.Event(), []
    first = asyncio.create_task(runner(gate.wait, 5))
    await asyncio.sleep(0.05)
    enter_scope(in_seconds(0.05))
    with pytest.raises(DeadlineExceeded):
        await runner(started.append, 1)
    gate.set()
    assert await first
    assert started == []


async def test_work_that_outlasts_the_deadline_is_told_to_stop(runner):
    told = threading.Event()

    def work() -> bool:
        current_scope().on_stop(told.set)
        return told.wait(5)

    enter_scope(in_seconds(0.1))
    with pytest.raises(DeadlineExceeded):
        await runner(work)
    assert told.wait(1)


async def test_work_of_a_cancelled_call_is_told_to_stop(runner):
    told, running = threading.Event(), threading.Event()

    def work() -> bool:
        current_scope().on_stop(told.set)
        running.set()
        return told.wait(5)

    enter_scope(CallScope())
    call = asyncio.create_task(runner(work))
    while not running.is_set():
        await asyncio.sleep(0.01)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert told.wait(1)


async def test_more_calls_than_may_wait_are_told_when_to_come_back(runner):
    gate = threading.Event()
    calls = [asyncio.create_task(runner(gate.wait, 5)) for _ in range(2)]
    await asyncio.sleep(0.05)
    with pytest.raises(ResourceExhausted) as caught:
        await runner(lambda: None)
    assert caught.value.retry_after_s
    gate.set()
    assert await asyncio.gather(*calls) == [True, True]
    await runner(lambda: None)


def test_a_hook_added_after_the_stop_is_called_at_once():
    scope, told = CallScope(), threading.Event()
    scope.stop()
    scope.on_stop(told.set)
    assert told.is_set()


def test_what_is_left_is_the_smaller_of_cap_and_deadline():
    enter_scope(in_seconds(5))
    assert remaining_s(2) == 2
    assert 4 < remaining_s(60) <= 5
