"""How servicers get blocking work off the event loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Runner(Protocol):
    """Runs blocking work on a bounded executor, under the call's deadline."""

    async def __call__(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Returns what the work returns.

        Raises:
            DeadlineExceeded: the deadline passed before the work began.
        """
