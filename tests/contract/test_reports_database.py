"""What users reported about databases under other servers, asked of this one: one test each."""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg
import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from tests.conftest import MakeServer
from tests.logs import query
from tests.pooler import Pooler
from tests.servers import Databases, until


async def collect(parts: Any) -> list[Any]:
    return [part async for part in parts]


READERS_OF_EACH = 5


async def followed(client: LangGraphClient) -> list[list[str]]:
    """The names of the events that each of several readers of one run gets."""
    thread_id = (await client.threads.create())["thread_id"]
    asked: Any = {"input": {"delay": 0.4}, "stream_mode": "updates"}
    run = await client.runs.create(thread_id, "slow", **asked)
    readers = [
        collect(client.runs.join_stream(thread_id, run["run_id"], last_event_id="-1"))
        for _ in range(READERS_OF_EACH)
    ]
    return [[part.event for part in parts] for parts in await asyncio.gather(*readers)]


async def test_many_open_streams_starve_neither_runs_nor_their_heartbeats(
    make_server: MakeServer, database_url: str
) -> None:
    """nexus-rag#861: every open stream held a connection of the pool, until none was left."""
    knobs = {"POOL_SIZE": 3, "LEASE_SECONDS": 2, "HEARTBEAT_SECONDS": 0.3}
    env = {f"LANGGRAPH_DURABLE_{name}": str(value) for name, value in knobs.items()}
    server = make_server("basic", database_url=database_url, env=env).start()
    async with get_client(url=server.url) as client:
        told = await asyncio.gather(*[followed(client) for _ in range(10)])
    assert [events for run in told for events in run] == [["metadata", *["updates"] * 5, "end"]] * (
        10 * READERS_OF_EACH
    )
    runs = query(database_url, "SELECT status, attempt, crashes FROM runs")
    assert runs == [{"status": "success", "attempt": 1, "crashes": 0}] * 10


async def test_servers_that_start_at_once_on_an_empty_database_beside_an_open_transaction_all_serve(
    make_server: MakeServer, databases: Databases
) -> None:
    """langchain-ai/langgraph#7630, vectorize-io/hindsight#493: setups collided, or never ended."""
    url = databases.create()
    with psycopg.connect(url) as holder:
        holder.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        holder.execute("SELECT count(*) FROM pg_class")  # its snapshot is in every index's way
        servers = [make_server("basic", database_url=url).start(wait=False) for _ in range(4)]
        await asyncio.to_thread(until, lambda: waits_for_a_snapshot(url), "an index waits", 40)
        holder.rollback()
    for server in servers:
        await asyncio.to_thread(until, server.ready, f"it serves; see {server.log}", 40)
        async with get_client(url=server.url) as client:
            assert await client.runs.wait(None, "echo", input={"x": 1}) == {"x": 1, "y": 1}
    invalid = "SELECT indexrelid FROM pg_index WHERE NOT indisvalid"
    assert query(url, invalid) == []


def waits_for_a_snapshot(url: str) -> bool:
    return bool(
        query(
            url,
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database()"
            " AND query ILIKE '%%INDEX CONCURRENTLY%%' AND wait_event = 'virtualxid'",
        )
    )


async def test_idle_connections_that_the_database_has_closed_cost_nobody_an_error(
    make_server: MakeServer, database_url: str
) -> None:
    """langchain-ai/langgraph#5675: the first checkpoint behind a quiet hour failed."""
    server = make_server("basic", database_url=database_url).start()
    async with get_client(url=server.url) as client:
        for _ in range(2):
            await asyncio.gather(*[answered(client) for _ in range(10)])
            assert query(database_url, CLOSE)
        await asyncio.gather(*[answered(client) for _ in range(10)])
    runs = query(database_url, "SELECT status, crashes FROM runs")
    assert runs == [{"status": "success", "crashes": 0}] * 30


CLOSE = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND application_name LIKE 'langgraph-durable %%'
"""


async def answered(client: LangGraphClient) -> None:
    """A run on a thread of its own, asked for once."""
    thread_id = (await client.threads.create())["thread_id"]
    assert await client.runs.wait(thread_id, "echo", input={"x": 1}) == {"x": 1, "y": 1}


# -- a pooler -------------------------------------------------------------------------------------

SEARCH_PATH = "SET search_path TO langgraph_durable,public"


async def test_many_runs_go_through_a_pooler_that_lends_sessions_for_one_transaction(
    make_server: MakeServer, database_url: str
) -> None:
    """langchain-ai/langgraph#6705: prepared statement "_pg3_0" does not exist, or does already.

    langchain-ai/langgraph#6710, #6741: when to prepare a statement could not be chosen.
    """
    pooler = Pooler(database_url, ignores=frozenset({"options"}), query=SEARCH_PATH)
    env = {"DATABASE_DIRECT_URL": database_url}
    server = make_server("basic", database_url=pooler.conninfo, env=env).start()
    async with get_client(url=server.url) as client:
        told = await asyncio.gather(*[followed(client) for _ in range(20)])
        assert {tuple(events) for run in told for events in run} == {
            ("metadata", *["updates"] * 5, "end")
        }
        await client.store.put_item(["a"], "k", {"x": 1})
        assert (await client.store.get_item(["a"], "k"))["value"] == {"x": 1}
    assert query(database_url, "SELECT DISTINCT status, attempt FROM runs") == [
        {"status": "success", "attempt": 1}
    ]
    server.close()
    pooler.close()


@pytest.mark.parametrize("ignores", [frozenset(), frozenset({"options"})], ids=["strict", "lax"])
async def test_a_pooler_alone_prevents_the_start_and_names_the_address_that_is_missing(
    make_server: MakeServer, database_url: str, ignores: frozenset[str]
) -> None:
    """langchain-ai/langgraph#6705, #6710: it started, and failed at the second statement."""
    pooler = Pooler(database_url, ignores=ignores, query=SEARCH_PATH)
    server = make_server("basic", database_url=pooler.conninfo).start(wait=False)
    assert server.process is not None
    assert await asyncio.to_thread(server.process.wait, 30) == 1
    (told,) = server.log.read_text().splitlines()
    assert "name PostgreSQL itself in DATABASE_DIRECT_URL" in told
    pooler.close()


@pytest.mark.parametrize("ignores", [frozenset(), frozenset({"options"})], ids=["strict", "lax"])
async def test_a_pooler_that_cannot_be_worked_with_prevents_the_start_and_says_what_it_needs(
    make_server: MakeServer, database_url: str, ignores: frozenset[str]
) -> None:
    pooler = Pooler(database_url, ignores=ignores, query="")
    env = {"DATABASE_DIRECT_URL": database_url}
    server = make_server("basic", database_url=pooler.conninfo, env=env).start(wait=False)
    assert server.process is not None
    assert await asyncio.to_thread(server.process.wait, 30) == 1
    told = server.log.read_text().splitlines()[-1]
    assert "connect_query = 'SET search_path TO langgraph_durable,public;" in told
    assert ("unsupported startup parameter: options" in told) == (not ignores)
    pooler.close()
