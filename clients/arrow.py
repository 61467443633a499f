"""Reads Arrow IPC streams with pyarrow, where it is installed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    import polars as pl
    import pyarrow as pa


def read_table(arrow_ipc: bytes) -> pa.Table:
    """The table of one Arrow IPC stream.

    Raises:
        ModuleNotFoundError: pyarrow is not installed; the bytes are an Arrow IPC stream that any Arrow library reads.
    """
    try:
        from pyarrow import ipc
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("reading rows as a table needs pyarrow; install it with: pip install pyarrow") from error
    with ipc.open_stream(arrow_ipc) as reader:
        return reader.read_all()


def data_frame(table: pa.Table) -> pd.DataFrame:
    """The table as pandas has it; exact numbers stay `Decimal`.

    Raises:
        ModuleNotFoundError: pandas is not installed.
    """
    if find_spec("pandas") is None:
        raise ModuleNotFoundError("a pandas data frame needs pandas; install it with: pip install pandas")
    return table.to_pandas()


def polars_frame(table: pa.Table) -> pl.DataFrame:
    """The table as polars has it.

    Raises:
        ModuleNotFoundError: polars is not installed.
    """
    if find_spec("polars") is None:
        raise ModuleNotFoundError("a polars data frame needs polars; install it with: pip install polars")
    import polars

    return polars.from_arrow(table)


def write_parquet(table: pa.Table, path: str | Path) -> None:
    """Writes the table as a Parquet file, with what its schema says of the result."""
    from pyarrow import parquet

    parquet.write_table(table, path)
