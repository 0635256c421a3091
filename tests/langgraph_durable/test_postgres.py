"""Connections whose password changes or cannot be had, and connections that break."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from langgraph_durable.errors import OutcomeUnknown, StoreUnavailable
from langgraph_durable.postgres import Database, reading, transaction
from langgraph_durable.settings import Settings
from tests.logs import query
from tests.passwords import GuardedPostgres
from tests.servers import until

AN_HOUR = 3600.0


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GuardedPostgres]:
    """Its provider promises that a password lasts an hour."""
    made = GuardedPostgres(tmp_path_factory.mktemp("guarded"), seconds=AN_HOUR)
    made.start()
    sys.path.insert(0, str(made.folder))
    yield made
    sys.path.remove(str(made.folder))
    made.stop()


@pytest.fixture
def database(postgres: GuardedPostgres) -> Database:
    return Database(Settings.from_environment(postgres.env), "test")


async def test_a_password_that_is_still_good_is_not_asked_for_again(
    postgres: GuardedPostgres, database: Database
) -> None:
    database.connect().close()
    before = postgres.asked
    database.connect().close()
    async with await database.connect_async():
        assert postgres.asked == before


async def test_a_password_changed_before_its_time_is_asked_for_anew(
    postgres: GuardedPostgres, database: Database
) -> None:
    database.connect().close()
    before = postgres.asked
    postgres.rotate()
    database.connect().close()
    postgres.rotate()
    async with await database.connect_async():
        assert postgres.asked == before + 2
    postgres.rotate()
    async with database.pool(2) as pool, reading(pool) as conn:
        assert await (await conn.execute("SELECT 1 AS one")).fetchone() == {"one": 1}
    assert postgres.asked == before + 3


async def test_a_password_that_stays_wrong_is_asked_for_twice_and_no_more(
    postgres: GuardedPostgres, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def wrong() -> str:
        asked.append("again")
        return "wrong"

    monkeypatch.setattr("minting.password", wrong)
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        database.connect()
    assert len(asked) == 2


async def test_a_provider_that_fails_is_a_database_that_cannot_be_reached(
    postgres: GuardedPostgres, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fails() -> str:
        raise RuntimeError("no token today")

    monkeypatch.setattr("minting.password", fails)
    database = Database(Settings.from_environment(postgres.env), "test")
    with pytest.raises(psycopg.OperationalError, match="credentials: RuntimeError: no token"):
        database.connect()
    pool = database.pool(1)
    pool.timeout = 0.2
    async with pool:
        with pytest.raises(StoreUnavailable):
            async with reading(pool):
                pass


@pytest.mark.parametrize("when", ["before the commit", "at the commit"])
async def test_only_a_connection_lost_at_its_commit_leaves_a_doubt(
    database_url: str, when: str
) -> None:
    async def lose(pool: Any) -> None:
        async with transaction(pool) as conn:
            pid = conn.info.backend_pid
            query(database_url, "SELECT pg_terminate_backend(%s, 5000)", (pid,))
            if when == "before the commit":
                await conn.execute("SELECT 1")

    async with Database(Settings(database_url=database_url), "test").pool(1) as pool:
        with pytest.raises(StoreUnavailable) as caught:
            await lose(pool)
    assert isinstance(caught.value, OutcomeUnknown) == (when == "at the commit")


async def test_a_process_held_up_inside_a_transaction_has_lost_its_database_for_a_moment(
    database_url: str,
) -> None:
    """PostgreSQL ends its session, so that the locks of a frozen process hold up nobody."""
    session = {"idle_in_transaction_session_timeout": "50"}
    database = Database(Settings(database_url=database_url), "test").tuned(session)
    alive = "SELECT 1 FROM pg_stat_activity WHERE pid = %s"

    async def held_up(pool: Any) -> None:
        async with transaction(pool) as conn:
            pid = conn.info.backend_pid
            until(lambda: not query(database_url, alive, (pid,)), "the session has ended")
            await conn.execute("SELECT 1")

    async with database.pool(1) as pool:
        with pytest.raises(StoreUnavailable):
            await held_up(pool)
        async with reading(pool) as conn:
            assert await (await conn.execute("SELECT 1 AS one")).fetchone() == {"one": 1}
