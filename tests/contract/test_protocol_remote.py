"""``RemoteGraph`` through the agent streaming protocol: the same surface as a graph's own."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.types import Command
from langgraph_sdk.client import LangGraphClient

from tests.contract.conftest import RemoteOf
from tests.contract.remote import on_a_thread
from tests.contract.test_protocol_turns import until_asked
from tests.contract.test_protocol_v3 import asks, collect


async def test_a_run_can_be_watched(remote: RemoteOf) -> None:
    streaming = await remote("toolbox").astream_events(asks("sky"), version="v3")
    async with streaming as run:
        asking, answer = await collect(run.messages)
        assert await answer.text == "The end"
        assert [call["name"] for call in await asking.tool_calls] == ["lookup"]
        assert (await run.output())["messages"][-1]["content"] == "The end"
        assert not await run.interrupted()


@pytest.mark.parametrize("name", ["updates", "checkpoints", "tasks", "custom"])
async def test_every_channel_is_an_extension(remote: RemoteOf, name: str) -> None:
    streaming = await remote("steps").astream_events({"items": []}, version="v3")
    async with streaming as run:
        told = await collect(run.extensions[name])
    expected: dict[str, list[Any]] = {
        "updates": [f"n{n}" for n in range(8)],
        "checkpoints": list(range(-1, 9)),
        "tasks": [f"n{n}" for n in range(8) for _ in "se"],
        "custom": [{"step": n} for n in range(8)],
    }
    key = {"updates": "node", "checkpoints": "step", "tasks": "name", "custom": "payload"}[name]
    assert [data[key] for data in told] == expected[name]


async def test_a_question_is_answered_by_the_next_run_on_the_thread(remote: RemoteOf) -> None:
    graph, config = remote("approval"), on_a_thread()
    streaming = await graph.astream_events({"request": "pay"}, config, version="v3")
    async with streaming as run:
        await until_asked(run._sdk, 1)
        [asked] = await run.interrupts()
        assert asked["value"] == {"question": "approve?", "request": "pay"}
    streaming = await graph.astream_events(Command(resume="yes"), config, version="v3")
    async with streaming as run:
        output = await asyncio.wait_for(run.output(), 10)
        assert output["log"] == ["prepared", "decided:yes", "finished"]


async def test_a_run_can_be_aborted(remote: RemoteOf, client: LangGraphClient) -> None:
    config = on_a_thread()
    streaming = await remote("slow").astream_events({"delay": 30}, config, version="v3")
    async with streaming as run:
        async for event in run:
            if event["method"] == "custom":
                break
        await run.abort()
    thread_id = config["configurable"]["thread_id"]
    [started] = await client.runs.list(thread_id)
    await client.runs.join(thread_id, started["run_id"])
    assert (await client.runs.get(thread_id, started["run_id"]))["status"] == "interrupted"


async def test_the_synchronous_half_does_the_same(remote: RemoteOf) -> None:
    def use() -> None:
        with remote("agent").stream_events(asks("hello"), version="v3") as run:
            items = list(run.interleave("values", "messages"))
            texts = [str(item.text) for name, item in items if name == "messages"]
            assert texts == ["", "The answer is 5"]
            assert run.output == [item for name, item in items if name == "values"][-1]
        config = on_a_thread()
        with remote("approval").stream_events({"request": "pay"}, config, version="v3") as run:
            assert list(run.values)
            assert run.interrupted
        again = remote("approval").stream_events(Command(resume="ok"), config, version="v3")
        with again as run:
            assert run.output["decision"] == "ok"

    await asyncio.to_thread(use)
