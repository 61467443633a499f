"""`loom verify` and `loom trace`: from a receipt back to its result and to the source."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from loom.knowledge.v1 import datasets_pb2

from clients.cli.message_files import read_message
from clients.cli.options import AsJson, CaFile, Namespace, Server, Token
from clients.cli.output import CommandFault, console, jsonable, print_json, reports_errors, styled
from clients.cli.settings import open_client
from clients.endpoint import KNOWLEDGE_ADDRESS
from clients.places import describe
from clients.results.datasets import TracedRow

ReceiptFile = Annotated[Path, typer.Argument(metavar="FILE", help="Receipt as JSON, as `loom query --receipt FILE` writes it.")]


@reports_errors
def verify(
    file: ReceiptFile,
    *,
    namespace: Namespace = "",
    server: Server = KNOWLEDGE_ADDRESS,
    token: Token = None,
    ca_file: CaFile = None,
    as_json: AsJson = False,
) -> None:
    """Run a receipt's plan again on the receipt's snapshots and compare; exit code 1 where it does not agree."""
    receipt = read_message(file, datasets_pb2.Receipt(), what="receipt")
    with open_client(server, token, namespace=namespace, ca_file=ca_file) as client:
        found = client.verify(receipt)
    if as_json:
        print_json(found)
    elif found.agrees:
        console().print("the receipt agrees: the same plan over the same snapshots gives the same result")
    if not found.agrees:
        if as_json:
            raise typer.Exit(1)
        raise CommandFault(f"the receipt does not agree: {'; '.join(found.differences)}")


@reports_errors
def trace(
    file: ReceiptFile,
    *,
    row: Annotated[int, typer.Option("--row", min=0, metavar="N", help="Row of the result, from 0.")] = 0,
    limit: Annotated[int, typer.Option("--limit", min=1, metavar="N", help="At most N rows of the source.")] = 100,
    namespace: Namespace = "",
    server: Server = KNOWLEDGE_ADDRESS,
    token: Token = None,
    ca_file: CaFile = None,
    as_json: AsJson = False,
) -> None:
    """Show the source rows that a row of a result was made of, each with its place."""
    receipt = read_message(file, datasets_pb2.Receipt(), what="receipt")
    with open_client(server, token, namespace=namespace, ca_file=ca_file) as client:
        rows = list(islice(client.trace(receipt, row, page_size=min(limit, 1000)), limit))
    if as_json:
        print_json({"rows": rows})
        return
    print_trace(rows)


def print_trace(rows: list[TracedRow]) -> None:
    """Prints source rows with their places."""
    if not rows:
        console().print("no rows")
    for row in rows:
        values = " | ".join("–" if value is None else str(jsonable(value)) for value in row.values)
        console().print(styled(f"{describe(row.locator) or f'row {row.row_id}'}: {values}"), soft_wrap=True)
