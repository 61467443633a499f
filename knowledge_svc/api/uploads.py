"""How a file comes in: header, bytes in time, what was announced held against what came."""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from loom.knowledge.v1 import ingest_pb2 as pb

from knowledge_svc.api.requests import MAX_FILENAME, MAX_NAME, Faults
from knowledge_svc.api.runner import Runner
from knowledge_svc.domain.errors import ChecksumMismatch, DiskFull, EmptyDocument, UploadNotFound, UploadStalled, UploadTooLarge
from knowledge_svc.domain.file_names import named_format
from knowledge_svc.domain.ingestion import FileToKeep, Ingestions
from knowledge_svc.domain.model import Scope, Upload
from knowledge_svc.domain.ports import BlobFile, BlobStore, Partial
from services.errors import FieldViolation, InvalidArgument, LoomError

LEAST_BYTES_S: Final = 1024
"""Bytes a second below which an upload is stalled, however often a few of them come."""
_UPLOAD_ID: Final = re.compile(r"[A-Za-z0-9_-]{16,64}")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")

Requests = AsyncIterator[pb.UploadFileRequest]


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """Bytes of a file, seconds between two of its messages, and how long it waits for its ingest, or for the rest of its bytes."""

    max_bytes: int
    stall_s: float
    ttl: timedelta


class Uploads:
    """Takes files in, named ones in several goes."""

    def __init__(self, ingestions: Ingestions, blobs: BlobStore, *, limits: UploadLimits, run: Runner) -> None:
        self._ingestions = ingestions
        self._blobs = blobs
        self._limits = limits
        self._run = run

    async def header(self, requests: Requests) -> pb.UploadHeader:
        """The header of an upload, checked before a byte is stored.

        Raises:
            InvalidArgument: it does not hold, or something else came first.
            UnsupportedFile: the name is of a refused format.
            UploadTooLarge: the file is announced as larger than allowed.
        """
        first = await anext(timed(requests, self._limits.stall_s), None)
        if first is None or first.WhichOneof("part") != "header":
            raise _protocol_fault("the first message must be a header")
        header = first.header
        faults = Faults()
        faults.text(header.filename, "header.filename", most=MAX_FILENAME, least=1)
        faults.text(header.content_type, "header.content_type", most=MAX_NAME)
        faults.check(
            not header.sha256 or _SHA256.fullmatch(header.sha256), "header.sha256", "takes 64 lower-case hex digits, or none"
        )
        faults.check(header.size_bytes >= 0, "header.size_bytes", "is negative")
        _check_name(faults, header)
        faults.raise_any()
        named_format(header.filename)
        self._check_room(header.size_bytes)
        return header

    async def take(self, header: pb.UploadHeader, requests: Requests, *, scope: Scope, owner: str) -> Upload:
        """Stores the bytes of one stream, after those that earlier streams of the same upload brought.

        Raises:
            ChecksumMismatch: the whole is not what was announced.
            UploadStalled: bytes came too slowly, or not at all.
            UploadTooLarge: there are more than allowed.
        """
        named = header.resume_upload_id
        file = FileToKeep(scope, header.filename, header.content_type, owner, named)
        if named and (done := await self._run(self._done, scope, header, owner=owner)):
            return done
        opened = await self._run(self._open, header, scope=scope, owner=owner)
        with opened as spool:
            async for request in timed(requests, self._limits.stall_s):
                if request.WhichOneof("part") != "data":
                    raise _protocol_fault("only bytes may follow the header")
                if spool.size_bytes + len(request.data) > self._limits.max_bytes:
                    spool.discard()
                self._check_room(spool.size_bytes + len(request.data))
                await self._run(_append, spool, request.data)
            return await self._run(self._keep, spool, header, file)

    def standing(self, scope: Scope, upload_id: str, *, owner: str) -> pb.GetUploadResponse:
        """How much of a named upload is kept.

        Raises:
            UploadNotFound: nothing of it is, or it is not this caller's.
        """
        message = pb.GetUploadResponse(upload_id=upload_id)
        if partial := self._partial(scope, upload_id, owner=owner):
            message.received_bytes = partial.size_bytes
            message.expires_at.FromDatetime(partial.changed_at + self._limits.ttl)
            return message
        whole = self._ingestions.whole_upload(scope, upload_id, owner=owner)
        message.received_bytes, message.complete = whole.size_bytes, True
        message.expires_at.FromDatetime(whole.expires_at)
        return message

    def _open(self, header: pb.UploadHeader, *, scope: Scope, owner: str) -> AbstractContextManager[BlobFile]:
        if not header.resume_upload_id:
            return self._blobs.new_file()
        name = _spool_name(scope, header.resume_upload_id, owner)
        partial = self._blobs.partial(name)
        kept = partial.size_bytes if partial else 0
        if header.offset > kept:
            violation = FieldViolation("header.offset", f"{kept} bytes are kept; go on from there, or from before")
            raise InvalidArgument(f"header.offset {violation.description}", violations=[violation], metadata={"kept": str(kept)})
        return self._blobs.named_file(name, offset=header.offset)

    def _done(self, scope: Scope, header: pb.UploadHeader, *, owner: str) -> Upload | None:
        """The upload where an earlier stream completed it."""
        try:
            whole = self._ingestions.whole_upload(scope, header.resume_upload_id, owner=owner)
        except UploadNotFound:
            return None
        return whole if whole.sha256 == header.sha256 else None

    def _keep(self, spool: BlobFile, header: pb.UploadHeader, file: FileToKeep) -> Upload:
        """Checks what came against what was announced, then keeps it; a named file that cannot become whole goes."""
        try:
            _check_announced(spool, header)
        except LoomError:
            spool.discard()
            raise
        return self._ingestions.register(file, sha256=spool.keep(), size_bytes=spool.size_bytes)

    def _partial(self, scope: Scope, upload_id: str, *, owner: str) -> Partial | None:
        return self._blobs.partial(_spool_name(scope, upload_id, owner))

    def _check_room(self, size_bytes: int) -> None:
        if size_bytes > self._limits.max_bytes:
            raise UploadTooLarge(
                f"the file has more than {self._limits.max_bytes} bytes; split it",
                metadata={"max_bytes": str(self._limits.max_bytes)},
            )


