"""Receives one file of a client stream: a header, then bytes, onto disk and no further than the limits."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from loom.extractor.v1 import extractor_pb2 as pb

from extractor_svc.errors import EmptyDocument, TooLarge
from extractor_svc.spool import DocumentSpool
from services.errors import DeadlineExceeded, FieldViolation, InvalidArgument

MAX_DATA_BYTES: Final = 1024 * 1024
_REPORT_EVERY_BYTES: Final = 4 * 1024 * 1024
_MAX_NAME: Final = 1024
_SHA256: Final = re.compile(r"[0-9a-f]{64}")

Message = TypeVar("Message", pb.ExtractRequest, pb.ResolveRequest)
OnBytes = Callable[[int], Awaitable[None]]


class UploadStalled(DeadlineExceeded):
    """The next bytes did not come in time."""

    reason = "UPLOAD_STALLED"


class ChecksumMismatch(InvalidArgument):
    """The bytes do not hash to what the header says."""

    reason = "CHECKSUM_MISMATCH"


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """How large a file may be, how long the next message may take, and how long all of them together."""

    max_bytes: int
    stall_s: float
    total_s: float


class Upload(Generic[Message]):
    """One call's stream of requests, read message by message."""

    def __init__(self, requests: AsyncIterator[Message], limits: UploadLimits) -> None:
        self._requests: AsyncIterator[Message] = requests
        self._limits = limits
        self._ends_at = asyncio.get_running_loop().time() + limits.total_s

    async def first(self) -> Message:
        """The first message, which holds the header.

        Raises:
            InvalidArgument: it holds something else, or never comes.
            UploadStalled: it does not come in time.
        """
        message = await self._next()
        if message is None or message.WhichOneof("part") != "header":
            raise _out_of_order("the first message must hold the header")
        return message

    async def receive(self, header: pb.FileHeader, document: DocumentSpool, *, on_bytes: OnBytes) -> None:
        """Writes the bytes that follow to the spool and checks them; `on_bytes` hears of the sum now and then.

        Raises:
            InvalidArgument: the header or a message does not hold.
            EmptyDocument, TooLarge, ChecksumMismatch: what is wrong with the bytes.
            UploadStalled: the next bytes do not come in time.
        """
        check_header(header)
        reported = 0
        while (message := await self._next()) is not None:
            await document.write(self._data_of(message, document))
            if document.size_bytes - reported >= _REPORT_EVERY_BYTES:
                reported = document.size_bytes
                await on_bytes(reported)
        self._check_whole(header, document)
        await on_bytes(document.size_bytes)

    async def _next(self) -> Message | None:
        left_s = self._ends_at - asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(min(self._limits.stall_s, left_s)):
                message = await anext(self._requests, None)
        except TimeoutError as error:
            stall, total = f"{self._limits.stall_s:g}", f"{self._limits.total_s:g}"
            raise UploadStalled(
                f"no bytes came for {stall} s, or the whole file took longer than {total} s; send it again",
                metadata={"stall_s": stall, "total_s": total},
            ) from error
        return message

    def _data_of(self, message: Message, document: DocumentSpool) -> bytes:
        if message.WhichOneof("part") != "data":
            raise _out_of_order("after the header only bytes may come")
        if len(message.data) > MAX_DATA_BYTES:
            raise InvalidArgument(
                f"a message holds {len(message.data)} bytes and at most {MAX_DATA_BYTES} are taken; 262144 are usual",
                metadata={"data_bytes": str(len(message.data)), "max_data_bytes": str(MAX_DATA_BYTES)},
            )
        if document.size_bytes + len(message.data) > self._limits.max_bytes:
            raise TooLarge(
                f"the file has more than {self._limits.max_bytes} bytes, which is the most that is taken",
                metadata={"max_bytes": str(self._limits.max_bytes)},
            )
        return message.data

    def _check_whole(self, header: pb.FileHeader, document: DocumentSpool) -> None:
        if not document.size_bytes:
            raise EmptyDocument("the file has no bytes")
        if header.sha256 and header.sha256 != document.sha256:
            raise ChecksumMismatch(
                "the bytes do not hash to the header's sha256; send the file again",
                metadata={"stated": header.sha256, "received": document.sha256},
            )


def check_header(header: pb.FileHeader) -> None:
    """Refuses a header with a hash that is none, or with absurdly long names.

    Raises:
        InvalidArgument: naming every field at fault.
    """
    faults = []
    if header.sha256 and not _SHA256.fullmatch(header.sha256):
        faults.append(FieldViolation("header.sha256", "takes 64 hexadecimal digits in lower case, or nothing"))
    faults += [
        FieldViolation(f"header.{name}", f"takes at most {_MAX_NAME} characters")
        for name in ("filename", "content_type")
        if len(getattr(header, name)) > _MAX_NAME
    ]
    if faults:
        raise InvalidArgument("the header does not hold", violations=faults)


def _out_of_order(what: str) -> InvalidArgument:
    return InvalidArgument(f"{what}; send one header and then the file's bytes")
