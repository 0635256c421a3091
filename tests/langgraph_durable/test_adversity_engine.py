"""The engine as a whole: starts that fail, sweeps, readers of what is gone, values that are odd."""

from __future__ import annotations

import asyncio
import threading
import uuid
from collections.abc import Callable, Coroutine
from typing import Any

import psycopg
import pytest

from langgraph_durable import machinery
from langgraph_durable.engine import DurableEngine
from langgraph_durable.errors import (
    DurableError,
    InvalidRequest,
    RunNotFound,
    StoreUnavailable,
)
from langgraph_durable.eventlog import followers
from langgraph_durable.lease import LeaseKeeper
from langgraph_durable.machinery import Machinery, Sweep
from langgraph_durable.model import Cursor, RunStatus
from langgraph_durable.settings import Settings
from tests.conftest import MakeEngine
from tests.graphs import chain, eventually, run, says, submit
from tests.logs import query

GRAPH = chain(n=says("done"))


async def test_a_failed_start_leaves_nothing_and_the_next_one_works(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = LeaseKeeper.start
    monkeypatch.setattr(LeaseKeeper, "start", lambda keeper: start(keeper, 0.5))
    before = running_threads()
    engine = DurableEngine(GRAPH, settings=Settings(database_url=database_url))
    options = "-c search_path=langgraph_durable"
    with psycopg.connect(database_url, options=options) as other:
        other.execute("LOCK TABLE workers IN ACCESS EXCLUSIVE MODE")
        monkeypatch.setattr(LeaseKeeper, "stop", behind(other.close, LeaseKeeper.stop))
        with pytest.raises(DurableError, match="could not register"):
            await engine.start()
    await eventually(lambda: running_threads() == before, "every thread has ended")
    sessions = (
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database()"
        " AND application_name LIKE 'langgraph-durable %%'"
    )
    await eventually(lambda: not query(database_url, sessions), "every session has ended")
    async with engine:
        assert (await run(engine, input={"said": []})).status is RunStatus.SUCCESS


def behind(first: Callable[[], None], stop: Callable[[LeaseKeeper], None]) -> Any:
    """A stop that finds the database free again, so that the test need not wait."""

    def stopped(keeper: LeaseKeeper) -> None:
        first()
        stop(keeper)

    return stopped


def running_threads() -> set[str]:
    return {t.name for t in threading.enumerate() if t.name.startswith("durable-")}


async def test_many_temporary_threads_are_swept_in_one_go(
    make_engine: MakeEngine, database_url: str
) -> None:
    query(
        database_url,
        "INSERT INTO threads (thread_id, checkpoint_thread_id, temporary, expires_at)"
        " SELECT 't' || i, 't' || i, true, now() FROM generate_series(1, 180) AS i",
    )
    await make_engine(GRAPH)
    await eventually(lambda: not query(database_url, "SELECT 1 FROM threads"), "all are swept")


async def test_the_sweeper_survives_an_error(
    make_engine: MakeEngine, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    swept, failures = Machinery._swept, [ValueError("odd"), psycopg.DataError("odd")] * 2

    async def failing(self: Machinery, sweep: Sweep) -> int:
        if failures:
            raise failures.pop()
        return await swept(self, sweep)

    monkeypatch.setattr(Machinery, "_swept", failing)
    monkeypatch.setattr(machinery, "SWEEP_SECONDS", 0.02)
    engine = await make_engine(GRAPH)
    await run(engine, None, input={"said": []})
    query(database_url, "UPDATE threads SET expires_at = now()")
    await eventually(lambda: not query(database_url, "SELECT 1 FROM threads"), "it is swept")
    assert not failures


async def test_to_follow_a_run_that_is_deleted_meanwhile_ends(
    make_engine: MakeEngine, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(followers, "POLL_SECONDS", 0.05)
    engine = await make_engine(GRAPH, works=False)
    submitted = await submit(engine, input={"said": []})
    following = engine.batches(submitted.run_id)
    assert [e.name for e in await anext(following)] == ["created"]
    await engine.cancel(submitted.run_id)
    await engine.delete_run(submitted.run_id)
    async with asyncio.timeout(10):
        assert [batch async for batch in following] == []
        assert [b async for b in engine.batches(str(uuid.uuid4()))] == []
        assert [b async for b in engine.batches(submitted.run_id, Cursor(7))] == []
        with pytest.raises(RunNotFound):
            await engine.wait(submitted.run_id)


Ask = Callable[[DurableEngine], Coroutine[Any, Any, Any]]

ODD: dict[str, Ask] = {
    "NUL in an id": lambda e: e.thread("a\0b"),
    "NUL in a new id": lambda e: e.create_thread("a\0b"),
    "half a character in an id": lambda e: e.create_thread("\ud800"),
    "NUL in an id whose runs are asked": lambda e: e.runs("a\0b"),
    "NUL in an id to delete": lambda e: e.delete_thread("a\0b"),
    "NUL in the id of a run's thread": lambda e: submit(e, "a\0b"),
    "a negative limit of threads": lambda e: e.search_threads(limit=-1),
    "a negative offset of threads": lambda e: e.search_threads(offset=-1),
    "a negative limit of runs": lambda e: e.runs("t", limit=-1),
    "a negative limit of states": lambda e: e.history("t", limit=-1),
    "NUL in a checkpoint's id": lambda e: e.state("t", checkpoint={"checkpoint_id": "a\0b"}),
    "a run id that is none": lambda e: submit(e, run_id="nonsense"),
    "an unknown way to cancel": lambda e: e.cancel(str(uuid.uuid4()), action="explode"),
}


@pytest.fixture
async def asking(make_engine: MakeEngine) -> DurableEngine:
    engine: DurableEngine = await make_engine(GRAPH)
    await run(engine, input={"said": []})
    return engine


async def test_values_that_the_database_cannot_take_are_the_requests_fault(
    asking: DurableEngine,
) -> None:
    told = {}
    for what, ask in ODD.items():
        with pytest.raises(InvalidRequest) as refused:
            await ask(asking)
        told[what] = refused.value.message
    assert set(told.values()) == {
        "A value in the request is not one that can be stored.",
        "action: 'explode' is not interrupt or rollback",
    }
    assert (await run(asking, input={"said": []})).status is RunStatus.SUCCESS


async def test_a_run_id_is_taken_once(asking: DurableEngine) -> None:
    run_id = str(uuid.uuid4())
    await submit(asking, run_id=run_id, input={"said": ["first"]})
    with pytest.raises(InvalidRequest, match="id in the request is taken"):
        await submit(asking, "other", run_id=run_id, input={"said": ["second"]})
    assert (await asking.run(run_id)).request["input"] == {"said": ["first"]}


async def test_who_still_asks_when_the_engine_stops_is_told_to_come_back(
    make_engine: MakeEngine,
) -> None:
    engine = await make_engine(GRAPH)
    begun, answered = threading.Event(), asyncio.Event()

    async def never(place: Any) -> None:
        begun.set()
        await answered.wait()

    asking = asyncio.create_task(engine._machinery.loops.call(never))
    await eventually(begun.is_set, "the question has come to a loop")
    await engine.stop()
    with pytest.raises(StoreUnavailable):
        await asking
