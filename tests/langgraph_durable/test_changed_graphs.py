"""A deploy changes graphs under threads that stand in them: errors that name it, states to read."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from langgraph_durable.changed import gone
from langgraph_durable.engine import DurableEngine
from langgraph_durable.model import Run
from langgraph_durable.postgres import transaction
from tests.conftest import MakeEngine
from tests.graphs import Gate, State, abandon, chain, ended, run, said, says, submit, wired
from tests.logs import query, read_log


async def asks(state: State) -> State:
    return {"said": [interrupt("well?")]}


def nested(*, node: str) -> Any:
    """A graph in a graph in a graph, the innermost of which asks."""
    inner = chain(**{"first": says("first"), node: asks})
    return chain(outer=chain(inner=inner))


def joined(*, node: str, before: tuple[str, ...] = ()) -> Any:
    """Two nodes, and a third one behind both."""
    builder = StateGraph(State)
    for name in ("fast", node, "join"):
        builder.add_node(name, says(name))
    builder.add_edge(START, "fast")
    builder.add_edge("fast", node)
    builder.add_edge(["fast", node], "join")
    builder.add_edge("join", END)
    return builder.compile(interrupt_before=list(before))


async def failed(engine: DurableEngine, **wish: Any) -> Run:
    """A run that ends at once by what the deploy did."""
    done = await run(engine, **wish)
    assert (done.status, done.attempt, (done.error or {})["error"]) == ("error", 1, "GraphChanged")
    return done


async def test_a_node_that_is_gone_from_a_subgraph_is_named_and_the_thread_goes_on(
    make_engine: MakeEngine, database_url: str
) -> None:
    before = await make_engine(nested(node="ask"))
    await run(before, input={"said": []})
    await before.stop()
    engine = await make_engine(nested(node="ask_again"))
    done = await failed(engine, command={"resume": "yes"})
    assert "no longer has: outer/inner/ask." in (done.error or {})["message"]
    assert [e.name for e in read_log(database_url, done.run_id)].count("end") == 1
    assert await said(engine) == []
    assert (await run(engine, input={"said": ["again"]})).status == "success"
    assert (await run(engine, command={"resume": "now"})).status == "success"
    assert (await said(engine))[-1] == "now"


async def test_an_edge_from_several_nodes_that_is_gone_is_named(make_engine: MakeEngine) -> None:
    before = await make_engine(joined(node="slow", before=("join",)))
    await run(before, input={"said": []})
    assert await said(before) == ["fast", "slow"]
    await before.stop()
    engine = await make_engine(joined(node="slower"))
    done = await failed(engine, input=None)
    assert "no longer has: join (behind fast, slow)." in (done.error or {})["message"]
    assert await said(engine) == ["fast", "slow"]


def test_an_edge_is_missed_only_when_its_last_node_has_run_or_comes_next() -> None:
    graph = joined(node="slower")
    held = "join:fast+slow:join"
    assert gone(graph, {held: {"fast", "slow"}}) == ["join (behind fast, slow)"]
    assert gone(graph, {held: {"fast"}, "branch:to:slow": None})[-1] == "join (behind fast, slow)"
    assert gone(graph, {held: {"fast"}}) == []
    assert gone(graph, {held: set()}) == []
    assert gone(graph, {"join:fast+slower:join": {"fast", "slower"}}) == []


async def test_a_crashed_run_whose_node_is_gone_ends_once_and_for_all(
    make_engine: MakeEngine, database_url: str
) -> None:
    gate = Gate()

    async def waits(state: State) -> State:
        await gate.wait()
        return {"said": ["two"]}

    before = await make_engine(chain(one=says("one"), two=waits), shutdown_grace_seconds=0.1)
    submitted = await submit(before, input={"said": []}, durability="sync")
    await gate.reached.wait()
    abandon(database_url, submitted.run_id)
    gate.open()
    await before.stop()
    query(
        database_url,
        "UPDATE runs SET status = 'running', worker_id = 'ghost',"
        " lease_expires_at = clock_timestamp() WHERE finished_at IS NULL",
    )
    engine = await make_engine(chain(one=says("one"), deux=says("deux")))
    done = await ended(engine, submitted)
    assert (done.status, (done.error or {})["error"]) == ("error", "GraphChanged")
    assert "no longer has: two." in (done.error or {})["message"]
    assert await said(engine) == ["one"]


class Told(TypedDict, total=False):
    told: Annotated[list[str], operator.add]


async def test_a_renamed_key_fails_the_run_with_the_key_and_leaves_the_rest_to_read(
    make_engine: MakeEngine,
) -> None:
    """langchain-ai/langgraph#9001, docs#3843: old checkpoints met a graph without their keys."""

    async def reads(state: Any) -> Any:
        return {"told": [state["unknown"]]}

    before = await make_engine(chain(one=says("one"), ask=asks))
    await run(before, input={"said": []})
    await before.stop()
    engine = await make_engine(wired({"one": says("one"), "ask": reads}, Told).compile())
    done = await run(engine, command={"resume": "yes"})
    assert (done.status, done.error) == (
        "error",
        {"error": "KeyError", "message": "'unknown'"},
    )
    state = await engine.state("t")
    assert state.values.get("told", []) == []
    assert (await engine.thread("t")).status == "error"


