"""`loom outline`, `loom get`, `loom list` and `loom delete`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.table import Table

from clients.cli.options import AsJson, CaFile, Namespace, Server, SourceUri, Token
from clients.cli.output import console, one_line, print_json, print_table, reports_errors, safe, styled
from clients.cli.settings import open_client, source_uri_of
from clients.endpoint import KNOWLEDGE_ADDRESS


@reports_errors
def outline(
    uri: SourceUri,
    *,
    section: Annotated[
        list[str] | None, typer.Option("--section", metavar="HEADING", help="Print this section's text; repeat to go inward.")
    ] = None,
    children: Annotated[bool, typer.Option("--children", help="With --section: also the text of its subsections.")] = False,
    revision: Annotated[
        int | None, typer.Option("--revision", metavar="N", help="A kept revision; by default the live one.")
    ] = None,
    namespace: Namespace = "",
    server: Server = KNOWLEDGE_ADDRESS,
    token: Token = None,
    ca_file: CaFile = None,
    as_json: AsJson = False,
) -> None:
    """Show the sections of a document, or the text of one."""
    with open_client(server, token, namespace=namespace, ca_file=ca_file) as client:
        found = client.outline(source_uri_of(uri), section_path=section or (), include_children=children, revision=revision)
    if as_json:
        print_json(found)
        return
    if found.section_content is not None:
        sys.stdout.write(safe(found.section_content) + "\n")
        return
    if not found.structured:
        console().print("no headings: the document is one section")
    for item in found.sections:
        title = item.title or "(before the first heading)"
        noise = "  [noise]" if item.noise else ""
        chunks = f"{len(item.chunk_indexes)} chunk{'' if len(item.chunk_indexes) == 1 else 's'}"
        console().print(styled(f"{'  ' * max(item.depth - 1, 0)}{title}  ({item.characters} characters, {chunks}){noise}"))


@reports_errors
def get(
    uri: SourceUri,
    *,
    revision: Annotated[
        int | None, typer.Option("--revision", metavar="N", help="A kept revision; by default the live one.")
    ] = None,
    superseded: Annotated[bool, typer.Option("--superseded", help="Also a deleted or replaced version.")] = False,
    namespace: Namespace = "",
    server: Server = KNOWLEDGE_ADDRESS,
    token: Token = None,
    ca_file: CaFile = None,
    as_json: AsJson = False,
) -> None:
    """Print a document's whole text; with --json also all that is known of it."""
    with open_client(server, token, namespace=namespace, ca_file=ca_file) as client:
        document = client.get(source_uri_of(uri), revision=revision, include_superseded=superseded)
    if as_json:
        print_json(document)
        return
    sys.stdout.write(safe(document.content) + "\n")


@reports_errors
def list_documents(
    *,
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
    """List the documents of a namespace."""
    with open_client(server, token, namespace=namespace, ca_file=ca_file) as client:
        documents = list(client.list(uri_prefixes=prefix or (), tags=tag or ()))
    if as_json:
        print_json({"documents": documents})
        return
    if not documents:
        console().print("no documents")
        return
    table = Table("source_uri", "title", "rev.", "format", "chunks", "ingested", box=None, pad_edge=False, header_style="bold")
    for column in (2, 4):
        table.columns[column].justify = "right"
    for document in documents:
        table.add_row(
            styled(document.source_uri),
            styled(one_line(document.title, 60)),
            str(document.revision),
            document.format or "text",
            str(document.chunk_count),
            f"{document.ingested_at:%Y-%m-%d %H:%M}" if document.ingested_at else "",
        )
    print_table(table)


@reports_errors
def delete(
    uri: SourceUri,
    *,
    expected_revision: Annotated[int | None, typer.Option("--expected-revision", metavar="N", help="Only this revision.")] = None,
    namespace: Namespace = "",
    server: Server = KNOWLEDGE_ADDRESS,
    token: Token = None,
    ca_file: CaFile = None,
    as_json: AsJson = False,
) -> None:
    """Retire a document; its history stays."""
    source_uri = source_uri_of(uri)
    with open_client(server, token, namespace=namespace, ca_file=ca_file) as client:
        deleted = client.delete(source_uri, expected_revision=expected_revision)
    if as_json:
        print_json(deleted)
        return
    console().print(styled(f"deleted {source_uri} at revision {deleted.revision}, {deleted.chunks_retired} chunks retired"))
