"""Writes the Python code of every proto beside it; `--check` compares instead and fails when something is stale."""

from __future__ import annotations

import argparse
import filecmp
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROTOS = ROOT / "protos"
SUFFIXES = ("_pb2.py", "_pb2.pyi", "_pb2_grpc.py")


def generate(target: Path) -> None:
    """Runs protoc over every proto of the project, writing below `target`."""
    sources = sorted(str(path.relative_to(PROTOS)) for path in PROTOS.rglob("*.proto"))
    options = [f"--{kind}={target}" for kind in ("python_out", "pyi_out", "grpc_python_out")]
    subprocess.run([sys.executable, "-m", "grpc_tools.protoc", f"-I{PROTOS}", *options, *sources], check=True)
    for folder in {path.parent for path in target.rglob("*_pb2.py")}:
        for stub in folder.glob("*_pb2_grpc.py"):
            if "Servicer" not in stub.read_text("utf-8"):
                stub.unlink()  # a proto without a service needs no stubs


def generated(folder: Path) -> set[Path]:
    """The generated files below a folder, relative to it."""
    return {path.relative_to(folder) for path in folder.rglob("*") if path.name.endswith(SUFFIXES)}


def stale() -> list[str]:
    """The generated files that differ from what the protos say now, are missing, or are left over."""
    with tempfile.TemporaryDirectory() as fresh_name:
        fresh = Path(fresh_name)
        generate(fresh)
        right, found = generated(fresh), generated(PROTOS)
        differing = {path for path in right & found if not filecmp.cmp(fresh / path, PROTOS / path, shallow=False)}
        return sorted(str(path) for path in (right ^ found) | differing)


def main() -> int:
    """Writes the generated files, or with `--check` names the stale ones and returns 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 when something is stale")
    if not parser.parse_args().check:
        for path in generated(PROTOS):
            (PROTOS / path).unlink()
        generate(PROTOS)
        return 0
    names = stale()
    for name in names:
        print(f"stale: protos/{name}; run make protos")
    return 1 if names else 0


if __name__ == "__main__":
    raise SystemExit(main())
