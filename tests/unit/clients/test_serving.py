from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from clients.serving import LocalServices, Places, ServingFault

ROOT = Path(__file__).resolve().parents[3]

LISTENS = """
import signal, sys, time
from pathlib import Path
def end(*_):
    with Path("ended.txt").open("a") as file:
        print(__package__, file=file)
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
signal.signal(signal.SIGINT, signal.SIG_IGN)
Path(f"{__package__}.txt").write_text(" ".join(sys.argv[1:]))
print("a line that says something else", flush=True)
print("loom listening on 127.0.0.1:" + ("4001" if __package__ == "extractor_svc" else "4002"), flush=True)
print("more output " * 10_000, flush=True)
while not Path(f"die-{__package__}").exists():
    time.sleep(0.02)
sys.exit(3)
"""
FAILS = "import sys; print('the port is taken', file=sys.stderr); sys.exit(1)"
STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('x listening on h:1', flush=True); time.sleep(60)"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder whose own extractor_svc and knowledge_svc stand before the real ones."""
    services(tmp_path, extractor=LISTENS, knowledge=LISTENS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def services(folder: Path, *, extractor: str, knowledge: str) -> None:
    for name, text in (("extractor_svc", extractor), ("knowledge_svc", knowledge)):
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "__init__.py").write_text("")
        (folder / name / "__main__.py").write_text(text)


def places(folder: Path) -> Places:
    return Places(folder / "data", "127.0.0.1:0", "127.0.0.1:0", log_dir=folder / "logs")


def test_both_are_started_and_the_knowledge_service_knows_the_extractor(folder: Path) -> None:
    with LocalServices(places(folder)) as running:
        assert (running.extractor_address, running.knowledge_address) == ("127.0.0.1:4001", "127.0.0.1:4002")
        assert running.ended() is None
    assert (folder / "extractor_svc.txt").read_text() == "--listen 127.0.0.1:0"
    knowledge = (folder / "knowledge_svc.txt").read_text()
    assert knowledge == f"--data-dir {folder}/data --listen 127.0.0.1:0 --extractor 127.0.0.1:4001"


def test_the_knowledge_service_is_stopped_before_its_extractor(folder: Path) -> None:
    with LocalServices(places(folder)):
        pass
    assert (folder / "ended.txt").read_text().split() == ["knowledge_svc", "extractor_svc"]


def test_one_that_does_not_start_is_told_with_its_last_words_and_the_other_is_stopped(folder: Path) -> None:
    services(folder, extractor=LISTENS, knowledge=FAILS)
    with pytest.raises(ServingFault, match=r"the knowledge service did not start: it ended with exit code 1\n  the port is taken"):
        LocalServices(places(folder)).start()
    assert (folder / "ended.txt").read_text().split() == ["extractor_svc"]


def test_one_that_ends_by_itself_is_noticed(folder: Path) -> None:
    with LocalServices(places(folder)) as running:
        (folder / "die-extractor_svc").touch()
        end = time.monotonic() + 10
        while running.ended() is None and time.monotonic() < end:
            time.sleep(0.02)
        ended = running.ended()
        assert ended is not None
        assert (ended.name, ended.ending()) == ("extractor", "ended with exit code 3")


def test_one_that_does_not_heed_is_ended(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    services(folder, extractor=STUBBORN, knowledge=LISTENS)
    monkeypatch.setattr("clients.serving.STOP_TIMEOUT_S", 0.3)
    started = time.monotonic()
    with LocalServices(places(folder)) as running:
        pass
    assert time.monotonic() - started < 20
    ended = running.ended()
    assert ended is not None


# the command


def serve(folder: Path) -> subprocess.Popen[str]:
    words = ["serve", "--data-dir", "data", "--listen", "127.0.0.1:0", "--extractor-listen", "127.0.0.1:0"]
    return subprocess.Popen(
        [sys.executable, "-c", "from clients.cli.main import main; main()", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{folder}:{ROOT}:{ROOT / 'protos'}"},
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(process: subprocess.Popen[str], text: str) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        if text in line:
            return
    raise AssertionError(f"the command ended before it said {text!r}")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_serve_says_how_to_reach_both_and_stops_both_at_a_signal(number: signal.Signals, folder: Path) -> None:
    with serve(folder) as process:
        wait_for(process, "loom serves: knowledge on 127.0.0.1:4002, extractor on 127.0.0.1:4001")
        process.send_signal(number)
        assert process.wait(20) == 0
    assert (folder / "ended.txt").read_text().split() == ["knowledge_svc", "extractor_svc"]


def test_serve_ends_with_exit_code_1_where_one_of_them_dies(folder: Path) -> None:
    with serve(folder) as process:
        wait_for(process, "loom serves")
        (folder / "die-knowledge_svc").touch()
        wait_for(process, "loom: the knowledge service ended with exit code 3; both are stopped")
        assert process.wait(20) == 1
    assert (folder / "ended.txt").read_text().split() == ["extractor_svc"]


def test_extract_hands_on_the_exit_code_and_the_streams_of_its_child(folder: Path) -> None:
    (folder / "extractor_svc" / "__main__.py").write_text(
        "import sys; print(sys.argv[1:]); print('a warning', file=sys.stderr); sys.exit(7)"
    )
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from clients.cli.main import main; main()",
            "extract",
            "a.pdf",
            "--format",
            "text",
            "--output",
            "b",
        ],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{folder}:{ROOT}:{ROOT / 'protos'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 7
    assert done.stdout == "['extract', 'a.pdf', '--format', 'text', '--output', 'b']\n"
    assert done.stderr == "a warning\n"
