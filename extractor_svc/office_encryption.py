"""Encrypted office files opened with their password: agile and standard encryption ([MS-OFFCRYPTO])."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from lxml import etree

from extractor_svc.aes import BLOCK_BYTES, decrypt_blocks, decrypt_chained, exclusive_or
from extractor_svc.compound_file import MAGIC, CompoundFile
from extractor_svc.errors import Malformed, PasswordRequired, UnsupportedType
from extractor_svc.ooxml import Element, local_name

_PACKAGE: Final = "EncryptedPackage"
_INFO: Final = "EncryptionInfo"
_SEGMENT_BYTES: Final = 4096
_MOST_SPINS: Final = 10_000_000
_STANDARD_SPINS: Final = 50_000
_HASHES: Final = {"SHA1", "SHA256", "SHA384", "SHA512"}
_VERIFIER_INPUT: Final = bytes.fromhex("fea7d2763b4b9e79")
_VERIFIER_HASH: Final = bytes.fromhex("d7aa0f6d3061344e")
_KEY_VALUE: Final = bytes.fromhex("146e0be7abacd0d6")


def is_encrypted(content: bytes) -> bool:
    """Whether the bytes are the container of an encrypted office file."""
    return content.startswith(MAGIC) and _PACKAGE.encode("utf-16-le") in content


def open_encrypted(content: bytes, password: str) -> bytes:
    """The office file inside an encrypted one.

    Raises:
        PasswordRequired: no password was given, or it is not the file's.
        Malformed: the container or what it says of its encryption is damaged.
        UnsupportedType: it is encrypted in a way that is not read.
    """
    if not password:
        raise PasswordRequired("the file is encrypted; give its password in options.password")
    container = CompoundFile(content)
    info, package = container.read(_INFO), container.read(_PACKAGE)
    if len(info) < 8 or len(package) < 8:
        raise _damaged()
    major, minor = struct.unpack_from("<HH", info)
    size = struct.unpack_from("<Q", package)[0]
    body = package[8:]
    body = body[: len(body) // BLOCK_BYTES * BLOCK_BYTES]
    if (major, minor) == (4, 4):
        return _agile(info[8:], password, body)[:size]
    if minor == 2 and major in (2, 3, 4):
        return _standard(info, password, body)[:size]
    raise UnsupportedType(
        f"encryption of version {major}.{minor} is not read; save the file without a password",
        metadata={"version": f"{major}.{minor}"},
    )


@dataclass(frozen=True, slots=True)
class _Cipher:
    """What an element of the agile description says: salt, key size and hash."""

    salt: bytes
    key_bytes: int
    hash_name: str
    element: Element

    def digest(self, content: bytes) -> bytes:
        return hashlib.new(self.hash_name, content).digest()

    def value(self, name: str) -> bytes:
        return _decoded(self.element.get(name, ""))

    def sized(self, digest: bytes) -> bytes:
        """A hash as a key: cut, or filled up as the format says."""
        return digest[: self.key_bytes].ljust(self.key_bytes, b"\x36")


def _agile(description: bytes, password: str, body: bytes) -> bytes:
    root = _parsed(description)
    elements = {local_name(element): element for element in root.iter()}
    if "keyData" not in elements or "encryptedKey" not in elements:
        raise _damaged()
    data, lock = _cipher(elements["keyData"]), _cipher(elements["encryptedKey"])
    spins = elements["encryptedKey"].get("spinCount", "")
    if not spins.isdecimal() or len(spins) > 9 or int(spins) > _MOST_SPINS:
        raise _damaged()
    secret = _spun(lock.digest, lock.salt, password, spins=int(spins))

    def unlocked(name: str, purpose: bytes) -> bytes:
        return _chained(lock.sized(lock.digest(secret + purpose)), lock.salt, lock.value(name))

    expected = unlocked("encryptedVerifierHashValue", _VERIFIER_HASH)
    _check(lock.digest(unlocked("encryptedVerifierHashInput", _VERIFIER_INPUT)), expected)
    key = unlocked("encryptedKeyValue", _KEY_VALUE)[: data.key_bytes]
    return _segments(data, key, body)


def _segments(data: _Cipher, key: bytes, body: bytes) -> bytes:
    """Decrypts segments that are chained each from a start of its own, all of them at once."""
    starts = bytearray(b"\x00" * BLOCK_BYTES + body)[: len(body)]
    for number, at in enumerate(range(0, len(body), _SEGMENT_BYTES)):
        starts[at : at + BLOCK_BYTES] = data.digest(data.salt + struct.pack("<I", number))[:BLOCK_BYTES]
    try:
        return exclusive_or(decrypt_blocks(key, body), bytes(starts))
    except ValueError:
        raise _damaged() from None


def _cipher(element: Element) -> _Cipher:
    name, bits = element.get("hashAlgorithm", "").replace("-", "").upper(), element.get("keyBits", "")
    if element.get("cipherAlgorithm") != "AES" or element.get("cipherChaining") != "ChainingModeCBC" or name not in _HASHES:
        raise UnsupportedType("the file's cipher is not read; save the file without a password")
    if bits not in ("128", "192", "256"):
        raise _damaged()
    return _Cipher(_decoded(element.get("saltValue", "")), int(bits) // 8, name.lower(), element)


def _standard(info: bytes, password: str, body: bytes) -> bytes:
    try:
        (header_bytes,) = struct.unpack_from("<I", info, 8)
        algorithm, _, key_bits = struct.unpack_from("<III", info, 20)
        salt, verifier, verifier_hash = struct.unpack_from("<4x16s16s4x32s", info, 12 + header_bytes)
    except struct.error:
        raise _damaged() from None
    if algorithm not in (0x660E, 0x660F, 0x6610) or key_bits not in (128, 192, 256):
        raise UnsupportedType("the file's cipher is not read; save the file without a password")
    secret = _spun(_sha1, salt, password, spins=_STANDARD_SPINS)
    final = _sha1(secret + b"\x00" * 4).ljust(64, b"\x00")
    key = (_sha1(exclusive_or(final, b"\x36" * 64)) + _sha1(exclusive_or(final, b"\x5c" * 64)))[: key_bits // 8]
    _check(_sha1(decrypt_blocks(key, verifier)), decrypt_blocks(key, verifier_hash))
    return decrypt_blocks(key, body)


def _spun(digest: Callable[[bytes], bytes], salt: bytes, password: str, *, spins: int) -> bytes:
    """The password's hash, hashed again so often that guessing is slow."""
    secret = digest(salt + password.encode("utf-16-le", "surrogatepass"))
    for number in range(spins):
        secret = digest(struct.pack("<I", number) + secret)
    return secret


def _sha1(content: bytes) -> bytes:
    return hashlib.sha1(content, usedforsecurity=False).digest()


def _check(found: bytes, expected: bytes) -> None:
    if not hmac.compare_digest(found, expected[: len(found)]):
        raise PasswordRequired("the password does not open the file; give its own in options.password")


def _chained(key: bytes, start: bytes, content: bytes) -> bytes:
    try:
        return decrypt_chained(key, start[:BLOCK_BYTES].ljust(BLOCK_BYTES, b"\x36"), content)
    except ValueError:
        raise _damaged() from None


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise _damaged() from None


def _parsed(description: bytes) -> Element:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True)
    try:
        return etree.fromstring(description.rstrip(b"\x00"), parser)
    except (etree.XMLSyntaxError, ValueError):
        raise _damaged() from None


def _damaged() -> Malformed:
    return Malformed("what the file says of its encryption is damaged; save it without a password")
