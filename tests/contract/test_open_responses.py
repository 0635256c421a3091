"""Whatever a run does, what this server tells of it fits the Open Responses schema."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.contract.openresponses import Frame, check_response, check_stream, read_stream
from tests.contract.stock import WEATHER
from tests.servers import Server

INTERRUPT = {"type": "function", "name": "langgraph_interrupt"}
SCHEMA = {"type": "json_schema", "name": "weather", "schema": {"type": "object"}}

RUNS: dict[str, tuple[dict[str, Any], str, list[str]]] = {
    "text": ({"input": "hi"}, "completed", ["message"]),
    "text in the background": ({"input": "hi", "background": True}, "completed", ["message"]),
    "text as one item": (
        {"input": "hi", "stream_granularity": "item"},
        "completed",
        ["message"],
    ),
    "structured text": ({"input": "hi", "text": {"format": SCHEMA}}, "completed", ["message"]),
    "reasoning": ({"input": "think"}, "completed", ["reasoning", "message"]),
    "refusal": ({"input": "refuse"}, "completed", ["message"]),
    "annotations": ({"input": "cite"}, "completed", ["message"]),
    "tool of the graph": ({"input": "add"}, "completed", ["mcp_call", "message"]),
    "tool of the graph in pairs": (
        {"input": "add", "tool_items": "function_call"},
        "completed",
        ["function_call", "function_call_output", "message"],
    ),
    "tool of the client": (
        {"input": "weather?", "tools": [WEATHER]},
        "completed",
        ["function_call"],
    ),
    "question": ({"input": "pay"}, "completed", ["mcp_call", "mcp_approval_request"]),
    "question to one who declares it": (
        {"input": "pay", "tools": [{"type": "mcp", "server_label": "langgraph"}]},
        "completed",
        ["mcp_call", "mcp_approval_request"],
    ),
    "question as a call": (
        {"input": "pay", "tools": [INTERRUPT], "tool_items": "function_call"},
        "completed",
        ["function_call", "function_call"],
    ),
    "values without messages": ({"model": "verse", "input": "cat"}, "completed", ["message"]),
    "failure": ({"input": "fail"}, "failed", []),
    "recursion limit": ({"input": "loop"}, "incomplete", ["mcp_call"]),
    "not stored": ({"input": "hi", "store": False}, "completed", ["message"]),
}


@pytest.fixture
async def wire(talk: Server) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=talk.url, timeout=30) as client:
        yield client


async def streamed(wire: httpx.AsyncClient, body: dict[str, Any]) -> list[Frame]:
    answer = await wire.post("/v1/responses", json={**body, "stream": True})
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    return read_stream(answer.content)


@pytest.mark.parametrize("run", RUNS)
async def test_every_event_and_every_response_fits(wire: httpx.AsyncClient, run: str) -> None:
    body, status, items = RUNS[run]
    frames = await streamed(wire, body)
    last = frames[-1]["response"]

    check_stream(frames)
    assert (last["status"], [item["type"] for item in last["output"]]) == (status, items)
    if body.get("store", True):
        stored = await wire.get(f"/v1/responses/{last['id']}")
        assert stored.json() == last
    answer = await wire.post("/v1/responses", json=body)
    assert answer.json().keys() == last.keys()
    check_response(answer.json())


async def test_an_answered_question_fits(wire: httpx.AsyncClient) -> None:
    asked = (await wire.post("/v1/responses", json={"input": "pay"})).json()
    answer = {
        "type": "mcp_approval_response",
        "approval_request_id": asked["output"][-1]["id"],
        "approve": True,
    }
    frames = await streamed(wire, {"input": [answer], "previous_response_id": asked["id"]})

    check_stream(frames)
    assert [item["type"] for item in frames[-1]["response"]["output"]] == ["mcp_call", "message"]


async def test_a_cancelled_response_fits_at_every_moment(wire: httpx.AsyncClient) -> None:
    queued = (await wire.post("/v1/responses", json={"input": "slow", "background": True})).json()
    place = f"/v1/responses/{queued['id']}"
    polled = (await wire.get(place)).json()
    cancelled = (await wire.post(f"{place}/cancel")).json()
    frames = read_stream((await wire.get(place, params={"stream": "true"})).content)

    for response in (queued, polled, cancelled):
        check_response(response)
    check_stream(frames)
    assert (frames[-1]["type"], frames[-1]["response"]) == ("response.incomplete", cancelled)
    assert cancelled["status"] == "cancelled"


# -- what the acceptance suite of Open Responses asks, in words of our own ----------------------


@pytest.fixture
async def judged(compliance: Server) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=f"{compliance.url}/v1", timeout=30) as client:
        yield client


def message(role: str, content: Any) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": content}


async def output(client: httpx.AsyncClient, *items: Any, **more: Any) -> list[dict[str, Any]]:
    body = {"model": "compliance", "input": items, "stream": False, **more}
    answer = await client.post("/responses", json=body)
    assert (answer.status_code, answer.json()["status"]) == (200, "completed")
    check_response(answer.json())
    return list(answer.json()["output"])


def text_of(items: list[dict[str, Any]]) -> str:
    return "".join(part["text"] for item in items for part in item["content"])


async def test_suite_basic_response(judged: httpx.AsyncClient) -> None:
    assert text_of(await output(judged, message("user", "Good day"))) == "I have heard: Good day"


async def test_suite_streaming_response(judged: httpx.AsyncClient) -> None:
    body = {"model": "compliance", "input": [message("user", "1 to 5")], "stream": True}
    frames = read_stream((await judged.post("/responses", json=body)).content)

    check_stream(frames)
    assert frames[-1]["type"] == "response.completed"
    assert text_of(frames[-1]["response"]["output"]) == "I have heard: 1 to 5"


async def test_suite_system_prompt(judged: httpx.AsyncClient) -> None:
    items = await output(judged, message("system", "Rhyme."), message("user", "Good day"))

    assert text_of(items) == "I have heard: Rhyme. Good day"


async def test_suite_tool_calling(judged: httpx.AsyncClient) -> None:
    place = {"type": "string", "description": "A town"}
    parameters = {"type": "object", "properties": {"place": place}, "required": ["place"]}
    tool = {"type": "function", "name": "forecast", "parameters": parameters}
    [call] = await output(judged, message("user", "Will it rain?"), tools=[tool])

    assert (call["type"], call["name"]) == ("function_call", "forecast")
    assert call["arguments"] == '{"place":"San Francisco, CA"}'


async def test_suite_image_input(judged: httpx.AsyncClient) -> None:
    image = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}
    asked = message("user", [{"type": "input_text", "text": "What is it?"}, image])

    assert text_of(await output(judged, asked)) == "I have heard: What is it? [image]"


async def test_suite_multi_turn(judged: httpx.AsyncClient) -> None:
    turns = [message("user", "I am Al"), message("assistant", "Hi Al"), message("user", "Who?")]

    assert text_of(await output(judged, *turns)) == "I have heard: I am Al Hi Al Who?"
