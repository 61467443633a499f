"""What a failed call to an extractor means for a job: a refusal for good, or a passing failure."""

from __future__ import annotations

from typing import Final

import grpc

from knowledge_svc.domain.errors import ExtractionRefused, ExtractorAccessDenied, ExtractorDown, InvalidArtifact
from services.errors import LoomError
from services.status import error_from_rpc

REFUSALS: Final = frozenset(
    {
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.OUT_OF_RANGE,
        grpc.StatusCode.NOT_FOUND,
        grpc.StatusCode.ALREADY_EXISTS,
    }
)
"""The request or the file is at fault: the 4xx of other protocols, less 401, 403, 408 and 429."""
ACCESS: Final = frozenset({grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED})
_OVERSIZED: Final = "message larger than max"
"""How gRPC itself words a message over its limit; such an answer would come again however often it is asked for."""


def verdict(failure: grpc.aio.AioRpcError) -> LoomError:
    """The error a job meets; every code that is neither a refusal nor about access is passing (L-ING-13)."""
    error = error_from_rpc(failure)
    code = failure.code()
    if code in REFUSALS:
        return ExtractionRefused(error.message, reason=error.code_reason, metadata=error.metadata)
    if code in ACCESS:
        return ExtractorAccessDenied(f"the extractor refuses this service's credential; check its token: {error.message}")
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED and _OVERSIZED in (failure.details() or ""):
        return InvalidArtifact("the extractor's answer does not hold: message: is larger than a message may be")
    return ExtractorDown(f"the extractor failed: {error.message}", metadata=error.metadata, retry_after_s=error.retry_after_s)
