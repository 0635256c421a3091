"""kill -9 during a tool call under what stock clients build on the stream: ``openai``'s stream
helper and the OpenAI Agents SDK. They come back, and none sees a tool call twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any
from uuid import uuid4

import httpx
import openai
import pytest
from agents import Agent, ModelSettings, Runner, set_tracing_disabled
from agents.models.openai_responses import OpenAIResponsesModel
from openai import AsyncOpenAI
from openai.types.responses import Response

from tests.contract.openresponses import check_response, check_stream, read_stream
from tests.contract.stock import names
from tests.crash.conftest import CrashServer
from tests.crash.gates import Gates
from tests.servers import Server

STRATEGIES = ("agent_session", "event_log")
ANSWER = "remembered: use the tool"

set_tracing_disabled(True)


@pytest.fixture(params=STRATEGIES)
def served(request: pytest.FixtureRequest, crash_server: CrashServer) -> Server:
    return crash_server(recovery_by_graph=f"agent={request.param}").start()


@pytest.fixture
async def client(served: Server) -> AsyncIterator[AsyncOpenAI]:
    """It tries again as long as a restart takes."""
    async with AsyncOpenAI(base_url=f"{served.url}/v1", api_key="-", max_retries=10) as client:
        yield client


async def restart(server: Server, gates: Gates) -> None:
    """Kills the server while the tool runs; the tool ends in the next attempt."""
    await asyncio.to_thread(gates.reached, "work")
    server.kill()
    gates.open("work")
    await asyncio.to_thread(server.start)


async def read(stream: Any, seen: list[Any]) -> None:
    with suppress(openai.APIError, httpx.TransportError):
        async for event in stream:
            seen.append(event)


def calls_of(response: Response) -> list[Any]:
    return [item for item in response.output if item.type in ("mcp_call", "function_call")]


@pytest.mark.parametrize("dialect", ["mcp_call", "function_call"])
async def test_the_stream_helper_comes_back_behind_its_cursor(
    served: Server, client: AsyncOpenAI, gates: Gates, dialect: str
) -> None:
    seen: list[Any] = []
    async with client.responses.stream(
        model="agent",
        input="use the tool",
        background=True,
        extra_body={"tool_items": dialect},
    ) as stream:
        reading = asyncio.create_task(read(stream, seen))
        await restart(served, gates)
        await reading
    name, cursor = seen[0].response.id, seen[-1].sequence_number
    async with client.responses.stream(response_id=name, starting_after=cursor) as stream:
        behind = [event async for event in stream]
        built = await stream.get_final_response()

    numbers = [event.sequence_number for event in [*seen, *behind]]
    assert numbers == list(range(len(numbers)))
    stored = await client.responses.retrieve(name)
    assert names(built.output) == names(stored.output)
    assert [item.type for item in calls_of(built)] == [dialect]
    assert built.output_text == ANSWER
    await check_wire(served, name)


async def check_wire(server: Server, name: str) -> None:
    """What is told of a recovery fits the Open Responses schema."""
    async with httpx.AsyncClient(base_url=f"{server.url}/v1", timeout=30) as wire:
        told = await wire.get(f"/responses/{name}", params={"stream": "true"})
        polled = await wire.get(f"/responses/{name}")
    frames = read_stream(told.content)
    check_stream(frames)
    check_response(polled.json())
    assert [frame["type"] for frame in frames].count("response.resumed") == 1
    assert frames[-1]["response"] == polled.json()


# -- the Agents SDK -----------------------------------------------------------------------------


@pytest.fixture
def agent(client: AsyncOpenAI) -> Agent[Any]:
    """Its requests carry a key: what is sent again is the same request."""
    return Agent(
        name="agent",
        model=OpenAIResponsesModel(model="agent", openai_client=client),
        model_settings=ModelSettings(extra_headers={"Idempotency-Key": uuid4().hex}),
    )


def kinds(result: Any) -> list[str]:
    return [item.type.removesuffix("_item") for item in result.new_items]


async def test_an_agents_run_is_not_told_of_a_crash(
    served: Server, gates: Gates, agent: Agent[Any]
) -> None:
    running = asyncio.create_task(Runner.run(agent, "use the tool"))
    await restart(served, gates)
    result = await running

    assert result.final_output == ANSWER
    assert kinds(result) == ["tool_call", "message_output"]
    assert gates.count("work finished") == 1


async def test_an_agents_streamed_run_that_is_cut_is_asked_for_again(
    served: Server, gates: Gates, agent: Agent[Any]
) -> None:
    cut = Runner.run_streamed(agent, "use the tool")
    seen: list[Any] = []
    reading = asyncio.create_task(read(cut.stream_events(), seen))
    await restart(served, gates)
    await reading
    again = Runner.run_streamed(agent, "use the tool")
    await read(again.stream_events(), seen)

    raw = [event.data for event in seen if event.type == "raw_response_event"]
    made = {event.response.id for event in raw if event.type == "response.created"}
    assert len(made) == 1
    assert again.final_output == ANSWER
    assert kinds(again) == ["tool_call", "message_output"]
    assert gates.count("work finished") == 1
