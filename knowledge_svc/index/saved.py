"""A generation in files: vectors as FAISS writes them, catalog and keys as Arrow."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from knowledge_svc.index.catalog import Catalog, CodedColumn, Column
from knowledge_svc.index.files import DamagedFile, FileStamp, check_file, write_file
from knowledge_svc.index.generation import Generation
from knowledge_svc.index.keys import KeyIndex
from knowledge_svc.index.manifest import Manifest
from knowledge_svc.index.vectors import FlatVectors

VECTORS: Final = "vectors"
CATALOG: Final = "catalog"
KEYS: Final = "keys"


def save_generation(folder: Path, generation: Generation, *, number: int) -> tuple[FileStamp, ...]:
    """Writes a generation under names that carry its number."""
    catalog, keys = _catalog_table(generation), _keys_table(generation.keys)
    return (
        write_file(folder / f"{VECTORS}-{number}", lambda file: generation.vectors.save(file.write)),
        write_file(folder / f"{CATALOG}-{number}", lambda file: file.write(_serialise(catalog))),
        write_file(folder / f"{KEYS}-{number}", lambda file: file.write(_serialise(keys))),
    )


def load_generation(folder: Path, manifest: Manifest) -> Generation:
    """Reads the generation that a manifest names.

    Raises:
        DamagedFile: a file is not what was written, or the files do not belong together.
    """
    for stamp in manifest.files:
        check_file(folder / stamp.name, stamp)
    try:
        vectors = FlatVectors.load(str(folder / manifest.stamp(VECTORS).name))
        catalog = _catalog(_table(folder / manifest.stamp(CATALOG).name))
        keys = _keys(_table(folder / manifest.stamp(KEYS).name))
    except (KeyError, ValueError, RuntimeError) as error:
        raise DamagedFile("the files are not laid out as this program writes them") from error
    if not np.array_equal(vectors.chunk_ids, catalog.chunk_ids.first(manifest.chunks)):
        raise DamagedFile("the vectors are not those of the catalog")
    return Generation(vectors, catalog, keys, manifest.chunks)


def _catalog_table(generation: Generation) -> pa.Table:
    catalog, size = generation.catalog, generation.size
    return pa.table(
        {
            "chunk_id": catalog.chunk_ids.first(size),
            "ingested_at_us": catalog.ingested_at_us.first(size),
            "uri": _coded(catalog.uris.codes, size, catalog.uris.values),
            "tags": _coded(catalog.tags.codes, size, [json.dumps(tags) for tags in catalog.tags.values]),
            "format": _coded(catalog.formats.codes, size, catalog.formats.values),
            "block_type": _coded(catalog.block_types.codes, size, catalog.block_types.values),
            "section": _coded(catalog.sections.codes, size, catalog.sections.values),
        }
    )


def _catalog(table: pa.Table) -> Catalog:
    codes, tags = _decoded(table["tags"])
    return Catalog(
        chunk_ids=Column(_numbers(table["chunk_id"])),
        uris=CodedColumn(*_decoded(table["uri"])),
        tags=CodedColumn(codes, [tuple(json.loads(value)) for value in tags]),
        formats=CodedColumn(*_decoded(table["format"])),
        block_types=CodedColumn(*_decoded(table["block_type"])),
        sections=CodedColumn(*_decoded(table["section"])),
        ingested_at_us=Column(_numbers(table["ingested_at_us"])),
    )


def _keys_table(keys: KeyIndex) -> pa.Table:
    items = sorted(keys.items())
    positions = pa.array([places for _, places in items], pa.list_(pa.int64()))
    return pa.table({"key": pa.array([key for key, _ in items], pa.string()), "positions": positions})


def _keys(table: pa.Table) -> KeyIndex:
    return KeyIndex(dict(zip(table["key"].to_pylist(), table["positions"].to_pylist(), strict=True)))


def _coded(codes: Column, size: int, values: Sequence[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes.first(size), pa.int64()), pa.array(values, pa.string()))


def _decoded(column: pa.ChunkedArray) -> tuple[npt.NDArray[np.int64], list[str]]:
    coded = column.combine_chunks()
    return _numbers(coded.indices), coded.dictionary.to_pylist()


def _numbers(column: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """Returns integers as an array of our own, which may be written to."""
    return np.array(column.to_numpy(), dtype=np.int64)


def _serialise(table: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _table(path: Path) -> pa.Table:
    return pa.ipc.open_file(path.read_bytes()).read_all()
