from __future__ import annotations

from collections.abc import Iterator

import pytest

from clients import KnowledgeClient
from tests.unit.clients.fakes import Fake, serving


@pytest.fixture
def fake() -> Iterator[Fake]:
    with serving(Fake()) as served:
        yield served


@pytest.fixture
def client(fake: Fake) -> Iterator[KnowledgeClient]:
    with KnowledgeClient(fake.address) as opened:
        yield opened
