"""A thread's event stream that is opened while a run begins: it is told, and from its start."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from langgraph_durable.serde import encode
from protocol_adapter.app import create_app
from tests.conftest import MakeEngine
from tests.graphs import chain, says, submit
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
