"""What every `BlobStore` does: bytes under their hash, whole and on disk or not there."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from knowledge_svc.domain.errors import BlobGone, BlobTooShort, DiskFull, EmptyDocument, UploadTakenOver
from knowledge_svc.domain.ports import BlobStore
from knowledge_svc.storage.blobs import FileBlobStore

# SHA-256 of "abc", from FIPS 180-4
ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
UNKNOWN = "0" * 64

STORES: dict[str, Callable[[Path], BlobStore]] = {"files": lambda folder: FileBlobStore(folder / "blobs")}
"""Every implementation of the port, and how it is opened on a folder."""


@pytest.fixture(params=sorted(STORES))
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> BlobStore:
    return STORES[request.param](tmp_path)


def names(folder: Path) -> set[str]:
    """Every file below a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_bytes_are_kept_under_their_sha256(blobs: BlobStore) -> None:
    assert blobs.put(b"abc") == ABC
    assert blobs.exists(ABC)
    assert blobs.read(ABC) == b"abc"


def test_the_same_bytes_are_kept_once(blobs: BlobStore, tmp_path: Path) -> None:
    assert blobs.put(b"abc") == blobs.put(b"abc")
    assert len(names(tmp_path)) == 1
    assert blobs.read(ABC) == b"abc"


def test_bytes_come_in_pieces_of_the_size_asked(blobs: BlobStore) -> None:
    blobs.put(b"abcdefgh")
    sha256 = hashlib.sha256(b"abcdefgh").hexdigest()
    assert list(blobs.chunks(sha256, size_bytes=3)) == [b"abc", b"def", b"gh"]
    assert list(blobs.chunks(sha256, size_bytes=8)) == [b"abcdefgh"]


@pytest.mark.parametrize("name", [UNKNOWN, "", "../../record.duckdb", ABC.upper(), "ba"])
def test_bytes_that_are_not_stored_are_gone(blobs: BlobStore, name: str) -> None:
    blobs.put(b"abc")
    assert not blobs.exists(name)
    with pytest.raises(BlobGone):
        blobs.read(name)
    with pytest.raises(BlobGone):
        next(blobs.chunks(name, size_bytes=1))


