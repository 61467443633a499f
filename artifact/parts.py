"""The parts an artifact travels and is stored in, each small enough for one message."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

from google.protobuf.message import DecodeError, Message
from loom.artifact.v1 import artifact_pb2 as pb

from artifact.encode import block_messages, coverage_message, dataset_messages, head_message, link_message, warning_message
from artifact.faults import ArtifactFault, ArtifactTooLarge
from artifact.model import Artifact, Dataset
from artifact.rows import write_rows

MAX_PART_BYTES: Final = 1024 * 1024
"""Size a part aims at; only a block, head or coverage that is larger by itself makes a larger one."""
MAX_MESSAGE_BYTES: Final = 4 * 1024 * 1024 - 64 * 1024
"""Size of the largest part there is: what a gRPC message of 4 MiB carries beside its envelope."""

_LENGTH: Final = struct.Struct("<I")
_M = TypeVar("_M", bound=Message)


@dataclass(frozen=True, slots=True)
class HeadPart:
    """What is known of the file as a whole; the first part."""

    message: pb.ArtifactHead


@dataclass(frozen=True, slots=True)
class BlocksPart:
    """Some blocks, in order; a message with the id of the one before brings more of that block's text and cells."""

    messages: tuple[pb.Block, ...]


@dataclass(frozen=True, slots=True)
class DatasetPart:
    """A dataset without its rows; sent again with the same id it brings more entries of its lists."""

    message: pb.DatasetSchema


@dataclass(frozen=True, slots=True)
class RowsPart:
    """Bytes of one dataset's rows; joined in order they are one Arrow IPC stream."""

    dataset_id: str
    arrow_ipc: bytes


@dataclass(frozen=True, slots=True)
class LinksPart:
    """Some links, in order."""

    messages: tuple[pb.Link, ...]


@dataclass(frozen=True, slots=True)
class WarningsPart:
    """Some warnings, in order."""

    messages: tuple[pb.Warning, ...]


@dataclass(frozen=True, slots=True)
class CoveragePart:
    """The ledger; the last part."""

    message: pb.Coverage


Part: TypeAlias = HeadPart | BlocksPart | DatasetPart | RowsPart | LinksPart | WarningsPart | CoveragePart

_TAGS: Final[dict[type[Part], int]] = {
    HeadPart: 1,
    BlocksPart: 2,
    DatasetPart: 3,
    RowsPart: 4,
    WarningsPart: 5,
    CoveragePart: 6,
    LinksPart: 7,
}


def parts(artifact: Artifact, *, max_part_bytes: int = MAX_PART_BYTES) -> Iterator[Part]:
    """Yields the artifact's parts in the order of the contract: head, blocks, datasets with their rows, links, warnings, coverage.

    Raises:
        ArtifactTooLarge: one message takes more than `MAX_MESSAGE_BYTES` by itself.
        ArtifactFault: a dataset's rows do not fit its columns.
    """
    yield HeadPart(_bounded(head_message(artifact), "head"))
    for blocks in _batches(_block_messages(artifact, max_part_bytes), max_bytes=max_part_bytes):
        yield BlocksPart(blocks)
    for number, dataset in enumerate(artifact.datasets):
        yield from _dataset_parts(dataset, max_bytes=max_part_bytes, field=f"datasets[{number}]")
    for links in _batches(map(link_message, artifact.links), max_bytes=max_part_bytes):
        yield LinksPart(links)
    for warnings in _batches(map(warning_message, artifact.warnings), max_bytes=max_part_bytes):
        yield WarningsPart(warnings)
    yield CoveragePart(_bounded(coverage_message(artifact.coverage), "coverage"))


def part_bytes(part: Part) -> int:
    """How many bytes of messages or rows a part carries."""
    match part:
        case RowsPart(_, arrow_ipc):
            return len(arrow_ipc)
        case BlocksPart(messages) | LinksPart(messages) | WarningsPart(messages):
            return sum(message.ByteSize() for message in messages)
        case HeadPart(message) | DatasetPart(message) | CoveragePart(message):
            return message.ByteSize()


