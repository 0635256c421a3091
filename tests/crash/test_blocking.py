"""A node that blocks its loop harms nobody else: not the API, not its own lease."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import httpx
import pytest

from tests.crash.conftest import CrashServer, Sdk
from tests.crash.gates import Gates
from tests.logs import query


@pytest.mark.parametrize("how", ["sleep", "burn"])
async def test_the_api_replays_joins_and_other_runs_go_on_while_a_node_blocks(
    crash_server: CrashServer, gates: Gates, sdk: Sdk, database_url: str, how: str
) -> None:
    server = crash_server(lease_seconds=1.5, heartbeat_seconds=0.3).start()
    other = crash_server(lease_seconds=1.5, heartbeat_seconds=0.3).start()
    client = sdk(server.url)
    old = await client.runs.create("old", "quick", input={"items": []}, if_not_exists="create")
    await client.runs.join("old", old["run_id"])
    blocked = await client.runs.create(
        "blocked", "blocker", input={"note": how, "items": []}, if_not_exists="create"
    )
    await asyncio.to_thread(gates.reached, "block")
    began = time.monotonic()
    slowest = 0.0
    async with httpx.AsyncClient() as http:
        for url in (server.url, other.url):
            asked = time.monotonic()
            assert (await http.get(f"{url}/ok", timeout=2)).json()["ok"]
            slowest = max(slowest, time.monotonic() - asked)
            replay = sdk(url).runs.join_stream("old", old["run_id"], last_event_id="-1")
            assert [p.event async for p in replay][-1] == "end"
            done = await sdk(url).runs.wait(None, "quick", input={"items": ["x"]})
            assert done["items"] == ["x", "quick"]
    assert time.monotonic() - began < 2.5
    assert (await client.runs.get("blocked", blocked["run_id"]))["status"] == "running"
    await client.runs.join("blocked", blocked["run_id"])
    assert gates.count("block") == 1
    rows = query(database_url, "SELECT attempt, status FROM runs WHERE thread_id = 'blocked'")
    assert rows == [{"attempt": 1, "status": "success"}]


@pytest.mark.parametrize("how", ["wait", "sleep", "burn"])
async def test_a_node_that_outlasts_its_lease_three_times_is_executed_once(
    crash_server: CrashServer, gates: Gates, sdk: Sdk, database_url: str, how: str
) -> None:
    """langchain-ai/langgraph#7417, #7213: long nodes were executed again while they worked."""
    short = {"lease_seconds": 1.0, "heartbeat_seconds": 0.1, "liveness_grace_seconds": 0.5}
    server, _ = [crash_server(**short).start() for _ in range(2)]
    client = sdk(server.url)
    asked: Any = {"input": {"note": how, "items": []}, "if_not_exists": "create"}
    done: Any = await client.runs.wait("long", "blocker", **asked)
    assert done["items"] == ["blocked"]
    assert gates.executions() == ["block"]
    rows = query(database_url, "SELECT attempt, crashes, status FROM runs")
    assert rows == [{"attempt": 1, "crashes": 0, "status": "success"}]


async def test_a_node_that_exits_fails_only_its_run(make_engine: Any) -> None:
    from langgraph.graph import END, START, StateGraph

    from langgraph_durable.model import RunRequest

    async def leave(state: dict[str, Any]) -> dict[str, Any]:
        if state.get("how") == "exit":
            raise SystemExit(3)
        if state.get("how") == "keyboard":
            raise KeyboardInterrupt
        if state.get("how") == "cancelled":
            raise asyncio.CancelledError
        return {"how": "fine"}

    builder = StateGraph(dict)
    builder.add_node("leave", leave)
    builder.add_edge(START, "leave")
    builder.add_edge("leave", END)
    engine = await make_engine(builder.compile())
    for how, name in (
        ("exit", "SystemExit"),
        ("keyboard", "KeyboardInterrupt"),
        ("cancelled", "NodeCancelledError"),
    ):
        run = await engine.wait(
            (await engine.submit(RunRequest(assistant="agent", input={"how": how}))).run_id
        )
        assert run.status == "error"
        assert run.error["error"] == name
    fine = await engine.submit(RunRequest(assistant="agent", input={"how": "ok"}))
    assert (await engine.wait(fine.run_id)).status == "success"
