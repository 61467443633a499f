"""`loom serve` and `loom extract`: the services as children of the command."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from clients.cli.output import error_console, reports_errors, styled
from clients.endpoint import EXTRACTOR_ADDRESS, KNOWLEDGE_ADDRESS
from clients.serving import LocalServices, Places, ServingFault

POLL_S: Final = 0.2


class Stop:
    """Becomes true once SIGTERM or SIGINT came."""

    def __init__(self) -> None:
        self.came = False

    def __call__(self) -> bool:
        """Whether it came."""
        return self.came

    @contextmanager
    def heeded(self) -> Iterator[None]:
        """Catches both signals while the block runs."""
        before = {number: signal.signal(number, self._note) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _note(self, _number: int, _frame: object) -> None:
        self.came = True


@reports_errors
def serve(
    *,
    data_dir: Annotated[
        Path, typer.Option("--data-dir", envvar="LOOM_DATA_DIR", metavar="DIR", help="Folder of everything that is kept.")
    ] = Path(".loom/data"),
    listen: Annotated[
        str,
        typer.Option(
            "--listen", envvar="LOOM_KNOWLEDGE_LISTEN", metavar="HOST:PORT", help="Knowledge service; port 0 takes a free one."
        ),
    ] = (KNOWLEDGE_ADDRESS),
    extractor_listen: Annotated[
        str, typer.Option("--extractor-listen", envvar="LOOM_EXTRACTOR_LISTEN", metavar="HOST:PORT", help="Extractor; likewise.")
    ] = (EXTRACTOR_ADDRESS),
) -> None:
    """Run both services on this machine until Ctrl-C or SIGTERM; their logs go to stderr.

    Where one of them ends by itself the other is stopped, and the exit code is 1.
    """
    stop, out = Stop(), error_console()
    with stop.heeded(), LocalServices(Places(data_dir, listen, extractor_listen), stopping=stop) as services:
        if not stop():
            out.print(styled(f"loom serves: knowledge on {services.knowledge_address}, extractor on {services.extractor_address}"))
            out.print(styled(f"  data in {data_dir}; try: loom ingest FILE, then: loom search QUESTION; stop with Ctrl-C"))
        while not stop():
            if ended := services.ended():
                raise ServingFault(f"the {ended.name} {ended.ending()}; both are stopped")
            time.sleep(POLL_S)
        out.print("stopping")


class Format(StrEnum):
    """How an artifact is written."""

    JSON = "json"
    TEXT = "text"
    MARKDOWN = "markdown"


@reports_errors
def extract(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File to read; no server is needed.")],
    *,
    written: Annotated[Format, typer.Option("--format", help="How the artifact is written.")] = Format.JSON,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="By default standard output.")] = None,
    file_type: Annotated[str, typer.Option("--type", metavar="ID", help="Format of the file; by default found out.")] = "",
    encoding: Annotated[str, typer.Option("--encoding", metavar="NAME", help="Of a text file; by default detected.")] = "",
    sql_dialect: Annotated[str, typer.Option("--sql-dialect", metavar="NAME", help="Of an SQL file; by default detected.")] = "",
    ocr: Annotated[
        bool | None, typer.Option("--ocr/--no-ocr", help="Read pictures and pages without text from their pixels; by default yes.")
    ] = None,
    original_view: Annotated[
        bool, typer.Option("--original-view", help="Read tracked changes as if every one was rejected.")
    ] = False,
    password_file: Annotated[
        Path | None, typer.Option("--password-file", metavar="FILE", help="Its first line opens an encrypted file.")
    ] = None,
) -> None:
    """Read one file into text, tables and their places, in a process of its own.

    The exit code is that of the reader: 0 read, 2 usage, 3 the file is refused, 1 anything else.
    """
    flags = {
        "--format": written.value,
        "--output": output,
        "--type": file_type,
        "--encoding": encoding,
        "--sql-dialect": sql_dialect,
        "--password-file": password_file,
        "--ocr": None if ocr is None else ("on" if ocr else "off"),
    }
    given = [word for flag, value in flags.items() if value for word in (flag, str(value))]
    if original_view:
        given.append("--original-view")
    child = subprocess.Popen([sys.executable, "-m", "extractor_svc", "extract", str(file), *given])
    while True:
        try:
            code = child.wait()
            break
        except KeyboardInterrupt:
            continue  # the child got it too, and ends in its own way
    raise typer.Exit(code if code >= 0 else 128 - code)