# -- a graph that is served no more ----------------------------------------------------------------

GONE = {"unserved_graph_seconds": 60, "claim_poll_seconds": 0.05}


async def deployed_without_it(make_engine: MakeEngine) -> tuple[DurableEngine, Run]:
    """A server of other graphs, and a run that waits for the one it had."""
    before = await make_engine({"agent": chain(n=says("one"))})
    await run(before, input={"said": []})
    await before.stop()
    asker = await make_engine({"agent": chain(n=says("one"))}, works=False)
    waiting = await submit(asker, input={"said": []})
    return await make_engine({"other": chain(n=says("x"))}, **GONE), waiting


async def sweep(engine: DurableEngine) -> None:
    async with transaction(engine._machinery.pool) as conn:
        await engine._machinery.orphans.sweep(conn)


def make_old(database_url: str, seconds: int) -> None:
    past = f"now() - interval '{seconds} seconds'"
    query(database_url, f"UPDATE runs SET available_at = {past} WHERE status = 'pending'")
    query(database_url, f"UPDATE served_graphs SET seen_at = {past} WHERE graph_id = 'agent'")


async def test_a_run_of_a_graph_that_nobody_serves_any_more_ends_with_its_name(
    make_engine: MakeEngine, database_url: str
) -> None:
    engine, waiting = await deployed_without_it(make_engine)
    make_old(database_url, 61)
    await sweep(engine)
    done = await ended(engine, waiting)
    assert (done.status, (done.error or {})["error"]) == ("error", "GraphNotServed")
    assert "'agent'" in (done.error or {})["message"]
    assert [e.name for e in read_log(database_url, done.run_id)] == ["created", "end"]
    assert (await engine.thread("t")).status == "error"


async def test_its_state_and_history_can_still_be_read(make_engine: MakeEngine) -> None:
    engine, _ = await deployed_without_it(make_engine)
    state = await engine.state("t")
    assert state is not None
    assert (state.values, state.next) == ({"said": ["one"]}, ())
    history = await engine.history("t")
    assert history[0].values["said"] == ["one"]
    assert history[1].next == ("n",)
    named = await engine.state("t", checkpoint=history[1].config["configurable"])
    assert named is not None
    assert named.next == ("n",)


@pytest.mark.parametrize("reason", ["it was served lately", "it waits no longer", "an old server"])
async def test_a_run_whose_graph_may_come_back_waits(
    make_engine: MakeEngine, database_url: str, reason: str
) -> None:
    engine, waiting = await deployed_without_it(make_engine)
    make_old(database_url, 61)
    if reason == "it was served lately":
        query(database_url, "UPDATE served_graphs SET seen_at = now()")
    elif reason == "it waits no longer":
        query(database_url, "UPDATE runs SET available_at = now() WHERE status = 'pending'")
    else:
        query(
            database_url,
            "INSERT INTO workers (worker_id, expires_at) VALUES ('old', now() + interval '1 hour')",
        )
    await sweep(engine)
    assert (await engine.run(waiting.run_id)).status == "pending"
    await make_engine({"agent": chain(n=says("back"))}, **GONE)
    assert (await ended(engine, waiting)).status == "success"
    assert await said(engine) == ["one", "back"]
