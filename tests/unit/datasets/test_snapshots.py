from __future__ import annotations

import datetime as dt
import errno
import hashlib
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from artifact.locators import RowSpan
from artifact.model import ROW_ID, ROW_LOCATOR, Clarification, Column, ColumnType, Dataset
from knowledge_svc.datasets.snapshots import SnapshotFiles
from knowledge_svc.domain.errors import DiskFull, InvalidArtifact, SnapshotDamaged
from knowledge_svc.domain.model import DatasetSnapshot, SchemaState
from tests.dataset_fixtures import NOW, SCOPE, URI, double, make_dataset, number, text

ALL_TYPES = (
    text("text"),
    number("number", 9, 2),
    double("double"),
    Column("bool", ColumnType.BOOL),
    Column("date", ColumnType.DATE),
    Column("moment", ColumnType.DATETIME),
    Column("clock", ColumnType.TIME),
    Column("length", ColumnType.DURATION),
)
ROW = (
    "a",
    Decimal("1.50"),
    0.1,
    True,
    dt.date(2031, 5, 27),
    dt.datetime.fromisoformat("2031-05-27T07:32:00.000001"),
    dt.time(7, 32, 0, 5),
    dt.timedelta(days=-1, microseconds=1),
)


@pytest.fixture
def files(tmp_path: Path) -> SnapshotFiles:
    return SnapshotFiles(tmp_path)


def write(files: SnapshotFiles, dataset: Dataset, *, revision: int = 1) -> DatasetSnapshot:
    return files.write(dataset, scope=SCOPE, source_uri=URI, revision=revision, ordinal=0, published_at=NOW)


def path_of(files: SnapshotFiles, snapshot: DatasetSnapshot) -> Path:
    return files.directory / f"{snapshot.snapshot_id}.parquet"


def test_rows_of_every_type_come_back(files: SnapshotFiles) -> None:
    snapshot = write(files, make_dataset(ALL_TYPES, [ROW, (None,) * 8]))
    assert files.sample(snapshot, 5) == [ROW, (None,) * 8]
    assert files.sample(snapshot, 1) == [ROW]
    assert snapshot.row_count == 2


def test_the_hash_is_that_of_the_file_and_the_file_holds_ids_places_and_the_sources_names(files: SnapshotFiles) -> None:
    snapshot = write(files, make_dataset([text("größe"), number("größe (2)", 4, 1)], [("a", Decimal("0.5"))]))
    path = path_of(files, snapshot)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == snapshot.file_sha256
    table = pq.read_table(path)
    assert table.column_names == ["row_id", "locator", "c0", "c1"]
    assert [table.schema.field(name).metadata[b"name"].decode() for name in ("c0", "c1")] == ["größe", "größe (2)"]
    assert table.column("locator").to_pylist() == ['{"rows":{"first":1,"last":1}}']
    assert list(files.directory.iterdir()) == [path]


def test_columns_that_are_not_stored_are_listed_and_have_no_values(files: SnapshotFiles) -> None:
    left_out = Column("b", ColumnType.STRING, stored=False)
    rows = pa.table({ROW_ID: pa.array([0]), ROW_LOCATOR: ["{}"], "a": ["x"], "c": ["z"]})
    snapshot = write(files, Dataset("t1", "T", (text("a"), left_out, text("c")), rows, RowSpan(1, 1)))
    assert len(snapshot.columns) == 3
    assert files.sample(snapshot, 1) == [("x", "z")]


def test_clarifications_leave_the_schema_open(files: SnapshotFiles) -> None:
    question = Clarification("mixed_types", "a", "text and numbers")
    assert write(files, make_dataset([text("a")], [])).schema_state is SchemaState.INFERRED
    assert write(files, make_dataset([text("a")], [], clarifications=(question,))).schema_state is SchemaState.NEEDS_CLARIFICATION


def test_every_write_has_an_id_of_its_own(files: SnapshotFiles) -> None:
    dataset = make_dataset([text("a")], [("x",)])
    assert write(files, dataset).snapshot_id != write(files, dataset, revision=2).snapshot_id


