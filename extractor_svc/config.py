"""The extractor's settings."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from extractor_svc.child import ChildSettings
from extractor_svc.limits import MIB, Limits
from extractor_svc.pool import PoolSettings
from extractor_svc.sandbox import SandboxMode
from extractor_svc.upload import UploadLimits
from services.server import ServerConfig, server_settings
from services.settings import Command, Setting, SettingsFault, choice, duration, path, read_settings, size, whole

NAME: Final = "loom-extractor"
PROGRAM: Final = "python -m extractor_svc"
COMMAND: Final = Command(
    PROGRAM,
    "The extractor: takes a file, gives back its text, structure, tables and where each of them stands. Stores nothing.",
    "other commands:\n"
    f"  {PROGRAM} extract FILE          read one file here, without a server\n"
    f"  {PROGRAM} resolve FILE LOCATOR  read one place of a file",
)


@dataclass(frozen=True, slots=True)
class ExtractorConfig:
    """Everything the service is set to."""

    server: ServerConfig
    pool: PoolSettings
    upload: UploadLimits
    max_uploads: int
    spool_folder: Path


def _setting(name: str, read: Any, default: str, about: str, metavar: str, *, group: str) -> Setting[Any]:  # Any: as Setting's
    setting = Setting(name, "", read, default, about, group, metavar)
    return replace(setting, env=f"LOOM_EXTRACTOR_{setting.flag.removeprefix('--').replace('-', '_').upper()}")


_READING: Final = (
    _setting("workers", whole(1, 256), str(os.cpu_count() or 1), "documents read at once", "N", group="reading"),
    _setting("timeout_s", duration(0.1, 86_400), "300s", "longest a document may take", "TIME", group="reading"),
    _setting("progress_timeout_s", duration(0.1, 86_400), "60s", "longest it may make no progress", "TIME", group="reading"),
    _setting("memory_bytes", size(128 * MIB, 1 << 40), "2GiB", "memory for one document", "SIZE", group="reading"),
    _setting("max_file_bytes", size(1, 1 << 40), "64MiB", "largest file taken", "SIZE", group="reading"),
    _setting("max_output_bytes", size(MIB, 1 << 40), "512MiB", "largest artifact made", "SIZE", group="reading"),
    _setting("max_text", whole(1, 1 << 40), "100000000", "most characters of one document", "N", group="reading"),
    _setting("max_rows", whole(1, 1 << 31), "1000000", "most rows of one table", "N", group="reading"),
    _setting("recycle_documents", whole(1, 1_000_000), "500", "documents after which a reader is replaced", "N", group="reading"),
    _setting(
        "recycle_growth_bytes", size(MIB, 1 << 40), "512MiB", "growth after which a reader is replaced", "SIZE", group="reading"
    ),
    _setting(
        "sandbox",
        choice(*(mode.value for mode in SandboxMode)),
        "auto",
        "required: start only with every protection; auto: with those there are; off: with limits only",
        "MODE",
        group="reading",
    ),
)
_SERVING: Final = (
    _setting("queue", whole(0, 100_000), "32", "documents that may wait for a reader", "N", group="uploads"),
    _setting("max_uploads", whole(1, 100_000), "64", "files held at once", "N", group="uploads"),
    _setting("stall_s", duration(0.1, 3_600), "30s", "longest wait for the next bytes of a file", "TIME", group="uploads"),
    _setting("upload_s", duration(0.1, 86_400), "300s", "longest a file may take to come in", "TIME", group="uploads"),
    _setting("spool", path, tempfile.gettempdir(), "folder for files on their way", "FOLDER", group="uploads"),
)
SETTINGS: Final = (*server_settings("LOOM_EXTRACTOR", listen="127.0.0.1:7778"), *_READING, *_SERVING)
_SERVER_NAMES: Final = frozenset(ServerConfig.__dataclass_fields__)


def read_config(argv: Sequence[str], environ: Mapping[str, str]) -> ExtractorConfig:
    """Reads the service's settings from flags and environment.

    Raises:
        SettingsFault: with every setting that does not hold.
    """
    values = read_settings(SETTINGS, argv, environ, command=COMMAND)
    if not values["spool"].is_dir():
        raise SettingsFault([f"--spool = {str(values['spool'])!r}: there is no such folder"])
    return ExtractorConfig(
        server=ServerConfig(**{name: value for name, value in values.items() if name in _SERVER_NAMES}),
        pool=_pool_settings(values, queue_size=values["queue"], workers=values["workers"]),
        upload=UploadLimits(values["max_file_bytes"], values["stall_s"], values["upload_s"]),
        max_uploads=values["max_uploads"],
        spool_folder=values["spool"],
    )


def read_single(argv: Sequence[str], environ: Mapping[str, str], *, command: Command) -> PoolSettings:
    """Reads what bounds the reading of one file without a server: the same settings, and one reader.

    Raises:
        SettingsFault: with every setting that does not hold.
    """
    settings = tuple(setting for setting in _READING if setting.name != "workers")
    return _pool_settings(read_settings(settings, argv, environ, command=command), queue_size=0, workers=1, spares=0)


def _pool_settings(values: Mapping[str, Any], *, queue_size: int, workers: int, spares: int = 1) -> PoolSettings:  # Any: settings
    limits = Limits(
        max_bytes=values["max_file_bytes"],
        timeout_s=values["timeout_s"],
        progress_timeout_s=values["progress_timeout_s"],
        memory_bytes=values["memory_bytes"],
        max_text_chars=values["max_text"],
        max_rows=values["max_rows"],
    )
    return PoolSettings(
        child=ChildSettings(limits, SandboxMode(values["sandbox"])),
        workers=workers,
        spares=spares,
        queue_size=queue_size,
        max_output_bytes=values["max_output_bytes"],
        recycle_documents=values["recycle_documents"],
        recycle_growth_bytes=values["recycle_growth_bytes"],
    )