def test_a_spool_file_counts_and_hashes_what_it_has(blobs: BlobStore) -> None:
    with blobs.new_file() as file:
        # SHA-256 of no bytes
        assert (file.size_bytes, file.sha256) == (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        file.write(b"a")
        file.write(b"bc")
        assert (file.size_bytes, file.sha256) == (3, ABC)
        assert not blobs.exists(ABC)
        assert file.keep() == ABC
        assert blobs.exists(ABC)
    assert blobs.read(ABC) == b"abc"


def test_a_spool_file_that_is_not_kept_vanishes(blobs: BlobStore, tmp_path: Path) -> None:
    with blobs.new_file() as file:
        file.write(b"abc")
    with pytest.raises(KeyError), blobs.new_file() as broken:
        broken.write(b"abc")
        raise KeyError
    assert not blobs.exists(ABC)
    assert names(tmp_path) == set()


def test_no_bytes_are_refused(blobs: BlobStore, tmp_path: Path) -> None:
    with pytest.raises(EmptyDocument):
        blobs.put(b"")
    assert names(tmp_path) == set()


NAME = "0a" * 32


def test_a_named_file_stays_and_goes_on_after_its_bytes(blobs: BlobStore) -> None:
    with blobs.named_file(NAME, offset=0) as file:
        file.write(b"a")
    assert partial_bytes(blobs) == 1
    with blobs.named_file(NAME, offset=1) as file:
        file.write(b"bc")
        assert (file.size_bytes, file.sha256) == (3, ABC)
        assert file.keep() == ABC
    assert (blobs.partial(NAME), blobs.read(ABC)) == (None, b"abc")


def test_what_a_named_file_has_beyond_the_offset_goes(blobs: BlobStore) -> None:
    with blobs.named_file(NAME, offset=0) as file:
        file.write(b"axxxx")
    with blobs.named_file(NAME, offset=1) as file:
        assert partial_bytes(blobs) == 1
        file.write(b"bc")
        assert file.keep() == ABC


def test_a_named_file_does_not_go_on_after_bytes_it_has_not(blobs: BlobStore) -> None:
    with blobs.named_file(NAME, offset=0) as file:
        file.write(b"ab")
    with pytest.raises(BlobTooShort), blobs.named_file(NAME, offset=3):
        pass
    assert partial_bytes(blobs) == 2


def test_who_had_a_named_file_open_before_writes_no_more_and_takes_nothing_away(blobs: BlobStore) -> None:
    with blobs.named_file(NAME, offset=0) as first:
        first.write(b"a")
        with blobs.named_file(NAME, offset=1) as second:
            with pytest.raises(UploadTakenOver):
                first.write(b"late")
            with pytest.raises(UploadTakenOver):
                first.keep()
            first.discard()
            second.write(b"bc")
            assert second.keep() == ABC


def test_a_named_file_can_be_given_up(blobs: BlobStore) -> None:
    with blobs.named_file(NAME, offset=0) as file:
        file.write(b"a")
        file.discard()
    assert blobs.partial(NAME) is None


def partial_bytes(blobs: BlobStore) -> int:
    partial = blobs.partial(NAME)
    assert partial is not None
    return partial.size_bytes


# ---- files


def test_old_named_files_are_swept_unless_they_are_being_written(tmp_path: Path) -> None:
    blobs = FileBlobStore(tmp_path)
    for name in (NAME, "0b" * 32, "0c" * 32):
        with blobs.named_file(name, offset=0) as file:
            file.write(b"a")
    os.utime(tmp_path / "partial" / NAME, (0, 0))
    with blobs.named_file("0b" * 32, offset=1):
        os.utime(tmp_path / "partial" / ("0b" * 32), (0, 0))
        assert blobs.sweep_partials(older_than_s=3600) == 1
    assert names(tmp_path) == {f"partial/{'0b' * 32}", f"partial/{'0c' * 32}"}


def test_a_name_that_is_no_hash_is_a_defect(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="hexadecimal"):
        FileBlobStore(tmp_path).partial("../record.duckdb")


def test_blobs_lie_in_folders_of_their_first_two_digits(tmp_path: Path) -> None:
    FileBlobStore(tmp_path).put(b"abc")
    assert names(tmp_path) == {f"ba/{ABC}"}


def test_opening_sweeps_what_a_dead_process_spooled(tmp_path: Path) -> None:
    FileBlobStore(tmp_path).put(b"abc")
    (tmp_path / "spool" / "leftover").write_bytes(b"half")
    assert FileBlobStore(tmp_path).read(ABC) == b"abc"
    assert names(tmp_path) == {f"ba/{ABC}"}


def test_a_blob_is_synced_before_it_has_its_name_and_its_folder_after(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blobs = FileBlobStore(tmp_path)
    seen: list[tuple[str, bool]] = []
    real = os.fsync

    def watched(descriptor: int) -> None:
        seen.append((Path(f"/proc/self/fd/{descriptor}").readlink().parent.name, blobs.exists(ABC)))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    blobs.put(b"abc")
    assert [named for _, named in seen] == [False, False, True]
    assert seen[0][0] == "spool"


@pytest.mark.parametrize("call", ["os.fsync", "pathlib.Path.rename"])
def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    blobs = FileBlobStore(tmp_path)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(call, full)
        with pytest.raises(DiskFull):
            blobs.put(b"abc")
    assert not blobs.exists(ABC)
    assert names(tmp_path) == set()
    assert blobs.put(b"abc") == ABC


def test_another_fault_of_the_disk_is_not_called_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blobs = FileBlobStore(tmp_path)

    def broken(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="Input/output error"):
        blobs.put(b"abc")


def test_a_sweep_removes_old_blobs_that_no_one_names(tmp_path: Path) -> None:
    blobs = FileBlobStore(tmp_path)
    named, old, young = (blobs.put(content) for content in (b"named", b"old", b"young"))
    for sha256 in (named, old):
        os.utime(tmp_path / sha256[:2] / sha256, (0, 0))
    assert blobs.sweep(named=frozenset({named}), older_than_s=3600) == 1
    assert [blobs.exists(sha256) for sha256 in (named, old, young)] == [True, False, True]


def test_putting_a_blob_again_makes_it_young(tmp_path: Path) -> None:
    blobs = FileBlobStore(tmp_path)
    sha256 = blobs.put(b"abc")
    os.utime(tmp_path / sha256[:2] / sha256, (0, 0))
    blobs.put(b"abc")
    assert blobs.sweep(named=frozenset(), older_than_s=3600) == 0
    assert blobs.exists(sha256)
