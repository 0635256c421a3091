"""Which protocol a body of ``POST /invocations`` speaks."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from protocol_adapter.dispatch import invocations_route, is_responses

USER = {"role": "user", "content": "hi"}
ITEM = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}

RESPONSES: list[dict[str, Any]] = [
    {"input": "hi"},
    {"input": "hi", "background": True, "stream": True},
    {"input": [USER]},
    {"input": [USER, ITEM]},
    {"input": [USER], "custom_inputs": {"thread_id": "t"}},
    {"input": {"x": 1}, "context": {"conversation_id": "c"}},
    {"input": {"x": 1}, "model": "agent"},
    {"input": 5, "conversation": "c"},
    {"input": None, "previous_response_id": "resp_1"},
    {"instructions": "be brief"},
    {"input": [], "tools": []},
    {"id": None, "session_id": None, "input": "hi"},
]
GENERIC: list[Any] = [
    {"input": {"x": 1}},
    {"input": {"messages": [USER]}},
    {"input": {"resume": True}, "stream": True},
    {"id": "a", "input": "hi"},
    {"session_id": "s", "input": [USER]},
    {"graph": "echo", "input": "hi"},
    {"agent": "echo", "input": [USER]},
    {"id": "a", "model": "agent", "input": "hi"},
    {"input": []},
    {"input": [1, 2]},
    {"input": [USER, 5]},
    {"input": 5},
    {"input": {"x": 1}, "model": None},
    {},
    [USER],
    "hi",
    None,
]


@pytest.mark.parametrize("body", RESPONSES, ids=str)
def test_a_body_of_the_responses_protocol(body: Any) -> None:
    assert is_responses(body)


@pytest.mark.parametrize("body", GENERIC, ids=str)
def test_a_body_of_the_generic_protocol(body: Any) -> None:
    assert not is_responses(body)


@pytest.mark.parametrize(
    ("method", "content", "answered"),
    [
        ("POST", b'{"input": "hi"}', 'responses {"input": "hi"}'),
        ("POST", b'{"input": {}}', 'generic {"input": {}}'),
        ("POST", b"no json", "generic no json"),
        ("POST", b"[" * 300 + b"]" * 300, "generic " + "[" * 300 + "]" * 300),
        ("PUT", b'{"input": "hi"}', 'generic {"input": "hi"}'),
    ],
)
async def test_the_chosen_handler_reads_the_body_once_more(
    method: str, content: bytes, answered: str
) -> None:
    def named(name: str) -> Any:
        async def handler(http: Request) -> Response:
            return PlainTextResponse(f"{name} {(await http.body()).decode()}")

        return handler

    route = invocations_route(generic=named("generic"), responses=named("responses"))
    transport = httpx.ASGITransport(Starlette(routes=[route]))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        answer = await client.request(method, "/invocations", content=content)
    assert answer.text == answered
