"""Chunks become content blocks, and the official clients make the same message of them again."""

from __future__ import annotations

import functools
import json
import operator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.language_models.chat_model_stream import ChatModelStream
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.messages.tool import ToolCallChunk
from langchain_protocol.protocol import MessagesData
from pydantic import TypeAdapter

from langgraph_durable.serde import decode, encode
from protocol_adapter.langgraph.content_blocks import MessageStreams
from tests.property.laws import law

SHAPE: TypeAdapter[Any] = TypeAdapter(MessagesData)


def logged(message: BaseMessage) -> dict[str, Any]:
    """A message as it stands in a run's log."""
    return dict(decode(encode(message)))


def told(*messages: BaseMessage, task: str = "node:t1") -> list[dict[str, Any]]:
    """What messages of one task tell, and its end; every event in the protocol's shape."""
    streams = MessageStreams()
    about = {"langgraph_node": "node", "langgraph_checkpoint_ns": task}
    events = [e for m in messages for e in streams.add(logged(m), about, [])]
    events += [event for _, event in streams.close()]
    for event in events:
        SHAPE.validate_python(event, strict=True)
    return events


def rebuilt(events: list[dict[str, Any]]) -> dict[str, ChatModelStream]:
    """The messages as the client's own class reads them, by id."""
    found: dict[str, ChatModelStream] = {}
    for event in events:
        if event["event"] == "message-start":
            assert event["id"] not in found
            found[event["id"]] = ChatModelStream(message_id=event["id"])
        found[event["id"]].dispatch(event)
    assert all(stream.done for stream in found.values())
    return found


# -- chunks ---------------------------------------------------------------------------------------


@st.composite
def pieces(draw: st.DrawFn, text: str) -> list[str]:
    """A text in pieces."""
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=3)))
    edges = [0, *cuts, len(text)]
    return [text[a:b] for a, b in pairwise(edges)]


words = st.text("ab \n😀\u2028", max_size=8)
arguments = st.one_of(
    st.dictionaries(st.sampled_from("xyz"), st.integers() | words, max_size=2).map(json.dumps),
    st.sampled_from(["", "no JSON", "[1]", "3"]),
)


@st.composite
def calls(draw: st.DrawFn, index: int) -> list[dict[str, Any]]:
    """The chunks of one tool call; later ones name it with nothing, or not at all."""
    first, *rest = draw(arguments.flatmap(pieces))
    names = draw(st.sampled_from([None, ""]))
    head = ToolCallChunk(name=f"tool{index}", args=first, id=f"call{index}", index=index)
    tails = [ToolCallChunk(name=names, args=args, id=names, index=index) for args in rest]
    return [{"content": "", "tool_call_chunks": [chunk]} for chunk in (head, *tails)]


def text_chunk(text: str) -> dict[str, Any]:
    return {"content": text}


def text_block(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text, "index": 0}]}


def thought(text: str) -> dict[str, Any]:
    return {"content": [{"type": "reasoning", "reasoning": text, "index": 1}]}


def thought_beside(text: str) -> dict[str, Any]:
    return {"content": "", "additional_kwargs": {"reasoning_content": text}}


def usage(tokens: int) -> dict[str, Any]:
    counts = {"input_tokens": tokens, "output_tokens": 1, "total_tokens": tokens + 1}
    return {"content": "", "usage_metadata": counts}


@st.composite
def streams_of_chunks(draw: st.DrawFn, message_id: str = "m1") -> list[AIMessageChunk]:
    """One message in chunks: text, reasoning, tool calls and usage, interleaved."""
    say, think = draw(st.sampled_from([(text_chunk, thought_beside), (text_block, thought)]))
    sources = [
        [say(piece) for piece in draw(words.flatmap(pieces))],
        [think(piece) for piece in draw(words.flatmap(pieces)) if piece],
        *[draw(calls(index)) for index in range(2, 2 + draw(st.integers(0, 2)))],
        [usage(tokens) for tokens in draw(st.lists(st.integers(0, 9), max_size=2))],
    ]
    chunks = []
    while left := [source for source in sources if source]:
        chunks.append(draw(st.sampled_from(left)).pop(0))
    if draw(st.booleans()):
        chunks.append({"content": "", "chunk_position": "last"})
    return [AIMessageChunk(id=message_id, **chunk) for chunk in chunks]


def check_alike(stream: ChatModelStream, chunks: list[AIMessageChunk]) -> None:
    """What the client rebuilds says what LangChain says of the chunks added up."""
    whole = functools.reduce(operator.add, chunks)
    reasons = [b.get("reasoning", "") for b in whole.content_blocks if b["type"] == "reasoning"]
    message = stream.output
    assert str(stream.text) == whole.text == message.text
    assert "".join(stream.text) == whole.text
    assert str(stream.reasoning) == "".join(reasons)
    assert by_id(message.tool_calls) == by_id(whole.tool_calls)
    assert by_id(message.invalid_tool_calls) == by_id(whole.invalid_tool_calls)
    assert message.usage_metadata == whole.usage_metadata


def by_id(calls: list[Any]) -> dict[Any, tuple[Any, Any]]:
    return {call["id"]: (call["name"], call["args"]) for call in calls}


@law
@given(streams_of_chunks())
def test_chunks_are_rebuilt_to_what_they_add_up_to(chunks: list[AIMessageChunk]) -> None:
    [stream] = rebuilt(told(*chunks)).values()
    check_alike(stream, chunks)


