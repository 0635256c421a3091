"""What nodes write and return by hand: messages of LangChain and of OpenAI, and what looks so."""

from __future__ import annotations

from typing import Any

import pytest

from langgraph_durable.serde import encode
from protocol_adapter.responses.history import held
from protocol_adapter.responses.messages import message_in

from .logs import RESPONSE_ID, Log, a_run, ai, call, chunk, kinds, told, tool


def texts(log: Log, **run: Any) -> list[tuple[str, str]]:
    """The terminal output's texts, by item id."""
    items = told(log, a_run(**run))[-1]["response"]["output"]
    return [(item["id"], item["content"][0]["text"]) for item in items if "content" in item]


def deltas(log: Log, **run: Any) -> list[str]:
    return [f["delta"] for f in told(log, a_run(**run)) if f["type"].endswith("text.delta")]


def test_chunks_that_a_node_writes_are_told_word_by_word_and_once() -> None:
    log = Log().start()
    log.add("custom", chunk("m1", "Hel")).add("custom", chunk("m1", "lo"))
    log.updates("agent", ai("m1", "Hello")).end()

    assert deltas(log) == ["Hel", "lo"]
    assert texts(log) == [("m1", "Hello")]


def test_what_was_written_and_never_returned_is_told_all_the_same() -> None:
    log = Log().start().add("custom", chunk("m1", "Hello")).end()
    assert texts(log) == [("m1", "Hello")]


def test_a_whole_message_that_is_written_shows_its_tool_call() -> None:
    log = Log().start().add("custom", ai("m1", tool_calls=[call("c1", a=1)]))
    log.add("custom", tool("c1", "2")).end()
    [item] = told(log)[-1]["response"]["output"]
    assert (item["type"], item["arguments"], item["output"]) == ("mcp_call", '{"a":1}', "2")


def test_items_alone_leave_out_what_is_written_on_the_way() -> None:
    log = Log().start().add("custom", chunk("m1", "Hel")).updates("agent", ai("m1", "Hello")).end()
    assert deltas(log, door={"granularity": "item"}) == ["Hello"]


def test_a_crash_takes_back_what_was_only_written() -> None:
    log = Log().start().add("custom", chunk("m1", "Hel")).recovered()
    log.add("custom", chunk("m1", "Hello")).updates("agent", ai("m1", "Hello")).end()

    frames = told(log)

    assert kinds(frames).count("output_item.done") == 2
    assert texts(log) == [("m1~2", "Hello")]


def test_messages_in_openais_words_are_messages() -> None:
    said = {"role": "assistant", "content": "Hello"}
    log = Log().start().updates("agent", {"role": "user", "content": "hi"}, said).end()
    assert texts(log) == [(f"msg_{RESPONSE_ID}", "Hello")]


def test_each_message_without_a_name_gets_one_of_its_own() -> None:
    log = Log().start()
    log.add("custom", {"type": "ai", "content": "one"})
    log.updates("a", {"role": "assistant", "content": "one"}, task="t1")
    log.updates("b", {"role": "assistant", "content": "two"}, task="t2").end()
    first = f"msg_{RESPONSE_ID}"
    assert texts(log) == [(first, "one"), (f"{first}-2", "two")]


@pytest.mark.parametrize("answer", ["As you wish.", {"a": 1}, [1, 2]])
def test_a_function_that_returns_no_messages_answers_with_its_value(answer: Any) -> None:
    log = Log().start().add("updates", {"agent": answer}, "t1").end()
    text = answer if isinstance(answer, str) else encode(answer)
    assert texts(log, output=encode(answer)) == [(f"msg_{RESPONSE_ID}", text)]


ODD: list[Any] = [
    None,
    "text",
    5,
    [],
    {"content": "x"},
    {"type": "progress", "content": "x"},
    {"type": ["ai"], "content": "x"},
    {"role": "admin", "content": "x"},
    {"role": ["assistant"], "content": "x"},
    {"type": "tool", "content": "x"},
    {"type": "tool", "content": "x", "tool_call_id": 5},
    {"type": "ai", "content": "x", "id": 5},
    {"type": "ai", "content": "x", "tool_calls": "no"},
    {"type": "ai", "content": "x", "tool_calls": [5]},
    {"type": "ai", "content": "x", "tool_calls": [{"id": "c", "function": {"name": "f"}}]},
    {"type": "ai", "content": "x", "tool_calls": [{"id": ["c"], "name": "f"}]},
    {"type": "ai", "content": "x", "tool_call_chunks": [{"args": "{}"}]},
    {"type": "ai", "content": "x", "usage_metadata": 5},
    {"type": "ai", "content": "x", "response_metadata": ["x"]},
    {"type": "ai", "content": "x", "additional_kwargs": "no"},
]


@pytest.mark.parametrize("value", ODD, ids=str)
def test_what_only_looks_like_a_message_is_none_and_harms_nobody(value: Any) -> None:
    assert message_in(value) is None
    log = Log().start().add("custom", value).add("updates", {"agent": {"messages": [value]}}, "t1")
    frames = told(log.end())
    assert frames[-1]["type"] == "response.completed"
    assert held([value], {}, busy=False).open_calls == {}
