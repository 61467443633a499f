"""Puts the streamed parts of an artifact together."""

from __future__ import annotations

from collections.abc import Callable

from loom.artifact.v1 import artifact_pb2
from loom.extractor.v1 import extractor_pb2

from clients.errors import DataLoss
from clients.results.artifacts import Artifact, read_block, read_coverage, read_dataset, read_links, read_warnings
from clients.results.ingest import Progress


class Assembly:
    """Takes the parts in the order they come; `finish` refuses what is not a whole artifact."""

    def __init__(self, on_progress: Callable[[Progress], None] | None = None) -> None:
        self._on_progress = on_progress
        self._head: artifact_pb2.ArtifactHead | None = None
        self._blocks: list[artifact_pb2.Block] = []
        self._datasets: dict[str, artifact_pb2.DatasetSchema] = {}
        self._rows: dict[str, list[bytes]] = {}
        self._links: list[artifact_pb2.Link] = []
        self._warnings: list[artifact_pb2.Warning] = []
        self._coverage: artifact_pb2.Coverage | None = None

    def take(self, part: extractor_pb2.ExtractResponse) -> None:
        """Takes one part; progress is handed on."""
        match part.WhichOneof("part"):
            case "progress":
                self._report(part.progress)
            case "head":
                self._head = part.head
            case "blocks":
                for block in part.blocks.blocks:
                    self._add_block(block)
            case "dataset":
                self._datasets.setdefault(part.dataset.id, artifact_pb2.DatasetSchema()).MergeFrom(part.dataset)
            case "rows":
                self._rows.setdefault(part.rows.dataset_id, []).append(part.rows.arrow_ipc)
            case "links":
                self._links.extend(part.links.links)
            case "warnings":
                self._warnings.extend(part.warnings.warnings)
            case "coverage":
                self._coverage = part.coverage

    def finish(self) -> Artifact:
        """The artifact.

        Raises:
            DataLoss: the stream ended before its head or its coverage, or the rows of a dataset did not come.
        """
        if self._head is None or self._coverage is None:
            raise DataLoss("the extractor's answer ended early; send the file again")
        lacking = [name for name in self._datasets if name not in self._rows]
        if lacking:
            raise DataLoss(f"the extractor sent no rows of dataset {lacking[0]}; send the file again")
        return Artifact(
            format=self._head.format,
            parser=self._head.parser,
            sha256=self._head.sha256,
            size_bytes=self._head.size_bytes,
            title=self._head.title,
            encoding=self._head.encoding,
            properties=dict(self._head.properties),
            blocks=tuple(map(read_block, self._blocks)),
            datasets=tuple(read_dataset(schema, b"".join(self._rows[name])) for name, schema in self._datasets.items()),
            coverage=read_coverage(self._coverage),
            links=read_links(self._links),
            warnings=read_warnings(self._warnings),
        )

    def _add_block(self, block: artifact_pb2.Block) -> None:
        """Takes a block; one with the id of the last brings more of that one's text and cells."""
        if self._blocks and self._blocks[-1].id == block.id:
            self._blocks[-1].text += block.text
            self._blocks[-1].cells.extend(block.cells)
        else:
            self._blocks.append(block)

    def _report(self, progress: extractor_pb2.Progress) -> None:
        if self._on_progress is not None:
            self._on_progress(Progress(progress.stage, progress.unit, progress.done, progress.total))
