"""Tests of ``make test-clients`` that are in Python: they need the programs that ``run`` installs.

``run`` names PgBouncer in ``PGBOUNCER``; ``make test`` leaves out what needs it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.pgbouncer import PgBouncer
from tests.conftest import MakeServer
from tests.crash.gates import Gates
from tests.servers import Server

collect_ignore_glob = [] if "PGBOUNCER" in os.environ else ["test_pgbouncer*.py"]

MakePooler = Callable[..., PgBouncer]
PooledServer = Callable[..., Server]


@pytest.fixture
def gates(tmp_path: Path) -> Gates:
    folder = tmp_path / "gates"
    folder.mkdir()
    return Gates(folder)


@pytest.fixture
def make_pooler(database_url: str, tmp_path: Path) -> Iterator[MakePooler]:
    """Starts poolers in front of the test's database; they end with the test."""
    made: list[PgBouncer] = []

    def make(**options: Any) -> PgBouncer:
        made.append(PgBouncer(database_url, tmp_path, **options))
        return made[-1].start()

    yield make
    for one in made:
        one.close()


@pytest.fixture
def pooler(make_pooler: MakePooler) -> PgBouncer:
    """Set up as README says."""
    return make_pooler()


@pytest.fixture
def pooled_server(
    pooler: PgBouncer, database_url: str, gates: Gates, make_server: MakeServer
) -> PooledServer:
    """Makes servers with a pooled and a direct address."""

    def make(app: str = "crash") -> Server:
        env = {**gates.env, "DATABASE_DIRECT_URL": database_url}
        return make_server(app, database_url=pooler.conninfo, env=env).start()

    return make
