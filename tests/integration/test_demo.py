"""The demo, as `make demo` runs it: twice over the same folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT


def test_the_demo_shows_everything_and_works_twice(tmp_path: Path) -> None:
    for revision in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-m", "clients.demo", "--data-dir", str(tmp_path / "demo")],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        for name in ("field-report.pdf", "orders.xlsx", "runbook.md"):
            assert [line.split()[1:3] for line in done.stdout.splitlines() if line.startswith(name)] == [["ready", revision]]
        for words in ("page 2", "sheet Orders, rows 1-11", "lines 12-", "Connection pool exhausted", "3275.87", "it agrees"):
            assert words in done.stdout


def test_the_demo_says_what_does_not_start(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "clients.demo", "--data-dir", str(tmp_path / "demo"), "--extractor-listen", "nowhere"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "demo: the extractor did not start: it ended with exit code 2" in done.stderr
    assert "nowhere" in done.stderr
