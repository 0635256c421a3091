"""Runs that sleep are rows and nothing else, and go on when their time has come."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.func import entrypoint, task

from langgraph_durable.model import RecoveryStrategy, RunStatus
from langgraph_durable.serde import decode
from langgraph_durable.waits import MARK, sleep, sleep_until
from tests.conftest import MakeEngine
from tests.graphs import Gate, State, chain, ended, eventually, run, said, says, submit
from tests.logs import query, read_log
from tests.waiting import HOUR, asleep, beside, pass_time, row, sleeper, sleeps, until_asleep

BOTH = pytest.mark.parametrize("strategy", list(RecoveryStrategy))
EVERYTHING = ("values", "updates", "tasks", "checkpoints", "debug", "custom", "messages")


class Scripted(GenericFakeChatModel):
    """Says what it is given, tools or not."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self


@BOTH
async def test_a_sleeper_goes_on_when_its_time_has_come(
    make_engine: MakeEngine, database_url: str, strategy: RecoveryStrategy
) -> None:
    graph = chain(first=says("first"), nap=sleeps(), last=says("last"))
    engine = await make_engine(graph, hook=lambda request, _: request, recovery=strategy)
    sleeping = await sleeper(engine, database_url)
    stands = row(database_url, sleeping.run_id)
    assert (stands["worker_id"], stands["lease_expires_at"]) == (None, None)
    thread = await engine.thread("t")
    assert (thread.status, thread.interrupts) == ("busy", {})
    assert decode(thread.values or "") == {"said": ["first"]}
    assert await said(engine) == ["first"]
    pass_time(database_url, HOUR)
    assert (await ended(engine, sleeping)).status is RunStatus.SUCCESS
    assert await said(engine) == ["first", "slept", "last"]
    woken = row(database_url, sleeping.run_id)
    assert (woken["crashes"], woken["asleep"], woken["attempt"]) == (0, False, 2)
    assert query(database_url, "SELECT 1 FROM waits") == []


async def test_its_log_tells_nothing_of_its_sleep(
    make_engine: MakeEngine, database_url: str
) -> None:
    engine = await make_engine(chain(first=says("first"), nap=sleeps(), last=says("last")))
    sleeping = await sleeper(engine, database_url, stream_modes=EVERYTHING)
    before = read_log(database_url, sleeping.run_id)
    assert [e for e in before if MARK in e.data] == []
    state = await engine.state("t")
    assert state is not None
    assert (state.next, state.interrupts, state.tasks[0].interrupts) == (("nap",), (), ())
    pass_time(database_url, HOUR, "t")
    await ended(engine, sleeping)
    log = read_log(database_url, sleeping.run_id)
    assert [e for e in log if MARK in e.data] == []
    assert [e.name for e in log if e.name in ("started", "recovered", "end")] == ["started", "end"]
    assert [next(iter(decode(e.data))) for e in log if e.name == "updates"] == [
        "first",
        "nap",
        "last",
    ]
    checkpoints = [e.checkpoint_id for e in log if e.name == "values"]
    assert len(checkpoints) == len(set(checkpoints)) == 4


async def test_sleeps_side_by_side_end_one_by_one_and_those_due_together_at_once(
    make_engine: MakeEngine, database_url: str
) -> None:
    engine = await make_engine(
        beside(a=sleeps(HOUR, "a"), b=sleeps(2 * HOUR, "b"), c=sleeps(3 * HOUR, "c"))
    )
    sleeping = await sleeper(engine, database_url)
    pass_time(database_url, HOUR)
    await asyncio.to_thread(until_asleep, database_url, sleeping.run_id, 2)
    assert await said(engine) == ["a"]
    pass_time(database_url, 2 * HOUR)
    finished = await ended(engine, sleeping)
    assert await said(engine) == ["a", "b", "c", "join"]
    assert finished.attempt == 3
    updates = [e for e in read_log(database_url, sleeping.run_id) if e.name == "updates"]
    assert [next(iter(decode(e.data))) for e in updates] == ["a", "b", "c", "join"]


