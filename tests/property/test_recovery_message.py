"""What a crashed run tells its successor: short enough, readable, no open tool call forgotten."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from langgraph_durable.evidence import CAP_CHARACTERS, open_tool_calls, recovery_message
from langgraph_durable.model import Event
from langgraph_durable.serde import decode, encode
from tests.property.laws import law
from tests.property.random_values import json_values, safe_text

CALL_IDS = tuple(f"call-{n}" for n in range(60))
MESSAGE_IDS = ("m1", "m2", "m3")

sizes = st.sampled_from([0, 1, 79, 80, 81, 401, 2_001, 9_000, 30_000])
words = st.builds(lambda text, size: text + "x" * size, safe_text, sizes)
arguments = st.dictionaries(st.sampled_from("abc"), words | st.lists(words, max_size=3), max_size=3)
calls = st.fixed_dictionaries(
    {"id": st.sampled_from(CALL_IDS), "name": st.sampled_from(["add", "pay"]), "args": arguments}
)
ai = st.fixed_dictionaries(
    {
        "type": st.just("ai"),
        "id": st.sampled_from(MESSAGE_IDS),
        "content": words,
        "tool_calls": st.lists(calls, max_size=12),
    }
)
tool = st.fixed_dictionaries(
    {"type": st.just("tool"), "content": words, "tool_call_id": st.sampled_from(CALL_IDS)}
)
looks_like_a_message = st.fixed_dictionaries(
    {"type": json_values, "content": json_values},
    optional={"id": json_values, "tool_calls": json_values, "tool_call_id": json_values},
)

Part = tuple[str, Any]

parts: st.SearchStrategy[Part] = st.one_of(
    st.tuples(st.just("updates"), st.builds(lambda m: {"agent": {"messages": m}}, st.lists(ai))),
    st.tuples(st.just("updates|sub:1"), st.builds(lambda m: {"tools": {"messages": [m]}}, tool)),
    st.tuples(st.just("updates"), looks_like_a_message | json_values),
    st.tuples(st.just("custom"), st.lists(words, max_size=4) | looks_like_a_message),
    st.tuples(st.just("messages"), st.builds(lambda m: [m, {"langgraph_node": "a"}], ai | tool)),
    st.tuples(st.sampled_from(["values", "tasks", "recovered"]), json_values),
)
many = st.builds(lambda some, times: some * times, st.lists(parts, max_size=12), st.integers(1, 5))


def log(told: list[Part]) -> list[Event]:
    return [
        Event(run_id="r", seq=seq, attempt=1 + seq // 9, name=name, data=encode(data))
        for seq, (name, data) in enumerate(told)
    ]


def named(content: str) -> list[dict[str, Any]]:
    """The open calls that a message names."""
    head = content.partition("\nEvents:\n")[0]
    listed = head.partition("before repeating them: ")[2]
    return list(json.loads(listed)) if listed else []


@settings(law, max_examples=40)
@given(many)
def test_the_message_is_never_longer_than_its_cap(told: list[Part]) -> None:
    message = recovery_message(log(told))

    assert message["role"] == "user"
    assert len(message["content"]) <= CAP_CHARACTERS


@settings(law, max_examples=40)
@given(many)
def test_every_tool_call_without_an_answer_is_named(told: list[Part]) -> None:
    events = log(told)

    shown = [(call["id"], call["name"]) for call in named(recovery_message(events)["content"])]

    assert shown == [(call["id"], call["name"]) for call in open_tool_calls(events)]


@settings(law, max_examples=40)
@given(many)
def test_every_line_of_evidence_is_json(told: list[Part]) -> None:
    content = recovery_message(log(told))["content"]
    head, _, body = content.partition("\nEvents:\n")

    assert head.startswith("[RECOVERY] ")
    for line in filter(None, body.split("\n")):
        assert {"attempt", "event", "data"} <= json.loads(line).keys()


@settings(law, max_examples=30)
@given(st.lists(parts, max_size=4), st.lists(words, min_size=1, max_size=3))
def test_the_newest_evidence_is_kept_longest(told: list[Part], newest: list[str]) -> None:
    short = [word[:80] for word in newest]

    content = recovery_message(log([*told, ("custom", short)]))["content"]

    assert decode(content.splitlines()[-1])["data"] == short


def test_a_thousand_open_calls_still_fit() -> None:
    made = [{"id": f"call-{n:04}", "name": "pay", "args": {"to": "x" * 99}} for n in range(1_000)]
    message = {"type": "ai", "id": "m1", "content": "", "tool_calls": made}

    content = recovery_message(log([("updates", {"agent": {"messages": [message]}})]))["content"]

    assert len(content) <= CAP_CHARACTERS
    assert named(content)[-1] == {"id": "call-0999", "name": "pay"}


def test_evidence_that_fits_is_told_whole() -> None:
    told = [("updates", {"agent": {"x": "y" * 3_000}}), ("custom", {"z": 1})]

    lines = recovery_message(log(told))["content"].partition("\nEvents:\n")[2].split("\n")

    assert [decode(line)["data"] for line in lines] == [data for _, data in told]
