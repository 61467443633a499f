"""Which blobs a sweep spares, over a real record."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from knowledge_svc.domain.model import FailureClass, JobErrorCode, JobFailure, Original
from knowledge_svc.storage.blob_names import named_blobs
from knowledge_svc.storage.jobs import RecordJobQueue
from knowledge_svc.storage.store import RecordStore
from tests.storage_fixtures import NOW, make_document, make_draft, make_job, make_upload, next_draft, open_record

LIVE, ARTIFACT, RETIRED, UPLOADED, EXPIRED, OPEN = (letter * 64 for letter in "abcdef")
CORRUPT = JobFailure(JobErrorCode.CORRUPT, FailureClass.CONTENT, "the file is damaged")


def test_originals_and_artifacts_of_live_documents_are_named(tmp_path: Path) -> None:
    with open_record(tmp_path) as record:
        store = RecordStore(record)
        first = replace(make_document(), original=Original(RETIRED, "a.pdf", ""))
        store.publish(store.stage(make_draft(first)))
        draft = next_draft(first)
        second = replace(draft.document, original=Original(LIVE, "a.pdf", ""), artifact_sha256=ARTIFACT)
        store.publish(store.stage(replace(draft, document=second)))
        assert named_blobs(record, now=NOW) == {LIVE, ARTIFACT}
        store.retire(second, at=NOW)
        assert named_blobs(record, now=NOW) == frozenset()


def test_files_of_waiting_uploads_and_open_ingestions_are_named(tmp_path: Path) -> None:
    past, future = NOW - timedelta(seconds=1), NOW + timedelta(seconds=1)
    uploads = [
        replace(make_upload("waits", expires_at=future), sha256=UPLOADED),
        replace(make_upload("expired", expires_at=past), sha256=EXPIRED),
        replace(make_upload("open", expires_at=past), sha256=OPEN),
    ]
    with open_record(tmp_path) as record:
        queue = RecordJobQueue(record)
        for upload in uploads:
            queue.add_upload(upload)
        queue.add_job(make_job(upload=uploads[2]), request=None)
        assert named_blobs(record, now=NOW) == {UPLOADED, OPEN}
        job = queue.claim(now=NOW, lease_until=future)
        assert job is not None
        assert named_blobs(record, now=NOW) == {UPLOADED, OPEN}
        queue.fail(job, failure=CORRUPT, now=NOW)
        assert named_blobs(record, now=NOW) == {UPLOADED}