async def test_two_sleeps_of_one_node_come_one_behind_the_other(
    make_engine: MakeEngine, database_url: str
) -> None:
    def node(state: State) -> State:
        sleep(timedelta(hours=1))
        sleep(timedelta(hours=1))
        return {"said": ["twice"]}

    engine = await make_engine(chain(node=node))
    sleeping = await sleeper(engine, database_url)
    pass_time(database_url, HOUR)
    await asyncio.to_thread(until_asleep, database_url, sleeping.run_id, 2)
    pass_time(database_url, HOUR)
    await ended(engine, sleeping)
    assert await said(engine) == ["twice"]


async def test_time_counts_from_where_a_node_first_slept(
    make_engine: MakeEngine, database_url: str
) -> None:
    """Not from where its run did, which had something else to finish."""
    gate = Gate()

    async def busy(state: State) -> State:
        await gate.wait()
        return {"said": ["busy"]}

    engine = await make_engine(beside(nap=sleeps(HOUR), busy=busy))
    running = await submit(engine, input={"said": []})
    await gate.reached.wait()
    waiting = "SELECT 1 FROM waits WHERE run_id = %s"
    await eventually(lambda: bool(query(database_url, waiting, (running.run_id,))), "it waits")
    pass_time(database_url, HOUR)
    gate.open()
    await ended(engine, running)
    assert sorted(await said(engine)) == ["busy", "join", "slept"]


async def test_a_moment_that_is_past_is_waited_for_no_longer(make_engine: MakeEngine) -> None:
    def node(state: State) -> State:
        sleep_until(datetime.now(UTC) - timedelta(days=1))
        sleep(-5)
        return {"said": ["on"]}

    engine = await make_engine(chain(node=node))
    assert (await run(engine, input={"said": []})).status is RunStatus.SUCCESS
    assert await said(engine) == ["on"]


@pytest.mark.parametrize(
    ("wait", "problem"),
    [
        (lambda: sleep_until(datetime(2030, 1, 1)), "time zone"),
        (lambda: sleep(1e12), "at most"),
        (lambda: sleep(float("nan")), "at most"),
    ],
)
async def test_a_sleep_that_cannot_be_fails_its_run(
    make_engine: MakeEngine, wait: Any, problem: str
) -> None:
    engine = await make_engine(chain(node=lambda _: wait()))
    failed = await run(engine, input={"said": []})
    assert failed.status is RunStatus.ERROR
    assert problem in (failed.error or {})["message"]


async def test_a_subgraph_sleeps(make_engine: MakeEngine, database_url: str) -> None:
    inner = chain(before=says("before"), nap=sleeps(), after=says("after"))
    engine = await make_engine(chain(outer=inner, last=says("last")))
    sleeping = await sleeper(engine, database_url, stream_modes=EVERYTHING, stream_subgraphs=True)
    state = await engine.state("t", subgraphs=True)
    assert state is not None
    assert MARK not in str(state)
    pass_time(database_url, HOUR)
    await ended(engine, sleeping)
    log = read_log(database_url, sleeping.run_id)
    told = [next(iter(decode(e.data))) for e in log if e.mode == "updates"]
    assert told == ["before", "nap", "after", "outer", "last"]
    assert [e for e in log if MARK in e.data] == []


async def test_functions_and_their_tasks_sleep(make_engine: MakeEngine, database_url: str) -> None:
    made: list[str] = []

    @task
    def half(name: str) -> str:
        made.append(name)
        return name

    @task
    async def nap() -> str:
        sleep(HOUR)
        return "nap"

    @entrypoint()
    async def whole(given: Any) -> list[str]:
        first = await half("first")
        slept = await nap()
        sleep(HOUR)
        return [first, slept, await half("last")]

    engine = await make_engine(whole)
    sleeping = await sleeper(engine, database_url, input=1)
    pass_time(database_url, HOUR)
    await asyncio.to_thread(until_asleep, database_url, sleeping.run_id, 2)
    pass_time(database_url, HOUR)
    finished = await ended(engine, sleeping)
    assert decode(finished.output or "") == ["first", "nap", "last"]
    assert made == ["first", "last"]