def pack(part: Part) -> bytes:
    """One part as bytes: a tag, then its content. `unpack` reads it back."""
    tag = bytes([_TAGS[type(part)]])
    match part:
        case RowsPart(dataset_id, arrow_ipc):
            name = dataset_id.encode()
            return b"".join((tag, _LENGTH.pack(len(name)), name, arrow_ipc))
        case BlocksPart(messages) | LinksPart(messages) | WarningsPart(messages):
            return tag + b"".join(_delimited(message) for message in messages)
        case HeadPart(message) | DatasetPart(message) | CoveragePart(message):
            return tag + _serialized(message)


def unpack(packed: bytes) -> Part:
    """Reads what `pack` wrote.

    Raises:
        ArtifactFault: the bytes are not a part.
    """
    try:
        return _unpack(packed[0], memoryview(packed)[1:])
    except (DecodeError, IndexError, KeyError, UnicodeDecodeError, struct.error) as error:
        raise ArtifactFault("part", "is not a part of an artifact") from error


def _unpack(tag: int, body: memoryview) -> Part:
    match tag:
        case 1:
            return HeadPart(pb.ArtifactHead.FromString(bytes(body)))
        case 2:
            return BlocksPart(tuple(pb.Block.FromString(item) for item in _split(body)))
        case 3:
            return DatasetPart(pb.DatasetSchema.FromString(bytes(body)))
        case 4:
            name = next(_split(body))
            return RowsPart(name.decode(), bytes(body[_LENGTH.size + len(name) :]))
        case 5:
            return WarningsPart(tuple(pb.Warning.FromString(item) for item in _split(body)))
        case 6:
            return CoveragePart(pb.Coverage.FromString(bytes(body)))
        case 7:
            return LinksPart(tuple(pb.Link.FromString(item) for item in _split(body)))
    raise KeyError(tag)


def _split(body: memoryview) -> Iterator[bytes]:
    while body:
        (length,) = _LENGTH.unpack_from(body)
        end = _LENGTH.size + length
        if end > len(body):
            raise IndexError(end)
        yield bytes(body[_LENGTH.size : end])
        body = body[end:]


def _delimited(message: Message) -> bytes:
    content = _serialized(message)
    return _LENGTH.pack(len(content)) + content


def _serialized(message: Message) -> bytes:
    return message.SerializeToString(deterministic=True)


def _block_messages(artifact: Artifact, max_bytes: int) -> Iterator[pb.Block]:
    for number, block in enumerate(artifact.blocks):
        for message in block_messages(block, max_bytes=max_bytes):
            yield _bounded(message, f"blocks[{number}]")


def _batches(messages: Iterable[_M], *, max_bytes: int) -> Iterator[tuple[_M, ...]]:
    batch: list[_M] = []
    size = 0
    for message in messages:
        grown = message.ByteSize()
        if batch and size + grown > max_bytes:
            yield tuple(batch)
            batch, size = [], 0
        batch.append(message)
        size += grown
    if batch:
        yield tuple(batch)


def _dataset_parts(dataset: Dataset, *, max_bytes: int, field: str) -> Iterator[Part]:
    for message in dataset_messages(dataset, max_bytes=max_bytes):
        yield DatasetPart(_bounded(message, field))
    for arrow_ipc in write_rows(dataset.rows, dataset.columns, max_part_bytes=max_bytes, field=f"{field}.rows"):
        yield RowsPart(dataset.id, arrow_ipc)


def _bounded(message: _M, field: str) -> _M:
    if (size := message.ByteSize()) > MAX_MESSAGE_BYTES:
        raise ArtifactTooLarge(field, f"takes {size} bytes and one message carries {MAX_MESSAGE_BYTES}")
    return message
