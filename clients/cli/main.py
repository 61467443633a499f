"""The entry point of the `loom` command."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Runs the command; the exit code is 0, 1 where something failed, 2 where the command was not understood."""
    try:
        from clients.cli.commands import app
    except ModuleNotFoundError as error:
        if error.name not in ("rich", "typer"):
            raise
        raise SystemExit("loom: the command needs more than the SDK; install it with: pip install 'loom-knowledge[cli]'") from None
    try:
        app()
    finally:
        _flush()


def _flush() -> None:
    """Writes out what is left; a reader that went away, such as `head`, is no error."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
