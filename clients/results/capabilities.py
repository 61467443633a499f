"""What an extractor says of itself."""

from __future__ import annotations

from dataclasses import dataclass

from loom.extractor.v1 import extractor_pb2


@dataclass(frozen=True, slots=True)
class Format:
    """A format and how a file of it is recognised; `abilities` name what its reader can do."""

    id: str
    extensions: tuple[str, ...]
    media_types: tuple[str, ...]
    parser: str
    abilities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Protection:
    """One protection around the children that parse."""

    name: str
    on: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an extractor reads, with which limits, and which protections are on."""

    version: str
    formats: tuple[Format, ...]
    max_bytes: int
    timeout_s: float
    workers: int
    protections: tuple[Protection, ...]
    refused_extensions: tuple[str, ...]


def read_capabilities(message: extractor_pb2.GetCapabilitiesResponse) -> Capabilities:
    """Reads what an extractor says of itself."""
    return Capabilities(
        version=message.version,
        formats=tuple(map(read_format, message.formats)),
        max_bytes=message.max_bytes,
        timeout_s=message.timeout.ToTimedelta().total_seconds(),
        workers=message.workers,
        protections=tuple(Protection(item.name, item.on, item.detail) for item in message.protections),
        refused_extensions=tuple(message.refused_extensions),
    )


def read_format(message: extractor_pb2.Format) -> Format:
    """Reads one format."""
    return Format(
        id=message.id,
        extensions=tuple(message.extensions),
        media_types=tuple(message.media_types),
        parser=message.parser,
        abilities=tuple(message.abilities),
    )
