"""kill -9 of the server in mid-response, with the stock ``openai`` client attached."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import openai
import pytest

from tests.crash.conftest import CrashServer
from tests.crash.gates import Gates
from tests.servers import Server

Stock = Callable[[Server], openai.AsyncOpenAI]
Frame = dict[str, Any]

ASK: Any = {"model": "agent", "input": "use the tool", "background": True, "stream": True}


@pytest.fixture
async def stock() -> AsyncIterator[Stock]:
    """Makes stock clients that are closed with the test."""
    async with AsyncExitStack() as stack:

        def make(server: Server) -> openai.AsyncOpenAI:
            client = openai.AsyncOpenAI(base_url=server.url, api_key="-", max_retries=0)
            stack.push_async_callback(client.close)
            return client

        yield make


async def read_until_working(client: openai.AsyncOpenAI, **changes: Any) -> list[Frame]:
    """The frames of a new response up to where its tool runs."""
    told: list[Frame] = []
    stream = await client.responses.create(**ASK, **changes)
    async for event in stream:
        told.append(event.to_dict())
        if event.type == "response.mcp_call_arguments.done":
            break
    await stream.close()
    return told


async def rest(client: openai.AsyncOpenAI, told: list[Frame]) -> list[Frame]:
    """What follows ``told``, to the end of the stream."""
    stream = await client.responses.retrieve(
        told[0]["response"]["id"], stream=True, starting_after=told[-1]["sequence_number"]
    )
    return [event.to_dict() async for event in stream]


def kinds(frames: list[Frame]) -> list[str]:
    return [frame["type"].removeprefix("response.") for frame in frames]


async def test_a_tool_that_was_running_completes_in_the_item_it_was_announced_in(
    crash_server: CrashServer, gates: Gates, stock: Stock
) -> None:
    server = crash_server().start()
    client = stock(server)
    told = await read_until_working(client, conversation="conv_1")
    gates.reached("work")
    server.kill()
    gates.open("work")
    server.start()

    after = await rest(client, told)
    whole = [*told, *after]

    assert [f["sequence_number"] for f in whole] == list(range(len(whole)))
    assert kinds(after)[:4] == ["in_progress", "resumed", "mcp_call.completed", "output_item.done"]
    assert kinds(whole).count("resumed") == 1
    resumed = after[1]
    assert (resumed["attempt"], resumed["conversation_id"]) == (2, "conv_1")
    assert [f["output_index"] for f in whole if f["type"].endswith("item.added")] == [0, 1]
    stored = await client.responses.retrieve(told[0]["response"]["id"])
    assert stored.to_dict() == after[-1]["response"]
    assert [item.type for item in stored.output] == ["mcp_call", "message"]
    assert gates.count("work") == 2
    assert gates.count("think") == 2

    turn = await client.responses.create(model="agent", input="more", conversation="conv_1")
    assert turn.output_text == "plain: 2"


async def test_a_rotated_response_tells_only_its_last_attempt_and_both_ids_go_on(
    crash_server: CrashServer, gates: Gates, stock: Stock
) -> None:
    server = crash_server(recovery_by_graph="agent=event_log").start()
    client = stock(server)
    told = await read_until_working(client, conversation="conv_2")
    gates.reached("work")
    server.kill()
    gates.open("work")
    server.start()

    after = await rest(client, told)

    assert kinds(after)[:3] == ["output_item.done", "in_progress", "resumed"]
    assert after[0]["item"]["status"] == "incomplete"
    assert after[2]["conversation_id"] == "conv_2::attempt-2"
    last = after[-1]["response"]
    assert last["conversation"]["id"] == "conv_2::attempt-2"
    announced = [f["item"]["id"] for f in after if f["type"].endswith("item.added")]
    assert [item["id"] for item in last["output"]] == announced
    assert [item["status"] for item in last["output"]] == ["completed", "completed"]

    for count, name in enumerate(("conv_2", "conv_2::attempt-2"), start=2):
        turn = await client.responses.create(model="agent", input="more", conversation=name)
        assert turn.output_text == f"plain: {count}"


async def test_a_deploy_cuts_the_stream_without_an_end_and_nothing_is_lost(
    crash_server: CrashServer, gates: Gates, stock: Stock
) -> None:
    server = crash_server(shutdown_grace_seconds=0.2, recovery_by_graph="agent=event_log").start()
    client = stock(server)
    told: list[Frame] = []
    async for event in await client.responses.create(**ASK):
        told.append(event.to_dict())
        if event.type == "response.mcp_call_arguments.done":
            gates.reached("work")
            server.terminate()
    assert kinds(told)[-1] == "mcp_call_arguments.done"
    gates.open("work")
    server.start()

    after = await rest(client, told)

    assert kinds(after)[:3] == ["in_progress", "resumed", "mcp_call.completed"]
    assert "::attempt" not in after[1]["conversation_id"]
    assert after[-1]["type"] == "response.completed"
