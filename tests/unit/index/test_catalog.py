"""Filters over columns."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge_svc.domain.model import ChunkFilter
from knowledge_svc.index.catalog import Catalog, microseconds
from knowledge_svc.index.rows import rows_of
from tests.index_fixtures import DAY, MemoryRecord, chunk, draft


def catalog() -> Catalog:
    """Positions 0 to 4: two of a/1, one of a/2, two of b/1."""
    record, made = MemoryRecord(), Catalog.empty()
    for version in (
        draft(
            "a/1",
            [chunk(0, "x", block_type="paragraph"), chunk(1, "y", block_type="mixed")],
            tags=("red", "blue"),
            file_format="pdf",
        ),
        draft("a/2", [chunk(0, "z")], tags=("blue",), at=DAY + timedelta(days=1)),
        draft("b/1", [chunk(0, "u", block_type="mixed"), chunk(1, "v")], file_format="xlsx", at=DAY + timedelta(days=2)),
    ):
        made.append(rows_of(record.stage(version)))
    return made


CASES = {
    "nothing asked": (ChunkFilter(), [0, 1, 2, 3, 4]),
    "prefix": (ChunkFilter(uri_prefixes=("a/",)), [0, 1, 2]),
    "whole uri": (ChunkFilter(uri_prefixes=("a/2",)), [2]),
    "any of the prefixes": (ChunkFilter(uri_prefixes=("b", "a/2")), [2, 3, 4]),
    "prefix of nothing": (ChunkFilter(uri_prefixes=("a/1/",)), []),
    "empty prefix": (ChunkFilter(uri_prefixes=("",)), [0, 1, 2, 3, 4]),
    "any of the tags": (ChunkFilter(tags=("red", "green")), [0, 1]),
    "tag of several documents": (ChunkFilter(tags=("blue",)), [0, 1, 2]),
    "format": (ChunkFilter(formats=("xlsx",)), [3, 4]),
    "not ingested": (ChunkFilter(formats=("",)), [2]),
    "block type leaves out text without one": (ChunkFilter(block_types=("mixed", "paragraph")), [0, 1, 3]),
    "since, its own moment included": (ChunkFilter(ingested_since=DAY + timedelta(days=1)), [2, 3, 4]),
    "all together": (
        ChunkFilter(("a", "b"), ("red", "blue"), ("pdf",), ("mixed",), DAY),
        [1],
    ),
}


@pytest.mark.parametrize(("selection", "expected"), CASES.values(), ids=CASES.keys())
def test_filters_select_chunks(selection: ChunkFilter, expected: list[int]) -> None:
    made = catalog()
    live = np.ones(5, dtype=np.bool_)
    assert np.flatnonzero(made.allowed(selection, live)).tolist() == expected
    live[[0, 2, 3]] = False
    assert np.flatnonzero(made.allowed(selection, live)).tolist() == [place for place in expected if place in (1, 4)]
    assert np.flatnonzero(made.allowed(selection, live[:2])).tolist() == [place for place in expected if place == 1]


def test_an_empty_filter_is_the_live_mask_itself() -> None:
    live = np.ones(5, dtype=np.bool_)
    assert catalog().allowed(ChunkFilter(), live) is live


def test_filters_over_nothing_select_nothing() -> None:
    none = np.zeros(0, dtype=np.bool_)
    for selection, _ in CASES.values():
        assert Catalog.empty().allowed(selection, none).tolist() == []


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text("aé/\U0010ffff", max_size=5), min_size=1, max_size=12, unique=True), st.text("aé/\U0010ffff", max_size=3))
def test_a_prefix_selects_what_begins_with_it(uris: list[str], prefix: str) -> None:
    record, made = MemoryRecord(), Catalog.empty()
    for uri in uris:
        made.append(rows_of(record.stage(draft(uri, [chunk(0, "x")]))))
        size = len(made.uris.values)
        mask = made.allowed(ChunkFilter(uri_prefixes=(prefix,)), np.ones(size, dtype=np.bool_))
        assert mask.tolist() == [uri.startswith(prefix) for uri in uris[:size]]


def test_keeping_some_positions_keeps_their_rows() -> None:
    kept = catalog().keep(np.array([False, True, False, True, True]))
    live = np.ones(3, dtype=np.bool_)
    assert kept.chunk_ids.first(3).tolist() == [2, 4, 5]
    assert kept.allowed(ChunkFilter(uri_prefixes=("b",)), live).tolist() == [False, True, True]
    assert kept.allowed(ChunkFilter(tags=("red",)), live).tolist() == [True, False, False]
    assert kept.allowed(ChunkFilter(ingested_since=DAY + timedelta(days=2)), live).tolist() == [False, True, True]


def test_moments_are_whole_microseconds() -> None:
    assert microseconds(datetime(1970, 1, 2, 0, 0, 0, 5, tzinfo=UTC)) == 86_400_000_005
    assert microseconds(datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)) == -1_000_000
