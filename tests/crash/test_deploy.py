"""SIGTERM with a running, a queued and a streaming run: a deploy is not a crash."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.crash.conftest import CrashServer, Sdk
from tests.crash.gates import Gates
from tests.logs import query, read_log


async def collect(stream: Any) -> list[Any]:
    return [part async for part in stream]


async def test_running_queued_and_streaming_runs_all_succeed_after_a_deploy(
    crash_server: CrashServer, gates: Gates, sdk: Sdk, database_url: str
) -> None:
    server = crash_server(shutdown_grace_seconds=1).start()
    client = sdk(server.url)
    thread = await client.threads.create()
    thread_id = thread["thread_id"]
    streaming = asyncio.create_task(
        collect(
            client.runs.stream(
                thread_id, "steps", input={"items": ["in"]}, stream_mode=["values", "updates"]
            )
        )
    )
    await asyncio.to_thread(gates.reached, "two")
    queued = await client.runs.create(thread_id, "quick", input={"items": ["later"]})
    other = await client.threads.create()
    running = await client.runs.create(other["thread_id"], "silent", input={"items": []})
    await asyncio.to_thread(gates.reached, "silence")
    took = await asyncio.to_thread(server.terminate)
    assert took < 1 + 4
    gates.open("two", "silence")
    rows = query(database_url, "SELECT status, crashes, attempt FROM runs ORDER BY created_at")
    assert [r["status"] for r in rows] == ["pending"] * 3
    server.start()
    parts = await asyncio.wait_for(streaming, 40)
    assert parts[-1].event == "end"
    ids = [int(p.id) for p in parts if p.event != "metadata" or p.data["attempt"] == 1]
    assert ids == sorted(set(ids))
    assert [next(iter(p.data)) for p in parts if p.event == "updates"] == ["one", "two", "three"]
    await client.runs.join(thread_id, queued["run_id"])
    await client.runs.join(other["thread_id"], running["run_id"])
    rows = query(database_url, "SELECT run_id::text, status, crashes FROM runs ORDER BY created_at")
    assert [r["status"] for r in rows] == ["success"] * 3
    assert [r["crashes"] for r in rows] == [0] * 3
    assert query(database_url, "SELECT * FROM thread_aliases") == []
    assert gates.count("one") == 1
    state = await client.threads.get_state(thread_id)
    assert state["values"]["items"] == ["in", "one", "two", "three", "later", "quick"]
    log = read_log(database_url, rows[0]["run_id"])
    reasons = [e.data for e in log if e.name == "recovered"]
    assert len(reasons) == 1
    assert '"reason":"deploy"' in reasons[0]


async def test_a_node_that_is_cancelled_while_its_edge_decides_runs_again_after_a_deploy(
    crash_server: CrashServer, gates: Gates, sdk: Sdk
) -> None:
    server = crash_server(shutdown_grace_seconds=0.3).start()
    client = sdk(server.url)
    thread = await client.threads.create()
    run = await client.runs.create(thread["thread_id"], "crossing", input={"items": []})
    await asyncio.to_thread(gates.reached, "crossing")
    await asyncio.to_thread(server.terminate)
    gates.open("crossing")
    server.start()
    found = await client.runs.join(thread["thread_id"], run["run_id"])
    assert found["items"] == ["one", "two"]
    assert gates.executions() == ["one", "one", "two"]


async def test_a_step_that_ends_within_the_grace_is_not_repeated(
    crash_server: CrashServer, gates: Gates, sdk: Sdk
) -> None:
    server = crash_server(shutdown_grace_seconds=10).start()
    client = sdk(server.url)
    thread = await client.threads.create()
    run = await client.runs.create(thread["thread_id"], "steps", input={"items": []})
    await asyncio.to_thread(gates.reached, "two")
    stopping = asyncio.create_task(asyncio.to_thread(server.terminate))
    await asyncio.to_thread(draining, server)
    gates.open("two")
    assert await stopping < 5
    server.start()
    await client.runs.join(thread["thread_id"], run["run_id"])
    assert gates.executions() == ["one", "two", "three"]


def draining(server: Any) -> None:
    from tests.servers import until

    until(lambda: "draining" in server.log.read_text(), "the server drains")


@pytest.mark.parametrize("strategy", ["agent_session", "event_log"])
async def test_a_deploy_never_rotates_and_never_strikes(
    crash_server: CrashServer, gates: Gates, sdk: Sdk, database_url: str, strategy: str
) -> None:
    server = crash_server(
        shutdown_grace_seconds=0.5, recovery_by_graph=f"agent={strategy}", max_attempts=2
    ).start()
    client = sdk(server.url)
    message = {"messages": [{"role": "user", "content": "use the tool"}]}
    run = await client.runs.create("deployed", "agent", input=message, if_not_exists="create")
    for _ in range(3):
        await asyncio.to_thread(gates.reached, "work")
        await asyncio.to_thread(server.terminate)
        gates.close("work")
        server.start()
    gates.open("work")
    result = await client.runs.join("deployed", run["run_id"])
    assert result["messages"][-1]["content"] == "remembered: use the tool"
    assert gates.count("think") == 2
    rows = query(database_url, "SELECT attempt, crashes, status FROM runs")
    assert rows == [{"attempt": 4, "crashes": 0, "status": "success"}]
    threads = query(database_url, "SELECT checkpoint_thread_id FROM threads")
    assert threads == [{"checkpoint_thread_id": "deployed"}]


async def test_a_cancelled_run_whose_owner_died_ends_and_is_not_recovered(
    crash_server: CrashServer, gates: Gates, sdk: Sdk, database_url: str
) -> None:
    """aegra#475, #484: the run was interrupted, and its thread busy for ever."""
    owner = crash_server().start()
    client = sdk(owner.url)
    thread = await client.threads.create()
    run = await client.runs.create(thread["thread_id"], "steps", input={"items": []})
    await asyncio.to_thread(gates.reached, "two")
    other = crash_server().start()
    survivor = sdk(other.url)
    owner.kill()
    await survivor.runs.cancel(thread["thread_id"], run["run_id"], wait=True)
    found = await survivor.runs.get(thread["thread_id"], run["run_id"])
    assert found["status"] == "interrupted"
    assert (await survivor.threads.get(thread["thread_id"]))["status"] == "interrupted"
    assert gates.count("two") == 1
    log = read_log(database_url, run["run_id"])
    assert [e.name for e in log].count("end") == 1
    gates.open("two")
    await survivor.runs.wait(thread["thread_id"], "quick", input={"items": ["next"]})
    assert (await survivor.threads.get(thread["thread_id"]))["status"] == "idle"
