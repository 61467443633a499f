"""A child that publishes and retires in a record until it is killed, and says each change that was acknowledged."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

from knowledge_svc.domain.model import DocumentFilter
from knowledge_svc.storage.jobs import RecordJobQueue
from knowledge_svc.storage.store import RecordStore
from tests.storage_fixtures import (
    NOW,
    SCOPE,
    make_dataset,
    make_document,
    make_draft,
    make_job,
    make_job_end,
    make_key,
    make_upload,
    open_record,
)

SOURCES = 3


def content_of(revision: int) -> str:
    """As many paragraphs as the number says, up to four, each of which names it."""
    return "\n\n".join(f"text {part} of revision {revision}" for part in range(1 + revision % 4))


def retires(revision: int) -> bool:
    """Whether the writer deletes a document right after it wrote this revision of it."""
    return revision % 5 == 0


def write(folder: Path, start: int) -> None:
    """Writes from a number on, each number to the next source, through a job of its own."""
    with open_record(folder) as record:
        store, queue = RecordStore(record), RecordJobQueue(record)
        queue.requeue_processing(now=NOW)
        queue.add_upload(make_upload(f"up{start}"))
        for number in itertools.count(start):
            publish(store, queue, number, upload_id=f"up{start}")
            if number % 3 == 2:
                record.checkpoint()


def publish(store: RecordStore, queue: RecordJobQueue, number: int, *, upload_id: str) -> None:
    uri, name = f"doc:{number % SOURCES}", f"job{number}"
    queue.add_job(make_job(name, source_uri=f"{uri}#{number}", upload=make_upload(upload_id)), request=None)
    say("queued", name)
    while (job := queue.claim(now=NOW, lease_until=NOW)) is not None and job.ingestion_id != name:
        queue.end_cancelled(job, now=NOW)
    revision = store.last_revision(SCOPE, uri) + 1
    live = {document.source_uri: document.revision for document in store.documents(SCOPE, DocumentFilter(), after_uri="", limit=9)}
    document = make_document(uri, content=content_of(revision), revision=revision)
    draft = make_draft(
        document,
        base_revision=live.get(uri),
        datasets=[make_dataset(source_uri=uri, revision=revision)],
        job_end=make_job_end(name),
        request=make_key(name),
    )
    store.publish(store.stage(draft))
    say("published", name, uri, revision)
    if retires(revision):
        store.retire(document, at=NOW)
        say("retired", name, uri, revision)


def say(*words: object) -> None:
    print(*words, flush=True)


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]))
