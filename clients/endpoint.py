"""Where a server is and how it is spoken to."""

from __future__ import annotations

import ipaddress
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import grpc

from clients.errors import Peer

KNOWLEDGE_ADDRESS: Final = "127.0.0.1:7777"
EXTRACTOR_ADDRESS: Final = "127.0.0.1:7778"

SERVICE_CONFIG: Final = json.dumps(
    {
        "loadBalancingConfig": [{"round_robin": {}}],
        "methodConfig": [
            {
                "name": [{}],
                "retryPolicy": {
                    "maxAttempts": 3,
                    "initialBackoff": "0.1s",
                    "maxBackoff": "1s",
                    "backoffMultiplier": 2,
                    "retryableStatusCodes": ["UNAVAILABLE"],
                },
            }
        ],
        "retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1},
    }
)
"""Retries what never reached a server that answers: UNAVAILABLE only, three attempts, fewer when most calls fail."""
CHANNEL_OPTIONS: Final = (("grpc.service_config", SERVICE_CONFIG), ("grpc.enable_retries", 1))

_TLS_SCHEMES: Final = ("https://", "grpcs://")
_PLAIN_SCHEMES: Final = ("http://", "grpc://")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server's gRPC target, and its certificate authority where the line is TLS.

    `spoken_plain` is True where the address itself asked for a line without TLS (`http://…`).
    """

    target: str
    tls: bool = False
    spoken_plain: bool = False
    ca_file: Path | None = None

    @property
    def loopback(self) -> bool:
        """Whether the server is this machine."""
        host = self.target.rsplit("/", 1)[-1].rpartition(":")[0].strip("[]")
        if host == "localhost":
            return True
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False

    def credentials(self) -> grpc.ChannelCredentials | None:
        """The TLS credentials of the line; None where it is plain.

        Raises:
            OSError: the certificate authority's file cannot be read.
        """
        if not self.tls:
            return None
        roots = self.ca_file.read_bytes() if self.ca_file else None
        return grpc.ssl_channel_credentials(root_certificates=roots)


def parse_endpoint(address: str, *, ca_file: str | Path | None = None) -> Endpoint:
    """Reads `host:port`, `http://host:port`, `https://host:port` or a gRPC target such as `dns:///host:port`.

    A certificate authority's file, or `https://`, means TLS.

    Raises:
        ValueError: the address has no port, or asks for a plain line with a certificate authority.
    """
    tls, plain, target = _split(address.strip().rstrip("/"))
    if plain and ca_file is not None:
        raise ValueError(f"the address {address} is without TLS, so a certificate authority's file has no use; write https://")
    if not target.startswith("unix:") and not target.rpartition(":")[2].isdigit():
        raise ValueError(f"the address {address!r} has no port; write host:port, such as {KNOWLEDGE_ADDRESS}")
    return Endpoint(target, tls=tls or ca_file is not None, spoken_plain=plain, ca_file=Path(ca_file) if ca_file else None)


def _split(address: str) -> tuple[bool, bool, str]:
    for scheme in _TLS_SCHEMES:
        if address.startswith(scheme):
            return True, False, address.removeprefix(scheme)
    for scheme in _PLAIN_SCHEMES:
        if address.startswith(scheme):
            return False, True, address.removeprefix(scheme)
    return False, False, address


def require_private_line(endpoint: Endpoint, *, token: str) -> None:
    """Refuses to send a token in the clear to another machine unless the address says `http://` out loud.

    Raises:
        ValueError: it would be.
    """
    if token and not (endpoint.tls or endpoint.loopback or endpoint.spoken_plain):
        raise ValueError(
            f"the token would travel unencrypted to {endpoint.target}; write https://{endpoint.target} for TLS, "
            f"or http://{endpoint.target} to send it in the clear on a network you trust"
        )


def knowledge_peer(endpoint: Endpoint) -> Peer:
    """The knowledge service as errors name it."""
    return Peer("knowledge service", endpoint.target, "start it with `loom serve`, or name another address")


def extractor_peer(endpoint: Endpoint) -> Peer:
    """The extractor as errors name it."""
    return Peer("extractor", endpoint.target, "start it with `loom serve`, or name another address")
