"""What each stream mode sends."""

from __future__ import annotations

from typing import Any

from tests.contract.matching import TIME
from tests.contract.recordings.agent_events import AGENT_EVENTS
from tests.contract.recordings.calls import Frames, get
from tests.contract.recordings.shapes import (
    ADD,
    AGENT_RESULT,
    ASKING,
    CALL,
    HUMAN,
    TOLD,
    TOOL,
    new_thread,
    run_is,
    state_of,
    stream,
)
from tests.contract.recordings.slow import updates

CHUNK = {"type": "AIMessageChunk", "id": str, "tool_call_chunks": list}
PLACE = {"langgraph_step": int, "langgraph_node": "model", "langgraph_checkpoint_ns": str}
AGENT_UPDATES: Frames = [
    ("updates", {"model": {"messages": [ASKING]}}),
    ("updates", {"tool": {"messages": [TOOL]}}),
    ("updates", {"model": {"messages": [TOLD]}}),
]
AGENT_VALUES: Frames = [
    ("values", {"messages": [HUMAN]}),
    ("values", {"messages": [HUMAN, ASKING]}),
    ("values", {"messages": [HUMAN, ASKING, TOOL]}),
    ("values", AGENT_RESULT),
]


def partial(content: str, *calls: Any) -> tuple[str, Any]:
    return "messages/partial", [{"type": "ai", "content": content, "tool_calls": list(calls)}]


AGENT_MESSAGES: Frames = [
    ("messages/metadata", dict),
    partial("", {**CALL, "args": {"a": 2}}),
    partial("", CALL),
    partial("", CALL),
    ("messages/metadata", dict),
    ("messages/complete", [TOOL]),
    ("messages/metadata", dict),
    partial("The "),
    partial("The answer "),
    partial("The answer is "),
    partial("The answer is 5"),
    partial("The answer is 5"),
]
TASK = {"id": str, "name": str, "input": dict, "triggers": list}
TASK_RESULT: dict[str, Any] = {
    "id": str,
    "name": str,
    "error": None,
    "result": dict,
    "interrupts": [],
}
CHECKPOINT = {"config": dict, "values": dict, "metadata": dict, "next": list, "tasks": list}
SLOW_STEP = [
    ("tasks", TASK),
    ("custom", {"node": int, "phase": "start"}),
    ("custom", {"node": int, "phase": "end"}),
    ("updates", dict),
    ("tasks", TASK_RESULT),
    ("values", {"steps": list}),
    ("checkpoints", CHECKPOINT),
]


def debug(kind: str) -> tuple[str, Any]:
    return "debug", {"step": int, "timestamp": TIME, "type": kind, "payload": dict}


