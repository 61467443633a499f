"""What filters ask of chunks, as columns in position order."""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Final, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from knowledge_svc.domain.model import ChunkFilter, IndexRows
from knowledge_svc.domain.ports import Mask

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_Value = TypeVar("_Value", bound=Hashable)


class Column:
    """Numbers in an array that grows; a part handed out never changes."""

    def __init__(self, values: npt.NDArray[np.int64]) -> None:
        self._values = values
        self._size = len(values)

    def append(self, values: npt.NDArray[np.int64]) -> None:
        """Adds values at the end."""
        size = self._size + len(values)
        if size > len(self._values):
            grown = np.empty(max(size, 2 * len(self._values)), dtype=np.int64)
            grown[: self._size] = self._values[: self._size]
            self._values = grown
        self._values[self._size : size] = values
        self._size = size

    def first(self, size: int) -> npt.NDArray[np.int64]:
        """Returns the first values without copying."""
        return self._values[:size]


class CodedColumn(Generic[_Value]):
    """Values as codes into the list of distinct ones."""

    def __init__(self, codes: npt.NDArray[np.int64], values: Sequence[_Value]) -> None:
        self.codes = Column(codes)
        self.values = list(values)
        self._code_of = {value: code for code, value in enumerate(values)}

    def append(self, values: Iterable[_Value]) -> None:
        """Adds values at the end."""
        self.codes.append(np.fromiter((self._code(value) for value in values), dtype=np.int64))

    def where(self, size: int, test: Callable[[_Value], bool]) -> Mask:
        """Returns which of the first values pass; the test runs once a distinct value."""
        passed = np.fromiter((test(value) for value in self.values[:]), dtype=np.bool_)
        return self.coded(size, passed)

    def coded(self, size: int, passed: Mask) -> Mask:
        """Returns which of the first values have a code that passed."""
        return passed[self.codes.first(size)] if size else np.zeros(0, dtype=np.bool_)

    def _code(self, value: _Value) -> int:
        code = self._code_of.get(value)
        if code is None:
            code = self._code_of[value] = len(self.values)
            self.values.append(value)
        return code


class Catalog:
    """One row a position; it only grows. One thread appends, many filter what stood before."""

    def __init__(
        self,
        *,
        chunk_ids: Column,
        uris: CodedColumn[str],
        tags: CodedColumn[tuple[str, ...]],
        formats: CodedColumn[str],
        block_types: CodedColumn[str],
        sections: CodedColumn[str],
        ingested_at_us: Column,
    ) -> None:
        self.chunk_ids = chunk_ids
        self.uris = uris
        self.tags = tags
        self.formats = formats
        self.block_types = block_types
        self.sections = sections
        self.ingested_at_us = ingested_at_us
        self._uri_order = _SortedUris()

    @classmethod
    def empty(cls) -> Catalog:
        """Returns a catalog of no chunks."""
        none = np.empty(0, dtype=np.int64)
        return cls(
            chunk_ids=Column(none),
            uris=CodedColumn(none, ()),
            tags=CodedColumn(none, ()),
            formats=CodedColumn(none, ()),
            block_types=CodedColumn(none, ()),
            sections=CodedColumn(none, ()),
            ingested_at_us=Column(none),
        )

    def append(self, rows: IndexRows) -> None:
        """Adds chunks at the end."""
        self.uris.append(rows.source_uris)
        self.tags.append(rows.tags)
        self.formats.append(rows.formats)
        self.block_types.append(rows.block_types)
        self.sections.append(rows.sections)
        self.ingested_at_us.append(rows.ingested_at_us)
        self.chunk_ids.append(rows.chunk_ids)

    def keep(self, positions: Mask) -> Catalog:
        """Returns a catalog of the positions alone, in their order."""
        size = len(positions)
        kept = Catalog.empty()
        kept.chunk_ids.append(self.chunk_ids.first(size)[positions])
        kept.ingested_at_us.append(self.ingested_at_us.first(size)[positions])
        for old, new in (
            (self.uris, kept.uris),
            (self.formats, kept.formats),
            (self.block_types, kept.block_types),
            (self.sections, kept.sections),
        ):
            new.append(old.values[code] for code in old.codes.first(size)[positions].tolist())
        kept.tags.append(self.tags.values[code] for code in self.tags.codes.first(size)[positions].tolist())
        return kept

    def allowed(self, selection: ChunkFilter, live: Mask) -> Mask:
        """Returns which live chunks pass the filter; `live` itself where the filter is empty."""
        size = len(live)
        mask = live
        if selection.uri_prefixes:
            mask = mask & self.uris.coded(size, self._uri_order.with_prefixes(self.uris.values, selection.uri_prefixes))
        if selection.tags:
            wanted = frozenset(selection.tags)
            mask = mask & self.tags.where(size, lambda tags: not wanted.isdisjoint(tags))
        if selection.formats:
            mask = mask & self.formats.where(size, frozenset(selection.formats).__contains__)
        if selection.block_types:
            mask = mask & self.block_types.where(size, frozenset(selection.block_types).__contains__)
        if selection.ingested_since is not None:
            mask = mask & (self.ingested_at_us.first(size) >= microseconds(selection.ingested_since))
        return mask


class _SortedUris:
    """The distinct URIs in order, brought up to date when a prefix is asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._uris: list[str] = []
        self._codes: list[int] = []

    def with_prefixes(self, values: list[str], prefixes: Sequence[str]) -> Mask:
        """Returns a flag a code: whether its URI begins with any of the prefixes."""
        with self._lock:
            if len(self._uris) < len(values):
                count = len(values)
                codes = sorted([*self._codes, *range(len(self._codes), count)], key=values.__getitem__)
                self._codes, self._uris = codes, [values[code] for code in codes]
            uris, codes = self._uris, self._codes
        passed = np.zeros(len(codes), dtype=np.bool_)
        for prefix in prefixes:
            first = bisect_left(uris, prefix)
            last = bisect_right(uris, prefix, lo=first, key=lambda uri: uri[: len(prefix)])
            passed[codes[first:last]] = True
        return passed


def microseconds(at: datetime) -> int:
    """Returns whole microseconds since 1970, UTC."""
    since = at - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
