"""Puts an artifact's parts together again, checking all of them; the front of the room's wire format."""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from loom.artifact.v1 import artifact_pb2 as pb

from artifact.decode import block_of, check_head, coverage_of, dataset_of, link_of, locator_of, more_of, warning_of
from artifact.encode import DATASET_LISTS, locator_message
from artifact.faults import ArtifactFault, ArtifactTooLarge
from artifact.model import Artifact, ArtifactWarning, Block, Cell, Coverage, Dataset, Link
from artifact.parts import (
    MAX_MESSAGE_BYTES,
    MAX_PART_BYTES,
    BlocksPart,
    CoveragePart,
    DatasetPart,
    HeadPart,
    LinksPart,
    Part,
    RowsPart,
    WarningsPart,
    pack,
    part_bytes,
    parts,
    unpack,
)
from artifact.rows import arrow_type, row_schema

__all__ = [
    "MAX_ARTIFACT_BYTES",
    "MAX_MESSAGE_BYTES",
    "MAX_PART_BYTES",
    "ArtifactAssembler",
    "ArtifactFault",
    "ArtifactTooLarge",
    "BlocksPart",
    "CoveragePart",
    "DatasetPart",
    "HeadPart",
    "LinksPart",
    "Part",
    "RowsPart",
    "WarningsPart",
    "arrow_type",
    "dump",
    "load",
    "locator_message",
    "locator_of",
    "pack",
    "parts",
    "row_schema",
    "unpack",
]

MAX_ARTIFACT_BYTES: Final = 1024 * 1024 * 1024
"""Bytes of parts an artifact may take unless the caller sets a bound of its own."""

_MAGIC: Final = b"LOOMART1"
_LENGTH: Final = struct.Struct("<I")


class ArtifactAssembler:
    """Takes the parts of one artifact in their order and yields it at the end; parts may come from anyone.

    A head comes first and the coverage last; a dataset's schema comes before its rows, and its rows before the next schema.
    """

    def __init__(self, *, max_bytes: int = MAX_ARTIFACT_BYTES) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._head: pb.ArtifactHead | None = None
        self._blocks: list[Block] = []
        self._block_ids: set[str] = set()
        self._more_text: list[str] = []
        self._more_cells: list[Cell] = []
        self._open_dataset: pb.DatasetSchema | None = None
        self._open_rows: deque[bytes] = deque()
        self._datasets: list[Dataset] = []
        self._links: list[Link] = []
        self._warnings: list[ArtifactWarning] = []
        self._coverage: Coverage | None = None

    def add(self, part: Part) -> None:
        """Takes the next part.

        Raises:
            ArtifactTooLarge: the parts so far take more than the bound.
            ArtifactFault: the part breaks the contract, or comes out of turn.
        """
        self._count(part)
        self._check_turn(part)
        match part:
            case HeadPart(message):
                check_head(message)
                self._head = message
            case BlocksPart(messages):
                for block in messages:
                    self._add_block(block)
            case DatasetPart(message):
                self._add_dataset(message)
            case RowsPart():
                self._add_rows(part)
            case LinksPart(messages):
                for link in messages:
                    self._links.append(link_of(link, f"links[{len(self._links)}]"))
            case WarningsPart(messages):
                for warning in messages:
                    self._warnings.append(warning_of(warning, f"warnings[{len(self._warnings)}]"))
            case CoveragePart(message):
                self._close_block()
                self._close_dataset()
                self._coverage = coverage_of(message)

    def finish(self) -> Artifact:
        """The whole artifact.

        Raises:
            ArtifactFault: the coverage never came, or a block names a dataset that is not there.
        """
        if self._head is None or self._coverage is None:
            raise ArtifactFault("coverage" if self._head else "head", "never came; the artifact was cut off")
        self._check_references()
        return Artifact(
            format=self._head.format,
            parser=self._head.parser,
            sha256=self._head.sha256,
            size_bytes=self._head.size_bytes,
            blocks=tuple(self._blocks),
            coverage=self._coverage,
            title=self._head.title,
            encoding=self._head.encoding,
            datasets=tuple(self._datasets),
            links=tuple(self._links),
            warnings=tuple(self._warnings),
            properties=dict(self._head.properties),
        )

    def _count(self, part: Part) -> None:
        self._bytes += part_bytes(part)
        if self._bytes > self._max_bytes:
            raise ArtifactTooLarge("artifact", f"takes more than {self._max_bytes} bytes")

    def _check_turn(self, part: Part) -> None:
        if self._coverage is not None:
            raise ArtifactFault("coverage", "is not the last part")
        if isinstance(part, HeadPart) != (self._head is None):
            raise ArtifactFault("head", "is not the first part" if self._head is None else "came twice")

    def _add_block(self, message: pb.Block) -> None:
        if self._blocks and self._blocks[-1].id == message.id:
            self._add_to_block(message)
            return
        self._close_block()
        field = f"blocks[{len(self._blocks)}]"
        block = block_of(message, field)
        if block.id in self._block_ids:
            raise ArtifactFault(f"{field}.id", f"{block.id!r} is taken")
        self._block_ids.add(block.id)
        self._blocks.append(block)

    def _add_to_block(self, message: pb.Block) -> None:
        text, cells = more_of(self._blocks[-1], message, f"blocks[{len(self._blocks) - 1}]")
        self._more_text.append(text)
        self._more_cells.extend(cells)

    def _close_block(self) -> None:
        """Joins what further messages brought to the last block."""
        if self._more_text:
            last = self._blocks[-1]
            text = "".join((last.text, *self._more_text))
            self._blocks[-1] = replace(last, text=text, cells=(*last.cells, *self._more_cells))
            self._more_text, self._more_cells = [], []

    def _add_dataset(self, message: pb.DatasetSchema) -> None:
        if self._open_dataset is not None and self._open_dataset.id == message.id and not self._open_rows:
            _check_continuation(message, f"datasets[{len(self._datasets)}]")
            self._open_dataset.MergeFrom(message)
            return
        self._close_dataset()
        field = f"datasets[{len(self._datasets)}].id"
        if not message.id:
            raise ArtifactFault(field, "is empty")
        if any(dataset.id == message.id for dataset in self._datasets):
            raise ArtifactFault(field, f"{message.id!r} is taken")
        self._open_dataset = pb.DatasetSchema()
        self._open_dataset.CopyFrom(message)

    def _add_rows(self, part: RowsPart) -> None:
        if self._open_dataset is None or self._open_dataset.id != part.dataset_id:
            raise ArtifactFault("rows.dataset_id", f"{part.dataset_id!r} is not the dataset whose schema came last")
        self._open_rows.append(part.arrow_ipc)

    def _close_dataset(self) -> None:
        if self._open_dataset is None:
            return
        message, rows = self._open_dataset, self._open_rows
        self._open_dataset, self._open_rows = None, deque()
        self._datasets.append(dataset_of(message, _drained(rows), field=f"datasets[{len(self._datasets)}]"))

    def _check_references(self) -> None:
        known = {dataset.id for dataset in self._datasets} | {""}
        for number, block in enumerate(self._blocks):
            if block.dataset_id not in known:
                raise ArtifactFault(f"blocks[{number}].dataset_id", f"there is no dataset {block.dataset_id!r}")


