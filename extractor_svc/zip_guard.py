"""A ZIP archive whose directory was checked before any of it is inflated, and whose entries are inflated on a budget."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from typing import IO, Final

from extractor_svc.errors import ZipBomb, ZipInvalid, ZipPath, ZipTooManyEntries
from extractor_svc.limits import MIB, Limits

_DIRECTORY_MARK: Final = b"PK\x01\x02"
_LOCAL_HEADER: Final = struct.Struct("<4s22sHH")
_ENCRYPTED: Final = 0x1
_CHUNK: Final = 256 * 1024
_METHODS: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_BROKEN: Final = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, struct.error, ValueError, RuntimeError, OSError)


class Archive:
    """The entries of an archive by name, with `/` between folders; names are found without regard to case.

    Raises:
        ZipInvalid: it is damaged, encrypted, packed in a way office files are not, or entries overlap or repeat.
        ZipPath: an entry's name leaves the archive.
        ZipTooManyEntries: it has more entries than allowed.
        ZipBomb: an entry, or all together, would inflate past the limits.
    """

    def __init__(self, content: bytes, limits: Limits) -> None:
        _check_count(content, limits)
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        except _BROKEN as error:
            raise ZipInvalid("the archive is damaged; save the file again") from error
        entries = [entry for entry in self._zip.infolist() if not entry.filename.endswith("/")]
        self._entries = {_plain(entry.filename).casefold(): entry for entry in entries}
        self.names = tuple(_plain(entry.filename) for entry in entries)
        self._budget = limits.zip_max_inflated_bytes
        _check_names(entries)
        _check_sizes(entries, limits)
        _check_overlap(entries, content, self._zip.start_dir)

    def __contains__(self, name: str) -> bool:
        return name.casefold() in self._entries

    def size_of(self, name: str) -> int:
        """Bytes of an entry when inflated, as the directory states them.

        Raises:
            KeyError: there is no such entry.
        """
        return self._entries[name.casefold()].file_size

    def read(self, name: str) -> bytes:
        """An entry's bytes.

        Raises:
            KeyError: there is no such entry.
            ZipInvalid: the entry is damaged.
            ZipBomb: more was inflated from this archive than allowed.
        """
        with self.open(name) as stream:
            return stream.read()

    def open(self, name: str) -> EntryStream:
        """An entry as a stream that counts what it inflates; raises as `read`, also while it is read."""
        entry = self._entries[name.casefold()]
        try:
            return EntryStream(self._zip.open(entry), self, name)
        except _BROKEN as error:
            raise _damaged(name) from error

    def spend(self, size: int) -> None:
        """Takes inflated bytes from the archive's budget.

        Raises:
            ZipBomb: nothing is left of it.
        """
        self._budget -= size
        if self._budget < 0:
            raise ZipBomb("the archive inflates past the allowed size; split the file")


class EntryStream:
    """A readable stream over one entry, for parsers that read by pieces."""

    def __init__(self, raw: IO[bytes], archive: Archive, name: str) -> None:
        self._raw = raw
        self._archive = archive
        self._name = name

    def __enter__(self) -> EntryStream:
        return self

    def __exit__(self, *_: object) -> None:
        self._raw.close()

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes, or all that are left where it is negative; empty at the end."""
        if size >= 0:
            return self._piece(size)
        return b"".join(iter(lambda: self._piece(_CHUNK), b""))

    def _piece(self, size: int) -> bytes:
        try:
            piece = self._raw.read(size)
        except _BROKEN as error:
            raise _damaged(self._name) from error
        self._archive.spend(len(piece))
        return piece


def _damaged(name: str) -> ZipInvalid:
    return ZipInvalid(f"entry {name} of the archive is damaged; save the file again", metadata={"entry": name})


def _plain(name: str) -> str:
    return name.replace("\\", "/")


def _check_count(content: bytes, limits: Limits) -> None:
    """Counts directory records in the bytes, since opening an archive already takes memory for each of them."""
    entries = content.count(_DIRECTORY_MARK)
    if entries > limits.zip_max_entries:
        raise ZipTooManyEntries(
            f"the archive has {entries} entries and at most {limits.zip_max_entries} are read",
            metadata={"entries": str(entries), "max_entries": str(limits.zip_max_entries)},
        )


def _check_names(entries: list[zipfile.ZipInfo]) -> None:
    seen: set[str] = set()
    for entry in entries:
        name = _plain(entry.filename)
        if not name:
            raise ZipInvalid("an entry of the archive has no name; save the file again")
        if name.startswith("/") or name[1:2] == ":" or ".." in name.split("/"):
            raise ZipPath(f"entry {name[:200]} leaves the archive", metadata={"entry": name[:200]})
        if name in seen:
            raise ZipInvalid(f"entry {name[:200]} stands in the archive twice", metadata={"entry": name[:200]})
        if entry.flag_bits & _ENCRYPTED:
            raise ZipInvalid("the archive's entries are encrypted; pack it again without a password")
        if entry.compress_type not in _METHODS:
            raise ZipInvalid(f"entry {name[:200]} is packed in a way office files are not", metadata={"entry": name[:200]})
        seen.add(name)


def _check_sizes(entries: list[zipfile.ZipInfo], limits: Limits) -> None:
    for entry in entries:
        if entry.file_size > MIB and entry.file_size > limits.zip_max_ratio * max(entry.compress_size, 1):
            name = _plain(entry.filename)[:200]
            raise ZipBomb(f"entry {name} inflates more than {limits.zip_max_ratio} times", metadata={"entry": name})
    total = sum(entry.file_size for entry in entries)
    if total > limits.zip_max_inflated_bytes:
        raise ZipBomb(
            f"the archive would inflate to {total} bytes and at most {limits.zip_max_inflated_bytes} are read",
            metadata={"inflated_bytes": str(total), "max_inflated_bytes": str(limits.zip_max_inflated_bytes)},
        )


def _check_overlap(entries: list[zipfile.ZipInfo], content: bytes, directory: int) -> None:
    end_before = 0
    for entry in sorted(entries, key=lambda entry: entry.header_offset):
        header = content[entry.header_offset : entry.header_offset + _LOCAL_HEADER.size]
        if len(header) < _LOCAL_HEADER.size or not header.startswith(b"PK\x03\x04"):
            raise _damaged(_plain(entry.filename)[:200])
        if entry.header_offset < end_before:
            raise ZipInvalid("entries of the archive overlap")
        _, _, name_size, extra_size = _LOCAL_HEADER.unpack(header)
        end_before = entry.header_offset + _LOCAL_HEADER.size + name_size + extra_size + entry.compress_size
    if end_before > directory:
        raise ZipInvalid("entries of the archive overlap its directory")
