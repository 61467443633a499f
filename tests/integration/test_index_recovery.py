"""Whatever happens to the index files, what is served afterwards is what the record serves."""

from __future__ import annotations

import errno
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from knowledge_svc.domain.analysis import query_terms
from knowledge_svc.domain.errors import DiskFull, RecordBehindIndex
from knowledge_svc.domain.model import ChunkFilter, IndexRows
from knowledge_svc.index.lexical import LexicalIndexDamaged, TantivyIndex
from knowledge_svc.index.namespaces import Indexes
from knowledge_svc.index.rows import rows_of
from tests.index_fixtures import DIMENSION, MODEL, SCOPE, MemoryRecord, chunk, draft, word_vectors
from tests.integration import index_writer

ROOT = Path(__file__).resolve().parents[2]
KILLS = 8


def opened(folder: Path, record: MemoryRecord) -> Indexes:
    return Indexes(folder, store=record.as_store(), model=MODEL, dimension=DIMENSION)


def publish(indexes: Indexes, record: MemoryRecord, uri: str, texts: list[str]) -> None:
    staged = record.stage(draft(uri, [chunk(i, text, keys=(f"k_{i}", uri)) for i, text in enumerate(texts)], tags=(uri[:1],)))
    indexes.add(staged)
    indexes.serve(record.publish(staged))


def filled(folder: Path) -> MemoryRecord:
    """Two saved generations with a retired revision in each, and a tail that was not saved."""
    record = MemoryRecord()
    indexes = opened(folder, record)
    for number in range(4):
        publish(indexes, record, f"a/{number}", [f"pump number{number} part{part}" for part in range(3)])
    publish(indexes, record, "a/1", ["pump again"])
    indexes.save()
    publish(indexes, record, "b/1", ["valve", "seal valve"])
    publish(indexes, record, "b/1", ["valve", "oil seal"])
    indexes.save()
    before = saved(folder)
    publish(indexes, record, "c/1", ["engine"])
    indexes.serve(record.retire("a/2"))
    keep = {name: (folder / name).read_bytes() for name in before}
    indexes.close()
    restore_flat(folder, keep)
    return record


def saved(folder: Path) -> list[str]:
    return [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and "lexical" not in str(path)]


def restore_flat(folder: Path, keep: dict[str, bytes]) -> None:
    """Puts back the files of an earlier save, as a kill before the next save would leave them."""
    for name in saved(folder):
        (folder / name).unlink()
    for name, content in keep.items():
        (folder / name).write_bytes(content)


def shown(indexes: Indexes) -> tuple[object, ...]:
    """What a search can see; BM25 scores are left out, for deleted chunks count in them until they are merged away."""
    with indexes.snapshot(SCOPE) as snapshot:
        everything = snapshot.allowed(ChunkFilter())
        words = [query_terms(query) for query in ("pump", "valve seal", "engine oil", "number2 part1", "again")]
        lexical = [{hit.chunk_id for hit in snapshot.lexical(terms, k=99, allowed=everything)} for terms in words]
        nearest = [snapshot.nearest(vector, k=99, allowed=everything) for vector in word_vectors(["pump", "oil seal"])]
        filtered = [
            snapshot.lexical(words[0], k=1, allowed=snapshot.allowed(selection)) != []
            for selection in (ChunkFilter(uri_prefixes=("a/3",)), ChunkFilter(tags=("b",)))
        ]
        return snapshot.size, lexical, nearest, filtered, snapshot.holders(["K_0", "a/1", "c/1"], allowed=everything)


def rebuilt(tmp_path: Path, record: MemoryRecord) -> tuple[object, ...]:
    indexes = opened(tmp_path / "anew", record)
    result = shown(indexes)
    indexes.close()
    return result


def one_of_each_kind(folder: Path) -> list[Path]:
    """Returns a file of every kind, the lexical index's by their endings, relative to the folder."""
    kinds = {
        path.suffix or path.name.split("-")[0]: path for path in sorted(folder.rglob("*")) if path.is_file() and path.stat().st_size
    }
    assert set(kinds) == {
        "CURRENT", "vectors", "catalog", "keys", ".json", ".term", ".idx", ".pos", ".store", ".fast", ".fieldnorm", ".del",
    }  # fmt: skip
    return [path.relative_to(folder) for path in kinds.values()]


def delete(path: Path, rng: random.Random) -> None:
    path.unlink()


def empty(path: Path, rng: random.Random) -> None:
    path.write_bytes(b"")


def truncate(path: Path, rng: random.Random) -> None:
    os.truncate(path, rng.randrange(path.stat().st_size))


def flip(path: Path, rng: random.Random) -> None:
    content = bytearray(path.read_bytes())
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)


def scramble(path: Path, rng: random.Random) -> None:
    path.write_bytes(rng.randbytes(path.stat().st_size))


