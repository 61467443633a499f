"""`python -m bench [search] [ingest] [plans]`: prints a table of what was measured; all of it where nothing is named."""

from __future__ import annotations

import os
import platform
import sys

from bench import ingest, plans, search
from bench.timing import table

HARNESSES = {"search": search.run, "ingest": ingest.run, "plans": plans.run}


def main(names: list[str]) -> int:
    """Runs the named harnesses and prints their lines."""
    unknown = [name for name in names if name not in HARNESSES]
    if unknown:
        print(f"no harness {', '.join(unknown)}; there are {', '.join(HARNESSES)}", file=sys.stderr)
        return 2
    lines = [line for name in names or HARNESSES for line in HARNESSES[name]()]
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.machine()}\n")
    print(table(lines))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
