"""The extractor's command line: one file in, its artifact or one clear line out."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import openpyxl
import pytest

from extractor_svc.cli import extract_command, resolve_command
from extractor_svc.config import read_config
from services.settings import SettingsFault
from services.version import __version__

SHARED = Path(__file__).resolve().parents[2] / ".." / "shared"
MARKDOWN = "# Stock\n\nPens and ink, größer.\n"


def loom_extractor(*words: str | Path, environ: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "extractor_svc", *map(str, words)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=60,
        env={**os.environ, **(environ or {})},
    )


@dataclass(frozen=True)
class Said:
    """What a command came to: its exit status and what it wrote."""

    status: int
    out: str
    err: str


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """Runs a command in this process; its document is read in a child all the same."""

    def run(name: str, *words: str | Path, environ: dict[str, str] | None = None) -> Said:
        status = {"extract": extract_command, "resolve": resolve_command}[name](list(map(str, words)), environ or {})
        said = capsys.readouterr()
        return Said(status, said.out, said.err)

    return run


@pytest.fixture
def stock(tmp_path: Path) -> Path:
    path = tmp_path / "stock.md"
    path.write_text(MARKDOWN, "utf-8")
    return path


def test_a_file_comes_out_as_json_with_its_places(stock: Path) -> None:
    done = loom_extractor("extract", stock)
    assert (done.returncode, done.stderr) == (0, "")
    artifact = json.loads(done.stdout)
    assert artifact["format"] == "markdown"
    assert [(block["type"], block["text"]) for block in artifact["blocks"]] == [
        ("heading", "Stock"),
        ("paragraph", "Pens and ink, größer."),
    ]
    assert artifact["coverage"]["complete"] is True


@pytest.mark.parametrize(("written", "expected"), [("text", "Stock\n\nPens and ink, größer.\n"), ("markdown", MARKDOWN)])
def test_a_file_comes_out_as_text_or_markdown(
    stock: Path, tmp_path: Path, command: Callable[..., Said], written: str, expected: str
) -> None:
    assert command("extract", stock, "--format", written, "--output", tmp_path / "out") == Said(0, "", "")
    assert (tmp_path / "out").read_text("utf-8") == expected


def test_a_place_reads_back(stock: Path, command: Callable[..., Said]) -> None:
    assert command("resolve", stock, '{"lines":{"first":3,"last":3}}') == Said(0, "Pens and ink, größer.\n", "")


def test_a_workbook_is_read(tmp_path: Path, command: Callable[..., Said]) -> None:
    book = openpyxl.Workbook()
    book.active.append(["item", "price"])
    book.active.append(["pen", 1.5])
    book.save(tmp_path / "stock.xlsx")
    done = command("extract", tmp_path / "stock.xlsx")
    assert done.status == 0, done.err
    (dataset,) = json.loads(done.out)["datasets"]
    assert [column["name"] for column in dataset["schema"]] == ["item", "price"]


def test_a_pdf_of_the_corpus_is_read(command: Callable[..., Said]) -> None:
    found = sorted((SHARED / "corpus" / "pdf").glob("*/*.pdf"), key=lambda path: path.stat().st_size)
    if not found:
        pytest.skip("the shared corpus has no PDF here")
    done = command("extract", found[0])
    assert done.status == 0, done.err
    artifact = json.loads(done.out)
    assert artifact["format"] == "pdf"
    assert artifact["coverage"]["unit"] == "page"
    assert artifact["blocks"]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [("empty.md", b"", "EMPTY_DOCUMENT"), ("stock.pdf", b"\x89PNG\r\n\x1a\n" + bytes(90), "TYPE_MISMATCH")],
)
def test_a_refused_document_is_one_line_with_its_reason(
    tmp_path: Path, command: Callable[..., Said], name: str, content: bytes, reason: str
) -> None:
    (tmp_path / name).write_bytes(content)
    done = command("extract", tmp_path / name)
    assert (done.status, done.out) == (3, "")
    assert done.err.startswith("loom-extractor: ")
    assert done.err.endswith(f"[{reason}]\n")
    assert done.err.count("\n") == 1


def test_a_file_over_the_limit_is_refused(stock: Path, command: Callable[..., Said]) -> None:
    by_flag = command("extract", stock, "--max-file", "8")
    by_environment = command("extract", stock, environ={"LOOM_EXTRACTOR_MAX_FILE": "8"})
    assert (by_flag.status, by_flag.err.endswith("[DOCUMENT_TOO_LARGE]\n")) == (3, True)
    assert by_environment == by_flag


@pytest.mark.parametrize(("flag", "reason"), [("--max-text", "OUTPUT_LIMIT"), ("--max-rows", "TOO_MANY_ROWS")])
def test_text_and_rows_over_the_limit_are_refused(tmp_path: Path, command: Callable[..., Said], flag: str, reason: str) -> None:
    (tmp_path / "stock.csv").write_text("item,count\nnut,3\nbolt,4\n")
    assert command("extract", tmp_path / "stock.csv", flag, "200").status == 0
    refused = command("extract", tmp_path / "stock.csv", flag, "1")
    assert (refused.status, refused.err.endswith(f"[{reason}]\n")) == (3, True)


def test_a_place_the_file_does_not_have_is_refused(stock: Path, command: Callable[..., Said]) -> None:
    done = command("resolve", stock, '{"lines":{"first":90,"last":91}}')
    assert (done.status, done.out) == (3, "")
    assert done.err.endswith("[LOCATOR_NOT_FOUND]\n")


def test_what_is_missing_is_said_beside_the_text(tmp_path: Path, command: Callable[..., Said]) -> None:
    book = openpyxl.Workbook()
    book.active.append(["item", "price"])
    book.active.append(["pen", "=1+1"])
    book.save(tmp_path / "stock.xlsx")
    done = command("extract", tmp_path / "stock.xlsx", "--format", "text")
    assert done.status == 0
    assert done.err == "loom-extractor: incomplete: 1 of 1 by sheet read; without cached_values\n"


@pytest.mark.parametrize(
    "words",
    [
        ("absent.md",),
        ("{stock}", "--wat"),
        ("{stock}", "--mock-format"),
        ("{stock}", "--memory", "much"),
        ("{stock}", "--password-file", "absent"),
    ],
)
def test_a_faulty_command_line_is_status_2(stock: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]) -> None:
    assert extract_command([word.replace("{stock}", str(stock)) for word in words], {}) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("loom-extractor: ")
    assert said.err.count("\n") == 1


@pytest.mark.parametrize("place", ['{"lines":{"first":0,"last":3}}', '{"lines":{"first":"1","last":3}}', "line 3", "{}"])
def test_what_is_no_place_is_status_2(stock: Path, capsys: pytest.CaptureFixture[str], place: str) -> None:
    assert resolve_command([str(stock), place], {}) == 2
    assert "LOCATOR" in capsys.readouterr().err


@pytest.mark.parametrize("words", [(), ("{stock}", "--format", "xml")])
def test_missing_words_and_unknown_choices_show_the_usage(
    stock: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    with pytest.raises(SystemExit) as caught:
        extract_command([word.replace("{stock}", str(stock)) for word in words], {})
    assert caught.value.code == 2
    assert "usage: python -m extractor_svc extract" in capsys.readouterr().err


def test_every_faulty_setting_of_the_service_is_reported_at_once() -> None:
    with pytest.raises(SettingsFault) as caught:
        read_config(["--listen", "nowhere", "--mock-format", "--workers", "0"], {"LOOM_EXTRACTOR_SANDBOX": "maybe"})
    assert len(caught.value.faults) == 4


def test_settings_come_from_flags_then_environment_then_defaults() -> None:
    environ = {"LOOM_EXTRACTOR_MEMORY": "3GiB", "LOOM_EXTRACTOR_TIMEOUT": "10s", "LOOM_EXTRACTOR_SANDBOX": "required"}
    config = read_config(["--timeout", "20s", "--workers", "3"], environ)
    limits = config.pool.child.limits
    assert (limits.timeout_s, limits.memory_bytes, limits.max_bytes) == (20.0, 3 * 1024**3, 64 * 1024**2)
    assert (config.pool.workers, config.pool.child.sandbox.value, str(config.server.listen)) == (3, "required", "127.0.0.1:7778")
    assert config.pool.child.extra_arguments == ()


def test_help_and_version() -> None:
    assert loom_extractor("extract", "--version").stdout.split()[-1] == __version__
    shown = loom_extractor("--help")
    assert shown.returncode == 0
    assert "LOOM_EXTRACTOR_SANDBOX" in shown.stdout


def test_the_service_starts_says_where_and_stops_cleanly(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "extractor_svc", "--listen", "127.0.0.1:0", "--drain", "0s", "--log-format", "json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as service:
        assert service.stdout is not None
        assert service.stdout.readline().startswith("loom-extractor listening on 127.0.0.1:")
        service.send_signal(signal.SIGTERM)
        assert service.wait(15) == 0
        assert service.stderr is not None
        events = [json.loads(line)["event"] for line in service.stderr.read().splitlines()]
    assert events[0] == "serving"
    assert events[-1] == "stopped"


def test_an_open_address_without_credentials_is_refused() -> None:
    done = loom_extractor("--listen", "0.0.0.0:0")
    assert (done.returncode, done.stderr.endswith("[CANNOT_LISTEN]\n")) == (1, True)
