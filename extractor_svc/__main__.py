"""`python -m extractor_svc`: serves; with `extract FILE` or `resolve FILE LOCATOR` reads one file and ends."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence

from extractor_svc.config import NAME, PROGRAM, read_config
from services.errors import LoomError
from services.logs import configure_logs
from services.server import check_exposure
from services.settings import SettingsFault, exit_with


def main(argv: Sequence[str]) -> int:
    """Runs the command; returns its exit status: 0, 1 where it cannot run, 2 on usage, 3 where a document is refused."""
    command, rest = (argv[0], argv[1:]) if argv and argv[0] in ("extract", "resolve", "serve") else ("serve", argv)
    if command == "serve":
        return _serve(rest)
    return _read(command, rest)


def _read(command: str, argv: Sequence[str]) -> int:
    from extractor_svc.cli import extract_command, resolve_command  # here, so that neither command loads what the other needs

    configure_logs(log_format="text", level="error", service="extractor")
    return (extract_command if command == "extract" else resolve_command)(argv, os.environ)


def _serve(argv: Sequence[str]) -> int:
    from extractor_svc.app import serve  # here for the same reason: it loads every format

    try:
        config = read_config(argv, os.environ)
    except SettingsFault as fault:
        exit_with(fault, PROGRAM)
    configure_logs(log_format=config.server.log_format, level=config.server.log_level, service="extractor")
    try:
        check_exposure(config.server)
        asyncio.run(serve(config))
    except LoomError as error:
        print(f"{NAME}: {error.message} [{error.code_reason}]", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
