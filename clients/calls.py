"""What a call is before it is made: its method, its request, how its answer reads, and how long it may take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from google.protobuf.message import Message

R = TypeVar("R")

READ_TIMEOUT_S: Final = 30.0
"""Of calls that look something up."""
WORK_TIMEOUT_S: Final = 300.0
"""Of calls that compute: text writes embed every chunk before they answer, plans read every row."""
UPLOAD_TIMEOUT_S: Final = 3600.0
"""Of calls whose length depends on a file's size and the line it goes over."""


@dataclass(frozen=True, slots=True)
class Call(Generic[R]):
    """One request, one answer. `method` is a stub and its method, such as "search.Search"."""

    method: str
    request: Message
    read: Callable[[Any], R]  # Any: the answer's type is the method's, which a string names
    timeout_s: float = READ_TIMEOUT_S


@dataclass(frozen=True, slots=True)
class Pages(Generic[R]):
    """A listing in pages; `read` gives the items of one page. Answers hold `next_page_token`."""

    method: str
    request: Message
    read: Callable[[Any], Sequence[R]]  # Any: as in Call
    timeout_s: float = READ_TIMEOUT_S


@dataclass(frozen=True, slots=True)
class Stream(Generic[R]):
    """One request, answers until the server ends them."""

    method: str
    request: Message
    read: Callable[[Any], R]  # Any: as in Call
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True)
class Upload(Generic[R]):
    """Requests made of a file; one answer. `requests` may raise, such as OSError where the file goes away."""

    method: str
    requests: Iterator[Message]
    read: Callable[[Any], R]  # Any: as in Call
    timeout_s: float = UPLOAD_TIMEOUT_S


@dataclass(frozen=True, slots=True)
class Exchange(Generic[R]):
    """Requests made of a file; answers until the server ends them."""

    method: str
    requests: Iterator[Message]
    read: Callable[[Any], R]  # Any: as in Call
    timeout_s: float = UPLOAD_TIMEOUT_S
