"""The settings of the knowledge service."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from knowledge_svc.domain.chunking import ChunkSettings
from services.server import ServerConfig, server_settings
from services.settings import (
    Address,
    Command,
    Setting,
    SettingsFault,
    address,
    duration,
    optional_path,
    path,
    read_settings,
    size,
    switch,
    whole,
    words,
)

MIB: Final = 1024 * 1024
COMMAND: Final = Command(
    program="python -m knowledge_svc",
    description="Keeps documents, finds passages, ingests files and answers plans over datasets, over gRPC.",
    epilog="Every setting may be given as a flag or as the environment variable in brackets; flags win.\n"
    "'python -m knowledge_svc rebuild-index --data-dir DIR' makes the search indexes anew from the record and ends.\n"
    "'python -m knowledge_svc reembed --data-dir DIR' embeds everything anew with the configured model and ends.\n"
    "'python -m knowledge_svc rechunk --data-dir DIR [--org ORG] [--source-uri URI] [--apply]' cuts a namespace's texts anew.",
)


@dataclass(frozen=True, slots=True)
class KnowledgeConfig:
    """All settings of a knowledge service. Times end in `_s` and are seconds; sizes end in `_bytes`."""

    server: ServerConfig
    data_dir: Path
    namespace: str
    extractor: Address | None
    extractors: dict[str, tuple[Address, ...]]
    extractor_ca: Path | None
    extractor_token: str
    extractor_timeout_s: float
    max_artifact_bytes: int
    chunk_size: int
    chunk_stride: int
    upload_max_bytes: int
    upload_ttl_s: float
    upload_stall_s: float
    ingest_enabled: bool
    ingest_workers: int
    ingest_max_chunks: int
    ingest_max_attempts: int
    ingest_max_pass_s: float
    embed_sessions: int
    embedding_url: str
    embedding_model: str
    embedding_key: str
    embedding_dimension: int
    upkeep_s: float
    blob_min_age_s: float
    search_threads: int
    query_threads: int
    query_memory_bytes: int
    query_timeout_s: float
    query_max_rows: int

    @property
    def routes(self) -> dict[str, tuple[Address, ...]]:
        """Where files of each format go; the one extractor of all formats is the route `*`, unless that is named itself."""
        return ({"*": (self.extractor,)} if self.extractor else {}) | self.extractors

    @property
    def chunks(self) -> ChunkSettings:
        """How text is cut."""
        return ChunkSettings(self.chunk_size, self.chunk_stride)


def _extractor(text: str) -> Address | None:
    """Reads `host:port`, or `grpc://host:port`; an empty text means that there is none."""
    return _address(text) if text else None


def _base_url(text: str) -> str:
    """Reads `http://host/v1` or `https://host/v1`; an empty text means that there is none."""
    parts = urlsplit(text)
    if text and (parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment):
        raise ValueError("takes an address such as http://host:8080/v1")
    return text


def _extractors(text: str) -> dict[str, tuple[Address, ...]]:
    """Reads a JSON object of format ids, or `*` for all others, each with one address or several that take turns."""
    try:
        routes = json.loads(text or "{}")
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON: {error}") from error
    if not isinstance(routes, dict) or not all(name and _names(addresses) for name, addresses in routes.items()):
        raise ValueError('takes a JSON object such as {"pdf": ["host:7778", "other:7778"], "*": "third:7778"}')
    return {name: tuple(map(_address, _names(addresses))) for name, addresses in routes.items()}


def _names(addresses: object) -> list[str]:
    """One address or a list of them as a list, empty where it is neither."""
    listed = addresses if isinstance(addresses, list) else [addresses]
    texts = [item for item in listed if isinstance(item, str) and item]
    return texts if len(texts) == len(listed) else []


def _address(text: str) -> Address:
    return address(text.removeprefix("grpc://"))


_OWN: Final[tuple[Setting[Any], ...]] = (  # Any: each setting has a type of its own
    Setting(
        "data_dir", "LOOM_DATA_DIR", path, ".loom/data", "folder of the record, indexes, blobs and snapshots", "storage", "DIR"
    ),
    Setting("namespace", "LOOM_NAMESPACE", words, "local", "namespace of calls that name none", "storage", "NAME"),
    Setting(
        "extractor",
        "LOOM_DOCUMENT_EXTRACTOR_URL",
        _extractor,
        "",
        "extractor to send files to; empty: text only",
        "extractor",
        "HOST:PORT",
    ),
    Setting(
        "extractors",
        "LOOM_DOCUMENT_EXTRACTORS_JSON",
        _extractors,
        "",
        'extractors by format, each one address or a list that takes turns: {"pdf": ["a:7778", "b:7778"], "*": "c:7778"}',
        "extractor",
        "JSON",
    ),
    Setting(
        "extractor_ca", "LOOM_DOCUMENT_EXTRACTOR_CA", optional_path, "", "CA of the extractor's certificate", "extractor", "FILE"
    ),
    Setting("extractor_token", "LOOM_DOCUMENT_EXTRACTOR_TOKEN", words, "", "bearer token for the extractor", "extractor", "TOKEN"),
    Setting(
        "extractor_timeout_s",
        "LOOM_DOCUMENT_EXTRACTOR_TIMEOUT",
        duration(1, 3600),
        "10m",
        "longest one extraction may take",
        "extractor",
        "TIME",
    ),
    Setting(
        "max_artifact_bytes",
        "LOOM_DOCUMENT_EXTRACTOR_MAX_ARTIFACT_BYTES",
        size(1024, 1 << 32),
        "256MiB",
        "largest artifact taken",
        "extractor",
        "SIZE",
    ),
    Setting("chunk_size", "LOOM_KNOWLEDGE_CHUNK_SIZE", whole(100, 8000), "1000", "characters of a chunk", "text", "N"),
    Setting(
        "chunk_stride",
        "LOOM_KNOWLEDGE_CHUNK_STRIDE",
        whole(50, 8000),
        "800",
        "characters from one chunk's start to the next",
        "text",
        "N",
    ),
    Setting(
        "embed_sessions", "LOOM_KNOWLEDGE_EMBED_SESSIONS", whole(1, 64), "2", "embedding runs at once, a core each", "text", "N"
    ),
    Setting(
        "embedding_url",
        "LOOM_EMBEDDING_URL",
        _base_url,
        "",
        "endpoint that makes vectors, speaking OpenAI's embeddings call; empty: the model inside",
        "text",
        "URL",
    ),
    Setting("embedding_model", "LOOM_EMBEDDING_MODEL", words, "", "the model's name at that endpoint", "text", "NAME"),
    Setting("embedding_key", "LOOM_EMBEDDING_KEY", words, "", "bearer key of that endpoint", "text", "KEY"),
    Setting(
        "embedding_dimension",
        "LOOM_EMBEDDING_DIMENSION",
        whole(0, 16_384),
        "0",
        "numbers of that model's vectors; 0: asked for at the start",
        "text",
        "N",
    ),
    Setting(
        "upload_max_bytes", "LOOM_KNOWLEDGE_UPLOAD_MAX_BYTES", size(1, 1 << 32), "64MiB", "largest file taken", "ingest", "SIZE"
    ),
    Setting(
        "upload_ttl_s",
        "LOOM_KNOWLEDGE_UPLOAD_TTL_SECONDS",
        duration(60, 30 * 86400),
        "86400",
        "how long a file waits for its ingest",
        "ingest",
        "TIME",
    ),
    Setting(
        "upload_stall_s",
        "LOOM_KNOWLEDGE_UPLOAD_STALL",
        duration(1, 600),
        "30s",
        "longest wait for the next bytes of an upload",
        "ingest",
        "TIME",
    ),
    Setting(
        "ingest_enabled",
        "LOOM_KNOWLEDGE_INGEST_ENABLED",
        switch,
        "on",
        "whether queued jobs are run: on or off",
        "ingest",
        "on|off",
    ),
    Setting("ingest_workers", "LOOM_KNOWLEDGE_INGEST_WORKERS", whole(1, 64), "3", "jobs run at once", "ingest", "N"),
    Setting(
        "ingest_max_chunks",
        "LOOM_KNOWLEDGE_INGEST_MAX_CHUNKS",
        whole(1, 1_000_000),
        "50000",
        "most chunks of one file",
        "ingest",
        "N",
    ),
    Setting(
        "ingest_max_attempts", "LOOM_KNOWLEDGE_INGEST_MAX_ATTEMPTS", whole(1, 100), "20", "how often a job is tried", "ingest", "N"
    ),
    Setting(
        "ingest_max_pass_s",
        "LOOM_KNOWLEDGE_INGEST_MAX_PASS_SECONDS",
        duration(1, 86400),
        "900",
        "longest one attempt may run",
        "ingest",
        "TIME",
    ),
    Setting("search_threads", "LOOM_KNOWLEDGE_SEARCH_THREADS", whole(1, 256), "4", "searches run at once", "reading", "N"),
    Setting("query_threads", "LOOM_KNOWLEDGE_QUERY_THREADS", whole(1, 64), "2", "plans run at once", "reading", "N"),
    Setting(
        "query_memory_bytes",
        "LOOM_KNOWLEDGE_QUERY_MEMORY",
        size(16 * MIB, 1 << 40),
        "1GiB",
        "memory one plan may take",
        "reading",
        "SIZE",
    ),
    Setting(
        "query_timeout_s", "LOOM_KNOWLEDGE_QUERY_TIMEOUT", duration(0.1, 3600), "30s", "longest one plan may run", "reading", "TIME"
    ),
    Setting(
        "query_max_rows", "LOOM_KNOWLEDGE_QUERY_MAX_ROWS", whole(1, 10_000_000), "10000", "most rows of one answer", "reading", "N"
    ),
    Setting(
        "upkeep_s",
        "LOOM_DOCUMENT_BLOB_GC_INTERVAL_SECONDS",
        duration(1, 7 * 86400),
        "3600",
        "how often old jobs, uploads and files no one needs are removed",
        "storage",
        "TIME",
    ),
    Setting(
        "blob_min_age_s",
        "LOOM_DOCUMENT_BLOB_MIN_AGE_SECONDS",
        duration(60, 30 * 86400),
        "3600",
        "age below which no file is removed",
        "storage",
        "TIME",
    ),
)
SETTINGS: Final = (*server_settings("LOOM_KNOWLEDGE", listen="127.0.0.1:7777"), *_OWN)
_SERVER_NAMES: Final = frozenset(ServerConfig.__dataclass_fields__)


def read_config(argv: Sequence[str], environ: Mapping[str, str]) -> KnowledgeConfig:
    """Reads the settings from flags and environment.

    Raises:
        SettingsFault: with every setting that does not hold.
    """
    values = read_settings(SETTINGS, argv, environ, command=COMMAND)
    faults = []
    if values["chunk_stride"] >= values["chunk_size"]:
        faults.append("--chunk-stride must be smaller than --chunk-size, so that chunks overlap")
    if bool(values["embedding_url"]) != bool(values["embedding_model"]):
        faults.append("--embedding-url and --embedding-model go together; set both, or neither for the model inside")
    if faults:
        raise SettingsFault(faults)
    server = ServerConfig(**{name: value for name, value in values.items() if name in _SERVER_NAMES})
    return KnowledgeConfig(server=server, **{name: value for name, value in values.items() if name not in _SERVER_NAMES})
