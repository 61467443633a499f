"""Columns of texts: how long they are, put together, and picked."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Mask: TypeAlias = npt.NDArray[np.bool_]
Places: TypeAlias = npt.NDArray[np.int64]

NO_TEXTS = pa.array([], pa.string())


def column_of(texts: list[str] | list[str | None]) -> pa.StringArray:
    """A column of texts."""
    return pa.array(texts, pa.string())


@lru_cache(maxsize=256)
def text_scalar(text: str) -> Any:  # Any: Arrow ships no types
    """A text for Arrow's functions, which would else look for what it may be; that takes them longer than a short column does."""
    return pa.array([text], pa.string())[0]


def byte_lengths(texts: pa.StringArray) -> Places:
    """How many bytes each text has."""
    if not len(texts):
        return np.array([], np.int64)
    return np.diff(np.frombuffer(texts.buffers()[1], np.int32)[texts.offset : texts.offset + len(texts) + 1]).astype(np.int64)


def char_count(texts: pa.StringArray) -> int:
    """How many characters all texts have."""
    return pc.sum(pc.utf8_length(texts)).as_py() or 0


def side_by_side(*parts: pa.StringArray | str) -> pa.StringArray:
    """The texts of columns joined row by row; a single text stands in every row."""
    columns = [text_scalar(part) if isinstance(part, str) else part for part in parts]
    return pc.binary_join_element_wise(*columns, text_scalar(""))


def matching(texts: pa.StringArray, pattern: str) -> Mask:
    """Which texts have a match of a regular expression."""
    return np.array(pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False), np.bool_)


def picked(texts: pa.StringArray, which: Mask) -> pa.StringArray:
    """Some of the texts."""
    return texts if which.all() else texts.filter(pa.array(which))


def encoded(texts: pa.StringArray) -> tuple[Places, list[str]]:
    """The texts as places in a list of those that differ."""
    found = pc.dictionary_encode(texts)
    return found.indices.to_numpy(), found.dictionary.to_pylist()
