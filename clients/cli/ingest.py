"""`loom ingest`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from typing import Annotated, Final

import typer
from rich.progress import BarColumn, TaskID, TextColumn
from rich.progress import Progress as Bars
from rich.table import Table

from clients.cli.options import AsJson, CaFile, Namespace, Server, Token
from clients.cli.output import (
    CommandFault,
    UsageFault,
    console,
    described,
    error_console,
    one_line,
    print_json,
    print_table,
    reports_errors,
    safe,
    styled,
)
from clients.cli.settings import open_client
from clients.cli.sources import Skipped, Source, fetch_page, find_sources
from clients.endpoint import KNOWLEDGE_ADDRESS
from clients.errors import IngestTimeout, LoomError
from clients.knowledge import INGEST_TIMEOUT_S, KnowledgeClient
from clients.requests.ingest import IngestOptions
from clients.results.ingest import Ingestion, Progress, UploadedFile

AT_ONCE: Final = 4
"""Files under way at the same time unless the caller says otherwise: one is uploaded while others are read."""
MOST_AT_ONCE: Final = 64

Report = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the options say of every file; empty is the default."""

    title: str
    tags: tuple[str, ...]
    options: IngestOptions
    allow_partial: bool
    wait: bool
    timeout_s: float
    at_once: int = AT_ONCE


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one source: a job, or the error that kept it from one."""

    source: Source
    ingestion: Ingestion | None = None
    error: Exception | None = None

    @property
    def failed(self) -> bool:
        """Whether no document came of it; a job that was not waited for has not failed."""
        return self.error is not None or (self.ingestion is not None and self.ingestion.ended and not self.ingestion.published)


@reports_errors
def ingest(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Files, folders or https:// pages.")],
    *,
    title: Annotated[str, typer.Option("--title", help="Of one file; by default its name less the extension.")] = "",
    source_uri: Annotated[
        str, typer.Option("--source-uri", metavar="URI", help="Of one file; by default file:// and its path.")
    ] = "",
    tags: Annotated[str, typer.Option("--tags", metavar="TAG,…", help="Tags, joined by commas.")] = "",
    file_format: Annotated[str, typer.Option("--format", metavar="ID", help="Format, where bytes and name do not say it.")] = "",
    encoding: Annotated[str, typer.Option("--encoding", metavar="NAME", help="Encoding of text, where it is not found out.")] = "",
    sql_dialect: Annotated[str, typer.Option("--sql-dialect", metavar="NAME", help="Such as postgres; found out by default.")] = "",
    allow_partial: Annotated[bool, typer.Option("--allow-partial", help="Publish what could be read of a file.")] = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, max=MOST_AT_ONCE, metavar="N", help="Files at once.")] = AT_ONCE,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Queue the jobs and print their ids.")] = False,
    timeout_s: Annotated[float, typer.Option("--timeout", min=0, metavar="SECONDS", help="Wait for each.")] = INGEST_TIMEOUT_S,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be ingested.")] = False,
    namespace: Namespace = "",
    server: Server = KNOWLEDGE_ADDRESS,
    token: Token = None,
    ca_file: CaFile = None,
    as_json: AsJson = False,
) -> None:
    """Ingest files into searchable documents and typed datasets.

    A file that fails does not keep the others from being ingested; the exit code is then 1.
    """
    wishes = Wishes(
        title=title,
        tags=tuple(tag.strip() for tag in tags.split(",") if tag.strip()),
        options=IngestOptions(format=file_format, encoding=encoding, sql_dialect=sql_dialect),
        allow_partial=allow_partial,
        wait=not no_wait,
        timeout_s=timeout_s,
        at_once=jobs,
    )
    with open_client(server, token, namespace=namespace, ca_file=ca_file) as client:
        sources, skipped = find_sources(paths, client.formats)
        sources = _named(sources, title=title, source_uri=source_uri)
        if dry_run:
            _print_plan(sources, skipped, wishes, as_json=as_json)
            return
        outcomes = ingest_all(client, sources, wishes, quiet=as_json)
    if as_json:
        print_json({"ingested": [_document(outcome) for outcome in outcomes], "skipped": skipped})
    else:
        print_summary(outcomes, skipped)
    if any(outcome.failed for outcome in outcomes):
        raise typer.Exit(1)


def _named(sources: Sequence[Source], *, title: str, source_uri: str) -> list[Source]:
    if (title or source_uri) and len(sources) != 1:
        raise UsageFault(f"--title and --source-uri are of one file, and {len(sources)} are named")
    return [replace(source, source_uri=source_uri or source.source_uri) for source in sources]


def ingest_all(client: KnowledgeClient, sources: Sequence[Source], wishes: Wishes, *, quiet: bool) -> list[Outcome]:
    """Ingests several sources at once, with a bar for each on a terminal; the outcomes stand in the order asked."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(bar_width=30), TextColumn("{task.fields[standing]}"))
    err = error_console()
    with Bars(*columns, console=err, disable=quiet or not err.is_terminal, transient=True) as bars:
        whole = bars.add_task("files", total=len(sources), standing=f"0 of {len(sources)}")

        def run(source: Source) -> Outcome:
            task = bars.add_task(one_line(source.filename, 40), total=1, standing="reading")
            outcome = ingest_one(client, source, wishes, _reporter(bars, task))
            bars.remove_task(task)
            bars.advance(whole)
            bars.update(whole, standing=f"{bars.tasks[0].completed:.0f} of {len(sources)}")
            return outcome

        try:
            return in_threads(run, sources, at_once=wishes.at_once)
        except KeyboardInterrupt:
            client.close()
            raise


