"""Writes encrypted office files of the standard kind, with a cipher of its own, plainly after FIPS 197."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping


def standard_encrypted(content: bytes, password: str, *, key_bits: int = 128) -> bytes:
    """An office file in a container, encrypted as office programs of 2007 do."""
    salt, verifier = bytes(range(16)), bytes(range(16, 32))
    key = _key(password, salt, key_bits // 8)
    name = "Microsoft Enhanced RSA and AES Cryptographic Provider\0".encode("utf-16-le")
    header = struct.pack("<8I", 0x24, 0, {128: 0x660E, 192: 0x660F, 256: 0x6610}[key_bits], 0x8004, key_bits, 0x18, 0, 0) + name
    digest = hashlib.sha1(verifier).digest().ljust(32, b"\0")
    lock = struct.pack("<I", 16) + salt + encrypt(key, verifier) + struct.pack("<I", 20) + encrypt(key, digest)
    info = struct.pack("<HHII", 3, 2, 0x24, len(header)) + header + lock
    padded = content + b"\0" * (-len(content) % 16)
    return compound({"EncryptionInfo": info, "EncryptedPackage": struct.pack("<Q", len(content)) + encrypt(key, padded)})


def compound(streams: Mapping[str, bytes]) -> bytes:
    """A compound file of streams that all lie in sectors of 512 bytes."""
    sectors: list[bytes] = []
    table: list[int] = []
    entries = [_entry("Root Entry", kind=5, start=0xFFFFFFFE, size=0)]
    for name, content in streams.items():
        entries.append(_entry(name, kind=2, start=len(sectors), size=len(content)))
        _append(sectors, table, content)
    directory = len(sectors)
    _append(sectors, table, b"".join(entries).ljust(512 * -(-len(entries) // 4), b"\0"))
    first_table = len(sectors)
    table_sectors = 1
    while table_sectors * 128 < len(table) + table_sectors:
        table_sectors += 1
    table += [0xFFFFFFFD] * table_sectors
    packed = struct.pack(f"<{len(table)}I", *table).ljust(512 * table_sectors, b"\xff")
    sectors += [packed[i : i + 512] for i in range(0, len(packed), 512)]
    places = [first_table + i for i in range(table_sectors)]
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<5H6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<9I", 0, table_sectors, directory, 0, 0, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0)
    header += struct.pack("<109I", *places, *[0xFFFFFFFF] * (109 - len(places)))
    return header + b"".join(sectors)


def encrypt(key: bytes, content: bytes) -> bytes:
    """AES, each block by itself."""
    keys = _schedule(key)
    return b"".join(_encrypt_block(keys, content[i : i + 16]) for i in range(0, len(content), 16))


def _append(sectors: list[bytes], table: list[int], content: bytes) -> None:
    count = max(1, -(-len(content) // 512))
    for i in range(count):
        sectors.append(content[512 * i : 512 * (i + 1)].ljust(512, b"\0"))
        table.append(len(sectors) if i < count - 1 else 0xFFFFFFFE)


def _entry(name: str, *, kind: int, start: int, size: int) -> bytes:
    encoded = (name + "\0").encode("utf-16-le")
    entry = encoded.ljust(64, b"\0") + struct.pack("<HBB", len(encoded), kind, 1) + b"\xff" * 12 + bytes(36)
    return entry + struct.pack("<IQ", start, size)


def _key(password: str, salt: bytes, size: int) -> bytes:
    secret = hashlib.sha1(salt + password.encode("utf-16-le")).digest()
    for i in range(50_000):
        secret = hashlib.sha1(struct.pack("<I", i) + secret).digest()
    final = hashlib.sha1(secret + bytes(4)).digest()
    halves = [hashlib.sha1(bytes((final[i] if i < 20 else 0) ^ pad for i in range(64))).digest() for pad in (0x36, 0x5C)]
    return b"".join(halves)[:size]


def _double(byte: int) -> int:
    return ((byte << 1) ^ 0x1B) & 0xFF if byte & 0x80 else byte << 1


def _box() -> list[int]:
    """The S-box by walking through the field: p runs over its powers of 3, q over their inverses."""
    box, p, q = [0x63] * 256, 1, 1
    while True:
        p ^= _double(p)
        q ^= q << 1
        q ^= q << 2
        q ^= q << 4
        q &= 0xFF
        q ^= 0x09 if q & 0x80 else 0
        box[p] = q ^ 0x63
        for by in range(1, 5):
            box[p] ^= ((q << by) | (q >> (8 - by))) & 0xFF
        if p == 1:
            return box


_BOX = _box()


def _schedule(key: bytes) -> list[bytes]:
    words = [list(key[i : i + 4]) for i in range(0, len(key), 4)]
    size, constant = len(words), 1
    for i in range(size, 4 * (size + 7)):
        word = words[-1][:]
        if i % size == 0:
            word = [_BOX[byte] for byte in (*word[1:], word[0])]
            word[0] ^= constant
            constant = _double(constant)
        elif size > 6 and i % size == 4:
            word = [_BOX[byte] for byte in word]
        words.append([a ^ b for a, b in zip(words[-size], word, strict=True)])
    return [bytes(byte for word in words[i : i + 4] for byte in word) for i in range(0, len(words), 4)]


def _encrypt_block(keys: list[bytes], block: bytes) -> bytes:
    state = [a ^ b for a, b in zip(block, keys[0], strict=True)]
    for number, key in enumerate(keys[1:], 1):
        state = [_BOX[state[(i + 4 * (i % 4)) % 16]] for i in range(16)]
        if number < len(keys) - 1:
            state = [_mixed(state, i) for i in range(16)]
        state = [a ^ b for a, b in zip(state, key, strict=True)]
    return bytes(state)


def _mixed(state: list[int], place: int) -> int:
    word, row = state[place - place % 4 : place - place % 4 + 4], place % 4
    a, b, c, d = (word[(row + i) % 4] for i in range(4))
    return _double(a) ^ _double(b) ^ b ^ c ^ d
