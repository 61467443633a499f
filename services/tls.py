"""A server's TLS credentials from files, tried before they are used."""

from __future__ import annotations

import ssl
from pathlib import Path

import grpc


class TlsFault(ValueError):
    """A certificate, key or CA file does not hold."""


def server_credentials(cert: Path, key: Path, *, client_ca: Path | None) -> grpc.ServerCredentials:
    """Reads a certificate chain and its key; with a CA, clients must show a certificate of it.

    Raises:
        TlsFault: a file cannot be read or is not PEM, the key is encrypted, or it is another certificate's.
    """
    tried = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        tried.load_cert_chain(cert, key, password=_no_password)
        if client_ca is not None:
            tried.load_verify_locations(client_ca)
        pair = (key.read_bytes(), cert.read_bytes())
        ca = client_ca.read_bytes() if client_ca else None
    except (OSError, ValueError) as error:
        raise TlsFault(f"{error}") from error
    return grpc.ssl_server_credentials([pair], root_certificates=ca, require_client_auth=ca is not None)


def _no_password() -> str:
    """Answers for the operator, who is not there to be asked."""
    raise ValueError("the key is encrypted")
