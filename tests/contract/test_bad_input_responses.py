"""The Responses door and every kind of bad input: one clear ``{"error"}``, and nothing breaks."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contract.badness import (
    DEEP,
    NO_BODIES,
    bodies,
    check_alive,
    check_told,
    examples,
    fuzz,
    texts,
    values,
)
from tests.servers import Server

PREFIXES = ["", "/v1"]
NOBODY = "resp_" + "0" * 32
CREATE = "/responses"


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=30) as client:
        yield client


@pytest.fixture(scope="module")
def foreground(client: httpx.Client) -> str:
    """The id of a response that was waited for."""
    made = client.post(CREATE, json={"model": "chat", "input": "hi"})
    return str(made.json()["id"])


@pytest.fixture(scope="module")
def background(client: httpx.Client) -> str:
    """The id of a background response that has ended."""
    body = {"model": "chat", "input": "hi", "background": True, "stream": True}
    made = client.post(CREATE, json=body)
    return str(made.headers["x-response-id"])


def refused(answer: httpx.Response, status: int, **about: Any) -> None:
    """``about`` are fields of the error: ``param``, ``code``."""
    assert answer.status_code == status, answer.text
    assert answer.json().keys() == {"error"}
    error = answer.json()["error"]
    assert error.keys() == {"message", "type", "param", "code"}
    assert error["type"] == "invalid_request_error"
    check_told(answer, error["message"])
    assert {key: error[key] for key in about} == about, answer.text


# -- bodies -------------------------------------------------------------------------------------


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("content", NO_BODIES.values(), ids=NO_BODIES)
def test_a_body_that_is_no_json_object_is_refused(
    client: httpx.Client, prefix: str, content: bytes
) -> None:
    refused(client.post(f"{prefix}{CREATE}", content=content), 400)


def test_a_body_nested_too_deeply_is_refused(client: httpx.Client) -> None:
    refused(client.post(CREATE, content=DEEP), 400, code="invalid_request")


Wrong = tuple[Any, ...]
TEXT: Wrong = (5, True, [], {})
NUMBER: Wrong = ("1", True, [], {})
OBJECT: Wrong = (5, True, "text", [])
FLAG: Wrong = ("true", 1, [], {})
WRONG: dict[str, Wrong] = {
    "background": FLAG,
    "context": OBJECT,
    "conversation": (5, True, []),
    "custom_inputs": OBJECT,
    "frequency_penalty": NUMBER,
    "input": (5, True, {}),
    "instructions": TEXT,
    "max_output_tokens": (*NUMBER, 1.5),
    "max_tool_calls": (*NUMBER, 1.5),
    "metadata": OBJECT,
    "model": (*TEXT, "nope", ""),
    "parallel_tool_calls": FLAG,
    "presence_penalty": NUMBER,
    "previous_response_id": TEXT,
    "prompt": OBJECT,
    "prompt_cache_key": TEXT,
    "reasoning": OBJECT,
    "safety_identifier": TEXT,
    "service_tier": TEXT,
    "store": FLAG,
    "stream": FLAG,
    "stream_granularity": (*TEXT, "nope"),
    "temperature": NUMBER,
    "text": OBJECT,
    "tool_choice": (5, True, []),
    "tool_items": (*TEXT, "nope"),
    "tools": (5, True, "text", {}),
    "top_logprobs": (*NUMBER, 1.5),
    "top_p": NUMBER,
    "truncation": TEXT,
    "user": TEXT,
}


@pytest.mark.parametrize("key", WRONG)
def test_a_key_with_a_wrong_value_is_named(client: httpx.Client, key: str) -> None:
    for value in WRONG[key]:
        refused(
            client.post(CREATE, json={"model": "chat", "input": "hi", key: value}), 400, param=key
        )


def part(**keys: Any) -> dict[str, Any]:
    return {"input": [{"role": "user", "content": [keys]}]}


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "input"),
        ({"input": None}, "input"),
        ({"input": [5]}, "input[0]"),
        ({"input": ["text", {}]}, "input[0]"),
        ({"input": [{"role": "nobody", "content": "x"}]}, "input[0].role"),
        ({"input": [{"role": ["user"], "content": "x"}]}, "input[0].role"),
        ({"input": [{"role": "user"}]}, "input[0].content"),
        ({"input": [{"role": "user", "content": 5}]}, "input[0].content"),
        ({"input": [{"role": "user", "content": [5]}]}, "input"),
        (part(type=5), "input"),
        (part(type=["input_text"]), "input"),
        (part(type="input_text", text=5), "input"),
        (part(type="input_text", text={"a": 1}), "input"),
        (part(type="input_image", image_url={"url": "x"}), "input"),
        (part(type="input_image", file_id=5), "input"),
        (part(type="input_file", file_url=[1]), "input"),
        (part(type="input_file", file_data=5, filename="a"), "input"),
        (part(type="input_file", file_data="a", filename=5), "input"),
        ({"input": [{"type": "function_call", "name": "f"}]}, "input[0].call_id"),
        ({"input": [{"type": "function_call", "call_id": "c"}]}, "input[0].name"),
        ({"input": [{"type": "function_call_output", "output": "x"}]}, "input[0].call_id"),
        ({"input": [{"type": "mcp_call", "id": 5, "name": "f"}]}, "input[0].id"),
        ({"input": [{"type": "mcp_approval_response"}]}, "input[0].approval_request_id"),
        (
            {"input": [{"type": "mcp_approval_response", "approval_request_id": "q"}]},
            "input[0].approve",
        ),
        ({"input": [{"type": "function_call_output", "call_id": "c", "output": "x"}]}, "input"),
        ({"metadata": {"a": 1}}, "metadata.a"),
        ({"metadata": {str(n): "x" for n in range(17)}}, "metadata"),
        ({"tools": [5]}, "tools[0]"),
        ({"tools": [{"name": "f"}]}, "tools[0]"),
        ({"tools": [{"type": ["function"]}]}, "tools[0]"),
        ({"tools": [{"type": "function"}]}, "tools[0].name"),
        ({"tools": [{"type": "function", "name": ["f"]}]}, "tools[0].name"),
        ({"conversation": {}}, "conversation.id"),
        ({"conversation": {"id": 5}}, "conversation.id"),
        ({"conversation": ""}, "conversation"),
        ({"conversation": "a\nb"}, "conversation"),
        ({"conversation": "a" * 513}, "conversation"),
        ({"conversation": "a", "previous_response_id": NOBODY}, "previous_response_id"),
        ({"custom_inputs": {"thread_id": 5}}, "custom_inputs.thread_id"),
        ({"custom_inputs": {"session_id": []}}, "custom_inputs.session_id"),
        ({"context": {"conversation_id": {}}}, "context.conversation_id"),
        ({"background": True, "store": False}, "store"),
    ],
)
def test_what_cannot_be_done_is_named(client: httpx.Client, body: Any, param: str) -> None:
    given = {"model": "chat", **({} if "input" in body or body == {} else {"input": "hi"}), **body}
    refused(client.post(CREATE, json=given), 400, param=param)


def test_an_answer_that_no_graph_can_take_leaves_the_question_open(client: httpx.Client) -> None:
    body = {"model": "hitl", "input": "hi", "conversation": str(uuid.uuid4())}
    [question] = client.post(CREATE, json=body).json()["output"]
    unfit: list[dict[str, Any]] = [{"goto": 5}, {"goto": {"input": 1}}, {"goto": [[]]}]
    for wrong in (*unfit, {"update": 5}):
        answer = {
            "type": "function_call_output",
            "call_id": question["id"],
            "output": orjson.dumps(wrong).decode(),
        }
        refused(client.post(CREATE, json={**body, "input": [answer]}), 400, param="input")
    yes = {"type": "mcp_approval_response", "approval_request_id": question["id"], "approve": True}
    assert client.post(CREATE, json={**body, "input": [yes]}).json()["status"] == "completed"


# -- what does not exist --------------------------------------------------------------------------

NOWHERE = [NOBODY, "nope", "resp_", "resp_x", "%00", "%FF", "a%20b", "a%0Ab", "9" * 5000]


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("name", NOWHERE, ids=lambda name: name[:12])
def test_a_response_that_does_not_exist_is_not_found(
    client: httpx.Client, prefix: str, name: str
) -> None:
    one = f"{prefix}{CREATE}/{name}"
    for method, path in (
        ("GET", one),
        ("GET", f"{one}?stream=true"),
        ("GET", f"{one}?stream=true&starting_after=3"),
        ("DELETE", one),
        ("POST", f"{one}/cancel"),
    ):
        told = client.request(method, path)
        assert told.status_code == 404
        assert told.json()["error"]["code"] == "response_not_found"
        assert told.json()["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize("name", [NOBODY, "nope", "a\x00b", "a/b", ""])
def test_a_previous_response_that_does_not_exist_is_not_found(
    client: httpx.Client, name: str
) -> None:
    answer = client.post(
        CREATE, json={"model": "chat", "input": "hi", "previous_response_id": name}
    )
    refused(answer, 404, param="previous_response_id", code="previous_response_not_found")


# -- queries, states, methods -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ("stream=nope", "stream"),
        ("stream=%00", "stream"),
        ("starting_after=nope&stream=true", "starting_after"),
        ("starting_after=-1&stream=true", "starting_after"),
        ("starting_after=1.5&stream=true", "starting_after"),
        ("starting_after=&stream=true", "starting_after"),
        ("starting_after=%00&stream=true", "starting_after"),
        (f"starting_after={'9' * 5000}&stream=true", "starting_after"),
        ("starting_after=1", "starting_after"),
    ],
    ids=lambda value: value[:40],
)
def test_a_query_that_makes_no_sense_is_named(
    client: httpx.Client, background: str, query: str, param: str
) -> None:
    refused(client.get(f"{CREATE}/{background}?{query}"), 400, param=param)


def test_a_cursor_behind_the_end_gets_nothing_but_done(
    client: httpx.Client, background: str
) -> None:
    answer = client.get(f"{CREATE}/{background}?stream=true&starting_after={'9' * 18}")
    assert (answer.status_code, answer.text) == (200, "data: [DONE]\n\n")


def test_what_a_response_is_too_late_or_too_early_for_is_told(
    client: httpx.Client, foreground: str, background: str
) -> None:
    refused(client.get(f"{CREATE}/{foreground}?stream=true"), 400, param="stream")
    refused(client.post(f"{CREATE}/{foreground}/cancel"), 400)
    refused(client.post(f"{CREATE}/{background}/cancel"), 400)


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/responses", 405),
        ("DELETE", "/responses", 405),
        ("PUT", "/responses/resp_x", 405),
        ("POST", "/responses/resp_x", 405),
        ("GET", "/responses/resp_x/cancel", 405),
        ("GET", "/responses/resp_x/nope", 404),
        ("POST", "/responses/resp_x/cancel/nope", 404),
        ("GET", "/responses/", 404),
        ("POST", "/responses/compact", 404),
        ("POST", "/responses/input_tokens", 404),
    ],
)
def test_what_is_not_there_is_told_in_the_same_shape(
    client: httpx.Client, prefix: str, method: str, path: str, status: int
) -> None:
    answer = client.request(method, f"{prefix}{path}")
    refused(answer, status, code="unknown_url" if status == 404 else "method_not_allowed")
    assert ("allow" in answer.headers) == (status == 405)


# -- at random ------------------------------------------------------------------------------------

parts = st.one_of(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["input_text", "output_text", "refusal"])},
        optional={"text": texts, "refusal": texts},
    ),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["input_image", "input_file"])},
        optional={
            "image_url": st.sampled_from(["data:image/png;base64,eA==", "https://e.org/x", ","]),
            "file_data": texts,
            "file_id": texts,
            "filename": texts,
        },
    ),
    values,
)
item_kinds = (
    *("message", "function_call", "function_call_output", "mcp_call", "reasoning"),
    *("mcp_approval_response", "mcp_approval_request", "item_reference", "nope"),
)
questions = st.from_regex(r"(mcpr_)?([A-Za-z0-9_-]{44}|[0-9a-f]{32}(:\d{1,4})?)", fullmatch=True)
items = st.one_of(
    st.fixed_dictionaries(
        {
            "role": st.sampled_from(["user", "assistant", "system", "developer"]),
            "content": st.one_of(texts, st.lists(parts, max_size=3)),
        },
        optional={"id": texts},
    ),
    st.fixed_dictionaries(
        {"type": st.sampled_from(item_kinds)},
        optional={
            "id": texts,
            "call_id": texts | questions,
            "name": texts,
            "approval_request_id": texts | questions,
            "arguments": values,
            "output": values,
            "error": values,
            "approve": st.booleans() | values,
            "summary": values,
        },
    ),
    values,
)
asked = {
    "instructions": texts,
    "conversation": st.one_of(texts, st.fixed_dictionaries({"id": texts})),
    "previous_response_id": texts,
    "metadata": st.dictionaries(texts, texts, max_size=3),
    "custom_inputs": st.dictionaries(st.sampled_from(["thread_id", "session_id", "a"]), texts),
    "context": st.dictionaries(st.sampled_from(["conversation_id", "user_id"]), texts),
    "tools": st.lists(
        st.fixed_dictionaries(
            {"type": st.sampled_from(["function", "mcp", "web_search"])},
            optional={"name": values, "server_label": values, "parameters": values},
        ),
        max_size=2,
    ),
    "tool_choice": st.sampled_from(["auto", "none", {"type": "function", "name": "f"}]),
    "tool_items": st.sampled_from(["mcp_call", "function_call"]),
    "stream_granularity": st.sampled_from(["token", "item"]),
    "text": st.dictionaries(texts, values, max_size=2),
    "reasoning": st.dictionaries(texts, values, max_size=2),
    "stream": st.booleans(),
    "background": st.booleans(),
    "store": st.booleans(),
    "temperature": st.floats(0, 2),
}
given_input = st.one_of(texts, st.lists(items, max_size=3))
MODELS = st.sampled_from(["chat", "agent", "echo"])


@pytest.mark.parametrize("prefix", PREFIXES)
def test_no_body_at_random_breaks_anything(client: httpx.Client, prefix: str) -> None:
    @settings(fuzz, max_examples=examples(250))
    @given(bodies(asked, model=MODELS, input=given_input))
    def send(content: bytes) -> None:
        answer = client.post(f"{prefix}{CREATE}", content=content)
        assert answer.status_code < 500, answer.text
        if answer.status_code >= 400:
            refused(answer, answer.status_code)

    send()
    check_alive(client)


@fuzz
@given(
    st.sampled_from(["GET", "POST", "DELETE"]),
    st.sampled_from(["", "?stream=true", "?stream=true&starting_after=0", "/cancel"]),
    texts.filter(lambda name: name not in (".", "..") and "\n" not in name),
)
def test_no_path_at_random_breaks_anything(
    client: httpx.Client, method: str, tail: str, name: str
) -> None:
    answer = client.request(method, f"{CREATE}/{quote(name, safe='')}{tail}")
    refused(answer, answer.status_code)
