"""Answers beside a sleep: one that nobody asked for waits for nothing, and no signal gets lost."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.types import interrupt
from psycopg import AsyncConnection
from psycopg.rows import dict_row

from langgraph_durable import unowned
from langgraph_durable.model import RunStatus
from langgraph_durable.serde import decode
from tests.conftest import MakeEngine
from tests.graphs import Gate, State, ended, eventually, said, submit
from tests.logs import query, read_log
from tests.waiting import HOUR, beside, hears, row, sleeper, sleeps


def asks(gate: Gate) -> Any:
    """Asks, and does its work behind the gate."""

    async def node(state: State) -> State:
        answer = interrupt("ok?")
        await gate.wait()
        return {"said": [f"ok?{answer}"]}

    return node


# -- a second click --------------------------------------------------------------------------------


@pytest.mark.parametrize("strict", [False, True])
async def test_a_second_click_ends_as_soon_as_the_first_one_sleeps(
    make_engine: MakeEngine, database_url: str, strict: bool
) -> None:
    gate = Gate()
    engine = await make_engine(beside(ask=asks(gate), nap=sleeps(HOUR)), claim_poll_seconds=60.0)
    await sleeper(engine, database_url)
    first = await submit(engine, command={"resume": "yes"})
    await gate.reached.wait()
    second = await submit(engine, command={"resume": "no"}, strict_resume=strict)
    gate.open()
    done = await ended(engine, second)
    assert done.status is (RunStatus.ERROR if strict else RunStatus.SUCCESS)
    assert (done.error or {}).get("error") == ("UnknownInterruptError" if strict else None)
    assert decode(done.output or "") == {"said": ["ok?yes"]}
    log = read_log(database_url, second.run_id)
    assert [event.name for event in log] == ["created", "end"]
    assert decode(log[-1].data)["status"] == done.status
    assert row(database_url, first.run_id)["asleep"]
    assert await said(engine) == ["ok?yes"]


@pytest.mark.parametrize("resume", ["yes", {"0" * 32: "yes"}], ids=["plain", "by-id"])
async def test_an_answer_to_a_sleeper_that_asks_nothing_ends_at_once(
    make_engine: MakeEngine, database_url: str, resume: Any
) -> None:
    engine = await make_engine(beside(nap=sleeps(HOUR)), claim_poll_seconds=60.0)
    asleep = await sleeper(engine, database_url)
    click = await submit(engine, command={"resume": resume})
    assert click.status is RunStatus.SUCCESS
    assert row(database_url, asleep.run_id)["asleep"]


async def test_an_answer_that_also_edits_waits_for_its_turn(
    make_engine: MakeEngine, database_url: str
) -> None:
    engine = await make_engine(beside(hears=hears("go")))
    asleep = await sleeper(engine, database_url)
    edit = await submit(engine, command={"resume": "yes", "update": {"said": ["edited"]}})
    assert edit.status is RunStatus.PENDING
    await engine.signal("t", "go", 1)
    assert (await ended(engine, asleep)).status is RunStatus.SUCCESS
    assert (await ended(engine, edit)).status is RunStatus.SUCCESS
    assert await said(engine) == ["go=1", "join", "edited"]


# -- a signal while waits change hands -------------------------------------------------------------


@pytest.mark.parametrize("moment", ["before", "while it works", "while it falls asleep"])
async def test_a_signal_is_heard_whenever_it_comes_to_waits_that_change_hands(
    make_engine: MakeEngine, database_url: str, moment: str
) -> None:
    gate = Gate()
    engine = await make_engine(beside(ask=asks(gate), hears=hears("go")), claim_poll_seconds=60.0)
    asking = await sleeper(engine, database_url)
    if moment == "before":
        async with await AsyncConnection.connect(database_url) as conn:
            await conn.execute("SET search_path TO langgraph_durable")
            await conn.execute("SELECT 1 FROM threads FOR UPDATE")
            sending = [
                asyncio.create_task(submit(engine, command={"resume": "yes"})),
                asyncio.create_task(engine.signal("t", "go", 1)),
            ]
            await eventually(lambda: waiting(database_url) >= 2, "both wait for the thread")
        heir, _ = await asyncio.gather(*sending)
    else:
        heir = await submit(engine, command={"resume": "yes"})
    await gate.reached.wait()
    if moment == "while it works":
        await engine.signal("t", "go", 1)
    gate.open()
    if moment == "while it falls asleep":
        await engine.signal("t", "go", 1)
    assert (await ended(engine, heir)).status is RunStatus.SUCCESS
    assert (await ended(engine, asking)).status is RunStatus.SUCCESS
    assert sorted(await said(engine)) == ["go=1", "join", "ok?yes"]
    assert query(database_url, "SELECT taken_by IS NULL AS free FROM signals") == [{"free": False}]
    assert query(database_url, "SELECT * FROM waits") == []


def waiting(database_url: str) -> int:
    """How many sessions wait for a lock."""
    told = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database()"
    return len(query(database_url, f"{told} AND wait_event_type = 'Lock'"))


async def test_a_signal_that_comes_in_the_middle_of_the_handing_over_wakes_the_heir(
    make_engine: MakeEngine, database_url: str
) -> None:
    gate = Gate()
    gate.open()
    graph = beside(ask=asks(gate), hears=hears("go"))
    engine = await make_engine(graph, liveness_grace_seconds=0.1)
    await sleeper(engine, database_url)
    asking = await make_engine(graph, works=False)
    await engine.stop()
    heir = await submit(asking, command={"resume": "yes"})
    async with await AsyncConnection.connect(database_url, row_factory=dict_row) as conn:
        await conn.execute("SET search_path TO langgraph_durable")
        await unowned.end_answered(conn)
        signalling = asyncio.create_task(asking.signal("t", "go", 1))
        await eventually(lambda: waiting(database_url) == 1, "the signal waits for the thread")
    await signalling
    assert row(database_url, heir.run_id)["status"] == "pending"
    await make_engine(graph)
    assert (await ended(asking, heir)).status is RunStatus.SUCCESS
    assert sorted(await said(asking)) == ["go=1", "join", "ok?yes"]


async def test_a_signal_that_had_already_woken_the_sleeper_is_not_taken_from_it_by_an_answer(
    make_engine: MakeEngine, database_url: str
) -> None:
    gate = Gate()
    gate.open()
    graph = beside(ask=asks(gate), hears=hears("go"))
    engine = await make_engine(graph)
    await sleeper(engine, database_url)
    asking = await make_engine(graph, works=False)
    await engine.stop()
    await asking.signal("t", "go", 1)
    heir = await submit(asking, command={"resume": "yes"})
    assert query(database_url, "SELECT count(*) AS due FROM runs WHERE available_at <= now()") == [
        {"due": 2}
    ]
    await make_engine(graph)
    assert (await ended(asking, heir)).status is RunStatus.SUCCESS
    assert sorted(await said(asking)) == ["go=1", "join", "ok?yes"]


async def test_a_signal_is_kept_for_the_next_answer_when_the_heir_is_cancelled(
    make_engine: MakeEngine, database_url: str
) -> None:
    gate = Gate()
    engine = await make_engine(beside(ask=asks(gate), hears=hears("go")))
    await sleeper(engine, database_url)
    heir = await submit(engine, command={"resume": "yes"})
    await gate.reached.wait()
    await engine.signal("t", "go", 1)
    await engine.cancel(heir.run_id)
    assert (await ended(engine, heir)).status is RunStatus.INTERRUPTED
    gate.open()
    again = await submit(engine, command={"resume": "again"})
    assert (await ended(engine, again)).status is RunStatus.SUCCESS
    assert sorted(await said(engine)) == ["go=1", "join", "ok?again"]
