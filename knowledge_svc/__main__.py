"""`python -m knowledge_svc`: serves, or does the maintenance that its first word names."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence

from knowledge_svc.app import Knowledge, Storehouse
from knowledge_svc.config import COMMAND, KnowledgeConfig, read_config
from knowledge_svc.maintenance import maintenance
from services.errors import LoomError
from services.logs import configure_logs
from services.server import check_exposure, serve_until_stopped
from services.settings import SettingsFault, exit_with


async def _serve(config: KnowledgeConfig, house: Storehouse) -> None:
    service = Knowledge(config, house)
    await serve_until_stopped(service.server, name="loom-knowledge", on_start=service.on_start, on_stop=service.on_stop)


def main(argv: Sequence[str]) -> int:
    """Runs the command; returns its exit status: 0, 1 where it cannot run, 2 where the settings do not hold."""
    maintain, flags = maintenance(argv)
    try:
        config = read_config(flags, os.environ)
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
            maintain(house, config)
        finally:
            house.close()
    except LoomError as error:
        print(f"{COMMAND.program}: {error.message} [{error.code_reason}]", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
