"""Times calls, several kinds in turn so that a noisy machine is noisy for all of them alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds of one kind of call."""

    p50_ms: float
    p99_ms: float


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the table: what was measured, beside what, and the ratio of the two."""

    what: str
    measured: str
    beside: str
    ratio: float
    aim: str


def in_turn(kinds: Mapping[str, Callable[[int], object]], *, rounds: int, warm: int = 5) -> dict[str, Timing]:
    """Calls each kind once a round, with the round's number, and returns its times."""
    for number in range(warm):
        for call in kinds.values():
            call(number)
    times: dict[str, list[float]] = {name: [] for name in kinds}
    for number in range(rounds):
        for name, call in kinds.items():
            began = time.perf_counter()
            call(number)
            times[name].append((time.perf_counter() - began) * 1000)
    return {name: Timing(statistics.median(found), sorted(found)[int(len(found) * 0.99) - 1]) for name, found in times.items()}


HEAD: Final = "| what | Loom | beside | ratio | aim |\n|---|---|---|---|---|"
"""What stands over the rows of a Markdown table."""


def row(line: Line) -> str:
    """A line as a row of a Markdown table."""
    return f"| {line.what} | {line.measured} | {line.beside} | {line.ratio:.2f} | {line.aim} |"
