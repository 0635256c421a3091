"""Two releases beside each other: the newer one has migrated the database under a server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from langgraph_durable.errors import SettingsError
from langgraph_durable.postgres import Database
from langgraph_durable.settings import Settings
from langgraph_durable.store.migrations import migrate
from tests.conftest import MakeServer
from tests.contract.test_database_away import (
    RUN,
    TURN,
    invocations_requests,
    langgraph_requests,
    responses_requests,
)
from tests.logs import query
from tests.servers import Server

NEWER = 9999


@pytest.fixture
def server(database_url: str, make_server: MakeServer) -> Server:
    return make_server("basic", database_url=database_url, options=("--n-jobs-per-worker", "2"))


@pytest.fixture
async def client(server: Server) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
        yield client


def add_a_column_everywhere(database_url: str) -> None:
    """What a migration of the next release does, to all tables at once."""
    tables = query(
        database_url,
        "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'langgraph_durable'"
        " AND tablename !~ '(checkpoint|store|vector|schema_migrations)'",
    )
    assert len(tables) > 12
    for table in tables:
        query(
            database_url,
            f"ALTER TABLE {table['name']} ADD COLUMN of_the_next_release text DEFAULT 'x'",
        )
    query(database_url, f"INSERT INTO schema_migrations (version) VALUES ({NEWER})")


async def everything(client: httpx.AsyncClient) -> list[httpx.Response]:
    """One request of every kind; none of them may notice."""
    thread = (await client.post("/threads", json={})).json()["thread_id"]
    made = await client.post(f"/threads/{thread}/runs/wait", json=RUN)
    run = made.headers["location"].split("/")[-2]
    response = (await client.post("/v1/responses", json=TURN)).json()["id"]
    cron = {"assistant_id": "echo", "schedule": "0 0 1 1 *", "input": {}}
    requests: list[tuple[str, str, Any]] = [
        *langgraph_requests(thread, run),
        *responses_requests(response),
        *invocations_requests(run),
        ("POST", "/assistants", {"graph_id": "echo"}),
        ("POST", "/assistants/search", {}),
        ("POST", "/runs/crons", cron),
        ("POST", "/runs/crons/search", {}),
    ]
    # Deletions are for the end.
    requests.sort(key=lambda request: request[0] == "DELETE")
    return [await client.request(how, path, json=body) for how, path, body in requests]


async def test_a_running_server_does_not_notice_that_a_newer_one_has_migrated(
    server: Server, client: httpx.AsyncClient, database_url: str
) -> None:
    server.start()
    before = [answer.status_code for answer in await everything(client)]
    # Every connection of the pools has prepared every statement by now.
    await asyncio.gather(*(everything(client) for _ in range(4)))
    add_a_column_everywhere(database_url)
    for _ in range(2):
        after = await everything(client)
        told = [f"{a.request.method} {a.url.path}: {a.text[:200]}" for a in after]
        assert [a.status_code for a in after] == before, told
    assert "cached plan" not in server.log.read_text()


async def test_a_server_starts_on_a_newer_schema_that_only_added(
    server: Server, client: httpx.AsyncClient, database_url: str
) -> None:
    add_a_column_everywhere(database_url)
    server.start()
    assert {a.status_code // 100 for a in await everything(client)} <= {2, 4}
    done = await client.post("/runs/wait", json=RUN)
    assert done.json() == {"x": 1, "y": 1}


def test_a_schema_that_took_something_away_turns_an_older_server_away_with_the_reason(
    database_url: str,
) -> None:
    database = Database(Settings(database_url=database_url), "w")
    assert migrate(database) == []
    query(
        database_url,
        f"INSERT INTO schema_migrations (version, needs) VALUES ({NEWER}, {NEWER - 1})",
    )
    with pytest.raises(SettingsError, match=rf"to version {NEWER} .* know version {NEWER - 1}"):
        migrate(database)
