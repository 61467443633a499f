"""Damaged copies of sound files: bytes changed, cut, doubled and moved, in the file as it lies or in a part of its package."""

from __future__ import annotations

import io
import random
import re
import zipfile
from collections.abc import Callable
from typing import Final

_MOST_HITS: Final = 12
_NUMBERS: Final = (b"0", b"-1", b"99999999999", b"2147483648", b"1e309", b"")


def mutated(content: bytes, chance: random.Random) -> bytes:
    """A damaged copy, never empty; a package is damaged half the time in one of its parts, and packed again."""
    if content.startswith(b"PK\x03\x04") and chance.random() < 0.5:
        return _with_damaged_part(content, chance)
    return _damaged(content, chance)


def _damaged(content: bytes, chance: random.Random) -> bytes:
    changed = content
    for _ in range(chance.randint(1, _MOST_HITS)):
        changed = chance.choice(_WAYS)(changed, chance)
        if not changed:
            return b"\x00"
    return changed


def _with_damaged_part(content: bytes, chance: random.Random) -> bytes:
    """The package with one part damaged, dropped, or swapped with another's content."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as package:
            parts = {name: package.read(name) for name in package.namelist() if not name.endswith("/")}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError):
        return _damaged(content, chance)
    chosen = chance.choice(sorted(parts))
    match chance.randrange(6):
        case 0:
            del parts[chosen]
        case 1:
            parts[chosen] = parts[chance.choice(sorted(parts))]
        case _:
            parts[chosen] = _damaged(parts[chosen], chance) if parts[chosen] else b"<"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as package:
        for name, part in parts.items():
            package.writestr(name, part)
    return packed.getvalue()


def _change_byte(content: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(content))
    return content[:place] + bytes([chance.randrange(256)]) + content[place + 1 :]


def _drop(content: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(content))
    return content[:place] + content[place + chance.randint(1, 64) :]


def _insert(content: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(content))
    return content[:place] + chance.randbytes(chance.randint(1, 16)) + content[place:]


def _cut(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randrange(len(content)) + 1]


def _repeat(content: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(content))
    piece = content[start : start + chance.randint(1, 400)]
    return content[:start] + piece * chance.randint(2, 50) + content[start:]


def _move(content: bytes, chance: random.Random) -> bytes:
    start, target = chance.randrange(len(content)), chance.randrange(len(content))
    length = chance.randint(1, 200)
    return content[:target] + content[start : start + length] + content[target + length :]


def _change_number(content: bytes, chance: random.Random) -> bytes:
    """Replaces one of the numbers that stand near a random place."""
    start = chance.randrange(len(content))
    found = re.compile(rb"\d+").search(content, start)
    return content[: found.start()] + chance.choice(_NUMBERS) + content[found.end() :] if found else content


_WAYS: Final[tuple[Callable[[bytes, random.Random], bytes], ...]] = (
    _change_byte,
    _change_byte,
    _drop,
    _insert,
    _cut,
    _repeat,
    _move,
    _change_number,
    _change_number,
)
