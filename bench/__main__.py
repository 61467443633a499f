"""`python -m bench [NAME ...]`: prints a table of what the named harnesses measure; of all where none is named."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterable

from bench import extraction, ingest, ocr, plans, rivals, search
from bench.timing import HEAD, Line, row

REPORTS = {"ocr": ocr.run, "rivals": rivals.run}
HARNESSES: dict[str, Callable[[], Iterable[Line]]] = {
    "search": search.run,
    "ingest": ingest.run,
    "plans": plans.run,
    "extraction": extraction.run,
}


def main(names: list[str]) -> int:
    """Runs the named harnesses and prints their lines."""
    unknown = [name for name in names if name not in HARNESSES and name not in REPORTS]
    if unknown:
        print(f"no harness {', '.join(unknown)}; there are {', '.join([*HARNESSES, *REPORTS])}", file=sys.stderr)
        return 2
    chosen = names or [*HARNESSES, *REPORTS]
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.machine()}\n")
    if any(name in HARNESSES for name in chosen):
        print(HEAD, flush=True)
    for name in chosen:
        for line in HARNESSES[name]() if name in HARNESSES else ():
            print(row(line), flush=True)
    for name in chosen:
        if name in REPORTS:
            print(f"\n{REPORTS[name]()}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
