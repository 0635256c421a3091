"""A clock and ids that are the same in every attempt of a task."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.func import entrypoint, task
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import RetryPolicy, interrupt

from langgraph_durable.model import RecoveryStrategy, RunStatus
from langgraph_durable.waits import new_uuid, now, sleep
from tests.conftest import MakeEngine
from tests.graphs import Gate, State, abandon, chain, ended, eventually, run, submit, wired
from tests.waiting import HOUR, pass_time, sleeper

BOTH = pytest.mark.parametrize("strategy", list(RecoveryStrategy))


async def test_a_task_that_runs_again_sees_the_same_time_and_ids(make_engine: MakeEngine) -> None:
    seen: list[Any] = []

    def node(state: State) -> State:
        seen.append((now(), new_uuid(), new_uuid()))
        interrupt("ok?")
        return {"said": [str(new_uuid())]}

    engine = await make_engine(chain(one=node, two=node))
    before = datetime.now(UTC)
    await run(engine, input={"said": []})
    await run(engine, command={"resume": "yes"})
    await run(engine, command={"resume": "yes"})
    first, again, second, last = seen
    assert first == again
    assert second == last
    assert first[0] < second[0]
    assert timedelta(0) <= first[0] - before + timedelta(seconds=1) < timedelta(minutes=1)
    assert first[0].tzinfo is UTC
    assert len({first[1], first[2], second[1], second[2]}) == 4


@BOTH
async def test_so_does_one_that_a_crash_cut_off_behind_a_sleep(
    make_engine: MakeEngine, database_url: str, strategy: RecoveryStrategy
) -> None:
    gate = Gate()
    seen: list[Any] = []

    async def node(state: State) -> State:
        fell = now()
        sleep(HOUR)
        seen.append((fell, now(), new_uuid()))
        await gate.wait()
        return {}

    engine = await make_engine(chain(node=node), hook=lambda request, _: request, recovery=strategy)
    sleeping = await sleeper(engine, database_url)
    pass_time(database_url, HOUR)
    await gate.reached.wait()
    abandon(database_url, sleeping.run_id)
    await eventually(lambda: len(seen) == 2, "the node runs again")
    gate.open()
    await ended(engine, sleeping)
    assert seen[0] == seen[1]
    fell, woke, _ = seen[0]
    assert fell < woke


async def test_a_retry_of_a_node_begins_its_ids_anew_and_sleeps_no_more(
    make_engine: MakeEngine, database_url: str
) -> None:
    seen: list[Any] = []

    def node(state: State) -> State:
        sleep(HOUR)
        seen.append((now(), new_uuid()))
        if len(seen) < 3:
            raise ConnectionError
        return {}

    builder = StateGraph(State)
    builder.add_node("node", node, retry_policy=RetryPolicy(initial_interval=0.01))
    builder.add_edge(START, "node")
    engine = await make_engine(builder.compile())
    sleeping = await sleeper(engine, database_url)
    pass_time(database_url, HOUR)
    assert (await ended(engine, sleeping)).status is RunStatus.SUCCESS
    assert seen[0] == seen[1] == seen[2]


async def test_parts_of_a_task_that_run_beside_each_other_share_no_id(
    make_engine: MakeEngine,
) -> None:
    seen: list[Any] = []

    async def part() -> None:
        await asyncio.sleep(0)
        seen.append(new_uuid())

    async def node(state: State) -> State:
        await asyncio.gather(part(), part(), asyncio.to_thread(lambda: seen.append(new_uuid())))
        return {}

    engine = await make_engine(wired({"node": node}).compile())
    await run(engine, input={"said": []})
    assert len(set(seen)) == 3


async def test_tools_and_functions_have_them_too(make_engine: MakeEngine) -> None:
    seen: list[Any] = []

    @tool
    def stamp() -> str:
        """Stamp."""
        seen.append(new_uuid())
        return now().isoformat()

    calls = [{"name": "stamp", "args": {}, "id": f"call{n}"} for n in range(2)]
    builder = StateGraph(MessagesState)
    builder.add_node("model", lambda _: {"messages": [AIMessage("", tool_calls=calls)]})
    builder.add_node("tools", ToolNode([stamp]))
    builder.add_edge(START, "model")
    builder.add_edge("model", "tools")

    @task
    def piece() -> str:
        seen.append(new_uuid())
        return now().isoformat()

    @entrypoint()
    async def whole(given: Any) -> str:
        seen.append(new_uuid())
        return await piece()

    engine = await make_engine({"tools": builder.compile(), "whole": whole})
    for name in ("tools", "whole"):
        found = await submit(engine, name, assistant=name, input={"messages": []})
        assert (await ended(engine, found)).status is RunStatus.SUCCESS
    assert len(set(seen)) == 4


def test_outside_of_a_graph_there_are_none() -> None:
    for ask in (now, new_uuid):
        with pytest.raises(RuntimeError):
            ask()
