"""Checks a lexical index's files by the CRC-32 that tantivy keeps at their ends and does not compare when it opens them."""

from __future__ import annotations

import json
import mmap
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from knowledge_svc.index.files import DamagedFile

_KINDS: Final = ("idx", "pos", "term", "store", "fast", "fieldnorm")
_MAGIC: Final = 1337
_TAIL: Final = struct.Struct("<II")


def check_lexical(folder: Path) -> None:
    """Reads every file of the last commit.

    Raises:
        DamagedFile: one is missing or not what was written.
    """
    try:
        meta = json.loads((folder / "meta.json").read_bytes())
        for name in _names(meta):
            _check(folder / name)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, struct.error) as error:
        raise DamagedFile("the lexical index cannot be read") from error


def _names(meta: Any) -> Iterator[str]:  # Any: parsed JSON; what does not fit raises
    for segment in meta["segments"]:
        stem = segment["segment_id"].replace("-", "")
        yield from (f"{stem}.{kind}" for kind in _KINDS)
        if segment["deletes"]:
            yield f"{stem}.{segment['deletes']['opstamp']}.del"


def _check(path: Path) -> None:
    """Compares a file's body with its footer: JSON with the CRC-32, the JSON's length, a magic number."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        length, magic = _TAIL.unpack(mapped[-_TAIL.size :])
        end = len(mapped) - _TAIL.size - length
        if magic != _MAGIC or end < 0:
            raise DamagedFile(f"{path.name} has no footer")
        with memoryview(mapped) as content, content[:end] as body:
            crc32 = zlib.crc32(body)
        if json.loads(mapped[end : -_TAIL.size])["crc"] != crc32:
            raise DamagedFile(f"{path.name} has another checksum")
