"""A child's work: one document after the other, each answered with an artifact, a text, a refusal or a crash."""

from __future__ import annotations

import gc
import os
import socket
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from artifact.codec import MAX_MESSAGE_BYTES, ArtifactTooLarge, pack, parts
from artifact.locators import from_json
from artifact.model import Artifact
from extractor_svc.context import Progress as ProgressCallback
from extractor_svc.errors import MemoryLimit, OutputLimit, ParseTimeout
from extractor_svc.extract import extract, resolve
from extractor_svc.frames import (
    DOCUMENT_MARK,
    HEADER,
    Crash,
    Kind,
    Progress,
    Ready,
    Refusal,
    Request,
    frame,
    frame_of,
    read_header,
    request_of,
)
from extractor_svc.limits import Limits
from extractor_svc.mock_format import MockFormat
from extractor_svc.sandbox import Protection, limit_cpu
from services.errors import LoomError

_PROGRESS_EVERY_S: Final = 0.1
_ENOUGH: Final = 0.9  # share of the time after which a reader is told to stop; the rest is for putting out what it has
_FRAMES_OF_A_TRACE: Final = 6


class Channel:
    """The child's end of the socket to its parent."""

    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=descriptor)
        self._socket.settimeout(None)

    def receive(self) -> tuple[Request, bytes] | None:
        """The next request with its document's bytes, or None when the parent has closed its end."""
        mark, descriptors, _, _ = socket.recv_fds(self._socket, 1, 1)
        if mark != DOCUMENT_MARK or len(descriptors) != 1:
            return None
        with os.fdopen(descriptors[0], "rb", buffering=0) as document:
            document.seek(0)
            kind, length = read_header(self._exactly(HEADER.size))
            payload = self._exactly(length)
            if kind is not Kind.REQUEST:
                return None
            return request_of(payload), document.readall()

    def send(self, sent: bytes) -> None:
        """Sends one frame; waits while the parent does not take it."""
        self._socket.sendall(sent)

    def _exactly(self, size: int) -> bytes:
        received = bytearray()
        while len(received) < size:
            piece = self._socket.recv(size - len(received))
            if not piece:
                raise EOFError("the parent closed the socket within a frame")
            received += piece
        return bytes(received)


@dataclass(frozen=True, slots=True)
class Reader:
    """The two things that can be done with a document."""

    extract: Callable[..., Artifact]
    resolve: Callable[..., str]


READER: Final = Reader(extract, resolve)


def mock_reader() -> Reader:
    """What reads scripts beside documents, for the service's own tests."""
    mock = MockFormat()
    return Reader(mock.extract, mock.resolve)


def serve(channel: Channel, reader: Reader, *, limits: Limits, protections: tuple[Protection, ...]) -> int:
    """Reads documents until the parent closes the socket (0) or one of them leaves the process in doubt (1)."""
    gc.collect()
    gc.freeze()
    channel.send(frame_of(Ready(protections)))
    while (received := channel.receive()) is not None:
        request, content = received
        if not _answer(channel, reader, request=request, content=content, limits=limits):
            return 1
    return 0


def _answer(channel: Channel, reader: Reader, *, request: Request, content: bytes, limits: Limits) -> bool:
    """Answers one request; False where the process should not be trusted with another."""
    limit_cpu(limits.timeout_s)
    try:
        if request.locator:
            channel.send(frame(Kind.TEXT, _resolve(reader, request, content=content, limits=limits)))
        else:
            _send_artifact(channel, reader, request=request, content=content, limits=limits)
        channel.send(frame(Kind.DONE))
    except LoomError as error:
        channel.send(frame_of(refusal(error)))
    except MemoryError:
        channel.send(frame_of(refusal(_memory_limit(limits))))
        return False
    return True


def _send_artifact(channel: Channel, reader: Reader, *, request: Request, content: bytes, limits: Limits) -> None:
    artifact = reader.extract(
        content,
        filename=request.filename,
        content_type=request.content_type,
        options=request.options,
        limits=limits,
        progress=_reporter(channel, limits),
    )
    try:
        for part in parts(artifact):
            channel.send(frame(Kind.PART, pack(part)))
    except ArtifactTooLarge as error:
        raise OutputLimit(f"{error}; split the document", metadata={"field": error.field}) from error


def _resolve(reader: Reader, request: Request, *, content: bytes, limits: Limits) -> bytes:
    text = reader.resolve(
        content,
        from_json(request.locator),
        filename=request.filename,
        content_type=request.content_type,
        options=request.options,
        limits=limits,
    ).encode()
    if len(text) > MAX_MESSAGE_BYTES:
        raise OutputLimit(
            f"the text at the locator takes {len(text)} bytes and one answer carries {MAX_MESSAGE_BYTES}; ask for a smaller place",
            metadata={"text_bytes": str(len(text)), "max_text_bytes": str(MAX_MESSAGE_BYTES)},
        )
    return text


def crash(error: Exception) -> bytes:
    """The frame that tells the parent of an error no reader should raise."""
    return frame_of(Crash(type(error).__name__, _place(error)))


def refusal(error: LoomError) -> Refusal:
    """The refusal that an error of the document crosses to the parent as."""
    kind = next(cls.__name__ for cls in type(error).__mro__ if cls.__module__ == LoomError.__module__)
    return Refusal(kind, error.code_reason, error.message, error.metadata)


def _memory_limit(limits: Limits) -> MemoryLimit:
    mib = limits.memory_bytes // (1024 * 1024)
    return MemoryLimit(f"reading the document needs more than {mib} MiB of memory; split it", metadata={"memory_mib": str(mib)})


def _reporter(channel: Channel, limits: Limits) -> ProgressCallback:
    """A progress callback that tells the parent at most ten times a second, and always of the last unit.

    When little of the time is left it raises ParseTimeout: a reader that can keeps what it has and says what is missing.
    """
    last = 0.0
    enough_at = time.monotonic() + limits.timeout_s * _ENOUGH

    def report(unit: str, done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now > enough_at and done != total:
            raise _timeout(limits)
        if now - last >= _PROGRESS_EVERY_S or done == total:
            last = now
            channel.send(frame_of(Progress(unit, done, total)))

    return report


def _timeout(limits: Limits) -> ParseTimeout:
    seconds = f"{limits.timeout_s:g}"
    return ParseTimeout(f"reading would take longer than {seconds} s; split the document", metadata={"timeout_s": seconds})


def _place(error: BaseException) -> str:
    """Where an exception was raised: files and lines only, since its message may quote the document."""
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES_OF_A_TRACE:]
    return " < ".join(f"{PurePath(place.filename).name}:{place.lineno}" for place in reversed(frames))
