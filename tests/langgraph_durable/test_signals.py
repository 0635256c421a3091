"""Signals: before, while and after somebody waits for them; each ends one wait."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.graph import END, START, StateGraph

from langgraph_durable.errors import InvalidRequest, ThreadNotFound
from langgraph_durable.model import RecoveryStrategy, RunStatus
from langgraph_durable.waits import wait_for_signal
from tests.conftest import MakeEngine
from tests.graphs import Gate, State, abandon, chain, ended, eventually, said, says, submit
from tests.logs import query
from tests.waiting import (
    HOUR,
    asleep,
    beside,
    hears,
    pass_time,
    row,
    sleeper,
    sleeps,
    until_asleep,
)


async def test_a_signal_wakes_who_waits_for_it(make_engine: MakeEngine, database_url: str) -> None:
    engine = await make_engine(
        chain(first=says("first"), hears=hears("paid")), claim_poll_seconds=60.0
    )
    waiting = await sleeper(engine, database_url)
    assert await engine.signal("t", "paid", {"by": ["card", None, 1.5]})
    assert (await ended(engine, waiting)).status is RunStatus.SUCCESS
    assert await said(engine) == ["first", "paid={'by': ['card', None, 1.5]}"]


async def test_a_signal_of_another_name_or_thread_wakes_nobody(
    make_engine: MakeEngine, database_url: str
) -> None:
    engine = await make_engine(chain(hears=hears("paid")))
    waiting = await sleeper(engine, database_url)
    await engine.create_thread("other")
    await engine.signal("t", "sent")
    await engine.signal("other", "paid")
    await engine.signal("t", "paid", "yes")
    await ended(engine, waiting)
    assert row(database_url, waiting.run_id)["attempt"] == 2
    assert await said(engine) == ["paid=yes"]


async def test_signals_that_came_before_are_heard_in_their_order(
    make_engine: MakeEngine, database_url: str
) -> None:
    def node(state: State) -> State:
        first, second = wait_for_signal("n"), wait_for_signal("n")
        return {"said": [f"{first},{second}"]}

    engine = await make_engine(chain(node=node, hears=hears("n", timeout=HOUR)))
    await engine.create_thread("t")
    for value in (1, 2):
        await engine.signal("t", "n", value)
    waiting = await submit(engine, input={"said": []})
    await eventually(lambda: asleep(database_url, waiting.run_id, 3), "it waits for a third")
    assert await said(engine) == ["1,2"]
    await engine.signal("t", "n", None)
    await ended(engine, waiting)
    assert await said(engine) == ["1,2", "n=None"]


async def test_a_signal_without_a_wait_is_kept_for_a_later_run(make_engine: MakeEngine) -> None:
    engine = await make_engine(chain(first=says("first"), hears=hears("n")))
    await engine.create_thread("t")
    await engine.signal("t", "n", "kept")
    await ended(engine, await submit(engine, input={"said": []}))
    assert await said(engine) == ["first", "n=kept"]


async def test_the_same_signal_twice_is_one(make_engine: MakeEngine, database_url: str) -> None:
    engine = await make_engine(chain(one=hears("n"), two=hears("n", timeout=HOUR)))
    waiting = await sleeper(engine, database_url)
    assert await engine.signal("t", "n", "first", signal_id="a")
    assert not await engine.signal("t", "n", "second", signal_id="a")
    await asyncio.to_thread(until_asleep, database_url, waiting.run_id, 2)
    assert not await engine.signal("t", "n", "third", signal_id="a")
    assert await engine.signal("t", "other", "elsewhere", signal_id="a")
    pass_time(database_url, HOUR)
    await ended(engine, waiting)
    assert await said(engine) == ["n=first", "n=nothing"]


async def test_two_waits_beside_each_other_get_a_signal_each(
    make_engine: MakeEngine, database_url: str
) -> None:
    engine = await make_engine(beside(left=hears("n"), right=hears("n")))
    waiting = await sleeper(engine, database_url)
    await engine.signal("t", "n", 1)
    await asyncio.to_thread(until_asleep, database_url, waiting.run_id, 2)
    [first] = await said(engine)
    assert first == "n=1"
    await engine.signal("t", "n", 2)
    await ended(engine, waiting)
    assert sorted(await said(engine)) == ["join", "n=1", "n=2"]


async def test_a_wait_ends_without_a_signal_when_its_time_is_over(
    make_engine: MakeEngine, database_url: str
) -> None:
    engine = await make_engine(chain(hears=hears("n", timeout=HOUR), last=hears("n")))
    waiting = await sleeper(engine, database_url)
    pass_time(database_url, HOUR)
    await asyncio.to_thread(until_asleep, database_url, waiting.run_id, 2)
    assert await said(engine) == ["n=nothing"]
    await engine.signal("t", "n", "late")
    await ended(engine, waiting)
    assert await said(engine) == ["n=nothing", "n=late"]


async def test_a_signal_counts_that_is_there_when_time_is_up(
    make_engine: MakeEngine, database_url: str
) -> None:
    """Nobody was there to wake the run in between."""
    graph = chain(hears=hears("n", timeout=HOUR))
    first = await make_engine(graph)
    waiting = await sleeper(first, database_url)
    await first.stop()
    asking = await make_engine(graph, works=False)
    pass_time(database_url, HOUR)
    await asking.signal("t", "n", "just in time")
    second = await make_engine(graph)
    await ended(second, waiting)
    assert await said(second) == ["n=just in time"]


async def test_a_wait_without_a_time_out_waits_for_ever(
    make_engine: MakeEngine, database_url: str
) -> None:
    engine = await make_engine(beside(hears=hears("n"), nap=sleeps(HOUR)))
    waiting = await sleeper(engine, database_url)
    pass_time(database_url, HOUR)
    await asyncio.to_thread(until_asleep, database_url, waiting.run_id, 2)
    assert row(database_url, waiting.run_id)["available_at"].year >= 8999
    assert await said(engine) == ["slept"]
    await engine.cancel(waiting.run_id)


@pytest.mark.parametrize("strategy", list(RecoveryStrategy))
async def test_a_crash_behind_a_signal_gets_the_same_value(
    make_engine: MakeEngine, database_url: str, strategy: RecoveryStrategy
) -> None:
    gate = Gate()
    heard: list[Any] = []

    async def node(state: State) -> State:
        heard.append(wait_for_signal("n"))
        await gate.wait()
        return {"said": [f"heard {heard[-1]}"]}

    engine = await make_engine(chain(node=node), hook=lambda request, _: request, recovery=strategy)
    waiting = await sleeper(engine, database_url)
    await engine.signal("t", "n", 1)
    await gate.reached.wait()
    await engine.signal("t", "n", 2)
    abandon(database_url, waiting.run_id)
    await eventually(lambda: len(heard) == 2, "the node runs again")
    gate.open()
    await ended(engine, waiting)
    assert heard == [1, 1]
    assert await said(engine) == ["heard 1"]
    left = query(database_url, "SELECT value FROM signals WHERE taken_by IS NULL")
    assert [each["value"] for each in left] == ["2"]


async def test_a_rollback_gives_back_the_signals_that_its_run_took(
    make_engine: MakeEngine, database_url: str
) -> None:
    engine = await make_engine(chain(one=hears("n"), nap=sleeps()))
    waiting = await sleeper(engine, database_url)
    await engine.signal("t", "n", "kept")
    await asyncio.to_thread(until_asleep, database_url, waiting.run_id, 2)
    await engine.cancel(waiting.run_id, action="rollback")
    again = await submit(engine, input={"said": []})
    await eventually(lambda: asleep(database_url, again.run_id, 2), "it has heard and sleeps")
    assert await said(engine) == ["n=kept"]
    await engine.cancel(again.run_id)


async def test_a_signal_needs_a_thread_and_a_name(make_engine: MakeEngine) -> None:
    engine = await make_engine(chain(first=says("first")))
    with pytest.raises(ThreadNotFound):
        await engine.signal("nowhere", "n")
    await engine.create_thread("t")
    for name, signal_id in (("", None), ("n" * 256, None), ("n", ""), ("n", "i" * 256)):
        with pytest.raises(InvalidRequest):
            await engine.signal("t", name, signal_id=signal_id)


@pytest.mark.parametrize("name", ["", "n" * 256])
async def test_a_wait_needs_a_name(make_engine: MakeEngine, name: str) -> None:
    engine = await make_engine(chain(node=hears(name)))
    failed = await ended(engine, await submit(engine, input={"said": []}))
    assert (failed.error or {})["error"] == "ValueError"


async def test_outside_the_engine_a_wait_is_an_interrupt() -> None:
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import Command

    builder = StateGraph(State)
    builder.add_node("hears", hears("n"))
    builder.add_edge(START, "hears")
    builder.add_edge("hears", END)
    graph = builder.compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    stopped = await graph.ainvoke({"said": []}, config)
    assert "__interrupt__" in stopped
    assert (await graph.ainvoke(Command(resume="by hand"), config))["said"] == ["n=by hand"]
