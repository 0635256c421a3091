"""A deleted run takes its checkpoints along, in all namespaces, and nothing that others need."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.channels import DeltaChannel
from langgraph.graph import MessagesState
from langgraph.types import interrupt

from langgraph_durable.engine import DurableEngine
from langgraph_durable.errors import InvalidRequest, RunNotFound, ThreadBusy
from langgraph_durable.model import RecoveryStrategy, Run, Ttl
from langgraph_durable.serde import decode
from tests.conftest import MakeEngine
from tests.graphs import Gate, State, abandon, chain, ended, run, said, says, submit, wired
from tests.logs import query

TABLES = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")


def ask(state: State) -> State:
    return {"said": [f"answer={interrupt('q?')}"]}


def fail(state: State) -> State:
    raise ValueError("boom")


def nested() -> Any:
    """A graph with a subgraph that asks."""
    inner = wired({"ask": ask}).compile()
    return chain(before=says("before"), inner=inner, after=says("after"))


def rows(database_url: str) -> dict[str, list[dict[str, Any]]]:
    """All that LangGraph keeps."""
    return {t: sorted(query(database_url, f"SELECT * FROM {t}"), key=str) for t in TABLES}


async def stands(engine: DurableEngine) -> tuple[Any, ...]:
    """All that a thread tells of its state."""
    thread, state = await engine.thread("t"), await engine.state("t")
    assert state is not None
    values = decode(thread.values) if thread.values else None
    return thread.status, values, thread.interrupts, thread.error, state.values, state.next


async def test_the_state_falls_back_to_what_was_before(
    make_engine: MakeEngine, database_url: str
) -> None:
    engine = await make_engine(nested())
    await run(engine, input={"said": ["one"]})
    await run(engine, command={"resume": "yes"})
    before, kept = await stands(engine), rows(database_url)
    last = await run(engine, input={"said": ["two"]})
    assert (await engine.thread("t")).status == "interrupted"
    await engine.delete_run(last.run_id)
    assert await stands(engine) == before
    assert rows(database_url) == kept
    with pytest.raises(RunNotFound):
        await engine.run(last.run_id)
    await run(engine, input={"said": ["three"]})
    assert (await said(engine))[-2:] == ["three", "before"]


async def test_a_question_whose_answer_is_deleted_is_asked_again(
    make_engine: MakeEngine, database_url: str
) -> None:
    engine = await make_engine(nested())
    await run(engine, input={"said": ["one"]})
    before, kept = await stands(engine), rows(database_url)
    answer = await run(engine, command={"resume": "yes"})
    await engine.delete_run(answer.run_id)
    assert await stands(engine) == before
    assert rows(database_url) == kept
    await run(engine, command={"resume": "no"})
    assert await said(engine) == ["one", "before", "one", "before", "answer=no", "after"]


async def test_the_only_run_leaves_an_empty_thread(
    make_engine: MakeEngine, database_url: str
) -> None:
    engine = await make_engine(nested())
    only = await run(engine, input={"said": ["one"]})
    await engine.delete_run(only.run_id)
    assert await stands(engine) == ("idle", None, {}, None, {}, ())
    assert not any(rows(database_url).values())


async def test_a_run_between_others_goes_alone(make_engine: MakeEngine, database_url: str) -> None:
    engine = await make_engine(chain(only=says("x")))
    runs = [await run(engine, input={"said": [name]}) for name in "abc"]
    before = await stands(engine)
    await engine.delete_run(runs[1].run_id)
    assert await stands(engine) == before
    history = await engine.history("t", limit=50)
    assert {state.metadata["run_id"] for state in history} == {runs[0].run_id, runs[2].run_id}
    parents = [
        s.parent_config and s.parent_config["configurable"]["checkpoint_id"] for s in history
    ]
    ids = [s.config["configurable"]["checkpoint_id"] for s in history]
    assert parents == [*ids[1:], None]
    assert [s.values["said"] for s in history if not s.next] == [
        ["a", "x", "b", "x", "c", "x"],
        ["a", "x"],
    ]
    for left in (runs[0], runs[2]):
        await engine.delete_run(left.run_id)
    assert not any(rows(database_url).values())


async def test_an_error_goes_with_its_run_and_comes_back_with_an_older_one(
    make_engine: MakeEngine,
) -> None:
    engine = await make_engine({"good": chain(a=says("x")), "bad": chain(a=says("y"), b=fail)})
    failed = [await run(engine, assistant="bad", input={"said": []}) for _ in range(2)]
    good = await run(engine, assistant="good", input={"said": []})
    assert (await engine.thread("t")).status == "idle"
    await engine.delete_run(good.run_id)
    thread = await engine.thread("t")
    assert (thread.status, thread.error) == ("error", {"error": "ValueError", "message": "boom"})
    for one in failed:
        assert (await engine.thread("t")).status == "error"
        await engine.delete_run(one.run_id)
    assert (await engine.thread("t")).status == "idle"


async def test_what_executes_is_not_deleted_nor_what_it_stands_on(
    make_engine: MakeEngine, database_url: str
) -> None:
    gate = Gate()

    async def node(state: State) -> State:
        if "wait" in state["said"]:
            await gate.wait()
        return {"said": ["x"]}

    engine = await make_engine(chain(node=node))
    first = await run(engine, input={"said": ["a"]})
    second = await submit(engine, input={"said": ["wait"]})
    await asyncio.wait_for(gate.reached.wait(), 15)
    waiting = await submit(engine, input={"said": ["b"]})
    for busy in (first, second, waiting):
        with pytest.raises(ThreadBusy):
            await engine.delete_run(busy.run_id)
    gate.open()
    await ended(engine, waiting)
    await engine.delete_run(first.run_id)
    assert (await engine.thread("t")).status == "idle"


async def test_a_run_that_waits_holds_up_nothing_and_keeps_its_thread_busy(
    make_engine: MakeEngine,
) -> None:
    engine = await make_engine(chain(node=says("x")))
    first, second = [await run(engine, input={"said": [name]}) for name in "ab"]
    waiting = await submit(engine, input={"said": ["c"]}, after_seconds=3600)
    await engine.delete_run(second.run_id)
    left = {"said": ["a", "x"]}
    assert await stands(engine) == ("busy", left, {}, None, left, ())
    await engine.cancel(waiting.run_id)
    await engine.delete_run(waiting.run_id)
    assert (await engine.thread("t")).status == "idle"
    await engine.delete_run(first.run_id)
    assert (await engine.thread("t")).values is None


async def test_what_a_run_left_on_earlier_rotations_goes_too(
    make_engine: MakeEngine, database_url: str
) -> None:
    gate = Gate()

    async def node(state: MessagesState) -> dict[str, Any]:
        if "wait" in state["messages"][-1].content:
            await gate.wait()
        return {"messages": [("ai", "x")]}

    engine = await make_engine(
        wired({"node": node}, MessagesState).compile(), recovery=RecoveryStrategy.EVENT_LOG
    )
    await run(engine, input={"messages": [("user", "a")]})
    kept = query(database_url, "SELECT DISTINCT checkpoint_id FROM checkpoints ORDER BY 1")
    crashed = await submit(engine, input={"messages": [("user", "wait")]})
    await asyncio.wait_for(gate.reached.wait(), 15)
    abandon(database_url, crashed.run_id)
    gate.open()
    done: Run = await ended(engine, crashed, 40)
    assert done.conversation_id != "t"
    await engine.delete_run(crashed.run_id)
    left = query(database_url, "SELECT DISTINCT checkpoint_id FROM checkpoints ORDER BY 1")
    assert left == kept


def joined(held: list[str], news: list[list[str]]) -> list[str]:
    return [*held, *(word for words in news for word in words)]


class Delta(TypedDict, total=False):
    said: Annotated[list[str], DeltaChannel(joined)]


@pytest.fixture
async def of_deltas(make_engine: MakeEngine) -> DurableEngine:
    """An engine whose graph's checkpoints tell only what changed."""

    async def node(state: Delta) -> Delta:
        return {"said": ["x"]}

    engine: DurableEngine = await make_engine(wired({"node": node}, Delta).compile())
    return engine


