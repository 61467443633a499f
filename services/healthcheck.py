"""Asks a server whether it serves: `python -m services.healthcheck HOST:PORT [CA_FILE]`; exit status 0 where it does."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

TIMEOUT_S = 4.0


def main(argv: Sequence[str]) -> int:
    """Returns 0 where the server serves, 1 where it does not, 2 where the words are off."""
    if len(argv) not in (1, 2):
        print(__doc__, file=sys.stderr)
        return 2
    target = argv[0]
    if len(argv) == 2:
        channel = grpc.secure_channel(target, grpc.ssl_channel_credentials(Path(argv[1]).read_bytes()))
    else:
        channel = grpc.insecure_channel(target)
    with channel:
        try:
            answer = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=TIMEOUT_S)
        except grpc.RpcError as error:
            print(f"{target} does not answer: {error.code().name}", file=sys.stderr)
            return 1
    return 0 if answer.status == health_pb2.HealthCheckResponse.SERVING else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
