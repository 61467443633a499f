"""`loom reembed`, `rechunk` and `rebuild-index`: work on a data folder while no service runs on it, as a child of the command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from clients.cli.output import reports_errors

DataDir: TypeAlias = Annotated[
    Path, typer.Option("--data-dir", envvar="LOOM_DATA_DIR", metavar="DIR", help="Folder of everything that is kept.")
]
_DEFAULT = Path(".loom/data")


@reports_errors
def reembed(*, data_dir: DataDir = _DEFAULT) -> None:
    """Embed everything anew with the configured model; stop the service first.

    The model is the one inside, or LOOM_EMBEDDING_MODEL at LOOM_EMBEDDING_URL. What serves stays whole until all vectors are made;
    a run that was cut short goes on where it stopped.
    """
    _maintain("reembed", data_dir)


@reports_errors
def rechunk(
    *,
    data_dir: DataDir = _DEFAULT,
    org: Annotated[str, typer.Option("--org", metavar="NAME", help="Organisation.")] = "dev",
    namespace: Annotated[str, typer.Option("--namespace", "-n", metavar="NAME", help="Namespace.")] = "local",
    source_uri: Annotated[str, typer.Option("--source-uri", metavar="URI", help="One document; by default all.")] = "",
    apply: Annotated[bool, typer.Option("--apply", help="Write; without it only what would change is told.")] = False,
) -> None:
    """Cut documents anew with the configured chunk size, and embed what changed; stop the service first.

    Files are cut anew from their stored extractions; their datasets go on serving.
    """
    flags = ["--org", org, "--namespace", namespace, *(["--source-uri", source_uri] if source_uri else ())]
    _maintain("rechunk", data_dir, *flags, *(["--apply"] if apply else ()))


@reports_errors
def rebuild_index(*, data_dir: DataDir = _DEFAULT) -> None:
    """Make the search indexes anew from the record; stop the service first."""
    _maintain("rebuild-index", data_dir)


def _maintain(command: str, data_dir: Path, *flags: str) -> None:
    done = subprocess.run([sys.executable, "-m", "knowledge_svc", command, "--data-dir", str(data_dir), *flags], check=False)
    raise typer.Exit(done.returncode if done.returncode >= 0 else 128 - done.returncode)
