import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
CODE = ("artifact", "services", "knowledge_svc", "extractor_svc", "clients")


def run(*command: str) -> str:
    """Runs a tool of the environment; what it prints where it fails, else nothing."""
    done = subprocess.run([str(BIN / command[0]), *command[1:]], cwd=ROOT, capture_output=True, text=True, timeout=300)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_rooms_import_only_what_they_may():
    assert run("lint-imports") == ""


def test_generated_code_is_what_the_protos_say():
    assert run("python", "tools/protos.py", "--check") == ""


def test_protos_pass_the_lint():
    assert run("buf", "lint") == ""


def test_protos_break_nothing_that_was_released():
    assert run("buf", "breaking", "--against", "protos/released.binpb") == ""


def test_the_dockerfile_passes_the_lint():
    assert run("hadolint", "Dockerfile") == ""


def test_the_compose_file_fits_its_schema():
    assert run("check-jsonschema", "--builtin-schema", "vendor.compose-spec", "docker-compose.yml") == ""


def test_code_passes_the_lint_and_keeps_its_layout():
    assert run("ruff", "check", ".") == ""
    assert run("ruff", "format", "--check", ".") == ""


@pytest.mark.timeout(300)
def test_types_hold_strictly():
    assert run("mypy", ".") == ""


def test_locked_requirements_are_hashed_and_name_no_address():
    for path in sorted((ROOT / "requirements").glob("*.txt")):
        text = path.read_text("utf-8")
        assert "://" not in text, path.name
        pins = re.findall(r"^[a-z0-9][^\s=]*==\S+", text, re.MULTILINE)
        assert pins
        assert len(re.findall(r"--hash=sha256:", text)) >= len(pins)


def test_every_lock_pins_the_same_versions():
    """A package may have one pin for each Python version; the same one in every file."""
    pins: dict[tuple[str, str], set[str]] = {}
    for path in (ROOT / "requirements").glob("*.txt"):
        for name, version, marker in re.findall(
            r"^([a-z0-9][^\s=]*)==([^\s;]+)(?: ; (.*?))? \\$", path.read_text("utf-8"), re.MULTILINE
        ):
            pins.setdefault((name, marker), set()).add(version)
    differing = {key: versions for key, versions in pins.items() if len(versions) > 1}
    assert pins
    assert differing == {}


@pytest.mark.parametrize(
    ("service", "own", "other"),
    [
        ("extractor", {"pymupdf", "lxml", "rapidocr"}, {"duckdb", "faiss-cpu", "tantivy", "tokenizers", "typer"}),
        ("knowledge", {"duckdb", "faiss-cpu", "tantivy", "onnxruntime"}, {"pymupdf", "lxml", "selectolax", "rapidocr", "typer"}),
    ],
)
def test_each_image_installs_only_its_own(service, own, other):
    names = set(re.findall(r"^([a-z0-9][^\s=]*)==", (ROOT / "requirements" / f"{service}.txt").read_text("utf-8"), re.MULTILINE))
    assert own <= names
    assert not other & names
    assert f"requirements/{service}.txt" in (ROOT / "Dockerfile").read_text("utf-8")


def test_pymupdf_stays_in_the_pdf_module():
    """The one AGPL dependency must not be reachable from anywhere else."""
    users = [
        path.relative_to(ROOT)
        for room in CODE
        for path in (ROOT / room).rglob("*.py")
        if re.search(r"^\s*(import|from) (pymupdf|fitz)\b", path.read_text("utf-8"), re.MULTILINE)
    ]
    assert users
    assert all(str(path).startswith("extractor_svc/formats/pdf") for path in users), users


def test_each_package_says_what_lives_in_it():
    for room in CODE:
        for init in (ROOT / room).rglob("__init__.py"):
            assert init.read_text("utf-8").startswith('"""'), init.relative_to(ROOT)


def swallows(handler: ast.ExceptHandler) -> bool:
    """Whether a handler takes every exception and does not end by raising it on."""
    named = handler.type is None or (isinstance(handler.type, ast.Name) and handler.type.id in ("Exception", "BaseException"))
    return named and not isinstance(handler.body[-1], ast.Raise)


def test_a_broad_except_stands_only_in_the_interceptor_and_the_worker_loops():
    allowed = {"services/interceptor.py", "knowledge_svc/jobs/workers.py", "extractor_svc/worker.py"}
    found = {
        str(path.relative_to(ROOT))
        for room in CODE
        for path in (ROOT / room).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ExceptHandler) and swallows(node)
    }
    assert found <= allowed, found - allowed


def test_waits_use_a_timeout_that_cannot_lose_a_cancellation():
    """On Python 3.11 `asyncio.wait_for` returns a result that came together with a cancellation, and forgets the latter."""
    users = [
        str(path.relative_to(ROOT))
        for room in CODE
        for path in (ROOT / room).rglob("*.py")
        if "asyncio.wait_for(" in path.read_text("utf-8")
    ]
    assert users == []


def test_the_readme_lists_every_rpc_that_is_not_built():
    readme = (ROOT / "README.md").read_text("utf-8")
    listed = set(re.findall(r"`(\w+Service\.\w+)`", readme.partition("Not built yet")[2].partition("\n## ")[0]))
    assert listed == unbuilt()


def unbuilt() -> set[str]:
    """The methods that the servicers leave to the generated base, which answers UNIMPLEMENTED."""
    from loom.extractor.v1 import extractor_pb2, extractor_pb2_grpc
    from loom.knowledge.v1 import corpus_pb2, datasets_pb2, documents_pb2, ingest_pb2, records_pb2, search_pb2

    from extractor_svc.servicer import ExtractorServicer
    from knowledge_svc.api.datasets import DatasetServicer
    from knowledge_svc.api.documents import DocumentServicer
    from knowledge_svc.api.ingest import IngestServicer
    from knowledge_svc.api.search import SearchServicer

    assert extractor_pb2_grpc
    built = {
        "ExtractorService": (extractor_pb2, ExtractorServicer),
        "DocumentService": (documents_pb2, DocumentServicer),
        "SearchService": (search_pb2, SearchServicer),
        "IngestService": (ingest_pb2, IngestServicer),
        "DatasetService": (datasets_pb2, DatasetServicer),
        "CorpusService": (corpus_pb2, object),
        "RecordService": (records_pb2, object),
    }
    return {
        f"{name}.{method.name}"
        for name, (proto, servicer) in built.items()
        for method in proto.DESCRIPTOR.services_by_name[name].methods
        if method.name not in vars(servicer)
    }


@pytest.mark.skipif(shutil.which("git") is None, reason="git lists the files")
def test_no_module_grows_past_500_lines():
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    long = {
        name: count
        for name in listed
        if "_pb2" not in name and not name.startswith("tests/") and (ROOT / name).exists()
        if (count := len((ROOT / name).read_text("utf-8").splitlines())) > 500
    }
    assert long == {}
