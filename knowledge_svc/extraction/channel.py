"""Connections to extractors: spread over every address of a name, and only to those that say they serve."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import grpc

SERVICE: Final = "loom.extractor.v1.ExtractorService"
_SERVICE_CONFIG: Final = json.dumps({"loadBalancingConfig": [{"round_robin": {}}], "healthCheckConfig": {"serviceName": SERVICE}})
TARGET: Final = "dns:///{}"
"""Resolves a name to every address it has, again and again."""
_OPTIONS: Final = (
    ("grpc.service_config", _SERVICE_CONFIG),
    ("grpc.initial_reconnect_backoff_ms", 250),
    ("grpc.max_reconnect_backoff_ms", 2_000),
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
)


def extractor_channel(address: str, *, ca_file: Path | None) -> grpc.aio.Channel:
    """A channel to the extractors behind one address; with the file of an authority it is TLS."""
    target = TARGET.format(address)
    if ca_file is None:
        return grpc.aio.insecure_channel(target, options=_OPTIONS)
    return grpc.aio.secure_channel(target, grpc.ssl_channel_credentials(ca_file.read_bytes()), options=_OPTIONS)
