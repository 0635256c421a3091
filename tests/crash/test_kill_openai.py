"""kill -9 during a tool call, with the stock ``openai`` client, under both strategies."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, suppress
from typing import Any

import httpx
import openai
import pytest
from openai import AsyncOpenAI

from tests.crash.conftest import CrashServer, Sdk
from tests.crash.gates import Gates
from tests.logs import query
from tests.servers import Server, until

Client = Callable[[Server], AsyncOpenAI]
BY_LOG = {"recovery_by_graph": "agent=event_log"}


@pytest.fixture
async def openai_client() -> AsyncIterator[Client]:
    async with AsyncExitStack() as stack:

        def make(server: Server) -> AsyncOpenAI:
            client = AsyncOpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0)
            stack.push_async_callback(client.close)
            return client

        yield make


async def turn(client: AsyncOpenAI, text: str, conversation: str) -> str:
    answer = await client.responses.create(model="agent", input=text, conversation=conversation)
    return answer.output_text


async def read(stream: Any, seen: list[dict[str, Any]]) -> None:
    async for event in stream:
        seen.append(event.to_dict())


async def crash_in_tool(
    server: Server, client: AsyncOpenAI, gates: Gates, conversation: str, **extra: Any
) -> tuple[str, list[dict[str, Any]]]:
    """A background stream, killed while the tool runs; what was seen until then."""
    stream = await client.responses.create(
        model="agent",
        input="use the tool",
        conversation=conversation,
        background=True,
        stream=True,
        extra_body=extra or None,
    )
    seen: list[dict[str, Any]] = []
    reading = asyncio.create_task(read(stream, seen))
    await asyncio.to_thread(gates.reached, "work")
    await asyncio.to_thread(until, lambda: seen, "the client has seen something")
    server.kill()
    with suppress(openai.APIError, httpx.TransportError):
        await reading
    return seen[0]["response"]["id"], seen


async def rest(client: AsyncOpenAI, response_id: str, after: int | None) -> list[dict[str, Any]]:
    """Everything behind a cursor, to the end."""
    more: dict[str, Any] = {} if after is None else {"starting_after": after}
    seen: list[dict[str, Any]] = []
    await read(await client.responses.retrieve(response_id, stream=True, **more), seen)
    return seen


def check_union(seen: list[dict[str, Any]], whole: list[dict[str, Any]]) -> None:
    """What a client saw in pieces is the log: no gap, no duplicate."""
    assert seen == whole
    assert [e["sequence_number"] for e in seen] == list(range(len(seen)))
    kinds = [e["type"] for e in seen]
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"
    assert kinds.count("response.created") == kinds.count("response.completed") == 1


def resumed(events: list[dict[str, Any]]) -> list[tuple[int, str]]:
    found = [e for e in events if e["type"] == "response.resumed"]
    return [(e["attempt"], e["conversation_id"]) for e in found]


@pytest.mark.parametrize("dialect", ["mcp_call", "function_call"])
async def test_agent_session_goes_on_in_the_same_thread_without_a_second_call(
    crash_server: CrashServer,
    gates: Gates,
    openai_client: Client,
    sdk: Sdk,
    database_url: str,
    dialect: str,
) -> None:
    server = crash_server().start()
    client = openai_client(server)
    await turn(client, "hello", "conv-a")
    response_id, seen = await crash_in_tool(server, client, gates, "conv-a", tool_items=dialect)
    gates.open("work")
    server.start()
    seen += await rest(client, response_id, seen[-1]["sequence_number"])
    check_union(seen, await rest(client, response_id, None))
    assert resumed(seen) == [(2, "conv-a")]
    added = [e["item"]["type"] for e in seen if e["type"] == "response.output_item.added"]
    assert added.count(dialect) == 1
    assert gates.executions() == ["think", "think", "work", "work", "work finished", "think"]
    polled = await client.responses.retrieve(response_id)
    assert polled.to_dict() == seen[-1]["response"]
    assert polled.output_text == "remembered: hello, use the tool"
    stored = query(
        database_url, "SELECT terminal FROM responses WHERE response_id = %s", (response_id,)
    )
    assert json.loads(stored[0]["terminal"]) == polled.to_dict()
    assert await turn(client, "and now", "conv-a") == "plain: 3"
    state = await sdk(server.url).threads.get_state("conv-a")
    assert len(state["values"]["messages"]) == 8


async def test_event_log_rotates_in_the_third_turn_and_every_id_remembers(
    crash_server: CrashServer, gates: Gates, openai_client: Client, sdk: Sdk
) -> None:
    server = crash_server(**BY_LOG).start()
    client = openai_client(server)
    await turn(client, "first", "conv-e")
    await turn(client, "second", "conv-e")
    response_id, seen = await crash_in_tool(server, client, gates, "conv-e")
    gates.open("work")
    server.start()
    seen += await rest(client, response_id, seen[-1]["sequence_number"])
    check_union(seen, await rest(client, response_id, None))
    assert resumed(seen) == [(2, "conv-e::attempt-2")]
    terminal = seen[-1]["response"]
    assert terminal["conversation"]["id"] == "conv-e::attempt-2"
    assert [item["type"] for item in terminal["output"]] == ["mcp_call", "message"]
    polled = await client.responses.retrieve(response_id)
    assert polled.output_text == "remembered: first, second, use the tool"
    lg = sdk(server.url)
    state = await lg.threads.get_state("conv-e")
    assert state["values"]["turns"] == 3
    evidence = [m for m in state["values"]["messages"] if "[RECOVERY]" in str(m["content"])]
    assert len(evidence) == 1
    assert '{"id":"call_5","name":"work"' in evidence[0]["content"]
    assert state["checkpoint"]["thread_id"] == "conv-e"
    assert await turn(client, "more", "conv-e::attempt-2") == "plain: 4"
    assert await turn(client, "more", "conv-e") == "plain: 5"
    both = [await lg.threads.get_state(i) for i in ("conv-e", "conv-e::attempt-2")]
    assert both[0]["values"] == both[1]["values"]


async def test_a_second_crash_gives_a_new_name_and_the_evidence_of_all_attempts(
    crash_server: CrashServer, gates: Gates, openai_client: Client, sdk: Sdk
) -> None:
    server = crash_server(**BY_LOG).start()
    client = openai_client(server)
    response_id, _ = await crash_in_tool(server, client, gates, "conv-2")
    gates.close("work")
    server.start()
    await asyncio.to_thread(gates.reached, "work")
    server.kill()
    gates.open("work")
    server.start()
    whole = await rest(client, response_id, None)
    assert resumed(whole) == [(2, "conv-2::attempt-2"), (3, "conv-2::attempt-3")]
    state = await sdk(server.url).threads.get_state("conv-2")
    evidence = [m for m in state["values"]["messages"] if "[RECOVERY]" in str(m["content"])]
    assert len(evidence) == 1
    lines = evidence[0]["content"].partition("Events:\n")[2].splitlines()
    assert {json.loads(line)["attempt"] for line in lines} == {1, 2}
    assert await turn(client, "again", "conv-2") == "plain: 2"


async def test_two_runs_of_one_thread_that_both_crash_never_share_a_name(
    crash_server: CrashServer, gates: Gates, openai_client: Client, database_url: str
) -> None:
    server = crash_server(**BY_LOG).start()
    client = openai_client(server)
    named = []
    for _ in range(2):
        response_id, _ = await crash_in_tool(server, client, gates, "conv-n")
        gates.open("work")
        server.start()
        named += resumed(await rest(client, response_id, None))
        gates.close("work")
        (gates.folder / "work.open").unlink()
    assert named == [(2, "conv-n::attempt-2"), (2, "conv-n::attempt-3")]
    aliases = query(database_url, "SELECT alias FROM thread_aliases ORDER BY alias")
    assert [a["alias"] for a in aliases] == ["conv-n::attempt-2", "conv-n::attempt-3"]


async def test_a_run_of_one_door_is_followed_at_the_other(
    crash_server: CrashServer, gates: Gates, openai_client: Client, sdk: Sdk
) -> None:
    server = crash_server().start()
    client, lg = openai_client(server), sdk(server.url)
    gates.open("work")
    response = await client.responses.create(
        model="agent", input="use the tool", conversation="conv-x", background=True
    )
    run = (await lg.runs.list("conv-x"))[0]
    assert response.id == "resp_" + run["run_id"].replace("-", "")
    joined = lg.runs.join_stream("conv-x", run["run_id"], last_event_id="-1")
    parts = [part async for part in joined]
    assert {"metadata", "updates", "messages", "custom", "end"} == {p.event for p in parts}
    state = await lg.threads.get_state("conv-x")
    assert state["values"]["messages"][-1]["content"] == "remembered: use the tool"
    started = await lg.runs.create(
        "conv-x", "agent", input={"messages": [{"role": "user", "content": "hello"}]}
    )
    await lg.runs.join("conv-x", started["run_id"])
    read_back = await client.responses.retrieve("resp_" + started["run_id"].replace("-", ""))
    assert read_back.status == "completed"
    assert read_back.output_text == "plain: 2"
