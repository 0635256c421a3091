"""Servers behind a real PgBouncer in transaction mode: at every door, and when something dies."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from typing import Any

import httpx
import psycopg
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from tests.clients.conftest import PooledServer
from tests.clients.pgbouncer import SESSIONS, PgBouncer
from tests.contract.people import frames, text
from tests.crash.gates import Gates
from tests.crash.test_two_processes import check_one_ending, owner_pid
from tests.logs import query, read_log
from tests.servers import Server, until

TURN = {"model": "chat", "input": "hi", "conversation": "c", "background": True, "stream": True}
UPDATES = ["one", "two", "three"]


async def collect(parts: Any) -> list[Any]:
    return [part async for part in parts]


async def started(
    client: LangGraphClient, gates: Gates, graph: str = "steps", gate: str = "two"
) -> tuple[str, str]:
    """Thread and run of a graph that waits at a gate."""
    thread_id = (await client.threads.create())["thread_id"]
    asked: Any = {"input": {"items": []}, "stream_mode": ["values", "updates"]}
    run = await client.runs.create(thread_id, graph, **asked)
    await asyncio.to_thread(gates.reached, gate)
    return thread_id, run["run_id"]


async def whole(client: LangGraphClient, thread_id: str, run_id: str) -> list[Any]:
    """The run's parts from its first one on."""
    return await collect(client.runs.join_stream(thread_id, run_id, last_event_id="-1"))


def updated(parts: list[Any]) -> list[str]:
    return [next(iter(part.data)) for part in parts if part.event == "updates"]


def attempts(parts: list[Any]) -> list[int]:
    return [part.data["attempt"] for part in parts if part.event == "metadata"]


# -- ordinary life ---------------------------------------------------------------------------------


async def followed(client: LangGraphClient) -> list[list[str]]:
    """The names of the events that five readers of a new run get."""
    thread_id = (await client.threads.create())["thread_id"]
    asked: Any = {"input": {"delay": 0.1}, "stream_mode": "updates"}
    run = await client.runs.create(thread_id, "slow", **asked)
    told = await asyncio.gather(*[whole(client, thread_id, run["run_id"]) for _ in range(5)])
    return [[part.event for part in parts] for parts in told]


async def test_many_runs_and_readers_share_few_sessions(
    pooled_server: PooledServer, pooler: PgBouncer, database_url: str
) -> None:
    server = pooled_server("basic")
    async with get_client(url=server.url) as client:
        told = await asyncio.gather(*[followed(client) for _ in range(20)])
        await client.store.put_item(["a"], "k", {"x": 1})
        assert (await client.store.get_item(["a"], "k"))["value"] == {"x": 1}
    assert [names for run in told for names in run] == [["metadata", *["updates"] * 5, "end"]] * 100
    runs = query(database_url, "SELECT status, attempt, crashes FROM runs")
    assert runs == [{"status": "success", "attempt": 1, "crashes": 0}] * 20
    (pool,) = pooler.show("POOLS")
    assert pool["pool_mode"] == "transaction"
    assert pool["cl_active"] > pool["sv_active"] + pool["sv_idle"] + pool["sv_used"] > 0
    assert pool["sv_active"] + pool["sv_idle"] + pool["sv_used"] <= SESSIONS


async def test_one_conversation_goes_through_the_three_doors(pooled_server: PooledServer) -> None:
    server = pooled_server("basic")
    async with (
        httpx.AsyncClient(base_url=server.url, timeout=30) as http,
        get_client(url=server.url) as client,
    ):
        streamed = await http.post("/v1/responses", json=TURN)
        told = frames(streamed.content)
        assert told[-1]["type"] == "response.completed"
        again = await http.get(f"/v1/responses/{told[0]['response']['id']}?stream=true")
        assert frames(again.content) == told
        asked = {"messages": [{"role": "user", "content": "more"}]}
        answer: Any = await client.runs.wait("c", "chat", input=asked)
        assert [m["type"] for m in answer["messages"]] == ["human", "ai"] * 2
        body = {"id": "i", "session_id": "c", "graph": "chat", "background": False, "input": asked}
        assert (await http.post("/invocations", json=body)).json()["status"] == "completed"
        state = await client.threads.get_state("c")
        assert [m["type"] for m in state["values"]["messages"]] == ["human", "ai"] * 3


async def test_no_session_is_left_with_settings_of_the_last_who_had_it(
    pooled_server: PooledServer, pooler: PgBouncer, gates: Gates
) -> None:
    server = pooled_server()
    gates.open("two")
    async with get_client(url=server.url) as client:
        await asyncio.gather(
            *[client.runs.wait(None, "steps", input={"items": []}) for _ in range(10)]
        )
    told = "SELECT current_setting('lock_timeout'), current_setting('search_path')"
    with ExitStack() as stack:
        lent = [stack.enter_context(psycopg.connect(pooler.conninfo)) for _ in range(SESSIONS - 1)]
        found = {conn.execute(told).fetchone() for conn in lent}  # each in a transaction of its own
    assert found == {("5s", "langgraph_durable, public")}


# -- deaths ----------------------------------------------------------------------------------------


