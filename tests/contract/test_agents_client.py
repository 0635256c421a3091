"""The stock OpenAI Agents SDK: a served graph is its model, and so are the graph's questions."""

from __future__ import annotations

from typing import Any

import pytest
from agents import (
    Agent,
    HostedMCPTool,
    MCPToolApprovalFunctionResult,
    MCPToolApprovalRequest,
    OpenAIConversationsSession,
    Runner,
    Tool,
    function_tool,
    set_tracing_disabled,
)
from agents.models.openai_responses import OpenAIResponsesModel
from langgraph_sdk.client import LangGraphClient
from openai import AsyncOpenAI
from pydantic import BaseModel

AgentOf = Any


class Weather(BaseModel):
    city: str
    degrees: int


LANGGRAPH: Any = {
    "type": "mcp",
    "server_label": "langgraph",
    "server_url": "http://127.0.0.1:9",
    "require_approval": "always",
}

set_tracing_disabled(True)


@pytest.fixture
def agent(openai_client: AsyncOpenAI) -> AgentOf:
    """Makes agents whose model is the served graph."""
    model = OpenAIResponsesModel(model="talk", openai_client=openai_client)

    def make(*tools: Tool, **more: Any) -> Agent[Any]:
        return Agent(name="agent", model=model, tools=list(tools), **more)

    return make


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


def kinds(result: Any) -> list[str]:
    return [item.type.removesuffix("_item") for item in result.new_items]


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


@pytest.mark.parametrize(("approve", "told"), [(True, "paid "), (False, "not paid ")])
@pytest.mark.parametrize(
    "how",
    [{}, {"auto_previous_response_id": True}, {"conversation_id": "conv_agents"}],
    ids=["stateless", "previous response", "conversation"],
)
async def test_a_question_of_the_graph_is_answered_by_a_callback(
    agent: AgentOf, approve: bool, told: str, how: dict[str, Any]
) -> None:
    asked = []

    def answer(request: MCPToolApprovalRequest) -> MCPToolApprovalFunctionResult:
        asked.append(request.data.arguments)
        return {"approve": approve}

    tool = HostedMCPTool(tool_config=LANGGRAPH, on_approval_request=answer)
    result = await Runner.run(agent(tool), "pay", **how)

    assert (result.final_output, asked) == (told, ['{"question":"Pay 7?"}'])


async def test_a_question_is_answered_in_a_streamed_run(agent: AgentOf) -> None:
    tool = HostedMCPTool(tool_config=LANGGRAPH, on_approval_request=lambda _: {"approve": True})
    result = Runner.run_streamed(agent(tool), "pay")
    async for _ in result.stream_events():
        pass

    assert result.final_output == "paid "


@pytest.mark.parametrize(("approve", "told"), [(True, "paid "), (False, "not paid ")])
async def test_a_question_of_the_graph_interrupts_a_run_that_its_answer_resumes(
    agent: AgentOf, approve: bool, told: str
) -> None:
    asking = agent(HostedMCPTool(tool_config=LANGGRAPH))
    paused = await Runner.run(asking, "pay")
    [question] = paused.interruptions
    state = paused.to_state()
    if approve:
        state.approve(question)
    else:
        state.reject(question)

    resumed = await Runner.run(asking, state)

    assert resumed.interruptions == []
    assert resumed.final_output == told


async def test_an_approval_in_a_resent_history_pays_nothing_again(
    agent: AgentOf, talk_sdk: LangGraphClient
) -> None:
    tool = HostedMCPTool(tool_config=LANGGRAPH, on_approval_request=lambda _: {"approve": True})
    paid = await Runner.run(agent(tool), "pay")
    history: Any = [*paid.to_input_list(), {"role": "user", "content": "count"}]

    counted = await Runner.run(agent(tool), history)

    assert counted.final_output == "2 heard "
    assert counted.last_response_id is not None
    state: Any = await talk_sdk.threads.get_state(counted.last_response_id)
    results = [m["content"] for m in state["values"]["messages"] if m["type"] == "tool"]
    assert results == ["paid"]


async def test_a_paused_run_shows_its_tool_under_a_new_name_when_it_goes_on(
    agent: AgentOf,
) -> None:
    """Histories are kept by name: the same one again would lose the result."""
    tool = HostedMCPTool(tool_config=LANGGRAPH, on_approval_request=lambda _: {"approve": True})
    paid: Any = await Runner.run(agent(tool), "pay")

    calls = [item for item in paid.to_input_list() if item.get("type") == "mcp_call"]

    assert [(call["id"], call["output"]) for call in calls] == [
        ("mcp_call_pay", None),
        ("mcp_call_pay~2", "paid"),
    ]


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


async def test_a_session_remembers_what_a_person_has_approved(
    agent: AgentOf, openai_client: AsyncOpenAI
) -> None:
    session = OpenAIConversationsSession(openai_client=openai_client)
    tool = HostedMCPTool(tool_config=LANGGRAPH, on_approval_request=lambda _: {"approve": True})
    paid = await Runner.run(agent(tool), "pay", session=session)
    counted = await Runner.run(agent(tool), "count", session=session)

    assert (paid.final_output, counted.final_output) == ("paid ", "2 heard ")


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
