import asyncio
import threading
import time
from functools import partial

import pytest
import structlog

from services.deadlines import CallScope, Runner, current_scope, enter_scope, remaining_s
from services.errors import Cancelled, DeadlineExceeded, ResourceExhausted, Unavailable


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


async def test_a_timeout_of_the_works_own_comes_through_as_it_is(runner):
    def work() -> None:
        raise TimeoutError("the disk did not answer")

    enter_scope(in_seconds(60))
    with pytest.raises(TimeoutError, match="the disk did not answer"):
        await runner(work)


@pytest.mark.parametrize(("scope", "error"), [(in_seconds(-1), DeadlineExceeded), (CallScope(), Cancelled)])
def test_a_check_ends_the_work_of_a_call_that_is_over(scope, error):
    scope.stop()
    with pytest.raises(error):
        scope.check()


def test_a_check_lets_work_go_on_while_its_caller_waits():
    in_seconds(60).check()
    CallScope().check()


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


async def test_a_cancelled_call_that_waited_is_never_started_and_gives_up_its_place(runner):
    gate, started = threading.Event(), []
    first = asyncio.create_task(runner(gate.wait, 5))
    waits = asyncio.create_task(runner(started.append, "cancelled"))
    await asyncio.sleep(0.05)
    waits.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waits
    enter_scope(CallScope())
    next_one = asyncio.create_task(runner(started.append, "next"))
    await asyncio.sleep(0.05)
    gate.set()
    await asyncio.gather(first, next_one)
    assert started == ["next"]


async def test_work_that_outlasts_its_call_keeps_its_place_until_it_ends(runner):
    gate, done = threading.Event(), threading.Event()

    def work() -> None:
        gate.wait(5)
        done.set()

    enter_scope(in_seconds(0.05))
    with pytest.raises(DeadlineExceeded):
        await runner(work)
    enter_scope(CallScope())
    waits = asyncio.create_task(runner(lambda: done.is_set()))
    await asyncio.sleep(0.05)
    with pytest.raises(ResourceExhausted):
        await runner(lambda: None)
    gate.set()
    assert await waits is True


async def test_a_failure_of_work_that_was_stopped_is_in_the_log(runner):
    told = threading.Event()

    def work() -> None:
        current_scope().on_stop(told.set)
        told.wait(5)
        raise KeyError("interrupted")

    enter_scope(in_seconds(0.05))
    with structlog.testing.capture_logs() as events:
        with pytest.raises(DeadlineExceeded):
            await runner(work)
        enter_scope(CallScope())
        await runner(lambda: None)
    assert events == [{"event": "stopped_work_failed", "error": "KeyError", "log_level": "debug"}]


async def test_a_time_out_of_the_works_own_is_not_taken_for_the_calls(runner):
    def work() -> None:
        raise TimeoutError("of the work")

    with pytest.raises(TimeoutError, match="of the work"):
        await runner(work)


async def test_calls_that_wait_when_it_closes_are_told_that_it_goes_down():
    runner, gate = Runner("closing", workers=1, queue=2), threading.Event()
    running, waits = asyncio.create_task(runner(gate.wait, 5)), asyncio.create_task(runner(gate.wait, 5))
    await asyncio.sleep(0.05)
    closing = asyncio.create_task(asyncio.to_thread(runner.close))
    with pytest.raises(Unavailable):
        await waits
    with pytest.raises(Unavailable):
        await runner(lambda: None)
    gate.set()
    await closing
    assert await running is True


def test_a_hook_that_fails_does_not_keep_others_from_being_called():
    scope, told = CallScope(), []

    def fails() -> None:
        raise ValueError("cannot interrupt")

    scope.on_stop(fails)
    scope.on_stop(lambda: told.append(1))
    with pytest.raises(ValueError, match="cannot interrupt"):
        scope.stop()
    assert told == [1]


def test_a_hook_that_is_forgotten_is_not_called():
    scope, told = CallScope(), []
    hook = partial(told.append, 1)
    scope.on_stop(hook)
    scope.forget(hook)
    scope.stop()
    assert told == []


def test_a_hook_added_after_the_stop_is_called_at_once():
    scope, told = CallScope(), threading.Event()
    scope.stop()
    scope.on_stop(told.set)
    assert told.is_set()


def test_what_is_left_is_the_smaller_of_cap_and_deadline():
    enter_scope(in_seconds(5))
    assert remaining_s(2) == 2
    assert 4 < remaining_s(60) <= 5
