"""Brings a namespace's indexes to what the record serves, from files where they hold and from the record where not."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from knowledge_svc.domain.analysis import ANALYSIS
from knowledge_svc.domain.errors import IndexModelMismatch
from knowledge_svc.domain.model import IndexRows, Scope, Vectors
from knowledge_svc.domain.ports import Store
from knowledge_svc.index.files import DamagedFile, sync_folder
from knowledge_svc.index.generation import Generation
from knowledge_svc.index.lexical import LexicalIndexDamaged, TantivyIndex
from knowledge_svc.index.lexical_check import check_lexical
from knowledge_svc.index.manifest import CURRENT, LAYOUT, Manifest, read_manifest
from knowledge_svc.index.rows import only
from knowledge_svc.index.saved import load_generation
from services.errors import DataLoss

LEXICAL: Final = "lexical"
SET_ASIDE: Final = "damaged"
"""Where files that could not be used are kept until the next time that happens."""


class RecordIncomplete(DataLoss):
    """The record serves chunks whose rows it does not hold."""

    reason = "RECORD_INCOMPLETE"


@dataclass(slots=True, eq=False)
class Parts:
    """Both halves of a namespace's indexes; `lexical_name` is the folder of the second."""

    generation: Generation
    lexical: TantivyIndex
    lexical_name: str


def usable_manifest(folder: Path, *, scope: Scope, database_id: str) -> Manifest | None:
    """Returns the manifest of files made from this record, None where there are none or what is there was set aside."""
    try:
        manifest = read_manifest(folder)
    except DamagedFile:
        manifest = None
    if manifest and _identity(manifest) == (LAYOUT, database_id, scope.org, scope.namespace):
        return manifest
    set_aside(folder, [path.name for path in folder.iterdir() if path.name != SET_ASIDE])
    return None


def open_generation(folder: Path, manifest: Manifest | None, *, dimension: int) -> Generation:
    """Reads the saved generation; where it does not hold, its files are set aside and an empty one is returned."""
    if manifest is None:
        return Generation.empty(dimension)
    try:
        return load_generation(folder, manifest)
    except DamagedFile:
        set_aside(folder, [stamp.name for stamp in manifest.files])
        return Generation.empty(dimension)


def open_lexical(folder: Path, manifest: Manifest | None) -> tuple[TantivyIndex, str]:
    """Opens the lexical index; where it does not hold, it is set aside and an empty one is made."""
    if manifest is None or manifest.analysis != ANALYSIS:
        return new_lexical(folder)
    path = folder / manifest.lexical
    try:
        check_lexical(path)
        index = TantivyIndex(path)
        index.reader().chunk_ids()
    except (DamagedFile, LexicalIndexDamaged):
        set_aside(folder, [manifest.lexical])
        return new_lexical(folder)
    return index, manifest.lexical


def new_lexical(folder: Path) -> tuple[TantivyIndex, str]:
    """Makes an empty lexical index in a folder of its own."""
    path = folder / f"{LEXICAL}-{free_number(folder)}"
    path.mkdir()
    sync_folder(folder)
    return TantivyIndex(path), path.name


def free_number(folder: Path) -> int:
    """Returns a number greater than any that a name in the folder ends with."""
    numbers = [int(tail) for path in folder.iterdir() if (tail := path.name.rpartition("-")[2]).isdecimal()]
    return max(numbers, default=0) + 1


def complete(parts: Parts, wanted: npt.NDArray[np.int64], *, store: Store, scope: Scope) -> bool:
    """Adds what either half lacks of the wanted ids (ascending) from the record; tells whether anything was lacking.

    Raises:
        RecordIncomplete: the record does not hold a wanted chunk.
        IndexModelMismatch: its vectors have another length.
    """
    no_vector = wanted[parts.generation.find(wanted) < 0]
    no_words = np.setdiff1d(wanted, parts.lexical.reader().chunk_ids())
    lacking = np.union1d(no_vector, no_words)
    if not len(lacking):
        return False
    for rows in store.index_rows(scope, after_chunk_id=int(lacking[0]) - 1, vectors=bool(len(no_vector))):
        _take(parts, rows, no_vector=no_vector, no_words=no_words)
    left = wanted[parts.generation.find(wanted) < 0]
    if len(left):
        raise RecordIncomplete(
            f"the record serves {len(left)} chunks it holds no rows of; restore it from a backup",
            metadata={"chunks": str(len(left))},
        )
    return True


def set_aside(folder: Path, names: list[str]) -> None:
    """Moves files that cannot be used out of the way, in place of those set aside before."""
    aside = folder / SET_ASIDE
    present = [name for name in names if (folder / name).exists()]
    if not present:
        return
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir()
    for name in present:
        (folder / name).rename(aside / name)
    sync_folder(folder)


def sweep(folder: Path, manifest: Manifest) -> None:
    """Removes what CURRENT does not name."""
    kept = {CURRENT, SET_ASIDE, manifest.lexical, *(stamp.name for stamp in manifest.files)}
    for path in folder.iterdir():
        if path.name in kept:
            continue
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def _identity(manifest: Manifest) -> tuple[int, str, str, str]:
    return manifest.layout, manifest.database_id, manifest.org, manifest.namespace


def _take(parts: Parts, rows: IndexRows, *, no_vector: npt.NDArray[np.int64], no_words: npt.NDArray[np.int64]) -> None:
    flat, words = only(rows, no_vector), only(rows, no_words)
    if len(flat.chunk_ids):
        check_dimension(flat.vectors, parts.generation.vectors.dimension)
        parts.generation.append(flat)
    if len(words.chunk_ids):
        parts.lexical.add(words)


def check_dimension(vectors: Vectors | None, dimension: int) -> None:
    """Refuses vectors of another length than the index's.

    Raises:
        IndexModelMismatch: they are.
    """
    found = 0 if vectors is None else vectors.shape[1]
    if found != dimension:
        raise IndexModelMismatch(
            f"the vectors have {found} dimensions, the index {dimension}; embed the documents again",
            metadata={"found": str(found), "expected": str(dimension)},
        )
