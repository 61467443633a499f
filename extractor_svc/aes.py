"""AES decryption (FIPS 197) of many blocks at once, for files that are encrypted with a password the caller gives.

The blocks are laid out as 16 columns, column i holding byte i of every block, so that each step of the cipher is a handful of
table look-ups and exclusive-ors over whole columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

BLOCK_BYTES: Final = 16
_ROUNDS: Final = {16: 10, 24: 12, 32: 14}


def decrypt_blocks(key: bytes, content: bytes) -> bytes:
    """Decrypts each block by itself (ECB).

    Raises:
        ValueError: the key is not of 16, 24 or 32 bytes, or the content not of whole blocks.
    """
    if len(key) not in _ROUNDS or len(content) % BLOCK_BYTES:
        raise ValueError("a key has 16, 24 or 32 bytes, and content is of whole blocks of 16")
    *earlier, last = _round_keys(key)
    columns = _add_key([content[i::BLOCK_BYTES] for i in range(BLOCK_BYTES)], last)
    for round_key in reversed(earlier[1:]):
        columns = _unmix(_add_key(_unshift_and_unsubstitute(columns), round_key))
    columns = _add_key(_unshift_and_unsubstitute(columns), earlier[0])
    out = bytearray(len(content))
    for i, column in enumerate(columns):
        out[i::BLOCK_BYTES] = column
    return bytes(out)


def decrypt_chained(key: bytes, start: bytes, content: bytes) -> bytes:
    """Decrypts blocks of which each was mixed with the one before it, the first with `start` (CBC); raises as `decrypt_blocks`."""
    return exclusive_or(decrypt_blocks(key, content), (start + content)[: len(content)])


def exclusive_or(left: bytes, right: bytes) -> bytes:
    """The exclusive-or of two byte strings of one length."""
    return (int.from_bytes(left, "little") ^ int.from_bytes(right, "little")).to_bytes(len(left), "little")


def _times(left: int, right: int) -> int:
    """The product in the field of 256 elements that AES computes in."""
    product = 0
    while right:
        if right & 1:
            product ^= left
        left = (left << 1) ^ (0x11B if left & 0x80 else 0)
        right >>= 1
    return product


def _substitution() -> bytes:
    """The S-box: the field's inverse of each byte, then an affine map over its bits."""
    inverse = [0] * 256
    for left in range(1, 256):
        inverse[left] = next(right for right in range(1, 256) if _times(left, right) == 1)
    return bytes(_affine(byte) for byte in inverse)


def _affine(byte: int) -> int:
    rotated = (((byte << by) | (byte >> (8 - by))) & 0xFF for by in range(5))
    result = 0x63
    for part in rotated:
        result ^= part
    return result


_SUBSTITUTION: Final = _substitution()
_UNSUBSTITUTION: Final = bytes(_SUBSTITUTION.index(byte) for byte in range(256))
_PRODUCTS: Final = {factor: bytes(_times(byte, factor) for byte in range(256)) for factor in (9, 11, 13, 14)}
_UNMIX_ROWS: Final = ((14, 11, 13, 9), (9, 14, 11, 13), (13, 9, 14, 11), (11, 13, 9, 14))


def _round_keys(key: bytes) -> list[bytes]:
    """The key schedule: 16 bytes for each round and the one before the first."""
    words = [key[i : i + 4] for i in range(0, len(key), 4)]
    size, constant = len(words), 1
    while len(words) < 4 * (_ROUNDS[len(key)] + 1):
        word = words[-1]
        if len(words) % size == 0:
            word = (word[1:] + word[:1]).translate(_SUBSTITUTION)
            word = bytes([word[0] ^ constant]) + word[1:]
            constant = _times(constant, 2)
        elif size > 6 and len(words) % size == 4:
            word = word.translate(_SUBSTITUTION)
        words.append(exclusive_or(words[-size], word))
    return [b"".join(words[i : i + 4]) for i in range(0, len(words), 4)]


def _add_key(columns: Sequence[bytes], key: bytes) -> list[bytes]:
    return [column.translate(bytes(byte ^ key[i] for byte in range(256))) for i, column in enumerate(columns)]


def _unshift_and_unsubstitute(columns: Sequence[bytes]) -> list[bytes]:
    """Undoes the shift of the rows, byte i of a block being in row i mod 4, and the substitution."""
    return [columns[(i - 4 * (i % 4)) % BLOCK_BYTES].translate(_UNSUBSTITUTION) for i in range(BLOCK_BYTES)]


def _unmix(columns: Sequence[bytes]) -> list[bytes]:
    out: list[bytes] = []
    for word in range(0, BLOCK_BYTES, 4):
        for factors in _UNMIX_ROWS:
            terms = [columns[word + i].translate(_PRODUCTS[factor]) for i, factor in enumerate(factors)]
            mixed = terms[0]
            for term in terms[1:]:
                mixed = exclusive_or(mixed, term)
            out.append(mixed)
    return out
