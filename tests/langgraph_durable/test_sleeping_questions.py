"""A question to a person beside a wait: both stay open, and either may be settled first."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.types import interrupt

from langgraph_durable.errors import InvalidRequest
from langgraph_durable.model import RunStatus
from langgraph_durable.serde import decode
from tests.conftest import MakeEngine
from tests.graphs import Gate, State, ended, eventually, run, said, submit
from tests.logs import query, read_log
from tests.waiting import HOUR, beside, hears, pass_time, row, sleeper, sleeps, until_asleep


def asks(question: str) -> Any:
    def node(state: State) -> State:
        return {"said": [f"{question}{interrupt(question)}"]}

    return node


async def open_questions(engine: Any) -> dict[str, str]:
    thread = await engine.thread("t")
    return {q["value"]: q["id"] for listed in thread.interrupts.values() for q in listed}


async def test_an_answer_ends_the_sleeper_and_its_waits_go_on(
    make_engine: MakeEngine, database_url: str
) -> None:
    engine = await make_engine(beside(ask=asks("ok?"), nap=sleeps(HOUR)), claim_poll_seconds=60.0)
    asking = await sleeper(engine, database_url)
    thread = await engine.thread("t")
    assert thread.status == "busy"
    assert list(await open_questions(engine)) == ["ok?"]
    pass_time(database_url, HOUR / 2)
    answer = await submit(engine, command={"resume": "yes"})
    ended_asking = await ended(engine, asking)
    assert ended_asking.status is RunStatus.SUCCESS
    last = decode(read_log(database_url, asking.run_id)[-1].data)
    assert [q["value"] for q in last["interrupts"]] == ["ok?"]
    assert decode(ended_asking.output or "")["__interrupt__"][0]["value"] == "ok?"
    await asyncio.to_thread(until_asleep, database_url, answer.run_id)
    assert await said(engine) == ["ok?yes"]
    assert await open_questions(engine) == {}
    pass_time(database_url, HOUR / 2)
    query(database_url, "SELECT pg_notify('langgraph_durable', 'work')")
    assert (await ended(engine, answer)).status is RunStatus.SUCCESS
    assert await said(engine) == ["ok?yes", "slept", "join"]
    assert (await engine.thread("t")).status == "idle"


async def test_time_passes_when_nobody_answers(make_engine: MakeEngine, database_url: str) -> None:
    engine = await make_engine(beside(ask=asks("ok?"), nap=sleeps(HOUR)))
    asking = await sleeper(engine, database_url)
    pass_time(database_url, HOUR)
    assert (await ended(engine, asking)).status is RunStatus.SUCCESS
    assert await said(engine) == ["slept"]
    assert (await engine.thread("t")).status == "interrupted"
    assert list(await open_questions(engine)) == ["ok?"]
    told = [e for e in read_log(database_url, asking.run_id) if "__interrupt__" in e.data]
    assert [e.name for e in told].count("updates") == 1
    assert (await run(engine, command={"resume": "yes"})).status is RunStatus.SUCCESS
    assert await said(engine) == ["ok?yes", "slept", "join"]


async def test_an_answer_that_comes_before_the_asker_sleeps_is_heard(
    make_engine: MakeEngine, database_url: str
) -> None:
    gate = Gate()

    async def busy(state: State) -> State:
        await gate.wait()
        return {"said": ["busy"]}

    engine = await make_engine(beside(ask=asks("ok?"), nap=sleeps(HOUR), busy=busy))
    asking = await submit(engine, input={"said": []})
    await gate.reached.wait()
    told = "SELECT 1 FROM events WHERE run_id = %s AND data LIKE '%%__interrupt__%%'"
    await eventually(lambda: bool(query(database_url, told, (asking.run_id,))), "it has asked")
    answer = await submit(engine, command={"resume": "yes"})
    gate.open()
    assert (await ended(engine, asking)).status is RunStatus.SUCCESS
    await asyncio.to_thread(until_asleep, database_url, answer.run_id)
    assert sorted(await said(engine)) == ["busy", "ok?yes"]
    pass_time(database_url, HOUR)
    await ended(engine, answer)
    assert sorted(await said(engine)) == ["busy", "join", "ok?yes", "slept"]


async def test_of_two_questions_one_answer_leaves_the_other_open(
    make_engine: MakeEngine, database_url: str
) -> None:
    engine = await make_engine(beside(a=asks("a?"), b=asks("b?"), nap=sleeps(HOUR)))
    await sleeper(engine, database_url)
    with pytest.raises(InvalidRequest, match="interrupt id"):
        await submit(engine, command={"resume": "yes"})
    first = (await open_questions(engine))["a?"]
    answer = await submit(engine, command={"resume": {first: "1"}})
    await asyncio.to_thread(until_asleep, database_url, answer.run_id)
    assert list(await open_questions(engine)) == ["b?"]
    second = await submit(engine, command={"resume": "2"}, multitask="reject")
    assert (await ended(engine, answer)).status is RunStatus.SUCCESS
    await asyncio.to_thread(until_asleep, database_url, second.run_id)
    pass_time(database_url, HOUR)
    await ended(engine, second)
    assert await said(engine) == ["a?1", "b?2", "slept", "join"]


async def test_an_answer_overtakes_those_who_wait_behind_the_sleeper(
    make_engine: MakeEngine, database_url: str
) -> None:
    engine = await make_engine(beside(ask=asks("ok?"), hears=hears("go")))
    await sleeper(engine, database_url)
    queued = await submit(engine, input={"said": ["queued"]})
    answer = await submit(engine, command={"resume": "yes"})
    await asyncio.to_thread(until_asleep, database_url, answer.run_id)
    assert row(database_url, queued.run_id)["attempt"] == 0
    await engine.signal("t", "go", "now")
    assert (await ended(engine, answer)).status is RunStatus.SUCCESS
    assert (await said(engine))[:3] == ["ok?yes", "go=now", "join"]
    await engine.cancel(queued.run_id)


async def test_an_answer_to_a_sleeper_that_is_cancelled_takes_up_its_waits(
    make_engine: MakeEngine, database_url: str
) -> None:
    engine = await make_engine(beside(ask=asks("ok?"), nap=sleeps(HOUR)))
    asking = await sleeper(engine, database_url)
    await engine.cancel(asking.run_id)
    answer = await submit(engine, command={"resume": "yes"})
    await asyncio.to_thread(until_asleep, database_url, answer.run_id)
    pass_time(database_url, HOUR)
    await ended(engine, answer)
    assert await said(engine) == ["ok?yes", "slept", "join"]