def dump(artifact: Artifact) -> bytes:
    """The whole artifact as bytes, equal for equal artifacts; `load` reads them back. Raises as `parts`."""
    return _MAGIC + b"".join(_framed(pack(part)) for part in parts(artifact))


def load(data: bytes, *, max_bytes: int = MAX_ARTIFACT_BYTES) -> Artifact:
    """Reads what `dump` wrote, checking all of it.

    Raises:
        ArtifactFault: the bytes are not a whole and sound artifact.
    """
    if not data.startswith(_MAGIC):
        raise ArtifactFault("artifact", "does not start as a stored artifact does")
    assembler = ArtifactAssembler(max_bytes=max_bytes)
    for packed in _unframed(memoryview(data)[len(_MAGIC) :]):
        assembler.add(unpack(packed))
    return assembler.finish()


def _check_continuation(message: pb.DatasetSchema, field: str) -> None:
    rest = pb.DatasetSchema()
    rest.CopyFrom(message)
    for name in ("id", *DATASET_LISTS):
        rest.ClearField(name)
    if rest.ByteSize():
        raise ArtifactFault(field, "came twice")


def _drained(rows: deque[bytes]) -> Iterator[bytes]:
    while rows:
        yield rows.popleft()


def _framed(packed: bytes) -> bytes:
    return _LENGTH.pack(len(packed)) + packed


def _unframed(data: memoryview) -> Iterator[bytes]:
    while data:
        if len(data) < _LENGTH.size:
            raise ArtifactFault("artifact", "is cut off")
        end = _LENGTH.size + _LENGTH.unpack_from(data)[0]
        if end > len(data):
            raise ArtifactFault("artifact", "is cut off")
        yield bytes(data[_LENGTH.size : end])
        data = data[end:]
