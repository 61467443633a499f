"""The indexes of one namespace: loaded on first use, changed by one writer at a time, saved from time to time."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from knowledge_svc.domain.analysis import ANALYSIS
from knowledge_svc.domain.errors import IndexModelMismatch, RecordBehindIndex
from knowledge_svc.domain.model import IndexRows, Publication, Scope, StagedRevision, Vectors
from knowledge_svc.domain.ports import Mask, Store
from knowledge_svc.index.generation import Generation
from knowledge_svc.index.lexical import LexicalIndexDamaged
from knowledge_svc.index.manifest import LAYOUT, Manifest, write_manifest
from knowledge_svc.index.recovery import (
    Parts,
    check_dimension,
    complete,
    free_number,
    new_lexical,
    open_generation,
    open_lexical,
    set_aside,
    sweep,
    usable_manifest,
)
from knowledge_svc.index.rows import only, rows_of
from knowledge_svc.index.saved import save_generation
from knowledge_svc.index.snapshot import NamespaceSnapshot

METRIC: Final = "inner product"
_FEW_DEAD: Final = 1024
"""Positions of retired chunks that are never worth collecting."""


@dataclass(slots=True, eq=False)
class _Loaded:
    """What is in memory. `removals` are ids that the next lexical commit drops; `loaded_seq` is the change it was loaded at."""

    parts: Parts
    snapshot: NamespaceSnapshot
    loaded_seq: int
    behind: bool
    changed: bool
    removals: set[int]
    retired: set[int] = field(default_factory=set)

    def show(self, live: Mask, *, change_seq: int) -> None:
        """Swaps the snapshot."""
        self.snapshot = _snapshot(self.parts, live, change_seq=change_seq)

    def collect(self) -> None:
        """Drops dead chunks from memory once they are many; what was added since the last publication stays."""
        live = self.snapshot.live
        dead = len(live) - self.snapshot.size
        if dead > max(_FEW_DEAD, self.snapshot.size):
            pending = np.ones(self.parts.generation.size - len(live), dtype=np.bool_)
            self.parts.generation = self.parts.generation.keep(np.concatenate([live, pending]))
            self.show(np.ones(self.snapshot.size, dtype=np.bool_), change_seq=self.snapshot.change_seq)


class Namespace:
    """Readers take the newest snapshot without waiting once the namespace is loaded."""

    def __init__(self, scope: Scope, folder: Path, *, store: Store, model: str, dimension: int) -> None:
        self._scope = scope
        self._folder = folder
        self._store = store
        self._model = model
        self._dimension = dimension
        self._lock = threading.RLock()
        self._loaded: _Loaded | None = None

    def snapshot(self) -> NamespaceSnapshot:
        """Returns the newest snapshot, loading on first use.

        Raises:
            IndexModelMismatch: the stored vectors are of another model.
        """
        loaded = self._loaded
        return loaded.snapshot if loaded else self._load().snapshot

    def serving(self) -> int | None:
        """Returns how many chunks serve from memory, None where the namespace is not loaded."""
        loaded = self._loaded
        return loaded.snapshot.size if loaded else None

    def add(self, staged: StagedRevision) -> None:
        """Takes staged chunks in; they are in the lexical index on disk and in memory when this returns, and do not serve.

        Raises:
            IndexModelMismatch: their vectors are of another model.
            RecordBehindIndex: the record lost changes that the index has seen.
        """
        rows = rows_of(staged)
        self._check_model(staged.draft.embedding_model, rows.vectors)
        with self._lock:
            loaded = self._load()
            if loaded.behind:
                raise RecordBehindIndex("the record lost acknowledged writes; restore it or rebuild the indexes from it")
            generation = loaded.parts.generation
            fresh = only(rows, rows.chunk_ids[generation.find(rows.chunk_ids) < 0])
            if len(fresh.chunk_ids):
                self._add_words(loaded, rows)
                generation.append(fresh)
                loaded.changed = True

    def serve(self, publication: Publication) -> None:
        """Makes a snapshot with the publication's chunks live and its retired ones gone.

        A namespace that is not in memory will show them when it is loaded. A chunk that was retired once never serves again,
        in whatever order publications come.
        """
        with self._lock:
            loaded = self._loaded
            if loaded is None or publication.change_seq <= loaded.loaded_seq:
                return
            serving = np.array(sorted(set(publication.live) - loaded.retired - set(publication.retired)), dtype=np.int64)
            if (loaded.parts.generation.find(serving) < 0).any():
                self._complete(loaded.parts, serving)
            loaded.retired.update(publication.retired)
            loaded.removals.update(publication.retired)
            loaded.removals.difference_update(serving.tolist())
            live = _served(loaded, serving, retired=publication.retired)
            loaded.show(live, change_seq=max(publication.change_seq, loaded.snapshot.change_seq))
            loaded.changed = True

    def rebuild(self) -> int:
        """Makes the indexes anew from the record and returns the chunks in them; searches go on over the old ones."""
        with self._lock:
            before = self._loaded
            self._folder.mkdir(parents=True, exist_ok=True)
            lexical, name = new_lexical(self._folder)
            after = self._filled(Parts(Generation.empty(self._dimension), lexical, name), None)
            self._loaded = after
            if before:
                with suppress(LexicalIndexDamaged):  # what is damaged is being replaced
                    before.parts.lexical.close()
            self._save(after)
            return after.snapshot.size

    def save(self) -> None:
        """Writes the state that a restart loads, if it changed since the last time."""
        with self._lock:
            if self._loaded and self._loaded.changed:
                self._save(self._loaded)

    def unload(self) -> None:
        """Saves and lets go of memory; snapshots that are held live on."""
        with self._lock:
            try:
                self.save()
            finally:
                loaded, self._loaded = self._loaded, None
                if loaded:
                    loaded.parts.lexical.close()

    def _load(self) -> _Loaded:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._open()
            return self._loaded

    def _open(self) -> _Loaded:
        self._folder.mkdir(parents=True, exist_ok=True)
        manifest = usable_manifest(self._folder, scope=self._scope, database_id=self._store.database_id())
        if manifest is not None and (manifest.model, manifest.dimension) != (self._model, self._dimension):
            self._put_away(manifest)
            manifest = None
        lexical, name = open_lexical(self._folder, manifest)
        generation = open_generation(self._folder, manifest, dimension=self._dimension)
        whole = manifest is not None and (generation.size, name) == (manifest.chunks, manifest.lexical)
        parts = Parts(generation, lexical, name)
        try:
            loaded = self._filled(parts, manifest)
            if not whole or parts.lexical_name != name:
                self._save(loaded)
        except BaseException:
            parts.lexical.close()
            raise
        return loaded

    def _filled(self, parts: Parts, manifest: Manifest | None) -> _Loaded:
        """Brings the parts to what the record serves now and nothing else."""
        live_ids, change_seq = self._store.live_chunk_ids(self._scope)
        changed = self._complete(parts, live_ids)
        live = np.zeros(parts.generation.size, dtype=np.bool_)
        live[parts.generation.find(live_ids)] = True
        if not live.all():
            parts.generation = parts.generation.keep(live)
            changed = True
        seen = max(parts.lexical.watermark(), manifest.change_seq if manifest else 0)
        return _Loaded(
            parts=parts,
            snapshot=_snapshot(parts, np.ones(parts.generation.size, dtype=np.bool_), change_seq=change_seq),
            loaded_seq=change_seq,
            behind=manifest is not None and seen > change_seq,
            changed=changed or manifest is None or manifest.lexical != parts.lexical_name,
            removals=set(np.setdiff1d(parts.lexical.reader().chunk_ids(), live_ids).tolist()),
        )

    def _complete(self, parts: Parts, wanted: npt.NDArray[np.int64]) -> bool:
        """Adds what the parts lack; a lexical index that cannot take it is made anew first."""
        try:
            return complete(parts, wanted, store=self._store, scope=self._scope)
        except LexicalIndexDamaged:
            parts.lexical, parts.lexical_name = new_lexical(self._folder)
            complete(parts, wanted, store=self._store, scope=self._scope)
            return True

    def _add_words(self, loaded: _Loaded, rows: IndexRows) -> None:
        """Commits words; a lexical index that cannot take them is made anew first."""
        try:
            loaded.parts.lexical.add(rows, removed=sorted(loaded.removals))
        except LexicalIndexDamaged:
            loaded.parts.lexical, loaded.parts.lexical_name = new_lexical(self._folder)
            self._complete(loaded.parts, loaded.snapshot.live_ids)
            loaded.parts.lexical.add(rows)
        loaded.removals.clear()

    def _save(self, loaded: _Loaded) -> None:
        loaded.collect()
        parts, number = loaded.parts, free_number(self._folder)
        manifest = Manifest(
            layout=LAYOUT,
            analysis=ANALYSIS,
            database_id=self._store.database_id(),
            org=self._scope.org,
            namespace=self._scope.namespace,
            change_seq=loaded.snapshot.change_seq,
            dimension=self._dimension,
            metric=METRIC,
            model=self._model,
            chunks=parts.generation.size,
            generation=number,
            lexical=parts.lexical_name,
            files=save_generation(self._folder, parts.generation, number=number),
        )
        write_manifest(self._folder, manifest)
        sweep(self._folder, manifest)
        loaded.changed = False

    def _put_away(self, manifest: Manifest) -> None:
        """Refuses vectors of another model; files of it are put away once the record serves none of them.

        Raises:
            IndexModelMismatch: it serves some.
        """
        embedded_anew = self._store.embedding_model() == self._model != manifest.model
        if not embedded_anew and len(self._store.live_chunk_ids(self._scope)[0]):
            raise other_model(manifest.model, self._model)
        set_aside(self._folder, [manifest.lexical, *(stamp.name for stamp in manifest.files)])

    def _check_model(self, model: str, vectors: Vectors | None) -> None:
        if model != self._model:
            raise other_model(model, self._model)
        check_dimension(vectors, self._dimension)


def other_model(found: str, expected: str) -> IndexModelMismatch:
    """The refusal of vectors that another model made."""
    return IndexModelMismatch(
        f"the vectors are of {found}, the service embeds with {expected}; configure that model, or run `reembed`",
        metadata={"found": found, "expected": expected},
    )


def _snapshot(parts: Parts, live: Mask, *, change_seq: int) -> NamespaceSnapshot:
    return NamespaceSnapshot(parts.generation, live=live, lexical=parts.lexical.reader(), change_seq=change_seq)


def _served(loaded: _Loaded, serving: npt.NDArray[np.int64], *, retired: Sequence[int]) -> Mask:
    """Returns the next live mask; the one in use stays as it is."""
    before, generation = loaded.snapshot.live, loaded.parts.generation
    live = np.zeros(generation.size, dtype=np.bool_)
    live[: len(before)] = before
    live[generation.find(serving)] = True
    gone = generation.find(np.asarray(retired, dtype=np.int64))
    live[gone[gone >= 0]] = False
    return live
