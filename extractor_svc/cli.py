"""Reads one file on the command line through one confined child: no server, the same limits."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from artifact.codec import ArtifactAssembler, ArtifactFault, unpack
from artifact.locators import to_json
from artifact.model import Artifact, Coverage
from artifact.places import read_locator_json
from extractor_svc import render
from extractor_svc.config import NAME, PROGRAM, read_single
from extractor_svc.context import Options
from extractor_svc.errors import TooLarge
from extractor_svc.frames import Progress, Request
from extractor_svc.pool import ExtractorPool, Job, NoReader, PoolSettings
from extractor_svc.spool import DocumentSpool, PartSpool
from services.errors import LoomError
from services.settings import Command, SettingsFault
from services.version import __version__

DONE, FAILED, USAGE, REFUSED = 0, 1, 2, 3
"""Exit statuses."""

_CHUNK: Final = 256 * 1024
_EPILOG: Final = (
    "The limits of the service are taken too: --memory, --timeout, --progress-timeout, --max-file, --max-output, --max-text, "
    "--max-rows, --sandbox, or their LOOM_EXTRACTOR_ variables. "
    "Exit status: 0 read, 2 usage, 3 the document is refused, 1 anything else."
)


class UsageFault(Exception):
    """The command line does not hold."""


@dataclass(frozen=True, slots=True)
class Task:
    """One file to read, and how its reader is bounded."""

    file: Path
    request: Request
    pool: PoolSettings


def extract_command(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Reads a file and writes its artifact; returns the exit status."""
    parser = _parser("extract", "Read one file and write its artifact.")
    parser.add_argument("--format", choices=("json", "text", "markdown"), default="json", help="what is written (default json)")
    parser.add_argument("--output", type=Path, metavar="PATH", help="where it is written (default: standard output)")
    given, rest = parser.parse_known_args(list(argv))

    def run() -> None:
        artifact = asyncio.run(_extract(_task(given, rest, environ, locator="")))
        _note(artifact.coverage)
        _write(_rendered(artifact, given.format), given.output)

    return _reported(run)


def resolve_command(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Reads one place of a file and writes its text; returns the exit status."""
    parser = _parser("resolve", "Read one place of a file and write its text.")
    parser.add_argument("locator", metavar="LOCATOR", help='the place as JSON, such as {"lines":{"first":3,"last":4}}')
    given, rest = parser.parse_known_args(list(argv))

    def run() -> None:
        try:
            locator = to_json(read_locator_json(given.locator, "LOCATOR"))
        except ArtifactFault as fault:
            raise UsageFault(str(fault)) from fault
        _write(asyncio.run(_resolve(_task(given, rest, environ, locator=locator))) + "\n", None)

    return _reported(run)


def _parser(name: str, about: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"{PROGRAM} {name}", description=about, epilog=_EPILOG, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"{NAME} {__version__}")
    parser.add_argument("file", type=Path, metavar="FILE", help="file to read")
    parser.add_argument("--type", default="", metavar="FORMAT", help="format id, such as csv (default: found by bytes and name)")
    parser.add_argument("--encoding", default="", metavar="NAME", help="encoding of a text file (default: detected)")
    parser.add_argument("--sql-dialect", default="", metavar="NAME", help="dialect of an SQL file (default: detected)")
    parser.add_argument("--ocr", choices=("on", "off"), help="read pictures and pages without text from their pixels (default on)")
    parser.add_argument("--original-view", action="store_true", help="read tracked changes as if every one was rejected")
    parser.add_argument("--password-file", type=Path, metavar="PATH", help="file whose first line opens an encrypted document")
    return parser


def _task(given: argparse.Namespace, rest: Sequence[str], environ: Mapping[str, str], *, locator: str) -> Task:
    pool = read_single(rest, environ, command=Command(PROGRAM, "", _EPILOG))
    if not given.file.is_file():
        raise UsageFault(f"{given.file}: there is no such file")
    options = Options(
        format=given.type,
        encoding=given.encoding,
        sql_dialect=given.sql_dialect,
        password=_password(given.password_file),
        ocr=None if given.ocr is None else given.ocr == "on",
        original_view=given.original_view,
    )
    return Task(given.file, Request(given.file.name, "", options, locator), pool)


def _password(path: Path | None) -> str:
    if path is None:
        return ""
    try:
        return path.read_text("utf-8").partition("\n")[0].removesuffix("\r")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageFault(f"{path}: cannot be read as a password") from error


async def _extract(task: Task) -> Artifact:
    with PartSpool(_folder()) as sink:
        await _run(task, sink)
        assembler = ArtifactAssembler()
        async for packed in sink.read():
            assembler.add(unpack(packed))
        return assembler.finish()


async def _resolve(task: Task) -> str:
    with PartSpool(_folder()) as sink:
        await _run(task, sink)
        return "".join([text.decode("utf-8", "replace") async for text in sink.read()])


async def _run(task: Task, sink: PartSpool) -> None:
    pool = ExtractorPool(task.pool)
    with DocumentSpool(_folder()) as document:
        await _spool(task, document)
        try:
            await pool.start()
            await pool.run(Job(document, task.request, sink, _ignore_progress))
        finally:
            await pool.close()


async def _spool(task: Task, document: DocumentSpool) -> None:
    most = task.pool.child.limits.max_bytes
    with task.file.open("rb") as file:
        while piece := file.read(_CHUNK):
            if document.size_bytes + len(piece) > most:
                raise TooLarge(f"the file has more than {most} bytes; raise --max-file", metadata={"max_bytes": str(most)})
            await document.write(piece)


def _rendered(artifact: Artifact, written: str) -> str:
    match written:
        case "text":
            return render.to_text(artifact)
        case "markdown":
            return render.to_markdown(artifact)
    return json.dumps(render.to_json(artifact), ensure_ascii=False, indent=2) + "\n"


def _write(text: str, output: Path | None) -> None:
    if output is None:
        sys.stdout.buffer.write(text.encode("utf-8", "replace"))
        sys.stdout.buffer.flush()
        return
    try:
        output.write_text(text, "utf-8", errors="replace")
    except OSError as error:
        raise UsageFault(f"{output}: {error.strerror}") from error


def _note(coverage: Coverage) -> None:
    """Says on standard error where something of the source is missing."""
    if coverage.complete:
        return
    lost = f"; without {', '.join(coverage.lost)}" if coverage.lost else ""
    unread = sum(count.words for count in coverage.words_unread)
    words = f"; {unread} words unread" if unread else ""
    _say(f"incomplete: {coverage.extracted} of {coverage.total} by {coverage.unit} read{lost}{words}")


def _reported(run: Callable[[], None]) -> int:
    """Runs a command and turns what it raises into one line and an exit status."""
    try:
        run()
    except SettingsFault as fault:
        for line in fault.faults:
            _say(line)
        return USAGE
    except UsageFault as fault:
        _say(str(fault))
        return USAGE
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # whoever read standard output has enough
    except NoReader as error:
        _say(f"{error.message} [{error.code_reason}]")
        return FAILED
    except LoomError as error:
        _say(f"{error.message} [{error.code_reason}]")
        return REFUSED
    return DONE


def _say(line: str) -> None:
    print(f"{NAME}: {line}", file=sys.stderr)


def _folder() -> Path:
    return Path(tempfile.gettempdir())


def _ignore_progress(_: str, __: Progress) -> None:
    """Has nobody to tell."""
