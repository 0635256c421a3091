"""Unused threads end as they were asked to; one that is used or waits for a person never does."""

from __future__ import annotations

from typing import Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from langgraph_durable.engine import DurableEngine
from langgraph_durable.errors import ThreadNotFound
from langgraph_durable.model import RunRequest, Ttl
from tests.conftest import MakeEngine
from tests.logs import query


class State(TypedDict, total=False):
    x: Any


def maybe_ask(state: State) -> State:
    return {"x": interrupt("?") if state.get("x") == "ask" else 1}


builder = StateGraph(State)
builder.add_node("maybe_ask", maybe_ask)
builder.add_edge(START, "maybe_ask")
builder.add_edge("maybe_ask", END)
graph = builder.compile()


async def used(engine: DurableEngine, ttl: Ttl | None, x: str = "go") -> str:
    thread = await engine.create_thread(ttl=ttl)
    for _ in range(2):
        run = await engine.submit(
            RunRequest(assistant="agent", thread_id=thread.thread_id, input={"x": x})
        )
        await engine.wait(run.run_id)
    return thread.thread_id


async def sweep(engine: DurableEngine, database_url: str) -> None:
    """As if every life time were over."""
    query(
        database_url,
        "UPDATE threads SET expires_at = now() WHERE expires_at IS NOT NULL RETURNING thread_id",
    )
    machinery = engine._machinery
    for sweep in (machinery.sweeper.temporary, machinery.sweeper.unused):
        while await machinery._swept(sweep):
            pass


async def test_expired_threads_are_deleted_or_pruned(
    make_engine: MakeEngine, database_url: str
) -> None:
    engine: DurableEngine = await make_engine(graph)
    immortal = await used(engine, None)
    deleted = await used(engine, Ttl(minutes=1))
    pruned = await used(engine, Ttl(minutes=1, strategy="keep_latest"))
    waiting = await used(engine, Ttl(minutes=1), x="ask")
    await sweep(engine, database_url)
    with pytest.raises(ThreadNotFound):
        await engine.thread(deleted)
    assert len(await engine.history(immortal, limit=20)) > 1
    assert len(await engine.history(pruned, limit=20)) == 1
    assert (await engine.thread(waiting)).status == "interrupted"
    left = query(
        database_url, "SELECT count(*) AS n FROM checkpoints WHERE thread_id = %s", (deleted,)
    )
    assert left == [{"n": 0}]


async def test_a_run_keeps_its_thread_alive_and_starts_its_time_anew(
    make_engine: MakeEngine, database_url: str
) -> None:
    engine: DurableEngine = await make_engine(graph)
    thread_id = await used(engine, Ttl(minutes=1))
    later = await engine.submit(
        RunRequest(assistant="agent", thread_id=thread_id, input={"x": "go"}, after_seconds=3600)
    )
    assert (await engine.thread(thread_id)).expires_at is None
    await sweep(engine, database_url)
    await engine.cancel(later.run_id)
    assert (await engine.thread(thread_id)).expires_at is not None


async def test_a_stateless_run_leaves_nothing(make_engine: MakeEngine, database_url: str) -> None:
    engine: DurableEngine = await make_engine(graph)
    run = await engine.submit(RunRequest(assistant="agent", input={"x": "go"}))
    await engine.wait(run.run_id)
    await sweep(engine, database_url)
    for table in ("threads", "runs", "events", "checkpoints", "checkpoint_blobs"):
        assert query(database_url, f"SELECT count(*) AS n FROM {table}") == [{"n": 0}]


async def test_a_thread_that_expires_leaves_nothing_in_any_table(
    make_engine: MakeEngine, database_url: str
) -> None:
    """langchain-ai/langgraphjs#1138, langgraph#6686: gigabytes of what nobody could reach.

    gaia#972: 19 GB of checkpoints. aegra#545: what a sweep deletes together.
    """
    engine: DurableEngine = await make_engine(graph)
    thread_id = await used(engine, Ttl(minutes=1))
    run_id = (await engine.runs(thread_id))[0].run_id
    for planted, key in (
        ("thread_aliases (alias, thread_id) VALUES ('t::attempt-2', %s)", thread_id),
        ("conversation_items (item_id, thread_id) VALUES ('item', %s)", thread_id),
        ("responses (response_id, run_id) VALUES ('resp', %s)", run_id),
        ("signals (thread_id, name, signal_id, value) VALUES (%s, 'go', 's', '1')", thread_id),
        ("waits (run_id, interrupt_id, due_at) VALUES (%s, 'i', now())", run_id),
        ("webhook_deliveries (run_id, url, next_at) VALUES (%s, 'http://x', NULL)", run_id),
    ):
        query(database_url, f"INSERT INTO {planted}", (key,))
    tables = query(
        database_url,
        "SELECT DISTINCT table_name AS name FROM information_schema.columns"
        " WHERE table_schema = 'langgraph_durable' AND column_name IN ('thread_id', 'run_id')",
    )
    held = {table["name"] for table in tables if count(database_url, table["name"])}
    assert held >= {"threads", "runs", "events", "responses", "thread_aliases", "checkpoints"}
    assert held >= {"signals", "waits", "webhook_deliveries", "conversation_items"}
    await sweep(engine, database_url)
    assert [table["name"] for table in tables if count(database_url, table["name"])] == []
    assert await engine.search_threads() == ([], 0)


def count(database_url: str, table: str) -> int:
    return int(query(database_url, f"SELECT count(*) AS n FROM {table}")[0]["n"])
