"""`loom search`."""

from __future__ import annotations

import textwrap
from enum import StrEnum
from typing import Annotated

import typer

from clients.cli.options import AsJson, CaFile, Namespace, Server, Token
from clients.cli.output import console, one_line, print_json, reports_errors, styled
from clients.cli.settings import open_client
from clients.endpoint import KNOWLEDGE_ADDRESS
from clients.results.search import Hit, SearchResult


class Mode(StrEnum):
    """Which legs run."""

    HYBRID = "hybrid"
    SEMANTIC = "semantic"
    LEXICAL = "lexical"


@reports_errors
def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The question, in plain words.")],
    *,
    top_k: Annotated[int, typer.Option("--top-k", "-k", min=1, max=100, metavar="N", help="How many hits.")] = 5,
    mode: Annotated[Mode, typer.Option("--mode", help="By meaning and by words, or by one of them.")] = Mode.HYBRID,
    prefix: Annotated[
        list[str] | None, typer.Option("--prefix", metavar="URI", help="Only below this prefix; may be repeated.")
    ] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="Only with any of these tags.")] = None,
    namespace: Namespace = "",
    server: Server = KNOWLEDGE_ADDRESS,
    token: Token = None,
    ca_file: CaFile = None,
    as_json: AsJson = False,
) -> None:
    """Find passages, best first, each with its section and its place in the source."""
    with open_client(server, token, namespace=namespace, ca_file=ca_file) as client:
        found = client.search(query, top_k=top_k, mode=mode, uri_prefixes=prefix or (), tags=tag or ())
    if as_json:
        print_json(found)
        return
    print_hits(found)


def print_hits(found: SearchResult) -> None:
    """Prints hits for a reader: rank, section, source and place, then the start of the passage."""
    out = console()
    if not found.hits:
        out.print("nothing found")
    for rank, hit in enumerate(found.hits, start=1):
        out.print(styled(f"{rank:>2}  {hit.section or hit.title or '(no section)'}", "bold"))
        out.print(styled(f"    {hit.source_uri}  {_about(hit)}", "dim"), soft_wrap=True)
        for line in textwrap.wrap(one_line(hit.content, 300), width=max(out.width - 4, 20), break_on_hyphens=False):
            out.print(styled(f"    {line}"))
        out.print()
    if found.degraded_legs:
        out.print(f"not searched now: {', '.join(found.degraded_legs)}")


def _about(hit: Hit) -> str:
    parts = [hit.place, hit.block_type, f"revision {hit.revision}", f"score {hit.score:.4f}"]
    if hit.similarity is not None:
        parts.append(f"similarity {hit.similarity:.2f}")
    if hit.keys_matched:
        parts.append(f"exact {', '.join(hit.keys_matched)}")
    if hit.siblings_folded:
        parts.append(f"{hit.siblings_folded} more of this section")
    return " · ".join(part for part in parts if part)
