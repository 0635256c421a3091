"""The thread of a run that sleeps: who may stop it, wait behind it, read it, sweep it."""

from __future__ import annotations

import asyncio

import pytest

from langgraph_durable.errors import RunNotCancellable, ThreadBusy
from langgraph_durable.model import RunStatus
from langgraph_durable.waits import sleep
from tests.conftest import MakeEngine
from tests.graphs import State, chain, ended, run, said, says, submit
from tests.logs import query
from tests.waiting import HOUR, asleep, pass_time, sleeper, sleeps, until_asleep


async def test_a_cancel_ends_a_sleeper_at_once(make_engine: MakeEngine, database_url: str) -> None:
    engine = await make_engine(chain(first=says("first"), nap=sleeps()))
    sleeping = await sleeper(engine, database_url)
    await engine.cancel(sleeping.run_id)
    stands = await engine.run(sleeping.run_id)
    assert stands.status is RunStatus.INTERRUPTED
    thread = await engine.thread("t")
    assert (thread.status, thread.interrupts) == ("interrupted", {})
    with pytest.raises(RunNotCancellable):
        await engine.cancel(sleeping.run_id)
    assert query(database_url, "SELECT 1 FROM waits") == []
    again = await submit(engine, input=None)
    await asyncio.to_thread(until_asleep, database_url, again.run_id)
    pass_time(database_url, HOUR)
    await ended(engine, again)
    assert await said(engine) == ["first", "slept"]


async def test_a_rollback_undoes_a_sleeper_that_has_been_woken_before(
    make_engine: MakeEngine, database_url: str
) -> None:
    engine = await make_engine(chain(one=sleeps(HOUR, "one"), two=sleeps(HOUR, "two")))
    before = await sleeper(engine, database_url)
    pass_time(database_url, HOUR)
    await asyncio.to_thread(until_asleep, database_url, before.run_id, 2)
    pass_time(database_url, HOUR)
    await ended(engine, before)
    sleeping = await sleeper(engine, database_url, input={"said": ["more"]})
    pass_time(database_url, HOUR)
    await asyncio.to_thread(until_asleep, database_url, sleeping.run_id, 2)
    assert await said(engine) == ["one", "two", "more", "one"]
    await engine.cancel(sleeping.run_id, action="rollback")
    assert await said(engine) == ["one", "two"]
    assert (await engine.thread("t")).status == "idle"


@pytest.mark.parametrize("multitask", ["interrupt", "rollback"])
async def test_a_run_that_wants_its_thread_now_stops_the_sleeper(
    make_engine: MakeEngine, database_url: str, multitask: str
) -> None:
    def node(state: State) -> State:
        if "now" not in state["said"]:
            sleep(HOUR)
        return {"said": ["done"]}

    engine = await make_engine(chain(node=node))
    sleeping = await sleeper(engine, database_url, input={"said": ["later"]})
    quick = await run(engine, input={"said": ["now"]}, multitask=multitask)
    assert quick.status is RunStatus.SUCCESS
    assert (await engine.run(sleeping.run_id)).status is RunStatus.INTERRUPTED
    left = ["later"] if multitask == "interrupt" else []
    assert await said(engine) == [*left, "now", "done"]


async def test_a_sleeper_keeps_its_thread_busy(make_engine: MakeEngine, database_url: str) -> None:
    engine = await make_engine(chain(nap=sleeps(), last=says("last")))
    sleeping = await sleeper(engine, database_url, input={"said": ["a"]})
    with pytest.raises(ThreadBusy):
        await submit(engine, input={"said": ["b"]}, multitask="reject")
    with pytest.raises(ThreadBusy):
        await engine.update_state("t", {"said": ["by hand"]})
    queued = await submit(engine, input={"said": ["c"]})
    pass_time(database_url, HOUR)
    await ended(engine, sleeping)
    await asyncio.to_thread(until_asleep, database_url, queued.run_id)
    assert await said(engine) == ["a", "slept", "last", "c"]
    await engine.cancel(queued.run_id)


async def test_a_run_asleep_can_be_read_copied_and_is_not_swept(
    make_engine: MakeEngine, database_url: str
) -> None:
    engine = await make_engine(chain(first=says("first"), nap=sleeps()))
    sleeping = await sleeper(engine, database_url, None)
    copy = await engine.copy_thread(sleeping.thread_id)
    assert await said(engine, copy.thread_id) == ["first"]
    past = "UPDATE threads SET expires_at = now() WHERE thread_id = %s"
    query(database_url, past, (sleeping.thread_id,))
    for sweep in (engine._machinery.sweeper.temporary, engine._machinery.sweeper.unused):
        assert await engine._machinery._swept(sweep) == 0
    assert asleep(database_url, sleeping.run_id)