@pytest.mark.parametrize("damage", [delete, empty, truncate, flip, scramble])
def test_any_damaged_file_is_made_good_from_the_record(tmp_path: Path, damage: Callable[[Path, random.Random], None]) -> None:
    record = filled(tmp_path / "index")
    expected, rng = rebuilt(tmp_path, record), random.Random(7)
    victims = one_of_each_kind(tmp_path / "index")
    for number, victim in enumerate(victims):
        folder = tmp_path / f"case-{number}"
        shutil.copytree(tmp_path / "index", folder)
        damage(folder / victim, rng)
        indexes = opened(folder, record)
        assert shown(indexes) == expected, victim
        if number % 4 == 0:
            publish(indexes, record, "z/9", ["tail"])
            indexes.serve(record.retire("z/9"))
        indexes.close()
        assert shown(opened(folder, record)) == expected, victim


def test_a_flipped_bit_anywhere_in_the_small_files_is_made_good(tmp_path: Path) -> None:
    record = filled(tmp_path / "index")
    expected, rng = rebuilt(tmp_path, record), random.Random(11)
    small = [
        path.relative_to(tmp_path / "index") for path in (tmp_path / "index").rglob("*") if path.name in ("meta.json", "CURRENT")
    ]
    assert len(small) == 2
    for number in range(16):
        folder = tmp_path / f"case-{number}"
        shutil.copytree(tmp_path / "index", folder)
        flip(folder / rng.choice(small), rng)
        assert shown(opened(folder, record)) == expected
        shutil.rmtree(folder)


def test_a_missing_folder_is_made_anew(tmp_path: Path) -> None:
    record = filled(tmp_path / "index")
    expected = shown(opened(tmp_path / "index", record))
    shutil.rmtree(tmp_path / "index")
    assert shown(opened(tmp_path / "index", record)) == expected


def test_what_was_saved_is_read_and_only_the_tail_replayed(tmp_path: Path) -> None:
    record = filled(tmp_path / "index")
    tail = record.last_id
    record.batch, record.reads = 1, 0
    indexes = opened(tmp_path / "index", record)
    with indexes.snapshot(SCOPE) as snapshot:
        assert snapshot.change_seq == record.change_seq
    assert record.rows[tail].draft.document.source_uri == "c/1"
    assert record.reads == 1
    indexes.close()
    record.reads = 0
    assert shown(opened(tmp_path / "index", record))
    assert record.reads == 0


def test_files_of_another_record_are_set_aside(tmp_path: Path) -> None:
    filled(tmp_path / "index")
    other = MemoryRecord(uuid="record-2")
    other.publish(other.stage(draft("a/1", [chunk(0, "crane")])))
    indexes = opened(tmp_path / "index", other)
    with indexes.snapshot(SCOPE) as snapshot:
        allowed = snapshot.allowed(ChunkFilter())
        assert snapshot.size == 1
        assert [hit.chunk_id for hit in snapshot.lexical(query_terms("crane pump"), k=9, allowed=allowed)] == [1]
        assert [hit.chunk_id for hit in snapshot.nearest(word_vectors(["crane"])[0], k=9, allowed=allowed)] == [1]
    assert len(list((tmp_path / "index").glob("*/damaged/CURRENT"))) == 1


def test_a_record_behind_its_index_is_read_and_not_written(tmp_path: Path) -> None:
    record = MemoryRecord()
    indexes = opened(tmp_path / "index", record)
    publish(indexes, record, "a", ["pump"])
    indexes.close()
    lost = MemoryRecord()
    lost.publish(lost.stage(draft("a", [chunk(0, "pump")])))
    indexes = opened(tmp_path / "index", record)
    publish(indexes, record, "b", ["valve"])
    indexes.close()
    indexes = opened(tmp_path / "index", lost)
    with indexes.snapshot(SCOPE) as snapshot:
        assert (snapshot.size, snapshot.change_seq) == (1, 2)
        assert snapshot.lexical(query_terms("valve"), k=5, allowed=snapshot.allowed(ChunkFilter())) == []
    staged = lost.stage(draft("c", [chunk(0, "seal")]))
    with pytest.raises(RecordBehindIndex):
        indexes.add(staged)
    lost.abandon(staged)
    assert indexes.rebuild(SCOPE) == 1
    publish(indexes, lost, "c", ["seal"])
    with indexes.snapshot(SCOPE) as snapshot:
        assert snapshot.size == 2
    indexes.close()


def test_a_save_that_fails_at_any_step_leaves_the_old_or_the_new_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = filled(tmp_path / "index")
    expected = rebuilt(tmp_path, record)
    steps = iter(range(10_000))
    fail_at = 0

    def failing(call: Callable[..., object]) -> Callable[..., object]:
        def wrapped(*arguments: object) -> object:
            if next(steps) == fail_at:
                code = errno.EIO if fail_at % 3 else errno.ENOSPC
                raise OSError(code, os.strerror(code))
            return call(*arguments)

        return wrapped

    real_fsync, real_rename = os.fsync, Path.rename
    failures = 0
    for fail_at in range(14):
        folder = tmp_path / f"case-{fail_at}"
        shutil.copytree(tmp_path / "index", folder)
        indexes = opened(folder, record)
        with indexes.snapshot(SCOPE):
            pass
        publish(indexes, record, "z/9", ["tail"])
        indexes.serve(record.retire("z/9"))
        steps = iter(range(10_000))
        monkeypatch.setattr(os, "fsync", failing(real_fsync))
        monkeypatch.setattr(Path, "rename", failing(real_rename))
        try:
            indexes.save()
        except (DiskFull, OSError) as error:
            failures += 1
            assert isinstance(error, DiskFull) == (fail_at % 3 == 0)
        finally:
            monkeypatch.undo()
        assert shown(opened(folder, record)) == expected
        indexes.close()
        assert shown(opened(folder, record)) == expected
    assert failures >= 8


