"""The options that several commands share, each written once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

Server: TypeAlias = Annotated[
    str,
    typer.Option(
        "--server",
        "--base-url",
        envvar="LOOM_BASE_URL",
        metavar="HOST:PORT",
        help="Knowledge service; https://HOST:PORT for TLS.",
        rich_help_panel="Connection",
    ),
]
Token: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--token",
        metavar="TOKEN",
        help="Else LOOM_API_KEY, ~/.loom/config.json or ~/.loom/token.",
        rich_help_panel="Connection",
    ),
]
CaFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--ca-file",
        envvar="LOOM_CA_FILE",
        metavar="FILE",
        help="Certificate authority of the server, PEM.",
        rich_help_panel="Connection",
    ),
]
Namespace: TypeAlias = Annotated[
    str, typer.Option("--namespace", "-n", metavar="NAME", help="Namespace; by default the server's.", rich_help_panel="Connection")
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
SourceUri: TypeAlias = Annotated[str, typer.Argument(metavar="URI", help="source_uri of the document, or a path of a local file.")]