async def test_a_standby_goes_on_when_the_owner_is_killed(
    pooled_server: PooledServer, gates: Gates, database_url: str
) -> None:
    servers = [pooled_server(), pooled_server()]
    async with get_client(url=servers[0].url) as client:
        thread_id, run_id = await started(client, gates)
    pid = owner_pid(database_url, run_id)
    owner, survivor = sorted(servers, key=lambda server: server.pid != pid)
    async with get_client(url=survivor.url) as client:
        stream = client.runs.join_stream(thread_id, run_id, last_event_id="-1")
        parts = [await anext(stream)]
        owner.kill()
        gates.open("two")
        async with asyncio.timeout(10):  # half a lease: the lock has told of the death
            parts += await collect(stream)
        assert updated(parts) == UPDATES
        assert attempts(parts) == [1, 2]
        assert [part.id for part in await whole(client, thread_id, run_id)] == [
            part.id for part in parts
        ]
        assert (await client.threads.get_state(thread_id))["values"]["items"] == UPDATES
    assert gates.executions() == ["one", "two", "two", "three"]
    check_one_ending(read_log(database_url, run_id))


async def test_a_background_response_goes_on_when_its_owner_is_killed(
    pooled_server: PooledServer, gates: Gates, database_url: str
) -> None:
    servers = [pooled_server(), pooled_server()]
    body = {"model": "agent", "input": "use the tool", "conversation": "c", "background": True}
    async with httpx.AsyncClient(base_url=servers[0].url, timeout=30) as http:
        made = (await http.post("/v1/responses", json=body)).json()
    await asyncio.to_thread(gates.reached, "work")
    pid = owner_pid(database_url, made["id"].removeprefix("resp_"))
    owner, survivor = sorted(servers, key=lambda server: server.pid != pid)
    owner.kill()
    gates.open("work")
    async with httpx.AsyncClient(base_url=survivor.url, timeout=30) as http:
        told = frames((await http.get(f"/v1/responses/{made['id']}?stream=true")).content)
        kept = (await http.get(f"/v1/responses/{made['id']}")).json()
    assert [frame["sequence_number"] for frame in told] == list(range(len(told)))
    kinds = [frame["type"] for frame in told]
    assert kinds.count("response.resumed") == 1
    assert kinds[-1] == "response.completed"
    assert text(kept) == "remembered: use the tool"
    assert gates.count("think") == 2


async def test_a_run_is_cancelled_from_another_server(
    pooled_server: PooledServer, gates: Gates, database_url: str
) -> None:
    servers = [pooled_server(), pooled_server()]
    async with get_client(url=servers[0].url) as client:
        thread_id, run_id = await started(client, gates)
    pid = owner_pid(database_url, run_id)
    other = next(server for server in servers if server.pid != pid)
    async with get_client(url=other.url) as client, asyncio.timeout(10):
        await client.runs.cancel(thread_id, run_id, wait=True)
        assert (await client.runs.get(thread_id, run_id))["status"] == "interrupted"
        gates.open("two")
        done: Any = await client.runs.wait(thread_id, "quick", input={"items": ["next"]})
    assert done["items"] == ["one", "next", "quick"]
    assert gates.executions() == ["one", "two", "quick"]
    check_one_ending(read_log(database_url, run_id))


# -- the pooler dies -------------------------------------------------------------------------------


async def keep_creating(http: httpx.AsyncClient, over: asyncio.Event) -> tuple[set[str], set[int]]:
    """The runs that were acknowledged until it was over, and every status told."""
    acknowledged, told = set(), set()
    while not over.is_set():
        body = {"assistant_id": "quick", "input": {"items": []}}
        answer = await http.post("/runs", json=body)
        told.add(answer.status_code)
        if answer.status_code == 200:
            acknowledged.add(answer.json()["run_id"])
        else:
            assert answer.headers["retry-after"]
        await asyncio.sleep(0.05)
    return acknowledged, told


def refused(server: Server) -> bool:
    """Is what needs the database told to come again?"""
    told = httpx.post(f"{server.url}/threads/search", json={}, timeout=20).status_code
    assert told in (200, 503)
    return told == 503


def all_ended(database_url: str) -> bool:
    return not query(database_url, "SELECT 1 FROM runs WHERE status IN ('pending', 'running')")


async def test_nothing_is_lost_when_the_pooler_is_killed_and_comes_back(
    pooled_server: PooledServer, pooler: PgBouncer, gates: Gates, database_url: str
) -> None:
    server = pooled_server()
    over = asyncio.Event()
    async with (
        get_client(url=server.url) as client,
        httpx.AsyncClient(base_url=server.url, timeout=30) as http,
    ):
        thread_id, run_id = await started(client, gates)
        stream = client.runs.join_stream(thread_id, run_id, last_event_id="-1")
        parts = [await anext(stream)]
        creating = asyncio.create_task(keep_creating(http, over))
        for _ in range(3):
            pooler.kill()
            pooler.start()
        pooler.kill()
        await asyncio.to_thread(until, lambda: refused(server), "requests are refused")
        gates.open("two")
        pooler.start()
        await asyncio.to_thread(until, lambda: not refused(server), "requests are answered")
        over.set()
        acknowledged, told = await creating
        parts += await asyncio.wait_for(collect(stream), 30)
    await asyncio.to_thread(until, lambda: all_ended(database_url), "every run has ended")
    assert updated(parts) == UPDATES
    assert attempts(parts) == [1]
    assert told == {200, 503}
    ended = query(database_url, "SELECT run_id::text, status, crashes FROM runs")
    assert {row["run_id"] for row in ended} >= {run_id, *acknowledged}
    assert {(row["status"], row["crashes"]) for row in ended} == {("success", 0)}
    assert [gates.count(name) for name in UPDATES] == [1, 1, 1]
    assert gates.count("quick") == len(ended) - 1
    for row in ended:
        check_one_ending(read_log(database_url, row["run_id"]))
