"""A file to send, measured and then read in chunks, so that its size never stands in memory."""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

CHUNK_BYTES: Final = 256 * 1024


@dataclass(slots=True)
class Meter:
    """Counts the bytes of a file that have been handed over."""

    done_bytes: int = 0


@dataclass(frozen=True, slots=True)
class File:
    """A file's name, size and SHA-256 (lower-case hex), and where its bytes are: in memory or at a path."""

    name: str
    content_type: str
    size_bytes: int
    sha256: str
    content: bytes | Path

    def chunks(self, meter: Meter | None = None, *, offset: int = 0) -> Iterator[bytes]:
        """Yields the bytes after `offset` in chunks of at most 256 KiB, and counts those that have been handed over.

        Raises:
            OSError: the file at the path cannot be read any more.
        """
        for chunk in _chunks(self.content, offset):
            yield chunk
            if meter is not None:
                meter.done_bytes += len(chunk)


def measure(data: bytes | str | Path, filename: str = "", *, content_type: str = "") -> File:
    """Reads a file once for its size and SHA-256. A str is a path; bytes need a `filename`, a path brings its own.

    Raises:
        OSError: the path cannot be read.
        ValueError: bytes came without a filename.
    """
    content = Path(data) if isinstance(data, str) else data
    if isinstance(content, bytes) and not filename:
        raise ValueError("bytes need a filename with its extension, by which their format is recognised")
    name = filename or (content.name if isinstance(content, Path) else "")
    digest, size_bytes = hashlib.sha256(), 0
    for chunk in _chunks(content):
        digest.update(chunk)
        size_bytes += len(chunk)
    media_type = content_type or mimetypes.guess_type(name)[0] or ""
    return File(name, media_type, size_bytes, digest.hexdigest(), content)


def _chunks(content: bytes | Path, offset: int = 0) -> Iterator[bytes]:
    if isinstance(content, bytes):
        for start in range(offset, len(content), CHUNK_BYTES):
            yield content[start : start + CHUNK_BYTES]
        return
    with content.open("rb") as file:
        file.seek(offset)
        while chunk := file.read(CHUNK_BYTES):
            yield chunk
