"""A sequence of objects held as columns; each object is made when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias, TypeVar, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

T = TypeVar("T")
Column: TypeAlias = "npt.NDArray[Any] | pa.Array"  # Any: columns of several types

_AT_A_TIME: Final = 10_000


class MadeRows(Sequence[T]):
    """As many objects as the columns are long; `make` takes one value of each column, in their order.

    It equals a tuple or a list of equal objects.
    """

    def __init__(self, make: Callable[..., T], *columns: Column) -> None:
        self._make = make
        self._columns = columns

    def __len__(self) -> int:
        return len(self._columns[0])

    def __iter__(self) -> Iterator[T]:
        for start in range(0, len(self), _AT_A_TIME):
            yield from map(self._make, *(_plain(column[start : start + _AT_A_TIME]) for column in self._columns))

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[T, ...]: ...
    def __getitem__(self, at: int | slice) -> T | tuple[T, ...]:
        if isinstance(at, slice):
            return tuple(self[i] for i in range(*at.indices(len(self))))
        i = range(len(self))[at]
        return self._make(*(_plain(column[i : i + 1])[0] for column in self._columns))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MadeRows | tuple | list):
            return NotImplemented
        return len(self) == len(other) and all(one == another for one, another in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))


def _plain(column: Column) -> list[Any]:  # Any: values of several types
    return column.tolist() if isinstance(column, np.ndarray) else column.to_pylist()  # type: ignore[no-any-return]  # no types
