"""``client.threads.stream()`` of the stock Python client: everything that it projects."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable
from typing import Any

import pytest
from langgraph_sdk.client import LangGraphClient, SyncLangGraphClient

HELLO = {"messages": [{"role": "user", "content": "hello"}]}


def asks(word: str) -> dict[str, Any]:
    """The input with which ``toolbox`` calls the tool that knows the word."""
    return {"messages": [{"role": "user", "content": word}]}


async def collect(projection: AsyncIterable[Any]) -> list[Any]:
    async with asyncio.timeout(20):
        return [each async for each in projection]


async def test_messages_are_told_piece_by_piece_and_whole(client: LangGraphClient) -> None:
    async with client.threads.stream(assistant_id="chat") as thread:
        await thread.run.start(input=HELLO)
        pieces: list[asyncio.Task[list[Any]]] = []
        async for message in thread.messages:
            pieces.append(asyncio.create_task(collect(message.text)))
        assert await asyncio.gather(*pieces) == [["You", " ", "said", " ", "something."]]
        assert await message.text == "You said something."
        assert message.node == "chat"
        last = (await thread.output)["messages"][-1]
        assert (last["id"], last["content"]) == (message.message_id, "You said something.")


async def test_a_message_with_a_tool_call_is_rebuilt_from_its_chunks(
    client: LangGraphClient,
) -> None:
    async with client.threads.stream(assistant_id="agent") as thread:
        await thread.run.start(input=HELLO)
        asking, answer = await collect(thread.messages)
        [call] = await asking.tool_calls
        assert (call["name"], call["args"], call["id"]) == ("add", {"a": 2, "b": 3}, "call_1")
        assert await answer.text == "The answer is 5"
        assert (await asking.output).tool_calls == [call]


async def test_values_are_every_state_up_to_the_output(client: LangGraphClient) -> None:
    async with client.threads.stream(assistant_id="steps") as thread:
        await thread.run.start(input={"items": ["mine"]})
        _, *values = await collect(thread.values)
        assert [len(each["items"]) for each in values] == list(range(1, 10))
        assert await thread.output == values[-1]


async def test_tool_calls_have_outputs_and_errors(client: LangGraphClient) -> None:
    async with client.threads.stream(assistant_id="toolbox") as thread:
        await thread.run.start(input=asks("sky"))
        [call] = await collect(thread.tool_calls)
        assert (call.name, call.input, call.tool_call_id) == ("lookup", {"word": "sky"}, "call_1")
        assert (await call.output)["content"] == "It is blue"
    async with client.threads.stream(assistant_id="toolbox") as thread:
        await thread.run.start(input=asks("sea"))
        [call] = await collect(thread.tool_calls)
        with pytest.raises(RuntimeError, match="no sea today"):
            await call.output
        assert (await thread.output)["messages"][-1]["content"] == "The end"


async def test_subgraphs_have_their_own_messages(client: LangGraphClient) -> None:
    async with client.threads.stream(assistant_id="toolbox") as thread:
        await thread.run.start(input=asks("sky"))
        [tools] = await collect(thread.subgraphs)
        assert (tools.graph_name, tools.status) == ("tools", "completed")
        assert tools.path == (f"tools:{tools.trigger_call_id}",)
        [message] = await collect(tools.messages)
        assert await message.text == "It is blue"
        ours = await collect(thread.messages)
        assert [await each.text for each in ours] == ["", "The end"]


async def test_a_subgraph_of_a_node_has_that_nodes_name(client: LangGraphClient) -> None:
    async with client.threads.stream(assistant_id="subgraph") as thread:
        await thread.run.start(input={"x": 1})
        [child] = await collect(thread.subgraphs)
        assert (child.graph_name, child.status) == ("child", "completed")
        assert await thread.output == {"x": 29}


async def test_what_a_graph_writes_under_a_name_is_an_extension(client: LangGraphClient) -> None:
    async with client.threads.stream(assistant_id="toolbox") as thread:
        await thread.run.start(input=asks("sky"))
        said = {"name": "progress", "share": 0.5}
        assert await collect(thread.extensions["progress"]) == [{**said, "payload": said}]


async def test_several_projections_share_one_stream(client: LangGraphClient) -> None:
    async with client.threads.stream(assistant_id="agent") as thread:
        await thread.run.start(input=HELLO)
        names = ["values", "messages", "updates", "tasks", "checkpoints"]
        items = await collect(thread.interleave_projections(names))
        by_name = {name: [item for key, item in items if key == name] for name in names}
        assert [data["node"] for data in by_name["updates"]] == ["model", "tool", "model"]
        assert [c["step"] for c in by_name["checkpoints"]] == [-1, 0, 1, 2, 3]
        assert [c["source"] for c in by_name["checkpoints"]] == ["input", *["loop"] * 4]
        assert len(by_name["tasks"]) == 6
        assert [await each.text for each in by_name["messages"]] == ["", "The answer is 5"]
        assert by_name["values"][-1] == await thread.output


async def test_all_events_of_a_run_can_be_read_as_they_are(client: LangGraphClient) -> None:
    async with client.threads.stream(assistant_id="echo") as thread:
        await thread.run.start(input={"x": 1})
        told: list[Any] = []
        async for event in thread.events:
            told.append(event)
            if event["params"]["data"].get("event") == "completed":
                break
        assert {event["method"] for event in told} >= {"values", "updates", "tasks", "lifecycle"}


async def test_the_graph_of_an_agent_can_be_drawn(client: LangGraphClient) -> None:
    async with client.threads.stream(assistant_id="echo") as thread:
        tree = await thread.agent.get_tree()
        assert [node["id"] for node in tree["nodes"]] == ["__start__", "echo", "__end__"]


# -- endings --------------------------------------------------------------------------------------


async def test_the_output_of_a_graph_that_fails_raises_what_it_said(
    client: LangGraphClient,
) -> None:
    async with client.threads.stream(assistant_id="boom") as thread:
        await thread.run.start(input={"x": 1})
        assert await collect(thread.messages) == []
        with pytest.raises(RuntimeError, match="boom"):
            await asyncio.wait_for(thread.output, 10)
        thread_id = thread.thread_id
    async with client.threads.stream(thread_id, assistant_id="boom") as thread:
        with pytest.raises(RuntimeError, match="boom"):
            await asyncio.wait_for(thread.output, 10)


async def test_an_assistant_that_nobody_knows_is_refused(client: LangGraphClient) -> None:
    async with client.threads.stream(assistant_id="nobody") as thread:
        with pytest.raises(RuntimeError, match="nobody"):
            await thread.run.start(input={})


# -- the other half -------------------------------------------------------------------------------


async def test_the_synchronous_client_sees_the_same(sync_client: SyncLangGraphClient) -> None:
    def use() -> None:
        with sync_client.threads.stream(assistant_id="toolbox") as thread:
            thread.run.start(input=asks("sky"))
            [call] = list(thread.tool_calls)
            assert call.output["content"] == "It is blue"
            assert thread.output["messages"][-1]["content"] == "The end"
        with sync_client.threads.stream(assistant_id="agent") as thread:
            thread.run.start(input=HELLO)
            assert [str(message.text) for message in thread.messages] == ["", "The answer is 5"]
        with sync_client.threads.stream(assistant_id="steps") as thread:
            thread.run.start(input={"items": []})
            _, *values = thread.values
            assert [len(each["items"]) for each in values] == list(range(9))
        with sync_client.threads.stream(assistant_id="boom") as thread:
            thread.run.start(input={"x": 1})
            with pytest.raises(RuntimeError, match="boom"):
                _ = thread.output

    await asyncio.to_thread(use)
