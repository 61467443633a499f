"""The shared corpus and its two scoring tools, where they are at hand."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

SHARED = Path(__file__).resolve().parents[1] / ".." / "shared"
CORPUS = SHARED / "corpus"


def files(folder: str, *suffixes: str) -> list[Path]:
    """The files of a folder of the corpus, sorted; none where the corpus is absent."""
    return sorted(path for path in (CORPUS / folder).rglob("*") if path.suffix.lower() in suffixes)


def tool(name: str) -> ModuleType:
    """`account` or `truth`, which count and score without any of Loom's code.

    Raises:
        FileNotFoundError: the shared folder is absent.
    """
    path = SHARED / "tools" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
