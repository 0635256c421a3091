"""A thread's event stream that is opened while a run begins: it is told, and from its start."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from langgraph_durable.serde import encode
from protocol_adapter.app import create_app
from tests.conftest import MakeEngine
from tests.graphs import Gate, State, chain, says, submit
from tests.protocol_adapter.asgi import Conversation

GRAPH = chain(one=says("one"))
ASKED = encode({"channels": ["lifecycle", "values"]}).encode()


@pytest.mark.parametrize("waiting", [0, 1, 2], ids=["first", "behind a late one", "behind two"])
async def test_a_run_that_begins_while_a_stream_looks_where_to_begin_is_told_whole(
    waiting: int, make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = await make_engine(GRAPH, works=False)
    thread = (await engine.create_thread()).thread_id
    for _ in range(waiting):
        await submit(engine, thread_id=thread, after_seconds=3600.0)
    run = await submit(engine, thread_id=thread, input={"said": ["hello"]}) if waiting else None
    look = engine.runs

    async def looked(*of: Any, **more: Any) -> Any:
        nonlocal run
        found = await look(*of, **more)
        run = run or await submit(engine, thread_id=thread, input={"said": ["hello"]})
        worker = await make_engine(GRAPH)
        assert (await worker.wait(run.run_id)).status == "success"
        return found

    monkeypatch.setattr(engine, "runs", looked)
    path = f"/threads/{thread}/stream/events"
    told = b""
    async with Conversation(create_app(engine), "POST", path, ASKED) as talk:
        async with asyncio.timeout(10):
            while b'"completed"' not in told:
                told += await talk.chunk() or b""
    assert told.count(b'"running"') == 1


async def test_a_run_that_was_rolled_back_is_not_told_to_who_comes_later(
    make_engine: MakeEngine,
) -> None:
    engine = await make_engine(GRAPH, works=False)
    thread = (await engine.create_thread()).thread_id
    undone = await submit(engine, thread_id=thread, input={"said": ["undone"]})
    gate = Gate()

    async def one(state: State) -> State:
        await gate.wait()
        return {"said": ["one"]}

    worker = await make_engine(chain(one=one))
    await gate.reached.wait()
    await worker.cancel(undone.run_id, action="rollback")
    await worker.wait(undone.run_id)

    path = f"/threads/{thread}/stream/events"
    told = b""
    async with Conversation(create_app(engine), "POST", path, ASKED) as talk:
        gate.open()
        await submit(worker, thread_id=thread, input={"said": ["hello"]})
        async with asyncio.timeout(20):
            while b'"completed"' not in told:
                told += await talk.chunk() or b""
    assert told.count(b'"running"') == 1
    assert undone.run_id.encode() not in told
