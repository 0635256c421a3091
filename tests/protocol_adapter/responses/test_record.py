"""A thread's messages as the items of its conversation."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from openai.types.conversations import ConversationItem
from pydantic import TypeAdapter

from langgraph_durable.serde import encode
from protocol_adapter.responses.record import callers, items
from tests.property.random_values import values

from .logs import ai, call, tool


def human(name: str, content: Any) -> dict[str, Any]:
    return {"type": "human", "id": name, "content": content}


def only(message: dict[str, Any]) -> dict[str, Any]:
    [item] = items([message], {})
    return item


@pytest.mark.parametrize(
    ("kind", "role"), [("human", "user"), ("system", "system"), ("ai", "assistant")]
)
def test_a_text_is_a_message_of_its_role(kind: str, role: str) -> None:
    item = only({"type": kind, "id": "m1", "content": "hi"})

    part = "output_text" if role == "assistant" else "input_text"
    assert (item["id"], item["type"], item["role"]) == ("m1", "message", role)
    assert [(p["type"], p["text"]) for p in item["content"]] == [(part, "hi")]


@pytest.mark.parametrize(
    ("block", "part"),
    [
        ("hi", {"type": "input_text", "text": "hi"}),
        ({"type": "text", "text": "hi"}, {"type": "input_text", "text": "hi"}),
        (
            {"type": "image", "url": "https://e.org/x"},
            {"type": "input_image", "detail": "auto", "image_url": "https://e.org/x"},
        ),
        (
            {"type": "image", "base64": "eA==", "mime_type": "image/png"},
            {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,eA=="},
        ),
        (
            {"type": "image", "file_id": "f1"},
            {"type": "input_image", "detail": "auto", "file_id": "f1"},
        ),
        (
            {"type": "file", "url": "https://e.org/x"},
            {"type": "input_file", "file_url": "https://e.org/x"},
        ),
    ],
)
def test_what_a_person_sent_is_a_content_part(block: Any, part: dict[str, Any]) -> None:
    assert only(human("m1", [block]))["content"] == [part]


def test_a_refusal_is_told_as_one_and_reasoning_is_not_told() -> None:
    content = [{"type": "reasoning", "reasoning": "hm"}, {"type": "refusal", "refusal": "no"}]

    assert only(ai("m1", content))["content"] == [{"type": "refusal", "refusal": "no"}]


def test_calls_and_results_are_items_of_their_own() -> None:
    told = items([ai("m1", "", tool_calls=[call("c1", a=1), call("c2")]), tool("c1", "done")], {})

    assert [(item["type"], item["id"]) for item in told] == [
        ("function_call", "fc_c1"),
        ("function_call", "fc_c2"),
        ("function_call_output", "tm_c1"),
    ]
    assert told[0]["arguments"] == '{"a":1}'
    assert told[2]["output"] == "done"


def test_a_message_that_speaks_and_calls_is_both() -> None:
    message = ai("m1", "look", tool_calls=[call("c1")])

    assert [item["type"] for item in items([message], {})] == ["message", "function_call"]
    assert callers([message, ai("m2", "done")]) == {"m1"}


def test_what_was_put_in_by_hand_comes_last_until_a_turn_takes_it_up() -> None:
    put = {"id": "p1", "type": "message", "role": "user", "content": []}
    by_hand = {"p1": encode(put)}

    assert items([human("m1", "hi")], by_hand)[-1] == put
    assert [i["id"] for i in items([human("m1", "hi"), human("p1", "x")], by_hand)] == ["m1", "p1"]


def test_what_was_taken_out_is_gone_at_once() -> None:
    assert [i["id"] for i in items([human("m1", "a"), human("m2", "b")], {"m1": None})] == ["m2"]
    assert items([], {"p1": None}) == []


def test_the_stock_client_knows_every_item() -> None:
    channel = [
        {"type": "system", "id": "s1", "content": "be brief"},
        human("m1", ["hi", {"type": "image", "url": "https://e.org/x"}]),
        ai("m2", "look", tool_calls=[call("c1")]),
        tool("c1", {"rich": True}),
        ai("m3", [{"type": "refusal", "refusal": "no"}]),
    ]

    told = items(channel, {})

    known = [TypeAdapter(ConversationItem).validate_python(item) for item in told]
    assert [item.type for item in known] == [item["type"] for item in told]
    assert len(told) == 6


@pytest.mark.parametrize(
    "thing",
    [5, "text", None, [], {}, {"id": 5}, {"id": "x"}, {"type": "ai"}, {"type": "tool", "id": "t"}],
)
def test_what_is_no_message_is_no_item(thing: Any) -> None:
    assert items([thing], {}) == []


@given(values)
def test_nothing_that_a_graph_keeps_under_messages_breaks_the_list(value: Any) -> None:
    channel = [value, human("m1", value), ai("m2", [value])]

    told = items(channel, {})

    assert {"m1"} <= {item["id"] for item in told}