@law
@given(streams_of_chunks("m1"), streams_of_chunks("m2"), st.randoms(use_true_random=False))
def test_concurrent_messages_are_kept_apart(
    one: list[AIMessageChunk], two: list[AIMessageChunk], chance: Any
) -> None:
    left, mixed = [list(one), list(two)], []
    while any(left):
        mixed.append(chance.choice([chunks for chunks in left if chunks]).pop(0))
    streams = rebuilt(told(*mixed))
    check_alike(streams["m1"], one)
    check_alike(streams["m2"], two)


@law
@given(streams_of_chunks())
def test_every_block_starts_grows_and_finishes_once_under_dense_numbers(
    chunks: list[AIMessageChunk],
) -> None:
    events = told(*chunks)
    names = [event["event"] for event in events]
    assert (names[0], names[-1]) == ("message-start", "message-finish")
    started = [e["index"] for e in events if e["event"] == "content-block-start"]
    finished = [e["index"] for e in events if e["event"] == "content-block-finish"]
    assert started == finished == list(range(len(started)))
    for place, event in enumerate(events):
        if event["event"] == "content-block-delta":
            own = [e["event"] for e in events[:place] if e.get("index") == event["index"]]
            assert "content-block-start" in own
            assert "content-block-finish" not in own


# -- examples -------------------------------------------------------------------------------------


def test_a_finished_block_repeats_its_deltas() -> None:
    events = told(AIMessageChunk("He", id="m"), AIMessageChunk("y", id="m"))
    said = {"id": "m", "run_id": "m"}
    start = {"event": "message-start", "role": "ai", "metadata": {"langgraph_node": "node"}}
    block = {"event": "content-block-start", "index": 0, "content": {"type": "text", "text": ""}}
    growth = {"event": "content-block-delta", "index": 0}
    whole = {"event": "content-block-finish", "index": 0}
    assert events == [
        {**start, **said},
        {**block, **said},
        {**growth, "delta": {"type": "text-delta", "text": "He"}, **said},
        {**growth, "delta": {"type": "text-delta", "text": "y"}, **said},
        {**whole, "content": {"type": "text", "text": "Hey"}, **said},
        {"event": "message-finish", **said},
    ]


@pytest.mark.parametrize("args", ['{"a": 1', "nope", "[1]"])
def test_arguments_that_are_no_object_make_an_invalid_call(args: str) -> None:
    chunk = ToolCallChunk(name="add", args=args, id="c1", index=0)
    events = told(AIMessageChunk("", id="m", tool_call_chunks=[chunk]))
    [content] = [e["content"] for e in events if e["event"] == "content-block-finish"]
    assert (content["type"], content["args"]) == ("invalid_tool_call", args)
    assert content["error"]
    assert rebuilt(events)["m"].output.invalid_tool_calls[0]["args"] == args


def test_a_call_without_a_name_or_an_id_still_has_the_protocols_shape() -> None:
    chunk = ToolCallChunk(name=None, args="{}", id=None, index=0)
    events = told(AIMessageChunk("", id="m", tool_call_chunks=[chunk]))
    assert [e["event"] for e in events][-1] == "message-finish"


def test_a_whole_message_is_told_at_once() -> None:
    call = {"name": "add", "args": {"a": 1}, "id": "c1", "type": "tool_call"}
    counts = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
    broken = {"name": "add", "args": "{", "id": "c2", "error": "cut", "type": "invalid_tool_call"}
    given: Any = {"tool_calls": [call], "invalid_tool_calls": [broken], "usage_metadata": counts}
    stream = rebuilt(told(AIMessage("Hm", id="m", **given)))["m"]
    message = stream.output
    assert message.text == "Hm"
    assert message.tool_calls == [call]
    assert by_id(message.invalid_tool_calls) == {"c2": ("add", "{")}
    assert message.usage_metadata == counts


MANY: list[Any] = [
    {"type": "text", "text": "look"},
    {"type": "image", "url": "https://example.com/a.png", "mime_type": "image/png"},
    "and this",
]


@pytest.mark.parametrize("kind", [AIMessage, HumanMessage, SystemMessage])
def test_a_message_with_several_blocks_keeps_them(kind: type[BaseMessage]) -> None:
    events = told(kind(MANY, id="m"))
    role = {"AIMessage": "ai", "HumanMessage": "human", "SystemMessage": "system"}[kind.__name__]
    assert events[0]["role"] == role
    stream = rebuilt(events)["m"]
    assert [block["type"] for block in stream.output.content_blocks] == ["text", "image", "text"]
    assert str(stream.text) == "lookand this"


def test_a_tools_result_is_no_message_of_this_channel() -> None:
    assert told(ToolMessage("5", tool_call_id="c1", id="m")) == []


def test_a_message_is_told_once() -> None:
    message = AIMessage("Hm", id="m")
    assert len(told(message, message)) == len(told(message))


def test_a_cited_block_keeps_all_of_its_citations() -> None:
    def part(text: str, *cited: str) -> AIMessageChunk:
        notes = [{"type": "citation", "cited_text": each} for each in cited]
        block = {"type": "text", "text": text, "index": 0, "annotations": notes}
        return AIMessageChunk([block], id="m")

    events = told(part("a", "one"), part("b", "two"))
    [content] = [e["content"] for e in events if e["event"] == "content-block-finish"]
    assert content["text"] == "ab"
    assert [note["cited_text"] for note in content["annotations"]] == ["one", "two"]
