"""What each stream mode sends."""

from __future__ import annotations

from typing import Any

from tests.contract.matching import TIME
from tests.contract.recordings.calls import Frames, get
from tests.contract.recordings.shapes import (
    ADD,
    AGENT_RESULT,
    ASKING,
    CALL,
    HUMAN,
    NEW_THREAD,
    TOLD,
    TOOL,
    state_of,
    stream,
)

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
    "values": [NEW_THREAD, stream("agent", "values", AGENT_VALUES, ADD)],
    "updates": [NEW_THREAD, stream("agent", "updates", AGENT_UPDATES, ADD)],
    "messages": [NEW_THREAD, stream("agent", "messages", AGENT_MESSAGES, ADD)],
    "messages-tuple": [
        NEW_THREAD,
        stream(
            "agent",
            "messages-tuple",
            [
                *[("messages", [CHUNK, PLACE])] * 3,
                ("messages", [TOOL, {"langgraph_node": "tool"}]),
                *[("messages", [CHUNK, PLACE])] * 5,
            ],
            ADD,
        ),
    ],
    "custom": [NEW_THREAD, stream("agent", "custom", [], ADD)],
    "debug": [
        NEW_THREAD,
        stream(
            "agent",
            "debug",
            [
                debug("checkpoint"),
                debug("checkpoint"),
                *[debug("task"), debug("task_result"), debug("checkpoint")] * 3,
            ],
            ADD,
        ),
    ],
    "tasks": [
        NEW_THREAD,
        stream("agent", "tasks", [("tasks", TASK), ("tasks", TASK_RESULT)] * 3, ADD),
    ],
    "checkpoints": [
        NEW_THREAD,
        stream("agent", "checkpoints", [("checkpoints", CHECKPOINT)] * 5, ADD),
    ],
    "many modes": [
        NEW_THREAD,
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
        ),
    ],
    "no mode is values": [
        NEW_THREAD,
        stream(
            "slow",
            [],
            [("values", {"steps": ["1", "2", "3", "4", "5"][:n]}) for n in range(6)],
            {"delay": 0.01},
        ),
    ],
    "subgraphs hidden": [
        NEW_THREAD,
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
        ),
    ],
    "subgraphs shown": [
        NEW_THREAD,
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
        ),
        get("/threads/{thread}/state?subgraphs=true", shape=state_of({"x": 29}, tasks=[])),
    ],
}
