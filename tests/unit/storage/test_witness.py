from pathlib import Path

import pytest

from knowledge_svc.storage.witness import Acknowledged, DamagedWitness, Witness

ID = "3f0e9c1a-8a55-4a0e-9d2f-7b1b0c7a6f11"


def written(path: Path, *changes: int) -> Path:
    """A witness that was started at 0 and then told of each change."""
    witness = Witness(path)
    witness.start(Acknowledged(ID, 0))
    for change in changes:
        witness.write(Acknowledged(ID, change))
    witness.close()
    return path


def test_a_missing_witness_says_nothing(tmp_path: Path) -> None:
    assert Witness(tmp_path / "WITNESS").read() is None


def test_the_last_change_is_remembered(tmp_path: Path) -> None:
    for count in range(1, 5):
        path = written(tmp_path / "WITNESS", *range(1, count + 1))
        assert Witness(path).read() == Acknowledged(ID, count)


@pytest.mark.parametrize("slot", [0, 1])
def test_a_torn_write_leaves_the_other_slot(tmp_path: Path, slot: int) -> None:
    path = written(tmp_path / "WITNESS", 7, 8)
    content = bytearray(path.read_bytes())
    content[slot * 128 + 5] ^= 0xFF
    path.write_bytes(bytes(content))
    # 7 went to the second slot, 8 to the first
    assert Witness(path).read() == Acknowledged(ID, 7 if slot == 0 else 8)


def test_a_number_that_was_changed_is_not_believed(tmp_path: Path) -> None:
    path = written(tmp_path / "WITNESS", 7, 8)
    path.write_bytes(path.read_bytes().replace(b" 8 ", b" 9 "))
    assert Witness(path).read() == Acknowledged(ID, 7)


@pytest.mark.parametrize("content", [b"x", bytes(256), b"\xff" * 256])
def test_a_witness_without_a_valid_slot_is_damaged(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "WITNESS"
    path.write_bytes(content)
    with pytest.raises(DamagedWitness):
        Witness(path).read()


def test_an_empty_witness_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "WITNESS"
    path.write_bytes(b"")
    with pytest.raises(DamagedWitness):
        Witness(path).read()


def test_a_new_start_forgets_what_stood_there(tmp_path: Path) -> None:
    path = written(written(tmp_path / "WITNESS", 7, 8))
    assert Witness(path).read() == Acknowledged(ID, 0)
    assert [entry.name for entry in tmp_path.iterdir()] == ["WITNESS"]
