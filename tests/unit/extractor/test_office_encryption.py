"""Encrypted office files: opened with their password, refused without it, and never a crash on damaged ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extractor_svc.aes import decrypt_blocks, decrypt_chained
from extractor_svc.compound_file import CompoundFile
from extractor_svc.context import Options
from extractor_svc.errors import Malformed, PasswordRequired, UnsupportedType
from extractor_svc.extract import extract, resolve
from extractor_svc.office_encryption import is_encrypted, open_encrypted
from services.errors import LoomError
from tests.unit.extractor.encrypted_files import compound, standard_encrypted
from tests.unit.extractor.workbooks import simple

ENCRYPTED = Path(__file__).resolve().parents[3] / ".." / "shared" / "corpus" / "xlsx" / "calamine" / "pass_protected.xlsx"
needs_corpus = pytest.mark.skipif(not ENCRYPTED.is_file(), reason="the shared corpus is not here")
PASSWORD = "123"


class TestAes:
    @pytest.mark.parametrize(
        ("key_bytes", "encrypted"),
        [
            (16, "69c4e0d86a7b0430d8cdb78070b4c55a"),
            (24, "dda97ca4864cdfe06eaf70a0ec0d7191"),
            (32, "8ea2b7ca516745bfeafc49904b496089"),
        ],
    )
    def test_the_examples_of_the_standard(self, key_bytes: int, encrypted: str) -> None:
        """FIPS 197, appendix C."""
        key = bytes(range(key_bytes))
        assert decrypt_blocks(key, bytes.fromhex(encrypted) * 3).hex() == "00112233445566778899aabbccddeeff" * 3

    def test_the_example_of_chained_blocks(self) -> None:
        """NIST SP 800-38A, F.2.2."""
        key = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
        encrypted = bytes.fromhex("7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2")
        plain = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
        assert decrypt_chained(key, bytes(range(16)), encrypted).hex() == plain

    def test_parts_of_blocks_and_odd_keys_are_refused(self) -> None:
        with pytest.raises(ValueError, match="whole blocks"):
            decrypt_blocks(bytes(16), b"short")
        with pytest.raises(ValueError, match="16, 24 or 32"):
            decrypt_blocks(bytes(15), bytes(16))


@needs_corpus
class TestOpening:
    def test_the_password_opens_the_file_and_its_text_reads_back(self) -> None:
        content = ENCRYPTED.read_bytes()
        options = Options(password=PASSWORD)
        artifact = extract(content, filename="x.xlsx", options=options)
        assert (artifact.format, artifact.size_bytes) == ("xlsx", len(content))
        assert artifact.blocks[0].text == "Sheet1"
        for block in artifact.blocks:
            assert resolve(content, block.locator, filename="x.xlsx", options=options).split() == block.text.split()

    @pytest.mark.parametrize("password", ["", "1234", "\ud800"])
    def test_no_password_or_a_wrong_one_is_asked_for_again(self, password: str) -> None:
        with pytest.raises(PasswordRequired, match=r"options\.password"):
            extract(ENCRYPTED.read_bytes(), filename="x.xlsx", options=Options(password=password))

    def test_the_streams_of_the_container_are_found_by_name(self) -> None:
        container = CompoundFile(ENCRYPTED.read_bytes())
        assert "EncryptedPackage" in container
        assert container.read("EncryptionInfo")[:4] == b"\x04\x00\x04\x00"
        with pytest.raises(Malformed):
            container.read("Workbook")

    @settings(max_examples=100, deadline=None)
    @given(st.integers(0, 14_000), st.integers(0, 255), st.integers(512, 14_848))
    def test_a_damaged_container_is_refused_with_a_reason(self, place: int, byte: int, size: int) -> None:
        content = bytearray(ENCRYPTED.read_bytes()[:size])
        if place < len(content):
            content[place] = byte
        try:
            open_encrypted(bytes(content), PASSWORD)
        except LoomError as error:
            assert error.code_reason in ("MALFORMED", "PASSWORD_REQUIRED", "UNSUPPORTED_TYPE")


@pytest.mark.parametrize("key_bits", [128, 256])
def test_files_of_the_standard_kind_open_with_their_password(key_bits: int) -> None:
    content = simple([["Secret", "n"], *([f"row {i}", i] for i in range(60))])
    encrypted = standard_encrypted(content, "pässword", key_bits=key_bits)
    assert open_encrypted(encrypted, "pässword") == content
    artifact = extract(encrypted, filename="x.xlsx", options=Options(password="pässword"))
    assert artifact.datasets[0].rows.num_rows == 60
    with pytest.raises(PasswordRequired):
        open_encrypted(encrypted, "password")


def test_a_version_of_encryption_that_is_not_read_says_so() -> None:
    content = compound({"EncryptionInfo": b"\x01\x00\x01\x00" + bytes(60), "EncryptedPackage": bytes(32)})
    with pytest.raises(UnsupportedType, match=r"version 1\.1"):
        open_encrypted(content, "x")


@pytest.mark.parametrize(
    "info",
    [
        b"",
        b"\x04\x00\x04\x00\x40\x00\x00\x00<x",
        b"\x03\x00\x02\x00" + bytes(8),
        b"\x04\x00\x04\x00" + b"\x40\x00\x00\x00<encryption/>",
    ],
)
def test_a_description_of_encryption_that_makes_no_sense_is_malformed(info: bytes) -> None:
    with pytest.raises(Malformed):
        open_encrypted(compound({"EncryptionInfo": info, "EncryptedPackage": bytes(32)}), "x")


def test_other_containers_are_not_taken_for_encrypted_ones() -> None:
    assert not is_encrypted(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000))
    assert not is_encrypted(b"PK\x03\x04")


@pytest.mark.parametrize(
    "content", [b"", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\xff" * 2000]
)
def test_bytes_that_are_no_container_are_malformed(content: bytes) -> None:
    with pytest.raises(Malformed):
        CompoundFile(content)
