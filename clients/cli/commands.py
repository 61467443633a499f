"""Which commands there are, and what each is called."""

from __future__ import annotations

from importlib import metadata
from typing import Annotated

import typer

from clients.cli import approvals, documents, ingest, maintain, query, receipts, search, serve, status

app = typer.Typer(
    name="loom",
    help="Files in; documents found by meaning, by words and by key, and exact answers over their tables out.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command("serve")(serve.serve)
app.command("extract")(serve.extract)
app.command("ingest")(ingest.ingest)
app.command("search")(search.search)
app.command("outline")(documents.outline)
app.command("get")(documents.get)
app.command("list")(documents.list_documents)
app.command("delete")(documents.delete)
app.command("datasets")(query.datasets)
app.command("query")(query.query)
app.command("approve")(approvals.approve)
app.command("verify")(receipts.verify)
app.command("trace")(receipts.trace)
app.command("status")(status.status)
app.command("rechunk")(maintain.rechunk)
app.command("reembed")(maintain.reembed)
app.command("rebuild-index")(maintain.rebuild_index)


@app.callback(invoke_without_command=True)
def _root(*, version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False) -> None:
    if version:
        typer.echo(f"loom {metadata.version('loom-knowledge')}")
        raise typer.Exit
