"""The indexes of every namespace, under one folder."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

from knowledge_svc.domain.model import Publication, Scope, StagedRevision
from knowledge_svc.domain.ports import IndexSnapshot, Store
from knowledge_svc.index.generation import Generation
from knowledge_svc.index.lexical import TantivyIndex
from knowledge_svc.index.namespace import Namespace, other_model
from knowledge_svc.index.snapshot import NamespaceSnapshot


class Indexes:
    """The `SearchIndexes` port. Everything here can be made anew from the record, and is where it does not hold."""

    def __init__(self, folder: Path, *, store: Store, model: str, dimension: int) -> None:
        self._folder = folder
        self._store = store
        self._model = model
        self._dimension = dimension
        self._lock = threading.Lock()
        self._namespaces: dict[Scope, Namespace] = {}

    @contextmanager
    def snapshot(self, scope: Scope) -> Iterator[IndexSnapshot]:
        """Opens the newest snapshot, loading the namespace on first use; one that holds nothing leaves no trace.

        Raises:
            IndexModelMismatch: the stored vectors are of another model.
        """
        if scope in self._namespaces or self._folder_of(scope).exists():
            yield self._namespace(scope).snapshot()
            return
        live_ids, change_seq = self._store.live_chunk_ids(scope)
        yield self._namespace(scope).snapshot() if len(live_ids) else _nothing(self._dimension, change_seq)

    def add(self, staged: StagedRevision) -> None:
        """Takes staged chunks in, not served yet.

        Raises:
            IndexModelMismatch: the draft's vectors are of another model.
            RecordBehindIndex: the record lost changes that the index has seen.
            DiskFull: nothing was taken in.
        """
        self._namespace(staged.draft.document.scope).add(staged)

    def serve(self, publication: Publication) -> None:
        """Makes a new snapshot with the publication's chunks live and its retired ones gone."""
        self._namespace(publication.scope).serve(publication)

    def rebuild(self, scope: Scope) -> int:
        """Makes the namespace's indexes anew from the record; returns the chunks in them."""
        return self._namespace(scope).rebuild()

    def save(self) -> None:
        """Writes what changed of every loaded namespace, so that a restart has less to replay."""
        for namespace in self._known():
            namespace.save()

    def serving(self) -> dict[Scope, int]:
        """Returns how many chunks serve from memory in each namespace that is loaded."""
        with self._lock:
            known = list(self._namespaces.items())
        return {scope: count for scope, namespace in known if (count := namespace.serving()) is not None}

    def drop(self, scope: Scope) -> None:
        """Saves a namespace and lets go of its memory; the next use loads it again."""
        self._namespace(scope).unload()

    def close(self) -> None:
        """Saves and lets go of every namespace, of the others too where one cannot be saved."""
        with ExitStack() as stack:
            for namespace in self._known():
                stack.callback(namespace.unload)

    def _known(self) -> list[Namespace]:
        with self._lock:
            return list(self._namespaces.values())

    def _namespace(self, scope: Scope) -> Namespace:
        with self._lock:
            namespace = self._namespaces.get(scope)
            if namespace is None:
                self._refuse_other_model()
                namespace = Namespace(
                    scope, self._folder_of(scope), store=self._store, model=self._model, dimension=self._dimension
                )
                self._namespaces[scope] = namespace
            return namespace

    def _refuse_other_model(self) -> None:
        """Vectors of another model stay out of indexes that are searched with this one's."""
        recorded = self._store.embedding_model()
        if recorded not in ("", self._model):
            raise other_model(recorded, self._model)

    def _folder_of(self, scope: Scope) -> Path:
        """Returns a folder whose name no organisation or namespace can bend; its CURRENT says in plain which they are."""
        return self._folder / hashlib.sha256(f"{scope.org}\0{scope.namespace}".encode()).hexdigest()[:32]


def _nothing(dimension: int, change_seq: int) -> NamespaceSnapshot:
    live = np.zeros(0, dtype=np.bool_)
    return NamespaceSnapshot(Generation.empty(dimension), live=live, lexical=TantivyIndex().reader(), change_seq=change_seq)
