"""A generation in files and back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from knowledge_svc.domain.model import ChunkFilter
from knowledge_svc.index.files import DamagedFile, FileStamp, write_file
from knowledge_svc.index.generation import Generation
from knowledge_svc.index.manifest import CURRENT, Manifest, read_manifest, write_manifest
from knowledge_svc.index.rows import rows_of
from knowledge_svc.index.saved import load_generation, save_generation
from tests.index_fixtures import DIMENSION, MemoryRecord, chunk, draft


def made() -> Generation:
    record, generation = MemoryRecord(), Generation.empty(DIMENSION)
    generation.append(
        rows_of(record.stage(draft("a/é", [chunk(0, "pump", keys=("K_1",))], tags=("x,y", '"z"'), file_format="pdf")))
    )
    generation.append(rows_of(record.stage(draft("b", [chunk(0, "oil", block_type="mixed"), chunk(1, "seal", keys=("k_1",))]))))
    return generation


def manifest(files: tuple[FileStamp, ...], *, chunks: int = 3) -> Manifest:
    return Manifest(1, "1", "db", "acme", "plant", 7, DIMENSION, "inner product", "m", chunks, 1, "lexical-1", files)


def test_what_was_saved_is_read_back(tmp_path: Path) -> None:
    stamps = save_generation(tmp_path, made(), number=1)
    loaded = load_generation(tmp_path, manifest(stamps))
    live = np.ones(3, dtype=np.bool_)
    assert loaded.chunk_ids.tolist() == loaded.vectors.chunk_ids.tolist() == [1, 2, 3]
    assert loaded.keys.holders(["k_1"], allowed=live) == {0: ("k_1",), 2: ("k_1",)}
    for selection, expected in (
        (ChunkFilter(uri_prefixes=("a/é",)), [True, False, False]),
        (ChunkFilter(tags=('"z"',)), [True, False, False]),
        (ChunkFilter(formats=("",)), [False, True, True]),
        (ChunkFilter(block_types=("mixed",)), [False, True, False]),
    ):
        assert loaded.catalog.allowed(selection, live).tolist() == expected


def test_a_loaded_generation_takes_more_chunks(tmp_path: Path) -> None:
    loaded = load_generation(tmp_path, manifest(save_generation(tmp_path, made(), number=1)))
    loaded.append(rows_of(MemoryRecord(last_id=8).stage(draft("c", [chunk(0, "crane")]))))
    assert loaded.find(np.array([9, 2, 4])).tolist() == [3, 1, -1]


def test_ids_are_found_in_whatever_order_they_were_appended() -> None:
    generation = Generation.empty(DIMENSION)
    for last in (20, 3, 9):
        generation.append(rows_of(MemoryRecord(last_id=last).stage(draft("c", [chunk(0, "crane"), chunk(1, "drum")]))))
    assert generation.chunk_ids.tolist() == [21, 22, 4, 5, 10, 11]
    assert generation.find(np.array([4, 22, 1, 11, 23])).tolist() == [2, 1, -1, 5, -1]


def test_an_empty_generation_is_saved_too(tmp_path: Path) -> None:
    stamps = save_generation(tmp_path, Generation.empty(DIMENSION), number=1)
    assert load_generation(tmp_path, manifest(stamps, chunks=0)).size == 0


def test_files_of_another_layout_are_damaged_not_a_crash(tmp_path: Path) -> None:
    stamps = {stamp.name: stamp for stamp in save_generation(tmp_path, made(), number=1)}
    table = pa.ipc.open_file((tmp_path / "catalog-1").read_bytes()).read_all().drop_columns(["format"])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    stamps["catalog-1"] = write_file(tmp_path / "catalog-1", lambda file: file.write(sink.getvalue()))
    with pytest.raises(DamagedFile, match="laid out"):
        load_generation(tmp_path, manifest(tuple(stamps.values())))


def test_files_that_do_not_belong_together_are_damaged(tmp_path: Path) -> None:
    stamps = save_generation(tmp_path, made(), number=1)
    other = Generation.empty(DIMENSION)
    other.append(rows_of(MemoryRecord(last_id=5).stage(draft("c", [chunk(i, "crane") for i in range(3)]))))
    vectors = save_generation(tmp_path, other, number=2)[0]
    with pytest.raises(DamagedFile, match="catalog"):
        load_generation(tmp_path, manifest((vectors, *stamps[1:])))
    with pytest.raises(DamagedFile, match="names no"):
        load_generation(tmp_path, manifest(stamps[:1]))


def test_a_manifest_is_read_back_and_a_changed_one_refused(tmp_path: Path) -> None:
    assert read_manifest(tmp_path) is None
    written = manifest((FileStamp("vectors-1", 3, 4),))
    write_manifest(tmp_path, written)
    assert read_manifest(tmp_path) == written
    content = (tmp_path / CURRENT).read_text()
    (tmp_path / CURRENT).write_text(content.replace('"change_seq": 7', '"change_seq": 8'))
    with pytest.raises(DamagedFile, match="checksum"):
        read_manifest(tmp_path)
    write_manifest(tmp_path, replace(written, change_seq=8))
    assert read_manifest(tmp_path) == replace(written, change_seq=8)
