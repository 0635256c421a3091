"""Rollbacks, forks and recoveries when little is durable yet, or an odd place is asked for."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from langgraph.graph import END, START, MessagesState, StateGraph

from langgraph_durable.engine import DurableEngine
from langgraph_durable.model import RecoveryStrategy, Run, RunStatus
from langgraph_durable.policy import RunPolicy
from langgraph_durable.postgres import transaction
from langgraph_durable.serde import decode
from langgraph_durable.served import Served
from langgraph_durable.store import claims
from tests.conftest import MakeEngine
from tests.graphs import (
    Gate,
    State,
    abandon,
    chain,
    ended,
    eventually,
    run,
    said,
    says,
    submit,
    wired,
)
from tests.logs import query, read_log

WAITING_FOR_A_LOCK = (
    "SELECT 1 FROM pg_locks WHERE NOT granted"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


async def test_a_rollback_that_meets_an_attempt_before_its_entry_is_read_deletes_nothing(
    make_engine: MakeEngine, database_url: str
) -> None:
    engine = await make_engine(chain(a=says("a")))
    await run(engine, input={"said": ["turn"]})
    before = len(await engine.history("t", limit=100))
    options = "-c search_path=langgraph_durable"
    with psycopg.connect(database_url, options=options) as other:
        other.execute("LOCK TABLE checkpoint_writes IN ACCESS EXCLUSIVE MODE")
        submitted = await submit(engine, input={"said": ["oops"]})
        await eventually(lambda: bool(query(database_url, WAITING_FOR_A_LOCK)), "it reads")
        await engine.cancel(submitted.run_id, action="rollback")
        stopped = await ended(engine, submitted)
    assert (stopped.status, stopped.hidden) == (RunStatus.INTERRUPTED, True)
    assert len(await engine.history("t", limit=100)) == before
    assert await said(engine) == ["turn", "a"]


@pytest.mark.parametrize("status", ["pending", "running"])
async def test_a_rollback_of_an_attempt_that_never_began_deletes_nothing(
    make_engine: MakeEngine, database_url: str, status: str
) -> None:
    graph = chain(a=says("a"))
    engine = await make_engine(graph)
    await run(engine, input={"said": ["turn"]})
    await engine.stop()
    asking = await make_engine(graph, works=False)
    submitted = await claimed_by_nobody(asking, database_url, status)
    await asking.cancel(submitted.run_id, action="rollback")
    working = await make_engine(graph)
    assert (await ended(working, submitted)).status is RunStatus.INTERRUPTED
    assert await said(working) == ["turn", "a"]
    assert (await working.thread("t")).status == "idle"


async def claimed_by_nobody(engine: DurableEngine, database_url: str, status: str) -> Run:
    """A run whose owner won it and did nothing: ``pending`` if it was handed back, or it died."""
    submitted = await submit(engine, input={"said": ["oops"]})
    async with transaction(engine._machinery.pool) as conn:
        await claims.claim(
            conn,
            worker_id="ghost",
            served=Served({"agent": RunPolicy(max_attempts=3)}).rows(),
            slots=1,
            idle=True,
            lease_seconds=60,
        )
    statement = "UPDATE runs SET lease_expires_at = now() WHERE run_id = %s"
    if status == "pending":
        statement = (
            "UPDATE runs SET status = 'pending', worker_id = NULL, lease_expires_at = NULL"
            " WHERE run_id = %s"
        )
    query(database_url, statement, (submitted.run_id,))
    return submitted


async def test_an_event_log_recovery_without_input_goes_on_where_the_thread_stood(
    make_engine: MakeEngine, database_url: str
) -> None:
    gate, executed = Gate(), list[str]()

    async def plan(state: MessagesState) -> Any:
        executed.append("plan")
        return {"messages": [("ai", "planned")]}

    async def act(state: MessagesState) -> Any:
        executed.append("act")
        if executed.count("act") == 1:
            await gate.wait()
        return {"messages": [("ai", "acted")]}

    graph = wired({"plan": plan, "act": act}, MessagesState).compile(interrupt_before=["act"])
    engine = await make_engine(graph, recovery=RecoveryStrategy.EVENT_LOG)
    await run(engine, input={"messages": ["go"]})
    going_on = await submit(engine)
    await gate.reached.wait()
    abandon(database_url, going_on.run_id)
    done = await ended(engine, going_on)
    assert (done.status, done.conversation_id) == ("success", f"t::attempt-{done.attempt}")
    assert executed == ["plan", "act", "act"]
    texts = [m["content"] for m in decode(done.output or "")["messages"]]
    assert texts[0:2] == ["go", "planned"]
    assert texts[2].startswith("[RECOVERY]")
    assert texts[3:] == ["acted"]


async def test_a_fork_from_a_breakpoint_recovers_behind_it(
    make_engine: MakeEngine, database_url: str
) -> None:
    gate, executed = Gate(), list[str]()

    async def b(state: State) -> State:
        executed.append("b")
        if len(executed) == 2:
            await gate.wait()
        return {"said": ["b"]}

    nodes = {"a": says("a"), "b": b, "c": says("c")}
    engine = await make_engine(wired(nodes).compile(interrupt_before=["b"]))
    await run(engine, input={"said": []})
    stands = await engine.state("t")
    assert stands is not None
    assert stands.next == ("b",)
    await run(engine)
    place = {"checkpoint_id": stands.config["configurable"]["checkpoint_id"]}
    fork = await submit(engine, checkpoint=place)
    await gate.reached.wait()
    abandon(database_url, fork.run_id)
    assert (await ended(engine, fork)).status is RunStatus.SUCCESS
    assert executed == ["b", "b", "b"]
    assert await said(engine) == ["a", "b", "c"]


async def test_a_checkpoint_id_in_a_clients_configurable_does_not_stick(
    make_engine: MakeEngine, database_url: str
) -> None:
    engine = await make_engine(chain(a=says("a")))
    await run(engine, input={"said": ["one"]})
    old = await engine.state("t")
    assert old is not None
    configurable = {
        "checkpoint_id": old.config["configurable"]["checkpoint_id"],
        "checkpoint_ns": "x",
        "__pregel_task_id": "x",
    }
    await run(engine, input={"said": ["two"]}, config={"configurable": configurable})
    expected = ["one", "a", "two", "a"]
    assert await said(engine) == expected
    await engine.update_state("t", {"said": ["edit"]}, as_node="a")
    assert await said(engine) == [*expected, "edit"]
    assert decode((await engine.thread("t")).values or "")["said"] == [*expected, "edit"]
    parents = "SELECT parent_checkpoint_id AS id FROM checkpoints WHERE thread_id = 't'"
    ids = [row["id"] for row in query(database_url, parents)]
    assert len(ids) == len(set(ids))  # one line, no fork


async def test_updates_of_finished_subgraph_nodes_are_not_logged_again_after_a_recovery(
    make_engine: MakeEngine, database_url: str
) -> None:
    gate, executed = Gate(), list[str]()

    async def silent(state: State) -> None:
        executed.append("silent")

    async def slow(state: State) -> State:
        executed.append("slow")
        if executed.count("slow") == 1:
            await gate.wait()
        return {"said": ["slow"]}

    builder = StateGraph(State)
    for name, node in {"fast": says("fast"), "silent": silent, "slow": slow}.items():
        builder.add_node(name, node)
        builder.add_edge(START, name)
        builder.add_edge(name, END)
    engine = await make_engine(chain(outer=builder.compile()))
    submitted = await submit(engine, input={"said": []}, stream_modes=("updates", "tasks"))
    await gate.reached.wait()
    await eventually(lambda: len(updates(database_url, submitted)) == 2, "two have finished")
    writes = "SELECT DISTINCT task_id FROM checkpoint_writes WHERE checkpoint_ns <> ''"
    await eventually(lambda: len(query(database_url, writes)) == 3, "their results are durable")
    abandon(database_url, submitted.run_id)
    assert (await ended(engine, submitted)).status is RunStatus.SUCCESS
    assert executed.count("silent") == 1
    assert sorted(updates(database_url, submitted)) == ["fast", "outer", "silent", "slow"]
    assert sorted(await said(engine)) == ["fast", "slow"]


def updates(database_url: str, submitted: Run) -> list[str]:
    """The nodes whose updates the log holds."""
    log = read_log(database_url, submitted.run_id)
    return [next(iter(decode(e.data))) for e in log if e.mode == "updates"]
