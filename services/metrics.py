"""Counts and times what a service does, and writes them in the text form that Prometheus reads (version 0.0.4)."""

from __future__ import annotations

import math
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper bounds of the classes that times fall into."""

Labels: TypeAlias = tuple[str, ...]
Reading: TypeAlias = Mapping[Labels, float]


@dataclass(frozen=True, slots=True)
class Family:
    """A metric's name, what it tells, and the names of its labels."""

    name: str
    help: str
    labels: tuple[str, ...] = ()

    def sample(self, values: Labels, value: float, *, suffix: str = "", more: str = "") -> str:
        """One line of the text form."""
        named = [f'{name}="{_escaped(text)}"' for name, text in zip(self.labels, values, strict=True)]
        inside = ",".join([*named, more] if more else named)
        return f"{self.name}{suffix}{{{inside}}} {_number(value)}" if inside else f"{self.name}{suffix} {_number(value)}"


class Counter:
    """Counts up, by label values. Safe from any thread."""

    kind: Final = "counter"

    def __init__(self, family: Family) -> None:
        self.family = family
        self._values: dict[Labels, float] = {}
        self._lock = threading.Lock()

    def add(self, *labels: str, by: float = 1) -> None:
        """Counts."""
        with self._lock:
            self._values[labels] = self._values.get(labels, 0) + by

    def lines(self) -> Iterator[str]:
        """The samples."""
        with self._lock:
            held = sorted(self._values.items())
        return (self.family.sample(labels, value) for labels, value in held)


@dataclass(slots=True)
class _Times:
    """Times of one set of label values: how many fell into each class, and their sum."""

    classes: list[int] = field(default_factory=lambda: [0] * (len(SECONDS) + 1))
    total_s: float = 0.0


class Histogram:
    """Sorts times into classes, by label values. Safe from any thread."""

    kind: Final = "histogram"

    def __init__(self, family: Family) -> None:
        self.family = family
        self._times: dict[Labels, _Times] = {}
        self._lock = threading.Lock()

    def observe(self, *labels: str, seconds: float) -> None:
        """Takes one time."""
        with self._lock:
            times = self._times.setdefault(labels, _Times())
            times.classes[bisect_left(SECONDS, seconds)] += 1
            times.total_s += seconds

    def lines(self) -> Iterator[str]:
        """The samples: each class counts those below it too, as the text form wants it."""
        with self._lock:
            held = sorted((labels, list(times.classes), times.total_s) for labels, times in self._times.items())
        for labels, classes, total_s in held:
            below = 0
            for bound, count in zip((*SECONDS, math.inf), classes, strict=True):
                below += count
                yield self.family.sample(labels, below, suffix="_bucket", more=f'le="{_number(bound)}"')
            yield self.family.sample(labels, total_s, suffix="_sum")
            yield self.family.sample(labels, below, suffix="_count")


class Gauge:
    """Reads what is so now, by label values, whenever it is asked for. `read` may block."""

    kind: Final = "gauge"

    def __init__(self, family: Family, read: Callable[[], Reading]) -> None:
        self.family = family
        self._read = read

    def lines(self) -> Iterator[str]:
        """The samples."""
        return (self.family.sample(labels, value) for labels, value in sorted(self._read().items()))


Metric: TypeAlias = Counter | Histogram | Gauge


class CallMetrics:
    """What a server's calls came to."""

    def __init__(self) -> None:
        self._calls = Counter(Family("loom_calls_total", "Calls answered, by method and code.", ("method", "code")))
        self._refusals = Counter(Family("loom_refusals_total", "Calls refused, by method and reason.", ("method", "reason")))
        self._seconds = Histogram(Family("loom_call_seconds", "Time from a call's first moment to its last.", ("method",)))

    def ended(self, method: str, *, code: str, reason: str, seconds: float) -> None:
        """Takes one call; `reason` is empty where it was not refused."""
        self._calls.add(method, code)
        self._seconds.observe(method, seconds=seconds)
        if reason:
            self._refusals.add(method, reason)

    @property
    def all(self) -> tuple[Metric, ...]:
        """The metrics."""
        return self._calls, self._refusals, self._seconds


def exposition(metrics: Sequence[Metric]) -> str:
    """The metrics as text."""
    return "".join(f"{line}\n" for metric in metrics for line in _lines(metric))


def _lines(metric: Metric) -> Iterator[str]:
    family = metric.family
    yield f"# HELP {family.name} {family.help}"
    yield f"# TYPE {family.name} {metric.kind}"
    yield from metric.lines()


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return str(int(value)) if value == int(value) else repr(float(value))
