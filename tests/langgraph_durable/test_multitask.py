"""A run that meets others on its thread: behind them, instead of them, or not at all."""

from __future__ import annotations

import asyncio
import operator
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from langgraph_durable.engine import DurableEngine
from langgraph_durable.errors import ThreadBusy
from langgraph_durable.model import RunRequest, RunStatus
from langgraph_durable.serde import decode
from tests.conftest import MakeEngine
from tests.logs import query


class State(TypedDict, total=False):
    items: Annotated[list[str], operator.add]


class Slow:
    """Two steps; the second waits for ever when the input asks for it."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        loop = asyncio.get_running_loop()

        async def first(state: State) -> State:
            return {"items": ["first"]}

        async def second(state: State) -> State:
            loop.call_soon_threadsafe(self.entered.set)
            if state["items"][-2] == "wait":
                await asyncio.Event().wait()
            return {"items": ["second"]}

        builder = StateGraph(State)
        builder.add_node("first", first)
        builder.add_node("second", second)
        builder.add_edge(START, "first")
        builder.add_edge("first", "second")
        builder.add_edge("second", END)
        self.graph = builder.compile()


def wish(item: str, **more: Any) -> RunRequest:
    return RunRequest(
        assistant="agent", thread_id="t", if_not_exists="create", input={"items": [item]}, **more
    )


async def items(engine: DurableEngine) -> list[str]:
    state = await engine.state("t")
    assert state is not None
    return list(state.values.get("items", []))


async def before_and_running(engine: DurableEngine, slow: Slow) -> str:
    """A finished turn, and a run that hangs in its second step."""
    await engine.wait((await engine.submit(wish("before"))).run_id)
    slow.entered.clear()
    running = await engine.submit(wish("wait"))
    await slow.entered.wait()
    return running.run_id


BEFORE = ["before", "first", "second"]


async def test_reject_refuses_the_new_run_only(make_engine: MakeEngine) -> None:
    slow = Slow()
    engine = await make_engine(slow.graph)
    run_id = await before_and_running(engine, slow)
    with pytest.raises(ThreadBusy):
        await engine.submit(wish("more", multitask="reject"))
    assert (await engine.run(run_id)).status is RunStatus.RUNNING
    await engine.cancel(run_id)


async def test_interrupt_keeps_the_finished_steps_of_the_run_it_stops(
    make_engine: MakeEngine,
) -> None:
    slow = Slow()
    engine = await make_engine(slow.graph)
    run_id = await before_and_running(engine, slow)
    queued = await engine.submit(wish("queued"))
    last = await engine.submit(wish("more", multitask="interrupt"))
    assert (await engine.wait(last.run_id)).status is RunStatus.SUCCESS
    assert (await engine.run(run_id)).status is RunStatus.INTERRUPTED
    assert (await engine.run(queued.run_id)).status is RunStatus.INTERRUPTED
    assert await items(engine) == [*BEFORE, "wait", "first", "more", "first", "second"]


async def test_rollback_leaves_the_thread_as_if_the_run_had_never_been(
    make_engine: MakeEngine, database_url: str
) -> None:
    slow = Slow()
    engine = await make_engine(slow.graph)
    run_id = await before_and_running(engine, slow)
    queued = await engine.submit(wish("queued"))
    last = await engine.submit(wish("more", multitask="rollback"))
    assert (await engine.wait(last.run_id)).status is RunStatus.SUCCESS
    assert await items(engine) == [*BEFORE, "more", "first", "second"]
    hidden = {r.run_id: (await engine.run(r.run_id)).hidden for r in (queued, last)}
    assert hidden == {queued.run_id: True, last.run_id: False}
    assert (await engine.run(run_id)).hidden
    assert (await engine.runs("t"))[0].run_id == last.run_id
    assert len(await engine.runs("t")) == 2
    mentions = query(
        database_url, "SELECT 1 FROM checkpoints WHERE metadata ->> 'run_id' = %s", (run_id,)
    )
    assert mentions == []


async def test_a_cancel_can_roll_back(make_engine: MakeEngine) -> None:
    slow = Slow()
    engine = await make_engine(slow.graph)
    run_id = await before_and_running(engine, slow)
    await engine.cancel(run_id, action="rollback")
    assert (await engine.wait(run_id)).status is RunStatus.INTERRUPTED
    assert await items(engine) == BEFORE
    thread = await engine.thread("t")
    assert thread.status == "idle"
    assert decode(thread.values or "") == {"items": BEFORE}


async def test_an_approval_does_not_survive_a_rollback(
    make_engine: MakeEngine, database_url: str
) -> None:
    entered = asyncio.Event()
    loop = asyncio.get_running_loop()
    executed: list[Any] = []

    async def ask(state: State) -> State:
        answer = interrupt("delete?")
        loop.call_soon_threadsafe(entered.set)
        if answer == "yes":
            await asyncio.Event().wait()
        executed.append(answer)
        return {"items": [str(answer)]}

    builder = StateGraph(State)
    builder.add_node("ask", ask)
    builder.add_edge(START, "ask")
    builder.add_edge("ask", END)
    engine = await make_engine(builder.compile())
    await engine.wait((await engine.submit(wish("in"))).run_id)
    writes = "SELECT task_id, idx, channel, blob FROM checkpoint_writes ORDER BY 1, 2, 3"
    before = query(database_url, writes)
    approved = await engine.submit(
        RunRequest(assistant="agent", thread_id="t", command={"resume": "yes"})
    )
    await entered.wait()
    await engine.cancel(approved.run_id, action="rollback")
    await engine.wait(approved.run_id)
    assert query(database_url, writes) == before
    thread = await engine.thread("t")
    assert thread.status == "interrupted"
    again = await engine.submit(RunRequest(assistant="agent", thread_id="t", input=None))
    await engine.wait(again.run_id)
    assert executed == []
    answered = await engine.submit(
        RunRequest(assistant="agent", thread_id="t", command={"resume": "no"})
    )
    await engine.wait(answered.run_id)
    assert executed == ["no"]


@pytest.mark.parametrize("action", ["interrupt", "rollback"])
async def test_a_run_whose_owner_is_gone_is_stopped_by_the_sweep(
    make_engine: MakeEngine, database_url: str, action: str
) -> None:
    slow = Slow()
    engine = await make_engine(slow.graph)
    run_id = await before_and_running(engine, slow)
    (attempt,) = engine._machinery._worker._attempts
    engine._machinery._keeper.release(attempt._lease)
    query(
        database_url,
        "UPDATE runs SET worker_id = 'ghost', attempt = attempt + 1, lease_expires_at = now(),"
        " cancel_action = %s WHERE run_id = %s RETURNING run_id",
        (action, run_id),
    )
    assert (await engine.wait(run_id)).status is RunStatus.INTERRUPTED
    kept = [] if action == "rollback" else ["wait", "first"]
    assert await items(engine) == [*BEFORE, *kept]
    assert (await engine.run(run_id)).hidden is (action == "rollback")


async def test_a_delayed_run_waits_and_blocks_nobody(
    make_engine: MakeEngine, database_url: str
) -> None:
    engine = await make_engine(Slow().graph)
    later = await engine.submit(wish("later", after_seconds=3600))
    now = await engine.submit(wish("now"))
    assert (await engine.wait(now.run_id)).status is RunStatus.SUCCESS
    assert (await engine.run(later.run_id)).status is RunStatus.PENDING
    query(
        database_url,
        "UPDATE runs SET available_at = now() WHERE run_id = %s RETURNING run_id",
        (later.run_id,),
    )
    assert (await engine.wait(later.run_id)).status is RunStatus.SUCCESS
    assert await items(engine) == ["now", "first", "second", "later", "first", "second"]
