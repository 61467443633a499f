"""A small synced file that remembers the last acknowledged change apart from the record."""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from knowledge_svc.storage.disk import sync_folder

_SLOT_BYTES: Final = 128
_SLOTS: Final = 2


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A database and the last of its changes that a caller was told of."""

    database_id: str
    change_seq: int


class DamagedWitness(Exception):
    """The file is there and says nothing that can be trusted."""


class Witness:
    """Two slots written in turn, each with a checksum, so that a torn write leaves the other one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn = 0
        self._descriptor = -1

    def read(self) -> Acknowledged | None:
        """Returns what was acknowledged last, None where the file is missing.

        Raises:
            DamagedWitness: no slot holds.
        """
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return None
        found = [slot for start in range(0, len(content), _SLOT_BYTES) if (slot := _parse(content[start : start + _SLOT_BYTES]))]
        if not found:
            raise DamagedWitness(f"{self._path.name} holds no valid entry")
        return max(found, key=lambda slot: slot.change_seq)

    def start(self, acknowledged: Acknowledged) -> None:
        """Makes the file anew with both slots alike, and syncs it and its folder."""
        self.close()
        temporary = self._path.with_suffix(".new")
        descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        os.write(descriptor, _format(acknowledged) * _SLOTS)
        os.fsync(descriptor)
        temporary.rename(self._path)
        sync_folder(self._path.parent)
        self._descriptor = descriptor

    def write(self, acknowledged: Acknowledged) -> None:
        """Remembers a change; it is on disk when this returns."""
        self._turn = (self._turn + 1) % _SLOTS
        os.pwrite(self._descriptor, _format(acknowledged), self._turn * _SLOT_BYTES)
        os.fsync(self._descriptor)

    def close(self) -> None:
        """Lets go of the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _format(acknowledged: Acknowledged) -> bytes:
    text = f"{acknowledged.database_id} {acknowledged.change_seq}"
    return f"{text} {zlib.crc32(text.encode()):08x}".encode().ljust(_SLOT_BYTES - 1) + b"\n"


def _parse(slot: bytes) -> Acknowledged | None:
    parts = slot.decode("ascii", "replace").split()
    if len(parts) != 3 or not parts[1].isdecimal():
        return None
    acknowledged = Acknowledged(parts[0], int(parts[1]))
    return acknowledged if _format(acknowledged) == slot else None