def in_threads(work: Callable[[Source], Outcome], sources: Sequence[Source], *, at_once: int) -> list[Outcome]:
    """Works on sources in threads that end with the process, so that an interrupt waits for none.

    Raises:
        RuntimeError: the work raised; its thread told why.
    """
    waiting: SimpleQueue[tuple[int, Source]] = SimpleQueue()
    done: SimpleQueue[tuple[int, Outcome | None]] = SimpleQueue()
    for numbered in enumerate(sources):
        waiting.put(numbered)

    def serve() -> None:
        with suppress(Empty):
            while True:
                place, source = waiting.get_nowait()
                outcome: Outcome | None = None
                try:
                    outcome = work(source)
                finally:
                    done.put((place, outcome))

    for _ in range(min(at_once, len(sources))):
        threading.Thread(target=serve, name="ingest", daemon=True).start()
    outcomes: dict[int, Outcome] = {}
    while len(outcomes) < len(sources):
        place, found = done.get()
        if found is None:
            raise RuntimeError(f"{sources[place].filename}: its ingest ended without an outcome")
        outcomes[place] = found
    return [outcomes[place] for place in range(len(sources))]


def ingest_one(client: KnowledgeClient, source: Source, wishes: Wishes, report: Report) -> Outcome:
    """Uploads, queues and, where wished, waits; what goes wrong is the outcome."""
    try:
        stored = _upload(client, source, report)
        job = client.ingest(
            stored.upload_id,
            source_uri=source.source_uri,
            title=wishes.title or source.title,
            tags=wishes.tags,
            options=wishes.options,
            allow_partial=wishes.allow_partial,
        )
        if wishes.wait:
            job = client.wait_for_ingest(job.ingestion_id, timeout_s=wishes.timeout_s, on_progress=report)
    except (LoomError, IngestTimeout, CommandFault, OSError) as error:
        return Outcome(source, error=error)
    return Outcome(source, ingestion=job)


def _upload(client: KnowledgeClient, source: Source, report: Report) -> UploadedFile:
    if source.path is not None:
        return client.upload(source.path, on_progress=report)
    page = fetch_page(source.source_uri)
    return client.upload(page.content, page.filename, content_type=page.content_type, on_progress=report)


def _reporter(bars: Bars, task: TaskID) -> Report:
    def report(progress: Progress) -> None:
        known = progress.total > 0
        standing = f"{progress.stage} {progress.done} of {progress.total} {progress.unit}s" if known else progress.stage
        bars.update(task, completed=progress.done if known else 0, total=progress.total or 1, standing=standing)

    return report


def _print_plan(sources: Sequence[Source], skipped: Sequence[Skipped], wishes: Wishes, *, as_json: bool) -> None:
    planned = [
        {
            "source_uri": source.source_uri,
            "title": wishes.title or source.title,
            "filename": source.filename,
            "size_bytes": source.path.stat().st_size if source.path else None,
        }
        for source in sources
    ]
    if as_json:
        print_json({"would_ingest": planned, "skipped": skipped})
        return
    out = console()
    for item in planned:
        size = f"{item['size_bytes']} bytes" if item["size_bytes"] is not None else "to be fetched"
        out.print(styled(f"would ingest {item['source_uri']} as {item['title']!r} ({size})"), soft_wrap=True)
    _print_skipped(skipped)


def print_summary(outcomes: Sequence[Outcome], skipped: Sequence[Skipped] = ()) -> None:
    """Prints a row a source, with the ids of jobs that published nothing (yet), then warnings and errors in full."""
    table = Table("file", "state", box=None, pad_edge=False, header_style="bold")
    for name in ("rev.", "chunks", "datasets"):
        table.add_column(name, justify="right")
    table.add_column("format")
    named = any(outcome.ingestion and not outcome.ingestion.published for outcome in outcomes)
    if named:
        table.add_column("job", no_wrap=True, overflow="fold", min_width=32)
    for outcome in outcomes:
        table.add_row(styled(outcome.source.filename), *_cells(outcome)[: 6 if named else 5])
    if outcomes:
        print_table(table)
    for outcome in outcomes:
        _print_notes(outcome)
    _print_skipped(skipped)


def _cells(outcome: Outcome) -> tuple[str, ...]:
    job = outcome.ingestion
    if job is None:
        return ("still running" if isinstance(outcome.error, IngestTimeout) else "not ingested", "", "", "", "", "")
    done = (str(job.revision), str(job.chunks), str(job.datasets)) if job.published else ("", "", "")
    return (job.state, *done, job.format, job.ingestion_id)


def _print_notes(outcome: Outcome) -> None:
    out, name, job = console(), outcome.source.filename, outcome.ingestion
    if outcome.error is not None:
        out.print(styled(f"{name}: {outcome.error}", "red"), soft_wrap=True)
    if job is None:
        return
    if job.error_code:
        finer = f" ({job.error_reason})" if job.error_reason else ""
        out.print(styled(f"{name}: {job.error_code}{finer}: {job.error_message}", "red"), soft_wrap=True)
    for warning in job.warnings:
        out.print(styled(f"{name}: warning {warning.code}: {warning.message}", "yellow"), soft_wrap=True)
    if job.published and job.coverage and not job.coverage.complete:
        lacking = f"{job.coverage.extracted} of {job.coverage.total} {job.coverage.unit}s read"
        out.print(styled(f"{name}: {lacking}; {', '.join(job.coverage.lost) or 'see the coverage in --json'}", "yellow"))


def _print_skipped(skipped: Sequence[Skipped]) -> None:
    for item in skipped:
        console().print(styled(f"skipped {item.path}: {item.reason}"), soft_wrap=True)


def _document(outcome: Outcome) -> dict[str, object]:
    return {
        "source_uri": outcome.source.source_uri,
        "filename": safe(outcome.source.filename),
        "ingestion": outcome.ingestion,
        "error": described(outcome.error) if outcome.error else None,
    }
