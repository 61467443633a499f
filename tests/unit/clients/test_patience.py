from __future__ import annotations

import pytest

from clients.errors import IngestTimeout
from clients.patience import Patience


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_pauses_double_up_to_five_seconds_and_start_over_once_something_is_heard() -> None:
    patience = Patience("i1", 600, clock=Clock())
    assert [patience.pause_s() for _ in range(7)] == [0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]
    patience.heard()
    assert patience.pause_s() == 0.2


def test_no_pause_is_longer_than_what_is_left() -> None:
    clock = Clock()
    patience = Patience("i1", 10, clock=clock)
    clock.now_s = 9.9
    assert patience.pause_s() == pytest.approx(0.1)


def test_it_ends_with_the_time() -> None:
    clock = Clock()
    patience = Patience("i1", 10, clock=clock)
    assert patience.left_s() == 10
    clock.now_s = 10
    with pytest.raises(IngestTimeout, match="ingestion i1 still runs after 10 s"):
        patience.left_s()
