"""Vectors between Arrow columns and arrays."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from knowledge_svc.domain.model import Vectors


def vectors_of(column: pa.ChunkedArray) -> Vectors:
    """Returns a column of fixed-size lists as an array of shape (rows, dimension)."""
    flat = column.combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return np.ascontiguousarray(flat, dtype=np.float32).reshape(len(column), column.type.list_size)
