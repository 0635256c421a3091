"""The stock OpenAI Agents SDK: a served graph is its model."""

from __future__ import annotations

from typing import Any

import pytest
from agents import OpenAIConversationsSession, Runner, Tool, function_tool
from openai import AsyncOpenAI
from pydantic import BaseModel

from tests.contract.agents_client import AgentOf, agent_of, kinds


class Weather(BaseModel):
    city: str
    degrees: int


@pytest.fixture
def agent(openai_client: AsyncOpenAI) -> AgentOf:
    return agent_of(openai_client)


@pytest.fixture
def ran() -> list[str]:
    """What the client's own tool was called with."""
    return []


@pytest.fixture
def weather(ran: list[str]) -> Tool:
    @function_tool
    def weather(city: str) -> str:
        """The weather of a city."""
        ran.append(city)
        return f"sunny in {city}"

    return weather


async def test_text(agent: AgentOf) -> None:
    result = await Runner.run(agent(instructions="Be kind."), "hi")

    assert result.final_output == "You said: hi "
    assert result.context_wrapper.usage.total_tokens == 5


async def test_a_streamed_run(agent: AgentOf) -> None:
    result = Runner.run_streamed(agent(), "think")
    raw = [e.data.type async for e in result.stream_events() if e.type == "raw_response_event"]

    assert result.final_output == "I am "
    assert (raw[0], raw[-1]) == ("response.created", "response.completed")
    assert kinds(result) == ["reasoning", "message_output"]


async def test_structured_output(agent: AgentOf) -> None:
    result = await Runner.run(agent(output_type=Weather), "weather?")

    assert result.final_output == Weather(city="Graz", degrees=21)


async def test_a_tool_of_the_graph_is_not_run_again(agent: AgentOf) -> None:
    result = await Runner.run(agent(), "add")

    assert (result.final_output, kinds(result)) == ("5 ", ["tool_call", "message_output"])


@pytest.mark.parametrize("how", [{}, {"auto_previous_response_id": True}])
async def test_a_tool_of_the_client_runs_once(
    agent: AgentOf, weather: Tool, ran: list[str], how: dict[str, Any]
) -> None:
    result = await Runner.run(agent(weather), "weather?", **how)

    assert result.final_output == "sunny in Graz "
    assert kinds(result) == ["tool_call", "tool_call_output", "message_output"]
    assert ran == ["Graz"]


async def test_a_tool_of_the_client_runs_once_in_a_streamed_run(
    agent: AgentOf, weather: Tool, ran: list[str]
) -> None:
    result = Runner.run_streamed(agent(weather), "weather?")
    async for _ in result.stream_events():
        pass

    assert (result.final_output, ran) == ("sunny in Graz ", ["Graz"])


async def test_a_session_of_openai_conversations_remembers(
    agent: AgentOf, weather: Tool, openai_client: AsyncOpenAI
) -> None:
    session = OpenAIConversationsSession(openai_client=openai_client)
    first = await Runner.run(agent(), "count", session=session)
    await Runner.run(agent(weather), "weather?", session=session)
    third = await Runner.run(agent(), "count", session=session)

    assert (first.final_output, third.final_output) == ("1 heard ", "3 heard ")
    assert [item.get("type") for item in await session.get_items()] == [
        "message",
        "message",
        "message",
        "function_call",
        "function_call_output",
        "message",
        "message",
        "message",
    ]


async def test_a_session_takes_back_its_last_item_and_is_cleared(
    agent: AgentOf, openai_client: AsyncOpenAI
) -> None:
    session = OpenAIConversationsSession(openai_client=openai_client)
    await Runner.run(agent(), "count", session=session)

    last: Any = await session.pop_item()
    left: Any = await session.get_items()
    await session.clear_session()

    assert last["content"][0]["text"] == "1 heard "
    assert [item["role"] for item in left] == ["user"]
    assert await session.get_items() == []


async def test_a_conversation_kept_by_the_server_remembers(
    agent: AgentOf, weather: Tool, openai_client: AsyncOpenAI
) -> None:
    name = (await openai_client.conversations.create()).id
    told = [
        (await Runner.run(asked, question, conversation_id=name)).final_output
        for asked, question in [
            (agent(), "count"),
            (agent(weather), "weather?"),
            (agent(), "count"),
        ]
    ]

    assert told == ["1 heard ", "sunny in Graz ", "3 heard "]


async def test_a_previous_response_is_continued(agent: AgentOf) -> None:
    first = await Runner.run(agent(), "count")
    second = await Runner.run(agent(), "count", previous_response_id=first.last_response_id)

    assert second.final_output == "2 heard "
