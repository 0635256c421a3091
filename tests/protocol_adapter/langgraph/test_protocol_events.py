"""A run's log as events of the agent streaming protocol, example by example."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from langgraph_durable.model import Event
from langgraph_durable.serde import decode, encode
from protocol_adapter.langgraph.protocol_events import ProtocolEvent
from tests.protocol_adapter.langgraph.protocol import told, wire


def log_of(*rows: tuple[str, Any] | tuple[str, Any, str]) -> list[Event]:
    """A log of one attempt; a third item is the task."""
    found = []
    for seq, (name, data, *task) in enumerate(rows):
        about: dict[str, Any] = {"task_id": task[0] if task else None, "at": 1000 + seq}
        found.append(Event(run_id="r1", seq=seq, attempt=1, name=name, data=encode(data), **about))
    return found


START: tuple[str, Any] = ("started", {"attempt": 1})


def end(status: str = "success", **more: Any) -> tuple[str, Any]:
    return "end", {"status": status, **more}


def brief(events: list[ProtocolEvent]) -> list[tuple[str, list[str], Any]]:
    return [(event.method, event.namespace, decode(event.data)) for event in events]


def chunk(message_id: str, text: str, task: str) -> tuple[str, Any]:
    message = {"type": "AIMessageChunk", "id": message_id, "content": text}
    return "messages", [message, {"langgraph_node": "n", "langgraph_checkpoint_ns": f"n:{task}"}]


def test_the_events_of_a_plain_run() -> None:
    events = told(
        log_of(("created", {}), START, ("values", {"x": 1}), ("updates", {"n": {"x": 2}}), end())
    )
    assert brief(events) == [
        ("lifecycle", [], {"event": "running", "graph_name": "echo"}),
        ("values", [], {"x": 1}),
        ("updates", [], {"node": "n", "values": {"x": 2}}),
        ("lifecycle", [], {"event": "completed", "graph_name": "echo"}),
    ]
    assert [event.event_id for event in events][::3] == [
        "synth:r1:lc||running",
        "synth:r1:lc||completed",
    ]
    assert wire(events)[2]["params"] == {
        "namespace": [],
        "timestamp": 1003,
        "data": {"node": "n", "values": {"x": 2}},
        "node": "n",
    }


ENDS: dict[str, tuple[tuple[str, Any], dict[str, Any]]] = {
    "success": (end(), {"event": "completed"}),
    "a question": (end(interrupts=[{"id": "q"}]), {"event": "interrupted"}),
    "cancelled": (end("interrupted"), {"event": "interrupted"}),
    "an error": (
        end("error", error={"error": "ValueError", "message": "boom"}),
        {"event": "failed", "error": "boom"},
    ),
    "too slow": (end("timeout"), {"event": "failed", "error": "timeout"}),
}


@pytest.mark.parametrize("kind", ENDS)
def test_how_a_run_ended(kind: str) -> None:
    last, says = ENDS[kind]
    assert brief(told(log_of(START, last)))[-1][2] == {"graph_name": "echo", **says}


def test_a_question_is_asked_once_and_is_no_part_of_the_state() -> None:
    asks = {"__interrupt__": [{"id": "q1", "value": {"sure": "?"}}]}
    events = told(
        log_of(
            START,
            ("updates|ask:1", asks),
            ("updates", asks),
            ("values", {"x": 1, **asks}),
            ("values", asks),
            end(interrupts=asks["__interrupt__"]),
        ),
        channels=["values", "updates", "input"],
    )
    question = {"interrupt_id": "q1", "payload": {"sure": "?"}, "value": {"sure": "?"}}
    assert brief(events) == [
        ("input.requested", ["ask:1"], question),
        ("values", [], {"x": 1}),
    ]


def test_a_task_that_is_done_finishes_its_own_messages_only() -> None:
    log = log_of(
        START,
        chunk("a", "x", "t1"),
        chunk("b", "y", "t2"),
        ("updates", {"n": {}}, "t1"),
        chunk("b", "z", "t2"),
        end(),
    )
    said = [data for _, _, data in brief(told(log, channels=["messages"]))]
    texts = {e["id"]: e["content"]["text"] for e in said if e["event"] == "content-block-finish"}
    assert texts == {"a": "x", "b": "yz"}
    finished = [e["id"] for e in said if e["event"] == "message-finish"]
    assert finished == ["a", "b"]


def test_another_attempt_tells_a_message_again() -> None:
    values = {"x": 1}
    first = log_of(START, chunk("a", "half", "t1"))
    second = log_of(
        *[("custom", 0)] * 2, ("recovered", {"values": values}), chunk("a", "whole", "t1"), end()
    )[2:]
    events = told([*first, *[row._replace(attempt=2) for row in second]])
    assert len({event.event_id for event in events}) == len(events)
    seen = [
        (method, data["event"] if method != "values" else data) for method, _, data in brief(events)
    ]
    message = [("messages", name) for name in MESSAGE]
    assert seen == [
        ("lifecycle", "running"),
        *message,
        ("lifecycle", "running"),
        ("values", values),
        *message,
        ("lifecycle", "completed"),
    ]


MESSAGE = (
    "message-start",
    "content-block-start",
    "content-block-delta",
    "content-block-finish",
    "message-finish",
)


def test_a_subgraph_begins_with_its_first_event_and_ends_with_its_task() -> None:
    call = {"type": "tool_call", "name": "add", "id": "call_1", "args": {}}
    started = {"id": "7", "name": "tools", "triggers": ["x"], "input": [call]}
    log = log_of(
        START,
        ("tasks", started, "7"),
        ("updates|tools:7|leaf:8", {"n": {}}),
        ("tasks|tools:7", {"id": "8", "name": "leaf", "error": "no", "result": {}}, "8"),
        ("tasks", {"id": "7", "name": "tools", "error": None, "result": {}}, "7"),
        end(),
    )
    cause = {"type": "toolCall", "tool_call_id": "call_1"}
    tools, leaf = ["tools:7"], ["tools:7", "leaf:8"]
    begun = {"event": "started", "graph_name": "tools", "trigger_call_id": "7", "cause": cause}
    assert [e[1:] for e in brief(told(log, channels=["lifecycle"]))[1:-1]] == [
        (tools, begun),
        (leaf, {"event": "started", "graph_name": "leaf", "trigger_call_id": "8"}),
        (leaf, {"event": "failed", "graph_name": "leaf", "error": "no"}),
        (tools, {"event": "completed", "graph_name": "tools"}),
    ]


def test_a_row_with_many_events_tells_them_all() -> None:
    blocks = [{"type": "text", "text": f"{n}"} for n in range(160)]
    message = {"type": "ai", "id": "m", "content": blocks}
    events = told(log_of(START, ("messages", [message, {}]), end()), channels=["messages"])
    assert len(events) == 2 + 3 * 160
    assert all(a.seq < b.seq for a, b in pairwise(events))
