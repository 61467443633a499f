"""Holds a decoded artifact against the file it was made of, and its texts against bounds; the codec checked everything else."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from artifact.codec import ArtifactFault
from artifact.model import Artifact, Block, Coverage, Dataset
from knowledge_svc.domain.model import ExtractOptions, Upload

MAX_NAME: Final = 256
"""Characters of an id, a parser's name, a unit, a language, a code."""
MAX_KEY: Final = 8192
"""Characters of an exact key: longer than any path a person would write down."""
MAX_KEYS: Final = 20_000
"""Keys of one block."""
MAX_DEPTH: Final = 64
"""Headings above a block."""
MAX_COLUMN_NAME: Final = 8192
MAX_LEDGER: Final = 100_000
"""Lines of one list of the coverage."""
MAX_TARGET: Final = 8192
"""Characters of where a link leads."""
MAX_MESSAGE: Final = 8192
"""Characters of a warning's message, or of a clarification's."""


def check_trusted(artifact: Artifact, upload: Upload, options: ExtractOptions, *, formats: Collection[str]) -> None:
    """Refuses an artifact that is of another file, or of a format nobody declared or asked for, or with a text out of bounds.

    `formats` are those its extractor declares.

    Raises:
        ArtifactFault: naming the field.
    """
    if artifact.sha256 != upload.sha256:
        raise ArtifactFault("head.sha256", "is not that of the file that was sent")
    if artifact.size_bytes != upload.size_bytes:
        raise ArtifactFault("head.size_bytes", f"is {artifact.size_bytes}, the file that was sent has {upload.size_bytes}")
    if artifact.format not in formats:
        raise ArtifactFault("head.format", f"{artifact.format[:MAX_NAME]!r} is not a format the extractor declares")
    if options.format and artifact.format != options.format:
        raise ArtifactFault("head.format", f"is {artifact.format!r}, asked for was {options.format[:MAX_NAME]!r}")
    _short(artifact.parser, "head.parser")
    _short(artifact.encoding, "head.encoding")
    for number, block in enumerate(artifact.blocks):
        _check_block(block, f"blocks[{number}]")
    for number, dataset in enumerate(artifact.datasets):
        _check_dataset(dataset, f"datasets[{number}]")
    for number, link in enumerate(artifact.links):
        _short(link.target, f"links[{number}].target", most=MAX_TARGET)
    for number, warning in enumerate(artifact.warnings):
        _short(warning.code, f"warnings[{number}].code")
        _short(warning.message, f"warnings[{number}].message", most=MAX_MESSAGE)
    _check_coverage(artifact.coverage)


def check_progress(unit: str, done: int, total: int) -> None:
    """Refuses a standing that cannot be.

    Raises:
        ArtifactFault: naming the field.
    """
    _short(unit, "progress.unit")
    if done < 0 or total < 0:
        raise ArtifactFault("progress.done", f"is {done} of {total}, below 0")


def _check_block(block: Block, field: str) -> None:
    _short(block.id, f"{field}.id")
    _short(block.language, f"{field}.language")
    if len(block.section_path) > MAX_DEPTH:
        raise ArtifactFault(f"{field}.section_path", f"has {len(block.section_path)} headings, more than {MAX_DEPTH}")
    for name, keys in (("defines", block.defines), ("reads", block.reads)):
        if len(keys) > MAX_KEYS:
            raise ArtifactFault(f"{field}.{name}", f"has {len(keys)} names, more than {MAX_KEYS}")
        _each_short(keys, f"{field}.{name}", most=MAX_KEY)


def _check_dataset(dataset: Dataset, field: str) -> None:
    _short(dataset.id, f"{field}.id")
    _short(dataset.name, f"{field}.name", most=MAX_COLUMN_NAME)
    _each_short((column.name for column in dataset.columns), f"{field}.columns", most=MAX_COLUMN_NAME)
    _each_short((item.message for item in dataset.clarifications), f"{field}.clarifications", most=MAX_COLUMN_NAME + MAX_MESSAGE)


def _check_coverage(coverage: Coverage) -> None:
    _short(coverage.unit, "coverage.unit")
    for name in ("failed", "lost", "words_excluded", "words_unread"):
        if (count := len(getattr(coverage, name))) > MAX_LEDGER:
            raise ArtifactFault(f"coverage.{name}", f"has {count} lines, more than {MAX_LEDGER}")
    _each_short(coverage.lost, "coverage.lost", most=MAX_NAME)
    _each_short((failed.reason for failed in coverage.failed), "coverage.failed", most=MAX_MESSAGE)


def _each_short(texts: Iterable[str], field: str, *, most: int) -> None:
    for number, text in enumerate(texts):
        _short(text, f"{field}[{number}]", most=most)


def _short(text: str, field: str, *, most: int = MAX_NAME) -> None:
    if len(text) > most:
        raise ArtifactFault(field, f"has {len(text)} characters, more than {most}")
