"""kill -9 of the server in mid-run, with stock ``langgraph_sdk`` clients attached."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from langgraph_durable.model import Cursor
from tests.crash.conftest import CrashServer, Sdk
from tests.crash.gates import Gates
from tests.logs import read_log
from tests.servers import until


async def collect(stream: Any) -> list[Any]:
    return [part async for part in stream]


async def test_the_sdk_reconnects_by_itself_and_sees_exactly_the_log(
    crash_server: CrashServer, gates: Gates, sdk: Sdk, database_url: str
) -> None:
    server = crash_server().start()
    client = sdk(server.url)
    thread = await client.threads.create()
    stream = client.runs.stream(
        thread["thread_id"],
        "steps",
        input={"items": ["in"]},
        stream_mode=["values", "updates", "custom"],
    )
    reading = asyncio.create_task(collect(stream))
    await asyncio.to_thread(gates.reached, "two")
    server.kill()
    gates.open("two")
    server.start()
    parts = await asyncio.wait_for(reading, 40)
    runs = await client.runs.list(thread["thread_id"])
    log = read_log(database_url, runs[0]["run_id"])
    # A frame without an id of its own shows the last one: the first of a recovery's two frames.
    seen = [int(p.id) for p in parts if p.event != "metadata" or p.data["attempt"] == 1]
    readable = [e.seq for e in log if e.mode in ("created", "values", "updates", "custom", "end")]
    readable += [e.seq for e in log if e.name == "recovered"]
    assert seen == sorted(seen)
    assert len(seen) == len(set(seen))
    assert seen == sorted(readable)
    told = [p.data for p in parts if p.event == "metadata"]
    assert [t["attempt"] for t in told] == [1, 2]
    assert {t["run_id"] for t in told} == {runs[0]["run_id"]}
    assert told[1]["conversation_id"] == thread["thread_id"]
    updates = [next(iter(p.data)) for p in parts if p.event == "updates"]
    assert updates == ["one", "two", "three"]
    assert parts[-1].event == "end"
    assert gates.count("one") == 1
    assert gates.count("two") == 2
    assert gates.count("three") == 1
    assert runs[0]["status"] == "success"
    state = await client.threads.get_state(thread["thread_id"])
    assert state["values"]["items"] == ["in", "one", "two", "three"]


async def test_an_acknowledged_run_survives_a_kill_one_instruction_later(
    crash_server: CrashServer, gates: Gates, sdk: Sdk
) -> None:
    server = crash_server().start()
    client = sdk(server.url)
    thread = await client.threads.create()
    run = await client.runs.create(thread["thread_id"], "quick", input={"items": ["in"]})
    server.kill()
    server.start()
    await client.runs.join(thread["thread_id"], run["run_id"])
    found = await client.runs.get(thread["thread_id"], run["run_id"])
    assert found["status"] == "success"


@pytest.mark.filterwarnings("ignore:Request failed, attempting reconnect:UserWarning")
async def test_wait_and_join_survive_a_kill(
    crash_server: CrashServer, gates: Gates, sdk: Sdk
) -> None:
    server = crash_server().start()
    client = sdk(server.url)
    thread = await client.threads.create()
    waiting = asyncio.create_task(
        client.runs.wait(thread["thread_id"], "steps", input={"items": []})
    )
    await asyncio.to_thread(gates.reached, "two")
    server.kill()
    gates.open("two")
    server.start()
    assert (await asyncio.wait_for(waiting, 40))["items"] == ["one", "two", "three"]


async def test_a_graph_that_kills_its_process_is_given_up_after_max_attempts(
    crash_server: CrashServer, gates: Gates, sdk: Sdk
) -> None:
    server = crash_server(liveness_grace_seconds=0.2).start()
    client = sdk(server.url)
    thread = await client.threads.create()
    run = await client.runs.create(thread["thread_id"], "poison", input={"items": []})
    for _ in range(3):
        assert server.process is not None
        await asyncio.to_thread(server.process.wait, 30)
        server.start(wait=False)
    result = await _joined(client, server, thread["thread_id"], run["run_id"])
    assert gates.count("die") == 3
    assert result["__error__"]["error"] == "MaxAttemptsExceeded"
    assert "3 crashes" in result["__error__"]["message"]
    assert (await client.threads.get(thread["thread_id"]))["status"] == "error"


async def _joined(client: Any, server: Any, thread_id: str, run_id: str) -> Any:
    await asyncio.to_thread(until, server.ready, "the server is ready again")
    return await asyncio.wait_for(client.runs.join(thread_id, run_id), 30)


@pytest.mark.parametrize("cursor", [Cursor(-1)])
async def test_a_replay_after_a_restart_is_the_whole_log(
    crash_server: CrashServer, sdk: Sdk, cursor: Cursor
) -> None:
    server = crash_server().start()
    client = sdk(server.url)
    thread = await client.threads.create()
    run = await client.runs.create(
        thread["thread_id"], "quick", input={"items": ["in"]}, stream_mode=["values", "updates"]
    )
    first = await collect(
        client.runs.join_stream(thread["thread_id"], run["run_id"], last_event_id=str(cursor))
    )
    server.kill()
    server.start()
    again = await collect(
        client.runs.join_stream(thread["thread_id"], run["run_id"], last_event_id=str(cursor))
    )
    assert [(p.event, p.data, p.id) for p in again] == [(p.event, p.data, p.id) for p in first]
    assert [p.event for p in again] == ["metadata", "values", "updates", "values", "end"]
