"""Streams of a compound file, the container of encrypted office files ([MS-CFB])."""

from __future__ import annotations

import struct
from typing import Final

from extractor_svc.errors import Malformed

MAGIC: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_LAST_SECTOR: Final = 0xFFFFFFFA
_ENTRY_BYTES: Final = 128
_STREAM: Final = 2
_ROOT: Final = 5


class CompoundFile:
    """The streams of a compound file by name, whatever storage they lie in.

    Raises:
        Malformed: the container is damaged.
    """

    def __init__(self, content: bytes) -> None:
        if not content.startswith(MAGIC) or len(content) < 512:
            raise _damaged()
        self._content = content
        sector_shift, mini_shift = struct.unpack_from("<HH", content, 30)
        if sector_shift not in (9, 12) or mini_shift != 6:
            raise _damaged()
        self._sector_bytes, self._mini_bytes = 1 << sector_shift, 1 << mini_shift
        first_directory, self._cutoff, first_mini_table = struct.unpack_from("<I4xII", content, 48)
        self._table = self._numbers(self._table_sectors())
        self._mini_table = self._numbers(self._chain(first_mini_table, self._table))
        self._streams = self._directory(self._joined(self._chain(first_directory, self._table)))

    def __contains__(self, name: str) -> bool:
        return name in self._streams

    def read(self, name: str) -> bytes:
        """A stream's bytes.

        Raises:
            Malformed: there is no such stream, or its sectors are damaged.
        """
        if name not in self._streams:
            raise _damaged()
        start, size = self._streams[name]
        if size < self._cutoff:
            pieces = (self._mini_sector(number) for number in self._chain(start, self._mini_table))
        else:
            pieces = (self._sector(number) for number in self._chain(start, self._table))
        content = b"".join(pieces)
        if len(content) < size:
            raise _damaged()
        return content[:size]

    def _table_sectors(self) -> list[int]:
        """Numbers of the sectors that hold the allocation table: 109 in the header, more in a chain of their own."""
        first_more, more = struct.unpack_from("<II", self._content, 68)
        sectors = list(struct.unpack_from("<109I", self._content, 76))
        for _ in range(min(more, len(self._content) // self._sector_bytes)):
            numbers = self._numbers([first_more])
            sectors.extend(numbers[:-1])
            first_more = numbers[-1]
        return [sector for sector in sectors if sector < _LAST_SECTOR]

    def _directory(self, content: bytes) -> dict[str, tuple[int, int]]:
        streams: dict[str, tuple[int, int]] = {}
        self._mini_stream = b""
        for at in range(0, len(content) - _ENTRY_BYTES + 1, _ENTRY_BYTES):
            name_bytes, kind = struct.unpack_from("<HB", content, at + 64)
            start, size = struct.unpack_from("<IQ", content, at + 116)
            if self._sector_bytes == 512:
                size &= 0xFFFFFFFF
            name = content[at : at + max(min(name_bytes, 64) - 2, 0)].decode("utf-16-le", "replace")
            if kind == _STREAM:
                streams.setdefault(name, (start, size))
            elif kind == _ROOT:
                self._mini_stream = self._joined(self._chain(start, self._table))
        return streams

    def _chain(self, start: int, table: list[int]) -> list[int]:
        sectors: list[int] = []
        while start < _LAST_SECTOR:
            if start >= len(table) or len(sectors) > len(table):
                raise _damaged()
            sectors.append(start)
            start = table[start]
        return sectors

    def _numbers(self, sectors: list[int]) -> list[int]:
        content = self._joined(sectors)
        return list(struct.unpack(f"<{len(content) // 4}I", content))

    def _joined(self, sectors: list[int]) -> bytes:
        return b"".join(self._sector(number) for number in sectors)

    def _sector(self, number: int) -> bytes:
        at = (number + 1) * self._sector_bytes
        if at >= len(self._content):
            raise _damaged()
        return self._content[at : at + self._sector_bytes].ljust(self._sector_bytes, b"\x00")

    def _mini_sector(self, number: int) -> bytes:
        at = number * self._mini_bytes
        if at >= len(self._mini_stream):
            raise _damaged()
        return self._mini_stream[at : at + self._mini_bytes]


def _damaged() -> Malformed:
    return Malformed("the file's container is damaged; save it again")
