"""Files that hold one message of the contract as JSON: plans and receipts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypeVar

from google.protobuf import json_format
from google.protobuf.message import Message

from clients.cli.output import UsageFault

M = TypeVar("M", bound=Message)


def read_message(path: Path, message: M, *, what: str) -> M:
    """Reads a file into `message`, which `what` names, such as "plan".

    Raises:
        UsageFault: the file holds no such message.
    """
    try:
        document = json.loads(path.read_text("utf-8"))
        if not isinstance(document, dict):
            raise UsageFault(f"{path} holds no {what}: it is not a JSON object")
        return json_format.ParseDict(document, message)
    except (json_format.ParseError, ValueError) as error:
        raise UsageFault(f"{path} holds no {what}: {error}") from error


def write_message(path: Path, message: Message) -> None:
    """Writes a message."""
    path.write_text(json_format.MessageToJson(message, preserving_proto_field_name=True) + "\n", "utf-8")