@pytest.mark.parametrize("place", [0, 100, -1])
def test_a_flipped_byte_is_found(files: SnapshotFiles, place: int) -> None:
    snapshot = write(files, make_dataset(ALL_TYPES, [ROW] * 50))
    files.verified(snapshot)
    path = path_of(files, snapshot)
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    with pytest.raises(SnapshotDamaged, match="bytes of its file changed"):
        files.verified(snapshot)
    with pytest.raises(SnapshotDamaged):
        files.sample(snapshot, 1)


def test_a_missing_file_is_told(files: SnapshotFiles) -> None:
    snapshot = write(files, make_dataset([text("a")], []))
    path_of(files, snapshot).unlink()
    with pytest.raises(SnapshotDamaged, match="cannot be read") as caught:
        files.verified(snapshot)
    assert caught.value.metadata["snapshot_id"] == snapshot.snapshot_id


def test_a_file_that_did_not_change_is_hashed_once(files: SnapshotFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = write(files, make_dataset([text("a")], [("x",)]))
    opened: list[Path] = []
    original = Path.open

    def counting(path: Path, *args: Any, **kwargs: Any) -> Any:
        opened.append(path)
        return original(path, *args, **kwargs)

    monkeypatch.setattr(Path, "open", counting)
    files.verified(snapshot)
    files.verified(snapshot)
    assert len(opened) == 1
    os.utime(path_of(files, snapshot))
    files.verified(snapshot)
    assert len(opened) == 2


def test_a_sweep_removes_old_files_of_no_known_snapshot(files: SnapshotFiles) -> None:
    kept, gone = (write(files, make_dataset([text("a")], [])) for _ in range(2))
    (files.directory / "0123.partial").write_bytes(b"torn")
    (files.directory / "notes.txt").write_bytes(b"not ours")
    now = dt.datetime.now(dt.UTC)
    assert files.sweep({kept.snapshot_id}, written_before=now - dt.timedelta(hours=1)) == 0
    assert files.sweep({kept.snapshot_id}, written_before=now + dt.timedelta(hours=1)) == 2
    assert sorted(path.name for path in files.directory.iterdir()) == sorted([f"{kept.snapshot_id}.parquet", "notes.txt"])
    with pytest.raises(SnapshotDamaged):
        files.verified(gone)


def test_a_full_disk_leaves_nothing_behind(files: SnapshotFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFull):
        write(files, make_dataset([text("a")], [("x",)]))
    assert list(files.directory.iterdir()) == []


@pytest.mark.parametrize("day", [-719_163, 2_932_897])
def test_a_date_that_no_calendar_here_tells_is_refused(files: SnapshotFiles, day: int) -> None:
    rows = pa.table({ROW_ID: pa.array([0]), ROW_LOCATOR: ["{}"], "when": pa.array([day], pa.int32()).cast(pa.date32())})
    with pytest.raises(InvalidArtifact, match="years 1 to 9999"):
        write(files, Dataset("t1", "T", (Column("when", ColumnType.DATE),), rows, RowSpan(1, 1)))


def test_the_first_and_last_moments_are_kept(files: SnapshotFiles) -> None:
    moments = [dt.datetime.fromisoformat(one) for one in ("0001-01-01T00:00:00", "9999-12-31T23:59:59.999999")]
    snapshot = write(files, make_dataset([Column("when", ColumnType.DATETIME)], [(one,) for one in moments]))
    assert files.sample(snapshot, 2) == [(one,) for one in moments]


def test_decimals_of_more_than_38_digits_are_kept_where_their_values_fit(files: SnapshotFiles) -> None:
    fits = write(files, make_dataset([number("x", 40, 2)], [(Decimal("1.25"),)]))
    assert fits.columns[0].precision == 38
    assert files.sample(fits, 1) == [(Decimal("1.25"),)]
    with pytest.raises(InvalidArtifact, match="do not fit"):
        write(files, make_dataset([number("x", 40, 2)], [(Decimal(f"{10**39}E-2"),)]))


def test_rows_under_other_names_are_refused(files: SnapshotFiles) -> None:
    rows = pa.table({ROW_ID: pa.array([0]), ROW_LOCATOR: ["{}"], "b": ["x"]})
    with pytest.raises(InvalidArtifact):
        write(files, Dataset("t1", "T", (text("a"),), rows, RowSpan(1, 1)))