def test_a_lexical_index_that_breaks_while_running_is_made_anew_with_the_next_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = MemoryRecord()
    indexes = opened(tmp_path / "index", record)
    publish(indexes, record, "a", ["pump"])
    broken = list[TantivyIndex]()

    def break_once(index: TantivyIndex, rows: IndexRows, *, removed: object = ()) -> None:
        if not broken or index is broken[0]:
            broken.append(index)
            raise LexicalIndexDamaged("broken")
        add(index, rows)

    add = TantivyIndex.add
    monkeypatch.setattr(TantivyIndex, "add", break_once)
    publish(indexes, record, "b", ["pump valve"])
    monkeypatch.undo()
    for _ in range(2):
        with indexes.snapshot(SCOPE) as snapshot:
            found = snapshot.lexical(query_terms("pump"), k=5, allowed=snapshot.allowed(ChunkFilter()))
            assert [hit.chunk_id for hit in found] == [1, 2]
        indexes.close()


def test_a_lexical_index_that_takes_no_writes_at_the_start_is_made_anew(tmp_path: Path) -> None:
    record = filled(tmp_path / "index")
    expected = rebuilt(tmp_path, record)
    [lexical] = (tmp_path / "index").glob("*/lexical-*")
    holder = TantivyIndex(lexical)
    holder.add(rows_of(MemoryRecord(last_id=500).stage(draft("x", [chunk(0, "holds the writer's lock")]))))
    record.publish(record.stage(draft("z/1", [chunk(0, "crane")])))
    record.retire("z/1")
    record.publish(
        record.stage(draft("a/0", [chunk(part, f"pump number0 part{part}", keys=(f"k_{part}", "a/0")) for part in range(3)]))
    )
    indexes = opened(tmp_path / "index", record)
    with indexes.snapshot(SCOPE) as snapshot:
        found = snapshot.lexical(query_terms("number0"), k=9, allowed=snapshot.allowed(ChunkFilter()))
        assert len(found) == 3
        assert snapshot.size == expected[0]
    assert not lexical.exists()
    indexes.close()
    holder.close()


def test_dead_chunks_are_collected_from_memory_and_older_snapshots_keep_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("knowledge_svc.index.namespace._FEW_DEAD", 2)
    record = MemoryRecord()
    indexes = opened(tmp_path / "index", record)
    publish(indexes, record, "a", ["pump", "valve", "seal"])
    publish(indexes, record, "b", ["oil"])
    with indexes.snapshot(SCOPE) as old:
        before = old.nearest(word_vectors(["pump"])[0], k=9, allowed=old.allowed(ChunkFilter()))
        indexes.serve(record.retire("a"))
        staged = record.stage(draft("c", [chunk(0, "crane", keys=("k_9",))]))
        indexes.add(staged)
        indexes.save()
        indexes.serve(record.publish(staged))
        assert old.nearest(word_vectors(["pump"])[0], k=9, allowed=old.allowed(ChunkFilter())) == before
    with indexes.snapshot(SCOPE) as snapshot:
        mask = snapshot.allowed(ChunkFilter())
        assert mask.tolist() == [True, True]
        assert sorted(hit.chunk_id for hit in snapshot.nearest(word_vectors(["crane"])[0], k=9, allowed=mask)) == [4, 5]
        assert [match.chunk_id for match in snapshot.holders(["k_9"], allowed=mask)] == [5]
        assert [hit.chunk_id for hit in snapshot.lexical(query_terms("crane pump"), k=9, allowed=mask)] == [5]
        assert np.array_equal(snapshot.allowed(ChunkFilter(uri_prefixes=("c",))), [False, True])
    indexes.close()


def test_a_kill_at_any_moment_loses_nothing_that_was_published(tmp_path: Path) -> None:
    """What is reopened equals a rebuild, and nothing had to be set aside: the files held every time."""
    folder, journal, rng = tmp_path / "index", tmp_path / "journal", random.Random(3)
    for kill in range(KILLS):
        command = [sys.executable, "-m", "tests.integration.index_writer", str(folder), str(journal)]
        child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert child.stdout is not None and child.stderr is not None
        for _ in range(rng.randint(1, 12)):
            line = child.stdout.readline()
            assert line, child.stderr.read()
        time.sleep(rng.random() * 0.04)
        child.kill()
        child.communicate()
        record, _ = index_writer.replay(journal)
        indexes = opened(folder, record)
        assert shown(indexes) == rebuilt(tmp_path / f"anew-{kill}", record)
        indexes.close()
        assert not list(folder.glob("*/damaged"))
