"""How much one document may take: bytes in, time, memory, and what it may grow to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one extraction; every one of them is enforced, and passing one refuses the document with a typed error.

    `zip_max_ratio` compares an entry's inflated with its packed bytes, and is asked only of entries that inflate past 1 MiB.
    """

    max_bytes: int = 64 * MIB
    timeout_s: float = 300.0
    progress_timeout_s: float = 60.0
    memory_bytes: int = 2048 * MIB
    max_pages: int = 5_000
    max_rows: int = 1_000_000
    max_columns: int = 4_096
    max_cells: int = 3_000_000
    max_text_chars: int = 100_000_000
    max_blocks: int = 500_000
    max_links: int = 100_000
    max_link_chars: int = 4_096
    max_warnings: int = 1_000
    zip_max_entries: int = 10_000
    zip_max_ratio: int = 500
    zip_max_inflated_bytes: int = 1024 * MIB


DEFAULT_LIMITS: Final = Limits()
