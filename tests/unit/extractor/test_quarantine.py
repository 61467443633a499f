"""Contents that killed a reader are held for a while, and only so many of them."""

from __future__ import annotations

from extractor_svc.quarantine import Quarantine


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_content_is_held_for_its_time_and_then_let_go() -> None:
    clock = Clock()
    held = Quarantine(hold_s=60, max_entries=10, clock=clock)
    assert held.seconds_left("a") == 0
    held.add("a")
    clock.now += 45
    assert held.seconds_left("a") == 15
    assert held.seconds_left("b") == 0
    clock.now += 15
    assert held.seconds_left("a") == 0


def test_a_content_that_kills_again_is_held_from_then_on() -> None:
    clock = Clock()
    held = Quarantine(hold_s=60, max_entries=10, clock=clock)
    held.add("a")
    clock.now += 59
    held.add("a")
    assert held.seconds_left("a") == 60


def test_the_oldest_entry_makes_room() -> None:
    held = Quarantine(hold_s=60, max_entries=2, clock=Clock())
    for content in ("a", "b", "c"):
        held.add(content)
    assert [held.seconds_left(content) for content in ("a", "b", "c")] == [0, 60, 60]