async def timed(requests: Requests, stall_s: float) -> Requests:
    """The messages of a stream, each within the time allowed, and enough bytes over the time of several.

    Raises:
        UploadStalled: they come too slowly.
    """
    since, brought = time.monotonic(), 0
    while True:
        try:
            async with asyncio.timeout(stall_s):
                request = await anext(requests, None)
        except TimeoutError:
            raise _stalled(stall_s) from None
        if request is None:
            return
        brought += len(request.data)
        if time.monotonic() - since > stall_s:
            if brought < LEAST_BYTES_S * stall_s:
                raise _stalled(stall_s)
            since, brought = time.monotonic(), 0
        yield request


def _append(spool: BlobFile, data: bytes) -> None:
    """Writes bytes; a file that the disk has no room for makes room by going."""
    try:
        spool.write(data)
    except DiskFull:
        spool.discard()
        raise


def _check_name(faults: Faults, header: pb.UploadHeader) -> None:
    named = header.resume_upload_id
    faults.check(
        not named or _UPLOAD_ID.fullmatch(named),
        "header.resume_upload_id",
        "takes 16 to 64 letters, digits, dashes and underscores",
    )
    faults.check(not named or header.sha256, "header.sha256", "is needed by an upload that may go on later")
    faults.check(header.offset >= 0, "header.offset", "is negative")
    faults.check(named or not header.offset, "header.offset", "is of a named upload only; set resume_upload_id")


def _check_announced(spool: BlobFile, header: pb.UploadHeader) -> None:
    if header.HasField("size_bytes") and header.size_bytes != spool.size_bytes:
        raise _mismatch("size_bytes", str(header.size_bytes), str(spool.size_bytes))
    if header.sha256 and header.sha256 != spool.sha256:
        raise _mismatch("sha256", header.sha256, spool.sha256)
    if spool.size_bytes == 0:
        raise EmptyDocument("the file is empty; upload one that has bytes")


def _spool_name(scope: Scope, upload_id: str, owner: str) -> str:
    """The name of a spool file, which nobody but its uploader can come upon."""
    return hashlib.sha256("\x1f".join((scope.org, scope.namespace, owner, upload_id)).encode()).hexdigest()


def _stalled(stall_s: float) -> UploadStalled:
    message = f"too few bytes came within {stall_s:g} s; send the rest again"
    return UploadStalled(message, metadata={"stall_s": f"{stall_s:g}"})


def _protocol_fault(description: str) -> InvalidArgument:
    return InvalidArgument(f"the upload is out of order: {description}", violations=[FieldViolation("part", description)])


def _mismatch(field: str, announced: str, found: str) -> ChecksumMismatch:
    return ChecksumMismatch(
        f"the bytes do not match: {field} is {found}, announced was {announced}; send the file again",
        metadata={"field": field, "announced": announced, "found": found},
    )
