"""The CURRENT file: what a namespace's index files are and what they were made from."""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from knowledge_svc.index.files import DamagedFile, FileStamp, write_file

CURRENT: Final = "CURRENT"
LAYOUT: Final = 1
"""Version of the files' layout; files of another one are made anew."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """`change_seq` is the record's change the files reflect; `lexical` names a folder, `files` the others."""

    layout: int
    analysis: str
    database_id: str
    org: str
    namespace: str
    change_seq: int
    dimension: int
    metric: str
    model: str
    chunks: int
    generation: int
    lexical: str
    files: tuple[FileStamp, ...]

    def stamp(self, kind: str) -> FileStamp:
        """Returns the file whose name begins with the kind.

        Raises:
            DamagedFile: none is named.
        """
        for stamp in self.files:
            if stamp.name.startswith(f"{kind}-"):
                return stamp
        raise DamagedFile(f"{CURRENT} names no {kind} file")


def read_manifest(folder: Path) -> Manifest | None:
    """Returns what stands in CURRENT, None where there is no such file.

    Raises:
        DamagedFile: it says nothing that can be trusted.
    """
    try:
        envelope = json.loads((folder / CURRENT).read_bytes())
        content = envelope["manifest"]
        if envelope["crc32"] != _checksum(content):
            raise DamagedFile(f"{CURRENT} has another checksum")
        return Manifest(**{**content, "files": tuple(FileStamp(**stamp) for stamp in content["files"])})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DamagedFile(f"{CURRENT} cannot be read") from error


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Replaces CURRENT; the files it names have to be on disk already."""
    content = asdict(manifest)
    envelope = json.dumps({"manifest": content, "crc32": _checksum(content)}, indent=1)
    write_file(folder / CURRENT, lambda file: file.write(envelope.encode()))


def _checksum(content: object) -> int:
    return zlib.crc32(json.dumps(content, sort_keys=True).encode())
