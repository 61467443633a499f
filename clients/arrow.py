"""Reads Arrow IPC streams with pyarrow, where it is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