async def test_a_run_whose_checkpoints_later_ones_build_upon_stays(
    of_deltas: DurableEngine,
) -> None:
    engine = of_deltas
    first, second = [await run(engine, input={"said": [name]}) for name in "ab"]
    with pytest.raises(InvalidRequest, match="what changed"):
        await engine.delete_run(first.run_id)
    assert await said(engine) == ["a", "x", "b", "x"]
    await engine.delete_run(second.run_id)
    assert await said(engine) == ["a", "x"]
    await engine.delete_run(first.run_id)
    assert (await engine.thread("t")).values is None


async def test_such_a_thread_is_not_pruned_and_holds_up_nobody(
    of_deltas: DurableEngine, database_url: str
) -> None:
    engine = of_deltas
    await run(engine, input={"said": ["a"]})
    with pytest.raises(InvalidRequest, match="DeltaChannel"):
        await engine.prune_threads(["t"], strategy="keep_latest")
    await engine.update_thread("t", {}, ttl=Ttl(minutes=1, strategy="keep_latest"))
    await engine.create_thread("zz", ttl=Ttl(minutes=1))
    query(database_url, "UPDATE threads SET expires_at = now() RETURNING 1")
    while await engine._machinery._swept(engine._machinery.sweeper.unused):
        pass
    assert query(database_url, "SELECT thread_id FROM threads") == [{"thread_id": "t"}]
    assert await said(engine) == ["a", "x"]


@pytest.mark.parametrize("whole_thread", [False, True], ids=["its run", "its thread"])
async def test_a_log_goes_with(
    make_engine: MakeEngine, database_url: str, whole_thread: bool
) -> None:
    engine = await make_engine(chain(n=says("one")))
    gone, other = [await run(engine, thread, input={"said": []}) for thread in ("t", "other")]
    await (engine.delete_thread("t") if whole_thread else engine.delete_run(gone.run_id))
    kept = query(database_url, "SELECT DISTINCT run_id::text FROM events")
    assert kept == [{"run_id": other.run_id}]
