"""The stock OpenAI Agents SDK and a graph's questions: approvals of a hosted MCP server."""

from __future__ import annotations

from typing import Any

import pytest
from agents import (
    HostedMCPTool,
    MCPToolApprovalFunctionResult,
    MCPToolApprovalRequest,
    OpenAIConversationsSession,
    Runner,
)
from langgraph_sdk.client import LangGraphClient
from openai import AsyncOpenAI

from tests.contract.agents_client import AgentOf, agent_of

LANGGRAPH: Any = {
    "type": "mcp",
    "server_label": "langgraph",
    "server_url": "http://127.0.0.1:9",
    "require_approval": "always",
}


@pytest.fixture
def agent(openai_client: AsyncOpenAI) -> AgentOf:
    return agent_of(openai_client)


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


async def test_a_session_remembers_what_a_person_has_approved(
    agent: AgentOf, openai_client: AsyncOpenAI
) -> None:
    session = OpenAIConversationsSession(openai_client=openai_client)
    tool = HostedMCPTool(tool_config=LANGGRAPH, on_approval_request=lambda _: {"approve": True})
    paid = await Runner.run(agent(tool), "pay", session=session)
    counted = await Runner.run(agent(tool), "count", session=session)

    assert (paid.final_output, counted.final_output) == ("paid ", "2 heard ")
