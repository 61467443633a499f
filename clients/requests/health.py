"""The call that asks a server whether it serves."""

from __future__ import annotations

from typing import Final

from google.protobuf.wrappers_pb2 import StringValue

from clients.calls import Call

HEALTH_TIMEOUT_S: Final = 5.0
_STATES: Final = {0: "unknown", 1: "serving", 2: "not_serving", 3: "service_unknown"}


def health(service: str = "") -> Call[str]:
    """Returns "serving", "not_serving", "service_unknown" or "unknown"; an empty name asks for the server as a whole."""
    return Call("health.Check", StringValue(value=service), lambda answer: _STATES.get(answer.value, "unknown"), HEALTH_TIMEOUT_S)
