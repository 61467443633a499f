"""`loom status`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Final

import typer

from clients.cli.options import AsJson, CaFile, Namespace, Server, Token
from clients.cli.output import console, print_json, reports_errors, styled
from clients.cli.settings import open_client, open_extractor
from clients.endpoint import EXTRACTOR_ADDRESS, KNOWLEDGE_ADDRESS
from clients.errors import LoomError
from clients.extractor import ExtractorClient
from clients.knowledge import KnowledgeClient
from clients.results.capabilities import Capabilities
from clients.results.ingest import Formats

NEWEST: Final = 500
"""Jobs that are counted: one page."""


@dataclass(frozen=True, slots=True)
class KnowledgeStatus:
    """What a knowledge service says of itself; `jobs` counts the newest 500 by state, empty where they may not be seen."""

    address: str
    health: str
    formats: Formats | None
    jobs: dict[str, int]
    problem: str


@dataclass(frozen=True, slots=True)
class ExtractorStatus:
    """What an extractor says of itself."""

    address: str
    health: str
    capabilities: Capabilities | None
    problem: str


@reports_errors
def status(
    *,
    extractor: Annotated[
        str,
        typer.Option(
            "--extractor", envvar="LOOM_EXTRACTOR_URL", metavar="HOST:PORT", help="Extractor.", rich_help_panel="Connection"
        ),
    ] = EXTRACTOR_ADDRESS,
    namespace: Namespace = "",
    server: Server = KNOWLEDGE_ADDRESS,
    token: Token = None,
    ca_file: CaFile = None,
    as_json: AsJson = False,
) -> None:
    """Show whether both services serve, what they read, and how the jobs stand. Exit code 1 unless the knowledge service serves."""
    with open_client(server, token, namespace=namespace, ca_file=ca_file) as client:
        knowledge = ask_knowledge(client, server)
    with open_extractor(extractor) as reader:
        extraction = ask_extractor(reader, extractor)
    if as_json:
        print_json({"knowledge": knowledge, "extractor": extraction})
    else:
        _print(knowledge, extraction)
    if knowledge.health != "serving":
        raise typer.Exit(1)


def ask_knowledge(client: KnowledgeClient, address: str) -> KnowledgeStatus:
    """Asks for health, formats and jobs; what fails is told in `problem`."""
    health = "unreachable"
    try:
        health = client.health()
        formats = client.formats()
        jobs = Counter(job.state for job in islice(client.list_ingestions(page_size=NEWEST), NEWEST))
    except LoomError as error:
        return KnowledgeStatus(address, health, None, {}, str(error))
    return KnowledgeStatus(address, health, formats, dict(jobs), "")


def ask_extractor(client: ExtractorClient, address: str) -> ExtractorStatus:
    """Asks for health and capabilities; what fails is told in `problem`."""
    health = "unreachable"
    try:
        health = client.health()
        return ExtractorStatus(address, health, client.capabilities(), "")
    except LoomError as error:
        return ExtractorStatus(address, health, None, str(error))


def _print(knowledge: KnowledgeStatus, extraction: ExtractorStatus) -> None:
    out = console()
    out.print(styled(f"knowledge service  {knowledge.address}  {knowledge.health}", "bold"))
    if knowledge.problem:
        out.print(styled(f"  {knowledge.problem}"), soft_wrap=True)
    if knowledge.formats:
        for item in knowledge.formats.formats:
            known = {True: "available", False: "not available", None: "unknown while no extractor answers"}[item.available]
            out.print(styled(f"  {item.id}  {' '.join(item.extensions)}  {known}"))
        counts = ", ".join(f"{count} {state}" for state, count in sorted(knowledge.jobs.items()))
        out.print(f"  jobs (newest {NEWEST}): {counts or 'none'}")
    out.print(styled(f"extractor  {extraction.address}  {extraction.health}", "bold"))
    if extraction.problem:
        out.print(styled(f"  {extraction.problem}"), soft_wrap=True)
    if extraction.capabilities:
        found = extraction.capabilities
        out.print(f"  version {found.version}, {found.workers} workers, files up to {found.max_bytes} bytes")
        for reader in found.formats:
            out.print(styled(f"  {reader.id}  {reader.parser}  {', '.join(reader.abilities)}"))
        on = [protection.name for protection in found.protections if protection.on]
        off = [f"{protection.name} ({protection.detail})" for protection in found.protections if not protection.on]
        out.print(styled(f"  protections on: {', '.join(on) or 'none'}; off: {', '.join(off) or 'none'}"), soft_wrap=True)
