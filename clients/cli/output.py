"""What the command prints: words on a terminal, one JSON document for scripts, one line for an error."""

from __future__ import annotations

import dataclasses
import functools
import json
import sys
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar

import typer
from google.protobuf import json_format
from google.protobuf.message import Message
from rich.console import Console
from rich.table import Table
from rich.text import Text

from clients.cli.settings import SettingsFault
from clients.errors import IngestTimeout, LoomError
from clients.serving import ServingFault
from clients.typed_text import QuerySyntax
from clients.values import digits, seconds

P = ParamSpec("P")
R = TypeVar("R")

PLAIN_WIDTH: Final = 160
"""Columns of what is printed to a file or a pipe."""
_CONTROLS: Final = {code: "\N{REPLACEMENT CHARACTER}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}


class CommandFault(Exception):
    """The command cannot do what was asked; the message is for a person."""


class UsageFault(CommandFault):
    """The command was called in a way that cannot be meant; exit code 2."""


def console() -> Console:
    """Where results go."""
    return _console(terminal=sys.stdout.isatty(), stderr=False)


def error_console() -> Console:
    """Where progress and errors go."""
    return _console(terminal=sys.stderr.isatty(), stderr=True)


def _console(*, terminal: bool, stderr: bool) -> Console:
    return Console(stderr=stderr, highlight=False, markup=False, emoji=False, width=None if terminal else PLAIN_WIDTH)


def safe(text: str) -> str:
    """The text without the control characters by which a document could take over a terminal."""
    return text.translate(_CONTROLS)


def styled(text: str, style: str = "") -> Text:
    """Text of a document or a file name, in a style."""
    return Text(safe(text), style=style)


def one_line(text: str, width: int) -> str:
    """The text on one line of at most so many characters."""
    line = " ".join(safe(text).split())
    return line if len(line) <= width else line[: width - 1] + "…"


def print_table(table: Table) -> None:
    """Prints a table without the blanks that fill its last column."""
    out = console()
    with out.capture() as captured:
        out.print(table)
    sys.stdout.write("".join(line.rstrip() + "\n" for line in captured.get().splitlines()))


def print_json(value: object) -> None:
    """Prints one JSON document."""
    sys.stdout.write(json.dumps(jsonable(value), ensure_ascii=False, indent=2) + "\n")


def jsonable(value: Any) -> Any:  # Any: whatever a result holds, and JSON of it
    """The value as JSON has it: dataclasses and messages are objects, exact numbers and times are text."""
    match value:
        case Message():
            return json_format.MessageToDict(value, preserving_proto_field_name=True)
        case Mapping():
            return {str(key): jsonable(item) for key, item in value.items()}
        case list() | tuple():
            return [jsonable(item) for item in value]
        case Decimal():
            return digits(value)
        case Path():
            return str(value)
        case datetime() | date() | time():
            return value.isoformat()
        case timedelta():
            return seconds(value)
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {field.name: jsonable(getattr(value, field.name)) for field in dataclasses.fields(value)}
        case _:
            return value


def reports_errors(command: Callable[P, R]) -> Callable[P, R]:
    """Turns what a command raises into one line on stderr and an exit code: 2 for usage, 130 for an interrupt, else 1.

    With --json the error is also the JSON document: `{"error": {...}}`.
    """

    @functools.wraps(command)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except KeyboardInterrupt:
            _say("interrupted")
            raise typer.Exit(130) from None
        except BrokenPipeError:
            raise typer.Exit(141) from None
        except (LoomError, IngestTimeout, SettingsFault, ServingFault, QuerySyntax, CommandFault, OSError) as error:
            if kwargs.get("as_json"):
                print_json({"error": described(error)})
            _say(str(error))
            raise typer.Exit(2 if isinstance(error, QuerySyntax | UsageFault) else 1) from None

    return guarded


def described(error: Exception) -> dict[str, object]:
    """An error as JSON."""
    if isinstance(error, LoomError):
        return {
            "code": error.code.name,
            "reason": error.reason,
            "message": error.message,
            "metadata": dict(error.metadata),
            "violations": error.violations,
            "retry_after_s": error.retry_after_s,
            "request_id": error.request_id,
        }
    return {"code": type(error).__name__, "message": str(error)}


def _say(message: str) -> None:
    print(f"loom: {safe(message)}", file=sys.stderr)
