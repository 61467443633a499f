"""The `Store` port on the record, put together from its parts."""

from __future__ import annotations

from knowledge_svc.storage.datasets import DatasetRows
from knowledge_svc.storage.documents import DocumentReads
from knowledge_svc.storage.index_feed import IndexFeed
from knowledge_svc.storage.publishing import RevisionWrites
from knowledge_svc.storage.record import Record


class RecordStore(DocumentReads, RevisionWrites, IndexFeed, DatasetRows):
    """Documents, their history and their datasets in an open record."""

    def __init__(self, record: Record) -> None:
        super().__init__(record)
