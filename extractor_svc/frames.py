"""What the service and its children say to each other: length-prefixed frames over a socket of their own."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import IntEnum
from typing import Any, Final, TypeVar

from artifact.codec import MAX_MESSAGE_BYTES
from extractor_svc.context import Options
from extractor_svc.sandbox import Protection

HEADER: Final = struct.Struct("<IB")
"""Length of the payload and kind of the frame."""
MAX_FRAME_BYTES: Final = MAX_MESSAGE_BYTES + 64 * 1024
DOCUMENT_MARK: Final = b"D"
"""The byte that carries a document's descriptor, ahead of the request."""

_MAX_TEXT: Final = 2_000
_MAX_ENTRIES: Final = 32
_T = TypeVar("_T")


class FrameFault(ValueError):
    """What came is not a frame, or not one that belongs here."""


class Kind(IntEnum):
    """What a frame holds."""

    REQUEST = 1
    READY = 2
    PROGRESS = 3
    PART = 4
    TEXT = 5
    DONE = 6
    REFUSAL = 7
    CRASH = 8


@dataclass(frozen=True, slots=True)
class Request:
    """One document to read; with a locator as JSON, one place of it to read back."""

    filename: str
    content_type: str
    options: Options
    locator: str = ""


@dataclass(frozen=True, slots=True)
class Ready:
    """A child has loaded the formats and given up what it does not need."""

    protections: tuple[Protection, ...]


@dataclass(frozen=True, slots=True)
class Progress:
    """Units of the document done, and how many there are; 0 while unknown."""

    unit: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Refusal:
    """The document is refused: the kind of error as `services.errors` names it, and what it carries."""

    kind: str
    reason: str
    message: str
    metadata: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Crash:
    """The reader failed in a way it should not: the exception's type and where it was raised, without its message."""

    error: str
    place: str


Said = Request | Ready | Progress | Refusal | Crash

_KINDS: Final[dict[type[Said], Kind]] = {
    Request: Kind.REQUEST,
    Ready: Kind.READY,
    Progress: Kind.PROGRESS,
    Refusal: Kind.REFUSAL,
    Crash: Kind.CRASH,
}


def frame(kind: Kind, payload: bytes = b"") -> bytes:
    """A frame of raw bytes."""
    return HEADER.pack(len(payload), kind) + payload


def frame_of(said: Said) -> bytes:
    """A frame of a value, as JSON."""
    return frame(_KINDS[type(said)], json.dumps(asdict(said), ensure_ascii=True, separators=(",", ":")).encode("ascii"))


def read_header(header: bytes) -> tuple[Kind, int]:
    """The kind and the length of the payload that follows.

    Raises:
        FrameFault: there is no such kind, or the payload is larger than any frame.
    """
    length, number = HEADER.unpack(header)
    if length > MAX_FRAME_BYTES:
        raise FrameFault(f"a frame of {length} bytes")
    try:
        return Kind(number), length
    except ValueError:
        raise FrameFault(f"a frame of kind {number}") from None


def request_of(payload: bytes) -> Request:
    """The request of a frame; raises `FrameFault` where it holds none."""
    values = _values(payload)
    options = _entries(values, "options")
    ocr = options.pop("ocr", None)
    texts = {name: _text(options, name) for name in ("format", "encoding", "sql_dialect", "password")}
    if not (ocr is None or isinstance(ocr, bool)):
        raise FrameFault("ocr is neither true, false nor null")
    original_view = _typed(options.pop("original_view", False), bool, "original_view")
    return Request(
        filename=_text(values, "filename"),
        content_type=_text(values, "content_type"),
        options=Options(**texts, ocr=ocr, original_view=original_view),
        locator=_text(values, "locator"),
    )


def ready_of(payload: bytes) -> Ready:
    """What a child says when it is ready; raises `FrameFault` where it says anything else."""
    layers = _typed(_values(payload).get("protections"), list, "protections")
    return Ready(tuple(_protection(_typed(layer, dict, "protections")) for layer in layers[:_MAX_ENTRIES]))


def progress_of(payload: bytes) -> Progress:
    """How far a child is; raises `FrameFault` where it says anything else."""
    values = _values(payload)
    return Progress(_text(values, "unit")[:_MAX_TEXT], _count(values, "done"), _count(values, "total"))


def refusal_of(payload: bytes) -> Refusal:
    """Why a child refused the document, cut to a sane length; raises `FrameFault` where it says anything else."""
    values = _values(payload)
    metadata = _entries(values, "metadata")
    return Refusal(
        kind=_text(values, "kind"),
        reason=_text(values, "reason"),
        message=_text(values, "message")[:_MAX_TEXT],
        metadata={name[:_MAX_TEXT]: _text(metadata, name)[:_MAX_TEXT] for name in list(metadata)[:_MAX_ENTRIES]},
    )


def crash_of(payload: bytes) -> Crash:
    """What failed in a child, cut to a sane length; raises `FrameFault` where it says anything else."""
    values = _values(payload)
    return Crash(_text(values, "error")[:_MAX_TEXT], _text(values, "place")[:_MAX_TEXT])


def _values(payload: bytes) -> Mapping[str, Any]:  # Any: JSON, checked field by field
    try:
        return _typed(json.loads(payload), dict, "payload")
    except (ValueError, RecursionError) as error:
        raise FrameFault("a payload that is not a JSON object") from error


def _typed(value: object, kind: type[_T], name: str) -> _T:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise FrameFault(f"{name} is not a {kind.__name__}")
    return value


def _text(values: Mapping[str, object], name: str) -> str:
    return _typed(values.get(name), str, name)


def _count(values: Mapping[str, object], name: str) -> int:
    count = _typed(values.get(name), int, name)
    if not 0 <= count < 2**63:
        raise FrameFault(f"{name} is no count")
    return count


def _entries(values: Mapping[str, object], name: str) -> dict[str, object]:
    return dict(_typed(values.get(name), dict, name))


def _protection(values: Mapping[str, object]) -> Protection:
    return Protection(_text(values, "name")[:_MAX_TEXT], _typed(values.get("on"), bool, "on"), _text(values, "detail")[:_MAX_TEXT])
