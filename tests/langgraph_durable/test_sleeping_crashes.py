"""Crashes and failures behind a sleep."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from langgraph_durable.model import RecoveryStrategy, RunStatus
from langgraph_durable.serde import decode
from langgraph_durable.waits import sleep
from tests.conftest import MakeEngine
from tests.graphs import Gate, State, abandon, chain, ended, eventually, run, said, says
from tests.logs import query, read_log
from tests.waiting import HOUR, pass_time, row, sleeper, sleeps, until_asleep

BOTH = pytest.mark.parametrize("strategy", list(RecoveryStrategy))


@BOTH
async def test_a_crash_behind_a_sleep_does_not_sleep_again(
    make_engine: MakeEngine, database_url: str, strategy: RecoveryStrategy
) -> None:
    gate = Gate()
    seen: list[str] = []

    def first(state: State) -> State:
        seen.append("first")
        return {"said": ["first"]}

    async def nap(state: State) -> State:
        sleep(HOUR)
        seen.append("nap")
        await gate.wait()
        return {"said": ["slept"]}

    engine = await make_engine(
        chain(first=first, nap=nap, last=says("last")),
        hook=lambda request, _: request,
        recovery=strategy,
    )
    sleeping = await sleeper(engine, database_url)
    pass_time(database_url, HOUR)
    await gate.reached.wait()
    abandon(database_url, sleeping.run_id)
    await eventually(lambda: seen.count("nap") == 2, "the node runs again")
    gate.open()
    assert (await ended(engine, sleeping)).status is RunStatus.SUCCESS
    assert seen == ["first", "nap", "nap"]
    assert await said(engine) == ["first", "slept", "last"]
    told = [e for e in read_log(database_url, sleeping.run_id) if e.name == "recovered"]
    assert [decode(e.data)["strategy"] for e in told] == [strategy]


async def test_a_failure_behind_a_sleep_can_be_tried_again_without_it(
    make_engine: MakeEngine, database_url: str
) -> None:
    broken = True

    def node(state: State) -> State:
        sleep(HOUR)
        if broken:
            raise ValueError("broken")
        return {"said": ["mended"]}

    engine = await make_engine(chain(first=says("first"), node=node))
    sleeping = await sleeper(engine, database_url)
    pass_time(database_url, HOUR)
    assert (await ended(engine, sleeping)).status is RunStatus.ERROR
    assert (await engine.thread("t")).interrupts == {}
    broken = False
    assert (await run(engine, input=None)).status is RunStatus.SUCCESS
    assert await said(engine) == ["first", "mended"]


async def test_a_sleeper_that_is_woken_for_nothing_sleeps_on(
    make_engine: MakeEngine, database_url: str
) -> None:
    engine = await make_engine(chain(nap=sleeps()))
    sleeping = await sleeper(engine, database_url)
    query(database_url, "UPDATE runs SET available_at = now() RETURNING 1")
    query(database_url, "SELECT pg_notify('langgraph_durable', 'work')")
    await asyncio.to_thread(until_asleep, database_url, sleeping.run_id, 2)
    assert row(database_url, sleeping.run_id)["available_at"] > datetime.now(UTC)
    pass_time(database_url, HOUR)
    await ended(engine, sleeping)
    assert await said(engine) == ["slept"]
