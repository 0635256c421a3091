"""A worker whose clock is behind takes over: nothing finished is lost, only Postgres tells time."""

from __future__ import annotations

import asyncio

import pytest
from langgraph_sdk.client import LangGraphClient

from tests.conftest import APPS, MakeServer
from tests.crash.conftest import CrashServer, Sdk
from tests.crash.gates import Gates
from tests.logs import query
from tests.servers import ROOT, Server


async def works(client: LangGraphClient, gates: Gates, server: Server) -> None:
    """Wait until a server has claimed something: it has seen what others execute."""
    async with asyncio.timeout(30):
        while f"quick {server.pid}" not in (gates.folder / "executions").read_text():
            await client.runs.wait(None, "quick", input={"items": []})


@pytest.mark.parametrize("seconds", [-30, 30])
async def test_a_worker_whose_clock_is_off_robs_nobody_takes_over_and_loses_nothing(
    database_url: str,
    crash_server: CrashServer,
    make_server: MakeServer,
    gates: Gates,
    sdk: Sdk,
    seconds: int,
) -> None:
    """databricks-ai-bridge#416: who was dead was told from the time that servers had written."""
    right = crash_server().start()
    client = sdk(right.url)
    thread = await client.threads.create()
    run = await client.runs.create(thread["thread_id"], "nested", input={"items": []})
    await asyncio.to_thread(gates.reached, "in2")
    skewed = make_server(
        "crash",
        database_url=database_url,
        env={
            **gates.env,
            "PYTHONPATH": f"{ROOT}:{APPS / 'clock'}",
            "CLOCK_OFFSET_SECONDS": str(seconds),
        },
    ).start()
    await works(other := sdk(skewed.url), gates, skewed)
    held = query(database_url, "SELECT status, attempt FROM runs WHERE graph_id = 'nested'")
    assert held == [{"status": "running", "attempt": 1}]
    gates.close("in2")
    right.kill()
    await asyncio.to_thread(gates.reached, "in2")
    gates.open("in2")
    await other.runs.join(thread["thread_id"], run["run_id"])
    state = await other.threads.get_state(thread["thread_id"])
    assert state["values"]["items"] == ["before", "before", "in1", "in2", "after"]
    assert state["next"] == []
    assert [gates.count(n) for n in ("before", "in1", "in2", "after")] == [1, 1, 2, 1]
    rows = query(
        database_url,
        "SELECT checkpoint_id, parent_checkpoint_id FROM checkpoints WHERE checkpoint_ns = ''",
    )
    assert all(r["checkpoint_id"] > (r["parent_checkpoint_id"] or "") for r in rows)
    again = await other.runs.wait(thread["thread_id"], "nested", input={"items": ["more"]})
    assert again["items"][:5] == ["before", "before", "in1", "in2", "after"]
    edited = await other.threads.update_state(thread["thread_id"], {"items": ["by hand"]})
    newest = await other.threads.get_state(thread["thread_id"])
    assert newest["checkpoint"]["checkpoint_id"] == edited["checkpoint"]["checkpoint_id"]
