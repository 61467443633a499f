"""What earlier calls answered, kept under their request keys."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from knowledge_svc.domain.errors import IdempotencyConflict
from knowledge_svc.domain.model import RequestKey
from knowledge_svc.storage.change import Change
from knowledge_svc.storage.sql import Row

FIND_REQUEST: Final = """
    SELECT * FROM requests WHERE identity = $identity AND method = $method AND request_id = $request_id
"""


def key_parameters(key: RequestKey) -> dict[str, object]:
    """Returns the parameters of FIND_REQUEST."""
    return {"identity": key.identity, "method": key.method, "request_id": key.request_id}


def same_body(rows: list[Row], key: RequestKey) -> Row | None:
    """Returns the row an earlier call left under the key, None where none did.

    Raises:
        IdempotencyConflict: the earlier call had another body.
    """
    if not rows:
        return None
    if rows[0]["body_sha256"] != key.body_sha256:
        message = f"request_id {key.request_id} was used before with another body; take a new one"
        raise IdempotencyConflict(message, metadata={"request_id": key.request_id})
    return rows[0]


def keep_request(
    change: Change,
    key: RequestKey,
    *,
    at: datetime,
    ingestion_id: str = "",
    published: int | None = None,
    retired: int | None = None,
) -> None:
    """Keeps what a call wrote: the job it queued, or the versions (by the change that staged them) it published and retired."""
    row: Row = {
        "identity": key.identity,
        "method": key.method,
        "request_id": key.request_id,
        "body_sha256": key.body_sha256,
        "ingestion_id": ingestion_id,
        "published": published,
        "retired": retired,
        "change_seq": change.seq,
        "created_at": at,
    }
    change.insert_one("requests", row)
