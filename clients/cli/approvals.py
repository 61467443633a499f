"""`loom approve`: settles what a dataset's schema left open."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from clients.cli.options import AsJson, CaFile, Namespace, Server, Token
from clients.cli.output import UsageFault, console, print_json, reports_errors, styled
from clients.cli.query import print_dataset
from clients.cli.settings import open_client, source_uri_of
from clients.endpoint import KNOWLEDGE_ADDRESS
from clients.query_text import choose_dataset, split_source

COLUMN_TYPES: Final = ("string", "number", "bool", "date", "datetime", "time", "duration")


@reports_errors
def approve(
    source: Annotated[str, typer.Argument(metavar="URI[#ID]", help="Dataset: source_uri or path, and its id.")],
    *,
    types: Annotated[
        list[str] | None,
        typer.Option("--type", metavar="COLUMN=TYPE", help="Read a column as another type: amount=number."),
    ] = None,
    snapshot: Annotated[
        str, typer.Option("--snapshot", metavar="ID", help="The snapshot that was reviewed; by default the one that serves.")
    ] = "",
    namespace: Namespace = "",
    server: Server = KNOWLEDGE_ADDRESS,
    token: Token = None,
    ca_file: CaFile = None,
    as_json: AsJson = False,
) -> None:
    """Approve a dataset's schema, so that questions of it are answered; rows that do not fit a new type are set aside."""
    columns = dict(_named_type(text) for text in types or ())
    uri, dataset_id = split_source(source)
    with open_client(server, token, namespace=namespace, ca_file=ca_file) as client:
        source_uri = source_uri_of(uri)
        live = choose_dataset(client.datasets(source_uri, dataset_id=dataset_id), source_uri)
        done = client.approve(live.source_uri, live.dataset_id, snapshot_id=snapshot or live.snapshot_id, columns=columns)
    if as_json:
        print_json(done)
        return
    print_dataset(done.dataset)
    console().print(styled("  approved, and read anew" if done.retyped else "  approved", "green"))


def _named_type(text: str) -> tuple[str, str]:
    column, equals, kind = text.rpartition("=")
    if not (column and equals and kind):
        raise UsageFault(f"--type {text}: write it as COLUMN=TYPE, such as amount=number")
    if kind not in COLUMN_TYPES:
        raise UsageFault(f"--type {text}: {kind!r} is no type; there are {', '.join(COLUMN_TYPES)}")
    return column, kind
