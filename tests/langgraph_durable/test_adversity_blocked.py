"""Nodes that block their thread, and attempts that cannot begin, hold up nobody and nothing."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from langgraph.graph import MessagesState

from langgraph_durable import attempt, worker
from langgraph_durable.engine import DurableEngine
from langgraph_durable.loops import GraphLoop
from langgraph_durable.model import RecoveryStrategy, RunStatus
from langgraph_durable.serde import decode
from tests.conftest import MakeEngine
from tests.graphs import Gate, State, chain, ended, eventually, run, said, says, submit, wired
from tests.logs import query, read_log


def blocks(gate: Gate) -> Any:
    async def node(state: State) -> State:
        gate.block()
        return {"said": ["blocked"]}

    return node


async def test_an_attempt_that_cannot_begin_ends_with_the_reason_and_the_others_run(
    make_engine: MakeEngine,
) -> None:
    graph = chain(n=says("done"))
    asking = await make_engine(graph, works=False)
    good = [await submit(asking, f"good {i}", input={"said": []}) for i in range(3)]
    modes: Any = None
    bad = await submit(asking, "bad", input={"said": []}, stream_modes=modes)
    good.append(await submit(asking, "last", input={"said": []}))
    engine = await make_engine(graph)
    failed = await ended(engine, bad)
    assert (failed.status, failed.error and failed.error["error"]) == ("error", "TypeError")
    for one in good:
        assert (await ended(engine, one)).status is RunStatus.SUCCESS


async def test_runs_that_no_loop_can_be_started_for_wait_and_can_be_cancelled(
    make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate()
    engine = await make_engine({"agent": chain(n=says("done")), "blocks": chain(n=blocks(gate))})
    loops, refused = engine._machinery.loops, asyncio.Event()
    add = loops._add

    def no_more() -> GraphLoop:
        refused.set()
        raise OSError("too many open files")

    monkeypatch.setattr(loops, "_add", no_more)
    blocked = await submit(engine, "blocked", assistant="blocks", input={"said": []})
    await gate.reached.wait()
    waits = await submit(engine, "waits", input={"said": []})
    stopped = await submit(engine, "stopped", input={"said": []})
    await refused.wait()
    await engine.cancel(stopped.run_id)
    assert (await ended(engine, stopped)).status is RunStatus.INTERRUPTED
    assert not (await engine.run(waits.run_id)).status.terminal
    monkeypatch.setattr(loops, "_add", add)
    done = await ended(engine, waits)
    assert (done.status, done.crashes) == ("success", 0)
    assert done.attempt < 10  # it was not claimed as fast as the database could
    gate.open()
    assert (await ended(engine, blocked)).status is RunStatus.SUCCESS


def blocked_thread(gate: Gate) -> None:
    gate.block()


def deaf_to_cancels(gate: Gate) -> Any:
    async def wait() -> None:
        waiting = asyncio.ensure_future(gate.wait())
        while not waiting.done():
            try:
                await asyncio.shield(waiting)
            except asyncio.CancelledError:
                continue

    return wait()


@pytest.mark.parametrize("wait", [blocked_thread, deaf_to_cancels])
async def test_a_node_that_outlasts_the_shutdown_grace_is_handed_back_as_by_any_deploy(
    make_engine: MakeEngine, database_url: str, monkeypatch: pytest.MonkeyPatch, wait: Any
) -> None:
    monkeypatch.setattr(worker, "HAND_BACK_SECONDS", 0.2)
    monkeypatch.setattr(attempt, "CANCEL_PATIENCE_SECONDS", 0.5)
    gate, executed = Gate(), list[float]()

    async def node(state: MessagesState) -> Any:
        executed.append(time.monotonic())
        if len(executed) == 1 and (waiting := wait(gate)) is not None:
            await waiting
        return {"messages": [("ai", "done")]}

    knobs = {"recovery": RecoveryStrategy.EVENT_LOG, "shutdown_grace_seconds": 0.1}
    graph = wired({"n": node}, MessagesState).compile()
    engine = await make_engine(graph, **knobs)
    submitted = await submit(engine, input={"messages": []})
    await gate.reached.wait()
    await engine.stop()
    rows = query(database_url, "SELECT status, crashes, worker_id FROM runs")
    assert rows == [{"status": "pending", "crashes": 0, "worker_id": None}]
    successor = await make_engine(graph, **knobs)
    done = await ended(successor, submitted)
    gate.open()
    assert (done.status, done.crashes, done.conversation_id) == ("success", 0, "t")
    log = read_log(database_url, submitted.run_id)
    assert [decode(e.data)["reason"] for e in log if e.name == "recovered"] == ["deploy"]
    assert query(database_url, "SELECT * FROM thread_aliases") == []


async def test_a_cancel_ends_a_run_whose_node_blocks_its_loop(
    make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "DEAF_SECONDS", 0.3)
    gate = Gate()
    engine = await make_engine({"agent": chain(n=says("done")), "blocks": chain(n=blocks(gate))})
    blocked = await submit(engine, assistant="blocks", input={"said": []})
    await gate.reached.wait()
    await engine.cancel(blocked.run_id)
    stopped = await ended(engine, blocked)
    assert (stopped.status, stopped.error) == (RunStatus.INTERRUPTED, None)
    after = await run(engine, input={"said": ["again"]})
    gate.open()
    assert after.status is RunStatus.SUCCESS
    await eventually(lambda: not engine._machinery._worker._attempts, "the node has ended")
    assert await said(engine) == ["again", "done"]


@pytest.mark.parametrize("action", ["interrupt", "rollback"])
async def test_abandoned_cancelled_runs_end_although_no_slot_is_free(
    make_engine: MakeEngine, database_url: str, action: str
) -> None:
    gate = Gate()

    async def waits(state: State) -> State:
        await gate.wait()
        return {"said": ["done"]}

    engine: DurableEngine = await make_engine(chain(n=waits), jobs_per_worker=1)
    busy = await submit(engine, "busy", input={"said": []})
    await gate.reached.wait()
    dead = await submit(engine, "dead", input={"said": []})
    query(
        database_url,
        "WITH dead AS (UPDATE runs SET status = 'running', worker_id = 'ghost', attempt = 1,"
        " lease_expires_at = now() WHERE run_id = %s RETURNING run_id, thread_id)"
        " UPDATE threads t SET active_run_id = dead.run_id FROM dead"
        " WHERE t.thread_id = dead.thread_id RETURNING 1",
        (dead.run_id,),
    )
    await engine.cancel(dead.run_id, action=action)
    assert (await ended(engine, dead)).status is RunStatus.INTERRUPTED
    assert (await engine.run(busy.run_id)).status is RunStatus.RUNNING
    gate.open()
    assert (await ended(engine, busy)).status is RunStatus.SUCCESS