async def test_a_sleeper_outlives_its_engine(make_engine: MakeEngine, database_url: str) -> None:
    graph = chain(nap=sleeps(), last=says("last"))
    first = await make_engine(graph)
    sleeping = await sleeper(first, database_url)
    await first.stop()
    assert asleep(database_url, sleeping.run_id)
    pass_time(database_url, HOUR)
    second = await make_engine(graph)
    assert (await ended(second, sleeping)).status is RunStatus.SUCCESS
    assert await said(second) == ["slept", "last"]
    names = [e.name for e in read_log(database_url, sleeping.run_id)]
    assert "recovered" not in names


async def test_a_step_that_was_finished_beside_a_sleep_is_not_repeated(
    make_engine: MakeEngine, database_url: str
) -> None:
    made: list[str] = []

    def work(state: State) -> State:
        made.append("work")
        return {"said": ["work"]}

    engine = await make_engine(beside(nap=sleeps(), work=work))
    sleeping = await sleeper(engine, database_url)
    pass_time(database_url, HOUR)
    await ended(engine, sleeping)
    assert made == ["work"]
    told = [e for e in read_log(database_url, sleeping.run_id) if e.name == "updates"]
    assert [next(iter(decode(e.data))) for e in told] == ["work", "nap", "join"]


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
async def test_it_sleeps_however_durable_a_client_wants_it(
    make_engine: MakeEngine, database_url: str, durability: str
) -> None:
    engine = await make_engine(chain(first=says("first"), nap=sleeps(), last=says("last")))
    sleeping = await sleeper(engine, database_url, durability=durability)
    pass_time(database_url, HOUR)
    assert (await ended(engine, sleeping)).status is RunStatus.SUCCESS
    assert await said(engine) == ["first", "slept", "last"]


async def test_breakpoints_hold_around_a_sleep(make_engine: MakeEngine, database_url: str) -> None:
    engine = await make_engine(chain(first=says("first"), nap=sleeps(), last=says("last")))
    stops = {"interrupt_before": ["nap"], "interrupt_after": ["nap"]}
    await run(engine, input={"said": []}, **stops)
    assert await said(engine) == ["first"]
    sleeping = await sleeper(engine, database_url, input=None, **stops)
    pass_time(database_url, HOUR)
    await ended(engine, sleeping)
    assert await said(engine) == ["first", "slept"]
    assert (await engine.thread("t")).status == "interrupted"
    await run(engine, input=None)
    assert await said(engine) == ["first", "slept", "last"]


async def test_a_tool_of_an_agent_sleeps_and_its_sibling_does_its_work_once(
    make_engine: MakeEngine, database_url: str
) -> None:
    made: list[str] = []

    @tool
    async def work() -> str:
        """Work."""
        made.append("work")
        return "worked"

    @tool
    async def nap() -> str:
        """Nap."""
        sleep(HOUR)
        made.append("nap")
        return "slept"

    calls = [{"name": name, "args": {}, "id": name} for name in ("work", "nap")]
    answers = iter([AIMessage("", tool_calls=calls), AIMessage("done")])
    agent = create_agent(Scripted(messages=answers), [work, nap])
    engine = await make_engine(agent)
    sleeping = await sleeper(engine, database_url, input={"messages": [("user", "go")]})
    pass_time(database_url, HOUR)
    finished = await ended(engine, sleeping)
    told = [m["content"] for m in decode(finished.output or "")["messages"]]
    assert told == ["go", "", "worked", "slept", "done"]
    assert made == ["work", "nap"]


async def test_a_deadline_stands_still_while_its_run_sleeps(
    make_engine: MakeEngine, database_url: str
) -> None:
    engine = await make_engine(chain(nap=sleeps(), last=says("last")), run_deadline_seconds=60.0)
    sleeping = await sleeper(engine, database_url)
    stands = row(database_url, sleeping.run_id)
    assert stands["deadline_at"] is None
    assert timedelta(0) < stands["time_left"] < timedelta(seconds=60)
    pass_time(database_url, HOUR)
    assert (await ended(engine, sleeping)).status is RunStatus.SUCCESS
