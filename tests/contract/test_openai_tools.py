"""The stock ``openai`` client and tools: those of the graph, its own, and those that ask first."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest
from langgraph_sdk.client import LangGraphClient

from tests.contract.stock import WEATHER, kinds

Client = openai.AsyncOpenAI


async def kinds_in(sdk: LangGraphClient, conversation: str) -> list[str]:
    """The types of the messages that a thread holds."""
    state: Any = await sdk.threads.get_state(conversation)
    return [message["type"] for message in state["values"]["messages"]]


async def test_a_tool_of_the_graph_is_shown_and_not_the_clients_to_run(
    openai_client: Client,
) -> None:
    plain = await openai_client.responses.create(input="add")
    pairs = await openai_client.responses.create(
        input="add", extra_body={"tool_items": "function_call"}
    )

    assert kinds(plain) == ["mcp_call", "message"]
    assert kinds(pairs) == ["function_call", "function_call_output", "message"]
    assert plain.output_text == pairs.output_text == "5 "


async def test_a_tool_of_the_client_is_called_and_answered(openai_client: Client) -> None:
    asked = await openai_client.responses.create(input="weather?", tools=[WEATHER])
    [call] = asked.output
    assert call.type == "function_call"
    assert (call.name, call.arguments) == ("weather", '{"city":"Graz"}')

    answered = await openai_client.responses.create(
        input=[{"type": "function_call_output", "call_id": call.call_id, "output": "sunny"}],
        previous_response_id=asked.id,
        tools=[WEATHER],
    )

    assert answered.output_text.strip() == "sunny"


async def test_a_stateless_client_answers_its_tool_with_the_whole_history(
    openai_client: Client,
) -> None:
    history: Any = [{"role": "user", "content": "weather?"}]
    asked = await openai_client.responses.create(input=history, tools=[WEATHER], store=False)
    history += [item.to_dict() for item in asked.output]
    [call] = asked.output
    assert call.type == "function_call"
    history.append({"type": "function_call_output", "call_id": call.call_id, "output": "sunny"})

    answered = await openai_client.responses.create(input=history, tools=[WEATHER], store=False)

    assert answered.output_text.strip() == "sunny"


async def test_the_arguments_of_a_clients_tool_are_streamed(openai_client: Client) -> None:
    async with openai_client.responses.stream(
        model="talk", input="weather?", tools=[WEATHER]
    ) as stream:
        events = [event async for event in stream]

    said = "".join(e.delta for e in events if e.type == "response.function_call_arguments.delta")
    assert json.loads(said) == {"city": "Graz"}


@pytest.mark.parametrize(("approve", "told"), [(True, "paid"), (False, "not paid")])
async def test_a_person_answers_a_question_of_the_graph(
    openai_client: Client, approve: bool, told: str
) -> None:
    asked = await openai_client.responses.create(input="pay")
    assert asked.status == "completed"
    question = asked.output[-1]
    assert question.type == "mcp_approval_request"

    answer: Any = {
        "type": "mcp_approval_response",
        "approval_request_id": question.id,
        "approve": approve,
    }
    answered = await openai_client.responses.create(input=[answer], previous_response_id=asked.id)

    paid = answered.output[0]
    assert paid.type == "mcp_call"
    assert (paid.arguments, paid.output) == ('{"amount":7}', told)
    assert answered.output_text.strip() == told


async def test_a_turn_after_a_cancelled_tool_finds_every_call_answered(
    openai_client: Client, talk_sdk: LangGraphClient
) -> None:
    stream = await openai_client.responses.create(
        input="look", conversation="conv_cut", background=True, stream=True
    )
    name = ""
    async for event in stream:
        if event.type == "response.created":
            name = event.response.id
        if event.type == "response.mcp_call_arguments.done":
            cancelled = await openai_client.responses.cancel(name)
    turn = await openai_client.responses.create(input="count", conversation="conv_cut")

    assert [item.to_dict()["status"] for item in cancelled.output] == ["incomplete"]
    assert turn.output_text.strip() == "2 heard"
    assert await kinds_in(talk_sdk, "conv_cut") == ["human", "ai", "tool", "human", "ai"]


async def test_a_plain_turn_instead_of_an_answer_finds_every_call_answered(
    openai_client: Client, talk_sdk: LangGraphClient
) -> None:
    await openai_client.responses.create(input="pay", conversation="conv_ignored")
    turn = await openai_client.responses.create(input="count", conversation="conv_ignored")

    assert turn.output_text.strip() == "2 heard"
    assert await kinds_in(talk_sdk, "conv_ignored") == ["human", "ai", "tool", "human", "ai"]
