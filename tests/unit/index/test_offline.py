"""The inference engine keeps to itself: nothing is written to its user's folder and nothing is reported."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LOAD = "from knowledge_svc.index.embedding import MiniLmEmbedder; MiniLmEmbedder().embed_query('word')"


def test_embedding_writes_nothing_to_the_users_folder(tmp_path):
    homes = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    environ = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"} | homes
    subprocess.run([sys.executable, "-B", "-c", LOAD], check=True, cwd=ROOT, env=environ, timeout=60)
    assert list(tmp_path.rglob("*")) == []
