from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dataset_fixtures import Tables


@pytest.fixture
def tables(tmp_path: Path) -> Iterator[Tables]:
    made = Tables(tmp_path / "snapshots")
    yield made
    made.engine.close()
