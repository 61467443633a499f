"""The order in which a revision becomes visible: record, indexes, record, snapshot."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from datetime import datetime

from knowledge_svc.domain.model import Document, Publication, RequestKey, RevisionDraft
from knowledge_svc.domain.ports import SearchIndexes, Store


class Publisher:
    """Publishes and retires, one change at a time.

    The indexes take staged chunks before the record serves them, so an index may hold more than is live, never less. A call
    returns after the new snapshot is in place: the caller reads its own write.
    """

    def __init__(self, store: Store, indexes: SearchIndexes) -> None:
        self._store = store
        self._indexes = indexes
        self._turn = threading.RLock()

    def turn(self) -> AbstractContextManager[object]:
        """Keeps every other change waiting, so that what a block reads still holds when the same block publishes."""
        return self._turn

    def publish(self, draft: RevisionDraft) -> Publication:
        """Makes the draft the live revision of its document.

        Raises:
            RevisionConflict: the live revision is not the draft's base any more; nothing changed.
        """
        with self._turn:
            staged = self._store.stage(draft)
            published = False
            try:
                self._indexes.add(staged)
                publication = self._store.publish(staged)
                published = True
            finally:
                if not published:
                    self._store.abandon(staged)
            self._indexes.serve(publication)
            return publication

    def retire(self, document: Document, *, at: datetime, request: RequestKey | None = None) -> Publication:
        """Retires a live document.

        Raises:
            RevisionConflict: another version is live.
        """
        with self._turn:
            publication = self._store.retire(document, at=at, request=request)
            self._indexes.serve(publication)
            return publication
