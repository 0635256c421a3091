"""A database for every module of laws; each of its examples uses threads of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.property.rig import Rig
from tests.servers import Databases


@pytest.fixture(scope="module")
def module_database(databases: Databases, template: str) -> Iterator[str]:
    url = databases.create(template)
    yield url
    databases.drop(url)


@pytest.fixture(scope="module")
def rig(module_database: str) -> Iterator[Rig]:
    with Rig(module_database).started() as running:
        yield running