STREAMS = {
    "values": [
        new_thread("streams 0"),
        stream("agent", "values", AGENT_VALUES, ADD, seen="streams 2"),
        run_is("success", "streams 3"),
    ],
    "updates": [
        new_thread("streams 4"),
        stream("agent", "updates", AGENT_UPDATES, ADD, seen="streams 6"),
        run_is("success", "streams 7"),
    ],
    "messages": [
        new_thread("streams 8"),
        stream("agent", "messages", AGENT_MESSAGES, ADD, seen="streams 10"),
        run_is("success", "streams 11"),
    ],
    "messages-tuple": [
        new_thread("streams 12"),
        stream(
            "agent",
            "messages-tuple",
            [
                *[("messages", [CHUNK, PLACE])] * 3,
                ("messages", [TOOL, {"langgraph_node": "tool"}]),
                *[("messages", [CHUNK, PLACE])] * 5,
            ],
            ADD,
            seen="streams 14",
        ),
        run_is("success", "streams 15"),
    ],
    "custom": [
        new_thread("streams 16"),
        stream("agent", "custom", [], ADD, seen="streams 18"),
        run_is("success", "streams 19"),
    ],
    "debug": [
        new_thread("streams 20"),
        stream(
            "agent",
            "debug",
            [
                debug("checkpoint"),
                debug("checkpoint"),
                *[debug("task"), debug("task_result"), debug("checkpoint")] * 3,
            ],
            ADD,
            seen="streams 22",
        ),
        run_is("success", "streams 23"),
    ],
    "tasks": [
        new_thread("streams 28"),
        stream(
            "agent", "tasks", [("tasks", TASK), ("tasks", TASK_RESULT)] * 3, ADD, seen="streams 30"
        ),
        run_is("success", "streams 31"),
    ],
    "checkpoints": [
        new_thread("streams 32"),
        stream("agent", "checkpoints", [("checkpoints", CHECKPOINT)] * 5, ADD, seen="streams 34"),
        run_is("success", "streams 35"),
    ],
    "many modes": [
        new_thread("streams 36"),
        stream(
            "slow",
            ["values", "updates", "custom", "tasks", "checkpoints"],
            [
                ("checkpoints", CHECKPOINT),
                ("values", {"steps": []}),
                ("checkpoints", CHECKPOINT),
                *SLOW_STEP * 5,
            ],
            {"delay": 0.01},
            seen="streams 38",
        ),
        run_is("success", "streams 39"),
    ],
    "no mode is values": [
        new_thread("streams 40"),
        stream(
            "slow",
            [],
            [("values", {"steps": ["1", "2", "3", "4", "5"][:n]}) for n in range(6)],
            {"delay": 0.01},
            seen="streams 42",
        ),
        run_is("success", "streams 43"),
    ],
    "subgraphs hidden": [
        new_thread("streams 44"),
        stream(
            "subgraph",
            ["values", "updates", "custom"],
            [
                ("values", {"x": 1}),
                ("updates", {"p1": {"x": 2}}),
                ("values", {"x": 2}),
                ("updates", {"child": {"x": 30}}),
                ("values", {"x": 30}),
                ("updates", {"p2": {"x": 29}}),
                ("values", {"x": 29}),
            ],
            {"x": 1},
            stream_subgraphs=False,
            seen="streams 46",
        ),
        run_is("success", "streams 47"),
    ],
    "subgraphs shown": [
        new_thread("streams 48"),
        stream(
            "subgraph",
            ["values", "updates", "custom"],
            [
                ("values", {"x": 1}),
                ("updates", {"p1": {"x": 2}}),
                ("values", {"x": 2}),
                ("values|child:*", {"x": 2, "trail": []}),
                ("updates|child:*", {"c1": {"x": 3, "trail": ["c1"]}}),
                ("values|child:*", {"x": 3, "trail": ["c1"]}),
                ("custom|child:*", {"in": "c2", "x": 3}),
                ("updates|child:*", {"c2": {"x": 30, "trail": ["c2"]}}),
                ("values|child:*", {"x": 30, "trail": ["c1", "c2"]}),
                ("updates", {"child": {"x": 30}}),
                ("values", {"x": 30}),
                ("updates", {"p2": {"x": 29}}),
                ("values", {"x": 29}),
            ],
            {"x": 1},
            stream_subgraphs=True,
            seen="streams 50",
        ),
        get(
            "/threads/{thread}/state?subgraphs=true",
            shape=state_of({"x": 29}, tasks=[]),
            seen="streams 52",
        ),
        run_is("success", "streams 51"),
    ],
    "events": [
        new_thread("streams 24"),
        stream("agent", "events", AGENT_EVENTS, ADD, seen="streams 26"),
        run_is("success", "streams 27"),
    ],
    "the client's second version": [
        new_thread("streams 53"),
        stream("slow", "updates", updates(""), {"delay": 0.01}, seen="streams 55"),
        run_is("success", "streams 56"),
    ],
    "feedback, resumable": [
        new_thread("streams 57"),
        stream(
            "agent",
            "values",
            AGENT_VALUES,
            ADD,
            feedback_keys=["up"],
            seen="streams 59",
            differs="no-feedback",
        ),
        stream("agent", "updates", AGENT_UPDATES, ADD, stream_resumable=True, seen="streams 61"),
        run_is("success", "streams 62"),
    ],
}
