"""Which blobs the record still needs."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from knowledge_svc.storage.record import Record

_NAMED: Final = """
    SELECT original_sha256 AS sha256 FROM revisions WHERE superseded_at IS NULL AND original_sha256 IS NOT NULL
    UNION SELECT artifact_sha256 FROM revisions WHERE superseded_at IS NULL AND artifact_sha256 <> ''
    UNION SELECT sha256 FROM uploads WHERE expires_at > $now
    UNION SELECT u.sha256 FROM uploads u JOIN ingestions j USING (upload_id) WHERE j.ended_at IS NULL
"""


def named_blobs(record: Record, *, now: datetime) -> frozenset[str]:
    """Returns the blobs of live documents, of uploads that wait and of ingestions that are open (L-BLOB-02, 05).

    All other ones that are old enough may go, those of retired versions too. Young ones may belong to a write that is under way.
    """
    return frozenset(row["sha256"] for row in record.rows(_NAMED, {"now": now}))
