"""The stock ``ChatOpenAI`` of langchain-openai: a served graph is its model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, SecretStr

from tests.servers import Server

Chat = Callable[..., ChatOpenAI]


class Weather(BaseModel):
    city: str
    degrees: int


@tool
def weather(city: str) -> str:
    """The weather of a city."""
    return f"sunny in {city}"


@pytest.fixture
def chat(talk: Server) -> Chat:
    def make(**more: Any) -> ChatOpenAI:
        return ChatOpenAI(
            model="talk",
            base_url=f"{talk.url}/v1",
            api_key=SecretStr("-"),
            use_responses_api=True,
            max_retries=0,
            **more,
        )

    return make


def whole(chunks: Iterable[AIMessageChunk]) -> AIMessageChunk:
    first, *rest = chunks
    return sum(rest, start=first)


def blocks(message: AIMessage) -> list[str]:
    return [block["type"] for block in message.content if isinstance(block, dict)]


def name_of(message: AIMessage) -> str:
    """The response that a message came in."""
    return str(message.response_metadata["id"])


def test_invoke(chat: Chat) -> None:
    answer = chat().invoke("hi")

    assert answer.text == "You said: hi "
    assert answer.usage_metadata is not None
    assert answer.usage_metadata["total_tokens"] == 5


@pytest.mark.parametrize(
    ("question", "told", "text"),
    [
        ("hi", ["text"], "You said: hi "),
        ("think", ["reasoning", "text"], "I am "),
        ("add", ["mcp_call", "text"], "5 "),
    ],
)
def test_a_stream_adds_up_to_what_invoke_returns(
    chat: Chat, question: str, told: list[str], text: str
) -> None:
    streamed = whole(chat().stream(question))
    invoked = chat().invoke(question)

    assert (blocks(streamed), blocks(invoked)) == (told, told)
    assert (streamed.text, invoked.text) == (text, text)
    assert streamed.tool_calls == invoked.tool_calls == []
    assert streamed.usage_metadata == invoked.usage_metadata


async def test_an_asynchronous_stream(chat: Chat) -> None:
    chunks = [chunk async for chunk in chat().astream("hi")]

    assert whole(chunks).text == (await chat().ainvoke("hi")).text == "You said: hi "


def test_a_tool_of_the_client_is_called_and_answered_by_a_resent_history(chat: Chat) -> None:
    model = chat().bind_tools([weather])
    asked = model.invoke("weather?")
    [call] = asked.tool_calls
    assert (call["name"], call["args"]) == ("weather", {"city": "Graz"})

    answered = model.invoke([HumanMessage("weather?"), asked, weather.invoke(call)])

    assert answered.text == "sunny in Graz "


def test_a_tool_of_the_client_is_answered_to_a_previous_response(chat: Chat) -> None:
    model = chat().bind_tools([weather])
    asked = whole(model.stream("weather?"))
    result = ToolMessage("rain", tool_call_id=asked.tool_calls[0]["id"])

    answered = model.invoke([result], previous_response_id=name_of(asked))

    assert answered.text == "rain "


def test_a_previous_response_is_continued(chat: Chat) -> None:
    first = chat().invoke("count")
    second = chat().invoke("count", previous_response_id=name_of(first))
    model = chat(use_previous_response_id=True)
    third = model.invoke([HumanMessage("count"), first, HumanMessage("count"), second, "count"])

    assert [each.text for each in (first, second, third)] == ["1 heard ", "2 heard ", "3 heard "]


def test_a_resent_history_with_a_tool_of_the_graph_is_heard_once(chat: Chat) -> None:
    added = chat().invoke("add")

    assert chat().invoke([HumanMessage("add"), added, HumanMessage("count")]).text == "2 heard "


def test_structured_output(chat: Chat) -> None:
    model = chat().with_structured_output(Weather, method="json_schema")

    assert model.invoke("weather?") == Weather(city="Graz", degrees=21)


@pytest.mark.parametrize(("approve", "told"), [(True, "paid "), (False, "not paid ")])
def test_a_question_of_the_graph_is_answered_by_a_resent_history(
    chat: Chat, approve: bool, told: str
) -> None:
    asked = chat().invoke("pay")
    question: Any = asked.content[-1]
    assert question["type"] == "mcp_approval_request"
    answer = {
        "type": "mcp_approval_response",
        "approval_request_id": question["id"],
        "approve": approve,
    }

    answered = chat().invoke([HumanMessage("pay"), asked, HumanMessage([answer])])

    assert answered.text == told


def test_a_failed_run_raises(chat: Chat) -> None:
    with pytest.raises(ValueError, match="boom"):
        chat().invoke("fail")
    with pytest.raises(ValueError, match="boom"):
        whole(chat().stream("fail"))
