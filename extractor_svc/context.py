"""What a reader is told besides the bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from extractor_svc.limits import DEFAULT_LIMITS, Limits

Progress: TypeAlias = Callable[[str, int, int], None]
"""Told a unit (`page`, `sheet`, `line`), how many are done, and how many there are; 0 while unknown."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the caller knows of a file that the file cannot say; empty means found out, None as the service is set.

    `original_view` reads a document with tracked changes as it stood before them.
    """

    format: str = ""
    encoding: str = ""
    sql_dialect: str = ""
    password: str = ""
    ocr: bool | None = None
    original_view: bool = False


DEFAULT_OPTIONS: Final = Options()


def ignore_progress(unit: str, done: int, total: int) -> None:
    """Takes a progress report and does nothing with it."""


@dataclass(frozen=True, slots=True)
class ReadContext:
    """One extraction's surroundings; `sha256` is that of the bytes, in lower-case hex, and empty where nothing needs it."""

    filename: str = ""
    sha256: str = ""
    options: Options = DEFAULT_OPTIONS
    limits: Limits = DEFAULT_LIMITS
    progress: Progress = ignore_progress
