"""Whatever ends a process or fills its disk, the record holds what was acknowledged and shows nothing half-written."""

from __future__ import annotations

import logging
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from errno import ENOSPC
from pathlib import Path

import pytest

from knowledge_svc.domain.errors import DiskFull, DocumentNotFound, RecordBehindIndex
from knowledge_svc.domain.model import DocumentFilter, JobState
from knowledge_svc.storage.folder import DataFolderInUse
from knowledge_svc.storage.jobs import RecordJobQueue
from knowledge_svc.storage.record import Record
from knowledge_svc.storage.schema import RecordTooNew
from knowledge_svc.storage.store import RecordStore
from tests.integration.record_writer import SOURCES, content_of, retires
from tests.storage_fixtures import NOW, SCOPE, make_document, make_draft, make_job, make_key, make_upload, next_draft, open_record

ROOT = Path(__file__).resolve().parents[2]
KILLS = 6
LOG = "record.duckdb.wal"


def child(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a script in a process of its own on a data folder."""
    command = [sys.executable, "-c", code, str(folder)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


def write(store: RecordStore, uri: str = "doc:a") -> None:
    store.publish(store.stage(make_draft(make_document(uri))))


# ---- kill -9


def killed_writer(folder: Path, start: int, *, words: int, delay_s: float) -> list[list[str]]:
    """Kills a writer some time after it said a number of words; returns all it said."""
    command = [sys.executable, "-m", "tests.integration.record_writer", str(folder), str(start)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        said = [writer.stdout.readline() for _ in range(words)]
        time.sleep(delay_s)
        writer.kill()
        said += writer.stdout.readlines()
    return [line.split() for line in said if line.endswith("\n")]


def test_kills_lose_nothing_acknowledged_and_show_nothing_half_written(tmp_path: Path) -> None:
    dice = random.Random(20310527)
    said: list[list[str]] = []
    for kill in range(KILLS):
        said += killed_writer(tmp_path, 1000 * kill, words=dice.randint(1, 15), delay_s=dice.uniform(0, 0.05))
        with open_record(tmp_path) as record:
            assert not record.behind
            check_acknowledged(RecordStore(record), RecordJobQueue(record), said)
            check_whole(RecordStore(record), record)
    assert sum(line[0] == "published" for line in said) > 2 * KILLS


def check_acknowledged(store: RecordStore, queue: RecordJobQueue, said: list[list[str]]) -> None:
    for event, name, *rest in said:
        if event == "queued":
            queue.job(SCOPE, name)
            continue
        uri, revision = rest[0], int(rest[1])
        assert store.document(SCOPE, uri, revision=revision).content == content_of(revision)
        assert queue.job(SCOPE, name).state is JobState.READY
        assert store.answer(make_key(name)) is not None
        if event == "retired":
            assert store.document(SCOPE, uri, revision=revision).superseded_at is not None


def check_whole(store: RecordStore, record: Record) -> None:
    """Every version has exactly its own chunks, and exactly the live ones serve."""
    serving = []
    for number in range(SOURCES):
        uri = f"doc:{number}"
        for revision in range(1, store.last_revision(SCOPE, uri) + 1):
            version = store.document(SCOPE, uri, revision=revision)
            chunks = store.chunks(version)
            assert "\n\n".join(chunk.chunk.content for chunk in chunks) == version.content == content_of(revision)
            if version.superseded_at is None:
                serving += [chunk.chunk_id for chunk in chunks]
                assert [dataset.revision for dataset in store.datasets(SCOPE, uri)] == [revision]
        if not is_live(store, uri):
            assert store.datasets(SCOPE, uri) == []
            assert retires(store.last_revision(SCOPE, uri)) or store.last_revision(SCOPE, uri) == 0
    assert store.live_chunk_ids(SCOPE)[0].tolist() == sorted(serving)
    assert record.rows("SELECT count(*) AS n FROM chunks ANTI JOIN revisions USING (staged_seq)") == [{"n": 0}]


def is_live(store: RecordStore, uri: str) -> bool:
    try:
        store.document(SCOPE, uri)
    except DocumentNotFound:
        return False
    return True


def test_ids_of_chunks_staged_by_a_killed_process_are_not_given_again(tmp_path: Path) -> None:
    done = child(
        """
import os, sys
from pathlib import Path
from knowledge_svc.storage.store import RecordStore
from tests.storage_fixtures import make_document, make_draft, open_record

with open_record(Path(sys.argv[1])) as record:
    store = RecordStore(record)
    store.publish(store.stage(make_draft()))
    print(max(store.stage(make_draft(make_document("doc:b"))).chunk_ids), flush=True)
    os._exit(1)
""",
        tmp_path,
    )
    assert done.stdout == "4\n", done.stderr
    with open_record(tmp_path) as record:
        store = RecordStore(record)
        assert store.live_chunk_ids(SCOPE)[0].tolist() == [1, 2]
        assert store.stage(make_draft(make_document("doc:b"))).chunk_ids == (5, 6)


# ---- one process


def test_a_second_process_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    with open_record(tmp_path) as record:
        store = RecordStore(record)
        write(store, "doc:a")
        done = child(
            """
import sys
from pathlib import Path
from tests.storage_fixtures import open_record

with open_record(Path(sys.argv[1])):
    print("opened")
""",
            tmp_path,
        )
        assert done.returncode != 0
        assert done.stdout == ""
        assert "DataFolderInUse: another process works on the data folder" in done.stderr
        write(store, "doc:b")
        assert len(store.documents(SCOPE, DocumentFilter(), after_uri="", limit=9)) == 2
    with open_record(tmp_path) as record:
        assert len(RecordStore(record).documents(SCOPE, DocumentFilter(), after_uri="", limit=9)) == 2


def test_a_folder_is_free_again_once_it_is_closed_or_its_opening_failed(tmp_path: Path) -> None:
    with open_record(tmp_path):
        with pytest.raises(DataFolderInUse):
            Record.open(tmp_path, dimension=8, clock=lambda: NOW)
        with pytest.raises(DataFolderInUse):
            Record.open(tmp_path, dimension=8, clock=lambda: NOW)
    shutil.copytree(tmp_path, tmp_path / "copy")
    (tmp_path / "copy" / "record.duckdb").write_bytes(b"not a database, yet long enough to be looked at" * 400)
    for _ in range(2):
        with pytest.raises(Exception, match="not a valid DuckDB database"):
            Record.open(tmp_path / "copy", dimension=8, clock=lambda: NOW)
    with open_record(tmp_path):
        pass


def test_a_record_of_a_newer_program_is_refused_as_it_is(tmp_path: Path) -> None:
    with open_record(tmp_path) as record, record.writing() as change:
        change.run("UPDATE meta SET schema_version = 99")
    before = (tmp_path / "record.duckdb").read_bytes()
    for _ in range(2):
        with pytest.raises(RecordTooNew) as refusal:
            Record.open(tmp_path, dimension=8, clock=lambda: NOW)
        assert refusal.value.metadata["found"] == "99"
    assert (tmp_path / "record.duckdb").read_bytes() == before


# ---- a damaged log


@pytest.fixture(scope="module")
def abandoned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a killed process: ten documents acknowledged, all of them still in the log."""
    folder = tmp_path_factory.mktemp("abandoned")
    done = child(
        """
import os, sys
from pathlib import Path
from knowledge_svc.storage.store import RecordStore
from tests.storage_fixtures import make_document, make_draft, open_record

with open_record(Path(sys.argv[1])) as record:
    store = RecordStore(record)
    for number in range(10):
        store.publish(store.stage(make_draft(make_document(f"doc:{number}"))))
    os._exit(0)
""",
        folder,
    )
    assert done.returncode == 0, done.stderr
    return folder


def flipped(log: bytes, place: float) -> bytes:
    damaged = bytearray(log)
    damaged[int(place * (len(log) - 1))] ^= 0xFF
    return bytes(damaged)


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "last byte flipped": lambda log: flipped(log, 1.0),
    "byte flipped in the last tenth": lambda log: flipped(log, 0.95),
    "byte flipped in the middle": lambda log: flipped(log, 0.5),
    "first byte flipped": lambda log: flipped(log, 0.0),
    "header flipped": lambda log: log[:20] + bytes([log[20] ^ 0xFF]) + log[21:],
    "tail cut": lambda log: log[:-100],
    "half cut": lambda log: log[: len(log) // 2],
    "tail zeroed": lambda log: log[:-600] + bytes(600),
    "emptied": lambda log: b"",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_record_that_lost_acknowledged_changes_serves_reads_only(
    abandoned: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    folder = Path(shutil.copytree(abandoned, tmp_path / "data"))
    log = (folder / LOG).read_bytes()
    (folder / LOG).write_bytes(DAMAGES[damage](log))
    for _ in range(2):
        with caplog.at_level(logging.ERROR), open_record(folder) as record:
            store, queue = RecordStore(record), RecordJobQueue(record)
            assert record.behind
            listed = store.documents(SCOPE, DocumentFilter(), after_uri="", limit=20)
            assert len(listed) < 10
            assert all(len(store.chunks(document)) == 2 for document in listed)
            for refused in (
                lambda store=store: store.stage(make_draft(make_document("doc:new"))),
                lambda store=store: store.retire(make_document("doc:0"), at=NOW),
                lambda queue=queue: queue.add_upload(make_upload()),
                lambda queue=queue: queue.add_job(make_job(), request=None),
                lambda queue=queue: queue.claim(now=NOW, lease_until=NOW),
                record.checkpoint,
            ):
                with pytest.raises(RecordBehindIndex) as refusal:
                    refused()
                assert refusal.value.metadata["acknowledged_change"] == "20"
    assert "record_behind_witness" in caplog.messages
    kept = [path.read_bytes() for path in folder.glob(f"{LOG}*")]
    found = DAMAGES[damage](log)
    assert not found or found in kept, "the damaged log is kept as it was found"


@pytest.mark.parametrize("tail", [bytes(4096), b"\xa5" * 300])
def test_a_torn_end_that_no_one_was_told_of_is_dropped(abandoned: Path, tmp_path: Path, tail: bytes) -> None:
    folder = Path(shutil.copytree(abandoned, tmp_path / "data"))
    with (folder / LOG).open("ab") as log:
        log.write(tail)
    for number in range(2):
        with open_record(folder) as record:
            store = RecordStore(record)
            assert not record.behind
            assert len(store.documents(SCOPE, DocumentFilter(), after_uri="", limit=20)) == 10 + number
            write(store, f"doc:new{number}")


def test_a_missing_record_beside_a_witness_is_read_only(tmp_path: Path) -> None:
    with open_record(tmp_path) as record:
        write(RecordStore(record))
    (tmp_path / "record.duckdb").unlink()
    with open_record(tmp_path) as record, pytest.raises(RecordBehindIndex):
        write(RecordStore(record))


def test_an_older_copy_of_the_record_is_read_only(tmp_path: Path) -> None:
    with open_record(tmp_path) as record:
        write(RecordStore(record), "doc:a")
    older = (tmp_path / "record.duckdb").read_bytes()
    with open_record(tmp_path) as record:
        write(RecordStore(record), "doc:b")
    (tmp_path / "record.duckdb").write_bytes(older)
    with open_record(tmp_path) as record:
        assert RecordStore(record).document(SCOPE, "doc:a").revision == 1
        with pytest.raises(RecordBehindIndex):
            write(RecordStore(record), "doc:c")


def test_a_damaged_witness_is_not_trusted(tmp_path: Path) -> None:
    with open_record(tmp_path) as record:
        write(RecordStore(record))
    (tmp_path / "WITNESS").write_bytes(b"\xff" * 256)
    with open_record(tmp_path) as record:
        assert RecordStore(record).document(SCOPE, "doc:a").revision == 1
        with pytest.raises(RecordBehindIndex):
            write(RecordStore(record), "doc:b")


def test_removing_the_witness_accepts_the_loss_under_a_new_database_id(abandoned: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(abandoned, tmp_path / "data"))
    (folder / LOG).write_bytes(flipped((folder / LOG).read_bytes(), 0.5))
    with open_record(folder) as record:
        assert record.behind
        before = record.database_id
    (folder / "WITNESS").unlink()
    with open_record(folder) as record:
        store = RecordStore(record)
        assert store.database_id() != before
        after = store.database_id()
        write(store, "doc:new")
    with open_record(folder) as record:
        assert record.database_id == after
        assert RecordStore(record).document(SCOPE, "doc:new").revision == 1


# ---- a full disk


def test_a_full_disk_refuses_the_write_whole_and_reads_go_on(tmp_path: Path) -> None:
    """The kernel refuses the log's growth, by a limit on file size, in the middle of real commits."""
    done = child(
        """
import resource, sys
from pathlib import Path
from knowledge_svc.domain.errors import DiskFull
from knowledge_svc.domain.model import DocumentFilter
from knowledge_svc.storage.store import RecordStore
from tests.storage_fixtures import SCOPE, make_document, make_draft, open_record

folder = Path(sys.argv[1])
with open_record(folder) as record:
    store = RecordStore(record)
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    written = 0
    for refusal in range(3):
        resource.setrlimit(resource.RLIMIT_FSIZE, ((folder / "record.duckdb.wal").stat().st_size + 9000 if written else 9000, hard))
        try:
            while True:
                store.publish(store.stage(make_draft(make_document(f"doc:{written}", content="word " * 60))))
                written += 1
        except DiskFull as error:
            print(error.code_reason, len(store.documents(SCOPE, DocumentFilter(), after_uri="", limit=99)) == written)
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        store.publish(store.stage(make_draft(make_document(f"doc:{written}"))))
        written += 1
    print(len(store.documents(SCOPE, DocumentFilter(), after_uri="", limit=99)) == written, written > 5)
""",
        tmp_path,
    )
    assert done.stdout.splitlines() == ["DISK_FULL True"] * 3 + ["True True"], done.stderr
    with open_record(tmp_path) as record:
        assert not record.behind


def test_a_checkpoint_that_finds_no_room_does_not_stop_reads_or_writes(tmp_path: Path) -> None:
    """DuckDB gives its database up where a checkpoint fails; the record starts it anew under its readers."""
    done = child(
        """
import resource, sys, threading, time
from pathlib import Path
from knowledge_svc.domain.model import DocumentFilter
from knowledge_svc.storage.store import RecordStore
from tests.storage_fixtures import SCOPE, make_document, make_draft, open_record

folder = Path(sys.argv[1])
with open_record(folder) as record:
    store = RecordStore(record)
    for number in range(60):
        store.publish(store.stage(make_draft(make_document(f"doc:{number}", content=str(number) * 9000))))
    stop, faults, counts = threading.Event(), [], set()

    def read():
        while not stop.is_set():
            try:
                counts.add(len(store.documents(SCOPE, DocumentFilter(), after_uri="", limit=99)))
            except Exception as fault:
                faults.append(repr(fault))

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    while not counts and not faults:
        time.sleep(0.01)
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, ((folder / "record.duckdb").stat().st_size, hard))
    record.checkpoint()
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    store.publish(store.stage(make_draft(make_document("doc:after"))))
    stop.set()
    for reader in readers:
        reader.join()
    print(sorted(counts | {61}), faults, (folder / "record.duckdb.wal").stat().st_size > 0)
""",
        tmp_path,
    )
    assert done.stdout in ("[60, 61] [] True\n",), done.stdout + done.stderr
    assert "database_reopened" in done.stderr
    with open_record(tmp_path) as record:
        assert len(RecordStore(record).documents(SCOPE, DocumentFilter(), after_uri="", limit=99)) == 61


def test_no_checkpoint_is_tried_where_the_disk_has_too_little_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with open_record(tmp_path) as record:
        write(RecordStore(record))
        with monkeypatch.context() as patch:
            patch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(100, 99, 1))  # type: ignore[attr-defined]  # private
            record.checkpoint()
        assert "checkpoint_skipped" in caplog.messages
        assert (tmp_path / LOG).stat().st_size > 0
        record.checkpoint()
        assert not (tmp_path / LOG).exists()


def test_a_witness_that_cannot_be_written_holds_the_next_write_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(_: int) -> None:
        raise OSError(ENOSPC, os.strerror(ENOSPC))

    with open_record(tmp_path) as record:
        store = RecordStore(record)
        staged = store.stage(make_draft())
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            publication = store.publish(staged)
            assert "witness_not_written" in caplog.messages
            with pytest.raises(DiskFull):
                store.stage(make_draft(make_document("doc:b")))
            assert store.live_chunk_ids(SCOPE)[0].tolist() == list(publication.live)
        write(store, "doc:b")
    with open_record(tmp_path) as record:
        assert not record.behind
        assert len(RecordStore(record).documents(SCOPE, DocumentFilter(), after_uri="", limit=9)) == 2


def test_a_write_that_raises_is_undone_and_the_next_one_goes_through(tmp_path: Path) -> None:
    with open_record(tmp_path) as record:
        store = RecordStore(record)
        first = make_document()
        write(store)
        with pytest.raises(KeyError), record.writing() as change:
            change.run("UPDATE revisions SET title = 'half'")
            raise KeyError
        assert store.document(SCOPE, "doc:a").title == "Title"
        store.publish(store.stage(next_draft(first)))
        assert store.document(SCOPE, "doc:a").revision == 2


def test_closing_interrupts_readers_and_gives_the_folder_up(tmp_path: Path) -> None:
    record = Record.open(tmp_path, dimension=8, clock=lambda: NOW)
    write(RecordStore(record))
    faults: list[BaseException] = []

    def read() -> None:
        try:
            record.rows("SELECT count(*) FROM range(30_000) a, range(3_000_000) b WHERE a.range * b.range % 7 = 3")
        except BaseException as fault:
            faults.append(fault)

    reader = threading.Thread(target=read)
    reader.start()
    time.sleep(0.2)
    record.close()
    reader.join(timeout=10)
    assert not reader.is_alive()
    assert len(faults) == 1
    record.close()
    with open_record(tmp_path) as reopened:
        assert RecordStore(reopened).document(SCOPE, "doc:a").revision == 1
