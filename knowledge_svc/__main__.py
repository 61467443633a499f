"""`python -m knowledge_svc`: serves; `rebuild-index` makes the search indexes anew, `reembed` all vectors with another model."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from typing import Final

from knowledge_svc.app import Knowledge, Storehouse
from knowledge_svc.config import COMMAND, KnowledgeConfig, read_config
from knowledge_svc.domain.reembedding import reembed
from knowledge_svc.storage.fresh_vectors import RecordFreshVectors
from services.errors import LoomError
from services.logs import configure_logs
from services.server import check_exposure, serve_until_stopped
from services.settings import SettingsFault, exit_with


async def _serve(config: KnowledgeConfig, house: Storehouse) -> None:
    service = Knowledge(config, house)
    await serve_until_stopped(service.server, name="loom-knowledge", on_start=service.on_start, on_stop=service.on_stop)


def _rebuild(house: Storehouse) -> None:
    """Makes every namespace's indexes anew and says how many chunks each holds."""
    for scope in house.store.scopes():
        print(f"{scope.org}/{scope.namespace}: {house.indexes.rebuild(scope)} chunks indexed", flush=True)


def _reembed(house: Storehouse) -> None:
    """Embeds everything anew with the configured model, then makes the indexes anew; says how far it is."""
    stored, model = house.store.embedding_model(), house.embedder.model
    if stored in ("", model):
        print(f"every vector is of {model} already", flush=True)
        return
    print(f"from {stored} to {model}", flush=True)
    fresh = RecordFreshVectors(house.record)
    reembed(fresh, house.embedder, progress=lambda done, total: print(f"{done} of {total} texts embedded", flush=True))
    _rebuild(house)


MAINTENANCE: Final[dict[str, Callable[[Storehouse], None]]] = {"rebuild-index": _rebuild, "reembed": _reembed}
"""Commands that run on the data folder while no service does."""


def main(argv: Sequence[str]) -> int:
    """Runs the command; returns its exit status: 0, 1 where it cannot run, 2 where the settings do not hold."""
    maintain = MAINTENANCE.get(argv[0]) if argv else None
    try:
        config = read_config(argv[1:] if maintain else argv, os.environ)
    except SettingsFault as fault:
        exit_with(fault, COMMAND.program)
    configure_logs(log_format=config.server.log_format, level=config.server.log_level, service="knowledge")
    try:
        check_exposure(config.server)
        house = Storehouse(config)
        if maintain is None:
            asyncio.run(_serve(config, house))
            return 0
        try:
            maintain(house)
        finally:
            house.close()
    except LoomError as error:
        print(f"{COMMAND.program}: {error.message} [{error.code_reason}]", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
